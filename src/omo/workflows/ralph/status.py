"""A ralph run as every view shows it: its criteria, as the newest judgement left them, and what is to be done."""

from __future__ import annotations

import json

from omo.proof import globs
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import outcome
from omo.work.agents import session_events
from omo.work.files import Files
from omo.work.run import load
from omo.work.status import Command, Item, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ralph.end import next_step
from omo.workflows.ralph.phases import check
from omo.workflows.ralph.rules import LONGEST_REQUEST, Criterion, Row, method
from omo.workflows.ralph.run import RALPH, START, RalphState

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}
MOST_FILES = 20
LONGEST_SHOWN, LONGEST_PASS = 400, 100
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"
# What begins it, by what the user typed.
BEGINNINGS = {"ralph": (command(START, after="or with --criteria FILE, once criteria are written"),)}


def status(viewer: Viewer) -> Status | None:
    run = load(RALPH, viewer.caller, viewer.run)
    if run is None:
        return None
    state = run.state or RalphState(run=run.id)
    step = next_step(run)
    if step.action == "round":
        report = check(run, viewer.files, session_events(run, viewer.own_ledger))
        step = step._replace(commands=(*(Command(lead=line) for line in report.to_do), *step.commands))
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
        overrides.append("not judged independently")
    return Status(
        "ralph",
        "criterion",
        run=state.run,
        headline="its ledger is damaged" if run.problems else state.headline,
        items=tuple(_item(state, criterion, viewer) for criterion in state.criteria),
        next=step,
        facts=tuple(facts),
        overrides=tuple(overrides),
        problems=tuple(run.problems),
        outcome=outcome.of(state.ended) if state.ended is not None else None,
    )


def _item(state: RalphState, criterion: Criterion, viewer: Viewer) -> Item:
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
    lines = [f"{check['id']}: {method(check)}" for check in criterion.checks]
    if known.status != "PASS" or mark == "stale":
        lines += findings(entry_of(viewer.files, state, criterion))
    return Item(
        criterion.id,
        clip(criterion.description, 200),
        known.status,
        mark,
        tuple(filter(None, [evidence, *known.counts])),
        receipt,
        stale_because,
        text="\n".join(lines),
    )


def entry_of(files: Files, state: RalphState, criterion: Criterion, result: Row | None = None) -> Row:
    """All that is known of a criterion; of one that broke again, also the files that are others than right after its
    last pass, those it declares first.
    """
    entry = state.entry(criterion, result)
    if entry["status"] != "REGRESSED":
        return entry
    passed = state.states[criterion.id].last_pass_iteration or 0
    changed = None
    for row in state.rows:
        if row.get("kind") == "exec-delegated" and row.get("iteration") == passed + 1:
            changed = files.changed_since(row)
    entry["since"] = f"its pass in iteration {passed}"
    if changed is None:
        entry["since"] += " (nobody can tell)"
    own: list[str] = []
    others: list[str] = []
    for path in changed or []:
        is_own = any(globs.covers(path, glob) for glob in criterion.affected_paths)
        (own if is_own else others).append(path)
    listed = [*own, *others]
    entry |= {"files": listed[:MOST_FILES], "more_files": len(listed[MOST_FILES:])}
    if listed:
        entry["suggested_action"] = DIAGNOSE
    return entry


def findings(entry: Row) -> list[str]:
    """What was seen of a criterion, what to try and where to look; quoted, so that it reads as data."""
    lines = []
    if entry["evidence"]:
        longest = LONGEST_PASS if entry["result"] == "pass" else LONGEST_SHOWN
        lines.append(f"seen: {quoted(entry['evidence'], longest)} ({entry['source']})")
    if entry["suggested_action"] and entry["status"] != "BLOCKED":  # which is not tried again
        lines.append(f"try: {quoted(entry['suggested_action'])}")
    if "files" in entry:
        files = ", ".join(map(quoted, entry["files"])) or "none"
        if entry["more_files"]:
            files += f" and {entry['more_files']} more"
        lines.append(f"changed since {entry['since']}: {files}")
    if entry["before"]:
        was, evidence = clip(str(entry["before"].get("id")), 8), quoted(str(entry["before"].get("evidence")))
        lines.append(f"{was} of an earlier run, which could not: {evidence}")
    return lines


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)
