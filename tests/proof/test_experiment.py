"""The three runs: what was made is kept by the files it ran on, and what was not is made once."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from omo.proof import base, experiment, gate_runs, verdicts
from omo.proof.gate_runs import Plain, Subject
from omo.proof.verdicts import Experiment
from omo.state import paths
from tests import texts

TEST = "import calc\nprint('ran', calc.add(2, 3))\nraise SystemExit(calc.add(2, 3) != 5)\n"


class Place:
    """A project with a gate that writes down, outside of it, each time it is run."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "a b"
        self.root.mkdir()
        self.state = str(self.root / ".sisyphus" / "cc-omo")
        self.runs = directory / "runs"
        self.write("calc.py", "def add(a, b):\n    return a - b - b\n")
        self.write("test_calc.py", TEST)
        commit = "git -c user.name=t -c user.email=t@example.invalid commit -qm base"
        subprocess.run(["sh", "-c", f"git init -q; git add .; {commit}"], cwd=self.root, check=True)
        self.began = base.take(str(self.root), os.environ, self.state)
        self.command = Plain(["sh", "-c", f"echo x >> '{self.runs}'; exec python3 -B test_calc.py"])

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def subject(self) -> Subject:
        look = base.look(str(self.root), self.began)
        return Subject(str(self.root), self.state, self.began, look, {"PATH": os.environ["PATH"]}, now=0.0)

    def prove(self, subject: Subject | None = None) -> Experiment:
        about = subject or self.subject()
        return experiment.prove(about, self.command, (), lambda: experiment.run_now(about, self.command))

    def count(self) -> int:
        """How often the gate ran since this was last asked."""
        lines = self.runs.read_text(encoding="utf-8").splitlines() if self.runs.exists() else []
        self.runs.unlink(missing_ok=True)
        return len(lines)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_ledger_that_somebody_changed_counts_for_nothing_and_is_begun_anew(place: Place) -> None:
    place.write("calc.py", "def add(a, b):\n    return a + b\n")
    place.prove()
    ledger = Path(paths.proof_dir(place.state), "ledger.jsonl")
    ledger.write_text(ledger.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    place.count()
    assert (place.prove().verdict, place.count()) == (verdicts.HOLDS, 2)
    assert (place.prove().verdict, place.count()) == (verdicts.HOLDS, 1)


def test_switched_off_or_too_long_nothing_is_swapped(place: Place) -> None:
    place.write("calc.py", "def add(a, b):\n    return a + b\n")
    off = place.prove(replace(place.subject(), minutes=0))
    assert off.verdict == verdicts.NOT_MADE
    assert texts.says(off.reason, "proof-switched-off")
    seen = gate_runs.CommandRun("of other files", "pass", seconds=900.0)
    subject = place.subject()
    long = experiment.prove(subject, place.command, [seen], lambda: experiment.run_now(subject, place.command))
    assert long.verdict == verdicts.NOT_MADE
    assert texts.says(long.reason, "proof-would-take-too-long", runs="2 runs", minutes=30, most=10)
    assert place.count() == 0


def test_a_gate_that_fails_and_passes_on_the_same_files_shows_nothing(place: Place) -> None:
    flag = place.runs.parent / "flag"
    place.command = Plain(["sh", "-c", f"test -e '{flag}' || {{ touch '{flag}'; exit 1; }}"])
    place.write("calc.py", "def add(a, b):\n    return a + b\n")
    assert place.prove().holds  # it has failed once without the work, and never since
    subject = place.subject()
    runs = list(gate_runs.recorded(subject, place.command))
    again = replace(runs[-1], result="pass", exit=0)
    made = experiment.prove(subject, place.command, [again], lambda: experiment.run_now(subject, place.command))
    assert made.verdict == verdicts.FLAKY
    assert texts.says(made.reason, "proof-gate-flaky-without-work", ended="exit 1")
