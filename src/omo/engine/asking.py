"""What agents of a round are asked: what the user wants, the items, how each is checked; nothing of how the work went.

The judge is asked about one state of the files, with a nonce by which its answer is known.
"""

from __future__ import annotations

import secrets

from omo.engine.case import Case, CaseRow, method
from omo.engine.flow import RoundStep
from omo.engine.runs import CaseRun
from omo.errors import Refused
from omo.state.runtime import is_live
from omo.text import block, clip
from omo.work import requests
from omo.work.agents import expect, messages_in
from omo.work.briefs import quoted
from omo.work.files import Files
from omo.work.judge import JUDGE, brief_text, read_messages
from omo.work.status import command

LONGEST_QUESTION = 2000


def ask(run: CaseRun, files: Files) -> None:
    """Open a brief about these files. The judge reads it itself."""
    nonce = secrets.token_hex(16)

    def decide(now: Case) -> tuple[None, list[CaseRow]]:
        run.require_open()
        row: CaseRow = {"kind": "brief", "iteration": now.round, "nonce": nonce, "call": len(now.briefs_of_round) + 1}
        row |= {"items": [item.id for item in now.items if item.questions], "tree": files.tree, "files": files.now}
        return None, [row]

    run.change_whole(decide)
    if not is_live(run.caller.row()):  # a session that was let go hears the judge all the same
        expect(run.caller, JUDGE)


def judge_brief(run: CaseRun) -> tuple[str, str]:
    """Return the open brief and its nonce. Nobody gets one that was answered, to ask until the answer suits."""
    case = run.require_open()
    newest = case.brief_about(Files(run.caller.root).tree)
    reported = messages_in(run.caller.events, [JUDGE])
    if newest is None or not read_messages(reported, newest["nonce"], newest["ts"]).unread:
        what = "no brief about the files as they are waits for an answer"
        again = run.fix(command(run.flow.judge))
        raise Refused(what, fix=f"{again} takes up what was answered, or asks where the phases are over")
    return brief_text("\n\n".join(_asked_for(run, case)), case.questions, newest["nonce"]), newest["nonce"]


def step_brief(run: CaseRun, step: RoundStep) -> str:
    """Return what the agent of a step is asked."""
    case = run.require_open()
    task = f"{step.task} Take nobody's word for how far it is; you were told nothing else."
    began = f"commit {case.base}" if case.base else "a directory without a commit"
    ending = f"Iteration {case.round} of {run.kind.what} {case.run}; the run began at {began}."
    return "\n\n".join([task, *_asked_for(run, case), ending])


def asked_later(run: CaseRun, case: Case) -> list[str]:
    """Return what the user typed for the run since it began. It is judged against that too: "more asked for under
    way"."""
    rows = requests.later(run.caller.events, run.flow.name, str(case.started.get("ts")))
    return [requests.text_of(row) for row in rows if not requests.names_data(row)]


def _asked_for(run: CaseRun, case: Case) -> list[str]:
    parts = []
    if case.request:
        parts.append(f"What the user asked for, {case.whose_request}:\n{quoted(case.request, requests.LONGEST)}")
    later = [quoted(text, requests.LONGEST) for text in asked_later(run, case)]
    parts += [f"And later, as they typed it:\n{text}" for text in later]
    for item in case.items:
        lines = [f"{item.id}: {clip(item.description, 500)}"]
        for check in item.checks:
            if check in item.questions:
                question = block(check["question"], LONGEST_QUESTION).replace("\n", "\n    ")
                lines.append(f"  - question {check['id']}: {question}")
            else:
                lines.append(f"  - code {check['id']}: {method(check)}")
        parts.append("\n".join(lines))
    return parts
