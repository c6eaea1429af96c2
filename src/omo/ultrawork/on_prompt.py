"""UserPromptSubmit: arm, cancel, pause and resume, all inside the hook, before and without the model."""

from __future__ import annotations

import time

from omo import host, settings
from omo.clock import seconds
from omo.errors import OmoError, Unreadable
from omo.state import runtime, store
from omo.ultrawork import session, texts
from omo.ultrawork.keyword import HEARD, RULES, read_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.ultrawork.hook import World
    from omo.ultrawork.keyword import Reading

    Json = dict[str, Any]

CANCEL_WAIT = 2.0  # a cancel is worth waiting for; anything else gives up early
QUEUE_LAG = 0.2  # seconds until the host's note of a queued prompt is surely in the transcript
QUEUE_LOOKS = 4
SAME_EVENT = 3.0  # seconds in which the same cancel can only be one event, delivered twice


def handle(event: host.Event, world: World) -> bytes:
    if event.is_machine_prompt or event.is_subagent:
        return b""
    if event.prompt.lstrip().startswith("/"):
        from omo.ultrawork import user_commands

        answered = user_commands.answer(event, world)
        if answered is not None:
            return answered
    reading = read_prompt(event.prompt, mode=settings.load(world.environ, world.root).keyword)
    if reading.rule != "machine-text" and _was_withdrawn(event, _row(event, world)):
        _change(event, world, lambda row: runtime.Change(None, row and session.withdraw(row), [{"kind": "withdrawn"}]))
    return ACTIONS[reading.action](event, world, reading)


def _was_withdrawn(event: host.Event, row: Json | None) -> bool:
    """Esc before the model's first word takes a prompt back, and the host tells nobody: the session was armed, the
    model never spoke, and this prompt was not typed during that turn (the host would have queued it)."""
    ulw = runtime.part(row or {}, "ulw")
    if not ulw.get("armedFor") or ulw["armedFor"] == event.fingerprint or ulw.get("totalBlocks"):
        return False
    if not ulw.get("enabled") or not event.is_silent_since(str(ulw.get("armedAt"))):
        return False
    for _ in range(QUEUE_LOOKS):
        if event.queued_prompts():
            return False
        time.sleep(QUEUE_LAG / QUEUE_LOOKS)
    return True


def _activate(event: host.Event, world: World, reading: Reading) -> bytes:
    if not event.session:
        return host.context(texts.could_not("turned on", "the host gave no session id"))
    from omo.evidence import base
    from omo.ultrawork import gates

    now_in_force = settings.load(world.environ, world.root)
    began = base.take(world.root, world.environ)

    def decide(row: Json | None) -> runtime.Change:
        is_on = row is not None and bool(runtime.work_in(row, "active")) and not session.is_cancelled(row)
        if is_on and runtime.part(row or {}, "ulw").get("armedFor") == event.fingerprint:
            return runtime.Change((False, []))  # the same prompt, delivered twice
        armed = session.arm(row, by="user", limits=now_in_force.limits, now=world.now)
        armed = session.note(armed, armedFor=event.fingerprint)
        woken = session.woken(row, armed)
        kind = "rearmed" if is_on else "activated"
        noted: Json = {"kind": kind, "rule": reading.rule, **gates.begun(row, armed, began)}
        if woken:
            noted["woke"] = [name for name, _ in woken]
        return runtime.Change((not is_on, woken), armed, [noted])

    try:
        is_new, woken = _change(event, world, decide)
    except OmoError as error:
        return host.context(texts.could_not("turned on", error.message))
    text = texts.instructions(now_in_force.problems) if is_new else ""
    if not woken:
        return host.context(text) if text else b""
    more, line = texts.goes_on_again(woken)
    return _tell_both((text + more, line), event, world)


def _cancel(event: host.Event, world: World, reading: Reading) -> bytes:
    try:
        said = _record_cancel(event, world, reading, texts.cancel_answer)
    except OmoError as error:
        said = f"omo: the cancel could not be recorded: {error.message}. Type it again, or start with OMO_DISABLE=1."
    return host.swallow_prompt(said, event, world.environ) if said else b""


def _cancel_and_continue(event: host.Event, world: World, reading: Reading) -> bytes:
    said = _record_cancel(event, world, reading, lambda row: texts.CANCELLED_AND_MORE)
    return host.context(said) if said and said != texts.NOTHING_TO_CANCEL else b""


def _record_cancel(event: host.Event, world: World, reading: Reading, answer: Callable[[Json], str]) -> str:
    """What is to be said of it: nothing where the same prompt was delivered twice, and is answered already."""
    goes_on = reading.action == "cancel-and-continue"

    def decide(row: Json | None) -> runtime.Change:
        if _is_answered(event, world, runtime.part(row or {}, "stopContinuation")):
            return runtime.Change("")
        was_on = row is not None and runtime.is_live(row)
        cancelled = session.cancel(
            row,
            reason=f"user: {reading.rule}",
            now=world.now,
            told=goes_on or not was_on,
            shown=not (goes_on and was_on),
            event=event.fingerprint,
        )
        said = answer(cancelled) if was_on else texts.NOTHING_TO_CANCEL
        return runtime.Change(said, cancelled, [{"kind": "cancelled", "rule": reading.rule}])

    return str(_change(event, world, decide, wait=CANCEL_WAIT))


def _is_answered(event: host.Event, world: World, off: Json) -> bool:
    is_same = bool(off.get("disabled")) and off.get("cancelledFor") == event.fingerprint
    return is_same and world.now - seconds(str(off["disabledAt"])) < SAME_EVENT


def _pause(event: host.Event, world: World, reading: Reading) -> bytes:
    """All that is on, or the workflows that were named, while others go on."""
    shown = host.is_claude_code(event, world.environ)  # elsewhere the user reads it at the next Stop

    def decide(row: Json | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            return runtime.Change(None)
        work = session.can_be_paused(row)
        named = [(kind, summary) for kind, summary in session.not_given_up(row) if kind in reading.names]
        noted: Json = {"kind": "paused", "rule": reading.rule}
        if not named:
            paused = session.pause(row, why=texts.FOR_NOW, told=shown)
            return runtime.Change(texts.paused(work), paused, [noted]) if work else runtime.Change(None)
        paused = row
        for kind, _ in named:
            paused = session.stop_by_name(paused, kind, why=texts.BY_NAME, told=shown)
        noted["named"] = [kind for kind, _ in named]
        return runtime.Change(texts.stopped_by_name(named, runtime.work_in(paused, "active")), paused, [noted])

    answer = _change(event, world, decide) if _is_live(event, world) else None
    return _tell_both(answer, event, world) if answer else _none(event, world, reading)


def _resume(event: host.Event, world: World, reading: Reading) -> bytes:
    named = reading.names[0] if reading.names else ""

    def decide(row: Json | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            return runtime.Change(None)
        after = session.resume(row, named=named)
        waited = [(kind, one) for kind, one in runtime.work_in(row, *session.WAITING) if after["work"][kind] != one]
        if not waited:  # it is on already, and they said so: nothing they wrote before is open
            return runtime.Change(None, after)
        return runtime.Change(texts.continued(waited), after, [{"kind": "resumed"}])

    if not _is_live(event, world):
        return _none(event, world, reading)
    answer = _change(event, world, decide)
    return _tell_both(answer, event, world) if answer else b""


def _none(event: host.Event, world: World, reading: Reading) -> bytes:
    """A person spoke: what waited for them goes on, and their words are kept for the next Stop. A pause ends only
    when they say so."""
    if reading.rule == "machine-text":
        return b""
    row = _row(event, world)
    if row is None or not runtime.is_live(row):
        if row and runtime.needs_hooks(row):
            return _tell_of_cancel(event, world)
        if reading.rule in HEARD and host.is_claude_code(event, world.environ):
            return host.tell_user(texts.not_turned_on(RULES[reading.rule][0]))
        return b""

    def decide(row: Json | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            return runtime.Change(None)
        events = []
        if runtime.part(row, "ulw").get("unanswered"):  # we blocked, and then a person ended that turn
            row = session.note(row, unanswered=False)
            events.append({"kind": "overridden"})
        woken = session.resume(row, states=("waiting", "blocked"), own=False)
        if woken["work"] != runtime.part(row, "work"):
            events.append({"kind": "resumed"})
        return runtime.Change(None, session.note_message(woken, event.prompt, now=world.now), events)

    _change(event, world, decide)
    return b""


def _tell_both(answer: tuple[str, str], event: host.Event, world: World) -> bytes:
    """The model gets the text, the user one line; where a host has no place for the line, the text alone."""
    text, line = answer
    if host.is_claude_code(event, world.environ):
        return host.context_and_message(text, line, event)
    return host.context(text)


def _tell_of_cancel(event: host.Event, world: World) -> bytes:
    """The prompt that cancelled never reached the model, which still has its instructions: say so, once."""

    def decide(row: Json | None) -> runtime.Change:
        off = runtime.part(row or {}, "stopContinuation")
        if row is None or off.get("told") is not False:
            return runtime.Change(False)
        return runtime.Change(True, {**row, "stopContinuation": {**off, "told": True}}, [{"kind": "cancel-told"}])

    return host.context(texts.WAS_CANCELLED) if _change(event, world, decide) else b""


def _row(event: host.Event, world: World) -> Json | None:
    try:
        return runtime.session(world.state, event.session)
    except Unreadable:
        return None  # whoever writes next keeps the bytes aside


def _is_live(event: host.Event, world: World) -> bool:
    row = _row(event, world)
    return row is not None and runtime.is_live(row)


def _change(
    event: host.Event, world: World, decide: Callable[[Json | None], runtime.Change], wait: float = store.HOOK_WAIT
) -> Any:
    return runtime.change_session(world.state, event.session, decide, actor="user", now=world.now, wait=wait)


ACTIONS = {
    "activate": _activate,
    "cancel": _cancel,
    "cancel-and-continue": _cancel_and_continue,
    "pause": _pause,
    "resume": _resume,
    "none": _none,
}
