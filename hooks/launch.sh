# shellcheck shell=sh disable=SC2154
# Sourced by the commands of a registration, which docs/make_hooks.py writes, inside the shell the host has started anyway:
# on a quiet day this file is the whole plugin. It must stay free of forks until there is something to do, must leave with
# exit 0 whatever happens (2 would deny a tool call), and must print nothing that no decision printed. A shell parses as it
# goes: what most events need comes first, and whoever is ready to leave leaves.
#
# A registration sets $host, $event, and of its host: $plugin_root and $plugin_data, where the plugin and its data are;
# $plugin_project, where the session is; $plugin_rewrites, not empty where agents' shells do not find omo and a command
# that calls it is rewritten; $plugin_shell and $plugin_other_shell, the tools that are shells; $plugin_shells_alone, not
# empty where only they are asked about; and for session-start.sh, of a host that has such, $plugin_shell_file and
# $plugin_option_prefix.

exec 2>/dev/null

case ${OMO_DISABLE-} in 1 | true | yes | on | TRUE | YES | ON | True | Yes | On) exit 0 ;; esac
key=cwd
case $event in
session-start) name=SessionStart ;;
user-prompt-submit) name=UserPromptSubmit ;;
pre-tool-use) name=PreToolUse ;;
post-tool-use) name=PostToolUse ;;
subagent-start) name=SubagentStart ;;
subagent-stop) name=SubagentStop ;;
statusline) name=StatusLine key=project_dir ;; # which the host sends instead of setting a variable
*) name=Stop ;;
esac
case ",${OMO_SKIP_HOOKS-}," in *[,\ ]"$event"[,\ ]* | *[,\ ]"$name"[,\ ]*) exit 0 ;; esac

root=$plugin_root
project=${plugin_project-$PWD}
around=
[ -r "$root/hooks/around.sh" ] && . "$root/hooks/around.sh"
if [ -n "$around" ]; then # the host around this one has set it, to its own
    OMO_PROJECT_DIR=$project
    export OMO_PROJECT_DIR
fi

# Where the session is, for a host that tells it in the event alone. With an escape in it, only Python can read it.
start_from_event() {
    read_event
    start=$PWD
    case $input in
    *"\"$key\""*)
        value=${input#*"\"$key\""}
        value=${value#*\"}
        value=${value%%\"*}
        case $value in
        *\\*) start= ;;
        ?*) start=$value ;;
        esac
        ;;
    esac
}

# The nearest ancestor with a state directory; the same climb as omo.state.paths.project_root.
find_runtime() {
    directory=$start
    while [ ! -d "$directory/.sisyphus/cc-omo" ]; do
        case $directory in
        */*) directory=${directory%/*} ;;
        *) return 1 ;;
        esac
    done
    [ -e "$directory/.sisyphus/cc-omo/swap.journal" ] && swapped=yes
    runtime=$directory/.sisyphus/cc-omo/runtime.local.json
    [ -f "$runtime" ] && IFS= read -r index <"$runtime" || [ -f "$runtime" ]
}

# The event: one line of JSON, as hosts send it. Reads no further than its end, so a stdin that is never closed does not
# hold us; one that never says anything is given two seconds, which a busy host may need.
read_event() {
    [ -z "$was_read" ] || return 0
    was_read=yes
    input=$(exec timeout 2 head -n 1)
    if [ $? = 127 ]; then
        command -v head >/dev/null || PATH=${PATH:+$PATH:}/usr/bin:/bin # of somebody who has emptied it
        read_event_watched
    fi
}

# Too long for patterns: a shell that knows letters of several bytes needs a second where Python has read it at once.
is_long() {
    [ ${#input} -gt 65536 ]
}

# The same where there is no timeout program, as on macOS.
read_event_watched() {
    exec 3<&0
    input=$(
        head -n 1 <&3 &
        reader=$!
        {
            trap 'kill -9 $!; exit' TERM # what was only just forked may not heed a gentler signal
            sleep 2 &
            wait $! && kill $reader
        } >/dev/null 3<&- &
        wait $reader
        kill $!
    )
    exec 3<&-
}

# Python's answer. If the Python that is kept does not give one, another is looked for, and kept. If none does, whoever
# is held, or typed a ulw or a command, is told: a session is never let go in silence.
decide() {
    read_event
    find_home
    python=
    for kept in "${home:-/dev/null}/interpreter" "${home:-/dev/null}/environment"; do
        [ -e "$kept" ] || continue
        [ -f "$kept" ] && IFS= read -r python <"$kept" || python=
        break
    done
    ask_python && return
    [ "$event" != statusline ] || return # which is asked many times a minute
    # Another than that. Not by PATH, which may be empty.
    python=$(OMO_PROJECT_DIR=$start /bin/sh "$root/hooks/environment.sh" python "$home" "$root/requirements.txt" "$python")
    ask_python || say_cannot_run
}

find_home() {
    [ -z "$has_home" ] || return 0
    [ -r "$root/hooks/home.sh" ] || exit 0 # the plugin is being removed
    . "$root/hooks/home.sh"
    use_home
    has_home=yes
}

# Another program gives no answer that ends as ours does, whatever it says and however it exits.
ask_python() {
    case $python in /*) [ -f "$python" ] && [ -x "$python" ] || return 1 ;; *) return 1 ;; esac
    answer=$(
        exec "$python" -I -S -X utf8 -X pycache_prefix="${home:-/dev/null}/pycache" "$root/hooks/event.py" "$event" "$host" <<EOF
$input
EOF
    )
    case $answer in *'omo: answered') printf %s "${answer%omo: answered}" ;; *) return 1 ;; esac
}

# To whoever typed a ulw or a command, and to a session that is on; only at the events of which a user sees something.
say_cannot_run() {
    typed=
    case $event in
    stop) held='held-stop' ;;
    session-start) held='held-start' ;;
    user-prompt-submit)
        held='held-prompt'
        has_words && find_typed
        ;;
    *) return ;;
    esac
    if [ -z "$typed" ]; then
        is_live || is_open || [ -n "$swapped" ] || was_removed || return
        typed=$held
    fi
    [ -r "$root/hooks/not-ready.sh" ] && . "$root/hooks/not-ready.sh"
}

find_typed() {
    case $input in
    *stop-continuation* | *[sS]top\ [uU]* | *[cC]ancel\ [uU]*) typed=stop ;;
    *[!a-zA-Z0-9_/.-][uU][lL][wW][!a-zA-Z0-9_/.-]* | *[!a-zA-Z0-9_/.-][uU][lL][tT][rR][aA][wW][oO][rR][kK][!a-zA-Z0-9_/.-]*)
        typed=ulw
        ;;
    *[/\$]omo:*) typed='command' ;;
    esac
}

# Commands need packages. Those are installed meanwhile, here: hooks may write where an agent's command may not.
prepare_environment() {
    find_home
    [ -n "$home" ] || return
    key=$(PATH=/usr/bin:/bin:$PATH && exec cksum <"$root/requirements.txt")
    key=${key%% *}-${key##* }
    IFS= read -r python <"$home/environment-$key" && [ -x "$python" ] && return
    [ -d "$home" ] || mkdir -p "$home"
    printf '' >"$home/environment.asked" || return # a command that finds it waits; not `:`, whose failure ends a shell
    (
        trap '' HUP
        OMO_PROJECT_DIR=$start exec /bin/sh "$root/hooks/environment.sh" ensure "$home" "$root/requirements.txt"
    ) </dev/null >/dev/null 2>&1 &
}

input=
was_read=
has_home=
index=
runtime=
swapped=
start=${OMO_PROJECT_DIR:-$project}
[ -n "$start" ] || start_from_event
if [ -z "$start" ] || [ -n "${OMO_STATE_DIR-}" ]; then
    runtime=elsewhere index=unknown
else
    find_runtime || runtime=
fi

# Files of the project are swapped: every session is held off, or whoever swapped them is gone and they are put back.
case $swapped$event in
yessession-start | yesuser-prompt-submit | yesstatusline) ;;
yes*)
    decide
    exit 0
    ;;
esac

# The runtime file's first line lists the sessions that are live.
case $index in
'{"version": '[1-4]', "live": []'*) live= ;; # 1 to 3: an omo of before
'') live=$runtime ;; # none, or not the layout we write: let Python read it
*) live=yes ;;
esac
case $live$event in
pre-tool-use) [ -n "$runtime${plugin_rewrites-}${plugin_shells_alone-}" ] || exit 0 ;;
subagent-stop) case $index in *'], "open": ["'*) ;; *) exit 0 ;; esac ;;
post-tool-use | subagent-start | statusline) exit 0 ;;
esac

# Was this session on here by the record that omo keeps outside the project (omo.state.ownership)? Whoever asks knows that
# the state does not name it: then somebody removed that. Records with live sessions are found by the name of their state
# directory. The event is read where there is any of this project.
was_removed() {
    for records in ${XDG_STATE_HOME:+"$XDG_STATE_HOME/omo/projects"} "${HOME-}/.local/state/omo/projects"; do
        [ -d "$records/at" ] || continue
        directory=$start
        while :; do
            [ -d "$records/at$directory/.sisyphus/cc-omo" ] && is_recorded && return 0
            case $directory in
            */*) directory=${directory%/*} ;;
            *) break ;;
            esac
        done
    done
    return 1
}

is_recorded() {
    read_event
    is_long && return 0
    for record in "$records/at$directory/.sisyphus/cc-omo"/*; do
        record=$records/${record##*/}
        [ -f "$record" ] && IFS= read -r line <"$record" || continue
        case $line in '{"version": 1, "live": ["'*) ;; *) continue ;; esac
        names=${line#*\[}
        is_named && return 0
    done
    return 1
}

# Is one of the sessions that are live named in the event?
is_live() {
    [ -n "$live" ] || return 1
    case $index in
    '{"version": 4, "live": ["'*) ;;
    *) return 0 ;; # not the layout we write: let Python read it
    esac
    names=${index#*\[}
    read_event
    is_named
}

# Is one of the ids at the beginning of $names, up to the bracket that closes their list, in the event?
is_named() {
    is_long && return 0
    names=${names%%\]*},
    while [ -n "$names" ]; do
        name=${names%%,*}
        names=${names#*,}
        names=${names# }
        [ "$name" = '"*"' ] && return 0
        case $input in *"$name"*) return 0 ;; esac
    done
    return 1
}

# Has this session work that nothing holds it to any more? What its agents say is kept, and a "continue" heard.
is_open() {
    case $index in
    '{"version": 4, "live": ['*'], "open": ["'*) names=${index#*'"open": '\[} ;;
    *) return 1 ;; # of an odd layout is_live has let Python know
    esac
    read_event
    is_named
}

has_words() {
    case $input in
    *[uU][lL][wW]* | *[uU][lL][tT][rR][aA][wWgGpPeE]* | *\ [rR]alph* | *omo:* | *stop-continuation*) return 0 ;;
    *) return 1 ;;
    esac
}

case $event in
stop)
    if is_live || was_removed; then decide; fi
    exit 0
    ;;
subagent-stop)
    if is_live || is_open; then decide; fi
    exit 0
    ;;
user-prompt-submit)
    read_event
    is_long || has_words || [ -n "$swapped" ] || is_live || is_open || was_removed || exit 0
    ;;
session-start | pre-tool-use | post-tool-use)
    read_event
    ;;
*)
    is_live && decide
    exit 0
    ;;
esac

# Does a plan session with an open fence run? Then every shell command is looked at. Python knows an odd layout.
is_fenced() {
    case $index in
    '{"version": 4, "live": ['*'], "fenced": ["'*) names=${index#*'"fenced": '\[} ;;
    '{"version": 4, "live": ['*) return 1 ;;
    *) return 0 ;;
    esac
    is_named
}

is_tool() {
    case $input in
    *"\"tool_name\":\"$1\""* | *"\"tool_name\": \"$1\""*) return 0 ;;
    *) return 1 ;;
    esac
}

# omo, where its state is, or how git takes that along. In what the tool is given: a directory may well be called so.
concerns_omo() {
    case $input in
    *.sisyphus/cc-omo*) return 0 ;; # also as the directory in which the command runs
    *'"tool_input"'*omo* | *'"tool_input"'*sisyphus*) return 0 ;;
    *'"tool_input"'*git*clean* | *'"tool_input"'*git*stash*) return 0 ;;
    *) return 1 ;;
    esac
}

calls_omo() {
    case $input in *'"tool_input"'*[!a-zA-Z0-9_.-]omo\ [a-z]*) return 0 ;; *) return 1 ;; esac
}

case $event in
pre-tool-use)
    if is_long; then
        decide
    elif is_tool "$plugin_shell"; then
        if [ -n "$runtime" ] && is_fenced; then
            decide
        elif concerns_omo; then
            if [ -n "${plugin_rewrites-}" ] || { [ -z "$runtime" ] && calls_omo; } || is_live; then decide; fi
            calls_omo && prepare_environment
        fi
    elif [ -n "${plugin_other_shell-}" ] && is_tool "$plugin_other_shell"; then
        is_fenced && decide
    else
        case $input in *cc-omo*) decide ;; *) is_live && decide ;; esac
    fi
    exit 0
    ;;
post-tool-use)
    if is_long || { concerns_omo && is_live; }; then decide; fi
    exit 0
    ;;
esac

# Has any session of the project left work open?
is_left() {
    [ -n "$runtime" ] || return 1
    case $index in
    '{"version": 4, "live": ['*'], "left": true, "sessions": {'*) return 0 ;;
    '{"version": 4, "live": ['*) return 1 ;;
    *) return 0 ;; # not the layout we write: let Python read it
    esac
}

if [ "$event" = session-start ]; then
    [ ! -r "$root/hooks/session-start.sh" ] || . "$root/hooks/session-start.sh"
else
    decide
    if has_words; then prepare_environment </dev/null >/dev/null 2>&1 & fi # the first command comes later
fi
exit 0
