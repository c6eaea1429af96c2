"""While work is open: count the agents that start, for the budget, and note where the host writes down what they do."""

from __future__ import annotations

from omo.hosts import Answer
from omo.state import runtime
from omo.work import budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.main import World
    from omo.hosts import Event


def handle(event: Event, world: World) -> Answer:
    if event.agent_type:  # no type: the host's own, such as compaction
        world.change_live(lambda row: runtime.Change(None, budget.agent_started(row, event.agent_record)))
    return Answer()
