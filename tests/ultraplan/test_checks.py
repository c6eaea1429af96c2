"""A manifest as checks: what they find on a real tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput
from omo.evidence.evaluate import Tree, evaluate
from omo.ultraplan.checks import checks_of, is_already_true
from omo.ultraplan.document import parse
from omo.ultraplan.models import Document, Step
from tests.ultraplan.plans import carry_out, commit, plan_text, project


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path)


def plan(steps: int = 1, **changes: Any) -> Document:
    return parse(plan_text(steps, **changes), "plan.md")


def step(**keys: Any) -> Step:
    return plan(step1={"manifest": keys}).steps[0]


def test_every_part_of_a_manifest_that_the_files_show_becomes_a_check() -> None:
    given = step(bash_syntax_check=["run.sh"], forbidden_paths=["docs/**", "x"], absent_paths=["old.py"])
    assert [(check.type, check.id) for check in checks_of(given)] == [
        ("path", "step-1-1"),
        ("path", "step-1-2"),
        ("content", "step-1-3"),
        ("syntax", "step-1-4"),
    ]


def test_a_step_without_a_manifest_has_no_checks() -> None:
    assert checks_of(plan(step1={"manifest": None}).steps[0]) == []


def test_a_pattern_that_cannot_be_used_is_refused() -> None:
    with pytest.raises(BadInput, match="step 1"):
        checks_of(step(must_contain=[{"path": "a.py", "pattern": "("}]))


@pytest.mark.parametrize(
    ("write", "verdict"),
    [
        ({}, "fail"),
        ({"src/part1.py": ""}, "fail"),
        ({"src/part1.py": "# def part1(\n"}, "fail"),
        ({"src/part2.py": "def part1():\n"}, "fail"),
        ({"src/part1.py": "def part1():\n"}, "pass"),
    ],
)
def test_only_the_work_itself_meets_the_checks(write: dict[str, str], verdict: str, root: Path) -> None:
    for name, text in write.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    commit(root, "feat(part1): add part 1")
    checks = checks_of(step())
    assert evaluate(checks, Tree(root)).verdict == verdict


@pytest.mark.parametrize(("count", "verdict"), [(1, "pass"), (2, "pass"), (3, "fail")])
def test_the_count_is_that_of_the_files_of_a_single_glob(count: int, verdict: str, root: Path) -> None:
    (root / "src" / "b.py").write_text("")
    given = step(expected_paths=["src/*.py"], min_file_count=count, must_contain=[])
    assert evaluate(checks_of(given), Tree(root)).verdict == verdict


def test_every_expected_path_has_to_be_there_whatever_the_count(root: Path) -> None:
    given = step(expected_paths=["src/app.py", "src/new.py"], min_file_count=1, must_contain=[])
    assert evaluate(checks_of(given), Tree(root)).verdict == "fail"


def test_a_predicate_is_already_true_on_the_tree_as_it_is_or_as_earlier_steps_leave_it(root: Path) -> None:
    document = plan(
        3,
        step2={"manifest": {"expected_paths": ["src/app.py"], "must_contain": []}},
        step3={"manifest": {"expected_paths": ["src/part1.py", "src/app.py"], "must_contain": []}},
    )
    assert [is_already_true(one, document.steps[:at], root) for at, one in enumerate(document.steps)] == [
        False,
        True,
        True,
    ]
    carry_out(root, 1)
    assert is_already_true(document.steps[0], [], root)


def test_forbidden_paths_alone_make_nothing_true(root: Path) -> None:
    keys = {"expected_paths": [], "min_file_count": 0, "must_contain": [], "forbidden_paths": ["docs/**"]}
    document = plan(step1={"manifest": keys})
    assert not is_already_true(document.steps[0], [], root)
