#!/bin/sh
# Points to a Python environment that is ready, or has build_environment.py make one: this page is what must work before
# a Python is known, and without starting one. docs/decisions/environment.md says why it is so.
#
#   environment.sh ensure [--retry | --anew] [--announce] HOME REQUIREMENTS [MODULES]
#   environment.sh find HOME REQUIREMENTS
#   environment.sh python HOME REQUIREMENTS [FAILED]
#   environment.sh retire HOME
#
# HOME/environment-KEY points to the one for requirements of that key, HOME/environment to the newest. Four lines:
# interpreter, its site-packages, key, `interpreter -V`.
# ensure and find: exit 0 and the first two lines of the pointer on stdout; else exit 1, and of ensure one line that says
# why. Detail is in HOME/environment.log. --retry: also after a failure that is remembered; --anew: also what is valid.
# python: a bare interpreter that will do, and is not FAILED, on stdout. HOME/interpreter keeps it, for the hooks.
# retire: removes what earlier versions built in HOME, a day after it was first asked: their sessions may still use it.
#
# build_environment.py asks back: `known`, as ensure does before it builds, and `interpreters`, for all that would do.
#
# The project has no say in which interpreter runs: its directory is left first, and what points into it is left out, on
# PATH and in every other variable.
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
import fcntl, os, sys
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
    case $1 in /*) say "$1" ;; *) say "$caller/$1" ;; esac
}

set_home() {
    home=$(absolute "$1")
    newest=$home/environment failed=$home/environment.failed asked=$home/environment.asked kept=$home/interpreter
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
        [ -f "$kept" ] || keep "$interpreter" # so that nobody has to look for one
        printf '%s\n' "$interpreter" "$site"
        return 0
    fi
    [ -z "$retry" ] && has_failed || return 2
    printf 'omo: %s\n' "$line"
    return 1
}

ensure() {
    set_home "$1"
    use_requirements "$2" || refuse "cannot read $requirements; reinstall omo"
    known
    code=$?
    if [ "$code" -ne 2 ]; then
        rm -f "$asked" 2>/dev/null
        exit "$code"
    fi
    mkdir -p "$home" 2>/dev/null
    uv=$(search uv | head -n 1)
    python=$(bare)
    [ -n "$python" ] || [ -z "$uv" ] || [ ! -w "$home" ] || python=$(bring_python)
    if [ -z "$python" ]; then
        line='no Python 3.10 or newer was found; install Python or uv, then start again'
        [ -z "$uv" ] || (printf '%s\n' "$key" "$line" >"$failed") 2>/dev/null # uv has tried to download one
        refuse "$line"
    fi
    keep "${python#*"$TAB"}"
    exec "${python#*"$TAB"}" -I -S -X utf8 "$scripts/build_environment.py" "$home" "$requirements" "$key" \
        "${3:-$MODULES}" "$uv" "$search_path" ${retry:+--retry} ${anew:+--anew} ${announced:+--announce}
}

refuse() {
    rm -f "$asked" 2>/dev/null
    fail "$1"
}

bring_python() {
    [ -z "$announced" ] || echo 'omo: preparing its Python environment (once): uv brings a Python…' >&2
    forget_settings
    probe "$uv" run --no-config --no-project --python '>=3.10,<3.15' python 2>"$home/environment.log"
}

# The interpreter that is kept, else the first that will do.
bare() {
    for pointer in "$kept" "$newest"; do
        [ -f "$pointer" ] && IFS= read -r candidate <"$pointer" && is_program "$candidate" || continue
        (forget_settings && probe "$candidate" 2>/dev/null) && return
    done
    interpreters first
}

is_program() {
    case $1 in "$refused") return 1 ;; /*) [ -f "$1" ] && [ -x "$1" ] ;; *) return 1 ;; esac
}

# Writes aside and renames, so that no hook reads half of it.
keep() {
    [ -f "$kept" ] && IFS= read -r old <"$kept" && [ "$old" = "$1" ] && [ "$(wc -l <"$kept")" -eq 1 ] && return
    [ ! -d "$kept" ] || [ -L "$kept" ] || rm -rf "$kept"
    mkdir -p "$home" && printf '%s\n' "$1" >"$kept.$$.tmp" && mv -f "$kept.$$.tmp" "$kept" || rm -f "$kept.$$.tmp"
} 2>/dev/null

retire() {
    set_home "$1"
    [ -f "$newest.retired" ] || printf '' >"$newest.retired"
    [ -n "$(find "$newest.retired" -prune -mmin +1440)" ] || return 0
    rm -rf "$home"/env-* "$newest" "$newest"-* "$newest".* "$home/pycache"
}

# What says which Python a version manager starts, or changes how one starts.
forget_settings() {
    for name in $(variables); do
        case $name in
        UV_* | PYTHON* | PYENV_VERSION | PYENV_DIR | ASDF_*VERSION | MISE_*VERSION | MISE_ENV) unset "$name" ;;
        VIRTUAL_ENV | CONDA_PREFIX | __PYVENV_LAUNCHER__) unset "$name" ;;
        esac
    done
}

variables() {
    env | sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'
}

# Leaves the project, with every variable that points into it. The caller's directories of programs stay, without those.
leave_project() {
    find_tops
    cd / || exit 1
    search_path=
    set -f
    IFS=:
    for directory in $1; do
        is_outside "$directory" && search_path=${search_path:+$search_path:}$real
    done
    for name in $(variables | tr '\n' ':'); do
        case $name in PATH | PWD | OMO_PROJECT_DIR) continue ;; esac
        eval "value=\${$name-}"
        for place in $value; do
            case $place in /*) is_outside "$place" || unset "$name" ;; esac
        done
    done
    unset IFS
    set +f
}

# Programs of this name on PATH and in the usual directories, by where those really are. Started from a desktop, the host
# often lacks the directories uv installs itself to.
search() {
    {
        printf '%s\n' "$search_path" "${OMO_PYTHON_DIRS-$DIRECTORIES}" | tr ':' '\n'
        printf '%s\n' "${PYENV_ROOT:-${HOME-}/.pyenv}"/versions/*/bin "${HOME-}/.local/bin" "${HOME-}/.cargo/bin"
        printf '%s\n' "${XDG_DATA_HOME:-${HOME-}/.local/share}"/uv/python/*/bin
    } | while IFS= read -r directory; do
        [ -f "$directory/$1" ] && [ -x "$directory/$1" ] && is_outside "$directory" && say "${real%/}/$1"
    done
}

# Those that will do, in the order they are to be tried, or the first: what each really is, and how it calls itself.
interpreters() {
    forget_settings
    for name in $NAMES; do search "$name"; done | while IFS= read -r candidate; do
        case $candidate in
        "$refused") continue ;;
        /usr/bin/python*) # on a Mac without the developer tools it opens a dialogue
            [ "$(uname -s)" != Darwin ] || xcode-select -p >/dev/null 2>&1 || continue
            ;;
        esac
        found=$(probe "$candidate" 2>/dev/null) && [ "${found#*"$TAB"}" != "$refused" ] || continue
        say "$found"
        [ "${1-}" != first ] || break
    done
}

probe() {
    answer=$("$@" -I -X utf8 -c "$PROBE" "$requirements" </dev/null) || return 1
    case $answer in "omo-python$TAB"*) say "${answer#*"$TAB"}" ;; *) return 1 ;; esac
}

scripts=$(CDPATH='' cd -P -- "$(PATH=/usr/bin:/bin:${PATH-} && dirname "$0")" && pwd -P) || exit 1
. "$scripts/home.sh"
verb=${1-} retry='' anew='' announced='' key='' home='' newest='' kept='' refused='' caller=$PWD real='' value=''
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
# The tools of this script come from the system, even with a minimal PATH.
caller_path=${PATH-}
PATH=/usr/bin:/bin${PATH:+:$PATH}
export PATH
leave_project "$caller_path"
PATH=/usr/bin:/bin${search_path:+:$search_path}
case $verb:$# in
ensure:2 | ensure:3) ensure "$@" ;;
find:2)
    retry=yes
    set_home "$1"
    use_requirements "$2" && known || exit 1
    ;;
known:2)
    set_home "$1"
    use_requirements "$2" || exit 2
    known
    ;;
python:2 | python:3)
    [ -z "$1" ] || set_home "$1"
    refused=${3-}
    use_requirements "$2" || exit 1
    python=$(bare)
    [ -n "$python" ] || exit 1
    [ -z "$home" ] || keep "${python#*"$TAB"}"
    say "${python#*"$TAB"}"
    ;;
retire:1) retire "$1" ;;
interpreters:1) use_requirements "$1" && interpreters ;;
*)
    echo 'usage: environment.sh ensure [--retry | --anew] [--announce] HOME REQUIREMENTS [MODULES] | find HOME REQUIREMENTS | python HOME REQUIREMENTS [FAILED] | retire HOME' >&2
    exit 2
    ;;
esac
