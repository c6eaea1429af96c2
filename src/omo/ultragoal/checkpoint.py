"""A goal's checkpoint: failed, blocked, or complete, which needs a gate that passes and issues the receipt."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.clock import seconds, stamp
from omo.errors import BadInput, NotEvaluable, Refused
from omo.evidence import artifacts, changes, tree
from omo.shown import clip, counted
from omo.ultragoal import committed, loop, receipts, reviewers, snapshots, spent
from omo.ultragoal.gate import marks
from omo.ultragoal.gate.inspect import Inspection, Subject, inspect
from omo.ultragoal.outcomes import outcome_of
from omo.ultragoal.plan import Goal, Plan, applied
from omo.ultragoal.run import Run, require_here
from omo.ultragoal.transitions import move

Row = dict[str, Any]

LONGEST_EVIDENCE = 20_000
LONGEST_NOTE = 300


@dataclass(frozen=True)
class Done:
    """What a checkpoint did. `changed` is False for a replay of one that already stands."""

    goal: Goal
    plan: Plan
    changed: bool
    started: str | None = None
    notes: list[str] = field(default_factory=list)


def checkpoint(
    run: Run, name: str, *, status: str, evidence: str, goal_json: object, gate: object, gate_file: str = ""
) -> Done:
    """Every refusal comes before the first write. `gate_file` is where in the project the gate was read from."""
    said = check_evidence(evidence)
    goal = run.require_plan().goal(name)
    if status == "complete":
        return _complete(run, name, said, goal_json, gate, gate_file)
    if gate is not None:
        raise BadInput(f"--quality-gate-json belongs to --status complete, not {status}", fix="leave it out")
    if goal_json is not None:
        snapshots.check(run, run.require_plan(), goal, goal_json, status=status)
    return _set_back(run, name, status, said)


def check_evidence(text: str) -> str:
    said = text.strip()
    if not said.strip() or len(said) > LONGEST_EVIDENCE:
        raise BadInput(
            f"--evidence has {len(said)} characters, of 1 to {LONGEST_EVIDENCE}",
            fix="say in a few sentences what was seen; keep long output in files and name them",
        )
    return said


def _set_back(run: Run, name: str, status: str, said: str) -> Done:
    def decide(plan: Plan) -> tuple[bool, list[Row]]:
        goal = plan.goal(name)
        if (goal.status, goal.evidence) == (status, said):
            return False, []
        move(goal, status, active=plan.active)
        return True, [{"kind": "goal_checkpointed", "goalId": name, "status": status, "evidence": said}]

    changed: bool = run.change(decide)
    plan = run.require_plan()
    return Done(plan.goal(name), plan, changed)


def require_completable(run: Run, name: str, goal_json: object = None) -> tuple[Plan, Goal, Row]:
    """Everything but the gate: the plan, the goal as it may be completed, and the session's goal."""
    run.require_plan().goal(name)
    run.require_whole()
    plan = run.require_plan()
    goal = plan.goal(name)
    require_here(run, plan)
    move(goal, "complete", active=plan.active)
    return plan, goal, snapshots.check(run, plan, goal, goal_json, status="complete")


def validate(run: Run, name: str, gate: object) -> Inspection:
    """What completing the goal with this gate would find, without a write. Refused where that would be refused."""
    plan, goal, _ = require_completable(run, name)
    if stands(run, plan, goal, goal.evidence, gate):
        return Inspection(notes=[f"{name} is complete by this gate already; other words for it are inspected anew"])
    return _inspect(run, name, subject_of(run, plan, goal), gate)


def _inspect(run: Run, name: str, subject: Subject, gate: object) -> Inspection:
    require_evidence(run)
    found = inspect(gate, subject)
    if found.defects:
        raise refusal(name, found)
    return found


def _complete(run: Run, name: str, said: str, goal_json: object, gate: object, gate_file: str) -> Done:
    plan, goal, snapshot = require_completable(run, name, goal_json)
    if gate is None:
        raise Refused(
            f"completing {name} needs its quality gate",
            fix=f"omo ultragoal gate init --goal-id {name}, fill it in, then pass it with --quality-gate-json FILE",
        )
    if stands(run, plan, goal, said, gate):
        run.change(lambda plan: (None, []))
        return Done(goal, plan, changed=False)
    subject = subject_of(run, plan, goal)
    agents = reviewers.finished(run, goal)  # before replays, which may write files
    found = _inspect(run, name, subject, gate)
    reviewers.leave_out(agents, [gate_file, *found.cited])
    facts = _facts(run, agents, found, _register(run, subject, found.cited))
    digest = receipts.keep_gate(run.directory, run.state, gate)
    return _close(run, name, said, digest, snapshot, facts, found.notes)


def refusal(name: str, found: Inspection) -> Refused:
    return Refused(
        f"the quality gate of {name} does not pass: {counted(len(found.defects), 'defect')}",
        fix=f"mend them all, then: omo ultragoal gate validate --goal-id {name} --quality-gate-json FILE; what the "
        f"review found wrong with the work itself: omo ultragoal record-review-blockers --goal-id {name}",
        defects=[str(one) for one in found.defects],
    )


def stands(run: Run, plan: Plan, goal: Goal, said: str, gate: object) -> bool:
    """The same words and the same gate, and the receipt is as good as a new one would be: nothing to do."""
    receipt = goal.receipt or {}
    if goal.status != "complete" or goal.evidence != said:
        return False
    if receipt.get("qualityGateHash") != receipts.canonical_digest(gate):
        return False
    if receipts.problem(plan, goal, run.directory):
        return False
    wanted = receipts.kind_for(plan, goal, superseding=[])
    return wanted == receipts.PER_GOAL or receipts.final(plan, run.directory) is not None


def subject_of(run: Run, plan: Plan, goal: Goal) -> Subject:
    return Subject(
        root=Path(run.root),
        state=run.state,
        goal=f"ultragoal/{plan.run}/{goal.id}",
        started_at=seconds(goal.started_at or plan.created_at),
        changed=changed_files(run, plan),
        control_globs=committed.control_globs(run, plan.repository.get("base")),
        now=run.now,
        used=spent.used(run.journal.rows(), goal.id),
    )


def require_evidence(run: Run) -> None:
    """Refused where the ledger of evidence is damaged, or no longer the one that receipts of the plan rest on."""
    loop.require_evidence(run)
    spent.require_evidence(run)


def changed_files(run: Run, plan: Plan) -> list[str] | None:
    """What differs from the commit the plan started from, committed or not; None where git cannot say."""
    base = plan.repository.get("base")
    try:
        return changes.changed(Path(run.root), base) if base else None
    except NotEvaluable:
        return None


def _register(run: Run, subject: Subject, cited: Sequence[str]) -> Row:
    found = {}
    spent_files = marks.files(subject.used)
    for path in cited:
        one = artifacts.register(
            run.state,
            run.root,
            path,
            goal=subject.goal,
            started_at=subject.started_at,
            spent=spent_files,
            by=run.by,
            now=run.now,
            wait=run.wait,
        )
        found[one.path] = one.digest
    return found


def _facts(run: Run, agents: Sequence[Row], found: Inspection, registered: Row) -> Row:
    """What the receipt notes besides the gate: which agents really finished, what was waived, what it looked at."""
    found.notes += reviewers.notes(agents)
    return {
        "independence": reviewers.independence(agents),
        "agents": agents,
        "exemptions": found.exemptions,
        "artifacts": registered,
        "proofs": found.proofs,
        "replays": [_replay(one) for one in found.replays],
        "notes": [clip(note, LONGEST_NOTE) for note in found.notes],
        "tree": tree.fingerprint(Path(run.root)),
        "by": run.by,
    }


def _replay(one: Row) -> Row:
    """Which program really ran: what a name means is up to the search path."""
    return {
        "artifact": clip(one["artifact"], 100),
        "command": clip(shlex.join(one["command"]), LONGEST_NOTE),
        "executable": one["executable"],
    }


def _close(run: Run, name: str, said: str, gate: str, snapshot: Row, facts: Row, notes: list[str]) -> Done:
    def decide(plan: Plan) -> tuple[str | None, list[Row]]:
        goal = plan.goal(name)
        move(goal, "complete")
        resolved = resolved_by(plan, goal)
        kind = receipts.kind_for(plan, goal, superseding=resolved)
        receipt = receipts.mint(
            plan, goal, kind=kind, gate=gate, snapshot=snapshot, superseding=resolved, now=stamp(run.now), facts=facts
        )
        closed = {
            "kind": "goal_checkpointed",
            "goalId": name,
            "status": "complete",
            "evidence": said,
            "qualityGateHash": gate,
            "supersedes": resolved,
            "completionVerification": receipt,
        }
        after = applied(plan, {**closed, "ts": stamp(run.now), "actor": run.by})
        if not after.open_goals:
            closed["outcome"] = outcome_of(after)
        following = [] if plan.active not in (None, goal) else loop.start(plan)
        return (following[0]["goalId"] if following else None), [closed, *following]

    started: str | None = run.change(decide)
    if started:
        loop.remember(run)
    plan = run.require_plan()
    return Done(plan.goal(name), plan, changed=True, started=started, notes=notes)


def resolved_by(plan: Plan, goal: Goal) -> list[str]:
    """The goals whose last open review blocker this one is, up the chain: their place is taken."""
    closed = [goal.id]
    parent = goal.blocks
    while parent is not None and plan.goal(parent).status == "review_blocked":
        if any(one.id not in closed for one in plan.open_blockers_of(parent)):
            break
        move(plan.goal(parent), "resolve")
        closed.append(parent)
        parent = plan.goal(parent).blocks
    return closed[1:]
