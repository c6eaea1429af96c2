"""What skipping, recovering and starting anew cost, said before it is done: the plain call only tells."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from omo.errors import Refused
from omo.text import clip
from omo.work.outcome import ATTESTED, OPENINGS, WAIVED
from omo.workflows.ultraplan.models import Document
from omo.workflows.ultraplan.run import MOST_RECOVERIES, PlanState

YES = "--yes"


def _ask(what: str, costs: Sequence[str], argv: Sequence[str]) -> Refused:
    return Refused(
        f"{what}; not done yet, for this is what it costs", fix=shlex.join([*argv, YES]), defects=list(costs)
    )


def _at_best(*, has_exceptions: bool) -> str:
    best = OPENINGS[WAIVED] if has_exceptions else f"{OPENINGS[ATTESTED]}, or proven by a gate"
    return f"the session can then end at best as: {best}"


def skip(state: PlanState, step: int, reason: str) -> Refused:
    costs = [
        f"lost: what step {step} was to bring; what is there of it has to be taken back",
        f"{_at_best(has_exceptions=bool(state.exceptions))}, with the step named as skipped, and your reason",
        f"allowed by: the plan, whose On failure of step {step} says skip",
    ]
    argv = ["omo", "plan", "skip", str(step), "--reason", reason]
    return _ask(f"step {step} would be left out", costs, argv)


def recover(state: PlanState, missing: Sequence[int], depth: int) -> Refused:
    listed = ", ".join(map(str, missing))
    costs = [
        f"used up: recovery {depth} of {MOST_RECOVERIES}; plan session {state.run} is closed, a new one begins",
        "lost: nothing that is committed; the end answers for the whole session, from where it began",
        _at_best(has_exceptions=bool(state.exceptions)),
    ]
    allowed = "you, for the session is still open"
    if state.end:
        allowed = "the user, who was shown how it ended; recover only if they said so"
    return _ask(f"step {listed} would be recovered", [*costs, f"allowed by: {allowed}"], ["omo", "plan", "recover"])


def require_restart_agreed(plan: Document, number: int, runs: Sequence[PlanState]) -> None:
    """A session that failed or was given up begins anew only once it is known what that means."""
    earlier = [state for state in runs if state.number == number and state.end in ("failed", "abandoned")]
    if not earlier:
        return
    state = earlier[-1]
    committed: list[str] = []
    for each in earlier:
        committed += map(str, each.finished.get("violations") or [])
    costs = [
        f"lost: the record of plan session {state.run} ({state.end}); its commits stay, and the new one begins after "
        "them, so what they did counts for none of its steps",
        _at_best(has_exceptions=bool(committed or state.left_behind)),
        "allowed by: the user, who was shown how it ended; start anew only if they said so",
    ]
    if committed:
        costs.insert(1, f"kept as an exception: {clip('; '.join(committed), 200)}")
    argv = ["omo", "plan", "start", plan.path]
    if state.sessions > 1:
        argv.append(str(number))
    raise _ask(f"session {number} of {plan.path} was begun before and would begin anew", costs, argv)
