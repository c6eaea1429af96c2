"""Ways to look done without being it. Each is refused or unknown, with a message that says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.proof import pins
from omo.proof.checks import parse_checks
from omo.proof.evaluate import Observation, evaluate
from omo.work.run import Caller
from tests.project import IDENTITY, git
from tests.proof.test_evaluate import commit, write

TESTS = {"id": "tests", "type": "command", "argv": [sys.executable, "-c", "import sys; sys.exit(1)"]}
FORBIDDEN = {"id": "untouched", "type": "forbidden", "paths": ["infra/**"]}
JUDGE = {"id": "clear", "type": "judge", "question": "Does the error name the field?"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    write(project, "infra/main.tf", "real\n")
    git(project, "init", "-q")
    commit(project, "start")
    return project


@pytest.fixture
def pinned(state: str, root: Path) -> list[Any]:
    items: list[Any] = [TESTS, FORBIDDEN, JUDGE]
    pins.pin(Caller(state, str(root), "s1", "user", time.time(), 1.0), parse_checks(items), source="c", goal=None)
    return items


def look(state: str, root: Path, item: Any, **options: Any) -> Observation:
    (found,) = evaluate(parse_checks([item]), pins.pinned(state).tree(root, **options)).checks
    return found


def test_hand_written_results_are_not_read(state: str, root: Path, pinned: list[Any]) -> None:
    said = json.dumps({"verdict": "pass", "checks": [{"id": "tests", "result": "pass"}], "ok": True})
    for name in ("result.json", "verify/result.json", "verify/pins/result.json", "evidence/result.json"):
        write(Path(state), name, said)
    assert look(state, root, TESTS).result == "fail"
    assert look(state, root, JUDGE).result == "unknown"
    with pytest.raises(BadInput, match="nothing in there is proof"):
        parse_checks([{"type": "content", "path": ".sisyphus/cc-omo/**", "regex": "pass"}])


def test_state_is_not_found_by_a_wide_glob_either(state: str, root: Path, pinned: list[Any]) -> None:
    write(Path(state), "verify/proof.txt", "all good\n")
    assert look(state, root, {"type": "path", "path": "**/proof.txt"}).result == "fail"


def test_a_command_edited_after_pinning(state: str, root: Path, pinned: list[Any]) -> None:
    marker = root / "ran"
    edited = {**TESTS, "argv": [sys.executable, "-c", f"open({str(marker)!r}, 'w')"]}
    found = look(state, root, edited)
    assert found.result == "unknown"
    assert "omo verify add" in found.reason
    assert not marker.exists()
    for change in ({"exit": 1}, {"timeout": 1}, {"cwd": "infra"}, {"stdout": "x"}, {"guard": True}):
        assert look(state, root, {**TESTS, **change}).result == "unknown"


MONITOR = "#!/bin/sh\ntouch ran\nprintf '0\\0'\n"
# In a shell, beside which a decoy of the project and a program of git's lie.
HIDES = {
    "flag": "git update-index --assume-unchanged infra/main.tf",
    "filter": "git config filter.hide.clean 'git show HEAD:%f'; echo 'infra/** filter=hide' > .git/info/attributes",
    "the base replaced": "echo changed > infra/main.tf; git commit -qam other; git replace HEAD~1 HEAD",
    "another work tree": 'git config core.worktree "$PWD/../decoy"',
    "program": 'git config core.fsmonitor "$PWD/../monitor"',
    "environment": "",
}


@pytest.mark.parametrize("hide", HIDES)
def test_an_edit_hidden_from_git(
    state: str, root: Path, pinned: list[Any], hide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root.parent, "decoy/infra/main.tf", "real\n")
    write(root.parent, "monitor", MONITOR).chmod(0o755)
    subprocess.run(["sh", "-ec", HIDES[hide]], cwd=root, check=True, env={**os.environ, **IDENTITY})
    if hide == "environment":
        monkeypatch.setenv("GIT_DIR", str(root.parent / "nowhere"))
    write(root, "infra/main.tf", "changed\n")
    found = look(state, root, FORBIDDEN)
    assert found.result in ("fail", "unknown")
    assert found.observed == "infra/main.tf" or "; git " in found.reason
    assert not (root / "ran").exists()


def test_a_deletion_hidden_from_git(state: str, root: Path, pinned: list[Any]) -> None:
    git(root, "update-index", "--skip-worktree", "infra/main.tf")
    (root / "infra/main.tf").unlink()
    assert look(state, root, FORBIDDEN).result == "unknown"
