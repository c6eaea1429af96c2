"""`omo verify claim`: what a statement claims, looked at by code."""

from __future__ import annotations

import argparse

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.state import store
from omo.verify import claims
from omo.verify.statements import LONGEST_TEXT


def register(verbs: options.Commands) -> None:
    about = "file what a statement claims, looked at now: exit 0 it holds, 3 it does not, 4 code could not tell"
    parser = options.command(verbs, "claim", about, claim, session=False)
    parser.add_argument("statement", nargs="?", default="", metavar="STATEMENT", help="word for word as it is answered")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--absent", metavar="PATH", help="nothing is there (a path or glob)")
    what.add_argument("--contains", metavar="TEXT", help="the file of --in has this text")
    what.add_argument("--lacks", metavar="TEXT", help="no file of --in has this text")
    what.add_argument("--count", type=int, metavar="N", help="so many files match --of, or records with --field")
    what.add_argument("--service", metavar="HOST:PORT", help="is up or down (--is): one TCP connection, 3 seconds")
    parser.add_argument("--in", dest="where", metavar="PATH", help="for --contains and --lacks: a path or glob")
    parser.add_argument("--of", metavar="GLOB", help="for --count")
    parser.add_argument("--field", default="", metavar="NAME", help="for --count: JSON lines with this field")
    parser.add_argument("--value", default="", metavar="V", help="for --field: only those where it has this value")
    parser.add_argument("--is", dest="up_or_down", choices=("up", "down"), help="for --service")
    parser.add_argument("--goal", metavar="ID", help="the goal the statement belongs to")
    parser.add_argument(
        "--override", metavar="REASON", help="let it stand all the same; recorded and shown (10 characters or more)"
    )


def claim(arguments: argparse.Namespace, context: Context) -> Result:
    filed = _claim_of(arguments)
    statement = arguments.statement.strip() or filed.in_words
    if len(statement) > LONGEST_TEXT:
        raise BadInput(f"a statement has at most {LONGEST_TEXT} characters", fix="claim one thing at a time")
    reason = claims.checked_override(arguments.override)
    finding = claims.look(filed, context.root)
    override = reason if finding.result != "pass" else None
    row = claims.row_of(filed, statement, finding, goal=arguments.goal, override=override)
    claims.record(context.state, [row], actor=context.actor, now=context.now, wait=store.CLI_WAIT)
    lines = [f"{finding.result:8}{filed.in_words}: {finding.reason}"]
    if finding.observed:
        lines.append(f"    saw  {finding.observed}")
    data = {key: value for key, value in row.items() if key != "kind"}
    if override:
        data["override"] = {"reason": override, "by": context.actor}
        lines.append(f"overridden by the {context.actor}: {override}")
        return Result(data, "\n".join(lines))
    if finding.result != "pass":
        lines.append("Next: look again and restate it. If code is wrong: --override REASON, recorded and shown")
    notes = ["there was nothing to override"] if reason else []
    return Result(data, "\n".join(lines), claims.exit_code(finding), notes)


def _claim_of(arguments: argparse.Namespace) -> claims.Claim:
    """One of five, each with the option that belongs to it and no other."""
    if arguments.absent is not None:
        kind, companions, built = "absent", (), claims.Claim("absent", arguments.absent)
    elif arguments.count is not None:
        kind, companions = "count", ("of", "field", "value")
        built = claims.Claim(
            "count", arguments.of or "", count=arguments.count, field=arguments.field, value=arguments.value
        )
    elif arguments.service is not None:
        kind, companions = "service", ("up_or_down",)
        built = claims.Claim("service", arguments.service, is_up=arguments.up_or_down == "up")
    else:
        kind = "lacks" if arguments.contains is None else "contains"
        companions = ("where",)
        built = claims.Claim(kind, arguments.where or "", text=arguments.lacks or arguments.contains or "")
    names = {"where": "--in", "of": "--of", "field": "--field", "value": "--value", "up_or_down": "--is"}
    needed = companions[:1]
    defects = [f"--{kind} needs {names[name]}" for name in needed if not getattr(arguments, name)]
    for name, option in names.items():
        if name not in companions and getattr(arguments, name):
            defects.append(f"{option} does not belong to --{kind}")
    if arguments.value and not arguments.field:
        defects.append("--value needs --field")
    if kind in ("contains", "lacks") and not built.text:
        defects.append(f"--{kind} needs a text")
    if defects:
        fix = "omo verify claim --help shows which options belong together"
        raise BadInput(f"the claim cannot be used: {defects[0]}", fix=fix, defects=defects)
    return built
