"""A gate that lacks nothing but facts: every key is there, every name leads somewhere, and nothing is claimed."""

from __future__ import annotations

from typing import Any

from omo.ultragoal.gate.suite import CASES


def template(goal_id: str, title: str, objective: str, *, suite: bool) -> dict[str, Any]:
    contract = f"{goal_id} {title}".strip()
    cases = [_case(contract, "case-1", "")]
    cases += [_case(contract, name, attack) for name, attack in CASES.items() if suite]
    return {
        "architectReview": {
            "architectureStatus": "",
            "productStatus": "",
            "codeStatus": "",
            "recommendation": "",
            "evidence": "",
            "commands": [],
            "blockers": [],
        },
        "executorQa": {
            "status": "",
            "e2eStatus": "",
            "redTeamStatus": "",
            "evidence": "",
            "e2eCommands": [],
            "redTeamCommands": [],
            "artifactRefs": [{"id": "artifact-1", "kind": "", "path": "", "description": ""}],
            "contractCoverage": [_coverage(contract, objective, [case["id"] for case in cases])],
            "surfaceEvidence": [_surface(contract)],
            "adversarialCases": cases,
            "blockers": [],
        },
        "iteration": {"status": "", "evidence": "", "fullRerun": False, "rerunCommands": [], "blockers": []},
    }


def _coverage(contract: str, objective: str, cases: list[str]) -> dict[str, Any]:
    return {
        "id": "contract-1",
        "contractRef": contract,
        "obligation": objective,
        "status": "",
        "surfaceEvidenceRefs": ["surface-1"],
        "adversarialCaseRefs": cases,
    }


def _surface(contract: str) -> dict[str, Any]:
    return {
        "id": "surface-1",
        "contractRef": contract,
        "surface": "",
        "invocation": "",
        "verdict": "",
        "artifactRefs": ["artifact-1"],
    }


def _case(contract: str, name: str, attack: str) -> dict[str, Any]:
    return {
        "id": name,
        "contractRef": contract,
        "scenario": attack,
        "expectedBehavior": "",
        "verdict": "",
        "artifactRefs": [] if attack else ["artifact-1"],
    }
