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
    kind, name = "", " ".join(words)
    first, _, rest = name.partition(" ")
    if ALIASES.get(first.lower(), first.lower()) in ORDER:
        kind, name = ALIASES.get(first.lower(), first.lower()), rest
    ids = []
    every = works.look(viewer)
    for view in every:
        for item in view.items:
            ids.append(clip(f"step {item.id}" if view.kind == "ultraplan" else item.id, 60))
            if kind in ("", view.kind) and item.id.lower() == name.lower():
                return _explain_item(viewer, view, item)
        if not name and kind in ("", view.kind):
            return _explain_run(viewer, view)
    if not every:
        fix = "omo status shows every session of the project"
        raise BadInput(f"session {clip(viewer.session, 80)} has no work to explain", fix=fix)
    what = kind or "goal, criterion, step or gate"
    if name:
        what += f" {clip(name, 80)!r}"
    raise BadInput(
        f"there is no {what} in this session", fix=f"there are: {named(list(dict.fromkeys(ids)), MOST_LISTED)}"
    )


def _explain_run(viewer: Viewer, view: Status) -> Explanation:
    ledger = f"the {view.kind} ledger"
    read = [Fact(f"{view.unit} {item.id}", ledger, view.state_of(item)) for item in view.items]
    read += view.read
    read += [Fact("ledger", ledger, clip(problem, 200)) for problem in view.problems]
    change = []
    if view.next.command:
        change.append(view.next.command)
    return Explanation(
        f"{view.kind} {view.run}".strip() + f": {view.done} of {units(view.total, view.unit)} done",
        view.next.action or "none",
        f"{view.kind}.next_step",
        view.next.why or view.headline,
        read,
        change,
        [],
        {"session": viewer.session, "kind": view.kind, "run": view.run, "id": view.next.item or None},
    )


def _explain_item(viewer: Viewer, view: Status, item: Item) -> Explanation:
    why, ledger = item.why or view.headline, "whole"
    if item.receipt == "stale" and item.receipt_why:
        why = f"it was proven, but {item.receipt_why}"
    if view.problems:
        why = f"the ledger is not as omo wrote it: {view.problems[0]}"
        ledger = clip(view.problems[0], 200)
    decision, change = item.mark, []
    if item.is_open:
        decision = "open"
        if view.next.text:
            change.append(view.next.text)
    name = f"{view.unit} {item.id} {clip(item.title, 80)}".strip()
    return Explanation(
        f"{name}: {view.state_of(item)}",
        decision,
        f"receipt-{item.receipt}" if item.receipt else f"status-{item.status}",
        why,
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
