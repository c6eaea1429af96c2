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
LONGEST_WAIT = 6.0  # seconds a Stop may wait for a cooldown: hooks.json lets it run for ten
# What an agent that only answers may use besides omo: its to-do list, and the tool that hands out the others.
TO_DO_TOOLS = ("TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "ToolSearch")


class Situation:
    """Everything the rules look at. `patience` is how many seconds the hook may still wait for a cooldown."""

    __slots__ = ("disabled", "event", "limits", "now", "patience", "row", "unheeded", "unreadable")

    def __init__(
        self,
        event: Event,
        row: Json | None,
        limits: Json,
        now: float,
        *,
        disabled: bool = False,
        unreadable: str = "",
        patience: float = LONGEST_WAIT,
    ) -> None:
        self.event = event
        self.row: Json = row or {}
        self.limits = _limits(limits, self.row)
        self.now = now
        self.disabled = disabled
        self.unreadable = unreadable
        self.patience = patience
        self.unheeded: Json | None = None

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

    def cooldown_left(self) -> float:
        """Seconds until the next block may be given. A block in the future was given by a clock that was wrong."""
        cooldown = float(self.limits["cooldown_seconds"])
        text = self.ulw.get("lastStopAt")
        if not text or seconds(text) > self.now + cooldown:
            return 0.0
        return max(0.0, cooldown - self.since("lastStopAt"))

    def message(self) -> Json:
        """What a person wrote since the run was armed or resumed, if the agent has done nothing since but answer."""
        if self.unheeded is None:  # three rules ask, and the transcript may be long
            self.unheeded = self._look_for_message()
        return self.unheeded

    def _look_for_message(self) -> Json:
        message = part(self.ulw, "said")
        moment = message.get("at")
        if not isinstance(moment, str):
            return {}
        calls = self.event.tools_since(moment)
        if calls is None or any(_is_work(name, given) for name, given in calls):
            return {}
        return message


class Rule:
    """`then` is what the decision does to the session's row; None writes nothing at all.

    `reads` and `change` are for `omo explain stop`: which facts `when` looks at, and what would make it answer
    otherwise, with the numbers of the situation to be filled in. `blocks`: the turn is sent back.
    """

    __slots__ = ("blocks", "change", "name", "reads", "then", "when", "why")

    def __init__(
        self,
        name: str,
        why: str,
        when: Callable[[Situation], bool],
        then: Callable[[Situation, str], Json] | None,
        *,
        reads: tuple[str, ...],
        change: tuple[str, ...],
        blocks: bool = False,
    ) -> None:
        self.name = name
        self.why = why
        self.when = when
        self.then = then
        self.reads = reads
        self.change = change
        self.blocks = blocks


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


def _is_work(name: str, given: Json) -> bool:
    """Does this tool call do anything but ask omo, or keep a to-do list?"""
    if name in TO_DO_TOOLS:
        return False
    return name != "Bash" or not is_omo_only(str(given.get("command") or ""))


def is_omo_only(command: str) -> bool:
    """One or more `omo …` commands, and nothing else in the line."""
    if "`" in command or "$(" in command or "<(" in command or ">(" in command:
        return False
    plain, quote = "", ""
    for letter in command.replace("\\\n", " "):
        if not quote and letter in "'\"":
            quote = letter
        elif letter == quote:
            quote = ""
        elif not quote:
            plain += letter
    for separator in ("&&", "||", "|", ";"):
        plain = plain.replace(separator, "\n")
    programs = [line.split()[0] for line in plain.splitlines() if line.strip()]
    return bool(programs) and all(program.rpartition("/")[2] == "omo" for program in programs)


def _counted(s: Situation, rule: str) -> Json:
    """The agent went on since the user's last message, or nobody knows: that message plays no part any more."""
    return session.forget_message(session.count_block(s.row, now=s.now, fingerprint=s.event.fingerprint))


def _quoted(s: Situation, rule: str) -> Json:
    return session.quote_message(s.row, now=s.now, fingerprint=s.event.fingerprint)


def _message_told(s: Situation, rule: str) -> Json:
    return session.message_told(s.row)


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
        "message-quoted",
        "you wrote something, the agent was sent back with it once, and has used no tool since but omo",
        lambda s: bool(s.message().get("quoted")),
        _message_told,
        reads=("ulw.said", "event.tools"),
        change=("the agent uses a tool again", "you say continue, or " + TYPE_ULW),
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
    Rule(
        "cooldown",
        f"the next block may come only later than the {LONGEST_WAIT:g} s for which a hook waits; the run stays on",
        lambda s: s.cooldown_left() > s.patience,
        _stays,
        reads=("ulw.lastStopAt", "limits.cooldown_seconds"),
        change=("{cooldown_left:.1f} s later the cooldown is over", "a smaller cooldown_seconds"),
    ),
    Rule(
        "quote-message",
        "you wrote something, and the agent has used no tool since but omo; it is sent back once, with your words",
        lambda s: bool(s.message()),
        _quoted,
        reads=("ulw.said", "event.tools"),
        change=("the next Stop is let through, unless the agent uses a tool before it", texts.STOP),
        blocks=True,
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
        "a Stop within {cooldown:g} s of a block waits for the rest of them, and is then decided anew",
        "{total_left} or {hours_left:.1f} more hours, and the ceiling lets go",
        texts.STOP,
    ),
    blocks=True,
)


def decide(situation: Situation) -> Rule:
    for rule in RULES:
        if rule.when(situation):
            return rule
    return BLOCK


def carry_out(situation: Situation) -> Change:
    """The decision as a change of state. Its answer is (rule, text): the reason to go on, or a line for the user.

    Within the cooldown of the last block no other is given: then nothing changes, and the text is empty.
    """
    rule = decide(situation)
    if rule.blocks and situation.cooldown_left() > 0:
        return Change((rule, ""))
    if rule.name == "cancelled" and session.cancel_is_unshown(situation.row):
        shown = session.cancel_shown(situation.row)
        return Change((rule, texts.cancelled(situation.row)), shown, [{"kind": "allowed", "rule": rule.name}])
    if rule.then is None:
        return Change((rule, ""))
    after = rule.then(situation, rule.name)
    if rule.blocks:
        message = str(situation.message().get("text", "")) if rule is not BLOCK else ""
        reason = texts.reason_to_go_on(after, situation.active(), situation.limits["max_stop_blocks"], message)
        return Change((rule, reason), after, [{"kind": "blocked", "rule": rule.name, "reason": reason}])
    message = texts.release(rule.name, situation.row, after, situation.limits)
    after = session.note(session.told(after) if message else after, unanswered=False)
    doubts = unvouched(after)
    event = {"kind": "allowed", "rule": rule.name, **({"unvouched": doubts} if doubts else {})}
    return Change((rule, message), after, [event])
