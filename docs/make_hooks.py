"""Writes the registration of the hooks for every host from one table: hooks/hooks.json and its like.

python docs/make_hooks.py            rewrites the files
python docs/make_hooks.py --check    exits 1 if a file is not what the table says
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo import hosts  # noqa: E402
from omo.hosts import Host  # noqa: E402

ABOUT = "omo: keeps the agent working until the work is proven done, and lets go when you say so"
SCRIPTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
}
SECONDS = 10
BUILDING = {"timeout": 300, "statusMessage": "omo: preparing (once)"}  # the first session makes the environment


def render(host: Host) -> str:
    events = {event: [_group(host, event)] for event in SCRIPTS}
    return json.dumps({"description": ABOUT, "hooks": events}, indent=2) + "\n"


def _group(host: Host, event: str) -> dict[str, Any]:
    launch = f'launch="${{{host.root_variable}}}/hooks/launch.sh"; [ -r "$launch" ] || exit 0; '
    where = ""
    if host.name != hosts.NAMES[0]:  # whose variables the launcher knows
        where = f' plugin_root="${{{host.root_variable}}}" plugin_data="${{{host.data_variable}}}"'
    command = f'{launch}host={host.name} event={SCRIPTS[event]}{where}; . "$launch"'
    handler: dict[str, Any] = {"type": "command", "command": command, "timeout": SECONDS}
    if title := host.hook_titles.get(event):
        handler["statusMessage"] = title
    group: dict[str, Any] = {"hooks": [handler]}
    if event == "SessionStart":
        handler |= BUILDING
    elif event == "PreToolUse":
        group = {"matcher": "|".join(host.watched_tools), **group}
    elif event == "PostToolUse":
        group = {"matcher": host.shell_tool[0], "hooks": [{**handler, **host.only_for_omo}]}
    return group


def main() -> int:
    stale = []
    for host in hosts.every():
        file, text = ROOT / host.registration, render(host)
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(host.registration)
    if stale:
        print(f"{', '.join(stale)}: not what the table says: python docs/make_hooks.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
