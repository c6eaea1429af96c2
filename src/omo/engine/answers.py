"""Questions that the working agent itself answers, one form for each.

An answer counts for the files as they were. What an answer found broken on exactly these files stays found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from omo.engine.case import Case, CaseRow
from omo.engine.flow import Answered
from omo.engine.runs import CaseRun
from omo.errors import BadInput, Refused
from omo.work.files import Files
from omo.work.judge import JudgeResult


class NeededAnswer(NamedTuple):
    """One question, and how it stands: `owed`, `stale`, `done` or `failed`."""

    question: str
    state: str
    why: str


RESULTS = {"done": "pass", "failed": "fail", "owed": "unknown", "stale": "unknown"}


def needs_of(case: Case, files: Files) -> list[NeededAnswer]:
    return [_need(case, question, files) for question in case.flow.needs(case)]


def _need(case: Case, question: str, files: Files) -> NeededAnswer:
    given = [row for row in case.rows if row["kind"] == "answered" and row["question"] == question]
    for row in given:
        if row["result"] == "failed" and row["tree"] == files.tree:
            return NeededAnswer(question, "failed", row["why"])
    newest = next((row for row in reversed(given) if row["iteration"] == case.round), None)
    if newest is None:
        return NeededAnswer(question, "owed", "nobody has answered it in this round")
    if newest["tree"] != files.tree:
        return NeededAnswer(question, "stale", "the files have changed since it was answered")
    return NeededAnswer(question, "done", newest["why"])


def results_of(case: Case, files: Files) -> dict[str, JudgeResult]:
    """Return what the answers say of the item, by question."""
    return {need.question: JudgeResult(RESULTS[need.state], need.why) for need in needs_of(case, files)}


def answer(run: CaseRun, question: str, data: Any) -> Answered:
    """Judge an answer by code and record it. What the workflow refuses is not recorded."""
    flow, case, files = run.flow, run.require_open(), Files(run.caller.root)
    needed = {need.question: need for need in needs_of(case, files)}
    if question not in needed:
        asked = ", ".join(needed) or "nothing"
        raise BadInput(f"{run.kind.what} {run.id} does not ask {question}", fix=f"it asks for {asked}")
    for earlier in needed.values():
        if earlier.question == question:
            break
        if earlier.state != "done":
            what = f"{question} comes after {earlier.question}, which is {earlier.state}"
            raise Refused(what, fix=f"answer {earlier.question} first")
    if needed[question].state == "failed":
        raise Refused(f"{question} failed on exactly these files", fix=f"mend the work, or record it: {flow.judge}")
    answered = flow.answers[question](run, data)
    row: CaseRow = {"kind": "answered", "iteration": case.round, "question": question, "said": data}
    row |= {"result": answered.result, "why": answered.why, "gaps": answered.gaps, "tree": files.tree}
    run.append(row)
    run.publish()
    return answered
