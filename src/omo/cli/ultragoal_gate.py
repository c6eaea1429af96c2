"""`omo ultragoal gate`: a gate to fill in, and the same inspection a checkpoint makes, without the checkpoint."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from typing import TYPE_CHECKING

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.evidence import globs
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ultragoal.gate.proof import Inspection, Subject
    from omo.ultragoal.plan import Goal

HOME = os.path.join(".sisyphus", "evidence")


def register(verbs: options.Commands) -> None:
    gate = options.group(verbs, "gate", "the quality gate of a goal: init, validate")
    init_parser = options.command(gate, "init", "write a gate that lacks nothing but facts", init)
    init_parser.add_argument("--goal-id", required=True, metavar="ID")
    init_parser.add_argument("--out", metavar="FILE", help=f"inside the project (default: {HOME}/ID/gate.json)")
    init_parser.add_argument("--force", action="store_true", help="replace a file that is there")
    validate_parser = options.command(
        gate, "validate", "inspect a gate as checkpoint would, and write nothing", validate
    )
    validate_parser.add_argument("--goal-id", required=True, metavar="ID")
    validate_parser.add_argument(
        "--quality-gate-json", required=True, metavar="JSON", help="the gate itself, or the file that holds it"
    )


def init(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultragoal.gate.rules import suite_triggers, template

    goal, subject = _subject(arguments, context)
    because = suite_triggers(subject)
    gate = template(goal.id, goal.title, goal.objective, suite=bool(because))
    path = _write(context, arguments.out, goal.id, json.dumps(gate, ensure_ascii=False, indent=2), arguments.force)
    check = f"omo ultragoal gate validate --goal-id {goal.id} --quality-gate-json {shlex.quote(path)}"
    text = f"A gate for {goal.id} to fill in: {path}\nThen: {check}"
    if because:
        text += f"\nIt asks for the computer-control suite, because {clip(because[0], 120)} changed."
    return Result({"goal": goal.id, "path": path, "validate": check, "suite": because}, text)


def validate(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli.runs import run_of
    from omo.ultragoal import checkpoint
    from omo.ultragoal.gate.models import digest, load

    name = arguments.goal_id
    gate = load(arguments.quality_gate_json, context.cwd)
    found = checkpoint.validate(run_of(arguments, context, looks=True), name, gate)
    return Result(_shown(name, digest(gate), found), f"The gate of {name} passes.", notes=found.notes)


def _shown(goal: str, digest: str, found: Inspection) -> dict[str, object]:
    return {
        "goal": goal,
        "digest": digest,
        "artifacts": found.cited,
        "replays": found.replays,
        "exemptions": found.exemptions,
        "notes": found.notes,
    }


def _subject(arguments: argparse.Namespace, context: Context) -> tuple[Goal, Subject]:
    from omo.cli.runs import run_of
    from omo.ultragoal.checkpoint import subject_of

    run = run_of(arguments, context, looks=True)
    plan = run.require_plan()
    goal = plan.goal(arguments.goal_id)
    return goal, subject_of(run, plan, goal)


def _write(context: Context, out: str | None, goal: str, text: str, force: bool) -> str:
    """The path as it can be typed where the command was."""
    top = os.path.realpath(context.root)
    wanted = os.path.realpath(os.path.join(context.cwd, out) if out else os.path.join(top, HOME, goal, "gate.json"))
    name = os.path.relpath(wanted, os.path.realpath(context.cwd))
    if not globs.is_inside(top, wanted) or globs.is_own(os.path.relpath(wanted, top).replace(os.sep, "/")):
        raise BadInput(f"--out {clip(str(out), 200)} is not a place for it", fix="name a file of the project itself")
    try:
        os.makedirs(os.path.dirname(wanted), exist_ok=True)
        if out is None:
            _ignore(os.path.join(top, HOME))
        with open(wanted, "w" if force else "x", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(wanted):
            raise Refused(f"{name} is there already", fix="fill that one in; or replace it with --force") from None
        raise BadInput(f"{name} cannot be written: {error.strerror}", fix="name another file with --out") from None
    return name


def _ignore(directory: str) -> None:
    """Evidence is about the work, not part of it: git leaves it alone, whatever the project's own rules."""
    path = os.path.join(directory, ".gitignore")
    if not os.path.lexists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("*\n")
