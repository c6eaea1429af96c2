"""The README's main job: a whole session through the real hook commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from omo.cli import demo
from omo.hosts import setups
from tests import texts
from tests.hooks.conftest import ROOT, point_at
from tests.project import Project

OPEN = ["Open Claude Code in a project of yours, and type:", "  ulw fix the failing test"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "environment home"
    home.mkdir()
    point_at(home, sys.executable)
    return {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OMO_ENV_HOME": str(home)}


def test_the_demo_ends_with_what_to_type_next(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    hosts = setups.every({"HOME": str(tmp_path)}, str(tmp_path))
    assert demo.next_steps(hosts, Path("/a clone")) == [
        "Install omo:",
        "  claude plugin install omo --marketplace '/a clone'",
        *OPEN,
    ]
    (tmp_path / ".claude" / "settings.json").write_text('{"enabledPlugins": {"omo@omo": true}}')
    hosts = setups.every({"HOME": str(tmp_path)}, str(tmp_path))
    assert demo.next_steps(hosts, Path("/a clone")) == OPEN


def test_the_demo_plays_to_its_end(project: Project, environ: dict[str, str]) -> None:
    ran = project.omo("demo", by="user", env=environ)
    assert ran.code == 0, ran.err
    for line in (
        "2. You type ulw, and pin the check that has to pass",
        "you    > /omo:pin check -- ",
        "Ultrawork active",
        "check: fails (1 failed: test_sum (__main__.Add",
        "Done, proven: gate check",
        "passes with it (1 passed)",
        "git status: M add.py",
    ):
        assert line in ran.out
    played, _, following = ran.out.partition("7. Now you\n")
    assert max(map(len, played.splitlines())) <= 80
    assert texts.says(following.splitlines()[-1], "demo-ulw-fix-failing-test")
    assert project.omo("demo", "--json", by="user", env=environ).json["steps"], "and nothing else is printed"


def test_bin_omo_runs_the_same_cli(project: Project, environ: dict[str, str]) -> None:
    done = subprocess.run(
        [ROOT / "bin" / "omo", "ulw", "status", "--json"],
        cwd=project.root,
        env={**environ, "CLAUDE_CODE_SESSION_ID": "x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"mode": "off"' in done.stdout
