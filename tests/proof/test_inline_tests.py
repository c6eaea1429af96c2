"""Rust's modules of tests, parted from the code of their file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.proof.inline_tests import is_module_of_tests, with_tests_of
from tests.tables import read

BETWEEN_FUNCTIONS = read(__file__, "inline_tests.txt")["between two functions"]
OLD = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn old() {}\n}"
NEW = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn new() { assert!(add() > 0); }\n}"


def parted(work: str, tests: str) -> str | None:
    joined = with_tests_of(work.encode(), tests.encode())
    return None if joined is None else joined.decode()


def test_the_code_of_one_file_with_the_tests_of_another() -> None:
    assert parted(f"fn a() {{}}\n\n{OLD}\n", f"fn b() {{}}\n\n{NEW}\n") == f"fn a() {{}}\n\n{NEW}\n"


def test_tests_that_a_file_did_not_have_come_to_its_end() -> None:
    assert parted("fn a() {}\n", f"fn b() {{}}\n{NEW}\n") == f"fn a() {{}}\n\n{NEW}\n"


def test_tests_that_the_other_file_does_not_have_are_left_out() -> None:
    assert parted(f"fn a() {{}}\n{OLD}\nfn c() {{}}\n", "fn b() {}\n") == "fn a() {}\n\nfn c() {}\n"


@pytest.mark.parametrize("tests", BETWEEN_FUNCTIONS["a module of tests"])
def test_modules_of_tests(tests: str) -> None:
    work = f"fn a<'a>(x: &'a str) {{}}\n{tests}\nfn c() {{ '\"'; }}\n"
    assert parted(work, "") == "fn a<'a>(x: &'a str) {}\n\nfn c() { '\"'; }\n"
    assert parted(work, work) == work


@pytest.mark.parametrize("code", BETWEEN_FUNCTIONS["something else"])
def test_what_is_no_module_of_tests_stays(code: str) -> None:
    assert parted(code, "") == code


def test_several_modules_each_take_the_place_of_its_own() -> None:
    work = "#[cfg(test)] mod a { 1 }\nmod b { fn f() {} #[cfg(test)] mod a { 2 } }\n#[cfg(test)] mod c { 3 }\n"
    tests = "#[cfg(test)] mod c { 6 }\nmod b { #[cfg(test)] mod a { 5 } }\n#[cfg(test)] mod a { 4 }\n"
    joined = "#[cfg(test)] mod a { 4 }\nmod b { fn f() {} #[cfg(test)] mod a { 5 } }\n#[cfg(test)] mod c { 6 }\n"
    assert parted(work, tests) == joined


def test_two_modules_of_one_name_keep_their_order() -> None:
    work = "#[cfg(all(test, unix))] mod t { 1 }\n#[cfg(all(test, windows))] mod t { 2 }\n"
    assert parted(work, work.replace("1", "3").replace("2", "4")) == work.replace("1", "3").replace("2", "4")


@pytest.mark.parametrize(
    ("work", "tests"),
    [
        ("fn a() {", OLD),
        ("fn a() {}", OLD + "}"),
        ('fn a() { "open }', OLD),
        ("fn a() {} /* open", OLD),
        ("fn a() {}", "mod inner { #[cfg(test)] mod tests { } }"),
    ],
)
def test_what_cannot_be_parted(work: str, tests: str) -> None:
    assert parted(work, tests) is None


def test_bytes_that_are_no_text_cannot_be_parted() -> None:
    assert with_tests_of(b"fn a() {} // \xff", OLD.encode()) is None
    assert with_tests_of(OLD.encode() + b"\xff", OLD.encode()) is None


def test_line_ends_stay_as_they_are() -> None:
    work = f"fn a() {{}}\r\n{OLD}\r\n".encode()
    assert with_tests_of(work, work) == work


def test_only_rust_has_modules_of_tests() -> None:
    assert not is_module_of_tests("src/checks.py", {"src/lib.rs": "#[cfg(test)] mod checks;"}.__getitem__)


PIECES = st.lists(
    st.sampled_from(
        (
            *(
                OLD,
                NEW,
                "#[cfg(test)]",
                "mod m {",
                "}",
                "{",
                '"',
                "'",
                "'a",
                "'{'",
                'r#"',
                '"#',
                "/*",
                "*/",
                "//",
                "\n",
            ),
            *("/// doc", "fn f() {}", "\\", "#[allow(x)]", "pub mod tests;", "é", "\r\n"),
        )
    ),
    max_size=12,
)


@given(PIECES)
def test_a_file_with_its_own_tests_is_itself(pieces: list[str]) -> None:
    text = " ".join(pieces)
    assert parted(text, text) in (text, None)


ITEMS = st.lists(
    st.sampled_from(
        (
            *(OLD, NEW, "fn f() {}", 'const A: &str = "{";', "// {", "/// doc\nfn g() {}", "#[cfg(test)]\nuse a::b;"),
            *("mod m { #[cfg(test)] mod tests { } }", "#[cfg(test)] mod more;", "/// {\n#[cfg(test)] mod last { '{' }"),
        )
    ),
    max_size=6,
)


@given(ITEMS, ITEMS)
def test_the_code_is_of_the_one_and_the_tests_of_the_other(first: list[str], second: list[str]) -> None:
    work, tests = "\n".join(first), "\n".join(second)
    joined, code = parted(work, tests), parted(work, "")
    if joined is None:
        assert "mod m {" in tests
        return
    assert code is not None
    assert parted(joined, tests) == joined
    assert (parted(joined, "") or "").split() == code.split()


def test_files_that_name_each_other_are_no_tests() -> None:
    texts = {"src/lib.rs": "// Here mod lib; would be odd.\nmod main;\n", "src/main.rs": "mod lib;\n"}
    for path in texts:
        assert not is_module_of_tests(path, lambda other: texts.get(other, ""))
