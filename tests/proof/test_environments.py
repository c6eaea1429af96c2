"""Which environment of tox and which session of nox runs the tests on this Python, layout by layout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from omo.proof import environments
from omo.proof.project_checks import NAMES, TESTS

NOX = "import nox\n\n\n@nox.session{}\ndef {}(session):\n    session.run('pytest')\n"


@pytest.fixture
def python312(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.12 is what python3 stands for."""
    (tmp_path / "python3.12").touch(0o755)
    (tmp_path / "python3").symlink_to("python3.12")
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("python312")
@pytest.mark.parametrize(
    ("envlist", "names"),
    [
        ("envlist = py", ["py"]),
        ("envlist = lint, py312, docs", ["py312", "py"]),
        ("env_list =\n    lint\n    py{310,311,312}  # and pypy\n    docs\n", ["py312", "py"]),
        ("envlist = py{311,312}-{old,new}, py312-types", ["py312-old", "py"]),
        ("envlist = {py311,py312}-django{4,5}", ["py312-django4", "py"]),
        ("env_list = 3.11, 3.12", ["3.12", "py"]),
        ("envlist = py3, lint", ["py3", "py"]),
        ("envlist = lint, tests", ["tests", "py"]),
        ("envlist = py39, py310", ["py"]),
        ("skipsdist = true", ["py"]),
        ("envlist = py{39", ["py"]),
        ("", ["py"]),
    ],
)
def test_the_environment_of_tox_for_this_python(envlist: str, names: list[str]) -> None:
    text = f"[tox]\nminversion = 4\n{envlist}\nisolated_build = true\n\n[testenv]\nenvlist = py312\n"
    assert environments.of_tox(text, NAMES[TESTS]) == [["tox", "-e", name] for name in names]


@pytest.mark.usefixtures("python312")
@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (NOX.format("", "lint") + NOX.format("", "tests"), ["nox -s tests"]),
        (NOX.format("(python=['3.11', '3.12'])", "tests"), ["nox -s tests-3.12", "nox -s tests"]),
        (NOX.format("(\n    python = PYTHONS,\n)", "unit"), ["nox -s unit-3.12", "nox -s unit"]),
        (NOX.format('(reuse_venv=True, name="test-all")', "suite"), ["nox -s test-all"]),
        (NOX.format("", "lint") + NOX.format("", "suite"), ["nox"]),
        ("", ["nox"]),
    ],
)
def test_the_session_of_nox_with_the_tests(text: str, calls: list[str]) -> None:
    assert [" ".join(call) for call in environments.of_nox(text, NAMES[TESTS])] == calls


def test_a_python_without_its_version_in_its_name_is_the_one_that_runs_omo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3").touch(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((str(tmp_path), os.environ["PATH"])))
    assert environments.python_here() == os.path.realpath(tmp_path / "python3")
    assert environments.version_here().startswith("3.")
