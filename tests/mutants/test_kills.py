"""The mutants of a line that tests check die, those of a line that they only run live."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from omo.mutants import mutants_of
from tests.mutants.tools import every_line, made, tools

CALC = """def price(amount, member):
    total = amount * 10
    if member and amount > 2:
        total = total - 5
    remember(total)
    return total


kept = []


def remember(total):
    kept.append(total)
    if len(kept) > 3:
        kept.pop()
"""
TEST = """import unittest
from calc import price


class Price(unittest.TestCase):
    def test_it(self):
        self.assertEqual([price(1, False), price(3, False), price(3, True), price(2, True)], [10, 30, 25, 20])
"""
UNTESTED = {5, 13, 14, 15}


def test_mutants_of_tested_lines_die(tmp_path: Path) -> None:
    (tmp_path / "test_calc.py").write_text(TEST, encoding="utf-8")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    content = CALC.encode()
    died: set[tuple[int, str]] = set()
    lived: set[tuple[int, str]] = set()
    for mutant in made(mutants_of("calc.py", content, every_line(content), tools(tmp_path))):
        (tmp_path / "calc.py").write_bytes(mutant.content)
        command = [sys.executable, "-m", "unittest", "-q"]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        (lived if ran.returncode == 0 else died).add((mutant.line, mutant.kind))
    assert died == {
        (2, "arithmetic"),
        (3, "condition"),
        (3, "boolean"),
        (3, "comparison"),
        (4, "arithmetic"),
        (6, "return"),
    }
    assert {line for line, _ in lived} == UNTESTED
    assert (5, "call") in lived
