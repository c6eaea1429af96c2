"""What the experiment says of a change that it does not call proven is true. Each was not, of a public commit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from omo.proof import arrangements, base, experiment, kinds, verdicts
from omo.proof.gate_runs import CommandRun, Plain, Subject
from omo.proof.outputs import Counts
from omo.proof.verdicts import Experiment
from tests import texts

WORK = "def add(a, b):\n    return a - b - b\n"
TESTS = """import unittest

import calc


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), -1)

    def test_nothing(self):
        self.assertEqual(calc.add(2, 0), 2)
"""


def made_of(
    directory: Path, changes: Mapping[str, str], more: Mapping[str, str] | None = None, minutes: float = 10.0
) -> Experiment:
    """The experiment on a project of one module and `more`, after these files were written."""
    root = directory / "project"
    root.mkdir()
    (root / "calc.py").write_text(WORK, encoding="utf-8")
    (root / "test_calc.py").write_text(TESTS, encoding="utf-8")
    for path, text in (more or {}).items():
        (root / path).write_text(text, encoding="utf-8")
    commit = "git -c user.name=omo -c user.email=omo@example.invalid commit -qm base"
    subprocess.run(["sh", "-c", f"git init -q; git add .; {commit}"], cwd=root, check=True)
    began = base.take(str(root), os.environ)
    for path, text in changes.items():
        (root / path).write_text(text, encoding="utf-8")
    look = base.look(str(root), began)
    command = Plain([sys.executable, "-B", "-m", "unittest"])
    environ = {"PATH": os.environ["PATH"]}
    subject = Subject(str(root), str(directory / "state"), began, look, environ, now=0.0, minutes=minutes)
    return experiment.prove(subject, command, (), lambda: experiment.run_now(subject, command))


def test_what_new_data_grants_by_old_tests_is_not_said_to_fail_as_it_was(tmp_path: Path) -> None:
    asked = TESTS.replace("calc.add(2, 0), 2", "open('guest').read(), 'read'").replace("-1", "5")
    rights = {"guest.json": "read", "test_calc.py": asked.replace("'guest'", "'guest.json'")}
    granted = {"guest.json": "delete", "test_calc.py": rights["test_calc.py"].replace("'read'", "'delete'")}
    made = made_of(tmp_path, {"calc.py": WORK.replace("a - b - b", "a + b"), **granted}, rights)
    assert made.verdict == verdicts.OLD_TESTS_FAIL
    failed = {"failed": 1, "all": 2, "tests": "test_calc.py", "data": "guest.json"}
    assert texts.says(made.reason, "proof-old-tests-fail-on-data", **failed)


def test_what_was_seen_is_said_where_there_is_no_time_to_try_data_too(tmp_path: Path) -> None:
    changes = {"calc.py": WORK + "# sums\n", "rates.json": "[2]\n"}
    before = {"rates.json": "[1]\n", "test_calc.py": TESTS.replace("-1", "-4")}
    made = made_of(tmp_path, changes, before, minutes=0.0001)
    assert made.verdict == verdicts.PASSES_WITHOUT


def test_files_that_could_not_be_loaded_are_not_counted_as_tests(tmp_path: Path) -> None:
    new_tests = TESTS.replace("import calc\n", "import calc\nfrom calc import total\n").replace("-1", "total([2, 3])")
    new_work = WORK.replace("a - b - b", "a + b") + "\n\ndef total(numbers):\n    return sum(numbers)\n"
    made = made_of(tmp_path, {"calc.py": new_work, "test_calc.py": new_tests})
    assert made.verdict == verdicts.OLD_TESTS_FAIL
    failed = {"failed": 1, "all": 2, "tests": "test_calc.py"}
    assert texts.says(made.reason, "proof-old-tests-fail", **failed)
    assert texts.says(made.reason, "proof-stops-before-its-tests")
    assert "(test_add " in made.reason


def test_what_fails_only_with_the_work_is_not_said_to_pass_without_it_too(tmp_path: Path) -> None:
    made = made_of(tmp_path, {"calc.py": WORK.replace("a - b - b", "a * b")})
    assert made.verdict == verdicts.FAILS
    assert texts.says(made.reason, "proof-it-fails", counts="2 failed")


def test_what_failed_and_is_no_test_is_not_said_to_have_passed() -> None:
    run = CommandRun("", "fail", counts=Counts(322, 0, 0), failing=["index.spec.ts > match nothing"])
    assert run.summary == "322 passed; failed: index.spec.ts > match nothing"


def test_documents_that_a_runner_or_its_script_reads_are_the_rest_as_the_commit_says(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --doctest-glob=*.md\n", "check.sh": "grep -q works guide.rst\n"}
    for path, text in files.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    commit = "git -c user.name=omo -c user.email=omo@example.invalid commit -qm base"
    subprocess.run(["sh", "-c", f"git init -q; git add .; {commit}"], cwd=tmp_path, check=True)
    began = base.take(str(tmp_path), os.environ)
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    subject = Subject(str(tmp_path), "", began, base.look(str(tmp_path), began), {}, now=0.0)
    read = {}
    for command in ("pytest", "sh check.sh"):
        which = arrangements.kinds_of(subject, Plain(command.split()))
        read[command] = [path for path in ("README.md", "guide.rst") if which.of(path) == kinds.REST]
    assert read == {"pytest": ["README.md"], "sh check.sh": ["README.md", "guide.rst"]}


@pytest.mark.parametrize(
    ("exit_code", "counts", "why"),
    [
        (137, None, "it was killed"),
        (143, None, "it was killed"),
        (139, None, ""),  # a crash
        (127, None, ""),  # a program that only the work has
        (130, Counts(4, 130, 0), ""),  # mocha exits with how many failed
    ],
)
def test_what_somebody_ended_shows_nothing(exit_code: int, counts: Counts | None, why: str) -> None:
    assert CommandRun("", "fail", exit=exit_code, counts=counts).why_nothing == why
