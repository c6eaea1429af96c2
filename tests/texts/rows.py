"""The rows of tests/texts, and which of them a printed line is made of."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from bench.phrases import is_phrase

HERE = Path(__file__).parent
USER, AGENT, BOTH = "user", "agent", "both"
HEADING = re.compile(r"([a-z0-9]+(?:-[a-z0-9]+)+) \((user|agent|both)\)")
PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
INDENT = "    "
ONE_WORD = ("gate", "goal", "id", "run_id", "session", "word")
# What the one place that renders puts before a message; a message is the same with and without.
FRAME = re.compile(r"(?:\s+|omo: |\[omo\] |fix: |- |=> |#+ (?:[^\w\s]+ )?)+")
BETWEEN_SENTENCES = re.compile(r"(?<=[.?!;]) ")


@dataclass(frozen=True)
class Row:
    name: str
    reader: str
    text: str

    @cached_property
    def parts(self) -> list[str]:
        """The text in turn with the names of its placeholders."""
        return PLACEHOLDER.split(plain(self.text))

    @cached_property
    def weight(self) -> int:
        """How many letters are omo's own: of two rows the one that says more is meant."""
        return sum(map(len, self.parts[::2]))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        pattern, seen = "", set()
        for number, part in enumerate(self.parts):
            if number % 2 == 0:
                pattern += re.escape(part)
            else:
                pattern += f"(?P={part})" if part in seen else f"(?P<{part}>{values_of(part)})"
                seen.add(part)
        return re.compile(pattern, re.DOTALL)

    def values_in(self, sentence: str) -> dict[str, str] | None:
        """Return what stands for each placeholder, or None if the sentence is another."""
        if not sentence.startswith(self.parts[0]) or not sentence.endswith(self.parts[-1]):
            return None
        found = self.pattern.fullmatch(sentence)
        return found.groupdict() if found else None


def values_of(placeholder: str) -> str:
    """Return the pattern of what may stand for a placeholder; {number} and {number2} are of one kind."""
    kind = placeholder.rstrip("0123456789")
    if kind == "number":
        return r"\d[\d.,:-]*"
    return r"\S+?" if kind in ONE_WORD else r".+?"


@dataclass(frozen=True)
class Told:
    """A sentence that a line has, in its situation."""

    row: Row
    values: dict[str, str]


def plain(sentence: str) -> str:
    """The sentence without frame and full stop, with a small letter first, as it may stand inside another, and with
    commands as the first host spells them."""
    sentence = sentence.replace("$omo:", "/omo:")
    bare = sentence[found.end() :] if (found := FRAME.match(sentence)) else sentence
    bare = bare.rstrip().removesuffix(".").removesuffix(";")
    return bare if bare[1:2].isupper() else bare[:1].lower() + bare[1:]


class Table:
    def __init__(self, rows: list[Row]) -> None:
        self.rows = sorted(rows, key=lambda row: -row.weight)
        self.by_name = {row.name: row for row in rows}
        self._by_word: dict[str, list[Row]] = {}
        for row in self.rows:
            self._by_word.setdefault(first_word(row.parts), []).append(row)
        self.told = lru_cache(maxsize=20_000)(self._told)  # most lines are printed many times

    def named(self, situation: str) -> Row:
        if situation not in self.by_name:
            near = difflib.get_close_matches(situation, self.by_name, n=3, cutoff=0.4)
            raise LookupError(f"tests/texts has no row {situation}; near: {', '.join(near)}")
        return self.by_name[situation]

    def rows_for(self, sentence: str) -> Iterator[Row]:
        """Yield the rows that may be this sentence, those that say most first."""
        word, _, _ = sentence.partition(" ")
        yield from self._by_word.get(word, [])
        yield from self._by_word.get("", [])

    def match(self, sentence: str) -> Told | None:
        sentence = plain(sentence)
        for row in self.rows_for(sentence):
            values = row.values_in(sentence)
            if values is not None:
                return Told(row, values)
        return None

    def _told(self, line: str) -> tuple[list[Told], list[str]]:
        """Return what a line tells, and what of it no row has. A row of several sentences goes before its parts."""
        sentences = BETWEEN_SENTENCES.split(line)
        told, unknown, start = [], [], 0
        while start < len(sentences):
            for end in range(len(sentences), start, -1):
                found = self.match(" ".join(sentences[start:end]))
                if found is not None:
                    told.append(found)
                    start = end
                    break
            else:
                unknown.append(sentences[start])
                start += 1
        return told, unknown


def is_message(sentence: str) -> bool:
    """Return whether somebody speaks here, by the measure of bench/phrases.py: shorter ones and commands are facts."""
    return is_phrase(plain(sentence))


def first_word(parts: list[str]) -> str:
    """Return the word by which a row is found, or an empty text if its first word varies."""
    word, space, _ = parts[0].partition(" ")
    return word if space or len(parts) == 1 else ""


def parse(text: str) -> list[Row]:
    rows = []
    lines = [line for line in text.splitlines() if line]  # a merge of two files loses empty ones
    for heading, message in zip(lines[::2], lines[1::2], strict=True):
        found = HEADING.fullmatch(heading)
        if found is None or not message.startswith(INDENT):
            raise ValueError(f"no row of tests/texts: {heading!r}, {message!r}")
        rows.append(Row(found[1], found[2], message.removeprefix(INDENT)))
    return rows


def written(rows: list[Row]) -> str:
    rows = sorted(rows, key=lambda row: row.name)
    return "\n".join(f"{row.name} ({row.reader})\n{INDENT}{row.text}\n" for row in rows)


def files() -> list[Path]:
    return sorted(HERE.glob("*.txt"))


def rows_of(path: Path) -> list[Row]:
    return parse(path.read_text(encoding="utf-8"))


@cache
def table() -> Table:
    return Table([row for path in files() for row in rows_of(path)])
