"""How many tokens a run has spent: by the host's own record of the session and of its agents, read on from where it
was read before.

What was counted is kept in a file beside the session's ledger. It is worth nothing alone: without it, all entries
since the run began are counted again.
"""

from __future__ import annotations

import os

from omo import hosts
from omo.clock import stamp
from omo.errors import OmoError
from omo.json_text import Json
from omo.state import paths, store
from omo.state.rows import without
from omo.work import budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hosts import Event, Usage
    from omo.state.rows import SessionRow, Spent


REMEMBERED = 4  # calls of a record, whose rows may come before and after a look at it
GONE = "the host's record of the session is gone or was cut"
OTHER_FORM = "the host's record of the session is in a form that omo does not know"
NO_RECORD = "the host names no record of the session"
NOTHING_IN_IT = "the host's record of the session says nothing of tokens"


class Counter:
    """Counts for one decision; asked a second time about the same, it has the answer.

    A look keeps nothing. Before the first turn of a session `may_be_new`: there is no record of it yet.
    """

    def __init__(self, state: str, session: str, *, keeps: bool = True, may_be_new: bool = False) -> None:
        self._file = paths.spending_file(state, session)
        self._keeps = keeps
        self._may_be_new = may_be_new
        self._known: tuple[Json, Spent] | None = None

    def counted(self, row: SessionRow, now: float) -> SessionRow:
        """The row with the time and the tokens that are spent by now. Without a ceiling of tokens no record is read."""
        if row.get("spent", {}).get("runningSince"):
            row = budget.count_time(row, now)
        if not row.get("budget", {}).get(budget.TOKENS):
            return row
        spent = row.get("spent", {})
        asked = {key: spent.get(key) for key in ("since", "transcript", "startsAt", "records", "before", "lost")}
        if self._known is None or self._known[0] != asked:
            self._known = (asked, self._count(row))
        return {**row, "spent": {**spent, **self._known[1]}}

    def _count(self, row: SessionRow) -> Spent:
        spent = row.get("spent", {})
        if spent.get("lost"):
            return {"unknown": GONE}
        if not spent.get("transcript"):
            return {"unknown": NO_RECORD}
        try:
            count = _read(row, _kept(self._file))
        except hosts.OtherForm:
            return {"unknown": OTHER_FORM}
        except FileNotFoundError:
            is_new = self._may_be_new and spent.get("startsAt") == 0
            return {"tokens": 0, "unknown": ""} if is_new else {"unknown": GONE}
        except OSError:
            return {"unknown": GONE}
        if self._keeps:
            _keep(self._file, count)
        was_sent_back = str(row["ulw"].get("lastStopAt") or "") > budget.since(row)
        if not count.calls and was_sent_back:
            return {"unknown": NOTHING_IN_IT}
        return {"tokens": count.tokens, "unknown": ""}


class Count:
    """The tokens of a run so far. A host enters what each call of the model took; some also write sums of all that the
    session took. Calls come first, and a sum alone has what no call is entered for, such as a compaction."""

    def __init__(self, row: SessionRow, kept: Json) -> None:
        spent = row.get("spent", {})
        self.host = hosts.named(str(spent.get("host")))
        self.main = str(spent.get("transcript"))
        self.since = budget.since(row)
        self.records = list(spent.get("records") or [])
        self.before = int(spent.get("before") or 0)  # in the conversations that had the run before
        starts_at = spent.get("startsAt")
        if kept.get("of") != [self.main, self.since]:
            kept = {"files": {self.main: [starts_at or 0, {}]}, "base": 0 if starts_at == 0 else None}
        self.files: Json = kept["files"]
        self.base: int | None = kept["base"]  # of the host's sums, what was before the run; None until it is known
        self.of_calls: int = kept.get("ofCalls", 0)
        self.beside: int = kept.get("beside", 0)  # what no call is entered for
        self.calls: int = kept.get("calls", 0)

    @property
    def tokens(self) -> int:
        return self.before + self.tokens_here

    @property
    def tokens_here(self) -> int:
        """In the conversation that has the run now."""
        return self.of_calls + self.beside

    @property
    def data(self) -> Json:
        counts = {"ofCalls": self.of_calls, "beside": self.beside, "calls": self.calls, "base": self.base}
        return {"of": [self.main, self.since], "files": self.files, **counts}

    def read_on(self) -> None:
        """In the order of time: what agents spent before the host wrote a sum is part of that sum."""
        of_agents: list[Usage] = []
        for path in [*self.records, *self.host.transcript(self.main).of_agents()]:
            of_agents += self._entries(path)
        of_agents.sort(key=lambda usage: usage.at)
        for usage in self._entries(self.main):
            while usage.is_sum and of_agents and of_agents[0].at <= usage.at:
                self._add(of_agents.pop(0))
            self._add(usage)
        for usage in of_agents:
            self._add(usage)

    def _entries(self, path: str) -> list[Usage]:
        """What is new in a record; of a call that was counted before, what it has more."""
        start, known = self.files.get(path, (0, {}))
        entries, end = self.host.transcript(path, start).usage()
        fresh = []
        for usage in entries:
            if usage.key:
                before = known.pop(usage.key, [0] * len(usage.counts))
                known[usage.key] = [max(pair) for pair in zip(before, usage.counts, strict=True)]
                more = [new - old for new, old in zip(known[usage.key], before, strict=True)]
                usage = hosts.Usage(usage.key, usage.at, tuple(more))
            fresh.append(usage)
        self.files[path] = [end, dict(list(known.items())[-REMEMBERED:])]
        return fresh

    def _add(self, usage: Usage) -> None:
        amount = sum(usage.counts)
        if usage.is_sum:
            if self.base is None:
                self.base = amount - self.tokens_here
            self.beside = max(0, amount - self.base - self.of_calls)
        elif usage.at >= self.since:
            if usage.key:
                self.of_calls += amount
                self.calls += 1
            else:
                self.beside += amount


def follow(row: SessionRow, event: Event, now: float) -> SessionRow:
    """The record of the conversation in which the run is. Where another had it before, that one is counted to its end,
    if anybody asked; the new one from when it took the run up."""
    path, spent = event.transcript.path, row.get("spent", {})
    if not path or event.is_subagent or spent.get("transcript") == path:
        return row
    there: Spent = {**spent, "transcript": path, "host": event.host.name}
    if spent.get("transcript"):
        if row.get("budget", {}).get(budget.TOKENS) and not spent.get("lost"):
            try:
                there["before"] = _read(row, {}).tokens
            except (OSError, hosts.OtherForm):
                there["lost"] = True
        there.update({"since": spent.get("takenAt") or stamp(now), "startsAt": None, "records": []})
    return {**row, "spent": there}


def end_unseen_turn(row: SessionRow) -> SessionRow:
    """No turn is running any more. Where no Stop told so, as after an error of the server or in a client that was
    killed, the last one ran until the model's last word, or the last trace of the run."""
    spent = row.get("spent", {})
    if not spent.get("runningSince"):
        return row
    moment = str(row.get("lastUsedAt") or "")
    if row.get("budget", {}).get(budget.MINUTES):
        record = hosts.named(str(spent.get("host"))).transcript(str(spent.get("transcript") or ""))
        moment = max(moment, record.last_word_at())
    return budget.stop_clock_at(row, moment)


def begin(row: SessionRow, event: Event) -> SessionRow:
    """A run begins with this prompt: nothing that is in the record yet is its own."""
    spent = without(row.get("spent", {}), "records", "before")
    return {**row, "spent": {**spent, **_from_here(event)}}


def begin_anew(row: SessionRow, event: Event, now: float) -> SessionRow:
    """The user goes on although nobody knows what was spent: it is counted from now."""
    known = without(row.get("spent", {}), "before", "lost", "unknown", "records")
    anew: Spent = {**known, "since": stamp(now), "tokens": 0, "told": 0}
    return {**row, "spent": {**anew, **_from_here(event)}}


def _from_here(event: Event) -> Spent:
    return {"transcript": event.transcript.path, "host": event.host.name, "startsAt": event.transcript.size()}


def _read(row: SessionRow, kept: Json) -> Count:
    """From where it was read to; from the beginning of the run where what was kept is not as we wrote it."""
    for known in (kept, {}):
        try:
            count = Count(row, known)
            count.read_on()
            return count
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    raise hosts.OtherForm


def _kept(path: str) -> Json:
    try:
        return store.read(path) or {}
    except OmoError:
        return {}


def _keep(path: str, count: Count) -> None:
    try:
        if os.path.isdir(os.path.dirname(path)):
            store.replace(path, store.dumps(count.data) + "\n")
    except (OmoError, OSError):
        pass  # then it is counted again
