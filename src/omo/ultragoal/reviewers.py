"""Which reviewers the host saw finish, and the last word of each: the only witness of independence."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from omo.errors import Unreadable
from omo.evidence import base
from omo.shown import clip
from omo.state import ledger, paths, runtime
from omo.ultragoal.plan import Goal
from omo.ultragoal.run import Run

Row = dict[str, Any]

INDEPENDENT = {"omo:architect": "architect", "omo:qa": "qa"}
# What a clean report says at its end; the last key that is there is its verdict.
CLEAN = {
    "architectureStatus": "CLEAR",
    "productStatus": "CLEAR",
    "codeStatus": "CLEAR",
    "recommendation": "APPROVE",
    "e2eStatus": "passed",
    "redTeamStatus": "passed",
    "status": "passed",
}
SECTIONS = ("architectReview", "executorQa")
OPEN = "open blockers"
FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.M)
MOST_TRIED = 50
MOST_CHANGED = 50  # files in a receipt


def finished(run: Run, goal: Goal) -> list[Row]:
    """Reviewers that finished since the goal began; a damaged session ledger vouches for nobody.

    With the last of each kind goes which files are others now than when it finished; None where nobody can tell.
    """
    try:
        if runtime.chain_problems(run.state, run.session):
            return []
    except Unreadable:
        return []
    since = goal.started_at or ""
    agents: list[Row] = []
    last: dict[str, tuple[Row, Row]] = {}
    for row in ledger.rows(paths.events_file(run.state, run.session)):
        if row["ts"] < since or row.get("kind") != "agent-finished" or row.get("agentType") not in INDEPENDENT:
            continue
        role = INDEPENDENT[row["agentType"]]
        agent = {"role": role, "at": row["ts"], "row": row["seq"], "digest": row["digest"], **_said(row)}
        agents.append(agent)
        last[role] = agent, row
    for agent, row in last.values():
        changed = base.look(run.root, row.get("base")).changed
        agent["changed"] = None if changed is None else sorted(changed)
    return agents


def leave_out(agents: Sequence[Row], papers: Sequence[str]) -> None:
    """The gate and what it cites are written after the review that they tell of."""
    for agent in agents:
        if agent.get("changed"):
            changed = [path for path in agent["changed"] if path not in papers]
            agent["changed"] = changed[:MOST_CHANGED]


def independence(agents: Sequence[Row]) -> str:
    """Full where each kind was seen, and none of them said last that it is not clean."""
    seen = {one["role"] for one in agents} >= set(INDEPENDENT.values())
    return "full" if seen and not notes(agents) else "reduced"


def notes(agents: Sequence[Row]) -> list[str]:
    last = {one["role"]: one for one in agents}
    return [
        f"the last word of {role} was {one['verdict']}, so it does not count as a clean review"
        for role, one in last.items()
        if one.get("clean") is False
    ]


def _said(row: Row) -> Row:
    """The verdict at the end of its message; nothing where there is none to be read."""
    report = _report(row.get("message"))
    words = {key: report[key] for key in CLEAN if isinstance(report.get(key), str)}
    if not words:
        return {}
    unclean = [word for key, word in words.items() if word.strip().lower() != CLEAN[key].lower()]
    if not unclean and report.get("blockers"):
        unclean = [OPEN]
    return {"verdict": clip((unclean or list(words.values())[-1:])[0], 40), "clean": not unclean}


def _report(message: object) -> Row:
    """The last object of a message, in a fenced block or bare at its end; also inside its section of a gate."""
    text = message if isinstance(message, str) else ""
    for piece in _pieces(text):
        try:
            found = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return next((found[name] for name in SECTIONS if isinstance(found.get(name), dict)), found)
    return {}


def _pieces(text: str) -> list[str]:
    fences = list(FENCE.finditer(text))
    pairs = list(zip(fences[::2], fences[1::2], strict=False))
    fenced = [text[start.end() : end.start()] for start, end in reversed(pairs)]
    openings = [found.start() for found in re.finditer(r"^\{", text, re.M)]
    return [*fenced[:MOST_TRIED], *(text[at:] for at in openings[-MOST_TRIED:])]
