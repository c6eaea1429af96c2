"""Every answer is judged by code, bound to goal, contract and tree, and refused with what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.workflows.verify import lessons
from omo.workflows.verify.flow import EXAMPLES, FLOW, QUESTIONS
from omo.workflows.verify.forms import DIMENSIONS, REPLIES
from tests import texts
from tests.verify.workshop import Workshop, checklist, item, project, q1, q2

OUTCOMES = {"verification": {"outcomes": ["quoted text stays whole"]}}


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    """A goal without checks, begun, its work done."""
    shop = project(tmp_path / "p")
    shop.add(category="parser", **OUTCOMES)
    shop.begin()
    shop.work()
    return shop


def told(caught: pytest.ExceptionInfo[OmoError]) -> str:
    return "\n".join([caught.value.message, *map(str, caught.value.details.get("defects", [])), caught.value.fix])  # type: ignore[call-overload]


@pytest.mark.parametrize("question", FLOW.answers)
def test_the_form_that_is_shown_is_one_that_is_taken(question: str) -> None:
    shown, _ = json.JSONDecoder().raw_decode(EXAMPLES[question])
    REPLIES[question].model_validate(shown)
    assert set(shown) == set(REPLIES[question].model_fields)


REFUSED_Q1: list[tuple[dict[str, Any], str]] = [
    ({**q1(), "artifact": "nowhere.py"}, "is not there"),
    ({**q1(), "artifact": "empty.txt"}, "is empty"),
    ({**q1(), "artifact": "../outside.txt"}, "outside the project"),
    ({**q1(), "artifact": "README.md"}, "older than the work"),
    ({**q1(), "statement": "The parser seems to be done because `parser.py` is there."}, "hedges"),
    ({**q1(), "statement": "It works."}, "because"),
    ({**q1(), "statement": "The parser is done because it is."}, "nothing after"),
    ({**q1(), "statement": "The parser is done because `parser.py` contains `tokenize_all`."}, "file state"),
    (
        {**q1(), "statement": "The parser is done because src/nope.py was read."},
        "src/nope.py is cited, and is not there",
    ),
    ({**q1(), "statement": "The parser is done because commit deadbeef1 holds it."}, "no commit of that name"),
    ({**q1(), "statement": "The parser is done because `banana`."}, "nothing after"),
    ({**q1(), "artifact": "deadbeef1"}, "no such commit is there"),
]


@pytest.mark.parametrize(("data", "why"), REFUSED_Q1)
def test_q1_needs_an_artifact_and_a_statement_that_hold(shop: Workshop, data: dict[str, Any], why: str) -> None:
    shop.write("empty.txt", "")
    (shop.root.parent / "outside.txt").write_text("x")
    with pytest.raises(Refused) as caught:
        shop.answer("q1", data)
    assert why in told(caught)
    assert caught.value.fix
    assert "answered" not in shop.kinds()


@pytest.mark.parametrize(
    ("question", "data", "defects"),
    [
        ("q1", {}, ["artifact: ", "statement: "]),
        ("q1", {"artefact": "x", "statement": "y"}, ["artefact: no such field; did you mean artifact?"]),
        ("q1", [], ["the file: "]),
        ("q1.5", {"items": [{"question": "x"}]}, ["items[0].dimension", "items[0].result", "items[0].covered"]),
        ("q1.5", {"items": [item("x", "looks")]}, ["items[0].dimension: "]),
        ("q2", {"checked": "yes"}, ["checked: "]),
        ("q3", {"scope": "system"}, ["scope: "]),
    ],
)
def test_an_answer_of_another_shape_is_told_every_defect(
    shop: Workshop, question: str, data: object, defects: list[str]
) -> None:
    with pytest.raises(BadInput) as caught:
        shop.answer(question, data)
    for part in defects:
        assert part in told(caught)


def test_q15_and_q2_come_after_q1(shop: Workshop) -> None:
    for question, data in (("q1.5", checklist()), ("q2", q2())):
        with pytest.raises(Refused, match=f"{question} comes after q1"):
            shop.answer(question, data)


def without(dimension: str) -> dict[str, Any]:
    items = [one for one in checklist()["items"] if one["dimension"] != dimension]
    return {"items": [*items, *(item(f"Is it so, number {n}?", items[0]["dimension"]) for n in range(5 - len(items)))]}


REFUSED_Q15: list[tuple[dict[str, Any], str]] = [
    ({"items": checklist()["items"][:4]}, "items: 4, not 5 to 10"),
    *((without(name), f"none about {name}") for name in DIMENSIONS),
    (checklist(item("Does the parser handle quotes?", "correctness")), "only restates the title"),
    (checklist(item("Is a quoted string returned whole?", "correctness")), "asked twice"),
    ({"items": [{**one, "result": "na"} for one in checklist()["items"]]}, "every result is na"),
    ({"items": [{**one, "evidence": ""} for one in checklist()["items"]]}, "says nothing of what was seen"),
    ({"items": [{**one, "evidence": "it seems to be fine"} for one in checklist()["items"]]}, "hedges"),
]


@pytest.mark.parametrize(("data", "why"), REFUSED_Q15)
def test_a_checklist_looks_from_every_side(shop: Workshop, data: dict[str, Any], why: str) -> None:
    shop.answer("q1", q1())
    with pytest.raises(Refused) as caught:
        shop.answer("q1.5", data)
    assert why in told(caught)


def test_ten_items_are_enough(shop: Workshop) -> None:
    shop.answer("q1", q1())
    with pytest.raises(BadInput):
        shop.answer("q1.5", checklist(*(item(f"Is number {n} right?", "correctness") for n in range(6))))
    assert (
        shop.answer("q1.5", checklist(*(item(f"Is number {n} right?", "correctness") for n in range(5)))).result == "ok"
    )


def test_a_routine_goal_owes_three_items_of_any_kind(tmp_path: Path) -> None:
    shop = project(tmp_path / "p")
    shop.add(routine=True)
    shop.begin()
    shop.work()
    shop.answer("q1", q1())
    three = {"items": [item(f"Is number {n} right?", "presence") for n in range(3)]}
    with pytest.raises(Refused, match="does not look"):
        shop.answer("q1.5", {"items": three["items"][:2]})
    assert shop.answer("q1.5", three).result == "ok"


BROKEN: dict[str, dict[str, Any]] = {
    "q1.5": checklist(item("Are nested quotes whole?", "correctness", "fail", covered=True)),
    "q2": q2(problem="parse('a b') came back as one token"),
}
FINE = {"q1.5": checklist(), "q2": q2()}


@pytest.mark.parametrize("question", BROKEN)
def test_what_was_found_broken_stands_on_that_tree_in_every_attempt(shop: Workshop, question: str) -> None:
    shop.answer("q1", q1())
    shop.answer(question, BROKEN[question])
    assert shop.finish().verdict == "fail"
    shop.begin()
    assert shop.steps()[question] == "failed"
    shop.answer("q1", q1())
    with pytest.raises(Refused, match="failed on exactly this tree"):
        shop.answer(question, FINE[question])
    shop.work(text="def parse(text): return [text] if text else []\n")
    shop.answer("q1", q1())
    assert shop.answer(question, FINE[question]).result == "ok"


@pytest.mark.parametrize("spelling", ["NA", "Na", " na"])
def test_results_are_understood_in_any_case(shop: Workshop, spelling: str) -> None:
    shop.answer("q1", q1())
    items = [{**one, "result": spelling if one["result"] == "na" else "PASS"} for one in checklist()["items"]]
    assert shop.answer("q1.5", {"items": items}).result == "ok"


Q2_CASES: list[tuple[dict[str, Any], str]] = [
    (q2(), "ok"),
    (q2(failure_mode=""), "gap"),
    (q2(failure_mode="something could go wrong"), "gap"),
    (q2(failure_mode="None", checked=False), "gap"),
    (q2(problem="parse('a b') came back as one token"), "failed"),
    (q2(problem="parse('a b') came back as one token", failure_mode=""), "failed"),
    (q2(problem="parse('a b') came back as one token", failure_mode="bugs", checked=False, how=""), "failed"),
    ({"problem": "nothing is split at all"}, "failed"),
    *((q2(problem=said), "ok") for said in (None, "", " ", "none", "None.", "No problem", "no problems found.")),
    (q2(problem="No problem except that escapes crash"), "may say that there is one"),
    (q2(problem="No problem. Escapes crash the parser"), "may say that there is one"),
    (q2(checked=False), "not that it was checked"),
    (q2(how=""), "not that it was checked"),
    (q2(statement="It is probably right because `parser.py` was read."), "hedges"),
    (q2(statement="The old path is gone because `parser.py` does not exist."), "absence"),
]


@pytest.mark.parametrize(("data", "expected"), Q2_CASES)
def test_q2_names_how_it_could_look_done_and_looks(shop: Workshop, data: dict[str, Any], expected: str) -> None:
    shop.answer("q1", q1())
    if expected in ("ok", "gap", "failed"):
        answered = shop.answer("q2", data)
        assert answered.result == expected
        assert bool(answered.gaps) == (expected != "ok")
        return
    with pytest.raises(Refused) as caught:
        shop.answer("q2", data)
    assert expected in told(caught)


def test_a_vague_q2_is_a_soft_gap_that_the_next_goal_is_shown(shop: Workshop) -> None:
    shop.answer("q1", q1())
    shop.answer("q1.5", checklist())
    shop.answer("q2", {"failure_mode": ""})
    done = shop.finish()
    assert (done.verdict, done.data["outcome"]["verdict"]) == ("pass", "waived")
    shop.add(id="G2", category="parser")
    told = "\n".join(lessons.of_category(shop.goals, "parser"))
    assert texts.says(told, "verify-left-a-gap", question="q2")


@pytest.mark.parametrize("scope", ["unit", "integration"])
def test_q3_is_recorded_and_never_gates(shop: Workshop, scope: str) -> None:
    shop.answer("q1", q1())
    shop.answer("q1.5", checklist())
    shop.answer("q2", q2())
    if scope == "unit":
        shop.answer("q3", {"scope": scope})
        assert shop.steps()["q3"] == "done"
        shop.add(id="G2")
        shop.begin("G2")
        shop.answer("q3", {"scope": scope}, "G2")
        assert shop.steps("G2")["q3"] == "done", "the same word of another goal is no copy"
    else:
        assert shop.steps()["q3"].startswith("asked, ")
    done = shop.finish()
    assert done.verdict == "pass"
    said = [texts.situations(note) for note in done.data["notes"]]
    assert said == ([] if scope == "unit" else [{"verify-q3-unanswered"}])


def test_an_edit_stales_every_answer(shop: Workshop) -> None:
    shop.answer_all()
    shop.write("other.py", "x = 1\n")
    assert {shop.steps()[name] for name in QUESTIONS} == {"stale"}
    done = shop.finish()
    assert (done.verdict, done.exit_code, done.data["state"]) == ("unknown", 4, "in-progress")
    assert "q1 stale (the " in done.reason
    (shop.root / "other.py").unlink()
    assert shop.finish().verdict == "pass"


@pytest.mark.parametrize(
    "other",
    [
        {"verification": {"outcomes": ["quoted text stays whole", "escapes work"]}},
        {"title": "Parser handles escapes too", **OUTCOMES},
        {"description": "Parser handles escapes too", **OUTCOMES},
    ],
)
def test_another_contract_stales_every_answer(shop: Workshop, other: dict[str, Any]) -> None:
    shop.answer_all()
    shop.as_user().add(**other)
    shop.tick()
    assert {shop.steps()[name] for name in QUESTIONS} == {"stale"}
    assert "q1 stale (what " in shop.finish().reason


def test_an_ignored_artifact_that_changes_stales_the_answer_that_names_it(shop: Workshop) -> None:
    shop.write(".gitignore", "dist/\n")
    shop.write("dist/report.txt", "3 passed\n")
    shop.answer("q1", q1("dist/report.txt"))
    shop.write("dist/report.txt", "2 passed, 1 failed\n")
    assert shop.steps()["q1"] == "stale"


def test_guardrails_that_cannot_be_read_stop_nothing(shop: Workshop) -> None:
    os.mkdir(Path(shop.state, "verify", "missing-verification-criteria.jsonl"))
    (line,) = lessons.of_category(shop.goals, "parser")
    assert texts.says(line, "verify-guardrails-unread")
    assert lessons.log_missing(shop.caller(), shop.goals.case("G1"), ["x"])


def test_calling_an_outcome_of_the_goal_uncovered_does_not_make_it_so(shop: Workshop) -> None:
    shop.answer("q1", q1())
    judged = shop.answer("q1.5", checklist(item("Is it so that quoted text stays whole?", "correctness", "fail")))
    assert judged.result == "failed"


def test_a_file_proves_one_goal_and_so_do_the_words_about_it(shop: Workshop) -> None:
    shop.answer_all()
    shop.finish()
    shop.add(id="G2")
    shop.begin("G2")
    with pytest.raises(Refused, match="word for word, the answer to q1 of goal G1"):
        shop.answer("q1", q1(), "G2")
    other = {**q1(), "statement": "The other parser is in place because `parser.py` was read again."}
    with pytest.raises(Refused, match="already proves goal G1"):
        shop.answer("q1", other, "G2")
    shop.work("other.py", "def other(): ...\n")
    shop.answer("q1", q1("other.py"), "G2")
    with pytest.raises(Refused, match=r"word for word, the answer to q1\.5 of goal G1"):
        shop.answer("q1.5", checklist(), "G2")
