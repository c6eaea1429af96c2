"""Goals with checks and questions: what the checks saw, what was answered, and the claims that were looked into."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from omo.shown import clip
from omo.verify import claims, goals
from omo.verify.goal_checks import checks_of, escalates
from omo.verify.goals import Goal
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, Table, facts, listed, table
from omo.work.status import Status
from omo.work.viewer import Viewer

Row = dict[str, Any]

MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, view: Status) -> Sections:
    given = viewer.given
    at = goals.Place(given["state"], given["root"], given["by"], given["now"], given["wait"])
    known, rows = at.goals(), at.journal.rows()
    wanted = [known[item.id] for item in view.items if item.id in known]
    return Sections({goal.id: _section(viewer, goal, rows) for goal in wanted})


def _section(viewer: Viewer, goal: Goal, rows: Sequence[Row]) -> Section:
    own = [row for row in rows if row.get("goal") == goal.id]
    begun = [str(row.get("ts")) for row in own if row.get("kind") == "begun"]
    looked = claims.recorded(viewer.context.state, goal=goal.id)
    return Section(
        began=begun[-1] if begun else "",
        ended=goal.completed_at or "",
        said=clip(goal.summary or goal.reason, 1000),
        covers=facts(
            ("contract", goal.spec.contract[:12]),
            ("description", goal.spec.description),
            ("outcomes", "; ".join(goal.spec.verification.outcomes)),
            ("filed by", goal.by),
            ("receipt", f"row {goal.receipt}, {goal.completed_at}" if goal.receipt else ""),
            ("failed", f"{goal.failures} of {goal.spec.max_retries} times" if goal.failures else ""),
        ),
        tables=tuple(_tables(goal, looked)),
        attachments=tuple(_answers(viewer, goal)),
        notices=tuple(_notices(goal, looked)),
    )


def _tables(goal: Goal, looked: Sequence[Row]) -> list[Table]:
    checks = [
        (one.get("id"), one.get("type"), _marked(one.get("result")), one.get("reason"), one.get("observed"))
        for one in listed((goal.checked or {}).get("checks"))
        if isinstance(one, dict)
    ]
    told = [(row.get("claim"), row.get("verdict"), row.get("override") or "") for row in looked]
    found = [
        table("Checks, as last evaluated", ("check", "type", "result", "why", "observed"), checks),
        table("Claims that were looked into", ("claim", "verdict", "let stand because"), told),
    ]
    return [one for one in found if one.rows]


def _marked(result: object) -> Cell:
    return Cell(str(result), MARKS.get(str(result), "open"))


def _answers(viewer: Viewer, goal: Goal) -> list[Attachment]:
    found = []
    for one in goal.answers.values():
        said = json.dumps(one.said, indent=1, ensure_ascii=False, default=str)
        about = f"{one.result}, on tree {one.tree[:18]}"
        found.append(Attachment(f"Answer to {one.question}", "", about=about, text=said))
        for path, digest in one.artifacts.items():
            found.append(Attachment(path, _kind(path), f"cited by {one.question}", path=path, digest=digest))
    return found


def _kind(path: str) -> str:
    return "screenshot" if path.lower().endswith((".png", ".jpg", ".jpeg")) else "report"


def _notices(goal: Goal, looked: Sequence[Row]) -> list[Notice]:
    found = []
    if goal.answers and escalates(checks_of(goal)):
        text = f"nobody else answered: {', '.join(goal.answers)}"
        found.append(Notice("the agent's own answers", text, goal.id))
    for left in goal.users_leg:
        found.append(Notice("left for the user", clip(left, 300), goal.id))
    for row in looked:
        if row.get("verdict") in ("contradicted", "insufficient", "not-probeable") and not row.get("override"):
            found.append(Notice("unverified claim", clip(f"{row.get('claim')}: {row.get('verdict')}", 300), goal.id))
    return found
