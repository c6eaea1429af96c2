"""Names of tests: what is one test in two runs, which are gone, which one the user means."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from omo.proof import base, experiment, gate_runs, verdicts
from omo.proof.gate_runs import CommandRun, Plain, Subject
from omo.proof.test_names import Lost, bodies, counted_by_function, function_of, is_meant, lost, place_of
from omo.proof.verdicts import Experiment
from tests import texts

PYTEST = "tests/test_calc.py::TestCalc::test_mul[3-4]"
UNITTEST = "test_mul (tests.test_calc.Calc.test_mul)"
UNITTEST_310 = "test_mul (tests.test_calc.Calc)"
GO = "example.com/calc: TestMul/small"
JEST = "src/calc.test.js › calc › multiplies"
VITEST = "src/calc.test.ts > calc > multiplies"


@pytest.mark.parametrize(
    ("name", "function", "place"),
    [
        (PYTEST, "test_mul", "tests/test_calc.py"),
        ("tests/[id]/test_page.py::test_page[a::b]", "test_page", "tests/[id]/test_page.py"),
        (UNITTEST, "test_mul", "tests.test_calc"),
        (UNITTEST_310, "test_mul", "tests.test_calc"),
        (GO, "TestMul", "example.com/calc"),
        ("tests::multiplies", "multiplies", "tests"),
        ("tests::divides - should panic", "divides", "tests"),
        ("src/lib.rs - add (line 2)", "add", ""),
        ("src/lib.rs - sums::add (line 2)", "add", "src/lib.rs - sums"),
        ("src/calc.py::calc.add", "add", "src/calc.py"),
        ("test_calc.py::test_mended - a reason", "test_mended", "test_calc.py"),
        (JEST, "multiplies", "src/calc.test.js"),
        (VITEST, "multiplies", "src/calc.test.ts"),
        ("multiplies - fast", "multiplies - fast", ""),
        ("com.example.CalcTest.multiplies", "multiplies", "com.example.CalcTest"),
        ("CalcTest.each(int)[1]", "each", "CalcTest"),
    ],
)
def test_parts_of_a_name(name: str, function: str, place: str) -> None:
    assert (function_of(name), place_of(name)) == (function, place)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        (PYTEST, PYTEST),
        (PYTEST, "tests/test_calc.py::TestCalc::test_mul"),
        (PYTEST, "tests/test_calc.py::test_mul"),
        (PYTEST, "TestCalc::test_mul"),
        (PYTEST, "test_mul"),
        (PYTEST, "tests/test_calc.py"),
        (PYTEST, "./tests/test_calc.py"),
        (UNITTEST, UNITTEST),
        (UNITTEST, "test_mul"),
        (UNITTEST, "Calc.test_mul"),
        (UNITTEST, "Calc::test_mul"),
        (UNITTEST, "tests/test_calc.py::test_mul"),
        (UNITTEST, "tests/test_calc.py::Calc::test_mul"),
        (UNITTEST, "tests/test_calc.py"),
        ("test_mul (test_calc.Calc.test_mul)", "tests/test_calc.py"),
        (UNITTEST_310, "tests/test_calc.py::Calc::test_mul"),
        (UNITTEST_310, "tests/test_calc.py::test_mul"),
        (UNITTEST_310, "test_mul"),
        (GO, GO),
        (GO, "TestMul/small"),
        (GO, "TestMul"),
        ("tests::multiplies", "multiplies"),
        ("tests::multiplies", "tests::multiplies"),
        (JEST, "multiplies"),
        (JEST, "calc › multiplies"),
        (JEST, "src/calc.test.js"),
        (VITEST, "calc > multiplies"),
        ("multiplies", "multiplies"),
        ("com.example.CalcTest.multiplies", "CalcTest.multiplies"),
    ],
)
def test_a_test_that_is_meant(name: str, typed: str) -> None:
    assert is_meant(["something else", typed], name)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        (PYTEST, "mul"),
        (PYTEST, "test_mul[0-1]"),
        (PYTEST, "tests/test_calc.py::test_add"),
        (PYTEST, "tests/test_calc.py::Other::test_mul"),
        (PYTEST, "test_calc.py"),
        (PYTEST, "more/tests/test_calc.py"),
        (PYTEST, "tests"),
        (UNITTEST, "test_add"),
        (UNITTEST, "tests/test_calc.py::Other::test_mul"),
        (UNITTEST, "tests/test_other.py"),
        (GO, "TestMul/large"),
        (GO, "Test"),
        (JEST, "src/other.test.js"),
        (JEST, "calc"),
        ("multiplies", ""),
    ],
)
def test_a_test_that_is_not_meant(name: str, typed: str) -> None:
    assert not is_meant([typed], name)


def test_cases_are_counted_by_their_function() -> None:
    names = [PYTEST, PYTEST.replace("3", "5"), GO, "example.com/calc: TestMul", "at 12:00:01", "at 12:00:02"]
    assert counted_by_function(names) == {
        "tests/test_calc.py::TestCalc::test_mul": 2,
        "example.com/calc: TestMul": 2,
        "at …": 2,
    }


@pytest.mark.parametrize(
    ("then", "now", "gone"),
    [
        ({"a.py::test_x": 1}, {"a.py::test_x": 1, "a.py::test_y": 1}, []),
        ({"a.py::test_x": 1}, {"a.py::test_y": 1}, [Lost("a.py::test_x", 1, 0)]),
        ({"a.py::test_x": 3}, {"a.py::test_x": 2, "a.py::test_y": 5}, [Lost("a.py::test_x", 3, 2)]),
        ({"a.py::test_x": 1}, {"b.py::test_x": 1}, []),  # moved
        ({"a.py::A::test_x": 1}, {"a.py::B::test_x": 1}, []),
        ({"a.py::test_x": 3}, {"b.py::test_x": 2}, [Lost("a.py::test_x", 3, 2)]),
        ({"a.py::test_x": 1, "b.py::test_x": 1}, {"c.py::test_x": 1}, [Lost("b.py::test_x", 1, 0)]),
        ({"a.py::test_x": 1, "b.py::test_x": 1}, {"a.py::test_x": 1}, [Lost("b.py::test_x", 1, 0)]),
    ],
)
def test_what_is_lost(then: dict[str, int], now: dict[str, int], gone: list[Lost]) -> None:
    assert lost(then, now) == gone


PYTHON = """
@pytest.mark.slow
def {}(tmp_path):
    text = read(tmp_path)

    assert text == "{}"


def other():
    pass
"""
JAVASCRIPT = """
describe('sums', () => {{
  test('{}', async () => {{
    expect(add(1, 2)).toBe(3);
  }});

  test('other', () => {{}});
}});
"""
ONE_LINE = "test('{}', () => expect(add(1, 2)).toBe(3));\ntest('other', () => {{}});\n"
GO_TEXT = "func {}(t *testing.T) {{\n\tif Add(1, 2) != 3 {{\n\t\tt.Fatal()\n\t}}\n}}\n\nfunc other() {{}}\n"
RUST_TEXT = "mod tests {{\n    #[test]\n    fn {}() {{\n        assert_eq!(add(1, 2), 3);\n    }}\n}}\n"


@pytest.mark.parametrize("text", [PYTHON, JAVASCRIPT, ONE_LINE, GO_TEXT, RUST_TEXT])
def test_a_body_is_the_same_under_another_name(text: str) -> None:
    def written(name: str) -> str:
        return text.format(name, "same")

    assert len(bodies(written("TestMul"), "TestMul")) == 1
    assert bodies(written("TestMul"), "TestMul") == bodies("# more\n" + written("TestProduct"), "TestProduct")
    assert bodies(written("TestMul"), "TestMul") != bodies(written("TestMul").replace("3", "4"), "other")


@pytest.mark.parametrize("text", [PYTHON, JAVASCRIPT, ONE_LINE, GO_TEXT, RUST_TEXT])
def test_a_body_with_another_line_is_another(text: str) -> None:
    before, now = text.format("TestMul", "a"), text.format("TestProduct", "b").replace("3", "4")
    assert bodies(before, "TestMul") != bodies(now, "TestProduct")


def test_a_test_that_is_only_spoken_of_has_no_body() -> None:
    assert bodies("# test_mul is slow\nSLOW = ['test_mul']\ntest_mul()\n", "test_mul") == set()


def test_names_are_kept_packed_in_a_row() -> None:
    ran = {f"tests/test_module_{number // 30}.py::test_function_{number}": 1 for number in range(2000)}
    row = gate_runs.as_row(CommandRun("files", "pass", ran=ran))
    assert gate_runs.run_of(row).ran == ran
    assert len(row["ran"]) < 20_000


@pytest.mark.parametrize("packed", [None, 7, "", "no base 64 ☃", "0" * 40, {"a": 1}])
def test_a_row_without_names_that_can_be_read_has_none(packed: object) -> None:
    row = gate_runs.as_row(CommandRun("files", "pass"))
    assert gate_runs.run_of({**row, "ran": packed}).ran == {}


# Real runs


def case(name: str, first: int, second: int) -> str:
    return f"    def test_{name}(self):\n        self.assertEqual(calc.add({first}, {second}), {first + second})\n\n"


ADD = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n" + case("add", 2, 2)
OLD = ADD + case("neg", -2, 0)
ANOTHER = ADD + case("zero", 0, 0)


class Story:
    """A function is mended, and the file of its tests is written anew."""

    def __init__(self, root: Path, before: str, now: str) -> None:
        self.root, self.state = root, str(root / ".sisyphus" / "cc-omo")
        root.mkdir()
        self.write("calc.py", "def add(a, b):\n    return a - b - b\n")
        self.write("test_calc.py", before)
        commit = "git -c user.name=t -c user.email=t@example.invalid commit -qm base"
        subprocess.run(["sh", "-c", f"git init -q; git add .; {commit}"], cwd=root, check=True)
        self.began = base.take(str(root), os.environ, self.state)
        self.write("calc.py", "def add(a, b):\n    return a + b\n")
        self.write("test_calc.py", now)

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, encoding="utf-8")

    def subject(self) -> Subject:
        look = base.look(str(self.root), self.began)
        return Subject(str(self.root), self.state, self.began, look, {"PATH": os.environ["PATH"]}, now=0.0)

    def prove(self, *typed: str, seen: Sequence[CommandRun] = ()) -> Experiment:
        subject = replace(self.subject(), allowed_tests=frozenset(typed))
        command = Plain([sys.executable, "-B", "-m", "unittest"])
        return experiment.prove(subject, command, seen, lambda: experiment.run_now(subject, command))


def test_a_lost_test_is_named_until_the_user_allows_it(tmp_path: Path) -> None:
    story = Story(tmp_path / "a b", OLD, ANOTHER)
    made = story.prove()
    assert made.verdict == verdicts.FEWER_TESTS
    assert texts.says(made.reason, "proof-test-lost", test="test_neg")
    assert made.to_allow == ["test_calc.py"]
    assert story.prove("test_add", "test_other.py").verdict == verdicts.FEWER_TESTS
    for typed in ("test_neg", "test_calc.py::test_neg", "test_calc.py"):
        made = story.prove(typed)
        assert made.verdict == verdicts.HOLDS
        assert texts.says(made.notes[0], "proof-lost-test-allowed", tests="test_neg")


def test_a_skip_that_the_user_allows_lowers_nothing(tmp_path: Path) -> None:
    skipped = OLD.replace("    def test_neg", "    @unittest.skip('slow')\n    def test_neg")
    assert Story(tmp_path / "a b", OLD, skipped).prove("test_neg").holds


def test_of_many_lost_tests_three_are_named(tmp_path: Path) -> None:
    old = "".join([case(f"old_{number}", number, 0) for number in range(1, 6)])
    new = "".join([case(f"new_{number}", 0, number) for number in range(1, 6)])
    made = Story(tmp_path / "a b", ADD + old, ADD + new).prove()
    assert texts.says(made.reason, "proof-tests-lost", tests="test_old_1, test_old_2, test_old_3 and 2 more")


def test_names_that_differ_between_two_runs_on_the_same_files_are_none(tmp_path: Path) -> None:
    story = Story(tmp_path / "a b", OLD, ANOTHER)
    made = story.prove()
    now = made.runs[gate_runs.AS_IT_IS]
    other = replace(now, ran={name.replace("zero", "nought"): number for name, number in now.ran.items()})
    assert story.prove(seen=[now]).verdict == verdicts.FEWER_TESTS
    assert story.prove(seen=[other, now]).holds


REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="CalcTest" tests="5" errors="0" skipped="1" failures="1">
  <testcase name="adds" classname="CalcTest" time="0.588"/>
  <testcase name="each(int)[1]" classname="CalcTest" time="0.192"/>
  <testcase name="each(int)[2]" classname="CalcTest" time="0.006"/>
  <testcase name="later" classname="CalcTest" time="0.0"><skipped message="is @Disabled"/></testcase>
  <testcase name="multiplies" classname="CalcTest" time="0.041"><failure message="12 &lt; 7"/></testcase>
</testsuite>
"""
MAVEN = """#!/bin/sh
cp "report.xml" "target/surefire-reports/TEST-CalcTest.xml"
echo "[ERROR] CalcTest.multiplies -- Time elapsed: 0.012 s <<< FAILURE!"
echo "[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1"
exit 1
"""


def test_names_are_read_from_what_surefire_wrote_in_this_run(tmp_path: Path) -> None:
    story = Story(tmp_path / "a b", OLD, ANOTHER)
    (story.root / "target" / "surefire-reports").mkdir(parents=True)
    story.write("report.xml", REPORT)
    story.write("target/surefire-reports/TEST-OldTest.xml", REPORT.replace("CalcTest", "OldTest"))
    story.write("mvnw", MAVEN)
    (story.root / "mvnw").chmod(0o755)
    command = Plain(["./mvnw", "test"])
    run = gate_runs.run_gate(story.subject(), command)
    assert run.ran == {"CalcTest.adds": 1, "CalcTest.each": 2, "CalcTest.multiplies": 1}
    story.write("report.xml", "<testsuite>")  # cut off
    assert gate_runs.run_gate(story.subject(), command).ran == {}


def test_names_take_no_room_from_what_a_run_prints_by_itself(tmp_path: Path) -> None:
    """More of them than is kept of an output."""
    program = (
        "print('first words')\n"
        "print('=== short test summary info ===')\n"
        "for number in range(3000): print(f'PASSED tests/test_calc.py::test_with_a_longer_name_{number}')\n"
        "print('FAILED tests/test_calc.py::test_last - AssertionError')\n"
        "print('1 failed, 3000 passed in 1.00s')\n"
        "raise SystemExit(1)\n"
    )
    story = Story(tmp_path / "a b", OLD, ANOTHER)
    run = gate_runs.run_gate(story.subject(), Plain([sys.executable, "-c", program]))
    assert len(run.ran) == 3001
    assert run.tail.startswith("first words\n=== short test summary info ===\nFAILED tests/test_calc.py::test_last")
    assert run.quoted == "1 failed, 3000 passed"
