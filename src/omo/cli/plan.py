"""`omo plan`: plans as contracts, from validation and critique to sessions, audit and recovery."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options, plan_audit, plan_run, plan_sessions
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ultraplan.critique import Place, Recorded
    from omo.ultraplan.models import Defect, Document

LARGEST_MESSAGE = 256 * 1024
LONGEST_SHOWN = 600


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "plan", "plans as contracts: validate, critique, sessions, audit, recovery")
    checking = options.command(verbs, "validate", "every defect of a plan, with its line", validate, session=False)
    checking.add_argument("plan", metavar="PLAN")
    reviewing = options.command(verbs, "critique", "record the critic's verdict on exactly this text", critique)
    reviewing.add_argument("plan", metavar="PLAN")
    how = reviewing.add_mutually_exclusive_group()
    how.add_argument("--result", metavar="FILE", help="the critic's final message; default: the one the host reported")
    how.add_argument("--brief", action="store_true", help="print what the critic is to be asked")
    for module in (plan_sessions, plan_run, plan_audit):
        module.register(verbs)


def load(named: str, context: Context) -> Document:
    from omo.ultraplan import document as documents

    return documents.load(Path(context.cwd, named), Path(context.root))


def validate(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import rules

    document = load(arguments.plan, context)
    found = rules.validate(document, Path(context.root))
    defects = rules.refusing(found)
    advisories = [one for one in found if one.is_advisory]
    data = _judged(document, defects, advisories)
    if not defects:
        text = f"{clip(document.path, 200)}: {len(document.work_steps)} steps, no defect"
        return Result(data, text, notes=[_shown(one) for one in advisories])
    count = "1 defect" if len(defects) == 1 else f"{len(defects)} defects"
    said = f"{clip(document.path, 200)} has {count}"
    fix = f"mend the plan, then omo plan validate {shlex.quote(arguments.plan)}"
    if not arguments.json:
        raise Refused(said, fix=fix, defects=[_shown(one) for one in defects])
    error = {"code": Refused.code, "message": said, "fix": fix, "details": data["defects"]}
    return Result({**data, "error": error}, "", Refused.exit_code)


def _judged(document: Document, defects: list[Defect], advisories: list[Defect]) -> dict[str, Any]:
    from omo.ultraplan.document import synthesise

    whole = synthesise(document)
    return {
        "plan": document.path,
        "digest": document.digest,
        "version": ".".join(map(str, document.version)) if document.version else None,
        "legacy_plan": document.is_legacy,
        "legacy_synthesis": whole.is_legacy_synthesis,
        "steps": len(document.work_steps),
        "defects": [_data(one) for one in defects],
        "advisories": [_data(one) for one in advisories],
    }


def _shown(defect: Defect) -> str:
    return clip(str(defect), LONGEST_SHOWN)


def _data(defect: Defect) -> dict[str, Any]:
    return {"line": defect.line, "code": defect.code, "message": clip(defect.message, LONGEST_SHOWN)}


def critique(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import critique as critiques

    document = load(arguments.plan, context)
    place = _place(arguments, context)
    if arguments.brief:
        critiques.await_critic(place)
        return Result(
            {"plan": document.path, "digest": document.digest, "brief": critiques.brief(document)},
            critiques.brief(document),
        )
    given = None if arguments.result in (None, "-") else _message(arguments.result, context.cwd)
    return _recorded(critiques.record(place, document, given))


def _place(arguments: argparse.Namespace, context: Context) -> Place:
    """A file can be recorded outside any session; then no host vouches for it."""
    from omo.state import store
    from omo.ultraplan.critique import Place

    live = context.live_sessions()
    session = arguments.session or context.named_session or (live[0] if len(live) == 1 else "")
    return Place(context.state, session, context.actor, context.now, store.CLI_WAIT)


def _message(named: str, cwd: str) -> str:
    try:
        with open(os.path.join(cwd, named), "rb") as file:
            raw = file.read(LARGEST_MESSAGE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"--result {clip(named, 200)}: {why}", fix="name the file with the critic's message") from None
    if len(raw) > LARGEST_MESSAGE:
        raise BadInput(f"--result {clip(named, 200)} has more than {LARGEST_MESSAGE} bytes", fix="only the message")
    return raw.decode("utf-8-sig", "replace")


def _recorded(done: Recorded) -> Result:
    findings = [one.model_dump(exclude_none=True) for one in done.verdict.findings]
    data = {
        "plan": done.plan,
        "digest": done.digest,
        "verdict": done.verdict.verdict,
        "clean": done.verdict.is_clean,
        "cleared": done.is_cleared,
        "independence": done.independence,
        "reasons": done.verdict.reasons,
        "dimensions": done.verdict.dimensions,
        "findings": findings,
    }
    word = "clean" if done.verdict.is_clean else "not clean"
    lines = [f"{word}: {clip(done.plan, 200)} at {done.digest[:12]}, independence {done.independence}"]
    lines += [f"  because: {clip('; '.join(done.verdict.reasons), 300)}"] if done.verdict.reasons else []
    lines += [f"  concerns: {clip(', '.join(done.verdict.concerns), 300)}"] if done.verdict.concerns else []
    lines += [
        f"  - {_place_of(one)}{one['severity']}, {one['dimension']}: {clip(one['text'], 300)}" for one in findings
    ]
    unseen = "no hook saw a critic say this (reduced independence): it is kept, and does not clear the plan"
    remedy = "omo plan start still asks for a verdict that the host saw, or for --unreviewed REASON"
    notes = [] if done.independence == "full" else [f"{unseen}; {remedy}"]
    return Result(data, "\n".join(lines), 0 if done.is_cleared else 3, notes)


def _place_of(finding: dict[str, Any]) -> str:
    return f"line {finding['line']}: " if finding.get("line") else ""
