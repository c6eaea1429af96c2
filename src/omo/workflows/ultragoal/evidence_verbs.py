"""`omo evidence`: files as evidence for a goal, and records of commands that omo runs."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from omo import options
from omo.clock import seconds, stamp
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.proof import artifacts, base, pins
from omo.proof.typed_commands import parse_timeout
from omo.result import Result
from omo.state import paths, store
from omo.text import clip
from omo.work.run import caller_of
from omo.workflows.ultragoal.brief import require_text
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.run import PlanRun, load_plan, run_of

HOME = paths.EVIDENCE_DIR
TIMEOUT = 60.0


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "evidence")
    add_parser = options.command(verbs, "add", "register a file as evidence for a goal", add, session=False)
    add_parser.add_argument("path", metavar="PATH", help="a file inside the project, made by the work it proves")
    add_parser.add_argument("--goal", required=True, metavar="ID", help="the goal it belongs to")
    about = "run a command, and write down what it said as a replay record for a goal of the plan"
    replay_parser = options.command(verbs, "replay", about, replay)
    replay_parser.add_argument("--goal", metavar="G", help="the goal it shows (default: the one under way)")
    replay_parser.add_argument("--timeout", default=f"{TIMEOUT:g}s", metavar="TIME", help="90s or 2m (default: 60s)")
    replay_parser.add_argument("--attack", metavar="TEXT", help="how this run tries to break the work")
    replay_parser.add_argument("--expect", metavar="TEXT", help="with --attack: what the contract wants to happen then")
    replay_parser.add_argument("argv", nargs="+", metavar="COMMAND", help="after --; run as it is, without a shell")


def add(arguments: argparse.Namespace, context: Context) -> Result:
    goal, began = arguments.goal, pins.pinned(context.state).started_at(arguments.goal)
    caller = caller_of(context, context.named_session or "")
    run = load_plan(caller) if context.named_session else None
    if run is not None and run.plan is not None:
        is_planned = goal in [planned.id for planned in run.plan.goals]
        # A file that was spent on a name that neither a pin nor an open plan knows could prove no other.
        if is_planned or (run.plan.is_open and began is None):
            began = run.require_plan().goal(goal).started_at
            goal = f"ultragoal/{run.id}/{goal}"
    started_at = seconds(began) if began else None
    path = os.path.join(context.cwd, arguments.path)
    artifact = artifacts.register(caller, path, goal=goal, started_at=started_at)
    data = {name: getattr(artifact, name) for name in ("path", "digest", "size", "goal", "at")}
    shown = clip(artifact.path, 200)
    line = f"Evidence for {clip(arguments.goal, 60)}: {shown}, {artifact.size} bytes, sha256 {artifact.digest[:16]}…"
    return Result({"artifact": data}, line)


def replay(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    goal = run.named_goal(arguments.goal or next_step(run).item)
    fix = "say how it is to be broken, and what should happen"
    case = {}
    if (arguments.attack is None) != (arguments.expect is None):
        raise BadInput("--attack and --expect belong together", fix=fix)
    if arguments.attack is not None:
        from omo.workflows.ultragoal.gate.replay import LONGEST_CASE  # pydantic is behind it, as below

        case["scenario"] = require_text("--attack", arguments.attack, fix)
        case["expectedBehavior"] = require_text("--expect", arguments.expect, fix)
        if max(map(len, case.values())) > LONGEST_CASE:
            raise BadInput(f"--attack or --expect has more than {LONGEST_CASE} characters", fix="say it in fewer words")
    path, record = record_run(context, run, goal.id, arguments.argv, parse_timeout(arguments.timeout), case)
    data = {"path": path, "goal": goal.id, "exit": record["expectedExitCode"], "stdout": record["recordedStdout"]}
    shown = record["recordedStdout"] + record["recordedStderr"]
    text = f"{shown}Recorded for {goal.id}, exit {record['expectedExitCode']}: {path} (kind cli-replay)"
    return Result(data, text)


def record_run(
    context: Context, run: PlanRun, goal: str, argv: list[str], timeout: float = TIMEOUT, case: Json | None = None
) -> tuple[str, Json]:
    """Run a command and keep what it said for a goal: the file, and the record in it.

    What omo ran itself is known to be true while the files are the same; nobody has to allow it.
    """
    from omo.workflows.ultragoal.gate import replay as replays  # pydantic is behind it, which a status does not need

    plan = run.require_plan()
    require_text("COMMAND", " ".join(argv), "a record holds UTF-8 only: name what it runs and reads in that")
    cwd = os.path.relpath(os.path.realpath(context.cwd), os.path.realpath(context.root))
    if not replays.speaks_of_project(context.root, plan.base, argv, cwd):
        raise Refused(
            f"{clip(' '.join(argv), 100)!r} neither runs nor reads a file of this project: it shows nothing",
            fix="record what the project itself says: its program, its tests, a file of it",
        )
    record = replays.record(argv, Path(context.root), cwd, timeout, os.environ)
    record["recordedAt"] = stamp(context.now)  # the same command for another goal is another run
    record |= case or {}
    number = 1
    while os.path.lexists(os.path.join(context.root, HOME, goal, f"replay-{number}.json")):
        number += 1
    path = write(context, goal, f"replay-{number}.json", record)
    files = base.take(context.root, context.environ)
    whole_path, name = os.path.join(context.cwd, path), f"ultragoal/{plan.run}/{goal}"
    artifacts.register(run.caller, whole_path, goal=name, started_at=None, files=files)
    return path, record


def write(context: Context, goal: str, name: str, document: Any) -> str:
    """Write a document for a goal below .sisyphus/evidence. Return its path as it can be typed here."""
    home = os.path.join(os.path.realpath(context.root), HOME)
    path = os.path.join(home, goal, name)
    typed = os.path.relpath(path, os.path.realpath(context.cwd))
    if store.first_link(context.root, os.path.join(HOME, goal)) is not None:
        raise Refused(f"{HOME} leads out of the project", fix="remove the link, and let omo make the directory")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        ignore = os.path.join(home, ".gitignore")
        if not os.path.lexists(ignore):
            # Evidence is about the work, not part of it: git leaves it alone, whatever the project's own rules.
            with open(ignore, "x", encoding="utf-8") as file:
                file.write("*\n")
        with open(path, "x", encoding="utf-8") as file:
            file.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        fix = f"fill that one in, or remove it, and let {HOME} be writable"
        raise Refused(f"{typed} cannot be written: {error.strerror}", fix=fix) from None
    return typed
