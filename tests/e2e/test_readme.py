"""The shell lines of the README, typed one after the other in a fresh copy, by somebody with a new home."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import pages
from tests.e2e.client import Client, environment
from tests.e2e.test_install import copy_repository
from tests.hooks.conftest import point_at

pytestmark = pytest.mark.client


def test_what_the_readme_says_to_type_works(client: Client, home: Path, plugin_root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "a clone"
    copy_repository(plugin_root, clone)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(client.binary)
    point_at(home, sys.executable)  # what the first session builds
    environ = environment(home, None, {"OMO_ENV_HOME": str(home)})
    environ["PATH"] = f"{programs}:{home / '.local' / 'bin'}:{environ['PATH']}"
    lines = []
    for block in pages.blocks(pages.ROOT / "README.md"):
        if block.language == "sh":
            lines += block.text.splitlines()
    assert lines
    printed = {}
    for line in lines:
        # What changes files outside the project shows them first, and asks.
        typed = f"{line} --yes" if " setup " in line else line
        ran = subprocess.run(["sh", "-c", typed], cwd=clone, env=environ, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, f"{line}\n{ran.stdout}{ran.stderr}"
        printed[line] = ran.stdout
    assert "Done, proven: gate check" in printed["./bin/omo demo"]
    left = [path for path in home.rglob("*") if "omo@omo" in path.name and path.is_dir()]
    assert left == []
