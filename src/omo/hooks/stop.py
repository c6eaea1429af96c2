"""The hook that is asked whether a session may stop: what it looks at, under which lock, what it writes and answers.

The decision itself is a table that views ask too, in stop/rules.py.
"""

from __future__ import annotations

import time

from omo import hosts, settings
from omo.errors import Newer, Unreadable
from omo.hosts import Answer
from omo.state import runtime
from omo.state.rows import without
from omo.state.runtime import Change, is_live
from omo.stop import sentences
from omo.stop.rules import WOKEN, decide, may_be_held
from omo.stop.situation import LONGEST_WAIT, Looks, Situation
from omo.work import bound, budget, session, spending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.settings import Settings
    from omo.state.rows import SessionRow


def handle(event: Event, world: World, wait: Callable[[float], None] = time.sleep) -> Answer:
    """Decided once, under the lock, on one look. Within the cooldown of the last block the rest of it is waited for,
    and the table begun anew on the new state: a stop that the user types meanwhile is heard."""
    in_force = settings.load(world.environ, world.root)
    answer = Answer()
    try:
        row = runtime.session(world.state, event.session)
        if row is not None and may_be_held(event, row, world.environ):
            heard = _hear_what_was_typed(event, world, row)
            _await_last_answer(event, row, wait)
            stop = _Stop(event, world, in_force, wait)
            answer = stop.decided()
            if heard is None:
                world.left = stop.left
            else:
                answer.message = f"{heard} {answer.message}".strip()
    except Newer as error:
        world.unreadable = error  # a newer omo held it, and this one cannot
    except Unreadable as error:
        # Allow, keep the bytes under another name, and say so once: the next Stop finds no file, and no record.
        kept = runtime.set_corrupt_aside(world.state, now=world.now, wait=world.wait)
        world.told_of_removal()
        answer.message = sentences.unreadable(error.message, kept) if kept else ""
    if answer.decision == hosts.ALLOW:
        answer.alert = in_force.notify
        if not event.is_subagent:
            answer.message = f"{world.told_of_removal()} {answer.message}".strip()
    return answer


class _Stop:
    """One Stop of a session, and what of the world was looked at for it."""

    def __init__(self, event: Event, world: World, in_force: Settings, wait: Callable[[float], None]) -> None:
        self.event = event
        self.world = world
        self.in_force = in_force
        self.wait = wait
        self.looks = Looks(event, world.root, wait)
        self.counter = spending.Counter(world.state, event.session)
        self.waited = 0.0  # seconds, for a cooldown
        self.cooldown = 0.0  # what is left of it
        self.left: Change | None = None  # what it did to the session's row

    def decided(self) -> Answer:
        while True:
            now = self.world.now + self.waited
            answer: Answer = runtime.change_session(
                *(self.world.state, self.event.session, self.decide),
                actor="hook",
                now=now,
                wait=self.world.wait,
            )
            if not self.cooldown:
                return answer
            self.wait(self.cooldown)
            self.waited += self.cooldown

    def decide(self, row: SessionRow | None) -> Change:
        """The answer, and what it leaves behind in the row; while a cooldown is waited for, nothing."""
        self.left = self.decided_on(row)
        return self.left

    def decided_on(self, row: SessionRow | None) -> Change:
        now, event = self.world.now + self.waited, self.event
        size = 0
        if row is not None:
            if not event.limit_notice:
                row = session.end_wait_for_host(row)  # this turn was none that a limit ended
            if is_live(row):
                row = spending.follow(budget.with_settings(row, self.in_force.budget), event, now)
                row = self.counter.counted(row, now)
                size = event.transcript.size()
                event.transcript.start = _read_to(row)
        patience = LONGEST_WAIT - self.waited
        situation = Situation(event, row, self.in_force.limits, now, patience=patience, looks=self.looks)
        decision = decide(situation)
        self.cooldown = decision.cooldown
        if decision.row is None:
            return Change(Answer())
        for kind in situation.reopened:
            summary = situation.row["work"][kind]
            bound.reopen(self.world.state, kind, summary, actor="hook", now=now, wait=self.world.wait)
        after = budget.turn_ended(decision.row)
        is_sent_back = decision.rule.blocks
        if is_sent_back:  # nothing waits in the queue
            after = session.note(after, {"readTo": size})
        elif decision.rule.turn != WOKEN:
            after = budget.stop_clock(after)
        notice = ""
        if budget.due_mark(after):
            notice = budget.notice(after)
            after = budget.note_told(after)
        for told in after.get("notices", []):
            notice = f"{notice} {sentences.as_sentence(told['text'])}".strip()
        after = without(after, "notices")
        answer = Answer(message=f"{decision.text} {notice}".strip())
        if is_sent_back:
            answer = Answer(hosts.KEEP_GOING, decision.text, message=notice)
        return Change(answer, after, decision.events)


def _hear_what_was_typed(event: Event, world: World, row: SessionRow) -> str | None:
    """While the agent worked, where the host has told no hook. What there is to tell the user; None if they typed
    nothing."""
    ulw = row["ulw"]
    event.transcript.start = _read_to(row)
    typed = event.transcript.typed_since(max(str(ulw.get("armedAt") or ""), ulw.get("heardTo", "")))
    if not typed:
        return None
    from omo.hooks import typed_at_work

    return typed_at_work.hear(event, world, typed)


def _await_last_answer(event: Event, row: SessionRow, wait: Callable[[float], None]) -> None:
    """The host often writes it down a moment after the Stop, and with it what it has refused before: by both a Stop
    decides (tests/e2e/test_run.py, test_a_refused_tool_is_named_after_the_round_that_met_it)."""
    if not is_live(row) or not event.transcript.size():
        return
    event.transcript.start = _read_to(row)
    for _ in range(hosts.QUEUE_LOOKS):
        if event.transcript.has_said(event.last_message):
            return
        wait(hosts.QUEUE_LAG / hosts.QUEUE_LOOKS)


def _read_to(row: SessionRow) -> int:
    """Where the last Stop had read the transcript to, and a little before."""
    read_to = row["ulw"].get("readTo")
    return max(0, read_to - hosts.TRANSCRIPT_LAG) if isinstance(read_to, int) else 0
