"""What a run may spend at most, which only the user says, and how much of it is spent. Functions of a session's row.

`budget` in the row has the ceilings, `spent` what was seen: tokens by the host's own record (omo.work.spending), the
time in which turns were running, and the agents that a hook saw starting.
"""

from __future__ import annotations

from omo import settings
from omo.clock import seconds, stamp
from omo.errors import BadInput
from omo.settings import MOST_SPENT
from omo.text import clip, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.state.rows import Budget, SessionRow, Spent

TOKENS, MINUTES, AGENTS = KINDS = ("tokens", "minutes", "agents")
COMMAND = "/omo:budget"
FORM = f"for example: {COMMAND} 2M tokens, {COMMAND} 90 min, {COMMAND} 20 agents, {COMMAND} off"
MARKS = (90, 75, 50)
BAR = 10  # letters


class Meter:
    """One limit that lets a session go, and how much of it is used."""

    def __init__(self, kind: str, used: float, most: float) -> None:
        self.kind = kind
        self.used = used
        self.most = most

    @property
    def left(self) -> float:
        return max(0, self.most - self.used)

    @property
    def data(self) -> dict[str, float]:
        return {"used": self.used, "of": self.most, "left": self.left}

    @property
    def percent(self) -> int:
        return int(100 * self.used / self.most)

    @property
    def text(self) -> str:
        """1.2M of 2M tokens"""
        used = short(self.used) if self.kind == TOKENS else f"{self.used:g}"
        return f"{used} of {in_words(self.kind, self.most)}"

    @property
    def bar(self) -> str:
        full = min(BAR, self.percent * BAR // 100)
        return "█" * full + "░" * (BAR - full)


def meters(row: SessionRow) -> list[Meter]:
    """One for each ceiling that the row has; none without a budget."""
    ceilings, spent = row.get("budget", {}), row.get("spent", {})
    if not ceilings:
        return []
    minutes = int(_number(spent.get("seconds")) / 6) / 10
    used = {TOKENS: _number(spent.get("tokens")), MINUTES: minutes, AGENTS: _number(spent.get("agents"))}
    return [Meter(kind, used[kind], most) for kind in KINDS if (most := _number(ceilings.get(kind)))]


def unknown_tokens(row: SessionRow) -> str:
    """Why nobody knows how many tokens were spent, where a ceiling asks for them."""
    is_asked = bool(_number(row.get("budget", {}).get(TOKENS)))
    return clip(str(row.get("spent", {}).get("unknown") or ""), 200) if is_asked else ""


def fullest(row: SessionRow) -> Meter | None:
    return max(meters(row), key=lambda meter: meter.percent, default=None)


def is_reached(row: SessionRow) -> bool:
    return any(meter.used >= meter.most for meter in meters(row))


def is_used_up(row: SessionRow) -> bool:
    """What nobody can count may be any amount."""
    return bool(row.get("budget")) and (bool(unknown_tokens(row)) or is_reached(row))


def cause(row: SessionRow) -> str:
    """Why the run was let go, as the end of it says."""
    reached = [meter.text for meter in meters(row) if meter.used >= meter.most]
    if reached:
        return f"budget: {', '.join(reached)} spent"
    return f"budget: nobody knows how many of {_token_ceiling(row)} are spent, {unknown_tokens(row)}"


def way_on(row: SessionRow) -> str:
    """The line that raises the budget, for a run that it has let go."""
    higher = [_higher(meter) for meter in meters(row) if meter.used >= meter.most]
    if higher:
        return f"{COMMAND} {' '.join(higher)} raises it and goes on."
    return f"{COMMAND} {_token_ceiling(row)} counts anew and goes on; {COMMAND} off goes on without."


def _higher(meter: Meter) -> str:
    """Twice as much, or as often as it takes to have something left."""
    more = 2 * meter.most
    while more <= 1.01 * meter.used:  # written short it may be a little less
        more *= 2
    return in_words(meter.kind, more)


def _token_ceiling(row: SessionRow) -> str:
    return in_words(TOKENS, _number(row.get("budget", {}).get(TOKENS)))


def all_in_words(row: SessionRow) -> str:
    """1.2M of 2M tokens, 12 of 90 min"""
    words = []
    for meter in meters(row):
        is_known = meter.kind != TOKENS or not unknown_tokens(row)
        words.append(meter.text if is_known else f"an unknown part of {in_words(TOKENS, meter.most)}")
    return ", ".join(words)


def ceilings_in_words(row: SessionRow) -> str:
    """2M tokens, 90 min"""
    return ", ".join(in_words(meter.kind, meter.most) for meter in meters(row))


def in_words(kind: str, amount: float) -> str:
    """2M tokens, 90 min, 1 agent"""
    if kind == TOKENS:
        return f"{short(amount)} tokens"
    return f"{amount:g} min" if kind == MINUTES else counted(int(amount), "agent")


def short(tokens: float) -> str:
    """2M, 1.25M, 512k, 90; never more than was counted."""
    for suffix, size in (("B", 10**9), ("M", 10**6), ("k", 10**3)):
        if tokens >= size:
            return f"{int(tokens * 100 / size) / 100:g}{suffix}"
    return f"{int(tokens)}"


def due_mark(row: SessionRow) -> int:
    """The highest mark that is reached and was not told; 0 where there is none."""
    if not row.get("budget"):
        return 0
    meter = fullest(row)
    if meter is None or is_used_up(row):
        return 0
    told = _number(row.get("spent", {}).get("told"))
    return next((mark for mark in MARKS if told < mark <= meter.percent), 0)


def notice(row: SessionRow) -> str:
    return f"omo: {due_mark(row)} % of the budget is spent: {all_in_words(row)}."


def note_told(row: SessionRow) -> SessionRow:
    return _noted(row, {"told": due_mark(row)})


def with_settings(row: SessionRow, own: Budget) -> SessionRow:
    """A run that no prompt of the user's armed gets the ceilings of their settings when a hook first sees it."""
    return row if "budget" in row else {**row, "budget": own}


def begin(row: SessionRow, own: Budget | None, *, now: float) -> SessionRow:
    """A new run, of which nothing is spent. What the user typed in this conversation goes before their settings, `own`,
    which are None where nobody knows them yet."""
    begun: SessionRow = {**row, "spent": {"since": stamp(now)}}
    if row.get("budget", {}).get("by") != "user":
        begun.pop("budget", None)
        if own is not None:
            begun["budget"] = own
    return begun


def set_by_user(row: SessionRow, ceilings: Budget | None) -> SessionRow:
    """The new ceilings beside the old ones; None takes all away. A mark that is ahead again will be told again."""
    if ceilings is None:
        kept: Budget = {"by": "user"}
    else:
        kept = {**row.get("budget", {}), **ceilings, "by": "user"}
    after: SessionRow = {**row, "budget": kept}
    meter = fullest(after)
    reached = meter.percent if meter else 0
    return _noted(after, {"told": next((mark for mark in MARKS if mark <= reached), 0)})


def since(row: SessionRow) -> str:
    """When the run began, or another conversation took it up."""
    return str(row.get("spent", {}).get("since") or row["ulw"].get("armedAt") or "")


def start_clock(row: SessionRow, now: float) -> SessionRow:
    """A turn is running from now on, if it was not yet."""
    return row if row.get("spent", {}).get("runningSince") else _noted(row, {"runningSince": stamp(now)})


def count_time(row: SessionRow, now: float) -> SessionRow:
    """The time of the running turn is added, up to now."""
    spent = row.get("spent", {})
    began = spent.get("runningSince")
    passed = 0.0
    if isinstance(began, str):
        try:
            passed = max(0.0, now - seconds(began))
        except ValueError:
            pass  # edited by hand
    return _noted(row, {"seconds": round(_number(spent.get("seconds")) + passed, 1), "runningSince": stamp(now)})


def stop_clock(row: SessionRow) -> SessionRow:
    """No turn is running, and no time is spent until the next."""
    return _noted(row, {"runningSince": None})


def stop_clock_at(row: SessionRow, moment: str) -> SessionRow:
    """A turn whose end no hook saw has run until that moment."""
    try:
        return stop_clock(count_time(row, seconds(moment)))
    except ValueError:
        return stop_clock(row)


def taken_up(row: SessionRow, now: float) -> SessionRow:
    """Another conversation, whose record a hook will name, has taken the work up."""
    return _noted(row, {"takenAt": stamp(now)})


def agent_asked(row: SessionRow) -> SessionRow:
    """A call that starts an agent goes through; whether one starts is seen later."""
    return _noted(row, {"asked": _agents_asked(row) + 1})


def with_agents_asked(row: SessionRow) -> SessionRow:
    """As if each agent that was asked for in this turn had started: several are asked for before the first starts."""
    return _noted(row, {"agents": _agents_asked(row)})


def _agents_asked(row: SessionRow) -> int:
    spent = row.get("spent", {})
    return int(max(_number(spent.get("asked")), _number(spent.get("agents"))))


def agent_started(row: SessionRow, record: str) -> SessionRow:
    spent = row.get("spent", {})
    records = list(spent.get("records") or [])
    if record:
        records.append(record)
    return _noted(row, {"agents": _number(spent.get("agents")) + 1, "records": records})


def turn_ended(row: SessionRow) -> SessionRow:
    """What was asked for and did not start by now was refused."""
    return _noted(row, {"asked": _number(row.get("spent", {}).get("agents"))})


def read_request(text: str) -> Budget | None:
    """What the user typed behind the command: ceilings by kind; None for off."""
    try:
        asked: Any = settings.budget(text)
    except settings.BadSetting:
        raise BadInput(f"{clip(text, 60)!r} is no budget", fix=FORM) from None
    ceilings: Budget | None = asked
    return ceilings


def _noted(row: SessionRow, changes: Spent) -> SessionRow:
    return {**row, "spent": {**row.get("spent", {}), **changes}}


def _number(value: object) -> Any:
    """What a counter says that anybody may have edited."""
    is_count = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_SPENT
    return value if is_count else 0
