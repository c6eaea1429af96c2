"""Mutants of Rust, from what cargo-mutants prints: rows in the form of its version 27.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from omo.mutants import NoMutants, Tools, mutants_of
from tests import texts
from tests.mutants.tools import every_line, made, rows, tools

# In the place of cargo: it notes how and where it was called, and prints what it was told to.
CARGO = """#!/bin/sh
echo "$PWD: $*" >>"$HERE/calls"
cat "$HERE/errors" >&2
cat "$HERE/list"
exit "$(cat "$HERE/code")"
"""
LIB = """fn price(ä: i32, member: bool) -> i32 {\r
    let total = ä * 10; /* 日本 */ let less = total > 2 && !member;\r
    match total {\r
        n if less => n,\r
        _ => -total,\r
    }\r
}\r
"""
SOURCE = LIB.encode()


def row(genre: str, text: str, replacement: str, file: str = "src/lib.rs", after: str = "") -> Mapping[str, object]:
    """Return a row for this text of LIB, as cargo-mutants counts: characters, and no carriage returns."""
    lib = LIB.replace("\r", "")
    before = lib[: lib.index(text, lib.index(after) + len(after))]
    lines, end = before.split("\n"), (before + text).split("\n")
    places = {"start": lines, "end": end}
    span = {name: {"line": len(place), "column": len(place[-1]) + 1} for name, place in places.items()}
    return {
        "diff": "--- src/lib.rs\n+++ replace it\n",
        "file": file,
        "function": {"function_name": "price", "return_type": "-> i32", "span": {}},
        "genre": genre,
        "name": f"{file}: replace {text} with {replacement}",
        "package": "price",
        "replacement": replacement,
        "span": span,
    }


BODY = LIB.replace("\r", "").partition("{\n    ")[2].rpartition("\n}")[0]
LISTED = [
    row("FnValue", BODY, "0"),
    row("BinaryOperator", "*", "+"),
    row("BinaryOperator", ">", "==", after="= total "),
    row("BinaryOperator", "&&", "||"),
    row("UnaryOperator", "!", ""),
    row("MatchArmGuard", "less", "true", after="n if "),
    row("MatchArm", "_ => -total,", ""),
    row("UnaryOperator", "-", "", "src/other.rs"),
]


class Cargo:
    """A project with LIB in it, and a cargo that prints."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.beside = root / "beside"
        self.beside.mkdir()
        (self.beside / "cargo").write_text(CARGO, encoding="utf-8")
        (self.beside / "cargo").chmod(0o755)
        self.prints(json.dumps(LISTED))

    def prints(self, printed: str, code: int = 0, errors: str = "") -> None:
        for name, text in {"list": printed, "code": str(code), "errors": errors}.items():
            (self.beside / name).write_text(text, encoding="utf-8")

    def file(self, path: str) -> Tools:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(SOURCE)
        return tools(self.root, PATH=f"{self.beside}:/usr/bin:/bin", HERE=str(self.beside))

    @property
    def calls(self) -> list[str]:
        return (self.beside / "calls").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def cargo(tmp_path: Path) -> Cargo:
    return Cargo(tmp_path)


def test_mutants(cargo: Cargo) -> None:
    line = "let total = ä * 10; /* 日本 */ let less = total > 2 && !member;"
    assert rows("src/lib.rs", SOURCE, cargo.file("src/lib.rs")) == [
        (2, "return", "0"),
        (2, "arithmetic", line.replace("*", "+", 1)),
        (2, "comparison", line.replace(">", "==")),
        (2, "boolean", line.replace("&&", "||")),
        (2, "condition", line.replace("!", "")),
        (4, "condition", "n if true => n,"),
    ]
    assert cargo.calls == [f"{cargo.root}: mutants --list --json --file lib.rs"]


def test_the_bytes_around_a_mutant_stay(cargo: Cargo) -> None:
    given = cargo.file("src/lib.rs")
    guard = made(mutants_of("src/lib.rs", SOURCE, [4], given))[-1]
    assert guard.content == LIB.replace("n if less", "n if true").encode()


def test_a_package_below_the_root_is_asked_where_it_is(cargo: Cargo) -> None:
    """Its rows name the file from its workspace, be that the package or the whole project."""
    given = cargo.file("crates/one/src/lib.rs")
    (cargo.root / "crates" / "one" / "Cargo.toml").touch()
    for named in ("src/lib.rs", "crates/one/src/lib.rs"):
        others = [row("BinaryOperator", "*", "+", "one/lib.rs")]
        cargo.prints(json.dumps([*others, row("BinaryOperator", "&&", "||", named)]))
        found = mutants_of("crates/one/src/lib.rs", SOURCE, every_line(SOURCE), given)
        assert [mutant.kind for mutant in made(found)] == ["boolean"]
    assert cargo.calls[0].startswith(f"{cargo.root}/crates/one: ")


def test_no_mutant_on_these_lines_is_an_empty_list(cargo: Cargo) -> None:
    assert mutants_of("src/lib.rs", SOURCE, [1, 7], cargo.file("src/lib.rs")) == []


OLD = {"file": "src/lib.rs", "genre": "FnValue", "replacement": "0", "line": 1}
NONE: dict[str, tuple[tuple[object, int, str], str]] = {
    "not installed": (("", 101, "error: no such command: `mutants`\n"), "cargo-mutants is not installed"),
    "no package": (("", 1, "error: could not find `Cargo.toml`\n"), "error: could not find `Cargo.toml`"),
    "nothing": (("", 0, ""), "cargo printed nothing"),
    "nothing, with an error": (("", 2, ""), "cargo ended with exit code 2 and said nothing"),
    "no row of the file": (
        ([row("FnValue", BODY, "0", "src/other.rs")], 0, ""),
        "cargo-mutants lists none in it: it has no code, or no package builds it",
    ),
    "no spans": (([OLD], 0, ""), "this version of cargo-mutants prints no spans that omo can read"),
    "spans of another file": (
        ([row("BinaryOperator", "total", "=="), *LISTED], 0, ""),
        "this version of cargo-mutants prints no spans that omo can read",
    ),
    "no JSON": (("[{", 0, ""), "this version of cargo-mutants prints no spans that omo can read"),
}


@pytest.mark.parametrize("name", NONE)
def test_without_an_answer_there_is_a_reason(name: str, cargo: Cargo) -> None:
    (printed, code, errors), why = NONE[name]
    cargo.prints(printed if isinstance(printed, str) else json.dumps(printed), code, errors)
    given = cargo.file("src/lib.rs")
    assert mutants_of("src/lib.rs", SOURCE, [2], given) == NoMutants("src/lib.rs", why)


def test_without_cargo_it_says_so(cargo: Cargo) -> None:
    cargo.file("src/lib.rs")
    found = mutants_of("src/lib.rs", SOURCE, [2], tools(cargo.root, PATH=""))
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-program-missing", file="src/lib.rs", program="cargo")


def test_a_file_that_changed_meanwhile_has_none(cargo: Cargo) -> None:
    given = cargo.file("src/lib.rs")
    found = mutants_of("src/lib.rs", SOURCE + b"\n", [2], given)
    assert isinstance(found, NoMutants)
    assert texts.says(found.why, "mutants-file-changed", file="src/lib.rs")
    gone = mutants_of("src/gone.rs", SOURCE, [2], given)
    assert isinstance(gone, NoMutants)
