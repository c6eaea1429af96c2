"""Review mode: what is under review, what counts as a contract, the verdict, and what becomes of findings."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, NotEvaluable, Refused
from omo.evidence import changes
from omo.ultragoal.review import (
    FAIL,
    LARGEST_SPEC,
    MOST_BLOCKERS,
    PASS,
    UNSEEN_SOURCE,
    WEAK_CONTRACT,
    Finding,
    Measure,
    Review,
    Source,
    find_source,
    measure,
    read_spec,
    review,
    start,
)
from tests.ultragoal.gates import Gate, valid_gate
from tests.ultragoal.workshop import TWO, Workshop, make

SPEC = """# Intake

- Rows with a wrong date must be refused, and the message names the row and its number.
- An empty file gives an empty report and exit code 0.
- When two rows share an id, then the later one wins and a warning says which was dropped.
- A file of more than ten thousand rows is read in under a second.
"""


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=omo", "-c", "user.email=omo@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(root: Path, name: str, text: str = "new\n") -> str:
    (root / name).write_text(text, encoding="utf-8")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"add {name}")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """Branch `feature`, one commit ahead of `main`, with a spec and an edit that is not committed."""
    shop = make(tmp_path / "a b")
    git(shop.root, "checkout", "-q", "-b", "main")
    (shop.root / ".gitignore").write_text(".sisyphus/\nartifacts/\n", encoding="utf-8")
    commit(shop.root, "intake.md", SPEC)
    git(shop.root, "checkout", "-q", "-b", "feature")
    commit(shop.root, "one.txt")
    (shop.root / "two.txt").write_text("not committed\n", encoding="utf-8")
    return shop


def find(shop: Workshop, *, pr: int | None = None, branch: str | None = None) -> Source:
    return find_source(shop.root, pr=pr, branch=branch, environ={})


def qa_of(shop: Workshop) -> Gate:
    qa: Gate = valid_gate(shop.root, "review")["executorQa"]
    return qa


def judge(shop: Workshop, qa: object, *, spec: str | None = SPEC, source: Source | None = None) -> Review:
    given = None if spec is None else ("intake.md", spec)
    return review(shop.run(), source or find(shop), spec=given, executor_qa=qa)


def state_of(shop: Workshop) -> dict[str, bytes]:
    top = Path(shop.state)
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*")) if path.is_file()}


# What is under review


def test_the_working_tree_is_everything_since_the_base_branch_was_left(shop: Workshop) -> None:
    found = find(shop)
    assert (found.kind, found.name, found.base) == ("worktree", "feature", "main")
    assert found.changed == ["one.txt", "two.txt"]
    assert found.is_here


def test_a_branch_is_what_was_committed_on_it(shop: Workshop) -> None:
    found = find(shop, branch="feature")
    assert (found.kind, found.base, found.changed) == ("branch", "main", ["one.txt"])
    assert (found.tip, found.base_commit) == (
        git(shop.root, "rev-parse", "feature"),
        git(shop.root, "rev-parse", "main"),
    )
    assert found.is_here


def test_what_main_got_since_is_not_part_of_the_branch(shop: Workshop) -> None:
    (shop.root / "two.txt").unlink()
    git(shop.root, "checkout", "-q", "main")
    commit(shop.root, "later.txt")
    found = find(shop, branch="feature")
    assert found.changed == ["one.txt"]
    assert not found.is_here
    assert "check it out" in found.notes[0]


def test_an_edit_that_is_not_on_the_branch_cannot_make_it_pass(shop: Workshop) -> None:
    assert judge(shop, qa_of(shop), source=find(shop, branch="feature")).verdict == PASS
    (shop.root / "one.txt").write_text("mended here only\n", encoding="utf-8")
    found = find(shop, branch="feature")
    assert "one.txt is edited and not committed" in found.notes[0]
    assert judge(shop, qa_of(shop), source=found).verdict == UNSEEN_SOURCE


@pytest.mark.parametrize("name", ["gone", "", "-x", "--all", "feature:one.txt", "HEAD~99"])
def test_a_branch_that_names_no_commit_is_refused(shop: Workshop, name: str) -> None:
    with pytest.raises(BadInput, match="--branch"):
        find(shop, branch=name)


def test_a_branch_without_a_base_cannot_be_reviewed(tmp_path: Path) -> None:
    shop = make(tmp_path / "a b")
    git(shop.root, "checkout", "-q", "-b", "trunk")
    commit(shop.root, "one.txt")
    with pytest.raises(NotEvaluable, match="left none of origin/dev"):
        find(shop, branch="trunk")
    assert find(shop).base == "HEAD"


@pytest.mark.parametrize(
    ("branches", "nearest"),
    [
        (["main"], "main"),
        (["main", "dev"], "dev"),
        (["dev", "main"], "main"),
        (["master", "main", "dev"], "dev"),
        (["main", "topic"], "main"),
    ],
)
def test_the_base_is_the_branch_that_was_left_last(tmp_path: Path, branches: list[str], nearest: str) -> None:
    """Each branch is one commit further than the one before."""
    shop = make(tmp_path / "a b")
    git(shop.root, "checkout", "-q", "-b", "work")
    for name in branches:
        commit(shop.root, f"{name}.txt")
        git(shop.root, "branch", name)
    commit(shop.root, "mine.txt")
    found = find(shop)
    assert (found.base, found.base_commit) == (nearest, git(shop.root, "rev-parse", nearest))


def test_of_two_bases_that_are_as_near_the_remote_one_is_taken(shop: Workshop) -> None:
    git(shop.root, "update-ref", "refs/remotes/origin/main", "main")
    assert find(shop).base == "origin/main"


def test_a_branch_is_not_its_own_base(shop: Workshop) -> None:
    git(shop.root, "update-ref", "refs/remotes/origin/main", "main")
    git(shop.root, "checkout", "-q", "main")
    commit(shop.root, "direct.txt")
    found = find(shop)
    assert (found.name, found.base, found.changed) == ("main", "origin/main", ["direct.txt", "two.txt"])


def test_outside_git_nobody_knows_what_changed(tmp_path: Path) -> None:
    found = find_source(tmp_path, pr=None, branch=None, environ={})
    assert (found.changed, found.base, found.notes) == (None, None, ["this is no git repository"])


def test_before_the_first_commit_everything_is_new(tmp_path: Path) -> None:
    shop = make(tmp_path / "a b")
    (shop.root / "one.txt").write_text("new\n", encoding="utf-8")
    assert find(shop).changed == ["one.txt"]


def test_two_sources_at_once_are_refused(shop: Workshop) -> None:
    with pytest.raises(BadInput, match="two things"):
        find(shop, pr=1, branch="feature")


def test_the_evidence_of_one_commit_is_not_that_of_another(shop: Workshop) -> None:
    before = find(shop, branch="feature").key
    commit(shop.root, "three.txt")
    assert find(shop, branch="feature").key != before


# A pull request, with a gh of our own on PATH

VIEW = {"baseRefName": "main", "headRefOid": "", "title": "Add one"}


def put_gh(shop: Workshop, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Its arguments and its sign-in end up in the file that is handed back."""
    place = shop.root.parent / "bin"
    place.mkdir()
    said = place / "said"
    program = place / "gh"
    program.write_text(f"#!/bin/sh\necho \"$* $GH_TOKEN $AWS_SECRET_ACCESS_KEY\" >> '{said}'\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    return said


def answering(shop: Workshop, **seen: Any) -> str:
    view = json.dumps({**VIEW, "headRefOid": git(shop.root, "rev-parse", "feature"), **seen})
    return f"case \"$2\" in view) echo '{view}' ;; diff) printf 'one.txt\\na b.txt\\n' ;; esac"


def test_a_pull_request_is_asked_for_with_gh(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    said = put_gh(shop, monkeypatch, answering(shop))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-gh")
    found = find_source(shop.root, pr=12, branch=None, environ={"GH_TOKEN": "sign-in"})
    assert (found.kind, found.name, found.base, found.pr_source) == ("pr", "12", "main", "gh")
    assert found.changed == ["a b.txt", "one.txt"]
    assert found.base_commit == git(shop.root, "rev-parse", "main")
    assert found.is_here
    assert said.read_text().splitlines() == [
        "pr view 12 --json baseRefName,headRefOid,title sign-in ",
        "pr diff 12 --name-only sign-in ",
    ]


def test_a_pull_request_that_is_not_checked_out_is_told(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    put_gh(shop, monkeypatch, answering(shop, headRefOid="a" * 40))
    found = find(shop, pr=12)
    assert not found.is_here
    assert "check it out first" in found.notes[0]


@pytest.mark.parametrize(
    "script",
    [
        "echo 'not signed in' >&2; exit 4",
        "echo nothing that is JSON",
        "echo '[1]'",
        'echo \'{"baseRefName": 1, "headRefOid": "a", "title": "b"}\'',
        "case \"$2\" in view) echo '{}' ;; esac",
        'case "$2" in view) echo \'{"baseRefName":"main","headRefOid":"a","title":"b"}\' ;; diff) exit 1 ;; esac',
    ],
)
def test_a_gh_that_fails_leaves_the_local_difference_and_no_clean_pass(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    put_gh(shop, monkeypatch, script)
    found = find(shop, pr=12)
    assert (found.pr_source, found.base, found.changed) == ("gh-unavailable", "main", ["one.txt", "two.txt"])
    assert judge(shop, qa_of(shop), source=found).verdict == UNSEEN_SOURCE


def test_without_gh_it_is_the_local_difference_too(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    place = shop.root.parent / "bin"
    place.mkdir()
    program = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
    (place / "git").symlink_to(program)
    monkeypatch.setenv("PATH", str(place))
    assert find(shop, pr=12).pr_source == "gh-unavailable"


@pytest.mark.parametrize("number", [0, -3])
def test_a_pull_request_has_a_number(shop: Workshop, number: int) -> None:
    with pytest.raises(BadInput, match="no pull request"):
        find(shop, pr=number)


# What counts as a contract

WORDS = " ".join(f"word{number}" for number in range(60))
NUMBERED = "1. Bad dates are refused.\n2) An empty file is fine.\n(c) Two equal ids warn us.\n"
ITEMS = "- Bad dates are refused.\n- An empty file is fine.\n* Two equal ids warn us.\n"
KANJI = "誤った行は拒否され番号が示される"
MODAL = "It must refuse dates.\nUsers shall see numbers.\nGiven a file, when read, then told.\n"


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        (SPEC, "strong"),
        (ITEMS + WORDS, "strong"),
        (NUMBERED + WORDS, "strong"),
        (MODAL + WORDS, "strong"),
        (ITEMS.replace("- ", "- [ ] ").replace("* ", "* [x] ") + WORDS, "strong"),
        (f"- {KANJI}一つ\n- {KANJI}二つ\n- {KANJI}三つ", "strong"),
        ("", "thin"),
        (" \n\n", "thin"),
        ("It works.", "thin"),
        ("The intake must read files, and it shall be fast, and it should be good.", "thin"),
        (WORDS, "thin"),
        (ITEMS, "thin"),
        ("- a\n- b\n- c\n- d\n" + WORDS, "thin"),
        ("- Bad dates are refused.\n" * 40, "thin"),
        ("It must refuse bad dates. " * 40, "thin"),
        ("# It must do one\n## It must do two\n### It must do three\n" + WORDS, "thin"),
        ("```\n" + ITEMS + "```\n" + WORDS, "thin"),
    ],
)  # fmt: skip
def test_a_contract_is_strong_when_it_obliges_somebody(text: str, strength: str) -> None:
    assert measure(text).strength == strength


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("The intake must refuse bad dates. It shall name the line. It never guesses a date.", 3),
        ("Given a file, when it is read, then each row is told.", 1),
        ("Given a file with bad rows\nWhen it is read again\nThen each row is told", 3),
        ("The intake must refuse\nevery date that is not one", 1),
        ("1. Bad dates are refused. The line must be named.", 2),
        ("- Bad dates are refused.\n- Bad dates are refused.", 1),
        ("Bad dates are refused by it.\n- Bad dates are refused by it.", 1),
        ("One must. Two must. It must not. 3. e.g. must", 0),
        ("", 0),
    ],
)
def test_each_sentence_that_obliges_counts_once_however_the_lines_are_broken(text: str, statements: int) -> None:
    assert measure(text).statements == statements


def test_a_thin_contract_says_how_much_is_missing() -> None:
    found = measure(ITEMS)
    assert (found.why, found.strength) == ("3 of 3 acceptance statements, 14 of 40 words", "thin")
    assert found.render() == {
        "strength": "thin", "statements": 3, "statementsNeeded": 3, "words": 14, "wordsNeeded": 40,
    }  # fmt: skip
    assert "--spec" in Measure(derived=True).why


def test_a_spec_is_read_from_inside_the_project(shop: Workshop) -> None:
    assert read_spec(shop.root, "intake.md", str(shop.root)) == ("intake.md", SPEC)
    assert read_spec(shop.root, str(shop.root / "intake.md"), "/") == ("intake.md", SPEC)


@pytest.mark.parametrize(
    "name", ["gone.md", ".", "../outside.md", "link.md", "latin.md", "large.md", ".git/HEAD", "a\0b", "", "pipe"]
)
def test_a_spec_that_is_no_readable_file_of_the_project_is_refused(shop: Workshop, name: str) -> None:
    (shop.root.parent / "outside.md").write_text(SPEC, encoding="utf-8")
    (shop.root / "link.md").symlink_to(shop.root.parent / "outside.md")
    (shop.root / "latin.md").write_bytes(b"caf\xe9")
    (shop.root / "large.md").write_bytes(b"a" * (LARGEST_SPEC + 1))
    os.mkfifo(shop.root / "pipe")
    with pytest.raises(BadInput, match="--spec"):
        read_spec(shop.root, name, str(shop.root))


# The verdict

VERDICTS = [
    (SPEC, True, True, PASS),
    ("It works.", True, True, WEAK_CONTRACT),
    ("", True, True, WEAK_CONTRACT),
    (None, True, True, WEAK_CONTRACT),
    (SPEC, False, True, FAIL),
    ("It works.", False, True, FAIL),
    (None, False, True, FAIL),
    (SPEC, True, False, UNSEEN_SOURCE),
    (None, True, False, WEAK_CONTRACT),
    (SPEC, False, False, FAIL),
]


@pytest.mark.parametrize(("spec", "clean", "here", "verdict"), VERDICTS)
def test_the_verdict(shop: Workshop, spec: str | None, clean: bool, here: bool, verdict: str) -> None:
    if not here:
        (shop.root / "two.txt").unlink()
        git(shop.root, "checkout", "-q", "main")
    qa = qa_of(shop)
    if not clean:
        qa["e2eStatus"] = "failed"
    done = judge(shop, qa, spec=spec, source=find(shop, branch="feature"))
    assert done.verdict == verdict, done.findings
    assert done.is_eligible == (spec == SPEC and here)


def test_without_a_qa_there_is_one_finding(shop: Workshop) -> None:
    done = judge(shop, None)
    assert [(one.path, one.code) for one in done.findings] == [("executorQa", "MISSING")]
    assert done.verdict == FAIL


def test_every_defect_of_the_qa_is_a_finding(shop: Workshop) -> None:
    qa = qa_of(shop)
    qa["status"] = "failed"
    qa["e2eCommands"] = []
    (shop.root / "artifacts" / "review" / "attack-report.txt").unlink()
    paths = {one.path for one in judge(shop, qa).findings}
    assert {"executorQa.status", "executorQa.e2eCommands", "executorQa.artifactRefs[1].path"} <= paths


@pytest.mark.parametrize("qa", [[], "passed", {}, 7, {"executorQa": None}])
def test_what_is_no_qa_does_not_pass(shop: Workshop, qa: object) -> None:
    assert judge(shop, qa).verdict == FAIL


def test_a_whole_gate_may_be_handed_in(shop: Workshop) -> None:
    assert judge(shop, valid_gate(shop.root, "review")).verdict == PASS


@pytest.mark.parametrize(
    ("blocker", "message"),
    [
        ("the date is wrong", "the date is wrong"),
        ({"message": "the date is wrong", "severity": "high"}, "the date is wrong"),
        ({"title": "Dates", "summary": "the date is wrong"}, "the date is wrong"),
        ({"where": "src/a.py"}, "{'where': 'src/a.py'}"),
        ("", "without words"),
        (None, "without words"),
        ({"message": " "}, "{'message': ' '}"),
    ],
)
def test_what_qa_reports_as_open_is_a_finding_in_every_shape(shop: Workshop, blocker: object, message: str) -> None:
    done = judge(shop, {**qa_of(shop), "blockers": [blocker]})
    assert [(one.path, one.code) for one in done.findings] == [("executorQa.blockers[0]", "OPEN_BLOCKER")]
    assert message in done.findings[0].message


def test_evidence_as_old_as_the_work_is_accepted(shop: Workshop) -> None:
    """Committed with the work, long before anybody reviewed it."""
    qa = qa_of(shop)
    (shop.root / ".gitignore").write_text(".sisyphus/\n", encoding="utf-8")
    commit(shop.root, "three.txt")
    assert git(shop.root, "ls-files", "artifacts")
    done = judge(shop, qa)
    assert done.verdict == PASS, done.findings


def test_evidence_of_a_goal_does_not_serve_twice(shop: Workshop) -> None:
    shop.create("@goal: Parse\nRead the file.")
    shop.hand_out()
    gate = shop.gate("G001")
    shop.complete("G001")
    assert {one.code for one in judge(shop, gate["executorQa"]).findings} == {"ARTIFACT_REUSED"}


def test_the_suite_for_computer_control_is_asked_for_by_what_the_source_changed(shop: Workshop) -> None:
    commit(shop.root, "mouse.py")
    run = shop.run(control_globs=("mouse.py",))
    asked = review(run, find(shop), spec=("intake.md", SPEC), executor_qa=qa_of(shop))
    assert asked.verdict == FAIL
    other = shop.run(control_globs=("keyboard.py",))
    assert review(other, find(shop), spec=("intake.md", SPEC), executor_qa=qa_of(shop)).verdict == PASS


def test_what_the_base_calls_computer_control_stays_so_when_the_work_takes_it_back(shop: Workshop) -> None:
    git(shop.root, "checkout", "-q", "main")
    (shop.root / ".sisyphus").mkdir(exist_ok=True)
    (shop.root / ".sisyphus" / "omo.json").write_text('{"computer_control": ["mouse.py"]}')
    git(shop.root, "add", "-f", ".sisyphus/omo.json")
    git(shop.root, "commit", "-qm", "settings")
    git(shop.root, "checkout", "-q", "-b", "next")
    (shop.root / ".sisyphus" / "omo.json").write_text("{}")
    commit(shop.root, "mouse.py")
    assert judge(shop, qa_of(shop)).verdict == FAIL


def test_a_spec_that_the_work_itself_changed_is_told(shop: Workshop) -> None:
    commit(shop.root, "intake.md", SPEC + "- Everything else is fine as it is.\n")
    assert "intake.md was itself changed in what is under review" in judge(shop, qa_of(shop)).notes


def test_that_nothing_changed_is_told(shop: Workshop) -> None:
    git(shop.root, "branch", "-f", "dev", "feature")
    done = judge(shop, qa_of(shop), source=find(shop, branch="feature"))
    assert "nothing differs from dev" in done.notes


# What becomes of findings


def found(shop: Workshop, *texts: str) -> Review:
    return Review(find(shop), Measure(derived=True), [Finding("", "X", text) for text in texts], [])


def test_a_review_writes_nothing(shop: Workshop) -> None:
    shop.create(TWO)
    before = state_of(shop)
    assert judge(shop, {**qa_of(shop), "blockers": ["open"]}).verdict == FAIL
    assert judge(shop, qa_of(shop)).verdict == PASS
    assert state_of(shop) == before


def test_a_clean_review_starts_nothing(shop: Workshop) -> None:
    assert start(shop.run(), judge(shop, qa_of(shop))) == []
    assert not Path(shop.state).exists()


def test_findings_become_the_first_plan_of_a_session(shop: Workshop) -> None:
    assert start(shop.run(), found(shop, "The date is wrong.", "A test cannot fail.")) == ["G001", "G002"]
    plan = shop.plan()
    assert [goal.objective for goal in plan.goals] == ["The date is wrong.", "A test cannot fail."]
    assert plan.goals[0].title == "Resolve: The date is wrong."
    assert plan.goals[0].blocks is None
    assert shop.kinds() == ["plan_created", "review_blockers_recorded"]
    assert shop.rows()[-1]["goalId"] is None
    assert shop.run().problems == []
    assert shop.hand_out() == shop.goal("G001")


def test_findings_join_the_plan_that_is_there(shop: Workshop) -> None:
    shop.create(TWO)
    assert start(shop.run(), found(shop, "The date is wrong.")) == ["G003"]
    assert shop.statuses() == {"G001": "pending", "G002": "pending", "G003": "pending"}


def test_findings_reopen_a_plan_that_was_complete(shop: Workshop) -> None:
    shop.create(TWO)
    shop.finish()
    assert shop.final() == "G002"
    start(shop.run(), found(shop, "The date is wrong."))
    assert shop.final() is None
    assert shop.stale("G001") == ""
    assert shop.hand_out() == shop.goal("G003")


def test_the_same_finding_twice_is_one_goal(shop: Workshop) -> None:
    assert start(shop.run(), found(shop, "The date is wrong.", " the DATE  is wrong. ")) == ["G001"]
    before = shop.files()
    assert start(shop.run(), found(shop, "The date is wrong.")) == ["G001"]
    assert shop.files() == before
    assert start(shop.run(), found(shop, "Another one.", "The date is wrong.")) == ["G001", "G002"]


@pytest.mark.parametrize(("count", "goals"), [(MOST_BLOCKERS, 10), (MOST_BLOCKERS + 1, 10), (500, 10)])
def test_ten_goals_are_made_at_most_and_the_last_takes_in_the_rest(shop: Workshop, count: int, goals: int) -> None:
    texts = [f"Finding number {number} is open." for number in range(count)]
    assert len(start(shop.run(), found(shop, *texts))) == goals
    last = shop.plan().goals[-1]
    assert texts[9] in last.objective
    if count > MOST_BLOCKERS:
        assert f"Resolve {count - 9} more findings" in last.title
        assert texts[10] in last.objective
    assert len(last.objective) < 20_000
    again = start(shop.run(), found(shop, *texts))
    assert len(again) == goals
    assert len(shop.plan().goals) == goals


def test_no_plan_is_made_over_one_that_was_damaged(shop: Workshop) -> None:
    shop.create(TWO)
    shop.ledger.unlink()
    with pytest.raises(Refused, match="changed by hand"):
        start(shop.run(), found(shop, "The date is wrong."))


def test_a_plan_of_another_directory_takes_no_findings(shop: Workshop, tmp_path: Path) -> None:
    shop.create(TWO)
    moved = tmp_path / "moved"
    shop.root.rename(moved)
    elsewhere = Workshop(moved)
    shop.root.mkdir()
    with pytest.raises(Refused, match="belongs to"):
        start(elsewhere.run(), found(elsewhere, "The date is wrong."))


def test_a_file_that_was_committed_is_not_old_for_a_review(shop: Workshop) -> None:
    assert not changes.was_committed_before(shop.root, "one.txt", 0.0)
    assert changes.was_committed_before(shop.root, "one.txt", 4_000_000_000.0)
