# shellcheck shell=sh disable=SC2034,SC2154
# Written by docs/make_hooks.py: sets $around to the session of another host, in whose shell $host was started.

case $host in
claude) around=${CODEX_SESSION_ID-}${COPILOT_AGENT_SESSION_ID-} ;;
codex) around=${CLAUDE_CODE_SESSION_ID-}${CODEX_SESSION_ID-}${COPILOT_AGENT_SESSION_ID-} ;;
copilot) around=${CLAUDE_CODE_SESSION_ID-}${CODEX_SESSION_ID-}${COPILOT_AGENT_SESSION_ID-} ;;
esac
