"""Steering: six ways to change the cut of a plan into goals, and nothing else. Every attempt is in the ledger."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from omo.errors import BadInput, OmoError, Refused
from omo.text import clip, counted
from omo.work.run import check_sizes
from omo.workflows.ultragoal.create import LONGEST_TITLE, json_of, text_defects
from omo.workflows.ultragoal.plan import Plan
from omo.workflows.ultragoal.run import PlanRun

Row = dict[str, Any]

LONGEST_OBJECTIVE = 10_000
LONGEST_SHOWN = 500  # of what a refused attempt leaves in the ledger
STEER = "omo ultragoal steer --kind {kind} --evidence TEXT --rationale TEXT"

# kind → the options it cannot do without, and those it takes besides
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "add_subgoal": (("title", "objective"), ()),
    "split_subgoal": (("goal_id", "replacements"), ()),
    "reorder_pending": (("order",), ()),
    "revise_pending_wording": (("goal_id",), ("title", "objective")),
    "annotate_ledger": ((), ("goal_id",)),
    "mark_blocked_superseded": (("goal_id",), ()),
}
FLAGS = {
    "goal_id": "--goal-id",
    "title": "--title",
    "objective": "--objective",
    "replacements": "--replacements-json",
    "order": "--order-json",
}


@dataclass(frozen=True)
class Attempt:
    """What was asked for, as it was typed. Files are named relative to `cwd`."""

    kind: str
    evidence: str | None
    rationale: str | None
    goal_id: str | None = None
    title: str | None = None
    objective: str | None = None
    replacements: str | None = None
    order: str | None = None
    cwd: str = "."


def steer(run: PlanRun, attempt: Attempt) -> Row:
    """The accepted row. A refusal is recorded first, leaves every goal as it is, and is raised then."""

    def decide(plan: Plan) -> tuple[Row | OmoError, list[Row]]:
        try:
            row = _accepted(plan, attempt)
        except OmoError as error:
            return error, [_rejected(attempt, error)]
        return row, [row]

    answer: Row | OmoError = run.change_plan(decide)
    if isinstance(answer, OmoError):
        raise answer
    return answer


def _accepted(plan: Plan, attempt: Attempt) -> Row:
    check_options(attempt)
    row = {
        "kind": "steering_accepted",
        "mutation": attempt.kind,
        "evidence": str(attempt.evidence).strip(),
        "rationale": str(attempt.rationale).strip(),
        **MUTATIONS[attempt.kind](plan, attempt),
    }
    check_sizes([row])
    return row


def _origin(kind: str, attempt: Attempt) -> Row:
    """What a new goal knows of where it came from; the whole text is in the row."""
    evidence, rationale = clip(str(attempt.evidence), LONGEST_SHOWN), clip(str(attempt.rationale), LONGEST_SHOWN)
    return {"kind": kind, "evidence": evidence, "rationale": rationale}


def _rejected(attempt: Attempt, error: OmoError) -> Row:
    details = error.details.get("defects")
    reasons = [error.message]
    if isinstance(details, list):
        reasons += map(str, details)
    payload = {}
    for name in FLAGS:
        if (value := getattr(attempt, name)) is not None:
            payload[name] = clip(value, LONGEST_SHOWN)
    return {
        "kind": "steering_rejected",
        "mutation": clip(attempt.kind, 80),
        "goalId": clip(attempt.goal_id, 80) if attempt.goal_id is not None else None,
        "reason": clip("; ".join(reasons), LONGEST_SHOWN),
        "evidence": clip(attempt.evidence or "", LONGEST_SHOWN),
        "rationale": clip(attempt.rationale or "", LONGEST_SHOWN),
        "payload": payload,
    }


def check_options(attempt: Attempt) -> None:
    """The kind, the words behind it, and exactly the options of that kind: what is asked for is never guessed."""
    if attempt.kind not in OPTIONS:
        raise BadInput(
            f"--kind {clip(attempt.kind, 60)!r} is none of the ways to steer; objective, brief, gates and status of "
            "goals are not among them",
            fix=f"--kind is one of {', '.join(OPTIONS)}",
        )
    needed, more = OPTIONS[attempt.kind]
    defects = text_defects("--evidence", attempt.evidence) + text_defects("--rationale", attempt.rationale)
    for name, flag in FLAGS.items():
        value = getattr(attempt, name)
        if name in needed and value is None:
            defects.append(f"{flag} is missing")
        elif value is not None and name not in (*needed, *more):
            defects.append(f"{flag} does not belong to {attempt.kind}")
    defects += wording_defects(attempt.title, attempt.objective)
    if defects:
        usage = " ".join([STEER.format(kind=attempt.kind), *(f"{FLAGS[name]} …" for name in needed)])
        raise BadInput(f"this is no {attempt.kind}: {defects[0]}", fix=usage, defects=defects)


def wording_defects(title: object, objective: object, place: str = "") -> list[str]:
    defects: list[str] = []
    if title is not None:
        defects += text_defects(f"{place or '--'}title", title, longest=LONGEST_TITLE)
    if objective is not None:
        defects += text_defects(f"{place or '--'}objective", objective, longest=LONGEST_OBJECTIVE)
    return defects


def _add(plan: Plan, attempt: Attempt) -> Row:
    wording = _wording(attempt.title, attempt.objective)
    name = plan.new_ids(1)[0]
    return {"goalIds": [name], "goals": [{"id": name, **wording, "steering": _origin(attempt.kind, attempt)}]}


def _wording(title: Any, objective: Any) -> Row:
    return {"title": " ".join(title.split()), "objective": objective.strip()}


def _split(plan: Plan, attempt: Attempt) -> Row:
    goal = plan.goal(str(attempt.goal_id))
    goal.move("split")
    parts = _replacements(attempt)
    names = plan.new_ids(len(parts))
    steering = {**_origin("split_replacement", attempt), "sourceGoalId": goal.id}
    if goal.blocks is not None:
        steering["blockedGoalId"] = goal.blocks  # the review it had to satisfy is now theirs
    inherited: Row = {"gate": goal.gate} if goal.gate else {}
    goals = [{"id": name, **part, "steering": steering, **inherited} for name, part in zip(names, parts, strict=True)]
    return {"goalId": goal.id, "replacementGoalIds": names, "goals": goals}


def _replacements(attempt: Attempt) -> list[Row]:
    given = json_of(str(attempt.replacements), attempt.cwd, "--replacements-json")
    fix = '--replacements-json \'[{"title": "…", "objective": "…"}, {"title": "…", "objective": "…"}]\''
    if not isinstance(given, list) or len(given) < 2:
        count = f"a list of {len(given)}" if isinstance(given, list) else clip(repr(given), 60)
        raise BadInput(f"--replacements-json is {count}: a goal is split into two or more", fix=fix)
    defects: list[str] = []
    for index, part in enumerate(given):
        place = f"replacements[{index}]"
        if not isinstance(part, dict):
            defects.append(f"{place} is {clip(repr(part), 60)}, not an object with title and objective")
            continue
        defects += [f"{place}.{name} is missing" for name in ("title", "objective") if part.get(name) is None]
        defects += wording_defects(part.get("title"), part.get("objective"), f"{place}.")
        for name in set(part) - {"title", "objective"}:
            defects.append(f"{place}.{clip(str(name), 40)} is nothing a new goal is given")
    if defects:
        what = f"--replacements-json has {counted(len(defects), 'defect')}: {defects[0]}"
        raise BadInput(what, fix=fix, defects=defects)
    return [_wording(part["title"], part["objective"]) for part in given]


def _reorder(plan: Plan, attempt: Attempt) -> Row:
    before = [goal.id for goal in plan.goals if goal.status == "pending"]
    wanted = json_of(str(attempt.order), attempt.cwd, "--order-json")
    fix = f"name each pending goal once, in the new order; they are {json.dumps(before)}"
    if not isinstance(wanted, list) or not wanted or not all(isinstance(name, str) for name in wanted):
        raise BadInput(f"--order-json is {clip(repr(wanted), 80)}, not a list of goal ids", fix=fix)
    status = {goal.id: goal.status for goal in plan.goals}
    defects = []
    for name in dict.fromkeys(wanted):
        if name not in status:
            defects.append(f"there is no goal {clip(name, 40)!r}")
        elif status[name] != "pending":
            defects.append(f"{name} is {status[name]}, not pending")
        if wanted.count(name) > 1:
            defects.append(f"{clip(name, 40)} is named {wanted.count(name)} times")
    defects += [f"{name} is pending and left out" for name in before if name not in wanted]
    if defects:
        raise Refused(f"--order-json is no order of the pending goals: {defects[0]}", fix=fix, defects=defects)
    return {"previousPendingGoalIds": before, "pendingGoalIds": wanted}


def _revise(plan: Plan, attempt: Attempt) -> Row:
    goal = plan.goal(str(attempt.goal_id))
    goal.move("revise")
    before = {"title": goal.title, "objective": goal.objective}
    after = _wording(attempt.title or goal.title, attempt.objective or goal.objective)
    changed = [name for name in before if getattr(attempt, name) is not None and after[name] != before[name]]
    if not changed:
        raise Refused(
            f"the wording of {goal.id} stays as it is",
            fix="--title or --objective says what is new; a note without a change: --kind annotate_ledger",
        )
    wording = {name: after[name] for name in changed}
    return {"goalId": goal.id, "changedFields": changed, "previous": before, **wording}


def _annotate(plan: Plan, attempt: Attempt) -> Row:
    return {} if attempt.goal_id is None else {"goalId": plan.goal(attempt.goal_id).id}


def _supersede(plan: Plan, attempt: Attempt) -> Row:
    goal = plan.goal(str(attempt.goal_id))
    goal.move("supersede")
    if plan.required == [goal]:
        raise Refused(
            f"{goal.id} is the only goal that counts: without it nothing would be left to prove",
            fix="add what takes its place first (omo ultragoal steer --kind add_subgoal), or try it again: "
            "omo ultragoal complete-goals --retry-blocked",
        )
    return {"goalId": goal.id, "noReplacementRequired": True}


MUTATIONS: dict[str, Callable[[Plan, Attempt], Row]] = {
    "add_subgoal": _add,
    "split_subgoal": _split,
    "reorder_pending": _reorder,
    "revise_pending_wording": _revise,
    "annotate_ledger": _annotate,
    "mark_blocked_superseded": _supersede,
}
