"""How a prompt asks for ralph without its command. "Ralph" may be somebody."""

from __future__ import annotations

import pytest

from tests.ralph.project import Project


@pytest.mark.parametrize(
    ("prompt", "is_asked_for"), [("use ralph until the tests pass", True), ("Ralph says the parser is slow", False)]
)
def test_its_name_alone_asks_for_nobody(project: Project, prompt: str, is_asked_for: bool) -> None:
    project.environ |= {"CLAUDECODE": "1"}
    assert project.prompt(prompt).says_to_user("prompt-command-begins-it", command="ralph") is is_asked_for
