"""Recovery: a spec of just the steps that are missing, twice at most for one session of one plan."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from omo.errors import BadInput, Refused
from omo.evidence import changes, globs
from omo.shown import clip
from omo.state import paths, store
from omo.ultraplan import checks, sessions, spec_text, summary
from omo.ultraplan.models import Document, Recovery
from omo.ultraplan.next_step import FAILED, FINISH, MOST_WAYS, REVISE, Next
from omo.ultraplan.record import MOST_RECOVERIES, Record
from omo.ultraplan.run import ABANDON, PlanRun, digest_of, pinned, record_of, records, runs_at
from omo.ultraplan.standing import Standing, audited, line_of, require_evaluable


@dataclass(frozen=True)
class Recovered:
    spec: str
    depth: int
    missing: list[int]
    next: Next


def depth_of(state: str, lineage: str) -> int:
    """How often a session was recovered, over every run of it: an edited or copied spec has the same lineage."""
    runs = [one for one in records(state) if one.lineage == lineage]
    depths = [depth for one in runs for depth in (one.depth, one.recovered.get("depth", 0)) if isinstance(depth, int)]
    return max(depths, default=0)


def wrote(state: str, digest: str) -> Record | None:
    """The run whose recovery wrote a spec with exactly this text."""
    return next((one for one in reversed(records(state)) if one.recovered.get("digest") == digest), None)


def chosen(run: PlanRun, path: Path) -> PlanRun:
    """The current run where it is one of that file, else the last of the file that is left, whoever began it."""
    found = runs_at(run.state, run.here, str(path))
    if not found or run.named or run.current() in [one.run for one in found]:
        return run
    left = [one for one in found if one.end != "pass"]
    return replace(run, named=(left or found)[-1].run)


def recover(run: PlanRun, out: Path | None = None) -> Recovered:
    """Close the run and write the spec that goes on from it. Refused where a person has to look first.

    A run that ended may be another session's: it goes on in this one.
    """
    record = run.require()
    _require_recoverable(run, record)
    missing, depth = list(record.recovered.get("missing", [])), int(record.recovered.get("depth", 0))
    anew = str(record.recovered.get("anew") or "")
    if record.end != "recovered":  # a second call writes the same spec again, and counts nothing
        at = audited(run, record)
        anew = lost(record, at)
        missing, depth = _judge(run, record, at, _not_held(run, record) if anew else at.missing)
    path = _place(run, record, out, depth)
    text = _render(run, record, missing, depth, path)
    told = {"kind": "recovered", "digest": digest_of(text), "depth": depth, "missing": missing, "anew": anew}
    run.append(record.run, {**told, "spec": _shown(run, path)}, publish=lambda: store.replace(path, text))
    closed = record_of(run.state, record.run)
    step = summary.take_over(run, Standing(closed))
    return Recovered(_shown(run, path), depth, missing, step)


def _require_recoverable(run: PlanRun, record: Record) -> None:
    if not record.base:
        raise Refused(f"plan session {record.run} never began, so nothing is missing of it", fix="omo plan status")
    if record.end == "pass":
        raise Refused(f"plan session {record.run} ended (pass)", fix="omo plan status")
    child = next((one.run for one in records(run.state) if one.recovery_of == record.run), "")
    if record.end == "recovered" and child:
        raise Refused(f"plan session {record.run} goes on as {child}", fix=f"omo plan recover --run {child}")
    whose = run.holder(record.run) if run.named else run.session
    if record.is_open and whose != run.session:
        raise Refused(
            f"plan session {record.run} of session {whose} is under way",
            fix=f'if that session died, the user ends it: omo plan finish --session {whose} --abandon "why"',
        )
    own, _ = replace(run, named="").look()
    if own is not None and own.is_open and own.run != record.run:
        raise Refused(f"plan session {own.run} of this session is under way", fix=f"omo plan finish; or {ABANDON}")


def lost(record: Record, at: Standing) -> str:
    """Why an abandoned run cannot be audited from where it began; then a recovery of it answers for its own steps."""
    if record.end != "abandoned":
        return ""
    if record.repaired:
        return "its ledger was changed by hand"
    return clip(at.unknown, 200)


def _not_held(run: PlanRun, record: Record) -> list[int]:
    """The steps whose manifest does not hold as the files are now."""
    document = pinned(run.state, line_of(run.state, record)[0])
    root = Path(run.root)
    return [step.number for step in document.work_steps if not checks.holds(step, root)]


def _judge(run: PlanRun, record: Record, at: Standing, missing: list[int]) -> tuple[list[int], int]:
    """What is missing, and the how-manieth recovery this is."""
    if not lost(record, at):
        require_evaluable(at)
    report = FAILED.format(step=next(iter(missing), "STEP")) if record.is_open else REVISE
    if at.violations:
        what = "what lies outside the fence is never recovered automatically"
        ways = [shlex.join(command) for command in at.audit.take_back] if at.audit else []
        fix = f"take it back: {' && '.join(ways[:MOST_WAYS])}" if ways else f"a person decides: {report}"
        raise Refused(what, fix=fix, defects=[clip(one, 200) for one in at.violations])
    if not missing:
        left = f"; not committed: {clip(', '.join(at.dirty), 200)}" if at.dirty else ""
        way = f"commit or remove what is left, then {FINISH}" if record.is_open else f"omo plan audit {record.spec}"
        raise Refused(f"no step of {record.spec} is missing{left}", fix=way)
    depth = _next_depth(run, record)
    if depth > MOST_RECOVERIES:
        raise Refused(
            f"this session was recovered {MOST_RECOVERIES} times already: what is missing needs a person, or a "
            "better plan",
            fix=report,
            defects=[f"step {step} is missing" for step in missing],
        )
    return missing, depth


def _next_depth(run: PlanRun, record: Record) -> int:
    """A recovery that was written and never begun is not counted a second time."""
    is_begun = any(one.recovery_of == record.run for one in records(run.state))
    unused = record.recovered.get("depth")
    return int(unused) if unused and not is_begun else depth_of(run.state, record.lineage) + 1


def _place(run: PlanRun, record: Record, out: Path | None, depth: int) -> str:
    """With our state, where git does not see it, unless a file of the project is named."""
    if out is None:
        return os.path.join(paths.plan_run_dir(run.state, record.run), f"recovery-{depth}.md")
    path = os.path.realpath(out)
    if not globs.is_inside(run.here, path) or not path.endswith(".md"):
        raise BadInput(f"--out {out} is no Markdown file in the project", fix="leave --out away, or name FILE.md")
    if os.path.lexists(path) and not _is_a_recovery(run, path):
        raise Refused(f"--out {out} is there already, and is no recovery's spec", fix="name another file")
    if not os.path.isdir(os.path.dirname(path)):
        raise BadInput(f"--out {out}: its directory does not exist", fix=f"mkdir -p {os.path.dirname(path)}")
    return path


def _is_a_recovery(run: PlanRun, path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return wrote(run.state, digest_of(file.read(2_000_000))) is not None
    except OSError:
        return False


def _render(run: PlanRun, record: Record, missing: list[int], depth: int, path: str) -> str:
    """From the session the line of recoveries began with: it has every step."""
    first = line_of(run.state, record)[0]
    document: Document = pinned(run.state, first)
    stands = changes.head(Path(run.root)) or record.base
    recovery = Recovery(
        of=first.spec, depth=depth, missing=tuple(missing), entry=f"what passed is committed at {stands[:12]}"
    )
    spec = sessions.recovered(document, recovery, path=_shown(run, path))
    return spec_text.render(replace(spec, plan_digest=record.plan))


def _shown(run: PlanRun, path: str) -> str:
    """From the project's top where it lies below it."""
    real = os.path.realpath(path)
    return os.path.relpath(real, run.here).replace(os.sep, "/") if globs.is_inside(run.here, real) else real
