"""How the second half of `omo proof` makes its runs: kept results, shards, worktrees, and an end by a signal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bench.proof import CALC, FIX, PYTHON, Change, answers, calc, looked_at, made, subject_of
from omo.errors import BadInput, NotEvaluable
from omo.proof import bytecode, unchecked_lines, worktrees
from omo.proof.gate_runs import CommandRun, Plain
from omo.proof.trials import Options
from omo.proof.unchecked_lines import NOT_LOOKED_AT
from omo.state.results import Results
from tests import texts
from tests.proof.test_unchecked_lines import ADDS, OMO, contents, gate
from tests.written import ROOT

BOTH = calc(FIX, ("LIMIT = 10", "LIMIT = 110"))
KNOWN = {"calc.py:3": "not held", "calc.py:7": "held"}
TWO_AT_ONCE = Options(jobs=2)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One line that the tests notice, and one that they do not. What is temporary lies beside it."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return made(Change("", {}, {"calc.py": BOTH}, PYTHON), tmp_path)


def worktrees_of(root: Path) -> list[str]:
    listed = subprocess.run(["git", "worktree", "list"], cwd=root, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


# Results that are kept


def test_a_second_look_at_the_same_files_runs_nothing(project: Path) -> None:
    first = looked_at(project, gate(ADDS))
    second = looked_at(project, gate(ADDS))
    assert (first.runs, second.runs) == (6, 0)
    assert answers(first) == answers(second) == KNOWN
    assert second.data["hunks"] == first.data["hunks"]
    (project / "calc.py").write_text(BOTH + "\n\nMORE = 1\n", encoding="utf-8")
    third = looked_at(project, gate(ADDS))
    assert third.count("not held") == 2
    assert third.runs == 4, "without the work, and without the new line, the files are known"
    assert looked_at(project, gate(f"{ADDS};")).runs > 0, "another command"


def test_results_lie_where_the_caller_says_and_never_in_the_checkout(project: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    options = Options(cache=str(cache))
    assert looked_at(project, gate(ADDS), options).runs == 6
    assert len(list(cache.iterdir())) == 5
    assert looked_at(project, gate(ADDS), options).runs == 0
    assert looked_at(project, gate(ADDS)).runs == 6, "the project's own are others"
    for inside in (project / "cache", project / "a" / ".." / "b"):
        with pytest.raises(BadInput, match="lies in the checkout"):
            looked_at(project, gate(ADDS), Options(cache=str(inside)))


def test_where_earlier_runs_do_not_count_none_is_read_and_none_kept(project: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    options = Options(cache=str(cache))
    subject = replace(subject_of(project), remembers=False)
    assert unchecked_lines.find(subject, Plain(gate(ADDS)), options).runs == 6
    assert not cache.exists()
    looked_at(project, gate(ADDS), options)
    assert unchecked_lines.find(subject, Plain(gate(ADDS)), options).runs == 6


def test_a_run_that_was_killed_is_made_again(project: Path) -> None:
    killed = f"import os\nif '110' not in open('calc.py').read(): os.kill(os.getpid(), 9)\n{ADDS}"
    first = looked_at(project, gate(killed), Options(without=_red(project)))
    assert answers(first) == {**KNOWN, "calc.py:3": NOT_LOOKED_AT}
    assert looked_at(project, gate(killed), Options(without=_red(project))).runs == 2


def _red(project: Path) -> CommandRun:
    whole = looked_at(project, gate(ADDS)).whole
    assert whole is not None
    return whole


def test_a_torn_result_is_none_and_old_ones_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.state.results.MOST", 10)
    directory = tmp_path / "results"
    results = Results(str(directory), None)
    for number in range(12):
        results.put(f"key{number:02}", {"number": number})
        os.utime(directory / f"key{number:02}", (number, number))
    assert results.get("key11") == {"number": 11}
    (directory / "key11").write_text('{"number": 1')
    assert results.get("key11") is None
    results.prune()
    assert sorted(path.name for path in directory.iterdir()) == [f"key{number:02}" for number in range(3, 12)]
    results.put("large", {"text": "x" * 60_000})
    assert results.get("large") is None


# Shards


@pytest.mark.parametrize("count", [2, 3])
def test_shards_share_the_hunks_and_each_knows_how_many_there_are(project: Path, count: int) -> None:
    found = [looked_at(project, gate(ADDS), Options(shard=(index, count))) for index in range(1, count + 1)]
    parts = [answers(each) for each in found]
    assert {each.total for each in found} == {2}
    assert sum(map(len, parts)) == 2
    assert {place: word for part in parts for place, word in part.items()} == KNOWN
    with pytest.raises(BadInput, match="shard 3/2"):
        looked_at(project, gate(ADDS), Options(shard=(3, 2)))


# Worktrees


def logged(project: Path, log: Path) -> tuple[str, ...]:
    """Tests that note where they ran, and on what."""
    note = f"import os, json; print(json.dumps([os.getcwd(), open('calc.py').read()]), file=open({str(log)!r}, 'a'))"
    return gate(f"{note}; {ADDS}")


def test_in_worktrees_the_answers_are_the_same_and_the_project_is_not_touched(project: Path, tmp_path: Path) -> None:
    before = contents(project)
    found = looked_at(project, logged(project, tmp_path / "log"), TWO_AT_ONCE)
    assert (answers(found), found.why_alone, found.data["notes"]) == (KNOWN, None, [])
    runs = [json.loads(line) for line in (tmp_path / "log").read_text(encoding="utf-8").splitlines()]
    here = [text for place, text in runs if place == str(project)]
    assert set(here) == {BOTH}
    assert {CALC, calc(FIX), calc(("LIMIT = 10", "LIMIT = 110"))} <= {text for _, text in runs}
    assert len({place for place, _ in runs}) == 3
    assert found.runs == len(runs)
    assert contents(project) == before
    assert len(worktrees_of(project)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_worktree_has_the_files_as_they_are(project: Path) -> None:
    """New, gone, executable, a link, other line ends, in a directory that git does not know yet; no ignored one."""
    (project / "new dir").mkdir()
    (project / "new dir" / "new.sh").write_text("#!/bin/sh\n")
    (project / "new dir" / "new.sh").chmod(0o755)
    (project / "link").symlink_to("calc.py")
    (project / "ends.txt").write_bytes(b"a\r\nb\r")
    (project / ".gitattributes").write_text("*.txt text eol=lf\n")
    (project / ".gitignore").write_text("ignored\n")
    (project / "ignored").write_text("x")
    (project / "test_calc.py").unlink()
    with worktrees.Worktrees(subject_of(project), Plain(gate(ADDS)), {}) as made_here:
        there = Path(made_here.add().subject.root)
        expected = contents(project)
        del expected["ignored"]
        assert contents(there) == expected
        assert (there / "link").is_symlink()
        assert os.access(there / "new dir" / "new.sh", os.X_OK)
        status = ["git", "status", "--porcelain", "--", ":!ends.txt"]
        said = [subprocess.run(status, cwd=place, capture_output=True, text=True).stdout for place in (there, project)]
        assert said[0] == said[1].replace("?? .sisyphus/\n", "")
    assert len(worktrees_of(project)) == 1


def test_a_project_below_the_top_of_its_repository_gets_worktrees_of_all_of_it(tmp_path: Path) -> None:
    """Its tests read a file of the project beside it."""
    top = tmp_path / "top"
    below = made(Change("", {}, {"calc.py": BOTH}, PYTHON), top)
    (top / "beside.txt").write_text("x")
    (below / ".git").rename(tmp_path / "moved")
    subprocess.run(["git", "init", "-q"], cwd=top, check=True)
    (below / "calc.py").write_text(CALC, encoding="utf-8")
    commit(top, ".")
    (below / "calc.py").write_text(BOTH, encoding="utf-8")
    found = looked_at(below, gate(f"open('../beside.txt'); {ADDS}"), TWO_AT_ONCE)
    assert (found.why_alone, answers(found)) == (None, KNOWN)
    assert len(worktrees_of(top)) == 1


def test_in_a_worktree_python_keeps_no_bytecode(project: Path, tmp_path: Path) -> None:
    """Of two mutants of one size that were written in one second it would run the first twice."""
    log = tmp_path / "log"
    note = f"import os, sys; print(os.getcwd(), sys.dont_write_bytecode, file=open({str(log)!r}, 'a'))"
    with bytecode.judgement():
        found = looked_at(project, (sys.executable, "-c", f"{note}; {ADDS}"), TWO_AT_ONCE)
    assert (found.why_alone, answers(found)) == (None, KNOWN)
    runs = [line.rpartition(" ") for line in log.read_text(encoding="utf-8").splitlines()]
    assert {said for place, _, said in runs if place != str(project)} == {"True"}
    assert {said for place, _, said in runs if place == str(project)} == {"False"}, "here omo waits for the next second"


def test_a_run_leaves_nothing_in_a_worktree_for_the_next(project: Path) -> None:
    """In a worktree the tests fail where a run before them left its file."""
    leaves = f"import os; os.getcwd() == {str(project)!r} or open('left', 'x'); {ADDS}"
    found = looked_at(project, gate(leaves), TWO_AT_ONCE)
    assert (found.why_alone, answers(found)) == (None, KNOWN)


ALONE = {
    "another copy": (
        "import sys; sys.path.insert(0, {root!r}); " + ADDS,
        "passes whatever stands in the changed files: it tests another copy",
    ),
    "something ignored": ("open('built'); " + ADDS, r"in a worktree the command fails \(.*FileNotFoundError"),
    "other tests": (
        "import calc, os; assert calc.add(2, 3) == 5; n = 1 + os.path.exists('built'); "
        "print(f'==== {{n}} passed in 0.01s ====')",
        "in a worktree the command says 1 passed, here 2 passed",
    ),
}


def commit(project: Path, *paths: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", "add", *paths], cwd=project, check=True, capture_output=True)
    subprocess.run(["git", *who, "commit", "-qm", "more", "--", *paths], cwd=project, check=True)


@pytest.mark.parametrize("case", ALONE)
def test_where_a_worktree_tests_something_else_it_says_why_and_goes_on_here(project: Path, case: str) -> None:
    code, why = ALONE[case]
    (project / ".gitignore").write_text("built\n")
    commit(project, ".gitignore")
    (project / "built").write_text("x")
    found = looked_at(project, gate(code.format(root=str(project))), TWO_AT_ONCE)
    assert re.search(why, str(found.why_alone)), found.why_alone
    (note,) = found.data["notes"]
    assert texts.says(note, "proof-not-in-worktrees", why=found.why_alone)
    assert answers(found) == KNOWN
    assert (project / "calc.py").read_text(encoding="utf-8") == BOTH


def test_a_repository_inside_the_project_allows_no_worktree(project: Path) -> None:
    (project / "inner").mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project / "inner", check=True)
    (project / "inner" / "file").write_text("x")
    commit(project / "inner", "file")
    commit(project, "inner")
    found = looked_at(project, gate(ADDS), TWO_AT_ONCE)
    assert texts.says(str(found.why_alone), "proof-repository-inside", path="inner")
    assert answers(found) == KNOWN


def test_an_error_in_a_worktree_leaves_none_behind(project: Path, tmp_path: Path) -> None:
    """The tests pass at first, and not at the end."""
    count = tmp_path / "count"
    flaky = f"f = open({str(count)!r}, 'a+'); f.seek(0); n = len(f.read()); f.write('x'); f.close()"
    with pytest.raises(NotEvaluable, match="it passed first, and does not now"):
        looked_at(project, gate(f"{flaky}; {ADDS}; raise SystemExit(n > 3)"), TWO_AT_ONCE)
    assert len(worktrees_of(project)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []


# An end by a signal

FIND = """
import sys
sys.path[:0] = [{root!r}, {root!r} + '/src']
from pathlib import Path
from bench.proof import looked_at
from omo.proof.trials import Options
found = looked_at(Path('.'), ({python!r}, '-B', '-c', sys.argv[1]), Options(jobs=int(sys.argv[2])))
print(found.stopped_by)
"""


def finding(project: Path, code: str, jobs: int) -> subprocess.Popen[str]:
    script = FIND.format(root=str(ROOT), python=sys.executable)
    command = [sys.executable, "-c", script, code, str(jobs)]
    return subprocess.Popen(command, cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def waiting_at(project: Path, without: str, then: str) -> str:
    """Tests that do something where this text is not in the file any more but the fix is, and wait there for ever."""
    never = project.parent / "never"
    os.mkfifo(never)
    condition = f"{without!r} not in text and 'a + b' in text"
    return f"text = open('calc.py').read()\nif {condition}:\n {then}\n open({str(never)!r})\n{ADDS}"


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_after_a_signal_what_is_known_is_told_and_the_files_are_back(
    project: Path, name: str, code: int, jobs: int
) -> None:
    before = contents(project)
    then = f"import os, signal; os.kill(os.getppid(), signal.{name})"
    found = looked_at(project, gate(waiting_at(project, "110", then)), Options(jobs=jobs))
    assert (found.stopped_by, found.is_whole, found.why_alone) == (code, False, None)
    (at_signal,) = [answer for answer in found.answers if answer.hunk.place == "calc.py:3"]
    assert at_signal.word == NOT_LOOKED_AT
    assert texts.says(at_signal.why, "trial-stopped")
    assert texts.says(found.sentence, "proof-not-all-looked-at")
    assert contents(project) == before
    assert not (project / ".sisyphus" / "cc-omo" / "swap.journal").exists()
    assert len(worktrees_of(project)) == 1
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_signal_upon_signal_while_files_are_put_back_leaves_none_swapped(project: Path, tmp_path: Path) -> None:
    """Somebody leans on Ctrl-C: a process of its own sends it until omo is gone."""
    before = contents(project)
    flood = "import os, sys\nfor _ in range(100000): os.kill(int(sys.argv[1]), 2)"
    start = f"subprocess.Popen([sys.executable, '-c', {flood!r}, str(os.getppid())], start_new_session=True)"
    process = finding(project, waiting_at(project, "110", f"import os, subprocess, sys; {start}"), 1)
    said = process.communicate(timeout=60)
    assert contents(project) == before, said
    assert not (project / ".sisyphus" / "cc-omo" / "swap.journal").exists(), said


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_kill_the_next_look_cleans_up(project: Path, tmp_path: Path, jobs: int) -> None:
    before = contents(project)
    reached = tmp_path / "reached"
    process = finding(project, waiting_at(project, "110", f"open({str(reached)!r}, 'w')"), jobs)
    end = time.monotonic() + 60
    while not reached.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert reached.exists()
    process.kill()
    process.communicate()
    assert len(worktrees_of(project)) == (3 if jobs == 2 else 1)
    assert (contents(project) == before) == (jobs == 2)
    told = subprocess.run(
        [*OMO, "status"],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert texts.says(told.stderr, "swap-ended-in-middle", count="1 file") == (jobs == 1)
    assert contents(project) == before
    found = looked_at(project, gate(ADDS), Options(jobs=jobs))
    assert answers(found) == KNOWN
    assert len(worktrees_of(project)) == 1
    assert list((tmp_path / "tmp").iterdir()) == []
