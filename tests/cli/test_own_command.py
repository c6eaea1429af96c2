"""The project's own test command is found by trying, and the answer is kept: by the commands that find and name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import texts
from tests.project import Project
from tests.stories.play import path_of_tools

CALC = "def add(a, b):\n    return a - b - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
TEST = "import calc\n\n\ndef test_add():\n    assert calc.add(2, 3) == 5\n"
ANOTHER = "\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n"
SETTINGS = '[project]\nname = "calc"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'


@pytest.fixture
def flat(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One module, and tests that find it only where Python is started: pytest alone does not."""
    monkeypatch.setenv("PATH", path_of_tools())
    project.write("calc.py", CALC)
    project.write("tests/test_add.py", TEST)
    project.write("pyproject.toml", SETTINGS)
    project.commit("base")
    return project


def suggested(project: Project) -> list[list[str]]:
    told = project.check("gate", "suggest", "--json", by="user").json
    return [[check["name"], *check["argv"]] for check in told["checks"]]


def answers(project: Project) -> dict[str, list[str]]:
    kept = json.loads(Path(project.state, "own-commands.json").read_text(encoding="utf-8"))
    return dict(kept["commands"])


def test_omo_proof_finds_the_command_and_gives_its_answer(flat: Project) -> None:
    flat.write("calc.py", FIXED)
    told = flat.check("proof", by="user").out.splitlines()
    assert texts.says(told[0], "proof-fails-without", test="test_add")
    assert told[1] == "  python3 -m pytest"
    assert list(answers(flat).values()) == [["python3", "-m", "pytest"]]


def test_before_it_is_known_the_candidates_are_named_in_order(flat: Project) -> None:
    told = flat.check("gate", "suggest", by="user").out.splitlines()
    assert told[0].startswith("omo gate add tests -- pytest ")
    assert told[1] == (
        "  where that does not get to the tests: python3 -m pytest, pytest tests, python3 -m pytest tests"
    )
    assert not Path(flat.state, "own-commands.json").exists()
    assert (
        "(pyproject.toml), not tried yet; the files also name python3 -m pytest, pytest tests"
        in flat.prompt("/omo:pin tests").stdout
    )


def test_the_kept_answer_is_named_and_pinned(flat: Project) -> None:
    flat.write("calc.py", FIXED)
    flat.check("proof", by="user")
    assert suggested(flat) == [["tests", "python3", "-m", "pytest"]]
    said = flat.prompt("/omo:pin tests").stdout
    assert "tests: python3 -m pytest (pyproject.toml)" in said


def test_a_prompt_that_turns_ultrawork_on_names_the_kept_answer(flat: Project) -> None:
    flat.write("calc.py", FIXED)
    flat.check("proof", by="user")
    assert flat.prompt("ulw mend add").says_to_agent("hook-project-tests", command="python3 -m pytest")


def test_ulw_done_keeps_it_too_and_runs_no_other_command_again(flat: Project) -> None:
    flat.prompt("ulw mend add")
    flat.write("calc.py", FIXED)
    flat.check("ulw", "done")
    assert list(answers(flat).values()) == [["python3", "-m", "pytest"]]
    pinned = [row["argv"] for row in flat.events() if row["kind"] == "gate-added"]
    assert pinned == [["pytest"], ["python3", "-m", "pytest"]]
    flat.stop()
    flat.commit("mended")
    flat.prompt("ulw a test for zero, and a faster add")
    flat.write("calc.py", FIXED.replace("a + b", "sum((a, b))"))
    flat.write("tests/test_add.py", TEST + ANOTHER)
    flat.agent("ulw", "done")
    ran = [row["argv"] for row in flat.events() if row["kind"] == "gate-ran"]
    assert ran.count(["pytest"]) == 1


def test_it_is_asked_anew_when_the_file_that_names_it_changes(flat: Project) -> None:
    flat.write("calc.py", FIXED)
    flat.check("proof", by="user")
    flat.write("pyproject.toml", SETTINGS + 'pythonpath = ["."]\n')
    flat.commit("pytest finds it now")
    assert suggested(flat) == [["tests", "pytest"]]
    flat.write("calc.py", CALC)
    flat.write("calc.py", FIXED.replace("a + b", "b + a"))
    assert flat.user("proof", "--verdict").out.splitlines()[1] == "  pytest"
    assert sorted(answers(flat).values()) == [["pytest"], ["python3", "-m", "pytest"]]


@pytest.mark.parametrize("forged", ['["sh", "-c", "true"]', '["pytest", "-k", "zero"]', "7", '"pytest"', "null"])
def test_a_forged_answer_brings_no_command_of_its_own(flat: Project, forged: str) -> None:
    flat.write("calc.py", FIXED)
    flat.check("proof", by="user")
    (candidates_id,) = answers(flat)
    path = Path(flat.state, "own-commands.json")
    path.write_text(f'{{"version": 1, "commands": {{"{candidates_id}": {forged}}}}}\n', encoding="utf-8")
    assert suggested(flat) == [["tests", "pytest"]]


def test_work_that_breaks_the_tests_keeps_the_command(flat: Project) -> None:
    """At the base it gets to its tests, so none that collects less takes its place."""
    flat.write("test_zero.py", "import calc\n\n\ndef test_zero():\n    assert calc.add(0, 0) == 0\n")
    flat.write("pyproject.toml", SETTINGS + 'pythonpath = ["."]\n')
    flat.commit("tests in two places")
    flat.prompt("ulw mend add")
    flat.write("calc.py", FIXED)
    flat.write("test_zero.py", "import nothing_of_this_name\n")
    assert "tests: fails" in flat.check("ulw", "done", code=3).err
    assert list(answers(flat).values()) == [["pytest"]]


def test_where_none_gets_to_the_tests_each_is_named_with_its_reason(flat: Project) -> None:
    flat.write("tests/test_add.py", "import nothing_of_this_name\n")
    flat.commit("no test can be loaded")
    flat.write("calc.py", FIXED)
    told = flat.check("proof", by="user", code=4).out.splitlines()
    assert "cannot tell." in told[0]
    assert texts.says(told[0], "proof-no-command-that-this-project")
    assert texts.says(told[1], "ulw-fails-failed", gate="pytest", number=1, path="tests/test_add.py")
    assert texts.says(told[2], "ulw-pytest-tests-fails-failed", number=1, path="tests/test_add.py")
    assert texts.says(told[-1], "proof-what-would-help-name-one")
    flat.prompt("ulw mend add")
    flat.write("calc.py", FIXED + "\n")
    refused = flat.check("ulw", "done", code=3).err
    assert texts.says(refused, "ulw-no-command-that-project-files-name")
    assert texts.says(refused, "ulw-fails-failed", gate="pytest", number=1)
    assert "/omo:pin COMMAND" in refused


def test_the_host_asks_about_all_that_may_be_run(flat: Project) -> None:
    flat.prompt("ulw mend add")
    flat.write("calc.py", FIXED)
    asked = flat.tool_use("Bash", command="omo ulw done")
    assert "pytest (pyproject.toml), else python3 -m pytest, pytest tests" in str(asked)


def test_a_command_that_passes_at_the_base_goes_before_one_that_is_red(flat: Project) -> None:
    flat.write("Makefile", "test:\n\tLEVEL=high pytest\n")
    flat.write("pyproject.toml", SETTINGS + 'pythonpath = ["."]\n')
    flat.write("calc.py", FIXED)
    level = "\n\ndef test_level():\n    assert 'LEVEL' not in os.environ\n"
    flat.write("tests/test_add.py", f"import os\n\n{TEST}{level}")
    flat.commit("red by its target")
    flat.write("calc.py", FIXED.replace("a + b", "b + a"))
    assert suggested(flat) == [["tests", "make", "test"]]
    flat.user("proof", "--verdict")
    assert suggested(flat) == [["tests", "pytest"]]
