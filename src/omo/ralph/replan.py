"""What a judgement leaves to do: complete, blocked, regressed, to fix and to judge again, apart from each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable
from omo.evidence import changes, globs
from omo.ralph import execution
from omo.ralph.criteria import Criterion
from omo.ralph.phase_proof import PHASES, PROVEN_BY
from omo.ralph.run import RalphRun, Standing
from omo.ralph.transitions import MOST_FAILURES, MOST_REGRESSIONS, State
from omo.shown import clip

Row = dict[str, Any]

MOST_FILES = 20
TITLES = {
    "regressed": "Regressed: passed before, so look first at what changed since",
    "to_fix": "To fix",
    "to_judge_again": "To judge again: passed before, and the last judgement could not tell",
    "complete": "Complete: do not work on it; it is judged again all the same",
    "blocked": "Blocked: do not retry; the user decides",
}
PROVES = {"IMPL": "omo:executor finishes, or files change", "SHIP": "every gate passes on these files: omo gate run"}
ALL = "Five phases, in this order, none abridged; each counts only if the host saw it:"
FEWER = "The user lets all but IMPL be left out, without a note; what is done is noted in any order:"


def groups(run: RalphRun, at: Standing) -> dict[str, list[Row]]:
    """Every criterion in exactly one of them."""
    unproven = at.unproven
    return {
        "regressed": [_regressed(run, at, one) for one in at.with_status("REGRESSED")],
        "to_fix": [_entry(at, one) for one in at.with_status("PENDING", "FAIL")],
        "to_judge_again": [_entry(at, one) for one in unproven],
        "complete": [_entry(at, one) for one in at.with_status("PASS") if one not in unproven],
        "blocked": [_entry(at, one) for one in at.with_status("BLOCKED")],
    }


def _entry(at: Standing, one: Criterion) -> Row:
    state, found = at.states[one.id], at.last_result(one.id)
    return {
        "id": one.id,
        "description": one.description,
        "status": state.status,
        "result": found.get("result"),
        "reason": clip(str(found.get("evidence") or ""), 500),
        "suggested_action": clip(str(found.get("suggested_action") or ""), 500),
        "source": clip(str(found.get("source") or ""), 40),
        "fail_count": state.fail_count,
        "regressions": state.regressions,
        "previous_pass_iteration": state.last_pass_iteration,
        "flapping": state.is_flapping,
        "next_failure_blocks": next_failure_blocks(state),
        "before": _before(at, one.id),
    }


def next_failure_blocks(state: State) -> bool:
    if state.status == "PASS":
        return state.regressions == MOST_REGRESSIONS - 1
    return state.status != "BLOCKED" and state.fail_count == MOST_FAILURES - 1


def _before(at: Standing, name: str) -> Row | None:
    """What an earlier run could not do of the same criterion."""
    listed = at.lessons.get("overlap")
    found = (
        [one for one in listed if isinstance(one, dict) and one.get("id") == name] if isinstance(listed, list) else []
    )
    return found[0] if found else None


def _regressed(run: RalphRun, at: Standing, one: Criterion) -> Row:
    files, since = changed_since(run, at, at.states[one.id].last_pass_iteration)
    own = [path for path in files if any(globs.covers(path, glob) for glob in one.affected_paths)]
    ordered = [*own, *(path for path in files if path not in own)]
    return {**_entry(at, one), "files": ordered[:MOST_FILES], "more_files": len(ordered[MOST_FILES:]), "since": since}


def changed_since(run: RalphRun, at: Standing, passed: int | None) -> tuple[list[str], str]:
    """The files that are others than right after that iteration was judged; else than at the start of the run."""
    following = [
        row for row in at.rows if row.get("kind") == "exec-delegated" and row.get("iteration") == (passed or 0) + 1
    ]
    try:
        if following:
            return sorted(execution.changed_files(run, following[0])), f"its pass in iteration {passed}"
    except NotEvaluable:
        pass
    try:
        return changes.changed(Path(run.root), at.base or "HEAD"), "the start of the run"
    except NotEvaluable as error:
        return [], f"unknown: {clip(error.message, 120)}"


def lines(run: RalphRun, at: Standing) -> list[str]:
    """What to do next, for a person and a model; what a judge or a tool said is quoted, so it reads as data."""
    found = groups(run, at)
    shown = [line for name, title in TITLES.items() for line in _group(title, found[name])]
    return [*shown, *reductions(at)]


def _group(title: str, entries: Sequence[Row]) -> list[str]:
    return [f"{title} ({len(entries)})", *(line for one in entries for line in _shown(one))] if entries else []


def _shown(one: Row) -> list[str]:
    found = [f"  {one['id']} {one['status']}{_notes(one)}: {clip(one['description'], 200)}"]
    said = [] if one["result"] == "pass" else [("seen", one["reason"]), ("try", one["suggested_action"])]
    found += [f"     {name}: {quoted(text)}" for name, text in said if text]
    if "files" in one:
        more = f" and {one['more_files']} more" if one["more_files"] else ""
        listed = ", ".join(quoted(path) for path in one["files"]) or "none"
        found.append(f"     changed since {one['since']}: {listed}{more}")
    if earlier := one["before"]:
        was, seen = clip(str(earlier.get("was")), 8), quoted(str(earlier.get("evidence")))
        found.append(f"     {was} of an earlier run, which could not: {seen}")
    return found


def _notes(one: Row) -> str:
    notes = []
    if one["fail_count"]:
        notes.append(f"failed {one['fail_count']} in a row")
    if one["flapping"]:
        notes.append(f"flapping: broke {one['regressions']} times")
    if one["status"] == "REGRESSED" and one["previous_pass_iteration"]:
        notes.append(f"passed in iteration {one['previous_pass_iteration']}")
    if one["next_failure_blocks"]:
        notes.append("the next failure blocks it")
    if str(one["source"]).startswith("cached"):
        notes.append(one["source"])
    return f" ({', '.join(notes)})" if notes else ""


def quoted(text: str, longest: int = 300) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)


def reductions(at: Standing) -> list[str]:
    """What every report has to say."""
    found = [f"It carries on, {at.after_text}"] if at.after else []
    found += [f"Reduced scope, authorised by the user: {quoted(at.reduced_scope)}"] if at.reduced_scope else []
    if at.reduced_iterations:
        listed = ", ".join(map(str, at.reduced_iterations))
        found.append(f"Reduced independence: no hook saw the judge of iteration {listed} say it")
    return found


def order(run: RalphRun, at: Standing) -> list[str]:
    """What the open iteration is about: the work, and the five phases with what proves each."""
    head = f"Ralph run {at.run}, iteration {at.iteration} of {at.max_iterations}"
    whole = ["The whole task, every criterion."] if at.iteration == 1 else []
    table = [
        f"  {name:7} {PROVES.get(name) or f'{PROVEN_BY[name]} finishes'}; then omo ralph phase {name}"
        for name in PHASES
    ]
    return [
        head,
        *whole,
        *lines(run, at),
        FEWER if at.reduced_scope else ALL,
        *table,
        "Then: omo ralph artifacts, omo ralph brief for omo:judge, omo ralph judge",
    ]
