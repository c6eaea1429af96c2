"""What a judgement leaves to do: complete, blocked, regressed, to fix and to judge again, apart from each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable
from omo.evidence import changes, globs
from omo.ralph import iteration
from omo.ralph.criteria import Criterion
from omo.ralph.rules import PROVEN_BY
from omo.ralph.run import RalphRun, Standing
from omo.shown import clip

Row = dict[str, Any]

MOST_FILES = 20
LONGEST_SHOWN = 400
TITLES = {
    "regressed": "Regressed: passed before, so look first at what changed since",
    "to_fix": "To fix",
    "to_judge_again": "To judge again: passed before, and the last judgement could not tell",
    "complete": "Complete: do not work on it; it is judged again all the same",
    "blocked": "Blocked: do not retry; the user decides",
}
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"
ALL_PHASES = "Five phases, in this order, none abridged; each counts only if the host saw it:"
FEWER_PHASES = "The user lets all but IMPL be left out, without a note; what is done is noted in any order:"


def groups(run: RalphRun, status: Standing) -> dict[str, list[Row]]:
    """Every criterion in exactly one of them."""
    unproven = status.unproven
    complete = [criterion for criterion in status.with_status("PASS") if criterion not in unproven]
    return {
        "regressed": [_regressed(run, status, criterion) for criterion in status.with_status("REGRESSED")],
        "to_fix": [_entry(status, criterion) for criterion in status.with_status("PENDING", "FAIL")],
        "to_judge_again": [_entry(status, criterion) for criterion in unproven],
        "complete": [_entry(status, criterion) for criterion in complete],
        "blocked": [_entry(status, criterion) for criterion in status.with_status("BLOCKED")],
    }


def _entry(status: Standing, criterion: Criterion) -> Row:
    """`before` is what an earlier run could not do of the same criterion."""
    state, result = status.states[criterion.id], status.last_result(criterion.id)
    before = None
    for lesson in status.lessons.get("overlap") or []:
        if lesson.get("id") == criterion.id and before is None:
            before = lesson
    return {
        "id": criterion.id,
        "description": criterion.description,
        "status": state.status,
        "result": result.get("result"),
        "reason": clip(str(result.get("evidence") or ""), 500),
        "suggested_action": clip(str(result.get("suggested_action") or ""), 500),
        "source": clip(str(result.get("source") or ""), 40),
        "cached_from": result.get("cached_from"),
        "fail_count": state.fail_count,
        "regressions": state.regressions,
        "previous_pass_iteration": state.last_pass_iteration,
        "flapping": state.is_flapping,
        "next_failure_blocks": state.next_failure_blocks,
        "before": before,
    }


def _regressed(run: RalphRun, status: Standing, criterion: Criterion) -> Row:
    files, since = _changed_since(run, status, status.states[criterion.id].last_pass_iteration)
    own: list[str] = []
    others: list[str] = []
    for path in files:
        is_own = any(globs.covers(path, glob) for glob in criterion.affected_paths)
        (own if is_own else others).append(path)
    ordered = [*own, *others]
    more = len(ordered[MOST_FILES:])
    entry = {**_entry(status, criterion), "files": ordered[:MOST_FILES], "more_files": more, "since": since}
    if ordered:
        entry["suggested_action"] = DIAGNOSE
    return entry


def _changed_since(run: RalphRun, status: Standing, passed: int | None) -> tuple[list[str], str]:
    """The files that are others than right after that iteration was judged; else than at the start of the run."""
    for row in status.rows:
        if row.get("kind") == "exec-delegated" and row.get("iteration") == (passed or 0) + 1:
            changed = iteration.changed_files(run.root, row)
            if changed is not None:
                return changed, f"its pass in iteration {passed}"
    try:
        return changes.changed(Path(run.root), status.base or "HEAD"), "the start of the run"
    except NotEvaluable as error:
        return [], f"unknown: {clip(error.message, 120)}"


def lines(run: RalphRun, status: Standing) -> list[str]:
    """What to do next, for a person and a model; what a judge or a tool said is quoted, so it reads as data."""
    shown = []
    for name, entries in groups(run, status).items():
        if entries:
            shown.append(f"{TITLES[name]} ({len(entries)})")
        for entry in entries:
            shown += _in_words(entry)
    return [*shown, *reductions(status)]


def _in_words(entry: Row) -> list[str]:
    shown = [f"  {entry['id']} {entry['status']}{_notes(entry)}: {clip(entry['description'], 200)}"]
    if entry["result"] != "pass":
        for label, text in (("seen", entry["reason"]), ("try", entry["suggested_action"])):
            if text:
                shown.append(f"     {label}: {quoted(text)}")
    if "files" in entry:
        files = ", ".join(quoted(path) for path in entry["files"]) or "none"
        if entry["more_files"]:
            files += f" and {entry['more_files']} more"
        shown.append(f"     changed since {entry['since']}: {files}")
    if entry["before"]:
        was, evidence = clip(str(entry["before"].get("was")), 8), quoted(str(entry["before"].get("evidence")))
        shown.append(f"     {was} of an earlier run, which could not: {evidence}")
    return shown


def _notes(entry: Row) -> str:
    notes = []
    if entry["fail_count"]:
        notes.append(f"failed {entry['fail_count']} in a row")
    if entry["flapping"]:
        notes.append(f"flapping: broke {entry['regressions']} times")
    if entry["status"] == "REGRESSED" and entry["previous_pass_iteration"]:
        notes.append(f"passed in iteration {entry['previous_pass_iteration']}")
    if entry["next_failure_blocks"]:
        notes.append("the next failure blocks it")
    if entry["cached_from"]:
        notes.append(f"cached@{entry['cached_from']}")
    return f" ({', '.join(notes)})" if notes else ""


def quoted(text: str) -> str:
    return json.dumps(clip(text, LONGEST_SHOWN), ensure_ascii=False)


def reductions(status: Standing) -> list[str]:
    """What every report has to say."""
    shown = []
    if status.after:
        shown.append(f"It carries on, {status.after_text}")
    if status.reduced_scope:
        shown.append(f"Reduced scope, authorised by the user: {quoted(status.reduced_scope)}")
    if status.reduced_iterations:
        rounds = ", ".join(map(str, status.reduced_iterations))
        shown.append(f"Reduced independence: no hook saw the judge of iteration {rounds} say it")
    return shown


def order(run: RalphRun, status: Standing) -> list[str]:
    """What the open iteration is about: the work, and the five phases with what proves each."""
    shown = [f"Ralph run {status.run}, iteration {status.iteration} of {status.max_iterations}"]
    if status.iteration == 1:
        shown.append("The whole task, every criterion.")
    shown += lines(run, status)
    shown.append(FEWER_PHASES if status.reduced_scope else ALL_PHASES)
    proofs = {
        "IMPL": "omo:executor finishes, or files change",
        "SHIP": "every gate passes on these files: omo gate run",
    }
    for phase, agent in PROVEN_BY.items():
        proof = proofs.get(phase) or f"{agent} finishes"
        shown.append(f"  {phase:7} {proof}; then omo ralph phase {phase}")
    return [*shown, "Then: omo ralph artifacts, omo ralph brief for omo:judge, omo ralph judge"]
