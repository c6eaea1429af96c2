"""`omo plan decompose` and `preflight`: a plan cut into session specs, and whether one can be carried out here."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, OmoError, Refused
from omo.evidence import globs
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ultraplan.models import Document
    from omo.ultraplan.preflight import Preflight
    from omo.ultraplan.sessions import SessionSpec


def register(verbs: options.Commands) -> None:
    cutting = options.command(verbs, "decompose", "write a spec for each session of a plan", decompose, session=False)
    cutting.add_argument("plan", metavar="PLAN", help="a plan in Markdown")
    cutting.add_argument("--out", required=True, metavar="DIR", help="a directory of the project, for session-1.md …")
    cutting.add_argument("--force", action="store_true", help="replace specs that are there")
    asking = options.command(
        verbs, "preflight", "ask whether this machine has what a session needs; exit 77 if not", preflight
    )
    asking.add_argument("spec", metavar="SPEC", help="a session spec as decompose writes it")


def decompose(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import document as documents
    from omo.ultraplan import rules, sessions
    from omo.ultraplan.preflight import has_remote

    root = Path(context.root)
    plan = documents.load(Path(context.cwd, arguments.plan), root)
    if plan.kind != "plan":
        raise BadInput(f"{plan.path} is a session spec already", fix=f"omo plan start {shlex.quote(arguments.plan)}")
    found = rules.validate(plan, root)
    sessions.refuse(plan, found)
    specs = sessions.decompose(plan, has_remote=has_remote(root), out=_directory(context, arguments.out))
    _write(root, _texts(plan, specs), force=arguments.force)
    notes = [str(defect) for defect in found if defect.is_advisory] + _left_over(root, specs)
    return _shown(plan, specs, sessions.order(specs), notes)


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
    from omo.ultraplan import document as documents
    from omo.ultraplan import spec_text

    texts = {spec.path: spec_text.render(spec) for spec in specs}
    wrong = [one for spec in specs for one in spec_text.unlike(spec, documents.parse(texts[spec.path], spec.path))]
    if wrong:
        fix = f"look for headings, YAML blocks or lists in odd places of {plan.path}, then omo plan validate it"
        raise Refused(f"{plan.path} cannot be written as session specs", fix=fix, defects=wrong)
    return texts


def _write(root: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """All or none: what is there already is told before anything is written."""
    there = [path for path, text in texts.items() if os.path.lexists(root / path) and _content(root / path) != text]
    if there and not force:
        raise Refused(
            f"{len(there)} of these specs are there already, with another text",
            fix="name another --out DIR; or replace them with --force",
            defects=there,
        )
    for path, text in texts.items():
        try:
            os.makedirs((root / path).parent, exist_ok=True)
            if os.path.islink(root / path):
                raise BadInput(f"{path} is a link", fix="remove it, or name another directory with --out")
            (root / path).write_bytes(text.encode())
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {error.strerror}", fix="name another --out DIR") from None


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode() if path.is_file() and not path.is_symlink() else None
    except (OSError, ValueError):
        return None


def _left_over(root: Path, specs: Sequence[SessionSpec]) -> list[str]:
    written = {spec.path for spec in specs}
    directory = os.path.dirname(specs[0].path)
    names = [name for name in os.listdir(root / directory) if re.fullmatch(r"session-\d+\.md", name)]
    paths = sorted(os.path.join(directory, name) for name in names)
    return [f"{path} is no session of this plan; it was there before" for path in paths if path not in written]


def _shown(plan: Document, specs: Sequence[SessionSpec], order: list[list[int]], notes: list[str]) -> Result:
    data = {
        "plan": plan.path,
        "digest": plan.digest,
        "legacy_plan": plan.is_legacy,
        "legacy_synthesis": any(spec.is_legacy_synthesis for spec in specs),
        "sessions": [_session(spec) for spec in specs],
        "order": order,
    }
    first = next(spec.path for spec in specs if spec.number == order[0][0])
    lines = [f"{plan.path} is cut into {len(specs)} session{'' if len(specs) == 1 else 's'}:"]
    lines += [f"  {spec.path}: {clip(spec.title, 80)} ({_steps(spec)})" for spec in specs]
    lines += [f"Order: {', then '.join(' beside '.join(map(str, wave)) for wave in order)}"]
    lines += [f"Next: commit the specs, so that the tree is clean, then omo plan start {shlex.quote(first)}"]
    return Result(data, "\n".join(lines), notes=notes)


def _session(spec: SessionSpec) -> dict[str, Any]:
    return {
        "number": spec.number,
        "title": spec.title,
        "path": spec.path,
        "steps": [step.number for step in spec.steps],
        "depends_on": spec.depends_on,
        "blocks": spec.blocks,
        "needs": spec.needs,
        "touch": spec.fence.touch,
        "never": spec.fence.never,
    }


def _steps(spec: SessionSpec) -> str:
    return f"step{'' if len(spec.steps) == 1 else 's'} {', '.join(str(step.number) for step in spec.steps)}"


def preflight(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ultraplan import document as documents
    from omo.ultraplan.preflight import MISSING, look

    root = Path(context.root)
    spec = documents.load(Path(context.cwd, arguments.spec), root)
    _require_spec(spec)
    asked = look(spec.needs, root, environ=context.environ)
    notes = _record(arguments, context, spec, asked)
    data = {"spec": spec.path, **asked.data}
    return Result(data, _told(spec, asked), MISSING if asked.missing else 0, notes)


def _require_spec(spec: Document) -> None:
    if spec.kind != "spec":
        fix = f"omo plan decompose {shlex.quote(spec.path)} --out DIR, then omo plan preflight DIR/session-1.md"
        raise BadInput(f"{spec.path} is a plan; what a session needs stands in its spec", fix=fix)
    wrong = [str(defect) for defect in spec.defects if not defect.is_advisory]
    if wrong:
        fix = f"omo plan decompose {shlex.quote(spec.master_plan or 'PLAN')} --out DIR --force"
        raise Refused(f"{spec.path} cannot be read as a session spec", fix=fix, defects=wrong)


def _told(spec: Document, asked: Preflight) -> str:
    if asked.bypassed_by:
        return f"Preflight bypassed by {asked.bypassed_by}=1: nothing was asked, and the session is reported as such."
    lines = [f"  {need.status}: {need.name} ({need.kind}), {need.detail}" for need in asked.needs]
    if not asked.missing:
        return "\n".join([f"Everything that {spec.path} needs is here.", *lines])
    missing = ", ".join(need.name for need in asked.missing)
    last = "Nothing was attempted. The session is blocked: start it where this is available."
    return "\n".join([f"Missing for {spec.path}: {missing}", *lines, last])


def _record(arguments: argparse.Namespace, context: Context, spec: Document, asked: Preflight) -> list[str]:
    """Into the plan session's ledger, where there is a session to speak of; the answer stands either way."""
    from omo.cli.plan_run import run_of
    from omo.ultraplan import starting

    try:
        starting.record_preflight(run_of(arguments, context), spec, asked)
    except OmoError as error:
        return [f"this answer was recorded nowhere: {error.message}"]
    return []
