"""`omo status`: what is on in this project, this session in full and the others in a line each."""

from __future__ import annotations

import argparse
import shutil
import sys

from omo import options
from omo.context import Context
from omo.errors import Unreadable
from omo.result import Result
from omo.views import lines, project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# What Python itself writes into LC_CTYPE where the locale is C or is not installed here: nobody's choice.
COERCED = ("C.UTF-8", "C.utf8", "UTF-8")


def register(commands: options.Commands) -> None:
    parser = options.command(commands, "status", "what is on in this project, session by session", run)
    parser.add_argument("--all", action="store_true", help="every session, goal, step and note, also what is over")
    options.exit_code(parser)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only. A live session that nobody has used for a day is shown as an orphan."""
    if arguments.exit_code:
        name = context.judged(arguments.session)
    else:
        name = context.looked_at(arguments.session) if arguments.session else ""
    can_draw = not arguments.json and can_be_drawn(context.environ)
    view = project.project_view(context, closely=name, everything=arguments.all)
    said = lines.project_lines(view, everything=arguments.all)
    if can_draw:
        from omo.views import terminal

        color = not context.environ.get("NO_COLOR")
        text = terminal.render(said, shutil.get_terminal_size().columns, color=color)
    else:
        text = lines.plain(said)
    data = view.data if arguments.json else {}  # of each session that there ever was
    if arguments.exit_code:
        return _judged(view, name, data, text)
    return Result(data, text, exit_code=Unreadable.exit_code if view.error else 0)


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


def can_be_drawn(environ: Mapping[str, str]) -> bool:
    """Not where nobody looks, nor at something that cannot show it: marks and bars are no ASCII."""
    # What a hook prints is shown in the client, and so it says.
    is_shown = sys.stdout.isatty() or environ.get("TTY_COMPATIBLE") == "1"
    return is_shown and environ.get("TERM") not in ("dumb", "unknown") and takes_utf8(environ, sys.stdout.encoding)


def takes_utf8(environ: Mapping[str, str], encoding: str | None) -> bool:
    """As Python is told to write, unless the locale names another charset: with -X utf8 Python says utf-8 anyway."""
    ctype = environ.get("LC_CTYPE") or ""
    if ctype in COERCED and environ.get("LANG"):
        ctype = ""
    chosen = environ.get("LC_ALL") or ctype or environ.get("LANG") or ""
    if chosen in ("C", "POSIX"):
        return False
    charset = "UTF-8" if chosen == "UTF-8" else chosen.partition(".")[2].partition("@")[0]
    return (charset or encoding or "").lower().replace("-", "") == "utf8"
