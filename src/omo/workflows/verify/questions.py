"""Answering a question: each answer is judged by code on what can be read now, and recorded as a checkpoint.

What an answer leaves open, and what earlier verifications missed, is shown to the next goal of the category.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import BadInput, OmoError, Refused
from omo.proof import artifacts
from omo.state import ledger, paths
from omo.state import store as files
from omo.text import clip
from omo.workflows.verify import claims
from omo.workflows.verify.documents import DIMENSIONS, MOST_ITEMS, Item, parse_reply
from omo.workflows.verify.goals import Goal, Goals, GoalStore, Row, digest_of, known, require_in_progress
from omo.workflows.verify.statements import SHORTEST_REASON, check_statement, hedges
from omo.workflows.verify.steps import Trees, answer_command, step_of

FEWEST_ITEMS, FEWEST_ROUTINE_ITEMS = 5, 3
MOST_GUARDRAILS = 10
# fmt: off
FILLER = {
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "do", "does", "did", "it", "its",
    "this", "that", "of", "to", "in", "on", "for", "and", "or", "with", "by", "as", "at", "goal", "done", "complete",
    "completed", "finished", "succeed", "succeeds", "succeeded", "really", "now", "all",
}
VAGUE = {
    "none", "nothing", "unknown", "n", "na", "no", "unclear", "bug", "bugs", "error", "errors", "issue", "issues",
    "fail", "fails", "failure", "could", "might", "may", "something", "anything", "wrong", "go", "goes", "break",
    "breaks", "broken", "not", "sure", "idea", "tests", "test", "work", "works", "edge", "case", "cases", "there",
    "some", "any", "if", "i", "can", "think",
}
# fmt: on
NO_PROBLEM = re.compile(r"(?:none|no problems?\b[^.;\n]*)?[\s.!]*", re.I)
AND_YET = re.compile(r"\b(?:but|except|however|though|although|apart|besides|unless|until|yet)\b", re.I)


@dataclass
class Judged:
    """What code made of an answer: ok, gap or failed. `missing` is what the goal never asked for."""

    result: str = "ok"
    why: str = ""
    artifacts: dict[str, str] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def answer(store: GoalStore, name: str, question: str, data: object, *, file: str | None = None) -> Judged:
    """Judge an answer by code and record it as a checkpoint. What is refused is not recorded."""
    goal = store.goal(name)
    reply, content = parse_reply(question, data)
    trees = Trees(store.caller, reading=file)
    _check_turn(goal, question, reply.goal, trees)
    digest = digest_of(content)
    _check_replay(store.rows, goal, question, digest)
    without = trees.answer_files(goal)
    fingerprint = trees.now(without)
    judged = JUDGES[question](store, goal, reply)
    event = {
        "kind": "answered",
        "goal": name,
        "question": question,
        "attempt": goal.attempt,
        "contract": goal.spec.contract,
        "tree": fingerprint,
        "without": without,
        "digest": digest,
        "result": judged.result,
        "said": {**content, "why": judged.why},
        "artifacts": judged.artifacts,
        "overrides": judged.overrides,
    }

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        now = known(goals, name)
        if (now.attempt, now.state) != (goal.attempt, "in-progress"):
            raise Refused(f"goal {name} moved on while this was answered", fix=f"omo verify status {name}")
        return None, [event, *(gap(goal, question, why) for why in judged.gaps)]

    store.change(decide)
    return judged


def _check_turn(goal: Goal, question: str, named: str | None, trees: Trees) -> None:
    """May this question be answered now?"""
    if named is not None and named != goal.id:
        raise Refused(f"this is an answer for goal {named!r}, not {goal.id}", fix=f"answer for {goal.id} itself")
    require_in_progress(goal)
    if question == "agent-leg" and not goal.spec.has_agent_leg:
        raise Refused(
            f"goal {goal.id} has no agent's leg: it needs user in participants, and verification.outcomes_agent_leg",
            fix=answer_command(goal.id, "q1"),
        )
    if question in ("q1.5", "q2"):
        first = step_of(goal, "q1", trees)
        if first.is_open:
            why = f": {first.why}" if first.why else ""
            raise Refused(f"{question} comes after q1, which is {first.state}{why}", fix=first.command)
    step = step_of(goal, question, trees)
    if step.state == "failed":
        # What was found broken stays found until something changes; saying it differently is no repair.
        raise Refused(
            f"{question} failed on exactly this tree: {step.why}",
            fix=f"mend the work and answer again, or record the failure: omo verify finish {goal.id} --summary TEXT",
        )


def _check_replay(rows: list[Row], goal: Goal, question: str, digest: str) -> None:
    if question == "q3":
        return
    for row in rows:
        is_same = row.get("kind") == "answered" and row.get("digest") == digest and row.get("result") != "gap"
        if is_same and row.get("goal") != goal.id:
            raise Refused(
                f"this is, word for word, the answer to {row.get('question')} of goal {row.get('goal')}",
                fix=f"look at what {goal.id} produced, and say what you see there",
            )


def _judge_q1(store: GoalStore, goal: Goal, reply: Any) -> Judged:
    _require_statement(goal, "q1", "statement", reply.statement)
    judged = Judged(overrides=_settle_claims(store, goal, "q1", reply.statement, reply.override))
    judged.artifacts = _register(store, goal, [reply.artifact])
    return judged


def _judge_agent_leg(store: GoalStore, goal: Goal, reply: Any) -> Judged:
    wanted = goal.spec.outcomes_agent_leg
    given = [leg.outcome for leg in reply.outcomes]
    defects = [f"outcomes: nothing for {outcome!r}" for outcome in wanted if outcome not in given]
    defects += [f"outcomes: {outcome!r} is no outcome of the agent's leg" for outcome in given if outcome not in wanted]
    if defects:
        raise BadInput(
            f"the agent's leg of goal {goal.id} has {len(wanted)} outcomes; each needs its own answer",
            fix=f"omo verify status {goal.id} lists them, word for word",
            defects=defects,
        )
    judged = Judged()
    for number, leg in enumerate(reply.outcomes):
        _require_statement(goal, "agent-leg", f"outcomes[{number}].statement", leg.statement)
        judged.overrides += _settle_claims(store, goal, "agent-leg", leg.statement, reply.override)
    judged.artifacts = _register(store, goal, [leg.artifact for leg in reply.outcomes])
    return judged


def _judge_q15(store: GoalStore, goal: Goal, reply: Any) -> Judged:
    if defects := _checklist_defects(goal, reply.items):
        raise Refused(
            f"the checklist for goal {goal.id} does not look at it from every side",
            fix=f"mend it and answer again: {answer_command(goal.id, 'q1.5')}",
            defects=defects,
        )
    judged, covered = Judged(), []
    for item in reply.items:
        if item.result != "fail":
            continue
        if item.covered or _is_declared(goal, item.question):
            covered.append(item.question)
        else:
            judged.missing.append(item.question)
    if covered:
        judged.result, judged.why = "failed", f"the goal's own criteria fail: {'; '.join(covered)}"
        judged.gaps = covered
    return judged


def _checklist_defects(goal: Goal, items: list[Item]) -> list[str]:
    """Does it look at the goal from every side, and say what was seen?"""
    fewest = FEWEST_ROUTINE_ITEMS if goal.spec.routine else FEWEST_ITEMS
    defects = []
    if not fewest <= len(items) <= MOST_ITEMS:
        defects.append(f"items: {len(items)}, not {fewest} to {MOST_ITEMS}")
    if not goal.spec.routine:
        asked = {item.dimension for item in items}
        defects += [f"items: none about {dimension}" for dimension in DIMENSIONS if dimension not in asked]
    if items and all(item.result == "na" for item in items):
        defects.append("items: every result is na, so nothing was looked at")
    title = _stems(goal.spec.title)
    earlier: list[set[str]] = []
    for number, item in enumerate(items):
        question = clip(item.question, 60)
        defects += [f"items[{number}]: evidence: {hedge}" for hedge in hedges(item.evidence)]
        if item.result != "na" and len(item.evidence.strip()) < SHORTEST_REASON:
            defects.append(f"items[{number}]: evidence: {item.evidence!r} says nothing of what was seen")
        stems = _stems(item.question)
        if stems and len(stems & title) >= 0.8 * len(stems | title):
            defects.append(f"items[{number}]: question: {question!r} only restates the title; ask for one property")
        if _words(item.question) in earlier:
            defects.append(f"items[{number}].question: {question!r} is asked twice")
        earlier.append(_words(item.question))
    return defects


def _is_declared(goal: Goal, question: str) -> bool:
    """An outcome whose every word is in the question covers it, whatever the answer says."""
    asked = _words(question)
    return any(len(_words(outcome)) > 1 and _words(outcome) <= asked for outcome in goal.spec.outcomes)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - FILLER


def _stems(text: str) -> set[str]:
    return {word[:5] for word in _words(text)}  # handle, handles, handled


def _judge_q2(store: GoalStore, goal: Goal, reply: Any) -> Judged:
    again = answer_command(goal.id, "q2")
    problem = (reply.problem or "").strip()
    if NO_PROBLEM.fullmatch(problem) and not AND_YET.search(problem):
        problem = ""
    elif problem.lower().startswith("no problem"):
        raise Refused(
            f"problem {clip(problem, 120)!r} says both that there is one and that there is none",
            fix=f'give the problem alone, or "none": {again}',
        )
    failure_mode = reply.failure_mode.strip()
    if problem:
        why = f"{failure_mode}: {problem}" if failure_mode else problem
        return Judged("failed", why, gaps=[problem])
    if len(_words(failure_mode) - VAGUE) < 2:
        return Judged("gap", gaps=[f"no way named in which it could look done and not be: {reply.failure_mode!r}"])
    if not reply.checked:
        named = clip(failure_mode, 120)
        raise Refused(f"failure_mode is named, but checked is false: {named}", fix=f"check it now, then {again}")
    if len(reply.how.strip()) < SHORTEST_REASON:
        raise Refused(f"how {reply.how!r} does not say what was run or read", fix=f"say how it was checked: {again}")
    _require_statement(goal, "q2", "statement", reply.statement)
    overrides = []
    for text in (reply.statement, reply.how):
        overrides += _settle_claims(store, goal, "q2", text, reply.override)
    return Judged(overrides=overrides)


def _judge_q3(store: GoalStore, goal: Goal, reply: Any) -> Judged:
    return Judged(gaps=[f"q3: {hedge}" for hedge in hedges(reply.statement)])


JUDGES: dict[str, Callable[[GoalStore, Goal, Any], Judged]] = {
    "q1": _judge_q1,
    "q1.5": _judge_q15,
    "q2": _judge_q2,
    "q3": _judge_q3,
    "agent-leg": _judge_agent_leg,
}


def _require_statement(goal: Goal, question: str, name: str, text: str) -> None:
    if defects := check_statement(text):
        raise Refused(
            f"{question} of goal {goal.id} is sent back: {name} {clip(text, 80)!r}",
            fix=f"{answer_command(goal.id, question)} with it restated",
            defects=[f"{name}: {defect}" for defect in defects],
        )


def _settle_claims(store: GoalStore, goal: Goal, question: str, text: str, override: str) -> list[str]:
    """Words that call for a claim need one that holds, or somebody who lets the statement stand: a line for each."""
    caller = store.caller
    reason = claims.checked_override(override or None)
    still_open = claims.unsettled(caller, text, goal=goal.id, since=goal.begun_at)
    if not still_open:
        return []
    if reason is None:
        gaps = [gap(goal, question, words.text) for words in still_open]
        store.change(lambda _: (None, gaps))
        raise claims.refused(f"{question} of goal {goal.id}", goal.id, text, still_open)
    claims.let_stand(caller, text, still_open, goal=goal.id, override=reason)
    return [f"{question}: {reason} ({words.text})" for words in still_open]


def _register(store: GoalStore, goal: Goal, names: list[str]) -> dict[str, str]:
    """Each artifact is read now and recorded as this goal's; refusals pass through."""
    caller = store.caller
    digests = {}
    for name in dict.fromkeys(names):
        artifact = artifacts.register(
            caller.state,
            Path(caller.root),
            name,
            goal=goal.id,
            started_at=goal.ready_at,
            by=caller.by,
            now=caller.now,
            wait=caller.wait,
        )
        digests[artifact.path] = artifact.digest
    return digests


def gap(goal: Goal, question: str, why: str) -> Row:
    """A soft signal: it never gates, and the next goal of this category is shown it."""
    return {
        "kind": "gap",
        "gap": "verification_gap",
        "goal": goal.id,
        "category": goal.spec.category,
        "question": question,
        "why": clip(why, 400),
    }


def log_missing(store: GoalStore, goal: Goal, items: list[str]) -> str:
    """Properties the goal never asked for. Telemetry for better goals: a failure to write it stops nothing."""
    if not items:
        return ""
    caller = store.caller
    path = _missing_file(caller.state)
    event = {"kind": "missing-criteria", "goal": goal.id, "category": goal.spec.category, "items": items}
    try:
        files.make_state_dir(caller.state)
        files.make_dir(paths.verify_dir(caller.state), caller.state)
        with files.Lock(path + ".lock", files.Deadline(caller.wait)):
            ledger.append(path, [event], actor=caller.by, now=caller.now)
    except (OmoError, OSError) as error:
        return f"{path} could not be written: {error}"
    return ""


def guardrails(store: GoalStore, goal: Goal) -> list[str]:
    """What verifications of this category missed or failed before, newest first. Nothing here can stop a goal."""
    try:
        rows = [*store.rows, *ledger.rows(_missing_file(store.caller.state))]
    except (OmoError, OSError) as error:
        return [f"(earlier verifications could not be read: {error})"]
    rows.sort(key=lambda row: str(row.get("ts")), reverse=True)
    lines: list[str] = []
    for row in rows:
        if row.get("category") == goal.spec.category:
            lines += _lessons(row)
    return list(dict.fromkeys(lines))[:MOST_GUARDRAILS]


def _lessons(row: Row) -> list[str]:
    name = row.get("goal")
    if row.get("kind") == "gap":
        return [f"{name} left a gap in {row.get('question')}: {clip(str(row.get('why')), 200)}"]
    if row.get("kind") == "finished" and row.get("verdict") == "fail":
        learned = f" (learned: {row['learned']})" if row.get("learned") else ""
        return [f"{name} failed: {clip(str(row.get('reason')) + learned, 240)}"]
    if row.get("kind") == "missing-criteria" and isinstance(row.get("items"), list):
        return [f"{name} never asked: {clip(str(item), 200)}" for item in row["items"]]
    return []


def _missing_file(state: str) -> str:
    return os.path.join(paths.verify_dir(state), "missing-verification-criteria.jsonl")
