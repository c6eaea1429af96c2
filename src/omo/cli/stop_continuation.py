"""`omo stop-continuation`: the escape hatch from any terminal."""

from __future__ import annotations

import argparse

from omo import options
from omo.context import MOST_NAMED, UNCLEAR_SESSION, Context
from omo.errors import BadInput, Refused
from omo.result import Result
from omo.state import ownership, runtime
from omo.stop.sentences import FROM_A_TERMINAL
from omo.text import listed
from omo.work import session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import SessionRow


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "stop-continuation", run)
    parser.add_argument("--all", action="store_true", help="every live session of the project")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if context.is_agent:
        raise Refused(
            "the escape hatch belongs to the user, and this is an agent's shell or has no terminal",
            fix="finish with omo ulw done, or omo ulw blocked --evidence …; the user types /omo:stop-continuation",
        )
    own = context.own
    if own.standing == ownership.FOREIGN:  # a terminal that does not find the record lets go all the same
        context.own = ownership.Ownership(own.state, ownership.OURS)
    if (arguments.session or context.named_session) and not arguments.all:
        names = [context.session(arguments.session)]  # also where no other can be read
    else:
        names = context.live_sessions()
    if len(names) > 1 and not arguments.all:
        fix = f"all of them: omo stop-continuation --all; one of them: --session ID ({listed(names, MOST_NAMED)})"
        raise BadInput(UNCLEAR_SESSION, fix=fix)
    ended: list[str] = []
    idle: list[str] = []
    for name in names:
        if _cancel(context, name):
            ended.append(name)
        else:
            idle.append(name)
    sentences = []
    if ended:
        sentences.append(f"Nothing holds {', '.join(ended)} any more.")
    if idle:
        sentences.append(f"Nothing was on in {', '.join(idle)}; it stays off until somebody types ulw there.")
    return Result({"sessions": names}, " ".join(sentences) or f"No session of this project is live: {context.root}.")


def _cancel(context: Context, name: str) -> bool:
    """Whether something was on there."""

    def decide(row: SessionRow | None) -> runtime.Change:
        had_work = row is not None and bool(runtime.is_live(row) or session.open_work(row))
        was_on = row is not None and (runtime.is_live(row) or session.cancel_is_unshown(row))
        cancelled = session.cancel(row, reason=FROM_A_TERMINAL, now=context.now, shown=not was_on)
        return runtime.Change(had_work, cancelled, [{"kind": "cancelled", "rule": "cli"}])

    return bool(context.change(name, decide))
