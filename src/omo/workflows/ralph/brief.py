"""The judge's brief: the criteria and how each is checked, and nothing about the work or how it went so far."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from omo.errors import Refused
from omo.text import block, clip
from omo.work.agents import Message
from omo.work.judge import brief_text
from omo.work.status import command
from omo.workflows.ralph import judge_answer
from omo.workflows.ralph.iteration import Files
from omo.workflows.ralph.judge_answer import Answer, Key
from omo.workflows.ralph.phases import expect, session_events
from omo.workflows.ralph.rules import JUDGE, Criterion, Row, method
from omo.workflows.ralph.run import RalphRun, RalphState, change, fix, require_iteration

MOST_CALLS = 3  # in an iteration
MOST_KEPT = 100  # of 700 characters each: a row of the ledger is bounded
LONGEST_QUESTION = 2000
NOTHING_TO_ASK = "code evaluates every check of this run, so no judge has to be asked; next: omo ralph judge"


@dataclass(frozen=True)
class Brief:
    """`nonce` is empty where there is nothing to ask."""

    text: str
    nonce: str = ""
    call: int = 0
    criteria: tuple[str, ...] = ()


def ask(run: RalphRun) -> Brief:
    """Render the brief and record its nonce. Refused while the last one is answered and not judged."""
    state = require_iteration(run)
    asked = tuple(criterion.id for criterion in state.criteria if criterion.questions)
    if not asked:
        return Brief(NOTHING_TO_ASK)
    files = Files(run.caller.root)
    events = session_events(run)
    reported = events.messages(JUDGE)
    if state.briefs and state.briefs[-1].get("tree") == files.tree:
        # Nobody asks again until the answer suits: what was said of these files is judged first.
        unknown = [str(row["ts"]) for row in state.of_iteration("judge-unknown")]
        if judge_answer.answered_at(reported, state.briefs[-1]) > max(unknown, default=""):
            what = f"{JUDGE} has answered the last brief, and that was not judged yet"
            raise Refused(what, fix=fix(run, command("omo ralph judge")))
    superseded = _superseded(state, reported)
    nonce = secrets.token_hex(16)

    def decide(now: RalphState) -> tuple[int, list[Row]]:
        require_iteration(run)
        call = len(now.briefs) + 1
        if call > MOST_CALLS:
            raise Refused(
                f"the judge was asked {MOST_CALLS} times in iteration {now.iteration}, which is as often as it may be",
                fix=fix(run, command("omo ralph judge", after="takes what there is and closes the iteration")),
            )
        row = {"kind": "brief", "iteration": now.iteration, "nonce": nonce, "criteria": list(asked), "call": call}
        return call, [*superseded, {**row, "tree": files.tree, "files": files.now}]

    call = change(run, decide)
    expect(run, events, JUDGE)
    return Brief(render(state.criteria, nonce), nonce, call, asked)


def _superseded(state: RalphState, reported: Sequence[Message]) -> list[Row]:
    """A row for each brief of this iteration that a judge failed and that no judgement took up."""
    known = [row["nonce"] for row in state.of_iteration("brief-superseded")]
    rows = []
    for brief in state.briefs:
        if brief["nonce"] in known:
            continue
        answers = []
        for (name, check), answer in list(judge_answer.failed(reported, brief).items())[:MOST_KEPT]:
            answers.append({"criterion": clip(name, 20), "check": clip(check, 120), **asdict(answer)})
        if answers:
            row = {"kind": "brief-superseded", "iteration": state.iteration}
            rows.append({**row, "nonce": brief["nonce"], "answers": answers})
    return rows


def earlier_failures(state: RalphState, reported: Sequence[Message]) -> dict[Key, Answer]:
    """What a judge found not to hold in an earlier brief of this iteration: asking again does not unsay it."""
    failures: dict[Key, Answer] = {}
    for row in state.of_iteration("brief-superseded"):
        for kept in row["answers"]:
            answer = Answer("fail", kept["evidence"], kept["suggested_action"])
            failures[kept["criterion"], kept["check"]] = answer
    for brief in state.briefs[:-1]:  # also what was said only after the next brief was asked for
        failures |= judge_answer.failed(reported, brief)
    return failures


def render(criteria: list[Criterion], nonce: str) -> str:
    """The criteria and how each is checked, and nothing about the work or how it went so far."""
    listed, answers = [], []
    for criterion in criteria:
        lines = [f"{criterion.id}: {clip(criterion.description, 500)}"]
        for check in criterion.checks:
            if check not in criterion.questions:
                lines.append(f"  - code {check['id']}: {method(check)}")
                continue
            question = block(check["question"], LONGEST_QUESTION).replace("\n", "\n    ")
            lines.append(f"  - question {check['id']}: {question}")
            answers.append({"criterion": criterion.id, "check": check["id"]})
        listed.append("\n".join(lines))
    return brief_text("\n\n".join(listed), answers, nonce)
