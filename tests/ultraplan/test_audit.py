"""What the audit says of real repositories: honest work in every shape git gives it, and ways to look done."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from omo.ultraplan.models import Fence, Group
from tests.ultraplan.repos import Repo, document, findings, repo, run_git, statuses, step, subject

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="names and links as POSIX has them")

FENCE = Fence(("src/**",), ("infra/**",))
ONE, TWO, THREE = step(1, "src/a"), step(2, "src/b"), step(3, "src/c")


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    return repo(tmp_path / "project", "src/old", "infra/main")


# Plain cases


def test_each_step_with_its_own_commit_passes(made: Repo) -> None:
    shas = [made.commit(subject(number), path) for number, path in ((1, "src/a"), (2, "src/b"))]
    found = made.audit(ONE, TWO, fence=FENCE)
    assert (found.verdict, found.exit_code, found.missing) == ("pass", 0, [])
    assert [one.commit for one in found.steps] == shas
    assert [one.findings for one in found.steps] == [[], []]


def test_two_of_five_steps_are_not_five(made: Repo) -> None:
    for number in (1, 2):
        made.commit(subject(number), f"src/{number}")
    found = made.audit(*(step(number, f"src/{number}") for number in range(1, 6)))
    assert statuses(found) == {1: "pass", 2: "pass", 3: "missing", 4: "missing", 5: "missing"}
    assert (found.verdict, found.exit_code, found.missing) == ("drift", 3, [3, 4, 5])


def test_a_step_in_the_middle_that_was_left_out_is_missing_and_no_other(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit(subject(3), "src/c")
    assert statuses(made.audit(ONE, TWO, THREE)) == {1: "pass", 2: "missing", 3: "pass"}


def test_the_json_is_what_was_promised(made: Repo) -> None:
    sha = made.commit(subject(1), "src/a")
    made.commit("chore: tidy", "src/z")
    made.write("left over")
    data = json.loads(json.dumps(made.audit(ONE, TWO, fence=FENCE).to_json()))
    assert (data["ok"], data["verdict"]) == (False, "drift")
    assert data["steps"][0].items() >= {"step": 1, "status": "pass", "commit": sha, "findings": []}.items()
    assert data["steps"][1].items() >= {"step": 2, "status": "missing", "commit": None}.items()
    session = data["session"]
    assert session["dirty"] == ["left over"]
    assert session["unclaimed_commits"] == [f"{made.head()[:12]} chore: tidy"]
    assert session["scope_violations"] == ["left over: changed and not committed (outside the scope)"]


def test_the_preflight_is_no_step_of_the_audit(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    preflight = step(0, pattern="", sandbox_preflight=True)
    assert statuses(made.audit(preflight, ONE)) == {1: "pass"}


# What a claimed commit must have done


def test_a_check_that_fails_is_drift(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit(subject(2), "src/b.sh")
    first = step(1, "src/a", contains={"src/a": "^def a"})
    second = step(2, "src/b.sh", bash_syntax_check=("src/b.sh",))
    found = made.audit(first, second)
    assert statuses(found) == {1: "drift", 2: "drift"}
    assert "/^def a/" in findings(found, 1)
    assert "not bash" in findings(found, 2)


def test_the_right_subject_without_the_file_is_drift(made: Repo) -> None:
    made.commit(subject(1), "src/other")
    found = made.audit(ONE)
    assert statuses(found) == {1: "drift"}
    assert "touches none of the expected paths: src/a" in findings(found, 1)


def test_an_empty_commit_with_the_right_subject_is_drift(made: Repo) -> None:
    made.commit("chore: unrelated", "src/a")
    made.commit(subject(1))
    found = made.audit(ONE)
    assert statuses(found) == {1: "drift"}
    assert "changes nothing at all" in findings(found, 1)


def test_a_file_touched_before_and_a_commit_about_something_else_is_drift(made: Repo) -> None:
    made.commit("chore: unrelated", "src/a")
    made.commit(subject(1), "src/noise")
    assert "touches none of the expected paths" in findings(made.audit(ONE), 1)


@pytest.mark.parametrize(("count", "status"), [(1, "pass"), (2, "pass"), (3, "drift")])
def test_the_count_is_that_of_the_files_of_a_single_glob(made: Repo, count: int, status: str) -> None:
    made.commit(subject(1), "src/a.py", "src/b.py")
    assert statuses(made.audit(step(1, "src/*.py", min_file_count=count))) == {1: status}


def test_a_file_without_a_commit_is_missing_and_dirty(made: Repo) -> None:
    made.write("src/a")
    found = made.audit(ONE)
    assert statuses(found) == {1: "missing"}
    assert found.dirty == ["src/a"]
    assert "nothing says whose work they are" in findings(found, 1)


def test_a_file_that_was_there_before_must_be_touched(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    found = made.audit(step(1, "src/a", "src/old"))
    assert statuses(found) == {1: "drift"}
    assert "touches src/old" in findings(found, 1)


def test_a_path_may_come_in_a_later_commit(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit("fix: forgot one", "src/old")
    found = made.audit(step(1, "src/a", "src/old"))
    assert found.verdict == "pass"
    assert [line.split(" ", 1)[1] for line in found.unclaimed] == ["fix: forgot one"]


def test_a_path_of_an_earlier_commit_is_not_the_steps_work(made: Repo) -> None:
    made.commit("chore: unrelated", "src/old")
    made.commit(subject(1), "src/a")
    assert statuses(made.audit(step(1, "src/a", "src/old"))) == {1: "drift"}


def test_a_file_committed_and_then_only_kept_on_disk_is_drift(made: Repo) -> None:
    made.write(".gitignore", "src/a\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "ignore")
    begin = made.head()
    made.commit(subject(1), "src/a")
    made.git("rm", "-q", "--cached", "src/a")
    made.git("commit", "-q", "-m", "chore: untrack")
    assert (made.root / "src/a").exists()
    found = made.audit(ONE, base=begin)
    assert (statuses(found), found.dirty) == ({1: "drift"}, [])


def test_untracking_a_file_that_stays_on_disk_is_not_changing_it(made: Repo) -> None:
    made.write(".gitignore", "src/old\n")
    made.git("add", ".gitignore")
    made.git("commit", "-q", "-m", "ignore")
    begin = made.head()
    made.git("rm", "-q", "--cached", "src/old")
    made.git("commit", "-q", "-m", subject(1))
    assert statuses(made.audit(step(1, "src/old"), base=begin)) == {1: "drift"}


def test_a_directory_or_a_glob_is_touched_by_what_is_in_it(made: Repo) -> None:
    made.commit(subject(1), "src/deep/a.py")
    made.commit(subject(2), "tests/test_x.py")
    assert made.audit(step(1, "src/deep"), step(2, "tests/**/test_*.py")).verdict == "pass"


def test_names_with_spaces_umlauts_and_line_breaks(made: Repo) -> None:
    made.git("config", "core.quotePath", "true")
    made.commit(subject(1), "src/with space", "src/zwölf", "src/two\nlines")
    assert made.audit(step(1, "src/with space", "src/zwölf", "src/two\nlines"), fence=FENCE).verdict == "pass"


# Deletions and renames


def test_a_deletion_passes_when_it_was_committed(made: Repo) -> None:
    made.remove(subject(1), "src/old")
    assert made.audit(step(1, absent_paths=("src/old",))).verdict == "pass"


def test_a_file_deleted_on_disk_only_is_dirty_and_missing(made: Repo) -> None:
    (made.root / "src/old").unlink()
    found = made.audit(step(1, absent_paths=("src/old",)))
    assert (statuses(found), found.dirty) == ({1: "missing"}, ["src/old"])


def test_what_was_never_there_was_not_deleted(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    found = made.audit(step(1, "src/a", absent_paths=("src/never",)))
    assert statuses(found) == {1: "drift"}
    assert "src/never" in findings(found, 1)


def test_a_rename_is_a_path_gone_and_a_path_there(made: Repo) -> None:
    made.git("mv", "src/old", "src/new")
    made.git("commit", "-q", "-m", subject(1))
    assert made.audit(step(1, "src/new", absent_paths=("src/old",))).verdict == "pass"
    assert statuses(made.audit(step(1, "src/new", "src/old"))) == {1: "drift"}


def test_what_a_later_step_deletes_need_not_be_there_at_the_end(made: Repo) -> None:
    made.commit(subject(1), "src/scaffold")
    made.remove(subject(2), "src/scaffold")
    first = step(1, "src/scaffold", contains={"src/scaffold": "feat"})
    assert made.audit(first, step(2, absent_paths=("src/scaffold",))).verdict == "pass"


# Which commit is whose


FEAT = r"^feat\(x\):"


def same(number: int, *expected: str) -> Any:
    return step(number, *expected, pattern=FEAT)


def test_steps_with_one_pattern_are_told_apart_by_their_paths(made: Repo) -> None:
    second = made.commit("feat(x): b", "src/b")
    first = made.commit("feat(x): a", "src/a")
    found = made.audit(same(1, "src/a"), same(2, "src/b"))
    assert [one.commit for one in found.steps] == [first, second]
    assert found.verdict == "pass"


def test_a_step_left_out_does_not_take_its_neighbours_commit(made: Repo) -> None:
    made.commit("feat(x): b", "src/b")
    assert statuses(made.audit(same(1, "src/a"), same(2, "src/b"))) == {1: "missing", 2: "pass"}


def test_steps_alike_in_pattern_and_path_take_their_commits_in_order(made: Repo) -> None:
    shas = [made.commit(f"feat(x): {number}", "src/a") for number in (1, 2)]
    found = made.audit(same(1, "src/a"), same(2, "src/a"))
    assert [one.commit for one in found.steps] == shas
    assert statuses(made.audit(same(1, "src/a"), same(2, "src/a"), same(3, "src/a")))[3] == "missing"


def test_a_step_prefers_a_commit_after_that_of_the_step_before(made: Repo) -> None:
    made.commit("feat(x): early", "src/a")
    first = made.commit(subject(1), "src/a")
    late = made.commit("feat(x): late", "src/a")
    found = made.audit(ONE, same(2, "src/a"))
    assert [one.commit for one in found.steps] == [first, late]


def test_a_claim_gives_way_where_it_can(made: Repo) -> None:
    """The first commit suits both steps, the second only the first step."""
    both = made.commit("feat(x): both", "src/a", "src/b")
    one = made.commit("feat(x): a", "src/a")
    found = made.audit(same(1, "src/a"), same(2, "src/a", "src/b"))
    assert [each.commit for each in found.steps] == [one, both]
    assert found.verdict == "pass"


def test_commits_in_another_order_are_accepted_and_said(made: Repo) -> None:
    for number, path in ((2, "src/b"), (3, "src/c"), (1, "src/a")):
        made.commit(subject(number), path)
    found = made.audit(ONE, TWO, THREE)
    assert found.verdict == "pass"
    assert [one.is_out_of_order for one in found.steps] == [True, False, False]
    assert "out of order" in findings(found, 1)


SQUASH = "Parts (#12)\n\n* feat(s1): part 1\n\n* feat(s2): part 2\n"


def test_a_squash_with_a_line_for_each_step_is_shared(made: Repo) -> None:
    sha = made.commit(SQUASH, "src/a", "src/b")
    found = made.audit(ONE, TWO)
    assert found.verdict == "pass"
    assert [(one.commit, one.shared_with) for one in found.steps] == [(sha, (2,)), (sha, (1,))]
    assert "shared" in findings(found, 1)


def test_git_merge_squash_is_shared(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.commit(subject(1), "src/a")
    made.commit(subject(2), "src/b")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--squash", "side")
    made.git("commit", "-q", "--no-edit")
    assert made.audit(ONE, TWO).verdict == "pass"


def test_a_squash_passes_no_step_whose_path_it_lacks(made: Repo) -> None:
    made.commit(SQUASH, "src/a")
    assert statuses(made.audit(ONE, TWO)) == {1: "missing", 2: "missing"}


def test_one_line_is_not_enough_for_two_steps(made: Repo) -> None:
    """Or a step left out would hide behind a neighbour with the same pattern and file."""
    made.commit("feat(x): once", "src/a")
    assert statuses(made.audit(same(1, "src/a"), same(2, "src/a"))) == {1: "pass", 2: "missing"}


def test_a_body_alone_is_no_claim(made: Repo) -> None:
    made.commit("wip\n\nfeat(s1): part 1", "src/a")
    assert statuses(made.audit(ONE)) == {1: "missing"}


# Merges


def branch(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "side")


def merge(made: Repo, message: str = "Merge branch 'side'") -> None:
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", message, "side")


def test_steps_of_a_merged_branch_count(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    branch(made)
    made.commit(subject(2), "src/b")
    made.commit(subject(3), "src/c")
    merge(made)
    found = made.audit(ONE, TWO, THREE, fence=FENCE)
    assert (found.verdict, found.unclaimed) == ("pass", [])


def test_a_branch_merged_under_the_steps_subject_counts(made: Repo) -> None:
    branch(made)
    made.commit("wip", "src/a")
    merge(made, subject(1))
    assert made.audit(ONE).verdict == "pass"


def test_what_a_merge_slips_in_is_seen(made: Repo) -> None:
    branch(made)
    made.commit(subject(1), "src/a")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "--no-commit", "side")
    made.write("infra/main", "opened\n")
    made.git("add", "infra/main")
    made.git("commit", "-q", "-m", "Merge branch 'side'")
    found = made.audit(replace(ONE), fence=FENCE)
    assert found.verdict == "drift"
    assert "infra/main: changed by" in found.scope_violations[0]
    assert found.unclaimed == [f"{made.head()[:12]} Merge branch 'side'"]


def test_a_merge_into_an_older_branch_is_not_blamed_for_what_came_before_the_base(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "dev")
    made.commit("chore: allowed then", "infra/main")
    begin = made.head()
    made.commit(subject(1), "src/a")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "-m", "Merge branch 'dev'", "dev")
    assert made.audit(ONE, fence=FENCE, base=begin).verdict == "pass"


def test_a_merge_made_up_to_have_changed_everything_changed_nothing(made: Repo) -> None:
    """Its first parent is older than the base, so seen from there it brings all that was done before."""
    made.commit("chore: before", "src/b")
    begin = made.head()
    made.commit(subject(1), "src/a", "src/b")
    fake = made.git("commit-tree", "HEAD^{tree}", "-p", made.base, "-p", "HEAD", "-m", subject(2))
    made.git("reset", "-q", "--hard", fake)
    found = made.audit(step(1, "src/a", "src/b"), TWO, base=begin)
    assert statuses(found) == {1: "pass", 2: "drift"}


# Reverts


def test_a_reverted_step_is_drift(made: Repo) -> None:
    done = made.commit(subject(1), "src/a")
    made.git("revert", "--no-edit", done)
    found = made.audit(step(1, "src/a", pattern="feat.s1."))
    assert statuses(found) == {1: "drift"}
    assert found.steps[0].commit == done, "the revert quotes the subject and is not the step's commit"
    assert "reverted it" in findings(found, 1)


def test_a_reverted_edit_of_a_file_that_stays_is_drift(made: Repo) -> None:
    done = made.commit(subject(1), "src/old")
    made.git("revert", "--no-edit", done)
    assert statuses(made.audit(step(1, "src/old"))) == {1: "drift"}


def test_an_edit_taken_back_by_hand_is_drift(made: Repo) -> None:
    before = (made.root / "src/old").read_text()
    made.commit(subject(1), "src/old")
    made.write("src/old", before)
    made.git("commit", "-q", "-a", "-m", "chore: tidy")
    found = made.audit(step(1, "src/old"))
    assert statuses(found) == {1: "drift"}
    assert "as the base had it" in findings(found, 1)


def test_a_step_reverted_behind_another_step_on_the_same_file_is_drift(made: Repo) -> None:
    made.commit(subject(1), "src/old")
    second = made.commit(subject(2), "src/old")
    made.git("revert", "--no-edit", second)
    assert statuses(made.audit(step(1, "src/old"), step(2, "src/old"))) == {1: "pass", 2: "drift"}


def test_a_step_done_again_after_its_revert_passes(made: Repo) -> None:
    done = made.commit(subject(1), "src/a")
    made.git("revert", "--no-edit", done)
    again = made.commit(subject(1), "src/a")
    found = made.audit(ONE)
    assert (found.verdict, found.steps[0].commit) == ("pass", again)


def test_a_revert_of_the_revert_passes(made: Repo) -> None:
    done = made.commit(subject(1), "src/a")
    made.git("revert", "--no-edit", done)
    made.git("revert", "--no-edit", "HEAD")
    found = made.audit(ONE)
    assert (found.verdict, found.steps[0].commit) == ("pass", done)


@pytest.mark.parametrize("start", ['Revert "{}"', 'Reapply "{}"', "fixup! {}", "squash! {}"])
def test_commits_about_a_commit_are_not_the_steps_own(made: Repo, start: str) -> None:
    made.commit(start.format(subject(1)), "src/a")
    assert statuses(made.audit(step(1, "src/a", pattern=r".*feat\(s1\)"))) == {1: "missing"}


def test_a_step_may_be_a_revert(made: Repo) -> None:
    bad = made.commit("feat: bad idea", "src/old")
    begin = made.head()
    made.git("revert", "--no-edit", bad)
    assert made.audit(step(1, "src/old", pattern='^Revert "feat: bad'), base=begin).verdict == "pass"


def test_a_linked_worktree_is_audited_by_its_own_branch(made: Repo, tmp_path: Path) -> None:
    made.git("worktree", "add", "-q", "-b", "work", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", made.base)
    linked.commit(subject(1), "src/a")
    assert linked.audit(ONE, fence=FENCE).verdict == "pass"
    assert statuses(made.audit(ONE)) == {1: "missing"}


def test_a_repository_that_began_empty(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    run_git(root, "init", "-q")
    made = Repo(root, run_git(root, "hash-object", "-t", "tree", "--stdin", stdin=""))
    assert statuses(made.audit(ONE)) == {1: "missing"}
    made.commit(subject(1), "src/a")
    assert made.audit(ONE, fence=FENCE).verdict == "pass"


# Steps without a commit of their own


@pytest.mark.parametrize("keys", [{"pattern": ""}, {"skip_commit_check": True}])
def test_without_a_commit_to_expect_the_checks_decide(made: Repo, keys: dict[str, Any]) -> None:
    made.commit("whatever", "src/a")
    assert made.audit(step(1, "src/a", **keys)).verdict == "pass"
    assert statuses(made.audit(step(1, "src/zzz", **keys))) == {1: "drift"}


# Skipped steps


def test_a_step_that_may_be_skipped_is_reported_as_skipped(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    found = made.audit(ONE, step(2, "src/b", on_failure="skip"), skipped={2: "the service is down"})
    assert (statuses(found), found.verdict, found.missing) == ({1: "pass", 2: "skipped"}, "pass", [])
    assert findings(found, 2) == "the service is down"


def test_a_step_that_must_not_be_skipped_is_missing_still(made: Repo) -> None:
    found = made.audit(ONE, skipped={1: "no time"})
    assert (statuses(found), found.missing) == ({1: "missing"}, [1])
    assert "On failure is escalate, not skip" in findings(found, 1)


# Scope, forbidden paths, dirty trees


def test_a_change_outside_the_fence_is_a_violation(made: Repo) -> None:
    made.commit(subject(1), "src/a", "docs/x")
    found = made.audit(ONE, fence=FENCE)
    assert (statuses(found), found.verdict, bool(found.violations)) == ({1: "pass"}, "drift", True)
    assert found.scope_violations[0].startswith("docs/x: changed by")


def test_a_slip_outside_the_fence_that_was_taken_back_is_none(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    slip = made.commit("chore: oops", "docs/x")
    made.git("revert", "--no-edit", slip)
    assert made.audit(ONE, fence=FENCE).verdict == "pass"


def test_what_is_never_touched_may_not_be_touched_and_taken_back(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    slip = made.commit("chore: oops", "infra/main")
    made.git("revert", "--no-edit", slip)
    assert made.audit(ONE, fence=FENCE).scope_violations[0].startswith("infra/main: changed by")


@pytest.mark.parametrize("how", ["committed", "taken back", "staged", "edited", "new"])
def test_forbidden_paths_hold_for_every_commit_and_the_tree(made: Repo, how: str) -> None:
    if how in ("committed", "taken back"):
        made.commit("chore: quick", "infra/main")
    if how == "taken back":
        made.git("revert", "--no-edit", "HEAD")
    if how in ("staged", "edited"):
        made.write("infra/main", "other\n")
    if how == "staged":
        made.git("add", "infra/main")
    if how == "new":
        made.write("infra/new")
    if how != "staged":  # it would be committed along
        made.commit(subject(1), "src/a")
    found = made.audit(step(1, "src/a", forbidden_paths=("infra/**",)))
    assert (found.verdict, bool(found.violations)) == ("drift", True)
    assert found.forbidden_violations[0].startswith("infra/")
    assert "forbidden by step 1" in findings(found, 1)


def test_a_forbidden_path_of_one_step_holds_for_the_commits_of_another(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit(subject(2), "src/b", "infra/main")
    first = step(1, "src/a", forbidden_paths=("infra/**",))
    assert statuses(made.audit(first, TWO)) == {1: "drift", 2: "pass"}


def test_a_dirty_tree_is_drift_with_the_list(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.write("src/a", "edited\n")
    made.write("src/new")
    found = made.audit(ONE, fence=FENCE)
    assert (found.verdict, found.dirty, bool(found.violations)) == ("drift", ["src/a", "src/new"], False)


@pytest.mark.parametrize("rules", [".git/info/exclude", ".gitignore"])
def test_a_rule_written_since_hides_nothing(made: Repo, rules: str) -> None:
    made.commit(subject(1), "src/a")
    made.write(rules, "stash/\n")
    made.write("stash/x")
    if rules == ".gitignore":
        made.git("add", rules)
        made.git("commit", "-q", "-m", "chore: ignore")
    found = made.audit(ONE, fence=FENCE)
    assert "stash/x: changed and not committed (outside the scope)" in found.scope_violations


def test_state_evidence_and_the_plan_itself_are_not_counted(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.write(".sisyphus/cc-omo/runtime.local.json", "{}")
    made.write(".sisyphus/evidence/1/log.txt")
    made.write("plan.md", "edited\n")
    found = made.audit(ONE, fence=FENCE)
    assert (found.verdict, found.dirty, found.scope_violations) == ("pass", [], [])


def test_other_documents_that_ask_for_the_work_can_be_named(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.write("specs/session-2.md")
    assert made.audit(ONE, fence=FENCE).verdict == "drift"
    assert made.audit(ONE, fence=FENCE, inputs=["specs/session-2.md"]).verdict == "pass"


def test_a_plan_may_touch_what_one_of_its_sessions_may(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit(subject(2), "docs/b")
    groups = (
        Group(1, "code", 1, (1,), fence=Fence(("src/**",), ("docs/**", "infra/**"))),
        Group(2, "docs", 2, (2,), fence=Fence(("docs/**",), ("src/**", "infra/**"))),
    )
    plan = replace(document(ONE, step(2, "docs/b")), groups=groups)
    assert made.audit_document(plan).verdict == "pass"
    made.commit("chore: quick", "infra/main")
    assert made.audit_document(plan).violations


def test_a_submodule_counts_for_what_is_in_it(made: Repo, tmp_path: Path) -> None:
    other = repo(tmp_path / "other")
    made.git("submodule", "--quiet", "add", str(other.root), "vendor/lib")
    made.git("commit", "-q", "-m", subject(1))
    fence = Fence(("vendor/lib/**", ".gitmodules"), ())
    assert made.audit(step(1, "vendor/lib/README.md"), fence=fence).verdict == "pass"
    (made.root / "vendor/lib/README.md").write_text("edited\n")
    assert made.audit(step(1, "vendor/lib/README.md"), fence=fence).dirty == ["vendor/lib"]


# What cannot be evaluated is unknown, never a failure


def unknown(made: Repo, base: str = "") -> str:
    found = made.audit(ONE, TWO, fence=FENCE, base=base)
    assert (found.verdict, found.exit_code) == ("unknown", 4)
    assert set(statuses(found).values()) == {"unknown"}
    (why,) = found.problems
    return why


def test_no_repository_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("x")
    assert "not a git repository" in unknown(Repo(tmp_path, "HEAD"))


def test_rewritten_history_is_unknown(made: Repo) -> None:
    made.git("commit", "-q", "--amend", "-m", "chore: begin again")
    made.commit(subject(1), "src/a")
    assert "no ancestor of HEAD" in unknown(made)


def test_a_shallow_clone_is_unknown(made: Repo, tmp_path: Path) -> None:
    made.commit(subject(1), "src/a")
    run_git(tmp_path, "clone", "-q", "--depth", "1", made.root.as_uri(), "shallow")
    assert "not a revision" in unknown(Repo(tmp_path / "shallow", made.base))


def test_a_rebase_that_keeps_the_base_is_evaluated(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.git("commit", "-q", "--amend", "-m", subject(1) + " better")
    assert made.audit(ONE).verdict == "pass"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_git_is_told_not_to_look_at_leaves_the_verdict_open(made: Repo, flag: str) -> None:
    made.commit(subject(1), "src/a")
    made.git("update-index", flag, "infra/main")
    made.write("infra/main", "opened\n")
    found = made.audit(ONE, fence=FENCE)
    assert (found.verdict, statuses(found)) == ("unknown", {1: "pass"})
    assert "told not to look at infra/main" in found.problems[0]


def test_a_step_that_is_missing_is_missing_even_where_something_is_hidden(made: Repo) -> None:
    made.git("update-index", "--assume-unchanged", "infra/main")
    assert made.audit(ONE, fence=FENCE).verdict == "drift"


@pytest.mark.parametrize("pattern", [".*", "(", "(a|aa)+$"])
def test_a_pattern_that_cannot_decide_is_unknown(made: Repo, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.evidence.patterns.SECONDS", 0.3)
    made.commit("a" * 60 + "!", "src/a")
    assert statuses(made.audit(step(1, "src/a", pattern=pattern))) == {1: "unknown"}


def test_a_step_without_a_manifest_is_unknown(made: Repo) -> None:
    assert statuses(made.audit(replace(ONE, manifest=None))) == {1: "unknown"}


def test_a_document_without_steps_passes_nothing(made: Repo) -> None:
    assert made.audit().verdict == "unknown"


# More ways to look done


def test_dates_do_not_put_a_commit_elsewhere(made: Repo) -> None:
    first = made.commit("feat(x): 1", "src/a", date="2040-01-01T00:00:00 +0000")
    second = made.commit("feat(x): 2", "src/a", date="2001-01-01T00:00:00 +0000")
    found = made.audit(same(1, "src/a"), same(2, "src/a"))
    assert [one.commit for one in found.steps] == [first, second]


def test_a_replaced_commit_is_judged_as_it_was(made: Repo) -> None:
    made.commit(subject(1))
    empty = made.head()
    made.git("checkout", "-q", "--detach", made.base)
    good = made.commit(subject(1), "src/a")
    made.git("checkout", "-q", "main")
    made.git("replace", empty, good)
    assert statuses(made.audit(ONE)) == {1: "drift"}


def test_a_graft_hides_no_forbidden_commit(made: Repo) -> None:
    made.commit("chore: quick", "infra/main")
    made.git("revert", "--no-edit", "HEAD")
    tip = made.commit(subject(1), "src/a")
    (made.root / ".git/info").mkdir(exist_ok=True)
    (made.root / ".git/info/grafts").write_text(f"{tip} {made.base}\n")
    assert made.audit(ONE, fence=FENCE).violations


def test_a_link_out_of_the_project_is_no_file(made: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x")
    (made.root / "src/a").symlink_to(tmp_path / "elsewhere")
    made.git("add", "src/a")
    made.git("commit", "-q", "-m", subject(1))
    assert statuses(made.audit(ONE)) == {1: "drift"}


def test_the_plan_and_its_ledger_cannot_say_that_a_step_is_done(made: Repo) -> None:
    made.write(".sisyphus/cc-omo/plans/run/ledger.jsonl", '{"kind": "audited", "verdict": "pass", "passed": [1]}\n')
    made.write("progress.json", '{"status": "completed"}')
    assert statuses(made.audit(ONE)) == {1: "missing"}
