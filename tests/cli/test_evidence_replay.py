"""What omo runs itself as evidence: recorded commands, and gates whose results a quality gate cites."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.project import Project, Ran
from tests.ultragoal.gates import add_surface, artifact, surface, valid_gate

GREET = "import sys\nprint('hello', *sys.argv[1:])\n"
BRIEF = "@goal: Greet\nSay hello.\n@goal: Leave\nSay bye."


@pytest.fixture
def planned(project: Project) -> Project:
    project.write("greet.py", GREET)
    assert project.agent("ultragoal", "create-goals", "--brief", BRIEF).code == 0
    assert project.agent("ultragoal", "complete-goals").code == 0
    return project


def recorded(project: Project, *argv: str) -> str:
    ran = project.agent("evidence", "replay", "--json", "--", *argv)
    assert ran.code == 0, ran.err
    return str(ran.json["path"])


def checkpoint(project: Project, *rows: dict[str, Any], goal: str = "G001", word: str = "cli") -> Ran:
    """With a gate that shows one more surface by these."""
    gate = valid_gate(project.root, goal)
    add_surface(gate, surface("more", word, *[row["id"] for row in rows]), *rows)
    project.write("gate.json", json.dumps(gate))
    complete = ("--goal-id", goal, "--status", "complete", "--evidence", "seen", "--quality-gate-json", "gate.json")
    return project.agent("ultragoal", "checkpoint", *complete)


def receipt(project: Project, goal: str = "G001") -> dict[str, Any]:
    for shown in project.agent("ultragoal", "status", "--json").json["goals"]:
        if shown["id"] == goal:
            found: dict[str, Any] = shown["completionVerification"]
            return found
    raise AssertionError(goal)


def test_a_command_that_nobody_pinned_is_run_by_omo_and_shows_a_command_line(planned: Project) -> None:
    path = recorded(planned, "python3", "greet.py", "you")
    assert path == ".sisyphus/evidence/G001/replay-1.json"
    record = json.loads((planned.root / path).read_text())
    assert (record["recordedStdout"], record["expectedExitCode"]) == ("hello you\n", 0)
    (planned.root / "greet.py").chmod(0o600)  # nothing is run again
    ran = checkpoint(planned, artifact("run", "cli-replay", path))
    assert ran.code == 0, ran.err
    assert path in receipt(planned)["artifacts"]
    planned.write("fails.py", "raise SystemExit(3)\n")
    failed = json.loads((planned.root / recorded(planned, "python3", "fails.py")).read_text())
    assert failed["expectedExitCode"] == 3, "a run that fails is recorded as it is"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["python3", "-c", "import calc; print(calc.add(-1, -2))"], "-3\n"),
        (["python3", "-c", "from calc import add\nprint(add(-1, -2))"], "-3\n"),
        (["python3", "-c", "import sys; sys.path.insert(0, 'src'); import lib.sums; print(lib.sums.ZERO)"], "0\n"),
        (["node", "-e", "const sum = require('./sum'); console.log(sum.add(-1, -2))"], "-3\n"),
        (["node", "--input-type=module", "-e", "import {two} from './two.mjs'; console.log(two)"], "2\n"),
    ],
    ids=str,
)
def test_a_library_is_shown_by_what_it_answers(planned: Project, argv: list[str], says: str) -> None:
    planned.write("calc.py", "def add(a, b): return a + b\n")
    planned.write("src/lib/sums.py", "ZERO = 0\n")
    planned.write("sum.js", "exports.add = (a, b) => a + b\n")
    planned.write("two.mjs", "export const two = 2\n")
    record = json.loads((planned.root / recorded(planned, *argv)).read_text())
    assert record["recordedStdout"] == says


@pytest.mark.parametrize(
    "argv",
    [
        ["echo", "all tests passed"],
        ["python3", "--version"],
        ["python3", "-c", "print('ok')"],
        ["python3", "-c", "import os, sys; print('all tests passed')"],
        ["node", "-e", "require('fs'); console.log('ok')"],
    ],
    ids=str,
)
def test_what_only_prints_success_is_not_recorded(planned: Project, argv: list[str]) -> None:
    ran = planned.agent("evidence", "replay", "--", *argv)
    assert (ran.code, ran.says("ultragoal-neither-runs-nor-reads-file-of")) == (3, True)


def edit(project: Project, path: str) -> None:
    project.write("greet.py", GREET + "print('more')\n")


def forge(project: Project, path: str) -> None:
    record = json.loads((project.root / path).read_text())
    project.write(path, json.dumps({**record, "recordedStdout": "hello world\n"}))


SPOILT: dict[str, tuple[Callable[[Project, str], None], str]] = {
    "a file was changed after it": (edit, "was recorded before greet.py changed"),
    "it was changed itself": (forge, "is no gate that the user pinned"),
}


@pytest.mark.parametrize(("spoil", "why"), SPOILT.values(), ids=SPOILT)
def test_a_record_counts_as_omo_wrote_it_and_on_the_files_it_saw(
    planned: Project, spoil: Callable[[Project, str], None], why: str
) -> None:
    path = recorded(planned, "python3", "greet.py", "you")
    spoil(planned, path)
    ran = checkpoint(planned, artifact("run", "cli-replay", path))
    assert (ran.code, why in ran.err) == (3, True), ran.err


def test_a_record_shows_the_goal_it_was_made_for(planned: Project) -> None:
    path = recorded(planned, "python3", "greet.py", "you")
    assert checkpoint(planned, artifact("run", "cli-replay", path)).code == 0
    ran = checkpoint(planned, artifact("run", "cli-replay", path), goal="G002")
    assert (ran.code, ran.says("ultragoal-executorqa-artifactrefs-path-cannot-be-evidence-same")) == (3, True)
    again = recorded(planned, "python3", "greet.py", "you")
    assert checkpoint(planned, artifact("run", "cli-replay", again), goal="G002").code == 0


@pytest.mark.parametrize("attack", ["", "  ", "\udcff", "x" * 2001])
def test_an_attack_that_no_gate_can_hold_is_not_recorded(planned: Project, attack: str) -> None:
    """Recorded, it would be in every gate that is filled in, and no goal could be closed with it."""
    case = ("--attack", attack, "--expect", "a plain hello")
    assert planned.agent("evidence", "replay", *case, "--", "python3", "greet.py").code == 2
    assert not (planned.root / ".sisyphus/evidence").exists()


def test_a_command_that_no_record_can_hold_is_not_run(planned: Project) -> None:
    for argv, why in {
        ("--", "python3", "greet.py", "\udcff"): "COMMAND: no UTF-8 at character 18",
        ("--goal", "G001", "--", "nowhere", "greet.py"): "'nowhere greet.py' could not be started: ",
        ("--attack", "no name", "--", "python3", "greet.py"): "--attack and --expect belong together",
    }.items():
        refused = planned.agent("evidence", "replay", *argv)
        assert (refused.code, why in refused.err) == (2, True), refused.err


def test_without_a_plan_there_is_nothing_to_record_for(project: Project) -> None:
    assert project.agent("evidence", "replay", "--", "python3", "greet.py").code == 3


# Gates


def gate_result(name: str = "tests") -> dict[str, Any]:
    return artifact("result", "gate-result", gate=name)


def test_the_result_of_a_gate_is_cited_once_it_passed_on_these_files(planned: Project) -> None:
    planned.agent("gate", "add", "tests", "--", "python3", "greet.py")
    refused = checkpoint(planned, gate_result(), word="api")
    assert (refused.code, refused.says("ultragoal-executorqa-artifactrefs-gate-was-not-run", gate="tests")) == (3, True)
    assert planned.agent("gate", "run").code == 0
    ran = checkpoint(planned, gate_result(), word="api")
    assert ran.code == 0, ran.err
    again = checkpoint(planned, gate_result(), goal="G002", word="api")
    assert (again.code, again.says("ultragoal-executorqa-artifactrefs-gate-was-not-run")) == (3, True)
    assert planned.agent("gate", "run").code == 0
    assert checkpoint(planned, gate_result(), goal="G002", word="api").code == 0


def test_a_gate_that_failed_or_passed_on_other_files_shows_nothing(planned: Project) -> None:
    planned.agent("gate", "add", "tests", "--", "python3", "greet.py")
    planned.agent("gate", "run")
    planned.write("greet.py", "raise SystemExit(1)\n")
    ran = checkpoint(planned, gate_result(), word="api")
    assert (ran.code, ran.says("ultragoal-executorqa-artifactrefs-gate-passed-before-changed", file="greet.py")) == (
        3,
        True,
    ), ran.err
    planned.agent("gate", "run")
    ran = checkpoint(planned, gate_result(), word="api")
    assert (ran.code, ran.says("ultragoal-executorqa-artifactrefs-gate-did-not-pass")) == (3, True), ran.err
    assert checkpoint(planned, gate_result("lint"), word="api").says(
        "ultragoal-executorqa-artifactrefs-gate-is-no-gate"
    )


@pytest.mark.parametrize("word", ["cli", "web", "tui"])
def test_a_gate_shows_no_surface_that_people_use(planned: Project, word: str) -> None:
    planned.agent("gate", "add", "tests", "--", "python3", "greet.py")
    planned.agent("gate", "run")
    ran = checkpoint(planned, gate_result(), word=word)
    assert (ran.code, ran.says("ultragoal-executorqa-surfaceevidence-artifactrefs-is-gate-result")) == (3, True)
