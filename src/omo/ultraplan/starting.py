"""Beginning a plan session: everything that can be refused is refused before the fence goes up."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable, Refused
from omo.evidence import changes
from omo.shown import clip
from omo.state import paths, runtime, store
from omo.state.runtime import part
from omo.ultraplan import contract, critique, history, order, preflight, recovery, summary
from omo.ultraplan.audit import Audit, audit
from omo.ultraplan.contract import Contract
from omo.ultraplan.models import Document, Fence
from omo.ultraplan.next_step import Next
from omo.ultraplan.record import Record
from omo.ultraplan.run import ABANDON, KIND, SHORTEST_REASON, PlanRun, pinned_path, record_of, records
from omo.ultraplan.standing import Standing, audited

Row = dict[str, Any]

MOST_SHOWN = 10
MOST_UNCOMMITTED = 200
LONGEST_UNCOMMITTED = 8000


@dataclass(frozen=True)
class Started:
    """`missing` names what kept it from beginning; then nothing was opened."""

    record: Record
    next: Next
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def start(run: PlanRun, path: Path, *, unreviewed: str, environ: Mapping[str, str], out_of_order: str = "") -> Started:
    require_free(run)
    given = contract.load(path, Path(run.root), run.state)
    store.make_state_dir(run.state)
    store.make_dir(paths.plans_dir(run.state), run.state)
    with store.Lock(os.path.join(paths.plans_dir(run.state), "start.lock"), store.Deadline(run.wait)):
        require_free(run, given)
        unreviewed = unreviewed or _inherited(given)
        require_reviewed(run, given, unreviewed)
        order.require_in_order(run, given, out_of_order)
        looked = require_clean(run, given)
        require_something_missing(run, given)
        asked = preflight.look(given.spec.needs, Path(run.root), environ=environ)
        name = _new_name(run)
        if asked.missing:
            return _blocked(run, name, given, asked)
        return _open(run, name, given, looked, asked, {"unreviewed": unreviewed, "out_of_order": out_of_order})


def _inherited(given: Contract) -> str:
    """A recovery carries out the same contract, so what was let through for it still is, and is still told."""
    parent = given.recovers
    if parent is None or not parent.unreviewed or parent.plan != given.plan.digest:
        return ""
    return parent.unreviewed if parent.recovery_of else f"{parent.unreviewed} (as plan session {parent.run} began)"


def require_free(run: PlanRun, given: Contract | None = None) -> None:
    """One plan session per worktree: two could not tell their commits apart. A recovered one gives way to what
    recovers it, which is known once the spec is read."""
    waiting = _waiting(run, given)
    for name, row in runtime.read(run.state)["sessions"].items():
        told = part(part(row, "work"), KIND) if isinstance(row, dict) else {}
        if told.get("run") in waiting:
            continue
        if name != run.session and part(told, "fence").get("root") == run.here:
            raise Refused(
                f"plan session {told.get('run')} of session {name} is under way in {run.here}",
                fix=f'if that session died, the user ends it: omo plan finish --session {name} --abandon "why"',
            )
    own, _ = run.look()
    if own is not None and own.run in waiting:
        return
    if own is not None and own.is_fenced and own.root != run.here:
        raise Refused(
            f"plan session {own.run} of this session belongs to {own.root}, and this is {run.here}",
            fix=f"go on there; or give it up here: {ABANDON}, then omo plan recover {shlex.quote(own.spec)}",
        )
    fence = part(run.summary(), "fence").get("root")
    if own is not None and run.here in (fence, own.root if own.is_open else None):
        raise Refused(
            f"plan session {own.run} of this session is under way in {run.here}",
            fix=f"{_way_on(own)}; to give it up: {ABANDON}",
        )


def _way_on(own: Record) -> str:
    return (
        f"omo plan start {shlex.quote(str(own.recovered.get('spec')))}" if own.end == "recovered" else "omo plan finish"
    )


def _waiting(run: PlanRun, given: Contract | None) -> list[str]:
    """The recovered runs that hold nothing against a start; before the spec is read that is any of them."""
    recovered = [one.run for one in records(run.state) if one.end == "recovered"]
    parent = given.recovers.run if given and given.recovers else ""
    return recovered if given is None else [one for one in recovered if one == parent]


def require_reviewed(run: PlanRun, given: Contract, unreviewed: str) -> None:
    if unreviewed and len(unreviewed.strip()) < SHORTEST_REASON:
        what = f"--unreviewed {unreviewed!r}: at least {SHORTEST_REASON} characters that say why no critic looked"
        raise Refused(what, fix='omo plan start SPEC --unreviewed "why"')
    if given.plan.is_legacy or unreviewed or critique.is_clean(critique.latest(run.state, given.plan.digest)):
        return
    raise Refused(
        f"{given.plan.path} has no clean critique of the text it has now (digest {given.plan.digest[:12]})"
        f"{_reviewed_as(run, given)}",
        fix=f"omo plan critique {shlex.quote(given.plan.path)}; or --unreviewed REASON, which is reported",
    )


def _reviewed_as(run: PlanRun, given: Contract) -> str:
    row = critique.latest(run.state, given.plan.digest)
    if row is None:
        return ""
    is_seen = row.get("independence") == critique.FULL
    return ": the critic's is not" if is_seen else ": there is only a file that no hook saw a critic say"


def require_clean(run: PlanRun, given: Contract) -> Audit:
    """From the commit the work begins at. What is not committed now could not be told from the session's own work."""
    base = changes.head(Path(run.root))
    if base is None:
        raise NotEvaluable(f"{run.root} is not a git repository", fix="git init, and commit what is there")
    looked = audit(given.spec, Path(run.root), base=base, inputs=[given.document.path, given.plan.path])
    if looked.problems:
        raise NotEvaluable(looked.problems[0], fix="git status; mend that, then start again")
    if dirty := looked.dirty:
        more = [f"and {len(dirty) - MOST_SHOWN} more"] if len(dirty) > MOST_SHOWN else []
        raise Refused(
            f"{len(dirty)} file{'' if len(dirty) == 1 else 's'} not committed: the audit would call that drift",
            fix="commit, stash or ignore what is listed, then start again",
            defects=[*dirty[:MOST_SHOWN], *more],
        )
    return looked


def require_something_missing(run: PlanRun, given: Contract) -> None:
    """A recovery of nothing could never show a commit of its own."""
    if given.recovers and audited(run, given.recovers).verdict == "pass":
        raise Refused(
            f"nothing of plan session {given.recovers.run} is missing any more",
            fix=f"omo plan finish --run {given.recovers.run}",
        )


def _new_name(run: PlanRun) -> str:
    number = int(run.now * 1000)
    while os.path.lexists(paths.plan_run_dir(run.state, f"p{number}")):
        number += 1
    return f"p{number}"


def _blocked(run: PlanRun, name: str, given: Contract, asked: preflight.Preflight) -> Started:
    run.append(name, preflight_row(run, given.document, asked))
    record = _record(run, name)
    step = summary.tell_end(run, Standing(record))
    return Started(record, step, [f"{one.name} ({one.kind}): {one.detail}" for one in asked.missing], given.notes)


def preflight_row(run: PlanRun, document: Document, asked: preflight.Preflight) -> Row:
    missing = [need.name for need in asked.missing]
    why = "; ".join(f"{need.name} is {need.status}: {clip(need.detail, 120)}" for need in asked.missing)
    return {
        "kind": "preflight",
        "session": run.session,
        "spec": document.path,
        "needs": [need.data for need in asked.needs],
        "missing": missing,
        "result": "blocked" if missing else "bypassed" if asked.bypassed_by else "ok",
        "bypassed": asked.bypassed_by,
        "why": clip(why, 400),
    }


def record_preflight(run: PlanRun, document: Document, asked: preflight.Preflight) -> None:
    """What `omo plan preflight` found: into the open run where there is one, else only what is missing is kept."""
    record, problems = run.look()
    if record is not None and record.is_open and not problems:
        run.append(record.run, preflight_row(run, document, asked))
    elif asked.missing:
        name = _new_name(run)
        run.append(name, preflight_row(run, document, asked))
        summary.tell_end(run, Standing(_record(run, name)))


def _open(
    run: PlanRun, name: str, given: Contract, looked: Audit, asked: preflight.Preflight, let: Mapping[str, str]
) -> Started:
    """Ledger first: a crash before the summary leaves a run that the next command finds."""
    parent = given.recovers.run if given.recovers else ""
    row = {
        "kind": "started",
        "session": run.session,
        "spec": given.document.path,
        "digest": given.spec.digest,
        "source": given.document.digest,
        "plan": given.plan.digest,
        "master": given.plan.path,
        "lineage": given.lineage,
        "base": looked.base,
        "root": run.here,
        "fence": _fence(run, given),
        "steps": [step.number for step in given.spec.work_steps],
        "depth": recovery.depth_of(run.state, given.lineage),
        "recovery_of": parent,
        "anew": given.recovers.recovered.get("anew", "") if given.recovers else "",
        "legacy": given.plan.is_legacy,
        **{name: clip(reason, 1000) for name, reason in let.items()},
        "review": ""
        if let["unreviewed"]
        else (critique.latest(run.state, given.plan.digest) or {}).get("independence"),
    }
    pin = pinned_path(run.state, name)
    store.make_dir(os.path.dirname(pin), run.state)
    store.replace(pin, given.spec.text)
    run.append(name, preflight_row(run, given.document, asked), row)
    if parent:
        summary.close_recovered(run, parent)
    record = _record(run, name)
    at = audited(run, record) if parent else Standing(record, given.spec, looked)
    return Started(record, summary.tell(run, at), notes=given.notes)


def _fence(run: PlanRun, given: Contract) -> Row:
    fence = given.spec.fence or Fence()
    return {
        "touch": list(fence.touch),
        "never": list(fence.never),
        "root": run.here,
        "spec": given.document.path,
        "uncommitted": _uncommitted(Path(run.root)),
    }


def _uncommitted(root: Path) -> list[str] | None:
    """What HEAD does not have as it is now, ignored files too: not the session's to remove or restore. None where it is
    more than a row that every hook reads should hold."""
    tree = history.look(root, changes.head(root) or "").tree
    edited = [path for path in tree.dirty if not tree.is_untracked(path)]
    found = sorted({*changes.loose(root, whole_directories=True), *edited})
    is_little = len(found) <= MOST_UNCOMMITTED and sum(map(len, found)) <= LONGEST_UNCOMMITTED
    return found if is_little else None


def _record(run: PlanRun, name: str) -> Record:
    record = record_of(run.state, name)
    assert record is not None
    return record
