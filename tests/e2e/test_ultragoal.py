"""A plan of three goals in the real client, from the brief to the final receipt."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from omo.state.journal import Journal
from tests.e2e.client import Terminal
from tests.e2e.conftest import EIGHT_BLOCKS, Stage
from tests.e2e.scripted_model import Request, Turn, bash, call, say, told
from tests.e2e.test_interactive import shows
from tests.project import plan_directory
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import CLEAN

pytestmark = pytest.mark.client

BRIEF = """\
Keep the README in plain words.

@goal: Say how to install it
The README has an installation section.

@goal: Say how to use it
The README has a section on use.

@goal: Say who may use it
The README names the licence.
"""
ASK = {
    "questions": [
        {
            "question": "Which licence?",
            "header": "Licence",
            "multiSelect": False,
            "options": [{"label": "MIT", "description": "short"}, {"label": "GPL", "description": "long"}],
        }
    ]
}


def review(name: str) -> Turn:
    return call(
        "Agent",
        description=name,
        prompt=f"omo ultragoal brief {name}",
        subagent_type=f"omo:{name}",
        run_in_background=False,
    )


def checkpoint(stage: Stage, goal: str, *, blockers: tuple[str, ...] = ()) -> Callable[[Request], Turn]:
    """The agent writes its evidence now, while the goal is under way, and cites it."""

    def step(request: Request) -> Turn:
        gate = valid_gate(stage.project, goal)
        gate["architectReview"]["blockers"] = list(blockers)
        path = stage.home / f"{goal}.json"
        path.write_text(json.dumps(gate), "utf-8")
        return bash(
            f"omo ultragoal checkpoint --goal-id {goal} --status complete --evidence 'the section is there' "
            f"--quality-gate-json '{path}'"
        )

    return step


def rows(stage: Stage, session: str) -> list[dict[str, Any]]:
    state = str(stage.state)
    journal = Journal(str(plan_directory(state, session)), state)
    assert journal.problems() == []
    return journal.rows()


def plan(stage: Stage, session: str) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads((plan_directory(str(stage.state), session) / "goals.json").read_text())
    return shown


def started(stage: Stage) -> list[Turn]:
    brief = stage.home / "brief.md"
    brief.write_text(BRIEF, "utf-8")
    return [bash(f"omo ultragoal create-goals --brief-file '{brief}'"), bash("omo ultragoal complete-goals")]


def open_terminal(stage: Stage, prompt: str) -> Terminal:
    terminal = stage.open("--allowedTools", "Bash", "Agent", env=EIGHT_BLOCKS)
    terminal.submit(prompt)
    return terminal


def test_three_goals_from_the_brief_to_the_final_receipt(stage: Stage) -> None:
    stage.model.agent(told("omo ultragoal brief architect"), say(json.dumps(CLEAN["omo:architect"])))
    stage.model.agent(told("omo ultragoal brief qa"), say(json.dumps(CLEAN["omo:qa"])))
    stage.model.script(
        *started(stage),
        say("That should be all."),  # a premature stop
        call("AskUserQuestion", **ASK),  # a question, refused
        checkpoint(stage, "G001", blockers=("the section lies about Windows",)),  # a gate that fails, then is mended
        review("architect"),
        review("qa"),
        bash("omo evidence replay --attack 'no such word' --expect 'nothing is shown' -- grep zebra README.md"),
        bash("omo ultragoal checkpoint --evidence 'the section is there' -- cat README.md"),  # omo fills its gate in
        bash(
            "omo ultragoal record-review-blockers --goal-id G002 --title 'Mend the example' "
            "--objective 'The example in the README runs' --evidence 'it does not run as printed'"
        ),
        bash("omo ultragoal complete-goals"),
        checkpoint(stage, "G003"),
        checkpoint(stage, "G004"),
        checkpoint(stage, "G002"),  # what its review found is resolved, and it is shown itself
        bash("omo ultragoal status --json"),
        bash("omo goal complete"),
        say("Everything is proven."),
    )
    terminal = open_terminal(stage, "work through the brief")
    terminal.wait_for("Everything is proven.")
    words = "no clean verdict of omo:architect or omo:qa on its files was seen for G002, G003, G004"
    terminal.wait_for(lambda screen: words in " ".join(screen.split()))
    assert "omo: ended with exceptions: no cleaner looked at G001" in " ".join(terminal.scrollback().split())
    assert stage.model.overruns == 0
    (session,) = stage.sessions
    results = stage.tool_results()
    assert any("no question is put to the user now" in one for one in results)
    assert any("the section lies about Windows" in one for one in results)
    goals = {goal["id"]: goal for goal in plan(stage, session)["goals"]}
    assert {name: goal["status"] for name, goal in goals.items()} == {
        "G001": "complete",
        "G002": "complete",
        "G003": "complete",
        "G004": "complete",
    }
    receipts = {name: goal["completionVerification"] for name, goal in goals.items() if goal["status"] == "complete"}
    assert {name: (one["receiptKind"], one["independence"]) for name, one in receipts.items()} == {
        "G001": ("per-goal", "full"),
        "G002": ("final-aggregate", "reduced"),
        "G003": ("per-goal", "reduced"),
        "G004": ("per-goal", "reduced"),
    }
    assert [row["kind"] for row in rows(stage, session)] == [
        "plan_created",
        "goal_created",
        "goal_started",
        "goal_checkpointed",
        "goal_started",
        "review_blockers_recorded",
        "goal_started",
        "goal_checkpointed",
        "goal_started",
        "goal_checkpointed",
        "goal_started",
        "goal_checkpointed",
        "goal_completed",
        "plan_ended",
    ]
    kinds = stage.kinds(session)
    assert (kinds.count("blocked:block"), kinds[-1]) == (1, "allowed:done")
    assert stage.row(session)["work"]["ultragoal"]["state"] == "ended"


def test_a_goal_with_a_blocker_is_reviewed_again_and_ends_judged(stage: Stage) -> None:
    """BLOCK, kept as a goal of its own; that one and then the reviewed goal are each shown and found clean."""
    blocked = {**CLEAN["omo:architect"], "codeStatus": "BLOCK"}
    answers = [blocked, CLEAN["omo:architect"], CLEAN["omo:architect"]]
    stage.model.agent(told("omo ultragoal brief architect"), *[say(json.dumps(answer)) for answer in answers])
    stage.model.agent(told("omo ultragoal brief qa"), *[say(json.dumps(CLEAN["omo:qa"]))] * 3)
    brief = stage.home / "brief.md"
    brief.write_text("@goal: Say how to install it\nThe README has an installation section.\n", "utf-8")
    section = "printf '%s\\n' 'Install it.' > README.md"
    mended = "printf '%s\\n' 'Install it on Windows, too.' > README.md"
    stage.model.script(
        bash(f"omo ultragoal create-goals --brief-file '{brief}'"),
        bash("omo ultragoal complete-goals"),
        bash(section),
        review("architect"),
        review("qa"),
        checkpoint(stage, "G001"),  # refused: BLOCK was seen
        bash(
            "omo ultragoal record-review-blockers --goal-id G001 --objective 'Windows is named' "
            "--evidence 'architect: BLOCK, the section lies about Windows'"
        ),
        bash("omo ultragoal complete-goals"),
        bash(mended),
        review("architect"),
        review("qa"),
        checkpoint(stage, "G002"),
        say("The blocker is gone, so that is all."),  # a premature stop: G001 itself is not shown yet
        review("architect"),
        review("qa"),
        checkpoint(stage, "G001"),
        say("All goals are closed."),  # and one more: the plan is not at its end
        bash("omo goal complete"),
        say("Everything is shown."),
    )
    run = stage.prompt("/omo:ultragoal say how to install it", env=EIGHT_BLOCKS)
    assert (run.result, stage.model.overruns) == ("Everything is shown.", 0)
    session = run.session_id
    told_at_last = [event["stdout"] for event in run.hook_events if event["hook_event"] == "Stop"][-1]
    assert "omo: done, judged" in told_at_last
    assert "omo:architect and omo:qa were seen to find each clean" in told_at_last
    assert "omo:architect found all of it there that the user asked for" in told_at_last
    refused = [result for result in stage.tool_results() if "BLOCK was said by omo:architect" in result]
    assert len(refused) == 1
    assert [goal["status"] for goal in plan(stage, session)["goals"]] == ["complete", "complete"]
    kinds = stage.kinds(session)
    assert (kinds.count("blocked:block"), kinds[-1]) == (2, "allowed:done")


def test_a_question_asked_three_times_ends_the_turn_and_is_put_before_the_user(stage: Stage) -> None:
    ask = call("AskUserQuestion", **ASK)
    stage.model.script(*started(stage), ask, ask, ask, say("I need an answer."), say("Again?"))
    terminal = open_terminal(stage, "work through the brief")
    shows(terminal, "I need an answer.")
    shows(terminal, "Which licence?")
    assert terminal.scrollback().count("omo: ultragoal is on: ") == 1
    (session,) = stage.sessions
    assert stage.kinds(session)[-1] == "allowed:waiting"
    assert stage.row(session)["work"]["ultragoal"]["state"] == "waiting"


def test_a_subagent_cannot_checkpoint_and_a_pause_needs_a_blocker_that_only_a_person_can_remove(stage: Stage) -> None:
    stage.model.script(
        *started(stage),
        call(
            "Agent", description="do it", prompt="close the goal", subagent_type="omo:executor", run_in_background=False
        ),
        bash("omo goal pause"),
        bash("omo ultragoal classify-blocker --classification human_blocked --evidence 'the user must pick a licence'"),
        bash("omo goal pause"),
        say("I wait for you."),
    )
    stage.model.agent(
        told("close the goal"),
        bash("omo ultragoal checkpoint --goal-id G001 --status failed --evidence 'too hard'"),
        say("It was refused."),
    )
    run = stage.prompt("work through the brief")
    assert "goal_checkpointed" not in [row["kind"] for row in rows(stage, run.session_id)]
    assert "denied" in stage.kinds(run.session_id)
    refused, allowed = stage.tool_results()[3], stage.tool_results()[5]
    assert "needs a blocker that only a person can remove" in refused
    assert "paused" in allowed
    assert run.result == "I wait for you."
    assert stage.kinds(run.session_id)[-1] == "allowed:waiting"
    assert stage.row(run.session_id)["work"]["ultragoal"]["state"] == "paused"
