"""A plan session that goes on with just the steps that are missing: twice at most for one session of a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from omo.errors import Refused
from omo.text import clip
from omo.work.lifecycle import require
from omo.work.run import Caller, Run, load
from omo.workflows.ultraplan import preflight, sessions
from omo.workflows.ultraplan.next_step import next_step, unrecoverable
from omo.workflows.ultraplan.refusals import require_clean, require_free, require_shown, under_way
from omo.workflows.ultraplan.run import (
    PLAN,
    PlanRun,
    RunRow,
    from_top,
    pinned_plan,
    runs_of_repository,
    state_of,
    states_of_text,
)
from omo.workflows.ultraplan.run_audit import audit_run
from omo.workflows.ultraplan.sessions import Recovery
from omo.workflows.ultraplan.start import Started, begun, preflight_row, uncommitted, write
from omo.workflows.ultraplan.status import leave_to_another


def chosen(caller: Caller, path: Path) -> PlanRun:
    """The current run where it is one of that plan, else the last of the plan that is left, whoever began it."""
    name = from_top(caller, path)
    runs = [run for run in runs_of_repository(caller, name) if run.caller is caller]
    if not runs:
        fix = f"omo plan start {shlex.quote(name)}" if path.is_file() else "name a plan that is there"
        raise Refused(f"no session of {name} began here, so none goes on", fix=fix)
    current = load(PLAN, caller)
    if current is not None and current.id in [run.id for run in runs]:
        return require(PLAN, caller)
    left = [run for run in runs if state_of(run).end != "pass"] or runs
    return Run(PLAN, caller, left[-1].id, named=True)


def recover(run: PlanRun, *, environ: Mapping[str, str]) -> Started:
    """The session goes on with what is missing, by a spec of just that. Refused where a person has to look first.

    One that ended may be another conversation's: it goes on in this one.
    """
    caller, root = run.caller, Path(run.caller.root)
    state = run.require_whole()
    if not state.base or state.end == "pass":
        raise state.not_open
    if state.end:
        require_shown(caller)
    elif (holder := caller.holder(PLAN.name, run.id)) != caller.session:
        raise under_way(caller, run.id, holder)
    status = audit_run(run)
    status.require_evaluable()
    same = states_of_text(runs_of_repository(caller, state.path), state.plan)
    depth = 1 + max(other.depth for other in same if other.number == state.number)
    if why := unrecoverable(status, depth):
        defects = [clip(str(violation), 200) for violation in status.audit.violations]
        raise Refused(why, fix=next_step(status).text, defects=defects)
    missing = status.audit.missing
    plan = pinned_plan(caller.state, state)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    document = next(each for each in cut if each.sessions[0].number == state.number)
    with PLAN.start_lock(caller):
        caller.forget()
        require_free(caller, run.id)
        history, _ = require_clean(root, document, state.before, is_begun=True)
        asked = preflight.check(document.needs, root, environ=environ, by=caller.by)
        rows = [preflight_row(caller, state.path, asked)]
        spec = ""
        if not asked.missing:
            reasons = []
            for step in status.audit.steps:
                if step.step in missing:
                    reasons.append(clip(f"step {step.step}: {step.status}: {'; '.join(step.findings)}", 200))
            entry = f"what passed is committed at {history.head[:12]}"
            recovery = Recovery(depth, missing, reasons, entry, from_top(caller, run.journal.path))
            spec = write(run, f"recovery-{depth}.md", sessions.render(plan, document, recovery))
            row: RunRow = {"kind": "recovered", "session": caller.session, "depth": depth, "missing": missing}
            rows.append({**row, "uncommitted": uncommitted(history)})
        run.append(*rows)
    if spec:
        leave_to_another(caller, run.id)
    return begun(replace(status, run=run), asked, spec)
