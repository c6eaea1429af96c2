"""The checks of a goal: which are left to judgement, and what they say of the tree as it is now."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omo.evidence import pins
from omo.evidence.checks import Check, CommandCheck, MetricCheck, ids_of, parse_checks
from omo.evidence.evaluate import Observation, Verdict, evaluate
from omo.ultrawork.gates import resolve
from omo.verify.goals import Goal, Place, Row

FOR_JUDGEMENT = ("string", "judge")  # how observations name what `is_for_judgement`


def checks_of(goal: Goal) -> list[Check | str]:
    return parse_checks(goal.spec.verification.checks, f"checks of {goal.id}")


def is_for_judgement(check: Check | str) -> bool:
    return isinstance(check, str) or check.type == "judge"


def escalates(checks: Sequence[Check | str]) -> bool:
    """Do the checks leave something that only questions can settle?"""
    return not checks or any(is_for_judgement(check) for check in checks)


def programs_of(place: Place, checks: Sequence[Check | str]) -> dict[str, str]:
    """The file that each command's program stands for now, by the check's id; empty where there is none."""
    programs = {}
    for name, check in zip(ids_of(checks), checks, strict=True):
        if isinstance(check, (CommandCheck, MetricCheck)):
            where = os.path.join(place.root, check.cwd)
            programs[name] = resolve(check.argv[0], where, os.environ.get("PATH", "")) or ""
    return programs


def look(place: Place, goal: Goal) -> Verdict:
    """The goal's checks on the tree as it is now. What asks, the goal file and the answers, is not the work."""
    pinned = pins.pinned(place.state)
    tree = pinned.tree(Path(place.root), goal=goal.id, source=goal.source)
    return evaluate(checks_of(goal), replace(tree, inputs=tree.inputs | set(goal.answer_files)))


def evaluate_now(place: Place, name: str) -> Verdict:
    """Evaluate and record, so that `status` and the session know what is open."""
    goal = place.goal(name)
    verdict = look(place, goal)
    place.change(lambda goals: (None, [seen(goal, verdict)]))
    return verdict


def seen(goal: Goal, verdict: Verdict) -> Row:
    """The row that records an evaluation."""
    return {
        "kind": "checks-evaluated",
        "goal": goal.id,
        "contract": goal.spec.contract,
        "verdict": verdict.verdict,
        "flags": verdict.flags,
        "checks": [observed(one) for one in verdict.checks],
    }


def observed(one: Observation) -> Row:
    return {key: getattr(one, key) for key in ("id", "type", "result", "reason", "observed")}
