"""A plan session that goes on with just the steps that are missing: twice at most for one session of a plan."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from omo.engine.runs import CaseRun, load_run, require_run
from omo.errors import Refused
from omo.text import clip
from omo.work import damage, outcome
from omo.work.publish import publish
from omo.work.run import Caller
from omo.workflows.ultraplan import preflight, sessions
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.next_step import unrecoverable
from omo.workflows.ultraplan.refusals import require_clean, require_free, require_shown, under_way
from omo.workflows.ultraplan.run import (
    PLAN,
    from_top,
    pinned_plan,
    runs_of_repository,
    state_of,
    states_of_text,
)
from omo.workflows.ultraplan.run_audit import audit_run
from omo.workflows.ultraplan.sessions import Recovery
from omo.workflows.ultraplan.start import Started, begun, preflight_rows, uncommitted, write
from omo.workflows.ultraplan.status import next_step

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.engine.case import CaseRow
    from omo.state.rows import Summary


def named(caller: Caller, run_id: str) -> CaseRun:
    """Return the run that is named, also that of a conversation which is over; without a name the session's own."""
    own = load_run(FLOW, caller, run_id)
    if own is not None:
        damage.require_going_on(own)
    run = require_run(FLOW, caller, run_id, looks=True)
    run.caller = caller
    return run


def chosen(caller: Caller, path: Path) -> CaseRun:
    """The current run where it is one of that plan, else the last of the plan that is left, whoever began it."""
    current = load_run(FLOW, caller)
    if current is not None:
        damage.require_going_on(current)
    name = from_top(caller, path)
    runs = [run for run in runs_of_repository(caller, name) if run.caller is caller]
    if not runs:
        fix = f"omo plan start {shlex.quote(name)}" if path.is_file() else "name a plan that is there"
        raise Refused(f"no session of {name} began here, so none goes on", fix=fix)
    if current is not None and current.id in [run.id for run in runs]:
        return require_run(FLOW, caller)
    left = [run for run in runs if state_of(run).how != "pass"] or runs
    return CaseRun(PLAN, caller, left[-1].id, named=True)


def recover(run: CaseRun, *, environ: Mapping[str, str]) -> Started:
    """The session goes on with what is missing, by a spec of just that. Refused where a person has to look first.

    One that ended may be another conversation's: it goes on in this one.
    """
    caller, root = run.caller, Path(run.caller.root)
    run.require_whole()
    state = state_of(run)
    if state.how not in ("failed", "abandoned"):
        run.require_open()
    if state.how:
        require_shown(caller)
    elif (holder := caller.holder(PLAN.name, run.id)) != caller.session:
        raise under_way(caller, run.id, holder)
    status = audit_run(run)
    status.require_evaluable()
    same = states_of_text(runs_of_repository(caller, state.path), state.terms.plan)
    depth = 1 + max(other.depth for other in same if other.number == state.number)
    if why := unrecoverable(status, depth):
        defects = [clip(str(violation), 200) for violation in status.audit.violations]
        raise Refused(why, fix=next_step(status).text, defects=defects)
    missing = status.audit.missing
    plan = pinned_plan(run)
    cut = sessions.cut(plan, has_remote=preflight.has_remote(root))
    document = next(each for each in cut if each.sessions[0].number == state.number)
    with PLAN.start_lock(caller):
        caller.forget()
        require_free(caller, run.id)
        history, _ = require_clean(root, document, state.before, is_begun=True)
        asked = preflight.check(document.needs, root, environ=environ, by=caller.by)
        rows: list[CaseRow] = [*preflight_rows(asked)]
        spec = ""
        if not asked.missing:
            reasons = []
            for step in status.audit.steps:
                if step.step in missing:
                    reasons.append(clip(f"step {step.step}: {step.status}: {'; '.join(step.findings)}", 200))
            entry = f"what passed is committed at {history.head[:12]}"
            recovery = Recovery(depth, missing, reasons, entry, from_top(caller, run.journal.path))
            spec = write(run, f"recovery-{depth}.md", sessions.render(plan, document, recovery))
            opened = run.round_row(None, 1 + depth)
            opened |= {"items": list(map(str, missing)), "fence": {**state.fence, "uncommitted": uncommitted(history)}}
            rows.append(opened)
        run.append(*rows)
    if spec:
        _leave_to(run)
    return begun(status, asked, spec)


def _leave_to(run: CaseRun) -> None:
    """Another session whose run goes on in this one has nothing left to hold it, and names it no more."""
    caller, kind = run.caller, FLOW.name
    why = f"plan session {run.id} goes on in session {clip(caller.session, 64)}"
    over: Summary = {"state": "ended", "open": 0, "total": 0, "next": None, "why": why, "told": True}
    over["outcome"] = outcome.not_proven(why)
    for name in list(caller.session_rows):
        if name != caller.session and caller.summary(kind, name).get("run") == run.id:
            publish(run, over, session=name)
