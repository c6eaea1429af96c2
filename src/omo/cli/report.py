"""`omo report`: a session or a run as one page that needs nothing else, or as Markdown for a pull request."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from omo import progress
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused

if TYPE_CHECKING:
    from omo.views.report.gather import Report

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def register(commands: options.Commands) -> None:
    about = "what was proven and what was not, as one HTML page or as Markdown"
    parser = options.command(commands, "report", about, run)
    parser.add_argument("--run", metavar="ID", dest="run_id", help="one run only, also an earlier one of the project")
    parser.add_argument("--out", metavar="FILE", help="write it there (default: below the state directory)")
    parser.add_argument("--md", action="store_true", help="Markdown for a pull request, printed unless --out is given")
    parser.add_argument("--open", action="store_true", help="show the page in your browser")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.views.report import gather as whole

    _check(arguments, context)
    chosen = "" if arguments.run_id is None else str(arguments.run_id)
    # A run that is named says whose it is, so no session has to be clear.
    name = context.clear_session() if chosen and not arguments.session else context.looked_at(arguments.session)
    with progress.doing("gathering the report"):
        report = whole.gather(context, name, chosen)
        path = _written(arguments, context, report)
    data = {**report.data, "path": path or None} if arguments.json else {"path": path or None}
    if arguments.md and not path:
        from omo.views.report import markdown

        _require_printed_elsewhere(report)
        return Result(data, markdown.render(report).rstrip("\n"))
    notes = [_opened(path, context)] if arguments.open else []
    return Result(data, f"{report.verdict.text}\n{path}", notes=notes)


def _check(arguments: argparse.Namespace, context: Context) -> None:
    if context.is_agent and (arguments.open or arguments.out is not None):
        option = "--open" if arguments.open else "--out"
        raise Refused(
            f"{option} is the user's: it starts a program on their screen, or writes where they say",
            fix="omo report writes the page and names it, omo report --md prints",
        )
    if arguments.open and (arguments.md or arguments.json):
        raise BadInput("--open shows a page, not Markdown or JSON", fix="omo report --open")


def _written(arguments: argparse.Namespace, context: Context, report: Report) -> str:
    """Where it was written; empty where it is only printed."""
    from omo.views.report import target

    if (arguments.md or arguments.json) and arguments.out is None:
        return ""
    if arguments.md:
        from omo.views.report import markdown

        return target.write_at(context, target.Kind("md", markdown.MARKER), arguments.out, markdown.render(report))
    from omo.views.report import page

    kind = target.Kind("html", page.MARKER)
    if arguments.out is not None:
        target.checked(context, kind, arguments.out)  # before the page is drawn, which may take a while
        return target.write_at(context, kind, arguments.out, page.render(report))
    return target.write_at_home(context, kind, report.run or report.session, page.render(report))


def _require_printed_elsewhere(report: Report) -> None:
    """The shell makes the file it prints into before the report looks at the project, which then is another one."""
    try:
        printed = os.fstat(1)
    except OSError:
        return
    for path, _ in report.changed.files:
        full = os.path.join(report.root, path)
        if os.path.isfile(full) and os.path.samestat(os.stat(full), printed):
            raise Refused(
                f"the output goes into {path} of the project, which is a change, and takes back what was proven",
                fix=f"rm {shlex.quote(path)}; then print it elsewhere: omo report --md > /tmp/report.md",
            )


def _opened(path: str, context: Context) -> str:
    """Only on a screen that somebody looks at; a browser in a terminal would take that over."""
    has_screen = sys.platform in ("darwin", "win32") or any(context.environ.get(name) for name in SCREENS)
    if not has_screen:
        return "there is no screen to show it on; open the file yourself"
    import webbrowser

    return "it is shown in your browser" if webbrowser.open(Path(path).as_uri()) else "no browser could be started"
