"""Which tests name an item of a task that is a list."""

from __future__ import annotations

import pytest

from omo.state.ledger_rows import SessionEvent
from omo.work import outcome
from omo.work.task_items import items_of, told_with, with_tests
from tests import texts
from tests.project import Project


def typed(text: str) -> list[SessionEvent]:
    return [{"kind": "activated", "actor": "user", "text": text}]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("ulw mend add", []),
        ("ulw:\n- add mul\n- add div", ["add mul", "add div"]),
        ("ulw\n* a first\n* a second\n\nand be quick", ["a first", "a second"]),
        ("ulw do\n1. one thing\n2. another", ["one thing", "another"]),
        ("ulw 1) add mul, 2) add div", ["add mul", "add div"]),
        ("ulw (1) add mul; (2) add div", ["add mul", "add div"]),
        ("ulw add mul in version 2. It is easy", []),
        ("ulw\n- only one", []),
        ("- [ ] open\n- [x] done before\n- [ ] open too", ["open", "open too"]),
        ("ulw\n```\n- a = 1\n- b = 2\n```", []),
        ("ulw add x - y and z - w", []),
    ],
)
def test_a_list_is_a_task_in_parts(text: str, items: list[str]) -> None:
    assert items_of(typed(text)) == items


def test_a_document_stands_for_the_words_that_name_it() -> None:
    document = {"name": "T.md", "path": "T.md", "digest": "", "text": "# T\n- [ ] add\n- [ ] mul\n"}
    row: SessionEvent = {"text": "ulw do T.md\n- quickly\n- well", "documents": [document]}  # type: ignore[list-item]
    assert items_of([row]) == ["add", "mul"]


@pytest.mark.parametrize(
    ("item", "tests"),
    [
        ("`mul` returns the product", ["test_calc.py::Calc::test_mul"]),
        ("add mul()", ["test_calc.py::Calc::test_mul"]),
        ("mul", ["test_calc.py::Calc::test_mul"]),
        ("add dates to the log", ["test_date_is_logged (test_log.Log.test_date_is_logged)"]),
        ("retries of requests", ["retries a request twice"]),
        ("parseArgs takes a list", ["TestParseArgs"]),
        ("test all that is left", []),
        ("make calc.py faster", []),  # the name of a file names every test in it
        ("division", []),
    ],
)
def test_an_item_is_named_by_a_word_of_a_test(item: str, tests: list[str]) -> None:
    failing = [
        *("test_calc.py::Calc::test_mul", "test_log.py::test_other", "retries a request twice", "TestParseArgs"),
        "test_date_is_logged (test_log.Log.test_date_is_logged)",
    ]
    assert [row["tests"] for row in with_tests([item], failing)] == [tests]


def test_of_a_file_that_was_not_loaded_nobody_knows_the_tests() -> None:
    named = with_tests(["add mul", "add div"], ["tests/test_div.py", "test_mul"])
    ended = {**outcome.outcome(outcome.PROVEN, "why"), "items": named}
    first, second = outcome.items_in_words(outcome.of({"outcome": ended}))
    assert first == "add mul: test_mul"
    assert texts.says(second, "ulw-item-not-known", item="add div", file="tests/test_div.py")


def test_of_many_items_and_tests_some_are_named() -> None:
    tests = [f"test_mul_{number}" for number in range(5)]
    ended = told_with(
        outcome.outcome(outcome.PROVEN, "why"), typed("\n".join(["- mul"] + [f"- {n}" for n in range(40)])), tests
    )
    words = outcome.items_in_words(ended)
    assert len(words) == 20
    assert words[0] == f"mul: {', '.join(tests[:3])} and 2 more"
    assert words[1] == f"0: {outcome.NO_TEST}"


def test_an_end_that_is_not_proven_has_none() -> None:
    ended = outcome.outcome(outcome.ATTESTED, "why")
    assert told_with(ended, typed("- a\n- b"), ["test_a"]) == ended


@pytest.mark.parametrize("stored", [7, [7], [{"text": 1}], [{"tests": "x"}]])
def test_what_somebody_wrote_into_the_state_is_no_item(stored: object) -> None:
    ended = {**outcome.outcome(outcome.PROVEN, "why"), "items": stored}
    assert "items" not in outcome.of({"outcome": ended})


def test_the_end_names_the_item_that_no_test_names(project: Project) -> None:
    project.write("Makefile", "test:\n\tpython3 -B -m unittest -q\n")
    project.write("calc.py", "def add(a, b):\n    return a - b\n")
    project.write(
        "test_calc.py",
        "import calc, unittest\n\nclass Calc(unittest.TestCase):\n    def test_is(self):\n        pass\n",
    )
    project.commit()
    project.prompt("ulw in calc.py:\n- mend `add`\n- write `div`")
    project.write("calc.py", "def add(a, b):\n    return a + b\n")
    project.write(
        "test_calc.py",
        "import calc, unittest\n\nclass Calc(unittest.TestCase):\n    def test_is(self):\n        pass\n\n"
        "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n",
    )
    done = project.check("ulw", "done")
    lines = ["mend `add`: test_add (test_calc.Calc.test_add)", "write `div`: no test names it"]
    shown = done.out.splitlines()[1:]
    assert len(shown) == len(lines)
    assert all(texts.says(one, "ulw-item-of-task", item=line) for one, line in zip(shown, lines, strict=True))
    assert project.summary("ulw")["outcome"]["verdict"] == outcome.PROVEN
    status = project.check("status", "--json").json
    assert [item["tests"] for item in status["sessions"][0]["outcome"]["items"]] == [
        ["test_add (test_calc.Calc.test_add)"],
        [],
    ]
    assert all(f"item       {line}" in project.check("status").out for line in lines)
    page = project.check("report", "--md").out
    assert "### Items" in page
    assert "- " + lines[1].replace("`", "\\`") in page
    told = project.stop().message
    assert lines[1] not in told, "the headline stays what it was"
