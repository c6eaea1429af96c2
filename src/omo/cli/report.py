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
from omo.state import paths, store

if TYPE_CHECKING:
    from omo.views.report.gather import Report

SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
HOME = "reports"


def register(commands: options.Commands) -> None:
    about = "what was proven and what was not, as one HTML page or as Markdown"
    parser = options.command(commands, "report", about, run)
    parser.add_argument("--run", metavar="ID", dest="run_id", help="one run only, also an earlier one of the project")
    parser.add_argument("--md", action="store_true", help="print Markdown for a pull request instead")
    parser.add_argument("--open", action="store_true", help="show the page in your browser")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if arguments.open and context.is_agent:
        raise Refused(
            "--open is the user's: it starts a program on their screen",
            fix="omo report writes the page and names it, omo report --md prints",
        )
    if arguments.open and (arguments.md or arguments.json):
        raise BadInput("--open shows a page, not Markdown or JSON", fix="omo report --open")
    chosen = arguments.run_id or ""
    # A run that is named says whose it is, so no session has to be clear.
    name = context.clear_session() if chosen and not arguments.session else context.looked_at(arguments.session)
    with progress.doing("gathering the report"):
        from omo.views.report.gather import gather

        report = gather(context, name, chosen)
        if arguments.json:
            return Result(report.data, "")
        if arguments.md:
            from omo.views.report import markdown

            _require_printed_elsewhere(report)
            return Result({}, markdown.render(report).rstrip("\n"))
        path = _write(context, report)
    return Result({}, f"{report.verdict.text}\n{path}", notes=[_opened(path, context)] if arguments.open else [])


def _write(context: Context, report: Report) -> str:
    """Below the state directory, which git does not see; the newest report of a session replaces the one before."""
    from omo.views.report import page

    directory = os.path.join(context.state, HOME)
    store.make_state_dir(context.state)
    store.make_dir(directory, context.state)
    path = os.path.join(directory, f"{paths.file_name_of(report.run or report.session)}.html")
    text = page.render(report)
    with store.Lock(os.path.join(directory, "report.lock"), store.Deadline(store.CLI_WAIT)):
        store.replace(path, text)
    return path


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
