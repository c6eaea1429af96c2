"""What stands in README.md, CONTRIBUTING.md and docs: blocks of code, the files they are, and code in lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for pattern in ("README.md", "CONTRIBUTING.md", "docs/**/*.md") for path in ROOT.glob(pattern))
NAMED_FILE = re.compile(r"`([\w./-]+\.\w+)`(?:\s+reads)?:$")
PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """`file`: the text before the block ends in this name and a colon, so the block is what that file holds."""

    page: str
    line: int
    language: str
    text: str
    file: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@cache
def tokens(page: Path) -> list[Token]:
    return PARSER.parse(page.read_text(encoding="utf-8"))


@cache
def blocks(page: Path) -> tuple[Block, ...]:
    return tuple(_blocks(page))


def _blocks(page: Path) -> Iterator[Block]:
    before = ""
    for token in tokens(page):
        if token.type == "inline":
            before = token.content
        if token.type in ("fence", "code_block"):
            named = NAMED_FILE.search(before)
            yield Block(name_of(page), _line(token), token.info.strip(), token.content, named[1] if named else "")
            before = ""


@cache
def spans(page: Path) -> tuple[str, ...]:
    """Code inside lines; a line break in it is a blank."""
    children = [child for token in tokens(page) for child in token.children or []]
    return tuple(child.content for child in children if child.type == "code_inline")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def _line(token: Token) -> int:
    assert token.map is not None
    return token.map[0] + 1
