"""What omo says while a test runs. A message that no row has fails the test that it was printed in."""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.texts.rows import AGENT, BOTH, PLACEHOLDER, USER, Row, is_message, plain, table

LARGEST_FILE = 200_000
# Commands and verbs that draw a view, which tests compare as a whole: only what they say on stderr is a message.
VIEWS = {"status", "report", "explain", "doctor", "proof", "next", "demo", "brief", "list", "show", "audit", "validate"}
VIEWS |= {"help", "--help", "-h", "version", "--version", "-V"}
WORDS = re.compile(r"\{\w+\}|\w+|\s+|[^\w\s]")
VIEWS_BY_PROMPT = ("/omo:status", "/omo:explain")


@dataclass(frozen=True)
class Said:
    """A line of omo's, and who reads it."""

    reader: str
    line: str


@dataclass
class Unknown:
    sentence: str
    reader: str
    told_to_other: str = ""  # the name of its row, where that is for the other reader alone


@dataclass
class Recorder:
    """Of one test. What is heard is looked at when the test is over, so that no test measures this."""

    commands: list[tuple[Path, Sequence[str], str | None, str, str]] = field(default_factory=list)
    hooks: list[tuple[Path, str, object, str]] = field(default_factory=list)
    given: list[str] = field(default_factory=list)  # what the test typed, piped and sent
    unknown: dict[str, Unknown] = field(default_factory=dict)

    def command(self, root: Path, argv: Sequence[str], stdin: str | None, out: str, err: str) -> None:
        self.commands.append((root, argv, stdin, out, err))

    def hook(self, root: Path, event: str, sent: object, stdout: str) -> None:
        self.hooks.append((root, event, sent, stdout))

    def look(self) -> None:
        """Find what no row has."""
        for _, argv, stdin, _, _ in self.commands:
            self.given += [*argv, stdin or ""]
        for _, _, sent, _ in self.hooks:
            self.given.append(sent if isinstance(sent, str) else json.dumps(sent, ensure_ascii=False, default=str))
        for _, argv, _, out, err in self.commands:
            self._hear(messages_of_command(argv, out, err))
        for _, event, sent, stdout in self.hooks:
            if not any(view in str(sent) for view in VIEWS_BY_PROMPT):
                self._hear(said_by_hook(event, stdout))

    @property
    def roots(self) -> set[Path]:
        return {heard[0] for heard in self.commands} | {heard[0] for heard in self.hooks}

    def _hear(self, said: Iterator[Said]) -> None:
        for each in said:
            told, unknown = table().told(each.line)
            for one in told:
                if each.reader not in (BOTH, one.row.reader) and one.row.reader != BOTH:
                    self._note(each.line, each.reader, one.row.name)
            for sentence in unknown:
                if is_message(sentence) and not self._is_somebody_elses(plain(sentence)):
                    self._note(sentence, each.reader)

    def _note(self, sentence: str, reader: str, told_to_other: str = "") -> None:
        self.unknown.setdefault(sentence, Unknown(sentence, reader, told_to_other))

    def _is_somebody_elses(self, sentence: str) -> bool:
        """Return whether the test typed it, or a file of its project has it: omo shows what others wrote."""
        wanted = sentence[1:].removesuffix("…")
        if any(wanted in text for text in self.given):
            return True
        return any(wanted in text for root in self.roots for text in texts_below(root))

    def complaint(self) -> str:
        """Return what is to be done about each message that no row has, or an empty text."""
        self.look()
        lines = []
        for each in self.unknown.values():
            if each.told_to_other:
                lines.append(f"{each.told_to_other} is not for the {each.reader}, who read: {each.sentence}")
                continue
            name, text = nearest(each)
            lines += [
                f"no row of tests/texts has this message to the {each.reader}:",
                f"    {each.sentence}",
                f"  nearest: {name}",
                f"    {table().by_name[name].text}",
                "  if that is the situation, accept its new text:",
                f"    python3 tests/texts/accept.py {name} {each.reader} {shlex.quote(text)}",
                "  or name a new one, with {words} for what varies:",
                f"    python3 tests/texts/accept.py SUBJECT-SITUATION {each.reader} {shlex.quote(each.sentence)}",
            ]
        return "\n".join(lines)


RECORDER = Recorder()


def begin() -> None:
    """Forget what was heard before this test."""
    RECORDER.__init__()  # type: ignore[misc]


def messages_of_command(argv: Sequence[str], out: str, err: str) -> Iterator[Said]:
    """Yield what a command says: all on stderr, errors also as data, and the lines in the first column of stdout."""
    for line in err.splitlines():
        yield Said(BOTH, line)
    if "--json" in argv:
        yield from said_in_error(out)
    elif argv and VIEWS.isdisjoint(argv):
        for line in out.splitlines():
            if line[:1].isalpha():
                yield Said(BOTH, line)


def said_in_error(out: str) -> Iterator[Said]:
    try:
        error = json.loads(out)["error"]
    except (ValueError, LookupError, TypeError):
        return
    for text in (error["message"], error["fix"], *error["details"]):
        message = text["message"] if isinstance(text, dict) else str(text)
        for line in message.splitlines():
            yield Said(BOTH, line)


def said_by_hook(event: str, stdout: str) -> Iterator[Said]:
    """Yield what a hook tells the user and the agent, in the form of each host."""
    if not stdout.startswith("{"):
        for line in stdout.splitlines():
            yield Said(AGENT, line)
        return
    for answer in stdout.splitlines():
        for reader, text in texts_of_answer(event, json.loads(answer)):
            for line in text.splitlines():
                yield Said(reader, line)


def texts_of_answer(event: str, answer: dict[str, Any]) -> Iterator[tuple[str, str]]:
    specific = answer.get("hookSpecificOutput") or {}
    ends_prompt = event == "UserPromptSubmit" and answer.get("decision") == "block"
    yield USER, answer.get("systemMessage", "")
    yield USER, answer.get("message", "") if answer.get("type") == "progress" else ""
    yield USER if ends_prompt else AGENT, answer.get("reason", "")
    yield AGENT, specific.get("additionalContext", "")
    yield AGENT, specific.get("permissionDecisionReason", "")


def lines_of(said: Iterable[Said]) -> str:
    return "\n".join(each.line for each in said)


def texts_below(root: Path) -> Iterator[str]:
    """Yield the texts of a project's files, without those that omo writes."""
    for directory, names, files in os.walk(root):
        names[:] = [name for name in names if name not in (".git", "cc-omo")]
        for name in files:
            path = Path(directory, name)
            if path.is_file() and path.stat().st_size < LARGEST_FILE:
                yield path.read_text(encoding="utf-8", errors="replace")


def nearest(unknown: Unknown) -> tuple[str, str]:
    """Return the row that is most alike, and its text as it would have to be."""
    wanted = plain(unknown.sentence).split()
    best, likeness = None, -1.0
    for row in table().rows:
        matcher = difflib.SequenceMatcher(None, plain(row.text).split(), wanted, autojunk=False)
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness:
            likeness, best = max((likeness, best), (matcher.ratio(), row), key=lambda pair: pair[0])
    assert best is not None
    return best.name, with_placeholders(best, unknown.sentence)


def with_placeholders(row: Row, sentence: str) -> str:
    """Return the sentence with what the row has a placeholder for as that placeholder."""
    old, new = WORDS.findall(row.text), WORDS.findall(sentence)
    words = []
    for tag, start, end, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        varies = tag == "replace" and end - start == 1 and PLACEHOLDER.fullmatch(old[start])
        words += old[start:end] if varies else new[first:last]
    return "".join(words)
