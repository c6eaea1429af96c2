"""The commits since a base, as git has them, whatever names, dates and configuration say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from omo.errors import NotEvaluable
from omo.ultraplan import history
from tests.ultraplan.repos import Repo, repo, run_git

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names and links as POSIX has them")


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    return repo(tmp_path / "project")


def subjects(made: Repo, base: str = "") -> list[str]:
    return [one.subject for one in history.look(made.root, base or made.base).commits]


def why_not(root: Path, base: str) -> str:
    with pytest.raises(NotEvaluable) as caught:
        history.look(root, base)
    return caught.value.message


def test_oldest_first_with_what_each_changed(made: Repo) -> None:
    made.commit("one", "a")
    made.commit("two\n\nwhy it was\ndone", "b", "a")
    first, second = history.look(made.root, made.base).commits
    assert (first.subject, first.paths) == ("one", ("a",))
    assert (second.subject, second.paths, second.body) == ("two", ("a", "b"), "why it was\ndone\n")


def test_nothing_since_the_base_is_no_commit(made: Repo) -> None:
    assert subjects(made) == []


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
    merge = history.look(made.root, made.base).commits[-1]
    assert (merge.is_merge, merge.paths, merge.own_changes) == (True, ("s1", "s2"), ())


def test_what_a_merge_slips_in_is_its_own_change(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.commit("side", "s")
    made.git("checkout", "-q", "main")
    made.commit("main", "m")
    made.git("merge", "-q", "--no-commit", "--no-ff", "side")
    made.write("evil")
    made.git("add", "evil")
    made.git("commit", "-q", "-m", "merge side")
    merge = history.look(made.root, made.base).commits[-1]
    assert [one.path for one in merge.own_changes] == ["evil"]
    assert merge.paths == ("evil", "s")


def test_a_rename_is_a_deletion_and_an_addition_whatever_is_configured(made: Repo) -> None:
    made.git("config", "diff.renames", "copies")
    made.git("mv", "README.md", "NEW.md")
    made.git("commit", "-q", "-m", "move")
    (moved,) = history.look(made.root, made.base).commits
    assert [(one.path, one.status) for one in moved.changes] == [("NEW.md", "A"), ("README.md", "D")]


NAMES = ["with space", "zwölf/fünf.txt", "line\nbreak", "tab\there", 'quo"te', ":colon", "*", "-dash", "a" * 40]


@pytest.mark.parametrize("quote", ["true", "false"])
def test_any_name_a_file_can_have(made: Repo, quote: str) -> None:
    made.git("config", "core.quotePath", quote)
    for name in NAMES:
        made.write(name)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "names")
    (one,) = history.look(made.root, made.base).commits
    assert set(one.paths) == set(NAMES)


def test_a_file_named_like_another_commit_is_a_file(made: Repo) -> None:
    """Its name stands in the listing right where the next commit's id would."""
    made.git("checkout", "-q", "-b", "side")
    later = made.commit("side", "secret")
    made.git("checkout", "-q", "main")
    made.commit("main", later)
    made.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    found = {one.subject: one.paths for one in history.look(made.root, made.base).commits}
    assert found["main"] == (later,)
    assert found["side"] == ("secret",)


def test_an_empty_commit_changes_nothing(made: Repo) -> None:
    made.commit("empty")
    (one,) = history.look(made.root, made.base).commits
    assert one.paths == ()


def test_a_subject_in_another_encoding_is_read(made: Repo) -> None:
    made.git("config", "i18n.logOutputEncoding", "latin1")
    made.commit("feat: Größe", "a")
    assert subjects(made) == ["feat: Größe"]


def test_a_submodule_that_moved_may_have_moved_anything_in_it(made: Repo, tmp_path: Path) -> None:
    other = repo(tmp_path / "other")
    made.git("submodule", "--quiet", "add", str(other.root), "vendor/lib")
    made.git("commit", "-q", "-m", "vendor")
    (one,) = history.look(made.root, made.base).commits
    moved = next(change for change in one.changes if change.path == "vendor/lib")
    assert moved.is_submodule
    assert moved.is_about(["vendor/lib/src/x.c"])
    assert not moved.is_about(["vendor/library/x.c"])


def test_a_repository_that_began_empty_has_every_commit_since(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    run_git(root, "init", "-q")
    base = run_git(root, "hash-object", "-t", "tree", "--stdin", stdin="")
    made = Repo(root, base)
    assert subjects(made) == []
    made.git("config", "log.showRoot", "false")
    made.commit("first", "a")
    (first,) = history.look(root, base).commits
    assert (first.subject, first.paths) == ("first", ("a",))


def test_a_project_below_the_top_of_its_repository_has_its_own_paths(made: Repo) -> None:
    made.commit("one", "app/a", "elsewhere/b")
    (one,) = history.look(made.root / "app", made.base).commits
    assert one.paths == ("a",)


# What cannot be evaluated


def test_no_repository(tmp_path: Path) -> None:
    assert "not a git repository" in why_not(tmp_path, "HEAD")


def test_a_base_nobody_has(made: Repo) -> None:
    assert "not a revision" in why_not(made.root, "0" * 40)


def test_history_rewritten_below_the_base(made: Repo) -> None:
    made.git("commit", "-q", "--amend", "-m", "chore: begin again")
    assert "no ancestor of HEAD" in why_not(made.root, made.base)


def test_a_branch_without_anything_in_common(made: Repo) -> None:
    made.git("checkout", "-q", "--orphan", "fresh")
    made.commit("other world", "x")
    assert "no ancestor of HEAD" in why_not(made.root, made.base)


def test_amending_after_the_base_is_no_rewriting(made: Repo) -> None:
    made.commit("feat: onw", "a")
    made.git("commit", "-q", "--amend", "-m", "feat: one")
    assert subjects(made) == ["feat: one"]


def test_a_shallow_clone_without_the_base(made: Repo, tmp_path: Path) -> None:
    made.commit("one", "a")
    made.commit("two", "b")
    run_git(tmp_path, "clone", "-q", "--depth", "1", made.root.as_uri(), "shallow")
    assert "not a revision" in why_not(tmp_path / "shallow", made.base)


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


@pytest.mark.parametrize("make", [("tag", "start"), ("branch", "start")])
def test_a_name_with_two_meanings(made: Repo, make: tuple[str, str]) -> None:
    made.git("branch" if make[0] == "tag" else "tag", "start")
    made.commit("one", "a")
    made.git(*make)
    assert "names 2 different commits" in why_not(made.root, "start")


def test_a_branch_named_like_the_beginning_of_the_base(made: Repo) -> None:
    short = made.base[:9]
    made.commit("one", "a")
    assert subjects(made, short) == ["one"]
    made.git("branch", short)
    assert "names 2 different commits" in why_not(made.root, short)


def test_a_branch_named_like_the_whole_base_changes_nothing(made: Repo) -> None:
    made.commit("one", "a")
    made.git("update-ref", f"refs/heads/{made.base}", "HEAD")
    assert subjects(made) == ["one"]


# What an agent may write into .git to be seen otherwise


def test_replaced_commits_are_seen_as_they_were(made: Repo) -> None:
    made.commit("chore: forbidden", "infra/x")
    bad = made.head()
    made.git("checkout", "-q", "--detach", made.base)
    good = made.commit("feat: nothing to see", "a")
    made.git("checkout", "-q", "main")
    made.git("replace", bad, good)
    (one,) = history.look(made.root, made.base).commits
    assert (one.subject, one.paths) == ("chore: forbidden", ("infra/x",))


def test_grafted_parents_are_ignored(made: Repo) -> None:
    made.commit("hidden", "infra/x")
    tip = made.commit("shown", "a")
    (made.root / ".git" / "info").mkdir(exist_ok=True)
    (made.root / ".git" / "info" / "grafts").write_text(f"{tip} {made.base}\n")
    assert made.git("log", "--format=%s", f"{made.base}..HEAD") == "shown", "git itself is fooled"
    assert subjects(made) == ["hidden", "shown"]


# What is not committed


def test_a_tree_is_dirty_by_edits_staging_and_new_files(made: Repo) -> None:
    made.write("README.md", "edited\n")
    made.write("new file")
    made.write("staged")
    made.git("add", "staged")
    assert list(history.look(made.root, made.base).tree.dirty) == ["README.md", "new file", "staged"]


def test_what_is_staged_and_then_taken_back_on_disk_is_dirty(made: Repo) -> None:
    before = (made.root / "README.md").read_text()
    made.write("README.md", "staged\n")
    made.git("add", "README.md")
    made.write("README.md", before)
    assert list(history.look(made.root, made.base).tree.dirty) == ["README.md"]


@pytest.mark.parametrize("rules", [".git/info/exclude", ".gitignore"])
def test_a_rule_that_is_not_committed_hides_nothing(made: Repo, rules: str) -> None:
    made.write(rules, "hidden\n")
    made.write("hidden")
    assert "hidden" in history.look(made.root, made.base).tree.dirty


@pytest.mark.parametrize("rule", ["*", ".gitignore\nhidden", "/hidden\n/.gitignore"])
def test_a_rule_that_hides_itself_hides_nothing(made: Repo, rule: str) -> None:
    made.write("deep/er/.gitignore", rule + "\n")
    made.write("deep/er/hidden")
    assert "deep/er/hidden" in history.look(made.root, made.base).tree.dirty


def test_a_rule_committed_since_the_base_is_not_the_bases(made: Repo) -> None:
    made.write(".gitignore", "hidden\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "hide")
    made.write("hidden")
    looked = history.look(made.root, made.base)
    assert ("hidden" in looked.tree.dirty, "hidden" in [change.path for change in looked.changed]) == (False, True)


def test_what_a_committed_rule_ignores_is_not_dirty(made: Repo) -> None:
    made.write(".gitignore", "build/\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "ignore")
    made.write("build/x")
    assert list(history.look(made.root, made.base).tree.dirty) == []


# Reverts


def test_a_revert_undoes_and_its_own_revert_redoes(made: Repo) -> None:
    done = made.commit("feat: one", "a")
    made.git("revert", "--no-edit", done)
    assert history.undone(history.look(made.root, made.base).commits) == {done: 1}
    undoing = made.head()
    made.git("revert", "--no-edit", undoing)
    assert history.undone(history.look(made.root, made.base).commits) == {undoing: 2}
