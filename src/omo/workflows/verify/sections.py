"""Goals with checks and questions: what the checks saw, what was answered, and the claims that were looked into."""

from __future__ import annotations

import json

from omo.text import clip
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, Table, facts, table
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.verify import claims
from omo.workflows.verify.claims import FiledClaim
from omo.workflows.verify.goals import Goal, GoalStore

MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, view: Status) -> Sections:
    store = GoalStore(viewer.caller)
    of_goals = {}
    for item in view.items:
        if item.id in store.goals:
            of_goals[item.id] = _section(viewer, store.goals[item.id])
    return Sections(of_goals)


def _section(viewer: Viewer, goal: Goal) -> Section:
    filed = claims.recorded(viewer.context.state, goal=goal.id)
    return Section(
        began=goal.begun_at,
        ended=goal.completed_at or "",
        said=clip(goal.summary or goal.reason, 1000),
        covers=facts(
            ("description", goal.spec.description),
            ("outcomes", "; ".join(goal.spec.outcomes)),
            ("filed by", goal.by),
            ("receipt", f"row {goal.receipt}, {goal.completed_at}" if goal.receipt else ""),
            ("attempts", goal.failed),
        ),
        tables=tuple(_tables(goal, filed)),
        attachments=tuple(_answers(goal)),
        notices=tuple(_notices(goal, filed)),
    )


def _tables(goal: Goal, filed: list[FiledClaim]) -> list[Table]:
    checks = []
    for check in goal.checks_seen:
        marked = Cell(check.result, MARKS.get(check.result, "open"))
        checks.append((check.id, check.type, marked, check.reason, check.observed))
    claimed = []
    for claim in filed:
        claimed.append((claim.statement, claim.seen.verdict, claim.seen.reason, claim.override))
    tables = [
        table("Checks, as last evaluated", ("check", "type", "result", "why", "observed"), checks),
        table("Claims that were looked into", ("claim", "verdict", "why", "let stand because"), claimed),
    ]
    return [each for each in tables if each.rows]


def _answers(goal: Goal) -> list[Attachment]:
    attachments = []
    for answer in goal.answers.values():
        text = json.dumps(answer.said, indent=1, ensure_ascii=False, default=str)
        about = str(answer.result)
        attachments.append(Attachment(f"Answer to {answer.question}", "", about=about, text=text))
        for path, digest in answer.artifacts.items():
            kind = "screenshot" if path.lower().endswith((".png", ".jpg", ".jpeg")) else "report"
            cited = f"cited by {answer.question}"
            attachments.append(Attachment(path, kind, cited, path=path, digest=digest))
    return attachments


def _notices(goal: Goal, filed: list[FiledClaim]) -> list[Notice]:
    notices = []
    if goal.answers:
        text = f"nobody else answered: {', '.join(goal.answers)}"
        notices.append(Notice("the agent's own answers", text, goal.id))
    for claim in filed:
        if claim.seen.verdict != "pass" and not claim.override:
            text = f"{claim.statement}: {claim.seen.verdict}"
            notices.append(Notice("unverified claim", clip(text, 300), goal.id))
    return notices
