"""How one session stands: the single reading that Stop, status, the status line and `explain stop` share.

Nothing here opens a ledger but its end, so that a status line costs what a hook costs.
"""

from __future__ import annotations

from omo import settings
from omo.errors import Unreadable
from omo.hooks import session, stop
from omo.hosts import Event
from omo.shown import clip
from omo.state import runtime
from omo.state.runtime import OPEN_STATES, part
from omo.work import outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Json = dict[str, Any]

# Which work speaks for a session that has several kinds of it.
ORDER = ("ultraplan", "ultragoal", "ralph", "verify", "ulw")
STATES = (*OPEN_STATES, "exhausted", "done")
ENDS = ("exhausted", "done")
WAITING = ("waiting", "paused", "blocked")
IDLE = ("switched-off", "not-active", "cancelled")
LONGEST = 300


class Work:
    """One kind of work, as the session's row sums it up for the hooks."""

    __slots__ = ("ended_by", "kind", "next", "open", "outcome", "question", "run", "state", "total", "why")

    def __init__(self, kind: str, summary: Json) -> None:
        self.kind = kind
        self.state = clip(str(summary.get("state") or ""), 20)  # gates that no run holds have none
        self.open = _count(summary.get("open"))
        self.total = max(_count(summary.get("total")), self.open)
        self.next = _line(summary.get("next"))
        self.why = _line(summary.get("why"))
        self.question = _line(summary.get("question"))
        self.run = _line(summary.get("run"))
        self.ended_by = _line(summary.get("endedBy"))
        has_ended = self.state in ENDS or bool(summary.get("cleared"))  # given up: no word of the user's wakes it
        self.outcome = outcome.of(summary) if has_ended else None

    @property
    def is_proven(self) -> bool:
        return self.outcome is not None and outcome.is_done(self.outcome)

    @property
    def how(self) -> str:
        """How it ended, in the words that Stop has for it."""
        return "" if self.outcome is None else clip(outcome.in_words(self.outcome), LONGEST)

    @property
    def done(self) -> int:
        return self.total - self.open

    @property
    def data(self) -> Json:
        found: Json = {"kind": self.kind, "state": self.state, "done": self.done, "total": self.total}
        told = {"next": self.next, "why": self.why, "question": self.question, "how": self.how, "run": self.run}
        told["ended_by"] = self.ended_by
        known: Json = {key: value for key, value in told.items() if value}
        if self.outcome is not None:
            known["outcome"] = self.outcome
        return {**found, **known}


class Breaker:
    """One limit that lets the session go, and how much of it is used."""

    __slots__ = ("most", "name", "used")

    def __init__(self, name: str, used: float, most: float) -> None:
        self.name = name
        self.used = used
        self.most = most

    @property
    def left(self) -> float:
        return max(0, self.most - self.used)

    @property
    def data(self) -> Json:
        return {"used": self.used, "of": self.most, "left": self.left}


class View:
    """`rule` is what the Stop hook would decide by if the session stopped now."""

    __slots__ = ("name", "now", "rule")

    def __init__(self, name: str, now: stop.Situation) -> None:
        self.name = name
        self.now = now
        self.rule = stop.decide(now)

    @property
    def row(self) -> Json:
        return self.now.row

    @property
    def decision(self) -> str:
        return "block" if self.rule.blocks else "allow"

    @property
    def is_idle(self) -> bool:
        """Nothing holds this session, and nothing is about to be said in it."""
        return self.rule.name in IDLE

    @property
    def is_fenced(self) -> bool:
        return runtime.is_fenced(self.row)

    @property
    def mode(self) -> str:
        """One word: off, active, waiting, paused, blocked, exhausted, done, cancelled; or unreadable."""
        if self.now.unreadable:
            return "unreadable"
        if session.is_cancelled(self.row):
            return "cancelled"
        states = [one.state for one in self.work if one.state in STATES]
        if runtime.is_live(self.row):
            return "active" if "active" in states or not states else states[0]
        return next((word for word in ("exhausted", "done") if word in states), "off")

    @property
    def work(self) -> list[Work]:
        """What leads first. The minimum shape of the file, which has no summaries, is an ultrawork run."""
        summaries = {kind: one for kind, one in part(self.row, "work").items() if isinstance(one, dict)}
        if not summaries and part(self.row, "ulw").get("enabled"):
            summaries = {session.KIND: {"state": "active"}}
        known = [kind for kind in ORDER if kind in summaries]
        return [Work(kind, summaries[kind]) for kind in [*known, *(kind for kind in summaries if kind not in ORDER)]]

    @property
    def leading(self) -> Work | None:
        """What the session is about: active work, else what waits, else how it ended."""
        found = self.work
        for state in STATES:
            for one in found:
                if one.state == state:
                    return one
        return next(iter(found), None)

    @property
    def breakers(self) -> list[Breaker]:
        ulw, limits = self.now.ulw, self.now.limits
        return [
            Breaker("blocks", _count(ulw.get("stopBlocks")), limits["max_stop_blocks"]),
            Breaker("total", _count(ulw.get("totalBlocks")), limits["max_total_blocks"]),
            Breaker("hours", self._hours(), limits["max_hours"]),
        ]

    def _hours(self) -> float:
        try:
            past = self.now.since("armedAt")
        except (ValueError, TypeError, AttributeError):
            return 0.0
        return 0.0 if past == float("inf") else round(past / 3600, 2)

    @property
    def data(self) -> Json:
        return {
            "session": self.name,
            "mode": self.mode,
            "fenced": self.is_fenced,
            "work": [one.data for one in self.work],
            "breakers": {one.name: one.data for one in self.breakers},
            "nextStop": {"decision": self.decision, "rule": self.rule.name, "why": self.rule.why},
        }


def look(
    state: str,
    name: str,
    limits: Json,
    now: float,
    environ: Mapping[str, str],
    event: Event | None = None,
    *,
    known: Json | None = None,
) -> View:
    """What the Stop hook would look at now; `event` is what the host would send, an empty one where it is not known.

    `known` is the session's row where the whole file was read already.
    """
    event = event or Event(name)
    disabled = settings.is_disabled(environ)
    try:
        row, unreadable = runtime.session(state, name) if known is None else known, ""
    except Unreadable as error:
        row, unreadable = None, error.message
    found = View(name, stop.Situation(event, row, limits, now, disabled=disabled, unreadable=unreadable))
    if row is None:
        return found
    # The hook decides under the lock, on the ledger's word; where it decides nothing, the row stands as it is.
    try:
        ahead = runtime.doubted(state, name, row) if found.rule.then is None else runtime.caught_up(state, name, row)
    except Unreadable as error:  # it lets go then
        ahead, unreadable = row, error.message
    if ahead is row and not unreadable:
        return found
    return View(name, stop.Situation(event, ahead, limits, now, disabled=disabled, unreadable=unreadable))


def _count(value: object) -> int:
    """What a counter says that anybody may have edited."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _line(value: object) -> str:
    return clip(str(value), LONGEST) if value else ""
