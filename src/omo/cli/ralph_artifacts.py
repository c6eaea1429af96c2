"""`omo ralph artifacts`: which phases of the open iteration happened, and what shows it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from omo.cli import options
from omo.cli.ralph_run import named, naming, run_of
from omo.cli.result import Result
from omo.context import Context
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ralph.exec_gate import Found


def register(verbs: options.Commands) -> None:
    about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
    parser = options.command(verbs, "artifacts", about, naming(artifacts))
    parser.add_argument("--newer-than", metavar="ISO", help="leave out what was seen before that moment")
    named(parser)


def artifacts(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import earlier, exec_gate

    run = run_of(arguments, context, looks=True)
    standing = run.require_open()
    found = exec_gate.check(run, standing, newer_than=arguments.newer_than)
    carried = [f"It carries on, {standing.after_text}"] if standing.after else []
    text = "\n".join([_text(found, standing.reduced_scope), *carried])
    notes = [earlier.NO_GATE] if "SHIP" in found.missing and not earlier.has_gates(run) else []
    return Result(found.data, text, 0 if found.ok else 3, notes)


def _text(found: Found, reduced_scope: str) -> str:
    proven = sum(one["status"] == "present" for one in found.checks)
    lines = [f"Iteration {found.iteration}: {proven} of {len(found.checks)} phases proven"]
    lines += [f"  {one['status']:14}{one['phase']:8}{one['proof']}" for one in found.checks]
    if reduced_scope:
        lines.append(f"Reduced scope: {clip(reduced_scope, 200)}")
    return "\n".join([*lines, f"To do: {found.remediation}"] if found.remediation else lines)
