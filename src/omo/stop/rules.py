"""May this session stop? An ordered table; the first rule that matches decides, and its name goes to the ledger.

Nothing is written here: the hook carries out what a decision says, and a view only shows it.
"""

from __future__ import annotations

from omo import settings
from omo.state import runtime
from omo.state.runtime import OPEN_STATES, is_live, is_taken_over, over, unvouched, work_in
from omo.stop import sentences
from omo.stop.situation import LONGEST_WAIT, Situation
from omo.text import counted
from omo.work import bound, budget, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Limits, SessionRow, Ulw


SHELL_EXCUSES = 2  # a server left running in the background must not excuse every Stop

# What becomes of the turn.
SENT_BACK = "sent-back"  # the agent goes on
OFF = "off"  # it ends: nothing holds the session, and nothing is about to be said in it
UNTOUCHED = "untouched"  # it ends: omo writes nothing
QUIET = "quiet"  # it ends, and the user is told nothing
WOKEN = "woken"  # the same, and something wakes the session without a person: the clock of the budget runs on
TOLD = "told"  # it ends, and the user is told what ended or waits
OVER = "over"  # the same, and the run ends with it
TELLS = (TOLD, OVER)
# What a rule has to have besides, by its turn.
NEEDED = {
    SENT_BACK: ("then", "reason"),
    OFF: (),
    UNTOUCHED: (),
    QUIET: ("then",),
    WOKEN: ("then",),
    TOLD: ("then",),
    OVER: ("then", "cause", "way_on"),
}
# What a view shows of a rule instead of its `why`.
NOT_BEGUN, WAITS, ENDED, UNREADABLE = "not-begun", "waits", "ended", "unreadable"


class Facts:
    """Which facts a rule looks at, and what would make it answer otherwise, with the numbers of the situation to be
    filled in by `omo explain stop`."""

    def __init__(self, reads: str, *changes: str) -> None:
        self.reads = reads
        self.changes = changes


OF_THE_EVENT = Facts("")  # only a host's event can meet it, so it decides no Stop that is asked about


def _nothing(*_: object) -> str:
    return ""


class Rule:
    """A line of the table, with all that is known of it. One that lacks something fails when this module loads.

    `why` is the reason in words, `turn` what becomes of the turn, `then` what that does to the session's row; without
    it nothing is written. `reason` is what the agent reads that is sent back, `says` what the user reads beside what
    ended or waits. `cause` and `way_on` say why the run ended, and how it goes on.
    """

    def __init__(
        self,
        name: str,
        why: str,
        turn: str,
        when: Callable[[Situation], bool],
        then: Callable[[Situation, Rule], SessionRow] | None = None,
        *,
        facts: Facts,
        reason: Callable[[Situation, SessionRow], str] | None = None,
        says: Callable[[SessionRow, SessionRow, Limits], str] = _nothing,
        cause: Callable[[SessionRow, Limits], str] | None = None,
        way_on: Callable[[SessionRow], str] | None = None,
        shows: str = "",
    ) -> None:
        given = {"then": then, "reason": reason, "cause": cause, "way_on": way_on}
        if missing := [field for field in NEEDED[turn] if given[field] is None]:
            raise TypeError(f"the rule {name} lacks {', '.join(missing)}")
        self.name = name
        self.why = why
        self.turn = turn
        self.when = when
        self.then = then
        self.facts = facts
        self.reason: Callable[[Situation, SessionRow], str] = reason or _nothing
        self.says = says
        self.cause: Callable[[SessionRow, Limits], str] = cause or _nothing
        self.way_on: Callable[[SessionRow], str] = way_on or _nothing
        self.shows = shows

    @property
    def blocks(self) -> bool:
        return self.turn == SENT_BACK

    @property
    def ends_run(self) -> bool:
        return self.turn == OVER

    @property
    def tells(self) -> bool:
        return self.turn in TELLS


def _is_idle(s: Situation) -> bool:
    if s.unreadable or session.is_cancelled(s.row) or is_taken_over(s.row):
        return False
    is_all_let_go = not over(s.row) and not work_in(s.row, *OPEN_STATES)
    return not is_live(s.row) or (is_all_let_go and not _is_invalid(s))


def _is_invalid(s: Situation) -> bool:
    """Edited by hand into something no counter can advance on."""
    ulw = s.row["ulw"]
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
    ulw = s.row["ulw"]
    if s.event.continues_a_block or ulw.get("lastStop") != s.event.fingerprint:
        return False
    return bool(s.since(ulw.get("lastStopAt")) < s.limits["cooldown_seconds"])


def _is_at_its_ceiling(s: Situation) -> bool:
    ulw = s.row["ulw"]
    has_run_too_long = bool(ulw.get("armedAt")) and s.since(ulw.get("armedAt")) >= s.limits["max_hours"] * 3600
    return has_run_too_long or bool(ulw.get("totalBlocks", 0) >= s.limits["max_total_blocks"])


def _counted(s: Situation, rule: Rule) -> SessionRow:
    """The agent went on since the user's last message, or nobody knows: that message plays no part any more."""
    counted = session.count_block(s.row, now=s.now, fingerprint=s.event.fingerprint)
    return session.note_refusals(session.forget_message(counted), s.refusals(), now=s.now)


def _stays(s: Situation, rule: Rule) -> SessionRow:
    return s.row


def _not_begun(s: Situation, rule: Rule) -> SessionRow:
    """What is over beside it is told with it."""
    row = session.without_request(s.row)
    return row if work_in(row, *OPEN_STATES) else session.close(row)


def _exhausted(s: Situation, rule: Rule) -> SessionRow:
    return session.exhaust(s.row, rule=rule.name, why=rule.cause(s.row, s.limits))


def _waits_for_permission(s: Situation, rule: Rule) -> SessionRow:
    refused = s.row["ulw"].get("refused", {})
    why, way = sentences.refused(refused), sentences.way_to_allow(refused)
    return session.note_refusals(session.suspend(s.row, why=why, question=way), [], now=s.now)


def _invalid(s: Situation, rule: Rule) -> SessionRow:
    ulw: Ulw = {"enabled": False, "stopBlocks": 0, "lastStopAt": None}
    unarmed: SessionRow = {**s.row, "ulw": {}, "work": {session.KIND: {"state": "active"}}}  # no more can be kept
    return {**session.exhaust(unarmed, rule=rule.name, why=rule.cause(s.row, s.limits)), "ulw": ulw}


def _open_work(s: Situation, after: SessionRow) -> str:
    return sentences.reason_to_go_on(after, s.active(), s.limits["max_stop_blocks"])


def _open_work_and_message(s: Situation, after: SessionRow) -> str:
    message = str(s.message().get("text", ""))
    return sentences.reason_to_go_on(after, s.active(), s.limits["max_stop_blocks"], message)


def _by_ulw(row: SessionRow) -> str:
    return sentences.GO_ON


TYPE_ULW = "type ulw in a prompt"
NOTHING_IS_ON = "nothing is on in this session"
BEGINS = "the agent begins it, as omo next says"
CAP = "ulw.stopBlocks limits.max_stop_blocks"
COOLDOWN = "ulw.lastStopAt limits.cooldown_seconds"
CEILING = "ulw.totalBlocks limits.max_total_blocks ulw.armedAt limits.max_hours"
CANCEL = "stopContinuation.disabled stopContinuation.disabledReason stopContinuation.disabledAt"
COUNTERS = "ulw.enabled ulw.stopBlocks ulw.totalBlocks ulw.shellExcuses ulw.lastStopAt ulw.armedAt"

CANCELLED = Rule(
    "cancelled", "the user said stop", OFF, lambda s: session.is_cancelled(s.row), facts=Facts(CANCEL, TYPE_ULW)
)
DONE = Rule(
    "done",
    "the work has ended, by omo ulw done or a workflow's own end",
    TOLD,
    lambda s: not s.active() and bool(over(s.row)),
    lambda s, rule: session.close(s.row),
    shows=ENDED,
    facts=Facts("work", f"{TYPE_ULW}; with a task behind it that is a new run"),
)
# Why the odd ones are there is in docs/decisions/stop.md. Each has a case in tests/hooks/test_stop_rules.py, and so has
# their order.
RULES = (
    Rule(
        "switched-off",
        "OMO_DISABLE is set",
        OFF,
        lambda s: s.disabled,
        facts=Facts("OMO_DISABLE", "start the session without OMO_DISABLE"),
    ),
    Rule("subagent", "a subagent stops, not the session", UNTOUCHED, lambda s: s.event.is_subagent, facts=OF_THE_EVENT),
    Rule(
        "begin",
        "you typed the command of a workflow, and nothing of it was begun; the agent is sent back once",
        SENT_BACK,
        lambda s: _is_asked_for(s) and not _was_reminded(s) and not _is_excused(s),
        lambda s, rule: {**s.row, "reminded": s.event.fingerprint},
        reason=lambda s, after: sentences.to_be_begun(str(s.row.get("asked"))),
        shows=NOT_BEGUN,
        facts=Facts("asked", BEGINS, "the Stop after that is decided anew"),
    ),
    Rule(
        "not-begun",
        "you typed the command of a workflow, and the turn ends before anything of it was begun",
        TOLD,
        _is_asked_for,
        _not_begun,
        says=sentences.not_begun,
        shows=NOT_BEGUN,
        facts=Facts("asked", BEGINS, "leave the command out"),
    ),
    Rule(
        "not-active",
        NOTHING_IS_ON,
        OFF,
        _is_idle,
        facts=Facts("ulw.enabled work", TYPE_ULW, "start a workflow in this session: {begin}"),
    ),
    CANCELLED,
    Rule(
        "unreadable-state",
        "the state cannot be read, so nothing is known",
        UNTOUCHED,
        lambda s: bool(s.unreadable),
        shows=UNREADABLE,
        facts=Facts("unreadable", f"the next Stop keeps the unreadable file aside; then {TYPE_ULW}"),
    ),
    Rule(
        "invalid-state",
        "the session's counters were edited into nonsense",
        OVER,
        _is_invalid,
        _invalid,
        # Nothing of such a row can be compared or counted.
        cause=lambda row, limits: "its state is unusable, somebody edited the counters into nonsense",
        way_on=_by_ulw,
        facts=Facts(COUNTERS, f"{TYPE_ULW}, which writes them anew"),
    ),
    Rule(
        "plan-mode",
        "plan mode ends a turn to show the plan",
        QUIET,
        lambda s: s.event.in_plan_mode,
        _stays,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "host-limit",
        "the host reported a usage limit or an API error",
        TOLD,
        lambda s: bool(s.event.limit_notice),
        lambda s, rule: session.wait_for_host(s.row, s.event.limit_notice),
        facts=OF_THE_EVENT,
    ),
    Rule(
        "background-agent",
        "an agent runs and will wake the session",
        WOKEN,
        lambda s: s.event.running_agents > 0,
        _stays,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "wake-up",
        "a one-shot wake-up will continue the session",
        WOKEN,
        lambda s: s.event.has_wakeup,
        _stays,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "background-shell",
        f"a shell runs in the background (excuses {SHELL_EXCUSES} Stops in a row)",
        WOKEN,
        lambda s: s.event.running_shells > 0 and s.row["ulw"].get("shellExcuses", 0) < SHELL_EXCUSES,
        lambda s, rule: session.note(s.row, {"shellExcuses": s.row["ulw"].get("shellExcuses", 0) + 1}),
        facts=OF_THE_EVENT,
    ),
    Rule(
        "prompt-queued",
        "the user has typed something that waits for this turn to end",
        WOKEN,
        lambda s: s.looks.is_queued(),
        _stays,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "waiting",
        "the work waits: for the user, paused, or blocked from outside",
        TOLD,
        lambda s: bool(work_in(s.row, "waiting", "paused")) and not s.active(),
        _stays,
        shows=WAITS,
        facts=Facts("work", "your answer, where it waits or is blocked", "you say continue, where it is paused"),
    ),
    DONE,
    Rule("duplicate", "the same event was delivered twice", QUIET, _is_same_event, _stays, facts=OF_THE_EVENT),
    Rule(
        "message-quoted",
        "you wrote something, the agent was sent back with it once, and has changed no file since you did",
        TOLD,
        lambda s: bool(s.message().get("quoted")),
        lambda s, rule: session.message_told(s.row),
        says=sentences.changed_no_file,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "refused",
        "the host refused what the agent needs; it was told so once, and has found no other way",
        TOLD,
        Situation.is_at_a_wall,
        _waits_for_permission,
        facts=OF_THE_EVENT,
    ),
    Rule(
        "cap",
        "it was sent back as often as allowed without progress",
        OVER,
        lambda s: s.row["ulw"].get("stopBlocks", 0) >= s.limits["max_stop_blocks"],
        _exhausted,
        cause=lambda row, limits: f"{counted(limits['max_stop_blocks'], 'block')} without verified progress",
        way_on=_by_ulw,
        facts=Facts(CAP, "before that Stop, a gate that newly passes on a changed tree: omo gate run", TYPE_ULW),
    ),
    Rule(
        "ceiling",
        "the run's own limit of blocks or hours",
        OVER,
        _is_at_its_ceiling,
        _exhausted,
        cause=sentences.ceiling,
        way_on=_by_ulw,
        facts=Facts(CEILING, f"{TYPE_ULW}, which begins a new budget"),
    ),
    Rule(
        "budget",
        "as much as the user allows the run is spent, or nobody can count it",
        OVER,
        lambda s: budget.is_used_up(s.row),
        _exhausted,
        cause=lambda row, limits: budget.cause(row),
        way_on=budget.way_on,
        facts=Facts("budget spent", "{raise_budget}", f"{budget.COMMAND} off"),
    ),
    Rule(
        "other-loop",
        "another loop holds this session; the run stays on, and holds it again when that is over",
        TOLD,
        lambda s: bool(s.other_loop()),
        lambda s, rule: session.note(s.row, {"otherLoop": s.other_loop()}),
        says=sentences.other_loop,
        facts=Facts("ulw.otherLoop", "the other loop ends: {ends_the_loop}"),
    ),
    Rule(
        "cooldown",
        f"the next block may come only later than the {LONGEST_WAIT:g} s for which a hook waits; the run stays on",
        TOLD,
        lambda s: s.cooldown_left() > s.patience,
        _stays,
        says=sentences.stopped_again,
        facts=Facts(COOLDOWN, "{cooldown_left:.1f} s later the cooldown is over", "a smaller cooldown_seconds"),
    ),
    Rule(
        "quote-message",
        "you wrote something, and the agent has changed no file since; it is sent back once, with your words",
        SENT_BACK,
        lambda s: bool(s.message()),
        lambda s, rule: session.quote_message(s.row, now=s.now, fingerprint=s.event.fingerprint),
        reason=_open_work_and_message,
        facts=OF_THE_EVENT,
    ),
)
BLOCK = Rule(
    "block",
    "work is open, and no rule above lets the session stop",
    SENT_BACK,
    lambda s: True,
    _counted,
    reason=_open_work,
    facts=Facts(
        f"work {CAP} {COOLDOWN} {CEILING}",
        "{open}",
        "{blocks_left} without verified progress, and the cap lets go",
        "a Stop within {cooldown:g} s of a block waits for the rest of them, and is then decided anew",
        "{total_left} or {hours_left:.1f} more hours, and the ceiling lets go",
        sentences.STOP,
    ),
)
BY_NAME = {rule.name: rule for rule in (*RULES, BLOCK)}


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
    if rule.turn in TELLS and situation.look_at_ends():
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
    if rule.turn == SENT_BACK and (left := situation.cooldown_left()) > 0:
        decision = Decision(rule)
        decision.cooldown = left
        return decision
    if rule is CANCELLED and session.cancel_is_unshown(situation.row):
        shown = session.cancel_shown(situation.row)
        return Decision(rule, sentences.cancelled(situation.row), shown, {"kind": "allowed", "rule": rule.name})
    if rule.then is None:
        return Decision(rule)
    after = rule.then(situation, rule)
    if rule.turn == SENT_BACK:
        return _sent_back(situation, rule, after)
    return _let_go(situation, rule, session.note(after, {"unanswered": False}))


def tell_ends(situation: Situation, elsewhere: str) -> Decision:
    """Where no Stop has come to tell them. Nobody is to go on with what ended; what else is open stays so."""
    situation.look_at_ends(goes_on=False)
    is_over = not work_in(situation.row, *OPEN_STATES)
    return _let_go(situation, DONE, session.close(situation.row) if is_over else situation.row, elsewhere)


def _let_go(situation: Situation, rule: Rule, after: SessionRow, elsewhere: str = "") -> Decision:
    doubts = {kind: sentences.doubt(since) for kind, since in situation.doubts.items()}
    if doubts:
        after = session.in_doubt(after, doubts)
    text = sentences.release(rule, situation.row, after, situation.limits, elsewhere)
    if text:
        after = session.told(after)
    event: SessionEvent = {"kind": "allowed", "rule": rule.name}
    if not_in_ledger := unvouched(after):
        event["unvouched"] = not_in_ledger
    return Decision(rule, text, after, *_reopenings(situation), event)


def _sent_back(situation: Situation, rule: Rule, after: SessionRow) -> Decision:
    reason = rule.reason(situation, after)
    event: SessionEvent = {"kind": "blocked", "rule": rule.name, "reason": reason}
    if rule is BLOCK:
        is_open = sentences.what_is_open(situation.active(), sentences.LONGEST_OPEN)
        after = session.note(after, {"openSaid": is_open})
        if "refused" in after["ulw"]:
            event["refused"] = after["ulw"]["refused"]["calls"]
    return Decision(rule, reason, after, *_reopenings(situation), event)


def _reopenings(situation: Situation) -> list[SessionEvent]:
    events: list[SessionEvent] = []
    for kind in situation.reopened:
        changed = situation.row["work"][kind].get("changed")
        events.append({"kind": bound.REOPENED, "work": kind, "changed": changed})
    return events
