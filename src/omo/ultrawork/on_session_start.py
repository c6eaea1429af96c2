"""SessionStart: after a resume or a compaction, say in a few words where open work stands."""

from __future__ import annotations

import os

from omo import host
from omo.clock import seconds, stamp
from omo.errors import OmoError
from omo.state import runtime, store
from omo.ultrawork import session, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.ultrawork.hook import World

    Json = dict[str, Any]

RETURNING = ("resume", "compact")
SAME_EVENT = 10.0  # seconds in which the same resume can only be one event, delivered twice
LINEAGE = 64 * 1024


def handle(event: host.Event, world: World) -> bytes:
    if event.start_source not in RETURNING:
        return b""
    row = runtime.session(world.state, event.session) or _taken_over(event, world)
    if row is None or not runtime.is_live(row):
        return b""
    text = texts.where_things_stand(row)
    # A compaction changes nothing in the terminal where the user was told already.
    if event.start_source != "resume" or not host.is_claude_code(event, world.environ):
        return host.context(text)
    message = texts.still_on(row)
    return host.context_and_message(text, message, event) if message and _is_first(event, world) else host.context(text)


def _is_first(event: host.Event, world: World) -> bool:
    """Not the same event a second time, as to a hook that is registered twice."""

    def decide(row: Json | None) -> runtime.Change:
        ulw = runtime.part(row or {}, "ulw")
        since = world.now - seconds(str(ulw["resumedAt"])) if ulw.get("resumedFor") == event.fingerprint else SAME_EVENT
        if row is None or since < SAME_EVENT:
            return runtime.Change(False)
        return runtime.Change(True, session.note(row, resumedFor=event.fingerprint, resumedAt=stamp(world.now)))

    try:
        return bool(
            runtime.change_session(
                world.state, event.session, decide, actor="hook", now=world.now, wait=store.HOOK_WAIT
            )
        )
    except (OmoError, OSError):
        return False  # the model is told all the same


def _taken_over(event: host.Event, world: World) -> Json | None:
    """Some hosts give a session a new id when they compact or resume it. Its transcript tells the old one."""
    live = [key for key, row in runtime.read(world.state)["sessions"].items() if runtime.is_live(row)]
    ancestors = [key for key in live if key != event.session and _is_mentioned(key, event.transcript)]
    if len(ancestors) != 1 or not event.session:
        return None
    runtime.move_session(
        *(world.state, ancestors[0], event.session), source=event.start_source, now=world.now, wait=store.HOOK_WAIT
    )
    return runtime.session(world.state, event.session)


def _is_mentioned(session: str, transcript: str) -> bool:
    """Does the transcript begin as that session's own?"""
    if not os.path.isfile(transcript):
        return False
    with open(transcript, "rb") as file:
        head = file.read(LINEAGE)
    return f'"sessionId":"{session}"'.encode() in head.replace(b'": "', b'":"')
