"""`omo ulw`: start, look at and finish an ultrawork run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from omo.cli import options, views
from omo.cli.result import Result
from omo.clock import stamp
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.evidence import tree
from omo.state import runtime, store
from omo.ultrawork import gates, session, texts

Row = dict[str, Any]


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ulw", "an ultrawork run: start, status, done")
    options.command(verbs, "start", "turn ultrawork on for this session", start)
    options.command(verbs, "status", "what is on, what is open, what the next Stop would do", status)
    done_parser = options.command(
        verbs, "done", "finish: every gate passed on the tree as it is, or says why not", done
    )
    done_parser.add_argument(
        "--skip-verification", metavar="REASON", help="why no gate can apply (10 characters or more)"
    )
    blocked_parser = options.command(verbs, "blocked", "something outside stops the work; Stop is allowed", blocked)
    blocked_parser.add_argument("--evidence", required=True, metavar="TEXT", help="what is missing, and how you know")
    blocked_parser.add_argument("--question", default="", metavar="TEXT", help="what the user is to decide")
    options.command(verbs, "resume", "go on after blocked, waiting or paused", resume)


def start(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    limits = context.limits

    def decide(row: Row | None) -> runtime.Change:
        if context.is_agent and session.was_released(row):
            raise Refused(
                "the user cancelled this run, or it used up its budget; only they can start it again",
                fix="ask the user to type ulw",
            )
        if context.is_agent and row is not None and runtime.is_live(row):
            raise Refused(
                "a run is on, or paused by the user; starting it again would renew its budget", fix="omo ulw status"
            )
        armed = session.arm(row, by=context.actor, limits=limits, now=context.now)
        return runtime.Change(session.woken(row, armed), armed, [{"kind": "activated", "rule": "cli"}])

    woken = change(context, name, decide)
    more = "".join(f" {kind} goes on with it." for kind, _ in woken)
    return Result({"session": name, "limits": limits}, f"Ultrawork is on in session {name}.{more}")


def status(arguments: argparse.Namespace, context: Context) -> Result:
    return views.session_view(context, context.looked_at(arguments.session).name)


def done(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    reason = arguments.skip_verification
    if reason is not None and len(reason.strip()) < gates.SHORTEST_REASON:
        raise BadInput(f"--skip-verification {reason!r} explains nothing", fix="give a reason of 10 characters or more")
    now_tree = tree.fingerprint(Path(context.root))  # no cache: a file that can be written is no proof

    def decide(row: Row | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            raise Refused(f"ultrawork is not on in session {name}", fix="omo ulw status")
        require_whole_ledger(context, name)
        how = (
            f"{session.SKIPPED}: {reason.strip()}"
            if reason
            else _verified(gates.current(context.state, name, row), now_tree)
        )
        event = {"kind": "done", "how": how, "tree": now_tree, "skipped": bool(reason)}
        return runtime.Change(how, session.finish(row, how=how, at=stamp(context.now)), [event])

    how = change(context, name, decide)
    others = [kind for kind, _ in runtime.work_in(context.row(name) or {}, "active")]
    end = f"Still open: {', '.join(others)}." if others else "The session may stop."
    return Result({"session": name, "how": how, "open": others}, f"Done: {how}. {end}")


def _verified(pinned: dict[str, gates.Gate], now_tree: str) -> str:
    if not pinned:
        raise Refused(
            "no verification gate is pinned",
            fix='omo gate add NAME -- COMMAND and omo gate run; or omo ulw done --skip-verification "why none applies"',
        )
    open_gates = [gate for gate in pinned.values() if not gate.holds_on(now_tree)]
    if open_gates:
        raise Refused(
            f"{len(open_gates)} of {len(pinned)} gates do not hold on the tree as it is now",
            fix="omo gate run; a failure that was there before: omo gate record NAME --pre-existing --evidence …",
            defects=[f"{gate.name}: {_why_open(gate, now_tree)}" for gate in open_gates],
        )
    passed = [gate.name for gate in pinned.values() if not gate.recorded]
    recorded = [gate.name for gate in pinned.values() if gate.recorded]
    parts = [f"gates passed: {', '.join(passed)}"] if passed else []
    return "; ".join(parts + ([f"recorded as pre-existing: {', '.join(recorded)}"] if recorded else []))


def _why_open(gate: gates.Gate, now_tree: str) -> str:
    if gate.last is None:
        return "not run in this run"
    if gate.last["result"] == "pass" and gate.last["tree"] != now_tree:
        return "passed, but the tree has changed since"
    return f"{gate.last['result']} (exit {gate.last['exit']})"


def blocked(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)
    if len(arguments.evidence.strip()) < gates.SHORTEST_REASON:
        raise BadInput(f"--evidence {arguments.evidence!r} shows nothing", fix="say what is missing and how you know")
    state = "waiting" if arguments.question else "blocked"

    def decide(row: Row | None) -> runtime.Change:
        if row is None or not runtime.is_live(row):
            raise Refused(f"nothing is active in session {name}", fix="omo ulw status")
        for kind, _ in runtime.work_in(row, "active"):
            if kind in texts.CANNOT_GO_ON:
                raise Refused(f"{kind} has its own way to say so", fix=texts.CANNOT_GO_ON[kind])
        after = session.suspend(row, state=state, why=arguments.evidence.strip(), question=arguments.question.strip())
        return runtime.Change(None, after, [{"kind": state, "evidence": arguments.evidence.strip()}])

    change(context, name, decide)
    return Result(
        {"session": name, "state": state}, f"Recorded as {state}. The session may stop; the user is told why."
    )


def resume(arguments: argparse.Namespace, context: Context) -> Result:
    name = context.session(arguments.session)

    def decide(row: Row | None) -> runtime.Change:
        if row is None or session.is_cancelled(row) or not runtime.work_in(row, "waiting", "paused", "blocked"):
            raise Refused(f"nothing waits in session {name}", fix="omo ulw status")
        if context.is_agent and runtime.work_in(row, "paused"):
            raise Refused("the user paused this run; only they can let it go on", fix='ask them to type "continue"')
        return runtime.Change(None, session.resume(row), [{"kind": "resumed"}])

    change(context, name, decide)
    return Result({"session": name}, "Ultrawork goes on.")


def change(context: Context, name: str, decide: Any) -> Any:
    return runtime.change_session(
        context.state, name, decide, actor=context.actor, now=context.now, wait=store.CLI_WAIT
    )


def require_whole_ledger(context: Context, name: str) -> None:
    """Completion counts only on a ledger that nobody changed. What the row says matters less: it is written anew."""
    if problems := runtime.chain_problems(context.state, name):
        raise Refused(
            f"the ledger of session {name} is damaged",
            fix=f"the user runs omo ledger repair --session {name}, which seals it; gates are then pinned and run anew",
            defects=problems,
        )
