"""Whether a good gate completes a goal, however the goal and its plan stand."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omo.state import paths
from tests.project import Project, Ran
from tests.ultragoal.gates import valid_gate

BRIEF = "@goal: Parse\nRead the files.\n@goal: Export\nWrite the report.\n@goal: Send\nSend it."
WHY = ("--evidence", "what was seen", "--rationale", "why it follows")


def omo(shell: Project, *argv: str) -> None:
    ran = shell.agent(*argv)
    assert ran.code == 0, ran.err


def set_back(shell: Project, status: str) -> None:
    omo(shell, "ultragoal", "checkpoint", "--goal-id", "G001", "--status", status, "--evidence", "it is so")


def complete(shell: Project) -> Ran:
    gate = json.dumps(valid_gate(shell.root))
    return finish(shell, gate)


def finish(shell: Project, gate: str) -> Ran:
    return shell.agent(
        *("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "complete", "--evidence", "done"),
        *("--quality-gate-json", gate),
    )


def supersede(shell: Project) -> None:
    set_back(shell, "blocked")
    omo(shell, "ultragoal", "steer", "--kind", "mark_blocked_superseded", "--goal-id", "G001", *WHY)


def review(shell: Project) -> None:
    omo(
        shell,
        *("ultragoal", "record-review-blockers", "--goal-id", "G001"),
        *("--objective", "The parser must refuse bad rows.", "--evidence", "the review found bad rows"),
    )


def pause(shell: Project) -> None:
    omo(shell, "ultragoal", "classify-blocker", "--classification", "human_blocked", "--evidence", "the key is theirs")
    omo(shell, "goal", "pause")


def start_another(shell: Project) -> None:
    set_back(shell, "failed")
    omo(shell, "ultragoal", "complete-goals")


def damage_evidence(shell: Project) -> None:
    ledger = Path(paths.evidence_dir(shell.state), "ledger.jsonl")
    ledger.write_bytes(ledger.read_bytes() + b"rubbish\n")


def after_completing(harm: Callable[[Project], object]) -> Callable[[Project], None]:
    def both(shell: Project) -> None:
        assert complete(shell).code == 0
        harm(shell)

    return both


# How the goal stands, and what a good gate is answered with there: nothing, where it completes the goal.
STATES: dict[str, tuple[Callable[[Project], object], tuple[str, ...]]] = {
    "active": (lambda shell: None, ()),
    "failed": (lambda shell: set_back(shell, "failed"), ()),
    "failed, another active": (start_another, ()),
    "blocked": (lambda shell: set_back(shell, "blocked"), ("G001 is blocked", "--retry-blocked")),
    "review_blocked": (review, ("G001 is review_blocked",)),
    "complete": (complete, ()),
    "superseded": (supersede, ("G001 is superseded",)),
    "goal dropped": (lambda shell: omo(shell, "goal", "drop"), ("the session has no goal", "omo goal create")),
    "goal paused": (pause, ("the session's goal is paused", "omo goal resume")),
    "evidence damaged": (damage_evidence, ()),
    "evidence damaged after it was complete": (after_completing(damage_evidence), ()),
    "files gone after it was complete": (after_completing(lambda shell: shutil.rmtree(shell.root / "artifacts")), ()),
}


@pytest.fixture
def planned(shell: Project) -> Project:
    omo(shell, "ultragoal", "create-goals", "--brief", BRIEF)
    omo(shell, "ultragoal", "complete-goals")
    return shell


@pytest.mark.parametrize("state", STATES)
def test_a_good_gate_completes_a_goal_only_where_it_may(planned: Project, state: str) -> None:
    gate = valid_gate(planned.root)
    bad = {**gate, "architectReview": {**gate["architectReview"], "recommendation": "COMMENT"}}
    bring_about, refusal = STATES[state]
    bring_about(planned)
    assert finish(planned, json.dumps(bad)).code != 0
    ran = finish(planned, json.dumps(gate))
    assert (ran.code != 0) == bool(refusal), ran.err
    assert [words for words in refusal if words not in ran.err] == []
    if state.startswith("goal "):
        set_back(planned, "failed")  # which needs no goal of the session
