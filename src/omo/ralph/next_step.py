"""What now? The one answer that every output, every refusal and Stop give for a run as it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from omo.ralph.execution import next_phase
from omo.ralph.phase_proof import PROVEN_BY
from omo.ralph.run import ABANDON
from omo.ralph.standing import START, THEIRS, Standing, with_run
from omo.shown import clip, counted

MOST_NAMED = 6


@dataclass(frozen=True)
class Next:
    """`action` is stable, for programs; `command` is the first command that leads on."""

    action: str
    why: str
    command: str = ""

    @property
    def text(self) -> str:
        return f"{self.why}: {self.command}" if self.command else self.why

    def about(self, run: str) -> Next:
        """The same, of a run that was named with --run."""
        return replace(self, command=with_run(self.command, run))

    @property
    def data(self) -> dict[str, str]:
        return {"action": self.action, "why": self.why, "command": self.command}


def next_step(at: Standing | None, problems: Sequence[str] = ()) -> Next:
    if at is None:
        return Next("start", "there is no ralph run", START)
    if problems:
        why = f"the ledger was changed by hand ({clip(problems[0], 100)}), so nothing can be judged on it"
        return Next("abandon", why, ABANDON)
    if at.ended is not None:
        how = str(at.ended.get("how"))
        return ENDS.get(how, _unknown_end)(at)
    return _iterating(at) if at.open_iteration else _between(at)


def named(ids: Sequence[str]) -> str:
    """A few of them, and how many more."""
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return (", ".join(ids[:MOST_NAMED]) or "nothing") + more


def _between(at: Standing) -> Next:
    if at.iteration == 0:
        return Next("exec", f"{named(at.remaining)} open, no iteration yet", "omo ralph exec")
    why = f"{named(at.remaining)} open after iteration {at.iteration} of {at.max_iterations}"
    return Next("replan", why, "omo ralph replan, then omo ralph exec")


def _iterating(at: Standing) -> Next:
    where = f"{named(at.remaining)} open, iteration {at.iteration} of {at.max_iterations}"
    phase = next_phase(at)
    if phase:
        agent = PROVEN_BY[phase] or "omo gate run"
        return Next("phase", f"{where}, {phase} ({agent})", f"omo ralph phase {phase}")
    return Next("judge", f"{where}, a verdict is due", _judging(at))


def _judging(at: Standing) -> str:
    """An answer counts for one brief, so a judgement that could not tell needs another."""
    asks = any(one.questions for one in at.criteria) and len(at.briefs) <= at.unknown_calls
    return "omo ralph artifacts, " + ("omo ralph brief for omo:judge, " if asks else "") + "omo ralph judge"


def _passed(at: Standing) -> Next:
    return Next("done", f"every criterion passes, iteration {at.iteration} of {at.max_iterations}")


def _partial(at: Standing) -> Next:
    blocked = named([one.id for one in at.with_status("BLOCKED")])
    return Next("tell-user", f"settled, and {blocked} blocked; tell the user what was tried", "omo ralph replan")


def _safeguard(at: Standing) -> Next:
    used = counted(at.max_iterations, "iteration")
    why = f"{used} {'is' if at.max_iterations == 1 else 'are'} used up and {named(at.remaining)} open; tell the user so"
    return Next("tell-user", why, "omo ralph replan")


def _circumvented(at: Standing) -> Next:
    times = counted(at.circumventions, "time")
    return Next("tell-user", f"judgement was asked for {times} over phases that did not happen", THEIRS)


def _abandoned(at: Standing) -> Next:
    if at.is_the_users_turn:
        return Next("tell-user", "the agent gave the run up", THEIRS)
    return Next("start", "the run was abandoned", START)


def _unknown_end(at: Standing) -> Next:
    return Next("start", "the run is over", START)


ENDS: dict[str, Callable[[Standing], Next]] = {
    "pass": _passed,
    "partial": _partial,
    "safeguard": _safeguard,
    "circumvented": _circumvented,
    "abandoned": _abandoned,
}
