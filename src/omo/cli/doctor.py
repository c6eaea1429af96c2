"""`omo doctor`: can omo work here, and if not, what mends it."""

from __future__ import annotations

import argparse
import shlex
import sys

from omo import doctor as checks
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context, plugin_root
from omo.doctor import CHECKS, FAIL, OK, Finding, Probe, examine
from omo.errors import BadInput, Refused


def register(commands: options.Commands) -> None:
    parser = options.command(commands, "doctor", "can omo work here, and if not, what mends it", run, session=False)
    parser.add_argument("--fix", choices=["statusline"], help="put omo into Claude Code's status line; shown first")
    parser.add_argument("--remove", action="store_true", help="with --fix: take it out again")
    parser.add_argument("--yes", action="store_true", help="with --fix: write what is shown without asking")


def run(arguments: argparse.Namespace, context: Context) -> Result:
    probe = Probe(context, plugin_root(), sys.executable)
    if arguments.fix:
        return fix_statusline(probe, remove=arguments.remove, agreed=arguments.yes)
    if arguments.remove or arguments.yes:
        raise BadInput("--remove and --yes belong to --fix", fix="omo doctor --fix statusline --yes")
    return diagnose(probe)


def fix_statusline(probe: Probe, *, remove: bool, agreed: bool) -> Result:
    """The settings are the user's: an agent changes nothing in them, and nobody does unseen."""
    if probe.context.is_agent:
        command = shlex.join([str(probe.plugin / "bin" / "omo"), "doctor", "--fix", "statusline"])
        raise Refused("Claude Code's settings are for the user to change", fix=f"in a terminal of their own: {command}")
    change = checks.plan_status_line(probe, remove=remove)
    data = {"file": str(change.path), "diff": change.diff, "written": False}
    if change.is_none:
        return Result(data, f"{change.path} is so already.")
    shown = "\n".join(change.diff)
    if not agreed and not _agrees(shown):
        return Result(data, f"{shown}\nNothing was written. With --yes it is.", 3)
    checks.change_status_line(probe, change, remove=remove)
    return Result({**data, "written": True}, f"{shown}\nWritten. Claude Code shows it with its next message.")


def _agrees(shown: str) -> bool:
    """Asked only where somebody can answer."""
    if not sys.stdin.isatty():
        return False
    print(f"{shown}\nWrite this? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def diagnose(probe: Probe) -> Result:
    found = [(check.name, examine(check, probe)) for check in CHECKS]
    counts: dict[str, int] = {}
    for _, finding in found:
        counts[finding.result] = counts.get(finding.result, 0) + 1
    data = {"checks": [_data(name, finding) for name, finding in found], "counts": counts}
    lines = [line for name, finding in found for line in _lines(name, finding)]
    lines.append(", ".join(f"{count} {result}" for result, count in counts.items()))
    return Result(data, "\n".join(lines), 3 if FAIL in counts else 0)


def _data(name: str, finding: Finding) -> dict[str, object]:
    return {
        "name": name,
        "result": finding.result,
        "seen": finding.seen,
        "details": list(finding.details),
        "fix": finding.fix,
    }


def _lines(name: str, finding: Finding) -> list[str]:
    indent = " " * 26
    lines = [f"{finding.result:8} {name:16} {finding.seen}"]
    lines += [f"{indent}{line}" for line in finding.details]
    return lines if finding.result == OK else [*lines, f"{indent}fix: {finding.fix}"]
