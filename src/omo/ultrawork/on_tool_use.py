"""PreToolUse: a list of things that are denied. Whatever is not on it is none of our business."""

from __future__ import annotations

from omo import host
from omo.digest import sha256
from omo.json_text import dumps
from omo.shown import clip
from omo.state import runtime, store
from omo.ultrawork import session, tool_gates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from omo.ultrawork.hook import World
    from omo.ultrawork.tool_gates import Denial

    Json = dict[str, Any]

GATES: tuple[Callable[[host.Event, World], Denial | None], ...] = (
    tool_gates.guards_own_state,
    tool_gates.keeps_inside_the_fence,
    tool_gates.keeps_questions_in_the_plan,
    tool_gates.keeps_the_run_with_its_leader,
)
PATIENCE = 3  # an identical call that is refused so often is no longer a matter between omo and the model
REMEMBERED = 64  # different refused calls; an older one is counted from the start again
COUNT_WAIT = 2.0  # the count is what ends a loop of refusals, so it is worth waiting for
LONGEST_QUESTION = 500

# What the user is told when the run comes to wait. These gates stay shut: only the Stop is let go.
# A completion or a subagent's call that is refused waits for nobody: the leader goes on.
WAITS = {
    "ask": f"the agent was refused {PATIENCE} times when it wanted to ask you this",
    "pause": f"the agent was refused {PATIENCE} times when it wanted to pause the goal",
    "fence": f"the agent was refused {PATIENCE} times when it wanted to leave the plan's fence",
}


def handle(event: host.Event, world: World) -> bytes:
    for gate in GATES:
        if denial := gate(event, world):
            return _refuse(event, world, denial)
    return b""


def _refuse(event: host.Event, world: World, denial: Denial) -> bytes:
    """Deny; but a refusal that is repeated and repeated is a question for the user, not for a loop."""
    again = _count_denial(event, world, denial)
    if denial.gate != tool_gates.OWN_STATE or again <= PATIENCE or event.is_codex:
        return host.deny_tool(denial.reason)
    return host.ask_about_tool(
        f"omo refused this {PATIENCE} times: {denial.reason} Ultrawork is paused. Allow it once?"
    )


def _count_denial(event: host.Event, world: World, denial: Denial) -> int:
    key = sha256(store.encode(event.tool + dumps(event.tool_input)))[:16]

    def decide(row: Json | None) -> runtime.Change:
        denials, times = _counted(runtime.part(row or {}, "denials"), key)
        after = _released({**(row or {}), "denials": denials}, denial, times)
        event_row = {"kind": "denied", "gate": denial.gate, "tool": event.tool, "reason": denial.reason, "times": times}
        return runtime.Change(times, after, [event_row])

    try:
        times = runtime.change_session(world.state, event.session, decide, actor="hook", now=world.now, wait=COUNT_WAIT)
    except OSError:
        return 1
    return times if isinstance(times, int) else 1


def _counted(denials: Json, key: str) -> tuple[Json, int]:
    before = denials.get(key)
    times = before + 1 if isinstance(before, int) else 1
    others = [one for one in denials.items() if one[0] != key]
    return dict([*others[1 - REMEMBERED :], (key, times)]), times


def _released(row: Json, denial: Denial, times: int) -> Json:
    """The row in which active work no longer holds the Stop, once patience is at its end."""
    if not runtime.work_in(row, "active"):
        return row
    if denial.gate == tool_gates.OWN_STATE:
        why = f"the same call was refused {PATIENCE} times"
        return session.suspend(row, state="paused", why=why) if times > PATIENCE else row
    if denial.gate not in WAITS or times % PATIENCE:
        return row
    question = clip(denial.question, LONGEST_QUESTION)
    return session.suspend(row, state="waiting", why=WAITS[denial.gate], question=question)
