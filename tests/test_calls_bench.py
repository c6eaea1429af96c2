"""Benches that count: commands and Stops call no more functions than they may; how many tests assert a sentence."""

from __future__ import annotations

import subprocess
import sys

from tests.test_architecture import ROOT


def test_a_command_and_a_stop_stay_within_their_calls() -> None:
    bench = ROOT / "bench" / "calls.py"
    ran = subprocess.run([sys.executable, bench], capture_output=True, encoding="utf-8", check=False, cwd="/")
    rows = [line for line in ran.stdout.splitlines() if line.startswith(("omo ", "a Stop "))]
    assert len(rows) == 3, ran.stdout + ran.stderr
    assert [row for row in rows if row.endswith("missed")] == [], ran.stdout
    assert ran.returncode == 0


def test_the_tests_that_assert_a_sentence_are_counted() -> None:
    command = [sys.executable, str(ROOT / "bench" / "phrases.py"), "--tests", "work"]
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", check=False, cwd="/")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
