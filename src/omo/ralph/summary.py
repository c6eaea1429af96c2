"""What hooks read of a run: how much is open, what is next, and whether Stop holds."""

from __future__ import annotations

from typing import Any

from omo.ralph.next_step import BEGIN, Next, next_step
from omo.ralph.run import KIND, RALPH, RalphRun, Standing
from omo.ralph.standing import START
from omo.shown import clip
from omo.work import outcome
from omo.work.publish import LONGEST_NEXT, publish, publish_damage
from omo.work.run import Run

Row = dict[str, Any]


def tell(run: RalphRun, at: Standing | None = None, *, begins: bool = False) -> Next:
    """Bring the session's summary up to the ledger. A criterion that passes for the first time gives the budget back.

    `begins` takes the place of an earlier run. Otherwise a run that was only named with --run is told to nobody.
    """
    known, problems = (at, []) if at is not None else run.look()
    step = next_step(known, problems)
    if known is None:
        return step
    loaded = Run(RALPH, run, known.run, named=bool(run.named))
    if problems and is_over(run.told(), known.run):
        step = Next("start", "the run is over, and its ledger was changed by hand", (BEGIN,))
    elif problems:
        publish_damage(loaded)
    elif known.started or known.ended:
        fresh = summarize(known, step)
        first_passes = _first_passes(known.run, fresh)
        publish(loaded, fresh, session=run.session if begins else "", progressed=first_passes)
    return step.with_run(KIND, run.named)


def _first_passes(name: str, fresh: Row) -> Any:
    def progressed(old: Row) -> bool:
        return old.get("run") == name and not set(fresh["passed"]) <= set(old.get("passed") or [])

    return progressed


def is_over(told: Row, name: str) -> bool:
    """By what the session was told while the ledger was whole."""
    return told.get("run") == name and (bool(told.get("cleared")) or told.get("state") == "done")


def summarize(at: Standing, step: Next) -> Row:
    return {
        "run": at.run,
        "open": _left(at),
        "total": len(at.criteria),
        "next": clip(step.text, LONGEST_NEXT) if at.is_open else None,
        "iteration": at.iteration,
        "max_iterations": at.max_iterations,
        "passed": sorted(name for name, state in at.states.items() if state.last_pass_iteration is not None),
        **_state(at),
    }


def _left(at: Standing) -> int:
    """The criteria that do not pass: also those nobody works on any more, and those of a run that ended so."""
    if at.ended is not None and at.ended.get("how") == "pass":
        return 0
    passing = {one.id for one in at.with_status("PASS")} - {one.id for one in at.unproven}
    return len(at.criteria) - len(passing)


def _state(at: Standing) -> Row:
    if at.ended is None:
        return {"state": "active"}
    ended_as = outcome.of(at.ended)
    if not at.is_the_users_turn:
        return {"state": "done", "outcome": ended_as}
    told = {"why": ended_as["why"], "question": _question(str(at.ended.get("how"))), "told": False, "own": True}
    # `cleared`: the run is over, so no word of the user's wakes it; they begin another.
    return {"state": "blocked", **told, "cleared": True, "outcome": ended_as}


def _question(how: str) -> str:
    if how in ("partial", "safeguard"):
        return f"What should change? omo ralph replan shows it; {START} begins again"
    if how == "circumvented":
        return "Run it in full again, or authorise less yourself: omo ralph start … --reduced-scope REASON"
    return "Begin it again, or leave it?"
