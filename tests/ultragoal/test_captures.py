"""Captures of a terminal: bytes with control sequences, and something to read."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omo.workflows.ultragoal.gate import media
from tests import texts

SCREEN = "\x1b[?1049h\x1b[2J\x1b[1;1H\x1b[32mInbox (3 unread messages)\x1b[0m\r\n" + "2026 invoices\r\n" * 40


def check(tmp_path: Path, text: str | bytes) -> list[str]:
    path = tmp_path / "capture.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return media.capture_defects(path)


@pytest.mark.parametrize(
    "text",
    [
        SCREEN,
        "\x1b]0;title\x07" + "plain words after a title\n" * 30,
        "\x1b]8;;http://x\x1b\\" + "plain words after a link\n" * 30,
        "\x1b[H" + "收件箱里有三封未读邮件请查看\n" * 30,
    ],
    ids=["full screen", "title", "link", "other letters"],
)
def test_a_capture_that_counts(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SCREEN.replace("\x1b", ""), "no control sequence"),
        ("\x1b[0m" * 200, "nothing a person could read"),
        ("\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13m" * 50, "nothing a person could read"),
        ("\x1b[H" + " " * 600, "nothing a person could read"),
        ("\x1b[H" + "short\n" * 200, "nothing a person could read"),
        (b"\x1b[H" + bytes(range(128, 256)) * 5, "nothing a person could read"),
        ("\\u001b[H" + "a readable line of text\n" * 40, "no control sequence"),
        ("\x1b" + "a readable line of text\n" * 40, "no control sequence"),
    ],
)
def test_a_capture_that_does_not(tmp_path: Path, text: str | bytes, said: str) -> None:
    (defect,) = check(tmp_path, text)
    assert said in defect
    assert "script -q" in defect


@pytest.mark.skipif(shutil.which("script") is None, reason="the command that is advised")
def test_a_menu_recorded_by_the_command_that_is_advised_counts(tmp_path: Path) -> None:
    menu = "printf '\\033[1mInbox\\033[0m\\n\\033[7m> Unread messages (3)\\033[0m\\n  Archive\\n'"
    capture = tmp_path / "capture.txt"
    subprocess.run(["script", "-q", "-c", menu, str(capture)], check=True, stdin=subprocess.DEVNULL, timeout=60)
    assert len(capture.read_bytes()) < 512
    assert media.capture_defects(capture) == []


def test_bounds_and_files(tmp_path: Path) -> None:
    assert len(check(tmp_path, "tiny")) == 2, "everything is told at once"
    check(tmp_path, SCREEN)
    os.truncate(tmp_path / "capture.txt", media.LARGEST_CAPTURE + 1)
    assert "larger than" in media.capture_defects(tmp_path / "capture.txt")[0]
    assert texts.says(media.capture_defects(tmp_path / "missing")[0], "ultragoal-capture-unread", file="missing")
    os.mkfifo(tmp_path / "pipe")
    assert media.capture_defects(tmp_path / "pipe"), "and it is not waited for"


@pytest.mark.parametrize("unclosed", ["\x1b]0;", "\x1b[", "\x1b[1;1;"])
def test_unclosed_sequences_take_no_time(tmp_path: Path, unclosed: str) -> None:
    assert check(tmp_path, SCREEN + unclosed * 200_000) == []
