# shellcheck shell=sh disable=SC2034
# Written by docs/make_hooks.py: sets $home to where a plugin that a host has installed has built its environment, or
# will.

for data in "${COPILOT_HOME:-${HOME-}/.copilot}"/plugin-data/*/omo \
    "${CODEX_HOME:-${HOME-}/.codex}"/plugins/data/omo-* \
    "${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}"/plugins/data/omo-*; do
    [ -f "$data/environment" ] && home=$data
done
if [ -z "$home" ]; then
    home=$(
        plugins=${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}/plugins
        [ ! -f "$plugins/installed_plugins.json" ] ||
            sed -n 's/.*"omo@\([^"]*\)".*/omo-\1/p' "$plugins/installed_plugins.json" | head -n 1 |
            while IFS= read -r name; do printf '%s\n' "$plugins/data/$name"; done
    )
fi
