"""Answering a question: whose turn it is, that it is no replay, and the checkpoint that records it."""

from __future__ import annotations

from collections.abc import Callable

from omo.errors import Refused
from omo.verify.goals import Goals, Place, Row, known, require_in_progress
from omo.verify.judging import JUDGES, Asked, Judged
from omo.verify.lessons import gap
from omo.verify.replies import Reply, answer_command, parse_reply
from omo.verify.steps import Trees, step_of
from omo.verify.strict import digest_of


def answer(place: Place, name: str, question: str, data: object, *, file: str | None = None) -> Judged:
    """Judge an answer by code and record it as a checkpoint. What is refused is not recorded."""
    goal = place.goal(name)
    reply = parse_reply(question, data)
    asked, trees = Asked(place, goal, question), Trees(place, reading=file)
    _check_turn(asked, reply, trees)
    said = reply.model_dump(exclude={"goal"})
    digest = digest_of(said)
    _check_replay(asked, digest)
    without = trees.answer_files(goal)
    fingerprint = trees.now(without)
    judged = JUDGES[question](asked, reply)
    event = {
        "kind": "answered",
        "goal": name,
        "question": question,
        "attempt": goal.attempt,
        "contract": goal.spec.contract,
        "tree": fingerprint,
        "without": list(without),
        "digest": digest,
        "result": judged.result,
        "said": {**said, "why": judged.why},
        "artifacts": judged.artifacts,
        "overrides": judged.overrides,
    }
    place.change(_recording(asked, event, judged))
    return judged


def _check_turn(asked: Asked, reply: Reply, trees: Trees) -> None:
    """May this question be answered now?"""
    goal, question = asked.goal, asked.question
    if reply.goal is not None and reply.goal != goal.id:
        raise Refused(f"this is an answer for goal {reply.goal!r}, not {goal.id}", fix=f"answer for {goal.id} itself")
    require_in_progress(goal)
    if question == "agent-leg" and not goal.spec.has_agent_leg:
        raise Refused(
            f"goal {goal.id} has no agent's leg: it needs user in participants, and verification.outcomes_agent_leg",
            fix=answer_command(goal.id, "q1"),
        )
    if question in ("q1.5", "q2") and (first := step_of(goal, "q1", asked.place, trees)).is_open:
        why = f": {first.why}" if first.why else ""
        raise Refused(f"{question} comes after q1, which is {first.state}{why}", fix=first.command)
    _check_standing_failure(asked, trees)


def _check_standing_failure(asked: Asked, trees: Trees) -> None:
    """What was found broken stays found until something changes; saying it differently is no repair."""
    goal, step = asked.goal, step_of(asked.goal, asked.question, asked.place, trees)
    if step.state == "failed":
        raise Refused(
            f"{step.name} failed on exactly this tree: {step.why}",
            fix=f"mend the work and answer again, or record the failure: omo verify finish {goal.id} --summary TEXT",
        )


def _check_replay(asked: Asked, digest: str) -> None:
    if asked.question == "q3":
        return
    for row in asked.place.journal.rows():
        if row.get("kind") == "answered" and row.get("digest") == digest and row.get("goal") != asked.goal.id:
            if row.get("result") == "gap":
                continue
            raise Refused(
                f"this is, word for word, the answer to {row.get('question')} of goal {row.get('goal')}",
                fix=f"look at what {asked.goal.id} produced, and say what you see there",
            )


def _recording(asked: Asked, event: Row, judged: Judged) -> Callable[[Goals], tuple[None, list[Row]]]:
    def decide(goals: Goals) -> tuple[None, list[Row]]:
        goal = known(goals, asked.goal.id)
        if (goal.attempt, goal.state) != (asked.goal.attempt, "in-progress"):
            raise Refused(f"goal {goal.id} moved on while this was answered", fix=f"omo verify status {goal.id}")
        return None, [event, *(gap(goal, asked.question, why) for why in judged.gaps)]

    return decide
