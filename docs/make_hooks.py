"""Writes what shells have to know of every host: the registration of its hooks (hooks/hooks.json and its like),
hooks/not-ready.sh, what is answered where no Python runs, and hooks/around.sh, how a host's hooks notice that another
host has started it.

A registration names its own host only: users trust a hook by its text, so a new host must not change another's.

python docs/make_hooks.py            rewrites the files
python docs/make_hooks.py --check    exits 1 if a file is not what the table says
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo import hosts  # noqa: E402
from omo.deadline import HOST_SECONDS  # noqa: E402
from omo.hosts import Answer, Host  # noqa: E402

ABOUT = "omo: keeps the agent working until the work is proven done, and lets go when you say so"
NOT_READY_FILE = "hooks/not-ready.sh"
PROMPT = "user-prompt-submit"
CANNOT_RUN = (
    "omo cannot run: no Python 3.10 or newer was found that runs its hooks. Install one, or uv; 'omo doctor', typed in"
    " a terminal, says more."
)
# By what is answered: a stop, a ulw, any other command, or a session that is on.
ANSWERS = {
    "stop": (PROMPT, Answer(hosts.END_PROMPT, f"omo: nothing holds this session now. {CANNOT_RUN}")),
    "ulw": (
        PROMPT,
        Answer(
            context=f"[omo] Ultrawork could not be turned on. {CANNOT_RUN}",
            message=f"omo: ultrawork could not be turned on. {CANNOT_RUN}",
        ),
    ),
    "command": (PROMPT, Answer(message=f"omo: what you typed was not acted on. {CANNOT_RUN}")),
    "held-prompt": (PROMPT, Answer(message=f"omo: nothing is held or proven now. {CANNOT_RUN}")),
    "held-stop": ("stop", Answer(message=f"omo: this turn is not held, and nothing is proven. {CANNOT_RUN}")),
    "held-start": ("session-start", Answer(message=f"omo: nothing is held or proven now. {CANNOT_RUN}")),
}
AROUND_FILE = "hooks/around.sh"
AROUND = """\
# shellcheck shell=sh disable=SC2034,SC2154
# Written by docs/make_hooks.py: sets $around to the session of another host, in whose shell $host was started.

case $host in
{cases}
esac
"""
HEAD = """\
# shellcheck shell=sh disable=SC2154
# Written by docs/make_hooks.py: what $host is answered where no Python runs omo's hooks.

case $host.$typed in
"""


def render(host: Host) -> str:
    events = {event: _groups(host, event) for event in host.events}
    return json.dumps({"description": ABOUT, "hooks": events}, indent=2) + "\n"


def _groups(host: Host, event: str) -> list[dict[str, Any]]:
    """Shells are registered by themselves where their commands are not rewritten: any of them may call omo in a project
    without state, and all other tools then cost nothing."""
    if host.events[event] != "pre-tool-use" or host.rewrites_commands:
        return [_group(host, event, host.watched_tools)]
    shells = [tool for tool in host.watched_tools if tool == host.shell_tool]
    others = [tool for tool in host.watched_tools if tool not in shells]
    return [_group(host, event, others), _group(host, event, shells, "plugin_shells_alone=yes ")]


def _group(host: Host, event: str, tools: Sequence[str], more: str = "") -> dict[str, Any]:
    launch = f'launch="${{{host.root_variable}}}/hooks/launch.sh"; [ -r "$launch" ] || exit 0; '
    command = f'{launch}{_variables(host)} {more}host={host.name} event={host.events[event]}; . "$launch"'
    handler: dict[str, Any] = {"type": "command", "command": command, "timeout": HOST_SECONDS}
    if title := host.hook_titles.get(event):
        handler["statusMessage"] = title
    group: dict[str, Any] = {"hooks": [handler]}
    if host.events[event] == "pre-tool-use":
        group = {"matcher": "|".join(tools), **group}
    elif host.events[event] == "post-tool-use":
        group = {"matcher": host.shell_tool, "hooks": [{**handler, **host.only_for_omo}]}
    return group


def _variables(host: Host) -> str:
    """What the launcher is told of a host."""
    variables = {
        "plugin_root": f"${{{host.root_variable}}}",
        "plugin_data": f"${{{host.data_variable}}}",
        "plugin_project": f"${{{host.project_variable}}}" if host.project_variable else "$PWD",
        "plugin_rewrites": "yes" if host.rewrites_commands else "",
        "plugin_shell": host.shell_tool,
        "plugin_other_shell": host.other_shell,
    }
    if host.shell_file_variable:
        variables |= {
            "plugin_shell_file": f"${{{host.shell_file_variable}-}}",
            "plugin_option_prefix": host.option_prefix,
        }
    return " ".join(f'{name}="{value}"' for name, value in variables.items())


def around() -> str:
    """Return a shell's table of the variables that a host's hooks have only if an agent's shell started the host."""
    cases = []
    for host in hosts.every():
        expected = hosts.OF_HOOKS_TOO.get(host.name, ())
        names = [name for name in hosts.session_variables() if name not in expected]
        cases.append(f"{host.name}) around={''.join(f'${{{name}-}}' for name in names)} ;;")
    return AROUND.format(cases="\n".join(cases))


def not_ready() -> str:
    """Each host's answers in its own form."""
    lines = []
    for host in hosts.every():
        environ = dict.fromkeys(hosts.OF_HOOKS_TOO.get(host.name, ()), "1")
        for typed, (script, answer) in ANSWERS.items():
            name = next(name for name, registered in host.events.items() if registered == script)
            event = host.read(json.dumps({"hook_event_name": name}).encode(), environ)
            assert event is not None
            said = host.write(answer, event, environ).decode()
            # printf is the shell's own, and a PATH may have next to nothing.
            lines.append(f"{host.name}.{typed})\n    printf '%s' {shlex.quote(said)}\n    ;;\n")
    return f"{HEAD}{''.join(lines)}esac\n"


def main() -> int:
    files = {host.registration: render(host) for host in hosts.every()}
    files |= {NOT_READY_FILE: not_ready(), AROUND_FILE: around()}
    stale = []
    for name, text in files.items():
        file = ROOT / name
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"{', '.join(stale)}: not what the table says: python docs/make_hooks.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
