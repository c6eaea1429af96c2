"""What a judge was seen to say of one item, if it may be asked and the working agent may answer in its place."""

from __future__ import annotations

from dataclasses import dataclass

from omo.engine.runs import CaseRun
from omo.text import clip
from omo.work import agents, judge
from omo.work.files import Files
from omo.work.judge import JUDGE

LONGEST_CHECK, LONGEST_EVIDENCE, LONGEST_WHY = 60, 200, 400


@dataclass(frozen=True)
class Heard:
    """What the judge said of these files.

    `state` is done or failed, owed if nobody has answered, stale if it spoke of other files, else unknown.
    `found_broken` is what it found not to hold on other files; empty if it has passed these.
    """

    state: str
    why: str
    answers: dict[str, judge.JudgeResult]
    found_broken: list[str]


def heard(run: CaseRun, files: Files) -> Heard | None:
    """Return what the judge said, if it was asked. What it found broken on these files stands, in every round."""
    case, caller = run.require_state(), run.caller
    briefs = [brief for brief in case.briefs if brief["contract"] == case.contract]
    if not briefs:
        return None
    failures: list[str] = []
    found_broken: list[str] = []
    for brief in briefs:
        said = agents.messages(caller.state, brief["session"], JUDGE)
        for (_, check), answer in judge.failed(said, brief["nonce"], brief["ts"]).items():
            line = f"{clip(check, LONGEST_CHECK)}: {clip(answer.evidence, LONGEST_EVIDENCE)}"
            (failures if brief["tree"] == files.tree else found_broken).append(line)
    newest = briefs[-1]
    said = agents.messages(caller.state, newest["session"], JUDGE)
    given = judge.read_messages(said, newest["nonce"], newest["ts"])
    matched, notes = judge.match(given, case.questions)
    answers = {check: answer for (_, check), answer in matched.items()}
    unclear = [f"{check}: {answer.evidence}" for check, answer in answers.items() if answer.result != "pass"]
    is_of_round = newest["seq"] > case.opened["seq"]
    if failures:
        return Heard("failed", "; ".join(failures), answers, found_broken)
    if newest["tree"] != files.tree or not is_of_round:
        return Heard("stale", "it was asked about other files, or in another attempt", answers, found_broken)
    if given.unread:
        return Heard("owed", given.unread, answers, found_broken)
    if unclear:
        return Heard("unknown", clip("; ".join([*unclear, *notes]), LONGEST_WHY), answers, found_broken)
    return Heard("done", f"{len(answers)} of {len(answers)} questions pass", answers, [])
