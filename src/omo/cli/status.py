"""`omo status`: every session of the project at a glance."""

from __future__ import annotations

import argparse

from omo.cli import options, views
from omo.cli.result import Result
from omo.context import Context
from omo.report import project


def register(commands: options.Commands) -> None:
    options.command(commands, "status", "what is on in this project, session by session", run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only. A live session that nobody has used for a day is shown as an orphan."""
    seen = project.look(context)
    lines = []
    for one in seen.sessions:
        mark = " (this session)" if one.is_here else " (orphan: unused for a day)" if one.is_orphan else ""
        lines.append(views.session_view(context, one.name).text.replace("\n", mark + "\n", 1))
    lines = lines or ["Nothing is on in this project."]
    lines += [f"override by the {one['by']}: {one['claim']} ({one['reason']})" for one in seen.overrides]
    return Result(seen.data, "\n".join(lines))
