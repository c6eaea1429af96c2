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


def test_the_line_that_says_what_failed_is_kept() -> None:
    rows = [row("fail", TESTS, tail="x\nFAILED (failures=1)\n\n"), GREEN]
    assert strength.of_gate(rows, GREEN, DONE).red == "FAILED (failures=1)"


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
