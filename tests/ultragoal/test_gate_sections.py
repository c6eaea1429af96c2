"""The three sections of a gate: what each must say, and that everything wrong is said at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.ultragoal.gate.proof import Inspection
from omo.ultragoal.gate.rules import inspect
from tests.ultragoal.gates import places, subject, valid_gate

SECTIONS = ("architectReview", "executorQa", "iteration")


def check(project: Path, gate: object) -> Inspection:
    return inspect(gate, subject(project))


def test_a_gate_with_real_artifacts_passes_and_says_what_it_rests_on(tmp_path: Path) -> None:
    found = check(tmp_path, valid_gate(tmp_path))
    assert found.defects == []
    assert found.is_clean
    assert found.cited == ["artifacts/G001/api-report.txt", "artifacts/G001/attack-report.txt"]
    assert (found.replays, found.exemptions, found.notes) == ([], [], [])


def test_inspecting_writes_nothing(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    check(tmp_path, gate)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("value", [None, [], "passed", 1, True])
def test_a_gate_that_is_no_object_is_refused(tmp_path: Path, value: object) -> None:
    assert places(check(tmp_path, value)) == {"gate": "WRONG_TYPE"}


def test_an_unknown_key_is_refused_by_name_and_the_rest_is_still_read(tmp_path: Path) -> None:
    gate = {**valid_gate(tmp_path), "aiSlopCleaner": {}}
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == ("aiSlopCleaner", "UNKNOWN_KEY")
    assert "architectReview, executorQa, iteration" in defect.message


def test_the_older_shape_gets_its_own_words(tmp_path: Path) -> None:
    (defect,) = check(tmp_path, {**valid_gate(tmp_path), "codeReview": {"status": "passed"}}).defects
    assert defect.code == "LEGACY_SHAPE"
    assert "architectReview" in defect.message


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_must_be_there(tmp_path: Path, name: str) -> None:
    gate = valid_gate(tmp_path)
    del gate[name]
    assert places(check(tmp_path, gate)) == {name: "MISSING"}


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("value", [None, [], "CLEAR", True])
def test_every_section_is_an_object(tmp_path: Path, name: str, value: object) -> None:
    gate = {**valid_gate(tmp_path), name: value}
    assert places(check(tmp_path, gate)) == {name: "WRONG_TYPE"}


def test_further_keys_inside_a_section_are_allowed(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    for name in SECTIONS:
        gate[name]["remarks"] = {"by": "reviewer"}
    gate["executorQa"]["surfaceEvidence"][0]["remarks"] = 1
    assert check(tmp_path, gate).defects == []


CLEAN = [
    *[("architectReview", name, "CLEAR") for name in ("architectureStatus", "productStatus", "codeStatus")],
    ("architectReview", "recommendation", "APPROVE"),
    *[("executorQa", name, "passed") for name in ("status", "e2eStatus", "redTeamStatus")],
    ("iteration", "status", "passed"),
]


@pytest.mark.parametrize(("section", "key", "wanted"), CLEAN, ids=lambda value: str(value))
@pytest.mark.parametrize(
    "said", ["COMMENT", "WATCH", "REQUEST CHANGES", "BLOCK", "failed", "clear", "Passed", "CLEAR "]
)
def test_anything_but_the_clean_word_is_named_as_not_clean(
    tmp_path: Path, section: str, key: str, wanted: str, said: str
) -> None:
    gate = valid_gate(tmp_path)
    gate[section][key] = said
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == (f"{section}.{key}", "NOT_CLEAN")
    assert f'"{said}"' in defect.message
    assert f"only {wanted} is" in defect.message
    assert "record-review-blockers" in defect.message


@pytest.mark.parametrize(("section", "key", "wanted"), CLEAN, ids=lambda value: str(value))
def test_a_word_that_is_not_there_yet_is_asked_for(tmp_path: Path, section: str, key: str, wanted: str) -> None:
    gate = valid_gate(tmp_path)
    for value, code in (("", "BLANK"), (" ", "BLANK"), (None, "NOT_CLEAN"), (True, "NOT_CLEAN")):
        gate[section][key] = value
        assert places(check(tmp_path, gate)) == {f"{section}.{key}": code}
    del gate[section][key]
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == (f"{section}.{key}", "MISSING")
    assert wanted in defect.message


TEXT_LISTS = [
    ("architectReview", "commands"),
    ("executorQa", "e2eCommands"),
    ("executorQa", "redTeamCommands"),
    ("iteration", "rerunCommands"),
]


@pytest.mark.parametrize(("section", "key"), TEXT_LISTS)
@pytest.mark.parametrize(
    ("value", "place", "code"),
    [
        ([], "", "EMPTY"),
        ([" "], "[0]", "BLANK"),
        (["ok", ""], "[1]", "BLANK"),
        ([1], "[0]", "WRONG_TYPE"),
        ("pytest", "", "WRONG_TYPE"),
        (None, "", "WRONG_TYPE"),
    ],
)
def test_commands_are_a_list_of_written_texts(
    tmp_path: Path, section: str, key: str, value: object, place: str, code: str
) -> None:
    gate = valid_gate(tmp_path)
    gate[section][key] = value
    assert places(check(tmp_path, gate)) == {f"{section}.{key}{place}": code}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize(
    ("value", "code"),
    [("", "BLANK"), ("\n\t ", "BLANK"), (5, "WRONG_TYPE"), (["seen"], "WRONG_TYPE"), (None, "WRONG_TYPE")],
)
def test_evidence_is_written(tmp_path: Path, section: str, value: object, code: str) -> None:
    gate = valid_gate(tmp_path)
    gate[section]["evidence"] = value
    assert places(check(tmp_path, gate)) == {f"{section}.evidence": code}


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("value", [["a test fails"], [{"why": "x"}], [None]])
def test_an_open_blocker_of_any_kind_is_refused_and_shown(tmp_path: Path, section: str, value: list[Any]) -> None:
    gate = valid_gate(tmp_path)
    gate[section]["blockers"] = value
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == (f"{section}.blockers", "BLOCKERS_OPEN")
    assert "omo ultragoal record-review-blockers" in defect.message


@pytest.mark.parametrize("section", SECTIONS)
def test_leaving_blockers_out_does_not_make_them_empty(tmp_path: Path, section: str) -> None:
    gate = valid_gate(tmp_path)
    del gate[section]["blockers"]
    assert places(check(tmp_path, gate)) == {f"{section}.blockers": "MISSING"}


@pytest.mark.parametrize(
    ("value", "code"), [(False, "NOT_RERUN"), (1, "WRONG_TYPE"), ("true", "WRONG_TYPE"), (None, "WRONG_TYPE")]
)
def test_a_full_rerun_is_exactly_true(tmp_path: Path, value: object, code: str) -> None:
    gate = valid_gate(tmp_path)
    gate["iteration"]["fullRerun"] = value
    assert places(check(tmp_path, gate)) == {"iteration.fullRerun": code}


@pytest.mark.parametrize(
    "said",
    [
        "Gate Result: BLOCKED",
        "gate result - blocked",
        "**Gate Result:** BLOCKED",
        "Gate Result: PASS|BLOCKED",
        "| Gate Result | BLOCKED |",
    ],
)
def test_a_cleaner_report_that_blocks_is_refused(tmp_path: Path, said: str) -> None:
    gate = valid_gate(tmp_path)
    gate["iteration"]["evidence"] = f"AI SLOP CLEANUP REPORT\n{said}\n"
    assert places(check(tmp_path, gate)) == {"iteration.evidence": "CLEANER_BLOCKED"}


def test_a_missing_cleaner_report_is_noted_and_not_a_defect(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["iteration"]["evidence"] = "all was run again and nothing was blocked"
    found = check(tmp_path, gate)
    assert found.defects == []
    (note,) = found.notes
    assert "AI SLOP CLEANUP REPORT" in note


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["extra"] = 1
    gate["architectReview"] = {"codeStatus": "BLOCK"}
    gate["executorQa"]["status"] = "failed"
    gate["executorQa"]["artifactRefs"][0]["path"] = "artifacts/none.txt"
    gate["executorQa"]["surfaceEvidence"].append("not a row")
    gate["executorQa"]["adversarialCases"][0]["artifactRefs"] = ["nobody"]
    gate["iteration"]["fullRerun"] = False
    assert places(check(tmp_path, gate)) == {
        "extra": "UNKNOWN_KEY",
        "architectReview.architectureStatus": "MISSING",
        "architectReview.productStatus": "MISSING",
        "architectReview.codeStatus": "NOT_CLEAN",
        "architectReview.recommendation": "MISSING",
        "architectReview.evidence": "MISSING",
        "architectReview.commands": "MISSING",
        "architectReview.blockers": "MISSING",
        "executorQa.status": "NOT_CLEAN",
        "executorQa.artifactRefs[0].path": "ARTIFACT_UNUSABLE",
        "executorQa.surfaceEvidence[1]": "WRONG_TYPE",
        "executorQa.adversarialCases[0].artifactRefs[0]": "UNKNOWN_REF",
        "iteration.fullRerun": "NOT_RERUN",
    }


def test_a_defect_reads_as_its_place_and_its_message(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["iteration"]["fullRerun"] = False
    (defect,) = check(tmp_path, gate).defects
    assert str(defect).startswith("iteration.fullRerun: is false")


def test_what_is_shown_of_a_value_is_bounded(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["architectReview"]["codeStatus"] = "x" * 100_000
    gate["k" * 10_000] = 1
    assert all(len(str(defect)) < 500 for defect in check(tmp_path, gate).defects)
