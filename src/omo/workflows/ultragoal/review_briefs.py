"""What the reviewers of a goal are asked: its contract, where the work began, and the form of the answer. Nothing of
what the leader says about the work."""

from __future__ import annotations

import json
from collections.abc import Sequence

from omo.context import plugin_root
from omo.json_text import Json
from omo.text import listed
from omo.work.briefs import quoted
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.plan import Goal, Plan

ROLES = ("architect", "qa", "critic")
LONGEST = 8000
MOST_FILES = 200
CLEANER = "skill-fragments/ultragoal/ai-slop-cleaner.md"
TASKS = {
    "architect": "Review the work for {goal} of this project's plan: is it there as its words say, in architecture, "
    "product and code? Change nothing.",
    "qa": "Try to break the work for {goal} of this project's plan: from its words first, the code last, on the "
    "surface that people use. Keep what you see as evidence of {goal}.",
    "critic": "Follow {cleaner} to the letter on the files that were changed for {goal} of this project's plan.",
}
OF_THE_REQUEST = (
    "With this goal the plan is at its end. Is all of it there that the user asked for, in the words above, and does "
    "it hold when it is tried? requestStatus is MET only if you saw that; else MISSING, and name under blockers what "
    "is not there. That no goal was made of something is no excuse."
)
FORMS: dict[str, Json] = {
    "architect": {
        "architectureStatus": "CLEAR | WATCH | BLOCK",
        "productStatus": "CLEAR | WATCH | BLOCK",
        "codeStatus": "CLEAR | WATCH | BLOCK",
        "recommendation": "APPROVE | COMMENT | REQUEST CHANGES",
        "evidence": "what you read and ran, and what came out",
        "commands": ["what you ran"],
        "blockers": ["what has to change first"],
    },
    "qa": {
        "e2eStatus": "passed | failed",
        "redTeamStatus": "passed | failed",
        "evidence": "what you ran, and what came out",
        "blockers": ["what does not hold"],
    },
}


def review_brief(plan: Plan, goal: Goal, role: str, requests: Sequence[str], changed: Sequence[str] | None = ()) -> str:
    """`requests` are what the user typed: with the plan's last goal the architect answers for all of it. `changed` are
    the files of the goal, None where nobody can tell: the critic has no shell to ask git."""
    task = TASKS[role].format(goal=goal.id, cleaner=plugin_root() / CLEANER)
    parts = [f"{task} Take nobody's word for how far it is; you were told nothing else."]
    parts.append(f"{goal.id} {goal.title}:\n{quoted(goal.objective, LONGEST)}")
    if plan.constraints:
        parts.append(f"It holds for the whole plan:\n{quoted(plan.constraints, LONGEST)}")
    if plan.base:
        began = f"The plan's work began at commit {plan.base}"
        parts.append(f"{began}: git diff {plan.base}, and what git does not know yet.")
    form = dict(FORMS.get(role, {}))
    if role == "critic":
        parts.append(_files(changed))
    if role == "architect" and requests and receipts.is_last(plan, goal):
        words = [quoted(text, LONGEST) for text in requests]
        parts += ["\n".join(["What the user asked for, as they typed it:", *words]), OF_THE_REQUEST]
        form = {"requestStatus": "MET | MISSING", **form}
    if form:
        shown = json.dumps({"goal": goal.id, **form}, ensure_ascii=False)
        parts.append(f"End with exactly one JSON object in this form:\n```json\n{shown}\n```")
    return "\n\n".join(parts) + "\n"


def _files(changed: Sequence[str] | None) -> str:
    if changed is None:
        return "Which files were changed cannot be told here: find them by what the goal asks for."
    if not changed:
        return "No file was changed since it began: report that, as the fragment says."
    return "Files changed since it began:\n  " + listed(changed, MOST_FILES, between="\n  ")
