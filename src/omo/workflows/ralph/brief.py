"""The judge's brief: what the user asked for, the criteria and how each is checked; nothing of how the work went."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from omo.errors import Refused
from omo.text import block, clip
from omo.work.agents import expect_of, session_events
from omo.work.judge import JUDGE, answered, brief_text
from omo.work.status import command
from omo.workflows.ralph.iteration import Files
from omo.workflows.ralph.rules import LONGEST_REQUEST, Row, method
from omo.workflows.ralph.run import RalphRun, RalphState, change, fix, require_iteration

MOST_CALLS = 3  # in an iteration
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
    """The brief of these files: the open one again, or a new one. Refused while its answer waits to be judged.

    Nobody asks until the answer suits: a judge answers three times in an iteration at most, and what is answered is
    judged before anything is asked again.
    """
    state = require_iteration(run)
    if not state.questions:
        return Brief(NOTHING_TO_ASK)
    files, events = Files(run.caller.root), session_events(run)
    reported = events.messages(JUDGE)
    answers = answered(state.briefs, reported)
    newest = state.open_brief
    if newest is not None and newest["tree"] == files.tree:
        if newest in answers:
            what = f"{JUDGE} has answered the last brief, and that was not judged yet"
            raise Refused(what, fix=fix(run, command("omo ralph judge")))
        expect_of(run, events, JUDGE)
        return _brief(state, newest["nonce"], newest["call"])
    if len(answers) >= MOST_CALLS:
        raise Refused(
            f"the judge answered {MOST_CALLS} times in iteration {state.iteration}, which is as often as it may",
            fix=fix(run, command("omo ralph judge", after="takes what there is and closes the iteration")),
        )
    nonce = secrets.token_hex(16)

    def decide(now: RalphState) -> tuple[int, list[Row]]:
        require_iteration(run)
        call = len(now.briefs) + 1
        row = {"kind": "brief", "iteration": now.iteration, "nonce": nonce, "call": call}
        return call, [{**row, "criteria": _asked(now), "tree": files.tree, "files": files.now}]

    call = change(run, decide)
    expect_of(run, events, JUDGE)
    return _brief(state, nonce, call)


def _asked(state: RalphState) -> list[str]:
    return [criterion.id for criterion in state.criteria if criterion.questions]


def _brief(state: RalphState, nonce: str, call: int) -> Brief:
    form = [{"criterion": criterion, "check": check} for criterion, check in state.questions]
    return Brief(brief_text(listing(state), form, nonce), nonce, call, tuple(_asked(state)))


def listing(state: RalphState) -> str:
    listed = []
    if state.request:
        words = block(state.request, LONGEST_REQUEST).replace("\n", "\n  > ")
        listed.append(f"What the user asked for, {state.whose_request}:\n  > {words}")
    for criterion in state.criteria:
        lines = [f"{criterion.id}: {clip(criterion.description, 500)}"]
        for check in criterion.checks:
            if check in criterion.questions:
                question = block(check["question"], LONGEST_QUESTION).replace("\n", "\n    ")
                lines.append(f"  - question {check['id']}: {question}")
            else:
                lines.append(f"  - code {check['id']}: {method(check)}")
        listed.append("\n".join(lines))
    return "\n\n".join(listed)
