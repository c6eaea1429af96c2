"""`omo plan`: plans as contracts. Here what is asked of plans: whether they are sound, and whether they were kept."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options, plan_run
from omo.cli.result import Result
from omo.context import Context
from omo.errors import Refused
from omo.text import clip, counted
from omo.work.run import caller_of

if TYPE_CHECKING:
    from omo.workflows.ultraplan.audit import Audit
    from omo.workflows.ultraplan.critique import Verdict
    from omo.workflows.ultraplan.models import Defect, Document
    from omo.workflows.ultraplan.propose import Proposals
    from omo.workflows.ultraplan.run import RunStatus

LONGEST_SHOWN = 600
MOST_SHOWN = 20


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "plan", "plans as contracts: validate, critique, sessions, audit, recovery")
    checking = options.command(verbs, "validate", "every defect of a plan, with its line", validate, session=False)
    checking.add_argument("plan", metavar="PLAN")
    about = "fill in what omo can know, then what the critic is to be asked, or what it said"
    reviewing = options.command(verbs, "critique", about, critique)
    reviewing.add_argument("plan", metavar="PLAN")
    plan_run.register(verbs)
    about = "what git and the files show of each step: exit 0 pass, 3 drift, 4 cannot be evaluated"
    auditing = options.command(verbs, "audit", about, audit, session=False)
    auditing.add_argument("plan", metavar="PLAN")


def load(named: str, context: Context) -> Document:
    from omo.workflows.ultraplan import document as documents

    return documents.load(Path(context.cwd, named), Path(context.root))


def validate(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import document as documents
    from omo.workflows.ultraplan import propose, rules

    root = Path(context.root)
    document = load(arguments.plan, context)
    filled = propose.fill_in(document, root)
    every = []
    for defect in rules.validate(documents.parse(filled.text, document.path), root):
        # As lines of the file that is there.
        every.append(replace(defect, line=filled.lines[defect.line - 1]) if defect.line else defect)
    defects = rules.refusing(every)
    advice = [defect for defect in every if defect.is_advisory]
    notes = [*_shown(advice), *_unplaced(filled)]
    data = {
        "plan": document.path,
        "digest": document.digest,
        "version": ".".join(map(str, document.version)) if document.version else None,
        "legacy_plan": document.is_legacy,
        "legacy_synthesis": propose.synthesise(document).is_legacy_synthesis,
        "steps": len(document.steps),
        "is_complete": filled.text == document.text,
        "defects": [_defect_data(defect) for defect in defects],
        "advisories": [_defect_data(defect) for defect in advice],
    }
    path = clip(document.path, 200)
    if not defects:
        name = shlex.quote(arguments.plan)
        left = "" if data["is_complete"] else f"; omo plan critique {name} fills in what the steps leave to omo"
        return Result(data, f"{path}: {len(document.steps)} steps, no defect{left}", notes=notes)
    refusal = _refusal(document, defects, arguments.plan)
    if not arguments.json:
        raise refusal
    error = {"code": refusal.code, "message": refusal.message, "fix": refusal.fix, "details": data["defects"]}
    return Result({**data, "error": error}, "", refusal.exit_code)


def _refusal(document: Document, defects: Sequence[Defect], named: str) -> Refused:
    message = f"{clip(document.path, 200)} has {counted(len(defects), 'defect')}"
    return Refused(message, fix=f"mend the plan, then omo plan critique {shlex.quote(named)}", defects=_shown(defects))


def _shown(defects: Sequence[Defect]) -> list[str]:
    return [clip(str(defect), LONGEST_SHOWN) for defect in defects]


def _unplaced(filled: Proposals) -> list[str]:
    """Names of which nothing is asked, because nobody can tell where they belong."""
    notes = []
    for number, names in filled.unplaced.items():
        said = ", ".join(dict.fromkeys(names))
        notes.append(f"step {number}: which file has {said}? Write its path in backticks before it, to have it checked")
    return notes


def _defect_data(defect: Defect) -> dict[str, Any]:
    return {"line": defect.line, "code": defect.code, "message": clip(defect.message, LONGEST_SHOWN)}


def critique(arguments: argparse.Namespace, context: Context) -> Result:
    """One command from the first draft to the verdict: it fills in, tells every defect, then asks, then answers."""
    context.note_missing_agents()
    from omo.workflows.ultraplan import critique as critiques
    from omo.workflows.ultraplan import rules
    from omo.workflows.ultraplan.run import runs_of_plan

    caller = caller_of(context, context.session(arguments.session))
    document = load(arguments.plan, context)
    notes: list[str] = []
    if not runs_of_plan(caller, document.digest):  # what has begun is not changed any more
        document, notes = _filled_in(document, context)
        every = rules.validate(document, Path(context.root))
        if defects := rules.refusing(every):
            raise _refusal(document, defects, arguments.plan)
        notes += _shown(every)
    verdict = critiques.record(caller, document)
    data = {"plan": document.path, "digest": document.digest}
    if verdict is not None:
        return _verdict(document, verdict, data, notes)
    critiques.await_critic(caller)
    brief = critiques.brief(document)
    following = f"Send this to {critiques.CRITIC}, then: omo plan start {shlex.quote(arguments.plan)}"
    return Result({**data, "brief": brief}, f"{following}\n\n{brief}", notes=notes)


def _filled_in(document: Document, context: Context) -> tuple[Document, list[str]]:
    from omo.workflows.ultraplan import document as documents
    from omo.workflows.ultraplan import propose

    filled = propose.fill_in(document, Path(context.root))
    notes = _unplaced(filled)
    if filled.text != document.text:
        Path(context.root, document.path).write_bytes(filled.text.encode())
        notes.append(f"{document.path} was filled in: what is (proposed) is what the steps will be held to")
    return documents.parse(filled.text, document.path), notes


def _verdict(document: Document, verdict: Verdict, data: dict[str, Any], notes: list[str]) -> Result:
    data |= {
        "verdict": verdict.verdict,
        "clean": verdict.is_clean,
        "reasons": verdict.reasons,
        "dimensions": verdict.dimensions,
        "findings": [finding.model_dump(exclude_none=True) for finding in verdict.findings],
    }
    word = "clean" if verdict.is_clean else "not clean"
    lines = [f"{word}: {clip(document.path, 200)} at {document.digest[:12]}"]
    if verdict.reasons:
        lines.append(f"  because: {clip('; '.join(verdict.reasons), 300)}")
    if verdict.concerns:
        lines.append(f"  concerns: {clip(', '.join(verdict.concerns), 300)}")
    for finding in verdict.findings:
        where = f"line {finding.line}: " if finding.line else ""
        lines.append(f"  - {where}{finding.severity}, {finding.dimension}: {clip(finding.text, 300)}")
    return Result(data, "\n".join(lines), 0 if verdict.is_clean else 3, notes=notes)


# audit


def audit(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan.run import audit_file

    status = audit_file(caller_of(context, ""), Path(context.cwd, arguments.plan))
    following = _after_audit(status, arguments.plan)
    data = {**status.audit.to_json(), "document": status.state.path, "edited": status.edited, "next": following}
    lines = _audit_lines(status.audit)
    if following:
        lines.append(f"Next: {following}")
    if status.edited:
        lines.insert(0, f"Note: {status.edited}")
    return Result(data, "\n".join(lines), status.audit.exit_code)


def _after_audit(status: RunStatus, name: str) -> str:
    """The one thing to do now; empty where nothing is left. A session that is under way just goes on."""
    shown = status.audit
    if shown.verdict == "pass":
        return ""
    if shown.take_back:
        commands = [shlex.join(command) for command in shown.take_back[:MOST_SHOWN]]
        return f"take back what was changed against the scope: {' && '.join(commands)}"
    if shown.violations:
        return "tell the user what was changed that must not be; only they decide how it is undone"
    if shown.verdict == "unknown":
        return "settle what could not be established, then audit again"
    if status.state.is_open:
        return "omo plan status"
    if shown.missing:
        return f"omo plan recover {shlex.quote(name)}"
    return "commit what belongs to the steps and remove the rest, then audit again"


def _audit_lines(shown: Audit) -> list[str]:
    lines = []
    for step in shown.steps:
        commit = f" ({step.commit[:12]})" if step.commit else ""
        lines.append(f"{step.status:8}Step {step.step}: {clip(step.title, 80)}{commit}")
        for finding in step.findings:
            if finding not in shown.problems:
                lines.append(f"          {clip(finding, 300)}")
    sections: dict[str, Sequence[object]] = {
        "changed against the scope": shown.scope_violations,
        "forbidden": shown.forbidden_violations,
        "not committed": shown.dirty,
        "commits of no step": shown.unclaimed,
        "not established": shown.problems,
    }
    for about, listed in sections.items():
        for entry in listed[:MOST_SHOWN]:
            lines.append(f"{about}: {clip(str(entry), 400)}")
        if len(listed) > MOST_SHOWN:
            lines.append(f"{about}: {len(listed) - MOST_SHOWN} more")
    since = f" since {shown.base[:12]}" if shown.base else ""
    lines.append(f"Verdict: {shown.words}{since}, {len(shown.passed)} of {len(shown.steps)} steps pass")
    return lines
