"""Benches that count: `omo ulw done` calls no more functions than it may; how many tests assert a sentence."""

from __future__ import annotations

import subprocess
import sys

from tests.test_architecture import ROOT


def test_a_command_stays_within_its_calls() -> None:
    bench = ROOT / "bench" / "calls.py"
    ran = subprocess.run([sys.executable, bench], capture_output=True, encoding="utf-8", check=False, cwd="/")
    rows = [line for line in ran.stdout.splitlines() if line.startswith(("omo ", "a Stop "))]
    assert len(rows) == 3, ran.stdout + ran.stderr
    assert rows[0].startswith("omo ulw done ")
    assert not rows[0].endswith("missed"), ran.stdout


def test_the_tests_that_assert_a_sentence_are_counted() -> None:
    command = [sys.executable, str(ROOT / "bench" / "phrases.py"), "--tests", "work"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
