"""What agents of an iteration are asked: what the user wants, the criteria and how each is checked, and nothing of how
the work went. The judge is asked about one tree, with a nonce that its answer is known by."""

from __future__ import annotations

import secrets

from omo.errors import Refused
from omo.state.runtime import is_live
from omo.text import block, clip
from omo.work import requests
from omo.work.agents import expect, messages_in
from omo.work.briefs import quoted
from omo.work.files import Files
from omo.work.judge import JUDGE, brief_text, read_messages
from omo.work.status import command
from omo.workflows.ralph.rules import LONGEST_REQUEST, RalphRow, method
from omo.workflows.ralph.run import RalphRun, RalphState, fix, require_open

LONGEST_QUESTION = 2000
TASKS = {
    "qa": "Try to break what was done for the criteria below, from their words first and the code last, and say what "
    "held and what did not.",
    "critic": "Read what was changed for the criteria below, as it is in the files now, and say what is wrong with it "
    "or could be simpler, worst first.",
}


def ask(run: RalphRun, files: Files) -> None:
    """Open a brief about these files, which the judge then reads."""
    nonce = secrets.token_hex(16)

    def decide(now: RalphState) -> tuple[None, list[RalphRow]]:
        require_open(run)
        asked = [criterion.id for criterion in now.criteria if criterion.questions]
        row: RalphRow = {"kind": "brief", "iteration": now.iteration, "nonce": nonce, "call": len(now.briefs) + 1}
        row |= {"criteria": asked, "tree": files.tree, "files": files.now}
        return None, [row]

    run.change_whole(decide)
    if not is_live(run.caller.row()):  # a session that was let go hears the judge all the same
        expect(run.caller, JUDGE)


def judge_brief(run: RalphRun) -> tuple[str, str]:
    """The open brief and its nonce. Nobody gets one that was answered, so that nobody asks until the answer suits."""
    state = require_open(run)
    again = fix(run, command("omo ralph judge"))
    newest = state.brief_about(Files(run.caller.root).tree)
    reported = messages_in(run.caller.events, [JUDGE])
    if newest is None or not read_messages(reported, newest["nonce"], newest["ts"]).unread:
        what = "no brief about the files as they are waits for an answer"
        raise Refused(what, fix=f"{again} takes up what was answered, or asks where the phases are over")
    return brief_text("\n\n".join(_asked_for(run, state)), state.questions, newest["nonce"]), newest["nonce"]


def review_brief(run: RalphRun, role: str) -> str:
    """For QA and the critic."""
    state = require_open(run)
    told = f"{TASKS[role]} Take nobody's word for how far it is; you were told nothing else."
    began = f"commit {state.base}" if state.base else "a directory without a commit"
    ending = f"Iteration {state.iteration} of ralph run {state.run}; the run began at {began}."
    return "\n\n".join([told, *_asked_for(run, state), ending])


def asked_later(run: RalphRun, state: RalphState) -> list[str]:
    """What the user typed for the run since it began, which it is judged against too: "more asked for under way"."""
    rows = requests.later(run.caller.events, "ralph", str(state.started.get("ts")))
    return [requests.text_of(row) for row in rows if not requests.names_data(row)]


def _asked_for(run: RalphRun, state: RalphState) -> list[str]:
    parts = []
    if state.request:
        parts.append(f"What the user asked for, {state.whose_request}:\n{quoted(state.request, LONGEST_REQUEST)}")
    later = [quoted(text, LONGEST_REQUEST) for text in asked_later(run, state)]
    parts += [f"And later, as they typed it:\n{text}" for text in later]
    for criterion in state.criteria:
        lines = [f"{criterion.id}: {clip(criterion.description, 500)}"]
        for check in criterion.checks:
            if check in criterion.questions:
                question = block(check["question"], LONGEST_QUESTION).replace("\n", "\n    ")
                lines.append(f"  - question {check['id']}: {question}")
            else:
                lines.append(f"  - code {check['id']}: {method(check)}")
        parts.append("\n".join(lines))
    return parts
