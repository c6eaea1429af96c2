"""tests/needs.sh: what it installs, where it may, and what it says where it may not."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = "tests/needs.sh: not installed:{}; tests that need them are skipped\n"


class Machine:
    """A PATH of our own: who we are, which programs are there, and what apt-get is asked for."""

    def __init__(self, directory: Path, *programs: str, user: int = 0) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.log = directory / "log"
        self.log.touch()
        self.add("id", f"echo {user}")
        for program in programs:
            self.add(program, ":")

    def add(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def add_apt(self, *, works: bool = True) -> None:
        make = '"$CHMOD" +x "$BIN/$name"'
        makes = f'for name; do case $name in zsh|fish|chromium) : >"$BIN/$name"; {make};; esac; done'
        self.add("apt-get", f'echo "$DEBIAN_FRONTEND $*" >>"$LOG"\n{makes if works else "exit 100"}')

    def run(self) -> str:
        chmod = shutil.which("chmod")
        assert chmod
        environ = {"PATH": str(self.bin), "BIN": str(self.bin), "LOG": str(self.log), "CHMOD": chmod}
        done = subprocess.run(
            ["/bin/sh", ROOT / "tests" / "needs.sh"], env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "")
        return done.stderr

    @property
    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()


def test_nothing_is_done_or_said_where_nothing_is_missing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "zsh", "fish", "chromium")
    machine.add_apt()
    assert (machine.run(), machine.asked) == ("", [])


def test_root_installs_what_is_missing_and_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "fish")
    machine.add_apt()
    assert machine.run() == "tests/needs.sh: installing zsh chromium with apt-get\n"
    update, install = machine.asked
    assert update == "noninteractive update -qq"
    assert install.startswith("noninteractive install ")
    assert "--no-install-recommends" in install
    assert install.endswith(" zsh chromium")
    assert machine.run() == ""


@pytest.mark.parametrize(("user", "has_apt"), [(1000, True), (0, False)])
def test_who_may_not_install_is_told_what_is_skipped(tmp_path: Path, user: int, has_apt: bool) -> None:
    machine = Machine(tmp_path, "zsh", user=user)
    if has_apt:
        machine.add_apt()
    assert machine.run() == SKIPPED.format(" fish chromium")
    assert machine.asked == []


def test_an_installation_that_fails_is_not_passed_over(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "zsh", "fish")
    machine.add_apt(works=False)
    assert machine.run().splitlines()[1:] == SKIPPED.format(" chromium").splitlines()


def test_the_tests_ask_for_it() -> None:
    assert "\nsh tests/needs.sh\n" in (ROOT / "tests" / "run").read_text()
