"""After a resume or a compaction: say in a few words where open work stands. To a new conversation: what is pinned in
the project, what has ended in another one and was not told, and what one left open."""

from __future__ import annotations

from omo import hosts
from omo.errors import OmoError
from omo.hooks import messages
from omo.hosts import Answer
from omo.state import runtime
from omo.work import left_open, spending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.rows import SessionRow


def handle(event: Event, world: World) -> Answer:
    if event.start_source not in ("resume", "compact"):
        if not event.shows_messages:
            return Answer()
        lines = [_ends(event, world), _pins(event, world), _offer(event, world)]
        return Answer(message="\n".join(filter(None, lines)))
    # A compaction changes nothing in the terminal where the user was told already.
    is_shown = event.start_source == "resume" and event.shows_messages
    ended = _ends(event, world) if is_shown else ""
    row = runtime.session(world.state, event.session)
    if row is not None and row.get("instructed") and event.start_source == "compact":
        # They were compacted away with the rest: the next `ulw` gives them whole.
        _change(world, lambda row: {**row, "instructed": False})
    if row is None or not runtime.is_live(row) or not runtime.work_in(row, *runtime.OPEN_STATES):
        offered = (world.told_of_removal() or _offer(event, world)) if is_shown else ""
        return Answer(message=f"{ended}\n{offered}".strip())
    from omo.work import requests

    events = runtime.vouched_rows(world.state, event.session, row)
    task = requests.task(events, runtime.left_open(row), messages.LONGEST_TASK_IN_SHORT)
    where = messages.where_things_stand(row, task)
    if not is_shown:
        return Answer(context=where)
    _change(world, spending.end_unseen_turn)  # the clock of the budget stood still until now
    return Answer(context=where, message=f"{ended}\n{messages.still_on(row)}".strip())


def _ends(event: Event, world: World) -> str:
    """What has ended, here or in a conversation that is over, and no Stop has told."""
    is_there = any(runtime.has_untold_end(row) for row in runtime.sessions(world.state).values())
    if not is_there or hosts.is_in_an_agents_shell(event.host, world.environ):
        return ""
    from omo.hooks import untold

    return "\n".join(filter(None, [untold.of_this_one(world), *untold.of_those_that_are_over(event, world)]))


def _offer(event: Event, world: World) -> str:
    """What a conversation that is over left open."""
    rows = runtime.sessions(world.state)
    others = left_open.offered(rows, event.session, event.client, world.now)
    if not others:
        return ""
    from omo.work import requests

    name, newest = next(iter(others.items()))
    events = runtime.vouched_rows(world.state, name, newest)
    typed: list[str] = []
    for kind, summary in runtime.left_open(newest):
        typed += requests.of_run(events, kind, str(summary.get("run") or ""))
    return messages.offer(list(others.items()), left_open.idle_for(newest, world.now), "".join(typed[:1]))


def _pins(event: Event, world: World) -> str:
    """What holds here because the user pinned it, in whichever conversation."""
    if not any(row.get("pins") for row in runtime.sessions(world.state).values()):
        return ""
    from omo.work import gates

    pinned = gates.current(world.state, event.session, world.row())
    return messages.pins_kept([f"{gate.name}: {gates.in_words(gate)}" for gate in pinned if gate.is_users])


def _change(world: World, change: Callable[[SessionRow], SessionRow]) -> None:
    """Where that cannot be written, where things stand is told all the same."""
    try:
        world.change(lambda row: runtime.Change(None, row and change(row)))
    except (OmoError, OSError):
        pass
