"""`omo doctor`: can omo work here, and if not, what mends it."""

from __future__ import annotations

import argparse
import sys

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context, plugin_root
from omo.doctor.checks import CHECKS, examine
from omo.doctor.finding import FAIL, OK, Finding, Probe


def register(commands: options.Commands) -> None:
    options.command(commands, "doctor", "can omo work here, and if not, what mends it", run, session=False)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    return diagnose(Probe(context, plugin_root(), sys.executable))


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
