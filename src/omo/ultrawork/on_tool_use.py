"""PreToolUse: a list of things that are denied. Whatever is not on it is none of our business."""

from __future__ import annotations

import os

from omo import host
from omo.digest import sha256
from omo.json_text import dumps
from omo.state import runtime, store
from omo.ultrawork import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.ultrawork.hook import World

    Json = dict[str, Any]

PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")
WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch")
PATIENCE = 3  # after so many identical refusals the fourth is put before the user
INSTEAD = {
    "runtime.local.json": "omo ulw status shows it, omo ulw done finishes the run",
    "events.jsonl": "omo alone writes the ledger: omo gate add, run and record add to it, omo ledger show reads it",
}


def handle(event: host.Event, world: World) -> bytes:
    for gate in GATES:
        if reason := gate(event, world):
            return _refuse(event, world, reason)
    return b""


def guards_own_state(event: host.Event, world: World) -> str:
    """Direct edits of our state: what is there counts only because omo wrote it."""
    for path in _written_paths(event) if event.tool in WRITERS else []:
        if _is_inside(os.path.join(event.cwd or world.root, path), world.state):
            instead = INSTEAD.get(os.path.basename(path), "omo --help lists the commands that change it")
            return f"{path} is omo's own state and is not edited by hand: {instead}."
    return ""


GATES: tuple[Callable[[host.Event, World], str], ...] = (guards_own_state,)


def _written_paths(event: host.Event) -> list[str]:
    named = [event.tool_input.get(key) for key in ("file_path", "notebook_path", "path")]
    found = [one for one in named if isinstance(one, str) and one]
    patch = event.tool_input.get("command") or event.tool_input.get("input")
    if isinstance(patch, list):
        patch = "\n".join(word for word in patch if isinstance(word, str))
    if event.tool == "apply_patch" and isinstance(patch, str):
        found += [line[len(mark) :].strip() for line in patch.splitlines() for mark in PATCHED if line.startswith(mark)]
    return found


def _is_inside(path: str, directory: str) -> bool:
    """By name and by where links lead; case is ignored, as some file systems do."""
    for resolve in (os.path.abspath, os.path.realpath):
        if os.path.join(resolve(path), "").lower().startswith(os.path.join(resolve(directory), "").lower()):
            return True
    return False


def _refuse(event: host.Event, world: World, reason: str) -> bytes:
    """Deny; but a refusal that is repeated and repeated is a question for the user, not for a loop."""
    again = _count_denial(event, world, reason)
    if again <= PATIENCE or event.is_codex:
        return host.deny_tool(reason)
    return host.ask_about_tool(f"omo refused this {PATIENCE} times: {reason} Ultrawork is paused. Allow it once?")


def _count_denial(event: host.Event, world: World, reason: str) -> int:
    key = sha256(store.encode(event.tool + dumps(event.tool_input)))[:16]

    def decide(row: Json | None) -> runtime.Change:
        known = row or {}
        times = runtime.part(known, "denials").get(key, 0) + 1
        after = {**known, "denials": {**runtime.part(known, "denials"), key: times}}
        if times > PATIENCE and runtime.work_in(after, "active"):
            after = session.suspend(after, state="paused", why=f"the same call was refused {PATIENCE} times")
        event_row = {"kind": "denied", "tool": event.tool, "reason": reason, "times": times}
        return runtime.Change(times, after, [event_row])

    try:
        times = runtime.change_session(
            world.state, event.session, decide, actor="hook", now=world.now, wait=store.HOOK_WAIT
        )
    except OSError:
        return 1
    return times if isinstance(times, int) else 1
