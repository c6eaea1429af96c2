"""What now? One answer for every state, and each answer names a command that leads on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from omo.ultragoal import goal_tool, phases
from tests.ultragoal.workshop import ONE, THREE, TWO, Workshop

Prepare = Callable[[Workshop], object]


def begun(text: str = TWO) -> Prepare:
    return lambda shop: (shop.create(text), shop.hand_out())


def then(*steps: Prepare) -> Prepare:
    return lambda shop: [step(shop) for step in steps]


def set_back(name: str, status: str) -> Prepare:
    return lambda shop: shop.set_back(name, status)


def edit(shop: Workshop) -> None:
    shop.goals_json.write_text(shop.goals_json.read_text().replace('"active"', '"complete"'))


def damage(shop: Workshop) -> None:
    shop.ledger.write_text(shop.ledger.read_text().replace("G001", "G002"))


def mark_handoff(shop: Workshop) -> None:
    phases.write(shop.run(), "ultragoal", "handoff")


# name: how to get there, the action, its goal, and what the command has to say
CASES: dict[str, tuple[Prepare, str, str | None, list[str]]] = {
    "no plan": (lambda shop: None, "create-goals", None, ["omo ultragoal create-goals"]),
    "a new plan": (lambda shop: shop.create(), "start-goal", "G001", ["omo ultragoal complete-goals"]),
    "a goal under way": (
        begun(),
        "execute-goal",
        "G001",
        ["checkpoint --goal-id G001 --status complete", "--quality-gate-json"],
    ),
    "no goal in the goal tool": (
        then(begun(), lambda shop: goal_tool.drop(shop.run())),
        "create-goal",
        "G001",
        ["omo goal create"],
    ),
    "a paused goal": (
        then(begun(), lambda shop: shop.classify(), lambda shop: goal_tool.pause(shop.run())),
        "resume-goal",
        "G001",
        ["omo goal resume"],
    ),
    "an unrelated goal": (
        then(lambda shop: goal_tool.create(shop.run(), "Paint the shed"), begun()),
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
        then(begun(), set_back("G001", "blocked"), lambda shop: shop.hand_out(), set_back("G002", "blocked")),
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
        then(begun(), set_back("G001", "blocked"), lambda shop: shop.hand_out(), set_back("G002", "failed")),
        "retry-failed",
        "G002",
        ["--retry-failed"],
    ),
    "one of two blocked ones waits for a person": (
        then(
            begun(),
            set_back("G001", "blocked"),
            lambda shop: shop.classify(goal="G001"),
            lambda shop: shop.hand_out(),
            set_back("G002", "blocked"),
        ),
        "resolve-blockers",
        "G002",
        ["--retry-blocked"],
    ),
    "everything left waits for a person": (
        then(begun(ONE), set_back("G001", "blocked"), lambda shop: shop.classify(goal="G001")),
        "wait",
        "G001",
        ["when that is done: omo ultragoal complete-goals --retry-blocked"],
    ),
    "a review found something": (
        then(begun(), lambda shop: shop.review("G001")),
        "start-goal",
        "G002",
        ["complete-goals"],
    ),
    "all are complete": (then(begun(), lambda shop: shop.finish()), "complete-goal", None, ["omo goal complete"]),
    "all are complete, and the goal is": (
        then(begun(), lambda shop: shop.finish(), lambda shop: goal_tool.complete(shop.run())),
        "done",
        None,
        [],
    ),
    "all are complete, and the goal was dropped": (
        then(begun(), lambda shop: shop.finish(), lambda shop: goal_tool.drop(shop.run())),
        "done",
        None,
        [],
    ),
    "a finished plan got another goal": (
        then(begun(), lambda shop: shop.finish(), lambda shop: shop.add()),
        "start-goal",
        "G003",
        ["complete-goals"],
    ),
    "goals.json was edited": (then(begun(), edit), "execute-goal", "G001", ["checkpoint --goal-id G001"]),
    "the ledger was edited": (
        then(begun(), lambda shop: shop.ledger.write_text(shop.ledger.read_text() + "rubbish\n")),
        "tell-user",
        None,
        ["omo state clear --mode ultragoal --force --session"],
    ),
    "nothing of the ledger can be believed": (
        then(begun(), damage),
        "tell-user",
        None,
        ["omo state clear --mode ultragoal --force"],
    ),
    "an earlier plan was marked ready for handoff": (
        then(begun(), mark_handoff, lambda shop: shop.create(TWO, force=True)),
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
def test_what_is_next(shop: Workshop, prepare: Prepare, action: str, goal: str | None, said: list[str]) -> None:
    prepare(shop)
    before = shop.files()
    step = shop.step()
    assert (step.action, step.item) == (action, goal or ""), step
    for words in said:
        assert words in step.command
    assert step.why
    assert shop.files() == before, "asking writes nothing"


def test_the_only_goal_is_never_advised_to_be_superseded(shop: Workshop) -> None:
    then(begun(ONE), set_back("G001", "blocked"))(shop)
    assert "mark_blocked_superseded" not in shop.step().command


def test_a_way_out_of_all_blocked_leads_to_the_end(shop: Workshop) -> None:
    CASES["only blocked ones are left"][0](shop)
    shop.supersede("G001")
    shop.hand_out(retry_blocked=True)
    shop.complete("G002")
    assert shop.step().command == "omo goal complete"


def test_what_is_shown_is_bounded(shop: Workshop) -> None:
    shop.create("@goal: T\n" + "x" * 5000)
    shop.hand_out()
    shop.set_back("G001", "failed", "\x1b[31m" + "y" * 5000)
    step = shop.step()
    assert len(step.text) < 400
    assert "\x1b" not in step.text


def test_a_story_is_completed_before_the_next_is_created(shop: Workshop) -> None:
    shop.create(THREE, mode="per-story")
    shop.hand_out()
    shop.complete("G001")
    assert shop.step().command == "omo goal complete, then omo goal create"
    assert goal_tool.complete(shop.run()).changed
    assert shop.step().command == "omo goal create"
    goal_tool.create(shop.run())
    assert shop.step().action == "execute-goal"
