"""`omo verify claim`: what a text claims, looked into by code."""

from __future__ import annotations

import argparse
from pathlib import Path

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.state import store
from omo.verify import claims
from omo.verify.wording import LONGEST_TEXT


def register(verbs: options.Commands) -> None:
    about = "look into what a text claims: a file's content, an absence, a service, a count of nothing"
    parser = options.command(verbs, "claim", about, claim, session=False)
    parser.add_argument("text", metavar="TEXT", help="the claim, in one sentence or a few")
    parser.add_argument("--goal", metavar="ID", help="the goal the claim belongs to")
    parser.add_argument("--file", metavar="F", help="the file, where the claim does not say which")
    parser.add_argument("--field", metavar="PATH", help="the field of its records, such as meta.error")
    parser.add_argument(
        "--override", metavar="REASON", help="let it stand all the same; recorded and shown (10 characters or more)"
    )


def claim(arguments: argparse.Namespace, context: Context) -> Result:
    if not arguments.text.strip() or len(arguments.text) > LONGEST_TEXT:
        raise BadInput(f"a claim has between 1 and {LONGEST_TEXT} characters", fix='omo verify claim "X contains `Y`"')
    reason = claims.checked_override(arguments.override)
    report = claims.run_claim(arguments.text, root=Path(context.root), file=arguments.file, field=arguments.field)
    override = reason if report.exit_code else None
    if report.gates:
        claims.record(
            context.state,
            report,
            actor=context.actor,
            now=context.now,
            wait=store.CLI_WAIT,
            goal=arguments.goal,
            override=override,
        )
    data = {**report.data(), "goal": arguments.goal, "override": None}
    if override:
        data["override"] = {"reason": override, "by": context.actor}
    notes = ["there was nothing to override"] if reason and not override else []
    return Result(data, _text(report, override, context.actor), 0 if override else report.exit_code, notes)


def _text(report: claims.ClaimReport, override: str | None, actor: str) -> str:
    if not report.gates:
        return "Nothing to gate: the text claims nothing that code could look into."
    lines = []
    for gate in report.gates:
        lines.append(f"{gate.outcome:14}{gate.gate}: {gate.trigger}")
        shown = (("ran", gate.ran), ("saw", gate.saw), ("why", gate.reason))
        lines += [f"    {label}  {value}" for label, value in shown if value]
    if override:
        lines.append(f"overridden by the {actor}: {override}")
    return "\n".join(lines)
