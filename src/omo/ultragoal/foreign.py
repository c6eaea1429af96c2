"""Plans of the tool this one descends from (`.gjc/_session-ID/ultragoal`), read so that a run can be taken over.

What was missing is filled in as that tool does; what is damaged is refused. Its receipts are left behind: they came
from gates that were not run here, so a goal it calls complete still has to be verified.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from omo.clock import seconds, stamp
from omo.errors import BadInput
from omo.shown import clip
from omo.ultragoal import foreign_files
from omo.ultragoal.brief import MOST_GOALS, defects_of, is_visible, lines_of, preamble_of, title_of

Row = dict[str, Any]

STATUSES = ("pending", "active", "complete", "failed", "blocked", "review_blocked", "superseded")
THEIR_KEYS = ("gjcObjective", "gjcGoalMode")
OUR_KEYS = ("run", "session", "constraints", "goalMode", "repository")
ID = re.compile(r"G[0-9]{3}")
MOST_ALIASES = 100
MOST_DEFECTS = 200
LARGEST_STEERING = 20_000
FIX = "mend a copy of the directory and name that, or start anew: omo ultragoal create-goals --brief-file PATH"


@dataclass(frozen=True)
class ForeignGoal:
    id: str
    title: str
    objective: str
    status: str
    evidence: str
    steering: Row | None


@dataclass(frozen=True)
class ForeignPlan:
    """`notes` tells what was filled in or looks odd; `migrated_from` is the objective the pointer took the place of."""

    brief: str
    preamble: str
    goal_mode: str
    objective: str
    aliases: list[str]
    goals: list[ForeignGoal]
    migrated_from: str | None
    created_at: str
    skipped_rows: int = 0
    notes: list[str] = field(default_factory=list)


def is_foreign(document: object) -> bool:
    if not isinstance(document, dict):
        return False
    if any(key in document for key in THEIR_KEYS):
        return True
    return "goals" in document and not any(key in document for key in OUR_KEYS)


def read_plan(document: object, ledger_rows: list[Any], *, pointer: str, now: float) -> ForeignPlan:
    """A row that is no object of that ledger is counted, not fatal. BadInput lists every defect of the plan."""
    if not isinstance(document, dict):
        raise _bad([f"goals.json: {_kind(document)}, not an object"])
    defects: list[str] = []
    rows = [row for row in ledger_rows if _is_row(row)]
    goals, notes = _goals(document.get("goals"), _checkpoints(rows), defects)
    brief = _text(document.get("brief"), "brief", defects)
    mode = "per-story" if document.get("gjcGoalMode") == "per-story" else "aggregate"
    old = _text(document.get("gjcObjective"), "gjcObjective", defects)
    aliases = _aliases(document.get("gjcObjectiveAliases"), defects)
    if defects:
        raise _bad(defects)
    objective = old if old and mode == "per-story" else pointer
    return ForeignPlan(
        brief=brief or _composed(goals),
        preamble=preamble_of(brief),
        goal_mode=mode,
        objective=objective,
        aliases=[one for one in dict.fromkeys([*aliases, old]) if one not in ("", objective)],
        goals=goals,
        migrated_from=old if old not in ("", objective) else None,
        created_at=_created_at(document.get("createdAt"), now),
        skipped_rows=len(ledger_rows) - len(rows),
        notes=notes if brief else [*notes, "brief: there is none, so it was written from the goals"],
    )


def read_directory(directory: str, *, pointer: str, now: float, root: str | None = None) -> ForeignPlan:
    """With a `root`, a directory that lies elsewhere is refused, also where links lead there. brief.md comes first."""
    document, text, rows = foreign_files.read(directory, root)
    text = "\n".join(lines_of(text)).strip()
    if not isinstance(document, dict) or not is_visible(text):
        return read_plan(document, rows, pointer=pointer, now=now)
    plan = read_plan({**document, "brief": text}, rows, pointer=pointer, now=now)
    if document.get("brief") in (None, text):
        return plan
    return replace(plan, notes=["brief: brief.md and goals.json differ; brief.md was taken", *plan.notes])


def _goals(items: object, checkpoints: dict[str, list[Row]], defects: list[str]) -> tuple[list[ForeignGoal], list[str]]:
    if not isinstance(items, list):
        defects.append(f"goals: {_kind(items)}, not a list")
        return [], []
    if not 1 <= len(items) <= MOST_GOALS:
        defects.append(f"goals: {len(items)}, not 1 to {MOST_GOALS}")
        return [], []
    notes: list[str] = []
    read = [_goal(item, at, checkpoints, defects, notes) for at, item in enumerate(items)]
    goals = [goal for goal in read if goal is not None]
    defects += _repeated(goals)
    if len(goals) == len(items) and all(goal.status == "superseded" for goal in goals):
        defects.append("goals: every one is superseded, so nothing is left to do")
    names = {goal.id for goal in goals}
    return [_tied(goal, names, notes) for goal in _with_one_active(goals, notes)], notes


def _goal(
    item: object, at: int, checkpoints: dict[str, list[Row]], defects: list[str], notes: list[str]
) -> ForeignGoal | None:
    where = f"goals[{at}]"
    if not isinstance(item, dict):
        defects.append(f"{where}: {_kind(item)}, not an object")
        return None
    name = _text(item.get("id"), f"{where}.id", defects) or f"G{at + 1:03d}"
    if not ID.fullmatch(name):
        defects.append(f"{where}.id: {clip(name, 40)!r} is not G and three digits, such as G{at + 1:03d}")
    title = _text(item.get("title"), f"{where}.title", defects) or name
    seen = checkpoints.get(name, [])
    return ForeignGoal(
        id=name,
        title=title_of(title),
        objective=_text(item.get("objective"), f"{where}.objective", defects) or title,
        status=_status(item.get("status"), name, seen, notes),
        evidence=_text(item.get("evidence"), f"{where}.evidence", defects) or _last_evidence(seen),
        steering=_steering(item.get("steering"), f"{where}.steering", defects),
    )


def _status(value: object, name: str, checkpoints: list[Row], notes: list[str]) -> str:
    if value is not None and value not in STATUSES:
        notes.append(f"{name}: the status {_shown(value)} is unknown; it is pending now")
    if value == "complete" and not any(row.get("status") == "complete" for row in checkpoints):
        notes.append(f"{name}: called complete, but the ledger has no checkpoint that says so")
    return str(value) if value in STATUSES else "pending"


def _with_one_active(goals: list[ForeignGoal], notes: list[str]) -> list[ForeignGoal]:
    active = [goal.id for goal in goals if goal.status == "active"]
    notes += [f"{name}: was active beside {active[0]}; it is pending now" for name in active[1:]]
    return [replace(goal, status="pending") if goal.id in active[1:] else goal for goal in goals]


def _repeated(goals: list[ForeignGoal]) -> list[str]:
    times = Counter(goal.id for goal in goals)
    return [f"goals: {clip(name, 40)!r} is the id of {count} goals" for name, count in times.items() if count > 1]


def _tied(goal: ForeignGoal, names: set[str], notes: list[str]) -> ForeignGoal:
    """A blocker of a goal that is not there, or of itself, could never release it."""
    steering = dict(goal.steering or {})
    blocked = steering.pop("blockedGoalId", None)
    if blocked is None or (isinstance(blocked, str) and blocked in names - {goal.id}):
        return goal
    notes.append(f"{goal.id}: blocks {_shown(blocked)}, which is no other goal of the plan; that was dropped")
    return replace(goal, steering=steering)


def _checkpoints(rows: list[Row]) -> dict[str, list[Row]]:
    """By goal, in the order they were written."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.get("event") == "goal_checkpointed" and isinstance(row.get("goalId"), str):
            found.setdefault(row["goalId"], []).append(row)
    return found


def _last_evidence(checkpoints: list[Row]) -> str:
    said = [row["evidence"] for row in checkpoints if isinstance(row.get("evidence"), str)]
    return said[-1].strip() if said and not defects_of(said[-1]) else ""


def _is_row(row: object) -> bool:
    """One kind of row names itself by `type`, the others by `event`."""
    return isinstance(row, dict) and any(isinstance(row.get(key), str) for key in ("event", "type"))


def _text(value: object, where: str, defects: list[str]) -> str:
    """Trimmed; empty where there is none."""
    if value is None:
        return ""
    if not isinstance(value, str):
        defects.append(f"{where}: {_kind(value)}, not text")
        return ""
    defects += [f"{where}: {said}" for said in defects_of(value)]
    return value.strip() if is_visible(value) else ""


def _aliases(value: object, defects: list[str]) -> list[str]:
    """Blank ones and what is no text are dropped, as their reader does."""
    found = [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
    if len(found) > MOST_ALIASES:
        defects.append(f"gjcObjectiveAliases: {len(found)}, at most {MOST_ALIASES}")
        return []
    return [_text(one, f"gjcObjectiveAliases[{at}]", defects) for at, one in enumerate(found)]


def _steering(value: object, where: str, defects: list[str]) -> Row | None:
    if not isinstance(value, dict):
        return None
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8"))
    except (ValueError, TypeError, RecursionError) as error:
        defects.append(f"{where}: cannot be kept: {clip(str(error), 100)}")
        return None
    if size > LARGEST_STEERING:
        defects.append(f"{where}: {size} bytes, at most {LARGEST_STEERING}")
    return value


def _created_at(value: object, now: float) -> str:
    try:
        then = seconds(value) if isinstance(value, str) else now
    except ValueError:
        then = now
    return stamp(then if 0 <= then <= now else now)


def _composed(goals: list[ForeignGoal]) -> str:
    """A brief that parses to these goals; a line that would begin another goal is indented."""
    return "\n\n".join(f"@goal: {goal.title}\n{re.sub('(?m)^@goal', ' @goal', goal.objective)}" for goal in goals)


def _kind(value: object) -> str:
    names = {type(None): "nothing", bool: "true or false", dict: "an object", list: "a list", str: "text"}
    return names.get(type(value), "a number")


def _shown(value: object) -> str:
    return repr(clip(value, 40)) if isinstance(value, str) else _kind(value)


def _bad(defects: list[str]) -> BadInput:
    count = "1 defect" if len(defects) == 1 else f"{len(defects)} defects"
    shown = [clip(one, 300) for one in defects[:MOST_DEFECTS]]
    return BadInput(f"the plan to take over has {count}: {shown[0]}", fix=FIX, defects=shown)
