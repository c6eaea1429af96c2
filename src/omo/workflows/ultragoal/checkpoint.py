"""Goals on their way: handed out, blocked, and closed by a checkpoint, which needs a gate that passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.clock import seconds, stamp
from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import artifacts, changes, tree
from omo.proof.gate_runs import Command
from omo.text import clip, counted
from omo.work import agents, proving
from omo.work.agents import Review
from omo.work.citations import require_cited
from omo.workflows.ultragoal import goal_tool, receipts, reviewers
from omo.workflows.ultragoal.create import LONGEST_OBJECTIVE, LONGEST_TITLE, same_words, text_defects, title_of
from omo.workflows.ultragoal.gate.fill import Filled, cleaner_report
from omo.workflows.ultragoal.gate.proof import LONGEST_NOTE, Inspection, Subject, about_the_work
from omo.workflows.ultragoal.gate.rules import NO_CLEANER, inspect
from omo.workflows.ultragoal.plan import LIGHT, Goal, Plan, applied
from omo.workflows.ultragoal.run import PlanRun, gates_of
from omo.workflows.ultrawork.pins import hold

Row = dict[str, Any]

SHORTEST_BLOCKER = 10
MOST_OPEN_BLOCKERS = 3
MOST_WEAKENED = 20  # in a receipt
# Of a gate what no command of the checkpoint can show.
BY_OTHERS = ("architectReview", "executorQa.redTeamStatus", "executorQa.adversarialCases")


def hand_out(run: PlanRun, *, retry_failed: bool = False, retry_blocked: bool = False) -> bool:
    """Start the next pending goal, else what the caller asks to be tried again; False where one is under way already,
    or nothing can be started."""

    def decide(plan: Plan) -> tuple[bool, list[Row]]:
        if plan.active is not None:
            return False, []
        events = _start_next(plan, retry_failed=retry_failed, retry_blocked=retry_blocked)
        if events:
            artifacts.list_artifacts(run.caller.state)  # refused with its own remedy where that ledger is damaged
        return bool(events), events

    started: bool = run.change_plan(decide)
    if started:
        _remember_files(run)
    return started


def _start_next(plan: Plan, *, retry_failed: bool = False, retry_blocked: bool = False) -> list[Row]:
    """The row that starts the next goal; none where nothing can be started."""
    goal, what = plan.resolved, "retry"
    if goal is None:
        goal, what = plan.first("pending"), "start"
    if goal is None and retry_failed:
        goal, what = plan.first("failed"), "retry"
    if goal is None and retry_blocked:
        goal, what = next(iter(plan.stuck), None), "retry"
    if goal is None:
        return []
    goal.move(what)
    return [{"kind": "goal_started", "goalId": goal.id}]


def _remember_files(run: PlanRun) -> None:
    """What lies in the tree when a goal begins cannot become evidence for it by a touch."""
    caller = run.caller
    artifacts.remember(caller.state, Path(caller.root), by=caller.by, now=caller.now, wait=caller.wait)


@dataclass(frozen=True)
class Done:
    """What a checkpoint did. `changed` is False for a replay of one that already stands."""

    goal: Goal
    changed: bool
    started: str | None = None
    notes: list[str] = field(default_factory=list)
    is_progress: bool = False


def checkpoint(
    run: PlanRun,
    name: str,
    *,
    status: str,
    evidence: str,
    goal_json: object,
    gate: object,
    gate_file: str = "",
    rerun: Callable[[Subject, Collection[str]], None] | None = None,
) -> Done:
    """Every refusal comes before the first row of the plan. `gate_file` is where in the project the gate was read from.

    Without a gate it is filled in, after `rerun` has run what the session's gates and the caller want to show.
    """
    if defects := text_defects("--evidence", evidence):
        fix = "say in a few sentences what was seen; keep long output in files and name them"
        raise BadInput(defects[0], fix=fix, defects=defects)
    text = evidence.strip()
    goal = run.require_plan().goal(name)
    if status == "complete":
        require_cited(run.caller, "--evidence", [text])
        return _complete(run, name, text, goal_json, gate, gate_file, rerun)
    if gate is not None:
        raise BadInput(f"--quality-gate-json belongs to --status complete, not {status}", fix="leave it out")
    if goal_json is not None:
        goal_tool.check_passed(run, goal, goal_json, status=status)

    def decide(plan: Plan) -> tuple[bool, list[Row]]:
        goal = plan.goal(name)
        if (goal.status, goal.evidence) == (status, text):
            return False, []
        goal.move(status, active=plan.active)
        return True, [{"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": text}]

    changed: bool = run.change_plan(decide)
    return Done(run.require_plan().goal(name), changed)


def _require_agreement(run: PlanRun, goal: Goal) -> dict[str, Review]:
    """What the reviewers were seen to say. Whoever calls a goal complete calls them clean, and they may not differ."""
    reviews = reviewers.reviews_of(run, goal)
    agents.require_agreement(
        reviews,
        {agent: f"completing {goal.id} says that {agent} found it clean" for agent in reviewers.INDEPENDENT},
        fix="mend what it found and let it review again: on these very files no other word counts; or keep it as work: "
        f"omo ultragoal record-review-blockers --goal-id {goal.id} --objective TEXT --evidence TEXT",
    )
    return reviews


def _require_passing(
    run: PlanRun, name: str, subject: Subject, gate: object, filled: Filled | None = None
) -> Inspection:
    """`filled` is what omo could fill in of the gate, and what it lacks."""
    artifacts.list_artifacts(run.caller.state)  # refused with its own remedy where that ledger is damaged
    if problem := receipts.evidence_problem(run.caller.state, run.rows):
        raise Refused(f"evidence: {problem}", fix=artifacts.REPAIR)
    if filled is not None and filled.missing:
        are = "is" if len(filled.missing) == 1 else "are"
        unreviewed = (
            f"where no agent can review it: omo ultragoal gate init --goal-id {name} writes the gate with those parts "
            "left to you, and the receipt says so"
        )
        raise Refused(
            f"{name} is not shown yet: {counted(len(filled.missing), 'part')} of its quality gate {are} missing",
            fix=f"then the same again; {filled.way_out or unreviewed}",
            defects=[str(defect) for defect in filled.missing],
        )
    inspection = inspect(gate, subject)
    if inspection.defects:
        raise Refused(
            f"the quality gate of {name} does not pass: {counted(len(inspection.defects), 'defect')}",
            fix="mend them all, then the same again; what the review found wrong with the work itself: "
            f"omo ultragoal record-review-blockers --goal-id {name} --objective TEXT --evidence TEXT",
            defects=[str(defect) for defect in inspection.defects],
        )
    return inspection


def stands(run: PlanRun, plan: Plan, goal: Goal, evidence: str, gate: object) -> bool:
    """The same words and the same gate (None: whichever it was), and its receipt still holds: nothing to do."""
    receipt = goal.receipt or {}
    if goal.status != "complete" or goal.evidence != evidence:
        return False
    if gate is not None and receipt.get("qualityGateHash") != receipts.canonical_digest(gate):
        return False
    if receipts.problem(plan, goal, run.directory):
        return False
    if receipt.get("cleaned") is False and cleaner_report(run.caller.events, goal.started_at or ""):
        return False  # the cleaner was left out, and has looked at it since
    return receipts.kind_for(plan, goal) == receipts.PER_GOAL or receipts.final(plan, run.directory) is not None


def subject_of(run: PlanRun, plan: Plan, goal: Goal, gate_file: str = "") -> Subject:
    caller = run.caller
    # What the project calls control of a computer now, and what it said where the work began.
    control_globs = tuple(dict.fromkeys((*caller.control_globs, *run.base_settings.computer_control)))
    changed = None
    if plan.base and control_globs:  # nothing else asks which files changed
        with contextlib.suppress(NotEvaluable):
            changed = changes.changed(Path(caller.root), plan.base)
    is_final = receipts.kind_for(plan, goal) == receipts.FINAL
    return Subject(
        root=Path(caller.root),
        state=caller.state,
        goal=f"ultragoal/{plan.run}/{goal.id}",
        started_at=seconds(goal.started_at or plan.created_at),
        changed=changed,
        control_globs=control_globs,
        used=receipts.used(run.rows, goal.id),
        name=goal.id,
        head=plan.base,
        gates=gates_of(run),
        gate_file=gate_file,
        is_light=receipts.gate_for(plan, goal) == LIGHT,
        is_final=is_final,
        has_request=receipts.is_last(plan, goal) and bool(reviewers.requests_of(run, plan)),
        unreviewed=receipts.unreviewed(plan) if is_final else (),
    )


def missing_parts(run: PlanRun, plan: Plan, goal: Goal) -> list[str]:
    """What a checkpoint would lack that it does not bring about itself: the cleaner, the reviewers, an attack."""
    subject = subject_of(run, plan, goal)
    filled = Filled(goal, subject, reviewers.reviews_of(run, goal), run.caller.events)
    parts = [] if filled.has_cleaner or subject.is_light else [NO_CLEANER]
    return parts + [str(defect) for defect in filled.missing if defect.path in BY_OTHERS]


def _complete(
    run: PlanRun,
    name: str,
    evidence: str,
    goal_json: object,
    gate: object,
    gate_file: str,
    rerun: Callable[[Subject, Collection[str]], None] | None,
) -> Done:
    plan = run.require_plan()
    goal = plan.goal(name)
    goal.move("complete", active=plan.active)
    goal_tool.check_passed(run, goal, goal_json, status="complete")
    if stands(run, plan, goal, evidence, gate):
        run.change_plan(lambda plan: (None, []))
        return Done(goal, changed=False)
    subject = subject_of(run, plan, goal, gate_file)
    reviewed = _require_agreement(run, goal)  # before replays, which may write files
    held = hold(run.caller, is_last=receipts.is_last(plan, goal))
    filled = None
    if gate is None:
        if rerun is not None:
            rerun(subject_of(run, plan, goal, gate_file), held.settled)
            run.caller.forget()
            subject = subject_of(run, plan, goal, gate_file)
            # What was run here may have changed the work, and then nobody has reviewed it.
            for agent, review in reviewers.reviews_of(run, goal).items():
                reviewed[agent] = review.without(gates_of(run).left_out)
        filled = Filled(goal, subject, reviewed, run.caller.events, evidence)
        gate = filled.document
    inspection = _require_passing(run, name, subject, gate, filled)
    registered = _register(run, subject, inspection.cited)
    reviews = {}
    for agent, review in reviewed.items():
        # The gate and what it cites are written after the review that they tell of.
        written_after = about_the_work(run.caller.root, review.message.files, review.changed or (), registered)
        reviews[agent] = review.without({gate_file, *written_after})
    facts = _facts(run, subject, reviews, inspection, registered)
    facts["letThrough"] = list(held.exceptions)
    digest = receipts.keep_gate(run.directory, run.caller.state, gate)
    # A goal that a review opened again and that is closed once more has given the budget back already.
    is_progress = not any(row.get("goalId") == name and row.get("status") == "complete" for row in run.rows)
    started = _close(run, name, evidence, subject, digest, facts)
    return Done(run.require_plan().goal(name), True, started, inspection.notes, is_progress)


def _close(run: PlanRun, name: str, evidence: str, subject: Subject, gate: str, facts: Row) -> str | None:
    """Issue the receipt and start the next goal, in one change; the answer is that goal."""
    now = stamp(run.caller.now)

    def decide(plan: Plan) -> tuple[str | None, list[Row]]:
        goal = plan.goal(name)
        goal.move("complete")
        if subject.is_light and receipts.gate_for(plan, goal) != LIGHT:
            raise Refused(f"the plan changed while {name} was looked at", fix="the same again")
        closed = {
            "kind": "goal_checkpointed",
            "goalId": name,
            "status": "complete",
            "evidence": evidence,
            "qualityGateHash": gate,
            "completionVerification": receipts.mint(plan, goal, gate=gate, now=now, facts=facts),
        }
        after = applied(plan, {**closed, "ts": now})
        following = [] if after.active is not None else _start_next(after)
        return (following[0]["goalId"] if following else None), [closed, *following]

    started: str | None = run.change_plan(decide)
    if started:
        _remember_files(run)
    return started


def _register(run: PlanRun, subject: Subject, cited: list[str]) -> Row:
    registered = {}
    caller = run.caller
    for path in cited:
        artifact = artifacts.register(
            caller.state,
            caller.root,
            path,
            goal=subject.goal,
            started_at=subject.started_at,
            spent=receipts.used_files(subject.used),
            by=caller.by,
            now=caller.now,
            wait=caller.wait,
        )
        registered[artifact.path] = artifact.digest
    return registered


def _facts(run: PlanRun, subject: Subject, reviews: dict[str, Review], inspection: Inspection, registered: Row) -> Row:
    """What the receipt notes besides the gate: what reviewers were seen to say, what was waived, what it looked at, and
    why commands that omo ran for it, or as gates of the session, need not mean what they did before."""
    commands: list[Command] = list(inspection.commands)
    commands += [gate for gate in subject.gates or () if gate.last is not None]
    weakened: list[str] = []
    allowed: list[str] = []
    began = run.require_plan().repository.get("files")
    if commands and began:
        examined = proving.subject_of(run.caller, began, gates_of(run).allowed_changes)
        if examined.look.changed != {}:
            weakened = proving.doubts(examined, commands)
        allowed = proving.allowed_notes(examined)
    independence = agents.independence_of_reviews(reviews, reviewers.INDEPENDENT)
    if subject.is_light:
        independence = LIGHT  # reviewers come at the end, as the user chose
    return {
        "independence": independence,
        "agents": reviewers.render(reviews),
        "cleaned": inspection.has_cleaner or subject.is_light,
        "exemptions": inspection.exemptions,
        "artifacts": registered,
        "proofs": inspection.proofs,
        "replays": inspection.replays,
        "weakened": weakened[:MOST_WEAKENED],
        "allowed": allowed,
        "notes": [clip(note, LONGEST_NOTE) for note in inspection.notes],
        "tree": tree.fingerprint(Path(run.caller.root)),
        "by": run.caller.by,
    }


def classify(run: PlanRun, classification: str, *, evidence: str, goal_id: str | None = None) -> Row:
    """The row. Nothing of the plan changes by it; a pause is allowed while it is the latest and says human_blocked."""
    if defects := text_defects("--evidence", evidence, shortest=SHORTEST_BLOCKER):
        raise BadInput(
            defects[0],
            fix="omo ultragoal classify-blocker --classification human_blocked|resolvable --evidence "
            '"what is missing, and who can do it"',
            defects=defects,
        )
    row: Row = {"kind": "blocker_classified", "classification": classification, "evidence": evidence.strip()}
    if goal_id is not None:
        row["goalId"] = goal_id

    def decide(plan: Plan) -> tuple[None, list[Row]]:
        waiting = plan.open_goals
        if goal_id is not None:
            goal = plan.goal(goal_id)
            waiting = [] if goal.is_closed else [goal]
        if classification == "human_blocked" and not waiting:
            raise Refused(
                f"{goal_id or 'every goal'} is closed: nobody has to do anything for it",
                fix="name the goal that waits with --goal-id (omo ultragoal status)",
            )
        is_last = all(plan.last.get(key) == row.get(key) for key in ("kind", "classification", "evidence", "goalId"))
        return None, [] if is_last else [row]

    run.change_plan(decide)
    return row


@dataclass(frozen=True)
class Recorded:
    """`goal` resolves the review of `parent`. It was there before where `deduplicated`."""

    parent: Goal
    goal: Goal
    deduplicated: bool


def record_review_blockers(
    run: PlanRun, goal_id: str, *, objective: str, evidence: str, title: str | None, goal_json: object = None
) -> Recorded:
    """A goal that resolves what a review found; its parent waits for it. Every refusal comes before the first write."""
    defects = text_defects("--evidence", evidence) + text_defects("--objective", objective, longest=LONGEST_OBJECTIVE)
    if title is not None:
        defects += text_defects("--title", title, longest=LONGEST_TITLE)
    if defects:
        raise BadInput(
            defects[0],
            fix=f"omo ultragoal record-review-blockers --goal-id {goal_id} "
            '--objective "what has to hold" --evidence "what the review found"',
            defects=defects,
        )

    finding, review_evidence = objective.strip(), evidence.strip()

    def decide(plan: Plan) -> tuple[tuple[str, bool], list[Row]]:
        parent = plan.goal(goal_id)
        if goal_json is not None:
            goal_tool.check_passed(run, parent, goal_json, status="review_blocked")
        parent.move("review", active=plan.active)
        blockers = plan.open_blockers_of(parent.id)
        for blocker in blockers:
            if same_words(blocker.objective) == same_words(finding):
                return (blocker.id, True), []
        if len(blockers) >= MOST_OPEN_BLOCKERS:
            names = ", ".join(blocker.id for blocker in blockers)
            raise Refused(
                f"{parent.id} has {len(blockers)} open blockers already ({names}), at most {MOST_OPEN_BLOCKERS}",
                fix="close one of them first (omo ultragoal complete-goals), or put the finding into a pending one: "
                "omo ultragoal steer --kind revise_pending_wording",
            )
        name = plan.new_ids(1)[0]
        return (name, False), [_blocker_row(parent, name, title, finding, review_evidence)]

    name, deduplicated = run.change_plan(decide)
    plan = run.require_plan()
    return Recorded(plan.goal(goal_id), plan.goal(name), deduplicated)


def _blocker_row(parent: Goal, name: str, title: str | None, finding: str, evidence: str) -> Row:
    goal: Row = {
        "id": name,
        "title": " ".join(title.split()) if title else title_of(f"Resolve for {parent.id}: {finding}"),
        "objective": finding,
        "steering": {"kind": "review_blocker", "blockedGoalId": parent.id, "evidence": evidence},
    }
    if parent.gate:
        goal["gate"] = parent.gate
    return {
        "kind": "review_blockers_recorded",
        "goalId": parent.id,
        "blockerGoalIds": [name],
        "goals": [goal],
        "evidence": evidence,
        "findings": [finding],
    }
