"""`omo plan`: plans as contracts. Here what is asked of documents: validation, critique, sessions, preflight, audit."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options, plan_run
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.proof import globs
from omo.text import clip, counted
from omo.work.run import caller_of

if TYPE_CHECKING:
    from omo.workflows.ultraplan.audit import Audit
    from omo.workflows.ultraplan.audited import AuditedFile
    from omo.workflows.ultraplan.models import Defect, Document
    from omo.workflows.ultraplan.preflight import Preflight
    from omo.workflows.ultraplan.sessions import SessionSpec

LONGEST_SHOWN = 600
MOST_SHOWN = 20
EDITED = 3


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "plan", "plans as contracts: validate, critique, sessions, audit, recovery")
    checking = options.command(verbs, "validate", "every defect of a plan, with its line", validate, session=False)
    checking.add_argument("plan", metavar="PLAN")
    reviewing = options.command(verbs, "critique", "record the critic's verdict on exactly this text", critique)
    reviewing.add_argument("plan", metavar="PLAN")
    reviewing.add_argument("--brief", action="store_true", help="print what the critic is to be asked")
    cutting = options.command(verbs, "decompose", "write a spec for each session of a plan", decompose, session=False)
    cutting.add_argument("plan", metavar="PLAN", help="a plan in Markdown")
    cutting.add_argument("--out", required=True, metavar="DIR", help="a directory of the project, for session-1.md …")
    cutting.add_argument("--force", action="store_true", help="replace specs that are there")
    about = "ask whether this machine has what a session needs; exit 77 if not"
    asking = options.command(verbs, "preflight", about, preflight, session=False)
    asking.add_argument("spec", metavar="SPEC", help="a session spec as decompose writes it")
    plan_run.register(verbs)
    about = "what git and the files show of each step: exit 0 pass, 3 drift, 4 cannot be evaluated"
    auditing = options.command(verbs, "audit", about, audit, session=False)
    auditing.add_argument("document", metavar="PLAN|SPEC", help="the plan, or one of its session specs")
    auditing.add_argument(
        "--base", metavar="REV", help="the commit the work began at (default: the one start recorded)"
    )


def load(named: str, context: Context) -> Document:
    from omo.workflows.ultraplan import document as documents

    return documents.load(Path(context.cwd, named), Path(context.root))


def validate(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import rules
    from omo.workflows.ultraplan.document import synthesise

    document = load(arguments.plan, context)
    every = rules.validate(document, Path(context.root))
    defects = rules.refusing(every)
    advice = [defect for defect in every if defect.is_advisory]
    data = {
        "plan": document.path,
        "digest": document.digest,
        "version": ".".join(map(str, document.version)) if document.version else None,
        "legacy_plan": document.is_legacy,
        "legacy_synthesis": synthesise(document).is_legacy_synthesis,
        "steps": len(document.work_steps),
        "defects": [_defect_data(defect) for defect in defects],
        "advisories": [_defect_data(defect) for defect in advice],
    }
    path = clip(document.path, 200)
    if not defects:
        return Result(data, f"{path}: {len(document.work_steps)} steps, no defect", notes=_shown(advice))
    message = f"{path} has {counted(len(defects), 'defect')}"
    fix = f"mend the plan, then omo plan validate {shlex.quote(arguments.plan)}"
    if not arguments.json:
        raise Refused(message, fix=fix, defects=_shown(defects))
    error = {"code": Refused.code, "message": message, "fix": fix, "details": data["defects"]}
    return Result({**data, "error": error}, "", Refused.exit_code)


def _shown(defects: Sequence[Defect]) -> list[str]:
    return [clip(str(defect), LONGEST_SHOWN) for defect in defects]


def _defect_data(defect: Defect) -> dict[str, Any]:
    return {"line": defect.line, "code": defect.code, "message": clip(defect.message, LONGEST_SHOWN)}


def critique(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import critique as critiques

    document = load(arguments.plan, context)
    caller = caller_of(context, context.session(arguments.session))
    if arguments.brief:
        critiques.await_critic(caller)
        brief = critiques.brief(document)
        return Result({"plan": document.path, "digest": document.digest, "brief": brief}, brief)
    verdict = critiques.record(caller, document)
    data = {
        "plan": document.path,
        "digest": document.digest,
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
    return Result(data, "\n".join(lines), 0 if verdict.is_clean else 3)


# sessions


def decompose(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan import rules, sessions
    from omo.workflows.ultraplan.preflight import has_remote

    root = Path(context.root)
    plan = load(arguments.plan, context)
    if plan.kind != "plan":
        raise BadInput(f"{plan.path} is a session spec already", fix=f"omo plan start {shlex.quote(arguments.plan)}")
    defects = rules.validate(plan, root)
    sessions.refuse(plan, defects)
    specs = sessions.decompose(plan, has_remote=has_remote(root), out=_directory(context, arguments.out))
    _write(root, _texts(plan, specs), force=arguments.force)
    order = sessions.order(specs)
    notes = [str(defect) for defect in defects if defect.is_advisory]
    data = {
        "plan": plan.path,
        "digest": plan.digest,
        "legacy_plan": plan.is_legacy,
        "legacy_synthesis": any(spec.is_legacy_synthesis for spec in specs),
        "sessions": [_session_data(spec) for spec in specs],
        "order": order,
    }
    first = next(spec.path for spec in specs if spec.number == order[0][0])
    lines = [f"{plan.path} is cut into {counted(len(specs), 'session')}:"]
    for spec in specs:
        steps = "step" if len(spec.steps) == 1 else "steps"
        lines.append(f"  {spec.path}: {clip(spec.title, 80)} ({steps} {', '.join(map(str, spec.step_numbers))})")
    waves = [" beside ".join(map(str, wave)) for wave in order]
    lines.append(f"Order: {', then '.join(waves)}")
    lines.append(f"Next: commit the specs, so that the tree is clean, then omo plan start {shlex.quote(first)}")
    return Result(data, "\n".join(lines), notes=notes)


def _directory(context: Context, out: str) -> str:
    """Where the specs go, from the project's top."""
    top = os.path.realpath(context.root)
    wanted = os.path.realpath(os.path.join(context.cwd, out))
    inside = os.path.relpath(wanted, top).replace(os.sep, "/")
    if not globs.is_inside(top, wanted) or globs.is_own(inside) or inside.split("/")[0] == ".git":
        raise BadInput(f"--out {clip(out, 200)} is not a place for specs", fix="name a directory of the project itself")
    return inside


def _texts(plan: Document, specs: Sequence[SessionSpec]) -> dict[str, str]:
    """The text of each file. What does not read back as it was meant would be another contract."""
    from omo.workflows.ultraplan import document as documents
    from omo.workflows.ultraplan import sessions, spec_text

    texts = {}
    wrong: list[str] = []
    for spec in specs:
        texts[spec.path] = spec_text.render(spec)
        written = documents.parse(texts[spec.path], spec.path)
        wrong += [*sessions.differences(written, spec.steps, spec.fence, spec.needs), *written.wrong]
    if wrong:
        fix = f"look for headings, YAML blocks or lists in odd places of {plan.path}, then omo plan validate it"
        raise Refused(f"{plan.path} cannot be written as session specs", fix=fix, defects=wrong)
    return texts


def _write(root: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """All or none: what is there already is told before anything is written."""
    there = []
    for path, text in texts.items():
        if os.path.lexists(root / path) and _content(root / path) != text:
            there.append(path)
    if there and not force:
        raise Refused(
            f"{len(there)} of these specs are there already, with another text",
            fix="name another --out DIR; or replace them with --force",
            defects=there,
        )
    for path, text in texts.items():
        if os.path.islink(root / path):
            raise BadInput(f"{path} is a link", fix="remove it, or name another directory with --out")
        try:
            os.makedirs((root / path).parent, exist_ok=True)
            (root / path).write_bytes(text.encode())
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {error.strerror}", fix="name another --out DIR") from None


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode() if path.is_file() and not path.is_symlink() else None
    except (OSError, ValueError):
        return None


def _session_data(spec: SessionSpec) -> dict[str, Any]:
    return {
        "number": spec.number,
        "title": spec.title,
        "path": spec.path,
        "steps": spec.step_numbers,
        "depends_on": spec.depends_on,
        "blocks": spec.blocks,
        "needs": spec.needs,
        "touch": spec.fence.touch,
        "never": spec.fence.never,
    }


# preflight


def preflight(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan.preflight import MISSING, look

    spec = load(arguments.spec, context)
    if spec.kind != "spec":
        fix = f"omo plan decompose {shlex.quote(spec.path)} --out DIR, then omo plan preflight DIR/session-1.md"
        raise BadInput(f"{spec.path} is a plan; what a session needs stands in its spec", fix=fix)
    if spec.wrong:
        fix = f"omo plan decompose {shlex.quote(spec.master_plan or 'PLAN')} --out DIR --force"
        raise Refused(f"{spec.path} cannot be read as a session spec", fix=fix, defects=spec.wrong)
    asked = look(spec.needs, Path(context.root), environ=context.environ, by=context.actor)
    data = {"spec": spec.path, **asked.data}
    return Result(data, _preflight_text(spec, asked), MISSING if asked.missing else 0)


def _preflight_text(spec: Document, asked: Preflight) -> str:
    if asked.bypassed_by:
        return f"Preflight bypassed by {asked.bypassed_by}=1: nothing was asked, and the session is reported as such."
    lines = [f"  {need.status}: {need.name} ({need.kind}), {need.detail}" for need in asked.needs]
    if not asked.missing:
        return "\n".join([f"Everything that {spec.path} needs is here.", *lines])
    missing = ", ".join(need.name for need in asked.missing)
    last = "Nothing was attempted. Start the session where this is available."
    return "\n".join([f"Missing for {spec.path}: {missing}", *lines, last])


# audit


def audit(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultraplan.audited import audit_file

    caller = caller_of(context, "")
    audited = audit_file(caller, Path(context.cwd, arguments.document), arguments.base or "")
    shown = audited.audit
    following = _after_audit(audited, arguments.document)
    data = {**shown.to_json(), "document": audited.document.path, "next": following}
    lines = _audit_lines(shown)
    if following:
        lines.append(f"Next: {following}")
    code = shown.exit_code
    if audited.edited:
        # The file's text counts for nothing, and another base than the run's proves nothing.
        code = code or (EDITED if arguments.base else 0)
        data |= {"ok": code == 0, "edited": audited.edited}
        lines.insert(0, f"Note: {audited.edited}")
    return Result(data, "\n".join(lines), code)


def _after_audit(audited: AuditedFile, name: str) -> str:
    """The one thing to do now; empty where nothing is left. A session that is under way just goes on."""
    shown = audited.audit
    if shown.verdict == "pass":
        return ""
    if shown.take_back:
        commands = [shlex.join(command) for command in shown.take_back[:MOST_SHOWN]]
        return f"take back what was changed against the scope: {' && '.join(commands)}"
    if shown.violations:
        return "tell the user what was changed that must not be; only they decide how it is undone"
    if shown.verdict == "unknown":
        return "settle what could not be established, then audit again"
    if audited.run is not None and audited.run.state is not None and audited.run.state.is_open:
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
