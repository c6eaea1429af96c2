"""The commits since a base, as git has them, whatever names, dates and configuration say."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.errors import NotEvaluable
from omo.workflows.ultraplan import history
from tests.ultraplan.repos import Repo, repo


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    return repo(tmp_path / "project")


def subjects(made: Repo, base: str = "") -> list[str]:
    return [commit.subject for commit in history.history_since(made.root, base or made.base).commits]


def why_not(root: Path, base: str) -> str:
    with pytest.raises(NotEvaluable) as caught:
        history.history_since(root, base)
    return caught.value.message


def test_oldest_first_with_what_each_changed(made: Repo) -> None:
    made.commit("one", "a")
    made.commit("two\n\nbecause\ndone", "b", "a")
    first, second = history.history_since(made.root, made.base).commits
    assert (first.subject, first.paths) == ("one", ("a",))
    assert (second.subject, second.paths, second.body) == ("two", ("a", "b"), "because\ndone\n")


def test_the_order_is_that_of_descent_whatever_the_dates_say(made: Repo) -> None:
    for number, year in enumerate((2030, 2001, 2020, 1999)):
        made.commit(f"c{number}", f"f{number}", date=f"{year}-01-01T00:00:00 +0000")
    assert subjects(made) == ["c0", "c1", "c2", "c3"]


def test_merged_commits_count_after_the_line_they_were_merged_into(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.commit("side 1", "s1", date="2001-01-01T00:00:00 +0000")
    made.commit("side 2", "s2", date="2040-01-01T00:00:00 +0000")
    made.git("checkout", "-q", "main")
    made.commit("main 1", "m1", date="2030-01-01T00:00:00 +0000")
    made.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
    assert subjects(made) == ["main 1", "side 1", "side 2", "merge side"]
    merge = history.history_since(made.root, made.base).commits[-1]
    assert (merge.is_merge, merge.paths, merge.own_changes) == (True, ("s1", "s2"), ())


NAMES = ["with space", "zwölf/fünf.txt", "line\nbreak", "tab\there", 'quo"te', ":colon", "*", "-dash", "a" * 40]


@pytest.mark.parametrize("quote", ["true", "false"])
def test_any_name_a_file_can_have(made: Repo, quote: str) -> None:
    made.git("config", "core.quotePath", quote)
    for name in NAMES:
        made.write(name)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "names")
    (commit,) = history.history_since(made.root, made.base).commits
    assert set(commit.paths) == set(NAMES)


def test_a_file_named_like_another_commit_is_a_file(made: Repo) -> None:
    """Its name stands in the listing right where the next commit's id would."""
    made.git("checkout", "-q", "-b", "side")
    later = made.commit("side", "secret")
    made.git("checkout", "-q", "main")
    made.commit("main", later)
    made.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    paths = {commit.subject: commit.paths for commit in history.history_since(made.root, made.base).commits}
    assert paths["main"] == (later,)
    assert paths["side"] == ("secret",)


def test_a_subject_in_another_encoding_is_read(made: Repo) -> None:
    made.git("config", "i18n.logOutputEncoding", "latin1")
    made.commit("feat: Größe", "a")
    assert subjects(made) == ["feat: Größe"]


def test_a_project_below_the_top_of_its_repository_has_its_own_paths(made: Repo) -> None:
    made.commit("one", "app/a", "elsewhere/b")
    (commit,) = history.history_since(made.root / "app", made.base).commits
    assert commit.paths == ("a",)


# What cannot be evaluated


def test_history_cut_off_beside_the_base(made: Repo) -> None:
    """The file that makes a clone shallow, written to hide what a merged branch did first."""
    made.git("checkout", "-q", "-b", "side")
    made.commit("hidden", "infra/x")
    cut = made.commit("shown", "s")
    made.git("checkout", "-q", "main")
    made.commit("main", "m")
    made.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    (made.root / ".git" / "shallow").write_text(cut + "\n")
    assert "cut off" in why_not(made.root, made.base)


def test_a_branch_named_like_the_whole_base_changes_nothing(made: Repo) -> None:
    made.commit("one", "a")
    made.git("update-ref", f"refs/heads/{made.base}", "HEAD")
    assert subjects(made) == ["one"]


# What is not committed


def test_what_is_staged_and_then_taken_back_on_disk_is_dirty(made: Repo) -> None:
    before = (made.root / "README.md").read_text()
    made.write("README.md", "staged\n")
    made.git("add", "README.md")
    made.write("README.md", before)
    assert list(history.history_since(made.root, made.base).tree.dirty) == ["README.md"]


@pytest.mark.parametrize("rules", [".git/info/exclude", ".gitignore"])
def test_a_rule_that_is_not_committed_hides_nothing(made: Repo, rules: str) -> None:
    made.write(rules, "hidden\n")
    made.write("hidden")
    assert "hidden" in history.history_since(made.root, made.base).tree.dirty


def test_a_rule_committed_since_the_base_is_not_the_bases(made: Repo) -> None:
    made.write(".gitignore", "hidden\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "hide")
    made.write("hidden")
    looked = history.history_since(made.root, made.base)
    assert ("hidden" in looked.tree.dirty, "hidden" in [change.path for change in looked.changed]) == (False, True)


def test_what_a_committed_rule_ignores_is_not_dirty(made: Repo) -> None:
    made.write(".gitignore", "build/\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "ignore")
    made.write("build/x")
    assert list(history.history_since(made.root, made.base).tree.dirty) == []


# Reverts
