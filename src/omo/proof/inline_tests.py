"""Tests inside a file of the work: Rust's `#[cfg(test)] mod`, parted from the code that they test.

Taking away the work took the test with it, so a test written first was never provable there; and a `return` in front of
an old assertion went unseen. Doctests are not parted.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# What may hold braces that are none: comments, strings, letters. A lifetime ('a) is no letter.
NO_CODE = re.compile(
    r"//[^\n]*|(?P<comment>/\*)"
    r'|\b(?:b|c)?r(?P<hashes>#*)"(?s:.*?)"(?P=hashes)'
    r'|"(?:[^"\\]|\\(?s:.))*"'
    r"|'(?:[^'\\\n]|\\u\{[^}]*\}|\\x..|\\.)'"
)
COMMENT_EDGE = re.compile(r"/\*|\*/")
DOC_COMMENT = re.compile(r"///(?!/)|/\*\*(?![*/])")
ATTRIBUTE = re.compile(r"#\[(?:[^\[\]]|\[[^\[\]]*\])*\]")
ATTRIBUTES = re.compile(rf"(?:{ATTRIBUTE.pattern}\s*)+")
CFG_TEST = re.compile(r"#\[\s*cfg\s*\(\s*test\s*\)\s*\]")
CFG_ALL = re.compile(r"#\[\s*cfg\s*\(\s*all\s*\((?P<conditions>.*)\)\s*\)\s*\]", re.DOTALL)
NESTED_CONDITION = re.compile(r"\w+\s*\([^()]*\)")
MOD = re.compile(r"(?:pub(?:\s*\([^)]*\))?\s+)?\bmod\s+(?P<name>(?:r#)?\w+)\s*(?P<opening>[{;])")


AT_TOP = 2  # parts of the name of a block that no other module is around


class Block(NamedTuple):
    """A module of tests; its name has the modules around it, its own, and how many of that name came before it."""

    name: tuple[str, ...]
    start: int
    end: int


def has_inline_tests(path: str, content: bytes) -> bool:
    if not path.endswith(".rs"):
        return False
    try:
        return bool(_blocks(content.decode()))
    except ValueError:
        return False


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


def _blocks(text: str) -> list[Block]:
    """The modules of tests in their order, without those inside another. Raises ValueError where something is open."""
    code = _code_alone(text)
    closing = _closing_braces(code)
    blocks: list[Block] = []
    for attributes in ATTRIBUTES.finditer(code):
        mod = MOD.match(code, attributes.end())
        is_inside = blocks and attributes.start() < blocks[-1].end
        if not mod or is_inside or not _are_for_tests(attributes.group()):
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
    parts = []
    position = 0
    while match := NO_CODE.search(text, position):
        end = match.end()
        if match["comment"]:
            end = _end_of_comment(text, end)
        blank = " " * (end - match.start())
        if DOC_COMMENT.match(text, match.start()):
            blank = "#[" + blank[3:] + "]"  # to Rust it is an attribute, and goes where its item goes
        parts += [text[position : match.start()], blank]
        position = end
    return "".join(parts) + text[position:]


def _end_of_comment(text: str, position: int) -> int:
    """Comments nest."""
    depth = 1
    for edge in COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise ValueError("an open comment")


def _closing_braces(code: str) -> dict[int, int]:
    """For each opening brace the position behind the closing one."""
    opened: list[int] = []
    closing = {}
    for brace in re.finditer(r'[{}"]', code):
        if brace.group() == "{":
            opened.append(brace.start())
        elif brace.group() == "}" and opened:
            closing[opened.pop()] = brace.end()
        else:
            raise ValueError("a brace or a quote alone")
    if opened:
        raise ValueError("an open brace")
    return closing


def _are_for_tests(attributes: str) -> bool:
    """`cfg(test)`, or `test` among the conditions of `cfg(all(…))`. With `any` it is code of the program too."""
    for attribute in ATTRIBUTE.findall(attributes):
        if CFG_TEST.fullmatch(attribute):
            return True
        if match := CFG_ALL.fullmatch(attribute):
            conditions = match["conditions"]
            while NESTED_CONDITION.search(conditions):
                conditions = NESTED_CONDITION.sub("", conditions)
            if re.search(r"\btest\b", conditions):
                return True
    return False
