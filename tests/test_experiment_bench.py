"""The benches of the experiment: it makes no run that it does not need, and says something true of a history."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from bench.experiment import STORIES, Honest, played
from omo.work.outcome import PROVEN
from tests import texts
from tests.stories.play import ADD_TEST, CALC, FIXED, ROOT, TEST, TESTS, is_here, make_project

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
    assert readme.split(maxsplit=1)[1] == "nothing to prove  a readme", ran.stderr
    assert why == "    only documentation was changed."
    assert add.split(maxsplit=1)[1] == "proven            add adds"
    assert texts.says(proof, "proof-fails-without-the-change", test="test_add")
    counted = {line.rsplit(maxsplit=4)[0]: line.split()[-4:] for line in table if line.endswith(" 0")}
    assert counted == {
        "a project": ["1", "1", "0", "0"],
        "code and tests": ["1", "0", "0", "0"],
        "documents": ["0", "1", "0", "0"],
    }
    assert table[-1].startswith("a project: a verdict took ")
    assert (project / "calc.py").read_text(encoding="utf-8") == "edited just now\n"


def test_versions_of_a_package_are_commits(tmp_path: Path) -> None:
    sdists = tmp_path / "sdists"
    sdists.mkdir()
    for version, calc, tests in (("1.9", CALC, TESTS), ("1.10", FIXED, TESTS + ADD_TEST)):
        with tarfile.open(sdists / f"calc-{version}.tar.gz", "w:gz") as archive:
            for name, text in {"calc.py": calc, "test_calc.py": tests}.items():
                member = tarfile.TarInfo(f"calc-{version}/{name}")
                member.size = len(text.encode())
                archive.addfile(member, io.BytesIO(text.encode()))
    bench = str(ROOT / "bench" / "history.py")
    command = [sys.executable, bench, "--sdists", str(sdists), "--gate", TEST, "--code"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    change, fact, *_ = ran.stdout.splitlines()
    assert change.split(maxsplit=1)[1] == "proven            calc-1.10", ran.stderr
    assert texts.says(fact, "proof-fails-without-the-change", test="test_add")
