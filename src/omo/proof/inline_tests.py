"""Tests inside a file of the work: Rust's `#[cfg(test)] mod`, parted from the code that they test.

Taking away the work took the test with it, so a test written first was never provable there; and a `return` in front of
an old assertion went unseen. Doctests are not parted.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import NamedTuple

# What may hold braces that are none: comments, one inside another too, strings, letters. A lifetime ('a) is no letter.
IN_COMMENT = r"(?:[^*/]|\*(?!/)|/(?!\*))*"
NO_CODE = re.compile(
    rf"//[^\n]*|/\*{IN_COMMENT}(?:/\*{IN_COMMENT}\*/{IN_COMMENT})*\*/"
    r'|\b(?:b|c)?r(?P<hashes>#*)"(?s:.*?)"(?P=hashes)'
    r'|"(?:[^"\\]|\\(?s:.))*"'
    r"|'(?:[^'\\\n]|\\u\{[^}]*\}|\\x..|\\.)'"
)
DOC_COMMENT = re.compile(r"///(?!/)|/\*\*(?![*/])")
ATTRIBUTES = re.compile(r"(?:#\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)+")
# `cfg(all(test, …))` as well. With `any` it is code of the program too.
FOR_TESTS = re.compile(r"#\[\s*cfg\s*\(\s*(?:all\s*\(\s*)?test\s*[,)]")
MOD = re.compile(r"(?:pub(?:\s*\([^)]*\))?\s+)?\bmod\s+(?P<name>(?:r#)?\w+)\s*(?P<opening>[{;])")
ROOTS = {"lib.rs": b"", "main.rs": b"\nfn main() {}\n"}  # the files with which crates begin, and what each has to have
AT_TOP = 2  # parts of the name of a block that no other module is around


class Block(NamedTuple):
    """A module of tests; its name has the modules around it, its own, and how many of that name came before it."""

    name: tuple[str, ...]
    start: int
    end: int


def with_tests_of(work_file: bytes, tests_file: bytes) -> bytes | None:
    """The code of the first file with the modules of tests of the second; None where they cannot be parted.

    A module that the first does not have comes to its end, one that the second does not have is left out.
    """
    try:
        work, tests = work_file.decode(), tests_file.decode()
        own, others = _blocks(work), _blocks(tests)
    except ValueError:
        return None
    texts = {block.name: tests[block.start : block.end] for block in others}
    parts = []
    position = 0
    for block in own:
        parts.append(work[position : block.start])
        parts.append(texts.pop(block.name, ""))
        position = block.end
    parts.append(work[position:])
    for name, text in texts.items():
        if len(name) > AT_TOP:
            return None  # where it would lie in this file is a guess
        parts.append(f"\n{text}\n")
    return "".join(parts).encode()


def declared_in(path: str) -> tuple[str, list[str]]:
    """The name of a module of Rust, and the files that may declare it."""
    directory, name = posixpath.split(path.removesuffix("/mod.rs").removesuffix(".rs"))
    if not path.endswith(".rs") or not name or not directory:
        return name, []
    return name, [*(posixpath.join(directory, f"{root}.rs") for root in ("lib", "main", "mod")), f"{directory}.rs"]


def is_module_of_tests(path: str, text_of: Callable[[str], str], below: tuple[str, ...] = ()) -> bool:
    """Whether a file is compiled for tests alone: the one above it declares it as `#[cfg(test)] mod checks;`, or is
    itself such a one. `text_of` tells what a file holds, nothing where there is none. `below` are those that were asked
    about before it: test_files_that_name_each_other_are_no_tests in tests/proof/test_inline_tests.py."""
    name, above = declared_in(path)
    for other in above:
        if other in (path, *below):
            continue
        try:
            text = text_of(other)
            declared = [block for block in _blocks(text) if text[block.start : block.end].endswith(";")]
        except ValueError:
            continue
        if any(block.name[-2] == name for block in declared):
            return True
        if re.search(rf"\bmod\s+{re.escape(name)}\s*;", text) and is_module_of_tests(other, text_of, (path, *below)):
            return True
    return False


def _blocks(text: str) -> list[Block]:
    """The modules of tests in their order, without those inside another. Raises ValueError where something is open."""
    code = _code_alone(text)
    closing = _closing_braces(code)
    blocks: list[Block] = []
    for attributes in ATTRIBUTES.finditer(code):
        mod = MOD.match(code, attributes.end())
        is_inside = blocks and attributes.start() < blocks[-1].end
        if not mod or is_inside or not FOR_TESTS.search(attributes.group()):
            continue
        end = mod.end()
        if mod["opening"] == "{":
            end = closing[mod.end() - 1]
        around = []
        for other in MOD.finditer(code, 0, attributes.start()):
            if other["opening"] == "{" and closing[other.end() - 1] > attributes.start():
                around.append(other["name"])
        same = [block for block in blocks if block.name[:-1] == (*around, mod["name"])]
        blocks.append(Block((*around, mod["name"], str(len(same))), attributes.start(), end))
    return blocks


def _code_alone(text: str) -> str:
    """The text with spaces for what is no code, every letter in its place."""

    def blank(match: re.Match[str]) -> str:
        spaces = " " * len(match.group())
        if DOC_COMMENT.match(match.group()):
            return "#[" + spaces[3:] + "]"  # to Rust it is an attribute, and goes where its item goes
        return spaces

    return NO_CODE.sub(blank, text)


def _closing_braces(code: str) -> dict[int, int]:
    """For each opening brace the position behind the closing one."""
    opened: list[int] = []
    closing = {}
    for brace in re.finditer(r'[{}"]|/\*', code):
        if brace.group() == "{":
            opened.append(brace.start())
        elif brace.group() == "}" and opened:
            closing[opened.pop()] = brace.end()
        else:
            raise ValueError("a brace, a quote or a comment that is open")
    if opened:
        raise ValueError("an open brace")
    return closing
