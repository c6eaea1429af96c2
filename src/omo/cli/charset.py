"""Whether a terminal takes more than ASCII, as far as the user's locale says."""

from __future__ import annotations

from collections.abc import Mapping

# What Python itself writes into LC_CTYPE where the locale is C or is not installed here: nobody's choice.
COERCED = ("C.UTF-8", "C.utf8", "UTF-8")
PLAIN = ("C", "POSIX")


def takes_utf8(environ: Mapping[str, str], encoding: str | None) -> bool:
    """As Python is told to write, unless the locale names another charset: with -X utf8 Python says utf-8 anyway."""
    chosen = environ.get("LC_ALL") or _ctype(environ) or environ.get("LANG") or ""
    if chosen in PLAIN:
        return False
    charset = "UTF-8" if chosen == "UTF-8" else chosen.partition(".")[2].partition("@")[0]
    return (charset or encoding or "").lower().replace("-", "") == "utf8"


def _ctype(environ: Mapping[str, str]) -> str:
    named = environ.get("LC_CTYPE") or ""
    return "" if named in COERCED and environ.get("LANG") else named
