"""What proves what: every cited file is opened, every replay run, and its kind must fit what it is cited for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.work.gates import Gates, fold
from omo.workflows.ultragoal.gate import proof, rules
from omo.workflows.ultragoal.gate.proof import Inspection
from omo.workflows.ultragoal.gate.rules import inspect
from tests.kept import copied
from tests.ultragoal.gates import (
    Gate,
    add_surface,
    artifact,
    case,
    code_of,
    coverage,
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
ROW = f"{ARTIFACTS}[2]"
REPORT = "artifacts/G001/api-report.txt"
SHOT = artifact("shot", "screenshot", "out/shot.png")
ACTED = artifact("acted", "browser-automation", "out/run.json")
SCREEN = artifact("screen", "pty-capture", "out/session.pty")
LOG = artifact("log", "test-report", "run.log")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    copied(tmp_path / "project", make_evidence)
    return tmp_path / "project"


def make_evidence(root: Path) -> None:
    """Of every shape, and a command of the project's own that counts how often it was run."""
    screenshot(root / "out" / "shot.png")
    screenshot(root / "out" / "blank.png", blank=True)
    transcript(root / "out" / "run.json", surface=None)
    transcript(root / "out" / "web.json", surface="web")
    transcript(root / "out" / "desktop.json", surface="desktop")
    terminal(root / "out" / "session.pty")
    terminal(root / "out" / "plain.pty", plain=True)
    (root / "run.log").write_text("40 calls, none failed\n", encoding="utf-8")
    (root / ".sisyphus" / "cc-omo").mkdir(parents=True)
    (root / "tool.py").write_text("print('3 records'); open('runs', 'a').write('x')\n", encoding="utf-8")


def pinned(argv: list[str]) -> Gates:
    """As the user pinned it."""
    row: Any = {"kind": "gate-added", "name": "tool", "argv": argv, "cwd": ".", "by": "user", "timeout": 60.0}
    return fold([row], None)


def check(root: Path, gate: Gate, **more: Any) -> Inspection:
    return inspect(gate, subject(root, gates=pinned([sys.executable, "tool.py"]), **more))


def with_surface(root: Path, word: str, *cited: Gate) -> Inspection:
    """A valid gate with one more surface, which cites these."""
    row = surface("more", word, *[evidence["id"] for evidence in cited])
    return check(root, add_surface(valid_gate(root), row, *cited))


# Which kinds prove which surface


@pytest.mark.parametrize("word", ["gui", "web"])
def test_a_web_surface_needs_a_transcript_and_a_screenshot(root: Path, word: str) -> None:
    inspection = with_surface(root, word, SHOT, ACTED)
    assert inspection.defects == []
    assert inspection.cited[:3] == [REPORT, "out/shot.png", "out/run.json"]
    for half in (SHOT, ACTED, SCREEN):
        (defect,) = with_surface(root, word, half).defects
        assert (defect.path, code_of(defect)) == (f"{SURFACES}.artifactRefs", "KINDS_INSUFFICIENT")
        assert "transcript" in defect.message
        assert "screenshot" in defect.message


@pytest.mark.parametrize("word", ["native", "desktop", "tui"])
def test_one_of_three_shapes_proves_a_native_surface(root: Path, word: str) -> None:
    for evidence in (SHOT, ACTED, SCREEN):
        assert with_surface(root, word, evidence).defects == []
    assert places(with_surface(root, word, LOG)) == {f"{SURFACES}.artifactRefs": "KINDS_INSUFFICIENT"}


@pytest.mark.parametrize("word", ["api", "package", "algorithm", "math"])
def test_a_file_or_a_typed_receipt_proves_what_is_not_live(root: Path, word: str) -> None:
    assert with_surface(root, word, LOG).defects == []
    assert with_surface(root, word, artifact("ci", "test-report", receipt=RECEIPT)).defects == []
    assert with_surface(root, word, artifact("report", "black-box", "run.log")).defects == []
    assert places(with_surface(root, word, SHOT)) == {f"{SURFACES}.artifactRefs": "KINDS_INSUFFICIENT"}


@pytest.mark.parametrize("kind", ["cli-log", "test-report", "command-transcript"])
def test_a_log_does_not_prove_a_command_line(root: Path, kind: str) -> None:
    (defect,) = with_surface(root, "cli", artifact("log", kind, "run.log")).defects
    assert (defect.path, code_of(defect)) == (f"{SURFACES}.artifactRefs", "KINDS_INSUFFICIENT")
    assert "replayExempt" in defect.message


@pytest.mark.parametrize("word", ["api", "package", "algorithm", "math", "web", "native", "cli"])
def test_inline_text_proves_nothing_anywhere(root: Path, word: str) -> None:
    inspection = with_surface(root, word, artifact("words", "test-report", inlineEvidence="I saw it pass"))
    assert places(inspection)[f"{SURFACES}.artifactRefs[0]"] == "WORDS_ONLY"


def test_a_receipt_proves_nothing_that_is_live_and_a_description_nothing_at_all(root: Path) -> None:
    for word, kind in (("web", "screenshot"), ("native", "pty"), ("cli", "cli-replay"), ("gui", "test-report")):
        inspection = with_surface(root, word, artifact("ci", kind, receipt=RECEIPT))
        assert places(inspection)[f"{SURFACES}.artifactRefs[0]"] == "RECEIPT_ONLY"
    inspection = with_surface(root, "api", artifact("talk", "test-report"))
    assert places(inspection) == {f"{SURFACES}.artifactRefs[0]": "WORDS_ONLY"}


@pytest.mark.parametrize("more", [{"receipt": RECEIPT}, {"inlineEvidence": "it was refused"}, {}])
def test_attacks_and_obligations_need_a_file(root: Path, more: Gate) -> None:
    gate = valid_gate(root)
    gate["executorQa"]["artifactRefs"].append(artifact("claim", "test-report", **more))
    gate["executorQa"]["adversarialCases"].append(case("second", "claim"))
    gate["executorQa"]["contractCoverage"].append(coverage("second", artifactRefs=["claim"]))
    inspection = check(root, gate)
    assert set(places(inspection)) == {
        "executorQa.adversarialCases[1].artifactRefs[0]",
        "executorQa.contractCoverage[1].artifactRefs[0]",
    }
    assert set(places(inspection).values()) <= {"RECEIPT_ONLY", "WORDS_ONLY"}


KINDS = {
    proof.SCREENSHOT: ["screenshot", "gui_image", "browser-screenshot", "screenshot-report"],
    proof.AUTOMATION: ["Browser Automation", "playwright", "tui-automation"],
    proof.CAPTURE: ["pty", "terminal-capture"],
    proof.REPLAY: ["cli-replay", "command-replay"],
    proof.REPORT: ["failure-mode-test", "black-box", "api", "imagery", "prototype", "emptytui", "vibes", "-"],
}


@pytest.mark.parametrize("shape", KINDS)
def test_a_kind_is_read_by_whole_words(shape: str) -> None:
    assert {proof.shape_of(kind) for kind in KINDS[shape]} == {shape}


# What is looked into


def test_pictures_captures_and_transcripts_are_what_their_kind_says(root: Path) -> None:
    (root / "out" / "gif.png").write_bytes(b"GIF89a" + b"x" * 5000)
    (root / "out" / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 5000)
    for name in ("blank.png", "gif.png", "torn.png"):
        inspection = with_surface(root, "web", artifact("shot", "screenshot", f"out/{name}"), ACTED)
        assert places(inspection) == {f"{ROW}.path": "ARTIFACT_INVALID"}
        assert f"out/{name}" not in inspection.cited
    inspection = with_surface(root, "web", SHOT, artifact("app", "automation", "out/desktop.json"))
    assert places(inspection) == {f"{ARTIFACTS}[3].path": "ARTIFACT_INVALID"}
    inspection = with_surface(root, "tui", artifact("screen", "terminal-capture", "out/plain.pty"))
    assert places(inspection) == {f"{ROW}.path": "ARTIFACT_INVALID"}


def test_structural_evidence_of_an_attack_is_looked_into_and_told_once(root: Path) -> None:
    gate = valid_gate(root)
    gate["executorQa"]["artifactRefs"] += [
        artifact("shot", "screenshot", "out/blank.png"),
        artifact("acted", "automation", "out/web.json"),
        artifact("spare", "screenshot", "never-made.png"),
    ]
    gate["executorQa"]["adversarialCases"] += [case(f"case-{number}", "shot", "acted") for number in range(3)]
    inspection = check(root, gate)
    assert places(inspection) == {f"{ROW}.path": "ARTIFACT_INVALID"}, "and what nobody cites is not opened"


@pytest.mark.parametrize(
    ("receipt", "place"),
    [
        ({"id": "1", "status": "passed"}, "type"),
        ({"type": "ci", "id": " ", "status": "passed"}, "id"),
        ({"type": "ci", "id": "1"}, "status"),
        ({"type": "ci", "id": "1", "status": "failed"}, "status"),
    ],
)
def test_a_receipt_says_its_type_its_id_and_that_it_passed(root: Path, receipt: Gate, place: str) -> None:
    inspection = with_surface(root, "api", artifact("ci", "test-report", receipt=receipt))
    assert set(places(inspection)) == {f"{ROW}.receipt.{place}"}


def test_a_receipt_excuses_no_file_that_is_missing(root: Path) -> None:
    assert (
        with_surface(root, "api", artifact("ci", "test-report", receipt={**RECEIPT, "status": "verified"})).defects
        == []
    )
    inspection = with_surface(root, "api", artifact("ci", "test-report", "gone.log", receipt=RECEIPT))
    assert places(inspection) == {f"{ROW}.path": "OTHER"}


# Which files can be evidence


@pytest.mark.parametrize(
    "path",
    [
        *("/etc/hostname", "../outside.txt", "artifacts/link.txt", "artifacts", ".sisyphus/cc-omo/x", "a\0b"),
        *("empty.txt", "blank.txt", "gone.txt"),
    ],
)
def test_evidence_is_a_file_of_the_project_with_something_in_it(root: Path, path: str) -> None:
    gate = valid_gate(root)
    (root.parent / "outside.txt").write_text("elsewhere")
    (root / "artifacts" / "link.txt").symlink_to(root.parent / "outside.txt")
    (root / ".sisyphus" / "cc-omo" / "x").write_text("state")
    (root / "empty.txt").touch()
    (root / "blank.txt").write_text(" \n\t\n")
    gate["executorQa"]["artifactRefs"][0]["path"] = path
    assert places(check(root, gate)) == {f"{ARTIFACTS}[0].path": "OTHER"}


def test_a_file_from_before_the_goal_proves_nothing(root: Path) -> None:
    gate = valid_gate(root)
    later = os.stat(root / REPORT).st_mtime + 3600
    old = [defect.path for defect in check(root, gate, started_at=later).defects if code_of(defect) == "ARTIFACT_OLD"]
    assert old == [f"{ARTIFACTS}[0].path", f"{ARTIFACTS}[1].path"]


# Command lines: a recorded command is run again for real


def record(**more: object) -> Gate:
    return {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "replaySafe": True,
        "command": [sys.executable, "tool.py"],
        "recordedStdout": "3 records\n",
        **more,
    }


def replay_row(root: Path, name: str = "run", **more: Any) -> Gate:
    """A row that cites a record in a file."""
    (root / f"{name}.json").write_text(json.dumps(record(**more)), encoding="utf-8")
    return artifact(name, "cli-replay", f"{name}.json")


def replayed(root: Path, **more: Any) -> Inspection:
    return with_surface(root, "cli", replay_row(root, **more))


def runs(root: Path) -> int:
    return len((root / "runs").read_text()) if (root / "runs").exists() else 0


@pytest.mark.parametrize("kind", ["cli-replay", "command-replay", "command_replay"])
def test_a_record_in_a_file_is_replayed(root: Path, kind: str) -> None:
    (root / "replay.json").write_text(json.dumps(record()), encoding="utf-8")
    inspection = with_surface(root, "cli", artifact("run", kind, "replay.json"))
    assert inspection.defects == []
    assert ("replay.json" in inspection.cited, runs(root)) == (True, 1)


def test_a_record_in_the_row_is_words(root: Path) -> None:
    inspection = with_surface(root, "cli", artifact("run", "cli-replay", replay=record()))
    assert (places(inspection), runs(root)) == ({f"{SURFACES}.artifactRefs[0]": "WORDS_ONLY"}, 0)


def test_a_replay_is_run_once_however_often_it_is_cited_and_proves_an_api_and_an_attack_too(root: Path) -> None:
    gate = add_surface(valid_gate(root), surface("p", "package", "run"), replay_row(root))
    gate["executorQa"]["surfaceEvidence"].append(surface("cli", "cli", "run"))
    gate["executorQa"]["adversarialCases"].append(case("second", "run"))
    assert check(root, gate).defects == []
    assert runs(root) == 1


def test_output_or_an_exit_code_that_differs_is_refused(root: Path) -> None:
    inspection = replayed(root, recordedStdout="4 records\n")
    assert places(inspection) == {ROW: "OTHER"}
    assert "4 records" in inspection.defects[0].message
    assert places(replayed(root, expectedExitCode=3)) == {ROW: "OTHER"}


def test_a_file_that_holds_no_record_or_is_missing_is_told(root: Path) -> None:
    for text in ("{", "[]", "3 records", '"x"'):
        (root / "replay.json").write_text(text, encoding="utf-8")
        assert with_surface(root, "cli", artifact("run", "cli-replay", "replay.json")).defects
    inspection = with_surface(root, "cli", artifact("run", "cli-replay", "gone.json"))
    assert places(inspection) == {f"{ROW}.path": "OTHER"}


def test_the_number_of_replays_is_bounded(root: Path) -> None:
    cited = [replay_row(root, f"r{n}", command=["no-such", str(n)]) for n in range(30)]
    messages = [defect.message for defect in with_surface(root, "cli", *cited).defects]
    assert sum("at most 25" in message for message in messages) == 5


def test_what_says_nothing_of_the_project_proves_nothing(root: Path) -> None:
    for command in (["git", "--version"], ["python3", "--version"], ["node", "-e", "console.log('x')"]):
        inspection = replayed(root, command=command, recordedStdout="x\n")
        assert places(inspection) == {ROW: "OTHER"}


# Or the gate says why it cannot be, and what shows it instead

REASON = "It charges a real card at the payment provider, so it must not be run twice."
EXEMPT = {
    "reasonCode": "unsafe_side_effect",
    "reason": REASON,
    "approvedBy": "qa lead",
    "fallbackArtifactRefs": ["screen"],
}
FALLBACK = f"{ROW}.replayExempt.fallbackArtifactRefs"


def exempted(root: Path, *fallbacks: Gate, **more: object) -> Inspection:
    names = [evidence["id"] for evidence in fallbacks]
    row = artifact("run", "cli-replay", replayExempt={**EXEMPT, "fallbackArtifactRefs": names, **more})
    gate = add_surface(valid_gate(root), surface("cli", "cli", "run"), row, *fallbacks)
    return check(root, add_surface(gate, surface("again", "cli", "run")))


def test_an_exemption_with_a_terminal_capture_stands_and_is_kept(root: Path) -> None:
    inspection = exempted(root, SCREEN)
    assert inspection.defects == []
    assert inspection.exemptions == [{"artifact": "run", **EXEMPT}]
    assert "out/session.pty" in inspection.cited


def test_a_fallback_shows_the_command_line_itself(root: Path) -> None:
    transcript(root / "out" / "cli.json", surface="cli")
    for evidence in (SHOT, artifact("acted", "automation", "out/cli.json"), ACTED):
        assert exempted(root, evidence).defects == []
    refused = {
        f"{ARTIFACTS}[3].path": [artifact("web", "automation", "out/web.json")],
        f"{FALLBACK}[0]": [artifact("log", "cli-log", "run.log")],
        f"{ARTIFACTS}[4].path": [SCREEN, artifact("plain", "pty", "out/plain.pty")],
    }
    for path, fallbacks in refused.items():
        inspection = exempted(root, *fallbacks)
        assert (set(places(inspection)), inspection.exemptions) == ({path}, [])


def test_a_fallback_is_there_and_is_not_the_record_or_another_one(root: Path) -> None:
    for weak in ("nobody", "run"):
        inspection = exempted(root, SCREEN, fallbackArtifactRefs=["screen", weak])
        assert places(inspection) == {f"{FALLBACK}[1]": "FALLBACK_WEAK"}
    other = artifact("other", "cli-replay", replayExempt={**EXEMPT, "fallbackArtifactRefs": ["run"]})
    assert places(exempted(root, other)) == {f"{FALLBACK}[0]": "FALLBACK_WEAK"}


def test_an_exemption_counts_for_a_command_line_only(root: Path) -> None:
    row = artifact("run", "cli-replay", replayExempt=EXEMPT)
    gate = add_surface(valid_gate(root), surface("cli", "cli", "run"), row, SCREEN)
    gate["executorQa"]["adversarialCases"].append(case("second", "run"))
    gate["executorQa"]["surfaceEvidence"].append(surface("api2", "api", "run"))
    assert places(check(root, gate)) == {
        "executorQa.adversarialCases[1].artifactRefs[0]": "EXEMPT_NOT_HERE",
        "executorQa.surfaceEvidence[2].artifactRefs[0]": "EXEMPT_NOT_HERE",
    }


# The computer-control suite: asked for exactly when a file changed that the project declared as computer control

CONTROL: Any = {"changed": ["src/input/mouse.py"], "control_globs": ("src/input/**",)}
LAST = "executorQa.adversarialCases[7]"


def suite(root: Path) -> Gate:
    """A gate with all seven cases, each with a screenshot."""
    gate = valid_gate(root)
    gate["executorQa"]["artifactRefs"].append(SHOT)
    gate["executorQa"]["adversarialCases"] += [case(name, "shot") for name in rules.SUITE]
    gate["executorQa"]["contractCoverage"][0]["adversarialCaseRefs"] = list(rules.SUITE)
    return gate


def test_seven_cases_with_evidence_of_the_computer_pass_and_each_that_is_missing_is_named(root: Path) -> None:
    assert check(root, suite(root), **CONTROL).defects == []
    defects = check(root, valid_gate(root), **CONTROL).defects
    assert {code_of(defect) for defect in defects} == {"CASE_MISSING"}
    assert len(defects) == len(rules.SUITE) == 7
    for defect, name in zip(defects, rules.SUITE, strict=True):
        assert name in defect.message
        assert "src/input/mouse.py" in defect.message


@pytest.mark.parametrize(
    ("changed", "globs", "is_required"),
    [
        (["src/input/mouse.py"], ("src/input",), True),
        (["src/input/mouse.py"], ("./src/input/",), True),
        (["src/input/mouse.py"], ("**/mouse.py",), True),
        (["a.py", "src/input/mouse.py"], ("native/**", "src/input/*.py"), True),
        (["src/input/README.md", "src/input/keys.c"], ("src/input/**",), True),
        (["src/inputs/mouse.py"], ("src/input/**",), False),
        (["src/input/mouse.py"], (), False),
        ([], ("**",), False),
        (None, ("**",), False),
        (["src/input/README.md"], ("src/input/**",), False),
        (["skills/computer-use/SKILL.MD", "src/input/prompt.txt", "docs/input.rst"], ("**",), False),
        (["src/input/mouse.py"], ("../src/**",), False),
    ],
)
def test_the_suite_is_required_exactly_when_declared_code_changed(
    root: Path, changed: list[str] | None, globs: tuple[str, ...], is_required: bool
) -> None:
    inspection = check(root, valid_gate(root), changed=changed, control_globs=globs)
    assert bool(inspection.defects) is is_required
    assert any("not known" in note for note in inspection.notes) is (changed is None)


def test_no_case_of_the_suite_may_be_inapplicable_unlinked_or_another_one(root: Path) -> None:
    gate = suite(root)
    gate["executorQa"]["adversarialCases"][7]["status"] = "not_applicable"
    assert places(check(root, gate, **CONTROL)) == {f"{LAST}.status": "NOT_CLEAN"}
    gate = suite(root)
    gate["executorQa"]["contractCoverage"][0]["adversarialCaseRefs"].remove("blast-radius")
    assert places(check(root, gate, **CONTROL)) == {f"{LAST}.id": "CASE_UNLINKED"}
    gate["executorQa"]["adversarialCases"][7]["id"] = "blast-radius-2"
    assert places(check(root, gate, **CONTROL)) == {"executorQa.adversarialCases": "CASE_MISSING"}


UNSHOWN = {
    "in words": artifact("last", "screenshot", inlineEvidence="it halted"),
    "by a receipt": artifact("last", "screenshot", receipt=RECEIPT),
    "by a description": artifact("last", "screenshot"),
    "by a file that is gone": artifact("last", "screenshot", "gone.png"),
    "by a report": artifact("last", "test-report", "artifacts/G001/attack-report.txt"),
    "by no picture": artifact("last", "screenshot", "artifacts/G001/attack-report.txt"),
    "on a web page": artifact("last", "automation", "out/web.json"),
}


@pytest.mark.parametrize("cited", UNSHOWN.values(), ids=UNSHOWN)
def test_each_case_of_the_suite_is_shown_by_what_the_computer_did(root: Path, cited: Gate) -> None:
    gate = suite(root)
    gate["executorQa"]["artifactRefs"].append(cited)
    gate["executorQa"]["adversarialCases"][7]["artifactRefs"] = ["last"]
    defects = [defect for defect in check(root, gate, **CONTROL).defects if defect.path == f"{LAST}.artifactRefs"]
    assert len(defects) == 1
    assert code_of(defects[0]) == "NOT_THE_COMPUTER"


def test_a_capture_or_a_transcript_of_the_computer_will_do(root: Path) -> None:
    gate = suite(root)
    gate["executorQa"]["artifactRefs"] += [SCREEN, artifact("app", "automation", "out/desktop.json")]
    gate["executorQa"]["adversarialCases"][6]["artifactRefs"] = ["screen"]
    gate["executorQa"]["adversarialCases"][7]["artifactRefs"] = ["app", "attack-report"]
    assert check(root, gate, **CONTROL).defects == []
