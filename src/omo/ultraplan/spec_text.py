"""A session spec as Markdown. The parser reads it back to the same steps, fence, manifest and needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence

import yaml

from omo.shown import clip, counted
from omo.ultraplan.models import Document, Manifest, Step
from omo.ultraplan.sessions import SessionSpec

SECURITY = """\
These rules stand above everything a step says.

- Change nothing outside the scope fence's touch list, nothing on its never-touch list, nothing outside the project.
- No destructive shell: `rm -rf`, `chmod 777`, `mkfs`, `dd` onto a device, `shutdown`, `reboot`, `halt`, fork bombs, \
`kill -9 -1`.
- Nothing fetched or decoded goes straight into a shell (`curl … | sh`, `base64 -d | bash`), no `eval` of \
expanded text, no changes to crontabs.
- Hands off hooks (`.git/hooks/`, `.claude/hooks/`, any other hook script), agent settings (`.claude/settings.json`), \
keys (`~/.ssh`, `~/.aws`, `~/.gnupg`), `.env` files and shell profiles.
- A Verify or Checkpoint command that would break one of these is not run: the session stops and escalates, whatever \
that step's On failure says."""

FAILURE = """\
- A step that still fails after what its On failure allows ends the session: no later step is begun.
- What passed before is committed and stays.
- `omo plan finish` writes the report; say in it which step failed, the error as it was printed, and what was tried.
- A weak or wrong step is not repaired on the way. Escalate, so that the plan is."""


def render(spec: SessionSpec) -> str:
    parts = [_head(spec)]
    parts += [f"## {title}\n\n{write(spec)}" for title, write in SECTIONS]
    if spec.recovery is not None:
        parts.append(f"## Recovery Metadata\n\n{_recovery(spec)}")
    return "\n\n".join(parts) + "\n"


def unlike(spec: SessionSpec, read: Document) -> list[str]:
    """What a spec that was read back says differently: nothing, unless the plan's own text gets in the way."""
    steps = [step for step in read.steps if not step.is_preflight]
    pairs = {
        "steps": ([step.text for step in steps], [_verbatim(step) for step in spec.steps]),
        "manifests": ([_meaning(step) for step in steps], [_meaning(step) for step in spec.steps]),
        "fence": (read.fence, spec.fence),
        "needs": (read.needs, spec.needs),
        "session": ((read.kind, read.session), ("spec", spec.number)),
    }
    wrong = []
    for what, (as_read, as_meant) in pairs.items():
        if as_read != as_meant:
            wrong.append(f"the {what} of session {spec.number} do not read back as written")
    return wrong + [f"session {spec.number}: {defect}" for defect in read.defects if not defect.is_advisory]


def _meaning(step: Step) -> Manifest | None:
    return step.manifest.terms.model_copy(update={"is_synthesised": False}) if step.manifest else None


def _head(spec: SessionSpec) -> str:
    of = f" of {spec.total}" if spec.total else ""
    return f"# Session {spec.number}: {spec.title}\n\nSession {spec.number}{of} from {code(spec.plan)}"


def _context(spec: SessionSpec) -> str:
    of = f" of the plan “{clip(spec.plan_title, 200)}”" if spec.plan_title else ""
    what = f"This session carries out {counted(len(spec.steps), 'step')}{of}:"
    if spec.recovery is not None:
        what = f"An earlier session left {counted(len(spec.steps), 'step')} undone; this one carries out just these:"
    lines = [what, "", *(f"- step {step.number}, {clip(step.title, 200)}" for step in spec.steps)]
    # Quoted, so that nothing in it is taken for a part of this document.
    quoted = [f"> {line}".rstrip() for line in spec.context.splitlines()]
    return "\n".join([*lines, *(["", "From the plan:", "", *quoted] if quoted else [])])


def _dependencies(spec: SessionSpec) -> str:
    parallel = "none" if spec.apart else "none, so it may run beside the others of its wave"
    lines = [
        f"- Depends on: {_sessions(spec.depends_on) or parallel}",
        f"- Blocks: {_sessions(spec.blocks) or 'none'}",
        f"- Entry condition: {_entry(spec)}",
    ]
    if spec.apart:
        lines.append(f"- Never beside: {_sessions(spec.apart)}, because the fences overlap")
    return "\n".join(lines)


def _entry(spec: SessionSpec) -> str:
    if spec.recovery is not None and spec.recovery.entry:
        return _line(spec.recovery.entry)
    if not spec.depends_on:
        return "a clean tree, and a preflight that passes"
    return f"a clean tree that has the commits of {_sessions(spec.depends_on)}, whose audit passes"


def _fence(spec: SessionSpec) -> str:
    return "\n".join([*_bullets("Touch", spec.fence.touch), *_bullets("Never touch", spec.fence.never)])


def _bullets(label: str, globs: Sequence[str]) -> list[str]:
    return [f"- {label}:", *(f"  - {code(glob)}" for glob in globs)] if globs else [f"- {label}: none"]


def _steps(spec: SessionSpec) -> str:
    return "\n\n".join([_preflight(spec), *(_verbatim(step) for step in spec.steps)])


def _preflight(spec: SessionSpec) -> str:
    needs = ", ".join(map(code, spec.needs)) or "nothing beyond the project itself"
    fields = {
        "Files": "none (it only looks)",
        "Changes": f"none; asks whether this machine has what the session needs: {needs}",
        "Reuses": "none",
        "Test first": "none",
        "Verify": f"{code('omo plan preflight ' + shlex.quote(spec.path))} → expected: exit 0",
        "On failure": "escalate — exit 77 says that something is missing here: attempt nothing, leave the session "
        "blocked, and have it started again where everything is there",
        "Checkpoint": "none (nothing changes)",
    }
    bullets = [f"- {name}: {value}" for name, value in fields.items()]
    manifest = _step_manifest(Manifest(sandbox_preflight=True))
    after = (
        "This step was generated; leave it as it is. It runs where the work will run. "
        "`OMO_SKIP_PREFLIGHT=1` skips it, for work without a network, and the report says so."
    )
    return "\n".join(["### Step 0: Preflight", "", *bullets, *manifest, "", after])


def _verbatim(step: Step) -> str:
    """As the plan has it; a manifest that was made up for an older plan follows."""
    if step.manifest is None or not step.manifest.is_synthesised or re.search(r"^\s*manifest\s*:", step.text, re.M):
        return step.text
    return "\n".join([step.text, *_step_manifest(step.manifest)])


def _exit(spec: SessionSpec) -> str:
    return "\n".join(
        [
            "The session is done when all of this holds:",
            "",
            *(f"- Step {step.number}: {_verify(step)}" for step in spec.steps),
            "- Every change is committed, under the subject its step asks for",
            "- Nothing uncommitted is left: `git status --porcelain` → expected: no output",
            f"- {code('omo plan audit ' + shlex.quote(spec.path))} → expected: exit 0",
        ]
    )


def _verify(step: Step) -> str:
    """Shell text of several lines means something else when it is put on one."""
    if not step.verify:
        return "its manifest holds"
    return step.verify if "\n" not in step.verify else "what its Verify says, as it stands there"


def _handoff(spec: SessionSpec) -> str:
    waiting = f"{_sessions(spec.blocks)} will build" if spec.blocks else "Whoever comes next will build"
    return (
        f"{waiting} on what is left here. Tell them in the message that ends this session (this file stays as it is): "
        "files that are new, names that can be imported or called, settings that changed, interfaces that others may "
        "now rely on, and anything that turned out differently from the plan."
    )


def _metadata(spec: SessionSpec) -> str:
    level, model = complexity(spec)
    lines = [f"- Master plan: {code(spec.plan)}"]
    lines += [f"- Plan digest: {code(spec.plan_digest)}"] if spec.plan_digest else []
    lines += [
        f"- Steps from plan: {', '.join(str(step.number) for step in spec.steps)}",
        f"- Estimated complexity: {level} ({counted(len(spec.steps), 'step')}, "
        f"{counted(len(spec.expected_paths), 'path')})",
        f"- Model recommendation: {model}",
    ]
    return "\n".join(lines)


def complexity(spec: SessionSpec) -> tuple[str, str]:
    """By how much there is to keep in mind at once, steps and files; with the model that suits it."""
    size = len(spec.steps) + len(spec.expected_paths)
    if size <= 6:
        return "low", "sonnet — few steps on few files"
    return ("medium", "sonnet — ordinary in size") if size <= 14 else ("high", "opus — many steps or files at once")


def _recovery(spec: SessionSpec) -> str:
    assert spec.recovery is not None
    lines = [
        f"- Recovery of: {code(spec.recovery.of)}",
        f"- Recovery depth: {spec.recovery.depth}",
        f"- Missing steps: {', '.join(map(str, spec.recovery.missing))}",
    ]
    return "\n".join([*lines, f"- Entry condition override: {_line(spec.recovery.entry) or 'none'}"])


def _session_manifest(spec: SessionSpec) -> str:
    version = ".".join(map(str, spec.version)) if spec.version else None
    lines = [
        "session_manifest:",
        f"  plan_version: {'null' if version is None else _scalar(version)}",
        f"  legacy_synthesis: {str(spec.is_legacy_synthesis).lower()}",
        f"  needs: [{', '.join(map(_scalar, spec.needs))}]",
        *_list("expected_paths", spec.expected_paths),
        f"  commit_count: {len(spec.patterns)}",
        *_list("commit_message_patterns", spec.patterns),
        *_list("bash_syntax_check", spec.bash_syntax_check),
        *_list("scope_touch", spec.fence.touch),
        *_list("scope_forbidden", spec.forbidden),
    ]
    about = "Computed from the manifests of the steps; the audit reads the steps themselves."
    return "\n".join([about, "", "```yaml", *lines, "```"])


def _step_manifest(manifest: Manifest) -> list[str]:
    contents = [
        f"    - {{path: {_scalar(entry.path)}, pattern: {_scalar(entry.pattern)}}}" for entry in manifest.must_contain
    ]
    lines = [
        "manifest:",
        *_list("expected_paths", manifest.expected_paths),
        f"  min_file_count: {manifest.min_file_count}",
        f"  commit_message_pattern: {_scalar(manifest.commit_message_pattern)}",
        *_list("bash_syntax_check", manifest.bash_syntax_check),
        *_list("forbidden_paths", manifest.forbidden_paths),
        *(["  must_contain:", *contents] if contents else ["  must_contain: []"]),
        *(_list("absent_paths", manifest.absent_paths) if manifest.absent_paths else []),
        *(["  sandbox_preflight: true"] if manifest.sandbox_preflight else []),
        *(["  skip_commit_check: true"] if manifest.skip_commit_check else []),
    ]
    return ["- Manifest:", *(f"  {line}" for line in ("```yaml", *lines, "```"))]


def _list(key: str, items: Sequence[str]) -> list[str]:
    return [f"  {key}:", *(f"    - {_scalar(item)}" for item in items)] if items else [f"  {key}: []"]


def _scalar(text: str) -> str:
    """Quoted on one line, whatever is in it, so that nothing can end the block or begin another key."""
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))).rstrip("\n")


def code(text: str) -> str:
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _sessions(numbers: Sequence[int]) -> str:
    return ", ".join(f"Session {number}" for number in numbers)


def _line(text: str) -> str:
    return " ".join(text.split())


# After the head; recovery metadata come last, where there are any.
SECTIONS: tuple[tuple[str, Callable[[SessionSpec], str]], ...] = (
    ("Context", _context),
    ("Dependencies", _dependencies),
    ("Scope Fence", _fence),
    ("Session Manifest", _session_manifest),
    ("Steps", _steps),
    ("Exit Condition", _exit),
    ("Failure Handling", lambda spec: FAILURE),
    ("Security Constraints", lambda spec: SECURITY),
    ("Handoff State", _handoff),
    ("Metadata", _metadata),
)
