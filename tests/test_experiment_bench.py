"""The benches of the experiment: it makes no run that it does not need, and says something true of a history."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.experiment import STORIES, Honest, played
from bench.truth import ADD_TEST, FIXED, ROOT, TEST, TESTS, is_here, make_project
from omo.work.outcome import PROVEN

RUNS = {"red and green seen": (2, 0), "a test added": (3, 3)}  # in the whole story, and beyond the agent's own
COUNTED = [which for which in STORIES if which.name in RUNS]


@pytest.mark.parametrize("which", COUNTED, ids=lambda which: which.name)
def test_no_run_is_made_that_is_not_needed(which: Honest, tmp_path: Path) -> None:
    if not is_here("make"):
        pytest.skip("make is not here")
    cost = played(which, tmp_path)
    assert cost.word == PROVEN, "\n".join(cost.log)
    assert (cost.runs, cost.extra) == RUNS[which.name], "\n".join(cost.log)


def test_the_stories_are_there() -> None:
    assert sorted(which.name for which in COUNTED) == sorted(RUNS)


def test_the_command_prints_a_row_for_a_story() -> None:
    """From a plain checkout, which has nothing on its path."""
    command = [sys.executable, str(ROOT / "bench" / "experiment.py"), "--only", "the green left to omo"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    heading, row = ran.stdout.splitlines()
    assert (ran.returncode, heading.split()[:4]) == (0, ["story", "word", "runs", "extra"]), ran.stderr
    assert row.startswith("red seen, the green left to omo        proven      2     1    1 ")


def test_the_history_of_a_clone_is_tried_and_the_clone_left_alone(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (project / "calc.py").write_text(FIXED, encoding="utf-8")
    (project / "test_calc.py").write_text(TESTS + ADD_TEST, encoding="utf-8")
    subprocess.run(["git", "commit", "-qam", "add adds"], cwd=project, check=True)
    (project / "README.md").write_text("It adds.\n", encoding="utf-8")
    subprocess.run(["sh", "-c", "git add .; git commit -qm 'a readme'"], cwd=project, check=True)
    (project / "calc.py").write_text("edited just now\n", encoding="utf-8")
    command = [sys.executable, str(ROOT / "bench" / "history.py"), str(project), "--gate", TEST]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    readme, why, add, proof, *table = ran.stdout.splitlines()
    assert readme.split(maxsplit=1)[1] == "no work                  a readme", ran.stderr
    assert why == "    nothing that it runs on was changed (only README.md)"
    assert add.split(maxsplit=1)[1] == "holds                    add adds"
    assert proof.startswith("    fails without the work (1 failed, 1 passed: test_add (test_calc.Calc")
    assert table == ["", "2 commits", "    1  no work", "    1  holds"]
    assert (project / "calc.py").read_text(encoding="utf-8") == "edited just now\n"
