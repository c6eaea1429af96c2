"""A verification gate: its pinned command, and whether its last result still counts."""

from __future__ import annotations

from omo.explain.answer import Explanation, Fact
from omo.report.work import Item, Place
from omo.report.works import ulw
from omo.ultrawork import gates

LEDGER = "events.jsonl"


def explain(place: Place, name: str) -> Explanation | None:
    view = ulw.look(place)
    item = next((item for item in view.items if item.id == name), None) if view else None
    gate = gates.current(place.context.state, place.session, place.row).get(name)
    if item is None or gate is None:
        return None
    is_open = item.mark != "done"
    return Explanation(
        f"gate {item.id}: {item.status}",
        "open" if is_open else "holds",
        f"gate-{item.mark}",
        _why(item, gate),
        _facts(item, gate),
        [f"omo gate run {item.id} exits 0 on the tree as it is"] if is_open else ["the tree changes"],
        [],
        {
            "session": place.session,
            "kind": "ulw",
            "id": item.id,
            "status": item.status,
            "receipt": item.receipt or None,
        },
    )


def _why(item: Item, gate: gates.Gate) -> str:
    if item.receipt_why:
        return f"it passed, but {item.receipt_why}"
    if gate.recorded:
        return f"its failure is recorded as pre-existing: {gate.recorded.get('evidence')}"
    if gate.last is None:
        return "it was not run in this run"
    return f"it ended with exit {gate.last.get('exit')}"


def _facts(item: Item, gate: gates.Gate) -> list[Fact]:
    last = gate.last or {}
    return [
        Fact("command", LEDGER, gate.argv),
        Fact("pinned by", LEDGER, gate.by),
        Fact("last result", LEDGER, last.get("result")),
        Fact("tree it ran on", LEDGER, str(last.get("tree") or "")[:16]),
        Fact(
            "tree now", "the project's files", "another" if item.receipt_why else "the same" if last else "not compared"
        ),
    ]
