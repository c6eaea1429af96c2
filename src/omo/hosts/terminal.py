"""The notification a terminal shows of its own: one escape sequence, in the form the terminal at hand understands."""

from __future__ import annotations

from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST = 120
BELL = "\a"
OSC_9 = "\x1b]9;{text}\x1b\\"
OSC_99 = "\x1b]99;;{text}\x1b\\"
OSC_777 = "\x1b]777;notify;{title};{body}\x1b\\"

# Inside these a terminal's own sequences are dropped or shown as text; a bell is passed on, and marks the window.
MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ")
PROGRAMS = {
    **dict.fromkeys(("iTerm.app", "WezTerm", "ghostty", "WarpTerminal"), OSC_9),
    **dict.fromkeys(("kitty", "vscode"), OSC_99),
}
# What is left over a remote shell, which carries TERM and LC_*, and for terminals that set nothing else.
TERMS = (("xterm-kitty", OSC_99), ("xterm-ghostty", OSC_9), ("foot", OSC_777), ("rxvt-unicode", OSC_777))


def notification(text: str, environ: Mapping[str, str]) -> str:
    """For the terminal that the environment names; a bell for one that is not known to show a text."""
    line = clip(text, LONGEST).replace(";", ",")  # nothing that ends or divides a sequence
    if not line[:1].isalpha():
        line = f"omo {line}"  # OSC 9 would take a digit for a command
    title, _, body = line.partition(": ")
    return _form(environ).format(text=line, title=title, body=body or title)


def _form(environ: Mapping[str, str]) -> str:
    if any(environ.get(name) for name in MULTIPLEXERS):
        return BELL
    if known := PROGRAMS.get(environ.get("TERM_PROGRAM", "")):
        return known
    if environ.get("KITTY_WINDOW_ID"):
        return OSC_99
    if environ.get("LC_TERMINAL") == "iTerm2":
        return OSC_9
    for name, form in TERMS:
        if environ.get("TERM", "").startswith(name):
            return form
    return BELL
