"""`omo proof` in any clone, from omo's address, with the plugin never installed: what docs/proof.md has in one line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import texts
from tests.project import Project

pytestmark = [pytest.mark.install]

ROOT = Path(__file__).parents[2]
CALC = "def add(a, b):\n    return a - b\n"
TESTS = (
    "import unittest, calc\n\n\nclass Add(unittest.TestCase):\n    def test_{0}(self):\n        self.assertEqual({1})\n"
)


def test_from_its_address_it_judges_a_branch(project: Project, tmp_path: Path) -> None:
    project.write("calc.py", CALC)
    project.write("test_calc.py", TESTS.format("same", "calc.add(2, 0), 2"))
    project.commit("base")
    project.git("checkout", "-q", "-b", "feature")
    project.write("calc.py", CALC.replace("a - b", "a + b"))
    project.write("test_add.py", TESTS.format("add", "calc.add(2, 3), 5"))
    project.commit("the change")
    # As pipx and uvx do it: an environment of its own, and the package by git.
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    address = f"git+{ROOT.as_uri()}"
    subprocess.run([environment / "bin" / "pip", "install", "--quiet", address], check=True, cwd=tmp_path)
    ran = subprocess.run(
        [environment / "bin" / "omo", "proof", "--", "python3", "-B", "-m", "unittest", "-q"],
        cwd=project.root,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stdout.startswith("proven. ")) == (0, True), ran
    assert texts.says(ran.stdout, "proof-fails-without-the-change", test="test_add")
