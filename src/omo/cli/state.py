"""`omo state`: starting from nothing, and handing the work of a plan to another workflow."""

from __future__ import annotations

import argparse

from omo import options
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.json_text import loads
from omo.result import Result
from omo.text import clip
from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import caller_of
from omo.workflows.ultragoal import lifecycle as ultragoal
from omo.workflows.ultragoal.verbs import run_of

EXAMPLE = '--input \'{"current_phase":"handoff"}\''


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "state", "start a workflow from nothing; hand a plan on")
    clear_parser = options.command(verbs, "clear", "start from nothing, in this session only; keeps all bytes", clear)
    clear_parser.add_argument(
        "--mode", required=True, metavar="MODE", help="ultragoal (plan and goal), ultraplan, ralph or verify"
    )
    clear_parser.add_argument("--force", action="store_true", help="also what is unfinished or damaged; recorded")
    of_plan = options.group(verbs, ultragoal.KIND, "the phase of ultragoal: write, handoff")
    write_parser = options.command(of_plan, "write", "mark the plan ready for handoff, or active again", write)
    write_parser.add_argument("--input", required=True, metavar="JSON", help='{"current_phase": "handoff"} or "active"')
    handoff_parser = options.command(of_plan, "handoff", "hand the work of the plan on", hand_off)
    callees = ", ".join(ultragoal.CALLEES)
    handoff_parser.add_argument("--to", required=True, metavar="MODE", help=f"one of {callees}")


def write(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context)
    before, after = ultragoal.write_phase(run, _wanted(arguments.input))
    text = f"ultragoal stays {after}." if before == after else f"ultragoal was {before} and is now {after}."
    return Result({"mode": ultragoal.KIND, "before": before, "phase": after}, text, notes=_let_go(after))


def _let_go(phase: str) -> list[str]:
    return ["while it is, Stop lets the session end, and the user is told so"] if phase == ultragoal.HANDOFF else []


def _wanted(text: str) -> str:
    try:
        given = loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--input is not JSON: {error}", fix=EXAMPLE) from None
    wanted = given.get("current_phase") if isinstance(given, dict) and len(given) == 1 else None
    if not isinstance(wanted, str):
        raise BadInput(
            f"--input has to be an object with current_phase alone, a text, not {clip(text, 80)}", fix=EXAMPLE
        )
    return wanted


def hand_off(arguments: argparse.Namespace, context: Context) -> Result:
    phase = ultragoal.hand_off(run_of(arguments, context), arguments.to)
    data = {"from": ultragoal.KIND, "to": arguments.to, "phase": phase}
    return Result(data, f"Handed off: ultragoal is {phase}, and {arguments.to} goes on.", notes=_let_go(phase))


def clear(arguments: argparse.Namespace, context: Context) -> Result:
    mode, force = arguments.mode, arguments.force
    caller = caller_of(context, context.session(arguments.session))
    cleared: Cleared | None
    if mode == ultragoal.KIND:
        cleared = ultragoal.clear(caller, force=force)
    elif mode == "ralph":
        from omo.workflows.ralph.run import RALPH

        cleared = lifecycle.clear(RALPH, caller, force=force)
    elif mode == "ultraplan":
        from omo.workflows.ultraplan.run import PLAN

        cleared = lifecycle.clear(PLAN, caller, force=force)
    elif mode == "verify":
        left = len(caller.summary("verify").get("goals") or ())
        cleared = lifecycle.release(caller, "verify", "goals", left=left, force=force)
    elif mode == "ulw":
        raise Refused(
            "a run of ultrawork is not cleared", fix="omo ulw done; the user ends it with omo stop-continuation"
        )
    else:
        raise BadInput(
            f"--mode {clip(mode, 40)!r} is not cleared by this command",
            fix="omo state clear --mode ultragoal|ultraplan|ralph|verify",
        )
    if cleared is None:
        return Result({"cleared": False, "kept": []}, f"There is nothing to clear in session {caller.session}.")
    lines = [f"Cleared the {mode} state of session {caller.session}."]
    lines += [f"  kept as {path}" for path in cleared.kept]
    data = {"cleared": True, "kept": cleared.kept, "open": cleared.open, "by": caller.by, **cleared.noted}
    if "receipts" in cleared.noted:
        lines.append(f"  among the kept bytes: the receipts of {', '.join(cleared.noted['receipts'])}")
    notes = ["this is recorded as the agent's, and the user is shown it at the next Stop"] if cleared.is_shown else []
    return Result(data, "\n".join(lines), notes=notes)
