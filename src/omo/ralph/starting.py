"""Beginning a run: everything that can be refused is refused before its ledger has a row."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.evidence import base, changes, pins
from omo.ralph import criteria, earlier, execution, lessons, summary
from omo.ralph.criteria import Criterion
from omo.ralph.next_step import Next
from omo.ralph.run import ABANDON, RALPH, SHORTEST_REASON, RalphRun, Standing, check_sizes
from omo.ralph.standing import criteria_of
from omo.ralph.transitions import DEFAULT_ITERATIONS, MOST_ITERATIONS
from omo.shown import clip
from omo.state import paths, store

Row = dict[str, Any]


@dataclass(frozen=True)
class Started:
    standing: Standing
    next: Next


def start(run: RalphRun, path: Path, *, max_iterations: int = DEFAULT_ITERATIONS, reduced_scope: str = "") -> Started:
    require_options(run, path, max_iterations, reduced_scope)
    wanted = criteria.load(path)
    store.make_state_dir(run.state)
    store.make_dir(paths.ralph_dir(run.state), run.state)
    with store.Lock(os.path.join(paths.ralph_dir(run.state), "start.lock"), store.Deadline(run.wait)):
        require_free(run)
        earlier.require_told(run)
        name = RALPH.new_id(run)
        row = _row(run, name, wanted, path) | {
            "max_iterations": max_iterations,
            "reduced_scope": clip(reduced_scope.strip(), 1000),
            "lessons": lessons.load(run.state, wanted),
            "carried": lessons.failing_before(run.state, wanted),
            "after": earlier.after(run, wanted),
        }
        check_sizes([row])
        before = _pin(run, name, wanted, row)
        begun = replace(run, named=name)
        begun.append([{**row, "before": before}])
    at = begun.require()
    return Started(at, summary.tell(begun, at, begins=True))


def require_options(run: RalphRun, path: Path, max_iterations: int, reduced_scope: str) -> None:
    if not 1 <= max_iterations <= MOST_ITERATIONS:
        raise BadInput(
            f"--max-iterations {max_iterations} is not between 1 and {MOST_ITERATIONS}",
            fix=f"omo ralph start --criteria {shlex.quote(str(path))} --max-iterations {DEFAULT_ITERATIONS}",
        )
    if not reduced_scope:
        return
    again = (
        f"omo ralph start --session {shlex.quote(run.session)} --criteria {shlex.quote(str(path))} "
        '--reduced-scope "why less is enough"'
    )
    if run.by != "user":
        raise Refused(
            "--reduced-scope lets phases be left out, which only the user can authorise",
            fix=f"ask them; they run in their own terminal: {again}",
        )
    if len(reduced_scope.strip()) < SHORTEST_REASON:
        said = clip(reduced_scope, 40)
        raise BadInput(f"--reduced-scope {said!r} says too little, {SHORTEST_REASON} characters are needed", fix=again)


def require_free(run: RalphRun) -> None:
    """One run per session at a time. A damaged one is in the way until the user has sealed it."""
    loaded = run.loaded
    if loaded is None:
        return
    if loaded.problems:
        if not summary.is_over(run.told(), loaded.id):
            raise loaded.damage()
        return
    at = loaded.state
    if at is not None and at.is_open:
        raise Refused(
            f"ralph run {at.run} of this session is open, iteration {at.iteration} of {at.max_iterations}",
            fix=f"go on with it: omo ralph status; or {ABANDON}",
        )


def _pin(run: RalphRun, name: str, wanted: Sequence[Criterion], row: Row) -> Row:
    """Every criterion's checks, each for itself; what each says before the work. All that prove nothing are named.

    A refusal leaves the pins of the others behind, under the name of a run that never began.
    """
    pins.pinned(run.state)  # refused where that ledger is damaged; below, a refusal is about the checks
    before: Row = {}
    defects: list[str] = []
    for one in wanted:
        try:
            report = pins.pin(
                run.state,
                run.root,
                one.checks,
                source=row["source"],
                goal=one.goal(name),
                by=run.by,
                now=run.now,
                wait=run.wait,
                refuse_vacuous=not one.guard and one.id not in row["carried"],
            )
            before[one.id] = report.verdict.verdict
        except Refused as error:
            told = error.details.get("defects")
            seen = "; ".join(map(str, told)) if isinstance(told, list) else error.message
            defects.append(f"{one.id}: passes before the work: {clip(seen, 300)}")
    if defects:
        raise Refused(
            f"{len(defects)} of {criteria_of(len(wanted))} could not show that work was done",
            fix="add a check that fails now, or say guard: true where it is meant to stay true, then start again",
            defects=defects,
        )
    return before


def _row(run: RalphRun, name: str, wanted: Sequence[Criterion], path: Path) -> Row:
    return {
        "kind": "started",
        "run": name,
        "session": run.session,
        "root": run.here,
        "criteria": [one.data for one in wanted],
        "source": _relative(run, path),
        "source_digest": source_digest(path),
        "base": changes.head(Path(run.root)),
        "dirty": execution.snapshot(Path(run.root))["dirty"],
        "files": base.take(run.root, os.environ),
    }


def _relative(run: RalphRun, path: Path) -> str:
    """As the project names it, where it is in the project."""
    relative = os.path.relpath(os.path.realpath(path), run.here)
    return os.path.realpath(path) if relative.startswith("..") else relative.replace(os.sep, "/")


def source_digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes())
    except OSError:
        return ""


def edited(at: Standing) -> str:
    """What happened to the criteria's file after the start; empty while it is as it was."""
    found = source_digest(Path(at.root, at.source))
    if found == at.started.get("source_digest"):
        return ""
    what = "was edited" if found else "is gone"
    return f"{clip(at.source, 120)} {what} after start; the criteria in the ledger are what counts"
