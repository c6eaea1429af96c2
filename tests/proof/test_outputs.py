"""What runners print, and what is read from it. The pages in `outputs/` were printed by the runners themselves."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.proof import outputs, runners
from omo.proof.outputs import Counts, asking, read_printed
from omo.proof.run import CommandOutcome
from tests import texts
from tests.tables import read

PAGES = Path(__file__).parent / "outputs"
BY_WHAT_RAN = read(__file__, "ran_nothing.txt")["ran"]
FAILING = {"bad/test_calc.py::test_mul[3]", "bad/test_calc.py::test_mul[4]", "bad/test_calc.py::test_server"}
PYTEST_LINE = "2 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed, 1 error"
UNITTEST = {
    "test_error (test_calc.Sums.test_error)",
    "test_mul (test_calc.Sums.test_mul)",
    "test_parts (test_calc.Sums.test_parts)",
}
GO = {"example.com/calc/a: TestMul", "example.com/calc/a: TestMul/small"}
RUST_LINE = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out"
PACKAGES_LINE = "Tests: 1 failed, 1 passed, 2 total"
JEST_LINE = "Tests: 1 failed, 1 skipped, 1 todo, 1 passed, 4 total"
VITEST_LINE = "Tests 1 failed | 1 passed | 1 skipped | 1 todo (4)"
MOCHA = {"sums multiplies", "sums wraps nothing"}
MAVEN_LINE = "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1"
NODE_LINE = "# tests 7 # suites 0 # pass 2 # fail 3 # cancelled 0 # skipped 1 # todo 1"
SUITE_LINE = "# tests 2 # suites 1 # pass 1 # fail 1 # cancelled 0 # skipped 0 # todo 0"
TSC = {
    "b.ts: TS2305: Module '\"./a\"' has no exported member 'gone'.",
    "b.ts: TS2307: Cannot find module './zzz' or its corresponding type declarations.",
    "b.ts: TS2307: Cannot find module 'left-pad' or its corresponding type declarations.",
    "b.ts: TS2339: Property 'b' does not exist on type '{ a: number; }'.",
    "b.ts: TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
    "b.ts: TS2552: Cannot find name 'undefinedName'. Did you mean 'undefined'?",
}
RUFF = {
    "c.py: F401 [*] `os` imported but unused",
    "c.py: F841 Local variable `l` is assigned to but never used",
    "c.py: I001 [*] Import block is un-sorted or un-formatted",
}
MYPY = {
    'a.py: Argument 1 to "f" has incompatible type "str"; expected "int" [arg-type]',
    'a.py: Cannot find implementation or library stub for module named "gone" [import-not-found]',
    'a.py: Incompatible return value type (got "int", expected "str") [return-value]',
    'a.py: Module "b" has no attribute "nothing" [attr-defined]',
    'a.py: Name "undefined" is not defined [name-defined]',
}


class Ran(NamedTuple):
    """Tests ran, or a checker did: what it counted, what it named, and the line to quote."""

    page: str
    exit_code: int
    counts: tuple[int, int, int] | None
    failing: set[str]
    quoted: str
    names_are_whole: bool = True


RAN = [
    Ran("pytest-passed", 0, (2, 0, 1), set(), "2 passed, 1 skipped"),
    Ran("pytest-failed", 1, (2, 3, 2), FAILING, PYTEST_LINE),
    Ran("pytest-quiet", 1, (2, 3, 2), FAILING, PYTEST_LINE),
    Ran("pytest-very-quiet", 1, None, FAILING, "ERROR bad/test_calc.py::test_server - RuntimeError: no server"),
    Ran("pytest-no-summary", 1, (2, 3, 2), set(), PYTEST_LINE, names_are_whole=False),
    Ran("pytest-xdist", 1, (2, 3, 2), FAILING, PYTEST_LINE),
    Ran(
        "pytest-names",
        1,
        (3, 4, 2),
        {
            *("test_calc.py::test_left", "test_calc.py::test_mul[a - b]", "test_calc.py::test_mul[x::y]"),
            "test_calc.py::test_server",
        },
        "2 failed, 3 passed, 1 skipped, 1 xfailed, 1 xpassed, 2 errors",
    ),
    Ran("make-pytest", 2, (2, 3, 2), FAILING, PYTEST_LINE),
    Ran("tox-failed", 1, (4, 3, 3), FAILING, PYTEST_LINE),
    Ran("nox-failed", 1, (4, 3, 3), FAILING, PYTEST_LINE),
    Ran("ctest-passed", 0, (1, 0, 2), set(), "100% tests passed, 0 tests failed out of 2"),
    Ran("ctest-failed", 8, (1, 1, 2), {"b"}, "67% tests passed, 1 tests failed out of 3"),
    Ran("unittest-passed", 0, (1, 0, 1), set(), "Ran 2 tests OK (skipped=1)"),
    Ran("unittest-failed", 1, (1, 3, 1), UNITTEST, "Ran 5 tests FAILED (failures=2, errors=1, skipped=1)"),
    Ran(
        "unittest-verbose",
        1,
        (3, 2, 2),
        {"test_mul (test_u.Sums.test_mul)", "test_mended (test_u.Sums.test_mended)"},
        "Ran 7 tests FAILED (failures=1, skipped=1, expected failures=1, unexpected successes=1)",
    ),
    Ran(
        "unittest-import",
        1,
        (1, 4, 1),
        {*UNITTEST, "test_wrap (unittest.loader._FailedTest.test_wrap)"},
        "Ran 6 tests FAILED (failures=2, errors=2, skipped=1)",
    ),
    Ran("jest-passed", 0, (1, 0, 3), set(), "Tests: 3 skipped, 1 passed, 4 total"),
    Ran("jest-failed", 1, (1, 1, 2), {"j/a.test.js › sums › multiplies"}, JEST_LINE),
    Ran("jest-verbose", 1, (1, 1, 2), {"j/a.test.js › sums › multiplies"}, JEST_LINE),
    Ran("jest-module", 1, (1, 2, 2), {"j/a.test.js › sums › multiplies", "j/b.test.js"}, JEST_LINE),
    Ran("vitest-passed", 0, (1, 0, 0), set(), "Tests 1 passed (1)"),
    Ran("vitest-failed", 1, (1, 1, 2), {"a.test.mjs > sums > multiplies"}, VITEST_LINE),
    Ran("vitest-verbose", 1, (1, 1, 2), {"a.test.mjs > sums > multiplies"}, VITEST_LINE),
    Ran("node-failed-tap", 1, (2, 3, 2), {"alone", "multiplies", "sums"}, NODE_LINE),
    Ran("node-failed-spec", 1, (2, 3, 2), {"alone", "multiplies", "sums"}, NODE_LINE.replace("#", "ℹ")),
    Ran("node-suite-tap", 1, (1, 1, 0), {"multiplies", "sums"}, SUITE_LINE),
    Ran("node-suite-spec", 1, (1, 1, 0), {"multiplies", "sums"}, SUITE_LINE.replace("#", "ℹ")),
    Ran("go-passed", 0, None, set(), "ok example.com/calc/b"),
    Ran("go-failed", 1, None, GO, "FAIL: example.com/calc/a: TestMul"),
    Ran("go-verbose", 1, (3, 2, 1), GO, "FAIL: example.com/calc/a: TestMul"),
    Ran("go-panic", 1, (0, 1, 0), {"example.com/calc/p: TestP"}, "FAIL: example.com/calc/p: TestP", False),
    Ran("go-panic-plain", 1, None, {"example.com/calc/p: TestP"}, "FAIL: example.com/calc/p: TestP", False),
    Ran("cargo-failed", 101, (2, 1, 1), {"multiplies"}, RUST_LINE, names_are_whole=False),
    Ran("cargo-no-fail-fast", 101, (3, 1, 1), {"multiplies"}, RUST_LINE),
    Ran("cargo-passed", 0, (4, 0, 1), set(), RUST_LINE.replace("FAILED", "ok").replace("1 failed", "0 failed")),
    Ran("pnpm-jest", 1, (2, 1, 0), {"./sums.test.js › add"}, PACKAGES_LINE, names_are_whole=False),
    Ran("turbo-jest", 1, (2, 1, 0), {"./sums.test.js › add"}, PACKAGES_LINE, names_are_whole=False),
    Ran("npm-mocha", 2, (1, 2, 1), MOCHA, "1 passing 1 pending 2 failing"),
    Ran("rspec-failed", 1, (1, 1, 1), {"sums multiplies"}, "3 examples, 1 failure, 1 pending"),
    Ran("maven-failed", 1, (2, 2, 1), {"CalcTest.breaks", "CalcTest.multiplies"}, MAVEN_LINE),
    Ran("mypy-errors", 1, None, MYPY, "Found 5 errors in 1 file (checked 1 source file)"),
    Ran("ruff-errors", 1, None, RUFF, "Found 3 errors."),
    Ran("ruff-concise", 1, None, RUFF, "Found 3 errors."),
    Ran(
        "ruff-format",
        1,
        None,
        {"a.py: unformatted: File would be reformatted", "c.py: unformatted: File would be reformatted"},
        "2 files would be reformatted, 1 file already formatted",
    ),
    Ran("tsc-errors", 1, None, TSC, "b.ts(1,15): error TS2305: Module '\"./a\"' has no exported member 'gone'."),
    Ran("tsc-pretty", 1, None, TSC, "Found 6 errors in the same file, starting at: b.ts:1"),
]


class Broke(NamedTuple):
    """No test was reached, or only others were: what is missing, and the line to quote."""

    page: str
    exit_code: int
    counts: tuple[int, int, int] | None
    missing: set[str]
    quoted: str


BROKE = [
    Broke(
        "pytest-collection",
        2,
        (0, 1, 0),
        {"calc.extra"},
        "ModuleNotFoundError: No module named 'calc.extra'; 'calc' is not a package",
    ),
    Broke(
        "pytest-import-name",
        2,
        (0, 1, 0),
        {"calc", "wrap"},
        "ImportError: cannot import name 'wrap' from 'calc' (/home/dev/project/calc.py)",
    ),
    Broke("pytest-usage", 4, None, set(), "pytest: error: unrecognized arguments: --frobnicate"),
    Broke("pytest-internal-error", 3, (0, 0, 0), set(), "INTERNALERROR> ValueError: the plugin is not here"),
    Broke("pytest-no-file", 4, (0, 0, 0), {"tests/gone.py"}, "ERROR: file or directory not found: tests/gone.py"),
    Broke("unittest-no-module", 1, (0, 1, 0), {"test_gone"}, "ModuleNotFoundError: No module named 'test_gone'"),
    Broke(
        "jest-ts",
        1,
        (0, 1, 0),
        {"./sums", "wrap"},
        "c.test.ts:1:10 - error TS2305: Module '\"./sums\"' has no exported member 'wrap'.",
    ),
    Broke(
        "vitest-module",
        1,
        (1, 1, 0),
        {"./wraps.mjs"},
        "Error: Cannot find module './wraps.mjs' imported from /home/dev/project/b.test.mjs",
    ),
    Broke("mocha-module", 1, None, {"./wraps"}, "Exception during run: Error: Cannot find module './wraps'"),
    Broke("node-module", 1, (0, 1, 0), {"./wraps"}, "Error: Cannot find module './wraps'"),
    Broke("node-syntax", 1, (0, 1, 0), set(), "# SyntaxError: Unexpected token '='"),
    Broke("npm-missing", 1, None, {"zzz"}, 'npm error Missing script: "zzz"'),
    Broke("go-undefined", 2, None, {"Wrap"}, "bad/u/u_test.go:6:5: undefined: Wrap"),
    Broke("go-vet", 2, None, set(), "./calc_test.go:12:2: fmt.Println arg list ends with redundant newline"),
    Broke(
        "go-import",
        1,
        None,
        {"example.com/calc/gone"},
        "bad/m/m_test.go:6:2: no required module provides package example.com/calc/gone; to add it:",
    ),
    Broke(
        "go-module",
        1,
        None,
        {"example.com/sums"},
        "calc.go:3:8: no required module provides package example.com/sums; to add it:",
    ),
    Broke(
        "cargo-compile",
        101,
        None,
        {"Unknown", "calc", "calc::gone", "calc::wraps", "div", "gone", "missing", "nothing", "pad", "wraps"},
        "error[E0432]: unresolved import `calc::wraps`",
    ),
    Broke("maven-compile", 1, None, {"Coupon"}, "symbol: class Coupon"),
    Broke("cargo-resolve", 101, None, {"serde"}, "error: no matching package named `serde` found"),
]
NOTHING = {"ctest-nothing": 0, "pytest-nothing": 5, "jest-nothing": 1, "vitest-nothing": 1}
QUIET = {"mypy-ok": 0}


def page(name: str) -> str:
    return (PAGES / f"{name}.txt").read_text(encoding="utf-8")


# What ran, by function; of all other pages the runner does not name each test.
GO_RAN = {"example.com/calc/a: TestAdd": 1, "example.com/calc/a: TestMul": 3, "example.com/calc/b: TestB": 1}
CARGO_RAN = {"tests::adds": 1, "adds": 1, "multiplies": 1}
JEST_RAN = {"j/a.test.js › adds": 1, "j/a.test.js › multiplies": 1}
PACKAGES_RAN = {"./other.test.js › one": 1, "./sums.test.js › add": 1, "./sums.test.js › mul": 1}
NODE_RAN = {"adds": 1, "alone": 1, "good": 1, "multiplies": 1, "sums": 1}
PYTEST_RAN = {"add": 1, "left": 1, "mended": 1, "mul": 3, "server": 1}
NAMED = {
    "cargo-failed": CARGO_RAN,
    "cargo-no-fail-fast": {**CARGO_RAN, "src/lib.rs - add": 1},
    "cargo-passed": {**CARGO_RAN, "src/lib.rs - add": 1},
    "ctest-failed": {"a": 1, "b": 1},
    "ctest-passed": {"a": 1},
    "go-panic": {"example.com/calc/p: TestP": 1},
    "go-verbose": GO_RAN,
    "jest-failed": JEST_RAN,
    "jest-passed": {"j/a.test.js › adds": 1},
    "jest-verbose": JEST_RAN,
    "node-failed-spec": NODE_RAN,
    "node-failed-tap": NODE_RAN,
    "node-suite-spec": {"adds": 1, "multiplies": 1},
    "node-suite-tap": {"adds": 1, "multiplies": 1},
    "npm-mocha": {"adds": 1, "multiplies": 1, "nothing": 1},
    "pnpm-jest": PACKAGES_RAN,
    "pytest-names": {f"test_calc.py::test_{name}": number for name, number in PYTEST_RAN.items()},
    "turbo-jest": PACKAGES_RAN,
    "unittest-verbose": {
        f"test_{name} (test_u.Sums.test_{name})": 1 for name in ("add", "logs", "mended", "mul", "parts")
    },
    "vitest-verbose": {"a.test.mjs > sums > adds": 1, "a.test.mjs > sums > multiplies": 1},
}


@pytest.mark.parametrize("name", sorted(path.stem for path in PAGES.iterdir()))
def test_what_ran_by_its_names(name: str) -> None:
    passed, text = runners.parted(page(name))
    assert read_printed(text, 1, passed).ran == NAMED.get(name, {})


def test_names_where_lines_were_left_out_are_none() -> None:
    lines = page("cargo-passed").splitlines()
    lines[3] = "[… 200 bytes left out …]"
    assert read_printed("\n".join(lines), 0).ran == {}


def test_a_run_that_was_killed_has_no_names() -> None:
    assert read_printed(page("go-verbose"), None).ran == {}


def test_names_of_tests_that_passed_are_not_shown() -> None:
    shown = runners.without_passed(page("pytest-names") + page("unittest-verbose"))
    assert "\nPASSED" not in shown
    assert "... ok" not in shown
    assert "\nFAILED test_calc.py::test_mul[a - b]" in shown
    assert "\ntest_mul (test_u.Sums.test_mul) ... FAIL" in shown


def test_names_in_colour_are_names() -> None:
    text = "\x1b[32mPASSED\x1b[0m a.py::\x1b[1mtest_x\x1b[0m\n\x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.1s\x1b[0m\n"
    outcome = CommandOutcome(("pytest",), Path(), 0.1, exit_code=0, stdout=text)
    names, rest = outputs.without_passed_names(outcome)
    assert read_printed(rest.stdout, 0, names).ran == {"a.py::test_x": 1}


def test_every_page_is_read() -> None:
    names = [case.page for case in RAN] + [case.page for case in BROKE] + [*NOTHING, *QUIET]
    assert sorted(names) == sorted(path.stem for path in PAGES.iterdir())


@pytest.mark.parametrize("case", RAN, ids=lambda case: case.page)
def test_what_ran(case: Ran) -> None:
    output = read_printed(page(case.page), case.exit_code)
    counts = case.counts and Counts(*case.counts)
    assert output.counts == counts
    assert set(output.failing) == case.failing
    assert output.names_are_whole is case.names_are_whole
    assert (output.broke_before_tests, output.ran_nothing) == (False, False)
    assert output.quoted == case.quoted


@pytest.mark.parametrize("case", BROKE, ids=lambda case: case.page)
def test_what_broke_before_its_tests(case: Broke) -> None:
    output = read_printed(page(case.page), case.exit_code)
    counts = case.counts and Counts(*case.counts)
    assert (output.broke_before_tests, output.counts) == (True, counts)
    assert set(output.missing) == case.missing
    assert output.quoted == case.quoted


@pytest.mark.parametrize(("name", "exit_code"), NOTHING.items())
def test_what_ran_nothing(name: str, exit_code: int) -> None:
    output = read_printed(page(name), exit_code)
    assert (output.ran_nothing, output.broke_before_tests) == (True, False)
    assert output.counts is None or output.counts.total == 0


@pytest.mark.parametrize(("name", "exit_code"), QUIET.items())
def test_what_prints_no_summary(name: str, exit_code: int) -> None:
    output = read_printed(page(name), exit_code)
    assert (output.counts, output.failing, output.ran_nothing) == (None, [], False)


@pytest.mark.parametrize("name", ["pytest-failed", "go-verbose", "mypy-ok"])
def test_a_run_that_was_killed_is_not_whole(name: str) -> None:
    output = read_printed(page(name), None)
    assert (output.counts, output.names_are_whole) == (None, False)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("pytest-failed", "= short test"),
        ("cargo-failed", "failures:"),
        ("go-verbose", "FAIL\n"),
        ("tox-failed", "= short test"),
    ],
)
def test_a_run_that_ended_before_its_summary_is_not_whole(name: str, end: str) -> None:
    output = read_printed(page(name).partition(end)[0], 1)
    assert (output.counts, output.names_are_whole) == (None, False)


def with_gap(text: str) -> str:
    """As a long output is kept: its beginning and its end."""
    filler = "a line that a test printed\n" * 50
    return f"{text[:300]}\n[… 123456 bytes left out …]\n{filler}{text[-700:]}"


def test_counts_at_the_end_count_where_the_middle_was_left_out() -> None:
    output = read_printed(with_gap(page("pytest-failed")), 1)
    assert (output.counts, output.names_are_whole) == (Counts(2, 3, 2), True)
    assert set(output.failing) == FAILING


def test_what_is_counted_line_by_line_is_not_where_lines_were_left_out() -> None:
    output = read_printed(with_gap(page("go-verbose")), 1)
    assert (output.counts, output.names_are_whole) == (None, False)


def test_a_session_that_a_failing_test_ran_is_not_counted() -> None:
    inner = page("pytest-failed")
    outer = (
        "=== test session starts ===\ncollected 2 items\n=== FAILURES ===\n___ test_plugin ___\n"
        f"--- Captured stdout call ---\n{inner}"
        "=== short test summary info ===\nFAILED t.py::test_plugin - assert 1\n=== 1 failed, 1 passed in 1.00s ===\n"
    )
    output = read_printed(outer, 1)
    assert output.counts == Counts(1, 1, 0)
    assert set(output.failing) == {"t.py::test_plugin"}


@pytest.mark.parametrize(
    ("text", "counts", "failing"),
    [
        # A test that fails while it is torn down passed before: it is one test.
        (
            "_ ERROR at teardown of test_a _\n=== short test summary info ===\nERROR t.py::test_a - OSError\n"
            "1 passed, 1 error in 0.1s",
            Counts(0, 1, 0),
            {"t.py::test_a"},
        ),
        (
            "=== short test summary info ===\nFAILED t.py::test_a[x - y] - assert 1 - 2\n1 failed in 65.1s (0:01:05)",
            Counts(0, 1, 0),
            {"t.py::test_a[x - y]"},
        ),
        ("4 runs, 2 assertions, 1 failures, 1 errors, 1 skips", Counts(1, 2, 1), set()),
        ("Tests: 6, Assertions: 4, Errors: 1, Failures: 2, Skipped: 1.", Counts(2, 3, 1), set()),
        ("1 doctest, 3 tests, 1 failure, 1 skipped", Counts(1, 1, 1), set()),
        # Two projects in one workspace
        ("5 tests, 0 failures\n3 tests, 1 failure", Counts(7, 1, 0), set()),
    ],
)
def test_summaries(text: str, counts: Counts, failing: set[str]) -> None:
    output = read_printed(text, 1)
    assert output.counts == counts
    assert set(output.failing) == failing


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("AttributeError: module 'calc' has no attribute 'mul'", {"calc", "mul"}),
        ("AttributeError: 'Calc' object has no attribute 'mul'", {"mul"}),
        (
            "SyntaxError: The requested module './sums.mjs' does not provide an export named 'wrap'",
            {"./sums.mjs", "wrap"},
        ),
        ("TypeError: (0 , _sums.wrap) is not a function", {"wrap"}),
        ('Error: Failed to resolve import "./wraps" from "a.test.ts"', {"./wraps"}),
        ("a_test.go:3:5: c.Mul undefined (type Calc has no field or method Mul)", {"Mul"}),
        ("error[E0583]: file not found for module `wraps`", {"wraps"}),
        ("/bin/sh: 1: pytest: not found", {"pytest"}),
        ("bash: line 1: pytest: command not found", {"pytest"}),
        ("a_test.go:12: item 3: not found", set()),
    ],
)
def test_what_is_missing(text: str, missing: set[str]) -> None:
    assert set(read_printed(text, 1).missing) == missing


@pytest.mark.parametrize(
    ("text", "exit_code", "broke"),
    [
        ("/bin/sh: 1: pytest: not found", 127, True),
        ("/usr/bin/python3: No module named pytest", 1, True),
        ("Traceback (most recent call last):\nModuleNotFoundError: No module named 'a'", 1, True),
        ("ERROR: pyproject.toml: unknown option", 4, True),
        ("make: *** No rule to make target 'test'.  Stop.", 2, True),
        (
            "ERROR: pyproject.toml file found.\nTo use a PEP 517 build-backend you are required to configure tox",
            1,
            True,
        ),
        ("a.c:3:5: error: expected ';'", 2, True),
        ("0 examples, 0 failures, 1 error occurred outside of examples", 1, True),
        ("[ERROR] COMPILATION ERROR :", 1, True),
        ("Traceback (most recent call last):\nAssertionError: 1", 1, False),
        ("== FAILURES ==\nE   ModuleNotFoundError: No module named 'a'\n1 failed in 0.1s", 1, False),
        ("3 passed in 0.1s\nsh: 1: eslint: not found", 127, True),
        ("ModuleNotFoundError: No module named 'speedups'\n3 passed in 0.1s", 0, False),
    ],
)
def test_what_breaks_before_tests(text: str, exit_code: int, broke: bool) -> None:
    assert read_printed(text, exit_code).broke_before_tests is broke


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("/bin/sh: 1: pytest: not found", "pytest"),
        ("bash: line 1: jest: command not found", "jest"),
        ("./run.sh: line 3: bats: command not found", "bats"),
        ("ruff check\nmake: ruff: No such file or directory\nmake: *** [Makefile:2: lint] Error 127", "ruff"),
        ("env: ‘node’: No such file or directory", "node"),
        ("/usr/bin/python3.12: No module named pytest", "pytest"),
        ("3 passed in 0.1s\nsh: 1: eslint: not found", "eslint"),
        ("sh: 1: eslint: not found\n1 failed in 0.1s", ""),
        ("ModuleNotFoundError: No module named 'calc'", ""),
        ("make: *** No rule to make target 'test'.  Stop.", ""),
    ],
)
def test_a_program_that_is_missing_is_named(text: str, program: str) -> None:
    said = read_printed(text, 1).not_here
    assert texts.says(said, "gate-program-not-here", program=program) if program else said == ""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "F\n======\nFAIL: test_mul (t.Sums)\n------\nTraceback (most recent call last):\n"
            '  File "t.py", line 1, in test_mul\nAssertionError: 15 != 12\n\n------\nRan 1 test in 0.000s\n\n'
            "FAILED (failures=1)\n",
            "test_mul: AssertionError: 15 != 12",
        ),
        (
            "checking\nmul(3, 4): expected 12, got 7\nmake: *** [Makefile:2: test] Error 1",
            "mul(3, 4): expected 12, got 7",
        ),
        ("assertion failed: x\nnote: run with `RUST_BACKTRACE=1` to display a backtrace", "assertion failed: x"),
        (
            "Error: wrong sum\n    at Object.<anonymous> (/a.js:1:1)\nnpm ERR! A complete log of this run is in: x",
            "Error: wrong sum",
        ),
        (
            "AssertionError [ERR_ASSERTION]: 3 is not 4\n    at Object.<anonymous> (/t.js:3:8) {\n"
            "  generatedMessage: false,\n  actual: 3,\n  expected: 4,\n  operator: '=='\n}\n\nNode.js v24.1.0\n",
            "AssertionError [ERR_ASSERTION]: 3 is not 4",
        ),
        (
            "CalcTest > adds FAILED\n    AssertionFailedError at CalcTest.java:9\n\n3 tests completed, 1 failed\n\n"
            "FAILURE: Build failed with an exception.\n\nExecution failed for task ':test'.\n"
            "> There were failing tests. See the report at: x\n\nBUILD FAILED in 3s\n1 actionable task: 1 executed\n",
            "3 tests completed, 1 failed",
        ),
        (
            "warning: spurious network error (3 tries remaining): Could not resolve hostname\n"
            "error: failed to get `rand` as a dependency of package `calc`\n\n"
            "Caused by:\n  failed to download from `https://index.crates.io/config.json`\n",
            "error: failed to get `rand` as a dependency of package `calc`",
        ),
        ("make: *** [Makefile:2: test] Error 1", "make: *** [Makefile:2: test] Error 1"),
        ("\x1b[31m1 failed\x1b[0m, 2 passed in 0.07s", "1 failed, 2 passed"),
        ("all good", "all good"),
        ("", ""),
    ],
)
def test_the_line_to_quote(text: str, line: str) -> None:
    assert read_printed(text, 1).quoted == line


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ("go test ./...", "go test -v ./..."),
        ("go test ./... -args -v", "go test -v ./... -args -v"),
        ("go test -run v", "go test -v -run v"),
        ("go test -v ./...", "go test -v ./..."),
        ("go vet ./...", "go vet ./..."),
        ("cargo test -- --nocapture", "cargo test --no-fail-fast -- --nocapture"),
        ("cargo +nightly test --all", "cargo +nightly test --no-fail-fast --all"),
        ("cargo nextest run", "cargo nextest run"),
        ("cargo test --no-run", "cargo test --no-run"),
        ("cargo run --bin test", "cargo run --bin test"),
        ("cargo", "cargo"),
        ("./mvnw -q test", "./mvnw --fail-at-end -q test"),
        ("mvn --fail-fast test", "mvn --fail-fast test"),
        ("python3 -B -m unittest", "python3 -B -m unittest -v"),
        ("python3.12 -m unittest discover -s tests", "python3.12 -m unittest discover -s tests -v"),
        ("/usr/bin/python3 -m unittest test_calc", "/usr/bin/python3 -m unittest test_calc -v"),
        ("python3 -m unittest -q test_calc", "python3 -m unittest -q test_calc -v"),
        ("python3 -m unittest --verbose", "python3 -m unittest --verbose"),
        ("python3 unittest", "python3 unittest"),
        ("npm test", "npm test"),
        ("", ""),
    ],
)
def test_a_command_is_asked_for_counts_and_names(command: str, asked: str) -> None:
    assert asking(command.split()) == asked.split()


def test_pytest_is_asked_for_the_names_of_what_passed_and_last_of_what_failed() -> None:
    assert outputs.PYTEST_ADDOPTS == "-rpXfE --maxfail=0 --continue-on-collection-errors"


PIECES = [line for path in sorted(PAGES.iterdir()) for line in path.read_text(encoding="utf-8").splitlines() if line]


@given(
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=30), st.sampled_from([None, 0, 1, 4])
)
def test_anything_is_read(lines: list[str], exit_code: int | None) -> None:
    text = "\n".join(lines)
    output = read_printed(text, exit_code)
    assert output.counts is None or min(output.counts) >= 0
    assert not (output.names_are_whole and exit_code is None)
    assert not (output.broke_before_tests and exit_code == 0)
    assert "\n" not in read_printed(text, 1).quoted
    assert len(read_printed(text, 1).quoted) <= 160


def test_a_line_is_read_up_to_a_length() -> None:
    """Patterns look back and forth within a line: without a bound, one long line takes the square of its length."""
    assert read_printed("error " * 20_000, 1).quoted.startswith("error error")
    assert read_printed(f"{'x' * 2000} 1 passed in 0.1s", 0).counts is None


@pytest.mark.parametrize("output", BY_WHAT_RAN["nothing"])
def test_runners_that_ran_nothing_say_so(output: str) -> None:
    assert read_printed(output, 0).ran_nothing


@pytest.mark.parametrize("output", ["", *BY_WHAT_RAN["something, or no tests"]])
def test_what_does_not_say_so_ran_something(output: str) -> None:
    assert not read_printed(output, 0).ran_nothing


@pytest.mark.parametrize("module", [outputs, runners], ids=lambda module: module.__name__)
def test_a_pattern_begins_alike_in_all_its_alternatives(module: ModuleType) -> None:
    """`lines` has neighbours share a start: an alternative without it would be looked for in other places than it
    says."""
    patterns: list[str] = []
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("lines", "Runner"):
            patterns += [str(word.value) for word in node.args if isinstance(word, ast.Constant)]
    assert len(patterns) > 10
    for pattern in patterns:
        assert len(set(map(runners.start_of, alternatives_of(pattern)))) == 1, pattern


def alternatives_of(pattern: str) -> list[str]:
    """What stands between the | that are in no brackets."""
    plain = re.sub(r"\\.|\[\^?.[^\]]*\]", lambda escaped: "." * len(escaped[0]), pattern)
    ends = [place for place, char in enumerate(plain) if char == "|" and is_outside(plain[:place])]
    return [pattern[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, None], strict=True)]


def is_outside(before: str) -> bool:
    return before.count("(") == before.count(")")


def test_alternatives_are_told_apart() -> None:
    assert alternatives_of(r"^a(?:b|[|)(]c)\(|^d|e\|f") == [r"^a(?:b|[|)(]c)\(", "^d", r"e\|f"]
