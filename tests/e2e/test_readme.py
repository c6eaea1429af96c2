"""The shell lines of the README, typed one after the other in a fresh copy, by somebody with a new home."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from omo import __version__
from tests.docs import pages
from tests.e2e import releases
from tests.e2e.client import Client, environment
from tests.e2e.releases import copy_repository
from tests.hooks.conftest import point_at

pytestmark = pytest.mark.client

QUESTION = b"[y/N]"


def test_what_the_readme_says_to_type_works(client: Client, home: Path, plugin_root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "a clone"
    copy_repository(plugin_root, clone)
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").symlink_to(client.binary)
    built = tmp_path / "environments"
    built.mkdir()
    point_at(built, sys.executable)  # what the first session builds
    environ = environment(home, None, {"OMO_ENV_HOME": str(built)})
    environ["PATH"] = f"{programs}:{home / '.local' / 'bin'}:{environ['PATH']}"
    lines: list[str] = []
    of_a_url: list[str] = []
    for block in pages.blocks(pages.ROOT / "README.md"):
        if block.language == "sh":
            kind = of_a_url if "$URL" in block.text else lines
            kind += block.text.splitlines()
    printed = {line: typed(line, clone, environ) for line in lines}
    assert "Done, proven: gate check" in printed["./bin/omo demo"]
    assert not (home / ".local" / "bin" / "omo").exists()
    assert "omo" not in typed("claude plugin marketplace list", clone, environ)

    released = releases.clone(tmp_path / "another clone")
    released.release(__version__)
    released.publish()
    with releases.hosted(released) as url:
        for line in of_a_url:
            typed(line, tmp_path, {**environ, "URL": url})
    assert (home / ".local" / "bin" / "omo").exists()
    assert __version__ in typed("claude plugin list", tmp_path, environ)


def typed(line: str, cwd: Path, environ: dict[str, str]) -> str:
    """In a terminal, whose owner agrees to what is shown."""
    ours, theirs = pty.openpty()
    command = ["sh", "-c", line]
    with subprocess.Popen(command, cwd=cwd, env=environ, stdin=theirs, stdout=theirs, stderr=theirs) as shell:
        os.close(theirs)
        printed, answered = b"", 0
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says so when the last writer is gone
                piece = b""
            if not piece:
                break
            printed += piece
            if printed.count(QUESTION) > answered:
                answered += 1
                os.write(ours, b"y\n")
    os.close(ours)
    assert shell.returncode == 0, f"{line}\n{printed.decode(errors='replace')}"
    return printed.decode(errors="replace")
