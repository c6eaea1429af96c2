"""Questions that the working agent answers itself: they hold up a pass, in their order, for the files as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from omo.engine import answers, judging
from omo.engine.begin import StartOptions, begin
from omo.engine.case import Case
from omo.engine.flow import Answered, Question
from omo.engine.judging import Judgement
from omo.engine.runs import CaseRun
from omo.errors import BadInput, OmoError, Refused
from omo.work.files import Files
from tests.engine.laps import FLOW
from tests.engine.project import Project, criterion


class Words(BaseModel):
    text: str


def read(data: Any) -> Words:
    return Words(text=data)


def judge_answer(run: CaseRun, given: Words) -> Answered:
    if given.text == "maybe":
        raise Refused("a hedge is no answer", fix="say what was seen")
    return Answered("failed", "it breaks") if given.text == "broken" else Answered(why=given.text)


ASKS = replace(
    FLOW,
    steps=(),
    letter="",
    needs=lambda case: ("what", "how"),
    answers={"what": Question(read, judge_answer), "how": Question(read, judge_answer, after="what")},
)


@pytest.fixture
def run(project: Project) -> CaseRun:
    """Its one criterion holds already, so that the answers decide."""
    given = StartOptions(file=project.criteria_file(criterion(1)))
    started, _ = begin(ASKS, project.caller(), given)
    project.write("done-1.txt")
    return started


def judge(run: CaseRun) -> Judgement:
    return judging.judge(run, Files(run.caller.root))


def states(run: CaseRun) -> dict[str, str]:
    case: Case = run.require_whole()
    return {step.name: step.state for step in answers.questions(case, None, Files(run.caller.root))}


def refused(run: CaseRun, question: str, data: str, said: str, kind: type[OmoError] = Refused) -> None:
    rows = len(run.rows)
    with pytest.raises(kind, match=said) as error:
        answers.answer(run, question, data)
    assert error.value.fix
    assert len(run.rows) == rows, "what is refused is not recorded"


def test_nothing_passes_before_each_is_answered_in_its_order(run: CaseRun) -> None:
    assert judge(run).verdict == "unknown"
    refused(run, "how", "by reading", "how comes after what, which is owed")
    refused(run, "what", "maybe", "a hedge is no answer")
    refused(run, "why", "because", "does not ask why", BadInput)
    answers.answer(run, "what", "done-1.txt")
    assert judge(run).verdict == "unknown"
    answers.answer(run, "how", "by reading it")
    assert judge(run).verdict == "pass"


def test_an_answer_is_about_the_files_as_they_were(project: Project, run: CaseRun) -> None:
    answers.answer(run, "what", "done-1.txt")
    project.write("later.txt")
    assert states(run) == {"what": "stale", "how": "owed"}
    refused(run, "how", "by reading", "how comes after what, which is stale")


def test_what_an_answer_found_broken_stays_so_on_these_files(project: Project, run: CaseRun) -> None:
    assert answers.answer(run, "what", "broken").result == "failed"
    refused(run, "what", "it works now", "failed on exactly this tree")
    judged = judge(run)
    assert judged.verdict == "fail"
    assert "it breaks" in judged.row["results"]["C1"]["evidence"]
    project.write("done-1.txt", "mended\n")
    answers.answer(run, "what", "it works now")
    assert states(run)["what"] == "done"
