"""One notification for each terminal, in a form that the host passes on and no text can leave."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.hosts import terminal

OSC_9 = "\x1b]9;omo: ultrawork is done\x1b\\"
OSC_99 = "\x1b]99;;omo: ultrawork is done\x1b\\"
OSC_777 = "\x1b]777;notify;omo;ultrawork is done\x1b\\"
BELL = "\a"

TERMINALS: list[tuple[dict[str, str], str]] = [
    ({"TERM_PROGRAM": "iTerm.app"}, OSC_9),
    ({"TERM_PROGRAM": "WezTerm"}, OSC_9),
    ({"TERM_PROGRAM": "ghostty"}, OSC_9),
    ({"TERM_PROGRAM": "WarpTerminal"}, OSC_9),
    ({"LC_TERMINAL": "iTerm2", "TERM": "xterm-256color"}, OSC_9),
    ({"TERM": "xterm-ghostty"}, OSC_9),
    ({"TERM_PROGRAM": "vscode"}, OSC_99),
    ({"TERM_PROGRAM": "kitty"}, OSC_99),
    ({"KITTY_WINDOW_ID": "1", "TERM": "xterm-256color"}, OSC_99),
    ({"TERM": "xterm-kitty"}, OSC_99),
    ({"TERM": "foot"}, OSC_777),
    ({"TERM": "foot-extra"}, OSC_777),
    ({"TERM": "rxvt-unicode-256color"}, OSC_777),
    ({"TMUX": "/tmp/tmux-0/default,1,0", "TERM_PROGRAM": "iTerm.app"}, BELL),
    ({"TMUX": "/tmp/tmux-0/default,1,0", "TERM_PROGRAM": "tmux", "KITTY_WINDOW_ID": "1"}, BELL),
    ({"STY": "1.pts-0", "TERM": "screen"}, BELL),
    ({"ZELLIJ": "0", "TERM": "xterm-kitty"}, BELL),
    ({"WT_SESSION": "x", "TERM": "xterm-256color"}, BELL),
    ({"TERM_PROGRAM": "Apple_Terminal"}, BELL),
    ({"TERM": "alacritty"}, BELL),
    ({"VTE_VERSION": "7600", "TERM": "xterm-256color"}, BELL),
    ({}, BELL),
]


@pytest.mark.parametrize(("environ", "expected"), TERMINALS, ids=[str(sorted(one.items())) for one, _ in TERMINALS])
def test_the_form_this_terminal_shows(environ: dict[str, str], expected: str) -> None:
    assert terminal.notification("omo: ultrawork is done", environ) == expected


# What the host lets through: one notification or bell, and for OSC 9 no text that begins with a digit.
PASSED_ON = re.compile(r"\a|\x1b\](?:9;(?!\d)|99;;|777;notify;[^;]*;)[^\x00-\x1f\x7f-\x9f;]*\x1b\\")


@given(text=st.text(), environ=st.sampled_from([environ for environ, _ in TERMINALS]))
def test_no_text_leaves_its_sequence(text: str, environ: dict[str, str]) -> None:
    sequence = terminal.notification(text, environ)
    assert PASSED_ON.fullmatch(sequence)
    assert len(sequence) <= 2 * terminal.LONGEST + 30


@pytest.mark.parametrize("text", ["4;3;100", "\x1b\\\x1b]0;owned\x07", "; ; ;", "", "\u202e\x9c1"])
def test_texts_that_try(text: str) -> None:
    for environ, _ in TERMINALS:
        assert PASSED_ON.fullmatch(terminal.notification(text, environ)), environ
