"""Recovery: a spec of just the steps that are missing, twice at most for one session of one plan."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from omo.errors import Refused
from omo.proof import changes
from omo.state import store
from omo.text import clip
from omo.work.lifecycle import require
from omo.work.run import Caller, Run, load
from omo.work.status import NextStep
from omo.workflows.ultraplan import sessions, spec_text
from omo.workflows.ultraplan.audit import holds
from omo.workflows.ultraplan.audited import RunStatus, audited
from omo.workflows.ultraplan.models import Recovery
from omo.workflows.ultraplan.run import (
    MOST_RECOVERIES,
    PLAN,
    PlanRun,
    PlanState,
    depth_of,
    digest_of,
    from_top,
    line_of,
    pinned,
    require_shown,
    runs_at,
    runs_of_plan,
)
from omo.workflows.ultraplan.status import (
    GIVE_UP,
    close_recovered,
    failed_command,
    publish_end,
    take_back,
)


@dataclass(frozen=True)
class Recovered:
    spec: str
    depth: int
    missing: list[int]
    next: NextStep


def chosen(caller: Caller, path: Path, named: str = "") -> PlanRun:
    """The current run where it is one of that file, else the last of the file that is left, whoever began it."""
    runs = runs_at(caller, path)
    current = load(PLAN, caller, named)
    names = [state.run for state in runs]
    if runs and not named and (current is None or current.id not in names):
        left = [state.run for state in runs if state.end != "pass"] or names
        return Run(PLAN, caller, left[-1], named=True)
    run = require(PLAN, caller, named)
    require_named(run, path)
    return run


def require_named(run: PlanRun, path: Path) -> None:
    """The spec that was typed is the one the run was started with, by its place; its text is pinned."""
    state = run.require_whole()
    typed = from_top(run.caller, path)
    if typed != state.spec and state not in runs_at(run.caller, path):
        raise Refused(
            f"{typed} is not what plan session {state.run} was started with, which is {state.spec}",
            fix="leave SPEC away for the current session, or name another with --run ID",
        )


def recover(run: PlanRun) -> Recovered:
    """Close the run and write the spec that goes on from it. Refused where a person has to look first.

    A run that ended may be another session's: it goes on in this one.
    """
    caller = run.caller
    state = run.require_whole()
    runs = runs_of_plan(caller, state.plan)
    child = next((other.run for other in runs if other.recovery_of == state.run), "")
    _require_recoverable(run, state, child)
    missing = list(state.recovered.get("missing", []))
    reasons = list(state.recovered.get("reasons", []))
    depth = int(state.recovered.get("depth", 0))
    anew = str(state.recovered.get("anew") or "")
    if state.end != "recovered":  # a second call writes the same spec again, and counts nothing
        status = audited(run)
        # An abandoned run that cannot be audited from where it began: its recovery answers for its own steps.
        anew = clip(status.unknown, 200) if state.end == "abandoned" else ""
        if not depth or child:  # a recovery that was written and never begun is not counted a second time
            depth = depth_of(runs, state.lineage) + 1
        missing = _missing(run, status, anew, depth)
        reasons = [clip(str(step), 200) for step in status.audit.steps if step.step in missing]
    path = os.path.join(run.directory, f"recovery-{depth}.md")  # with our state, where git does not see it
    text = _render(run, missing, reasons, depth, path)
    store.replace(path, text)
    shown = from_top(caller, path)
    row = {"kind": "recovered", "digest": digest_of(text), "depth": depth, "missing": missing, "anew": anew}
    run.append({**row, "reasons": reasons, "spec": shown})
    close_recovered(caller, state.run)
    # Whoever recovers a run holds it, and its fence, until the recovery begins.
    step = publish_end(RunStatus(run), session=caller.session)
    return Recovered(shown, depth, missing, step)


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
            fix = f"omo adopt --from {whose}; or, if that session died, the user ends it: omo plan finish"
            raise Refused(
                f"plan session {state.run} of session {whose} is under way",
                fix=f'{fix} --session {whose} --abandon "why"',
            )
    own = load(PLAN, caller)
    if own is not None and own.id != run.id and own.state is not None and own.state.is_open:
        raise Refused(f"plan session {own.id} of this session is under way", fix=f"omo plan finish; or {GIVE_UP}")


def _missing(run: PlanRun, status: RunStatus, anew: str, depth: int) -> list[int]:
    """The steps to carry out; refused where no recovery helps."""
    state = status.state
    if anew:
        document = pinned(run.caller.state, line_of(run.caller, state)[0])
        missing = [step.number for step in document.work_steps if not holds(step, Path(run.caller.root))]
    else:
        status.require_evaluable()
        missing = status.audit.missing
    report = "revise the plan, then omo plan critique, decompose and start"
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
        way = f"omo plan audit {state.spec} shows each; {GIVE_UP} closes what was reported as failed"
        if state.is_open:
            way = "commit or remove what is left, then omo plan finish"
        raise Refused(f"no step of {state.spec} is missing{left}", fix=way)
    if depth > MOST_RECOVERIES:
        raise Refused(
            f"this session was recovered {MOST_RECOVERIES} times already: what is missing needs a person, or a "
            "better plan",
            fix=report,
            defects=[f"step {step} is missing" for step in missing],
        )
    return missing


def _render(run: PlanRun, missing: list[int], reasons: list[str], depth: int, path: str) -> str:
    """From the session the line of recoveries began with: it has every step."""
    caller, state = run.caller, run.require_whole()
    first = line_of(caller, state)[0]
    recovery = Recovery(
        of=first.spec,
        depth=depth,
        missing=tuple(missing),
        reasons=tuple(reasons),
        entry=f"what passed is committed at {(changes.head(Path(caller.root)) or state.base)[:12]}",
        ledger=from_top(caller, run.journal.path),
    )
    document = pinned(caller.state, first)
    spec = sessions.recovered(document, recovery, path=from_top(caller, path), plan_digest=state.plan)
    return spec_text.render(spec)
