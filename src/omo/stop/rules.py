"""May this session stop? An ordered table; the first rule that matches decides, and its name goes to the ledger.

Nothing is written here: the hook carries out what a decision says, and a view only shows it.
"""

from __future__ import annotations

from omo import settings
from omo.state import runtime
from omo.state.runtime import OPEN_STATES, is_live, is_taken_over, unvouched, work_in
from omo.stop import sentences
from omo.stop.situation import LONGEST_WAIT, Situation
from omo.work import bound, budget, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow, Ulw


SHELL_EXCUSES = 2  # a server left running in the background must not excuse every Stop
# The turn ends, and something wakes the session without a person: the clock of the budget runs on.
GOES_ON_BY_ITSELF = ("background-agent", "wake-up", "background-shell", "prompt-queued")


class Rule:
    """`why` a session is let go, or not. `then` is what that does to its row; None writes nothing at all."""

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
    all_over = not work_in(s.row, *OPEN_STATES, "done")
    return not is_live(s.row) or (all_over and not _is_invalid(s))


def _is_invalid(s: Situation) -> bool:
    """Edited by hand into something no counter can advance on."""
    ulw = s.ulw
    for number in (ulw.get("stopBlocks", 0), ulw.get("totalBlocks", 0), ulw.get("shellExcuses", 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            return True
    if s.row.get("invalid") or not isinstance(ulw.get("enabled", False), bool):
        return True
    for moment in (ulw.get("lastStopAt"), ulw.get("armedAt")):
        if moment and s.since(moment) == float("inf"):
            return True
    return False


def _is_asked_for(s: Situation) -> bool:
    """The user typed the command of a workflow, of which nothing was begun since, and no other work goes on."""
    return bool(s.row.get("asked")) and not s.active() and not session.is_cancelled(s.row)


def _was_reminded(s: Situation) -> bool:
    """In another event than this one, which a hook that is registered twice sees twice."""
    return s.row.get("reminded") not in (None, s.event.fingerprint)


def _is_excused(s: Situation) -> bool:
    event = s.event
    waits = event.in_plan_mode or event.limit_notice or event.running_agents or event.has_wakeup
    return bool(waits) or s.looks.is_queued()


def _is_same_event(s: Situation) -> bool:
    """The same event twice (a hook registered twice): after a block of ours the host would say it continues one."""
    ulw = s.ulw
    if s.event.continues_a_block or ulw.get("lastStop") != s.event.fingerprint:
        return False
    return bool(s.since(ulw.get("lastStopAt")) < s.limits["cooldown_seconds"])


def _is_at_its_ceiling(s: Situation) -> bool:
    ulw = s.ulw
    has_run_too_long = bool(ulw.get("armedAt")) and s.since(ulw.get("armedAt")) >= s.limits["max_hours"] * 3600
    return has_run_too_long or bool(ulw.get("totalBlocks", 0) >= s.limits["max_total_blocks"])


def _counted(s: Situation, rule: str) -> SessionRow:
    """The agent went on since the user's last message, or nobody knows: that message plays no part any more."""
    counted = session.count_block(s.row, now=s.now, fingerprint=s.event.fingerprint)
    return session.forget_message(counted)


def _stays(s: Situation, rule: str) -> SessionRow:
    return s.row


def _not_begun(s: Situation, rule: str) -> SessionRow:
    """What is over beside it is told with it."""
    row = session.without_request(s.row)
    return row if work_in(row, *OPEN_STATES) else session.close(row)


def _exhausted(s: Situation, rule: str) -> SessionRow:
    return session.exhaust(s.row, rule=rule, why=sentences.cause(rule, s.row, s.limits))


def _waits_for_permission(s: Situation, rule: str) -> SessionRow:
    refused = s.ulw.get("refused", {})
    why, way = sentences.refused(refused), sentences.way_to_allow(refused)
    return session.note_refusals(session.suspend(s.row, state="waiting", why=why, question=way), [], now=s.now)


def _invalid(s: Situation, rule: str) -> SessionRow:
    ulw: Ulw = {"enabled": False, "stopBlocks": 0, "lastStopAt": None}
    unarmed: SessionRow = {**s.row, "ulw": {}, "work": {session.KIND: {"state": "active"}}}  # no more can be kept
    return {**session.exhaust(unarmed, rule=rule, why=sentences.cause(rule, s.row, s.limits)), "ulw": ulw}


DONE = Rule(
    "done",
    "the work has ended, by omo ulw done or a workflow's own end",
    lambda s: not s.active() and bool(work_in(s.row, "done")),
    lambda s, rule: session.close(s.row),
)
# What each rule reads, and what would make it answer otherwise, is in facts.py; why the odd ones are there is in
# docs/decisions/stop.md. Each has a case in tests/hooks/test_stop_rules.py, and so has their order.
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
        _not_begun,
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
    DONE,
    Rule("duplicate", "the same event was delivered twice", _is_same_event, _stays),
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


def may_be_held(event: Event, row: SessionRow, environ: Mapping[str, str]) -> bool:
    """Whether any rule could do something; else nothing is locked, nor the ledger asked: a cancel lets go at once."""
    if settings.is_disabled(environ) or event.is_subagent:
        return False
    if session.is_cancelled(row):
        return session.cancel_is_unshown(row)
    return runtime.needs_hooks(row)


def deciding_rule(situation: Situation) -> Rule:
    """An end that would be told is held against the files first; what they changed under is decided on as open."""
    rule = _first_match(situation)
    if rule.name in sentences.TELLING and situation.look_at_ends():
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

    def __init__(self, rule: Rule, text: str = "", row: SessionRow | None = None, *events: SessionEvent) -> None:
        self.rule = rule
        self.text = text
        self.row = row
        self.events = list(events)
        self.cooldown = 0.0


def decide(situation: Situation) -> Decision:
    rule = deciding_rule(situation)
    if rule.blocks and situation.cooldown_left() > 0:
        decision = Decision(rule)
        decision.cooldown = situation.cooldown_left()
        return decision
    if rule.name == "cancelled" and session.cancel_is_unshown(situation.row):
        shown = session.cancel_shown(situation.row)
        return Decision(rule, sentences.cancelled(situation.row), shown, {"kind": "allowed", "rule": rule.name})
    if rule.then is None:
        return Decision(rule)
    after = rule.then(situation, rule.name)
    if rule.blocks:
        return _sent_back(situation, rule, after)
    return _let_go(situation, rule, session.note(after, {"unanswered": False}))


def tell_ends(situation: Situation, elsewhere: str) -> Decision:
    """Where no Stop has come to tell them. Nobody is to go on with what ended; what else is open stays so."""
    situation.look_at_ends(goes_on=False)
    is_over = not work_in(situation.row, *OPEN_STATES)
    return _let_go(situation, DONE, session.close(situation.row) if is_over else situation.row, elsewhere)


def _let_go(situation: Situation, rule: Rule, after: SessionRow, elsewhere: str = "") -> Decision:
    doubts = {kind: sentences.doubt(since) for kind, since in situation.doubts.items()}
    after = session.in_doubt(after, doubts)
    text = sentences.release(rule.name, situation.row, after, situation.limits, elsewhere)
    if text:
        after = session.told(after)
    event: SessionEvent = {"kind": "allowed", "rule": rule.name}
    if not_in_ledger := unvouched(after):
        event["unvouched"] = not_in_ledger
    return Decision(rule, text, after, *_reopenings(situation), event)


def _sent_back(situation: Situation, rule: Rule, after: SessionRow) -> Decision:
    active, most = situation.active(), situation.limits["max_stop_blocks"]
    if rule.name == "begin":
        reason = sentences.to_be_begun(str(situation.row.get("asked")))
    elif rule is BLOCK:
        after = session.note_refusals(after, situation.refusals(), now=situation.now)
        reason = sentences.reason_to_go_on(after, active, most)
        after = session.note(after, {"openSaid": sentences.what_is_open(active, sentences.LONGEST_OPEN)})
    else:
        reason = sentences.reason_to_go_on(after, active, most, str(situation.message().get("text", "")))
    event: SessionEvent = {"kind": "blocked", "rule": rule.name, "reason": reason}
    if rule is BLOCK and "refused" in after["ulw"]:
        event["refused"] = after["ulw"]["refused"]["calls"]
    return Decision(rule, reason, after, *_reopenings(situation), event)


def _reopenings(situation: Situation) -> list[SessionEvent]:
    events: list[SessionEvent] = []
    for kind in situation.reopened:
        changed = situation.row["work"][kind].get("changed")
        events.append({"kind": bound.REOPENED, "work": kind, "changed": changed})
    return events
