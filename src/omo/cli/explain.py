"""`omo explain`: which rule decided, what it read, what would change it."""

from __future__ import annotations

import argparse
import os
import sys

from omo import hosts, options, progress
from omo.context import Context
from omo.errors import BadInput
from omo.result import Result


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "explain")
    prompt_parser = options.command(
        verbs, "prompt", "would this prompt turn ultrawork on, and why", prompt, session=False
    )
    prompt_parser.add_argument("text", metavar="TEXT", nargs="*", help="the prompt; - or nothing reads stdin")
    options.command(verbs, "stop", "what a Stop would do now, rule by rule", explain_stop)
    tool_parser = options.command(verbs, "tool", "would a tool call be denied, by which gate and why", tool)
    tool_parser.add_argument("--tool", metavar="NAME", help="any other tool, by its name")
    tool_parser.add_argument("--write", metavar="PATH", help="a Write of this file")
    tool_parser.add_argument("shell", metavar="-- COMMAND", nargs="*", help="a Bash call with this command")


def prompt(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.views.explain.decisions import explain_prompt

    text = sys.stdin.read() if arguments.text in ([], ["-"]) else " ".join(arguments.text)
    explanation = explain_prompt(text, context.settings, context.environ)
    return Result(explanation.data, progress.folded(explanation.text, sys.stdout))


def explain_stop(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.stop.situation import LONGEST_WAIT
    from omo.views import session
    from omo.views.explain import decisions

    name = context.looked_at(arguments.session)
    known = context.settings
    view = session.session_view(
        context.state, name, known.limits, context.now, context.environ, patience=LONGEST_WAIT, root=context.root
    )
    explanation = decisions.explain_stop(view, known)
    return Result(explanation.data, progress.folded(explanation.text, sys.stdout))


def tool(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.hooks.main import World
    from omo.views.explain.decisions import explain_tool

    if len([option for option in (arguments.tool, arguments.write, arguments.shell) if option]) != 1:
        raise BadInput(
            "name one call: --tool NAME, --write PATH, or -- COMMAND",
            fix="for example: omo explain tool -- rm -rf build",
        )
    session = context.looked_at(arguments.session)
    host = hosts.around(context.environ)
    if arguments.write:
        name, argument = host.write_tool
        given = {argument: os.path.join(context.cwd, arguments.write)}
    elif arguments.shell:
        import shlex

        words = arguments.shell
        name, argument = host.shell_tool
        given = {argument: words[0] if len(words) == 1 else shlex.join(words)}
    else:
        name, given = arguments.tool, {}
    event = host.tool_call(session, context.cwd, name, given)
    explanation = explain_tool(event, World(event, context.environ, context.cwd, context.now))
    return Result(explanation.data, progress.folded(explanation.text, sys.stdout))
