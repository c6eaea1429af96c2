"""One goal, criterion, step or gate of a session: how it stands, what says so, and what would change that."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from omo.errors import BadInput, OmoError
from omo.explain.answer import Explanation, Fact
from omo.report import works
from omo.report.session import ORDER
from omo.report.work import Place
from omo.shown import clip
from omo.work.status import Status, units

MOST_LISTED = 20
ALIASES = {"step": "ultraplan", "plan": "ultraplan", "criterion": "ralph", "gate": "ulw"}


def explain(place: Place, words: Sequence[str]) -> Explanation:
    """`words` is an id, or a kind and an id (`step 3`, `ralph C1`); none asks for the run as a whole."""
    kind, name = _wanted(words)
    if not name:
        return _run(place, kind)
    for one in [kind] if kind else ORDER:
        if (found := _explain_one(one, place, name)) is not None:
            return found
    raise BadInput(
        f"there is no {kind or 'goal, criterion, step or gate'} {clip(name, 80)!r} in this session",
        fix=f"there are: {_listed(place)}",
    )


def _wanted(words: Sequence[str]) -> tuple[str, str]:
    first = words[0].lower() if words else ""
    kind = ALIASES.get(first, first if first in ORDER else "")
    rest = words[1:] if kind else words
    if len(rest) > 1:
        raise BadInput(f"{clip(' '.join(words), 80)!r} is not one id", fix="omo explain goal ID, or step NUMBER")
    return kind, rest[0] if rest else ""


def _explain_one(kind: str, place: Place, name: str) -> Explanation | None:
    found: Explanation | None = importlib.import_module(f"omo.explain.goals.{kind}").explain(place, name)
    return found


def _run(place: Place, kind: str) -> Explanation:
    """The whole of what leads the session; the plan of goals has rules of its own to show."""
    views = {view.kind: view for view in works.look(place)}
    chosen = kind or next((one for one in ("ultragoal", *ORDER) if one in views), "")
    if chosen not in views:
        raise BadInput(
            f"session {clip(place.session, 80)} has no {kind or 'work'} to explain",
            fix=f"there are: {_listed(place)}" if views else "omo status shows every session of the project",
        )
    if chosen == "ultragoal":
        from omo.explain.goals import ultragoal

        return ultragoal.explain_run(place)
    return _work(views[chosen])


def _work(view: Status) -> Explanation:
    read = [Fact(f"{view.unit} {item.id}", f"the {view.kind} ledger", view.state_of(item)) for item in view.items]
    read += [Fact("ledger", f"the {view.kind} ledger", clip(one, 200)) for one in view.problems]
    return Explanation(
        f"{view.kind}{f' {view.run}' if view.run else ''}: {view.done} of {units(view.total, view.unit)} done",
        view.next.action or "none",
        f"{view.kind}.next_step",
        view.next.why or view.headline,
        read,
        [view.next.command] if view.next.command else [],
        [],
        {"kind": view.kind, "run": view.run, "id": None},
    )


def _listed(place: Place) -> str:
    named = []
    for view in works.look(place):
        named += [f"{'step ' if view.kind == 'ultraplan' else ''}{item.id}" for item in view.items]
    try:
        from omo.explain.goals import verify

        named += verify.known(place)
    except OmoError:
        pass  # a journal nobody can read lists nothing; omo verify status says why
    found = list(dict.fromkeys(clip(one, 60) for one in named))
    more = f" and {len(found) - MOST_LISTED} more" if len(found) > MOST_LISTED else ""
    return (", ".join(found[:MOST_LISTED]) or "none") + more
