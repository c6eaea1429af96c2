"""How one session looks: the single reading that `ulw status`, `status` and `explain stop` all show."""

from __future__ import annotations

from typing import Any

from omo import host, settings
from omo.cli.result import Result
from omo.clock import seconds
from omo.context import Context
from omo.errors import Unreadable
from omo.state import runtime
from omo.ultrawork import gates, session, stop

ORPHANED_AFTER = 24 * 3600.0


def situation(context: Context, name: str, event: host.Event | None = None) -> stop.Situation:
    """What the Stop hook would look at now."""
    event = event or host.Event({"session_id": name})
    try:
        row, unreadable = context.row(name), ""
    except Unreadable as error:
        row, unreadable = None, error.message
    disabled = settings.is_disabled(context.environ)
    return stop.Situation(event, row, context.settings.limits, context.now, disabled=disabled, unreadable=unreadable)


def mode(row: dict[str, Any] | None) -> str:
    """One word for a session."""
    if row is None or (not runtime.is_live(row) and not session.was_released(row)):
        done = runtime.work_in(row or {}, "done")
        return "done" if done else "off"
    if session.is_cancelled(row):
        return "cancelled"
    states = [one["state"] for _, one in runtime.work_in(row, *runtime.OPEN_STATES, "exhausted", "done")]
    return "active" if "active" in states or not states else states[0]


def session_view(context: Context, name: str) -> Result:
    now = situation(context, name)
    rule = stop.decide(now)
    pinned = gates.current(context.state, name, now.row)
    given, most = now.ulw.get("stopBlocks", 0), now.limits["max_stop_blocks"]
    data = {
        "session": name,
        "mode": mode(now.row or None),
        "blocks": {"given": given, "of": most},
        "gates": {gate.name: gate.status for gate in pinned.values()},
        "nextStop": {"decision": "block" if rule is stop.BLOCK else "allow", "rule": rule.name, "why": rule.why},
    }
    lines = [f"session {name}: ultrawork {data['mode']}"]
    if runtime.is_live(now.row):
        lines.append(f"  blocks   {given} of {most}")
    lines += [f"  gate     {gate.name}: {gate.status} [{gate.by}]" for gate in pinned.values()]
    lines.append(f"  Stop now would be {'blocked' if rule is stop.BLOCK else 'allowed'}: {rule.name}, {rule.why}")
    return Result(data, "\n".join(lines))


def age(row: dict[str, Any], now: float) -> float:
    try:
        return now - seconds(row["lastUsedAt"])
    except (KeyError, ValueError, AttributeError):
        return float("inf")  # written by another hand, and nobody knows when
