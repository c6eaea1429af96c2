"""`omo ulw`: start, look at and finish an ultrawork run."""

from __future__ import annotations

import argparse
import os

from omo import globs, options, table
from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import base
from omo.result import Result
from omo.state import ledger, paths, runtime
from omo.state.rows import EMPTY
from omo.stop import sentences
from omo.text import clip
from omo.work import bound, gates, outcome, requests, session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base, Outcome, SessionRow
    from omo.workflows.ultrawork.prove import Proof, Prover

TRIES = 5


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ulw")
    options.command(verbs, "start", "turn ultrawork on for this session", start)
    options.command(verbs, "status", "what is on, what is open, what the next Stop would do", status)
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
            wanted=session.Wanted(others=(row or EMPTY)["work"]),  # no task is named, so whatever was on goes on
            ceilings=ceilings,
            pinned=pinned,
        )
        event: SessionEvent = {"kind": "activated", "rule": "cli", **session.run_and_base(row, armed, began)}
        return runtime.Change(session.woken(row, armed), armed, [event])

    woken = context.change(name, decide)
    more = "".join(f" {kind} goes on with it." for kind, _ in woken if kind != session.KIND)
    return Result({"session": name, "limits": limits}, f"Ultrawork is on in session {name}.{more}")


def status(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.views import lines, project

    view = project.look_at(context, context.looked_at(arguments.session))
    return Result(view.data, lines.plain(lines.session_lines(view)))


def done(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    because, skipping = arguments.because.strip(), arguments.skip_verification.strip()
    for option, text in (("--because", because), ("--skip-verification", skipping)):
        if text and len(text) < gates.SHORTEST_REASON:
            raise BadInput(f"{option} {text!r} explains nothing", fix="give a reason of 10 characters or more")
    ended = end_run(context, name, because, skipping)
    text = outcome.in_words(ended)
    lines = [f"{text[0].upper()}{text[1:]}. The session may stop."]
    lines += [f"  item of the task: {line}" for line in outcome.items_in_words(ended)]
    return Result({"session": name, "outcome": ended}, "\n".join(lines))


def end_run(context: Context, name: str, because: str = "", skipping: str = "") -> Outcome:
    """How the run of a session ended, which is written down. Raises where it may not end."""
    from omo.workflows.ultrawork.end import WaitsForUser
    from omo.workflows.ultrawork.prove import Prover

    # Running gates takes longer than a hook waits for the lock, so they are run before it is taken; where the session
    # went on meanwhile, all is decided anew.
    prover = Prover(context, name, makes=not because and not skipping, runs_gates=not skipping)
    for _ in range(TRIES):
        try:
            ended = _try_to_end(context, name, prover, because, skipping)
        except WaitsForUser as waiting:
            raise waits_for_user(context, name, waiting.gates) from None
        if ended is not None:
            return ended
    raise Refused(f"session {name} goes on meanwhile", fix="omo ulw done, when nothing else runs in it")


def _try_to_end(context: Context, name: str, prover: Prover, because: str, skipping: str) -> Outcome | None:
    """How the run ended; None where the session went on meanwhile, and nothing was written. Raises where it may not."""
    from omo.work import gate_runner

    row = context.row(name)
    if row is None or not runtime.is_live(row):
        raise Refused(f"ultrawork is not on in session {name}", fix="omo next")
    _refuse_with_other_work(runtime.caught_up(context.state, name, row))
    gate_runner.require_whole_ledger(context, name)
    proof = prover.proof()
    if not because and proof.look.changed == {}:
        _require_here(context)
    row = runtime.caught_up(context.state, name, context.row(name) or EMPTY)
    try:
        ended = _outcome(context, name, row, proof, because, skipping)
    except Refused as error:
        _note_refusal(context, name, error)
        raise
    files = bound.files_of_end(context.root, ledger.rows(paths.events_file(context.state, name)), proof.whole)

    def decide(current: SessionRow | None) -> runtime.Change:
        if current is None or not runtime.is_live(current) or current.get("ledger") != row.get("ledger"):
            return runtime.Change(None)
        run, after = session.run_of(current), session.finish(current, ended, at=stamp(context.now), files=files)
        return runtime.Change(ended, after, [{"kind": "done", "run": run, "outcome": ended, "tree": proof.look.tree}])

    answer: Outcome | None = context.change(name, decide)
    return answer


def _note_refusal(context: Context, name: str, refusal: Refused) -> None:
    """For Stop, status and `omo next`: else they lead back to the same refusal."""

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not session.is_ultrawork_on(row):
            return runtime.Change(None)
        return runtime.Change(None, session.refused(row, refusal.message, refusal.fix))

    context.change(name, decide)


def _require_here(context: Context) -> None:
    """Nothing was changed where the run is on: the work of an agent that stands in another worktree is not there."""
    here, root = os.path.realpath(context.cwd), os.path.realpath(context.root)
    around = [other for other in (root, *paths.worktrees(root)[1:]) if globs.is_inside(other, here)]
    nearest = max(around, key=len, default=root)  # one may lie in another
    if nearest != root:
        raise Refused(
            f"no file was changed in {context.root}, where the run is on, and this is {nearest}",
            fix="bring the work there, as with git merge, then omo ulw done",
        )


def require_proof(context: Context, name: str) -> None:
    """Raises what `omo ulw done` would be refused with, for work that stands still."""
    from omo.workflows.ultrawork.prove import Prover

    proof = Prover(context, name, makes=True).proof()
    _outcome(context, name, context.row(name) or EMPTY, proof, "", "")


def _refuse_with_other_work(row: SessionRow) -> None:
    """Plain ultrawork cannot end what else the session holds. Two kinds of work hold nothing: what was given up, which
    nobody can end and the user is told of; and what the user stopped by its name, which they know to be paused."""
    others = []
    for kind, summary in session.open_work(row):
        if kind != session.KIND and not summary.get("stoppedByName"):
            others.append((kind, summary))
    if others:
        raise Refused(
            "other work of this session is open: " + sentences.listed(others),
            fix=f"its own command ends it; next: {clip(str(others[0][1].get('next') or 'omo status'), 200)}",
        )


def _outcome(context: Context, name: str, row: SessionRow, proof: Proof, because: str, skipping: str) -> Outcome:
    from omo.workflows.ultrawork.end import Finish

    armed_at = str(runtime.part(row, "ulw").get("armedAt") or "")
    unseen: list[str] = []
    if because:  # the agent's word is handed on to the user, so what it cites is looked at
        from omo.work.citations import require_cited
        from omo.work.run import caller_of

        pinned = gates.pinned_commands(context.state, name)
        unseen = require_cited(caller_of(context, name), "--because", [because], pinned)
    typed = requests.rows_of_run(runtime.vouched_rows(context.state, name), session.KIND, session.run_of(row) or "")
    began_with = str(typed[0]["text"]) if len(typed) > 1 else ""
    return Finish(proof, armed_at, because, skipping, unseen, began_with, typed).outcome()


def waits_for_user(context: Context, name: str, waiting: list[gates.Gate]) -> Refused:
    """Has the session wait until the user lets these gates through, and returns the refusal that says so."""
    from omo.work import gate_runner

    gate_runner.session_gates(context, name).wait_for_allowance(waiting)
    names = [gate.name for gate in waiting]
    return Refused(
        f"the user pinned {', '.join(names)}, and only they can let it through; the work waits for them",
        fix=f"tell the user what fails and stop; /omo:allow {' '.join(names)} lets it through",
    )


def blocked(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    if len(arguments.evidence.strip()) < gates.SHORTEST_REASON:
        raise BadInput(f"--evidence {arguments.evidence!r} shows nothing", fix="say what is missing and how you know")
    state = "waiting" if arguments.question else "blocked"

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None or not runtime.is_live(row) or not runtime.work_in(row, "active"):
            raise Refused(f"nothing is active in session {name}", fix="omo next")
        for kind, summary in runtime.work_in(row, "active"):
            if sentences.cannot_go_on(kind) and not table.BY_KIND[kind].may_ask:
                fix = sentences.way_out([(kind, summary)]) or "omo next"
                raise Refused(f"{kind} has its own way to say so", fix=fix)
        after = session.suspend(row, state=state, why=arguments.evidence.strip(), question=arguments.question.strip())
        return runtime.Change(None, after, [{"kind": state, "evidence": arguments.evidence.strip()}])

    context.change(name, decide)
    return Result(
        {"session": name, "state": state}, f"Recorded as {state}. The session may stop; the user is told why."
    )
