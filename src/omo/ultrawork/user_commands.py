"""What the user types as /omo:pin, /omo:unpin and /omo:allow: answered by the prompt hook, without the model."""

from __future__ import annotations

import os

from omo import host
from omo.errors import BadInput, OmoError
from omo.shown import clip
from omo.state import paths, runtime, store
from omo.ultrawork import gates, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.ultrawork.hook import World

    Json = dict[str, Any]


def answer(event: host.Event, world: World) -> bytes | None:
    """None for any other prompt."""
    name = command_of(event.prompt)
    if name is None:
        return None
    rest = "".join(event.prompt.split(maxsplit=1)[1:])
    try:
        text = COMMANDS[name](event, world, rest)
    except OmoError as error:
        text = f"/omo:{name} did nothing: {error.message}. {error.fix}".strip()
    return host.swallow_prompt(f"omo: {text}", event, world.environ)


def command_of(prompt: str) -> str | None:
    """pin, unpin or allow, where the prompt is that command."""
    word = prompt.split(maxsplit=1)[0] if prompt.strip() else ""
    name = word.removeprefix("/omo:") if word.startswith("/omo:") else word.removeprefix("/")
    return name if word.startswith("/") and name in COMMANDS else None


def _pin(event: host.Event, world: World, rest: str) -> str:
    """A gate in the user's own name, in the directory where their session is."""
    name, argv, timeout = gates.parse_pin(rest)
    cwd = paths.session_directory(world.environ, event.project)
    program = gates.resolve(argv[0], os.path.join(world.root, cwd), world.environ.get("PATH", ""))
    gate = gates.add(
        world.state,
        event.session,
        name,
        argv,
        by="user",
        cwd=cwd,
        program=program,
        now=world.now,
        timeout=timeout,
    )
    what = "replays of" if gates.is_replay_only(argv) else "gate"
    _wake(event, world)
    return f"{what} {name} pinned by you: {gates.in_words(gate)}"


def _unpin(event: host.Event, world: World, rest: str) -> str:
    name = _one_word(rest, "/omo:unpin tests")
    was_replayed = gates.withdraw_replay(world.state, name, now=world.now)
    try:
        gates.remove(world.state, event.session, name, by="user", now=world.now)
    except BadInput:
        if not was_replayed:
            raise
    _wake(event, world)
    return f"gate {name} is gone"


def _allow(event: host.Event, world: World, rest: str) -> str:
    name = _one_word(rest, "/omo:allow tests")
    what = gates.allow(world.state, event.session, name, world.root, now=world.now)
    is_awake = _wake(event, world)
    goes_on = "; the work goes on" if is_awake else ""
    return f"{what} is let through by you, and the end will say so{goes_on}"


def _one_word(rest: str, form: str) -> str:
    words = rest.split()
    if len(words) != 1:
        raise BadInput(f"{clip(rest, 60)!r} is not one name", fix=f"for example: {form}")
    return words[0]


def _wake(event: host.Event, world: World) -> bool:
    """The user answered: what waited for them goes on."""

    def decide(row: Json | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or not runtime.work_in(row, "waiting", "blocked"):
            return runtime.Change(False)
        after = session.resume(row, own=False)
        if after == row:
            return runtime.Change(False)
        return runtime.Change(True, after, [{"kind": "resumed"}])

    return bool(
        runtime.change_session(world.state, event.session, decide, actor="user", now=world.now, wait=store.HOOK_WAIT)
    )


COMMANDS = {"pin": _pin, "unpin": _unpin, "allow": _allow}
