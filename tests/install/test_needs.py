"""tests/needs.sh: names what is missing, and installs it only when asked to."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests import texts

ROOT = Path(__file__).resolve().parents[2]
RUNNERS = ("go", "cargo", "tox", "nox", "cc", "bwrap", "socat")


class Machine:
    """A PATH of our own: which programs are there, and what apt-get is asked for."""

    def __init__(self, directory: Path, *programs: str) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.log = directory / "log"
        self.log.touch()
        for program in programs:
            self.add(program, ":")

    def add(self, name: str, text: str) -> None:
        (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.bin / name).chmod(0o755)

    def add_apt(self, *, works: bool = True) -> None:
        make = '"$CHMOD" +x "$BIN/$name"'
        makes = f'for name; do case $name in chromium|tmux|shellcheck) : >"$BIN/$name"; {make};; esac; done'
        self.add("apt-get", f'echo "$DEBIAN_FRONTEND $*" >>"$LOG"\n{makes if works else "exit 100"}')

    def run(self, *options: str, code: int = 0) -> str:
        chmod = shutil.which("chmod")
        assert chmod
        environ = {"PATH": str(self.bin), "BIN": str(self.bin), "LOG": str(self.log), "CHMOD": chmod}
        done = subprocess.run(
            ["/bin/sh", ROOT / "tests" / "needs.sh", *options], env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (code, "")
        return done.stderr

    @property
    def asked(self) -> list[str]:
        return self.log.read_text().splitlines()


def test_nothing_is_done_or_said_where_nothing_is_missing(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "chromium", "tmux", *RUNNERS)
    machine.add_apt()
    assert (machine.run(), machine.run("--install"), machine.asked) == ("", "", [])


def test_what_is_missing_is_named_and_not_installed_unasked(tmp_path: Path) -> None:
    machine = Machine(tmp_path, *RUNNERS)
    machine.add_apt()
    assert texts.says(machine.run(), "needs-not-installed", programs="chromium tmux")
    assert machine.asked == []


def test_what_is_missing_is_installed_when_asked_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path, *RUNNERS)
    machine.add_apt()
    assert texts.says(machine.run("--install"), "needs-installing", programs="chromium tmux")
    update, install = machine.asked
    assert update == "noninteractive update -qq"
    assert install.startswith("noninteractive install ")
    assert "--no-install-recommends" in install
    assert install.endswith(" chromium tmux")
    assert machine.run() == ""


def test_more_than_the_tests_need_is_installed_by_its_name(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "chromium", "tmux", *RUNNERS)
    machine.add_apt()
    assert texts.says(machine.run("--install", "shellcheck"), "needs-installing", programs="shellcheck")
    assert machine.run("--install", "shellcheck") == ""


def test_a_package_that_is_called_otherwise_is_asked_for_by_its_own_name(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "chromium", "tmux", *RUNNERS[1:])
    machine.add_apt(works=False)
    assert texts.says(machine.run("--install", code=1), "needs-installing", programs="go")
    assert machine.asked[0] == "noninteractive update -qq"
    machine.add_apt()
    machine.run("--install", code=1)
    assert machine.asked[-1].endswith(" golang-go")


def test_an_installation_that_fails_is_not_passed_over(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "tmux", *RUNNERS)
    machine.add_apt(works=False)
    told = machine.run("--install", code=1)
    assert texts.says(told, "needs-could-not-install", programs="chromium")
    assert len(told.splitlines()) == 2


def test_the_tests_name_it_and_ci_asks_for_it() -> None:
    assert "\n    sh tests/needs.sh\n" in (ROOT / "tests" / "run").read_text()
    assert "\nsh tests/needs.sh --install shellcheck\n" in (ROOT / ".ci" / "run").read_text()
