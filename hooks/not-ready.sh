# shellcheck shell=sh disable=SC2154
# Written by docs/make_hooks.py: what $host is answered to what was typed while omo's Python environment is not ready.

case $host.$typed in
claude.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true}}
'
    ;;
claude.ulw)
    printf '%s' '{"systemMessage": "omo: ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}}
'
    ;;
claude.command)
    printf '%s' '{"systemMessage": "omo: what you typed was not acted on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
codex.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
codex.ulw)
    printf '%s' '{"systemMessage": "omo: ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}}
'
    ;;
codex.command)
    printf '%s' '{"systemMessage": "omo: what you typed was not acted on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
copilot.stop)
    printf '%s' '{"decision": "block", "reason": "omo: nothing holds this session now: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
copilot.ulw)
    printf '%s' '{"type": "progress", "message": "omo: ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
{"additionalContext": "[omo] Ultrawork could not be turned on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
copilot.command)
    printf '%s' '{"type": "progress", "message": "omo: what you typed was not acted on: omo'"'"'s Python environment is not ready; '"'"'omo doctor'"'"' says why and how to mend it."}
'
    ;;
esac
