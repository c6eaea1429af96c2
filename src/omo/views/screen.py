"""What the user's terminal can show: how much, and with colours or without."""

from __future__ import annotations

import sys
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# What Python itself writes into LC_CTYPE where the locale is C or is not installed here: nobody's choice.
COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
PLAIN = ("C", "POSIX")


class Screen(NamedTuple):
    width: int
    height: int
    color: bool


def screen(environ: Mapping[str, str]) -> Screen | None:
    """None where nobody looks, or at something that cannot draw: marks and bars are no ASCII."""
    # What a hook prints is shown in the client, and so it says.
    is_shown = sys.stdout.isatty() or environ.get("TTY_COMPATIBLE") == "1"
    if not is_shown or environ.get("TERM") in ("dumb", "unknown"):
        return None
    if not takes_utf8(environ, sys.stdout.encoding):
        return None
    import shutil

    size = shutil.get_terminal_size()
    return Screen(size.columns, size.lines, color=not environ.get("NO_COLOR"))


def takes_utf8(environ: Mapping[str, str], encoding: str | None) -> bool:
    """As Python is told to write, unless the locale names another charset: with -X utf8 Python says utf-8 anyway."""
    ctype = environ.get("LC_CTYPE") or ""
    if ctype in COERCED and environ.get("LANG"):
        ctype = ""
    chosen = environ.get("LC_ALL") or ctype or environ.get("LANG") or ""
    if chosen in PLAIN:
        return False
    charset = "UTF-8" if chosen == "UTF-8" else chosen.partition(".")[2].partition("@")[0]
    return (charset or encoding or "").lower().replace("-", "") == "utf8"
