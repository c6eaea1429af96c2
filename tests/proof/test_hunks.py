"""The hunks of a file: each with its place, the file with it alone as it was, and whether it is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.proof.git import FILE_MODE, LINK_MODE, PROGRAM_MODE
from omo.proof.hunks import hunks_of, is_same_code
from omo.proof.swap_files import NOTHING, File


def file(text: str, mode: str = FILE_MODE) -> File:
    return File(text.encode(), mode)


def lines(*each: str) -> File:
    return file("".join(f"{line}\n" for line in each))


def test_each_hunk_alone_is_as_it_was() -> None:
    before, after = file("one\ntwo\nthree\nfour\n"), file("ONE\ntwo\nthree\nFOUR\n")
    first, second = hunks_of("a.txt", before, after)
    assert (first.place, first.reverted) == ("a.txt:1", lines("one", "two", "three", "FOUR"))
    assert (second.place, second.reverted) == ("a.txt:4", lines("ONE", "two", "three", "four"))
    assert (second.before, second.after) == (("four",), ("FOUR",))


def test_only_blank_lines_between_two_make_them_one() -> None:
    (hunk,) = hunks_of("a.txt", file("one\n\n\ntwo\n"), file("ONE\n\n\nTWO\n"))
    assert hunk.place == "a.txt:1-4"
    assert len(hunks_of("a.txt", lines("one", "and", "two"), lines("ONE", "and", "TWO"))) == 2


def test_new_definitions_are_hunks_of_their_own() -> None:
    more = "import os\n\n\ndef one():\n    a = 1\n\n    return a\n\n\n@two\ndef two():\n    return 2\n"
    parts = hunks_of("a.py", NOTHING, file(more))
    assert [hunk.place for hunk in parts] == ["a.py:1", "a.py:4-7", "a.py:10-12"]
    assert parts[1].reverted == file("import os\n\n\n@two\ndef two():\n    return 2\n")
    edited, new = hunks_of("a.py", file("def one():\n    a = 1\n"), file("def one():\n    a = 2\n\n\nb = 3\n"))
    assert (edited.place, edited.reverted) == ("a.py:2", file("def one():\n    a = 1\nb = 3\n"))
    assert (new.place, new.reverted) == ("a.py:5", file("def one():\n    a = 2\n\n\n"))


BRACES = "fn add() {{\n    {}\n}}\n\n{}fn last() {{\n    9\n}}\n"
NEW = "fn two() {\n    2\n}\n\nfn three() {\n    3\n}\n\n"


@pytest.mark.parametrize("edit", ["a + b", "a - b"])
def test_a_definition_keeps_its_own_end_where_the_one_behind_it_ends_alike(edit: str) -> None:
    """Which brace is new nobody can tell from lines alone, and half a definition compiles nowhere."""
    before, after = BRACES.format("a - b", ""), BRACES.format(edit, NEW)
    *edited, two, three = hunks_of("a.rs", file(before), file(after))
    assert [(hunk.place, hunk.reverted) for hunk in edited] == [("a.rs:2", file(BRACES.format("a - b", NEW)))] * (
        edit == "a + b"
    )
    assert (two.place, three.place) == ("a.rs:5-7", "a.rs:9-11")
    assert two.reverted == file(BRACES.format(edit, "fn three() {\n    3\n}\n\n"))
    assert three.reverted == file(BRACES.format(edit, "fn two() {\n    2\n}\n\n"))


def test_definitions_that_took_the_place_of_others_stay_one_hunk() -> None:
    before = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
    (hunk,) = hunks_of("a.py", file(before), file(before.replace("def", "async def").replace("return", "yield")))
    assert hunk.place == "a.py:1-6"


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        (NOTHING, file("a\nb\n"), "x:1-2"),
        (file("a\nb\n"), NOTHING, "x:1 (removed)"),
        (file("a\n"), file("a\n", PROGRAM_MODE), "x:1"),
        (File(b"a", LINK_MODE), File(b"b", LINK_MODE), "x:1"),
        (File(b"\0one\ntwo", FILE_MODE), File(b"\0two\ntwo", FILE_MODE), "x:1-2"),
    ],
    ids=["new", "gone", "mode", "link", "binary"],
)
def test_some_files_are_one_hunk(before: File, after: File, place: str) -> None:
    (hunk,) = hunks_of("x", before, after)
    assert (hunk.place, hunk.reverted, hunk.is_code) == (place, before, True)


CODE = [
    ("a.py", "x = 1\n", "# says\nx = 1\n", False),
    ("a.py", "x = 1\n", "x = 1  # says\n", False),
    ("a.py", "x = '''\n# says\n'''\n", "x = '''\n# speaks\n'''\n", True),
    ("a.py", 'def f():\n    """Old."""\n', 'def f():\n    """New."""\n', False),
    ("a.py", 'def f():\n    """>>> f()\n    1\n    """\n', 'def f():\n    """>>> f()\n    2\n    """\n', True),
    ("a.py", "x = 1\n", "x = 1\n\n\n", False),
    ("a.py", "x = 1\n", "x: int = 1\n", True),
    ("a.py", "x = (\n", "# says\nx = (\n", True),  # nobody can tell
    ("a.go", "x := 1\n", "// says\nx := 1\n", False),
    ("a.go", "x := 1\n", "x := 1 // says\n", True),
    ("a.c", "x = 1;\n", "/* says\n * more\n */\nx = 1;\n", False),
    ("a.c", "x = 1;\n", "*x = 1;\nx = 1;\n", True),
    ("a.c", "x = 1;\n", "#define X\nx = 1;\n", True),
    ("a.sh", "x=1\n", "# says\nx=1\n", False),
    ("a.sh", "x=1\n", "#!/bin/sh\nx=1\n", True),
    ("a.sql", "SELECT 1;\n", "-- says\nSELECT 1;\n", False),
    ("a.html", "<p>\n", "# says\n<p>\n", True),
    ("a.html", "<p>\n", "\n\n<p>\n", False),
    ("Makefile", "a:\n", "# says\na:\n", False),
]


@pytest.mark.parametrize(("path", "before", "after", "is_code"), CODE)
def test_what_means_the_same_either_way_is_no_code(path: str, before: str, after: str, is_code: bool) -> None:
    assert [hunk.is_code for hunk in hunks_of(path, file(before), file(after))] == [is_code]
    assert [hunk.is_code for hunk in hunks_of(path, file(after), file(before))] == [is_code]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "ü\n"]), max_size=12)


@given(LINES, LINES, st.booleans())
def test_all_of_them_together_are_the_file_as_it_was(old: list[str], new: list[str], ends: bool) -> None:
    before = file("".join(old) + ("" if ends else "end"))
    after = file("".join(new) + ("" if ends else "fin"))
    hunks = hunks_of("a.txt", before, after)
    assert all(hunk.reverted != after for hunk in hunks)
    assert len({hunk.place for hunk in hunks}) == len(hunks)
    lines = lines_of(after)
    for hunk in reversed(hunks):
        kept = len(lines_of(hunk.reverted)) - (len(lines_of(after)) - len(hunk.after))
        start = hunk.first - 1
        lines[start : start + len(hunk.after)] = lines_of(hunk.reverted)[start : start + kept]
    assert b"".join(lines).removesuffix(b"\n") == (before.content or b"").removesuffix(b"\n")


def test_a_last_line_without_an_end_stays_a_line() -> None:
    edited, new = hunks_of("a.py", file("def one():\n    a = 1"), file("def one():\n    a = 2\n\n\nb = 3\n"))
    assert (edited.reverted, new.place) == (file("def one():\n    a = 1\nb = 3\n"), "a.py:5")


def lines_of(held: File) -> list[bytes]:
    return (held.content or b"").splitlines(keepends=True)


GO = b'package a\n\nfunc F() string {\n\treturn "// no" + `/* a\n  b */` // note\n}\n'


@pytest.mark.parametrize(
    ("before", "after", "is_same"),
    [
        (b"// note", b"//nolint", True),
        (b" // note", b"", True),
        (b"\n\nfunc", b"\n\n// F is\n/* two\nlines */\nfunc", True),
        (b'// no"', b'// yes"', False),
        (b"  b */`", b" b */`", False),
        (b"package", b"//go:build linux\n\npackage", False),
        (b"return", b"return /* more */ 'a' +", False),
        (b"package a\n", b'package a\n\nimport "C"\n', False),
    ],
)
def test_other_comments_make_no_other_code_in_go(before: bytes, after: bytes, is_same: bool) -> None:
    changed = File(GO.replace(before, after), FILE_MODE)
    assert changed.content != GO
    assert is_same_code("a.go", File(GO, FILE_MODE), changed) is is_same


@pytest.mark.parametrize(
    ("path", "before", "after", "is_same"),
    [
        ("a.py", "x = [1,\n     2]  # two\n", "x = [1, 2]\n", True),
        ("a.py", "def f():\n    'a'\n    return 1\n", "def f():\n    return 1\n", True),
        ("a.py", "def f():\n    return 1\n", "def f():\n    return 2\n", False),
        ("a.py", "def f(:\n", "def f(:  # a\n", False),
        ("a.js", "x = 1 // a\n", "x = 1\n", False),
    ],
)
def test_what_is_the_same_code(path: str, before: str, after: str, is_same: bool) -> None:
    files = [File(text.encode(), FILE_MODE) for text in (before, after)]
    assert is_same_code(path, *files) is is_same
