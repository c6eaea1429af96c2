"""How a command in a sentence is made into one that runs, and which of them a reader could not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.inline import STANDS_FOR, commands_of, fill, run, was_understood
from tests.project import Project


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("omo ulw status", [["ulw", "status"]]),
        ("omo ultragoal", [["ultragoal", "--help"]]),
        ("omo verify finish", [["verify", "finish", "--help"]]),
        ("omo verify begin GOAL", [["verify", "begin", "G1"]]),
        ("omo gate add|run", [["gate", "add", "--help"], ["gate", "run"]]),
        ("omo stop-continuation [--all]", [["stop-continuation"], ["stop-continuation", "--all"]]),
        ("omo ulw blocked --question", [["ulw", "blocked", "--help"]]),
        ("omo plan finish --failed …", [["plan", "finish", "--help"]]),
        ("omo gate add NAME -- COMMAND", [["gate", "add", "tests", "--", "true"]]),
        ("omo ulw done --because TEXT", [["ulw", "done", "--because", STANDS_FOR["TEXT"]]]),
    ],
)
def test_what_is_run(text: str, commands: list[list[str]]) -> None:
    assert commands_of(text) == commands


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("omo ulw status", True),
        ("omo ulw done", True),  # refused, which is an answer
        ("omo verify begin GOAL", True),
        ("omo verify finish GOAL", False),  # lacks --summary
        ("omo ulw blocked --reason TEXT", False),
        ("omo ulw finish", False),
        ("omo work", False),
    ],
)
def test_what_a_reader_can_run(text: str, understood: bool, project: Project, tmp_path: Path) -> None:
    fill(project, tmp_path)
    (argv,) = commands_of(text)
    assert was_understood(run(project, argv)) is understood
