"""Which run a command of `omo ralph` is about, and who may act on it."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from omo.cli.result import Result
from omo.context import Context
from omo.errors import OmoError, Refused
from omo.state import store

if TYPE_CHECKING:
    from omo.ralph.run import RalphRun

Handler = Callable[[argparse.Namespace, Context], Result]


def named(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the session's own")
    return parser


def run_of(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> RalphRun:
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


def own_run_of(arguments: argparse.Namespace, context: Context) -> RalphRun:
    """The run to act on. An agent acts only on its own session's, whatever --run says."""
    run = run_of(arguments, context)
    name = run.current()
    if not context.is_agent or not name:
        return run
    whose = run.standing().session or run.holder("ralph", name)
    if whose != run.session and run.told().get("run") != name:
        raise Refused(
            f"ralph run {name} is that of session {whose}, and an agent acts only on its own",
            fix=f"leave it to them; the user may, in their own terminal, with --session {shlex.quote(whose)}",
        )
    return run


def naming(handler: Handler) -> Handler:
    """Whatever is refused about a run that was named, the commands that mend it name it too."""

    def named_in_fixes(arguments: argparse.Namespace, context: Context) -> Result:
        from omo.ralph.standing import with_run

        try:
            return handler(arguments, context)
        except OmoError as error:
            error.fix = with_run(error.fix, arguments.named)
            raise

    return named_in_fixes
