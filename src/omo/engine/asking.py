"""What agents of a round are asked: what the user wants, the items, how each is checked; nothing of how the work went.

The judge is asked about one state of the files, with a nonce by which its answer is known.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from omo.context import plugin_root
from omo.engine.answers import judge_command
from omo.engine.case import Case, CaseRow, method
from omo.engine.flow import RoundStep
from omo.engine.hearing import heard
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
NOBODYS_WORD = "Take nobody's word for how far it is; you were told nothing else."


def ask(run: CaseRun, files: Files) -> None:
    """Open a brief about these files. The judge reads it itself."""
    nonce = secrets.token_hex(16)

    def decide(now: Case) -> tuple[None, list[CaseRow]]:
        run.require_open()
        row: CaseRow = {"kind": "brief", "iteration": now.round, "nonce": nonce, "call": len(now.briefs_of_round) + 1}
        row |= {"items": [item.id for item in now.items if item.questions], "tree": files.tree, "files": files.now}
        row |= {"session": run.caller.session, "contract": now.contract}
        return None, [row]

    run.change_whole(decide)
    if not is_live(run.caller.row()):  # a session that was let go hears the judge all the same
        expect(run.caller, JUDGE)


def brief_now(run: CaseRun, files: Files) -> str:
    """Return what the judge is asked of a filed item; the same until it is answered. Nobody asks again until the answer
    suits.

    The judge itself may call for it, so that nobody copies it or adds to it.
    """
    flow, case, caller = run.flow, run.require_whole(), run.caller
    item = case.item.id
    finish = judge_command(case).line
    if not case.item.questions:
        raise Refused(f"code evaluates all that {flow.unit} {item} asks for, so there is nothing to judge", fix=finish)
    if not caller.session:
        raise Refused("no session is meant, so no hook could hear the judge", fix="name one with --session ID")
    judged = heard(run, files)
    if judged is not None and judged.state in ("done", "failed"):
        raise Refused(f"{JUDGE} has judged exactly these files: {judged.why}", fix=f"mend the work, or {finish}")
    if judged is None or judged.state != "owed":
        asked = len(case.briefs_of_round)
        if asked >= flow.most_briefs:
            raise Refused(f"{JUDGE} was asked {asked} times in this attempt", fix=f"take what there is: {finish}")
        ask(run, files)
    nonce = run.require_state().briefs[-1]["nonce"]
    return brief_text("\n\n".join(_asked_for(run, case)), case.questions, nonce)


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
    task = f"{step.task} {NOBODYS_WORD}"
    began = f"commit {case.base}" if case.base else "a directory without a commit"
    ending = f"Iteration {case.round} of {run.kind.what} {case.run}; the run began at {began}."
    return "\n\n".join([task, *_asked_for(run, case), ending])


def item_brief(step: RoundStep, item: str, known: Sequence[str], form: Mapping[str, Any]) -> str:
    """Return what the agent of a step is asked about one item, of which this is `known`; and how it is to answer."""
    parts = [f"{step.task.format(item=item, plugin=plugin_root())} {NOBODYS_WORD}", *known]
    if form:
        shown = json.dumps(form, ensure_ascii=False)
        parts.append(f"End with exactly one JSON object in this form:\n```json\n{shown}\n```")
    return "\n\n".join(parts) + "\n"


def asked_later(run: CaseRun, case: Case) -> list[str]:
    """Return what the user typed for the run since it began. It is judged against that too: "more asked for under
    way"."""
    rows = requests.later(run.caller.events, run.flow.name, case.started_at)
    if run.flow.is_filed:  # what was typed before it was filed says what it is for
        rows = requests.rows_since(run.caller.events, run.flow.name, case.started_at)
    return [requests.text_of(row) for row in rows if not requests.names_data(row)]


def _asked_for(run: CaseRun, case: Case) -> list[str]:
    parts = []
    if case.request:
        parts.append(f"What the user asked for, {case.whose_request}:\n{quoted(case.request, requests.LONGEST)}")
    later = [quoted(text, requests.LONGEST) for text in asked_later(run, case)]
    for text in later:
        lead = "And later, as they typed it" if parts else "What the user asked for, as they typed it"
        parts.append(f"{lead}:\n{text}")
    for item in case.items:
        lines = [f"{item.id}: {clip(item.description, 500)}"]
        if item.text:
            lines.append("  " + block(item.text, LONGEST_QUESTION).replace("\n", "\n  "))
        outcomes = [asked for asked in item.questions if asked not in item.checks]
        for check in [*item.checks, *outcomes]:
            if check in item.questions:
                question = block(check["question"], LONGEST_QUESTION).replace("\n", "\n    ")
                lines.append(f"  - question {check['id']}: {question}")
            else:
                lines.append(f"  - code {check['id']}: {method(check)}")
        parts.append("\n".join(lines))
    return parts
