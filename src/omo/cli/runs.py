"""The session's plan, as the commands that work on it are handed it."""

from __future__ import annotations

import argparse

from omo.context import Context
from omo.state import store
from omo.ultragoal.run import Run


def run_of(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> Run:
    return Run(
        state=context.state,
        root=context.root,
        session=context.session(arguments.session, looks=looks),
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        limits=context.limits,
        control_globs=context.settings.computer_control,
    )
