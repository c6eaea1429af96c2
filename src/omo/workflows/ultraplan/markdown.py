"""Markdown as a plan uses it: headings, bullets that begin with a label, fenced blocks, shell commands in them; read,
and written."""

from __future__ import annotations

import json
import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from omo.shell import commands, name, program
from omo.shell.programs import git_verb, option
from omo.workflows.ultraplan.models import Manifest

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKER = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LABEL = re.compile(
    r"(?P<bold>\*\*|__|\*|_|)(?P<label>[A-Za-z][\w -]{0,40}?)\s*(?:\((?P<remark>[^()]*)\))?"
    r"(?:\s*:(?P=bold)|(?P=bold)\s*:)\s*(?P<rest>.*)"
)
FIELDS = ("files", "changes", "reuses", "test first", "verify", "on failure", "checkpoint", "depends on", "manifest")
PROPOSED = "proposed"
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)

_EXPECTED = re.compile(r"→|->|=>|\bexpect(?:ed|s)?\b\s*:", re.IGNORECASE)
_FENCED = re.compile(r"^\s*(`{3,}|~{3,}).*?^\s*\1[`~]*\s*$", re.MULTILINE | re.DOTALL)
_REMOVED = re.compile(r"(?:`([^`\n]+)`|([^\s`,]+))\s*\((?:to be )?(?:removed|deleted|gone)\b[^()]*\)", re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """`start` and `end` are line indices of what it heads, itself included, up to the next heading of any level."""

    level: int
    title: str
    start: int
    end: int = 0
    is_nested: bool = False


@dataclass(frozen=True)
class Field:
    """`- Label: value`, the label in bold or not. `value` is its Markdown without the indentation; `end` is the line
    after it. What omo filled in says so: `- Label (proposed): value`."""

    key: str
    label: str
    value: str
    line: int
    end: int
    is_proposed: bool = False


@dataclass(frozen=True)
class Fenced:
    """A fenced block; `line` is that of its first content line, counted from 1."""

    language: str
    content: str
    line: int


class Page:
    """A text read once; everything is asked for by line indices, so that a defect can say where it is."""

    def __init__(self, text: str) -> None:
        self.lines = re.split(r"\r\n?|\n", text)
        self._tokens = _reader().parse("\n".join(self.lines))
        self._mapped = [(index, token) for index, token in enumerate(self._tokens) if token.map]
        self._starts = [_span(token)[0] for _, token in self._mapped]  # blocks come in the order of their lines

    def headings(self) -> list[Heading]:
        headings: list[Heading] = []
        end = len(self.lines)
        for index, token in reversed(self._mapped):
            if token.type != "heading_open":
                continue
            start = _span(token)[0]
            title = self._tokens[index + 1].content.strip()
            headings.append(Heading(int(token.tag[1]), title, start, end, is_nested=bool(token.level)))
            if not token.level:  # one in a list or a quotation ends nothing
                end = start
        return headings[::-1]

    def text(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start:end]).rstrip()

    def paragraphs(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Every line of prose with its index, headings and code left out."""
        for index, token in self._within(start, end):
            if token.type == "inline" and self._tokens[index - 1].type == "paragraph_open":
                for offset, line in enumerate(token.content.split("\n")):
                    yield _span(token)[0] + offset, line.strip()

    def fields(self, start: int, end: int) -> list[Field]:
        """The outermost bullets that have a label."""
        fields = []
        for _, token in self._within(start, end):
            if token.type != "list_item_open" or token.level != 1:
                continue
            first, last = _span(token)
            text = _MARKER.sub("", self.lines[first], count=1).strip()
            if label := _LABEL.fullmatch(text):
                below = textwrap.dedent("\n".join(self.lines[first + 1 : last]))
                value = f"{label['rest']}\n{below}".strip()
                name = label["label"].strip()
                is_proposed = label["remark"] == PROPOSED
                fields.append(Field(key_of(name), name, value, first + 1, last, is_proposed))
        return fields

    def values(self, start: int, end: int) -> dict[str, str]:
        """The fields by key, the last of each."""
        return {field.key: field.value for field in self.fields(start, end)}

    def fences(self) -> list[Fenced]:
        blocks = []
        for _, token in self._mapped:
            if token.type == "fence":
                language = (token.info.split() or [""])[0].lower()
                blocks.append(Fenced(language, token.content, _span(token)[0] + 2))
        return blocks

    def yaml_blocks(self, key: str) -> list[Fenced]:
        """The fenced blocks that are YAML whose first key is this one."""
        blocks = []
        for block in self.fences():
            if block.language in ("", "yaml", "yml") and re.match(rf"\s*{key}\s*:", block.content):
                blocks.append(block)
        return blocks

    def _within(self, start: int, end: int) -> list[tuple[int, Token]]:
        return self._mapped[bisect_left(self._starts, start) : bisect_left(self._starts, end)]


def key_of(label: str) -> str:
    """`On-Failure` and `on failure` are the same."""
    return re.sub(r"[\s_-]+", " ", label).strip().lower()


def code_spans(text: str) -> list[str]:
    return [match[2].strip() for match in CODE.finditer(text)]


def items_of(value: str) -> tuple[str, ...]:
    """A list as people write it: commas or nested bullets, in backticks or plain, `none` for nothing."""
    items: list[str] = []
    for line in value.splitlines():
        text = _MARKER.sub("", line, count=1).strip()
        spans = code_spans(text)
        if spans and _MARKER.match(line):
            items.append(spans[0])  # the rest of the bullet is talk about it
            continue
        for part in text.split(","):
            plain = re.sub(r"\s*\([^()]*\)\s*$", "", part).strip().strip("*_\"'").strip()
            if code_spans(part):
                items += code_spans(part)
            elif not spans or re.fullmatch(r"[^\s`]*[./][^\s`]*", plain):
                items.append(plain)  # beside what is in backticks only what looks like a path counts
    named = [item for item in items if item and not is_none(item)]
    return tuple(dict.fromkeys(named))


def removed_of(value: str) -> tuple[str, ...]:
    """What a list of files says to be gone: `old.py` (removed)."""
    gone = [quoted or plain for quoted, plain in _REMOVED.findall(value)]
    return tuple(dict.fromkeys(gone))


def is_none(value: str) -> bool:
    """Said to be nothing: `none`, `none (read-only)`, `—`."""
    none = r"[*_`]*(?:(?:none|nothing|n/?a)(?![\w/-]|\.\w)|[-–—]\s*$)"
    return re.match(none, value.strip(), re.IGNORECASE) is not None


def numbers_of(value: str) -> tuple[int, ...]:
    """`Step 2, Step 3`, `2 and 3`; what follows a dash or a bracket is talk."""
    if is_none(value):
        return ()
    listed = re.split(r"[—–(;]| - ", value)[0]
    return tuple(dict.fromkeys(map(int, re.findall(r"\d{1,6}", listed))))


def shell_texts(value: str) -> list[str]:
    """The commands of a Verify or Checkpoint: fenced blocks and code before `→ expected: …`; where there is neither,
    the words before it."""
    texts = code_texts(value)
    asked = _asked_and_expected(value)[0].strip()
    if not texts and asked:
        texts = [asked]
    return texts


def code_texts(value: str) -> list[str]:
    """Only what is written as code: words alone may be talk."""
    fenced = [block.content.strip() for block in Page(value).fences()]
    return fenced + asked_in_line(value)


def asked_in_line(value: str) -> list[str]:
    """The code of it that stands before `→ expected: …`."""
    return code_spans(_asked_and_expected(value)[0])


def expectation(value: str) -> str:
    return _asked_and_expected(value)[1]


def _asked_and_expected(value: str) -> tuple[str, str]:
    """What stands before the arrow and after it, fenced blocks left out."""
    prose = _FENCED.sub("", value)
    hidden = CODE.sub(lambda match: "\0" * len(match[0]), prose)
    arrow = _EXPECTED.search(hidden)
    if arrow is None:
        return prose, ""
    return prose[: arrow.start()], prose[arrow.end() :]


def commit_subjects(value: str) -> list[str]:
    """What the `git commit -m` in it would call the commits; one that only the running shell knows is left out."""
    subjects = []
    for text in shell_texts(value):
        for words in commands(text):
            message = _commit_message(program(words))
            subject = message.strip().split("\n")[0].strip()
            if subject and "$" not in subject and "`" not in subject:
                subjects.append(subject)
    return subjects


def _commit_message(words: list[str]) -> str:
    """Empty for another command than `git commit` with a message."""
    verb = git_verb(words)[1]
    if name(words) != "git" or verb[:1] != ["commit"]:
        return ""
    return "".join(option(verb, "m", "--message")[:1])


@cache
def _reader() -> MarkdownIt:
    """Return what reads blocks only: emphasis and links cost time, and a pattern is about what was written.

    It is loaded by the first plan that is read: a report, and what looks at sessions, may have none.
    """
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").disable("inline")


def _span(token: Token) -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]


# written, so that it reads back exactly, whatever is in it


def manifest_bullet(manifest: Manifest, label: str) -> list[str]:
    """The manifest as a field of a step."""
    lines = ["manifest:"]
    for key, value in manifest.model_dump().items():
        if value or Manifest.model_fields[key].is_required():
            lines += yaml_lines(key, value)
    return [f"- {label}:", *(f"  {line}" for line in ("```yaml", *lines, "```"))]


def yaml_lines(key: str, value: object) -> list[str]:
    """As JSON, which is YAML on one line: nothing in it can end the block or begin another key."""
    if isinstance(value, list | tuple) and value:
        return [f"  {key}:", *(f"    - {_json(entry)}" for entry in value)]
    return [f"  {key}: {_json(value)}"]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def code(text: str) -> str:
    """As a code span."""
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
