"""After a resume or a compaction: say in a few words where open work stands. What the user pinned outlives /clear."""

from __future__ import annotations

from omo.clock import seconds, stamp
from omo.errors import OmoError
from omo.hooks import messages
from omo.hosts import Answer
from omo.state import runtime, store
from omo.state.rows import ulw_of
from omo.work import left_open, session, spending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.hooks.main import World
    from omo.hosts import Event

    Json = dict[str, Any]

SAME_EVENT = 10.0  # seconds in which the same resume can only be one event, delivered twice


def handle(event: Event, world: World) -> Answer:
    if event.start_source not in ("resume", "compact"):
        pins = _pins_of_before(event, world) if event.start_source == "clear" else ""
        lines = [line for line in (pins, _offer(event, world)) if line]
        return Answer(message="\n".join(lines) if event.shows_messages else "")
    # A compaction changes nothing in the terminal where the user was told already.
    is_shown = event.start_source == "resume" and event.shows_messages
    row = runtime.session(world.state, event.session) or _taken_over(event, world)
    if row is not None and row.get("instructed") and event.start_source == "compact":
        _forget_instructions(world)
    if row is None or not runtime.is_live(row):
        if not is_shown:
            return Answer()
        return Answer(message=world.told_of_removal() or _offer(event, world))
    message = ""
    if is_shown:
        message = messages.still_on(row)
        if message and not _is_first(event, world):
            message = ""
    return Answer(context=messages.where_things_stand(row), message=message)


def _offer(event: Event, world: World) -> str:
    """What a conversation that is over left open."""
    rows = runtime.read(world.state)["sessions"]
    others = left_open.offered(rows, event.session, event.client, world.now)
    newest = next(iter(others.values()), {})
    return messages.offer(list(others.items()), left_open.idle_for(newest, world.now))


def _pins_of_before(event: Event, world: World) -> str:
    """The conversation is new, the user and their pins are not."""
    sessions = runtime.read(world.state)["sessions"]
    before = [key for key in sessions if runtime.part(sessions, key).get("client") == event.client]
    if not event.client or not before or event.session in before:
        return ""
    old = max(before, key=lambda key: str(sessions[key].get("lastUsedAt")))
    pinned = _take_over_pins(event, world, old, runtime.vouched_rows(world.state, old))
    return messages.pins_kept(pinned)


def _take_over_pins(event: Event, world: World, old: str, rows: list[Json]) -> list[str]:
    """`rows` are what the old session's ledger vouches for."""
    from omo.workflows.ultrawork import gates

    own = gates.SessionGates(world.state, event.session, "user", world.now, client=event.client)
    pinned = own.take_over(old, rows)
    return [f"{gate.name}: {gates.in_words(gate)}" for gate in pinned]


def _forget_instructions(world: World) -> None:
    """They were compacted away with the rest: the next `ulw` gives them whole."""
    try:
        world.change(lambda row: runtime.Change(None, row and {**row, "instructed": False}))
    except (OmoError, OSError):
        pass  # then it gives one line, which names `omo next`


def _is_first(event: Event, world: World) -> bool:
    """Not the same event a second time, as to a hook that is registered twice."""

    def decide(row: Json | None) -> runtime.Change:
        if row is None:
            return runtime.Change(False)
        ulw = ulw_of(row)
        is_same = ulw.get("resumedFor") == event.fingerprint
        if is_same and world.now - seconds(ulw["resumedAt"]) < SAME_EVENT:
            return runtime.Change(False)
        row = spending.rested(row)
        return runtime.Change(True, session.note(row, resumedFor=event.fingerprint, resumedAt=stamp(world.now)))

    try:
        return bool(world.change(decide))
    except (OmoError, OSError):
        return False  # the model is told all the same


def _taken_over(event: Event, world: World) -> Json | None:
    """Some hosts give a session a new id when they compact or resume it. Its transcript tells the old one."""
    ancestors = []
    for key, row in runtime.read(world.state)["sessions"].items():
        if runtime.is_live(row) and key != event.session and event.transcript.begins_as(key):
            ancestors.append(key)
    if len(ancestors) != 1 or not event.session:
        return None
    old = ancestors[0]
    rows = runtime.vouched_rows(world.state, old)
    runtime.move_session(
        *(world.state, old, event.session), source=event.start_source, now=world.now, wait=store.HOOK_WAIT
    )
    _take_over_pins(event, world, old, rows)
    return runtime.session(world.state, event.session)
