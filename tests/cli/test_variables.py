"""Which variables a gate gets that omo runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.project import Project, make_project

OWN = {"DATABASE_URL": "sqlite://", "API_TOKEN": "s3cret", "CLAUDE_CODE_EFFORT": "1", "GIT_DIR": "/x", "OLDPWD": "/y"}
FAILS = "import os; print('Set:', *sorted(os.environ)); raise SystemExit(1)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of the shell in which omo is called."""
    for name, value in OWN.items():
        monkeypatch.setenv(name, value)
    return OWN


def got(project: Project, shell: dict[str, str]) -> list[str]:
    """Those of them that a gate gets."""
    project.check("gate", "add", "tests", "--", sys.executable, "-c", FAILS)
    ran = project.omo("gate", "run", env=shell)
    line = next(line for line in ran.out.splitlines() if "Set: " in line)
    return [name for name in line.split() if name in shell]


def test_a_gate_gets_what_the_client_had_when_the_user_asked(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="ulw fix it", env=shell)
    assert got(project, shell) == ["DATABASE_URL"]


def test_a_gate_does_not_get_what_the_agent_has_set_or_changed(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="ulw fix it", env={"DATABASE_URL": "postgres://"})
    assert got(project, shell) == []


def test_an_agent_that_begins_by_itself_hands_on_nothing(project: Project, shell: dict[str, str]) -> None:
    project.check("ulw", "start", env=shell)
    assert got(project, shell) == []


def test_a_command_typed_in_the_conversation_keeps_what_the_client_has(project: Project, shell: dict[str, str]) -> None:
    project.hook("user-prompt-submit", prompt="/omo:ralph fix it", env=shell)
    assert got(project, shell) == ["DATABASE_URL"]


def test_in_a_job_of_the_users_a_gate_gets_theirs(project: Project, shell: dict[str, str]) -> None:
    project.check("gate", "add", "tests", "--", sys.executable, "-c", FAILS)
    ran = project.omo("gate", "run", by="user", session=project.session, env=shell, is_under_agent=False)
    assert "DATABASE_URL" in ran.out
    assert "API_TOKEN" not in ran.out


@pytest.mark.parametrize(
    ("printed", "named"),
    [
        ("KeyError: 'DATABASE_URL'", "DATABASE_URL"),
        ("ModuleNotFoundError: No module named 'calc'", "PYTHONPATH"),
        ("expected 3, got 2", ""),
    ],
)
def test_a_failure_names_what_was_not_handed_on(
    project: Project, shell: dict[str, str], monkeypatch: pytest.MonkeyPatch, printed: str, named: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", "code")
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "sh", "-c", f'echo "{printed}"; exit 1')
    says = f"not handed on to it: {named}; a gate that begins with env {named}=… gets it"
    for said in (project.check("ulw", "done", code=3).err, project.check("gate", "run", code=3).out):
        assert (says in said) == bool(named)
        assert ("handed on" in said) == bool(named)


def test_nobody_is_told_to_write_a_secret_into_a_gate(project: Project, shell: dict[str, str]) -> None:
    project.prompt("ulw fix it")
    project.check("gate", "add", "tests", "--", "sh", "-c", 'echo "API_TOKEN is not set"; exit 1')
    assert project.check("gate", "run", code=3).out.endswith("not handed on to it: API_TOKEN\n")


def test_what_a_gate_sets_itself_is_not_called_missing(project: Project, shell: dict[str, str]) -> None:
    project.prompt("ulw fix it")
    fails = ("sh", "-c", 'echo "no $DATABASE_URL at DATABASE_URL"; exit 1')
    project.check("gate", "add", "tests", "--", "env", "DATABASE_URL=x", *fails)
    assert "handed on" not in project.check("gate", "run", code=3).out
