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


class Gate:
    """`asks` looks at one call. `until`: for each name it denies under, what opens it; for `omo explain tool`."""

    __slots__ = ("asks", "name", "until", "what")

    def __init__(
        self,
        name: str,
        what: str,
        asks: Callable[[host.Event, World], Denial | None],
        until: dict[str, str],
    ) -> None:
        self.name = name
        self.what = what
        self.asks = asks
        self.until = until


GATES = (
    Gate(
        "own-state",
        "writes of omo's own state, and of the user's settings while work is open",
        tool_gates.guards_own_state,
        {"own-state": "a command of omo that changes it (omo --help); for settings and shells, the end of the work"},
    ),
    Gate(
        "fence",
        "what a plan session may not change or run",
        tool_gates.keeps_inside_the_fence,
        {"fence": "a path inside the fence; or omo plan finish ends the plan session"},
    ),
    Gate(
        "ask",
        "questions to the user while a goal of a plan is open",
        tool_gates.keeps_questions_in_the_plan,
        {"ask": "no goal is open, the run is handed off, or the setting attended is on where the hook runs"},
    ),
    Gate(
        "leader",
        "omo goal pause and complete before the run allows them, and the plan changed by a subagent",
        tool_gates.keeps_the_run_with_its_leader,
        {
            "pause": "a blocker that only a person can remove, recorded just before: omo ultragoal classify-blocker",
            "complete": "a fresh final receipt that covers the plan: omo ultragoal checkpoint",
            "subagent": "the session that leads the run makes the call, or the run is over",
        },
    ),
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
        if denial := gate.asks(event, world):
            return _refuse(event, world, denial)
    return b""


def _refuse(event: host.Event, world: World, denial: Denial) -> bytes:
    if not asks_the_user(event, denial, _count_denial(event, world, denial)):
        return host.deny_tool(denial.reason)
    return host.ask_about_tool(
        f"omo refused this {PATIENCE} times: {denial.reason} Ultrawork is paused. Allow it once?"
    )


def asks_the_user(event: host.Event, denial: Denial, times: int) -> bool:
    """A refusal that is repeated and repeated is a question for the user, not for a loop."""
    return denial.gate == tool_gates.OWN_STATE and times > PATIENCE and not event.is_codex


def key_of(event: host.Event) -> str:
    """The same for an identical call; a row's `denials` are counted under it."""
    return sha256(store.encode(event.tool + dumps(event.tool_input)))[:16]


def _count_denial(event: host.Event, world: World, denial: Denial) -> int:
    key = key_of(event)

    def decide(row: Json | None) -> runtime.Change:
        denials, times = counted(runtime.part(row or {}, "denials"), key)
        after = _released({**(row or {}), "denials": denials}, denial, times)
        event_row = {"kind": "denied", "gate": denial.gate, "tool": event.tool, "reason": denial.reason, "times": times}
        return runtime.Change(times, after, [event_row])

    try:
        times = runtime.change_session(world.state, event.session, decide, actor="hook", now=world.now, wait=COUNT_WAIT)
    except OSError:
        return 1
    return times if isinstance(times, int) else 1


def counted(denials: Json, key: str) -> tuple[Json, int]:
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
