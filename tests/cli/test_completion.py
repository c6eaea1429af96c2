"""`omo completion`: the scripts in the shells they are for."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator

import pytest

from omo.cli.completion import INSTALL
from omo.cli.main import build_parser
from tests.cli import shells
from tests.cli.shells import ROOT, World
from tests.project import Project

every_shell = pytest.mark.parametrize("shell_name", INSTALL)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = shells.build_world(tmp_path_factory.mktemp("completion"))
    for name in ("notes.txt", "no te.txt"):
        (world.project / name).touch()
    (world.project / "nested").mkdir()
    return world


def parsers(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[list[str], set[str]]]:
    """A line for each command, and what has to be offered for it: the commands below, or the long options."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    options = {name for action in parser._actions for name in action.option_strings if name.startswith("--")}
    yield [*path, "--"], options
    for action in below:
        yield [*path, ""], set(action.choices)
        for name, child in action.choices.items():
            yield from parsers(child, (*path, name))


@every_shell
def test_the_shell_finds_no_fault_with_the_script(world: World, shell_name: str) -> None:
    done = subprocess.run(
        [shells.require(shell_name), "-n", world.script(shell_name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@every_shell
def test_every_command_and_option_of_the_parsers_is_offered(world: World, shell_name: str) -> None:
    asked = list(parsers(build_parser()))
    assert len(asked) > 100
    if shell_name == "fish":
        asked = asked[::4]  # each of its answers takes ten times as long as one of the others'
    offered = shells.offered(world, shell_name, [line for line, _ in asked])
    missing = []
    for (line, expected), found in zip(asked, offered, strict=True):
        if not expected <= set(found):
            missing.append((line, expected - set(found)))
    assert missing == []


LINES = {
    "ul": {"ulw", "ultragoal"},
    "gate re": {"record", "remove"},
    "ultragoal gate in": {"init"},
    "ralph judge --no-": {"--no-refine"},
    "setup remove ": {"codex", "path", "statusline"},
    "ulw blocked --evidence ulw --que": {"--question"},
    "ledger verify --session x --js": {"--json"},
}


@every_shell
def test_what_is_offered_for_a_line(world: World, shell_name: str) -> None:
    found = shells.offered(world, shell_name, [line.split(" ") for line in LINES])
    assert {line: set(one) for line, one in zip(LINES, found, strict=True)} == LINES


@every_shell
def test_files_where_files_are_meant(world: World, shell_name: str) -> None:
    lines = [["verify", "add", "--file", "not"], ["gate", "add", "--cwd", "ne"]]
    files, directories = shells.offered(world, shell_name, lines)
    assert (files, [name.rstrip("/") for name in directories]) == (["notes.txt"], ["nested"])


@every_shell
def test_the_help_says_how_to_install_the_script(project: Project, shell_name: str) -> None:
    ran = project.user("completion", shell_name)
    assert (ran.code, ran.err) == (0, "")
    assert project.user("completion", shell_name, "--json").json["script"] + "\n" == ran.out
    assert INSTALL[shell_name] in (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")


def test_another_shell_is_told_which_there_are(project: Project) -> None:
    ran = project.user("completion", "tcsh")
    assert ran.code == 2
    for name in INSTALL:
        assert name in ran.err


def test_no_other_command_pays_for_the_library() -> None:
    program = "import sys; from omo.cli.main import build_parser; build_parser(); print('shtab' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
