# shellcheck shell=sh disable=SC2154
# Written by docs/make_hooks.py: what $host is answered where no Python runs omo's hooks.

case $host.$typed in
claude.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true}}
'
    ;;
claude.ulw)
    printf '%s' '{"systemMessage": "omo: ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}}
'
    ;;
claude.command)
    printf '%s' '{"systemMessage": "omo: what you typed was not acted on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
claude.held-prompt)
    printf '%s' '{"systemMessage": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
claude.held-stop)
    printf '%s' '{"systemMessage": "omo: this turn is not held, and nothing is proven. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
claude.held-start)
    printf '%s' '{"systemMessage": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
codex.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
codex.ulw)
    printf '%s' '{"systemMessage": "omo: ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}}
'
    ;;
codex.command)
    printf '%s' '{"systemMessage": "omo: what you typed was not acted on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
codex.held-prompt)
    printf '%s' '{"systemMessage": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
codex.held-stop)
    printf '%s' '{"systemMessage": "omo: this turn is not held, and nothing is proven. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
codex.held-start)
    printf '%s' '{"systemMessage": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.ulw)
    printf '%s' '{"type": "progress", "message": "omo: ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
{"additionalContext": "[omo] Ultrawork could not be turned on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.command)
    printf '%s' '{"type": "progress", "message": "omo: what you typed was not acted on. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.held-prompt)
    printf '%s' '{"type": "progress", "message": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.held-stop)
    printf '%s' '{"type": "progress", "message": "omo: this turn is not held, and nothing is proven. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
copilot.held-start)
    printf '%s' '{"type": "progress", "message": "omo: nothing is held or proven now. omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; '"'"'omo doctor'"'"', typed in a terminal, says more."}
'
    ;;
esac
