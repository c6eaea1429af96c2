"""What now? The answer that every output, every refusal and Stop give for a run as it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from omo.ralph.rules import PROVEN_BY, next_phase
from omo.ralph.standing import START, Standing
from omo.shown import clip, counted
from omo.work.status import Command, NextStep, command, named

Next = NextStep

BEGIN = command(START)
REPLAN = command("omo ralph replan")
# It ended in a way that the user has to hear of first.
THE_USERS_TURN = (
    Command(lead="end your turn: Stop shows the user how it ended, and they decide"),
    command(START, after="comes after that"),
)


def next_step(at: Standing | None, problems: Sequence[str] = ()) -> Next:
    if at is None:
        return Next("start", "there is no ralph run", (BEGIN,))
    if problems:
        why = f"the ledger was changed by hand ({clip(problems[0], 100)}), so nothing can be judged on it"
        sealing = command("omo state clear --mode ralph --force", lead="they run, in a terminal of their own")
        return Next("seal", why, (sealing,), who="user")
    if at.ended is not None:
        how = str(at.ended.get("how"))
        return ENDS.get(how, _unknown_end)(at)
    return _iterating(at) if at.open_iteration else _between(at)


def _between(at: Standing) -> Next:
    if at.iteration == 0:
        return Next("exec", f"{named(at.remaining)} open, no iteration yet", (command("omo ralph exec"),))
    why = f"{named(at.remaining)} open after iteration {at.iteration} of {at.max_iterations}"
    return Next("replan", why, (command("omo ralph replan"), command("omo ralph exec", lead="then")))


def _iterating(at: Standing) -> Next:
    where = f"{named(at.remaining)} open, iteration {at.iteration} of {at.max_iterations}"
    phase = next_phase([row["name"] for row in at.phases], at.reduced_scope)
    if phase:
        agent = PROVEN_BY[phase] or "omo gate run"
        return Next("phase", f"{where}, {phase} ({agent})", (command(f"omo ralph phase {phase}"),))
    return Next("judge", f"{where}, a verdict is due", _judging(at))


def _judging(at: Standing) -> tuple[Command, ...]:
    """An answer counts for one brief, so a judgement that could not tell needs another."""
    asks = any(criterion.questions for criterion in at.criteria) and len(at.briefs) <= at.unknown_calls
    commands = [command("omo ralph artifacts")]
    if asks:
        commands.append(command("omo ralph brief", after="for omo:judge"))
    return (*commands, command("omo ralph judge"))


def _passed(at: Standing) -> Next:
    return Next("done", f"every criterion passes, iteration {at.iteration} of {at.max_iterations}")


def _partial(at: Standing) -> Next:
    blocked = named([one.id for one in at.with_status("BLOCKED")])
    return Next("tell-user", f"settled, and {blocked} blocked; tell the user what was tried", (REPLAN,))


def _safeguard(at: Standing) -> Next:
    used = counted(at.max_iterations, "iteration")
    why = f"{used} {'is' if at.max_iterations == 1 else 'are'} used up and {named(at.remaining)} open; tell the user so"
    return Next("tell-user", why, (REPLAN,))


def _circumvented(at: Standing) -> Next:
    times = counted(at.circumventions, "time")
    return Next("tell-user", f"judgement was asked for {times} over phases that did not happen", THE_USERS_TURN)


def _abandoned(at: Standing) -> Next:
    if at.is_the_users_turn:
        return Next("tell-user", "the agent gave the run up", THE_USERS_TURN)
    return Next("start", "the run was abandoned", (BEGIN,))


def _unknown_end(at: Standing) -> Next:
    return Next("start", "the run is over", (BEGIN,))


ENDS: dict[str, Callable[[Standing], Next]] = {
    "pass": _passed,
    "partial": _partial,
    "safeguard": _safeguard,
    "circumvented": _circumvented,
    "abandoned": _abandoned,
}
