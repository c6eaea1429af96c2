"""Which gate of PreToolUse would refuse a call: the very functions of the hook are asked, and nothing is counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from omo import settings
from omo.errors import Unreadable
from omo.hooks import session, tool_use
from omo.hooks.main import World
from omo.hooks.tool_use import Denial
from omo.hosts import Event
from omo.shown import clip
from omo.state import paths, runtime
from omo.state.runtime import part
from omo.views.explain.answer import RUNTIME, Explanation, Fact, setting, switched_off, switches

Row = dict[str, Any]

HOOK = "pre-tool-use"


def explain(event: Event, world: World) -> Explanation:
    if off := switches(world.environ, HOOK):
        return switched_off(f"{_called(event)}: allow", off, _extra(event))
    if event.tool_title not in event.host.watched_tools:
        why = f"the hook is registered for {', '.join(event.host.watched_tools)}; no other call reaches omo"
        read = [Fact("tool", event.host.sources["tool"], event.tool_title)]
        return Explanation(f"{_called(event)}: allow", "allow", "not-watched", why, read, [], [], _extra(event))
    row, unreadable = _row(event, world)
    trail: list[Row] = []
    for gate in tool_use.GATES:
        if (denial := gate.asks(event, world)) is not None:
            return _denied(event, world, gate, denial, row, trail)
        trail.append({"rule": gate.name, "why": gate.what})
    read = [*_call(event), *unreadable, *(fact for one in FACTS.values() for fact in one(event, world, row))]
    return Explanation(
        f"{_called(event)}: allow",
        "allow",
        "no-gate",
        "no gate refuses it in this session as it stands; whether the host allows it is the host's to say",
        list({fact.what: fact for fact in read}.values()),
        [f"{gate.name} refuses {gate.what}" for gate in tool_use.GATES],
        trail,
        _extra(event),
    )


def _denied(event: Event, world: World, gate: tool_use.Gate, denial: Denial, row: Row, trail: list[Row]) -> Explanation:
    times = tool_use.counted(part(row, "denials"), event.call_digest)[1]
    decision = "ask" if tool_use.asks_the_user(event, denial, times) else "deny"
    read = [*_call(event), *FACTS[gate.name](event, world, row), Fact("denials", RUNTIME, f"{times - 1} of this call")]
    return Explanation(
        f"{_called(event)}: {decision}",
        decision,
        denial.gate,
        denial.reason,
        read,
        [gate.until[denial.gate], *_patience(denial, times)],
        trail,
        _extra(event),
    )


def _patience(denial: Denial, times: int) -> list[str]:
    """What a refusal that is repeated leads to."""
    most = tool_use.PATIENCE
    if denial.gate == tool_use.OWN_STATE:
        left = most - times
        return [f"after {left + 1} more identical calls you are asked whether to allow it once"] if left >= 0 else []
    if denial.gate not in tool_use.WAITS:
        return []
    left = (most - times % most) % most
    when = f"after {left} more identical calls" if left else "with this call"
    return [f"{when} the run waits for you, and Stop lets go; the gate stays shut"]


def _row(event: Event, world: World) -> tuple[Row, list[Fact]]:
    try:
        return runtime.session(world.state, event.session) or {}, []
    except Unreadable as error:
        return {}, [Fact(RUNTIME, "cannot be read, so no gate but own-state looks further", error.message)]


def _called(event: Event) -> str:
    who = "a subagent's " if event.is_subagent else ""
    return f"{who}{clip(event.tool_title, 60)} {clip(_target(event), 120)}".strip()


def _extra(event: Event) -> Row:
    return {"session": event.session, "tool": clip(event.tool_title, 60), "subagent": event.is_subagent}


def _target(event: Event) -> str:
    return event.command or ", ".join(event.written_paths)


def _call(event: Event) -> list[Fact]:
    sources = event.host.sources
    caller = "a subagent" if event.is_subagent else "the session itself"
    return [
        Fact("tool", sources["tool"], event.tool_title),
        Fact("call", sources["call"], clip(_target(event), 200)),
        Fact("caller", sources["caller"], caller),
    ]


def _open_work(row: Row) -> Fact:
    states = [f"{kind} {one['state']}" for kind, one in runtime.work_in(row, *runtime.OPEN_STATES)]
    cancelled = "cancelled; " if session.is_cancelled(row) else ""
    return Fact("work", RUNTIME, cancelled + (", ".join(states) or "nothing is open"))


def _of_own_state(event: Event, world: World, row: Row) -> list[Fact]:
    guarded = [Fact("omo's own state", "the project", world.state), Fact("settings", "the project", _settings(world))]
    return [*guarded, _open_work(row)]


def _settings(world: World) -> str:
    return paths.settings_file(world.root)


def _of_fence(event: Event, world: World, row: Row) -> list[Fact]:
    fence = part(part(part(row, "work"), "ultraplan"), "fence")
    if not fence:
        return [Fact("work.ultraplan.fence", RUNTIME, "none")]
    return [Fact(f"fence.{key}", RUNTIME, fence.get(key)) for key in ("touch", "never", "root", "spec")]


def _of_ask(event: Event, world: World, row: Row) -> list[Fact]:
    return [_open_work(row), _sentence(row, "ask"), _attended(world, row)]


def _attended(world: World, row: Row) -> Fact:
    """By the environment of the hook; else as the project was committed where the run began, which its row keeps."""
    known = settings.of(world.environ, {})
    if known.origins["attended"] != "default":
        return setting(known, "attended")
    kept = part(part(row, "work"), tool_use.RUN).get("attended") is True
    return Fact("attended", f"as committed where the run began, {RUNTIME}", kept)


def _of_leader(event: Event, world: World, row: Row) -> list[Fact]:
    return [_open_work(row), *(_sentence(row, what) for what in tool_use.OF_GOAL)]


def _sentence(row: Row, what: str) -> Fact:
    """What the command left for the gate to say; where it left nothing, the gate is open."""
    said = part(part(part(row, "work"), tool_use.RUN), "deny").get(what)
    return Fact(f"work.{tool_use.RUN}.deny.{what}", RUNTIME, said or "none")


FACTS: dict[str, Callable[[Event, World, Row], list[Fact]]] = {
    "own-state": _of_own_state,
    "fence": _of_fence,
    "ask": _of_ask,
    "leader": _of_leader,
}
