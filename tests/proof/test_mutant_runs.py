"""What the tests say of mutants of the changed lines: which die, which live, and when nobody can tell."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from bench.proof import CALC, FIX, PYTHON, Change, calc, looked_at, made, subject_of
from omo.errors import NotEvaluable
from omo.mutants import KINDS, Mutant
from omo.mutants.edits import Edit
from omo.proof import mutant_runs
from omo.proof.gate_runs import CommandRun, Plain
from omo.proof.mutant_runs import MutantRuns, _judged, disagreements, sentence_of
from omo.proof.outputs import Counts
from omo.proof.trials import Options
from tests import texts
from tests.proof.test_unchecked_lines import ADDS, contents, gate

MORE = "\n\ndef above(a):\n    if a > LIMIT:\n        return True\n    return False\n"
BOTH = calc(FIX, ("LIMIT = 10", "LIMIT = 110")) + MORE
TESTS = "import calc; assert calc.add(2, 3) == 5; assert calc.above(111); assert not calc.above(3); print('1 passed')"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Lines that are tested, but for the number itself."""
    return made(Change("", {}, {"calc.py": BOTH}, PYTHON), tmp_path)


def run(root: Path, code: str = TESTS, options: Options | None = None) -> MutantRuns:
    return mutant_runs.find(subject_of(root), Plain(gate(code)), options or Options())


def words(found: MutantRuns) -> set[tuple[str, str]]:
    return {(answer.mutant.after, answer.word) for answer in found.answers}


@pytest.mark.parametrize("jobs", [1, 2])
def test_mutants_of_tested_lines_die_and_others_live(project: Path, jobs: int) -> None:
    before = contents(project)
    found = run(project, options=Options(jobs=jobs))
    assert {("return a - b", "killed"), ("if a >= LIMIT:", "lived"), ("return False", "killed")} <= words(found)
    assert {answer.word for answer in found.answers} == {"killed", "lived"}
    assert {answer.mutant.kind for answer in found.answers} <= set(KINDS)
    assert (found.is_sampled, found.why, found.total) == (False, "", len(found.answers))
    assert found.data["made"] == len(found.answers) == sum(found.data["counts"].values())
    assert found.sentence == f"{found.total} mutants: {found.total - 1} killed, 1 lived."
    assert contents(project) == before
    assert run(project).runs == 0, "each result is kept"


def test_only_changed_lines_get_mutants(project: Path) -> None:
    lines = BOTH.splitlines()
    for answer in run(project).answers:
        assert lines[answer.mutant.line - 1] not in CALC.splitlines()


def test_where_the_tests_pass_without_the_change_none_is_run(project: Path) -> None:
    found = run(project, "import calc; print('1 passed')")
    assert texts.says(found.sentence, "mutants-pass-without-change")
    assert (found.answers, found.runs, found.data["made"]) == ([], 3, 0)


def test_a_run_that_was_just_made_is_not_made_again(project: Path) -> None:
    lines = looked_at(project, gate(TESTS))
    subject = replace(subject_of(project), remembers=False)
    options = Options(seen=lines.as_it_is, without=lines.whole)
    found = mutant_runs.find(subject, Plain(gate(TESTS)), options)
    assert found.runs == found.total + 1


WITHOUT_MUTANTS = {
    "a language that has none": (
        "tool.sh",
        "echo 1\n",
        "echo 2\n",
        "no mutants of tool.sh: omo makes none of .sh files",
    ),
    "nothing to mutate": ("plain.py", "x = 1\n", "x = 2\n", "no mutants here: the changed lines offer none"),
    "comments": ("plain.py", "x = 1\n", "x = 1  # one\n", "no mutants here: no line of code was added or changed"),
    "a file that is no Python": ("new.py", "x = 1\n", "x = = 1\n", "no mutants of new.py: "),
}


@pytest.mark.parametrize("case", WITHOUT_MUTANTS)
def test_without_mutants_it_says_why_and_nothing_of_all_killed(tmp_path: Path, case: str) -> None:
    path, old, new, why = WITHOUT_MUTANTS[case]
    root = made(Change("", {}, {path: new}, {**PYTHON, path: old}), tmp_path)
    found = run(root, ADDS.replace("5", "-1"))
    assert found.sentence.startswith(why)
    assert found.data["why"] == found.sentence
    assert (found.data["made"], found.runs) == (0, 0)


def test_one_file_without_mutants_is_said_beside_those_of_the_others(tmp_path: Path) -> None:
    root = made(Change("", {}, {"calc.py": BOTH, "tool.sh": "echo 2\n"}, {**PYTHON, "tool.sh": "echo 1\n"}), tmp_path)
    found = run(root)
    assert found.count("lived") == 1
    assert texts.says(found.sentence, "mutants-none-of-such-files", file="tool.sh", ending=".sh")


def test_tests_that_do_not_pass_as_it_is_say_nothing(project: Path) -> None:
    with pytest.raises(NotEvaluable, match="it does not pass as it is"):
        run(project, "raise SystemExit(1)")


def test_what_does_not_fit_into_the_time_is_a_sample_and_said(project: Path) -> None:
    found = run(project, options=Options(seconds=0.0))
    assert texts.says(found.sentence, "mutants-not-run")
    assert {answer.word for answer in found.answers} == {"not run"}
    assert all(texts.says(answer.why, "trial-time-is-up") for answer in found.answers)
    assert found.is_sampled
    counts = {"killed": 2, "lived": 1, "cannot tell": 0, "not run": 7}
    said = sentence_of(counts, "")
    assert texts.says(said, "mutants-sampled", tried=3, made="10 mutants", counts="2 killed, 1 lived")


def test_shards_share_the_mutants(project: Path) -> None:
    whole = run(project)
    found = [run(project, options=Options(shard=(index, 3))) for index in (1, 2, 3)]
    assert {each.total for each in found} == {whole.total}
    assert sum(len(each.answers) for each in found) == whole.total
    assert set().union(*map(words, found)) == words(whole)


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_signal_what_is_known_is_told(project: Path, jobs: int) -> None:
    """At the mutant that changes the comparison, wherever in the order it comes."""
    before = contents(project)
    os.mkfifo(project.parent / "never")
    never = str(project.parent / "never")
    stops = f"import os; '>= LIMIT' in open('calc.py').read() and (os.kill(os.getppid(), 2), open({never!r}))"
    found = run(project, f"{stops}; {TESTS}", Options(jobs=jobs))
    assert found.stopped_by == 130
    assert not found.data["is_whole"]
    [stopped] = [answer for answer in found.answers if ">=" in answer.mutant.after]
    assert texts.says(stopped.why, "trial-stopped")
    assert contents(project) == before


HERE = CommandRun("", "pass", seconds=1.0)
FAILS = CommandRun("", "fail", exit=1, counts=Counts(0, 1, 0), seconds=1.0, quoted="1 failed")
BREAKS = CommandRun("", "fail", exit=1, broke_before_tests=True, quoted="syntax error", seconds=1.0)
HANGS = CommandRun("", "unknown", why="it took too long", timed_out=True, seconds=10.0)
JUDGED = [
    ("a.py", HERE, HERE, "lived"),
    ("a.py", FAILS, HERE, "killed"),
    ("a.py", BREAKS, HERE, "killed"),  # it cannot be loaded, though it parses: its tests notice
    ("a.go", FAILS, HERE, "killed"),
    ("a.go", BREAKS, HERE, "cannot tell"),
    ("a.rs", BREAKS, HERE, "cannot tell"),
    ("a.ts", BREAKS, HERE, "cannot tell"),
    ("a.py", HANGS, HERE, "killed"),
    ("a.py", HANGS, replace(HERE, seconds=4.0), "cannot tell"),
    ("a.py", CommandRun("", "unknown", why="program not found"), HERE, "cannot tell"),
    ("a.py", CommandRun("", "fail", exit=137), HERE, "cannot tell"),
]


@pytest.mark.parametrize(("path", "run", "here", "word"), JUDGED)
def test_what_a_run_says_of_a_mutant(path: str, run: CommandRun, here: CommandRun, word: str) -> None:
    mutant = Mutant(path, 1, "return", "return 1", "return 2", Edit(7, 8, b"2", "return"), b"return 1\n")
    answer = _judged(mutant, run, here, 10.0)
    assert answer.word == word
    assert answer.why or word == "lived"


def test_a_mistake_that_runs_for_ever_is_ended_soon(tmp_path: Path) -> None:
    """The limit of a mutant is ten seconds for quick tests."""
    loop = "def count(a):\n    while a < 3:\n        a += 1\n    return a\n"
    root = made(Change("", {}, {"loop.py": loop}, {**PYTHON, "loop.py": "def count(a):\n    return a\n"}), tmp_path)
    found = run(root, "import loop; assert loop.count(1) == 3; print('1 passed')")
    [answer] = [answer for answer in found.answers if answer.mutant.after == "a -= 1"]
    assert answer.word == "killed"
    assert texts.says(answer.why, "mutants-never-ended", seconds=10)
    assert found.seconds < 55, "it is not given more time for having taken so long"


def hunk(word: str) -> dict[str, object]:
    return {"path": "a.py", "first": 3, "last": 4, "place": "a.py:3-4", "word": word}


@pytest.mark.parametrize(
    ("word", "mutants", "said"),
    [
        ("not held", ["killed", "lived"], ["a.py:3-4: the tests pass without it, but 1 mutant of it dies"]),
        ("not held", ["lived"], []),
        ("held", ["lived", "lived"], ["a.py:3-4: the tests fail without it, but 2 mutants of it live"]),
        ("held", ["killed", "not run"], []),
        ("only breaks the build", ["lived"], []),
    ],
)
def test_where_both_halves_disagree_it_is_said(word: str, mutants: list[str], said: list[str]) -> None:
    rows = [{"path": "a.py", "line": 4, "word": each} for each in mutants]
    elsewhere = [{"path": "a.py", "line": 9, "word": "killed"}, {"path": "b.py", "line": 3, "word": "lived"}]
    assert disagreements({"hunks": [hunk(word)]}, {"mutants": [*rows, *elsewhere]}) == said
    assert disagreements({"hunks": [hunk(word)]}, None) == []
