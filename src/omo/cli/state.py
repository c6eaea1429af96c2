"""`omo state`: the phases of a session's workflows, handing work from one to another, and starting from nothing."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from omo.cli import options
from omo.cli.adopt import caller_of
from omo.cli.result import Result
from omo.cli.runs import run_of
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused
from omo.json_text import loads
from omo.shown import clip
from omo.state.runtime import part
from omo.ultragoal import clearing, goal_guards, handoff, phases
from omo.ultragoal.plan import Plan
from omo.work import lifecycle
from omo.work.lifecycle import Cleared

Row = dict[str, Any]

KEYS = ("current_phase",)
EXAMPLE = '--input \'{"current_phase":"handoff"}\''


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "state", "phases of this session's workflows: show, write, handoff, clear")
    options.command(verbs, "show", "the phase of every workflow in this session", show)
    clear_parser = options.command(verbs, "clear", "start from nothing, in this session only; keeps all bytes", clear)
    clear_parser.add_argument(
        "--mode", required=True, metavar="MODE", help="ultragoal (plan and goal), ultraplan or ralph"
    )
    clear_parser.add_argument("--force", action="store_true", help="also what is unfinished or damaged; recorded")
    for mode in phases.PIPELINE:
        _register_mode(verbs, mode)


def _register_mode(verbs: options.Commands, mode: str) -> None:
    of_mode = options.group(verbs, mode, f"the phase of {mode}: write, handoff")
    write_parser = options.command(of_mode, "write", f"write a phase of {mode}", partial(write, mode))
    write_parser.add_argument("--input", required=True, metavar="JSON", help='{"current_phase": "handoff"} or "active"')
    handoff_parser = options.command(of_mode, "handoff", f"hand the work of {mode} on", partial(hand_off, mode))
    others = ", ".join(one for one in phases.PIPELINE if one != mode)
    handoff_parser.add_argument("--to", required=True, metavar="MODE", help=f"one of {others}")


def show(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    row = context.row(run.session)
    marks = part(row or {}, "phases")
    plan, notes = None, []
    try:
        plan = goal_guards.readable_plan(run)
    except OmoError as error:
        notes = [f"{error.message}; {error.fix}"]
    found = {mode: _phase(mode, row, plan, part(marks, mode)) for mode in phases.PIPELINE}
    if notes:
        found[phases.ULTRAGOAL]["phase"] = "unreadable"
    lines = [f"{mode:10} {one['phase']}{_around(one)}" for mode, one in found.items()]
    return Result({"session": run.session, "phases": found}, "\n".join(lines), notes=notes)


def _phase(mode: str, row: Row | None, plan: Plan | None, mark: Row) -> Row:
    told: Row = {key: mark[key] for key in ("to", "from", "at", "by") if key in mark}
    return {"phase": phases.phase_of(mode, row, plan), **told}


def _around(one: Row) -> str:
    said = [f"{word} {clip(str(one[word]), 40)}" for word in ("from", "to") if word in one]
    return f" ({', '.join(said)})" if said else ""


def write(mode: str, arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    before, after = handoff.write(run, mode, _wanted(arguments.input))
    text = f"{mode} stays {after}." if before == after else f"{mode} was {before} and is now {after}."
    return Result({"mode": mode, "before": before, "phase": after}, text, notes=_let_go(mode, after))


def _let_go(mode: str, phase: str) -> list[str]:
    is_held = mode == phases.ULTRAGOAL and phase == phases.HANDOFF
    return ["while it is, Stop lets the session end, and the user is told so"] if is_held else []


def _wanted(text: str) -> str:
    try:
        given = loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--input is not JSON: {error}", fix=EXAMPLE) from None
    if not isinstance(given, dict):
        raise BadInput(f"--input holds {type(given).__name__}, not an object", fix=EXAMPLE)
    defects = [f"{clip(str(key), 60)}: not known; there is {', '.join(KEYS)}" for key in given if key not in KEYS]
    wanted = given.get("current_phase")
    if not isinstance(wanted, str):
        defects.append(
            f"current_phase: must be text, not {wanted!r}" if wanted is not None else "current_phase: missing"
        )
    if defects or not isinstance(wanted, str):
        raise BadInput("--input cannot be used", fix=EXAMPLE, defects=defects)
    return wanted


def hand_off(mode: str, arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    given, taken = handoff.handoff(run, mode, arguments.to)
    text = f"Handed off: {mode} is {given}, {arguments.to} is {taken}."
    data = {"from": mode, "to": arguments.to, "phases": {mode: given, arguments.to: taken}}
    return Result(data, text, notes=_let_go(mode, given))


def clear(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    cleared: Cleared | clearing.Cleared | None
    if arguments.mode == "ralph":
        from omo.ralph.run import RALPH

        cleared = lifecycle.clear(RALPH, caller_of(context, run.session), force=arguments.force)
    elif arguments.mode == "ultraplan":
        from omo.ultraplan.run import PLAN

        cleared = lifecycle.clear(PLAN, caller_of(context, run.session), force=arguments.force)
    else:
        _check_mode(arguments.mode)
        cleared = clearing.clear(run, force=arguments.force)
    if cleared is None:
        return Result({"cleared": False, "kept": []}, f"There is nothing to clear in session {run.session}.")
    lines = [f"Cleared the {arguments.mode} state of session {run.session}."]
    lines += [f"  kept as {path}" for path in cleared.kept]
    notes = ["this is recorded as the agent's, and the user is shown it at the next Stop"] if cleared.is_shown else []
    return Result(
        {"cleared": True, "kept": cleared.kept, "open": cleared.open, "by": run.by}, "\n".join(lines), notes=notes
    )


def _check_mode(mode: str) -> None:
    if mode == phases.ULTRAGOAL:
        return
    said = f"--mode {clip(mode, 40)!r} is not cleared by this command"
    if mode in clearing.INSTEAD:
        raise Refused(said, fix=clearing.INSTEAD[mode])
    raise BadInput(said, fix="omo state clear --mode ultragoal")
