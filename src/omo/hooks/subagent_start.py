"""While work is open: count the agents that start, for the budget, and note where the host writes down what they do."""

from __future__ import annotations

from omo.hosts import Answer
from omo.state import runtime
from omo.work import budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from omo.hooks.main import World
    from omo.hosts import Event

    Json = dict[str, Any]


def handle(event: Event, world: World) -> Answer:
    def decide(row: Json | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            return runtime.Change(None)
        return runtime.Change(None, budget.agent_started(row, event.agent_record))

    if event.agent_type and world.live_row():  # no type: the host's own, such as compaction
        world.change(decide)
    return Answer()
