"""Which run is meant: any run of the project, by the name its workflow gave it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from omo.context import Context
from omo.errors import BadInput, OmoError, Unreadable
from omo.report.kept_plans import kept_plans
from omo.shown import clip
from omo.state import runtime

Row = dict[str, Any]

MOST_KNOWN = 10


@dataclass(frozen=True)
class Chosen:
    """What is reported: a session's work as it is, or one run of one kind."""

    session: str
    kind: str = ""
    run: str = ""
    kept: str = ""


def find_run(context: Context, run: str, session: str) -> Chosen:
    """A run of any kind by its name, wherever in the project it was."""
    from omo.ralph.run import standings
    from omo.ultraplan.run import records

    state = context.state
    found = [Chosen(one.session, "ralph", one.run) for one in standings(state) if one.run == run]
    found += [Chosen(one.session, "ultraplan", one.run) for one in records(state) if one.run == run]
    found += [Chosen(one.session, "ultragoal", run, one.directory) for one in kept_plans(state) if one.run == run]
    row = _row(context, session)
    for kind, told in runtime.part(row, "work").items():
        if isinstance(told, dict) and told.get("run") == run:
            found.append(Chosen(session, str(kind), run))
    if not found:
        raise BadInput(f"--run {clip(run, 80)}: there is no such run in this project", fix=_known_runs(context))
    return found[0]


def _known_runs(context: Context) -> str:
    from omo.ralph.run import standings
    from omo.ultraplan.run import records

    names = [one.run for one in standings(context.state)] + [one.run for one in records(context.state)]
    names += [one.run for one in kept_plans(context.state)]
    return f"name one of these: {clip(', '.join(names[-MOST_KNOWN:]), 300)}" if names else "omo report without --run"


def known_sessions(context: Context) -> str:
    try:
        names = list(runtime.read(context.state)["sessions"])
    except Unreadable:
        names = []
    return f"name another with --session: {clip(', '.join(names[-MOST_KNOWN:]), 300)}" if names else "omo status"


def _row(context: Context, session: str) -> Row:
    try:
        return context.row(session) or {}
    except OmoError:
        return {}
