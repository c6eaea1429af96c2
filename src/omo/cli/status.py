"""`omo status`: every session of the project at a glance."""

from __future__ import annotations

import argparse
import os

from omo.cli import options, views
from omo.cli.result import Result
from omo.context import Context
from omo.shown import clip
from omo.state import paths, runtime


def register(commands: options.Commands) -> None:
    options.command(commands, "status", "what is on in this project, session by session", run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only. A live session that nobody has used for a day is shown as an orphan."""
    sessions = runtime.read(context.state)["sessions"]
    here = context.named_session
    found = []
    for name in sessions:
        view = views.session_view(context, name)
        row = sessions[name]
        orphan = runtime.is_live(row) and views.age(row, context.now) > views.ORPHANED_AFTER
        mark = " (this session)" if name == here else " (orphan: unused for a day)" if orphan else ""
        found.append(({**view.data, "orphan": orphan, "here": name == here}, view.text.replace("\n", mark + "\n", 1)))
    overrides = _overrides(context)
    lines = [text for _, text in found] or ["Nothing is on in this project."]
    lines += [f"override by the {one['by']}: {one['claim']} ({one['reason']})" for one in overrides]
    data = {"root": context.root, "sessions": [data for data, _ in found], "overrides": overrides}
    return Result(data, "\n".join(lines))


def _overrides(context: Context) -> list[dict[str, str]]:
    """Claims that code did not confirm and somebody let stand: shown wherever things are summed up."""
    if not os.path.isdir(paths.verify_dir(context.state)):
        return []
    from omo.verify import claims

    rows = claims.recorded(context.state, overridden=True)
    return [
        {"claim": clip(str(row["claim"]), 160), "reason": clip(str(row["override"]), 160), "by": str(row["actor"])}
        for row in rows
    ]
