"""`omo report`: a session or a run as one page that needs nothing else, or as Markdown for a pull request."""

from __future__ import annotations

import argparse
import os
import shlex
import stat
import sys
from typing import TYPE_CHECKING

from omo import options, progress
from omo.cli import out_file
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import base, git
from omo.result import Result
from omo.state import paths
from omo.text import clip

if TYPE_CHECKING:
    from omo.views.report.gather import Report

HOME = "reports"


def register(commands: options.Commands) -> None:
    parser = options.top_command(commands, "report", run)
    about = "one run only, also an earlier one; of ultrawork a conversation's last"
    parser.add_argument("--run", metavar="ID", dest="run_id", help=about)
    parser.add_argument("--out", metavar="FILE", help=out_file.ABOUT)
    parser.add_argument("--md", action="store_true", help="Markdown for a pull request, printed unless --out is given")
    options.add_exit_code(parser)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    if context.is_agent and arguments.out is not None:
        raise out_file.not_the_agents("omo report writes the page and names it, omo report --md prints")
    chosen = arguments.run_id or ""
    if arguments.exit_code and not chosen:
        name = context.judged_session(arguments.session)
    elif chosen and not arguments.session:  # a run that is named says whose it is, so no session has to be clear
        name = context.clear_session()
    else:
        name = context.looked_at(arguments.session)
    with progress.doing("gathering the report"):
        from omo.views.report.gather import gather

        report = gather(context, name, chosen)
        code = report.verdict.exit_code if arguments.exit_code else 0
        if arguments.json and arguments.out is None:
            return Result(report.data, "", code)
        if arguments.md:
            from omo.views.report import markdown

            text, ending, marker = markdown.render(report), ".md", markdown.MARKER
        else:
            from omo.views.report import page

            text, ending, marker = page.render(report), ".html", page.MARKER
        if arguments.out is not None:
            if not arguments.out.endswith(ending):
                what = f"--out {clip(arguments.out, 200)} does not end in {ending}"
                raise BadInput(what, fix="--md writes Markdown, else it is a page")
            path = out_file.write(context, arguments.out, text, marker, "report")
        elif arguments.md:
            _require_printed_elsewhere(report)
            return Result({}, text.rstrip("\n"), code)
        else:
            path = out_file.keep(context, HOME, f"{paths.file_name_of(report.run or report.session)}.html", text)
    text = f"{progress.folded(report.verdict.text, sys.stdout)}\n{path}"
    return Result({**report.data, "path": path}, text, code)


def _require_printed_elsewhere(report: Report) -> None:
    """The shell makes or empties the file it prints into before the report looks at the project, which then is another
    one."""
    try:
        printed = os.fstat(1)
    except OSError:
        return
    if not stat.S_ISREG(printed.st_mode):
        return
    tracked = git.run(report.root, "ls-files", "-z", "--cached").lines
    for path in [*tracked, *base.Untracked(report.root)()]:
        full = os.path.join(report.root, path)
        if os.path.isfile(full) and os.path.samestat(os.stat(full), printed):
            fix = "print it elsewhere: omo report --md > /tmp/report.md"
            if not printed.st_size:  # else `>>` left what somebody wrote in it
                fix = f"{'git restore' if path in tracked else 'rm'} {shlex.quote(path)}; then {fix}"
            raise Refused(
                f"the output goes into {path} of the project, which is a change, and takes back what was proven",
                fix=fix,
            )
