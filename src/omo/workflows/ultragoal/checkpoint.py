"""A checkpoint: how a goal came out. It is complete only with a gate that passes, and then a receipt says so."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from omo import masking
from omo.clock import seconds, stamp
from omo.errors import NotEvaluable, Refused
from omo.json_text import Json
from omo.proof import artifacts, base, changes
from omo.proof.gate_runs import GateCommand
from omo.text import clip, counted
from omo.work import agents, gates, proving
from omo.work.agents import Review
from omo.work.citations import require_cited
from omo.work.user_pins import hold
from omo.workflows.ultragoal import receipts, reviewers
from omo.workflows.ultragoal.brief import require_text
from omo.workflows.ultragoal.gate.fill import Filled, cleaner_report, fill
from omo.workflows.ultragoal.gate.models import GateDefect
from omo.workflows.ultragoal.gate.proof import LONGEST_NOTE, GateSubject, Inspection, about_the_work
from omo.workflows.ultragoal.gate.rules import NO_CLEANER, inspect
from omo.workflows.ultragoal.goals import SAY_WHAT_WAS_SEEN, start_next
from omo.workflows.ultragoal.next_step import tool_step
from omo.workflows.ultragoal.plan import Goal, Plan
from omo.workflows.ultragoal.rows import PlanRow, Receipt
from omo.workflows.ultragoal.run import PlanRun

MOST_WEAKENED = 20  # in a receipt
# The parts of a gate that no command of the checkpoint can show.
BY_OTHERS = ("architectReview", "executorQa.redTeamStatus", "executorQa.adversarialCases")


@dataclass(frozen=True)
class Done:
    """What a checkpoint did. `changed` is False for a replay of one that already stands."""

    goal: Goal
    changed: bool
    started: str | None = None
    notes: list[str] = field(default_factory=list)


def _require_agreement(run: PlanRun, goal: Goal) -> dict[str, Review]:
    """Return what the reviewers were seen to say. To call a goal complete is to say that they found it clean, so it is
    refused if one of them did not."""
    reviews = reviewers.reviews_of(run, goal)
    contradicted = []
    for agent, review in reviews.items():
        if review.verdict and not review.is_clean:
            said = f"{clip(review.verdict, 40)} was said by {review.message.source}"
            contradicted.append(f"completing {goal.id} says that {agent} found it clean, and {said}")
    if contradicted:
        raise Refused(
            contradicted[0],
            fix="mend what it found and let it review again: on these very files no other word counts; or keep it as "
            f"work: omo ultragoal record-review-blockers --goal-id {goal.id} --objective TEXT --evidence TEXT",
            defects=contradicted,
        )
    return reviews


def _require_passing(
    run: PlanRun, name: str, subject: GateSubject, gate: object, missing: list[GateDefect]
) -> Inspection:
    """Return what a gate that passes rests on. Refused with each defect, or with what is missing of one that omo filled
    in."""
    inspection = Inspection(defects=missing) if missing else inspect(gate, subject)
    if inspection.defects:
        raise Refused(
            f"{name} is not shown yet: its quality gate has {counted(len(inspection.defects), 'defect')}",
            fix="mend them all, then the same again; what a review found wrong with the work itself: omo ultragoal "
            f"record-review-blockers --goal-id {name} --objective TEXT --evidence TEXT; where no agent can review it: "
            f"omo ultragoal gate init --goal-id {name} writes a gate with that left to you, and the receipt says so",
            defects=[str(defect) for defect in inspection.defects],
        )
    return inspection


def stands(run: PlanRun, plan: Plan, goal: Goal, evidence: str, gate: object) -> bool:
    """Return whether the goal was completed with these words and this gate (None: with any), and its receipt still
    holds."""
    receipt = goal.receipt
    if goal.status != "complete" or goal.evidence != masking.mask(evidence):  # as it is kept
        return False
    if gate is not None and receipt.get("qualityGateHash") != receipts.canonical_digest(receipts.as_kept(gate)):
        return False
    if receipt.get("cleaned") is False and cleaner_report(run.caller.events, goal.started_at or ""):
        return False  # the cleaner was left out, and has looked at it since
    return receipts.kind_for(plan, goal) == receipts.PER_GOAL or receipts.final(plan) is not None


def subject_of(run: PlanRun, goal: Goal, gate_file: str = "") -> GateSubject:
    caller, plan = run.caller, run.require_plan()
    # What the project calls control of a computer now, and what it said where the work began.
    control_globs = tuple(dict.fromkeys((*caller.control_globs, *run.base_settings.computer_control)))
    changed = None
    if plan.base and control_globs:  # nothing else asks which files changed
        with contextlib.suppress(NotEvaluable):
            changed = changes.changed(Path(caller.root), plan.base)
    return GateSubject(
        root=Path(caller.root),
        state=caller.state,
        goal=f"ultragoal/{plan.run}/{goal.id}",
        started_at=seconds(goal.started_at or plan.started_at),
        changed=changed,
        control_globs=control_globs,
        name=goal.id,
        head=plan.base,
        gates=gates.of_caller(run.caller),
        gate_file=gate_file,
        is_final=receipts.kind_for(plan, goal) == receipts.FINAL,
        has_request=receipts.is_last(plan, goal) and bool(reviewers.requests_of(run, plan)),
    )


def filled_gate(run: PlanRun, goal: Goal) -> Filled:
    """Return the gate of a goal as far as omo can fill it in now."""
    subject = subject_of(run, goal)
    return fill(goal, subject, reviewers.reviews_of(run, goal), run.caller.events)


def missing_parts(run: PlanRun, goal: Goal) -> list[str]:
    """Return what a checkpoint would lack that it does not bring about itself: cleaner, reviewers, an attack."""
    parts = [] if cleaner_report(run.caller.events, goal.started_at or "") else [NO_CLEANER]
    return parts + [str(defect) for defect in filled_gate(run, goal).missing if defect.path in BY_OTHERS]


def complete(
    run: PlanRun,
    name: str,
    evidence: str,
    *,
    rerun: Callable[[GateSubject, Collection[str]], str],
    goal_json: object = None,
    gate: object = None,
    gate_file: str = "",
) -> Done:
    """Close a goal. Every refusal comes before the first row of the plan. `gate_file` is where in the project the gate
    was read from.

    A gate that is not given is filled in, after `rerun` has run the session's gates and the caller's command; that
    answers why the command shows nothing.
    """
    evidence = require_text("--evidence", evidence, SAY_WHAT_WAS_SEEN)
    plan = run.require_plan()
    goal = plan.goal(name)
    require_cited(run.caller, "--evidence", [evidence])
    plan.require(name, "complete")
    if step := tool_step(run, plan, goal):
        raise Refused(f"{goal.id} cannot be completed: {step.why}", fix=step.command)
    plan.tool.require_same(goal_json)
    if stands(run, plan, goal, evidence, gate):
        run.change_plan(lambda plan: (None, []))
        return Done(goal, changed=False)
    reviewed = _require_agreement(run, goal)  # before replays, which may write files
    held = hold(run.caller, is_last=receipts.is_last(plan, goal))
    subject = subject_of(run, goal, gate_file)
    missing: list[GateDefect] = []
    if gate is None:
        problem = rerun(subject, held.settled)
        run.caller.forget()
        subject = subject_of(run, goal, gate_file)
        # What was run here may have changed the work, and then nobody has reviewed it.
        for agent, review in reviewers.reviews_of(run, goal).items():
            reviewed[agent] = review.without(gates.of_caller(run.caller).left_out)
        filled = fill(goal, subject, reviewed, run.caller.events, evidence, problem)
        gate, missing = filled.document, filled.missing
    inspection = _require_passing(run, name, subject, gate, missing)
    registered = {}
    for path in inspection.cited:
        artifact = artifacts.register(run.caller, path, goal=subject.goal, started_at=subject.started_at)
        registered[artifact.path] = artifact.digest
    reviews = {}
    for agent, review in reviewed.items():
        # The gate and what it cites are written after the review that they tell of.
        written_after = about_the_work(run.caller.root, review.message.files, review.changed or (), registered)
        reviews[agent] = review.without({gate_file, *written_after})
    facts = _facts(run, subject, reviews, inspection, registered)
    facts["letThrough"] = list(held.exceptions)
    started = _close(run, name, evidence, receipts.as_kept(gate), facts)
    return Done(run.require_plan().goal(name), True, started, inspection.notes)


def _close(run: PlanRun, name: str, evidence: str, gate: Json, facts: Receipt) -> str | None:
    """Issue the receipt and start the next goal, in one change. Return the name of that goal."""
    now = stamp(run.caller.now)

    def decide(plan: Plan) -> tuple[str | None, list[PlanRow]]:
        goal = plan.goal(name)
        plan.require(name, "complete")
        closed: PlanRow = {
            "kind": "goal_checkpointed",
            "goalId": name,
            "status": "complete",
            "evidence": evidence,
            "qualityGateJson": gate,
            "completionVerification": receipts.mint(plan, goal, gate=gate, now=now, facts=facts),
        }
        plan.read_row({**closed, "ts": now})
        following = [] if plan.active is not None else start_next(plan)
        return (following[0]["goalId"] if following else None), [closed, *following]

    started = run.change_plan(decide)
    if started:
        artifacts.remember(run.caller)
    return started


def _facts(
    run: PlanRun, subject: GateSubject, reviews: dict[str, Review], inspection: Inspection, registered: dict[str, str]
) -> Receipt:
    """Return what the receipt notes besides the gate: what reviewers were seen to say, what was waived, what it looked
    at, and why commands that omo ran for it, or as gates of the session, need not mean what they did before."""
    commands: list[GateCommand] = list(inspection.commands)
    commands += [gate for gate in subject.gates or () if gate.last is not None]
    weakened: list[str] = []
    allowed: list[str] = []
    began = run.require_plan().started.get("files")
    if commands and began:
        examined = proving.subject_of(run.caller, began, gates.of_caller(run.caller))
        if examined.look.changed != {}:
            weakened = proving.doubts(examined, commands)
        allowed = proving.allowed_notes(examined)
    return {
        "independence": agents.independence_of_reviews(reviews, reviewers.INDEPENDENT),
        "agents": reviewers.render(reviews),
        "cleaned": inspection.has_cleaner,
        "exemptions": inspection.exemptions,
        "artifacts": registered,
        "weakened": weakened[:MOST_WEAKENED],
        "allowed": allowed,
        "notes": [clip(note, LONGEST_NOTE) for note in inspection.notes],
        "tree": base.fingerprint(run.caller.root),
        "by": run.caller.by,
    }
