"""What the audit says of real repositories: honest work in every shape git gives it, and ways to look done."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from omo.workflows.ultraplan.audit import NEVER
from omo.workflows.ultraplan.models import NO_MANIFEST, FenceGlobs, Step
from tests import texts
from tests.ultraplan.repos import Repo, findings, repo, run_git, statuses, step, subject

FENCE = FenceGlobs(("src/**",), ("infra/**",))
ONE, TWO, THREE = step(1, "src/a"), step(2, "src/b"), step(3, "src/c")


@pytest.fixture
def made(tmp_path: Path) -> Repo:
    return repo(tmp_path / "project", "src/old", "infra/main")


FEAT = r"^feat\(x\):"
SQUASH = "Parts (#12)\n\n* feat(s1): part 1\n\n* feat(s2): part 2\n"
ODD = ("src/with space", "src/zwölf", "src/two\nlines")
ANYWHERE = step(1, "src/a", pattern=r".*feat\(s1\)")


def same(number: int, *expected: str) -> Step:
    """Steps that their subjects do not tell apart."""
    return step(number, *expected, pattern=FEAT)


GIT = ("git",)
COMMIT = (*GIT, "commit", "-q", "-m", subject(1))
MOVED = (*GIT, "mv", "src/old", "src/new")
REVERT = (*GIT, "revert", "--no-edit", "HEAD")
SIDE = ((*GIT, "checkout", "-q", "-b", "side"),)
MAIN = (*GIT, "checkout", "-q", "main")
MERGE = (*GIT, "merge", "-q", "--no-ff", "side", "-m")

# The commits since the base, each a message and what it touches, or words to git; the steps; what becomes of each; why.
HISTORIES: dict[str, tuple[list[tuple[str, ...]], list[Step], str, str]] = {
    "two of five": (
        [(subject(1), "src/1"), (subject(2), "src/2")],
        [step(number, f"src/{number}") for number in range(1, 6)],
        "pass pass missing missing missing",
        "",
    ),
    "one left out in the middle": (
        [(subject(1), "src/a"), (subject(3), "src/c")], [ONE, TWO, THREE], "pass missing pass", "",
    ),
    "the right subject without the file": (
        [(subject(1), "src/other")], [ONE], "drift", "touches none of the expected paths: src/a",
    ),
    "an empty commit": ([("chore", "src/a"), (subject(1),)], [ONE], "drift", "changes nothing at all"),
    "the file touched before, another with the subject": (
        [("chore", "src/a"), (subject(1), "src/noise")], [ONE], "drift", "touches none of the expected paths",
    ),
    "a file that was there, not touched": (
        [(subject(1), "src/a")], [step(1, "src/a", "src/old")], "drift", "touches src/old",
    ),
    "a path only in an earlier commit": (
        [("chore", "src/old"), (subject(1), "src/a")], [step(1, "src/a", "src/old")], "drift", "",
    ),
    "as many files as a glob wants": (
        [(subject(1), "src/a.py", "src/b.py")], [step(1, "src/*.py", min_file_count=2)], "pass", "",
    ),
    "no path": ([(subject(1), "src/x")], [step(1, contains={"src/old": "."})], "drift", "expected paths: src/old"),
    "fewer": ([(subject(1), "src/a.py", "src/b.py")], [step(1, "src/*.py", min_file_count=3)], "drift", ""),
    "a directory, and a glob": (
        [(subject(1), "src/deep/a.py"), (subject(2), "tests/test_x.py")],
        [step(1, "src/deep"), step(2, "tests/**/test_*.py")],
        "pass pass",
        "",
    ),
    "odd names": ([(subject(1), *ODD)], [step(1, *ODD)], "pass", ""),
    "never there, so not deleted": (
        [(subject(1), "src/a")], [step(1, "src/a", absent_paths=("src/never",))], "drift", "src/never",
    ),
    "the neighbour's commit": ([("feat(x): b", "src/b")], [same(1, "src/a"), same(2, "src/b")], "missing pass", ""),
    "one commit for two steps that are alike": (
        [("feat(x): once", "src/a")], [same(1, "src/a"), same(2, "src/a")], "pass missing", "",
    ),
    "a squash without the path of one": ([(SQUASH, "src/a")], [ONE, TWO], "missing missing", ""),
    "the subject in the body alone": ([("wip\n\nfeat(s1): part 1", "src/a")], [ONE], "missing", ""),
    "a revert that quotes it": ([(f'Revert "{subject(1)}"', "src/a")], [ANYWHERE], "missing", ""),
    "a reapply that quotes it": ([(f'Reapply "{subject(1)}"', "src/a")], [ANYWHERE], "missing", ""),
    "a fixup": ([(f"fixup! {subject(1)}", "src/a")], [ANYWHERE], "missing", ""),
    "a squash!": ([(f"squash! {subject(1)}", "src/a")], [ANYWHERE], "missing", ""),
    "no pattern, so the checks decide": (
        [("whatever", "src/a")], [step(1, "src/a", pattern=""), step(2, "src/zzz", pattern="")], "pass drift", "",
    ),
    "no commit to expect": (
        [("whatever", "src/a")],
        [step(1, "src/a", skip_commit_check=True), step(2, "src/zzz", skip_commit_check=True)],
        "pass drift",
        "",
    ),
    "a plan that allows skipping, nothing skipped": ([], [step(1, "src/a", on_failure="skip")], "missing", ""),
    "a path that comes in a later commit": (
        [(subject(1), "src/a"), ("fix: forgot one", "src/old")], [step(1, "src/a", "src/old")], "pass", "",
    ),
    "a deletion": ([(*GIT, "rm", "-q", "src/old"), COMMIT], [step(1, absent_paths=("src/old",))], "pass", ""),
    "a rename": ([MOVED, COMMIT], [step(1, "src/new", absent_paths=("src/old",))], "pass", ""),
    "a rename of what is to stay": ([MOVED, COMMIT], [step(1, "src/new", "src/old")], "drift", ""),
    "no longer tracked, and left on the disk": (
        [(*GIT, "rm", "-q", "--cached", "src/old"), COMMIT],
        [step(1, "src/old")], "drift", "",
    ),
    "a squash with a line for each": ([(SQUASH, "src/a", "src/b")], [ONE, TWO], "pass pass", "also carries step 2"),
    "merge --squash": (
        [*SIDE, (subject(1), "src/a"), (subject(2), "src/b"), MAIN, (*GIT, "merge", "-q", "--squash", "side"),
         (*GIT, "commit", "-q", "--no-edit")],
        [ONE, TWO], "pass pass", "shared",
    ),
    "a merged branch": (
        [(subject(1), "src/a"), *SIDE, (subject(2), "src/b"), MAIN, (*MERGE, "Merge branch 'side'")],
        [ONE, TWO], "pass pass", "",
    ),
    "a branch merged under the step's subject": (
        [*SIDE, ("wip", "src/a"), MAIN, (*MERGE, subject(1))], [ONE], "pass", "",
    ),
    "reverted, which quotes the subject": (
        [(subject(1), "src/a"), REVERT], [step(1, "src/a", pattern="feat.s1.")], "drift", "reverted it",
    ),
    "reverted behind another step on the file": (
        [(subject(1), "src/old"), (subject(2), "src/old"), REVERT],
        [step(1, "src/old"), step(2, "src/old")], "pass drift", "",
    ),
    "done again after its revert": ([(subject(1), "src/a"), REVERT, (subject(1), "src/a")], [ONE], "pass", ""),
    "the revert reverted": ([(subject(1), "src/a"), REVERT, REVERT], [ONE], "pass", ""),
    "no manifest": ([], [replace(ONE, manifest=NO_MANIFEST)], "unknown", ""),
}  # fmt: skip


def play(made: Repo, story: list[tuple[str, ...]]) -> None:
    for word, *words in story:
        if word == "git":
            made.git(*words)
        elif word == "write":
            for path in words:
                made.write(path)
        else:
            made.commit(word, *words)


@pytest.mark.parametrize("name", HISTORIES)
def test_what_becomes_of_each_step(made: Repo, name: str) -> None:
    commits, steps, expected, why = HISTORIES[name]
    play(made, commits)
    audit = made.audit(*steps)
    assert " ".join(statuses(audit).values()) == expected
    assert why in "\n".join(finding for audited in audit.steps for finding in audited.findings)


# What a claimed commit must have done


def test_a_check_that_fails_is_drift(made: Repo) -> None:
    made.commit(subject(1), "src/a")
    made.commit(subject(2), "src/b.sh")
    first = step(1, "src/a", contains={"src/a": "^def a"})
    second = step(2, "src/b.sh", bash_syntax_check=("src/b.sh",))
    audit = made.audit(first, second)
    assert statuses(audit) == {1: "drift", 2: "drift"}
    assert "/^def a/" in findings(audit, 1)
    assert "not bash" in findings(audit, 2)


# Which commit is whose


def test_a_step_prefers_a_commit_after_that_of_the_step_before(made: Repo) -> None:
    made.commit("feat(x): early", "src/a")
    first = made.commit(subject(1), "src/a")
    late = made.commit("feat(x): late", "src/a")
    audit = made.audit(ONE, same(2, "src/a"))
    assert [step.commit for step in audit.steps] == [first, late]


# Merges


def test_what_a_merge_slips_in_is_seen(made: Repo) -> None:
    made.git("checkout", "-q", "-b", "side")
    made.commit(subject(1), "src/a")
    made.git("checkout", "-q", "main")
    made.git("merge", "-q", "--no-ff", "--no-commit", "side")
    made.write("infra/main", "opened\n")
    made.git("add", "infra/main")
    made.git("commit", "-q", "-m", "Merge branch 'side'")
    audit = made.audit(replace(ONE), fence=FENCE)
    assert audit.verdict == "drift"
    assert audit.violations[0].path == "infra/main"
    assert [claim.split()[0] for claim in audit.unclaimed] == [made.head()[:12]]


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
    audit = made.audit(step(1, "src/a", "src/b"), TWO, base=begin)
    assert statuses(audit) == {1: "pass", 2: "drift"}


# Scope, forbidden paths, dirty trees

DONE = (subject(1), "src/a")
WRITE = "write"
OURS = (".sisyphus/cc-omo/runtime.local.json", ".sisyphus/evidence/1/log.txt", "plan.md")
LEFT_BEHIND = (".coverage", "src/__pycache__/a.pyc", "docs/__pycache__/b.pyc")

# What happens; the verdict; what is changed against the scope, what is left alone, what is not committed.
SCOPES: dict[str, tuple[list[tuple[str, ...]], str, list[str], list[str], list[str]]] = {
    "outside, in the step's own commit": ([(*DONE, "docs/x")], "drift", ["docs/x"], [], []),
    "outside, by somebody else": ([DONE, ("docs: theirs", "README.md")], "pass", [], ["README.md"], []),
    "outside, edited": ([DONE, (WRITE, "README.md")], "pass", [], ["README.md"], []),
    "outside, new": ([DONE, (WRITE, "docs/new")], "pass", [], ["docs/new"], []),
    "outside, and taken back": ([DONE, ("chore: oops", "docs/x"), REVERT], "pass", [], [], []),
    "never to be touched": ([DONE, (WRITE, "infra/main")], "drift", ["infra/main"], [], []),
    "never, and taken back": ([DONE, ("chore: oops", "infra/main"), REVERT], "drift", ["infra/main"], [], []),
    "what tests leave behind": ([DONE, (WRITE, *LEFT_BEHIND)], "pass", [], [], []),
    "left behind, and kept": ([DONE, ("chore: keep it", ".coverage")], "pass", [], [".coverage"], []),
    "dirty": ([DONE, (WRITE, "src/a", "src/new")], "drift", [], [], ["src/a", "src/new"]),
    "our state, evidence and the plan": ([DONE, (WRITE, *OURS)], "pass", [], [], []),
}


@pytest.mark.parametrize("name", SCOPES)
def test_what_is_changed_beside_the_steps(made: Repo, name: str) -> None:
    story, verdict, violations, left_alone, dirty = SCOPES[name]
    play(made, story)
    audit = made.audit(ONE, fence=FENCE)
    assert (audit.verdict, [each.path for each in audit.violations]) == (verdict, violations)
    assert ([each.path for each in audit.left_alone], audit.dirty) == (left_alone, dirty)
    assert statuses(audit) == {1: "drift" if "own commit" in name else "pass"}
    assert all(str(each).startswith(f"{each.path}: changed ") for each in audit.violations)
    let_through = [*violations, *left_alone, *dirty]
    allowed = made.audit(ONE, fence=FENCE, allowed=let_through)
    assert (allowed.verdict, allowed.left_alone, allowed.allowed) == ("pass", [], let_through)


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
    audit = made.audit(step(1, "src/a", forbidden_paths=("infra/**",)), TWO)
    assert (audit.verdict, audit.violations[0].rule) == ("drift", NEVER)
    assert audit.violations[0].path.startswith("infra/")


def test_a_submodule_counts_for_what_is_in_it(made: Repo, tmp_path: Path) -> None:
    other = repo(tmp_path / "other")
    made.git("submodule", "--quiet", "add", str(other.root), "vendor/lib")
    made.git("commit", "-q", "-m", subject(1))
    fence = FenceGlobs(("vendor/lib/**", ".gitmodules"), ())
    assert made.audit(step(1, "vendor/lib/README.md"), fence=fence).verdict == "pass"
    elsewhere = FenceGlobs(("src/**", ".gitmodules"), ())
    assert made.audit(step(1, "vendor/lib/README.md"), fence=elsewhere).violations[0].path == "vendor/lib"
    (made.root / "vendor/lib/README.md").write_text("edited\n")
    assert made.audit(step(1, "vendor/lib/README.md"), fence=fence).dirty == ["vendor/lib"]


# What cannot be evaluated is unknown, never a failure


def unknown(made: Repo, base: str = "") -> str:
    audit = made.audit(ONE, TWO, fence=FENCE, base=base)
    assert (audit.verdict, audit.exit_code) == ("unknown", 4)
    assert set(statuses(audit).values()) == {"unknown"}
    (why,) = audit.problems
    return why


def test_no_repository_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("x")
    assert texts.says(unknown(Repo(tmp_path, "HEAD")), "check-without-git")


def test_a_shallow_clone_is_unknown(made: Repo, tmp_path: Path) -> None:
    made.commit(subject(1), "src/a")
    run_git(tmp_path, "clone", "-q", "--depth", "1", made.root.as_uri(), "shallow")
    assert texts.says(unknown(Repo(tmp_path / "shallow", made.base)), "check-base-unknown", base=repr(made.base))


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_git_is_told_not_to_look_at_leaves_the_verdict_open(made: Repo, flag: str) -> None:
    made.commit(subject(1), "src/a")
    made.git("update-index", flag, "infra/main")
    assert texts.says(unknown(made), "check-git-told-not-to-look", file="infra/main")


@pytest.mark.parametrize("pattern", [".*", "(", "(a|aa)+$"])
def test_a_pattern_that_cannot_decide_is_unknown(made: Repo, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.proof.patterns.SECONDS", 0.3)
    made.commit("a" * 60 + "!", "src/a")
    audit = made.audit(step(1, "src/a", pattern=pattern))
    assert (audit.verdict, statuses(audit)) == ("unknown", {1: "unknown"})


# More ways to look done


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
