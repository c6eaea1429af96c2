"""What the user pinned holds in every workflow: it runs before anything is called closed, and they let it through.

It is always pinned in another conversation than the one that works.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import texts
from tests.kept import copied
from tests.project import Project, Ran, make_project
from tests.ultragoal.project import CLEAN
from tests.ultraplan.plans import begin_repository, carry_out, plan_text

PIN = "/omo:pin tests -- sh -c 'echo ran >> .git/runs; test -f .git/ok'"
GREET = "import sys\nprint('hello', *sys.argv[1:])\n"


@dataclass
class Story:
    """Work that is done but for its end, which `close` is."""

    project: Project
    close: Callable[[], Ran]
    kind: str

    def runs(self) -> int:
        path = self.project.root / ".git" / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def outcome(self) -> dict[str, Any]:
        return dict(self.project.summary(self.kind)["outcome"])


def plan(tmp_path: Path) -> Story:
    def begin(root: Path) -> None:
        (root / "plan.md").write_text(plan_text(1))
        begin_repository(root)

    copied(tmp_path / "a b", begin)
    project = Project(tmp_path / "a b")
    project.check("plan", "start", "plan.md", "--unreviewed", "no critic here", by="user", session=project.session)
    carry_out(project.root, 1)
    return Story(project, lambda: project.agent("plan", "finish"), "ultraplan")


def verify(tmp_path: Path) -> Story:
    project = make_project(tmp_path)
    goal = {"id": "G1", "title": "New", "verification": {"checks": [{"id": "new", "type": "path", "path": "made"}]}}
    project.write("goal.json", json.dumps(goal))
    project.check("verify", "add", "--file", "goal.json", by="user")
    project.check("verify", "begin", "G1")
    project.write("made", "new\n")
    return Story(project, lambda: project.agent("verify", "finish", "G1", "--summary", "the file is there"), "verify")


def goals(tmp_path: Path) -> Story:
    project = make_project(tmp_path)
    project.write("greet.py", GREET)
    project.check("ultragoal", "create-goals", "--start", "--brief", "Plain words.\n@goal: Greet\nSay hello.")
    project.check("evidence", "replay", "--attack", "no name", "--expect", "hello", "--", "python3", "greet.py")
    for agent, clean in CLEAN.items():
        project.agent_ends(agent, json.dumps(clean))

    def close() -> Ran:
        shown = project.agent(
            "ultragoal", "checkpoint", "--evidence", "it says hello", "--", "python3", "greet.py", "you"
        )
        if shown.code == 0:
            project.check("goal", "complete")
        return shown

    return Story(project, close, "ultragoal")


STORIES = [plan, verify, goals]


@pytest.fixture(params=STORIES, ids=lambda story: story.__name__)
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Story:
    made: Story = request.param(tmp_path)
    assert "pinned by you" in made.project.prompt(PIN, session="another").json["reason"]
    return made


def test_it_is_run_once_and_passes(story: Story) -> None:
    (story.project.root / ".git" / "ok").touch()
    ran = story.close()
    assert (ran.code, story.runs()) == (0, 1), ran.err
    assert not any("tests" in let_through["what"] for let_through in story.outcome()["exceptions"])


def test_nothing_is_closed_while_it_fails(story: Story) -> None:
    ran = story.close()
    assert (ran.code, story.runs()) == (3, 1)
    assert ran.says("gate-what-user-pinned-does-not-pass", names="tests")
    assert ran.says("gate-fails-with-exit", gate="tests")
    assert story.project.summary(story.kind)["state"] == "active"
    (story.project.root / ".git" / "ok").touch()
    story.project.check("gate", "run", "tests")
    assert story.close().code == 0, "what was seen on these files is not run again"
    assert story.runs() == 2


def test_only_the_user_lets_it_through_and_the_end_says_so(story: Story) -> None:
    assert story.close().code == 3
    asked = story.project.agent(
        "gate", "record", "tests", "--pre-existing", "--evidence", "it fails without the work too"
    )
    assert (asked.code, asked.says("ulw-user-pinned-and-only-they-can")) == (3, True)
    told = story.project.stop().json["systemMessage"]
    assert texts.says(told, "stop-agent-asks-to-finish")
    assert texts.says(told, "stop-way-to-allow", command="/omo:allow tests")
    said = story.project.prompt("/omo:allow tests").json["reason"]
    assert texts.says(said, "prompt-gate-allowed", gate="tests")
    ran = story.close()
    assert (ran.code, story.runs()) == (0, 1), ran.err
    (*_, exception) = story.outcome()["exceptions"]
    assert (texts.says(exception["what"], "gate-fails-with-exit", gate="tests"), exception["by"]) == (True, "user")


def test_what_cannot_be_judged_is_not_called_failing(story: Story) -> None:
    story.project.prompt("/omo:unpin tests")
    story.project.prompt("/omo:pin absent -- no-such-program-here", session="another")
    ran = story.close()
    assert (ran.code, ran.says("run-gate-could-not-be-judged-program", name="absent")) == (3, True)


def test_a_gate_of_the_agents_own_that_nobody_ran_is_called_not_run(story: Story) -> None:
    (story.project.root / ".git" / "ok").touch()
    story.project.check("gate", "add", "own", "--", "no-such-program-here")
    if story.kind == "ultragoal":
        return  # its checkpoint runs every gate
    assert story.close().code == 0
    told = story.project.stop().json["systemMessage"]
    assert "not run beside it: gate own" in told
    assert "not passing" not in told


def test_a_checkpoint_runs_no_command_twice(tmp_path: Path) -> None:
    story = goals(tmp_path)
    project = story.project
    project.prompt("/omo:pin tests -- sh -c 'echo ran >> .git/runs; python3 greet.py'")
    command = ["sh", "-c", "echo ran >> .git/runs; python3 greet.py"]
    ran = project.agent("ultragoal", "checkpoint", "--evidence", "it says hello", "--", *command)
    assert (ran.code, story.runs()) == (0, 1), ran.err


def test_where_nothing_is_on_an_allowance_is_refused_with_the_reason(tmp_path: Path) -> None:
    """It would let nothing through: the next run begins with every gate open."""
    project = make_project(tmp_path)
    project.prompt("/omo:pin tests -- false")
    said = project.prompt("/omo:allow tests").json["reason"]
    assert texts.says(said, "typed-allow-nothing-on")
    assert texts.says(said, "typed-type-it-when-work-that-it-holds", which="tests")


def test_the_bare_word_after_a_cap_sets_the_plan_going_and_asks_for_nothing_more(tmp_path: Path) -> None:
    story = plan(tmp_path)
    project = story.project
    for _ in range(9):
        project.wait(10)
        project.stop(stop_hook_active=True)
    assert project.summary("ultraplan")["state"] == "ended"
    said = project.prompt("ulw").stdout
    assert texts.says(
        said, "prompt-of-goes-on-where-it-was", how="with ulw", function_of="ultraplan", now=1, before="1 open"
    )
    assert "ultrawork" not in said
    assert project.stop().blocks
    assert story.close().code == 0
    assert not project.stop().blocks, "the plan's end is all there is to show"
    project.prompt("ulw mend the readme too")
    assert project.summary("ulw")["state"] == "active"
