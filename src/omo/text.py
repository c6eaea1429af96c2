"""What is shown to people and models: bounded, without control characters, whatever was in it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def clip(text: str, longest: int) -> str:
    """One line, control characters gone, cut with a mark."""
    near = text[: 4 * longest + 4]  # nothing beyond can still be shown, and the text may be megabytes
    line = " ".join(_printable(near).split())
    return line if len(line) <= longest and len(near) == len(text) else line[: max(0, longest - 1)].rstrip() + "…"


def block(text: str, longest: int) -> str:
    """Several lines as they were written, control characters gone, cut with a mark."""
    near = text.replace("\r\n", "\n").replace("\t", "    ")[: longest + 1]
    plain = "\n".join(map(_printable, near.split("\n")))
    return plain if len(plain) <= longest else plain[: longest - 1].rstrip() + "…"


def _printable(text: str) -> str:
    """With a blank for each letter that is not, and each byte of a name that is no text as `\\xff`. Most texts have
    neither, and are not looked through letter by letter."""
    return text if text.isprintable() else "".join(map(_printable_letter, text))


def _printable_letter(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":  # as Python names files
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter if letter.isprintable() else " "


def encodable(text: str) -> str:
    """Return the text as any output can take it: what is no letter is escaped."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join(_escaped(letter) if "\ud800" <= letter <= "\udfff" else letter for letter in text)
    return text


def file_name(path: str) -> str:
    """Return a path on one line, with what cannot be printed in it escaped, so that it can be told from others."""
    if path.isprintable():
        return path
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in path)


def _escaped(letter: str) -> str:
    if "\udc80" <= letter <= "\udcff":
        return _printable_letter(letter)
    return letter.encode("unicode_escape").decode("ascii")


def fold(text: str, width: int) -> str:
    """Lines that are too wide are broken at blanks and go on below where their words began; no word is broken, nor a
    command after a $, which is there to be copied."""
    import re
    import textwrap

    lines = []
    for line in text.split("\n"):
        if len(line) <= width or line.startswith("  $ "):
            lines.append(line)
            continue
        # A bullet, or the name in a column before what is said of it.
        before = re.match(r" *(- |\S+( \S+)? {2,})?", line)
        begins = len(before[0]) if before else 0
        if begins > width * 2 // 3:  # no room is left there
            begins = len(line) - len(line.lstrip())
        lines += textwrap.wrap(
            line, width, subsequent_indent=" " * begins, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines)


def counted(count: int, noun: str) -> str:
    """1 goal, 2 goals."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 8, between: str = ", ") -> str:
    """a, b and 3 more."""
    shown = between.join([clip(file_name(name), 200) for name in names[:most]])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
