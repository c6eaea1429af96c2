"""Gates that pass, with the files that make them pass; tests take one and spoil it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from omo.workflows.ultragoal.gate.models import GateDefect
from omo.workflows.ultragoal.gate.proof import GateSubject, Inspection

Gate = dict[str, Any]

REPORT = "AI SLOP CLEANUP REPORT\nScope: the files of this goal\nGate Result: PASS\n"
STARTED = 1_000_000_000.0  # long before any file of a test


def valid_gate(project: Path, goal: str = "G001", *, salt: str = "") -> Gate:
    """For an api surface. No two goals share evidence, so its files hold the goal's name; `salt` tells runs apart."""
    folder = project / "artifacts" / goal
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "api-report.txt").write_text(f"{goal} {salt}: 12 calls, 12 as the contract says\n", encoding="utf-8")
    (folder / "attack-report.txt").write_text(f"{goal} {salt}: 7 attacks, 7 refused\n", encoding="utf-8")
    return {
        "architectReview": {
            "architectureStatus": "CLEAR",
            "productStatus": "CLEAR",
            "codeStatus": "CLEAR",
            "recommendation": "APPROVE",
            "evidence": "three lanes reviewed, nothing found",
            "commands": ["agent architect"],
            "blockers": [],
        },
        "executorQa": {
            "status": "passed",
            "e2eStatus": "passed",
            "redTeamStatus": "passed",
            "evidence": "the contract was exercised and attacked",
            "e2eCommands": ["pytest tests/e2e"],
            "redTeamCommands": ["pytest tests/attacks"],
            "artifactRefs": [
                artifact("api-report", "api-test-report", f"artifacts/{goal}/api-report.txt"),
                artifact("attack-report", "failure-mode-test", f"artifacts/{goal}/attack-report.txt"),
            ],
            "contractCoverage": [
                coverage("contract-goal", contractRef=f"{goal} criterion 1", surfaceEvidenceRefs=["surface-api"])
            ],
            "surfaceEvidence": [surface("surface-api", "api", "api-report")],
            "adversarialCases": [case("case-invalid-input", "attack-report")],
            "blockers": [],
        },
        "iteration": {
            "status": "passed",
            "evidence": f"everything was run again\n{REPORT}",
            "fullRerun": True,
            "rerunCommands": ["pytest"],
            "blockers": [],
        },
    }


def artifact(name: str, kind: str, path: str = "", **more: object) -> Gate:
    return {"id": name, "kind": kind, "description": f"what {name} shows", **({"path": path} if path else {}), **more}


def surface(name: str, word: str, *cited: str, **more: object) -> Gate:
    return {
        "id": name,
        "contractRef": f"the {word} of the product",
        "surface": word,
        "invocation": "it was really used",
        "verdict": "passed",
        "artifactRefs": list(cited),
        **more,
    }


def case(name: str, *cited: str, **more: object) -> Gate:
    return {
        "id": name,
        "contractRef": "criterion 2",
        "scenario": f"{name} was tried",
        "expectedBehavior": "it is refused",
        "verdict": "passed",
        "artifactRefs": list(cited),
        **more,
    }


def coverage(name: str, **more: object) -> Gate:
    return {"id": name, "contractRef": "criterion 1", "obligation": "it works", "status": "covered", **more}


def add_surface(gate: Gate, row: Gate, *artifacts: Gate) -> Gate:
    """The gate with one more surface, its evidence, and the obligation it shows."""
    qa = gate["executorQa"]
    qa["artifactRefs"] += artifacts
    qa["surfaceEvidence"].append(row)
    qa["contractCoverage"][0]["surfaceEvidenceRefs"].append(row["id"])
    return gate


def screenshot(path: Path, *, blank: bool = False) -> None:
    from PIL import Image, ImageDraw

    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (640, 360), "white")
    if not blank:
        draw = ImageDraw.Draw(image)
        for row in range(12):
            draw.text((20, 20 + row * 26), f"{path.name} line {row}: {'record ' * 10}", fill="black")
        draw.rectangle((400, 200, 600, 330), fill="navy")
    image.save(path)


def transcript(path: Path, surface: str | None = "web", **more: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "schemaVersion": 1,
        "tool": "playwright",
        "actions": [
            {"type": "goto", "url": "http://localhost/", "timestamp": 1},
            {"type": "click", "selector": f"#{path.stem}", "timestamp": 2},
        ],
        "assertions": [{"selector": "#done", "status": "passed", "timestamp": 3}],
        **({"surface": surface} if surface else {}),
        **more,
    }
    path.write_text(json.dumps(document), encoding="utf-8")


def terminal(path: Path, *, plain: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    start = "" if plain else "\x1b[2J\x1b[H"
    lines = [f"{start}{path.name} row {row}: the list of records as it is shown on screen" for row in range(20)]
    path.write_text("\r\n".join(lines), encoding="utf-8")


def subject(project: Path, goal: str = "G001", **more: Any) -> GateSubject:
    known: dict[str, Any] = {
        "root": project,
        "state": str(project / ".sisyphus" / "cc-omo"),
        "goal": f"ultragoal/r1/{goal}",
        "started_at": STARTED,
        "changed": [],
        "control_globs": (),
    }
    return GateSubject(**{**known, **more})


# What a defect says, in one word for a test; the first that fits.
CODES = {
    "that proves anything": "ARTIFACT_INVALID",
    "is missing": "MISSING",
    "must not be blank": "BLANK",
    "must be an object": "WRONG_TYPE",
    "must be a list": "WRONG_TYPE",
    "must be a text": "WRONG_TYPE",
    "must be true or false": "WRONG_TYPE",
    "must be 'gui', 'web'": "SURFACE_UNKNOWN",
    "must be '": "NOT_CLEAN",
    "must be empty": "BLOCKERS_OPEN",
    "must not be empty": "EMPTY",
    "may have at most 500": "TOO_MANY",
    "run the whole verification again": "NOT_RERUN",
    "is no part of a gate": "UNKNOWN_KEY",
    "does not say Gate Result: PASS": "CLEANER_BLOCKED",
    "two rows have the id": "DUPLICATE_ID",
    "has neither verdict nor result": "NO_OUTCOME",
    "and yet has an outcome": "CONTRADICTION",
    "says of every row that it does not apply": "NOTHING_APPLIES",
    "links to nothing": "UNLINKED",
    "is no id in": "UNKNOWN_REF",
    "that does not apply, which covers nothing": "LINK_NOT_APPLICABLE",
    "do not prove a": "KINDS_INSUFFICIENT",
    "is text in the row": "WORDS_ONLY",
    "is a receipt alone": "RECEIPT_ONLY",
    "is exempt from replay": "EXEMPT_NOT_HERE",
    "is the id of no screenshot": "FALLBACK_WEAK",
    "already proves": "ARTIFACT_REUSED",
    "older than": "ARTIFACT_OLD",
    "has no case": "CASE_MISSING",
    "adversarialCaseRefs of no row": "CASE_UNLINKED",
    "of the computer under control": "NOT_THE_COMPUTER",
}


def code_of(defect: GateDefect) -> str:
    for words, code in CODES.items():
        if words in defect.message:
            return code
    return "OTHER"


def places(found: Inspection) -> dict[str, str]:
    """Each defect as path → code; a test that says this says that there is no other one."""
    assert len({one.path for one in found.defects}) == len(found.defects), found.defects
    return {one.path: code_of(one) for one in found.defects}
