"""The README's main job: a whole session through the real hook commands."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.hooks.conftest import ROOT, point_at
from tests.project import Project


def test_the_demo_plays_to_its_end(project: Project, tmp_path: Path) -> None:
    import os
    import sys

    home = tmp_path / "environment home"
    home.mkdir()
    point_at(home, sys.executable)
    ran = project.omo(
        "demo", by="user", env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OMO_ENV_HOME": str(home)}
    )
    assert ran.code == 0, ran.err
    for line in (
        "2. You type ulw, and pin the check that has to pass",
        "you    > /omo:pin check -- ",
        "Ultrawork active",
        "check: fails (AssertionError: two and two)",
        "Done, proven: gate check",
        "git status: M add.py",
    ):
        assert line in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


def test_bin_omo_runs_the_same_cli(project: Project, tmp_path: Path) -> None:
    import os
    import sys

    home = tmp_path / "environment home"
    home.mkdir()
    point_at(home, sys.executable)
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OMO_ENV_HOME": str(home)}
    environ["CLAUDE_CODE_SESSION_ID"] = "x"
    done = subprocess.run(
        [ROOT / "bin" / "omo", "ulw", "status", "--json"],
        cwd=project.root,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"mode": "off"' in done.stdout
