"""The judge's brief: what the user asked for, the criteria and how each is checked; nothing of how the work went."""

from __future__ import annotations

import secrets

from omo.errors import Refused
from omo.text import block, clip
from omo.work.agents import SessionEvents, expect_of, session_events
from omo.work.judge import JUDGE, answered, brief_text
from omo.work.status import command
from omo.workflows.ralph.iteration import Files
from omo.workflows.ralph.rules import LONGEST_REQUEST, Row, method
from omo.workflows.ralph.run import RalphRun, RalphState, fix, require_open

MOST_CALLS = 3  # in an iteration
LONGEST_QUESTION = 2000


def ask(run: RalphRun, files: Files, events: SessionEvents) -> None:
    """Open a brief about these files, which the judge then reads."""
    nonce = secrets.token_hex(16)

    def decide(now: RalphState) -> tuple[None, list[Row]]:
        require_open(run)
        row = {"kind": "brief", "iteration": now.iteration, "nonce": nonce, "call": len(now.briefs) + 1}
        asked = [criterion.id for criterion in now.criteria if criterion.questions]
        return None, [{**row, "criteria": asked, "tree": files.tree, "files": files.now}]

    run.change_whole(decide)
    expect_of(run, events, JUDGE)


def show(run: RalphRun) -> tuple[str, str]:
    """The open brief and its nonce. Nobody gets one that was answered, so that nobody asks until the answer suits."""
    state = require_open(run)
    judge = fix(run, command("omo ralph judge"))
    if not state.briefs:
        raise Refused("nothing is asked of a judge now", fix=f"{judge} asks where the phases are over")
    newest = state.brief_about(Files(run.caller.root).tree)
    if newest is None:
        raise Refused("the files are others than those that the judge was asked about", fix=f"{judge} asks anew")
    if newest in answered(state.briefs, session_events(run).messages(JUDGE)):
        raise Refused(f"{JUDGE} has answered this brief already", fix=judge)
    form = [{"criterion": criterion, "check": check} for criterion, check in state.questions]
    return brief_text(listing(state), form, newest["nonce"]), newest["nonce"]


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
