"""Review mode: what is under review, what counts as a contract, the verdict, and what becomes of findings."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, NotEvaluable, Refused
from omo.workflows.ultragoal.gate.models import GateDefect
from omo.workflows.ultragoal.review import (
    FAIL,
    LARGEST_SPEC,
    OWN_CONTRACT,
    PASS,
    UNSEEN_SOURCE,
    WEAK_CONTRACT,
    QaReview,
    ReviewContract,
    measure,
    read_spec,
    review,
    start,
)
from omo.workflows.ultragoal.source import Source, find_source
from tests import texts
from tests.ultragoal.gates import Gate, valid_gate
from tests.ultragoal.project import TWO, Project, commit, git, make

SPEC = """# Intake

- Rows with a wrong date must be refused, and the message names the row and its number.
- An empty file gives an empty report and exit code 0.
- When two rows share an id, then the later one wins and a warning says which was dropped.
- A file of more than ten thousand rows is read in under a second.
"""


@pytest.fixture
def project() -> Project:
    """Branch `feature`, one commit ahead of `main`, with a spec and an edit that is not committed."""
    project = make()

    def work() -> None:
        git(project.root, "checkout", "-q", "-b", "main")
        (project.root / ".gitignore").write_text(".sisyphus/\nartifacts/\n", encoding="utf-8")
        commit(project.root, "intake.md", SPEC)
        git(project.root, "checkout", "-q", "-b", "feature")
        commit(project.root, "one.txt")
        (project.root / "two.txt").write_text("not committed\n", encoding="utf-8")

    return project.reach("feature", work)


def find(project: Project, *, pr: int | None = None, branch: str | None = None) -> Source:
    return find_source(project.root, pr=pr, branch=branch, environ={})


def qa_of(project: Project) -> Gate:
    qa: Gate = valid_gate(project.root, "review")["executorQa"]
    qa["contractCoverage"][0]["contractRef"] = "intake.md, first point"
    return qa


def judge(project: Project, qa: object, *, spec: str | None = SPEC, source: Source | None = None) -> QaReview:
    given = None if spec is None else ("intake.md", spec)
    return review(project.run(), source or find(project), spec=given, executor_qa=qa)


# What is under review


def test_a_branch_is_what_was_committed_on_it(project: Project) -> None:
    found = find(project, branch="feature")
    assert (found.kind, found.base, found.changed) == ("branch", "main", ["one.txt"])
    assert (found.tip, found.base_commit) == (
        git(project.root, "rev-parse", "feature"),
        git(project.root, "rev-parse", "main"),
    )
    assert not found.away


def test_an_edit_that_is_not_on_the_branch_cannot_make_it_pass(project: Project) -> None:
    assert judge(project, qa_of(project), source=find(project, branch="feature")).verdict == PASS
    (project.root / "one.txt").write_text("mended here only\n", encoding="utf-8")
    found = find(project, branch="feature")
    assert texts.says(found.away, "ultragoal-not-committed", file="one.txt")
    assert judge(project, qa_of(project), source=found).verdict == UNSEEN_SOURCE


def test_a_branch_without_a_base_cannot_be_reviewed() -> None:
    project = make()
    git(project.root, "checkout", "-q", "-b", "trunk")
    commit(project.root, "one.txt")
    with pytest.raises(NotEvaluable, match="left none of origin/dev"):
        find(project, branch="trunk")
    assert find(project).base == "HEAD"


# A pull request, with a gh of our own on PATH

VIEW = {"baseRefName": "main", "headRefOid": "", "title": "Add one"}


def put_gh(project: Project, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    """Its arguments and its sign-in end up in the file that is handed back."""
    place = project.root.parent / "bin"
    place.mkdir()
    said = place / "said"
    program = place / "gh"
    program.write_text(f"#!/bin/sh\necho \"$* $GH_TOKEN $AWS_SECRET_ACCESS_KEY\" >> '{said}'\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}{os.pathsep}{os.environ['PATH']}")
    return said


def answering(project: Project, **seen: Any) -> str:
    view = json.dumps({**VIEW, "headRefOid": git(project.root, "rev-parse", "feature"), **seen})
    return f"case \"$2\" in view) echo '{view}' ;; diff) printf 'one.txt\\na b.txt\\n' ;; esac"


def test_a_pull_request_is_asked_for_with_gh(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    said = put_gh(project, monkeypatch, answering(project))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-for-gh")
    found = find_source(project.root, pr=12, branch=None, environ={"GH_TOKEN": "sign-in"})
    assert (found.kind, found.name, found.base) == ("pr", "12", "main")
    assert found.changed == ["a b.txt", "one.txt"]
    assert found.base_commit == git(project.root, "rev-parse", "main")
    assert not found.away
    assert said.read_text().splitlines() == [
        "pr view 12 --json baseRefName,headRefOid sign-in ",
        "pr diff 12 --name-only sign-in ",
    ]


GH_FAILS = {
    "not signed in": "echo 'not signed in' >&2; exit 4",
    "no JSON": "echo nothing that is JSON",
    "a list": "echo '[1]'",
    "another shape": 'echo \'{"baseRefName": 1, "headRefOid": "a", "title": "b"}\'',
    "no diff": 'case "$2" in view) echo \'{"baseRefName":"main","headRefOid":"a","title":"b"}\' ;; *) exit 1 ;; esac',
}


@pytest.mark.parametrize("script", GH_FAILS.values(), ids=GH_FAILS)
def test_without_gh_there_is_no_pull_request_to_review(
    project: Project, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    put_gh(project, monkeypatch, script)
    with pytest.raises(NotEvaluable) as caught:
        find(project, pr=12)
    assert "--branch REF" in caught.value.fix


# What counts as a contract

WORDS = " ".join(f"word{number}" for number in range(60))
NUMBERED = "1. Bad dates are refused.\n2) An empty file is fine.\n(c) Two equal ids warn us.\n"
ITEMS = "- Bad dates are refused.\n- An empty file is fine.\n* Two equal ids warn us.\n"
KANJI = "誤った行は拒否され番号が示される"
MODAL = "It must refuse dates.\nUsers shall see numbers.\nGiven a file, when read, then told.\n"


STRONG = [
    SPEC,
    ITEMS + WORDS,
    NUMBERED + WORDS,
    MODAL + WORDS,
    ITEMS.replace("- ", "- [ ] ").replace("* ", "* [x] ") + WORDS,
    f"- {KANJI}一つ\n- {KANJI}二つ\n- {KANJI}三つ",
]
THIN = [
    *("", " \n\n", "It works.", WORDS, ITEMS),
    "The intake must read files, and it shall be fast, and it should be good.",
    "- a\n- b\n- c\n- d\n" + WORDS,
    "- Bad dates are refused.\n" * 40,
    "It must refuse bad dates. " * 40,
    "# It must do one\n## It must do two\n### It must do three\n" + WORDS,
    "```\n" + ITEMS + "```\n" + WORDS,
]
STATEMENTS = {
    "The intake must refuse bad dates. It shall name the line. It never guesses a date.": 3,
    "Given a file, when it is read, then each row is told.": 1,
    "Given a file with bad rows\nWhen it is read again\nThen each row is told": 3,
    "The intake must refuse\nevery date that is not one": 1,
    "1. Bad dates are refused. The line must be named.": 2,
    "Bad dates are refused by it.\n- Bad dates are refused by it.": 1,
    "One must. Two must. It must not. 3. e.g. must": 0,
}


def test_a_contract_is_strong_when_it_obliges_somebody() -> None:
    assert [text for text in STRONG if measure(text).strength != "strong"] == []
    assert [text for text in THIN if measure(text).strength != "thin"] == []
    assert {text: int(measure(text).why.split()[0]) for text in STATEMENTS} == STATEMENTS
    assert texts.says(measure(ITEMS).why, "ultragoal-contract-measured", statements="3 of 3", words="14 of 40")


def test_a_spec_is_a_readable_file_of_the_project(project: Project) -> None:
    for name in ("intake.md", str(project.root / "intake.md")):
        assert read_spec(project.root, name, str(project.root)) == ("intake.md", SPEC)
    (project.root.parent / "outside.md").write_text(SPEC, encoding="utf-8")
    (project.root / "link.md").symlink_to(project.root.parent / "outside.md")
    (project.root / "latin.md").write_bytes(b"caf\xe9")
    (project.root / "large.md").write_bytes(b"a" * (LARGEST_SPEC + 1))
    project.note(kind="test")
    os.mkfifo(project.root / "pipe")
    outside = ("gone.md", ".", "../outside.md", "link.md", ".git/HEAD", "a\0b", "")
    for name in (*outside, "latin.md", "large.md", "pipe", ".sisyphus/cc-omo/runtime.local.json"):
        with pytest.raises(BadInput, match="--spec"):
            read_spec(project.root, name, str(project.root))


# The verdict


def test_a_review_passes_only_clean_with_a_contract_and_on_the_work_itself(project: Project) -> None:
    qa = qa_of(project)
    failed = {**qa, "e2eStatus": "failed"}

    def verdicts(spec: str | None) -> tuple[str, str]:
        done = judge(project, qa, spec=spec, source=source)
        return done.verdict, judge(project, failed, spec=spec, source=source).verdict

    source = find(project, branch="feature")
    assert [verdicts(spec) for spec in (SPEC, "It works.", None)] == [
        (PASS, FAIL),
        (WEAK_CONTRACT, FAIL),
        (WEAK_CONTRACT, FAIL),
    ]
    (project.root / "two.txt").unlink()
    git(project.root, "checkout", "-q", "main")
    commit(project.root, "later.txt")
    source = find(project, branch="feature")
    assert (source.changed, "check it out" in source.away) == (["one.txt"], True), "without what main got since"
    assert [verdicts(spec) for spec in (SPEC, None)] == [(UNSEEN_SOURCE, FAIL), (WEAK_CONTRACT, FAIL)]


def test_a_whole_gate_may_be_handed_in_and_what_is_no_qa_fails(project: Project) -> None:
    assert judge(project, {**valid_gate(project.root, "review"), "executorQa": qa_of(project)}).verdict == PASS
    answers: tuple[object, ...] = ([], "passed", {}, 7, {"executorQa": None}, None)
    for qa in answers:
        assert judge(project, qa).verdict == FAIL


def test_what_the_base_calls_computer_control_stays_so_when_the_work_takes_it_back(project: Project) -> None:
    git(project.root, "checkout", "-q", "main")
    (project.root / ".sisyphus").mkdir(exist_ok=True)
    (project.root / ".sisyphus" / "omo.json").write_text('{"computer_control": ["mouse.py"]}')
    git(project.root, "add", "-f", ".sisyphus/omo.json")
    git(project.root, "commit", "-qm", "settings")
    git(project.root, "checkout", "-q", "-b", "next")
    (project.root / ".sisyphus" / "omo.json").write_text("{}")
    commit(project.root, "mouse.py")
    assert judge(project, qa_of(project)).verdict == FAIL


def test_a_contract_that_came_with_the_work_is_the_agents_word(project: Project) -> None:
    commit(project.root, "intake.md", SPEC + "- Everything else is fine as it is.\n")
    done = judge(project, qa_of(project))
    assert done.verdict == OWN_CONTRACT
    assert texts.says("\n".join(done.notes), "ultragoal-spec-not-older", spec="intake.md")
    assert judge(project, {**qa_of(project), "e2eStatus": "failed"}).verdict == FAIL
    shutil.rmtree(project.root / ".git")
    done = judge(project, qa_of(project))
    assert done.verdict == OWN_CONTRACT
    assert texts.says("\n".join(done.notes), "ultragoal-no-git-repository")


def test_a_contract_that_was_committed_after_the_users_request_is_the_agents_word(project: Project) -> None:
    """Also where nothing differs from the branch that it is held against."""
    project.git("checkout", "-q", "main")
    project.prompt("/omo:ultragoal take the files in")
    commit(project.root, "own.md", SPEC)
    qa = json.loads(json.dumps(qa_of(project)).replace("intake.md", "own.md"))
    spec = ("own.md", SPEC)
    assert review(project.run(), find(project), spec=spec, executor_qa=qa).verdict == OWN_CONTRACT
    project.prompt("/omo:ultragoal take the files in, as own.md says")
    project.prompt("/omo:ultragoal")
    project.note(kind="activated")  # by the agent
    assert review(project.run(), find(project), spec=spec, executor_qa=qa).verdict == PASS, "it was there"
    (project.root / "own.md").write_text("It works.", encoding="utf-8")
    project.prompt("/omo:ultragoal take the files in, as @own.md says")
    (project.root / "own.md").write_text(SPEC, encoding="utf-8")
    assert review(project.run(), find(project), spec=spec, executor_qa=qa).verdict == OWN_CONTRACT


@pytest.mark.parametrize(
    ("about", "verdict"),
    [
        ({"contractRef": "the weather", "obligation": "it is sunny"}, FAIL),
        ({"contractRef": "point 2", "obligation": "An empty file gives an empty report."}, FAIL),
        ({"contractRef": "point 2", "obligation": "An empty file, as intake.md says."}, PASS),
        ({"contractRef": "intake.md:3", "obligation": "as it says"}, PASS),
    ],
)
def test_what_qa_covered_is_held_against_the_contract(project: Project, about: Gate, verdict: str) -> None:
    qa = qa_of(project)
    qa["contractCoverage"][0].update(about)
    assert judge(project, qa).verdict == verdict


# What becomes of findings


def found(project: Project, *texts: str) -> QaReview:
    return QaReview(find(project), ReviewContract("thin", "it says little"), list(texts))


def test_findings_reopen_a_plan_that_was_complete(project: Project) -> None:
    project.create(TWO)
    project.finish()
    assert project.final() == "G002"
    start(project.run(), found(project, "The date is wrong."))
    assert project.final() is None
    assert project.stale("G001") == ""
    assert project.hand_out() == project.goal("G003")


def test_the_same_finding_twice_is_one_goal(project: Project) -> None:
    assert not start(project.run(), found(project))[0].id, "what finds nothing makes no plan"
    assert start(project.run(), found(project, "The date is wrong.", " the DATE  is wrong. "))[1] == ["G001"]
    before = project.files()
    assert start(project.run(), found(project, "The date is wrong."))[1] == ["G001"]
    assert project.files() == before
    assert start(project.run(), found(project, "Another one.", "The date is wrong."))[1] == ["G002", "G001"]


def test_what_is_wrong_with_the_qa_itself_is_one_goal(project: Project) -> None:
    form = [GateDefect(f"executorQa.artifactRefs[{number}].path", "is old") for number in range(500)]
    done = found(project, "The date is wrong.")
    assert start(project.run(), QaReview(done.source, done.contract, done.blockers, form))[1] == ["G001", "G002"]
    work, qa = project.plan().goals
    assert (work.objective, qa.title) == ("The date is wrong.", "Let the QA of the review hold")
    assert "executorQa.artifactRefs[0].path: is old" in qa.objective
    assert len(qa.objective) < 20_000


def test_no_plan_is_made_over_one_that_was_damaged(project: Project) -> None:
    project.create(TWO)
    project.ledger.unlink()
    with pytest.raises(Refused, match="cannot go on"):
        start(project.run(), found(project, "The date is wrong."))
