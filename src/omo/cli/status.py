"""`omo status`: what is on in this project, this session in full and the others in a line each."""

from __future__ import annotations

import argparse

from omo import options
from omo.context import Context
from omo.errors import Unreadable
from omo.result import Result
from omo.views import lines, project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "status", run)
    parser.add_argument("--all", action="store_true", help="every session, goal, step and note, also what is over")
    options.add_exit_code(parser)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only."""
    if arguments.exit_code:
        name = context.session_to_judge(arguments.session)
    else:
        name = context.looked_at(arguments.session) if arguments.session else ""
    view = project.project_view(context, closely=name, everything=arguments.all)
    text, data = "", {}
    if arguments.json:
        data = view.data  # of each session that there ever was
    else:
        text = lines.shown(lines.project_lines(view, everything=arguments.all), context.environ)
    if arguments.exit_code:
        return _judged(view, name, data, text)
    told = [problem.what for problem in view.problems]
    return Result(data, text, exit_code=Unreadable.exit_code if view.error else 0, told=told)


def of_session(arguments: argparse.Namespace, context: Context) -> Result:
    """Show one session: what is on, what is open, and what the next Stop would do."""
    view = project.look_at(context, context.looked_at(arguments.session))
    return Result(view.data, lines.plain(lines.session_lines(view)))


def _judged(view: project.ProjectView, name: str, data: dict[str, Any], text: str) -> Result:
    """The page has that run in full; the report's first sentence goes to stderr, and the exit code says it again."""
    from omo.views.report import verdict

    told = verdict.NO_RUN
    if view.error:
        told = verdict.unreadable(view.error["message"])
    for session in view.sessions:
        if name and session.name == name:
            told = verdict.verdict(session)
    data = {**data, "session": name or None, "verdict": told.data}
    return Result(data, text, exit_code=told.exit_code, notes=[told.text])
