"""The answer to the newest brief of an iteration: seen by the hook, or handed in as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.text import clip
from omo.work import agents
from omo.work.agents import FULL, Message, NoAnswer
from omo.work.judge import (
    LONGEST_ACTION,
    LONGEST_EVIDENCE,
    MOST_CHALLENGES,
    MOST_NOTES,
    RESULTS,
    Answer,
    JudgeAnswer,
    Key,
    answered_at,
    failed,
    match,
    read,
    read_messages,
    said_since,
)
from omo.workflows.ralph.rules import JUDGE
from omo.workflows.ralph.run import RalphState

__all__ = [
    "LONGEST_ACTION",
    "LONGEST_EVIDENCE",
    "MOST_CHALLENGES",
    "MOST_NOTES",
    "RESULTS",
    "Answer",
    "JudgeAnswer",
    "Key",
    "answer_to",
    "answered_at",
    "failed",
    "match",
    "read",
]

BRIEF = "omo ralph brief"


def answer_to(state: RalphState, reported: Sequence[Message], given: str | None) -> JudgeAnswer:
    """What was answered to the newest brief of this iteration; `given` is what was handed in as a file.

    `reported` is what the hook saw judges say in this session. Refused where there is no brief yet.
    """
    if not state.briefs:
        raise Refused(
            f"iteration {state.iteration} has questions that code cannot answer, and no judge was asked",
            fix=f"{BRIEF}, and let {JUDGE} answer it",
        )
    brief = state.briefs[-1]
    answered = read_messages(said_since(reported, brief), brief["nonce"])
    if given is None:
        return answered
    try:
        in_file = read(given)
    except NoAnswer as error:
        fix = f"{BRIEF} shows the form; one JSON object, beginning a line"
        raise BadInput(f"--result: {error}", fix=fix) from None
    if in_file.nonce != brief["nonce"]:
        nonce = clip(in_file.nonce, 40)
        whose = _whose_nonce(state, in_file.nonce)
        what = f"--result answers the nonce {nonce!r}, which is {whose}, not of the newest one"
        raise Refused(what, fix=f"{BRIEF}, and answer the nonce it shows", nonce=nonce)
    leave_out = f"omo ralph judge without --result; or ask anew: {BRIEF}"
    said = said_since(reported, brief)
    if agents.independence_of_text(given, said, brief["nonce"], option="--result", fix=leave_out) == FULL:
        return in_file if answered.unread else answered  # others may have answered too
    for earlier in state.briefs:
        if any(earlier["nonce"] in message.text for message in said_since(reported, earlier)):
            raise Refused(
                f"--result is for where no {JUDGE} can be started, and one answered in this iteration",
                fix=f"start {JUDGE} with the text of the newest {BRIEF}; then omo ralph judge",
            )
    return replace(in_file, digest=sha256(given.encode("utf-8", "replace")))


def _whose_nonce(state: RalphState, nonce: str) -> str:
    for row in state.rows:
        if row.get("kind") != "brief" or row.get("nonce") != nonce:
            continue
        if row["iteration"] != state.iteration:
            return f"of a brief of iteration {row['iteration']}, and this is {state.iteration}"
        return f"of call {row['call']} of this iteration"
    return "of no brief of this run"
