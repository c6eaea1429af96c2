"""`omo evidence`: register a file as evidence for a goal, and see whether it still holds."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from omo.cli import options
from omo.cli.result import Result
from omo.clock import seconds
from omo.context import Context
from omo.proof import artifacts, pins
from omo.state import store
from omo.text import clip


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "evidence", "evidence files: add, list")
    add_parser = options.command(verbs, "add", "register a file as evidence for a goal", add, session=False)
    add_parser.add_argument("path", metavar="PATH", help="a file inside the project, made by the work it proves")
    add_parser.add_argument("--goal", required=True, metavar="ID", help="the goal it belongs to")
    add_parser.add_argument("--repair", action="store_true", help="keep a damaged ledger of evidence aside first")
    list_parser = options.command(verbs, "list", "what is registered, and whether it still holds", show, session=False)
    list_parser.add_argument("--goal", metavar="ID", help="of this goal only")


def add(arguments: argparse.Namespace, context: Context) -> Result:
    began = pins.pinned(context.state).started_at(arguments.goal)
    artifact = artifacts.register(
        context.state,
        Path(context.root),
        os.path.join(context.cwd, arguments.path),
        goal=arguments.goal,
        started_at=seconds(began) if began else None,
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        repair=arguments.repair,
    )
    data = {name: getattr(artifact, name) for name in ("path", "digest", "size", "goal", "at")}
    goal, path = clip(artifact.goal, 60), clip(artifact.path, 200)
    line = f"Evidence for {goal}: {path}, {artifact.size} bytes, sha256 {artifact.digest[:16]}…"
    return Result({"artifact": data}, line)


def show(arguments: argparse.Namespace, context: Context) -> Result:
    rows, lines = [], []
    for artifact in artifacts.list_artifacts(context.state, arguments.goal):
        holds = artifacts.is_unchanged(Path(context.root), artifact.path, artifact.digest)
        rows.append({**vars(artifact), "holds": holds})
        about = f"[{artifact.by}] {artifact.size} bytes, {artifact.at}"
        status = "holds" if holds else "CHANGED"
        lines.append(f"{status:8}{clip(artifact.goal, 60)}  {clip(artifact.path, 200)}  {about}")
    return Result({"artifacts": rows}, "\n".join(lines) or "No evidence is registered. omo evidence add PATH --goal ID")
