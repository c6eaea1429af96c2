"""The independent judge of a goal: what it is asked, and what a hook saw it answer about the files as they are."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omo.errors import Refused
from omo.state import runtime
from omo.text import block, clip
from omo.work import agents
from omo.work.judge import JUDGE, Answer, Key, brief_text, failed, match, read_messages
from omo.workflows.verify.goals import Goal, Goals, GoalStore, Row, known, require_in_progress

if TYPE_CHECKING:
    from omo.workflows.verify.steps import Trees

MOST_BRIEFS = 3  # in an attempt
LONGEST_QUESTION = 2000


@dataclass(frozen=True)
class Judgement:
    """What the judge was seen to say.

    `state` is done or failed, owed where nobody has answered, stale where it spoke of other files, else unknown.
    `found_broken` is what it found not to hold on other files; empty where it has passed these.
    """

    state: str
    why: str
    answers: dict[str, Answer]
    found_broken: list[str]


def ask(store: GoalStore, name: str, trees: Trees) -> str:
    """The brief, whose nonce is recorded; the same one until it is answered. Nobody asks again until the answer suits.

    The judge itself may call for it, so that nobody copies it or adds to it.
    """
    goal = store.goal(name)
    caller = store.caller
    require_in_progress(goal)
    finish = f"omo verify finish {name} --summary TEXT"
    if not goal.spec.in_words:
        raise Refused(f"code evaluates all that goal {name} asks for, so there is nothing to judge", fix=finish)
    if not caller.session:
        raise Refused("no session is meant, so no hook could hear the judge", fix="name one with --session ID")
    judgement = judgement_of(goal, trees)
    if judgement is not None and judgement.state in ("done", "failed"):
        raise Refused(f"{JUDGE} has judged exactly these files: {judgement.why}", fix=f"mend the work, or {finish}")
    if judgement is not None and judgement.state == "owed":
        return _text(goal, goal.briefs[-1]["nonce"])
    without = trees.answer_files(goal)
    brief: Row = {"kind": "brief", "goal": name, "attempt": goal.attempt, "nonce": secrets.token_hex(16)}
    brief |= {"contract": goal.spec.contract, "tree": trees.now(without), "without": without, "session": caller.session}

    def decide(goals: Goals) -> tuple[None, list[Row]]:
        asked = [row for row in known(goals, name).briefs if row["attempt"] == goal.attempt]
        if len(asked) >= MOST_BRIEFS:
            raise Refused(f"{JUDGE} was asked {MOST_BRIEFS} times in this attempt", fix=f"take what there is: {finish}")
        return None, [brief]

    store.change_whole(decide)
    if not runtime.is_live(caller.session_rows.get(caller.session, {})):
        agents.expect(caller.state, caller.session, JUDGE, by=caller.by, now=caller.now, wait=caller.wait)
    return _text(goal, brief["nonce"])


def _text(goal: Goal, nonce: str) -> str:
    lines = [f"{goal.id}: {clip(goal.spec.title, 200)}"]
    if goal.spec.description:
        lines.append(f"  {block(goal.spec.description, LONGEST_QUESTION)}")
    for check, question in goal.spec.in_words.items():
        lines.append(f"  - question {check}: {block(question, LONGEST_QUESTION)}")
    return brief_text("\n".join(lines), [(goal.id, check) for check in goal.spec.in_words], nonce)


def judgement_of(goal: Goal, trees: Trees) -> Judgement | None:
    """None where no judge was asked. What it found broken on these files stands, in every attempt."""
    if not goal.briefs:
        return None
    newest, failures, found_broken = goal.briefs[-1], [], []
    for brief in goal.briefs:
        for (_, check), answer in failed(_said(trees, brief), brief).items():
            line = f"{clip(check, 60)}: {clip(answer.evidence, 200)}"
            if _is_of_these_files(goal, brief, trees):
                failures.append(line)
            else:
                found_broken.append(line)
    given = read_messages(_said(trees, newest), newest["nonce"])
    asked: list[Key] = [(goal.id, check) for check in goal.spec.in_words]
    answers = {check: answer for (_, check), answer in match(given, asked)[0].items()}
    unclear = [f"{check}: {answer.evidence}" for check, answer in answers.items() if answer.result != "pass"]
    if failures:
        return Judgement("failed", "; ".join(failures), answers, found_broken)
    if newest["attempt"] != goal.attempt or not _is_of_these_files(goal, newest, trees):
        return Judgement("stale", "it was asked about other files, or in another attempt", answers, found_broken)
    if given.unread:
        return Judgement("owed", given.unread, answers, found_broken)
    if unclear:
        return Judgement("unknown", clip("; ".join(unclear), 400), answers, found_broken)
    return Judgement("done", f"{len(answers)} of {len(answers)} questions pass", answers, [])


def _is_of_these_files(goal: Goal, brief: Row, trees: Trees) -> bool:
    return brief["contract"] == goal.spec.contract and trees.holds(brief["tree"], brief["without"], goal)


def _said(trees: Trees, brief: Row) -> list[agents.Message]:
    return agents.messages(trees.caller.state, brief["session"], JUDGE, since=brief["ts"])
