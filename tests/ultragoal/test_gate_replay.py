"""Command lines: a recorded command is run again for real, or the gate says why it cannot be and what shows it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from omo.state import paths
from omo.state.journal import Journal
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

ROW = "executorQa.artifactRefs[2]"
REASON = "It charges a real card at the payment provider, so it must not be run twice."
EXEMPT = {
    "reasonCode": "unsafe_side_effect",
    "reason": REASON,
    "approvedBy": "qa lead",
    "fallbackArtifactRefs": ["screen"],
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With a command of its own that counts how often it was run."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "tool.py").write_text("print('3 records'); open('runs', 'a').write('x')\n", encoding="utf-8")
    pin(root, [sys.executable, "tool.py"])
    terminal(root / "session.pty")
    return root


def pin(root: Path, argv: list[str]) -> None:
    state = subject(root).state
    row = {"kind": "command-pinned", "name": "tool", "argv": argv}
    Journal(paths.commands_dir(state), state).change(lambda rows: (None, [row]), actor="user", now=1.0, wait=1.0)


def record(**more: object) -> Gate:
    return {
        "schemaVersion": 1,
        "kind": "cli-replay",
        "replaySafe": True,
        "command": [sys.executable, "tool.py"],
        "recordedStdout": "3 records\n",
        **more,
    }


def check(root: Path, *cited: Gate) -> Inspection:
    gate = add_surface(valid_gate(root), surface("cli", "cli", cited[0]["id"]), *cited)
    return inspect(gate, subject(root))


def runs(root: Path) -> int:
    return len((root / "runs").read_text()) if (root / "runs").exists() else 0


@pytest.mark.parametrize("kind", ["cli-replay", "command-replay", "command_replay"])
def test_a_record_in_a_file_is_replayed(project: Path, kind: str) -> None:
    (project / "replay.json").write_text(json.dumps(record()), encoding="utf-8")
    found = check(project, artifact("run", kind, "replay.json"))
    assert found.defects == []
    ran = {"artifact": "run", "command": [sys.executable, "tool.py"], "executable": sys.executable}
    assert found.replays == [{**ran, "problems": []}]
    assert "replay.json" in found.cited
    assert runs(project) == 1


def test_a_record_may_stand_in_the_row(project: Path) -> None:
    assert check(project, artifact("run", "command-replay", replay=record())).defects == []
    assert check(project, {**artifact("run", "cli-replay"), **record()}).defects == []


def test_a_record_in_two_places_is_refused_and_not_run(project: Path) -> None:
    (project / "replay.json").write_text(json.dumps(record()), encoding="utf-8")
    found = check(project, artifact("run", "cli-replay", "replay.json", replay=record()))
    assert places(found) == {ROW: "REPLAY_INVALID"}
    assert runs(project) == 0


def test_every_replay_is_run_once_however_often_it_is_cited(project: Path) -> None:
    gate = add_surface(
        valid_gate(project), surface("cli", "cli", "run", "again"), artifact("run", "cli-replay", replay=record())
    )
    gate["executorQa"]["artifactRefs"].append(artifact("again", "cli-replay", replay=record()))
    gate["executorQa"]["adversarialCases"].append(case("second", "run"))
    assert inspect(gate, subject(project)).defects == []
    assert runs(project) == 1


def test_output_that_differs_is_refused(project: Path) -> None:
    found = check(project, artifact("run", "cli-replay", replay=record(recordedStdout="4 records\n")))
    assert places(found) == {ROW: "REPLAY_FAILED"}
    assert "4 records" in found.defects[0].message
    assert found.replays[0]["problems"]


def test_an_exit_code_that_differs_is_refused(project: Path) -> None:
    found = check(project, artifact("run", "cli-replay", replay=record(expectedExitCode=3)))
    assert places(found) == {ROW: "REPLAY_FAILED"}


def test_a_command_the_user_did_not_pin_is_not_run(project: Path) -> None:
    command = [sys.executable, "-c", "open('runs', 'a').write('x')"]
    found = check(project, artifact("run", "cli-replay", replay=record(command=command)))
    assert places(found) == {ROW: "REPLAY_FAILED"}
    assert "/omo:pin" in found.defects[0].message
    assert runs(project) == 0


def test_pins_that_were_changed_by_hand_allow_nothing(project: Path) -> None:
    ledger = Path(paths.commands_dir(subject(project).state)) / "ledger.jsonl"
    ledger.write_text(ledger.read_text(encoding="utf-8").replace("tool.py", "evil.py"), encoding="utf-8")
    found = check(project, artifact("run", "cli-replay", replay=record(command=[sys.executable, "evil.py"])))
    assert places(found) == {ROW: "REPLAY_FAILED"}
    assert found.replays[0]["problems"]


@pytest.mark.parametrize(
    "broken",
    [{"command": "tool.py"}, {"replaySafe": "yes"}, {"recordedStdout": None}, {"schemaVersion": 2}, {"kind": "log"}],
)
def test_a_record_that_breaks_its_rules_is_not_run(project: Path, broken: Gate) -> None:
    assert places(check(project, artifact("run", "cli-replay", replay=record(**broken)))) == {ROW: "REPLAY_INVALID"}
    assert runs(project) == 0


@pytest.mark.parametrize("text", ["{", "[]", "3 records", '"x"'])
def test_a_file_that_holds_no_record_is_told(project: Path, text: str) -> None:
    (project / "replay.json").write_text(text, encoding="utf-8")
    found = check(project, artifact("run", "cli-replay", "replay.json"))
    assert {one.code for one in found.defects} == {"REPLAY_INVALID"}


def test_a_record_that_is_missing_is_told_once(project: Path) -> None:
    found = check(project, artifact("run", "cli-replay", "gone.json"))
    assert places(found) == {f"{ROW}.path": "ARTIFACT_UNUSABLE"}


@pytest.mark.parametrize("kind", ["cli-log", "test-report", "command-transcript"])
def test_a_log_does_not_prove_a_command_line(project: Path, kind: str) -> None:
    (project / "out.log").write_text("3 records\n", encoding="utf-8")
    (defect,) = check(project, artifact("log", kind, "out.log")).defects
    assert (defect.path, defect.code) == ("executorQa.surfaceEvidence[1].artifactRefs", "KINDS_INSUFFICIENT")
    assert "replayExempt" in defect.message


def test_a_replay_also_proves_an_api_and_an_attack(project: Path) -> None:
    gate = add_surface(
        valid_gate(project), surface("p", "package", "run"), artifact("run", "cli-replay", replay=record())
    )
    gate["executorQa"]["adversarialCases"].append(case("second", "run"))
    assert inspect(gate, subject(project)).defects == []


@pytest.mark.skipif(not shutil.which("git"), reason="git is the built-in command every machine here has")
def test_a_replay_that_says_nothing_of_the_project_is_noted(project: Path) -> None:
    said = {"command": ["git", "--version"], "invariants": [{"type": "substring", "value": "git version"}]}
    found = check(project, artifact("run", "cli-replay", replay=record(**said, recordedStdout="git version 2\n")))
    assert found.defects == []
    (note,) = found.notes
    assert "git --version" in note


def test_the_number_of_replays_is_bounded(project: Path) -> None:
    cited = [artifact(f"r{at}", "cli-replay", replay=record(command=["no-such", str(at)])) for at in range(30)]
    gate = add_surface(valid_gate(project), surface("cli", "cli", *[one["id"] for one in cited]), *cited)
    messages = [one.message for one in inspect(gate, subject(project)).defects]
    assert sum("at most 25" in message for message in messages) == 5


def exempt(**more: object) -> Gate:
    return artifact("run", "cli-replay", replayExempt={**EXEMPT, **more})


@pytest.fixture
def screen() -> Gate:
    return artifact("screen", "pty", "session.pty")


def test_an_exemption_with_a_terminal_capture_stands_and_is_kept(project: Path, screen: Gate) -> None:
    found = check(project, exempt(), screen)
    assert found.defects == []
    assert found.exemptions == [{"artifact": "run", **EXEMPT}]
    assert "session.pty" in found.cited
    assert found.replays == []


def test_an_exemption_may_stand_in_the_record(project: Path, screen: Gate) -> None:
    (project / "replay.json").write_text(json.dumps(record(replayExempt=EXEMPT)), encoding="utf-8")
    found = check(project, artifact("run", "cli-replay", "replay.json"), screen)
    assert found.defects == []
    assert [one["artifact"] for one in found.exemptions] == ["run"]
    assert runs(project) == 0


@pytest.mark.parametrize("surface_word", [None, "cli"])
def test_a_screenshot_or_a_transcript_of_the_command_line_will_do(project: Path, surface_word: str | None) -> None:
    screenshot(project / "shot.png")
    transcript(project / "run.json", surface=surface_word)
    both = [artifact("shot", "screenshot", "shot.png"), artifact("acted", "automation", "run.json")]
    for one in both:
        assert check(project, exempt(fallbackArtifactRefs=[one["id"]]), one).defects == []


def test_a_transcript_of_another_surface_is_no_fallback(project: Path) -> None:
    transcript(project / "run.json", surface="web")
    found = check(project, exempt(fallbackArtifactRefs=["acted"]), artifact("acted", "automation", "run.json"))
    assert places(found) == {"executorQa.artifactRefs[3].path": "ARTIFACT_INVALID"}
    assert found.exemptions == []


@pytest.mark.parametrize(
    "broken",
    [
        {"reasonCode": "too_slow"},
        {"reason": "n/a"},
        {"reason": ""},
        {"approvedBy": " "},
        {"fallbackArtifactRefs": []},
        {"fallbackArtifactRefs": "screen"},
    ],
    ids=str,
)
def test_an_exemption_says_why_who_and_what_instead(project: Path, screen: Gate, broken: Gate) -> None:
    found = check(project, exempt(**broken), screen)
    assert places(found) == {f"{ROW}.replayExempt": "EXEMPT_INVALID"}
    assert next(iter(broken)) in found.defects[0].message


def test_an_empty_exemption_is_one_that_does_not_stand(project: Path) -> None:
    found = check(project, artifact("run", "cli-replay", replayExempt={}))
    assert {one.code for one in found.defects} == {"EXEMPT_INVALID"}


FALLBACK = f"{ROW}.replayExempt.fallbackArtifactRefs"


def test_fallbacks_exist(project: Path, screen: Gate) -> None:
    found = check(project, exempt(fallbackArtifactRefs=["screen", "nobody"]), screen)
    assert places(found) == {f"{FALLBACK}[1]": "UNKNOWN_REF"}


def test_a_record_is_not_its_own_fallback(project: Path, screen: Gate) -> None:
    found = check(project, exempt(fallbackArtifactRefs=["screen", "run"]), screen)
    assert places(found) == {f"{FALLBACK}[1]": "FALLBACK_SELF"}


@pytest.mark.parametrize("path", ["session.pty", "./session.pty", "link.pty"])
def test_a_record_is_not_its_own_fallback_under_another_name(project: Path, path: str) -> None:
    (project / "link.pty").symlink_to("session.pty")
    row = artifact("run", "cli-replay", "session.pty", replayExempt={**EXEMPT, "fallbackArtifactRefs": ["twin"]})
    found = check(project, row, artifact("twin", "pty", path))
    assert places(found) == {f"{FALLBACK}[0]": "FALLBACK_SELF"}


def test_another_exempt_record_is_no_fallback(project: Path) -> None:
    other = artifact("other", "cli-replay", replayExempt={**EXEMPT, "fallbackArtifactRefs": ["run"]})
    found = check(project, exempt(fallbackArtifactRefs=["other"]), other)
    assert places(found) == {f"{FALLBACK}[0]": "FALLBACK_WEAK"}


def test_a_text_file_alone_is_no_fallback(project: Path) -> None:
    (project / "out.log").write_text("3 records\n", encoding="utf-8")
    found = check(project, exempt(fallbackArtifactRefs=["log"]), artifact("log", "cli-log", "out.log"))
    assert places(found) == {FALLBACK: "FALLBACK_WEAK"}


def test_one_valid_fallback_does_not_excuse_another_that_is_not(project: Path, screen: Gate) -> None:
    terminal(project / "plain.pty", plain=True)
    found = check(
        project, exempt(fallbackArtifactRefs=["screen", "plain"]), screen, artifact("plain", "pty", "plain.pty")
    )
    assert places(found) == {"executorQa.artifactRefs[4].path": "ARTIFACT_INVALID"}


def test_an_exemption_counts_for_a_command_line_only(project: Path, screen: Gate) -> None:
    gate = add_surface(valid_gate(project), surface("cli", "cli", "run"), exempt(), screen)
    gate["executorQa"]["adversarialCases"].append(case("second", "run"))
    gate["executorQa"]["surfaceEvidence"].append(surface("api2", "api", "run"))
    assert places(inspect(gate, subject(project))) == {
        "executorQa.adversarialCases[1].artifactRefs[0]": "EXEMPT_NOT_HERE",
        "executorQa.surfaceEvidence[2].artifactRefs[0]": "EXEMPT_NOT_HERE",
    }
