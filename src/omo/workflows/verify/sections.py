"""Goals with checks and questions: what the checks saw, what was answered, and the claims that were looked into."""

from __future__ import annotations

import json

from omo.proof import base
from omo.state.rows import read_files
from omo.text import clip
from omo.work.proving import NamedCommand, by_exit_code
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, facts, table
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.verify import claims
from omo.workflows.verify.end import named_checks
from omo.workflows.verify.goals import COMMIT_ARTIFACT, Goal, GoalStore

MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, status: Status) -> Sections:
    store = GoalStore(viewer.caller)
    goals = [store.goals[item.id] for item in status.items if item.id in store.goals]
    of_goals = {goal.id: _section(viewer, goal) for goal in goals}
    based = sorted([goal for goal in goals if goal.base], key=lambda goal: goal.filed_at)
    if not based:
        return Sections(of_goals)
    changed = None
    if len(based) == 1 and based[0].base:
        changed = base.changed_at_end(viewer.context.root, based[0].base, read_files(based[0].files))
    commands: list[NamedCommand] = []
    for goal in based:
        commands += by_exit_code(named_checks(viewer.context.state, goal))
    return Sections(of_goals, base=based[0].base, changed=changed, commands=commands)


def _section(viewer: Viewer, goal: Goal) -> Section:
    checks = []
    for check in goal.checks_seen:
        marked = Cell(check.result, MARKS.get(check.result, "open"))
        checks.append((check.id, check.type, marked, check.reason, check.observed))
    notices = []
    if goal.answers:
        text = f"nobody else answered: {', '.join(goal.answers)}"
        notices.append(Notice("the agent's own answers", text, goal.id))
    claimed = []
    for claim in claims.recorded(viewer.context.state, goal=goal.id):
        claimed.append((claim.statement, claim.seen.verdict, claim.seen.reason, claim.override))
    tables = (
        table("Checks, as last evaluated", ("check", "type", "result", "why", "observed"), checks),
        table("Claims that were looked into", ("claim", "verdict", "why", "let stand because"), claimed),
    )
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
        tables=tuple(each for each in tables if each.rows),
        attachments=tuple(_answers(goal)),
        notices=tuple(notices),
    )


def _answers(goal: Goal) -> list[Attachment]:
    attachments = []
    for answer in goal.answers.values():
        text = json.dumps(answer.said, indent=1, ensure_ascii=False, default=str)
        about = str(answer.result)
        attachments.append(Attachment(f"Answer to {answer.question}", "", about=about, text=text))
        cited = f"cited by {answer.question}"
        for path, digest in answer.artifacts.items():
            if digest == COMMIT_ARTIFACT:  # no file that could be gone
                attachments.append(Attachment(path, "commit", cited))
                continue
            kind = "screenshot" if path.lower().endswith((".png", ".jpg", ".jpeg")) else "report"
            attachments.append(Attachment(path, kind, cited, path=path, digest=digest))
    return attachments
