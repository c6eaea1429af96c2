"""A plan as its ledger tells it: goals in order, what may follow for each, and which receipt closed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from omo.engine.case import Case, CaseItem, CaseRow, ItemResult
from omo.errors import BadInput
from omo.json_text import Json
from omo.text import clip, counted, listed
from omo.work.agents import FULL
from omo.work.outcome import ITS_LEDGER, damaged, exception
from omo.work.run import require_objects
from omo.workflows.ultragoal import session_goal
from omo.workflows.ultragoal.rows import NO_RECEIPT, NO_ROW, Handoff, PlanRow, Receipt, Wording
from omo.workflows.ultragoal.session_goal import LEADS_TO, NO_GOAL, ToolGoal

if TYPE_CHECKING:
    from omo.engine.runs import CaseRun
    from omo.state.rows import LetThrough, Outcome
    from omo.work.status import NextStep, Status
    from omo.work.viewer import Viewer


VERSION = 1
LONGEST = 120
MOST_NAMED = 10
MODES = ("aggregate", "per-story")
NOT_REVIEWED = "not reviewed independently"
HANDOFF = "handoff"  # the phase of a plan that is marked for another workflow, or was given to it
STUCK = ("blocked", "review_blocked")
# The ways to steer, and what each says of the row it left.
STEERING = {
    "add_subgoal": "Added {goals}",
    "split_subgoal": "{goalId} is superseded by {goals}",
    "reorder_pending": "Pending goals in order: {order}",
    "revise_pending_wording": "{goalId} has a new {fields}; the first wording stays on record",
    "annotate_ledger": "Noted in the ledger; no goal changed",
    "mark_blocked_superseded": "{goalId} is superseded without a replacement",
}
POINTER = (
    "Complete every goal of this session's ultragoal plan (its goals.json), goals accepted later included, under the "
    "constraints of its brief; its ledger.jsonl is the record."
)

CLASSIFY = "omo ultragoal classify-blocker --classification human_blocked"
TELL = "Tell the agent when that is done."


@dataclass
class Goal:
    """One goal as the ledger has it: an item of the plan, and what its own rows say of it."""

    plan: Plan = field(repr=False, compare=False)
    id: str
    created_at: str
    updated_at: str
    receipt: Receipt = field(default_factory=lambda: NO_RECEIPT)  # empty while none closed it
    gate: Json = field(default_factory=dict)  # that its receipt was issued for
    started_at: str | None = None
    completed_at: str | None = None
    evidence: str = ""
    human_blocked: str = ""  # what only a person can do, in the agent's words; empty when nothing waits for one

    @property
    def status(self) -> str:
        return self.plan.marks[self.id].status

    @property
    def item(self) -> CaseItem:
        return next(item for item in self.plan.items if item.id == self.id)

    @property
    def title(self) -> str:
        return self.item.description

    @property
    def objective(self) -> str:
        return self.item.text

    @property
    def steering(self) -> Json:
        """Where it came from or went: split, blocker, superseded, reworded."""
        return self.item.form

    @property
    def wording(self) -> Wording:
        return {"title": self.title, "objective": self.objective}

    @property
    def is_required(self) -> bool:
        return self.status != "superseded"

    @property
    def is_closed(self) -> bool:
        """Whether nothing is left to do: another goal took its place, or a receipt of ours says it is complete."""
        return self.status in ("complete", "superseded")

    @property
    def receipt_id(self) -> str | None:
        return self.receipt.get("receiptId")

    @property
    def blocks(self) -> str | None:
        """The goal whose review this one has to satisfy, where it is such a one."""
        return self.steering.get("blockedGoalId")

    @property
    def exceptions(self) -> list[LetThrough]:
        """What the agent let go of it as it was made, what of its evidence was not run again, and which pins of theirs
        the user let through."""
        exceptions = []
        if self.steering.get("by") == "agent":
            first = self.steering.get("firstWording")
            rationale = clip(str(self.steering.get("rationale") or "no reason given"), LONGEST)
            if self.status == "superseded" and self.steering.get("noReplacementRequired"):
                exceptions.append(exception(f"{self.id} was dropped: {clip(self.title, 80)}", "agent", rationale))
            elif self.is_required and first and first != self.wording:
                what = f"{self.id} was reworded: {_in_words(first)} became {_in_words(self.wording)}"
                exceptions.append(exception(what, "agent", rationale))
        for exempted in self.receipt.get("exemptions") or []:
            what = f"{self.id}: {exempted.get('artifact')} was not run again ({exempted.get('reasonCode')})"
            why = f"{str(exempted.get('reason')).rstrip('. ')}, approved by {exempted.get('approvedBy')}"
            exceptions.append(exception(what, str(self.receipt.get("by")), clip(why, LONGEST)))
        return exceptions + (self.receipt.get("letThrough") or [])

    @property
    def waits_in_words(self) -> str:
        return f"waits for a person: {clip(self.human_blocked, 160)}"

    @property
    def overrides(self) -> list[str]:
        """What its receipt was issued without."""
        overrides = []
        if self.receipt and self.receipt.get("independence") != FULL:
            overrides.append(NOT_REVIEWED)
        if exempted := self.receipt.get("exemptions"):
            overrides.append(f"{counted(len(exempted), 'replay')} exempted")
        return overrides


def _in_words(wording: Wording) -> str:
    return f"{clip(str(wording['title']), 60)!r} ({clip(str(wording['objective']), 80)})"


@dataclass
class Plan(Case):
    """A plan as its rows tell it: a case whose items are goals. `by_id` has what is known of each goal."""

    by_id: dict[str, Goal] = field(default_factory=dict)
    updated_at: str = ""
    last: PlanRow = field(default_factory=NO_ROW.copy)  # of the plan itself, not of the session's goal
    tool: ToolGoal = NO_GOAL  # the session's goal
    handoff: Handoff | None = None  # by whom, and to which workflow; None while it is worked on here
    let_through: list[LetThrough] = field(default_factory=list)  # handoffs by the agent, damage of its ledger

    @property
    def created(self) -> PlanRow:
        return cast("PlanRow", self.started)

    @property
    def constraints(self) -> str:
        return self.created["constraints"]

    @property
    def goal_mode(self) -> str:
        return self.created["goalMode"]

    @property
    def objective(self) -> str:
        return self.created["objective"]

    @property
    def requests(self) -> list[str]:
        """What the user asked for, as a hook heard them type it."""
        return self.created.get("requests") or []

    @property
    def is_open(self) -> bool:
        return bool(self.open_goals)

    @property
    def outcome(self) -> Outcome | None:
        """How it ended, once no goal is open."""
        return self.ended["outcome"] if self.ended is not None else None

    @property
    def goals(self) -> list[Goal]:
        return [self.by_id[item.id] for item in self.items]

    def goal(self, name: str) -> Goal:
        if name in self.by_id:
            return self.by_id[name]
        there = ", ".join(goal.id for goal in self.goals)
        raise BadInput(f"there is no goal {name!r} in this plan", fix=f"there are {there} (omo ultragoal status)")

    @property
    def required(self) -> list[Goal]:
        return [goal for goal in self.goals if goal.is_required]

    @property
    def open_goals(self) -> list[Goal]:
        return [goal for goal in self.goals if not goal.is_closed]

    @property
    def active(self) -> Goal | None:
        return self.first("active")

    def first(self, *statuses: str) -> Goal | None:
        return next((goal for goal in self.goals if goal.status in statuses), None)

    def open_blockers_of(self, name: str) -> list[Goal]:
        return [goal for goal in self.open_goals if goal.blocks == name]

    @property
    def resolved(self) -> Goal | None:
        """Return a goal whose review is satisfied: it is shown anew, by its own gate, before another is begun."""
        for goal in self.goals:
            if goal.status == "review_blocked" and not self.open_blockers_of(goal.id) and not goal.human_blocked:
                return goal
        return None

    @property
    def to_retry(self) -> list[Goal]:
        """Return the blocked goals that can be tried again, those that wait for a person last. One whose review is open
        waits for the goals that resolve it."""
        stuck = [goal for goal in self.goals if goal.status in STUCK and not self.open_blockers_of(goal.id)]
        return sorted(stuck, key=lambda goal: bool(goal.human_blocked))

    def objectives_of(self, goal: Goal | None) -> list[str]:
        """Return what the session's goal may say while this goal is worked on."""
        own = [goal.objective] if goal is not None and self.goal_mode == "per-story" else []
        return [*own, self.objective]

    def story_with(self, objective: str) -> Goal | None:
        """Return the goal whose own objective the session's goal carries, in a plan that goes story by story."""
        if self.goal_mode == "per-story":
            for goal in [*self.required, *self.goals]:
                if goal.objective == objective:
                    return goal
        return None

    def knows(self, objective: str) -> bool:
        """Return whether the session's goal is the plan's, or that of one of its stories."""
        return objective == self.objective or self.story_with(objective) is not None

    def background(self, goal: Goal) -> list[str]:
        """Return what is known of a goal before it is worked on: why it came to be, and what went wrong before."""
        known = []
        steering = goal.steering
        if goal.blocks:
            known.append(f"it resolves the review of {goal.blocks}: {self.goal(goal.blocks).evidence}")
        if steering.get("sourceGoalId"):
            known.append(f"it is a part of {steering['sourceGoalId']}")
        if goal.evidence:
            known.append(f"last time: {goal.evidence}")
        return known

    def text_of(self, item: CaseItem) -> str:
        """Return all that one has to know to work on a goal."""
        lines = [item.text]
        if self.constraints:
            lines += ["", "Constraints of the whole plan:", self.constraints]
        if known := self.background(self.by_id[item.id]):
            lines += ["", *(f"Background: {clip(fact, 400)}" for fact in known)]
        return "\n".join(lines)

    @property
    def exceptions(self) -> list[LetThrough]:
        """What was let through without its proof, of the plan and of each goal."""
        exceptions = list(self.let_through)
        uncleaned = [goal.id for goal in self.required if goal.receipt.get("cleaned") is False]
        if uncleaned:
            what = f"no cleaner looked at {listed(uncleaned, MOST_NAMED)}"
            why = "its report belongs to the gate of every goal, and was left out"
            exceptions.append(exception(what, "agent", why))
        for goal in self.goals:
            exceptions += goal.exceptions
        return exceptions

    @property
    def handoff_in_words(self) -> str:
        if self.handoff is None:
            return ""
        to = f"handed off to {self.handoff['to']}" if self.handoff["to"] else "marked ready for handoff"
        return f"{to} by the {self.handoff['by']}"

    @property
    def phase(self) -> str:
        """Return the phase; the first that fits."""
        if self.handoff is not None:
            return HANDOFF
        if not self.is_open:
            return "complete"
        statuses = {goal.status for goal in self.open_goals}
        for phase in ("active", "pending", "failed"):
            if phase in statuses:
                return phase
        return "blocked"

    # What its rows say

    def read_row(self, row: PlanRow) -> None:
        """Read what a row says of goals, of the session's goal and of handoffs."""
        kind = row["kind"]
        match kind:
            case "plan_created":
                self._know(row, [item.id for item in self.items])
            case "goal_started":
                goal = self._touch(row, "active")
                goal.started_at = goal.started_at or row["ts"]
            case "goal_checkpointed":
                self._checkpoint(row)
            case "steering_accepted":
                self._steer(row)
            case "review_blockers_recorded":
                if row.get("goalId"):
                    self._touch(row, "review_blocked").evidence = row["evidence"]
                self._add(row)
            case "blocker_classified":  # for one goal, or for whatever is under way or stuck
                waits_for = row["evidence"] if row["classification"] == "human_blocked" else ""
                name = row.get("goalId")
                for goal in self.goals:
                    if goal.id == name or (not name and goal.status in ("active", *STUCK)):
                        goal.human_blocked = waits_for
            case "reopened":
                if self.tool.status == "complete":  # with the plan
                    self.tool = replace(self.tool, status="active", updated_at=row["ts"])
            case "handoff_marked" | "handed_off":
                self._hand_off(row)
            case "taken_up":
                self.handoff = None
            case "repaired":
                self.let_through.append(damaged(ITS_LEDGER, row))
        if kind == "goal_created":
            self.ended = None
        if kind in LEADS_TO:
            self.tool = NO_GOAL if kind == "goal_dropped" else session_goal.after(self.tool, row)
            if kind == "goal_resumed" and self.active is not None:
                self.active.human_blocked = ""  # whoever goes on with what is under way waits for nobody
        if kind not in LEADS_TO or kind == "goal_resumed":  # after which no blocker is the latest word
            self.last = row

    def _know(self, row: PlanRow, names: Sequence[str]) -> None:
        self.by_id |= {name: Goal(self, name, row["ts"], row["ts"]) for name in names}
        self.updated_at = row["ts"]

    def _touch(self, row: PlanRow, status: str = "") -> Goal:
        """Return the goal that a row names. With another status it has no receipt, and waits for nobody."""
        goal = self.goal(str(row["goalId"]))
        goal.updated_at = self.updated_at = row["ts"]
        if status:
            self.move(goal.id, status)
            goal.receipt, goal.gate, goal.completed_at = NO_RECEIPT, {}, None
            if status != "blocked":  # what only a person can do stays so, whichever was recorded first
                goal.human_blocked = ""
        return goal

    def _checkpoint(self, row: PlanRow) -> None:
        goal = self._touch(row, row["status"])
        goal.evidence = row["evidence"]
        if goal.status == "complete":  # which nothing is without a receipt
            require_objects(row["qualityGateJson"])
            goal.receipt, goal.gate = row["completionVerification"].copy(), row["qualityGateJson"]
            goal.completed_at = row["ts"]

    def _add(self, row: PlanRow, after: str = "") -> None:
        items = []
        for new in row["goals"]:
            items.append(CaseItem(new["id"], new["title"], [], text=new["objective"], form=new.get("steering") or {}))
        self.add(items, after)
        self._know(row, [item.id for item in items])

    def _steer(self, row: PlanRow) -> None:
        # What is kept with a goal that was steered. A blocker stays one, so its own kind is kept.
        reasons: Json = {name: row[name] for name in ("mutation", "evidence", "rationale")}
        reasons["by"] = row.get("actor")
        match row["mutation"]:
            case "add_subgoal":
                self._add(row)
            case "split_subgoal" | "mark_blocked_superseded":
                goal = self._touch(row, "superseded")
                reasons["noReplacementRequired"] = True
                if row["mutation"] == "split_subgoal":
                    del reasons["noReplacementRequired"]
                    reasons["replacementGoalIds"] = [new["id"] for new in row["goals"]]
                    self._add(row, goal.id)
                self.reword(goal.id, form={**goal.steering, **reasons})
            case "reorder_pending":  # only the places of pending goals are dealt out anew
                self.reorder(row["pendingGoalIds"])
            case "revise_pending_wording":
                goal = self._touch(row)
                require_objects(row.get("previous"))
                reasons["changedFields"] = row["changedFields"]
                reasons["firstWording"] = goal.steering.get("firstWording", row.get("previous"))
                words = {"description": row.get("title", goal.title), "text": row.get("objective", goal.objective)}
                self.reword(goal.id, **words, form={**goal.steering, **reasons})

    def _hand_off(self, row: PlanRow) -> None:
        by = str(row.get("actor"))
        if by == "agent" and self.handoff is None and self.is_open:
            what = f"the plan was handed off with {counted(len(self.open_goals), 'open goal')}"
            self.let_through.append(exception(what, by, "and then taken up again"))
        self.handoff = {"by": by, "to": row.get("to")}

    # What the engine asks

    @property
    def waits(self) -> CaseRow | None:
        """A plan rests while it is handed off, while the session's goal is paused, and while all waits for a person."""
        if not self.is_open:
            return None
        if self.handoff is not None:
            return {"why": self.handoff_in_words, "question": "Go on with planning?", "pauses": True}
        if self.tool.status == "paused":
            why = self.tool.why or "the session's goal is paused"
            return {"why": why, "question": TELL, "pauses": True}
        if goal := self.waits_for_person:
            return {"why": f"{goal.id} {goal.waits_in_words}", "question": TELL}
        return None

    @property
    def waits_for_person(self) -> Goal | None:
        """Return the goal that is next if all that is left waits for somebody."""
        is_left = self.resolved is not None or self.first("active", "pending", "failed") is not None
        goal = next(iter(self.to_retry), None)
        return goal if goal is not None and goal.human_blocked and not is_left else None

    def receipt_of(self, name: str) -> Json:
        return {**self.by_id[name].receipt}

    def last_result(self, item: str) -> ItemResult:
        goal = self.by_id[item]
        return {"notes": self.notes_of(goal), "overrides": goal.overrides}

    def notes_of(self, goal: Goal) -> list[str]:
        """Return what views show beside a goal."""
        notes = [clip(str(note), 200) for note in goal.receipt.get("notes", [])]
        if goal.human_blocked:
            notes.append(goal.waits_in_words)
        elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
            notes.append(clip(goal.evidence, 160))
        if goal.status == "superseded":
            replacements = goal.steering.get("replacementGoalIds")
            notes.append(f"replaced by {', '.join(replacements)}" if replacements else "nothing took its place")
        if blockers := self.open_blockers_of(goal.id):
            notes.append(f"blocked by {', '.join(blocker.id for blocker in blockers)}")
        return notes

    def shown(self, status: Status, viewer: Viewer) -> Status:
        from omo.workflows.ultragoal import status as views

        return views.shown(self, status, viewer)

    def next_step(self, run: CaseRun) -> NextStep:
        from omo.workflows.ultragoal import next_step  # which leans on receipts, and those on plans

        return next_step.next_step(run)

    @property
    def is_human_blocked(self) -> bool:
        """The latest row says that only a person can go on."""
        return self.last.get("kind") == "blocker_classified" and self.last.get("classification") == "human_blocked"

    @property
    def tally(self) -> str:
        """Say in one line what became of it: complete of all there ever were, superseded, reworded."""
        complete = sum(goal.status == "complete" for goal in self.goals)
        return ", ".join([f"{complete} of {counted(len(self.goals), 'goal')} complete", *self.steered])

    @property
    def steered(self) -> list[str]:
        superseded = [goal for goal in self.goals if goal.status == "superseded"]
        dropped = sum(bool(goal.steering.get("noReplacementRequired")) for goal in superseded)
        reworded = sum("firstWording" in goal.steering for goal in self.goals)
        parts = []
        if superseded:
            without = f" ({dropped} without a replacement)" if dropped else ""
            parts.append(f"{len(superseded)} superseded{without}")
        if reworded:
            parts.append(f"{reworded} reworded")
        return parts


def new_ids(goals: Sequence[Goal], count: int) -> list[str]:
    """Return new ids. Goals are never deleted, so their number never repeats an id."""
    highest = max((int(goal.id[1:]) for goal in goals), default=0)
    return [f"G{highest + offset:03}" for offset in range(1, count + 1)]


def render(plan: Plan) -> dict[str, Any]:
    """Return what goals.json shows. People and other tools read it; omo itself folds the ledger."""
    return {
        "version": VERSION,
        "run": plan.run,
        "session": plan.session,
        "brief": plan.created["brief"],
        "constraints": plan.constraints,
        "goalMode": plan.goal_mode,
        "objective": plan.objective,
        "repository": {"root": plan.root, "git": plan.created["git"], "base": plan.base},
        "createdAt": plan.started_at,
        "updatedAt": plan.updated_at,
        "goals": [render_goal(goal) for goal in plan.goals],
    }


def render_goal(goal: Goal) -> dict[str, Any]:
    shown = {
        "id": goal.id,
        "title": goal.title,
        "objective": goal.objective,
        "status": goal.status,
        "createdAt": goal.created_at,
        "updatedAt": goal.updated_at,
        "startedAt": goal.started_at,
        "completedAt": goal.completed_at,
        "evidence": goal.evidence,
        "steering": goal.steering,
        "humanBlocked": goal.human_blocked,
        "completionVerification": goal.receipt,
    }
    return {name: value for name, value in shown.items() if value not in (None, "", {})}
