"""All that is known of one goal, in the data of every command that shows it."""

from __future__ import annotations

from omo.engine.answers import Owed, why_stale
from omo.engine.case import Case
from omo.engine.filed import FiledRuns, reason_of, receipt_of, streak_of
from omo.json_text import Json
from omo.work.files import Files
from omo.workflows.verify import claims


def attempts_left(case: Case) -> int:
    return max(0, case.most_rounds - case.mark.fail_count)


def goal_data(runs: FiledRuns, case: Case, owed: list[Owed], files: Files) -> Json:
    answers = {}
    for name, given in case.answers.items():
        shown = {"result": given["result"], "stale": why_stale(case, given, files) or ""}
        said = {**given["said"], "why": given["why"]}
        answers[name] = {**shown, "artifacts": given["artifacts"], "said": said, "cited_not_looked_at": given["unseen"]}
    receipt, words, state = receipt_of(case), case.words, runs.state(case)
    data = {
        "goal": case.item.id,
        "title": case.item.description,
        "category": case.item.form["category"],
        "status": state,
        "failures": case.mark.fail_count,
        "max_retries": case.most_rounds,
        "blocked_by": runs.blocked_by(case),
        "count": streak_of(case).count,
        "receipt": receipt["seq"] if receipt else None,
        "completed_at": receipt["ts"] if receipt and state == "completed" else None,
        "summary": words.get("summary", ""),
        "reason": reason_of(case),
        "learned": words.get("learned", ""),
        "users_leg": {"state": "pending", "outcomes": case.left_for_user} if case.left_for_user else None,
        "filed_by": case.filed_by,
        "outcomes": case.item.outcomes,
        "owed": [step.data for step in owed],
        "answers": answers,
        "checks": case.looked.get("checks", []),
        "overrides": let_stand(runs, case.item.id),
        "inputs": runs.inputs(case),
    }
    if case.item.every:
        data["streak"] = streak_of(case).data(case.item.every, runs.caller.now)
    return data


def let_stand(runs: FiledRuns, goal: str) -> list[str]:
    return [claim.let_stand for claim in claims.recorded(runs.caller.state, goal=goal, overridden=True)]
