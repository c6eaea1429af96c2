"""May this session stop? An ordered table; the first rule that matches decides, and its name goes to the ledger."""

from __future__ import annotations

import time

from omo import hosts, settings
from omo.clock import seconds
from omo.errors import Newer, Unreadable
from omo.hooks import messages
from omo.hosts import Answer
from omo.state import markers, runtime, store
from omo.state.rows import EMPTY
from omo.state.runtime import OPEN_STATES, Change, is_live, is_taken_over, unvouched, work_in
from omo.work import bound, budget, session, spending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from omo.hooks.main import World
    from omo.hosts import Call, Event, OtherLoop, Refusal
    from omo.settings import Settings
    from omo.state.rows import Message, SessionRow, Summary, Ulw
    from omo.state.runtime import Works
    from omo.work.session import Limits

    Json = dict[str, Any]

# The turn ends, and something wakes the session without a person: the clock of the budget runs on.
GOES_ON_BY_ITSELF = ("background-agent", "wake-up", "background-shell", "prompt-queued")
SHELL_EXCUSES = 2  # a server left running in the background must not excuse every Stop
LONGEST_WAIT = 6.0  # seconds a Stop may wait for a cooldown: hooks.json lets it run for ten


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
            answer = _Stop(event, world, in_force, wait).decided()
            answer.message = f"{heard} {answer.message}".strip()
    except Newer:
        pass  # a newer omo holds it
    except Unreadable as error:
        # Allow, keep the bytes under another name, and say so once: the next Stop finds no file, and no marker.
        kept = runtime.set_corrupt_aside(world.state, now=world.now, wait=store.HOOK_WAIT)
        markers.remove(event.session, world.state)
        answer.message = messages.unreadable(error.message, kept) if kept else ""
    if answer.decision == hosts.ALLOW:
        answer.alert = in_force.notify
        if not event.is_subagent:
            answer.message = f"{world.told_of_removal()} {answer.message}".strip()
    return answer


def may_be_held(event: Event, row: SessionRow, environ: Mapping[str, str]) -> bool:
    """Whether any rule could do something; else nothing is locked, nor the ledger asked: a cancel lets go at once."""
    if settings.is_disabled(environ) or event.is_subagent:
        return False
    if session.is_cancelled(row):
        return session.cancel_is_unshown(row)
    return runtime.needs_hooks(row)


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

    def decided(self) -> Answer:
        while True:
            now = self.world.now + self.waited
            answer: Answer = runtime.change_session(
                *(self.world.state, self.event.session, self.decide),
                actor="hook",
                now=now,
                wait=store.HOOK_WAIT,
            )
            if not self.cooldown:
                return answer
            self.wait(self.cooldown)
            self.waited += self.cooldown

    def decide(self, row: SessionRow | None) -> Change:
        """The answer, and what it leaves behind in the row; while a cooldown is waited for, nothing."""
        now, event = self.world.now + self.waited, self.event
        size = 0
        if row is not None:
            if not event.limit_notice:
                row = session.host_goes_on(row)  # this turn was none that a limit ended
            if is_live(row):
                row = spending.follow(budget.settled(row, self.in_force.budget), event, now)
                row = self.counter.counted(row, now)
                size = event.transcript.size()
                event.transcript.start = _read_to(row)
        patience = LONGEST_WAIT - self.waited
        situation = Situation(event, row, self.in_force.limits, now, patience=patience, looks=self.looks)
        decision = carry_out(situation)
        self.cooldown = decision.cooldown
        if decision.row is None:
            return Change(Answer())
        for kind in situation.reopened:
            summary = situation.row["work"][kind]
            bound.reopen(self.world.state, event.session, kind, summary, actor="hook", now=now, wait=store.HOOK_WAIT)
        after = budget.turn_ended(decision.row)
        if decision.rule.blocks:  # nothing waits in the queue
            after = session.note(after, {"readTo": size})
        elif decision.rule.name not in GOES_ON_BY_ITSELF:
            after = budget.rests(after)
        notice = ""
        if budget.due_mark(after):
            notice = budget.notice(after)
            after = budget.told(after)
        answer = Answer(message=f"{decision.text} {notice}".strip())
        if decision.rule.blocks:
            answer = Answer(hosts.KEEP_GOING, decision.text, message=notice)
        return Change(answer, after, decision.events)


def _hear_what_was_typed(event: Event, world: World, row: SessionRow) -> str:
    """While the agent worked, where the host has told no hook. What there is to tell the user."""
    ulw = row["ulw"]
    event.transcript.start = _read_to(row)
    typed = event.transcript.typed_since(max(str(ulw.get("armedAt") or ""), ulw.get("heardTo", "")))
    if not typed:
        return ""
    from omo.hooks import typed_at_work

    return typed_at_work.hear(event, world, typed)


def _await_last_answer(event: Event, row: SessionRow, wait: Callable[[float], None]) -> None:
    """Where tokens count: the host often writes it down a moment after the Stop."""
    if not row.get("budget", {}).get(budget.TOKENS) or not is_live(row):
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


class Looks:
    """What rules ask of the world beside the row: looked at if a rule asks, and once for a Stop.

    A view has no project whose files it would look at (`root`), or only asks them and waits for nobody.
    """

    __slots__ = ("_changed", "_queued", "event", "root", "wait")

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

    def since(self, summary: Summary) -> bound.Since | None:
        """What became of the files that an end speaks of."""
        return bound.look_again(self.root, summary) if self.root else None


class Situation:
    """Everything the rules look at. `patience` is how many seconds the hook may still wait for a cooldown.

    `reopened` and `doubts` are what came of a look at the files that ends speak of.
    """

    __slots__ = (
        "_loop",
        "_message",
        "_refusals",
        "disabled",
        "doubts",
        "event",
        "limits",
        "looks",
        "now",
        "patience",
        "reopened",
        "row",
        "unreadable",
    )

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
        self.doubts: dict[str, str] = {}
        self._message: Message | None = None
        self._loop: OtherLoop | None = None
        self._refusals: list[Refusal] | None = None

    def look_at_ends(self) -> bool:
        """Before an end is told: work whose files have changed since is active again. Did any change?"""
        for kind, summary in session.bound_ends(self.row):
            since = self.looks.since(summary)
            if since is None:
                continue
            if since.unknown:
                self.doubts[kind] = messages.files_unknown(since.unknown)
            elif since.changed and (summary.get("cleared") or summary.get("stopped")):
                # Its ledger was put away, or the user said stop since: nobody is to go on with it.
                self.doubts[kind] = messages.files_changed(since.changed)
            elif since.changed:
                self.row = session.reopened(self.row, kind, since.changed)
                self.reopened.append(kind)
        return bool(self.reopened)

    @property
    def ulw(self) -> Ulw:
        return self.row["ulw"]

    def active(self) -> Works:
        active = work_in(self.row, "active")
        if self.ulw.get("enabled") and not self.row["work"]:
            active.append((session.KIND, {}))  # the minimum shape of the file has no summaries
        return active

    def since(self, text: str | None) -> float:
        """Seconds since a recorded moment; for ever if there was none. A clock that went back counts as no time."""
        return max(0.0, self.now - seconds(text)) if text else float("inf")

    def cooldown_left(self) -> float:
        """Seconds until the next block may be given. A block in the future was given by a clock that was wrong."""
        cooldown = float(self.limits["cooldown_seconds"])
        text = self.ulw.get("lastStopAt")
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
            since = self.ulw.get("refused", {}).get("at") or self.ulw.get("lastStopAt") or self.ulw.get("armedAt")
            self._refusals = self.event.transcript.refused_since(str(since or ""))
        return self._refusals

    def is_at_a_wall(self) -> bool:
        """It was told what the host refuses. Since then it was refused again or tried nothing, and changed no file."""
        told_at = self.ulw.get("refused", {}).get("at")
        if not isinstance(told_at, str):
            return False
        calls = self.event.transcript.calls_since(told_at)
        is_stuck = bool(self.refusals()) or (calls is not None and not any(_is_work(call) for call in calls))
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
                calls = self.event.transcript.calls_since(moment)
                has_answered = calls is not None and not any(_is_work(call) for call in calls)
                if has_answered or not self.looks.is_changed(seconds(moment)):
                    self._message = message
        return self._message


def limits_of(row: SessionRow, own: Limits) -> Limits:
    """Those the user armed the run with. Of those an agent's command stored, what holds the session no less.

    The hook's own come from the user's environment; the agent's shell may say anything.
    """
    limits = {**own, **stored_limits(row)}
    if row["ulw"].get("by") == "user":
        return limits
    for knob in settings.LIMITS:
        mine, stored = own[knob.name], limits[knob.name]
        # What is stored counts up to the default. A cooldown holds the longer the shorter it is.
        if knob.name == "cooldown_seconds":
            limits[knob.name] = min(mine, max(stored, knob.default))
        else:
            limits[knob.name] = max(mine, min(stored, knob.default))
    return limits


def stored_limits(row: SessionRow) -> Limits:
    """The limits the run was armed with, as far as they are usable."""
    stored = row["ulw"].get("limits", {})
    usable = {}
    for knob in settings.LIMITS:
        try:
            usable[knob.name] = knob.parse(stored.get(knob.name))
        except settings.Refusal:
            continue
    return usable


class Rule:
    """`why` a session is let go, or not. `then` is what that does to its row; None writes nothing at all."""

    __slots__ = ("blocks", "name", "then", "when", "why")

    def __init__(
        self,
        name: str,
        why: str,
        when: Callable[[Situation], bool],
        then: Callable[[Situation, str], SessionRow] | None = None,
        *,
        blocks: bool = False,
    ) -> None:
        self.name = name
        self.why = why
        self.when = when
        self.then = then
        self.blocks = blocks  # the turn is sent back


def _is_idle(s: Situation) -> bool:
    if s.unreadable or session.is_cancelled(s.row) or is_taken_over(s.row):
        return False
    all_over = bool(s.row["work"]) and not work_in(s.row, *OPEN_STATES, "done")
    return not is_live(s.row) or (all_over and not _is_invalid(s))


def _is_invalid(s: Situation) -> bool:
    """Edited by hand into something no counter can advance on."""
    for number in (s.ulw.get("stopBlocks", 0), s.ulw.get("totalBlocks", 0), s.ulw.get("shellExcuses", 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            return True
    if s.row.get("invalid") or not isinstance(s.ulw.get("enabled", False), bool):
        return True
    try:
        return min(s.since(s.ulw.get("lastStopAt")), s.since(s.ulw.get("armedAt"))) < 0
    except (ValueError, TypeError, AttributeError):
        return True


def _is_asked_for(s: Situation) -> bool:
    """The user typed the command of a workflow, of which nothing was begun since."""
    return bool(s.row.get("asked")) and not is_live(s.row) and not session.is_cancelled(s.row)


def _was_reminded(s: Situation) -> bool:
    """In another event than this one, which a hook that is registered twice sees twice."""
    return s.row.get("reminded") not in (None, s.event.fingerprint)


def _is_excused(s: Situation) -> bool:
    event = s.event
    waits = event.in_plan_mode or event.limit_notice or event.running_agents or event.has_wakeup
    return bool(waits) or s.looks.is_queued()


def _is_same_event(s: Situation) -> bool:
    """The same event twice (a hook registered twice): after a block of ours the host would say it continues one."""
    return not s.event.continues_a_block and s.ulw.get("lastStop") == s.event.fingerprint


def _is_work(call: Call) -> bool:
    """Does this tool call do anything but ask omo, or keep a to-do list?"""
    if call.kind == hosts.TO_DO:
        return False
    return call.kind != hosts.SHELL or not is_omo_only(call.command)


def is_omo_only(command: str) -> bool:
    """One or more `omo …` commands, and nothing else in the text."""
    from omo import shell

    programs = [shell.name(words) for words in shell.commands(command)]
    return bool(programs) and set(programs) == {"omo"}


def _is_at_its_ceiling(s: Situation) -> bool:
    has_run_too_long = bool(s.ulw.get("armedAt")) and s.since(s.ulw.get("armedAt")) >= s.limits["max_hours"] * 3600
    return has_run_too_long or bool(s.ulw.get("totalBlocks", 0) >= s.limits["max_total_blocks"])


def _counted(s: Situation, rule: str) -> SessionRow:
    """The agent went on since the user's last message, or nobody knows: that message plays no part any more."""
    counted = session.count_block(s.row, now=s.now, fingerprint=s.event.fingerprint)
    return session.forget_message(counted)


def _stays(s: Situation, rule: str) -> SessionRow:
    return s.row


def _exhausted(s: Situation, rule: str) -> SessionRow:
    return session.exhaust(s.row, rule=rule, why=messages.cause(rule, s.row, s.limits))


def _waits_for_permission(s: Situation, rule: str) -> SessionRow:
    refused = s.ulw.get("refused", {})
    why, way = messages.refused(refused), messages.way_to_allow(refused)
    return session.note_refusals(session.suspend(s.row, state="waiting", why=why, question=way), [], now=s.now)


def _invalid(s: Situation, rule: str) -> SessionRow:
    ulw: Ulw = {"enabled": False, "stopBlocks": 0, "lastStopAt": None}
    unarmed: SessionRow = {**s.row, "ulw": {"enabled": True}, "work": {}}  # nothing of it can be kept
    return {**session.exhaust(unarmed, rule=rule, why=messages.cause(rule, s.row, s.limits)), "ulw": ulw}


# What each rule reads, and what would make it answer otherwise, is in stop_facts.py.
RULES = (
    Rule("switched-off", "OMO_DISABLE is set", lambda s: s.disabled),
    Rule("subagent", "a subagent stops, not the session", lambda s: s.event.is_subagent),
    Rule(
        "begin",
        "you typed the command of a workflow, and nothing of it was begun; the agent is sent back once",
        lambda s: _is_asked_for(s) and not _was_reminded(s) and not _is_excused(s),
        lambda s, rule: {**s.row, "reminded": s.event.fingerprint},
        blocks=True,
    ),
    Rule(
        "not-begun",
        "you typed the command of a workflow, and the turn ends before anything of it was begun",
        _is_asked_for,
        lambda s, rule: session.without_request(s.row),
    ),
    Rule("not-active", "nothing is on in this session", _is_idle),
    Rule("cancelled", "the user said stop", lambda s: session.is_cancelled(s.row)),
    Rule("unreadable-state", "the state cannot be read, so nothing is known", lambda s: bool(s.unreadable)),
    Rule("invalid-state", "the session's counters were edited into nonsense", _is_invalid, _invalid),
    Rule("plan-mode", "plan mode ends a turn to show the plan", lambda s: s.event.in_plan_mode, _stays),
    Rule(
        "host-limit",
        "the host reported a usage limit or an API error",
        lambda s: bool(s.event.limit_notice),
        lambda s, rule: session.wait_for_host(s.row, s.event.limit_notice),
    ),
    Rule("background-agent", "an agent runs and will wake the session", lambda s: s.event.running_agents > 0, _stays),
    Rule("wake-up", "a one-shot wake-up will continue the session", lambda s: s.event.has_wakeup, _stays),
    Rule(
        "background-shell",
        f"a shell runs in the background (excuses {SHELL_EXCUSES} Stops in a row)",
        lambda s: s.event.running_shells > 0 and s.ulw.get("shellExcuses", 0) < SHELL_EXCUSES,
        lambda s, rule: session.note(s.row, {"shellExcuses": s.ulw.get("shellExcuses", 0) + 1}),
    ),
    Rule(
        "prompt-queued",
        "the user has typed something that waits for this turn to end",
        lambda s: s.looks.is_queued(),
        _stays,
    ),
    Rule(
        "waiting",
        "the work waits: for the user, paused, or blocked from outside",
        lambda s: not s.active() and bool(work_in(s.row, "waiting", "paused", "blocked")),
        _stays,
    ),
    Rule(
        "done",
        "the work has ended, by omo ulw done or a workflow's own end",
        lambda s: not s.active() and bool(work_in(s.row, "done")),
        lambda s, rule: session.close(s.row),
    ),
    Rule(
        "duplicate",
        "the same event was delivered twice",
        lambda s: s.since(s.ulw.get("lastStopAt")) < s.limits["cooldown_seconds"] and _is_same_event(s),
        _stays,
    ),
    Rule(
        "message-quoted",
        "you wrote something, the agent was sent back with it once, and has changed no file since you did",
        lambda s: bool(s.message().get("quoted")),
        lambda s, rule: session.message_told(s.row),
    ),
    Rule(
        "refused",
        "the host refused what the agent needs; it was told so once, and has found no other way",
        Situation.is_at_a_wall,
        _waits_for_permission,
    ),
    Rule(
        "cap",
        "it was sent back as often as allowed without progress",
        lambda s: s.ulw.get("stopBlocks", 0) >= s.limits["max_stop_blocks"],
        _exhausted,
    ),
    Rule("ceiling", "the run's own limit of blocks or hours", _is_at_its_ceiling, _exhausted),
    Rule(
        "budget",
        "as much as the user allows the run is spent, or nobody can count it",
        lambda s: budget.is_used_up(s.row),
        _exhausted,
    ),
    Rule(
        "other-loop",
        "another loop holds this session; the run stays on, and holds it again when that is over",
        lambda s: bool(s.other_loop()),
        lambda s, rule: session.note(s.row, {"otherLoop": s.other_loop()}),
    ),
    Rule(
        "cooldown",
        f"the next block may come only later than the {LONGEST_WAIT:g} s for which a hook waits; the run stays on",
        lambda s: s.cooldown_left() > s.patience,
        _stays,
    ),
    Rule(
        "quote-message",
        "you wrote something, and the agent has changed no file since; it is sent back once, with your words",
        lambda s: bool(s.message()),
        lambda s, rule: session.quote_message(s.row, now=s.now, fingerprint=s.event.fingerprint),
        blocks=True,
    ),
)
BLOCK = Rule("block", "work is open, and no rule above lets the session stop", lambda s: True, _counted, blocks=True)


def decide(situation: Situation) -> Rule:
    """An end that would be told is held against the files first; what they changed under is decided on as open."""
    rule = _first_match(situation)
    if rule.name in messages.TELLING and situation.look_at_ends():
        return _first_match(situation)
    return rule


def _first_match(situation: Situation) -> Rule:
    for rule in RULES:
        if rule.when(situation):
            return rule
    return BLOCK


class Decision:
    """What a rule says: the reason to go on or a line for the user, the row and what the ledger is told of it.

    Within the cooldown of the last block no other is given: then nothing changes before the `cooldown` is over.
    """

    __slots__ = ("cooldown", "events", "row", "rule", "text")

    def __init__(self, rule: Rule, text: str = "", row: SessionRow | None = None, *events: Json) -> None:
        self.rule = rule
        self.text = text
        self.row = row
        self.events = list(events)
        self.cooldown = 0.0


def carry_out(situation: Situation) -> Decision:
    rule = decide(situation)
    if rule.blocks and situation.cooldown_left() > 0:
        decision = Decision(rule)
        decision.cooldown = situation.cooldown_left()
        return decision
    if rule.name == "cancelled" and session.cancel_is_unshown(situation.row):
        shown = session.cancel_shown(situation.row)
        return Decision(rule, messages.cancelled(situation.row), shown, {"kind": "allowed", "rule": rule.name})
    if rule.then is None:
        return Decision(rule)
    after = rule.then(situation, rule.name)
    if rule.blocks:
        return _sent_back(situation, rule, after)
    after = session.in_doubt(after, situation.doubts)
    text = messages.release(rule.name, situation.row, after, situation.limits)
    if text:
        after = session.told(after)
    after = session.note(after, {"unanswered": False})
    event: Json = {"kind": "allowed", "rule": rule.name}
    if doubts := unvouched(after):
        event["unvouched"] = doubts
    return Decision(rule, text, after, *_reopenings(situation), event)


def _sent_back(situation: Situation, rule: Rule, after: SessionRow) -> Decision:
    active, most = situation.active(), situation.limits["max_stop_blocks"]
    if rule.name == "begin":
        reason = messages.to_be_begun(str(situation.row.get("asked")))
    elif rule is BLOCK:
        refusals = situation.refusals()
        if refusals or "refused" in after["ulw"]:
            after = session.note_refusals(after, refusals, now=situation.now)
        reason = messages.reason_to_go_on(after, active, most)
        after = session.note(after, {"openSaid": messages.what_is_open(active, messages.LONGEST_OPEN)})
    else:
        reason = messages.reason_to_go_on(after, active, most, str(situation.message().get("text", "")))
    event: Json = {"kind": "blocked", "rule": rule.name, "reason": reason}
    if rule is BLOCK and "refused" in after["ulw"]:
        event["refused"] = after["ulw"]["refused"]["calls"]
    return Decision(rule, reason, after, *_reopenings(situation), event)


def _reopenings(situation: Situation) -> list[Json]:
    events: list[Json] = []
    for kind in situation.reopened:
        changed = situation.row["work"][kind].get("changed")
        events.append({"kind": bound.REOPENED, "work": kind, "changed": changed})
    return events
