"""How much a spec obliges anybody to. Without one that does, no review passes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from omo.errors import BadInput
from omo.evidence import globs
from omo.shown import clip

STRONG, THIN, DERIVED = "strong", "thin", "thin-derived"
FEWEST_WORDS = 40
FEWEST_STATEMENTS = 3
SHORTEST_STATEMENT = 4  # words: "- fast" obliges nobody
LARGEST = 1_000_000

ITEM = re.compile(r"(?:[-*+•]|\(?\w{1,3}[.)])\s+(?:\[[ xX]\]\s+)?\S")
OBLIGES = re.compile(r"\b(?:must|shall|should|given|when|then|requires?|never|always)\b", re.IGNORECASE)
# A sign of a script without blanks between words counts as a word.
WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
FENCE = re.compile(r"(```|~~~)")


def strength(text: str) -> str:
    """Strong: 40 words or more, 3 acceptance statements or more. What is said twice counts once."""
    lines = list(dict.fromkeys(" ".join(line.split()) for line in _prose(text)))
    words = sum(len(WORD.findall(line)) for line in lines)
    statements = [line for line in lines if _is_statement(line)]
    return STRONG if words >= FEWEST_WORDS and len(statements) >= FEWEST_STATEMENTS else THIN


def _prose(text: str) -> list[str]:
    """Without headings and blocks of code, which state nothing."""
    found, is_code = [], False
    for line in text.splitlines():
        if FENCE.match(line.strip()):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith("#"):
            found.append(line)
    return found


def _is_statement(line: str) -> bool:
    return len(WORD.findall(line)) >= SHORTEST_STATEMENT and bool(ITEM.match(line) or OBLIGES.search(line))


def read(root: Path, name: str, cwd: str) -> tuple[str, str]:
    """The spec's path in the project and its text. BadInput where it cannot be read, or lies outside."""
    top = os.path.realpath(root)
    real = os.path.realpath(os.path.join(cwd, name)) if "\0" not in name else ""
    inside = os.path.relpath(real, top).replace(os.sep, "/") if real else ""
    if not real or not globs.is_inside(top, real) or globs.is_own(inside) or inside.split("/")[0] == ".git":
        raise _unusable(name, "is not a file of this project", "copy the contract into the project")
    try:
        if not os.path.isfile(real) or os.path.getsize(real) > LARGEST:
            raise _unusable(name, f"is no file of at most {LARGEST} bytes", "name the text file with the contract")
        with open(real, "rb") as file:
            return inside, file.read(LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(name, f"cannot be read: {error}", "save it as UTF-8 text") from None


def _unusable(name: str, why: str, fix: str) -> BadInput:
    return BadInput(f"--spec {clip(name, 200)} {clip(why, 200)}", fix=fix)
