"""A workflow is one row of the table: with the row taken out, the rest works, also on what the workflow has left."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from omo import table
from tests.project import Project
from tests.written import ROOT

KINDS = [row.kind for row in table.ROWS if row.has_own_ledger]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_left", [False, True], ids=["never there", "left open"])
def test_the_rest_works_without_the_row(project: Project, kind: str, is_left: bool) -> None:
    if is_left:
        project.prompt(f"/omo:{kind} tidy up")
        left = {"run": "x1", "state": "active", "open": 1, "total": 2, "next": "tidy"}
        project.change_row(lambda row: {**row, "work": {**row["work"], kind: left}})
    done = subprocess.run(
        [sys.executable, "-m", "tests.hooks.without_a_row", kind, project.root],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "src"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
