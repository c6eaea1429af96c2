"""May this session stop? An ordered table; the first rule that matches decides, and its name goes to the ledger."""

from __future__ import annotations

from omo import settings
from omo.clock import seconds
from omo.state.runtime import OPEN_STATES, Change, is_live, part, unvouched, work_in
from omo.ultrawork import session, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.host import Event

    Json = dict[str, Any]

SHELL_EXCUSES = 2  # a server left running in the background must not excuse every Stop
API_ERRORS = ("Connection error", "Request timed out", "Overloaded", "Unable to connect")
LIMITS = ("You've hit your", "You've reached your", "Claude usage limit reached", "Claude AI usage limit reached")
LONGEST_NOTICE = 300  # the host's own notice is one line; a report that quotes one is prose


class Situation:
    """Everything the rules look at."""

    __slots__ = ("disabled", "event", "limits", "now", "row", "unreadable")

    def __init__(
        self, event: Event, row: Json | None, limits: Json, now: float, *, disabled: bool = False, unreadable: str = ""
    ) -> None:
        self.event = event
        self.row: Json = row or {}
        self.limits = _limits(limits, self.row)
        self.now = now
        self.disabled = disabled
        self.unreadable = unreadable

    @property
    def ulw(self) -> Json:
        return part(self.row, "ulw")

    def active(self) -> list[tuple[str, Json]]:
        found = work_in(self.row, "active")
        if self.ulw.get("enabled") and not part(self.row, "work"):
            found.append((session.KIND, {}))  # the minimum shape of the file has no summaries
        return found

    def since(self, key: str) -> float:
        """Seconds since a recorded moment; for ever if there was none. A clock that went back counts as no time."""
        text = self.ulw.get(key)
        return max(0.0, self.now - seconds(text)) if text else float("inf")


class Rule:
    """`then` is what the decision does to the session's row; None writes nothing at all.

    `reads` and `change` are for `omo explain stop`: which facts `when` looks at, and what would make it answer
    otherwise, with the numbers of the situation to be filled in.
    """

    __slots__ = ("change", "name", "reads", "then", "when", "why")

    def __init__(
        self,
        name: str,
        why: str,
        when: Callable[[Situation], bool],
        then: Callable[[Situation, str], Json] | None,
        *,
        reads: tuple[str, ...],
        change: tuple[str, ...],
    ) -> None:
        self.name = name
        self.why = why
        self.when = when
        self.then = then
        self.reads = reads
        self.change = change


def _limits(own: Json, row: Json) -> Json:
    """Those the user armed the run with. Of those an agent's command stored, what holds the session no less.

    The hook's own come from the user's environment; the agent's shell may say anything.
    """
    stored = stored_limits(row)
    if part(row, "ulw").get("by") == "user":
        return {**own, **stored}
    stored = {**own, **stored}
    return {knob.name: _firmer(knob, own[knob.name], stored[knob.name]) for knob in settings.LIMITS}


def _firmer(knob: settings.Knob, own: Any, stored: Any) -> Any:
    """What is stored counts up to the default. A cooldown holds the longer the shorter it is."""
    if knob.name == "cooldown_seconds":
        return min(own, max(stored, knob.default))
    return max(own, min(stored, knob.default))


def stored_limits(row: Json) -> Json:
    """The limits the run was armed with, as far as they are usable."""
    stored = part(part(row, "ulw"), "limits")
    usable = {}
    for knob in settings.LIMITS:
        try:
            usable[knob.name] = knob.parse(stored.get(knob.name))
        except settings.Refusal:
            continue
    return usable


def _is_idle(s: Situation) -> bool:
    if s.unreadable or session.is_cancelled(s.row):
        return False
    all_over = bool(part(s.row, "work")) and not work_in(s.row, *OPEN_STATES, "done")
    return not is_live(s.row) or (all_over and not _is_invalid(s))


def _is_invalid(s: Situation) -> bool:
    """Edited by hand into something no counter can advance on."""
    numbers = [s.ulw.get(key, 0) for key in ("stopBlocks", "totalBlocks", "shellExcuses")]
    if any(isinstance(number, bool) or not isinstance(number, int) or number < 0 for number in numbers):
        return True
    objects = [s.row.get(key, {}) for key in ("ulw", "stopContinuation", "work")] + list(part(s.row, "work").values())
    if not isinstance(s.ulw.get("enabled", False), bool) or not all(isinstance(one, dict) for one in objects):
        return True
    try:
        return min(s.since("lastStopAt"), s.since("armedAt")) < 0
    except (ValueError, TypeError, AttributeError):
        return True


def _is_limit_notice(s: Situation) -> bool:
    """The host's own words in the host's own form: an error with its status, a limit with its reset."""
    text = s.event.last_message.strip()
    if len(text) > LONGEST_NOTICE or "\n" in text:
        return False
    if text.startswith("API Error: "):
        said = text.removeprefix("API Error: ")
        return said[:3].isdigit() or said.startswith(API_ERRORS)
    ends = " resets " in text or "|" in text or text.endswith("limit reached")
    return text.startswith(LIMITS) and "limit" in text and ends


def _is_done(s: Situation) -> bool:
    """`omo ulw done`, or another workflow's end, said so; a summary of gates does not."""
    return not s.active() and bool(work_in(s.row, "done"))


def _is_same_event(s: Situation) -> bool:
    """The same event twice (a hook registered twice): after a block of ours the host would say it continues one."""
    return not s.event.continues_a_block and s.ulw.get("lastStop") == s.event.fingerprint


def _counted(s: Situation, rule: str) -> Json:
    return session.count_block(s.row, now=s.now, fingerprint=s.event.fingerprint)


def _stays(s: Situation, rule: str) -> Json:
    return s.row


def _excused(s: Situation, rule: str) -> Json:
    return session.note(s.row, shellExcuses=s.ulw.get("shellExcuses", 0) + 1)


def _waits_for_limit(s: Situation, rule: str) -> Json:
    return session.suspend(s.row, state="waiting", why=s.event.last_message.strip())


def _done(s: Situation, rule: str) -> Json:
    return session.close(s.row)


def _exhausted(s: Situation, rule: str) -> Json:
    return session.exhaust(s.row, rule=rule, why=texts.CAUSES[rule](s.row, s.limits))


def _invalid(s: Situation, rule: str) -> Json:
    ulw = {"enabled": False, "stopBlocks": 0, "lastStopAt": None}
    unarmed = {**s.row, "ulw": {"enabled": True}, "work": {}}  # nothing of it can be kept
    return {**session.exhaust(unarmed, rule=rule, why=texts.CAUSES[rule](s.row, s.limits)), "ulw": ulw}


TYPE_ULW = "type ulw in a prompt"
RULES = (
    Rule(
        "switched-off",
        "OMO_DISABLE is set",
        lambda s: s.disabled,
        None,
        reads=("OMO_DISABLE",),
        change=("start Claude Code without OMO_DISABLE",),
    ),
    Rule(
        "subagent",
        "a subagent stops, not the session",
        lambda s: s.event.is_subagent,
        None,
        reads=("event.agent_id",),
        change=("the Stop of the session itself is decided by the rules below",),
    ),
    Rule(
        "not-active",
        "nothing is active for exactly this session",
        _is_idle,
        None,
        reads=("ulw.enabled", "work"),
        change=(TYPE_ULW, "start a workflow in this session: omo ultragoal, omo plan, omo ralph, omo verify"),
    ),
    Rule(
        "cancelled",
        "the user said stop",
        lambda s: session.is_cancelled(s.row),
        None,
        reads=("stopContinuation.disabled", "stopContinuation.disabledReason", "stopContinuation.disabledAt"),
        change=(TYPE_ULW,),
    ),
    Rule(
        "unreadable-state",
        "the state cannot be read, so nothing is known",
        lambda s: bool(s.unreadable),
        None,
        reads=("unreadable",),
        change=("the next Stop keeps the unreadable file aside; then " + TYPE_ULW,),
    ),
    Rule(
        "invalid-state",
        "the session's counters were edited into nonsense",
        _is_invalid,
        _invalid,
        reads=("ulw.enabled", "ulw.stopBlocks", "ulw.totalBlocks", "ulw.shellExcuses", "ulw.lastStopAt", "ulw.armedAt"),
        change=(TYPE_ULW + ", which writes them anew",),
    ),
    Rule(
        "plan-mode",
        "plan mode ends a turn to show the plan",
        lambda s: s.event.in_plan_mode,
        _stays,
        reads=("event.permission_mode",),
        change=("leave plan mode",),
    ),
    Rule(
        "host-limit",
        "the host reported a usage limit or an API error",
        _is_limit_notice,
        _waits_for_limit,
        reads=("event.last_message",),
        change=("your next message sets the run going again",),
    ),
    Rule(
        "background-agent",
        "an agent runs and will wake the session",
        lambda s: s.event.running()[0] > 0,
        _stays,
        reads=("event.running",),
        change=("the agent ends, which wakes the session; the Stop after that is decided anew",),
    ),
    Rule(
        "wake-up",
        "a one-shot wake-up will continue the session",
        lambda s: s.event.has_one_shot_wakeup(),
        _stays,
        reads=("event.wakeups",),
        change=("the wake-up comes; the Stop after that is decided anew",),
    ),
    Rule(
        "background-shell",
        f"a shell runs in the background (excuses {SHELL_EXCUSES} Stops in a row)",
        lambda s: s.event.running()[1] > 0 and s.ulw.get("shellExcuses", 0) < SHELL_EXCUSES,
        _excused,
        reads=("event.running", "ulw.shellExcuses"),
        change=("the shell ends", "{excuses_left}, and its excuses are used up"),
    ),
    Rule(
        "prompt-queued",
        "the user has typed something that waits for this turn to end",
        lambda s: s.event.queued_prompts() > 0,
        _stays,
        reads=("event.queued",),
        change=("the prompt is taken back from the queue",),
    ),
    Rule(
        "waiting",
        "the work waits: for the user, paused, or blocked from outside",
        lambda s: not s.active() and bool(work_in(s.row, "waiting", "paused", "blocked")),
        _stays,
        reads=("work",),
        change=("your answer, where it waits or is blocked", "you say continue, where it is paused"),
    ),
    Rule(
        "done",
        "the state says the work is finished, as omo ulw done or a workflow's own end writes it",
        _is_done,
        _done,
        reads=("work",),
        change=(TYPE_ULW + ", which begins a new run",),
    ),
    Rule(
        "duplicate",
        "the same event was delivered twice",
        lambda s: s.since("lastStopAt") < s.limits["cooldown_seconds"] and _is_same_event(s),
        _stays,
        reads=("ulw.lastStopAt", "limits.cooldown_seconds", "ulw.lastStop", "event.fingerprint", "event.continues"),
        change=("register the hook once: omo doctor says where it is registered twice",),
    ),
    Rule(
        "cap",
        "as many blocks as allowed without verified progress",
        lambda s: s.ulw.get("stopBlocks", 0) >= s.limits["max_stop_blocks"],
        _exhausted,
        reads=("ulw.stopBlocks", "limits.max_stop_blocks"),
        change=("before that Stop, a gate that newly passes on a changed tree: omo gate run", TYPE_ULW),
    ),
    Rule(
        "cooldown",
        "stopped again within the cooldown of the last block",
        lambda s: s.since("lastStopAt") < s.limits["cooldown_seconds"],
        _exhausted,
        reads=("ulw.lastStopAt", "limits.cooldown_seconds"),
        change=("{cooldown_left:.1f} s later the cooldown is over", TYPE_ULW),
    ),
    Rule(
        "ceiling",
        "the run's own limit of blocks or hours",
        lambda s: (
            s.ulw.get("totalBlocks", 0) >= s.limits["max_total_blocks"]
            or (bool(s.ulw.get("armedAt")) and s.since("armedAt") >= s.limits["max_hours"] * 3600)
        ),
        _exhausted,
        reads=("ulw.totalBlocks", "limits.max_total_blocks", "ulw.armedAt", "limits.max_hours"),
        change=(TYPE_ULW + ", which begins a new budget",),
    ),
)
BLOCK = Rule(
    "block",
    "work is open, and no rule above lets the session stop",
    lambda s: True,
    _counted,
    reads=(
        *("work", "ulw.stopBlocks", "limits.max_stop_blocks", "ulw.lastStopAt", "limits.cooldown_seconds"),
        *("ulw.totalBlocks", "limits.max_total_blocks", "ulw.armedAt", "limits.max_hours"),
    ),
    change=(
        "{open}",
        "{blocks_left} without verified progress, and the cap lets go",
        "a Stop within {cooldown:g} s of a block is let through (cooldown)",
        "{total_left} or {hours_left:.1f} more hours, and the ceiling lets go",
        texts.STOP,
    ),
)


def decide(situation: Situation) -> Rule:
    for rule in RULES:
        if rule.when(situation):
            return rule
    return BLOCK


def carry_out(situation: Situation) -> Change:
    """The decision as a change of state. Its answer is (rule, text): the reason to go on, or a line for the user."""
    rule = decide(situation)
    if rule.name == "cancelled" and session.cancel_is_unshown(situation.row):
        shown = session.cancel_shown(situation.row)
        return Change((rule, texts.cancelled(situation.row)), shown, [{"kind": "allowed", "rule": rule.name}])
    if rule.then is None:
        return Change((rule, ""))
    after = rule.then(situation, rule.name)
    if rule is BLOCK:
        reason = texts.reason_to_go_on(after, situation.active(), situation.limits["max_stop_blocks"])
        return Change((rule, reason), after, [{"kind": "blocked", "rule": rule.name, "reason": reason}])
    message = texts.release(rule.name, situation.row, after)
    after = session.note(session.told(after) if message else after, unanswered=False)
    doubts = unvouched(after)
    event = {"kind": "allowed", "rule": rule.name, **({"unvouched": doubts} if doubts else {})}
    return Change((rule, message), after, [event])
