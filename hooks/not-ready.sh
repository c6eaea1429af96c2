# shellcheck shell=sh disable=SC2154
# Written by docs/make_hooks.py: what $host is answered to what was typed while omo's Python environment is not ready.

case $host.$typed in
claude.stop)
    cat <<'EOF'
{"decision": "block", "reason": "omo: nothing holds this session now: omo's Python environment is not ready; 'omo doctor' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": true}}
EOF
    ;;
claude.ulw)
    cat <<'EOF'
{"systemMessage": "omo: ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}}
EOF
    ;;
claude.command)
    cat <<'EOF'
{"systemMessage": "omo: what you typed was not acted on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
codex.stop)
    cat <<'EOF'
{"decision": "block", "reason": "omo: nothing holds this session now: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
codex.ulw)
    cat <<'EOF'
{"systemMessage": "omo: ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it.", "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "[omo] Ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}}
EOF
    ;;
codex.command)
    cat <<'EOF'
{"systemMessage": "omo: what you typed was not acted on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
copilot.stop)
    cat <<'EOF'
{"decision": "block", "reason": "omo: nothing holds this session now: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
copilot.ulw)
    cat <<'EOF'
{"type": "progress", "message": "omo: ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
{"additionalContext": "[omo] Ultrawork could not be turned on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
copilot.command)
    cat <<'EOF'
{"type": "progress", "message": "omo: what you typed was not acted on: omo's Python environment is not ready; 'omo doctor' says why and how to mend it."}
EOF
    ;;
esac
