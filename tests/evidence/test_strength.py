"""What results show of the work: a table of what a run saw, and what that is worth."""

from __future__ import annotations

from typing import Any

import pytest

from omo.evidence import strength
from omo.evidence.seals import is_test

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


@pytest.mark.parametrize(
    ("results", "kind"),
    [
        ([GREEN], "unseen"),
        ([row("fail", BASE), GREEN], "red→green"),
        ([row("fail", TESTS), GREEN], "red→green"),
        ([GREEN, row("fail", TESTS)], "red→green"),
        ([row("pass", BASE), GREEN], "green→green"),
        ([row("pass", BASE), row("fail", TESTS), GREEN], "red→green"),
        ([row("fail", {"a.py": "half"}), GREEN], "unseen"),
        ([row("fail", {"tests/test_a.py": "another"}), GREEN], "unseen"),
        ([row("fail", None), GREEN], "unseen"),
        ([row("fail", BASE, env="another"), GREEN], "unseen"),
        ([row("fail", BASE, moved=["a.py"]), GREEN], "unseen"),
        ([row("unknown", BASE), GREEN], "unseen"),
        ([row("fail", BASE, exit=127), GREEN], "unseen"),
        ([row("fail", BASE, tail="no tests ran in 0.01s"), GREEN], "unseen"),
        ([row("fail", BASE, tail="No module named pytest", argv=["python3", "-m", "pytest"]), GREEN], "unseen"),
        ([row("fail", BASE, tail="No module named 'calc'", argv=["python3", "-m", "pytest"]), GREEN], "red→green"),
        ([row("fail", BASE), row("pass", BASE), GREEN], "flaky"),
        ([row("fail", DONE), GREEN], "flaky"),
    ],
)
def test_strength(results: list[dict[str, Any]], kind: str) -> None:
    assert strength.of_gate(results, GREEN, DONE).kind == kind


def test_the_last_line_of_the_failure_is_kept() -> None:
    shown = strength.of_gate([row("fail", BASE, tail="x\nFAILED (failures=1)\n\n"), GREEN], GREEN, DONE)
    assert shown.red == "FAILED (failures=1)"


@pytest.mark.parametrize(
    ("output", "nothing"),
    [
        ("Ran 0 tests in 0.000s\n\nOK", True),
        ("collected 0 items\n\n=== no tests ran in 0.01s ===", True),
        ("?   \texample.com/a\t[no test files]", True),
        ("ok  \texample.com/b\t0.2s\n?   \texample.com/a\t[no test files]", False),
        ("running 0 tests\n\ntest result: ok. 0 passed", True),
        ("running 3 tests\n...\nrunning 0 tests\n", False),
        ("  0 passing (1ms)", True),
        ("No tests found, exiting with code 0", True),
        ("Tests run: 0, Failures: 0", True),
        ("0 examples, 0 failures", True),
        ("1 passed in 0.1s", False),
        ("Ran 12 tests in 0.1s", False),
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
        ("latest.py", False),
        ("inspector.py", False),
        ("contest/a.py", False),
        ("src/attestation.rs", False),
    ],
)
def test_paths_with_test_or_spec(path: str, expected: bool) -> None:
    assert is_test(path) is expected
