"""Names that only the state knows. Reads, never writes; what cannot be read is not offered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from omo.errors import OmoError
from omo.state import ledger, paths, runtime, store

LONGEST = 200
MOST = 500
LEDGERS = ("session", "goal", "ultragoal")


def offered(kind: str, state: str, session: str) -> list[str]:
    """Those that fit on a line and are no option: whoever wrote them may have had something in mind."""
    found = dict.fromkeys(name for name in KINDS[kind](state, session) if isinstance(name, str))
    return [name for name in found if _can_be_typed(name)][:MOST]


def _can_be_typed(name: str) -> bool:
    return 0 < len(name) <= LONGEST and name.isprintable() and not name.startswith("-")


def sessions(state: str, session: str) -> Iterable[Any]:
    """Those with a row, the last used first, then those that only left a ledger."""
    rows = runtime.read(state)["sessions"]
    used = sorted(rows, key=lambda name: str(runtime.part(rows, name).get("lastUsedAt", "")), reverse=True)
    placed = {paths.file_name_of(name) for name in rows}
    return [*used, *(name for name in _directories(os.path.join(state, "sessions")) if name not in placed)]


def gates(state: str, session: str) -> Iterable[Any]:
    rows = ledger.rows(paths.events_file(state, session))
    return [row.get("name") for row in rows if row.get("kind") == "gate-added"]


def plan_goals(state: str, session: str) -> Iterable[Any]:
    shown = store.read(os.path.join(paths.ultragoal_dir(state, session), "goals.json")) or {}
    listed = shown.get("goals")
    return [goal.get("id") for goal in listed if isinstance(goal, dict)] if isinstance(listed, list) else []


def verify_goals(state: str, session: str) -> Iterable[Any]:
    rows = ledger.rows(os.path.join(paths.verify_dir(state), "goals", "ledger.jsonl"))
    return [runtime.part(row, "spec").get("id") for row in rows]


def goals(state: str, session: str) -> Iterable[Any]:
    return [*verify_goals(state, session), *plan_goals(state, session)]


def criteria(state: str, session: str) -> Iterable[Any]:
    listed = _of_newest_run(paths.ralph_dir(state), session, "criteria")
    return [one.get("id") for one in listed if isinstance(one, dict)]


def plan_steps(state: str, session: str) -> Iterable[Any]:
    return [f"step-{number}" for number in _of_newest_run(paths.plans_dir(state), session, "steps")]


def _of_newest_run(parent: str, session: str, key: str) -> list[Any]:
    """What the row that began the session's newest run lists."""
    for name in _directories(parent):
        for row in ledger.rows(os.path.join(parent, name, "ledger.jsonl")):
            if row.get("session") == session and isinstance(row.get(key), list):
                return list(row[key])
    return []


def explained(state: str, session: str) -> Iterable[Any]:
    """All that `omo explain goal` knows; a ledger that nobody can read keeps the others from nothing."""
    for kind in (plan_goals, criteria, plan_steps, gates, verify_goals):
        try:
            yield from kind(state, session)
        except OmoError:
            continue


def plan_runs(state: str, session: str) -> Iterable[Any]:
    return [name for name in _directories(paths.plans_dir(state)) if name != "reviews"]


def ralph_runs(state: str, session: str) -> Iterable[Any]:
    return _directories(paths.ralph_dir(state))


def ledgers(state: str, session: str) -> Iterable[Any]:
    below = [f"{kind}/{name}" for kind in ("verify", "plans", "ralph") for name in _directories(_in(state, kind))]
    return [*LEDGERS, *(name for name in ("evidence", "commands") if os.path.isdir(_in(state, name))), *below]


def _in(state: str, name: str) -> str:
    return os.path.join(state, name)


def _directories(parent: str) -> list[str]:
    """Newest names first: they begin with the time."""
    try:
        return sorted((entry.name for entry in os.scandir(parent) if entry.is_dir()), reverse=True)
    except (FileNotFoundError, NotADirectoryError):
        return []


KINDS: dict[str, Callable[[str, str], Iterable[Any]]] = {
    "sessions": sessions,
    "gates": gates,
    "goals": goals,
    "explained": explained,
    "plan-goals": plan_goals,
    "verify-goals": verify_goals,
    "plan-runs": plan_runs,
    "ralph-runs": ralph_runs,
    "ledgers": ledgers,
}
