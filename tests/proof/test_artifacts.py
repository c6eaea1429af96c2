"""Evidence files: what is recorded, what is refused, and that a recorded one is still the same."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, Refused
from omo.proof import artifacts
from omo.proof.artifacts import Artifact
from omo.state import paths
from omo.work.run import Caller
from tests import texts
from tests.project import git
from tests.proof.test_evaluate import write

LONG_AGO = 1_600_000_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    return project


def agent(state: str, root: Path, now: float | None = None) -> Caller:
    return Caller(state, str(root), "s1", "agent", now or time.time(), wait=1.0)


def register(state: str, root: Path, path: str | Path, goal: str = "G1", **options: Any) -> Artifact:
    caller = agent(state, root, options.pop("now", None))
    return artifacts.register(caller, path, goal=goal, **{"started_at": None, **options})


def refusal(state: str, root: Path, path: str | Path, goal: str = "G1", **options: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        register(state, root, path, goal, **options)
    assert caught.value.fix
    return caught.value


def test_what_is_recorded(state: str, root: Path) -> None:
    write(root, "out/log.txt", "42 passed\n")
    found = register(state, root, "out/../out/log.txt", started_at=LONG_AGO)
    assert (found.path, found.size, found.goal, found.by) == ("out/log.txt", 10, "G1", "agent")
    assert artifacts.list_artifacts(state) == [found]
    assert artifacts.list_artifacts(state, "G2") == []
    assert artifacts.is_unchanged(root, "out/log.txt", found.digest)
    assert register(state, root, root / "out" / "log.txt") == found
    assert len(artifacts.list_artifacts(state)) == 1


def test_a_changed_or_missing_file_does_not_hold(state: str, root: Path) -> None:
    write(root, "log.txt", "42 passed\n")
    found = register(state, root, "log.txt")
    write(root, "log.txt", "43 passed\n")
    assert not artifacts.is_unchanged(root, "log.txt", found.digest)
    write(root, "log.txt", "42 passed\n")
    assert artifacts.is_unchanged(root, "log.txt", found.digest)
    (root / "log.txt").unlink()
    assert not artifacts.is_unchanged(root, "log.txt", found.digest)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing.txt", "is not there"),
        ("folder", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("empty.txt", "is empty"),
        ("blank.txt", "is empty"),
        ("../outside.txt", "outside the project"),
        ("link.txt", "outside the project"),
        ("linked/outside.txt", "outside the project"),
        ("broken", "broken link"),
        (".sisyphus/cc-omo/verify/result.json", "is state of omo or git"),
        (".git/HEAD", "is state of omo or git"),
        ("a\0b", "is no path"),
    ],
)
def test_what_cannot_be_evidence(state: str, root: Path, name: str, said: str) -> None:
    write(root.parent, "outside.txt")
    (root / "folder").mkdir()
    os.mkfifo(root / "pipe")
    write(root, "empty.txt", "")
    write(root, "blank.txt", " \n\n")
    (root / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / "linked").symlink_to(root.parent)
    (root / "broken").symlink_to("nowhere")
    write(root, ".sisyphus/cc-omo/verify/result.json", '{"verdict": "pass"}')
    assert said in refusal(state, root, name).message


def test_evidence_needs_a_goal(state: str, root: Path) -> None:
    write(root, "log.txt")
    with pytest.raises(BadInput):
        register(state, root, "log.txt", " ")


def test_touching_does_not_make_new_what_was_refused_or_remembered_or_committed(state: str, root: Path) -> None:
    began = time.time() - 60
    refused, remembered, committed = (write(root, f"{n}.txt", f"{n}\n") for n in ("refused", "remembered", "committed"))
    for path in (refused, remembered):
        os.utime(path, (LONG_AGO, LONG_AGO))
    git(root, "add", "committed.txt")
    os.environ["GIT_COMMITTER_DATE"] = "2020-01-01T00:00:00Z"
    try:
        git(root, "commit", "-q", "-m", "x")
    finally:
        del os.environ["GIT_COMMITTER_DATE"]
    refusal(state, root, "refused.txt", started_at=began)
    assert artifacts.remember(agent(state, root, began)) == 2
    for path in (refused, remembered, committed):
        os.utime(path)
        assert refusal(state, root, path.name, started_at=began).details["why"] == "old"
        path.rename(path.with_suffix(".md"))
        if path is not committed:
            assert refusal(state, root, path.with_suffix(".md").name, started_at=began).details["why"] == "old"
    write(root, "refused.txt", "new words\n")
    assert register(state, root, "refused.txt", started_at=began).size == 10


def test_content_a_commit_had_before_is_old_under_any_name(
    state: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.time() - 60
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    for text in ("first\n", "second\n"):
        write(root, "deep/base.txt", text)
        git(root, "add", "--all")
        git(root, "commit", "-q", "-m", text)
    monkeypatch.delenv("GIT_COMMITTER_DATE")
    write(root, "proof.txt", "second\n")
    git(root, "add", "--all")
    git(root, "commit", "-q", "--amend", "-m", "the same, dated now")
    register(state, root, "proof.txt", started_at=None)
    for name in ("proof.txt", "deep/base.txt"):
        assert refusal(state, root, name, started_at=began).details["why"] == "old"
    git(root, "checkout", "-q", "HEAD~1", "--", "deep/base.txt")
    assert refusal(state, root, "deep/base.txt", started_at=began).details["why"] == "old"
    write(root, "proof.txt", "third\n")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "new")
    assert register(state, root, "proof.txt", started_at=began).size == 6


def test_evidence_of_an_earlier_run_of_the_same_goal_is_old(state: str, root: Path) -> None:
    path = write(root, "log.txt")
    register(state, root, "log.txt", started_at=LONG_AGO, now=time.time() - 3600)
    os.utime(path)
    assert refusal(state, root, "log.txt", started_at=time.time() - 60).details["why"] == "old"


def test_reused_whatever_its_name(state: str, root: Path) -> None:
    write(root, "log.txt", "42 passed\n")
    write(root, "copy.txt", "42 passed\n")
    register(state, root, "log.txt", "G1")
    for name in ("log.txt", "copy.txt"):
        refused = refusal(state, root, name, "G2")
        assert refused.details["why"] == "reused"
        assert texts.says(refused.message, "proof-evidence-reused", file=name, goal="G1", proof="log.txt")
        assert texts.says(refused.fix, "proof-evidence-about-this-goal")
    assert register(state, root, "copy.txt", "G1").path == "copy.txt"


def test_what_a_damaged_ledger_has_lost_is_no_evidence(state: str, root: Path) -> None:
    write(root, "log.txt")
    register(state, root, "log.txt")
    path = Path(paths.evidence_dir(state), "ledger.jsonl")
    path.write_text(path.read_text().replace("G1", "G2"))
    assert artifacts.list_artifacts(state) == []
    register(state, root, "log.txt")
    assert [row["kind"] for row in artifacts.journal_of(state).rows()] == ["repaired", "artifact"]


def test_outside_git(state: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    path = write(bare, "log.txt")
    began = time.time() + 60
    assert artifacts.remember(agent(state, bare)) == 1
    os.utime(path, (began + 1, began + 1))
    assert refusal(state, bare, "log.txt", started_at=began).details["why"] == "old"


def outcome(call: Callable[..., object], *arguments: Any, **options: Any) -> str:
    try:
        call(*arguments, **options)
    except (Refused, BadInput) as error:
        return error.message
    return "accepted"


@pytest.mark.parametrize(
    "name", ["good.txt", "copy.txt", "mine.txt", "old.txt", "committed.txt", "blank.txt", "../x", "no"]
)
def test_a_check_says_what_registering_would_and_writes_nothing(
    state: str, root: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = time.time() - 60
    write(root, "good.txt", "good\n")
    write(root, "copy.txt", "used elsewhere\n")
    write(root, "mine.txt", "mine\n")
    write(root, "blank.txt", " \n")
    os.utime(write(root, "old.txt", "old\n"), (LONG_AGO, LONG_AGO))
    write(root, "committed.txt", "committed\n")
    git(root, "add", "committed.txt")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z")
    git(root, "commit", "-q", "-m", "x")
    register(state, root, "copy.txt", "G2")
    register(state, root, "mine.txt", "G1")
    before = Path(paths.evidence_dir(state), "ledger.jsonl").read_bytes()
    checked = outcome(artifacts.check, state, root, name, goal="G1", started_at=began)
    assert Path(paths.evidence_dir(state), "ledger.jsonl").read_bytes() == before
    assert checked == outcome(register, state, root, name, started_at=began)
    assert (checked == "accepted") is (name in ("good.txt", "mine.txt"))


def test_a_check_of_the_first_file_makes_no_state(state: str, root: Path) -> None:
    write(root, "log.txt")
    artifacts.check(state, root, "log.txt", goal="G1", started_at=None)
    assert not Path(state).exists()
    with pytest.raises(BadInput):
        artifacts.check(state, root, "log.txt", goal=" ", started_at=None)
