# shellcheck shell=sh disable=SC2034
# Written by docs/make_hooks.py: sets $home to where a plugin that a host has installed has built its environment.

for data in "${COPILOT_HOME:-${HOME-}/.copilot}"/plugin-data/*/omo \
    "${CODEX_HOME:-${HOME-}/.codex}"/plugins/data/omo-* \
    "${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}"/plugins/data/omo-*; do
    [ -f "$data/environment" ] && home=$data
done
