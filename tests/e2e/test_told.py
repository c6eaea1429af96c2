"""The bench of what you are told, a part of it: an agent that stops at once and an honest one, alone and with omo."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import told

pytestmark = pytest.mark.client

LAZY, HONEST = "stops at once", "honest: mends what a test shows"


def behaviour(name: str) -> told.Behaviour:
    (found,) = [each for each in told.BEHAVIOURS if each.name == name]
    return found


@pytest.mark.parametrize(
    ("arm", "name", "is_told_done", "is_green"),
    [
        (told.ALONE, LAZY, True, False),
        (told.OMO, LAZY, False, False),
        (told.ALONE, HONEST, True, True),
        (told.OMO, HONEST, True, True),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_what_is_told_of_the_work(
    client_binary: Path, arm: told.Arm, name: str, is_told_done: bool, is_green: bool
) -> None:
    played = told.play(arm, behaviour(name), client_binary)
    assert (played.is_told_done, played.is_green) == (is_told_done, is_green), played.told
    assert played.told.startswith("omo: ") == (arm is told.OMO)


def test_the_command_names_what_is_left_out_and_fails_where_omo_is_wrong(
    client_binary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def is_out_of_reach(client: object, directory: Path) -> Path:
        raise told.LeftOut("out of reach")

    peers = {name: told.Peer(is_out_of_reach, "", "", told.plainly) for name in told.PEERS}
    monkeypatch.setattr(told, "PEERS", peers)
    monkeypatch.setattr(told, "is_green", lambda stage, behaviour: False)
    (tmp_path / "empty").mkdir()
    assert told.main(["--only", HONEST, "--plugin", f"ralph-loop={tmp_path / 'empty'}"]) == 1
    printed = capsys.readouterr().out
    assert f"| {HONEST} | red | done | done |" in printed
    assert "| omo | 1 of 1 | 1 of 1 |" in printed
    assert f"told done, and the check is red: {HONEST}: omo: done, proven" in printed
    assert "left out: oh-my-claudecode: out of reach" in printed
    assert "left out: ralph-loop: " in printed
    assert "left out: /goal: " in printed
