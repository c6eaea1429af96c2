"""The notification a terminal shows of its own: one escape sequence, in the form the terminal at hand understands."""

from __future__ import annotations

from omo.shown import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LONGEST = 120
BELL = "\a"
END = "\x1b\\"

# Inside these a terminal's own sequences are dropped or shown as text; a bell is passed on, and marks the window.
MULTIPLEXERS = ("TMUX", "STY", "ZELLIJ")


def sequence(text: str, environ: Mapping[str, str]) -> str:
    """For the terminal that the environment names; a bell for one that is not known to show a text."""
    return _form(environ)(_safe(text))


def _safe(text: str) -> str:
    """Nothing that ends or divides a sequence, and no digit first: OSC 9 would take it for a command."""
    line = clip(text, LONGEST).replace(";", ",")
    return line if line[:1].isalpha() else f"omo {line}"


def _bell(text: str) -> str:
    return BELL


def _osc_9(text: str) -> str:
    return f"\x1b]9;{text}{END}"


def _osc_99(text: str) -> str:
    return f"\x1b]99;;{text}{END}"


def _osc_777(text: str) -> str:
    title, _, body = text.partition(": ")
    return f"\x1b]777;notify;{title};{body or title}{END}"


PROGRAMS = {
    "iTerm.app": _osc_9,
    "WezTerm": _osc_9,
    "ghostty": _osc_9,
    "WarpTerminal": _osc_9,
    "kitty": _osc_99,
    "vscode": _osc_99,
}
# What is left over a remote shell, which carries TERM and LC_*, and for terminals that set nothing else.
TERMS = (
    ("xterm-kitty", _osc_99),
    ("xterm-ghostty", _osc_9),
    ("foot", _osc_777),
    ("rxvt-unicode", _osc_777),
)


def _form(environ: Mapping[str, str]) -> Callable[[str], str]:
    if any(environ.get(name) for name in MULTIPLEXERS):
        return _bell
    if known := PROGRAMS.get(environ.get("TERM_PROGRAM", "")):
        return known
    if environ.get("KITTY_WINDOW_ID"):
        return _osc_99
    if environ.get("LC_TERMINAL") == "iTerm2":
        return _osc_9
    term = environ.get("TERM", "")
    return next((form for name, form in TERMS if term.startswith(name)), _bell)
