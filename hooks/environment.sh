#!/bin/sh
# Makes a Python environment ready and points to it. docs/decisions/environment.md says why it is so.
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
# OMO_PYTHON_DIRS replaces the directories searched after PATH; OMO_ENV_WAIT the seconds to wait for another build.
set -u

MODULES='pydantic filelock orjson markdown_it yaml regex PIL rich jinja2 shtab'
NAMES='python3.14 python3.13 python3.12 python3.11 python3.10 python3 python'
DIRECTORIES=/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/Library/Frameworks/Python.framework/Versions/Current/bin
STALE_MINUTES=15 # longer than any build: an older lock or build directory belongs to nobody
RETRY_MINUTES=10
DAY_MINUTES=1440
KEPT=3 # environments, each for other requirements: versions of omo that are in use side by side
UNREACHABLE='ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Max retries exceeded|timed out|dns error'
UNREACHABLE="$UNREACHABLE|error sending request|[Nn]etwork (connectivity|is unreachable)|[Cc]onnection (refused|reset)"
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
IMPORT='
import sys
open(sys.argv[3], "rb").close()
sys.path.append(sys.argv[1])
for name in sys.argv[2].split():
    __import__(name)
'
HAS_PIP='
import sys, pip
sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))
'
SITE='import sysconfig; print(sysconfig.get_path("purelib"))'

# Not echo, which takes the backslashes of a path for escapes in some shells.
say() {
    printf '%s\n' "$*"
}

message() {
    case $1 in
    python) say 'no Python 3.10 or newer was found; install Python or uv, then start again' ;;
    venv) say "$culprit cannot make a virtual environment; install the package python3-venv (or uv), then start again" ;;
    network) say "the package index could not be reached; check the connection, proxy or pip settings, then type omo doctor in a terminal ($log)" ;;
    hashes) say "a downloaded package is not the pinned one (hash mismatch); check the package index or proxy ($log)" ;;
    packages) say "the package index has no wheels of the requirements for $culprit; install another Python (3.10 to 3.14) or uv ($log)" ;;
    import) say "the packages installed for $culprit do not import; install another Python (3.10 to 3.14) or uv ($log)" ;;
    disk) say "the disk is full; free some space for $home, then start again" ;;
    home) say "cannot write to $home; make it a writable directory, then start again" ;;
    requirements) say "cannot read $requirements; reinstall omo" ;;
    busy) say "another session is still preparing the Python environment; start again in a minute ($lock)" ;;
    *) say "preparing the Python environment failed; the reason is in $log" ;;
    esac | LC_ALL=C tr '\n' ' ' | LC_ALL=C sed 's/ *$//'
}

fail() {
    printf 'omo: %s\n' "$(message "$1")"
    exit 1
}

absolute() {
    case $1 in /* | [A-Za-z]:*) say "$1" ;; *) say "$PWD/$1" ;; esac
}

use_home() {
    home=$(absolute "$1")
    newest=$home/environment log=$home/environment.log lock=$home/environment.lock failed=$home/environment.failed
    aside=$home/environment.$$.tmp
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

# Ends well where there is nothing to do.
leave_if_ready() {
    [ -z "$anew" ] && is_ready || return 0
    printf '%s\n' "$interpreter" "$site"
    exit 0
}

older_than() {
    [ -n "$(find "$2" -prune -mmin "+$1" 2>/dev/null)" ]
}

ensure() {
    culprit='' building=''
    use_home "$1"
    use_requirements "$2" || fail requirements
    modules=${3:-$MODULES}
    leave_if_ready
    recall_failure
    mkdir -p "$home" 2>/dev/null && (: >"$aside") 2>/dev/null && rm "$aside" || fail home
    trap 'leave' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    take_lock || { leave_if_ready; fail busy; }
    leave_if_ready
    recall_failure
    build
}

# What is being done, for whoever waits.
announce() {
    [ -z "$announced" ] || [ "$1" = "$shown" ] || printf 'omo: %s\n' "$1" >&2
    shown=$1
}

leave() {
    rm -f "$aside"
    [ -z "$building" ] || rm -rf "$building"
    if [ "$(lock_owner)" = "$$" ]; then rm -rf "$lock"; fi
}

# The lock is an economy: two builds at once are harmless, since each builds aside and renames.
take_lock() {
    waited=0
    until mkdir "$lock" 2>/dev/null; do
        if lock_abandoned; then
            rm -rf "$lock"
            continue
        fi
        [ "$waited" -lt "${OMO_ENV_WAIT:-240}" ] || return 1
        sleep 1
        waited=$((waited + 1))
        announce 'another session is preparing its Python environment…'
        is_ready && return 1
    done
    (echo "$$" >"$lock/owner") 2>/dev/null
}

lock_owner() {
    cat "$lock/owner" 2>/dev/null
}

# The age is for a process id that was given to another program after a crash, and for a builder that was killed
# before it could sign.
lock_abandoned() {
    older_than "$STALE_MINUTES" "$lock/owner" && return 0
    owner=$(lock_owner)
    if [ -n "$owner" ]; then ! kill -0 "$owner" 2>/dev/null; else older_than 1 "$lock"; fi
}

# Only an attempt that went to the index is remembered: the others are quick, and their remedy should work at once.
recall_failure() {
    [ -z "$retry$anew" ] && [ -f "$failed" ] && ! older_than "$RETRY_MINUTES" "$failed" || return 0
    { IFS= read -r failed_key && IFS= read -r line; } <"$failed" && [ "$failed_key" = "$key" ] || return 0
    printf 'omo: %s\n' "$line"
    exit 1
}

build() {
    (: >"$log") 2>/dev/null || log=/dev/null
    isolate
    cd "$home" || fail home
    announce 'preparing its Python environment (once)…'
    reason=python downloaded='' gave_up=''
    remove_leftovers
    build_aside && put_in_place
    if [ -n "$reason" ]; then
        line=$(message "$reason")
        say "omo: $line" >>"$log"
        [ -z "$downloaded" ] || { (printf '%s\n' "$key" "$line" >"$aside") 2>/dev/null && mv -f "$aside" "$failed"; }
        fail "$reason"
    fi
    rm -f "$failed"
    printf '%s\n' "$python" "$site"
    exit 0
}

# What the user set for Python or for another environment must not reach this one; indexes, proxies and caches do.
isolate() {
    exec </dev/null
    unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX \
        PYTHONWARNINGS PYTHONOPTIMIZE PYTHONINSPECT PYTHONDEBUG PYTHONSAFEPATH __PYVENV_LAUNCHER__ VIRTUAL_ENV \
        CONDA_PREFIX PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_CONSTRAINT PIP_REQUIREMENT PIP_DRY_RUN PIP_QUIET \
        UV_PYTHON UV_SYSTEM_PYTHON UV_CONSTRAINT UV_OVERRIDE UV_PROJECT_ENVIRONMENT UV_NO_VERIFY_HASHES
    export PIP_USER=0 PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
}

# An environment no longer pointed to may still run in a session: it has a day.
remove_leftovers() {
    read_pointer "$newest"
    pointed=$TAB${interpreter%/*/*}$TAB
    count=1 # with the one that is about to be built
    while IFS= read -r pointer <&3; do
        count=$((count + 1))
        if [ "$count" -gt "$KEPT" ]; then rm -f "$pointer"; fi
        read_pointer "$pointer" && pointed=$pointed${interpreter%/*/*}$TAB
    done 3<<EOF
$(ls -t "$newest"-* 2>/dev/null)
EOF
    for directory in "$home"/env-* "$home"/environment.*.tmp; do
        case $pointed in *"$TAB$directory$TAB"*) continue ;; esac
        case $directory in
        *.tmp) older_than "$STALE_MINUTES" "$directory" || continue ;;
        *) older_than "$DAY_MINUTES" "$directory" || continue ;;
        esac
        rm -rf "$directory" "$home/pycache$directory"
    done
}

logged() {
    printf '+ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1
}

# Leaves a verified environment in $building, or 1 and the reason. uv finds an interpreter by itself, or brings one.
build_aside() {
    building=$home/env-$key-$(date +%s)-$$.tmp tried=$TAB$TAB
    uv=$(search uv | head -n 1)
    [ -n "$uv" ] && build_by_uv && verify "$uv" && return 0
    while IFS=$TAB read -r identity candidate <&3; do
        case $tried in *"$TAB$identity$TAB"*) continue ;; esac
        tried=$tried$identity$TAB
        build_by_pip "$candidate" && verify "$candidate" && return 0
        [ -z "$gave_up" ] || return 1
    done 3<<EOF
$(interpreters)
EOF
    return 1
}

build_by_uv() {
    mark=$(wc -l <"$log")
    downloaded=yes
    announce 'preparing its Python environment (once): installing packages…'
    logged "$uv" venv --no-project --python '>=3.10,<3.15' "$building" || return 1
    logged "$uv" pip install --python "$building/bin/python" --require-hashes --no-deps --only-binary :all: \
        --no-progress -r "$requirements" && return 0
    explain_install "$uv"
    gave_up='' # uv does not read pip's settings: pip may reach what uv does not
    return 1
}

# The pip is the interpreter's own (a Debian without python3-venv may have that and no ensurepip; it also saves the
# 4 seconds of ensurepip; pip 22.3 learned --python), else ensurepip's.
build_by_pip() {
    rm -rf "$building"
    mark=$(wc -l <"$log")
    if logged "$1" -I -m venv --without-pip "$building" && logged "$1" -I -c "$HAS_PIP"; then
        set -- "$1" "$1" -I -m pip --python "$building/bin/python"
    elif logged "$building/bin/python" -I -m ensurepip; then
        set -- "$1" "$building/bin/python" -I -m pip
    else
        [ "$reason" != python ] || { reason=venv culprit=$1; }
        return 1
    fi
    candidate=$1 downloaded=yes
    shift
    announce 'preparing its Python environment (once): installing packages…'
    set -- "$@" install --require-hashes --no-deps --only-binary :all: --no-compile --no-warn-conflicts --progress-bar off
    install_halves "$@" || logged "$@" -r "$requirements" && return 0
    explain_install "$candidate"
    return 1
}

# Most of pip's time goes into reading the index, on one core. Nothing depends on the order, as each package is pinned.
install_halves() {
    split_requirements || return 1
    logged "$@" -r "$building/first.txt" &
    other=$!
    logged "$@" -r "$building/second.txt"
    second=$?
    wait "$other" && [ "$second" -eq 0 ]
}

# A package begins at the start of a line, and its hashes follow.
split_requirements() (
    cd "$building" && awk '
        /^[^ #]/ { into = of_first <= of_second ? "first.txt" : "second.txt" }
        into == "first.txt" { of_first++ }
        into == "second.txt" { of_second++ }
        into { print > into }
        END { exit !(of_first && of_second) }
    ' "$requirements"
)

# The last attempt that got so far tells most; a full disk, a wrong package and no network are the same for all.
explain_install() {
    reason=other culprit=$1
    if said 'No space left on device|Disk quota exceeded|not enough space on the disk'; then
        reason=disk gave_up=yes
    elif said 'DO NOT MATCH THE HASHES|Hash mismatch'; then
        reason=hashes gave_up=yes
    elif said "$UNREACHABLE"; then
        reason=network gave_up=yes
    elif said 'No matching distribution|No solution found|is not a supported wheel|has no (usable )?wheels'; then
        reason=packages
    fi
}

said() {
    tail -n "+$((mark + 1))" "$log" | LC_ALL=C grep -Eq "$1"
}

site_of() {
    directory=$("$1" -I -X utf8 -c "$SITE" 2>>"$log") && say "$directory"
}

# As the hooks start it: without site, so that only what is in the directory counts.
verify() {
    announce 'preparing its Python environment (once): trying it…'
    python=$building/bin/python
    site=$(site_of "$python") && logged "$python" -I -S -B -X utf8 -c "$IMPORT" "$site" "$modules" "$requirements" && return 0
    reason=import culprit=$1
    return 1
}

# The rename and the pointers. Importing once more where it stays fills the bytecode cache that hooks and bin/omo use.
put_in_place() {
    reason=other
    logged mv "$building" "${building%.tmp}" || return 1
    building=${building%.tmp}
    python=$building/bin/python
    site=$(site_of "$python") && version=$("$python" -V 2>>"$log") || return 1
    logged "$python" -I -S -X utf8 -X pycache_prefix="$home/pycache" -c "$IMPORT" "$site" "$modules" "$requirements" ||
        return 1
    made=$site # read_pointer has its own
    read_pointer "$newest-$key" || read_pointer "$newest"
    case ${interpreter%/*/*} in "$home"/env-*) touch "${interpreter%/*/*}" ;; esac # from now on it has its day
    site=$made
    for pointer in "$newest-$key" "$newest"; do
        (printf '%s\n' "$python" "$site" "$key" "$version" >"$aside") 2>>"$log" && mv -f "$aside" "$pointer" ||
            return 1
    done
    building='' reason=''
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

# Those that will do, in the order they are to be tried: what each really is, and how it calls itself.
interpreters() {
    for name in $NAMES; do
        search "$name" | while IFS= read -r candidate; do
            case $candidate in
            /usr/bin/python*) # on a Mac without the developer tools it opens a dialogue
                [ "$(uname -s)" != Darwin ] || xcode-select -p >/dev/null 2>&1 || continue
                ;;
            esac
            answer=$("$candidate" -I -X utf8 -c "$PROBE" "$requirements" 2>/dev/null </dev/null) || continue
            case $answer in "omo-python$TAB"*) say "${answer#*"$TAB"}" ;; esac
        done
    done
}

verb=${1-} retry='' anew='' announced='' shown='' key=''
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
    use_home "$1"
    use_requirements "$2" && is_ready || exit 1
    printf '%s\n' "$interpreter" "$site"
    ;;
python:1)
    use_requirements "$1" || exit 1
    python=$(interpreters | head -n 1)
    [ -n "$python" ] && say "${python#*"$TAB"}"
    ;;
*)
    echo 'usage: environment.sh ensure [--retry | --anew] [--announce] HOME REQUIREMENTS [MODULES] | find HOME REQUIREMENTS | python REQUIREMENTS' >&2
    exit 2
    ;;
esac
