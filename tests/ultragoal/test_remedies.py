"""What a refusal says to do can be done, as it stands; and what is shown tells apart what is different."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omo.errors import OmoError
from omo.ultragoal.checkpoint import subject_of
from omo.ultragoal.gate import rules
from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell  # the fixture, under its own name
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import ONE, TWO, Project, commit


@pytest.mark.parametrize("option", ["--goal-json", "--executor-qa-json"])
def test_half_a_character_never_ends_in_a_crash(shell: Shell, option: str) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", ONE)
    shell.agent("ultragoal", "complete-goals")
    text = '{"objective": "\\ud800", "blockers": ["\\ud800"]}'
    command = (
        ("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "blocked", "--evidence", "e")
        if option == "--goal-json"
        else ("ultragoal", "review")
    )
    ran = shell.agent(*command, option, text)
    assert ran.code in (2, 3)


@pytest.mark.parametrize("text", [ONE, TWO])
def test_one_is_singular(shell: Shell, text: str) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", text)
    said = [
        shell.agent("ultragoal", "create-goals", "--brief", text),
        shell.agent("ultragoal", "status"),
        shell.agent("goal", "pause"),
        shell.agent("goal", "complete"),
        shell.agent("goal", "drop"),
        shell.agent("goal", "create", "--objective", "something else"),
        shell.agent("state", "clear", "--mode", "ultragoal", "--force"),
    ]
    whole = " ".join(ran.out + ran.err for ran in said)
    assert ("1 goals" in whole, "1 open goals" in whole) == (False, False)
    assert ("1 goal" if text == ONE else "2 goals") in whole


def test_programs_are_told_where_the_brief_is_and_how_the_next_goal_stands(shell: Shell) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", TWO)
    shell.agent("ultragoal", "complete-goals")
    brief = Path(shell.agent("ultragoal", "status", "--json").json["paths"]["brief"])
    assert brief.read_text(encoding="utf-8").strip() == TWO
    for goal, following in (("G001", ("G002", "active")), ("G002", (None, None))):
        shell.write("gate.json", json.dumps(valid_gate(shell.project, goal)))
        ran = shell.agent(
            *("ultragoal", "checkpoint", "--goal-id", goal, "--status", "complete", "--evidence", "seen", "--json"),
            *("--quality-gate-json", "gate.json"),
        )
        assert (ran.json["next_goal_id"], ran.json["next_goal_status"]) == following


def test_a_story_is_handed_out_with_its_own_objective_as_the_sessions_goal(shell: Shell) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", TWO, "--goal-mode", "per-story")
    assert "The session's goal: Read the file." in shell.agent("ultragoal", "complete-goals").out
    given = shell.agent("ultragoal", "complete-goals", "--json").json
    assert given["objective"] == shell.agent("goal", "get", "--json").json["goal"]["objective"] == "Read the file."


@pytest.mark.parametrize("now", [None, "{}", "rubbish", '{"computer_control": ["other"]}'])
def test_what_was_computer_control_when_the_plan_began_stays_so(project: Project, now: str | None) -> None:
    path = project.root / ".sisyphus" / "omo.json"
    commit(project.root, ".sisyphus/omo.json", '{"computer_control": ["native"]}')
    project.create(ONE)
    project.hand_out()
    path.unlink()
    if now is not None:
        path.write_text(now)
    (project.root / "native").mkdir()
    (project.root / "native" / "mouse.c").write_text("int x;")
    run = project.run(control_globs=("other",))
    subject = subject_of(run, project.plan(), project.goal("G001"))
    assert subject.control_globs == ("other", "native")
    assert rules.suite_triggers(subject) == ["native/mouse.c"]
    with pytest.raises(OmoError, match="does not pass"):
        project.complete("G001")
