"""The checks of a goal: what they say of the tree as it is now."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from omo.proof import pins
from omo.proof.checks import Check, CommandCheck, MetricCheck, ids_of, parse_checks
from omo.proof.evaluate import Observation, Verdict, evaluate
from omo.workflows.ultrawork.gates import resolve
from omo.workflows.verify.goals import Goal, GoalStore, Row, Spec


def checks_of(spec: Spec) -> list[Check | str]:
    return parse_checks(spec.checks, f"checks of {spec.id}")


def programs_of(root: str, spec: Spec) -> dict[str, str]:
    """The file that each command's program stands for now, by the check's id; empty where there is none."""
    checks = checks_of(spec)
    programs = {}
    for name, check in zip(ids_of(checks), checks, strict=True):
        if isinstance(check, (CommandCheck, MetricCheck)):
            directory = os.path.join(root, check.cwd)
            programs[name] = resolve(check.argv[0], directory, os.environ.get("PATH", "")) or ""
    return programs


def look(store: GoalStore, goal: Goal) -> Verdict:
    """The goal's checks on the tree as it is now. What asks, the goal file and the answers, is not the work."""
    caller = store.caller
    tree = pins.pinned(caller.state).tree(Path(caller.root), goal=goal.id, source=goal.source)
    return evaluate(checks_of(goal.spec), replace(tree, inputs=tree.inputs | goal.answer_files))


def evaluate_now(store: GoalStore, name: str) -> Verdict:
    """Evaluate and record, so that `status` and the session know what is open."""
    goal = store.goal(name)
    verdict = look(store, goal)
    store.change(lambda _: (None, [evaluated_row(goal, verdict)]))
    return verdict


def evaluated_row(goal: Goal, verdict: Verdict) -> Row:
    return {
        "kind": "checks-evaluated",
        "goal": goal.id,
        "contract": goal.spec.contract,
        "verdict": verdict.verdict,
        "flags": verdict.flags,
        "checks": [observed(observation) for observation in verdict.checks],
    }


def observed(observation: Observation) -> Row:
    return {key: getattr(observation, key) for key in ("id", "type", "result", "reason", "observed")}
