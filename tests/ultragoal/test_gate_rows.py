"""The matrix of executorQa: what each row must say, and how rows name each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.ultragoal.gate.proof import Inspection
from omo.ultragoal.gate.rules import inspect, inspect_qa
from tests.ultragoal.gates import artifact, case, coverage, places, subject, surface, valid_gate

LISTS = ("artifactRefs", "surfaceEvidence", "adversarialCases", "contractCoverage")
JUDGED = ("surfaceEvidence", "adversarialCases")


def check(project: Path, gate: dict[str, Any]) -> Inspection:
    return inspect(gate, subject(project))


def spoil(project: Path, name: str, **changes: object) -> Inspection:
    """A valid gate with the first row of a list changed; a key is dropped where its value is `...`."""
    gate = valid_gate(project)
    row = gate["executorQa"][name][0]
    row.update(changes)
    for key in [key for key, value in row.items() if value is ...]:
        del row[key]
    return check(project, gate)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize(
    ("value", "code"), [([], "EMPTY"), (None, "WRONG_TYPE"), ({}, "WRONG_TYPE"), ("x", "WRONG_TYPE")]
)
def test_every_list_of_the_matrix_has_rows(tmp_path: Path, name: str, value: object, code: str) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"][name] = value
    assert places(check(tmp_path, gate))[f"executorQa.{name}"] == code


@pytest.mark.parametrize("name", LISTS)
def test_no_list_of_the_matrix_may_be_left_out(tmp_path: Path, name: str) -> None:
    gate = valid_gate(tmp_path)
    del gate["executorQa"][name]
    assert places(check(tmp_path, gate))[f"executorQa.{name}"] == "MISSING"


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("value", [None, "row", 1, []])
def test_a_row_is_an_object(tmp_path: Path, name: str, value: object) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"][name].append(value)
    assert places(check(tmp_path, gate)) == {
        f"executorQa.{name}[1]" if name != LISTS[0] else f"executorQa.{name}[2]": "WRONG_TYPE"
    }


REQUIRED = {
    "artifactRefs": ("id", "kind", "description"),
    "surfaceEvidence": ("id", "contractRef", "surface", "invocation"),
    "adversarialCases": ("id", "contractRef", "scenario", "expectedBehavior"),
    "contractCoverage": ("id", "contractRef", "obligation"),
}


@pytest.mark.parametrize(("name", "key"), [(name, key) for name, keys in REQUIRED.items() for key in keys])
@pytest.mark.parametrize(
    ("value", "code"), [(..., "MISSING"), ("  ", "BLANK"), (7, "WRONG_TYPE"), (None, "WRONG_TYPE")]
)
def test_what_a_row_must_say(tmp_path: Path, name: str, key: str, value: object, code: str) -> None:
    found = places(spoil(tmp_path, name, **{key: value}))
    assert found.pop(f"executorQa.{name}[0].{key}") == code
    assert set(found.values()) <= {"UNKNOWN_REF"}  # of rows that name the one whose id was spoilt


@pytest.mark.parametrize("name", LISTS)
def test_an_id_is_given_once_in_its_list(tmp_path: Path, name: str) -> None:
    gate = valid_gate(tmp_path)
    rows = gate["executorQa"][name]
    rows.append(dict(rows[0]))
    at = len(rows) - 1
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == (f"executorQa.{name}[{at}].id", "DUPLICATE_ID")
    assert f"executorQa.{name}[0]" in defect.message


def test_the_same_id_may_be_used_in_two_lists(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["adversarialCases"][0]["id"] = "surface-api"
    assert check(tmp_path, gate).defects == []


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("word", ["covered", "passed", "verified", "PASSED", " Verified "])
def test_success_words_in_any_case(tmp_path: Path, name: str, word: str) -> None:
    assert spoil(tmp_path, name, verdict=word).defects == []
    assert spoil(tmp_path, name, verdict=..., result=word).defects == []
    assert spoil(tmp_path, name, status=word).defects == []


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("key", ["status", "verdict", "result"])
@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("failed", "NOT_SUCCESS"),
        ("todo", "NOT_SUCCESS"),
        ("ok", "NOT_SUCCESS"),
        ("", "BLANK"),
        (True, "WRONG_TYPE"),
        (None, "WRONG_TYPE"),
    ],
)
def test_one_word_that_is_no_success_spoils_the_row(
    tmp_path: Path, name: str, key: str, word: object, code: str
) -> None:
    """`passed` beside `failed` is a contradiction, not a pass."""
    found = spoil(tmp_path, name, **{"verdict": "passed", key: word})
    assert places(found) == {f"executorQa.{name}[0].{key}": code}


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize("status", [..., "passed"])
def test_a_row_needs_a_verdict_or_a_result(tmp_path: Path, name: str, status: object) -> None:
    assert places(spoil(tmp_path, name, verdict=..., status=status)) == {f"executorQa.{name}[0]": "NO_OUTCOME"}


@pytest.mark.parametrize("said", ["not_applicable", "Not_Applicable"])
def test_an_adversarial_case_always_applies(tmp_path: Path, said: str) -> None:
    (defect,) = spoil(tmp_path, "adversarialCases", status=said, reason="out of scope").defects
    assert (defect.path, defect.code) == ("executorQa.adversarialCases[0].status", "NOT_SUCCESS")
    assert "surfaceEvidence and contractCoverage" in defect.message


@pytest.mark.parametrize("name", ["surfaceEvidence", "contractCoverage"])
def test_what_does_not_apply_needs_contract_and_reason_only(tmp_path: Path, name: str) -> None:
    gate = valid_gate(tmp_path)
    row = {"id": "elsewhere", "contractRef": "criterion 9", "status": "not_applicable", "reason": "no such part here"}
    gate["executorQa"][name].append(row)
    assert check(tmp_path, gate).defects == []
    for key in ("reason", "contractRef"):
        bare = {**row, key: " "}
        gate["executorQa"][name][-1] = bare
        assert places(check(tmp_path, gate)) == {f"executorQa.{name}[1].{key}": "BLANK"}
        del bare[key]
        assert places(check(tmp_path, gate)) == {f"executorQa.{name}[1].{key}": "MISSING"}


@pytest.mark.parametrize("key", ["verdict", "result"])
def test_what_does_not_apply_has_no_outcome(tmp_path: Path, key: str) -> None:
    """A surface that failed is not one that does not apply."""
    gate = valid_gate(tmp_path)
    row = {"id": "x", "contractRef": "c", "status": "not_applicable", "reason": "it broke", key: "failed"}
    gate["executorQa"]["surfaceEvidence"].append(row)
    assert places(check(tmp_path, gate)) == {f"executorQa.surfaceEvidence[1].{key}": "CONTRADICTION"}


@pytest.mark.parametrize("name", ["surfaceEvidence", "contractCoverage"])
def test_not_everything_is_out_of_scope(tmp_path: Path, name: str) -> None:
    gate = valid_gate(tmp_path)
    row = {"id": "x", "contractRef": "c", "status": "not_applicable", "reason": "because"}
    gate["executorQa"][name] = [row, {**row, "id": "y"}]
    gate["executorQa"]["contractCoverage"][0].pop("surfaceEvidenceRefs", None)
    if name == "surfaceEvidence":
        gate["executorQa"]["contractCoverage"][0]["artifactRefs"] = ["api-report"]
    assert places(check(tmp_path, gate)) == {f"executorQa.{name}": "NOTHING_APPLIES"}


@pytest.mark.parametrize("name", JUDGED)
@pytest.mark.parametrize(
    ("value", "place", "code"),
    [
        ([], "", "EMPTY"),
        (..., "", "MISSING"),
        ("api-report", "", "WRONG_TYPE"),
        (["nobody"], "[0]", "UNKNOWN_REF"),
        (["attack-report", "nobody"], "[1]", "UNKNOWN_REF"),
        ([""], "[0]", "BLANK"),
    ],
)
def test_artifacts_are_named_by_ids_that_exist(tmp_path: Path, name: str, value: object, place: str, code: str) -> None:
    assert places(spoil(tmp_path, name, artifactRefs=value)) == {f"executorQa.{name}[0].artifactRefs{place}": code}


def test_a_name_that_is_nearly_right_is_suggested(tmp_path: Path) -> None:
    (defect,) = spoil(tmp_path, "adversarialCases", artifactRefs=["atack-report"]).defects
    assert 'did you mean "attack-report"?' in defect.message


def test_a_link_to_a_broken_row_is_not_called_unknown(tmp_path: Path) -> None:
    assert places(spoil(tmp_path, "artifactRefs", description="")) == {
        "executorQa.artifactRefs[0].description": "BLANK"
    }


@pytest.mark.parametrize(
    ("key", "target"),
    [
        ("surfaceEvidenceRefs", "surface-api"),
        ("adversarialCaseRefs", "case-invalid-input"),
        ("artifactRefs", "api-report"),
    ],
)
def test_any_one_of_three_links_is_enough_for_an_obligation(tmp_path: Path, key: str, target: str) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["contractCoverage"] = [coverage("c", **{key: [target]})]
    assert check(tmp_path, gate).defects == []
    for value, place, code in (([], "", "EMPTY"), (["nobody"], "[0]", "UNKNOWN_REF"), (None, "", "WRONG_TYPE")):
        gate["executorQa"]["contractCoverage"] = [coverage("c", **{key: value})]
        assert places(check(tmp_path, gate)) == {f"executorQa.contractCoverage[0].{key}{place}": code}


def test_an_obligation_without_any_link_is_refused(tmp_path: Path) -> None:
    assert places(spoil(tmp_path, "contractCoverage", surfaceEvidenceRefs=...)) == {
        "executorQa.contractCoverage[0]": "UNLINKED"
    }


@pytest.mark.parametrize(
    ("value", "code"), [(..., "MISSING"), ("failed", "NOT_SUCCESS"), ("todo", "NOT_SUCCESS"), ("", "BLANK")]
)
def test_an_obligation_says_that_it_is_met(tmp_path: Path, value: object, code: str) -> None:
    found = spoil(tmp_path, "contractCoverage", status=value)
    assert places(found) == {"executorQa.contractCoverage[0].status": code}


def test_an_obligation_with_a_failed_verdict_is_not_met(tmp_path: Path) -> None:
    found = spoil(tmp_path, "contractCoverage", verdict="failed")
    assert places(found) == {"executorQa.contractCoverage[0].verdict": "NOT_SUCCESS"}


def test_description_in_place_of_obligation_gets_a_hint(tmp_path: Path) -> None:
    (defect,) = spoil(tmp_path, "contractCoverage", obligation=..., description="it works").defects
    assert (defect.path, defect.code) == ("executorQa.contractCoverage[0].obligation", "MISSING")
    assert "`description`" in defect.message


def test_an_obligation_is_not_met_by_what_does_not_apply(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    qa = gate["executorQa"]
    qa["surfaceEvidence"].append({"id": "gui", "contractRef": "c", "status": "not_applicable", "reason": "none"})
    qa["contractCoverage"][0]["surfaceEvidenceRefs"] = ["gui"]
    assert places(check(tmp_path, gate)) == {
        "executorQa.contractCoverage[0].surfaceEvidenceRefs[0]": "LINK_NOT_APPLICABLE"
    }


def test_an_obligation_is_not_met_by_a_row_that_failed(tmp_path: Path) -> None:
    found = spoil(tmp_path, "surfaceEvidence", verdict="failed")
    assert places(found) == {"executorQa.surfaceEvidence[0].verdict": "NOT_SUCCESS"}


def test_linked_rows_may_be_about_another_part_of_the_contract(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    references = {row["contractRef"] for name in LISTS[1:] for row in gate["executorQa"][name]}
    assert len(references) == 3
    assert check(tmp_path, gate).defects == []


SURFACES = "gui|web|cli|api|package|algorithm|math|native|desktop|tui"


@pytest.mark.parametrize(
    "word", [SURFACES, "gui|web", "build", "test suite", "terminal ui", "client library", "backend", "graphql", "hook"]
)
def test_a_surface_is_one_of_a_closed_list(tmp_path: Path, word: str) -> None:
    """Words are not guessed at: `build` has `ui` in it, and `backend` would need no proof at all."""
    (defect,) = spoil(tmp_path, "surfaceEvidence", surface=word).defects
    assert (defect.path, defect.code) == ("executorQa.surfaceEvidence[0].surface", "SURFACE_UNKNOWN")
    assert "choose one of" in defect.message
    assert all(name in defect.message for name in SURFACES.split("|"))


def test_every_broken_row_is_told_and_the_others_are_still_followed(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    qa = gate["executorQa"]
    qa["artifactRefs"].append(artifact("shot", "screenshot", "missing.png"))
    qa["surfaceEvidence"] += [surface("gui", "nothing", "shot"), surface("native", "native", "shot")]
    qa["adversarialCases"].append(case("", "shot"))
    assert places(check(tmp_path, gate)) == {
        "executorQa.surfaceEvidence[1].surface": "SURFACE_UNKNOWN",
        "executorQa.adversarialCases[1].id": "BLANK",
        "executorQa.artifactRefs[2].path": "ARTIFACT_UNUSABLE",
    }


def test_the_number_of_rows_is_bounded(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["adversarialCases"] = [case(f"case-{at}", "attack-report") for at in range(501)]
    assert places(check(tmp_path, gate)) == {"executorQa.adversarialCases": "TOO_MANY"}


def test_a_review_inspects_executor_qa_alone_by_the_same_rules(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    assert inspect_qa(gate["executorQa"], subject(tmp_path)).defects == []
    assert places(inspect_qa({}, subject(tmp_path)))["executorQa.contractCoverage"] == "MISSING"
    assert places(inspect_qa(None, subject(tmp_path))) == {"executorQa": "WRONG_TYPE"}
    gate["executorQa"]["blockers"] = ["open"]
    assert places(inspect_qa(gate["executorQa"], subject(tmp_path))) == {"executorQa.blockers": "BLOCKERS_OPEN"}
