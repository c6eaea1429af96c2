"""`omo explain stop`: which rule decides, what it read, what would change it."""

from __future__ import annotations

import argparse
import sys

from omo import options, progress
from omo.context import Context
from omo.result import Result


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "explain")
    options.command(verbs, "stop", "what a Stop would do now, rule by rule", explain_stop)


def explain_stop(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.stop.situation import LONGEST_WAIT
    from omo.views import explain, session

    name = context.looked_at(arguments.session)
    known = context.settings
    view = session.session_view(
        context.state, name, known.limits, context.now, context.environ, patience=LONGEST_WAIT, root=context.root
    )
    explanation = explain.explain_stop(view, known)
    return Result(explanation.data, progress.folded(explanation.text, sys.stdout))
