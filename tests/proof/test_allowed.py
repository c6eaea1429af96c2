"""Which commands of a project may be replayed: those the user pinned, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from omo.errors import BadInput, Refused
from omo.proof import replay
from omo.state import ledger, paths
from omo.state.journal import Journal
from omo.workflows.ultrawork import gates

NOW = 1_771_780_801.0


def pin(state: str, name: str, argv: list[str], by: str = "user", cwd: str = ".", session: str = "s1") -> None:
    gates.SessionGates(state, session, by, NOW).add(name, argv, cwd=cwd, program=None)


def journal(state: str) -> Path:
    return Path(paths.commands_dir(state), "ledger.jsonl")


@pytest.fixture(autouse=True)
def _project(state: str) -> None:
    Path(state).parents[1].mkdir()


def test_nothing_is_allowed_before_the_user_said_so(state: str) -> None:
    assert replay.allowed(state) == []


def test_what_the_user_pins_is_a_gate_and_may_be_replayed_in_every_session(state: str) -> None:
    pin(state, "tests", ["pytest", "-q"])
    pin(state, "cli", ["./mycli", "--help"], session="s2")
    assert replay.allowed(state) == [("pytest", "-q"), ("./mycli", "--help")]
    assert list(gates.current(state, "s1", None).by_name) == ["tests"]


def test_what_the_agent_pins_is_only_a_gate(state: str) -> None:
    pin(state, "tests", ["pytest", "-q"], by="agent")
    assert list(gates.current(state, "s1", None).by_name) == ["tests"]
    assert replay.allowed(state) == []


def test_three_dots_allow_replays_and_add_no_gate(state: str) -> None:
    pin(state, "cli", ["./mycli", "..."])
    assert replay.allowed(state) == [("./mycli", "...")]
    assert len(gates.current(state, "s1", None)) == 0


def test_an_agent_cannot_allow_replays(state: str) -> None:
    with pytest.raises(Refused, match="only the user can") as caught:
        pin(state, "cli", ["./mycli", "..."], by="agent")
    assert "/omo:pin" in caught.value.fix
    assert replay.allowed(state) == []
    assert len(gates.current(state, "s1", None)) == 0


@pytest.mark.parametrize(("argv", "cwd"), [(["..."], "."), (["./mycli", "..."], "sub")])
def test_three_dots_need_a_program_at_the_top(state: str, argv: list[str], cwd: str) -> None:
    with pytest.raises(BadInput):
        pin(state, "cli", argv, cwd=cwd)
    assert replay.allowed(state) == []


def test_a_gate_of_another_directory_may_not_be_replayed(state: str) -> None:
    pin(state, "tests", ["./run"], cwd="sub")
    assert list(gates.current(state, "s1", None).by_name) == ["tests"]
    assert replay.allowed(state) == []


def test_a_new_pin_takes_the_place_of_the_old_one_and_a_repeat_adds_nothing(state: str) -> None:
    for argv in (["./mycli", "..."], ["./mycli", "--help"], ["./mycli", "--help"]):
        pin(state, "cli", argv)
    assert replay.allowed(state) == [("./mycli", "--help")]
    assert len(ledger.rows(str(journal(state)))) == 2


def test_rows_of_anyone_but_the_user_allow_nothing(state: str) -> None:
    row = {"kind": "command-pinned", "name": "evil", "argv": ["rm", "..."], "session": "s1"}
    store = Journal(paths.commands_dir(state), state)
    for actor in ("agent", "hook", ""):
        store.change(lambda rows: (None, [row]), actor=actor, now=NOW, wait=1.0)
    assert replay.allowed(state) == []


@pytest.mark.parametrize("damage", ["edit", "cut", "append", "mark"])
def test_a_ledger_changed_by_hand_allows_nothing_until_the_user_repairs_it(state: str, damage: str) -> None:
    pin(state, "cli", ["./mycli", "..."])
    pin(state, "tests", ["pytest"])
    path = journal(state)
    lines = path.read_text().splitlines(keepends=True)
    if damage == "edit":
        path.write_text("".join(lines).replace("./mycli", "./evil"))
    elif damage == "cut":
        path.write_text(lines[0])
    elif damage == "append":
        path.write_text("".join([*lines, lines[0].replace("./mycli", "./evil")]))
    else:
        path.with_name("mark.json").unlink()
    with pytest.raises(Refused, match="not as omo wrote it") as caught:
        replay.allowed(state)
    assert "omo gate add NAME --repair" in caught.value.fix
    with pytest.raises(Refused, match="not as omo wrote it"):
        pin(state, "more", ["ls"])
    with pytest.raises(Refused, match="only the user"):
        replay.repair(state, by="agent", now=NOW, wait=1.0)
    replay.repair(state, by="user", now=NOW, wait=1.0)
    assert replay.allowed(state) == []
    assert list(path.parent.glob("ledger.jsonl.damaged-*"))
    pin(state, "more", ["ls"])
    assert replay.allowed(state) == [("ls",)]


def test_the_user_takes_it_back(state: str) -> None:
    pin(state, "cli", ["./mycli", "..."])
    assert gates.SessionGates(state, "s1", "user", NOW).withdraw_replay("cli") is True
    assert replay.allowed(state) == []
    assert gates.SessionGates(state, "s1", "user", NOW).withdraw_replay("cli") is False
