"""While files are swapped every session is held off; once their owner is gone, the next hook puts them back."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omo.proof.swap import Swap
from omo.proof.swap_files import File
from omo.state import paths
from tests import texts
from tests.hooks.conftest import Answer, Host

IN_PROCESS = True
ALL = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStart", "SubagentStop")
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "hello"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "omo status"}},
}


def swapped(host: Host) -> Swap:
    (host.project / "work.py").write_bytes(b"the work")
    arrangements = {"without": {"work.py": File(b"base", "f")}}
    swap = Swap(str(host.project), host.state, arrangements, list)
    swap.__enter__()
    swap.put("without")
    return swap


@pytest.fixture
def under_way(host: Host) -> Iterator[Swap]:
    swap = swapped(host)
    yield swap
    swap.__exit__(None, None, None)


def left_by_a_kill(host: Host) -> None:
    swap = swapped(host)
    swap._signals.give_back()
    os.close(swap._lock)


def call(host: Host, tool: str, **given: Any) -> Answer:
    return host.send("PreToolUse", tool_name=tool, tool_input=given, session_id="anybody's")


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Write", {"file_path": "a"}),
        ("PowerShell", {"command": "ls"}),
        ("Bash", {"command": "git commit -am x"}),
        ("Bash", {"command": "omo gate run"}),
    ],
)
def test_what_can_write_is_refused_to_every_session(
    host: Host, under_way: Swap, tool: str, given: dict[str, str]
) -> None:
    refused = call(host, tool, **given)
    assert refused.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert refused.says_to_agent("proof-swapped")
    assert host.kinds("anybody's") == [], "a refusal that ends by itself is not counted"


def test_a_look_of_omo_goes_on_and_nothing_else_of_a_shell(host: Host, under_way: Swap) -> None:
    for command in ("omo status", "omo next", "omo ulw status --json", "omo gate list"):
        answer = call(host, "Bash", command=command)
        assert "permissionDecision" not in answer.json["hookSpecificOutput"], command
        assert answer.says_to_agent("proof-swapped-look")
    for command in ("ls", "omo ulw done", "omo gate run", "omo status; rm a"):
        output = call(host, "Bash", command=command).json["hookSpecificOutput"]
        assert output["permissionDecision"] == "deny", command


@pytest.mark.usefixtures("through_the_shell")
def test_what_reads_is_told_that_it_reads_swapped_files(host: Host, under_way: Swap) -> None:
    answer = call(host, "Read", file_path="work.py")
    assert "permissionDecision" not in answer.json["hookSpecificOutput"]
    assert answer.says_to_agent("proof-swapped-look")


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("event", ALL)
def test_every_hook_puts_back_what_a_kill_has_left(host: Host, event: str) -> None:
    """A session in which nothing is on, in a project where nothing ever was."""
    left_by_a_kill(host)
    answer = host.send(event, **FIELDS.get(event, {}))
    assert (host.project / "work.py").read_bytes() == b"the work"
    assert not Path(paths.swap_journal(host.state)).exists()
    assert answer.says_to_user("proof-files-put-back", count="1 file")


def test_the_user_reads_what_is_kept(host: Host) -> None:
    left_by_a_kill(host)
    (host.project / "work.py").write_bytes(b"an edit meanwhile")
    answer = host.send("Stop")
    assert answer.says_to_user("proof-files-put-back", count="1 file")
    kept = host.project / answer.message.partition("is kept in ")[2]
    assert kept.read_bytes() == b"an edit meanwhile"


@pytest.mark.usefixtures("through_the_shell")
def test_a_hook_leaves_a_swap_alone_whose_owner_lives(host: Host, under_way: Swap) -> None:
    for event in ALL:
        host.send(event, **FIELDS.get(event, {}))
    assert (host.project / "work.py").read_bytes() == b"base"


@pytest.mark.parametrize("argv", [("status",), ("ulw", "start", "--session", "s")])
def test_a_command_puts_back_first_and_says_so(host: Host, argv: tuple[str, ...]) -> None:
    left_by_a_kill(host)
    ran = host.user(*argv)
    assert (host.project / "work.py").read_bytes() == b"the work"
    assert ran.code == 0
    assert texts.says(ran.err, "proof-files-put-back", count="1 file")


@pytest.mark.parametrize("argv", [("gate", "run"), ("ulw", "done"), ("ulw", "start"), ("evidence", "replay", "x")])
def test_a_command_that_needs_the_files_is_refused_meanwhile(
    host: Host, under_way: Swap, argv: tuple[str, ...]
) -> None:
    ran = host.agent(*argv)
    assert (ran.code, ran.out) == (3, "")
    assert ran.says("proof-swapped")


@pytest.mark.parametrize("argv", [("status",), ("stop-continuation",), ("gate", "list")])
def test_a_command_that_looks_or_lets_go_is_not(host: Host, under_way: Swap, argv: tuple[str, ...]) -> None:
    assert "swapped" not in host.agent(*argv).err


def makes_it_a_strangers(host: Host) -> Path:
    """The journal that a kill has left, but for one path, which leads out of the project."""
    left_by_a_kill(host)
    victim = host.project.parent / "bashrc"
    victim.write_bytes(b"export A=1\n")
    journal = Path(paths.swap_journal(host.state))
    line, _, contents = journal.read_bytes().partition(b"\n")
    head = json.loads(line)
    head["files"][0]["path"] = "../bashrc"
    journal.write_bytes(json.dumps(head).encode() + b"\n" + contents)
    return victim


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("event", ALL)
def test_no_hook_does_what_a_strangers_journal_says(host: Host, event: str) -> None:
    victim = makes_it_a_strangers(host)
    answer = host.send(event, **FIELDS.get(event, {}))
    assert victim.read_bytes() == b"export A=1\n"
    assert answer.says_to_user("proof-strangers-journal")
    again = host.send(event, **FIELDS.get(event, {}))
    assert not again.says_to_user("proof-strangers-journal"), "it is told once"


@pytest.mark.parametrize(
    "argv", [("status",), ("doctor",), ("receipt", "verify", "x"), ("ulw", "start", "--session", "s")]
)
def test_no_command_does_what_a_strangers_journal_says(host: Host, argv: tuple[str, ...]) -> None:
    victim = makes_it_a_strangers(host)
    assert texts.says(host.user(*argv).err, "proof-strangers-journal")
    assert victim.read_bytes() == b"export A=1\n"
