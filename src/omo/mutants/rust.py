"""Mutants of Rust, from the list of cargo-mutants: https://mutants.rs/list.html.

Its spans count lines and columns from 1, columns in characters, the end not included. Only versions that print spans
are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from omo.mutants.edits import Edit, Mutant, NoMutants, mutants_from
from omo.mutants.programs import Tools, failure

OPERATORS = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), "comparison"),
    **dict.fromkeys(("&&", "||"), "boolean"),
    "!": "condition",
}


def mutants_of(path: str, content: bytes, lines: Collection[int], tools: Tools) -> list[Mutant] | NoMutants:
    file = tools.root / path
    try:
        if file.read_bytes() != content:
            return NoMutants(path, "cargo-mutants reads the file on disk, which has changed")
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        return NoMutants(path, f"cargo-mutants cannot read it: {error}")
    argv = ["cargo", "mutants", "--list", "--json", "--file", file.name]
    answer = tools.run(argv, cwd=_package(file, tools.root), stdin=b"", variables={})
    if "no such command" in answer.stderr and answer.exit_code != 0:
        return NoMutants(path, "cargo-mutants is not installed")
    why = failure(answer, "cargo")
    if why is not None:
        return NoMutants(path, why)
    try:
        rows = _of_file(path, json.loads(answer.stdout))
        edits = [edit for row in rows for edit in _edits(row, text)]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return NoMutants(path, "this version of cargo-mutants prints no spans that omo can read")
    if not rows:
        return NoMutants(path, "cargo-mutants lists none in it: it has no code, or no package builds it")
    return mutants_from(path, content, lines, edits)


def _package(file: Path, root: Path) -> Path:
    """Return the nearest directory with a Cargo.toml: the package that a bare `cargo mutants` looks at."""
    for directory in file.parents:
        if directory == root or (directory / "Cargo.toml").is_file():
            return directory
    return root


def _of_file(path: str, rows: list[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Return the rows of this file. They name it from the root of its workspace, which may be below the project's."""
    names = {str(row["file"]) for row in rows}
    name = max((name for name in names if f"/{path}".endswith(f"/{name}")), key=len, default="")
    return [row for row in rows if row["file"] == name]


def _edits(row: Mapping[str, object], text: str) -> list[Edit]:
    span, replacement, genre = row["span"], row["replacement"], row["genre"]
    if not isinstance(span, dict) or not isinstance(replacement, str):
        raise TypeError("no span")
    start, end = _offset(text, span["start"]), _offset(text, span["end"])
    before = text.encode()[start:end].decode()
    if genre in ("FnValue", "MatchArmGuard"):
        kind = "return" if genre == "FnValue" else "condition"
    elif genre in ("BinaryOperator", "UnaryOperator"):
        kind = OPERATORS.get(before, "arithmetic")
        if not re.fullmatch(r"[-+*/%&|^<>=!]+", before):
            raise ValueError(f"no operator stands where it says: {before}")
    else:
        return []
    return [Edit(start, end, replacement.encode(), kind)]


def _offset(text: str, place: Mapping[str, int]) -> int:
    """Return the byte at a line and a column. A byte order mark is no column."""
    lines = text.split("\n")
    line = lines[place["line"] - 1]
    column = place["column"] - 1
    if place["line"] == 1 and text.startswith("\ufeff"):
        column += 1
    if not 0 <= column <= len(line):
        raise ValueError("a column that the line does not have")
    before = "\n".join([*lines[: place["line"] - 1], line[:column]])
    return len(before.encode())
