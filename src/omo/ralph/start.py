"""Beginning a run: everything that can be refused is refused before its ledger has a row."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.evidence import base, changes, pins
from omo.ralph import criteria, previous_run, summary
from omo.ralph.criteria import Criterion
from omo.ralph.next_step import Next
from omo.ralph.rules import DEFAULT_ITERATIONS, MOST_ITERATIONS
from omo.ralph.run import ABANDON, RALPH, SHORTEST_REASON, RalphRun, Standing, check_sizes
from omo.ralph.standing import criteria_of
from omo.shown import clip
from omo.state import paths, store

Row = dict[str, Any]


def start(
    run: RalphRun, path: Path, *, max_iterations: int = DEFAULT_ITERATIONS, reduced_scope: str = ""
) -> tuple[Standing, Next]:
    _require_options(run, path, max_iterations, reduced_scope)
    wanted = criteria.load(path)
    store.make_state_dir(run.state)
    store.make_dir(paths.ralph_dir(run.state), run.state)
    with store.Lock(os.path.join(paths.ralph_dir(run.state), "start.lock"), store.Deadline(run.wait)):
        _require_free(run)
        previous_run.require_shown(run)
        row = {
            "kind": "started",
            "run": RALPH.new_id(run),
            "session": run.session,
            "root": run.here,
            "criteria": [criterion.data for criterion in wanted],
            "source": _relative(run, path),
            "source_digest": _digest(path),
            "base": changes.head(Path(run.root)),
            "files": base.take(run.root, os.environ),
            "max_iterations": max_iterations,
            "reduced_scope": clip(reduced_scope.strip(), 1000),
            **previous_run.taken_over(run, wanted),
        }
        check_sizes([row])
        before = _pin(run, wanted, row)
        begun = replace(run, named=row["run"])
        begun.append([{**row, "before": before}])
    status = begun.require()
    return status, summary.tell(begun, status, begins=True)


def _require_options(run: RalphRun, path: Path, max_iterations: int, reduced_scope: str) -> None:
    file = shlex.quote(str(path))
    if not 1 <= max_iterations <= MOST_ITERATIONS:
        raise BadInput(
            f"--max-iterations {max_iterations} is not between 1 and {MOST_ITERATIONS}",
            fix=f"omo ralph start --criteria {file} --max-iterations {DEFAULT_ITERATIONS}",
        )
    if not reduced_scope:
        return
    session = shlex.quote(run.session)
    again = f'omo ralph start --session {session} --criteria {file} --reduced-scope "why less is enough"'
    if run.by != "user":
        raise Refused(
            "--reduced-scope lets phases be left out, which only the user can authorise",
            fix=f"ask them; they run in their own terminal: {again}",
        )
    if len(reduced_scope.strip()) < SHORTEST_REASON:
        what = f"--reduced-scope {clip(reduced_scope, 40)!r} says too little"
        raise BadInput(f"{what}, {SHORTEST_REASON} characters are needed", fix=again)


def _require_free(run: RalphRun) -> None:
    """One run per session at a time. A damaged one is in the way until the user has sealed it."""
    loaded = run.loaded
    if loaded is None:
        return
    if loaded.problems and not summary.is_over(run.told(), loaded.id):
        raise loaded.damage()
    status = loaded.state
    if not loaded.problems and status is not None and status.is_open:
        raise Refused(
            f"ralph run {status.run} of this session is open, iteration {status.iteration} of {status.max_iterations}",
            fix=f"go on with it: omo ralph status; or {ABANDON}",
        )


def _pin(run: RalphRun, wanted: Sequence[Criterion], row: Row) -> Row:
    """Every criterion's checks, each for itself; what each says before the work. All that prove nothing are named.

    A refusal leaves the pins of the others behind, under the name of a run that never began.
    """
    pins.pinned(run.state)  # refused where that ledger is damaged; below, a refusal is about the checks
    before: Row = {}
    defects: list[str] = []
    for criterion in wanted:
        try:
            report = pins.pin(
                run.state,
                run.root,
                criterion.checks,
                source=row["source"],
                goal=criterion.goal(row["run"]),
                by=run.by,
                now=run.now,
                wait=run.wait,
                refuse_vacuous=not criterion.guard and criterion.id not in row["carried"],
            )
            before[criterion.id] = report.verdict.verdict
        except Refused as error:
            listed = error.details.get("defects")
            why = "; ".join(map(str, listed)) if isinstance(listed, list) else error.message
            defects.append(f"{criterion.id}: passes before the work: {clip(why, 300)}")
    if defects:
        raise Refused(
            f"{len(defects)} of {criteria_of(len(wanted))} could not show that work was done",
            fix="add a check that fails now, or say guard: true where it is meant to stay true, then start again",
            defects=defects,
        )
    return before


def _relative(run: RalphRun, path: Path) -> str:
    """As the project names it, where it is in the project."""
    relative = os.path.relpath(os.path.realpath(path), run.here)
    return os.path.realpath(path) if relative.startswith("..") else relative.replace(os.sep, "/")


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes())
    except OSError:
        return ""


def edited(status: Standing) -> str:
    """What happened to the criteria's file after the start; empty while it is as it was."""
    digest = _digest(Path(status.root, status.source))
    if digest == status.started.get("source_digest"):
        return ""
    what = "was edited" if digest else "is gone"
    return f"{clip(status.source, 120)} {what} after start; the criteria in the ledger are what counts"
