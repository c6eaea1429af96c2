#!/bin/sh
# Makes a Python environment ready and points to it. docs/decisions/environment.md says why it is so.
#
#   environment.sh ensure [--force] [--announce] HOME REQUIREMENTS [MODULES]
#   environment.sh find HOME [REQUIREMENTS]
#
# HOME/environment is the pointer, four lines: interpreter, its site-packages, requirements key, `interpreter -V`.
# ensure: exit 0 and silence, or exit 1 and one line on stdout. Detail is in HOME/environment.log.
# find: exit 0 when the pointer is valid, else 1.
#
# OMO_PYTHON_DIRS replaces the directories searched after PATH; OMO_ENV_WAIT the seconds to wait for another build.
set -u

MODULES='pydantic filelock orjson markdown_it yaml regex PIL tree_sitter tree_sitter_bash rich jinja2 shtab'
NAMES='python3.14 python3.13 python3.12 python3.11 python3.10 python3 python py'
DIRECTORIES=/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin:/Library/Frameworks/Python.framework/Versions/Current/bin
STALE_MINUTES=15    # longer than any build: an older lock or build directory belongs to nobody
RETRY_MINUTES=10
LOG_BYTES=65536
UNREACHABLE='ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Max retries exceeded|timed out|dns error'
UNREACHABLE="$UNREACHABLE|error sending request|[Nn]etwork (connectivity|is unreachable)|[Cc]onnection (refused|reset)"
CR=$(printf '\r')
TAB=$(printf '\t')
NEWLINE='
'

# Python 2 must be able to parse this: the answer of an old interpreter is its exit code.
# Opening the requirements is the real question: a Store (MSIX) Python runs, but cannot read the plugin directory.
# The interpreter of somebody's venv is traded for its base, which outlives the venv.
# shellcheck disable=SC2016
PROBE='
import os, sys
if sys.version_info < (3, 10) or sys.implementation.name != "cpython":
    sys.exit(9)
open(sys.argv[1], "rb").close()
executable = sys.executable
if sys.prefix != sys.base_prefix:
    names = ["python.exe"] if os.name == "nt" else ["bin", "python%d.%d" % sys.version_info[:2]]
    base = os.path.join(sys.base_prefix, *names)
    executable = base if os.path.exists(base) else executable
sys.stdout.write("omo-python\t%s\t%s\n" % (os.path.realpath(executable), executable))
'
IMPORT='
import sys
sys.path.append(sys.argv[1])
for name in sys.argv[2].split():
    __import__(name)
'
HAS_PIP='
import sys, pip
sys.exit(tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))
'
SITE='
import sysconfig
print(sysconfig.get_path("purelib"))
'

main() {
    verb=${1-}
    [ $# -gt 0 ] && shift
    force='' announce=''
    while :; do
        case ${1-} in
        --force) force=yes ;;
        --announce) announce=yes ;;
        *) break ;;
        esac
        shift
    done
    # The interpreters are looked for where the caller looks; the tools of this script come from the system,
    # even with a minimal PATH or with a find.exe of Windows in front.
    search_path=${PATH-}
    PATH=/usr/bin:/bin${PATH:+:$PATH}
    export PATH
    case $verb:$# in
    ensure:2 | ensure:3) ensure "$@" ;;
    find:1 | find:2) look "$@" ;;
    *) usage ;;
    esac
}

usage() {
    echo 'usage: environment.sh ensure [--force] [--announce] HOME REQUIREMENTS [MODULES] | find HOME [REQUIREMENTS]' >&2
    exit 2
}

# Not echo, which takes the backslashes of a path for escapes in some shells.
say() {
    printf '%s\n' "$*"
}

absolute() {
    case $1 in
    /* | [A-Za-z]:*) say "$1" ;;
    *) say "$PWD/$1" ;;
    esac
}

locate() {
    home=$(absolute "$1")
    pointer=$home/environment
    log=$home/environment.log
    lock=$home/environment.lock
    failed=$home/environment.failed
    aside=$home/environment.$$.tmp
    key='' requirements='' building=''
}

use_requirements() {
    requirements=$(absolute "$1")
    [ -r "$requirements" ] || return 1
    key=$(cksum <"$requirements") || return 1
    key=${key%% *}-${key##* }
}

look() {
    locate "$1"
    [ $# -eq 1 ] || use_requirements "$2" || return 1
    pointer_valid
}

ensure() {
    locate "$1"
    use_requirements "$2" || fail requirements
    modules=${3:-$MODULES}
    pointer_valid && exit 0
    recall_failure
    prepare_home || fail home
    trap 'leave' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    take_lock || { pointer_valid && exit 0; fail busy; }
    pointer_valid && exit 0
    recall_failure
    [ -z "$announce" ] || echo 'omo: preparing its Python environment (once)…' >&2
    build
}

leave() {
    rm -f "$aside"
    [ -z "$building" ] || rm -rf "$building"
    if owner=$(lock_owner) && [ "$owner" = "$$" ]; then rm -rf "$lock"; fi
}

read_pointer() {
    interpreter='' site='' pointed_key='' pointed_version=''
    [ -f "$pointer" ] || return 1
    {
        IFS= read -r interpreter
        IFS= read -r site
        IFS= read -r pointed_key
        IFS= read -r pointed_version
    } <"$pointer"
}

pointer_valid() {
    read_pointer && [ -x "$interpreter" ] && [ -d "$site" ] || return 1
    [ -z "$key" ] || [ "$pointed_key" = "$key" ] || return 1
    read_version "$interpreter" && [ "$version" = "$pointed_version" ]
}

read_version() {
    version=$("$1" -V 2>/dev/null) || return 1
    version=${version%"$CR"}
}

write_pointer() {
    read_version "$1" || return 1
    (printf '%s\n' "$1" "$2" "$key" "$version" >"$aside") 2>/dev/null && mv -f "$aside" "$pointer"
}

pointed_environment() {
    read_pointer || return 0
    directory=${interpreter%/*/*}
    say "${directory##*/}"
}

# The lock is an economy: two builds at once would be harmless, since each builds aside and renames.
take_lock() {
    waited=0 unowned=0
    until mkdir "$lock" 2>/dev/null; do
        [ -e "$lock" ] || disk_has_room || fail disk
        lock_abandoned && take_over && return 0
        [ "$waited" -lt "${OMO_ENV_WAIT:-240}" ] || return 1
        sleep 1
        waited=$((waited + 1))
        pointer_valid && return 1
    done
    sign_lock
}

sign_lock() {
    (echo "$$" >"$lock/owner") 2>/dev/null
}

lock_owner() {
    [ -f "$lock/owner" ] && read -r owner <"$lock/owner" 2>/dev/null && say "$owner"
}

# The age rule is for a process id that was given to another program after a crash.
lock_abandoned() {
    if owner=$(lock_owner); then
        ! kill -0 "$owner" 2>/dev/null || older_than "$STALE_MINUTES" "$lock/owner"
    else
        unowned=$((unowned + 1))
        [ "$unowned" -gt 5 ]
    fi
}

# mkdir inside the abandoned lock lets one of several waiters claim it; the claim is void when the lock has become
# another's meanwhile. A claimant that died here leaves its claim behind: the whole lock goes after some rounds.
take_over() {
    if ! mkdir "$lock/claim" 2>/dev/null; then
        unowned=$((unowned + 1))
        [ "$unowned" -lt 10 ] || rm -rf "$lock"
        return 1
    fi
    lock_abandoned && sign_lock
    taken=$?
    rmdir "$lock/claim" 2>/dev/null
    return "$taken"
}

older_than() {
    [ -n "$(find "$2" -prune -mmin "+$1" 2>/dev/null)" ]
}

remove_leftovers() {
    current=$(pointed_environment)
    for directory in "$home"/env-*; do
        if [ "${directory##*/}" != "$current" ] && unused "$directory"; then
            rm -rf "$directory" "$home/pycache$directory"
        fi
    done
    for file in "$home"/environment.*.tmp; do
        [ "$file" != "$aside" ] && older_than "$STALE_MINUTES" "$file" && rm -f "$file"
    done
}

# An environment no longer pointed to may still run in a session: it has a day. A build of a dead process goes sooner,
# but not at once: process ids say nothing about a build in another container.
unused() {
    older_than 1440 "$1" && return 0
    case $1 in
    *.tmp)
        builder=${1##*-}
        ! kill -0 "${builder%.tmp}" 2>/dev/null && older_than "$STALE_MINUTES" "$1"
        ;;
    *) false ;;
    esac
}

message() {
    case $1 in
    python) say 'no Python 3.10 or newer was found; install Python or uv, then start again' ;;
    venv) say "$culprit cannot make a virtual environment; install the package python3-venv (or uv), then start again" ;;
    network) say "the package index could not be reached; check the connection, proxy or pip settings; next try in $RETRY_MINUTES minutes ($log)" ;;
    hashes) say "a downloaded package is not the pinned one (hash mismatch); check the package index or proxy ($log)" ;;
    packages) say "the package index has no wheels of the requirements for $culprit; install another Python (3.10 to 3.14) or uv ($log)" ;;
    import) say "the packages installed for $culprit do not import; install another Python (3.10 to 3.14) or uv ($log)" ;;
    disk) say "the disk is full; free some space for $home, then start again" ;;
    home) say "cannot write to $home; make it a writable directory, then start again" ;;
    requirements) say "cannot read $requirements; reinstall omo" ;;
    busy) say "another session is still preparing the Python environment; start again in a minute ($lock)" ;;
    *) say "preparing the Python environment failed; the reason is in $log" ;;
    esac
}

one_line() {
    LC_ALL=C tr '\n' ' ' | LC_ALL=C sed 's/ *$//'
}

fail() {
    printf 'omo: %s\n' "$(message "$1" | one_line)"
    exit 1
}

# Only an attempt that went to the index is remembered: the others are quick, and their remedy should work at once.
fail_build() {
    rm -rf "$building"
    line=$(message "$1" | one_line)
    printf 'omo: %s\n' "$line" >>"$log"
    [ -z "$downloaded" ] || { (printf '%s\n' "$key" "$line" >"$aside") 2>/dev/null && mv -f "$aside" "$failed"; }
    fail "$1"
}

recall_failure() {
    [ -z "$force" ] && [ -f "$failed" ] || return 0
    older_than "$RETRY_MINUTES" "$failed" && return 0
    {
        IFS= read -r failed_key
        IFS= read -r line
    } <"$failed"
    [ "$failed_key" = "$key" ] || return 0
    printf 'omo: %s\n' "$line"
    exit 1
}

# The most telling reason of all attempts: that an interpreter has no venv matters least.
blame() {
    [ "$1" = venv ] && [ "$reason" != python ] && return 0
    reason=$1 culprit=$2
}

why_install_failed() {
    if said 'No space left on device|Disk quota exceeded|not enough space on the disk' || ! disk_has_room; then
        echo disk
    elif said 'DO NOT MATCH THE HASHES|Hash mismatch'; then
        echo hashes
    elif said "$UNREACHABLE"; then
        echo network
    elif said 'No matching distribution|No solution found|is not a supported wheel|has no (usable )?wheels'; then
        echo packages
    else
        echo other
    fi
}

said() {
    tail -n "+$((mark + 1))" "$log" | LC_ALL=C grep -Eq "$1"
}

# A full disk can also keep the log from saying so.
disk_has_room() {
    dd if=/dev/zero of="$aside" bs=1024 count=1024 >/dev/null 2>&1
    written=$?
    rm -f "$aside"
    return "$written"
}

prepare_home() {
    mkdir -p "$home" 2>/dev/null && (: >"$aside") 2>/dev/null && rm -f "$aside"
}

build() {
    (: >"$log") 2>/dev/null || log=/dev/null
    isolate
    cd "$home" || fail home
    reason=python culprit='' downloaded='' gave_up='' mark=0
    uv=$(find_uv)
    remove_leftovers
    if build_aside; then install_aside; else reason=${reason:-other}; fi
    bound_log
    [ -z "$reason" ] || fail_build "$reason"
    rm -f "$failed"
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

logged() {
    printf '+ %s\n' "$*" >>"$log"
    "$@" >>"$log" 2>&1
}

bound_log() {
    [ -f "$log" ] && [ "$(wc -c <"$log")" -gt "$LOG_BYTES" ] || return 0
    tail -c "$LOG_BYTES" "$log" >"$aside" && mv -f "$aside" "$log"
}

# Leaves a verified environment in $building, or 1 and the reason.
build_aside() {
    building=$home/env-$key-$$.tmp
    seen=$TAB
    found=$(candidates)
    set -f
    IFS=$NEWLINE
    # shellcheck disable=SC2086
    set -- $found
    unset IFS
    set +f
    for candidate; do
        probe "$candidate" || continue
        case $seen in *"$TAB$identity$TAB"*) continue ;; esac
        seen=$seen$identity$TAB
        build_with "$executable" && return 0
        [ -z "$gave_up" ] || return 1
    done
    [ "$reason" = python ] && build_with_uv_python
}

build_with() {
    [ -n "$uv" ] && build_by_uv --no-python-downloads --python "$1" && verify "$1" && return 0
    build_by_pip "$1" && verify "$1"
}

# uv brings its own Python when the machine has none.
build_with_uv_python() {
    [ -n "$uv" ] || return 1
    build_by_uv --python '>=3.10,<3.15' && verify uv
}

build_by_uv() {
    rm -rf "$building"
    downloaded=yes
    mark=$(($(wc -l <"$log")))
    logged "$uv" venv --no-project "$@" "$building" || return 1
    logged "$uv" pip install --python "$(python_of "$building")" --require-hashes --no-deps --only-binary :all: \
        --no-progress -r "$requirements" && return 0
    blame "$(why_install_failed)" "$uv"
    return 1
}

build_by_pip() {
    make_venv "$1" || {
        why_no_venv "$1"
        return 1
    }
    downloaded=yes
    mark=$(($(wc -l <"$log")))
    pip_install "$1" && return 0
    blame "$(why_install_failed)" "$1"
    case $reason in disk | hashes | network) gave_up=yes ;; esac
    return 1
}

why_no_venv() {
    if disk_has_room; then
        blame venv "$1"
    else
        blame disk "$1"
        gave_up=yes
    fi
}

# A venv, and a pip for it: the interpreter's own (a Debian without python3-venv may have that and no ensurepip; it also
# saves the 4 seconds of ensurepip; pip 22.3 learned --python), else ensurepip's, else virtualenv's.
make_venv() {
    rm -rf "$building"
    if logged "$1" -I -m venv --without-pip "$building"; then
        pip=base
        logged "$1" -I -c "$HAS_PIP" && return 0
        pip=own
        logged "$(python_of "$building")" -I -m ensurepip && return 0
    fi
    rm -rf "$building"
    pip=own
    logged "$1" -I -m virtualenv "$building" || virtualenv_on_path "$1"
}

pip_install() {
    python=$(python_of "$building")
    case $pip in
    base) set -- "$1" -I -m pip --python "$python" ;;
    own) set -- "$python" -I -m pip ;;
    esac
    logged "$@" install --require-hashes --no-deps --only-binary :all: --no-compile --progress-bar off -r "$requirements"
}

virtualenv_on_path() {
    virtualenv=$(on_search_path virtualenv) && logged "$virtualenv" --python "$1" "$building"
}

python_of() {
    if [ -e "$1/Scripts/python.exe" ]; then say "$1/Scripts/python.exe"; else say "$1/bin/python"; fi
}

site_of() {
    directory=$("$1" -I -X utf8 -c "$SITE") && say "${directory%"$CR"}"
}

# As the hooks start it: without site, so that only what is in the directory counts.
verify() {
    python=$(python_of "$building")
    site=$(site_of "$python" 2>>"$log") &&
        logged "$python" -I -S -B -X utf8 -c "$IMPORT" "$site" "$modules" && return 0
    blame import "$1"
    return 1
}

# The rename and the pointer. Importing once more where it stays fills the bytecode cache that hooks and bin/omo use.
install_aside() {
    reason=other
    superseded=$(pointed_environment)
    number=$$
    while [ -e "$home/env-$key-$number" ]; do number=$((number + 1)); done
    final=$home/env-$key-$number
    logged mv "$building" "$final" || return 1
    building=$final
    python=$(python_of "$final")
    site=$(site_of "$python" 2>>"$log") || return 1
    logged "$python" -I -S -X utf8 -X pycache_prefix="$home/pycache" -c "$IMPORT" "$site" "$modules" || return 1
    if ! write_pointer "$python" "$site"; then
        disk_has_room || reason=disk
        return 1
    fi
    building='' reason=''
    [ -z "$superseded" ] || [ ! -d "$home/$superseded" ] || touch "$home/$superseded"
}

candidates() {
    directories=$(search_directories)
    for name in $NAMES; do
        printf '%s\n' "$directories" | while IFS= read -r directory; do
            [ -f "$directory/$name" ] && [ -x "$directory/$name" ] && say "$directory/$name"
        done
    done
}

# Absolute ones only: a project must not get its ./python3 run.
search_directories() {
    {
        printf '%s\n' "$search_path" "${OMO_PYTHON_DIRS-$DIRECTORIES}" | tr ':' '\n'
        for directory in "${PYENV_ROOT:-${HOME-}/.pyenv}"/versions/*/bin; do say "$directory"; done
    } | while IFS= read -r directory; do
        case $directory in /*) say "$directory" ;; esac
    done
}

on_search_path() {
    search_directories | {
        while IFS= read -r directory; do
            [ -f "$directory/$1" ] && [ -x "$directory/$1" ] && say "$directory/$1" && exit 0
        done
        exit 1
    }
}

# Started from a desktop, the host often lacks the directories uv installs itself to.
find_uv() {
    on_search_path uv && return 0
    for uv in "${HOME-}/.local/bin/uv" "${HOME-}/.cargo/bin/uv"; do
        [ -x "$uv" ] && say "$uv" && return 0
    done
}

probe() {
    answers_silently "$1" || return 1
    answer=$(ask "$1" 2>/dev/null) || return 1
    answer=${answer%"$CR"}
    executable=${answer##*"$TAB"}
    identity=${answer#*"$TAB"}
    identity=${identity%%"$TAB"*}
    [ "$answer" = "omo-python$TAB$identity$TAB$executable" ]
}

ask() {
    case $1 in
    */py) "$1" -3 -I -X utf8 -c "$PROBE" "$requirements" ;;
    *) "$1" -I -X utf8 -c "$PROBE" "$requirements" ;;
    esac
}

# On a Mac without the developer tools /usr/bin/python3 opens a dialogue.
answers_silently() {
    case $1 in
    /usr/bin/python*) [ "$(uname -s)" != Darwin ] || xcode-select -p >/dev/null 2>&1 ;;
    esac
}

main "$@"
