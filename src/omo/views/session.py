"""How one session stands: the single reading that Stop, status, the status line and `explain stop` share.

Nothing here opens a ledger but its end, so that a status line costs what a hook costs.
"""

from __future__ import annotations

from omo import settings, table
from omo.errors import Unreadable
from omo.hosts import Event
from omo.json_text import Json
from omo.state import ledger, runtime
from omo.stop import rules, sentences
from omo.stop.situation import Looks, Situation
from omo.text import clip
from omo.work import budget, outcome, session, spending
from omo.work.budget import Meter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.state.rows import Limits, Outcome, SessionRow, Summary


ENDS = ("exhausted", "done")
OPEN_WORDS = ("active", "waiting", "paused", "blocked")
STATES = (*OPEN_WORDS, *ENDS)
WAITING = ("waiting", "paused", "blocked")
LONGEST = 300


class Work:
    """One kind of work, as the session's row sums it up for the hooks."""

    def __init__(self, kind: str, summary: Summary) -> None:
        self.kind = kind
        self.state = clip(runtime.word_of(summary), 20)  # gates that no run holds have none
        if runtime.is_asking(summary):
            self.state = "blocked"
        self.open = _count(summary.get("open"))
        self.total = max(_count(summary.get("total")), self.open)
        self.next = _line(summary.get("next"))
        self.why = _line(summary.get("why"))
        self.question = _line(summary.get("question"))
        self.run = _line(summary.get("run"))
        self.ended_by = _line(summary.get("endedBy"))
        self.is_answered = summary.get("answered") is True
        is_own = summary.get("own") is True
        self.is_stopped = runtime.is_paused_by_user(summary)
        # Not what the workflow itself put so, which knows what comes next.
        self.is_at_rest = self.state == "paused" or (self.state == "waiting" and not is_own)
        self.changed = ""  # after it was called done, so that it is open again, or will be at the next Stop
        if isinstance(summary.get("changed"), list):
            self.changed = sentences.files_changed(summary["changed"])
        self.outcome: Outcome | None = None
        if summary.get("state") == "ended":
            self.outcome = outcome.of(summary)

    @property
    def done(self) -> int:
        return self.total - self.open

    @property
    def how(self) -> str:
        """How it ended, in the words of its outcome; empty while it goes on."""
        if self.outcome is None:
            return ""
        return clip(outcome.in_words(self.outcome), LONGEST)

    @property
    def data(self) -> Json:
        data: Json = {"kind": self.kind, "state": self.state, "done": self.done, "total": self.total}
        for name in ("next", "why", "question", "changed", "how", "run", "ended_by", "outcome"):
            if value := getattr(self, name):
                data[name] = value
        return data


class View:
    """`rule` is what the Stop hook would decide by if the session stopped now; `work` has what leads first.

    `is_vouched`: its ledger was asked whether it says the same of what is done.
    """

    def __init__(self, name: str, now: Situation, *, is_vouched: bool = True) -> None:
        self.name = name
        self.now = now
        self.is_vouched = is_vouched
        stored = now.row
        self.work = _works_in(stored)
        self.rule = rules.deciding_rule(now)
        for work in self.work:
            if work.kind in now.reopened:
                work.changed = Work(work.kind, now.row["work"][work.kind]).changed
        now.row = stored  # nobody but Stop opens again what was called done

    @property
    def row(self) -> SessionRow:
        return self.now.row

    @property
    def decision(self) -> str:
        return "block" if self.rule.blocks else "allow"

    @property
    def is_idle(self) -> bool:
        """Nothing holds this session, and nothing is about to be said in it."""
        return self.rule.turn == rules.OFF

    @property
    def is_fenced(self) -> bool:
        return runtime.is_fenced(self.row)

    @property
    def mode(self) -> str:
        """One word: off, active, waiting, paused, blocked, exhausted, done, cancelled; or unreadable."""
        if self.now.unreadable:
            return "unreadable"
        if session.is_cancelled(self.row) and not self._had_nothing_to_cancel():
            return "cancelled"
        is_live = runtime.is_live(self.row)
        states = [work.state for work in self.work]
        for state in STATES if is_live else ENDS:
            if state in states:
                return state
        return "active" if is_live else "off"

    def _had_nothing_to_cancel(self) -> bool:
        """Nothing was on when the user cancelled, and nothing was begun since: what there is had ended before."""
        return self.row["stopContinuation"].get("ended") == [] and not runtime.left_open(self.row)

    @property
    def leading(self) -> Work | None:
        """What the session is about: active work, else what waits, else how it ended."""
        for state in STATES:
            for work in self.work:
                if work.state == state:
                    return work
        others = [work for work in self.work if work.state != runtime.CANCELLED or session.is_cancelled(self.row)]
        return others[0] if others else None

    @property
    def outcome(self) -> Outcome | None:
        """How the session ended, as Stop tells it: the worst of all that is over. None while something goes on."""
        if self.mode not in ENDS or not self.is_vouched:
            return None
        ended = [*runtime.let_go(self.row), *runtime.over(self.row)]
        return sentences.whole_outcome(ended, self.row)

    @property
    def breakers(self) -> dict[str, Meter]:
        """What is used of each limit that lets the session go: blocks without progress, blocks in all, hours."""
        ulw, limits = self.now.ulw, self.now.limits
        past = self.now.since(ulw.get("armedAt"))
        hours = round(past / 3600, 2) if past != float("inf") else 0.0
        meters = [
            Meter("blocks", _count(ulw.get("stopBlocks")), limits["max_stop_blocks"]),
            Meter("total", _count(ulw.get("totalBlocks")), limits["max_total_blocks"]),
            Meter("hours", hours, limits["max_hours"]),
        ]
        return {meter.kind: meter for meter in meters}

    @property
    def budget(self) -> str:
        """▰▰▰▱▱ 61 %: 1.2M of 2M tokens; empty without one."""
        meter = budget.fullest(self.row)
        if meter is None:
            return ""
        if why := budget.unknown_tokens(self.row):
            return f"unknown: {budget.all_in_words(self.row)} ({why})"
        return f"{meter.bar} {meter.percent} %: {budget.all_in_words(self.row)}"

    @property
    def data(self) -> Json:
        return {
            "session": self.name,
            "mode": self.mode,
            "fenced": self.is_fenced,
            "outcome": self.outcome,
            "work": [work.data for work in self.work],
            "breakers": {kind: breaker.data for kind, breaker in self.breakers.items()},
            "budget": self.budget,
            "nextStop": {"decision": self.decision, "rule": self.rule.name, "why": self.rule.why},
        }


def session_view(
    state: str,
    name: str,
    limits: Limits,
    now: float,
    environ: Mapping[str, str],
    *,
    known: SessionRow | None = None,
    head: ledger.Head | None = None,
    asks_ledger: bool = True,
    patience: float = float("inf"),
    root: str = "",
) -> View:
    """What the Stop hook would look at now; of what only the host tells it, nothing. Files only where `root` says
    whose.

    A cooldown is over in seconds, and what is shown stays, so it is left out but where `patience` is that of a hook.
    `known` is the session's row and `head` its ledger's end, where these were read already. Without `asks_ledger` the
    row speaks alone, for a list of many sessions.
    """
    row, unreadable = known, ""
    event = Event(name)
    try:
        if row is None:
            row = runtime.session(state, name)
        # The hook decides under the lock, on the ledger's word; where nothing may be held, the row stands as it is.
        if row is not None and asks_ledger and rules.may_be_held(event, row, environ):
            row = runtime.caught_up(state, name, row, head)
        elif row is not None and asks_ledger:
            row = runtime.doubted(state, name, row, head)
    except Unreadable as error:  # it lets go then
        unreadable = error.message
    if row is not None and runtime.is_live(row):
        row = spending.Counter(state, name, keeps=False).counted(row, now)
    situation = Situation(
        event,
        row,
        limits,
        now,
        disabled=settings.is_disabled(environ),
        unreadable=unreadable,
        patience=patience,
        looks=Looks(event, root),
    )
    return View(name, situation, is_vouched=asks_ledger)


def _works_in(row: SessionRow) -> list[Work]:
    summaries = row["work"]
    known = [kind for kind in table.BY_KIND if kind in summaries]
    others = [kind for kind in summaries if kind not in table.BY_KIND]
    return [Work(kind, summaries[kind]) for kind in known + others]


def _count(value: object) -> int:
    """What a counter says that anybody may have edited."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _line(value: object) -> str:
    return clip(str(value), LONGEST) if value else ""
