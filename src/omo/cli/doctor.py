"""`omo doctor`: can omo work here, and if not, what mends it."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap

from omo import progress
from omo.cli import options
from omo.cli.result import Result
from omo.context import Context, plugin_root
from omo.doctor import CHECKS, FAIL, OK, Finding, Probe, examine

INDENT = " " * 9


def register(commands: options.Commands) -> None:
    options.command(commands, "doctor", "can omo work here, and if not, what mends it", run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    return diagnose(Probe(context, plugin_root(), sys.executable), width)


def diagnose(probe: Probe, width: int = 0) -> Result:
    """Lines no wider than `width`, if there is one; what is to be typed stays whole."""
    findings = []
    with progress.doing("looking") as doing:
        for number, check in enumerate(CHECKS, 1):
            doing.text = f"looking at {check.name}, {number} of {len(CHECKS)}"
            findings.append((check.name, examine(check, probe)))
    counts: dict[str, int] = {}
    lines = []
    for name, finding in findings:
        counts[finding.result] = counts.get(finding.result, 0) + 1
        lines += _lines(name, finding, width)
    lines.append(", ".join(f"{count} {result}" for result, count in counts.items()))
    data = {"checks": [_data(name, finding) for name, finding in findings], "counts": counts}
    return Result(data, "\n".join(lines), 3 if FAIL in counts else 0)


def _data(name: str, finding: Finding) -> dict[str, object]:
    return {
        "name": name,
        "result": finding.result,
        "seen": finding.seen,
        "details": list(finding.details),
        "fix": finding.fix,
    }


def _lines(name: str, finding: Finding, width: int) -> list[str]:
    lines = _wrapped(f"{finding.result:8} {name}: {finding.seen}", width)
    for detail in finding.details:
        lines += _wrapped(f"{INDENT}{detail}", width)
    if finding.result != OK:
        lines.append(f"{INDENT}fix: {finding.fix}")
    return lines


def _wrapped(line: str, width: int) -> list[str]:
    if not width:
        return [line]
    return textwrap.wrap(line, width, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False)
