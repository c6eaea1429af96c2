"""What a round owes beside the work: checks that pass, the judge's word, and questions that the working agent answers.

An answer counts for the files as they were. What an answer found broken on exactly these files stays found, in every
round.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from omo.digest import sha256
from omo.engine.case import Case, CaseRow
from omo.engine.flow import Answered
from omo.engine.hearing import Heard, heard
from omo.engine.runs import CaseRun
from omo.errors import BadInput, Refused
from omo.proof import artifacts
from omo.text import clip
from omo.work.files import Files
from omo.work.judge import JUDGE
from omo.work.status import Command, command

ASKED = "asked, never gates"
COMMIT_ARTIFACT = "commit"  # in place of a digest: a commit does not change
LONGEST_WHY, LONGEST_SHORT_WHY = 300, 200
MOST_FAILING = 3
FOR_JUDGEMENT = ("string", "judge")  # types of checks that code does not decide
JUDGE_LEADS = {"failed": "mend it, then", "owed": f"start a new {JUDGE} with this as its whole prompt"}
RESULTS = {"done": "pass", "failed": "fail"}


class Owed(NamedTuple):
    """One thing a round owes: `done`, `owed`, `stale`, `failed`, or asked without gating; and the way to do it."""

    name: str
    state: str
    why: str
    way: Command

    @property
    def is_open(self) -> bool:
        return self.state != "done"

    @property
    def result(self) -> str:
        return RESULTS.get(self.state, "unknown")

    @property
    def text(self) -> str:
        """Say how it stands: `q1 stale (the tree was changed since): omo verify answer G1 …`."""
        why = f" ({clip(self.why, LONGEST_WHY)})" if self.why else ""
        way = f": {self.way.text}" if self.is_open else ""
        return f"{self.name} {self.state}{why}{way}"

    @property
    def data(self) -> dict[str, str]:
        return {"name": self.name, "state": self.state, "why": self.why, "command": self.way.text}


def owed(run: CaseRun, files: Files) -> list[Owed]:
    """Return everything that the open round has to show, in order. The judgement is the last."""
    case = run.state
    if case is None or not case.is_in_round:
        return []
    steps, why_judge = [], ""
    is_of_other_files = case.looked.get("tree") not in (None, files.tree)
    if is_of_other_files and failing_checks(case):  # nobody knows what they say of these
        why_judge = "it runs the checks again, which failed before files were changed"
    elif case.item.mechanical:
        steps.append(_checks(case))
    judged = heard(run, files)
    if judged is not None:
        ask = command(case.flow.brief, case.item.id, lead=JUDGE_LEADS.get(judged.state, ""))
        steps.append(Owed("judge", judged.state, clip(judged.why, LONGEST_SHORT_WHY), ask))
    steps += questions(case, judged, files)
    return [*steps, Owed(case.flow.judge_verb, "owed", why_judge, judge_command(case))]


def failing_checks(case: Case) -> list[Any]:
    """Return the checks of code that did not pass when they were looked at last."""
    seen = case.looked.get("checks") or []
    return [check for check in seen if check["result"] != "pass" and check["type"] not in FOR_JUDGEMENT]


def _checks(case: Case) -> Owed:
    bad = [f"{check['id']}: {check['reason']}" for check in failing_checks(case)]
    why = clip("; ".join(bad[:MOST_FAILING]), LONGEST_SHORT_WHY) if case.looked else "not evaluated yet"
    again = command(case.flow.start, case.item.id, lead="mend what they say" if bad else "", after="evaluates again")
    return Owed("checks", "owed" if bad or not case.looked else "done", why, again)


def questions(case: Case, judged: Heard | None, files: Files) -> list[Owed]:
    """Return the questions that the round needs. A judge that passed these files answers in the agent's place.

    What was found broken is listed whether or not it was asked for.
    """
    needed: Collection[str] = case.flow.needs(case)
    if judged is not None and judged.state == "done":
        needed = ()
    listed = []
    for name in case.flow.answers:
        step = question(case, name, files)
        if name in needed or step.state == "failed":
            listed.append(step)
    return listed


def answer_that_counts(case: Case, name: str, files: Files) -> CaseRow | None:
    """Return the newest answer of this round; before it what was found broken on these files, in whichever round."""
    for row in case.rows:
        is_same = row["kind"] == "answered" and row["question"] == name and row["tree"] == files.tree
        if is_same and row["result"] == "failed" and row.get("contract", "") == case.contract:
            return row
    return case.answers.get(name)


def question(case: Case, name: str, files: Files) -> Owed:
    asked, way = case.flow.answers[name], _answer_command(case, name)
    given = answer_that_counts(case, name, files)
    if given is None:
        return Owed(name, "owed" if asked.decides else ASKED, "", way)
    if given["result"] == "failed" and given["tree"] == files.tree:
        return Owed(name, "failed", given["why"], way._replace(lead="mend it"))
    if why := why_stale(case, given, files):
        return Owed(name, "stale", why, way)
    if given["result"] == "failed":
        return Owed(name, "failed", given["why"], way._replace(lead="mend it"))
    return Owed(name, "done", given["why"], way)


def why_stale(case: Case, given: CaseRow, files: Files) -> str | None:
    """Return why an answer does not count any more, if it does not."""
    if given.get("contract", "") != case.contract:
        return f"what the {case.flow.unit} has to show was changed since"
    if given["tree"] != files.tree:
        return "the tree was changed since"
    for name, digest in given.get("artifacts", {}).items():
        if digest != COMMIT_ARTIFACT and not artifacts.is_unchanged(Path(files.root), name, digest):
            return f"{name} was changed since"
    return None


def _answer_command(case: Case, name: str) -> Command:
    item = [case.item.id] if case.flow.is_filed else []
    return command(case.flow.answer, *item, "--question", name, "--file", "-")


def judge_command(case: Case) -> Command:
    """Return the command that judges the round."""
    if not case.flow.is_filed:
        return command(case.flow.judge)
    return command(case.flow.judge, case.item.id, *case.item.judged_with)


def answer(run: CaseRun, name: str, data: Any, others: Collection[Case] = ()) -> Answered:
    """Judge an answer by code and record it. What the workflow refuses is not recorded.

    An answer that one of the `others` was given already, word for word, is refused.
    """
    flow, case, files = run.flow, run.require_open(), Files(run.caller.root)
    if name not in flow.answers:
        raise BadInput(f"{case.name} does not ask {name}", fix=f"it asks for {', '.join(flow.answers) or 'nothing'}")
    asked = flow.answers[name]
    reply = asked.read(data)
    said = reply.model_dump()
    if asked.after:
        first = question(case, asked.after, files)
        if first.is_open:
            why = f": {first.why}" if first.why else ""
            raise Refused(f"{name} comes after {asked.after}, which is {first.state}{why}", fix=first.way.text)
    known = question(case, name, files)
    if known.state == "failed":
        # What was found broken stays found until something changes; saying it differently is no repair.
        fix = f"mend the work and answer again, or record the failure: {judge_command(case).line}"
        raise Refused(f"{name} failed on exactly this tree: {known.why}", fix=fix)
    digest = sha256(json.dumps(said, sort_keys=True).encode())[:32]
    if not asked.is_repeatable:
        _require_new(case, digest, others)
    answered = asked.judge(run, reply)
    row: CaseRow = {"kind": "answered", "iteration": case.round, "question": name, "said": said, "digest": digest}
    row |= {"result": answered.result, "why": answered.why, "gaps": answered.gaps, "unseen": answered.unseen}
    row |= {"artifacts": answered.artifacts, "contract": case.contract}
    row["tree"] = Files(run.caller.root).tree  # the commands that it cites have written what they write

    def decide(now: Case) -> tuple[None, list[CaseRow]]:
        if not now.is_in_round or now.opened.get("seq") != case.opened.get("seq"):
            raise Refused(f"{case.name} moved on while this was answered", fix=f"omo {flow.name} status")
        return None, [row]

    run.change_whole(decide)
    return answered


def _require_new(case: Case, digest: str, others: Collection[Case]) -> None:
    for other in others:
        for row in other.rows:
            is_same = row["kind"] == "answered" and row.get("digest") == digest and row["result"] != "gap"
            if is_same and other.name != case.name:
                what = f"this is, word for word, the answer to {row['question']} of {other.name}"
                raise Refused(what, fix=f"look at what {case.name} produced, and say what you see there")
