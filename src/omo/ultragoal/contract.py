"""How much a spec obliges anybody to. Without one that does, no review passes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from omo.errors import BadInput
from omo.evidence import globs
from omo.shown import clip

STRONG, THIN, DERIVED = "strong", "thin", "thin-derived"
FEWEST_WORDS = 40
FEWEST_STATEMENTS = 3
SHORTEST_STATEMENT = 4  # words: "- fast" obliges nobody
LARGEST = 1_000_000

ITEM = re.compile(r"(?:[-*+•]|\(?\w{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(?=\S)")
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])\s*")
OBLIGES = re.compile(r"\b(?:must|shall|should|given|when|then|requires?|never|always)\b", re.IGNORECASE)
# A sign of a script without blanks between words counts as a word.
WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
FENCE = re.compile(r"(```|~~~)")


@dataclass(frozen=True)
class Measure:
    """How much a contract says. `derived`: there is none, so what the work was to do is a guess."""

    words: int = 0
    statements: int = 0
    derived: bool = False

    @property
    def strength(self) -> str:
        if self.derived:
            return DERIVED
        return STRONG if self.words >= FEWEST_WORDS and self.statements >= FEWEST_STATEMENTS else THIN

    @property
    def why(self) -> str:
        return (
            f"{self.statements} of {FEWEST_STATEMENTS} acceptance statements, {self.words} of {FEWEST_WORDS} words"
            if not self.derived
            else "no --spec says what the work is to do"
        )

    def render(self) -> dict[str, object]:
        return {
            "strength": self.strength,
            "statements": self.statements,
            "statementsNeeded": FEWEST_STATEMENTS,
            "words": self.words,
            "wordsNeeded": FEWEST_WORDS,
        }


def measure(text: str) -> Measure:
    """Words, and sentences or points of a list that oblige somebody. What is said twice counts once."""
    found: dict[str, bool] = {}
    for line in _joined(_prose(text)):
        marker = ITEM.match(line)
        for at, said in enumerate(SENTENCE_END.split(line[marker.end() :] if marker else line)):
            key = " ".join(said.split())
            found[key] = found.get(key, False) or _is_statement(key, is_point=bool(marker) and at == 0)
    return Measure(words=sum(len(WORD.findall(said)) for said in found), statements=sum(found.values()))


def _joined(lines: list[str]) -> list[str]:
    """A sentence that goes on in the next line is one: that line begins small, and nothing ended before it."""
    found: list[str] = []
    for line in map(str.strip, lines):
        goes_on = found and found[-1] and not found[-1].endswith((".", "!", "?", ";", ":"))
        if goes_on and line[:1].islower() and not ITEM.match(line):
            found[-1] += f" {line}"
        else:
            found.append(line)
    return found


def _prose(text: str) -> list[str]:
    """Without headings and blocks of code, which state nothing."""
    found, is_code = [], False
    for line in text.splitlines():
        if FENCE.match(line.strip()):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith("#"):
            found.append(line)
    return found


def _is_statement(said: str, *, is_point: bool) -> bool:
    return len(WORD.findall(said)) >= SHORTEST_STATEMENT and (is_point or bool(OBLIGES.search(said)))


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
