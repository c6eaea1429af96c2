"""A plan and its session: cleared away, or handed to another workflow (`omo state ultragoal`). No byte is deleted."""

from __future__ import annotations

import argparse

from omo import options, table
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.json_text import loads
from omo.result import Result
from omo.text import clip
from omo.work import lifecycle
from omo.work.lifecycle import Cleared
from omo.work.run import Caller
from omo.workflows.ultragoal.next_step import PLANNING
from omo.workflows.ultragoal.plan import HANDOFF
from omo.workflows.ultragoal.rows import HANDED_OFF, MARKED, TAKEN_UP, PlanRow
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, load_plan, run_of

CALLEES = [row.kind for row in table.ROWS if row.has_own_ledger and row.kind != ULTRAGOAL.name]
PHASES = (HANDOFF, "active")  # the others follow from the work itself
EXAMPLE = '--input \'{"current_phase":"handoff"}\''


def register_states(verbs: options.Commands) -> None:
    of_plan = options.group(verbs, ULTRAGOAL.name, "the phase of ultragoal: write, handoff")
    parser = options.command(of_plan, "write", "mark the plan ready for handoff, or active again", _write)
    parser.add_argument("--input", required=True, metavar="JSON", help='{"current_phase": "handoff"} or "active"')
    parser = options.command(of_plan, "handoff", "hand the work of the plan on", _handoff)
    parser.add_argument("--to", required=True, metavar="MODE", choices=CALLEES, help=f"one of {', '.join(CALLEES)}")


def _write(arguments: argparse.Namespace, context: Context) -> Result:
    before, after = write_phase(run_of(arguments, context), _wanted(arguments.input))
    text = f"ultragoal stays {after}." if before == after else f"ultragoal was {before} and is now {after}."
    return Result({"mode": ULTRAGOAL.name, "before": before, "phase": after}, text, notes=_let_go(after))


def _handoff(arguments: argparse.Namespace, context: Context) -> Result:
    phase = hand_off(run_of(arguments, context), arguments.to)
    data = {"from": ULTRAGOAL.name, "to": arguments.to, "phase": phase}
    return Result(data, f"Handed off: ultragoal is {phase}, and {arguments.to} goes on.", notes=_let_go(phase))


def _let_go(phase: str) -> list[str]:
    return ["while it is, Stop lets the session end, and the user is told so"] if phase == HANDOFF else []


def _wanted(text: str) -> str:
    try:
        given = loads(text)
    except (ValueError, RecursionError):
        given = None
    for phase in PHASES:
        if given == {"current_phase": phase}:
            return phase
    what = f"--input has to be an object with current_phase alone, one of {', '.join(PHASES)}, not {clip(text, 80)}"
    raise BadInput(what, fix=EXAMPLE)


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    """Clear the plan with the session's goal."""
    run = load_plan(caller)
    left = None
    unfinished = []
    if run.plan is not None:
        left, tool = len(run.plan.open_goals), run.plan.tool
        if tool.status in ("active", "paused"):
            unfinished.append(f"the session's goal is {tool.status}: {clip(tool.objective, 80)}")
        unfinished += [f"{goal.id} {goal.status}: {clip(goal.title, 80)}" for goal in run.plan.open_goals]
    return lifecycle.clear(ULTRAGOAL, caller, force=force, unfinished=unfinished, left=left)


def problems(caller: Caller) -> dict[str, list[str]]:
    """Return by the path of its ledger what is wrong with a goals.json that somebody edited."""
    run = load_plan(caller)
    edited = run.edited_view() if run.plan is not None else ""
    return {run.journal.path: [edited]} if edited else {}


def write_phase(run: PlanRun, wanted: str) -> tuple[str, str]:
    """Mark the plan ready for handoff, or take the mark back: its phase before and after."""
    before = run.require_plan().phase
    is_marked = run.require_plan().handoff is not None
    if is_marked == (wanted == HANDOFF):
        run.publish()
        return before, before
    row: PlanRow = {"kind": MARKED if wanted == HANDOFF else TAKEN_UP}
    return before, _record(run, row, "the same again")


def hand_off(run: PlanRun, to: str) -> str:
    """Give the plan's work to another workflow. Back to planning only when it is complete, or was marked ready."""
    phase = run.require_plan().phase
    if to in PLANNING and phase not in (HANDOFF, "complete"):
        raise Refused(
            f"ultragoal is {phase}: back to {to} it goes only when it is {HANDOFF} or complete",
            fix=f"omo state ultragoal write {EXAMPLE}",
        )
    return _record(run, {"kind": HANDED_OFF, "to": to}, f"omo state ultragoal handoff --to {to}")


def _record(run: PlanRun, row: PlanRow, then: str) -> str:
    """Record a phase, and return the one that follows. While a plan is handed off Stop lets go, as in a pause, and so
    an agent needs for it what a pause needs; `then` is what it calls after that."""
    if run.caller.by != "user" and run.require_plan().handoff is None:
        run.why_it_may_rest(then)
    run.change_plan(lambda plan: (None, [row]))
    run.publish()
    return run.require_plan().phase
