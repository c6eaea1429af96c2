"""A clone of this repository in which releases are made, with what is not committed yet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import git_server

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Clone:
    root: Path

    @property
    def hosted(self) -> Path:
        return self.root.with_name("hosted") / "omo.git"

    def publish(self) -> None:
        """Push what `./bin/release` says to push."""
        if not self.hosted.exists():
            self.git("init", "-q", "--bare", "-b", "main", str(self.hosted))
            self.git("remote", "add", "origin", str(self.hosted))
        self.git("push", "-q", "origin", "main", "release")

    def git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=self.root, capture_output=True, encoding="utf-8", check=True
        ).stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def python(self, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the clone, which finds no client."""
        environ = {**os.environ, "OMO_CLAUDE": os.devnull, "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-B", script, *arguments]
        return subprocess.run(command, cwd=self.root, env=environ, capture_output=True, text=True, check=False)

    def add_section(self, version: str) -> None:
        """Put a section into the changelog, with the one line that a release needs."""
        head, section, rest = self.read("CHANGELOG.md").partition("## ")
        self.write("CHANGELOG.md", f"{head}## {version}\n\n- More.\n\n{section}{rest}")
        self.commit(f"notes on {version}")

    def release(self, version: str) -> str:
        done = self.python("docs/make_release.py", version)
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def hosted(clone: Clone) -> Iterator[str]:
    """Serve what the clone has published, and yield its address."""
    with git_server.serve(clone.hosted.parent) as address:
        yield f"{address}/{clone.hosted.name}"


def copy_repository(root: Path, to: Path) -> None:
    """What a clone would hold, and what is not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)


def clone(place: Path) -> Clone:
    copy_repository(ROOT, place)
    made = Clone(place)
    made.git("init", "-q", "-b", "main")
    made.git("config", "user.name", "Test")
    made.git("config", "user.email", "test@example.org")
    made.commit("all")
    return made
