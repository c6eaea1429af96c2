"""`omo plan decompose` and `omo plan preflight`, as they are typed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from omo.cli.main import main
from omo.state import runtime
from omo.ultraplan import document as documents
from omo.ultraplan.rules import refusing, validate
from tests.ultraplan.plans import git, plan_text, project

NOW = 1_772_000_000.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path, plan_text(3, sessions=[[1, 2], [3]]))


def omo(root: Path, *arguments: str, **environ: str) -> int:
    given = {**os.environ, "OMO_SESSION_ID": "s1", **environ}
    return main(["plan", *arguments], given, str(root), NOW, has_terminal=True)


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_decompose_writes_a_valid_spec_for_each_session(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 0
    data = told(capsys)
    assert (data["order"], [one["path"] for one in data["sessions"]]) == (
        [[1], [2]],
        ["specs/session-1.md", "specs/session-2.md"],
    )
    for one in data["sessions"]:
        spec = documents.load(root / one["path"], root)
        assert [str(defect) for defect in refusing(validate(spec, root))] == []
        assert [step.number for step in spec.work_steps] == one["steps"]


def test_from_a_directory_below_the_paths_still_count_from_the_top(root: Path) -> None:
    assert omo(root / "src", "decompose", "../plan.md", "--out", "../specs") == 0
    assert "omo plan preflight specs/session-1.md" in (root / "specs" / "session-1.md").read_text(encoding="utf-8")


def test_a_spec_that_is_there_is_not_overwritten_without_force(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "specs").mkdir()
    (root / "specs" / "session-2.md").write_text("mine\n")
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 3
    assert told(capsys)["error"]["details"] == ["specs/session-2.md"]
    assert os.listdir(root / "specs") == ["session-2.md"]
    assert (root / "specs" / "session-2.md").read_text() == "mine\n"
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--force") == 0
    assert omo(root, "decompose", "plan.md", "--out", "specs") == 0  # the same text again replaces nothing


def test_force_writes_through_no_link(root: Path, tmp_path: Path) -> None:
    (root / "specs").mkdir()
    (tmp_path / "mine").write_text("mine\n")
    (root / "specs" / "session-1.md").symlink_to(tmp_path / "mine")
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--force") == 2
    assert (tmp_path / "mine").read_text() == "mine\n"


@pytest.mark.parametrize("out", ["..", "../elsewhere", ".git", ".git/x", ".sisyphus/cc-omo", "link", "plan.md"])
def test_specs_go_into_the_project_itself(root: Path, tmp_path: Path, out: str) -> None:
    (root / "link").symlink_to(tmp_path)
    before = sorted(os.listdir(tmp_path))
    assert omo(root, "decompose", "plan.md", "--out", out) == 2
    assert sorted(os.listdir(tmp_path)) == before


def test_a_plan_with_defects_is_refused_with_all_of_them_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"manifest": {"commit_message_pattern": ".*"}}
    root = project(tmp_path, plan_text(2, step1=bad, step2=bad))
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 3
    assert len(told(capsys)["error"]["details"]) >= 2
    assert not (root / "specs").exists()


def test_an_older_plan_is_cut_and_the_advice_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"manifest": None}
    root = project(tmp_path, plan_text(2, version="1.6", step1=bare, step2=bare))
    assert omo(root, "decompose", "plan.md", "--out", "specs", "--json") == 0
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert (data["legacy_plan"], data["legacy_synthesis"]) == (True, True)
    assert "older plan" in shown.err
    spec = documents.load(root / "specs" / "session-1.md", root)
    assert refusing(validate(spec, root)) == []


def test_a_spec_cannot_be_cut_again_and_a_plan_has_no_preflight(root: Path) -> None:
    omo(root, "decompose", "plan.md", "--out", "specs")
    assert omo(root, "decompose", "specs/session-1.md", "--out", "more") == 2
    assert omo(root, "preflight", "plan.md") == 2


# omo plan preflight


def ready(tmp_path: Path, *needs: str) -> Path:
    root = project(tmp_path, plan_text(1, needs=needs))
    assert omo(root, "decompose", "plan.md", "--out", "specs") == 0
    return root


def test_a_preflight_that_passes_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ready(tmp_path, "git", "cmd:git")
    capsys.readouterr()
    assert omo(root, "preflight", "specs/session-1.md", "--json") == 0
    data = told(capsys)
    assert (data["ok"], data["missing"], data["bypassed"]) == (True, [], False)
    assert [need["name"] for need in data["needs"]] == ["git", "cmd:git"]


def test_anything_missing_exits_77_and_says_that_nothing_was_attempted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ready(tmp_path, "git", "cmd:no-such-program", "git_push")
    capsys.readouterr()
    before = git(root, "rev-parse", "HEAD")
    assert omo(root, "preflight", "specs/session-1.md") == 77
    text = capsys.readouterr().out
    assert "Missing for specs/session-1.md: cmd:no-such-program, git_push" in text
    assert "Nothing was attempted" in text
    assert git(root, "rev-parse", "HEAD") == before


@pytest.mark.parametrize("name", ["OMO_SKIP_PREFLIGHT", "ULTRAEXECUTE_SKIP_PREFLIGHT"])
def test_a_bypass_exits_0_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    capsys.readouterr()
    assert omo(root, "preflight", "specs/session-1.md", "--json", **{name: "1"}) == 0
    data = told(capsys)
    assert (data["bypassed"], data["bypassed_by"]) == (True, name)


def test_a_spec_whose_manifest_was_taken_away_is_refused_not_passed(tmp_path: Path) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    spec = root / "specs" / "session-1.md"
    spec.write_text(spec.read_text(encoding="utf-8").replace("session_manifest:", "nothing:"), encoding="utf-8")
    assert omo(root, "preflight", "specs/session-1.md") == 3


def test_where_nobody_says_which_session_the_answer_is_given_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    assert main(["plan", "preflight", "specs/session-1.md"], dict(os.environ), str(root), NOW) == 77
    assert "recorded nowhere" in capsys.readouterr().err


def test_a_missing_need_leaves_the_session_blocked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = ready(tmp_path, "cmd:no-such-program")
    assert omo(root, "preflight", "specs/session-1.md") == 77
    row = runtime.session(str(root / ".sisyphus" / "cc-omo"), "s1") or {}
    assert row["work"]["ultraplan"]["state"] == "blocked"
