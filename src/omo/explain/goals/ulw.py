"""A verification gate: its pinned command, and whether its last result still counts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from omo.explain.answer import RUNTIME, Explanation, Fact
from omo.report import works
from omo.report.work import Place
from omo.report.works import ulw
from omo.state import ledger, paths
from omo.ultrawork import gates
from omo.work.status import DAMAGED, Item

LEDGER = "events.jsonl"


def explain(place: Place, name: str) -> Explanation | None:
    view = works.look_at("ulw", place)
    item = next((item for item in view.items if item.id == name), None) if view else None
    rows = ledger.rows(paths.events_file(place.context.state, place.session))
    run = ulw.run_of(place, rows)
    gate = gates.fold(rows, run).get(name)
    if view is None or item is None or gate is None:
        return None
    is_open = item.mark != "done"
    return Explanation(
        f"gate {item.id}: {view.state_of(item)}",
        "open" if is_open else "holds",
        f"gate-{item.mark}",
        _why(item, gate),
        _facts(item, gate, _run(place, run), view.problems),
        _changes(place, item, view.problems),
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


def _facts(item: Item, gate: gates.Gate, run: Fact, problems: Sequence[str]) -> list[Fact]:
    last = gate.last or {}
    return [
        Fact("command", LEDGER, gate.argv),
        Fact("pinned by", LEDGER, gate.by),
        run,
        Fact("last result", LEDGER, last.get("result")),
        Fact("tree it ran on", LEDGER, str(last.get("tree") or "")[:16]),
        Fact("tree now", "the project's files", _tree_now(item, last)),
        Fact("ledger", LEDGER, problems[0] if problems else "whole"),
    ]


def _run(place: Place, run: str | None) -> Fact:
    """Results count in one run only: the session's, or the one that was called off and is not begun anew."""
    if run is None or gates.run_of(place.row):
        return Fact("run", RUNTIME, run)
    return Fact("run", LEDGER, f"{run}, which the user called off; the next begins with every gate open")


def _tree_now(item: Item, last: dict[str, Any]) -> str:
    if not last or item.receipt_why == DAMAGED:
        return "not compared"
    return "another" if item.receipt_why else "the same"


def _changes(place: Place, item: Item, problems: Sequence[str]) -> list[str]:
    if problems:
        return [f"omo ledger repair --session {shlex.quote(place.session)}"]
    return [f"omo gate run {item.id} exits 0 on the tree as it is"] if item.mark != "done" else ["the tree changes"]
