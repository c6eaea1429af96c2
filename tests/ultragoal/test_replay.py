"""Replays: what may run, how it runs, and what is compared."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import pytest

from omo.errors import BadInput, Refused
from omo.proof.gate_runs import Plain
from omo.strict import validated
from omo.workflows.ultragoal.gate.models import ReplayExempt
from omo.workflows.ultragoal.gate.replay import Record, normalise, record, replay, speaks_of_project
from omo.workflows.ultragoal.gate.replay import parse_replay as parse
from tests import texts
from tests.project import git
from tests.proof.test_evaluate import write

GOOD: dict[str, Any] = {
    "schemaVersion": 1,
    "kind": "cli-replay",
    "replaySafe": True,
    "command": ["git", "status"],
    "recordedStdout": "git version 2\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    write(project, "value.txt", "old\n")
    git(project, "add", "--all")
    git(project, "commit", "-q", "-m", "the first")
    return project


def script(directory: Path, code: str) -> str:
    """Python code as a program. Its first line cannot name an interpreter whose path has a space: a link can."""
    link = directory / "python"
    if not link.is_symlink():
        link.symlink_to(os.path.realpath(sys.executable))
    return f"#!{link}\n{code}\n"


def tool(root: Path, code: str, name: str = "mycli") -> tuple[str, ...]:
    """A program of the project, and the command line the user pinned it with."""
    path = write(root, name, script(root.parent, code))
    path.chmod(0o755)
    return (f"./{name}",)


def run(
    root: Path, command: Sequence[str], stdout: str, *, pins: Any = None, environ: Any = None, **fields: Any
) -> Any:
    pins = [Plain(command, fields.get("cwd", "."))] if pins is None else pins
    return replay(recorded(command, stdout, **fields), root, pins, environ or os.environ)


def recorded(command: Sequence[str], stdout: str, **fields: Any) -> Record:
    """A record as it is after reading; what cannot be read is the matter of other tests."""
    return Record.model_construct(command=list(command), stdout=stdout, **fields)


def defects(document: object, read: Callable[[object], object] = parse) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(document)
    assert caught.value.fix
    found = caught.value.details["defects"]
    assert isinstance(found, list)
    return found


MORE = {"recordedStderr": "", "expectedExitCode": 3, "normalization": "default", "timeoutMs": 2500, "cwd": "sub"}


@pytest.mark.parametrize(
    ("more", "read"),
    [
        ({}, (None, 0, 10.0, ".")),
        (MORE, ("", 3, 2.5, "sub")),
        ({"timeoutMs": 1}, (None, 0, 1.0, ".")),
        ({"timeoutMs": 10_000}, (None, 0, 10.0, ".")),
        ({"timeoutMs": 10**9}, (None, 0, 120.0, ".")),
    ],
)
def test_a_record_that_can_be_used(more: dict[str, object], read: tuple[object, ...]) -> None:
    found = parse({**GOOD, **more})
    assert (found.command, found.stdout) == (["git", "status"], "git version 2\n")
    assert (found.stderr, found.exit_code, found.timeout, found.cwd) == read


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"schemaVersion": 2}, "schemaVersion: must be less than or equal to 1, got 2"),
        ({"kind": "command-replay"}, "kind"),
        ({"command": "git --version"}, "must be a list"),
        ({"command": []}, "command"),
        ({"command": ["git", "a\0b"]}, "command"),
        ({"replaySafe": False}, "replaySafe"),
        ({"replaySafe": 1}, "replaySafe"),
        ({"recordedStdout": None}, "recordedStdout"),
        ({"expectedExitCode": "0"}, "expectedExitCode"),
        ({"expectedExitCode": -1}, "expectedExitCode"),
        ({"normalization": "none"}, "normalization"),
        ({"timeoutMs": 0}, "timeoutMs"),
        ({"cwd": ""}, "cwd"),
        ({"recordedStdErr": "x"}, "recordedStdErr: no such field; did you mean recordedStderr?"),
        ({"env": {"PATH": "/tmp"}}, "env: no such field"),
    ],
)
def test_a_record_that_cannot_be_used(fields: dict[str, object], said: str) -> None:
    (found,) = defects({**GOOD, **fields})
    assert said in found


def test_a_record_is_an_object_and_all_its_defects_are_told_at_once() -> None:
    no_objects: list[object] = [None, [], "git --version", 1]
    for document in no_objects:
        assert texts.says(defects(document)[0], "ultragoal-replay-record-no-object")
    assert len(defects({"kind": "x", "command": "ls", "env": {"A": "b"}})) == 6


NOT_PINNED = [
    ["mycli", "--help"],
    ["git", "status"],
    ["sh", "-c", "touch pwned"],
    ["python3", "-c", "open('pwned', 'w')"],
    ["./mycli", "--help;", "touch", "pwned"],
]


@pytest.mark.parametrize("argv", NOT_PINNED, ids=" ".join)
def test_what_the_user_did_not_pin_word_for_word_is_not_run(root: Path, argv: list[str]) -> None:
    (found,) = run(root, argv, "", pins=[Plain(["./mycli", "--help"])])
    assert "/omo:pin" in found
    assert not (root / "pwned").exists()


def test_a_project_command_is_replayed_once_pinned(root: Path) -> None:
    command = [*tool(root, "import sys; print('hello', *sys.argv[1:])"), "you"]
    assert run(root, command, "hello you\n") == []
    assert "/omo:pin" in run(root, command, "hello you\n", pins=[])[0]


@pytest.mark.parametrize(
    ("argv", "is_about_it"),
    [
        (["./mycli", "x"], True),
        (["python3", "value.txt"], True),
        (["python3", "-m", "pkg.cli"], True),
        (["node", "dist", "--out=value.txt"], True),
        (["pytest", "pkg/cli.py::test_one"], True),
        (["go", "test", "-run", "IsBool", "."], True),
        (["pytest", "--version"], False),
        (["pytest", "--markers"], False),
        (["go", "test", "-list", "."], False),
        (["echo", "all tests passed"], False),
        (["node", "-e", "console.log('ok')"], False),
        (["python3", "--version"], False),
        (["mycli"], False),
        (["ls", "."], False),
        (["cat", "../outside.txt"], False),
        (["cat", ".sisyphus/evidence/said.txt"], False),
    ],
)
def test_which_commands_say_anything_of_the_project(root: Path, argv: list[str], is_about_it: bool) -> None:
    tool(root, "")
    write(root, "pkg/cli.py", "")
    write(root.parent, "outside.txt", "x")
    write(root, ".sisyphus/evidence/said.txt", "all passed")
    assert speaks_of_project(str(root), None, argv, ".") is is_about_it


def test_what_omo_records_is_a_record_that_its_replay_agrees_with(root: Path) -> None:
    command = tool(root, "import sys; print('hello', *sys.argv[1:]); print('oh', file=sys.stderr); sys.exit(3)")
    document = record([*command, "you"], root, ".", 10.0, os.environ)
    assert (document["recordedStdout"], document["recordedStderr"], document["expectedExitCode"]) == (
        "hello you\n",
        "oh\n",
        3,
    )
    assert replay(parse(document), root, [Plain([*command, "you"])], os.environ) == []


@pytest.mark.parametrize("code", ["import os; os.kill(os.getpid(), 9)", "print('x' * (1 << 21))", "while True: pass"])
def test_a_run_that_does_not_end_by_itself_is_not_recorded(root: Path, code: str) -> None:
    with pytest.raises(Refused):
        record(tool(root, code), root, ".", 1.0, os.environ)


def test_a_runner_that_ran_no_test_is_not_recorded(root: Path) -> None:
    printed = "running 0 tests\\n\\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out"
    with pytest.raises(Refused, match="ran no test"):
        record(tool(root, f"print('{printed}')"), root, ".", 10.0, os.environ)


def test_what_must_be_equal(root: Path) -> None:
    command = tool(root, "import sys; print('a'); print('b'); print('oh', file=sys.stderr); sys.exit(3)")
    same: dict[str, Any] = {"stderr": "oh\n", "exit_code": 3}
    assert run(root, command, "a\nb\n", **same) == []
    assert texts.says(run(root, command, "a\nc\n", **same)[0], "ultragoal-replay-differs", line=2, before="'c'")
    assert texts.says(run(root, command, "a\n", **same)[0], "ultragoal-replay-differs", before="'(nothing more)'")
    other = run(root, command, "a\nb\n", **{**same, "stderr": "no\n"})[0]
    assert texts.says(other, "ultragoal-replay-differs", stream="recordedStderr", line=1)
    assert "exit code 3" in run(root, command, "a\nb\n", **{**same, "exit_code": 0})[0]
    assert len(run(root, command, "x", stderr="y", exit_code=9)) == 3


def test_no_recorded_stderr_means_that_none_came(root: Path) -> None:
    command = tool(root, "import sys; print('value 12'); print('warning', file=sys.stderr)")
    assert texts.says(run(root, command, "value 12\n")[0], "ultragoal-replay-differs", now="'warning'")


def test_a_command_that_ignores_sigterm_is_killed_in_time(root: Path) -> None:
    code = "import os, signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os.getpid(), flush=True)\n"
    command = tool(root, code + "open('pid', 'w').write(str(os.getpid()))\nwhile True: signal.pause()")
    (found,) = run(root, command, "", milliseconds=1000.0)
    assert texts.says(found, "ultragoal-replay-timed-out", seconds=1)
    with pytest.raises(ProcessLookupError):
        os.kill(int((root / "pid").read_text()), 0)


def test_a_command_that_dies_of_a_signal_or_is_not_there(root: Path) -> None:
    assert "signal 9" in run(root, tool(root, "import os; os.kill(os.getpid(), 9)"), "")[0]
    assert texts.says(run(root, ["./missing"], "")[0], "ultragoal-replay-not-started", program="'./missing'")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_too_much_output_fails(root: Path, stream: str) -> None:
    command = tool(root, f"import sys; sys.{stream}.write('x' * (1 << 20) + 'y')")
    told = "\n".join(run(root, command, "x"))
    assert texts.says(told, "ultragoal-replay-says-too-much", stream=stream)


def test_nothing_goes_to_a_shell(root: Path) -> None:
    command = tool(root, "import sys; print(sys.argv[1])")
    argument = "$(touch pwned); touch pwned | `touch pwned`"
    assert run(root, [*command, argument], argument + "\n") == []
    assert not (root / "pwned").exists()


def test_a_pinned_command_is_found_as_the_user_finds_it_but_never_by_the_directory(root: Path) -> None:
    write(root, ".venv/bin/mycli", "#!/bin/sh\necho mine\n").chmod(0o755)
    write(root, "mycli", "#!/bin/sh\necho planted\n").chmod(0o755)
    environ = {"PATH": os.pathsep.join(["", ".", str(root / ".venv/bin"), os.environ["PATH"]])}
    assert run(root, ["mycli"], "mine\n", environ=environ) == []


def test_the_environment_of_a_pinned_command(root: Path) -> None:
    names = ("ANTHROPIC_API_KEY", "CLAUDECODE", "CI", "NO_COLOR", "HOME")
    command = tool(root, f"import os; print(*(os.environ.get(name) for name in {names}))")
    environ = {**os.environ, "ANTHROPIC_API_KEY": "s3cret", "CLAUDECODE": "1", "HOME": "/home/me"}
    assert run(root, command, "None None 1 1 /home/me\n", environ=environ) == []


@pytest.mark.parametrize(
    ("cwd", "said"),
    [
        ("..", "leads out of the project"),
        ("/", "leads out of the project"),
        ("out", "leads out of the project"),
        ("out/deeper", "leads out of the project"),
        ("missing", "not a directory"),
        ("value.txt", "not a directory"),
    ],
)
def test_the_directory_stays_in_the_project(root: Path, tmp_path: Path, cwd: str, said: str) -> None:
    (tmp_path / "outside" / "deeper").mkdir(parents=True)
    (root / "out").symlink_to(tmp_path / "outside")
    assert said in run(root, ["true"], "", cwd=cwd)[0]


def test_a_pin_is_for_its_own_directory(root: Path) -> None:
    command = tool(root, "print('mine')")
    tool(root, "print('another')", "sub/mycli")
    assert "/omo:pin" in run(root, command, "another\n", cwd="sub", pins=[Plain(command)])[0]
    assert run(root, command, "another\n", cwd="./sub", pins=[Plain(command, "sub")]) == []


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("\x1b[1;31mred\x1b[0m \x1b]8;;x\x07link", "red link", True),
        ("a\r\nb\rc", "a\nb\nc", True),
        ("a  \nb\t\n\n\n", "a\nb", True),
        ("a\n\nb", "a\nb", False),
        ("  a", "a", False),
        ("at 2026-01-05T10:00:00Z", "at 1999-12-31T23:59:59.123Z", True),
        ("at 2026-01-05", "at 2026-01-06", False),
        ("3b241101-e2bb-4255-8caf-4136c566a962", "00000000-0000-4000-8000-00000000000a", True),
        ("commit 65513b1", "commit a273387f0", True),
        ("commit " + "a1" * 20, "commit " + "b2" * 20, True),
        ("sha256 " + "a1" * 32, "sha256 " + "b2" * 32, False),
        ("12345678 rows", "12345679 rows", False),
        ("1234567e8", "1234568e8", False),
        ("0.12345678", "0.12345679", False),
        ("deadbeef", "cafebabe", False),
        ("defaced", "effaced", False),
        ("65513B1", "A273387", False),
        ("x65513b1", "xa273387", False),
        ("/tmp/tmpab12/out.txt", "/tmp/tmpzz99/out.txt", True),
        ("/tmp/tmpab12/out.txt", "/tmp/tmpab12/other.txt", False),
        ("/var/folders/ab/cd_12/T/x1/a", "/private/var/folders/ef/gh/T/x2/a", True),
        ("in /home/me/p/src", "in <project>/src", True),
        ("in /home/me/p2", "in <project>2", False),
    ],
)
def test_what_is_the_same_after_normalisation(one: str, other: str, is_same: bool) -> None:
    places: Mapping[str, str] = {"/home/me/p": "<project>"}
    assert (normalise(one, places) == normalise(other, places)) is is_same


@pytest.mark.parametrize("text", ["a1" * 500_000, "\x1b[" * 300_000, "1" * 500_000, "/tmp/" * 200_000, " \n" * 500_000])
def test_normalising_takes_time_in_proportion(text: str) -> None:
    assert isinstance(normalise(text, {"/home/me": "<project>"}), str)


EXEMPT: dict[str, Any] = {
    "reasonCode": "requires_network",
    "reason": "It talks to the payment provider, which is not reachable from here.",
    "approvedBy": "qa agent",
    "fallbackArtifactRefs": ["capture-1"],
}


def exempt(document: object) -> ReplayExempt:
    return validated(ReplayExempt, document, what="replayExempt", fix="say why")


def test_seven_reasons_exempt() -> None:
    codes = get_args(ReplayExempt.model_fields["reasonCode"].annotation)
    assert [exempt({**EXEMPT, "reasonCode": code}).reasonCode for code in codes] == list(codes)
    assert len(codes) == 7


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"reasonCode": "too_hard"}, "reasonCode"),
        ({"reason": ""}, "reason"),
        ({"reason": "n/a"}, "reason"),
        ({"reason": "needs network"}, "reason"),
        ({"reason": "requires production credentials everywhere"}, "reason"),
        ({"reason": "it is too far off"}, "reason"),
        ({"reason": "todo " * 20}, "reason"),
        ({"reason": "----- ----- ----- ----- ----- ----- -----"}, "reason"),
        ({"approvedBy": " "}, "approvedBy"),
        ({"fallbackArtifactRefs": []}, "fallbackArtifactRefs"),
        ({"fallbackArtifactRefs": "capture-1"}, "fallbackArtifactRefs"),
        ({"fallbackArtifactRefs": ["a", " "]}, "fallbackArtifactRefs[1]"),
        ({"approved": "me"}, "approved"),
    ],
)
def test_an_exemption_that_cannot_be_used(fields: dict[str, object], said: str) -> None:
    assert [one.partition(":")[0] for one in defects({**EXEMPT, **fields}, exempt)] == [said]


def test_an_exemption_is_an_object_and_names_every_field_that_it_lacks() -> None:
    no_objects: list[object] = [None, [], "x"]
    for document in no_objects:
        with pytest.raises(BadInput, match="replayExempt: "):
            exempt(document)
    assert len(defects({}, exempt)) == 4
