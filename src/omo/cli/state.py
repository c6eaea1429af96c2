"""`omo state`: starting a workflow from nothing, and the phases of one that has them."""

from __future__ import annotations

import argparse

from omo import options, table
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.result import Result
from omo.text import clip
from omo.work.lifecycle import Cleared
from omo.work.run import caller_of
from omo.work.session import KIND


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "state")
    parser = options.command(verbs, "clear", "start from nothing, in this session only; keeps all bytes", clear)
    parser.add_argument("--mode", required=True, metavar="MODE", help=f"one of {', '.join(_modes())}")
    parser.add_argument("--force", action="store_true", help="also what is unfinished or damaged; recorded")
    for row in table.ROWS:
        if row.has_states:
            row.module("lifecycle").register_states(verbs)


def _modes() -> dict[str, table.EngineWorkflow]:
    return {row.kind: row for row in table.with_runs()}


def clear(arguments: argparse.Namespace, context: Context) -> Result:
    mode = arguments.mode
    caller = caller_of(context, context.session(arguments.session))
    if mode == KIND:
        fix = "omo ulw done; the user ends it with omo stop-continuation"
        raise Refused("a run of ultrawork is not cleared", fix=fix)
    modes = _modes()
    if mode not in modes:
        raise BadInput(
            f"--mode {clip(mode, 40)!r} is not cleared by this command",
            fix=f"omo state clear --mode {'|'.join(modes)}",
        )
    cleared: Cleared | None = modes[mode].clear(caller, force=arguments.force)
    if cleared is None:
        return Result({"cleared": False, "kept": []}, f"There is nothing to clear in session {caller.session}.")
    lines = [f"Cleared the {mode} state of session {caller.session}."]
    lines += [f"  kept as {path}" for path in cleared.kept]
    data = {"cleared": True, "kept": cleared.kept, "open": cleared.open, "by": caller.by}
    notes = ["this is recorded as the agent's, and the user is shown it at the next Stop"] if cleared.is_shown else []
    return Result(data, "\n".join(lines), notes=notes)
