"""Criteria as files have them: what is refused, all of it at once, and how it could be said instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.engine.begin import proposed
from omo.engine.case import CaseItem
from omo.errors import BadInput
from omo.proof.checks import digest_of_check, parse_checks
from omo.workflows.ralph import criteria
from omo.workflows.ralph.flow import FLOW
from tests import texts
from tests.ralph.project import criterion, question

PATH = {"type": "path", "path": "a.txt"}


def defects(*items: Any, **keys: Any) -> list[str]:
    with pytest.raises(BadInput) as refused:
        criteria.parse({"criteria": list(items), **keys})
    found = refused.value.details["defects"]
    assert isinstance(found, list)
    assert refused.value.fix
    return found


def parsed(*items: Any) -> list[CaseItem]:
    return criteria.parse({"criteria": list(items)})


def test_what_the_ledger_keeps_is_the_same_criterion() -> None:
    found = parsed(criterion(1, PATH, "Does README.md name every command?", affected_paths=["./src//**"]), criterion(2))
    for one in found:
        assert CaseItem(**json.loads(json.dumps(one.data))) == one
        assert one.digests == {digest_of_check(check) for check in parse_checks(one.checks)}


def test_a_check_in_plain_words_is_a_question_to_the_judge() -> None:
    (one,) = parsed(criterion(1, PATH, "Does README.md name every command?"))
    assert [check["id"] for check in one.questions] == ["check-2"]
    assert len(one.mechanical) == 1


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"id": "c1"}, "criteria[0].id"),
        ({"id": "C0"}, "criteria[0].id"),
        ({"id": "C1/../x"}, "criteria[0].id"),
        ({"id": None}, "criteria[0].id"),
        ({"id": 1}, "criteria[0].id"),
        ({"description": ""}, "criteria[0].description"),
        ({"description": "x" * 501}, "criteria[0].description"),
        ({"description": "half \ud800"}, "criteria[0].description"),
        ({"description": ["a"]}, "criteria[0].description"),
        ({"checks": []}, "criteria[0].checks"),
        ({"checks": None}, "criteria[0].checks"),
        ({"checks": "pytest"}, "criteria[0].checks"),
        ({"checks": [{"type": "shell", "argv": ["x"]}]}, "criteria[0].checks[0].type"),
        ({"affected_paths": "src"}, "criteria[0].affected_paths"),
        ({"affected_paths": ["../x"]}, "criteria[0].affected_paths[0]"),
        ({"affected_paths": ["src", 3]}, "criteria[0].affected_paths[1]"),
        ({"guard": "yes"}, "criteria[0].guard"),
        ({"verification": "run it"}, "criteria[0].verification"),
    ],
)
def test_a_defect_names_its_field(change: dict[str, Any], place: str) -> None:
    (line,) = defects({**criterion(1), **change}, criterion(2))
    assert line.startswith(f"{place}: ")


@pytest.mark.parametrize("data", [None, [], "criteria", {}, {"criteria": []}, {"criteria": {}}, {"criteria": None}])
def test_a_file_without_criteria_shows_the_form(data: object) -> None:
    with pytest.raises(BadInput, match="criteria") as refused:
        criteria.parse(data)
    assert "id: C1" in refused.value.fix


def test_all_defects_at_once() -> None:
    found = defects(
        {"id": "X", "description": "it looks good", "checks": []},
        "C2",
        criterion(3, {"type": "path"}, colour="red"),
        surprise=1,
    )
    for part in ("surprise", "[0].id", "[0].checks", "looks good", "criteria[1]", "[2].colour", "[2].checks[0].path"):
        assert any(part in line for line in found), part


def test_ids_are_there_once() -> None:
    found = defects(criterion(1), {**criterion(2), "id": "C1"})
    assert texts.says(found[0], "ralph-id-twice")
    assert found[0].startswith("C1: ")
    assert len(parsed(criterion(1, PATH), criterion(2, PATH, question()))) == 2


def test_too_many() -> None:
    assert "at most 50" in defects(*(criterion(number) for number in range(1, 52)))[0]


def test_a_run_of_guards_only_shows_nothing() -> None:
    assert texts.says(defects(criterion(1, guard=True))[0], "ralph-all-guards")
    assert [one.guard for one in parsed(criterion(1, guard=True), criterion(2))] == [True, False]


def test_a_criterion_of_guards_is_one() -> None:
    found = parsed(criterion(1, {**PATH, "guard": True}), criterion(2, {**PATH, "guard": True}, question()))
    assert [one.guard for one in found] == [True, False]


REFUSED = [
    "the page looks good",
    "The UI looks modern on phones",
    "Clean code",
    "the code is readable",
    "high-quality code throughout",
    "the form is user friendly",
    "user-friendly errors",
    "the menu is intuitive",
    "the search is fast enough",
    "good performance",
    "the parser is robust",
    "it follows best practices",
    "the service is production-ready",
    "everything works",
    "login works as expected",
    "the importer works correctly",
    "there are no bugs",
    "the module has no known defects",
    "there are no errors",
    "the parser handles dates, times, etc.",
    "errors are logged as appropriate",
    "the design is modern",
    "the login is secure",
]
ACCEPTED = [
    "the tests pass",
    "ruff check src exits 0",
    "the p95 of 100 requests is fast enough: under 200 ms",
    "the page loads quickly, within 2 s on a cold cache",
    "coverage is at least 80 %",
    "the button is labelled `Looks good`",
    'the log says "everything works" after the self-test',
    "omo status prints the session's id",
    "README.md names every command",
    "no errors are logged during the import of data/sample.csv",
    "the cleanup removes /tmp/omo",
    "fastapi is not imported by src/core",
    "the module `etc` is listed",
    "the simple tokenizer is gone",
    "mypy --strict src reports no errors",
    "the linter finds no issues.",
]


@pytest.mark.parametrize("text", REFUSED)
def test_opinions_are_refused_with_a_way_to_say_it(text: str) -> None:
    (line,) = defects({**criterion(1), "description": text})
    quoted, instead = line.removeprefix("criteria[0].description: ").split(" cannot be checked; ")
    assert quoted.strip("'").lower() in text.lower()
    assert len(instead) > 20


@pytest.mark.parametrize("text", ACCEPTED)
def test_facts_are_accepted(text: str) -> None:
    assert criteria.opinion_in(text) is None


@pytest.mark.parametrize("text", ["the search is fast enough", "the login is secure"])
def test_what_no_number_shows_is_not_asked_for_one(text: str) -> None:
    (line,) = defects({**criterion(1), "description": text})
    assert "p95" not in line
    command = {"type": "command", "argv": ["python3", "-m", "pytest", "-q"]}
    assert parsed(criterion(1, command, description=text))


@pytest.mark.parametrize("checks", [(), (PATH,)])
def test_taste_is_no_question_for_a_judge(checks: tuple[dict[str, Any], ...]) -> None:
    taste = question(text="Is the design good?")
    assert "good" in defects(criterion(1, *checks, taste))[0]


def test_the_field_of_the_source_is_told_by_ours() -> None:
    told = defects({"id": "C1", "description": "the tests pass", "verification": "pytest -q"})
    assert texts.says("\n".join(told), "ralph-no-such-field", place="criteria[0].verification", meant="checks")


def test_a_metric_makes_a_degree_a_fact_and_taste_stays_taste() -> None:
    metric = {"type": "metric", "argv": ["bench"], "extract": "stdout_float", "max": 200}
    degree, taste = "the search is fast enough", "the search looks good"
    assert parsed(criterion(1, metric, description=degree))
    assert "looks good" in defects(criterion(1, metric, description=taste))[0]


def test_what_is_vague_is_decided_by_a_command_and_by_nothing_less() -> None:
    command = {"type": "command", "argv": ["python3", "-m", "pytest", "-q"]}
    vague, list_without_end = "login works as expected", "it handles dates, times, etc."
    assert parsed(criterion(1, command, description=vague))
    assert "as expected" in defects(criterion(1, PATH, description=vague))[0]
    for absolute in ("login has no bugs", "there are no errors", "the parser never crashes", "zero defects"):
        assert parsed(criterion(1, command, description=absolute))
        assert "ralph-not-checkable" in texts.situations(defects(criterion(1, PATH, description=absolute))[0])
    assert "etc" in defects(criterion(1, command, description=list_without_end))[0]


@pytest.mark.parametrize(
    "text",
    [
        "the documentation is clear",
        "Is the README complete?",
        "Are all messages consistent and correct?",
        "it works",
        "the app works.",
        "the importer handles all edge cases",
        "the text is well written",
    ],
)
def test_what_only_a_judge_decides_may_not_be_a_conclusion(text: str) -> None:
    assert texts.says(defects(criterion(1, question(), description=text))[0], "ralph-not-checkable")
    assert "question" in defects(criterion(1, question(text=text)))[0]
    assert parsed(criterion(1, PATH, description=text))


@pytest.mark.parametrize(
    "text",
    [
        "Does the section Use say which command to run first?",
        "Does the README say what to do about a refused row?",
        "Does README.md name every command of the tool?",
        "Is every command of `tool --help` listed in README.md?",
        "Is there an example for each clear error code?",
    ],
)
def test_a_question_with_an_answer_passes(text: str) -> None:
    assert parsed(criterion(1, question(text=text), description=text))


def test_a_checker_that_is_not_installed_is_no_criterion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n\n[tool.mypy]\n\n[tool.ruff]\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "mypy").touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    described = [each.description for each in proposed(FLOW, str(tmp_path), "", None, ".")]
    assert [text.partition(" passes")[0] for text in described] == ["pytest", "mypy ."]
