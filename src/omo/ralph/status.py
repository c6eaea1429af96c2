"""A ralph run as every view shows it: its criteria, as the newest judgement left them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.shown import clip
from omo.state.runtime import part
from omo.work import outcome
from omo.work.status import Fact, Item, Status
from omo.work.viewer import Viewer

if TYPE_CHECKING:
    from omo.ralph.rules import Criterion
    from omo.ralph.run import RalphState

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}


def status(viewer: Viewer) -> Status | None:
    from omo.ralph.end import next_step
    from omo.ralph.run import RALPH, RalphState
    from omo.work.run import load

    run = load(RALPH, viewer.caller, viewer.run)
    if run is None:
        return None
    state = run.state or RalphState(run=run.id)
    facts, overrides = [], []
    if state.circumventions:
        facts.append(f"circumvented {state.circumventions} of 3 times")
    if state.after:
        facts.append(state.after_text)
    if state.reduced_scope:
        overrides.append(f"reduced scope: {clip(state.reduced_scope, 120)}")
    if state.independence != "full":
        overrides.append("judged with reduced independence")
    return Status(
        "ralph",
        "criterion",
        run=state.run,
        headline="its ledger is damaged" if run.problems else _headline(state),
        items=tuple(_item(state, criterion, viewer) for criterion in state.criteria),
        next=next_step(run),
        facts=tuple(facts),
        overrides=tuple(overrides),
        problems=tuple(run.problems),
        outcome=outcome.of(state.ended) if state.ended is not None else None,
    )


def _headline(state: RalphState) -> str:
    if state.ended:
        phase = f"ended ({state.how})"
    else:
        phase = "open" if state.open_iteration else "between rounds"
    judged = f"verdict {state.verdict}" if state.last_judged else "not judged yet"
    return f"{phase}, iteration {state.iteration} of {state.max_iterations}, {judged}"


def _item(state: RalphState, criterion: Criterion, viewer: Viewer) -> Item:
    from omo.ralph.rules import MOST_FAILURES, MOST_REGRESSIONS

    name, own = criterion.id, state.states[criterion.id]
    result = state.last_result(name)
    evidence = clip(str(result.get("evidence") or ""), 200)
    mark, receipt, stale_because = MARKS.get(own.status, "open"), "", ""
    if criterion in state.unproven:
        receipt, stale_because = "stale", "the newest judgement could not tell"
    elif mark == "done" and (proof := part(state.ended or {}, "receipt")):
        stale_because = viewer.changed_since(proof.get("tree"))
        receipt = "stale" if stale_because else "fresh"
    notes = [evidence] if evidence else []
    if own.fail_count:
        notes.append(f"failed {own.fail_count}x")
    if own.regressions:
        notes.append(f"regressed {own.regressions}x")
    why = evidence or f"the newest judgement says {own.status}"
    if own.status == "PENDING":
        why = "no judgement was made of it yet"
    elif own.status == "BLOCKED":
        times = f"{own.regressions} regressions" if own.is_flapping else f"{own.fail_count} failures in a row"
        why = f"it is blocked after {times}: {evidence}"
    ledger = f"ralph/{state.run}/ledger.jsonl"
    return Item(
        name,
        clip(criterion.description, 200),
        own.status,
        "stale" if receipt == "stale" else mark,
        tuple(notes),
        receipt,
        stale_because,
        why=why,
        facts=(
            Fact("newest judgement", ledger, result.get("result") or "none"),
            Fact("evidence", ledger, result.get("evidence")),
            Fact("independence", ledger, state.independence if state.judged else "not judged yet"),
            Fact("failures in a row", ledger, f"{own.fail_count} of {MOST_FAILURES}"),
            Fact("regressions", ledger, f"{own.regressions} of {MOST_REGRESSIONS}"),
            Fact("iteration", ledger, f"{state.iteration} of {state.max_iterations}"),
            Fact("checks", ledger, [f"{check['id']} {check['type']}" for check in criterion.checks]),
        ),
    )
