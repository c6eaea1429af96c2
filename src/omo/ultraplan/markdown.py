"""Markdown as a plan uses it: headings, bullets that begin with a label, fenced blocks; each with its line."""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Only blocks matter here; reading emphasis and links costs time, and what a pattern is about stays as it was written.
_MARKDOWN = MarkdownIt("commonmark").disable("inline")
_MARKER = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LABEL = re.compile(
    r"(?P<bold>\*\*|__|\*|_|)(?P<label>[A-Za-z][\w -]{0,40}?)\s*(?:\([^()]*\))?"
    r"(?:\s*:(?P=bold)|(?P=bold)\s*:)\s*(?P<rest>.*)"
)
FIELDS = ("files", "changes", "reuses", "test first", "verify", "on failure", "checkpoint", "depends on", "manifest")
# Below a field in bold, a bullet begins another field only with one of these labels; else it belongs to the value.
LABELS = frozenset((*FIELDS, "touch", "never touch", "context"))
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


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
    """`- Label: value`, or `**Label:** value` without a bullet. `value` is its Markdown without the indentation."""

    key: str
    label: str
    value: str
    line: int


@dataclass(frozen=True)
class Fenced:
    """A fenced block; `line` is that of its first content line, counted from 1."""

    language: str
    content: str
    line: int
    end: int

    @property
    def first(self) -> str:
        return next((line.strip() for line in self.content.splitlines() if line.strip()), "")


class Page:
    """A text read once; everything is asked for by line indices, so that a defect can say where it is."""

    def __init__(self, text: str) -> None:
        self.lines = re.split(r"\r\n?|\n", text)
        self._tokens = _MARKDOWN.parse("\n".join(self.lines))
        self._mapped = [(at, token) for at, token in enumerate(self._tokens) if token.map]
        self._starts = [_start(token) for _, token in self._mapped]  # blocks come in the order of their lines

    def headings(self) -> list[Heading]:
        found = [
            (token, self._tokens[at + 1].content.strip())
            for at, token in enumerate(self._tokens)
            if token.type == "heading_open" and token.map
        ]
        starts = [_start(token) for token, _ in found if not token.level] + [len(self.lines)]
        return [
            Heading(int(token.tag[1]), title, start, starts[bisect_right(starts, start)], bool(token.level))
            for token, title in found
            for start in [_start(token)]
        ]

    def text(self, start: int, end: int) -> str:
        return "\n".join(self.lines[start:end]).rstrip()

    def paragraphs(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Every line of prose with its index, headings and code left out."""
        for at, token in self._within(start, end):
            if token.type == "inline" and self._tokens[at - 1].type == "paragraph_open":
                for offset, line in enumerate(token.content.split("\n")):
                    yield _start(token) + offset, line.strip()

    def fields(self, start: int, end: int) -> list[Field]:
        """The outermost bullets that have a label, and lines that begin with one in bold."""
        items = [token for _, token in self._within(start, end) if token.type == "list_item_open" and token.level == 1]
        bold = self._bold_lines(start, end)
        ends = [*bold, len(self.lines)]
        spans = [(first, min(last, _after(ends, first))) for first, last in map(_span, items)]
        bulleted = [field for span in spans if (field := self._field(*span))]
        return self._with_bold(bulleted, bold, start, end) if bold else bulleted

    def _with_bold(self, bulleted: list[Field], bold: list[int], start: int, end: int) -> list[Field]:
        known = [field.line - 1 for field in bulleted if field.key in LABELS]
        ends = sorted({*bold, *known, *self._breaks(start, end), end})
        found = [field for at in bold if (field := self._field(at, _after(ends, at)))]
        taken = {at + 1 for first in bold for at in range(first, _after(ends, first))}
        others = [field for field in bulleted if field.line not in taken]
        return sorted([*found, *others], key=lambda field: field.line)

    def _bold_lines(self, start: int, end: int) -> list[int]:
        """Also right below a bullet, where Markdown takes such a line for the end of that."""
        found = []
        for at, token in self._within(start, end):
            is_prose = token.type == "inline" and self._tokens[at - 1].type == "paragraph_open"
            for index in range(*_span(token)) if is_prose else ():
                named = _LABEL.fullmatch(self.lines[index].rstrip())
                if named and named["bold"] in ("**", "__"):
                    found.append(index)
        return found

    def _breaks(self, start: int, end: int) -> Iterator[int]:
        """Where nothing goes on: headings and rules."""
        return (_start(token) for _, token in self._within(start, end) if token.type in ("heading_open", "hr"))

    def bullets(self, start: int, end: int) -> list[str]:
        items = [token for _, token in self._within(start, end) if token.type == "list_item_open" and token.level == 1]
        return [self._item(*_span(item)) for item in items]

    def fences(self, start: int, end: int) -> list[Fenced]:
        return [
            Fenced((token.info.split() or [""])[0].lower(), token.content, _start(token) + 2, _span(token)[1])
            for _, token in self._within(start, end)
            if token.type == "fence"
        ]

    def _within(self, start: int, end: int) -> Iterator[tuple[int, Token]]:
        return iter(self._mapped[bisect_left(self._starts, start) : bisect_left(self._starts, end)])

    def _item(self, start: int, end: int) -> str:
        first = _MARKER.sub("", self.lines[start], count=1)
        rest = textwrap.dedent("\n".join(self.lines[start + 1 : end]))
        return f"{first}\n{rest}".strip()

    def _field(self, start: int, end: int) -> Field | None:
        first, _, rest = self._item(start, end).partition("\n")
        named = _LABEL.fullmatch(first.strip())
        if named is None:
            return None
        return Field(key_of(named["label"]), named["label"].strip(), f"{named['rest']}\n{rest}".strip(), start + 1)


def key_of(label: str) -> str:
    """`On-Failure` and `on failure` are the same."""
    return re.sub(r"[\s_-]+", " ", label).strip().lower()


def code_spans(text: str) -> list[str]:
    return [found[2].strip() for found in CODE.finditer(text)]


def items_of(value: str) -> tuple[str, ...]:
    """A list as people write it: commas or nested bullets, in backticks or plain, `none` for nothing."""
    found: list[str] = []
    for line in value.splitlines():
        is_bullet = _MARKER.match(line) is not None
        text = _MARKER.sub("", line, count=1).strip()
        found += code_spans(text)[:1] if is_bullet and code_spans(text) else _between_commas(text)
    return tuple(dict.fromkeys(one for one in found if one and not is_none(one)))


def _between_commas(text: str) -> list[str]:
    """Where some are in backticks, what is not counts only if it looks like a path: the rest is talk about them."""
    found: list[str] = []
    for part in text.split(","):
        spans, plain = code_spans(part), _plain(part)
        if spans or "`" not in text or re.fullmatch(r"[^\s`]*[./][^\s`]*", plain):
            found += spans or [plain]
    return found


def is_none(value: str) -> bool:
    """Said to be nothing: `none`, `none (read-only)`, `—`."""
    return (
        re.match(r"[*_`]*(?:(?:none|nothing|n/?a)(?![\w/-]|\.\w)|[-–—]\s*$)", value.strip(), re.IGNORECASE) is not None
    )


def numbers_of(value: str) -> tuple[int, ...]:
    """`Step 2, Step 3`, `2 and 3`; what follows a dash or a bracket is talk."""
    listed = re.split(r"[—–(;]| - ", value)[0]
    return tuple(dict.fromkeys(int(one) for one in re.findall(r"\d{1,6}", listed)))


def _plain(text: str) -> str:
    return re.sub(r"\s*\([^()]*\)\s*$", "", text).strip().strip("*_\"'").strip()


def _after(ends: list[int], at: int) -> int:
    """The first of them behind `at`; there is one."""
    return ends[bisect_right(ends, at)]


def _start(token: Token) -> int:
    return _span(token)[0]


def _span(token: Token) -> tuple[int, int]:
    assert token.map is not None
    return token.map[0], token.map[1]
