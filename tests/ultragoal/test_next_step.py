"""What now? One answer for every state, and each answer names a command that leads on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omo.workflows.ultragoal import goal_tool, lifecycle
from tests.ultragoal.project import ONE, TWO, Project

MOVES: dict[str, Callable[[Project], object]] = {
    "create": lambda project: project.create(),
    "begin": lambda project: project.begin(),
    "begin one": lambda project: project.begin(ONE),
    "hand out": lambda project: project.hand_out(),
    "finish": lambda project: project.finish(),
    "add": lambda project: project.add(),
    "review": lambda project: project.review("G001"),
    "create anew": lambda project: project.create(TWO, force=True),
    "needs a person": lambda project: project.classify(goal="G001"),
    "create stories": lambda project: project.create(TWO, mode="per-story"),
    "reword": lambda project: project.steer("revise_pending_wording", goal_id="G001", objective="Read all files."),
    "goal dropped": lambda project: goal_tool.operate("drop", project.run()),
    "blocker classified": lambda project: project.classify(),
    "goal paused": lambda project: goal_tool.operate("pause", project.run()),
    "goal complete": lambda project: goal_tool.operate("complete", project.run()),
    "marked for handoff": lambda project: lifecycle.write_phase(project.run("user"), "handoff"),
    "view edited": lambda project: rewrite(project.goals_json, '"active"', '"complete"'),
    "rubbish added": lambda project: project.ledger.write_text(project.ledger.read_text() + "rubbish\n"),
    "ledger edited": lambda project: rewrite(project.ledger, "G001", "G002"),
}


def rewrite(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def move(project: Project, name: str) -> None:
    if name in MOVES:
        MOVES[name](project)
    else:
        project.set_back(*name.split())


BLOCKED = ["complete-goals --retry-blocked", "mark_blocked_superseded --goal-id G001", "human_blocked --goal-id G001"]
HANDOFF = ["omo state ultragoal handoff --to", '"current_phase":"active"']
RETRY = ["complete-goals --retry-blocked"]
# How to get there, the action, its goal, and what the command has to say
CASES: list[tuple[str, str, str, list[str]]] = [
    ("", "create-goals", "", ["omo ultragoal create-goals"]),
    ("create", "start-goal", "G001", ["omo ultragoal complete-goals"]),
    ("begin", "execute-goal", "G001", ["checkpoint --goal-id G001 --evidence TEXT", "-- COMMAND"]),
    ("begin, goal dropped", "create-goal", "G001", ["omo goal create"]),
    ("begin, blocker classified, goal paused", "resume-goal", "G001", ["omo goal resume"]),
    ("create stories, reword, hand out", "drop-goal", "G001", ["omo goal drop, then omo goal create"]),
    ("create stories, hand out, G001 blocked, hand out", "drop-goal", "G002", ["omo goal drop, then omo goal create"]),
    ("begin, G001 failed", "start-goal", "G002", ["complete-goals"]),
    ("begin one, G001 failed", "retry-failed", "G001", ["complete-goals --retry-failed"]),
    ("begin, G001 blocked, hand out, G002 blocked", "resolve-blockers", "G001", BLOCKED),
    ("begin one, G001 blocked", "resolve-blockers", "G001", RETRY),  # the only goal cannot be superseded
    ("begin, G001 blocked, hand out, G002 failed", "retry-failed", "G002", ["--retry-failed"]),
    ("begin, G001 blocked, needs a person, hand out, G002 blocked", "resolve-blockers", "G002", ["--retry-blocked"]),
    ("begin one, G001 blocked, needs a person", "wait", "G001", ["when that is done: omo ultragoal", *RETRY]),
    ("begin, review", "start-goal", "G002", ["complete-goals"]),
    ("begin, finish", "complete-goal", "", ["omo goal complete"]),
    ("begin, finish, goal complete", "done", "", []),
    ("begin, finish, goal dropped", "create-goal", "", ["omo goal create"]),
    ("begin, finish, add", "start-goal", "G003", ["complete-goals"]),
    ("begin, view edited", "execute-goal", "G001", ["checkpoint --goal-id G001"]),
    ("begin, rubbish added", "execute-goal", "G001", ["checkpoint --goal-id G001"]),
    ("begin, ledger edited", "create-goals", "", ["create-goals"]),
    ("begin, marked for handoff, create anew", "start-goal", "G001", ["complete-goals"]),
    ("begin, marked for handoff", "handoff", "", HANDOFF),
]


@pytest.mark.parametrize(("way", "action", "goal", "said"), CASES)
def test_what_is_next(project: Project, way: str, action: str, goal: str, said: list[str]) -> None:
    for name in filter(None, way.split(", ")):
        move(project, name)
    before = project.files()
    step = project.step()
    assert (step.action, step.item) == (action, goal), step
    for words in said:
        assert words in step.command
    assert step.why
    assert project.files() == before, "asking writes nothing"


def test_what_is_shown_is_bounded(project: Project) -> None:
    project.create("@goal: T\n" + "x" * 5000)
    project.hand_out()
    project.set_back("G001", "failed", "\x1b[31m" + "y" * 5000)
    step = project.step()
    assert len(step.text) < 400
    assert "\x1b" not in step.text
