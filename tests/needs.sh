#!/bin/sh
# What some tests need besides Python and the client: named where it is missing, installed only when asked to.
#
#   needs.sh                        names what is missing; tests that need it are skipped
#   needs.sh --install PROGRAM ...  installs it, and these besides, with apt-get; exit 1 when something is still missing
set -u

ask=names
if [ "${1-}" = --install ]; then
    ask=install
    shift
fi
programs="chromium tmux go cargo tox nox cc bwrap socat $*"

missing() {
    for program in $programs; do
        command -v "$program" >/dev/null 2>&1 || printf ' %s' "$program"
    done
}

# What a package is called where it is not as its program.
package_of() {
    case $1 in
    go) echo golang-go ;;
    cc) echo gcc ;;
    bwrap) echo bubblewrap ;;
    *) echo "$1" ;;
    esac
}

install() {
    packages=
    for program in "$@"; do
        packages="$packages $(package_of "$program")"
    done
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    # shellcheck disable=SC2086
    apt-get update -qq && apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 $packages
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0

if [ "$ask" = install ]; then
    echo "tests/needs.sh: installing$wanted with apt-get" >&2
    # shellcheck disable=SC2086
    install $wanted >/dev/null 2>&1 </dev/null
    wanted=$(missing)
    [ -z "$wanted" ] || echo "tests/needs.sh: could not be installed:$wanted" >&2
    [ -z "$wanted" ]
    exit
fi
echo "tests/needs.sh: not installed:$wanted; tests that need them are skipped" >&2
exit 0
