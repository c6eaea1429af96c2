"""What hooks read of a run: how much is open, what is next, and whether Stop holds."""

from __future__ import annotations

from typing import Any

from omo.hooks import session
from omo.ralph.next_step import Next, next_step
from omo.ralph.run import KIND, RalphRun, Standing
from omo.ralph.standing import START
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import part
from omo.work import outcome

Row = dict[str, Any]

LONGEST_NEXT = 300


def tell(run: RalphRun, at: Standing | None = None, *, begins: bool = False) -> Next:
    """Bring the session's summary up to the ledger. A criterion that passes for the first time gives the budget back.

    `begins` takes the place of an earlier run. Otherwise a run that was only named with --run is told to nobody.
    """
    known, problems = (at, []) if at is not None else run.look()
    step = next_step(known, problems)
    if problems and known is not None and is_over(run.told(), known.run):
        step = Next("start", "the run is over, and its ledger was changed by hand", START)
    elif problems and known is not None:
        _put_damage(run, known.run, step)
    elif known is not None and (known.started or known.ended):
        _put(run, known, summarize(known, step), begins=begins)
    return step.about(run.named)


def is_over(told: Row, name: str) -> bool:
    """By what the session was told while the ledger was whole."""
    return told.get("run") == name and (bool(told.get("cleared")) or told.get("state") == "done")


def _put_damage(run: RalphRun, name: str, step: Next) -> None:
    """Nothing of a damaged ledger is told but that it is: a run that holds goes on to, one that is over stays so."""

    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        fresh = {**old, "next": clip(step.text, LONGEST_NEXT)}
        if old.get("run") != name or old.get("state") != "active" or fresh == old:
            return runtime.Change(None)
        event = {"kind": KIND, "run": name, "state": "active", "open": old.get("open"), "next": fresh["next"]}
        return runtime.Change(None, session.put_work(row, KIND, fresh, limits=run.limits, now=run.now), [event])

    runtime.change_session(run.state, run.holder(name), decide, actor=run.by, now=run.now, wait=run.wait)


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


def _put(run: RalphRun, at: Standing, fresh: Row, *, begins: bool) -> None:
    def decide(row: Row | None) -> runtime.Change:
        old = part(part(row or {}, "work"), KIND)
        if not begins and run.named and old.get("run") != at.run:
            return runtime.Change(None)  # looked at by name, and nobody's any more
        progressed = old.get("run") == at.run and not set(fresh["passed"]) <= set(old.get("passed") or [])
        summary = session.kept_state(row or {}, old, fresh)  # a new run undoes neither a pause nor a breaker
        if summary == old:
            return runtime.Change(None)
        after = session.put_work(row, KIND, summary, limits=run.limits, now=run.now)
        if progressed:
            after = session.progress(after)
        event = {"kind": KIND, "run": at.run, "state": summary["state"], "open": fresh["open"], "next": fresh["next"]}
        return runtime.Change(None, after, [event])

    name = run.session if begins else run.holder(at.run)
    runtime.change_session(run.state, name, decide, actor=run.by, now=run.now, wait=run.wait)
