"""How a prompt asks for ralph, and stops it. "Ralph" may be somebody."""

from __future__ import annotations

import pytest

from omo.hooks.keyword import read_prompt
from tests.ralph.project import Project


@pytest.mark.parametrize(
    ("prompt", "is_asked_for"), [("use ralph until the tests pass", True), ("Ralph says the parser is slow", False)]
)
def test_its_name_alone_asks_for_nobody(project: Project, prompt: str, is_asked_for: bool) -> None:
    project.environ |= {"CLAUDECODE": "1"}
    assert project.prompt(prompt).says_to_user("prompt-command-begins-it", command="ralph") is is_asked_for


@pytest.mark.parametrize("prompt", ["stop ralph", "停止 ralph"])
def test_a_stop_names_it(prompt: str) -> None:
    reading = read_prompt(prompt)
    assert (reading.action, reading.names) == ("pause", ("ralph",))


def test_its_command_names_it() -> None:
    reading = read_prompt("/omo:ralph do it with ulw")
    assert (reading.action, reading.rule, reading.names) == ("workflow", "workflow-command", ("ralph",))
    assert read_prompt("/ralph do it").rule == "other-slash-command"
    assert read_prompt("continue ralph").action == "resume"
