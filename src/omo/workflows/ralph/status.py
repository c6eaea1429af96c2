"""A ralph run as every view shows it: its criteria, as the newest judgement left them."""

from __future__ import annotations

from pathlib import Path

from omo.state import paths
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.agents import session_events
from omo.work.run import load
from omo.work.status import Fact, Item, Status
from omo.work.viewer import Viewer
from omo.workflows.ralph.end import next_step
from omo.workflows.ralph.iteration import Files, entry_of, findings
from omo.workflows.ralph.phases import check, due
from omo.workflows.ralph.rules import LONGEST_REQUEST, MOST_FAILURES, MOST_REGRESSIONS, Criterion, method
from omo.workflows.ralph.run import RALPH, RalphState

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}


def status(viewer: Viewer) -> Status | None:
    run = load(RALPH, viewer.caller, viewer.run)
    if run is None:
        return None
    state = run.state or RalphState(run=run.id)
    files = Files(run.caller.root, None if viewer.reads_all else Path(paths.tree_cache(run.caller.state)))
    step = next_step(run)
    if step.action == "round":
        step = due(check(run, files, session_events(run, viewer.own_ledger)), step)
    facts, overrides = [], []
    if state.request:
        facts.append(f"the user asked for, {state.whose_request}: {block(state.request, LONGEST_REQUEST)}")
    if state.circumventions:
        facts.append(f"circumvented {state.circumventions} of 3 times")
    if state.started:
        facts.append(state.whose_criteria)
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
        headline="its ledger is damaged" if run.problems else state.headline,
        items=tuple(_item(state, criterion, viewer, files) for criterion in state.criteria),
        next=step,
        facts=tuple(facts),
        overrides=tuple(overrides),
        problems=tuple(run.problems),
        outcome=outcome.of(state.ended) if state.ended is not None else None,
    )


def _item(state: RalphState, criterion: Criterion, viewer: Viewer, files: Files) -> Item:
    known, result = state.states[criterion.id], state.last_result(criterion.id)
    evidence = clip(str(result.get("evidence") or ""), 200)
    mark, receipt, stale_because = MARKS.get(known.status, "open"), "", ""
    proof = part(state.ended or {}, "receipt")
    if criterion in state.unproven:
        mark, receipt, stale_because = "stale", "stale", "the newest judgement could not tell"
    elif mark == "done" and proof:
        receipt, stale_because = "fresh", viewer.changed_since(proof.get("tree"))
        if stale_because:
            mark, receipt = "stale", "stale"
    notes = []
    if evidence:
        notes.append(evidence)
    notes += known.counts
    found = findings(entry_of(files, state, criterion))
    why = evidence or f"the newest judgement says {known.status}"
    if known.status == "PENDING":
        why = "no judgement was made of it yet"
    elif known.status == "BLOCKED":
        why = f"it is blocked after {', '.join(known.counts)}: {evidence}"
    ledger = f"ralph/{state.run}/ledger.jsonl"
    return Item(
        criterion.id,
        clip(criterion.description, 200),
        known.status,
        mark,
        tuple(notes),
        receipt,
        stale_because,
        why=why,
        facts=(
            Fact("newest judgement", ledger, result.get("result") or "none"),
            Fact("evidence", ledger, result.get("evidence")),
            Fact("independence", ledger, state.independence if state.judged else "not judged yet"),
            Fact("failures in a row", ledger, f"{known.fail_count} of {MOST_FAILURES}"),
            Fact("regressions", ledger, f"{known.regressions} of {MOST_REGRESSIONS}"),
            Fact("iteration", ledger, f"{state.iteration} of {state.max_iterations}"),
            Fact("checks", ledger, [f"{check['id']} {check['type']}" for check in criterion.checks]),
        ),
        text="\n".join([*(f"{check['id']}: {method(check)}" for check in criterion.checks), *found]),
    )
