"""What proves what: every cited file is opened, and its kind must fit the surface it is cited for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from omo.evidence import artifacts
from omo.ultragoal.gate import proof
from omo.ultragoal.gate.proof import Inspection
from omo.ultragoal.gate.rules import inspect
from tests.ultragoal.gates import (
    Gate,
    add_surface,
    artifact,
    case,
    places,
    screenshot,
    subject,
    surface,
    terminal,
    transcript,
    valid_gate,
)

RECEIPT = {"type": "ci-run", "id": "run-77", "status": "passed"}
ARTIFACTS, SURFACES = "executorQa.artifactRefs", "executorQa.surfaceEvidence[1]"


def check(project: Path, gate: Gate, **more: Any) -> Inspection:
    return inspect(gate, subject(project, **more))


def with_surface(project: Path, word: str, *cited: Gate) -> Inspection:
    gate = valid_gate(project)
    return check(project, add_surface(gate, surface("more", word, *[one["id"] for one in cited]), *cited))


@pytest.fixture
def shot(tmp_path: Path) -> Gate:
    screenshot(tmp_path / "out" / "shot.png")
    return artifact("shot", "screenshot", "out/shot.png")


@pytest.fixture
def acted(tmp_path: Path) -> Gate:
    transcript(tmp_path / "out" / "run.json", surface=None)
    return artifact("acted", "browser-automation", "out/run.json")


@pytest.fixture
def screen(tmp_path: Path) -> Gate:
    terminal(tmp_path / "out" / "session.pty")
    return artifact("screen", "pty-capture", "out/session.pty")


@pytest.mark.parametrize("word", ["gui", "web"])
def test_a_web_surface_needs_a_transcript_and_a_screenshot(tmp_path: Path, word: str, shot: Gate, acted: Gate) -> None:
    found = with_surface(tmp_path, word, shot, acted)
    assert found.defects == []
    assert found.cited[:3] == ["artifacts/G001/api-report.txt", "out/shot.png", "out/run.json"]
    for half in (shot, acted):
        (defect,) = with_surface(tmp_path, word, half).defects
        assert (defect.path, defect.code) == (f"{SURFACES}.artifactRefs", "KINDS_INSUFFICIENT")
        assert "a browser automation transcript and a screenshot" in defect.message


def test_terminal_kinds_do_not_prove_a_web_surface(tmp_path: Path, screen: Gate) -> None:
    assert places(with_surface(tmp_path, "web", screen)) == {f"{SURFACES}.artifactRefs": "KINDS_INSUFFICIENT"}


def test_a_transcript_of_another_surface_does_not_prove_a_web_surface(tmp_path: Path, shot: Gate) -> None:
    transcript(tmp_path / "out" / "app.json", surface="desktop")
    found = with_surface(tmp_path, "web", shot, artifact("app", "automation", "out/app.json"))
    assert places(found) == {f"{ARTIFACTS}[3].path": "ARTIFACT_INVALID"}


@pytest.mark.parametrize("word", ["native", "desktop", "tui"])
def test_one_of_three_shapes_proves_a_native_surface(
    tmp_path: Path, word: str, shot: Gate, acted: Gate, screen: Gate
) -> None:
    for one in (shot, acted, screen):
        assert with_surface(tmp_path, word, one).defects == []
    report = artifact("more-report", "test-report", "artifacts/G001/api-report.txt")
    assert places(with_surface(tmp_path, word, report)) == {f"{SURFACES}.artifactRefs": "KINDS_INSUFFICIENT"}


def test_a_solid_picture_is_no_screenshot(tmp_path: Path, acted: Gate) -> None:
    screenshot(tmp_path / "out" / "blank.png", blank=True)
    found = with_surface(tmp_path, "web", artifact("shot", "screenshot", "out/blank.png"), acted)
    assert places(found) == {f"{ARTIFACTS}[2].path": "ARTIFACT_INVALID"}
    assert "out/blank.png" not in found.cited


@pytest.mark.parametrize(
    "content", [b"not a picture at all", b"GIF89a" + b"x" * 5000, b"\x89PNG\r\n\x1a\n" + b"x" * 5000]
)
def test_garbage_and_other_formats_are_no_screenshots(tmp_path: Path, acted: Gate, content: bytes) -> None:
    (tmp_path / "out" / "shot.png").write_bytes(content)
    found = with_surface(tmp_path, "web", artifact("shot", "screenshot", "out/shot.png"), acted)
    assert places(found) == {f"{ARTIFACTS}[2].path": "ARTIFACT_INVALID"}


@pytest.mark.parametrize(
    "actions",
    [
        [{"type": "click", "selector": "#a"}],
        [{"type": "click", "selector": " ", "timestamp": 1}],
        [{"type": "click", "selector": "#a", "timestamp": 9}, {"type": "click", "selector": "#b", "timestamp": 1}],
    ],
    ids=["no time", "blank selector", "backwards in time"],
)
def test_a_transcript_that_breaks_its_rules_proves_nothing(tmp_path: Path, shot: Gate, actions: list[Gate]) -> None:
    transcript(
        tmp_path / "out" / "run.json",
        actions=actions,
        assertions=[{"status": "passed", "timestamp": 20, "selector": "#z"}],
    )
    found = with_surface(tmp_path, "web", shot, artifact("acted", "playwright", "out/run.json"))
    assert {one.path for one in found.defects} == {f"{ARTIFACTS}[3].path"}
    assert {one.code for one in found.defects} == {"ARTIFACT_INVALID"}


def test_a_capture_without_control_codes_is_a_text_file(tmp_path: Path) -> None:
    terminal(tmp_path / "out" / "plain.pty", plain=True)
    found = with_surface(tmp_path, "tui", artifact("screen", "terminal-capture", "out/plain.pty"))
    assert places(found) == {f"{ARTIFACTS}[2].path": "ARTIFACT_INVALID"}


@pytest.mark.parametrize("word", ["api", "package", "algorithm", "math"])
def test_a_file_or_a_typed_receipt_proves_what_is_not_live(tmp_path: Path, word: str) -> None:
    (tmp_path / "run.log").write_text("40 calls, none failed\n", encoding="utf-8")
    assert with_surface(tmp_path, word, artifact("log", "test-report", "run.log")).defects == []
    for receipt in ({"receipt": RECEIPT}, {"verifiedReceipt": RECEIPT}):
        assert with_surface(tmp_path, word, {**artifact("ci", "test-report"), **receipt}).defects == []


@pytest.mark.parametrize("word", ["api", "package", "algorithm", "math", "web", "native", "cli"])
def test_inline_text_proves_nothing_anywhere(tmp_path: Path, word: str) -> None:
    found = with_surface(tmp_path, word, artifact("words", "test-report", inlineEvidence="I saw it pass"))
    assert places(found)[f"{SURFACES}.artifactRefs[0]"] == "INLINE_ONLY"


@pytest.mark.parametrize(
    ("word", "kind"), [("web", "screenshot"), ("native", "pty"), ("cli", "cli-replay"), ("gui", "test-report")]
)
def test_a_receipt_proves_nothing_that_is_live(tmp_path: Path, word: str, kind: str) -> None:
    found = with_surface(tmp_path, word, artifact("ci", kind, receipt=RECEIPT))
    assert places(found)[f"{SURFACES}.artifactRefs[0]"] == "RECEIPT_ONLY"


def test_a_row_that_only_describes_evidence_proves_nothing(tmp_path: Path) -> None:
    found = with_surface(tmp_path, "api", artifact("talk", "test-report"))
    assert places(found) == {f"{SURFACES}.artifactRefs[0]": "METADATA_ONLY"}


@pytest.mark.parametrize(
    ("receipt", "codes"),
    [
        ({"id": "1", "status": "passed"}, ["RECEIPT_INCOMPLETE"]),
        ({"type": "ci", "status": "passed"}, ["RECEIPT_INCOMPLETE"]),
        ({"type": " ", "id": " ", "status": "passed"}, ["RECEIPT_INCOMPLETE", "RECEIPT_INCOMPLETE"]),
        ({"type": "ci", "id": "1"}, ["RECEIPT_NOT_PASSED"]),
        ({"type": "ci", "id": "1", "status": "failed"}, ["RECEIPT_NOT_PASSED"]),
        ({"type": "ci", "id": "1", "status": "passed", "verdict": "failed"}, ["RECEIPT_NOT_PASSED"]),
        ({"note": "trust me"}, ["RECEIPT_INCOMPLETE", "RECEIPT_INCOMPLETE", "RECEIPT_NOT_PASSED"]),
    ],
)
def test_a_receipt_says_its_type_its_id_and_that_it_passed(tmp_path: Path, receipt: Gate, codes: list[str]) -> None:
    found = with_surface(tmp_path, "api", artifact("ci", "test-report", receipt=receipt))
    assert [one.code for one in found.defects] == codes
    assert {one.path for one in found.defects} == {f"{ARTIFACTS}[2].receipt"}


@pytest.mark.parametrize(
    "receipt",
    [{"kind": "ci", "ref": "1", "verdict": "Verified"}, {"receiptType": "ci", "receiptId": "1", "status": "passed"}],
)
def test_a_receipt_may_use_the_other_names_of_its_fields(tmp_path: Path, receipt: Gate) -> None:
    assert with_surface(tmp_path, "api", artifact("ci", "test-report", receipt=receipt)).defects == []


def test_a_receipt_does_not_excuse_a_file_that_is_missing(tmp_path: Path) -> None:
    found = with_surface(tmp_path, "api", artifact("ci", "test-report", "gone.log", receipt=RECEIPT))
    assert places(found) == {f"{ARTIFACTS}[2].path": "ARTIFACT_UNUSABLE"}


@pytest.mark.parametrize("more", [{"receipt": RECEIPT}, {"inlineEvidence": "it was refused"}, {}])
def test_an_adversarial_case_needs_a_file(tmp_path: Path, more: Gate) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"].append(artifact("claim", "test-report", **more))
    gate["executorQa"]["adversarialCases"].append(case("second", "claim"))
    (defect,) = check(tmp_path, gate).defects
    assert defect.path == "executorQa.adversarialCases[1].artifactRefs[0]"
    assert defect.code in ("RECEIPT_ONLY", "INLINE_ONLY", "METADATA_ONLY")


def test_an_artifact_linked_by_an_obligation_needs_a_file(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"].append(artifact("claim", "test-report", receipt=RECEIPT))
    gate["executorQa"]["contractCoverage"][0]["artifactRefs"] = ["claim"]
    assert places(check(tmp_path, gate)) == {"executorQa.contractCoverage[0].artifactRefs[0]": "RECEIPT_ONLY"}


def test_structural_evidence_of_a_case_is_looked_into(tmp_path: Path) -> None:
    screenshot(tmp_path / "out" / "blank.png", blank=True)
    transcript(tmp_path / "out" / "run.json", surface="web")
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"] += [
        artifact("shot", "screenshot", "out/blank.png"),
        artifact("acted", "automation", "out/run.json"),
    ]
    gate["executorQa"]["adversarialCases"].append(case("second", "shot", "acted"))
    assert places(check(tmp_path, gate)) == {f"{ARTIFACTS}[2].path": "ARTIFACT_INVALID"}


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_an_empty_file_proves_nothing(tmp_path: Path, content: bytes) -> None:
    gate = valid_gate(tmp_path)
    (tmp_path / "artifacts" / "G001" / "api-report.txt").write_bytes(content)
    assert places(check(tmp_path, gate)) == {f"{ARTIFACTS}[0].path": "ARTIFACT_UNUSABLE"}


@pytest.mark.parametrize(
    "path", ["/etc/hostname", "../outside.txt", "artifacts/link.txt", "artifacts", ".sisyphus/cc-omo/x", "a\0b"]
)
def test_evidence_is_a_file_of_the_project(tmp_path: Path, path: str) -> None:
    project = tmp_path / "project"
    gate = valid_gate(project)
    (tmp_path / "outside.txt").write_text("elsewhere")
    (project / "artifacts" / "link.txt").symlink_to(tmp_path / "outside.txt")
    (project / ".sisyphus" / "cc-omo").mkdir(parents=True)
    (project / ".sisyphus" / "cc-omo" / "x").write_text("state")
    gate["executorQa"]["artifactRefs"][0]["path"] = path
    assert places(check(project, gate)) == {f"{ARTIFACTS}[0].path": "ARTIFACT_UNUSABLE"}


def test_a_file_from_before_the_goal_proves_nothing(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    path = tmp_path / "artifacts" / "G001" / "api-report.txt"
    started = os.stat(path).st_mtime + 3600
    assert places(check(tmp_path, gate, started_at=started)) == {
        f"{ARTIFACTS}[0].path": "ARTIFACT_OLD",
        f"{ARTIFACTS}[1].path": "ARTIFACT_OLD",
    }


def test_what_proved_another_goal_does_not_prove_this_one(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    here = subject(tmp_path, "G000")
    artifacts.register(
        here.state,
        here.root,
        "artifacts/G001/api-report.txt",
        goal=here.goal,
        started_at=here.started_at,
        by="agent",
        now=here.now,
        wait=1.0,
    )
    assert places(check(tmp_path, gate)) == {f"{ARTIFACTS}[0].path": "ARTIFACT_REUSED"}
    assert check(tmp_path, gate, goal="G000").defects == []


def test_an_old_picture_is_told_to_be_old_and_blank_at_once(tmp_path: Path) -> None:
    screenshot(tmp_path / "out" / "blank.png", blank=True)
    later = os.stat(tmp_path / "out" / "blank.png").st_mtime + 3600
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"][0] = artifact("api-report", "screenshot", "out/blank.png")
    codes = {one.code for one in check(tmp_path, gate, started_at=later).defects}
    assert {"ARTIFACT_OLD", "ARTIFACT_INVALID"} <= codes


def test_a_defect_of_an_artifact_is_told_once_however_often_it_is_cited(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"][1]["path"] = "gone.txt"
    gate["executorQa"]["adversarialCases"] += [case(f"case-{at}", "attack-report") for at in range(5)]
    gate["executorQa"]["contractCoverage"][0]["artifactRefs"] = ["attack-report"]
    assert places(check(tmp_path, gate)) == {f"{ARTIFACTS}[1].path": "ARTIFACT_UNUSABLE"}


def test_an_artifact_nobody_cites_is_not_opened(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"].append(artifact("spare", "screenshot", "never-made.png"))
    found = check(tmp_path, gate)
    assert found.defects == []
    assert "never-made.png" not in found.cited


KINDS = [
    ("screenshot", proof.SCREENSHOT),
    ("gui_image", proof.SCREENSHOT),
    ("browser-screenshot", proof.SCREENSHOT),
    ("screenshot-report", proof.SCREENSHOT),
    ("Browser Automation", proof.AUTOMATION),
    ("playwright", proof.AUTOMATION),
    ("tui-automation", proof.AUTOMATION),
    ("pty", proof.CAPTURE),
    ("terminal-capture", proof.CAPTURE),
    ("cli-replay", proof.REPLAY),
    ("command-replay", proof.REPLAY),
    ("failure-mode-test", proof.REPORT),
    ("black-box", proof.REPORT),
    ("black_box", proof.REPORT),
    ("api", proof.REPORT),
    ("imagery", ""),
    ("prototype", ""),
    ("emptytui", ""),
    ("proof!", ""),
    ("vibes", ""),
    ("-", ""),
]


@pytest.mark.parametrize(("kind", "shape"), KINDS)
def test_a_kind_is_read_by_whole_words(kind: str, shape: str) -> None:
    assert proof.shape_of(kind) == shape


def test_an_unknown_kind_is_refused_with_the_words_there_are(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    gate["executorQa"]["artifactRefs"].append(artifact("x", "vibes", "artifacts/G001/api-report.txt"))
    (defect,) = check(tmp_path, gate).defects
    assert (defect.path, defect.code) == (f"{ARTIFACTS}[2].kind", "KIND_UNKNOWN")
    assert all(word in defect.message for word in proof.KNOWN_KINDS)


@pytest.mark.parametrize(
    ("word", "kind", "is_enough"),
    [
        ("api", "consumer-run", True),
        ("package", "black-box", True),
        ("api", "property", False),
        ("math", "property", True),
        ("algorithm", "boundary-cases", True),
        ("algorithm", "sdk", False),
        ("math", "audit", False),
        ("api", "log", True),
    ],
)
def test_a_report_is_about_the_surface_it_is_cited_for(tmp_path: Path, word: str, kind: str, is_enough: bool) -> None:
    (tmp_path / "report.txt").write_text("what was seen", encoding="utf-8")
    found = with_surface(tmp_path, word, artifact("report", kind, "report.txt"))
    assert places(found) == ({} if is_enough else {f"{SURFACES}.artifactRefs": "KINDS_INSUFFICIENT"})


def test_a_changed_evidence_ledger_vouches_for_nothing(tmp_path: Path) -> None:
    gate = valid_gate(tmp_path)
    here = subject(tmp_path)
    ledger = Path(here.state) / "evidence" / "ledger.jsonl"
    ledger.parent.mkdir(parents=True)
    ledger.write_text('{"seq": 1, "kind": "artifact"}\n')
    assert set(places(check(tmp_path, gate))) == {f"{ARTIFACTS}[0].path", f"{ARTIFACTS}[1].path"}
