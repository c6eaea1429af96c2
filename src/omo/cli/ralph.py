"""`omo ralph`: rounds of work against criteria that were pinned before it, each judged by facts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, OmoError
from omo.ralph.rules import DEFAULT_ITERATIONS, MOST_ITERATIONS, PHASES, SMALL_CHANGE
from omo.shown import clip
from omo.state import store

if TYPE_CHECKING:
    from omo.ralph.run import RalphRun

Handler = Callable[[argparse.Namespace, Context], Result]

LARGEST_MESSAGE = 256 * 1024


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ralph", "rounds of work with an independent judge: start, exec, judge, replan")
    starts = options.command(verbs, "start", "pin the criteria and begin a run", start)
    starts.add_argument("--criteria", required=True, metavar="FILE", help="criteria with their checks, JSON or YAML")
    starts.add_argument(
        "--max-iterations",
        type=int,
        default=DEFAULT_ITERATIONS,
        metavar="N",
        help=f"1 to {MOST_ITERATIONS}, {DEFAULT_ITERATIONS} without it",
    )
    starts.add_argument(
        "--reduced-scope", default="", metavar="REASON", help="phases may be left out; the user's only, always shown"
    )
    _verb(verbs, "exec", "open an iteration: what to work on, in which phases", execute)
    phases = _verb(verbs, "phase", "record that a phase of the iteration is over", phase)
    phases.add_argument("name", choices=PHASES, metavar="NAME", help=", ".join(PHASES))
    phases.add_argument(
        "--skip", default="", metavar="REASON", help=f"REFINE only, for changes under {SMALL_CHANGE} lines"
    )
    about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
    looks = _verb(verbs, "artifacts", about, artifacts)
    looks.add_argument("--newer-than", metavar="ISO", help="leave out what was seen before that moment")
    about = "what to ask the agent omo:judge, with the nonce its answer is known by; at most 3 in an iteration"
    _verb(verbs, "brief", about, brief)
    about = "evaluate every criterion and conclude: 0 pass, 3 fail or partial, 4 not to be told"
    judges = _verb(verbs, "judge", about, judge)
    judges.add_argument(
        "--result",
        metavar="FILE",
        help="the judge's message where no hook could report it (- reads stdin): reduced independence",
    )
    _verb(verbs, "replan", "what is complete, blocked, regressed and to fix", replan)
    _verb(verbs, "status", "where the run stands, and what comes next", status)
    gives_up = _verb(verbs, "abandon", "give the run up; the user is told if it was the agent", abandon)
    gives_up.add_argument("reason", metavar="REASON")


def _verb(verbs: options.Commands, name: str, about: str, handler: Handler) -> argparse.ArgumentParser:
    """A command about one run. Where it was named and something is refused, the commands that mend it name it too."""

    def with_named_run(arguments: argparse.Namespace, context: Context) -> Result:
        from omo.ralph.standing import with_run

        try:
            return handler(arguments, context)
        except OmoError as error:
            error.fix = with_run(error.fix, arguments.named)
            raise

    parser = options.command(verbs, name, about, with_named_run)
    parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the session's own")
    return parser


def _run(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> RalphRun:
    from omo.ralph.run import RalphRun

    run = RalphRun(
        state=context.state,
        root=context.root,
        session=context.session(arguments.session, looks=looks),
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        limits=context.limits,
        named=getattr(arguments, "named", ""),
    )
    run.require_known()
    return run


def _own_run(arguments: argparse.Namespace, context: Context) -> RalphRun:
    """The run to act on. An agent acts only on its own session's, whatever --run says."""
    from omo.work.run import require_own

    run = _run(arguments, context)
    loaded = run.loaded
    if loaded is not None:
        require_own(loaded)
    return run


def start(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import phases
    from omo.ralph import start as starting

    run = _run(arguments, context)
    begun, step = starting.start(
        run,
        Path(context.cwd, arguments.criteria),
        max_iterations=arguments.max_iterations,
        reduced_scope=arguments.reduced_scope,
    )
    result = ralph_views.begun(begun, step)
    if not phases.has_gates(run):
        result.notes.append(phases.NO_GATE)
    return result


def execute(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import iteration, summary
    from omo.ralph import replan as replanning

    run = _own_run(arguments, context)
    opened, is_new = iteration.execute(run)
    step = summary.tell(run)
    data = {
        "run": opened.run,
        "iteration": opened.iteration,
        "max_iterations": opened.max_iterations,
        "opened": is_new,
        "scope": opened.exec_row["scope"],
        "groups": replanning.groups(run, opened),
        "phases": list(PHASES),
        "reduced_scope": opened.reduced_scope or None,
        "next": step.data,
    }
    notes = [] if is_new else ["this iteration was open already; it is shown again"]
    return Result(data, "\n".join([*replanning.order(run, opened), f"Next: {step.text}"]), notes=notes)


def phase(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import iteration, summary

    run = _own_run(arguments, context)
    recorded, is_new = iteration.record_phase(run, arguments.name, arguments.skip)
    step = summary.tell(run)
    skipped = (recorded.phase(arguments.name) or {}).get("skipped")
    data = {
        "run": recorded.run,
        "iteration": recorded.iteration,
        "phase": arguments.name,
        "skipped": skipped or None,
        "recorded": is_new,
        "next": step.data,
    }
    text = f"{arguments.name} of iteration {recorded.iteration} is "
    text += f"left out: {clip(str(skipped), 120)}" if skipped else "over"
    notes = []
    if not is_new:
        text += ", as recorded before"
        if arguments.skip:
            notes.append(f"the reason was not recorded: {arguments.name} was noted before")
    return Result(data, f"{text}.\nNext: {step.text}", notes=notes)


def artifacts(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import phases

    run = _run(arguments, context, looks=True)
    current = run.require_open()
    report = phases.check(run, current, newer_than=arguments.newer_than)
    result = ralph_views.phases(report, current)
    if "SHIP" in report.missing and not phases.has_gates(run):
        result.notes.append(phases.NO_GATE)
    return result


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import brief as briefs
    from omo.ralph import summary

    run = _own_run(arguments, context)
    asked = briefs.ask(run)
    summary.tell(run)  # what is due now is the judgement, not another brief
    data = {
        "nonce": asked.nonce or None,
        "call": asked.call,
        "calls_left": briefs.MOST_CALLS - asked.call,
        "criteria": list(asked.criteria),
        "brief": asked.text if asked.nonce else None,
    }
    return Result(data, asked.text)


def judge(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import judge as judging

    given = None if arguments.result is None else _message(arguments.result, context)
    run = _own_run(arguments, context)
    judgement = judging.judge(run, result_text=given)
    return ralph_views.judgement(judgement, run.standing())


def _message(named: str, context: Context) -> str:
    """The judge's message from stdin, or from a file that is no part of the tree that is judged."""
    option = f"--result {clip(named, 200)}"
    if named == "-":
        raw = sys.stdin.buffer.read(LARGEST_MESSAGE + 1)
    else:
        path = os.path.join(context.cwd, named)
        try:
            if os.path.exists(path) and not os.path.isfile(path):
                raise OSError("is not a file")
            with open(path, "rb") as file:
                raw = file.read(LARGEST_MESSAGE + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise BadInput(f"{option}: {why}", fix="name the file with the judge's message") from None
        _require_outside_the_tree(option, path, context.root)
    if len(raw) > LARGEST_MESSAGE:
        raise BadInput(f"{option} has more than {LARGEST_MESSAGE} bytes", fix="only the message")
    return raw.decode("utf-8-sig", "replace")


def _require_outside_the_tree(option: str, path: str, project: str) -> None:
    """A file that is part of the tree changes what is judged: gates and answers would be about other files."""
    from omo.evidence.tree import fingerprint
    from omo.state.paths import STATE_DIR

    root = os.path.realpath(project)
    relative = os.path.relpath(os.path.realpath(path), root)
    if relative.split(os.sep)[0] == ".." or os.path.isabs(relative):
        return
    if fingerprint(Path(root)) != fingerprint(Path(root), exclude=(STATE_DIR, relative)):
        raise BadInput(
            f"{option} is a file of the project, so it changes what is judged",
            fix="move it out of the project, then name it there; or pass it on stdin: omo ralph judge --result -",
        )


def replan(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import replan as replanning
    from omo.ralph import summary

    run = _run(arguments, context, looks=True)
    current = run.require()
    step = summary.tell(run)
    when = "before any judgement"
    if current.last_judged:
        when = f"after iteration {current.last_judged['iteration']} of {current.max_iterations}"
    data = {**ralph_views.facts(current), **replanning.groups(run, current), "next": step.data}
    head = f"Ralph run {current.run} {when}, verdict {current.verdict}"
    return Result(data, "\n".join([head, *replanning.lines(run, current), f"Next: {step.text}"]))


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import summary

    run = _run(arguments, context, looks=True)
    current, problems = run.look()
    step = summary.tell(run)
    if current is None:
        return Result({**ralph_views.NO_RUN, "next": step.data}, f"No ralph run. Next: {step.text}")
    if problems:
        return ralph_views.damaged(current, problems, step)
    return ralph_views.status(current, step)


def abandon(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import ralph_views
    from omo.ralph import ending

    run = _own_run(arguments, context)
    ended, step = ending.abandon(run, arguments.reason)
    notes = ["the user is shown this at the next Stop"] if run.by != "user" else []
    data = {**ralph_views.facts(ended), "next": step.data}
    return Result(data, f"Ralph run {ended.run} is given up.", notes=notes)
