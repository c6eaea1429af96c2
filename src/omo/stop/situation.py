"""What a Stop is decided on: the session's row and limits, the host's event, and of the world what a rule asks for."""

from __future__ import annotations

from omo import hosts, settings
from omo.clock import seconds
from omo.state.rows import EMPTY
from omo.state.runtime import work_in
from omo.work import bound, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.hosts import Event, OtherLoop, Refusal, ToolCall
    from omo.proof.base import Since
    from omo.state.rows import Limits, Message, SessionRow, Summary, Ulw
    from omo.state.runtime import Works

LONGEST_WAIT = 6.0  # seconds a Stop may wait for a cooldown: hooks.json lets it run for ten


class Looks:
    """What rules ask of the world beside the row: looked at if a rule asks, and once for a Stop.

    A view has no project whose files it would look at (`root`), or only asks them and waits for nobody.
    """

    def __init__(self, event: Event, root: str = "", wait: Callable[[float], None] | None = None) -> None:
        self.event = event
        self.root = root
        self.wait = wait
        self._queued: bool | None = None
        self._changed: dict[float, bool] = {}

    def is_queued(self) -> bool:
        """Has the user typed something that waits for the end of this turn?"""
        if self._queued is None:
            transcript = self.event.transcript
            self._queued = transcript.stays_queued(self.wait) if self.wait else transcript.queued_prompts() > 0
        return self._queued

    def is_changed(self, moment: float) -> bool:
        """Was any file of the project changed since?"""
        if not self.wait:
            return True
        from omo.proof import base

        if moment not in self._changed:
            self._changed[moment] = base.is_changed(self.root, moment)
        return self._changed[moment]

    def since(self, summary: Summary) -> Since | None:
        """What became of the files that an end speaks of."""
        return bound.look_again(self.root, summary) if self.root else None


class Situation:
    """Everything the rules look at. `patience` is how many seconds the hook may still wait for a cooldown.

    `reopened` and `doubts` are what came of a look at the files that ends speak of, by kind of work.
    """

    def __init__(
        self,
        event: Event,
        row: SessionRow | None,
        limits: Limits,
        now: float,
        *,
        disabled: bool = False,
        unreadable: str = "",
        patience: float = LONGEST_WAIT,
        looks: Looks | None = None,
    ) -> None:
        self.event = event
        self.row = row or EMPTY
        self.limits = limits_of(self.row, limits)
        self.now = now
        self.disabled = disabled
        self.unreadable = unreadable
        self.patience = patience
        self.looks = looks or Looks(event)
        self.reopened: list[str] = []
        self.doubts: dict[str, Since] = {}
        self._message: Message | None = None
        self._loop: OtherLoop | None = None
        self._refusals: list[Refusal] | None = None

    def look_at_ends(self, *, goes_on: bool = True) -> bool:
        """Before an end is told: work whose files have changed since is active again, where the turn `goes_on`. Did
        any change?"""
        for kind, summary in session.bound_ends(self.row):
            since = self.looks.since(summary)
            if since is None:
                continue
            is_over = bool(summary.get("stopped")) or not goes_on
            if since.unknown or (since.changed and is_over):
                self.doubts[kind] = since
            elif since.changed:
                self.row = session.reopened(self.row, kind, since.changed)
                self.reopened.append(kind)
        return bool(self.reopened)

    @property
    def ulw(self) -> Ulw:
        return self.row["ulw"]

    def active(self) -> Works:
        return work_in(self.row, "active")

    def since(self, text: str | None) -> float:
        """Seconds since a recorded moment; for ever if there was none, or it was edited into nonsense, as the rule
        invalid-state says. A clock that went back counts as no time."""
        try:
            return max(0.0, self.now - seconds(text)) if text else float("inf")
        except (ValueError, TypeError, AttributeError):
            return float("inf")

    def cooldown_left(self) -> float:
        """Seconds until the next block may be given. A block in the future was given by a clock that was wrong."""
        cooldown = float(self.limits["cooldown_seconds"])
        text = self.row["ulw"].get("lastStopAt")
        if not text or seconds(text) > self.now + cooldown:
            return 0.0
        return max(0.0, cooldown - self.since(text))

    def other_loop(self) -> OtherLoop:
        """What else holds the session. A view has no event to ask: the one that the last Stop saw."""
        if self._loop is None:
            self._loop = self.row["ulw"].get("otherLoop", {})
            if self.event.name:
                self._loop = self.event.host.other_loop(self.event)
        return self._loop

    def refusals(self) -> list[Refusal]:
        """What the host did not let the agent do since it was last sent back."""
        if self._refusals is None:
            ulw = self.row["ulw"]
            since = ulw.get("refused", {}).get("at") or ulw.get("lastStopAt") or ulw.get("armedAt")
            self._refusals = self.event.transcript.refused_since(str(since or ""))
        return self._refusals

    def is_at_a_wall(self) -> bool:
        """It was told what the host refuses. Since then it was refused again or tried nothing, and changed no file."""
        told_at = self.row["ulw"].get("refused", {}).get("at")
        if not isinstance(told_at, str):
            return False
        is_stuck = bool(self.refusals()) or self._has_tried_nothing(told_at)
        return is_stuck and not self.looks.is_changed(seconds(told_at))

    def message(self) -> Message:
        """What a person wrote since the run was armed or resumed, if the agent has changed no file since.

        One that has only answered has not, whoever else did: a user who takes over, or a tool that was running then.
        """
        if self._message is None:  # three rules ask, and the transcript may be long
            self._message = {}
            message = self.row["ulw"].get("said", {})
            moment = message.get("at")
            if isinstance(moment, str):
                if self._has_tried_nothing(moment) or not self.looks.is_changed(seconds(moment)):
                    self._message = message
        return self._message

    def _has_tried_nothing(self, moment: str) -> bool:
        """The agent has called no tool since then but to ask omo, or for its to-do list; False where nobody knows."""
        calls = self.event.transcript.calls_since(moment)
        return calls is not None and not any(_is_work(call) for call in calls)


def limits_of(row: SessionRow, own: Limits) -> Limits:
    """Those the user armed the run with. Of those an agent's command stored, what holds the session no less.

    The hook's own come from the user's environment; the agent's shell may say anything.
    """
    stored: Limits = {**own, **stored_limits(row)}
    if row["ulw"].get("by") == "user":
        return stored
    usual = settings.DEFAULT_LIMITS
    # What is stored counts up to the default. A cooldown holds the longer the shorter it is.
    return {
        "max_stop_blocks": max(own["max_stop_blocks"], min(stored["max_stop_blocks"], usual["max_stop_blocks"])),
        "cooldown_seconds": min(own["cooldown_seconds"], max(stored["cooldown_seconds"], usual["cooldown_seconds"])),
        "max_total_blocks": max(own["max_total_blocks"], min(stored["max_total_blocks"], usual["max_total_blocks"])),
        "max_hours": max(own["max_hours"], min(stored["max_hours"], usual["max_hours"])),
    }


def stored_limits(row: SessionRow) -> Limits:
    """The limits the run was armed with, as far as they are usable."""
    stored = row["ulw"].get("limits", {})
    usable: Any = {}
    for knob in settings.LIMITS:
        try:
            usable[knob.name] = knob.parse(stored.get(knob.name))
        except settings.BadSetting:
            continue
    limits: Limits = usable
    return limits


def _is_work(call: ToolCall) -> bool:
    """Does this tool call do anything but ask omo, or keep a to-do list?"""
    if call.kind == hosts.TO_DO:
        return False
    return call.kind != hosts.SHELL or not is_omo_only(call.command)


def is_omo_only(command: str) -> bool:
    """One or more `omo …` commands, and nothing else in the text."""
    from omo import shell

    programs = [shell.name(words) for words in shell.commands(command)]
    return bool(programs) and set(programs) == {"omo"}
