"""A ralph run as every view shows it: its criteria, as the newest judgement left them, and what is to be done."""

from __future__ import annotations

import json
from collections.abc import Sequence

from omo.json_text import Json
from omo.state.runtime import part
from omo.text import clip, listed
from omo.work import outcome
from omo.work.files import Files
from omo.work.run import load
from omo.work.status import Command, Item, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ralph.asking import asked_later
from omo.workflows.ralph.end import next_step
from omo.workflows.ralph.phases import check
from omo.workflows.ralph.rules import (
    LONGEST_REQUEST,
    MOST_CIRCUMVENTIONS,
    AskedBefore,
    Criterion,
    CriterionResult,
    method,
)
from omo.workflows.ralph.run import RALPH, START, RalphState

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}
MOST_FILES = 20
LONGEST_SHOWN, LONGEST_PASS = 400, 100
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"
# What begins it, by what the user typed.
NAMED_FILES: dict[str, tuple[str, ...]] = {}  # which is taken without its name
BEGINNINGS = {"ralph": (command(START, after="or with --criteria FILE, once criteria are written"),)}


def status(viewer: Viewer) -> Status | None:
    run = load(RALPH, viewer.caller, viewer.run)
    if run is None:
        return None
    state = run.state or RalphState(run=run.id)
    step = next_step(run)
    if step.action == "round":
        report = check(run, viewer.files)
        step = step._replace(commands=(*(Command(lead=line) for line in report.to_do), *step.commands))
    return Status(
        "ralph",
        "criterion",
        run=state.run,
        headline="its ledger is damaged" if run.problems else state.headline,
        items=tuple(_item(state, criterion, viewer) for criterion in state.criteria),
        next=step,
        facts=tuple(facts(state, asked_later(run, state))) if state.started else (),
        overrides=tuple(overrides(state)),
        problems=tuple(run.problems),
        outcome=outcome.of(state.ended) if state.ended is not None else None,
    )


def facts(state: RalphState, later: Sequence[str] = ()) -> list[str]:
    """What was asked for, also `later`, in the words of whoever said it, which no compaction may lose; whose the
    criteria are, and what happened to the run."""
    lines = []
    if state.request:
        lines.append(f"the user asked for, {state.whose_request}: {quoted(state.request, LONGEST_REQUEST)}")
    lines += [f"and later, as they typed it: {quoted(text, LONGEST_REQUEST)}" for text in later]
    lines.append(state.whose_criteria)
    if state.after:
        lines.append(f"it carries on, {state.after_text}")
    if state.circumventions:
        lines.append(f"circumvented {state.circumventions} of {MOST_CIRCUMVENTIONS} times")
    return lines


def overrides(state: RalphState) -> list[str]:
    """What every report has to say."""
    lines = []
    if state.reduced_scope:
        lines.append(f"reduced scope, authorised by the user: {quoted(state.reduced_scope)}")
    if state.reduced_iterations:
        rounds = ", ".join(map(str, state.reduced_iterations))
        lines.append(f"not judged independently: no hook saw the judge of iteration {rounds} say it")
    return lines


def _item(state: RalphState, criterion: Criterion, viewer: Viewer) -> Item:
    known, result = state.states[criterion.id], state.last_result(criterion.id)
    proof = part(state.ended or {}, "receipt")
    has_receipt = known.status == "PASS" and bool(proof)
    stale_because = ""
    if criterion in state.unproven:
        stale_because = "the newest judgement could not tell"
    elif has_receipt:
        stale_because = viewer.files.why_lapsed(proof.get("tree"))
    lines = [f"{check['id']}: {method(check)}" for check in criterion.checks]
    if known.status != "PASS" or stale_because:
        lines += findings(state, criterion, result, viewer.files)
    item = Item(
        criterion.id,
        clip(criterion.description, 200),
        known.status,
        MARKS.get(known.status, "open"),
        tuple(filter(None, [clip(result.get("evidence", ""), 200), *known.counts])),
        "fresh" if has_receipt else "",
        text="\n".join(lines),
    )
    return item.no_longer(stale_because) if stale_because else item


# Of a criterion, with what a judgement said of it: the run's last, or one that could not tell and left no other trace.


def line_of(state: RalphState, criterion: Criterion, result: CriterionResult) -> str:
    """`C2 FAIL (failed 2 in a row): part 2 is in place`."""
    known = state.states[criterion.id]
    notes = known.counts
    if known.status == "REGRESSED":
        notes.append(f"passed in iteration {known.last_pass_iteration}")
    if result.get("cached_from"):
        notes.append(f"cached@{result['cached_from']}")
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{criterion.id} {known.status}{noted}: {clip(criterion.description, 200)}"


def findings(state: RalphState, criterion: Criterion, result: CriterionResult, files: Files) -> list[str]:
    """What was seen of it, what to try and where to look; quoted, so that it reads as data."""
    known = state.states[criterion.id]
    action = result.get("suggested_action")
    lines, changes = [], []
    if result.get("evidence"):
        longest = LONGEST_PASS if result.get("result") == "pass" else LONGEST_SHOWN
        lines.append(f"seen: {quoted(result['evidence'], longest)} ({result.get('source')})")
    if known.status == "REGRESSED":
        changed = changed_since_pass(state, criterion, files)
        named = "nobody can tell"
        if changed is not None:
            named = listed([quoted(path) for path in changed], MOST_FILES) or "none"
        changes.append(f"changed since its pass in iteration {known.last_pass_iteration}: {named}")
        action = DIAGNOSE if changed else action
    if action and known.status != "BLOCKED":  # which is not tried again
        lines.append(f"try: {quoted(action)}")
    lines += changes
    if before := _asked_before(state, criterion):
        was, evidence = clip(str(before.get("id")), 8), quoted(str(before.get("evidence")))
        lines.append(f"{was} of an earlier run, which could not: {evidence}")
    return lines


def changed_since_pass(state: RalphState, criterion: Criterion, files: Files) -> list[str] | None:
    """The files that are others than right after its last pass; None where nobody can tell."""
    passed = state.states[criterion.id].last_pass_iteration or 0
    opened = [row for row in state.rows if row.get("kind") == "exec-delegated" and row.get("iteration") == passed + 1]
    return files.changed_since(opened[0].get("files")) if opened else None


def data_of(state: RalphState, criterion: Criterion, result: CriterionResult) -> Json:
    return {
        "id": criterion.id,
        "description": criterion.description,
        **state.states[criterion.id].data,
        "result": result.get("result"),
        "evidence": clip(result.get("evidence", ""), 500),
        "suggested_action": clip(result.get("suggested_action", ""), 500),
        "source": result.get("source"),
        "cached_from": result.get("cached_from"),
        "before": _asked_before(state, criterion),
    }


def _asked_before(state: RalphState, criterion: Criterion) -> AskedBefore | None:
    """What an earlier run could not do of it."""
    for lesson in state.lessons:
        if criterion.id in lesson["again"]:
            return lesson
    return None


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)
