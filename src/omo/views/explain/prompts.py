"""What a prompt asks of ultrawork, by which rule, and which setting had a say in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omo import settings
from omo.hooks import session, user_commands
from omo.shown import clip
from omo.state import runtime
from omo.ultrawork import keyword
from omo.views.explain.answer import RUNTIME, Explanation, Fact, setting, switched_off, switches

Row = dict[str, Any]

HOOK = "user-prompt-submit"
# Answered by the hook, without the model, whatever is on.
COMMANDS = {
    "pin": "the gate is pinned in your name, without the model",
    "unpin": "the gate is taken away, without the model",
    "allow": "the gate, or the change of the file, is let through in your name, without the model",
}
# What the hook does with each action: while work is open in the session, and where none is.
EFFECTS = {
    "activate": (
        "the run goes on with a full budget; the instructions are not told again",
        "ultrawork turns on, and the agent is told the instructions",
    ),
    "cancel": (
        "ultrawork is cancelled, and the turn ends without the model",
        "nothing is on; the turn ends without the model, and ultrawork stays off",
    ),
    "cancel-and-continue": (
        "ultrawork is cancelled, and the rest of the prompt goes to the model",
        "nothing is on; the prompt goes to the model",
    ),
    "pause": ("the run is paused until you say continue", "nothing is on to be paused; the prompt goes to the model"),
    "resume": ("what waits or is paused goes on", "nothing waits; the prompt goes to the model"),
    "none": ("what waits for you goes on; a pause stays", "the prompt goes to the model, and nothing is turned on"),
    **{name: (effect, effect) for name, effect in COMMANDS.items()},
}


def explain(
    text: str, known: settings.Settings, environ: Mapping[str, str], *, name: str = "", row: Row | None = None
) -> Explanation:
    if off := switches(environ, HOOK):
        return switched_off("the hook is off", off, {"action": "none", "keyword": known.keyword})
    command = user_commands.command_of(text)
    if command is not None:
        return _command(command, known, name, row)
    reading = keyword.read_prompt(text, mode=known.keyword)
    why, change = keyword.RULES[reading.rule]
    trail = [
        {"text": clip(text[start:end], 60), "at": start, "rule": rule, "why": keyword.RULES[rule][0]}
        for (start, end), rule in reading.trail
    ]
    return Explanation(
        _title(reading.action),
        reading.action,
        reading.rule,
        why,
        [_place(text, reading), setting(known, "keyword"), *_session(name, row)],
        [change],
        trail,
        _extra(reading.action, known, row),
    )


def text_of(found: Explanation) -> str:
    """The trail of a prompt is made of places in it, so it comes after the answer."""
    lines = [f"{found.decision}: {found.rule}, {found.why}"]
    lines += [f"  {one['text']!r} at {one['at']}: {one['rule']}, {one['why']}" for one in found.trail]
    lines += [f"  so {found.extra['effect']}"] if "effect" in found.extra else []
    return "\n".join([*lines, *found.reasons])


def _command(command: str, known: settings.Settings, name: str, row: Row | None) -> Explanation:
    read = [Fact("prompt", "its first word", f"/omo:{command}"), *_session(name, row)]
    why = f"The prompt is the command /omo:{command}."
    change = ["leave the command out"]
    return Explanation(
        _title(command), command, f"{command}-command", why, read, change, [], _extra(command, known, row)
    )


def _title(action: str) -> str:
    return f"prompt: {action}"


def _extra(action: str, known: settings.Settings, row: Row | None) -> Row:
    effect = EFFECTS[action][0 if _is_on(action, row) else 1]
    return {"action": action, "effect": effect, "keyword": known.keyword}


def _is_on(action: str, row: Row | None) -> bool:
    if row is None or session.is_cancelled(row) or not runtime.is_live(row):
        return False
    states = {
        "activate": ("active",),
        "pause": ("active", "waiting", "blocked"),
        "resume": ("paused", "waiting", "blocked"),
        "none": ("waiting", "blocked"),
    }
    return bool(runtime.work_in(row, *states[action])) if action in states else True


def _place(text: str, reading: keyword.Reading) -> Fact:
    start, end = reading.span
    where = f"characters {start} to {end}" if end > start else "the whole of it"
    return Fact("prompt", where, clip(text[start:end] if end > start else text, 120))


def _session(name: str, row: Row | None) -> list[Fact]:
    if not name:
        return [Fact("session", "not named", "assumed to have nothing on")]
    states = [f"{kind} {one['state']}" for kind, one in runtime.work_in(row or {}, *runtime.OPEN_STATES)]
    is_on = row is not None and runtime.is_live(row)
    return [Fact(f"session {clip(name, 60)}", RUNTIME, ", ".join(states) or ("on" if is_on else "nothing is on"))]
