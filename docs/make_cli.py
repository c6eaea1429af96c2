"""Writes docs/cli.md from the parsers of the omo command.

python docs/make_cli.py            rewrites the page
python docs/make_cli.py --check    exits 1 if the page is not what the parsers say
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from omo.cli.main import FOR_THE_AGENT, FOR_YOU, build_parser  # noqa: E402

PAGE = ROOT / "docs" / "cli.md"
HEAD = """\
<!-- Made by docs/make_cli.py from the parsers of the command: edit those. -->

# The omo command

Every command takes `--json` and then prints one object: `{"ok": true, …}`, or
`{"ok": false, "error": {"code", "message", "fix", "details"}}`. Commands that concern a session take `--session ID`;
without it they mean `OMO_SESSION_ID`, else the host's session, else the only live one of the project. What only looks
takes the newest where a person types it, and says which.

| exit code | means |
|---|---|
| 0 | done, or the verdict is pass; with `--exit-code` and of `omo run`: proven or judged |
| 1 | a bug in omo |
| 2 | the command was not understood; nothing was changed |
| 3 | refused, or the verdict is fail |
| 4 | could not be evaluated |
| 75 | come back later: a usage limit or the budget ended it, and it can go on |
| 77 | something needed is missing: Python, or a directory that can be written |
| 130, 143 | interrupted by Ctrl-C, or terminated |
"""


def leaves(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    return [leaf for child in children(parser).values() for leaf in leaves(child)] or [parser]


def children(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def entry(parser: argparse.ArgumentParser) -> str:
    about = str(parser.description)
    lines = [f"### {parser.prog}", "", f"{about[0].upper()}{about[1:]}.", ""]
    for action in parser._actions:
        if action.dest in ("help", "json", "session"):
            continue
        name = ", ".join(action.option_strings) or str(action.metavar)
        value = f" {action.metavar or action.dest.upper()}" if action.option_strings and action.nargs != 0 else ""
        lines.append(f"- `{name}{value}`" + (f": {action.help}" if action.help else ""))
    return "\n".join(lines).rstrip() + "\n"


def render() -> str:
    """In the two groups of `omo --help`; what is internal is in neither."""
    parts = [HEAD]
    commands = children(build_parser())
    for heading, names in (("For you", FOR_YOU), ("For the agent", FOR_THE_AGENT)):
        parts.append(f"## {heading}\n")
        for name in names:
            parts += [entry(leaf) for leaf in leaves(commands[name])]
    return "\n".join(parts)


def main() -> int:
    text = render()
    if "--check" not in sys.argv:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != text:
        print("docs/cli.md is out of date: python docs/make_cli.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
