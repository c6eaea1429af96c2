"""What the user types as /omo:pin, /omo:unpin and /omo:allow: answered by the prompt hook, without the model.

What they type after /omo:ralph and /omo:ultragoal goes to the model, and is kept as they typed it.
"""

from __future__ import annotations

import os

from omo import safe_open, settings
from omo.digest import sha256
from omo.errors import BadInput, OmoError
from omo.state import paths, runtime
from omo.text import block, clip
from omo.work import session
from omo.workflows.ultrawork import gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.hooks.main import World
    from omo.hosts import Event

    Json = dict[str, Any]


LONGEST_REQUEST = 8000
LARGEST_CRITERIA = 1_000_000


def answer(event: Event, world: World) -> str | None:
    """What the user reads; None for any other prompt."""
    name = command_of(event.prompt)
    if name is None:
        return None
    rest = "".join(event.prompt.split(maxsplit=1)[1:])
    try:
        text = COMMANDS[name](event, world, rest)
    except OmoError as error:
        text = f"/omo:{name} did nothing: {error.message}. {error.fix}".strip()
    return f"omo: {text}"


def keep_request(event: Event, world: World) -> None:
    """What the user asks of a workflow, for the command that starts it. A file or a shell could say anything."""
    words = event.prompt.split(maxsplit=1)
    name = words[0].removeprefix("/omo:").removeprefix("/")
    if name in REQUESTS and len(words) > 1:
        noted = REQUESTS[name](event, world, words[1].strip())
        world.change(lambda row: runtime.Change(None, row or {}, [noted]), actor="user")


def _asked_of_ultragoal(event: Event, world: World, rest: str) -> Json:
    """The brief, and which gate they chose for it; the project's own setting is that of the commit of now."""
    from omo.proof import base

    gate = _typed_gate(rest)
    if not gate and settings.of(world.environ, {}).goal_gate == "light":
        gate = "light"
    head = base.take(world.root, world.environ)["head"]
    return {"kind": "ultragoal-asked", "text": block(rest, LONGEST_REQUEST), "gate": gate, "head": head}


def _typed_gate(brief: str) -> str:
    """What a line `gate: light` before the first goal says."""
    for line in brief.splitlines():
        if line.startswith("@goal"):
            break
        name, _, value = line.partition(":")
        if name.strip().lower() == "gate" and value.strip().lower() in settings.GOAL_GATES:
            return value.strip().lower()
    return ""


def _asked_of_ralph(event: Event, world: World, rest: str) -> Json:
    """What is asked, or the digest of the criteria file that is named."""
    path = os.path.join(world.root, paths.session_directory(world.environ, event.project), rest)
    noted: Json = {"kind": "ralph-asked", "text": block(rest, LONGEST_REQUEST)}
    if len(rest.splitlines()) == 1 and os.path.isfile(path):
        content, _ = safe_open.read_start(path, LARGEST_CRITERIA, follow_link=True)
        noted = {"kind": "ralph-asked", "criteria": clip(rest, 200), "digest": sha256(content)}
    return noted


def command_of(prompt: str) -> str | None:
    """pin, unpin or allow, where the prompt is that command."""
    words = prompt.split(maxsplit=1)
    if not words or not words[0].startswith("/"):
        return None
    name = words[0].removeprefix("/omo:").removeprefix("/")
    return name if name in COMMANDS else None


def _gates(event: Event, world: World) -> gates.SessionGates:
    return gates.SessionGates(world.state, event.session, "user", world.now)


def _pin(event: Event, world: World, rest: str) -> str:
    """A gate in the user's own name, in the directory where their session is."""
    pin = gates.Pin(rest)
    cwd = paths.session_directory(world.environ, event.project)
    program = gates.resolve(pin.argv[0], os.path.join(world.root, cwd), world.environ.get("PATH", ""))
    gate = _gates(event, world).add(
        pin.name, pin.argv, cwd=cwd, program=program, timeout=pin.timeout, sealed=pin.sealed
    )
    _wake(world)
    what = "replays of" if gates.is_replay_only(pin.argv) else "gate"
    return f"{what} {pin.name} pinned by you: {gates.in_words(gate)}"


def _unpin(event: Event, world: World, rest: str) -> str:
    name = _one_word(rest, "/omo:unpin tests")
    was_replayed = _gates(event, world).withdraw_replay(name)
    try:
        _gates(event, world).remove(name)
    except BadInput:
        if not was_replayed:
            raise
    _wake(world)
    return f"gate {name} is gone"


def _allow(event: Event, world: World, rest: str) -> str:
    name = _one_word(rest, "/omo:allow tests")
    what = _gates(event, world).allow(name, world.root)
    goes_on = "; the work goes on" if _wake(world) else ""
    return f"{what} is let through by you, and the end will say so{goes_on}"


def _one_word(rest: str, form: str) -> str:
    words = rest.split()
    if len(words) != 1:
        raise BadInput(f"{clip(rest, 60)!r} is not one name", fix=f"for example: {form}")
    return words[0]


def _wake(world: World) -> bool:
    """The user answered: what waited for them goes on."""

    def decide(row: Json | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or not runtime.work_in(row, "waiting", "blocked"):
            return runtime.Change(False)
        after = session.resume(row, own=False)
        if after == row:
            return runtime.Change(False)
        return runtime.Change(True, after, [{"kind": "resumed"}])

    return bool(world.change(decide, actor="user"))


REQUESTS = {"ralph": _asked_of_ralph, "ultragoal": _asked_of_ultragoal}
COMMANDS = {"pin": _pin, "unpin": _unpin, "allow": _allow}
