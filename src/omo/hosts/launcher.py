"""The omo on the user's PATH: a script that finds the plugin, which an update moves."""

from __future__ import annotations

from textwrap import indent

from omo import hosts

SCRIPT = """\
#!/bin/sh
# omo on your PATH, written by `omo setup path`; `omo setup remove` takes it away.
plugins() {
FIRST
    printf '%s\\n' ROOT
OTHERS
}
found=$(plugins)
set -f
IFS='
'
for root in $found; do
    [ -x "$root/bin/omo" ] && exec "$root/bin/omo" "$@"
done
echo "omo: the plugin is gone; install it again, or remove $0" >&2
exit 77
"""
MARK = SCRIPT.splitlines()[1].partition(";")[0]


def script() -> str:
    """With ROOT for where the plugin was when it is written. That comes behind the first host, which knows where the
    newest is, and before the others, which know where their last session found one."""
    first, *others = [indent(host.finds_plugin().rstrip("\n"), "    ") for host in hosts.every()]
    return SCRIPT.replace("FIRST", first).replace("OTHERS", "\n".join(others))
