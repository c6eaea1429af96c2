"""`omo verify pin` and `omo verify checks`: file checks, approve their commands, evaluate them on the tree as it is."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.evidence import pins
from omo.evidence.checks import load_checks_file
from omo.evidence.evaluate import Observation, evaluate
from omo.shown import clip
from omo.state import store


def register(verbs: options.Commands) -> None:
    pin_parser = options.command(
        verbs,
        "pin",
        "file checks and approve their commands; tells defects and what passes already",
        pin,
        session=False,
    )
    _common(pin_parser)
    pin_parser.add_argument("--repair", action="store_true", help="keep a damaged ledger of pins aside and begin anew")
    checks_parser = options.command(
        verbs,
        "checks",
        "evaluate a file of checks: exit 0 all pass, 3 one fails, 4 one is unknown",
        checks,
        session=False,
    )
    _common(checks_parser)
    checks_parser.add_argument("--base", metavar="REV", help="compare with this revision (default: HEAD when pinned)")


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", required=True, metavar="FILE", help='JSON or YAML: {"checks": [...]}')
    parser.add_argument("--goal", metavar="ID", help="the goal the checks belong to")


def pin(arguments: argparse.Namespace, context: Context) -> Result:
    path = _file(arguments, context)
    report = pins.pin(
        context.state,
        Path(context.root),
        load_checks_file(path),
        source=_source(path, context),
        goal=arguments.goal,
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        repair=arguments.repair,
    )
    data = {
        "by": report.by,
        "base": report.base,
        "pinned": report.added,
        "kept": {name: {"by": earlier.by, "base": earlier.base} for name, earlier in report.kept.items()},
        "vacuous": report.vacuous,
        "all_vacuous": report.all_vacuous,
        "checks": [_data(one) for one in report.verdict.checks],
    }
    base = f", base {report.base[:12]}" if report.base else ", no git: no base"
    lines = [f"{len(report.added)} checks pinned by the {report.by}{base}."]
    lines += [
        f"kept    {name}: pinned already by the {earlier.by}{f', base {earlier.base[:12]}' if earlier.base else ''}"
        for name, earlier in report.kept.items()
    ]
    lines += ["As things stand before the work:", *(_line(one) for one in report.verdict.checks)]
    return Result(data, "\n".join(lines), notes=_warnings(report))


def _warnings(report: pins.PinReport) -> list[str]:
    if not report.verdict.checks:
        return ["there are no checks in it: nothing can pass"]
    notes = [
        f"vacuous: {name} passes already, so it proves nothing about the work; "
        "guard: true says that it is meant to pass before and after"
        for name in report.vacuous
    ]
    if report.all_vacuous:
        notes.append("nothing here could show work: every check passes already or is a guard; add one that fails now")
    return notes


def checks(arguments: argparse.Namespace, context: Context) -> Result:
    path = _file(arguments, context)
    parsed = load_checks_file(path)
    pinned = pins.pinned(context.state)
    tree = pinned.tree(Path(context.root), base=arguments.base, goal=arguments.goal, source=_source(path, context))
    verdict = evaluate(parsed, tree)
    data = {"verdict": verdict.verdict, "flags": verdict.flags, "checks": [_data(one) for one in verdict.checks]}
    flags = f" ({', '.join(verdict.flags)})" if verdict.flags else ""
    lines = [*(_line(one) for one in verdict.checks), f"Verdict: {verdict.verdict}{flags}"]
    return Result(data, "\n".join(lines), verdict.exit_code)


def _file(arguments: argparse.Namespace, context: Context) -> Path:
    return Path(context.cwd, arguments.file)


def _source(path: Path, context: Context) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(context.root))


def _data(one: Observation) -> dict[str, str]:
    return {"id": one.id, "result": one.result, "reason": clip(one.reason, 500), "observed": clip(one.observed, 500)}


def _line(one: Observation) -> str:
    guard = " [guard]" if one.guard else ""
    observed = f" | {clip(one.observed, 200)}" if one.observed else ""
    return f"{one.result:8}{clip(one.id, 60)}{guard}: {clip(one.reason, 300)}{observed}"
