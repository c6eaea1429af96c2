#!/bin/sh
# Points to a Python environment that is ready, or has build_environment.py make one: this page is what must work before
# a Python is known, and without starting one. docs/decisions/environment.md says why it is so.
#
#   environment.sh ensure [--retry | --anew] [--announce] HOME REQUIREMENTS [MODULES]
#   environment.sh find HOME REQUIREMENTS
#   environment.sh python REQUIREMENTS
#
# HOME/environment-KEY points to the one for requirements of that key, HOME/environment to the newest. Four lines:
# interpreter, its site-packages, key, `interpreter -V`. Hooks, which need no packages, use the newest whatever its key.
# ensure and find: exit 0 and the first two lines of the pointer on stdout; else exit 1, and of ensure one line that says
# why. Detail is in HOME/environment.log. --retry: also after a failure that is remembered; --anew: also what is valid.
# python: a bare interpreter that would do, on stdout.
#
# build_environment.py asks back: `known`, as ensure does before it builds, and `interpreters`, for all that would do.
#
# OMO_PYTHON_DIRS replaces the directories searched after PATH; OMO_ENV_WAIT the seconds to wait for another build.
set -u

MODULES='pydantic filelock orjson markdown_it yaml regex PIL rich jinja2'
NAMES='python3.14 python3.13 python3.12 python3.11 python3.10 python3 python'
DIRECTORIES=/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/Library/Frameworks/Python.framework/Versions/Current/bin
RETRY_MINUTES=10
TAB=$(printf '\t')

# Python 2 must be able to parse this: the answer of an old interpreter is its exit code.
# Opening the requirements is the real question: a packaged Python runs, but may not read the plugin directory.
# The interpreter of somebody's venv is traded for its base, which outlives the venv.
PROBE='
import os, sys
if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
    sys.exit(9)
open(sys.argv[1], "rb").close()
executable = sys.executable
if sys.prefix != sys.base_prefix:
    base = os.path.join(sys.base_prefix, "bin", "python%d.%d" % sys.version_info[:2])
    executable = base if os.path.exists(base) else executable
sys.stdout.write("omo-python\t%s\t%s\n" % (os.path.realpath(executable), executable))
'

# Not echo, which takes the backslashes of a path for escapes in some shells.
say() {
    printf '%s\n' "$*"
}

fail() {
    printf 'omo: %s\n' "$(say "$1" | LC_ALL=C tr '\n' ' ' | LC_ALL=C sed 's/ *$//')"
    exit 1
}

absolute() {
    case $1 in /* | [A-Za-z]:*) say "$1" ;; *) say "$PWD/$1" ;; esac
}

use_home() {
    home=$(absolute "$1")
    newest=$home/environment failed=$home/environment.failed
}

use_requirements() {
    requirements=$(absolute "$1")
    [ -r "$requirements" ] && key=$(cksum <"$requirements") && key=${key%% *}-${key##* }
}

read_pointer() {
    interpreter='' site='' pointed_key='' pointed_version=''
    [ -f "$1" ] && {
        IFS= read -r interpreter && IFS= read -r site && IFS= read -r pointed_key && IFS= read -r pointed_version
    } <"$1"
}

# Is there an environment for these requirements that still works?
is_ready() {
    for pointer in "$newest-$key" "$newest"; do
        read_pointer "$pointer" && [ "$key" = "$pointed_key" ] && [ -x "$interpreter" ] && [ -d "$site" ] &&
            version=$("$interpreter" -V 2>/dev/null) && [ "$version" = "$pointed_version" ] && return 0
    done
    return 1
}

# Has the last attempt for these requirements failed only just, and with which line?
has_failed() {
    [ -f "$failed" ] && [ -z "$(find "$failed" -prune -mmin "+$RETRY_MINUTES" 2>/dev/null)" ] &&
        { IFS= read -r failed_key && IFS= read -r line; } <"$failed" && [ "$failed_key" = "$key" ]
}

# What needs no build: 0 and the environment, 1 and why there is none, or 2.
known() {
    [ -z "$anew" ] || return 2
    if is_ready; then
        printf '%s\n' "$interpreter" "$site"
        return 0
    fi
    [ -z "$retry" ] && has_failed || return 2
    printf 'omo: %s\n' "$line"
    return 1
}

ensure() {
    use_home "$1"
    use_requirements "$2" || fail "cannot read $requirements; reinstall omo"
    known
    code=$?
    [ "$code" -eq 2 ] || exit "$code"
    uv=$(search uv | head -n 1)
    python=$(interpreters first)
    [ -n "$python" ] || [ -z "$uv" ] || python=$(bring_python)
    if [ -z "$python" ]; then
        line='no Python 3.10 or newer was found; install Python or uv, then start again'
        [ -z "$uv" ] || (printf '%s\n' "$key" "$line" >"$failed") 2>/dev/null # uv has tried to download one
        fail "$line"
    fi
    exec "${python#*"$TAB"}" -I -S -X utf8 "$(dirname "$0")/build_environment.py" "$home" "$requirements" "$key" \
        "${3:-$MODULES}" "$uv" "$search_path" ${retry:+--retry} ${anew:+--anew} ${announced:+--announce}
}

bring_python() {
    mkdir -p "$home" 2>/dev/null
    [ -z "$announced" ] || echo 'omo: preparing its Python environment (once): uv brings a Python…' >&2
    probe "$uv" run --no-project --python '>=3.10,<3.15' python 2>"$home/environment.log"
}

# Programs of this name on PATH and in the usual directories. Absolute ones only: a project must not get its
# ./python3 run. Started from a desktop, the host often lacks the directories uv installs itself to.
search() {
    {
        printf '%s\n' "$search_path" "${OMO_PYTHON_DIRS-$DIRECTORIES}" | tr ':' '\n'
        printf '%s\n' "${PYENV_ROOT:-${HOME-}/.pyenv}"/versions/*/bin "${HOME-}/.local/bin" "${HOME-}/.cargo/bin"
    } | while IFS= read -r directory; do
        case $directory in /*) [ -f "$directory/$1" ] && [ -x "$directory/$1" ] && say "$directory/$1" ;; esac
    done
}

# Those that will do, in the order they are to be tried, or the first: what each really is, and how it calls itself.
interpreters() {
    for name in $NAMES; do search "$name"; done | while IFS= read -r candidate; do
        case $candidate in
        /usr/bin/python*) # on a Mac without the developer tools it opens a dialogue
            [ "$(uname -s)" != Darwin ] || xcode-select -p >/dev/null 2>&1 || continue
            ;;
        esac
        probe "$candidate" 2>/dev/null && [ "${1-}" = first ] && break
    done
}

probe() {
    answer=$("$@" -I -X utf8 -c "$PROBE" "$requirements" </dev/null) || return 1
    case $answer in "omo-python$TAB"*) say "${answer#*"$TAB"}" ;; *) return 1 ;; esac
}

verb=${1-} retry='' anew='' announced='' key=''
[ $# -eq 0 ] || shift
while :; do
    case ${1-} in
    --retry) retry=yes ;;
    --anew) anew=yes ;;
    --announce) announced=yes ;;
    *) break ;;
    esac
    shift
done
# The interpreters are looked for where the caller looks; the tools of this script come from the system, even with a
# minimal PATH.
search_path=${PATH-}
PATH=/usr/bin:/bin${PATH:+:$PATH}
export PATH
case $verb:$# in
ensure:2 | ensure:3) ensure "$@" ;;
find:2)
    retry=yes
    use_home "$1"
    use_requirements "$2" && known || exit 1
    ;;
known:2)
    use_home "$1"
    use_requirements "$2" || exit 2
    known
    ;;
python:1)
    use_requirements "$1" || exit 1
    python=$(interpreters first)
    [ -n "$python" ] && say "${python#*"$TAB"}"
    ;;
interpreters:1) use_requirements "$1" && interpreters ;;
*)
    echo 'usage: environment.sh ensure [--retry | --anew] [--announce] HOME REQUIREMENTS [MODULES] | find HOME REQUIREMENTS | python REQUIREMENTS' >&2
    exit 2
    ;;
esac
