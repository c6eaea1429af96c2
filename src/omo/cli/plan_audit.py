"""`omo plan audit`: what git and the files show of a plan or a session, and beside it what was noted down."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, NotEvaluable
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ultraplan.audit import Audit, StepAudit
    from omo.ultraplan.models import Document
    from omo.ultraplan.recorded import Pinned

MOST_SHOWN = 20
EDITED = 3


def register(verbs: options.Commands) -> None:
    about = "what git and the files show of each step: exit 0 pass, 3 drift, 4 cannot be evaluated"
    parser = options.command(verbs, "audit", about, audit, session=False)
    parser.add_argument("document", metavar="PLAN|SPEC", help="the plan, or one of its session specs")
    parser.add_argument("--base", metavar="REV", help="the commit the work began at (default: the one start recorded)")


def audit(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import audit as auditing
    from omo.ultraplan import recorded, run

    path = Path(context.cwd, arguments.document)
    if not arguments.base:
        recorded.require_here(context.state, context.root, path)
    kept = recorded.pinned_for(context.state, context.root, path)
    if kept is not None:
        return _of_copy(arguments, context, kept)
    document = _document(arguments.document, context)
    base = arguments.base or run.find_base(context.state, document)
    if not base:
        raise BadInput(
            f"where the work on {clip(document.path, 200)} began is not recorded",
            fix=f"name the commit: omo plan audit {shlex.quote(arguments.document)} --base REV",
        )
    told = auditing.audit(document, Path(context.root), base=base, skipped=run.find_skipped(context.state, document))
    return _shown(arguments, context, document, told)


def _of_copy(arguments: argparse.Namespace, context: Context, kept: Pinned) -> Result:
    """The file is not what was started: its text counts for nothing, and another base than the run's proves nothing."""
    from omo.ultraplan import audit as auditing

    base = arguments.base or kept.base
    told = auditing.audit(kept.document, Path(context.root), base=base, skipped=kept.skipped, inputs=kept.inputs)
    shown = _shown(arguments, context, kept.document, told)
    code = shown.exit_code or (EDITED if arguments.base else 0)
    text = f"Note: {kept.edited}\n{shown.text}"
    return Result({**shown.data, "ok": code == 0, "edited": kept.edited}, text, code)


def _shown(arguments: argparse.Namespace, context: Context, document: Document, told: Audit) -> Result:
    noted = _noted(context, document, told)
    follow = _next(told, arguments.document)
    data = {**told.to_json(), "document": document.path, **noted, "next": follow}
    return Result(data, "\n".join(_lines(told, noted, follow)), told.exit_code)


def _document(name: str, context: Context) -> Document:
    from omo.ultraplan import document as documents

    document = documents.synthesise(documents.load(Path(context.cwd, name), Path(context.root)))
    defects = [str(one) for one in document.defects if not one.is_advisory]
    if not document.work_steps:
        defects = defects or ["it has no step; steps are headed ### Step N: Title"]
    if defects:
        count = "1 defect" if len(defects) == 1 else f"{len(defects)} defects"
        raise NotEvaluable(
            f"{clip(document.path, 200)} has {count}, so what it asks for is not clear",
            fix=f"omo plan validate {shlex.quote(name)}",
            defects=[clip(one, 400) for one in defects],
        )
    return document


def _noted(context: Context, document: Document, told: Audit) -> dict[str, list[int]]:
    """What the ledgers of its runs say of the steps: told beside the verdict, and no part of it."""
    from omo.ultraplan import run

    noted = run.find_noted(context.state, document)
    known = {one.step for one in told.steps}
    return {
        "claimed_but_unproven": sorted(noted & known - set(told.passed)),
        "proven_but_unclaimed": sorted(set(told.passed) - noted),
    }


def _next(told: Audit, name: str) -> str:
    """The one thing to do now; empty where nothing is left."""
    if told.verdict == "pass":
        return ""
    if told.take_back:
        ways = [shlex.join(command) for command in told.take_back[:MOST_SHOWN]]
        return f"take back what was changed against the scope: {' && '.join(ways)}"
    if told.violations:
        return "tell the user what was changed that must not be; only they decide how it is undone"
    if told.verdict == "unknown":
        return "settle what could not be established, then audit again"
    if told.missing:
        return f"omo plan recover {shlex.quote(name)}"
    return "commit what belongs to the steps and remove the rest, then audit again"


def _lines(told: Audit, noted: dict[str, list[int]], follow: str) -> list[str]:
    lines = [line for one in told.steps for line in _step_lines(one, told)]
    session: dict[str, list[Any]] = {
        "changed against the scope": told.scope_violations,
        "forbidden": told.forbidden_violations,
        "not committed": told.dirty,
        "commits of no step": told.unclaimed,
        "not established": told.problems,
        "noted as passed, not proven": noted["claimed_but_unproven"],
        "proven, never noted": noted["proven_but_unclaimed"] if _claims(told, noted) else [],
    }
    for about, found in session.items():
        lines += [f"{about}: {clip(str(one), 400)}" for one in found[:MOST_SHOWN]]
        lines += [f"{about}: {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    since = f" since {told.base[:12]}" if told.base else ""
    lines.append(f"Verdict: {told.words}{since}, {len(told.passed)} of {len(told.steps)} steps pass")
    return [*lines, f"Next: {follow}"] if follow else lines


def _claims(told: Audit, noted: dict[str, list[int]]) -> bool:
    """Whether anything was noted at all: where nothing was, there is nothing to compare with."""
    return bool(noted["claimed_but_unproven"]) or len(noted["proven_but_unclaimed"]) < len(told.passed)


def _step_lines(one: StepAudit, told: Audit) -> list[str]:
    commit = f" ({one.commit[:12]})" if one.commit else ""
    found = [clip(line, 300) for line in one.findings if line not in told.problems]
    return [f"{one.status:8}Step {one.step}: {clip(one.title, 80)}{commit}", *(f"          {line}" for line in found)]
