#!/bin/sh
# What some tests need besides Python and the client: installed where we may, named where not. Never fails.
set -u

missing() {
    for program in zsh fish chromium; do
        command -v "$program" >/dev/null 2>&1 || printf ' %s' "$program"
    done
}

install() {
    DEBIAN_FRONTEND=noninteractive
    export DEBIAN_FRONTEND
    apt-get update -qq && apt-get install -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"
}

wanted=$(missing)
[ -n "$wanted" ] || exit 0

if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "tests/needs.sh: installing$wanted with apt-get" >&2
    # shellcheck disable=SC2086
    install $wanted >/dev/null 2>&1 </dev/null
    wanted=$(missing)
fi
[ -z "$wanted" ] || echo "tests/needs.sh: not installed:$wanted; tests that need them are skipped" >&2
exit 0
