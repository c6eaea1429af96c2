"""A criterion of a ralph run: what the newest judgement said of it, and why it is open."""

from __future__ import annotations

from omo.explain.answer import Explanation, Fact
from omo.ralph.next_step import next_step
from omo.ralph.run import RalphRun
from omo.ralph.standing import Standing
from omo.ralph.transitions import MOST_FAILURES, MOST_REGRESSIONS
from omo.report import works
from omo.report.work import Place
from omo.shown import clip


def explain(place: Place, name: str) -> Explanation | None:
    at, problems = RalphRun(**place.given).look()
    one = next((one for one in at.criteria if one.id.lower() == name.lower()), None) if at else None
    if at is None or one is None:
        return None
    step = next_step(at, problems)
    view = works.look_at("ralph", place)
    item = next((item for item in view.items if item.id == one.id), None) if view else None
    if view is None or item is None:
        return None
    is_open = one.id in at.remaining or item.mark == "stale"
    status = at.states[one.id].status
    return Explanation(
        f"criterion {one.id} {clip(one.description, 100)}: {view.state_of(item)}",
        "open" if is_open else status.lower(),
        "receipt-stale" if item.mark == "stale" else f"status-{status}",
        _why(at, one.id, problems, item.receipt_why),
        _facts(at, one.id, problems, place.session),
        [step.command] if step.command and (is_open or problems) else [],
        [],
        {"session": place.session, "kind": "ralph", "run": at.run, "id": one.id, "status": status, "open": is_open},
    )


def _why(at: Standing, name: str, problems: list[str], stale: str) -> str:
    state, found = at.states[name], at.last_result(name)
    said = clip(str(found.get("evidence") or ""), 200)
    if problems:
        return f"the ledger was changed by hand: {problems[0]}"
    if state.status == "PENDING":
        return "no judgement was made of it yet"
    if any(one.id == name for one in at.unproven):
        return f"it passed before, and the newest judgement could not tell: {said}"
    if stale:
        return f"it passed, but {stale}"
    if state.status == "BLOCKED":
        times = f"{state.regressions} regressions" if state.is_flapping else f"{state.fail_count} failures in a row"
        return f"it is blocked after {times}: {said}"
    return said or f"the newest judgement says {state.status}"


def _facts(at: Standing, name: str, problems: list[str], session: str) -> list[Fact]:
    state, found = at.states[name], at.last_result(name)
    ledger = f"ralph/{at.run}/ledger.jsonl"
    criterion = at.criterion(name)
    checks = [f"{check.id} {check.type}" for check in criterion.checks] if criterion else []
    return [
        Fact(f"{name}.status", ledger, state.status),
        Fact("newest judgement", ledger, found.get("result") or "none"),
        Fact("evidence", ledger, found.get("evidence")),
        Fact("independence", ledger, at.independence if at.last_judged else "not judged yet"),
        Fact("failures in a row", ledger, f"{state.fail_count} of {MOST_FAILURES}"),
        Fact("regressions", ledger, f"{state.regressions} of {MOST_REGRESSIONS}"),
        Fact("iteration", ledger, f"{at.iteration} of {at.max_iterations}"),
        Fact("checks", ledger, checks),
        Fact("ledger", ledger, problems[0] if problems else "whole"),
    ]
