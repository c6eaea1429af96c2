"""Recovery: a session of just the steps that are missing, twice at most for one session of one plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from omo.errors import Refused
from omo.proof import changes
from omo.text import clip
from omo.work.lifecycle import require
from omo.work.run import Caller, Run, load
from omo.work.status import NextStep
from omo.workflows.ultraplan import costs, preflight, sessions, start
from omo.workflows.ultraplan.audited import RunStatus, audited
from omo.workflows.ultraplan.run import (
    MOST_RECOVERIES,
    PLAN,
    PlanRun,
    PlanState,
    depth_of,
    from_top,
    pinned_plan,
    require_shown,
    runs_at,
    runs_of_plan,
)
from omo.workflows.ultraplan.spec_text import Recovery
from omo.workflows.ultraplan.start import Contract, Started
from omo.workflows.ultraplan.status import GIVE_UP, failed_command, take_back


def chosen(caller: Caller, path: Path) -> PlanRun:
    """The current run where it is one of that plan, else the last of the plan that is left, whoever began it."""
    runs = runs_at(caller, path)
    current = load(PLAN, caller)
    names = [state.run for state in runs]
    if current is not None and current.id in names:
        return require(PLAN, caller)
    if not runs:
        name = from_top(caller, path)
        raise Refused(f"no session of {name} began, so nothing is missing of it", fix=f"omo plan start {name}")
    left = [state.run for state in runs if state.end != "pass"] or names
    return Run(PLAN, caller, left[-1], named=True)


def recover(run: PlanRun, *, environ: Mapping[str, str], is_agreed: bool = False) -> Started:
    """Close the run and begin one of what is missing. Refused where a person has to look first.

    A run that ended may be another session's: it goes on in this one.
    """
    caller = run.caller
    state = run.require_whole()
    runs = runs_of_plan(caller, state.plan)
    child = next((other.run for other in runs if other.recovery_of == state.run), "")
    _require_recoverable(run, state, child)
    status = audited(run)
    depth = depth_of(runs, state.number) + 1
    if state.recovered and not child:  # one that was written down and never begun is not counted a second time
        depth = int(state.recovered["depth"])
    missing = _missing(status, depth)
    if not is_agreed:
        raise costs.recover(state, missing, depth)
    root = Path(caller.root)
    recovery = Recovery(
        depth=depth,
        missing=missing,
        reasons=[clip(str(step), 200) for step in status.audit.steps if step.step in missing],
        entry=f"what passed is committed at {(changes.head(root) or state.base)[:12]}",
        ledger=from_top(caller, run.journal.path),
    )
    plan = pinned_plan(caller.state, state)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    contract = Contract(plan, cut, state.number, runs, parent=status, recovery=recovery)
    return start.begin(caller, contract, environ=environ)


def _require_recoverable(run: PlanRun, state: PlanState, child: str) -> None:
    caller = run.caller
    if state.end in ("failed", "abandoned"):
        require_shown(caller)
    if not state.base:
        raise Refused(f"plan session {state.run} never began, so nothing is missing of it", fix="omo plan status")
    if state.end == "pass":
        raise Refused(f"plan session {state.run} ended (pass)", fix="omo plan status")
    if state.end == "recovered" and child:
        raise Refused(f"plan session {state.run} goes on as {child}", fix=f"omo plan recover --run {child}")
    if state.is_open:
        whose = caller.holder(PLAN.name, run.id)
        if whose != caller.session:
            fix = f"omo resume {whose}; or, if that session died, the user ends it: omo plan finish"
            raise Refused(
                f"plan session {state.run} of session {whose} is under way",
                fix=f'{fix} --session {whose} --abandon "why"',
            )


def _missing(status: RunStatus, depth: int) -> list[int]:
    """The steps to carry out; refused where no recovery helps."""
    state = status.state
    status.require_evaluable()
    missing = status.audit.missing
    report = "revise the plan, then omo plan critique, and start it"
    if state.is_open:
        report = failed_command(missing[0] if missing else "STEP").line
    if status.audit.violations:
        undo = NextStep(commands=take_back(status)).command
        raise Refused(
            "what lies outside the fence is never recovered automatically",
            fix=f"take it back: {undo}" if undo else f"a person decides: {report}",
            defects=[clip(str(violation), 200) for violation in status.audit.violations],
        )
    if not missing:
        left = f"; not committed: {clip(', '.join(status.audit.dirty), 200)}" if status.audit.dirty else ""
        way = f"omo plan audit {state.path} shows each; {GIVE_UP} closes what was reported as failed"
        if state.is_open or state.end == "recovered":
            way = "commit or remove what is left, then omo plan finish"
        raise Refused(f"no step of plan session {state.run} is missing{left}", fix=way)
    if depth > MOST_RECOVERIES:
        raise Refused(
            f"this session was recovered {MOST_RECOVERIES} times already: what is missing needs a person, or a "
            "better plan",
            fix=report,
            defects=[f"step {step} is missing" for step in missing],
        )
    return missing
