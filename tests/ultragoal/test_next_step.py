"""What now? One answer for every state, and each answer names a command that leads on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omo.workflows.ultragoal import goal_tool, lifecycle
from tests.ultragoal.project import ONE, THREE, TWO, Project

Prepare = Callable[[Project], object]


def begun(text: str = TWO) -> Prepare:
    return lambda project: project.begin(text)


def then(*steps: Prepare) -> Prepare:
    return lambda project: [step(project) for step in steps]


def set_back(name: str, status: str) -> Prepare:
    return lambda project: project.set_back(name, status)


def edit(project: Project) -> None:
    project.goals_json.write_text(project.goals_json.read_text().replace('"active"', '"complete"'))


def damage(project: Project) -> None:
    project.ledger.write_text(project.ledger.read_text().replace("G001", "G002"))


def mark_handoff(project: Project) -> None:
    lifecycle.write_phase(project.run("user"), "handoff")


# name: how to get there, the action, its goal, and what the command has to say
CASES: dict[str, tuple[Prepare, str, str | None, list[str]]] = {
    "no plan": (lambda project: None, "create-goals", None, ["omo ultragoal create-goals"]),
    "a new plan": (lambda project: project.create(), "start-goal", "G001", ["omo ultragoal complete-goals"]),
    "a goal under way": (
        begun(),
        "execute-goal",
        "G001",
        ["checkpoint --goal-id G001 --evidence TEXT", "-- COMMAND"],
    ),
    "no goal in the goal tool": (
        then(begun(), lambda project: goal_tool.drop(project.run())),
        "create-goal",
        "G001",
        ["omo goal create"],
    ),
    "a paused goal": (
        then(begun(), lambda project: project.classify(), lambda project: goal_tool.pause(project.run())),
        "resume-goal",
        "G001",
        ["omo goal resume"],
    ),
    "an unrelated goal": (
        lambda project: (goal_tool.create(project.run(), "Paint the shed"), project.create(), project.hand_out()),
        "drop-goal",
        "G001",
        ["omo goal drop, then omo goal create"],
    ),
    "one failed, another is next": (
        then(begun(), set_back("G001", "failed")),
        "start-goal",
        "G002",
        ["complete-goals"],
    ),
    "only failed ones are left": (
        then(begun(ONE), set_back("G001", "failed")),
        "retry-failed",
        "G001",
        ["complete-goals --retry-failed"],
    ),
    "only blocked ones are left": (
        then(begun(), set_back("G001", "blocked"), lambda project: project.hand_out(), set_back("G002", "blocked")),
        "resolve-blockers",
        "G001",
        ["complete-goals --retry-blocked", "mark_blocked_superseded --goal-id G001", "human_blocked --goal-id G001"],
    ),
    "the only goal is blocked, so it cannot be superseded": (
        then(begun(ONE), set_back("G001", "blocked")),
        "resolve-blockers",
        "G001",
        ["complete-goals --retry-blocked"],
    ),
    "a failed one comes before a blocked one": (
        then(begun(), set_back("G001", "blocked"), lambda project: project.hand_out(), set_back("G002", "failed")),
        "retry-failed",
        "G002",
        ["--retry-failed"],
    ),
    "one of two blocked ones waits for a person": (
        then(
            begun(),
            set_back("G001", "blocked"),
            lambda project: project.classify(goal="G001"),
            lambda project: project.hand_out(),
            set_back("G002", "blocked"),
        ),
        "resolve-blockers",
        "G002",
        ["--retry-blocked"],
    ),
    "everything left waits for a person": (
        then(begun(ONE), set_back("G001", "blocked"), lambda project: project.classify(goal="G001")),
        "wait",
        "G001",
        ["when that is done: omo ultragoal complete-goals --retry-blocked"],
    ),
    "a review found something": (
        then(begun(), lambda project: project.review("G001")),
        "start-goal",
        "G002",
        ["complete-goals"],
    ),
    "all are complete": (then(begun(), lambda project: project.finish()), "complete-goal", None, ["omo goal complete"]),
    "all are complete, and the goal is": (
        then(begun(), lambda project: project.finish(), lambda project: goal_tool.complete(project.run())),
        "done",
        None,
        [],
    ),
    "all are complete, and the goal was dropped": (
        then(begun(), lambda project: project.finish(), lambda project: goal_tool.drop(project.run())),
        "done",
        None,
        [],
    ),
    "a finished plan got another goal": (
        then(begun(), lambda project: project.finish(), lambda project: project.add()),
        "start-goal",
        "G003",
        ["complete-goals"],
    ),
    "goals.json was edited": (then(begun(), edit), "execute-goal", "G001", ["checkpoint --goal-id G001"]),
    "the ledger was edited": (
        then(begun(), lambda project: project.ledger.write_text(project.ledger.read_text() + "rubbish\n")),
        "tell-user",
        None,
        ["omo ledger repair --session"],
    ),
    "nothing of the ledger can be believed": (
        then(begun(), damage),
        "tell-user",
        None,
        ["omo state clear --mode ultragoal --force"],
    ),
    "an earlier plan was marked ready for handoff": (
        then(begun(), mark_handoff, lambda project: project.create(TWO, force=True)),
        "start-goal",
        "G001",
        ["complete-goals"],
    ),
    "the plan is marked ready for handoff": (
        then(begun(), mark_handoff),
        "handoff",
        None,
        ["omo state ultragoal handoff --to", '"current_phase":"active"'],
    ),
}


@pytest.mark.parametrize(("prepare", "action", "goal", "said"), CASES.values(), ids=CASES)
def test_what_is_next(project: Project, prepare: Prepare, action: str, goal: str | None, said: list[str]) -> None:
    prepare(project)
    before = project.files()
    step = project.step()
    assert (step.action, step.item) == (action, goal or ""), step
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


def test_a_story_is_completed_before_the_next_is_created(project: Project) -> None:
    project.create(THREE, mode="per-story")
    project.hand_out()
    project.complete("G001")
    assert project.step().command == "omo goal complete, then omo goal create"
    assert goal_tool.complete(project.run()).changed
    assert project.step().command == "omo goal create"
    goal_tool.create(project.run())
    assert project.step().action == "execute-goal"
