"""What results show of the work: a table of what a run saw, and what that is worth."""

from __future__ import annotations

from typing import Any

import pytest

from omo.proof import strength
from omo.proof.seals import is_test

BASE: dict[str, str] = {}
TESTS = {"tests/test_a.py": "t1"}
DONE = {"a.py": "1", "tests/test_a.py": "t1"}


def row(result: str, changed: dict[str, str] | None, **more: Any) -> dict[str, Any]:
    tree = "?" if changed is None else str(sorted(changed.items()))
    return {
        "result": result,
        "exit": int(result == "fail"),
        "changed": changed,
        "tree": tree,
        "env": "e",
        "tail": "",
        **more,
    }


GREEN = row("pass", DONE)
FIX = {"a.py": "1"}


@pytest.mark.parametrize(
    ("results", "kind"),
    [
        ([], "unseen"),
        ([row("fail", TESTS)], "red→green"),
        ([row("pass", BASE)], "green→green"),
        ([row("pass", BASE), row("fail", TESTS)], "red→green"),
        ([row("fail", {"a.py": "half"})], "unseen"),
        ([row("fail", {"tests/test_a.py": "another"})], "unseen"),
        ([row("fail", BASE)], "unseen"),
        ([row("fail", BASE), row("pass", FIX)], "red→green"),
        ([row("fail", BASE), row("pass", {"a.py": "other work"})], "unseen"),
        ([row("fail", None)], "unseen"),
        ([row("fail", TESTS, env="another")], "unseen"),
        ([row("fail", TESTS, moved=["a.py"])], "unseen"),
        ([row("unknown", TESTS)], "unseen"),
        ([row("fail", TESTS, exit=127)], "unseen"),
        ([row("fail", TESTS, exit=None)], "unseen"),
        ([row("fail", TESTS, tail="no tests ran in 0.01s")], "unseen"),
        ([row("fail", TESTS, tail="No module named pytest")], "unseen"),
        ([row("fail", TESTS, tail="No module named 'a'")], "red→green"),
        ([row("fail", TESTS, tail="Cannot find module 'left-pad'")], "unseen"),
        ([row("fail", TESTS, tail="Cannot find module './a'")], "red→green"),
        ([row("fail", TESTS, tail="Cannot find module '@/lib/a'")], "red→green"),
        ([row("fail", TESTS, tail="Cannot find module '@types/node'")], "unseen"),
        ([row("fail", TESTS, tail="a_test.go:12: item 3: not found")], "red→green"),
        ([row("fail", TESTS, tail="/bin/sh: 1: pytest: not found")], "unseen"),
        ([row("fail", TESTS, tail="check.sh: 3: pytest: not found")], "unseen"),
        ([row("fail", TESTS, tail="sh: pytest: not found")], "unseen"),
        ([row("fail", BASE), row("pass", BASE)], "flaky"),
        ([row("fail", DONE)], "flaky"),
    ],
)
def test_strength(results: list[dict[str, Any]], kind: str) -> None:
    for rows in ([*results, GREEN], [GREEN, *results]):
        assert strength.of_gate(rows, GREEN, DONE).kind == kind


def test_the_last_line_of_the_failure_is_kept() -> None:
    rows = [row("fail", TESTS, tail="x\nFAILED (failures=1)\n\n"), GREEN]
    assert strength.of_gate(rows, GREEN, DONE).red == "FAILED (failures=1)"


@pytest.mark.parametrize(
    ("output", "nothing"),
    [
        ("Ran 0 tests in 0.000s\n\nOK", True),
        ("collected 0 items\n\n=== no tests ran in 0.01s ===", True),
        ("?   \texample.com/a\t[no test files]", True),
        ("ok  \texample.com/b\t0.2s\n?   \texample.com/a\t[no test files]", False),
        ("running 0 tests\n\ntest result: ok. 0 passed", True),
        ("running 3 tests\ntest result: ok. 3 passed; 0 failed\nrunning 0 tests\n", False),
        ("  0 passing (1ms)", True),
        ("No tests found, exiting with code 0", True),
        ("Tests run: 0, Failures: 0", True),
        ("0 examples, 0 failures", True),
        ("make: 'check' is up to date.", True),
        ("make: Nothing to be done for 'test'.", True),
        ("make[1]: Entering directory 'a'\nmake[1]: 'a.o' is up to date.\nmake[1]: Leaving directory 'a'", True),
        ("make[1]: Nothing to be done for 'all'.\n./run-tests\nall good", False),
        ("> Task :lib:test NO-SOURCE\n> Task :app:test\nBUILD SUCCESSFUL", False),
        ("Executed 0 tests, with 0 failures\nTest run with 3 tests passed after 0.1 seconds.", False),
        ("# tests 0\n# pass 0", True),
        ("0 runs, 0 assertions, 0 failures", True),
        ("1..0", True),
        ("Tests:       0 total", True),
        ("5 skipped in 0.01s", True),
        ("Ran 5 tests in 0.1s\n\nOK (skipped=5)", True),
        ("Ran 5 tests in 0.1s\n\nOK (skipped=2)", False),
        ("3 passed, 2 skipped in 0.1s", False),
        ("ok  \texample.com/a\t0.002s [no tests to run]", True),
        ("1 passed in 0.1s", False),
        ("Ran 12 tests in 0.1s", False),
        ("5 tests collected in 0.01s", True),
        ("2 xfailed in 0.10s", True),
        ("3 deselected in 0.01s", True),
        ("1 error in 0.10s", False),
        ("Ran 2 tests in 0.1s\n\nOK (skipped=1, expected failures=1)", True),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", True),
        ("Found 0 test(s).\n\nRan 0 tests in 0.000s\n\nOK", True),
        ("running 2 tests\ntest a ... ignored\ntest result: ok. 0 passed; 0 failed; 2 ignored", True),
        ("Starting 0 tests across 1 binary\nerror: no tests to run", True),
        ("Tests:       3 skipped, 3 total", True),
        ("Test Suites: 1 failed, 1 total\nTests:       0 total", False),
        ("Tests:       1 skipped, 2 passed, 3 total", False),
        ("No test files found, exiting with code 0", True),
        (" Test Files  1 skipped (1)\n      Tests  2 skipped (2)", True),
        (" Test Files  1 failed (1)\n      Tests  no tests", False),
        ("  0 passing (2ms)\n  2 pending", True),
        ("ℹ tests 2\nℹ pass 0\nℹ fail 0\nℹ skipped 2", True),
        ("ℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ skipped 1", False),
        (" 0 pass\n 0 fail\nRan 0 tests across 1 files.", True),
        (" 3 pass\n 0 fail\nRan 3 tests across 1 files.", False),
        ("ok | 0 passed | 0 failed (5ms)", True),
        ("1..2\nok 1 a # skip\nok 2 b # SKIP later", True),
        ("1..2\nok 1 a\nok 2 b # skip", False),
        ("Files=0, Tests=0\nResult: NOTESTS", True),
        ("Tests run: 3, Failures: 0, Errors: 0, Skipped: 3", True),
        ("Tests run: 3, Failures: 0, Errors: 0, Skipped: 1", False),
        ("[INFO] No tests to run.", True),
        ("> Task :app:test NO-SOURCE\nBUILD SUCCESSFUL", True),
        ("No test is available in /app/bin/a.dll.", True),
        ("Skipped! - Failed:     0, Passed:     0, Skipped:     2, Total:     2", True),
        ("Passed!  - Failed:     0, Passed:     5, Skipped:     0, Total:     5", False),
        ("2 examples, 0 failures, 2 pending", True),
        ("3 examples, 0 failures, 1 pending", False),
        ("2 runs, 0 assertions, 0 failures, 0 errors, 2 skips", True),
        ("OK, but incomplete, skipped, or risky tests!\nTests: 2, Assertions: 0, Skipped: 2.", True),
        ("OK (5 tests, 5 assertions)", False),
        ("No tests executed!", True),
        ("3 tests, 0 failures, 3 excluded", True),
        ("5 tests, 0 failures", False),
        ("[==========] Running 0 tests from 0 test suites.\n[  PASSED  ] 0 tests.", True),
        ("[  PASSED  ] 4 tests.", False),
        ("No tests were found!!!", True),
        ("Executed 0 tests, with 0 failures", True),
        ("[ FAIL 0 | WARN 0 | SKIP 2 | PASS 0 ]", True),
        ("[ FAIL 0 | WARN 0 | SKIP 0 | PASS 7 ]", False),
        ("  3 skipped\n", True),
        ("1 passed, 3 skipped in 2.1s", False),
        ("No known vulnerabilities found, 1 skipped", False),
        ("ok=3 changed=0 skipped=1", False),
        ("12 files checked, 2 ignored", False),
        ("ninja: no work to do.", True),
        ("Your branch is up to date with 'origin/main'.", False),
        ("", False),
        ("Success: no issues found in 3 source files", False),
    ],
)
def test_runners_that_ran_nothing_say_so(output: str, nothing: bool) -> None:
    assert strength.ran_nothing(output) is nothing


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/a.py", True),
        ("test_a.py", True),
        ("a_test.go", True),
        ("a.spec.ts", True),
        ("src/CalcTest.java", True),
        ("src/test/java/Calc.java", True),
        ("__tests__/a.js", True),
        ("conftest.py", True),
        ("src/__snapshots__/a.snap", True),
        ("web/e2e/login.ts", True),
        ("latest.py", False),
        ("inspector.py", False),
        ("contest/a.py", False),
        ("src/attestation.rs", False),
    ],
)
def test_paths_with_test_or_spec(path: str, expected: bool) -> None:
    assert is_test(path) is expected
