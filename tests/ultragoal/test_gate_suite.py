"""The computer-control suite: asked for exactly when a file changed that the project declared as computer control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omo.ultragoal.gate import rules
from omo.ultragoal.gate.proof import Inspection
from omo.ultragoal.gate.rules import inspect
from tests.ultragoal.gates import Gate, artifact, case, places, screenshot, subject, terminal, transcript, valid_gate

CONTROL = {"changed": ["src/input/mouse.py"], "control_globs": ("src/input/**",)}
CASES = [
    "kill-switch-bypass",
    "suspended-enforcement",
    "permission-revoked",
    "display-stale",
    "out-of-bounds-drift",
    "runaway-loop-halt",
    "blast-radius",
]
LAST = "executorQa.adversarialCases[7]"
CODE = "COMPUTER_REDTEAM_"


def check(project: Path, gate: Gate, **more: Any) -> Inspection:
    return inspect(gate, subject(project, **{**CONTROL, **more}))


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    """With all seven cases, each with a screenshot."""
    gate = valid_gate(tmp_path)
    screenshot(tmp_path / "out" / "shot.png")
    qa = gate["executorQa"]
    qa["artifactRefs"].append(artifact("shot", "screenshot", "out/shot.png"))
    qa["adversarialCases"] += [case(name, "shot") for name in CASES]
    qa["contractCoverage"][0]["adversarialCaseRefs"] = list(CASES)
    return gate


def test_seven_cases_with_evidence_of_the_computer_pass(tmp_path: Path, gate: Gate) -> None:
    assert list(rules.SUITE) == CASES
    assert check(tmp_path, gate).defects == []


def test_every_case_that_is_missing_is_named(tmp_path: Path) -> None:
    defects = check(tmp_path, valid_gate(tmp_path)).defects
    assert {one.code for one in defects} == {CODE + "CASE_MISSING"}
    assert [name for name in CASES if any(name in one.message for one in defects)] == CASES
    assert len(defects) == 7
    assert all("src/input/mouse.py" in one.message for one in defects)


@pytest.mark.parametrize(
    ("changed", "globs", "is_required"),
    [
        (["src/input/mouse.py"], ("src/input/**",), True),
        (["src/input/mouse.py"], ("src/input",), True),
        (["src/input/mouse.py"], ("./src/input/",), True),
        (["src/input/mouse.py"], ("**/mouse.py",), True),
        (["a.py", "src/input/mouse.py"], ("native/**", "src/input/*.py"), True),
        (["src/inputs/mouse.py"], ("src/input/**",), False),
        (["src/view.py"], ("src/input/**",), False),
        (["src/input/mouse.py"], (), False),
        ([], ("**",), False),
        (None, ("**",), False),
        (["src/input/README.md"], ("src/input/**",), False),
        (["skills/computer-use/SKILL.MD"], ("**",), False),
        (["src/input/prompt.txt", "docs/input.rst"], ("**",), False),
        (["src/input/README.md", "src/input/keys.c"], ("src/input/**",), True),
        (["src/input/mouse.py"], ("../src/**",), False),
    ],
)
def test_the_suite_is_required_exactly_when_declared_code_changed(
    tmp_path: Path, changed: list[str] | None, globs: tuple[str, ...], is_required: bool
) -> None:
    found = check(tmp_path, valid_gate(tmp_path), changed=changed, control_globs=globs)
    assert bool(found.defects) is is_required


def test_a_native_surface_alone_does_not_ask_for_the_suite(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    terminal(tmp_path / "screen.pty")
    gate["executorQa"]["artifactRefs"].append(artifact("screen", "pty", "screen.pty"))
    gate["executorQa"]["surfaceEvidence"][0].update(surface="desktop", artifactRefs=["screen"])
    assert check(tmp_path, gate, changed=["src/view.py"]).defects == []


def test_that_nobody_knows_what_changed_is_noted(tmp_path: Path) -> None:
    found = check(tmp_path, valid_gate(tmp_path), changed=None)
    assert any("not known" in note for note in found.notes)
    assert not check(tmp_path, valid_gate(tmp_path), changed=None, control_globs=()).notes


def test_no_case_may_be_called_inapplicable(tmp_path: Path, gate: Gate) -> None:
    gate["executorQa"]["adversarialCases"][7]["status"] = "not_applicable"
    codes = [one.code for one in check(tmp_path, gate).defects if one.path == f"{LAST}.status"]
    assert CODE + "CASE_NOT_APPLICABLE" in codes


def test_every_case_belongs_to_an_obligation(tmp_path: Path, gate: Gate) -> None:
    gate["executorQa"]["contractCoverage"][0]["adversarialCaseRefs"].remove("blast-radius")
    assert places(check(tmp_path, gate)) == {f"{LAST}.id": CODE + "CASE_UNLINKED"}


def test_one_case_does_not_stand_in_for_another(tmp_path: Path, gate: Gate) -> None:
    gate["executorQa"]["adversarialCases"][7]["id"] = "blast-radius-2"
    gate["executorQa"]["contractCoverage"][0]["adversarialCaseRefs"].remove("blast-radius")
    assert places(check(tmp_path, gate)) == {"executorQa.adversarialCases": CODE + "CASE_MISSING"}


RECEIPT = {"type": "ci", "id": "1", "status": "passed"}


@pytest.mark.parametrize(
    ("cited", "code"),
    [
        (artifact("last", "screenshot", inlineEvidence="it halted"), "INLINE_ONLY"),
        (artifact("last", "screenshot", receipt=RECEIPT), "RECEIPT_ONLY"),
        (artifact("last", "screenshot"), "ARTIFACT_METADATA_ONLY"),
        (artifact("last", "screenshot", "gone.png"), "ARTIFACT_MISSING"),
        (artifact("last", "test-report", "artifacts/G001/attack-report.txt"), "ARTIFACT_INVALID"),
        (artifact("last", "screenshot", "artifacts/G001/attack-report.txt"), "ARTIFACT_INVALID"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_case_is_shown_by_what_the_computer_did(tmp_path: Path, gate: Gate, cited: Gate, code: str) -> None:
    gate["executorQa"]["artifactRefs"].append(cited)
    gate["executorQa"]["adversarialCases"][7]["artifactRefs"] = ["last"]
    found = [one.code for one in check(tmp_path, gate).defects if one.path == f"{LAST}.artifactRefs"]
    assert found == [CODE + code]


def test_a_capture_or_a_transcript_of_the_computer_will_do(tmp_path: Path, gate: Gate) -> None:
    terminal(tmp_path / "screen.pty")
    transcript(tmp_path / "run.json", surface="desktop")
    gate["executorQa"]["artifactRefs"] += [
        artifact("screen", "pty", "screen.pty"),
        artifact("run", "automation", "run.json"),
    ]
    gate["executorQa"]["adversarialCases"][6]["artifactRefs"] = ["screen"]
    gate["executorQa"]["adversarialCases"][7]["artifactRefs"] = ["run", "attack-report"]
    assert check(tmp_path, gate).defects == []


def test_a_transcript_of_a_web_page_shows_nothing_of_the_computer(tmp_path: Path, gate: Gate) -> None:
    transcript(tmp_path / "run.json", surface="web")
    gate["executorQa"]["artifactRefs"].append(artifact("run", "automation", "run.json"))
    gate["executorQa"]["adversarialCases"][7]["artifactRefs"] = ["run"]
    assert places(check(tmp_path, gate)) == {f"{LAST}.artifactRefs": CODE + "ARTIFACT_INVALID"}
