"""A command that is longer than a line, in lines that a shell reads as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

GOES_ON = "\\"


def continued(command: str, width: int, measure: Callable[[str], int] = len) -> list[str]:
    """Broken at blanks outside quotes, each line but the last ending in a backslash. Nothing is lost.

    What cannot be broken there, a long word or a quoted text, is broken where the line ends, for the eye only.
    """
    found, line = [], ""
    for word in words(command):
        longer = f"{line} {word}" if line else word
        if line and measure(longer) + 2 > width:
            found.append(f"{line} {GOES_ON}")
            longer = word
        line = longer
    return [part for whole in [*found, line] for part in _folded(whole, width, measure)]


def words(command: str) -> Iterator[str]:
    """The words with their quotes: a blank inside quotes is part of a word."""
    word, quote = "", ""
    for letter in command:
        if letter == " " and not quote:
            if word:
                yield word
            word = ""
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        word += letter
    if word:
        yield word


def _folded(text: str, width: int, measure: Callable[[str], int]) -> Iterator[str]:
    line = ""
    for letter in text:
        if line and measure(line + letter) > width:
            yield line
            line = ""
        line += letter
    yield line
