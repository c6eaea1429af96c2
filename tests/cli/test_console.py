"""The command as a process: what it says where its output cannot go, and with which exit code it ends."""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from omo import __version__
from omo.text import fold
from tests import texts
from tests.project import SESSION, Project
from tests.terminal import terminal

SOURCE = Path(__file__).resolve().parents[2] / "src"
CONSOLE = "from omo.cli import console; console()"
# Runs a command with a terminal that is neither its input nor its output, as in `omo … <file | less`.
IN_A_TERMINAL = """
import os, pty, sys
child, _ = pty.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
nobody = os.open(os.devnull, os.O_RDWR)
for number in range(3):
    os.dup2(nobody, number)
os.execv(sys.argv[1], sys.argv[1:])
"""


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONUTF8": "1", **more}


def ran(where: Path, redirections: str, *argv: str) -> subprocess.CompletedProcess[str]:
    line = f'"$@" {redirections}'
    command = ["sh", "-c", line, "sh", sys.executable, "-c", CONSOLE, *argv]
    return subprocess.run(command, cwd=where, env=environ(), capture_output=True, text=True, check=False)


def pinned_by(where: Path, stdin: int, **more: str) -> str:
    """Whose a gate is that is pinned from there. In a session of its own, so that no terminal of ours is inherited."""
    done = subprocess.run(
        [sys.executable, "-c", CONSOLE, "gate", "add", "tests", "--session", "s1", "--json", "--", "true"],
        cwd=where,
        env=environ(**more),
        stdin=stdin,
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    by: str = json.loads(done.stdout)["by"]
    return by


@pytest.mark.parametrize(("more", "by"), [({}, "user"), ({"AI_AGENT": "x"}, "agent"), ({"CLAUDECODE": ""}, "agent")])
def test_a_person_types_in_a_terminal_that_no_host_has_started(project: Project, more: dict[str, str], by: str) -> None:
    project.make_state()
    with terminal() as screen:
        assert pinned_by(project.root, screen, **more) == by


def test_without_a_terminal_nobody_is_taken_for_a_person(project: Project) -> None:
    project.make_state()
    assert pinned_by(project.root, subprocess.DEVNULL) == "agent"


def test_a_terminal_counts_also_where_input_and_output_go_elsewhere(project: Project) -> None:
    command = [sys.executable, "-c", CONSOLE, "ulw", "start", "--session", "s1"]
    subprocess.run([sys.executable, "-c", IN_A_TERMINAL, *command], cwd=project.root, env=environ(), check=True)
    assert project.row("s1")["ulw"]["by"] == "user"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device here")
@pytest.mark.parametrize("argv", [("status",), ("gate", "suggest"), ("--help",)])
def test_a_full_output_is_told_in_a_line(project: Project, argv: tuple[str, ...]) -> None:
    done = ran(project.root, ">/dev/full", *argv)
    swallowed = [(0, False)] if argv == ("--help",) else []  # newer argparse swallows the error itself
    assert (done.returncode, texts.says(done.stderr, "console-output-cannot-be-written")) in [(1, True), *swallowed]
    if argv == ("status",):
        assert ran(project.root, ">/dev/full 2>/dev/full", *argv).returncode == 1, "where nothing can be told"


@pytest.mark.parametrize(
    ("closed", "argv", "code"),
    [(">&-", ("status",), 0), (">&-", ("status", "--nonsense"), 2), (">&- 2>&- <&-", ("status",), 0)],
)
def test_a_closed_output_is_silence(project: Project, closed: str, argv: tuple[str, ...], code: int) -> None:
    done = ran(project.root, closed, *argv)
    assert (done.returncode, done.stdout) == (code, "")
    assert "bug" not in done.stderr
    assert "Exception" not in done.stderr


def test_whoever_has_read_enough_is_left_in_peace(project: Project) -> None:
    done = ran(project.root, "| head -c 1", "status")
    assert (done.stdout, done.stderr) == ("N", "")


def test_a_directory_that_is_gone_is_told_in_a_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'rmdir "$PWD"; "$@"'
    command = ["sh", "-c", line, "sh", sys.executable, "-c", CONSOLE, "status"]
    done = subprocess.run(command, cwd=gone, env=environ(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert texts.says(done.stderr, "console-directory-you-are-in-was")
    assert texts.says(done.stderr, "console-cd-to-one-that-is")


# Says nothing before somebody has seen what is shown, and ends then: no test has to wait longer than the program.
SHOWN_WHILE = """
import sys, threading
from omo import progress
class Stream:
    is_shown = threading.Event()
    def isatty(self): return sys.argv[1] == "terminal"
    def write(self, text): sys.stdout.write(repr(text) + "\\n"); self.is_shown.set()
    def flush(self): pass
progress.stream, progress.PATIENCE = Stream(), 0.01
with progress.doing("looking at 1 of 2") as doing, progress.doing("running something inside"):
    Stream.is_shown.wait()
    Stream.is_shown.clear()
    doing.text = "looking at 2 of 2"
    Stream.is_shown.wait()
"""


@pytest.mark.parametrize("where", ["terminal", "pipe"])
def test_what_takes_long_says_so(tmp_path: Path, where: str) -> None:
    argv = [sys.executable, "-c", SHOWN_WHILE, where]
    done = subprocess.run(argv, env=environ(), capture_output=True, text=True, check=True, timeout=60)
    lines = [ast.literal_eval(line) for line in done.stdout.splitlines()]
    if where == "pipe":
        assert lines == ["omo: looking at 1 of 2…\n", "omo: looking at 2 of 2…\n"]
    else:
        assert lines[0] == "\r\x1b[Komo: looking at 1 of 2 · 1 s"
        assert lines[-1] == "\r\x1b[K"
        assert not any("something" in line for line in lines)


def test_help_says_of_each_command_what_the_command_says_of_itself() -> None:
    from omo.cli.main import COMMANDS, build_parser

    commands = [action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction)]
    said = {name: parser.description for name, parser in commands[0].choices.items()}
    assert said == {name: about for name, (_, about) in COMMANDS.items()}


def test_bare_omo_shows_help_in_two_groups(project: Project) -> None:
    shown = project.user()
    assert (shown.code, shown.err) == (0, "")
    mine, _, agents = shown.out.partition("for the agent:")
    assert ("\n  status " in mine, "\n  setup " in mine, "\n  gate " in mine) == (True, True, False)
    assert "\n  gate " in agents
    assert project.user("help").out == shown.out
    assert ran(project.root, "", "help", "gate").stdout == ran(project.root, "", "gate", "--help").stdout


@pytest.mark.parametrize(
    ("typed", "message", "fix"),
    [
        ("statsu", "there is no command statsu; did you mean status?", "omo status"),
        ("gate lst", "omo gate has no command lst; did you mean list?", "omo gate list"),
        ("xyz", "there is no command xyz", "omo --help"),
        (
            "pin tests",
            "pin is no command of the shell: it is typed in the conversation, as /omo:pin",
            "omo gate add NAME -- COMMAND pins one from here",
        ),
        (
            "budget",
            "budget is no command of the shell: it is typed in the conversation, as /omo:budget",
            "in the conversation: /omo:budget 2M tokens",
        ),
        ("ulw done --reason x", "omo ulw done does not take --reason", "omo ulw done --help"),
        ("gate add tests pytest -q", "omo gate add does not take -q", "omo gate add NAME -- COMMAND …"),
        ("status --jsn", "omo status does not take --jsn; did you mean --json?", "omo status --help"),
        ("gate run --seson=x", "omo gate run does not take --seson; did you mean --session?", "omo gate run --help"),
        ("status extra", "omo status does not take extra", "omo status --help"),
    ],
)
def test_what_may_have_been_meant_is_named(project: Project, typed: str, message: str, fix: str) -> None:
    ran = project.user(*typed.split())
    assert (ran.code, ran.out, ran.err) == (2, "", f"omo: {message}\n  fix: {fix}\n")


def test_a_terminal_breaks_no_word_of_what_is_said(project: Project) -> None:
    """What is to be typed stays one line, which can be copied."""
    assert shown_on_44_columns(project, "pin", "tests") == [
        "omo: pin is no command of the shell: it is",
        "typed in the conversation, as /omo:pin",
        "  fix: omo gate add NAME -- COMMAND pins one from here",
    ]
    project.prompt("/omo:ultragoal a file NOTES")
    assert shown_on_44_columns(project, "next", "--session", SESSION) == [
        "Nothing is on in this session.",
        'Next: the user typed /omo:ultragoal "a file',
        'NOTES", and nothing of it was begun',
        "  $ omo ultragoal create-goals --start --brief-file FILE   (write the goals down, then)",
    ]


def shown_on_44_columns(project: Project, *typed: str) -> list[str]:
    keyboard, screen = os.openpty()
    with open(keyboard, "rb", buffering=0) as shown:
        command = [sys.executable, "-c", CONSOLE, *typed]
        subprocess.run(command, cwd=project.root, env=environ(COLUMNS="44"), stdout=screen, stderr=screen, check=False)
        lines = shown.read(4096).decode().splitlines()
    os.close(screen)
    return lines


def test_a_session_in_which_nothing_was_on_is_not_called_off(project: Project) -> None:
    """A mistyped id must not read as if the session that was meant had been let go."""
    ran = project.user("stop-continuation", "--session", "mistyped")
    assert (ran.code, ran.says("session-nothing-was-on", session="mistyped")) == (0, True)


def test_a_folded_line_goes_on_below_where_its_words_began() -> None:
    lines = ["  => block      work is open, and nothing lets it stop", "  - a: it fails, and nobody knows why it does"]
    assert fold("\n".join(lines), 30).splitlines() == [
        "  => block      work is open,",
        "                and nothing",
        "                lets it stop",
        "  - a: it fails, and nobody",
        "    knows why it does",
    ]


@pytest.mark.parametrize("typed", ["--version", "-V", "version"])
def test_the_version_is_told_however_it_is_asked_for(project: Project, typed: str) -> None:
    ran = project.user(typed)
    assert (ran.code, ran.out, ran.err) == (0, f"omo {__version__}\n", "")


def test_help_and_version_load_no_command(tmp_path: Path) -> None:
    for option in ("--help", "--version"):
        program = f"import sys; sys.argv = ['omo', {option!r}]\ntry:\n    {CONSOLE}\nfinally:\n    print(*sys.modules)"
        argv = [sys.executable, "-S", "-c", program]
        done = subprocess.run(argv, cwd=tmp_path, env=environ(), capture_output=True, text=True, check=True)
        ours = {name for name in done.stdout.split() if name.startswith("omo.")}
        assert ours == {"omo.cli", "omo.cli.main", "omo.progress", "omo.table", "omo.text"}, option
