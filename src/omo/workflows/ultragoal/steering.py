"""Steering: six ways to change the cut of a plan into goals, and nothing else. Every attempt is in the ledger."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from omo.errors import BadInput, OmoError, Refused
from omo.json_text import Json
from omo.proof import documents
from omo.strict import Strict, validated
from omo.text import clip
from omo.work.run import check_sizes
from omo.workflows.ultragoal.brief import require_text, title_of
from omo.workflows.ultragoal.plan import Goal, Plan, new_ids
from omo.workflows.ultragoal.rows import PlanRow
from omo.workflows.ultragoal.run import PlanRun

LONGEST_SHOWN = 500  # of what a refused attempt leaves in the ledger
OF_EVERY_KIND = ("evidence", "rationale")
IN_JSON = ("replacements", "order")
USAGE = "omo ultragoal steer --kind {} --evidence TEXT --rationale TEXT …; omo ultragoal steer --help has the rest"


def _text(text: str) -> str:
    try:
        return require_text("", text, "")
    except BadInput as error:
        raise ValueError(error.message.strip()) from None


Text = Annotated[str, AfterValidator(_text)]
Title = Annotated[Text, AfterValidator(title_of)]


class Steering(Strict):
    """One attempt: what was asked for, what was seen, and why this follows. `row` is what the ledger gets of it."""

    evidence: Text
    rationale: Text

    def row(self, plan: Plan) -> PlanRow:
        raise NotImplementedError

    def origin(self, kind: str) -> Json:
        """Return what a new goal knows of where it came from; the whole text is in the row."""
        evidence, rationale = clip(self.evidence, LONGEST_SHOWN), clip(self.rationale, LONGEST_SHOWN)
        return {"kind": kind, "evidence": evidence, "rationale": rationale}


class Replacement(Strict):
    title: Title
    objective: Text


class AddSubgoal(Steering):
    title: Title
    objective: Text

    def row(self, plan: Plan) -> PlanRow:
        (name,) = new_ids(plan.goals, 1)
        goal: Json = {"id": name, "title": self.title, "objective": self.objective}
        goal["steering"] = self.origin("add_subgoal")
        return {"goals": [goal]}


class SplitSubgoal(Steering):
    goal_id: str
    replacements: Annotated[list[Replacement], Field(min_length=2)]

    def row(self, plan: Plan) -> PlanRow:
        goal = _steered(plan, self.goal_id, "split")
        names = new_ids(plan.goals, len(self.replacements))
        steering: Json = {**self.origin("split_replacement"), "sourceGoalId": goal.id}
        if goal.blocks is not None:
            steering["blockedGoalId"] = goal.blocks  # the review it had to satisfy is now theirs
        goals: list[Json] = []
        for name, wording in zip(names, self.replacements, strict=True):
            goals.append({"id": name, "title": wording.title, "objective": wording.objective, "steering": steering})
        return {"goalId": goal.id, "goals": goals}


class ReorderPending(Steering):
    order: Annotated[list[str], Field(min_length=1)]

    def row(self, plan: Plan) -> PlanRow:
        before = [goal.id for goal in plan.goals if goal.status == "pending"]
        if sorted(self.order) != sorted(before):
            fix = f"name each pending goal once, in the new order; they are {json.dumps(before)}"
            raise Refused("--order-json is no order of the pending goals", fix=fix)
        return {"previousPendingGoalIds": before, "pendingGoalIds": self.order}


class RevisePendingWording(Steering):
    goal_id: str
    title: Title | None = None
    objective: Text | None = None

    def row(self, plan: Plan) -> PlanRow:
        goal = _steered(plan, self.goal_id, "revise")
        changed: PlanRow = {}
        if self.title not in (None, goal.title):
            changed["title"] = self.title
        if self.objective not in (None, goal.objective):
            changed["objective"] = self.objective
        if not changed:
            raise Refused(
                f"the wording of {goal.id} stays as it is",
                fix="--title or --objective says what is new; a note without a change: --kind annotate_ledger",
            )
        return {"goalId": goal.id, "changedFields": list(changed), "previous": goal.wording, **changed}


class AnnotateLedger(Steering):
    goal_id: str | None = None

    def row(self, plan: Plan) -> PlanRow:
        return {} if self.goal_id is None else {"goalId": plan.goal(self.goal_id).id}


class MarkBlockedSuperseded(Steering):
    goal_id: str

    def row(self, plan: Plan) -> PlanRow:
        goal = _steered(plan, self.goal_id, "supersede")
        if plan.required == [goal]:
            raise Refused(
                f"{goal.id} is the only goal that counts: without it nothing would be left to prove",
                fix="add what takes its place first (omo ultragoal steer --kind add_subgoal), or try it again: "
                "omo ultragoal complete-goals --retry-blocked",
            )
        return {"goalId": goal.id}


KINDS: dict[str, type[Steering]] = {
    "add_subgoal": AddSubgoal,
    "split_subgoal": SplitSubgoal,
    "reorder_pending": ReorderPending,
    "revise_pending_wording": RevisePendingWording,
    "annotate_ledger": AnnotateLedger,
    "mark_blocked_superseded": MarkBlockedSuperseded,
}


def _steered(plan: Plan, name: str, what: str) -> Goal:
    goal = plan.goal(name)
    plan.require(name, what)
    return goal


def steer(run: PlanRun, kind: str, given: dict[str, str], cwd: str = ".") -> PlanRow:
    """Steer the plan, and return the accepted row. A refusal is recorded first, leaves every goal as it is, and is
    raised then.

    `given` has the options as they were typed; files are named relative to `cwd`.
    """

    def decide(plan: Plan) -> tuple[PlanRow | OmoError, list[PlanRow]]:
        try:
            steering = _read(kind, given, cwd)
            why: PlanRow = {"evidence": steering.evidence, "rationale": steering.rationale}
            row: PlanRow = {**steering.row(plan), "kind": "steering_accepted", "mutation": kind, **why}
            check_sizes([row])
        except OmoError as error:
            return error, [_rejected(kind, given, error)]
        return row, [row]

    answer = run.change_plan(decide)
    if isinstance(answer, OmoError):
        raise answer
    return answer


def _read(kind: str, given: dict[str, str], cwd: str) -> Steering:
    """Read exactly the options of that kind: what is asked for is never guessed."""
    asked_for = given.get("unknown") or kind
    if asked_for not in KINDS:
        raise BadInput(
            f"{clip(asked_for, 120)!r} is no way to steer: what is asked for in other words is not guessed, and "
            "objective, brief, gates and status of goals are not steered",
            fix=f"omo ultragoal steer --kind KIND --evidence TEXT --rationale TEXT; KIND: {', '.join(KINDS)}",
        )
    options: dict[str, Any] = dict(given)
    for name in IN_JSON:
        if name in options and name in KINDS[kind].model_fields:
            options[name] = documents.of_option(options[name], cwd, f"--{name}-json")
    return validated(KINDS[kind], options, what=f"this {kind}", fix=USAGE.format(kind))


def _rejected(kind: str, given: dict[str, str], error: OmoError) -> PlanRow:
    shown = {name: clip(value, LONGEST_SHOWN) for name, value in given.items()}
    return {
        "kind": "steering_rejected",
        "mutation": clip(kind, 80),
        "goalId": shown.get("goal_id"),
        "reason": clip(error.message, LONGEST_SHOWN),
        "evidence": shown.get("evidence", ""),
        "rationale": shown.get("rationale", ""),
        "payload": {name: value for name, value in shown.items() if name not in OF_EVERY_KIND},
    }
