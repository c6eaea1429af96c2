"""The table of commands, and the one place that renders results and errors."""

from __future__ import annotations

import sys

from omo import __version__, table
from omo.progress import columns, folded
from omo.text import encodable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence
    from typing import Any

    from omo.context import Context
    from omo.errors import OmoError
    from omo.result import Result

# Each command with the module that has it and what it is for; only the one that was asked for is imported.
FOR_YOU = {
    "status": ("omo.cli.status", "what is on in this project, session by session"),
    "report": ("omo.cli.report", "what was proven and what was not, as one HTML page or as Markdown"),
    "explain": ("omo.cli.explain", "which rule decides, what it reads, what would change it"),
    "run": ("omo.cli.run", "carry out a task where nobody watches, round by round, until it is proven"),
    "receipt": ("omo.cli.receipt", "what was proven, for others to run again: write, verify"),
    "proof": ("omo.cli.proof", "which changed lines does no test hold: each hunk is taken away, and the tests are run"),
    "adopt": ("omo.cli.adopt", "take omo state that you did not make here, or move it aside with --not"),
    "resume": ("omo.cli.resume", "what stands still goes on, also what another conversation left open"),
    "stop-continuation": ("omo.cli.stop_continuation", "end at once what is on in a session"),
    "setup": ("omo.cli.setup", "omo on your PATH, in the status line, or all away"),
    "doctor": ("omo.cli.doctor", "can omo work here, and if not, what mends it"),
    "demo": ("omo.cli.demo", "watch an ultrawork session from first word to release"),
}
FOR_THE_AGENT = {
    "next": ("omo.cli.next", "the next step of what is on in this session, with all that is needed to do it"),
}
for row in reversed(table.ROWS):
    FOR_THE_AGENT.update(row.commands)
FOR_THE_AGENT["state"] = ("omo.cli.state", "start a workflow from nothing; hand a plan on")
FOR_THE_AGENT["ledger"] = ("omo.cli.ledger", "the ledgers of a session and the project: verify")
COMMANDS = {**FOR_YOU, **FOR_THE_AGENT}
# Typed in the conversation; who looks for one here reads where it is, and what does the like from a terminal.
IN_THE_CONVERSATION = {
    "pin": "omo gate add NAME -- COMMAND pins one from here",
    "unpin": "omo gate remove NAME takes one away from here",
    "allow": "in the conversation: /omo:allow NAME",
    "budget": "in the conversation: /omo:budget 2M tokens",
}


def help_text(width: int) -> str:
    """Of `omo` itself. It loads no command."""
    import textwrap

    lines = ["usage: omo COMMAND …", ""]
    lines += textwrap.wrap("Keeps an agent working until the work is proven done.", width)
    for heading, commands in (("for you", FOR_YOU), ("for the agent", FOR_THE_AGENT)):
        lines += ["", f"{heading}:"]
        for name, (_, about) in commands.items():
            lines += textwrap.wrap(f"  {name:18} {about}", width, subsequent_indent=" " * 21)
    lines += ["", *textwrap.wrap("omo COMMAND --help says more of one, omo --version which omo this is.", width)]
    return "\n".join(lines) + "\n"


def build_parser(*typed: str) -> argparse.ArgumentParser:
    """The parser of the command and verb that were typed, which knows the others by name alone; or the whole one."""
    import importlib

    from omo import options

    parser = options.Parser(prog="omo")
    parser.add_argument("--version", action="version", version=f"omo {__version__}")  # which `main` answers; offered
    commands = options.commands_of(parser, typed or None, dest="command", metavar="COMMAND")
    commands.show_session = _show_session
    commands.about = {name: about for name, (_, about) in COMMANDS.items()}
    for name, (module, _) in COMMANDS.items():
        if not typed or name == typed[0]:
            importlib.import_module(module).register(commands)
        else:
            commands.add_parser(name)
    return parser


def _show_session(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli import status

    return status.of_session(arguments, context)


def main(
    argv: Sequence[str],
    environ: Mapping[str, str],
    cwd: str,
    now: float,
    *,
    has_terminal: bool = False,
    is_under_agent: bool = True,
) -> int:
    # Before argparse, which takes longer to load than these to answer.
    if list(argv) in ([], ["--help"], ["-h"], ["help"]):
        print(help_text(columns() - 2), end="")
        return 0
    if list(argv) in (["--version"], ["-V"], ["version"]):
        print(f"omo {__version__}")
        return 0
    from omo.errors import BadInput, OmoError

    if argv[0] == "help":
        argv = [*argv[1:], "--help"]
    wants_json = "--json" in argv[: argv.index("--") if "--" in argv else len(argv)]
    if argv[0] in IN_THE_CONVERSATION:
        typed = f"{argv[0]} is no command of the shell: it is typed in the conversation, as /omo:{argv[0]}"
        return _render_error(BadInput(typed, fix=IN_THE_CONVERSATION[argv[0]]), wants_json, environ)
    try:
        arguments = build_parser(*argv).parse_args(argv)
    except OmoError as error:
        return _render_error(error, wants_json, environ)
    from omo import variables
    from omo.context import Context
    from omo.proof import bytecode
    from omo.state import packages

    only_looks = _only_looks(arguments)
    context = Context(environ, cwd, now, has_terminal, is_under_agent=is_under_agent)
    try:
        # Nobody need be asked about a report, but it writes a file.
        with packages.used(only_looks=only_looks and arguments.command != "report"):
            _put_back_first(arguments, context)
            with variables.handing_on(lambda: context.users_variables), bytecode.judgement():
                result: Result = arguments.run(arguments, context)
            if not only_looks:
                context.settle()
    except OmoError as error:
        return _render_error(error, wants_json, environ)
    for note in [*context.settings.problems, *context.notes]:
        if note not in result.told:
            _say(f"omo: {note}", environ)
    return _render(result, wants_json, environ)


def _only_looks(arguments: argparse.Namespace) -> bool:
    from omo.hooks import own_calls

    return own_calls.only_looks([arguments.command, getattr(arguments, "verb", "")])


def _put_back_first(arguments: argparse.Namespace, context: Context) -> None:
    """Puts back files that a process had swapped before it was killed. While a live one has swapped some, only commands
    that look go on: raises Busy for any other."""
    import os

    from omo.state import paths

    journals = paths.swap_journal(context.state), paths.swap_unfinished(context.state)
    if not any(map(os.path.lexists, journals)):
        return
    from omo import masking
    from omo.errors import Busy
    from omo.proof import swap

    for line in swap.recover(context.state, context.root):
        print(f"omo: {masking.mask(line)}", file=sys.stderr)
    if arguments.command in FOR_YOU or _only_looks(arguments) or not swap.is_under_way(context.state):
        return
    raise Busy(swap.UNDER_WAY, fix="call it again when that has ended; omo status can be called now")


def _render(result: Result, wants_json: bool, environ: Mapping[str, str]) -> int:
    if wants_json:
        _print_json({"ok": result.exit_code == 0, **result.data}, environ)
    elif result.text:
        print(encodable(_spelled(result.text, environ)))
    for note in result.notes:
        _say(f"omo: {note}", environ)
    return result.exit_code


def _render_error(error: OmoError, wants_json: bool, environ: Mapping[str, str]) -> int:
    details = error.details.get("defects", [])
    if wants_json:
        body = {"code": error.code, "message": error.message, "fix": error.fix, "details": details}
        _print_json({"ok": False, "error": body}, environ)
    else:
        _say(f"omo: {error.message}", environ)
        for line in details if isinstance(details, list) else []:
            _say(f"  - {line}", environ)
        if error.fix:
            # One line, however long: it is there to be copied.
            print(encodable(f"  fix: {_spelled(error.fix, environ)}"), file=sys.stderr)
        from omo import hosts

        # The fix mends what was wrong, but does not say how the agent's work goes on.
        if error.code == "refused" and hosts.session_of(environ):
            _say("  omo next says what comes after", environ)
    return error.exit_code


def _say(text: str, environ: Mapping[str, str]) -> None:
    print(encodable(folded(_spelled(text, environ), sys.stderr)), file=sys.stderr)


def _spelled(text: str, environ: Mapping[str, str]) -> str:
    """The text without secrets, and with our commands as one types them in the host around us."""
    from omo import hosts, masking

    return hosts.around(environ).spell(masking.mask(text))


def _print_json(value: dict[str, Any], environ: Mapping[str, str]) -> None:
    """A lone surrogate, which anybody may write into a state file, goes out as the escape it came in as."""
    import json

    from omo import hosts, masking

    text = json.dumps(masking.masked_data(value), ensure_ascii=False, default=str)
    text = hosts.around(environ).spell(text)
    print(text.encode("utf-8", "backslashreplace").decode("utf-8"))
