"""`omo ulw`: start, look at and finish an ultrawork run."""

from __future__ import annotations

import argparse
import os

from omo import options, table
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import base
from omo.result import Result
from omo.state import paths, runtime
from omo.work import gates, naming, outcome, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base, SessionRow, WaitsFor


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ulw")
    options.command(verbs, "start", "turn ultrawork on for this session", start)
    about = "what is on, what is open, what the next Stop would do"
    options.command(verbs, "status", about, lambda arguments, context: commands.show_session(arguments, context))
    done_parser = options.command(
        verbs, "done", "finish: run the gates, with the work and without it, and say what that proves", done
    )
    done_parser.add_argument(
        "--because", default="", metavar="TEXT", help="why the work is done where no gate proves it: ends on your word"
    )
    about = "why a gate that could run was not; never one that fails"
    done_parser.add_argument("--skip-verification", default="", metavar="REASON", help=about)
    blocked_parser = options.command(verbs, "blocked", "something outside stops the work; Stop is allowed", blocked)
    blocked_parser.add_argument("--evidence", required=True, metavar="TEXT", help="what is missing, and how you know")
    blocked_parser.add_argument("--question", default="", metavar="TEXT", help="what the user is to decide")


def start(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    limits = context.limits
    directory = paths.session_directory(context.environ, context.cwd)
    began: Base = {**base.take(context.root, os.environ, context.state), "by": context.actor, "directory": directory}

    def decide(row: SessionRow | None) -> runtime.Change:
        if context.is_agent and session.was_released(row):
            raise Refused(
                "the user cancelled this run, or it used up its budget; only they can start it again",
                fix="ask the user to type ulw",
            )
        if context.is_agent and row is not None and runtime.is_live(row):
            raise Refused(
                "a run is on, or paused by the user; starting it again would renew its budget", fix="omo next"
            )
        ceilings = None if context.is_agent else context.settings.budget  # an agent's shell sets none
        pinned = len(gates.current(context.state, name, row))
        armed = session.arm(
            row,
            by=context.actor,
            limits=limits,
            now=context.now,
            wanted=session.Wanted(run=session.ANY),  # no task is named, so what was on goes on
            ceilings=ceilings,
            pinned=pinned,
        )
        event: SessionEvent = {"kind": "activated", "rule": "cli", **session.run_and_base(row, armed, began)}
        return runtime.Change(session.woken(row, armed), armed, [event])

    woken = context.change(name, decide)
    more = "".join(f" {kind} goes on with it." for kind, _ in woken if kind != session.KIND)
    return Result({"session": name, "limits": limits}, f"Ultrawork is on in session {name}.{more}")


def done(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session, mends=False)
    because, skipping = arguments.because.strip(), arguments.skip_verification.strip()
    for option, text in (("--because", because), ("--skip-verification", skipping)):
        if text and len(text) < gates.SHORTEST_REASON:
            raise BadInput(f"{option} {text!r} explains nothing", fix="give a reason of 10 characters or more")
    from omo.workflows.ultrawork import judging

    ended = judging.judge(context, name, because, skipping)
    text = outcome.in_words(ended)
    lines = [f"{text[0].upper()}{text[1:]}. The session may stop."]
    lines += [f"  item of the task: {line}" for line in outcome.items_in_words(ended)]
    return Result({"session": name, "outcome": ended}, "\n".join(lines))


def blocked(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    if len(arguments.evidence.strip()) < gates.SHORTEST_REASON:
        raise BadInput(f"--evidence {arguments.evidence!r} shows nothing", fix="say what is missing and how you know")
    word = "waiting" if arguments.question else "blocked"
    whom: WaitsFor = "user" if arguments.question else "outside"

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not runtime.is_live(row) or not runtime.work_in(row, "active"):
            raise Refused(f"nothing is active in session {name}", fix="omo next")
        for kind, summary in runtime.work_in(row, "active"):
            if naming.own_way_out(kind) and not table.BY_KIND[kind].may_ask:
                fix = naming.way_out([(kind, summary)]) or "omo next"
                raise Refused(f"{kind} has its own way to say so", fix=fix)
        after = session.suspend(row, whom=whom, why=arguments.evidence.strip(), question=arguments.question.strip())
        return runtime.Change(None, after, [{"kind": word, "evidence": arguments.evidence.strip()}])

    context.change(name, decide)
    return Result({"session": name, "state": word}, f"Recorded as {word}. The session may stop; the user is told why.")
