"""What a gate must say, row by row, and that everything wrong with it is told at once by its place."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omo.workflows.ultragoal.gate.proof import Inspection
from omo.workflows.ultragoal.gate.rules import inspect, inspect_qa
from tests.ultragoal.gates import Gate, case, code_of, coverage, places, subject, surface, valid_gate

Place = tuple[str | int, ...]

SECTIONS = ("architectReview", "executorQa", "iteration")
LISTS = ("artifactRefs", "surfaceEvidence", "adversarialCases", "contractCoverage")
JUDGED = ("surfaceEvidence", "adversarialCases")
GONE = object()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing here writes, so one project serves all."""
    root = tmp_path_factory.mktemp("project")
    valid_gate(root)
    return root


def check(root: Path, gate: object) -> Inspection:
    return inspect(gate, subject(root))


def spoilt(root: Path, path: str, value: object) -> Gate:
    """A valid gate with one value changed, or taken out where it is GONE; a list is meant by its first row."""
    gate = valid_gate(root)
    *above, key = path.split(".")
    target: Any = gate
    for name in above:
        target = target[name]
        if isinstance(target, list):
            target = target[0]
    if value is GONE:
        del target[key]
    else:
        target[key] = value
    return gate


def assert_codes(root: Path, path: str, codes: list[tuple[object, str]]) -> None:
    """Each value gives this defect at the place it was put, and no other one than links to what was spoilt."""
    place = path
    for name in LISTS:
        place = place.replace(f"executorQa.{name}.", f"executorQa.{name}[0].")
    for value, code in codes:
        defects = places(check(root, spoilt(root, path, value)))
        where, _, code = code.rpartition(" ")
        assert defects.pop(place + where, None) == code, (path, value, defects)
        assert set(defects.values()) <= {"UNKNOWN_REF", "NO_OUTCOME"}, (path, value, defects)


def test_a_gate_with_real_artifacts_passes_and_says_what_it_rests_on(root: Path) -> None:
    before = sorted(root.rglob("*"))
    inspection = check(root, valid_gate(root))
    assert inspection.defects == []
    assert inspection.cited == ["artifacts/G001/api-report.txt", "artifacts/G001/attack-report.txt"]
    assert (inspection.exemptions, inspection.notes) == ([], [])
    assert sorted(root.rglob("*")) == before, "inspecting writes nothing"


TEXT = [(GONE, "MISSING"), ("  ", "BLANK"), (7, "WRONG_TYPE"), (None, "WRONG_TYPE"), (["seen"], "WRONG_TYPE")]
TEXTS = [
    (GONE, "MISSING"),
    ([], "EMPTY"),
    (["ok", ""], "[1] BLANK"),
    ([1], "[0] WRONG_TYPE"),
    ("pytest", "WRONG_TYPE"),
    (None, "WRONG_TYPE"),
]
REFS = [*TEXTS[:2], ("x", "WRONG_TYPE"), (["nobody"], "[0] UNKNOWN_REF"), ([""], "[0] BLANK")]
ROWS = [(GONE, "MISSING"), ([], "EMPTY"), (None, "WRONG_TYPE"), ({}, "WRONG_TYPE"), ("x", "WRONG_TYPE")]
BLOCKERS = [(GONE, "MISSING"), (["it fails"], "BLOCKERS_OPEN"), ([{}], "BLOCKERS_OPEN"), ([None], "BLOCKERS_OPEN")]
WORDS: list[tuple[object, str]] = [(word, "NOT_CLEAN") for word in ("failed", "todo", "ok", "", True)]
SECTION = [(GONE, "MISSING"), (None, "WRONG_TYPE"), ([], "WRONG_TYPE"), ("CLEAR", "WRONG_TYPE")]
RULES: dict[str, list[tuple[object, str]]] = {
    **dict.fromkeys(SECTIONS, SECTION),
    **{f"{name}.evidence": TEXT for name in SECTIONS},
    **{f"{name}.blockers": BLOCKERS for name in SECTIONS},
    "architectReview.commands": TEXTS,
    "executorQa.e2eCommands": TEXTS,
    "executorQa.redTeamCommands": TEXTS,
    "iteration.rerunCommands": TEXTS,
    "iteration.fullRerun": [(False, "NOT_RERUN"), (1, "WRONG_TYPE"), ("true", "WRONG_TYPE"), (GONE, "MISSING")],
    **{f"executorQa.{name}": ROWS for name in LISTS},
    **{f"executorQa.artifactRefs.{key}": TEXT for key in ("id", "kind", "description")},
    **{f"executorQa.surfaceEvidence.{key}": TEXT for key in ("id", "contractRef", "invocation")},
    "executorQa.surfaceEvidence.surface": [(GONE, "MISSING"), ("  ", "SURFACE_UNKNOWN"), (7, "SURFACE_UNKNOWN")],
    **{f"executorQa.adversarialCases.{key}": TEXT for key in ("id", "contractRef", "scenario", "expectedBehavior")},
    **{f"executorQa.contractCoverage.{key}": TEXT for key in ("id", "contractRef", "obligation")},
    # `passed` beside `failed` is a contradiction, not a pass.
    **{f"executorQa.{name}.{key}": WORDS for name in JUDGED for key in ("status", "verdict", "result")},
    # An adversarial case always applies.
    "executorQa.adversarialCases.status": [*WORDS, ("not_applicable", "NOT_CLEAN"), ("Not_Applicable", "NOT_CLEAN")],
    "executorQa.contractCoverage.status": [(GONE, "MISSING"), *WORDS],
    "executorQa.contractCoverage.verdict": WORDS,
    **{f"executorQa.{name}.artifactRefs": REFS for name in JUDGED},
    "executorQa.contractCoverage.surfaceEvidenceRefs": REFS[1:],
    "executorQa.contractCoverage.adversarialCaseRefs": REFS[1:],
    "executorQa.contractCoverage.artifactRefs": REFS[1:],
}


@pytest.mark.parametrize("path", RULES)
def test_what_a_gate_must_say(root: Path, path: str) -> None:
    if path in (f"executorQa.{name}" for name in LISTS):
        for value, code in RULES[path]:
            assert places(check(root, spoilt(root, path, value)))[path] == code
    else:
        assert_codes(root, path, RULES[path])


CLEAN = {
    "architectReview.architectureStatus": "CLEAR",
    "architectReview.productStatus": "CLEAR",
    "architectReview.codeStatus": "CLEAR",
    "architectReview.recommendation": "APPROVE",
    "executorQa.status": "passed",
    "executorQa.e2eStatus": "passed",
    "executorQa.redTeamStatus": "passed",
    "iteration.status": "passed",
}
UNCLEAN = ("COMMENT", "WATCH", "REQUEST CHANGES", "BLOCK", "failed", "clear", "Passed", "CLEAR ")


@pytest.mark.parametrize(("path", "wanted"), CLEAN.items())
def test_anything_but_the_clean_word_is_named_as_not_clean(root: Path, path: str, wanted: str) -> None:
    assert_codes(root, path, [("", "NOT_CLEAN"), (None, "NOT_CLEAN"), (True, "NOT_CLEAN"), (GONE, "MISSING")])
    for word in UNCLEAN:
        (defect,) = check(root, spoilt(root, path, word)).defects
        assert (defect.path, code_of(defect)) == (path, "NOT_CLEAN")
        assert defect.message == f"must be '{wanted}', not \"{word}\""


@pytest.mark.parametrize("value", [None, [], "passed", 1, True])
def test_a_gate_that_is_no_object_is_refused(root: Path, value: object) -> None:
    assert places(check(root, value)) == {"gate": "WRONG_TYPE"}


def test_further_keys_are_allowed_inside_a_section_only(root: Path) -> None:
    gate = valid_gate(root)
    for name in SECTIONS:
        gate[name]["remarks"] = {"by": "reviewer"}
    gate["executorQa"]["surfaceEvidence"][0]["remarks"] = 1
    assert check(root, gate).defects == []
    (defect,) = check(root, {**gate, "aiSlopCleaner": {}}).defects
    assert (defect.path, code_of(defect)) == ("aiSlopCleaner", "UNKNOWN_KEY")
    assert set(SECTIONS) <= set(re.findall(r"\w+", defect.message))
    older = {**valid_gate(root), "codeReview": {"status": "passed"}}
    assert set(places(check(root, older))) == {"codeReview"}


@pytest.mark.parametrize(
    "words",
    ["Gate Result: BLOCKED", "gate result - blocked", "**Gate Result:** BLOCKED", "Gate Result: PASS|BLOCKED", "Gate:"],
)
def test_a_cleaner_report_that_blocks_is_refused(root: Path, words: str) -> None:
    gate = spoilt(root, "iteration.evidence", f"AI SLOP CLEANUP REPORT\n{words}\n")
    assert places(check(root, gate)) == {"iteration.evidence": "CLEANER_BLOCKED"}


def test_a_missing_cleaner_report_is_noted_and_not_a_defect(root: Path) -> None:
    inspection = check(root, spoilt(root, "iteration.evidence", "all was run again and nothing was blocked"))
    assert inspection.defects == []
    assert "no cleaner " in inspection.notes[0]


def test_everything_wrong_is_told_at_once(root: Path) -> None:
    gate = valid_gate(root)
    qa = gate["executorQa"]
    gate["extra"] = 1
    gate["architectReview"] = {"codeStatus": "BLOCK"}
    qa["status"] = "failed"
    qa["artifactRefs"][0]["path"] = "artifacts/none.txt"
    qa["surfaceEvidence"] += ["not a row", surface("gui", "nothing", "api-report")]
    qa["adversarialCases"][0]["artifactRefs"] = ["nobody"]
    qa["adversarialCases"].append(case("", "api-report"))
    gate["iteration"]["fullRerun"] = False
    assert places(check(root, gate)) == {
        "extra": "UNKNOWN_KEY",
        "architectReview.architectureStatus": "MISSING",
        "architectReview.productStatus": "MISSING",
        "architectReview.codeStatus": "NOT_CLEAN",
        "architectReview.recommendation": "MISSING",
        "architectReview.evidence": "MISSING",
        "architectReview.commands": "MISSING",
        "architectReview.blockers": "MISSING",
        "executorQa.status": "NOT_CLEAN",
        "executorQa.surfaceEvidence[1]": "WRONG_TYPE",
        "executorQa.surfaceEvidence[2].surface": "SURFACE_UNKNOWN",
        "executorQa.adversarialCases[1].id": "BLANK",
        "iteration.fullRerun": "NOT_RERUN",
    }
    valid = valid_gate(root)
    qa["status"] = "passed"
    qa["surfaceEvidence"] = valid["executorQa"]["surfaceEvidence"]
    del qa["adversarialCases"][1]
    assert places(check(root, {**valid, "executorQa": qa, "iteration": gate["iteration"]})) == {
        "executorQa.artifactRefs[0].path": "OTHER",
        "executorQa.adversarialCases[0].artifactRefs[0]": "UNKNOWN_REF",
        "iteration.fullRerun": "NOT_RERUN",
    }


@pytest.mark.parametrize("name", LISTS)
def test_a_row_is_an_object_and_its_id_is_given_once(root: Path, name: str) -> None:
    gate = valid_gate(root)
    rows = gate["executorQa"][name]
    values: tuple[object, ...] = (None, "row", [])
    for value in values:
        gate["executorQa"][name] = [*rows, value]
        assert places(check(root, gate)) == {f"executorQa.{name}[{len(rows)}]": "WRONG_TYPE"}
    gate["executorQa"][name] = [*rows, dict(rows[0])]
    assert places(check(root, gate)) == {f"executorQa.{name}": "DUPLICATE_ID"}


def test_the_same_id_may_be_used_in_two_lists(root: Path) -> None:
    assert check(root, spoilt(root, "executorQa.adversarialCases.id", "surface-api")).defects == []


@pytest.mark.parametrize("name", JUDGED)
def test_a_row_needs_a_verdict_or_a_result_in_words_of_success(root: Path, name: str) -> None:
    gate = spoilt(root, f"executorQa.{name}.verdict", GONE)
    row = gate["executorQa"][name][0]
    for status in ({}, {"status": "passed"}):
        row.update(status)
        assert places(check(root, gate)) == {f"executorQa.{name}[0]": "NO_OUTCOME"}
    for word in ("covered", "passed", "verified", "PASSED", " Verified "):
        row["result"] = word
        assert check(root, gate).defects == []


@pytest.mark.parametrize("name", ["surfaceEvidence", "contractCoverage"])
def test_what_does_not_apply_needs_contract_and_reason_and_has_no_outcome(root: Path, name: str) -> None:
    gate = valid_gate(root)
    row = {"id": "elsewhere", "contractRef": "criterion 9", "status": "not_applicable", "reason": "no such part here"}
    rows = gate["executorQa"][name]
    gate["executorQa"][name] = [*rows, row]
    assert check(root, gate).defects == []
    for key in ("reason", "contractRef"):
        gate["executorQa"][name] = [*rows, {**row, key: " "}]
        assert places(check(root, gate)) == {f"executorQa.{name}[1].{key}": "BLANK"}
        gate["executorQa"][name] = [*rows, {other: row[other] for other in row if other != key}]
        assert places(check(root, gate)) == {f"executorQa.{name}[1].{key}": "MISSING"}
    for key in ("verdict", "result"):  # a surface that failed is not one that does not apply
        gate["executorQa"][name] = [*rows, {**row, key: "failed"}]
        assert places(check(root, gate)) == {f"executorQa.{name}[1]": "CONTRADICTION"}


@pytest.mark.parametrize("name", ["surfaceEvidence", "contractCoverage"])
def test_not_everything_is_out_of_scope(root: Path, name: str) -> None:
    gate = valid_gate(root)
    row = {"id": "x", "contractRef": "c", "status": "not_applicable", "reason": "because"}
    gate["executorQa"]["contractCoverage"] = [coverage("c", artifactRefs=["api-report"])]
    gate["executorQa"][name] = [row, {**row, "id": "y"}]
    assert places(check(root, gate)) == {f"executorQa.{name}": "NOTHING_APPLIES"}


def test_an_obligation_is_met_by_any_of_three_links_to_what_applies(root: Path) -> None:
    gate = valid_gate(root)
    qa = gate["executorQa"]
    links = {"surfaceEvidenceRefs": "surface-api", "adversarialCaseRefs": "case-invalid-input"}
    for key, target in {**links, "artifactRefs": "api-report"}.items():
        qa["contractCoverage"] = [coverage("c", **{key: [target]})]
        assert check(root, gate).defects == []
    qa["contractCoverage"] = [coverage("c")]
    assert places(check(root, gate)) == {"executorQa.contractCoverage[0]": "UNLINKED"}
    qa["surfaceEvidence"].append({"id": "gui", "contractRef": "c", "status": "not_applicable", "reason": "none"})
    qa["contractCoverage"] = [coverage("c", surfaceEvidenceRefs=["gui"])]
    assert places(check(root, gate)) == {"executorQa.contractCoverage[0].surfaceEvidenceRefs[0]": "LINK_NOT_APPLICABLE"}


SURFACES = "gui|web|cli|api|package|algorithm|math|native|desktop|tui"


@pytest.mark.parametrize("word", [SURFACES, "gui|web", "build", "test suite", "client library", "backend", "hook"])
def test_a_surface_is_one_of_a_closed_list(root: Path, word: str) -> None:
    """Words are not guessed at: `build` has `ui` in it, and `backend` would need no proof at all."""
    (defect,) = check(root, spoilt(root, "executorQa.surfaceEvidence.surface", word)).defects
    assert code_of(defect) == "SURFACE_UNKNOWN"
    assert all(name in defect.message for name in SURFACES.split("|"))


def test_the_number_of_rows_and_what_is_shown_of_a_value_are_bounded(root: Path) -> None:
    gate = valid_gate(root)
    gate["executorQa"]["adversarialCases"] = [case(f"case-{number}", "attack-report") for number in range(501)]
    assert places(check(root, gate)) == {"executorQa.adversarialCases": "TOO_MANY"}
    gate = spoilt(root, "architectReview.codeStatus", "x" * 100_000)
    gate["k" * 10_000] = 1
    assert all(len(str(defect)) < 500 for defect in check(root, gate).defects)


def test_a_review_inspects_executor_qa_alone_by_the_same_rules(root: Path) -> None:
    qa = valid_gate(root)["executorQa"]
    assert inspect_qa(qa, subject(root)).defects == []
    assert places(inspect_qa({}, subject(root)))["executorQa.contractCoverage"] == "MISSING"
    assert places(inspect_qa(None, subject(root))) == {"executorQa": "WRONG_TYPE"}
    assert places(inspect_qa({**qa, "blockers": ["open"]}, subject(root))) == {"executorQa.blockers": "BLOCKERS_OPEN"}


# Whatever is in a gate, an inspection answers; and no spoilt gate passes

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def places_in(value: Any, place: Place = ()) -> Iterator[Place]:
    yield place
    pairs: Any = enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict):
        pairs = value.items()
    for key, inner in pairs:
        yield from places_in(inner, (*place, key))


def value_at(gate: Any, place: Place) -> Any:
    for key in place:
        gate = gate[key]
    return gate


def put(gate: Any, place: Place, value: object) -> Any:
    if not place:
        return value
    changed = copy.deepcopy(gate)
    value_at(changed, place[:-1])[place[-1]] = value
    return changed


@given(data=st.data())
@settings(max_examples=40)
def test_an_inspection_of_anything_answers_and_shows_little(root: Path, data: st.DataObject) -> None:
    gate = valid_gate(root)
    for _ in range(data.draw(st.integers(1, 4))):
        gate = put(gate, data.draw(st.sampled_from(list(places_in(gate)))), data.draw(JSON))
    inspection = inspect(gate, subject(root, changed=["a"], control_globs=("a",)))
    assert all(len(str(defect)) < 2000 for defect in inspection.defects)
    json.dumps([inspection.cited, inspection.exemptions, inspection.notes])
