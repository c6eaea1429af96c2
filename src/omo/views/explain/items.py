"""One goal, criterion, step or gate of a session: how it stands, what says so, and what would change that."""

from __future__ import annotations

from collections.abc import Sequence

from omo.errors import BadInput
from omo.text import clip
from omo.views import works
from omo.views.explain import Explanation
from omo.views.session import ORDER
from omo.work.status import Fact, Item, Status, named, units
from omo.work.viewer import Viewer

MOST_LISTED = 20
ALIASES = {"step": "ultraplan", "plan": "ultraplan", "criterion": "ralph", "gate": "ulw"}


def explain(viewer: Viewer, words: Sequence[str]) -> Explanation:
    """`words` is an id, or a kind and an id (`step 3`, `ralph C1`); none asks for the run as a whole."""
    kind, name = wanted(words)
    every = works.look(viewer)
    views = [view for view in every if kind in ("", view.kind)]
    if not name:
        if views:
            return _explain_run(viewer, views[0])
        fix = _known(every) if kind else "omo status shows every session of the project"
        raise BadInput(f"session {clip(viewer.session, 80)} has no {kind or 'work'} to explain", fix=fix)
    for view in views:
        for item in view.items:
            if item.id.lower() == name.lower():
                return _explain_item(viewer, view, item)
    what = kind or "goal, criterion, step or gate"
    raise BadInput(f"there is no {what} {clip(name, 80)!r} in this session", fix=_known(every))


def wanted(words: Sequence[str]) -> tuple[str, str]:
    """The kind and the id that are asked for, each empty where it is not named."""
    kind = ""
    rest = list(words)
    if rest:
        first = rest[0].lower()
        kind = ALIASES.get(first, first)
        if kind in ORDER:
            rest.pop(0)
        else:
            kind = ""
    if len(rest) > 1:
        raise BadInput(f"{clip(' '.join(words), 80)!r} is not one id", fix="omo explain goal ID, or step NUMBER")
    return kind, "".join(rest)


def _explain_run(viewer: Viewer, view: Status) -> Explanation:
    ledger = f"the {view.kind} ledger"
    read = [Fact(f"{view.unit} {item.id}", ledger, view.state_of(item)) for item in view.items]
    read += view.read
    read += [Fact("ledger", ledger, clip(problem, 200)) for problem in view.problems]
    name = f"{view.kind} {view.run}".strip()
    change = []
    if view.next.command:
        change.append(view.next.command)
    return Explanation(
        f"{name}: {view.done} of {units(view.total, view.unit)} done",
        view.next.action or "none",
        f"{view.kind}.next_step",
        view.next.why or view.headline,
        read,
        change,
        [],
        {"session": viewer.session, "kind": view.kind, "run": view.run, "id": view.next.item or None},
    )


def _explain_item(viewer: Viewer, view: Status, item: Item) -> Explanation:
    why, ledger = item.why, "whole"
    if item.receipt == "stale" and item.receipt_why:
        why = f"it was proven, but {item.receipt_why}"
    if view.problems:
        why = f"the ledger is not as omo wrote it: {view.problems[0]}"
        ledger = clip(view.problems[0], 200)
    change = []
    if item.is_open and view.next.text:
        change.append(view.next.text)
    name = f"{view.unit} {item.id} {clip(item.title, 80)}".strip()
    return Explanation(
        f"{name}: {view.state_of(item)}",
        "open" if item.is_open else item.mark,
        f"receipt-{item.receipt}" if item.receipt else f"status-{item.status}",
        why or view.headline,
        [*item.facts, Fact("ledger", f"the {view.kind} ledger", ledger)],
        change,
        [],
        {
            "session": viewer.session,
            "kind": view.kind,
            "run": view.run,
            "id": item.id,
            "status": item.status,
            "receipt": item.receipt or None,
            "open": item.is_open,
        },
    )


def _known(views: Sequence[Status]) -> str:
    ids = []
    for view in views:
        prefix = "step " if view.kind == "ultraplan" else ""
        ids += [clip(prefix + item.id, 60) for item in view.items]
    if not ids:
        return "there are: none"
    return f"there are: {named(list(dict.fromkeys(ids)), MOST_LISTED)}"
