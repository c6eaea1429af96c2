"""The table of commands, and the one place that renders results and errors."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from omo import __version__
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, OmoError

# Each command with the module that has it; only the one that was asked for is imported.
GROUPS = {
    "ulw": "ulw",
    "gate": "gate",
    "ultragoal": "ultragoal",
    "plan": "plan",
    "ralph": "ralph",
    "verify": "verify",
    "evidence": "evidence",
    "goal": "goal",
    "state": "state",
    "adopt": "adopt",
    "stop-continuation": "stop_continuation",
    "status": "status",
    "statusline": "statusline",
    "report": "report",
    "explain": "explain",
    "ledger": "ledger",
    "doctor": "doctor",
    "completion": "completion",
    "demo": "demo",
}


class Parser(argparse.ArgumentParser):
    """Usage errors take the same road as every other error."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(message, fix=f"{self.prog} --help")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of one command, or of all where the name is none of them."""
    parser = Parser(prog="omo", description="Keeps an agent working until the work is proven done.")
    parser.add_argument("--version", action="version", version=f"omo {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for module in [GROUPS[command]] if command in GROUPS else GROUPS.values():
        importlib.import_module(f"omo.cli.{module}").register(commands)
    return parser


def main(argv: Sequence[str], environ: Mapping[str, str], cwd: str, now: float, *, has_terminal: bool = False) -> int:
    wants_json = "--json" in argv[: argv.index("--") if "--" in argv else len(argv)]
    context = Context(environ, cwd, now, has_terminal)
    try:
        arguments = build_parser(argv[0] if argv else None).parse_args(argv)
        result: Result = arguments.run(arguments, context)
    except OmoError as error:
        return _render_error(error, wants_json)
    for problem in context.settings.problems:
        print(f"omo: {problem}", file=sys.stderr)
    return _render(result, wants_json)


def _render(result: Result, wants_json: bool) -> int:
    if wants_json:
        _print_json({"ok": result.exit_code == 0, **result.data})
    elif result.text:
        print(result.text)
    for note in result.notes:
        print(f"omo: {note}", file=sys.stderr)
    return result.exit_code


def _render_error(error: OmoError, wants_json: bool) -> int:
    details = error.details.get("defects", [])
    if wants_json:
        body = {"code": error.code, "message": error.message, "fix": error.fix, "details": details}
        _print_json({"ok": False, "error": body})
    else:
        print(f"omo: {error.message}", file=sys.stderr)
        for line in details if isinstance(details, list) else []:
            print(f"  - {line}", file=sys.stderr)
        if error.fix:
            print(f"  fix: {error.fix}", file=sys.stderr)
    return error.exit_code


def _print_json(value: dict[str, Any]) -> None:
    """A lone surrogate, which anybody may write into a state file, goes out as the escape it came in as."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    print(text.encode("utf-8", "backslashreplace").decode("utf-8"))
