"""What a goal's gate cites is opened: pictures, captures, transcripts and records, through the checkpoint itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.project import Project, Ran
from tests.ultragoal.gates import Gate, add_surface, artifact, screenshot, surface, terminal, transcript, valid_gate
from tests.ultragoal.project import ONE

FOLDER = "artifacts/G001"
EXEMPT = {
    "reasonCode": "requires_network",
    "reason": "The upload talks to the customer's server, which only they can reach.",
    "approvedBy": "the user, in the chat",
    "fallbackArtifactRefs": ["session"],
}


@pytest.fixture
def planned(project: Project) -> Project:
    project.check("ultragoal", "create-goals", "--brief", ONE)
    project.check("ultragoal", "complete-goals")
    return project


def gate(project: Project) -> Gate:
    """A page, a screen in a terminal, and a command that only the customer can run again."""
    folder = project.root / FOLDER
    screenshot(folder / "page.png")
    transcript(folder / "drive.json")
    terminal(folder / "session.txt")
    record = {"schemaVersion": 1, "kind": "cli-replay", "replaySafe": True, "command": ["./up"], "recordedStdout": ""}
    made = valid_gate(project.root)
    page = artifact("page", "screenshot", f"{FOLDER}/page.png")
    drive = artifact("drive", "browser-automation", f"{FOLDER}/drive.json")
    session = artifact("session", "terminal-capture", f"{FOLDER}/session.txt")
    upload = artifact("upload", "cli-replay", replay=record, replayExempt=EXEMPT)
    add_surface(made, surface("surface-web", "web", "page", "drive"), page, drive)
    add_surface(made, surface("surface-tui", "tui", "session"), session)
    return add_surface(made, surface("surface-cli", "cli", "upload"), upload)


def checkpoint(project: Project, document: Gate) -> Ran:
    return project.omo(
        *("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "complete", "--evidence", "it was seen"),
        *("--quality-gate-json", json.dumps(document), "--json"),
    )


def test_what_shows_something_is_accepted_and_bound_to_the_receipt(planned: Project) -> None:
    done = checkpoint(planned, gate(planned))
    assert done.code == 0, done.out
    (goal,) = planned.check("ultragoal", "status", "--json").json["goals"]
    assert (goal["status"], goal["id"]) == ("complete", "G001")
    screenshot(planned.root / FOLDER / "page.png", blank=True)
    assert planned.check("report", "--json").json["verdict"]["proven"] is False


def blank_page(project: Project, document: Gate) -> None:
    screenshot(project.root / FOLDER / "page.png", blank=True)


def failed_assertion(project: Project, document: Gate) -> None:
    failed = [{"selector": "#done", "status": "failed", "timestamp": 3}]
    transcript(project.root / FOLDER / "drive.json", assertions=failed)


def nobody_approved(project: Project, document: Gate) -> None:
    (row,) = [row for row in document["executorQa"]["artifactRefs"] if row["id"] == "upload"]
    row["replayExempt"] = {**EXEMPT, "approvedBy": ""}


def not_run_again(project: Project, document: Gate) -> None:
    (row,) = [row for row in document["executorQa"]["artifactRefs"] if row["id"] == "upload"]
    del row["replayExempt"]


def the_file_is_gone(project: Project, document: Gate) -> None:
    (project.root / FOLDER / "page.png").unlink()


SPOILED: dict[Callable[[Project, Gate], None], str] = {
    blank_page: "page",
    failed_assertion: "drive",
    nobody_approved: "artifactRefs[5]",
    not_run_again: "upload",
    the_file_is_gone: "page",
}


@pytest.mark.parametrize("spoil", SPOILED, ids=lambda spoil: spoil.__name__)
def test_what_shows_nothing_is_refused_and_named(planned: Project, spoil: Callable[[Project, Gate], None]) -> None:
    document = gate(planned)
    spoil(planned, document)
    ran = checkpoint(planned, document)
    assert ran.code == 3, ran.out
    assert SPOILED[spoil] in " ".join(ran.json["error"]["details"]), ran.json["error"]
    assert planned.check("ultragoal", "status", "--json").json["goals"][0]["status"] == "active"


PAGE = Path(__file__).parents[2] / "docs" / "quality-gate.md"


def test_the_examples_of_the_page_are_accepted(project: Project) -> None:
    record, example = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    project.write("intake", "#!/bin/sh\necho '3 rows, 1 refused'\n").chmod(0o755)
    project.prompt(f"/omo:pin intake -- {' '.join(json.loads(record)['command'])}")
    project.check("ultragoal", "create-goals", "--start", "--brief", ONE)
    project.write("artifacts/replay.json", record)
    project.write("artifacts/attacks.txt", "12 files, 12 refused\n")
    closed = checkpoint(project, json.loads(example))
    assert (closed.code, closed.err) == (0, "")


def test_a_file_is_not_spent_on_a_goal_that_is_not_there(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--start", "--brief", "@goal: Parse\nRead the file.")
    project.write("out.txt", "3 rows, 1 refused\n")
    refused = project.check("evidence", "add", "out.txt", "--goal", "G01", code=2)
    assert refused.says("ultragoal-there-is-no-goal-in-this", name="'G01'")
    project.check("evidence", "add", "out.txt", "--goal", "G001")


def test_a_goal_whose_receipt_lapsed_is_shown_anew(planned: Project) -> None:
    steer = ("ultragoal", "steer", *("--evidence", "what was seen", "--rationale", "why it follows"))
    planned.check(*steer, "--kind", "add_subgoal", "--title", "More", "--objective", "Do more.")
    planned.check("ultragoal", "checkpoint", "--goal-id", "G002", "--status", "blocked", "--evidence", "it waits")
    assert checkpoint(planned, gate(planned)).code == 0
    planned.check(*steer, "--kind", "mark_blocked_superseded", "--goal-id", "G002")
    assert planned.check("ultragoal", "status", "--json").json["next"]["action"] == "verify-again"
    terminal(planned.root / "again.txt")
    planned.check("evidence", "add", "again.txt", "--goal", "G001")
    planned.write("show.py", "print('again')\n")
    planned.check("evidence", "replay", "--", "python3", "show.py")
    filled = planned.check("ultragoal", "gate", "init", "--json").json
    cited = json.loads((planned.root / filled["path"]).read_text())["executorQa"]["artifactRefs"]
    assert {"again.txt", ".sisyphus/evidence/G001/replay-1.json"} <= {row["path"] for row in cited}
