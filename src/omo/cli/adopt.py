"""`omo adopt`: takes up what a session left open that was closed, cleared or died."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused
from omo.state.runtime import OPEN_STATES
from omo.work import lifecycle
from omo.work.run import Caller, caller_of


def register(commands: options.Commands) -> None:
    about = "take up what another session left open"
    parser = options.command(commands, "adopt", about, adopt)
    parser.add_argument("--from", dest="source", metavar="SESSION", help="whose; not needed where only one has any")


def adopt(arguments: argparse.Namespace, context: Context) -> Result:
    caller = caller_of(context, context.session(arguments.session))
    source = arguments.source or lifecycle.only_source(caller, list(KINDS))
    held = [kind for kind in KINDS if source in lifecycle.adoptable(kind, caller)]
    if not held:
        others = ", ".join(name for kind in KINDS for name in lifecycle.adoptable(kind, caller)) or "none"
        raise BadInput(f"--from {source!r} has nothing open that could be adopted", fix=f"sessions that have: {others}")
    lifecycle.require_idle(caller, source, held)
    adopted, notes = {}, []
    refusal: OmoError | None = None
    for kind in held:
        try:
            adopted[kind] = KINDS[kind](caller, source)
        except OmoError as error:
            refusal = error
            notes.append(f"{kind} stays where it is: {error.message}; {error.fix}")
    if not adopted and refusal is not None:
        raise refusal
    lines = [f"Adopted from session {source}: {kind} {run}" for kind, run in adopted.items()]
    lines.append("Next: omo next")
    return Result({"from": source, "adopted": adopted}, "\n".join(lines), notes=notes)


def _ralph(caller: Caller, source: str) -> str:
    from omo.workflows.ralph.run import RALPH

    return lifecycle.adopt(RALPH, caller, source).id


def _ultragoal(caller: Caller, source: str) -> str:
    from omo.workflows.ultragoal.lifecycle import adopt

    return adopt(caller, source).id


def _plan(caller: Caller, source: str) -> str:
    from omo.workflows.ultraplan.run import PLAN

    return lifecycle.adopt(PLAN, caller, source).id


def _verify(caller: Caller, source: str) -> str:
    """Goals are the project's: what moves is which session is held to them."""
    if caller.summary("verify").get("state") in OPEN_STATES:
        raise Refused("this session holds goals of its own", fix="finish them first: omo verify status")
    run = str(caller.summary("verify", source).get("run"))
    lifecycle.hand_over(caller, "verify", source)
    return run


# Each kind of work with what takes it over: the id of the run that is now this session's.
KINDS: dict[str, Callable[[Caller, str], str]] = {
    "ultraplan": _plan,
    "ultragoal": _ultragoal,
    "ralph": _ralph,
    "verify": _verify,
}
