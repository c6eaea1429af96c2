"""Verify as data: a goal is a run of its own, an attempt is a round, and the agent answers what no check can say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from omo.engine.case import Case, CaseItem
from omo.engine.flow import Answered, Flow, ItemMark, ItemStatus, Question
from omo.engine.runs import CaseRun

QUESTIONS = ("q1", "q1.5", "q2", "q3")
# What an answer looks like, for whoever is to give it.
EXAMPLES = {
    "q1": '{"artifact": "PATH", "statement": "X is Y because `PATH` says Z."}, a file that the work made',
    "q1.5": '{"items": [{"question": "Is it so?", "dimension": "correctness", "result": "pass", "covered": true, '
    '"evidence": "PATH line 12"}]}, 5 to 10: presence, correctness, integration, breakage; pass, fail or na',
    "q2": '{"failure_mode": "how it could look done and not be", "checked": true, "how": "what was run to see", '
    '"statement": "X is Y because `PATH` says Z.", "problem": "none"}',
    "q3": '{"scope": "unit", "statement": "X is Y because `PATH` says Z."}, or integration',
    "outcomes": '{"outcomes": [{"outcome": "in the words of the goal", "statement": "X is Y because `PATH` says Z."}]}',
    "agent-leg": '{"outcomes": [{"outcome": "in the words of the goal", "artifact": "PATH", '
    '"statement": "X is Y because `PATH` says Z."}]}',
}


def turn(mark: ItemMark, result: str, attempt: int) -> ItemMark:
    """Count failures in a row. What nobody could tell costs no attempt."""
    if result == "unknown":
        return mark
    if result == "pass":
        return replace(mark, status="MET", fail_count=0, last_pass_iteration=attempt)
    return replace(mark, status="UNMET", fail_count=mark.fail_count + 1)


def needs(case: Case) -> tuple[str, ...]:
    """Return the questions that a goal owes: the agent's part if the user has one too, else what no check can say."""
    form = case.item.form
    if "user" in form["participants"] and form["verification"]["outcomes_agent_leg"]:
        if "agent-leg" in case.answers or not case.answers.keys() & {*QUESTIONS}:
            return ("agent-leg",)
        return QUESTIONS
    if case.item.needs_judgement:
        return QUESTIONS
    return ("outcomes",) if case.item.outcomes else ()


def read(path: Path) -> list[CaseItem]:
    """Read a goal file."""
    from omo.workflows.verify import forms  # which loads pydantic

    return forms.read(path)


def _question(name: str, function: str, **more: Any) -> Question:
    """Make a question whose modules are loaded once it is answered."""

    def reads(data: object) -> Any:
        from omo.workflows.verify import forms

        return forms.parse_reply(name, data)

    def judge(run: CaseRun, reply: Any) -> Answered:
        from omo.workflows.verify import questions

        judged: Callable[[CaseRun, Any], Answered] = getattr(questions, function)
        return judged(run, reply)

    return Question(reads, judge, EXAMPLES[name], **more)


FLOW = Flow(
    name="verify",
    unit="goal",
    title="Verified goals",
    run_name="goal",
    prefix="g",
    read=read,
    turn=turn,
    statuses=(
        ItemStatus("UNMET", "failed", "To fix"),
        ItemStatus("NEW", "open", "Not judged yet"),
        ItemStatus("MET", "done", "Complete"),
    ),
    begins_as="NEW",
    is_filed=True,
    checks_may_write=True,
    needs=needs,
    answers={
        "agent-leg": _question("agent-leg", "agent_leg"),
        "outcomes": _question("outcomes", "outcomes"),
        "q1": _question("q1", "q1"),
        "q1.5": _question("q1.5", "q15", after="q1"),
        "q2": _question("q2", "q2", after="q1"),
        "q3": _question("q3", "q3", decides=False, is_repeatable=True),
    },
    start_verb="begin",
    judge_verb="finish",
)
