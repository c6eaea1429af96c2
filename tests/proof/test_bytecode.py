"""Python keeps what it compiles during a judgement in one directory of its own, and loads nothing of the project's."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from omo.errors import NotEvaluable
from omo.proof import bytecode
from omo.proof.run import run

TELL = "import sys, helper; print(sys.pycache_prefix, sys.dont_write_bytecode, helper.__cached__)"
OF_THE_USER = {"PYTHONPYCACHEPREFIX": "mine", "PYTHONDONTWRITEBYTECODE": "1"}


def told(project: Path) -> tuple[str, str, Path]:
    """What Python says of its bytecode, where the user has settings of their own."""
    printed = run([sys.executable, "-c", TELL], cwd=project, timeout=60, env=OF_THE_USER).stdout
    prefix, writes_none, cached = printed.split()
    return prefix, writes_none, Path(cached)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text("X = 1\n")
    return tmp_path


def test_one_directory_for_a_judgement_that_is_gone_after_it(project: Path) -> None:
    with bytecode.judgement():
        first, writes_none, cached = told(project)
        assert cached.exists()
        assert cached.is_relative_to(first)
        assert writes_none == "False"
        assert told(project)[0] == first
    assert not Path(first).exists()
    assert [path.name for path in project.iterdir()] == ["helper.py"]


def test_the_next_judgement_begins_with_nothing(project: Path) -> None:
    with bytecode.judgement():
        outer, _, _ = told(project)
        with bytecode.judgement():
            inner, _, cached = told(project)
            assert inner != outer
            assert cached.exists()
        assert not Path(inner).exists()
        assert told(project)[0] == outer


def test_no_place_for_it_is_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(project / "none"))
    with bytecode.judgement(), pytest.raises(NotEvaluable, match="no room"):
        told(project)
