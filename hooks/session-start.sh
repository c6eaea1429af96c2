# shellcheck shell=sh disable=SC2154
# The rest of launch.sh for SessionStart: tell later Bash calls where omo is, then, only for a session that comes back to
# open work or follows another, say where things stand, and to a new one what another left.

quoted() {
    printf "'%s'" "$(printf %s "$1" | sed "s/'/'\\\\''/g")"
}

# An update moves the plugin. The status line finds it through the user's own directory, the omo on the user's PATH
# through the host's. A session of before an update goes on with the old one, and does not take them back to it.
note_root() {
    case $1 in /*) ;; *) return ;; esac
    kept=
    [ -r "$1/root" ] && IFS= read -r kept <"$1/root"
    case $input in *'"clear"'* | *'"compact"'*) [ -x "$kept/bin/omo" ] && kept=$root ;; esac
    [ "$kept" != "$root" ] || return
    [ -d "$1" ] || mkdir -p "$1"
    printf '%s\n' "$root" >"$1/root"
}

find_home
note_root "$home"
note_root "${plugin_data-}"
# Earlier versions built an environment there.
if [ -e "${plugin_data:-/dev/null}/environment" ] && find_real "$plugin_data" && [ "$real" != "$home" ]; then
    /bin/sh "$root/hooks/environment.sh" retire "$plugin_data" </dev/null >/dev/null &
fi

# A file that agents' shells read first.
if [ -n "${plugin_shell_file-}" ]; then
    {
        printf 'export OMO_ENV_HOME=%s\n' "$(quoted "$home")"
        # The host does it too, but leaves out a plugin whose path holds a quote.
        printf 'export PATH="$PATH":%s\n' "$(quoted "$root/bin")"
        [ -n "$plugin_project" ] && printf 'export OMO_PROJECT_DIR=%s\n' "$(quoted "$plugin_project")"
        # Where this session was started from another host's shell, the innermost counts.
        outer=$(env | sed -n 's/^[A-Z_]*SESSION_ID=//p' | tr '\n' ' ')
        printf 'export OMO_OUTER_SESSION=%s\n' "$(quoted "$outer")"
        # The host gives the plugin's options to hooks alone; the agent's omo must see the same limits.
        for name in MAX_STOP_BLOCKS COOLDOWN_SECONDS MAX_TOTAL_BLOCKS MAX_HOURS KEYWORD ATTENDED NOTIFY \
            BUDGET BUDGET_TOKENS BUDGET_MINUTES BUDGET_AGENTS EXPERIMENT PROOF_MINUTES; do
            eval "value=\${$plugin_option_prefix$name-}"
            [ -n "$value" ] && printf 'export %s=%s\n' "$plugin_option_prefix$name" "$(quoted "$value")"
        done
    } >>"$plugin_shell_file"
fi

case $input in
*'"resume"'* | *'"compact"'* | *'"clear"'*) if [ -n "$swapped$runtime" ] || was_removed; then decide; fi ;;
*) if [ -n "$swapped" ] || is_left; then decide; fi ;;
esac
