"""Ways to look done without being it. Each is refused or unknown, with a message that says what to do."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, Refused
from omo.proof import artifacts, pins
from omo.proof.checks import parse_checks
from omo.proof.evaluate import Observation, evaluate
from tests.project import git
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
    pins.pin(state, root, parse_checks(items), source="c", goal=None, by="user", now=time.time(), wait=1.0)
    return items


def look(state: str, root: Path, item: Any, **options: Any) -> Observation:
    (found,) = evaluate(parse_checks([item]), pins.pinned(state).tree(root, **options)).checks
    return found


def register(state: str, root: Path, path: str, goal: str = "G1", started_at: float | None = None) -> object:
    return artifacts.register(
        state, root, path, goal=goal, started_at=started_at, by="agent", now=time.time(), wait=1.0
    )


def refusal(state: str, root: Path, path: str, goal: str = "G1", started_at: float | None = None) -> str:
    with pytest.raises(Refused) as caught:
        register(state, root, path, goal, started_at)
    return f"{caught.value.message} fix: {caught.value.fix}"


def test_hand_written_results_are_not_read(state: str, root: Path, pinned: list[Any]) -> None:
    said = json.dumps({"verdict": "pass", "checks": [{"id": "tests", "result": "pass"}], "ok": True})
    for name in ("result.json", "verify/result.json", "verify/pins/result.json", "evidence/result.json"):
        write(Path(state), name, said)
    assert look(state, root, TESTS).result == "fail"
    assert look(state, root, JUDGE).result == "unknown"
    assert "name a file the work produced" in refusal(state, root, ".sisyphus/cc-omo/verify/result.json")
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


def hide_by_flag(root: Path) -> None:
    git(root, "update-index", "--assume-unchanged", "infra/main.tf")


def hide_a_deletion(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "infra/main.tf")


def hide_by_filter(root: Path) -> None:
    git(root, "config", "filter.hide.clean", "git show HEAD:%f")
    write(root, ".git/info/attributes", "infra/** filter=hide\n")


def hide_by_replacing_the_base(root: Path) -> None:
    write(root, "infra/main.tf", "changed\n")
    old = git(root, "rev-parse", "HEAD")
    git(root, "replace", old, commit(root, "other"))


def hide_by_another_work_tree(root: Path) -> None:
    write(root.parent, "decoy/infra/main.tf", "real\n")
    git(root, "config", "core.worktree", str(root.parent / "decoy"))


def hide_by_environment(root: Path) -> None:
    os.environ["GIT_DIR"] = str(root.parent / "nowhere")  # undone by the test's monkeypatch


def hide_by_program(root: Path) -> None:
    program = write(root.parent, "monitor", "#!/bin/sh\ntouch ran\nprintf '0\\0'\n")
    program.chmod(0o755)
    git(root, "config", "core.fsmonitor", str(program))


HIDES = [
    hide_by_flag,
    hide_by_filter,
    hide_by_replacing_the_base,
    hide_by_another_work_tree,
    hide_by_environment,
    hide_by_program,
]


@pytest.mark.parametrize("hide", HIDES)
def test_an_edit_hidden_from_git(
    state: str, root: Path, pinned: list[Any], hide: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "")
    monkeypatch.delenv("GIT_DIR")
    hide(root)
    write(root, "infra/main.tf", "changed\n")
    found = look(state, root, FORBIDDEN)
    assert found.result in ("fail", "unknown")
    assert found.observed == "infra/main.tf" or "; git " in found.reason
    assert not (root / "ran").exists()


def test_a_deletion_hidden_from_git(state: str, root: Path, pinned: list[Any]) -> None:
    hide_a_deletion(root)
    (root / "infra/main.tf").unlink()
    assert look(state, root, FORBIDDEN).result == "unknown"
