"""Plain ultrawork: its pinned gates."""

from __future__ import annotations

import shlex

from omo.report.work import Item, NextStep, Place, WorkView
from omo.shown import clip, counted
from omo.state import ledger, paths, runtime
from omo.ultrawork import gates, session
from omo.work import outcome

MARKS = {"pass": "done", "recorded": "done", "pass, unchanged tree": "done", "not run": "open"}
RUN = "omo gate run"


def look(place: Place) -> WorkView | None:
    summary = runtime.part(runtime.part(place.row, "work"), session.KIND)
    is_on = bool(runtime.part(place.row, "ulw").get("enabled")) and not runtime.part(place.row, "work")
    rows = ledger.rows(paths.events_file(place.context.state, place.session))
    run = run_of(place, rows)
    pinned = gates.fold(rows, run)
    if not summary and not is_on and not pinned:
        return None
    items = tuple(_item(gate, place) for gate in pinned.values())
    ended_as = outcome.of(summary) if summary.get("state") == "done" else None
    how = clip(outcome.in_words(ended_as), 300) if ended_as else ""
    problems = tuple(runtime.chain_problems(place.context.state, place.session))
    return WorkView(
        session.KIND,
        "gate",
        run=clip(run or "", 60),
        headline=_headline(summary, how, items),
        items=items,
        next=_repair(place) if problems and runtime.is_live(place.row) else _next(place, summary, items),
        problems=problems,
        outcome=ended_as,
    )


def _headline(summary: runtime.Json, how: str, items: tuple[Item, ...]) -> str:
    if not how or summary.get("unvouched"):
        return counted(len(items), "gate") + " pinned"
    return how if all(item.mark == "done" for item in items) else f"when it ended: {how}"


def run_of(place: Place, rows: list[runtime.Json]) -> str | None:
    """Whose results count: the run of the row, or the one that the user called off, which only the ledger names."""
    run = gates.run_of(place.row)
    if run or not session.is_cancelled(place.row):
        return run
    return next(filter(None, (gates.run_of(runtime.part(row, "after")) for row in reversed(rows))), None)


def _item(gate: gates.Gate, place: Place) -> Item:
    mark, receipt, why = MARKS.get(gate.status, "failed"), "", ""
    if gate.last and gate.is_closed and not gate.recorded:
        why = place.changed_since(gate.last["tree"])
        mark, receipt = ("stale", "stale") if why else (mark, "fresh")
    vacuous = ["it passes on the very tree it was pinned on"] if gate.is_vacuous else []
    notes = [clip(shlex.join(gate.argv), 200), *vacuous, f"pinned by the {gate.by}"]
    return Item(gate.name, "", gate.status, mark, tuple(notes), receipt, why, tuple(_overrides(gate)))


def _overrides(gate: gates.Gate) -> list[str]:
    if not gate.recorded:
        return []
    return [f"a failure recorded as pre-existing: {clip(str(gate.recorded.get('evidence')), 200)}"]


def _repair(place: Place) -> NextStep:
    why = "the session's ledger was changed by hand, and no gate counts before you seal it"
    return NextStep("repair", why, f"omo ledger repair --session {shlex.quote(place.session)}")


def _next(place: Place, summary: runtime.Json, items: tuple[Item, ...]) -> NextStep:
    if not runtime.is_live(place.row) or summary.get("state") == "done":
        return NextStep()
    if summary.get("state") in ("waiting", "paused", "blocked"):
        return NextStep("wait", clip(str(summary.get("why") or "it waits"), 200), "omo ulw resume")
    if not items:
        return NextStep("pin", "no verification gate is pinned yet", "omo gate add NAME -- COMMAND")
    if all(item.mark == "done" for item in items):
        return NextStep("done", "every gate holds on the tree as it is", "omo ulw done")
    told = [_named("open", items, "failed", "open"), _named("stale", items, "stale")]
    return NextStep("run", "; ".join(filter(None, told)), RUN)


def _named(word: str, items: tuple[Item, ...], *marks: str) -> str:
    names = ", ".join(item.id for item in items if item.mark in marks)
    return f"{word}: {clip(names, 120)}" if names else ""
