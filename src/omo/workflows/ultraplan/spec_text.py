"""A session spec as Markdown. The parser reads it back to the same steps, fence, manifest and needs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

import yaml

from omo.text import clip, counted
from omo.workflows.ultraplan.models import Manifest, Step
from omo.workflows.ultraplan.sessions import SessionSpec

SPEC = """\
# Session {number}: {title}

Session {number}{of_total} from {plan}

## Context

{context}

## Dependencies

{dependencies}

## Scope Fence

{fence}

## Session Manifest

Computed from the manifests of the steps; the audit reads the steps themselves.

```yaml
{manifest}
```

## Steps

### Step 0: Preflight

- Files: none (it only looks)
- Changes: none; asks whether this machine has what the session needs: {needs}
- Reuses: none
- Test first: none
- Verify: {preflight} → expected: exit 0
- On failure: escalate — exit 77 says that something is missing here: attempt nothing, leave the session blocked, and \
have it started again where everything is there
- Checkpoint: none (nothing changes)
{preflight_manifest}

This step was generated; leave it as it is. It runs where the work will run. `OMO_SKIP_PREFLIGHT=1` skips it, for work \
without a network, and the report says so.

{steps}

## Exit Condition

The session is done when all of this holds. `omo plan finish` runs the commands that are one plain command each:

{verified}
- Every change is committed, under the subject its step asks for
- Nothing uncommitted is left: `git status --porcelain` → expected: no output
- {audit} → expected: exit 0

## Failure Handling

- A step that still fails after what its On failure allows ends the session: no later step is begun.
- What passed before is committed and stays.
- `omo plan finish --failed STEP --error TEXT --tried TEXT` writes the report: which step failed, the error as it was \
printed, and what was tried.
- A weak or wrong step is not repaired on the way. Escalate, so that the plan is.

## Security Constraints

These rules stand above everything a step says.

- Change nothing outside the scope fence's touch list, nothing on its never-touch list, nothing outside the project.
- No destructive shell: `rm -rf`, `chmod 777`, `mkfs`, `dd` onto a device, `shutdown`, `reboot`, `halt`, fork bombs, \
`kill -9 -1`.
- Nothing fetched or decoded goes straight into a shell (`curl … | sh`, `base64 -d | bash`), no `eval` of \
expanded text, no changes to crontabs.
- Hands off hooks (`.git/hooks/`, `.claude/hooks/`, any other hook script), agent settings (`.claude/settings.json`), \
keys (`~/.ssh`, `~/.aws`, `~/.gnupg`), `.env` files and shell profiles.
- A Verify or Checkpoint command that would break one of these is not run: the session stops and escalates, whatever \
that step's On failure says.

## Handoff State

{whoever_waits} will build on what is left here. Tell them with `omo plan finish --handoff TEXT`, which keeps it for \
their `start` (this file stays as it is): files that are new, names that can be imported or called, settings that \
changed, interfaces that others may now rely on, and anything that turned out differently from the plan.

## Metadata

{metadata}
"""
RECOVERY = """
## Recovery Metadata

- Recovery of: {of}
- Recovery depth: {depth}
- Missing steps: {missing}
{reasons}- Entry condition override: {entry}
- Parent ledger: {ledger}
"""


def render(spec: SessionSpec) -> str:
    text = SPEC.format(
        number=spec.number,
        title=spec.title,
        of_total=f" of {spec.total}" if spec.total else "",
        plan=code(spec.plan),
        context=_context(spec),
        dependencies=_dependencies(spec),
        fence="\n".join(_bullets("Touch", spec.fence.touch) + _bullets("Never touch", spec.fence.never)),
        manifest=_session_manifest(spec),
        needs=", ".join(map(code, spec.needs)) or "nothing beyond the project itself",
        preflight=code(f"omo plan preflight {shlex.quote(spec.path)}"),
        preflight_manifest="\n".join(_step_manifest(Manifest(sandbox_preflight=True))),
        steps="\n\n".join(_verbatim(step) for step in spec.steps),
        verified="\n".join(f"- Step {step.number}: {_verify(step)}" for step in spec.steps),
        audit=code(f"omo plan audit {shlex.quote(spec.path)}"),
        whoever_waits=_sessions(spec.blocks) or "Whoever comes next",
        metadata=_metadata(spec),
    )
    if spec.recovery is None:
        return text
    recovery = spec.recovery
    return text + RECOVERY.format(
        of=code(recovery.of),
        depth=recovery.depth,
        missing=", ".join(map(str, recovery.missing)),
        reasons="".join(f"  - {_line(reason)}\n" for reason in recovery.reasons),
        entry=_line(recovery.entry) or "none",
        ledger=code(recovery.ledger) if recovery.ledger else "none",
    )


def _context(spec: SessionSpec) -> str:
    count = counted(len(spec.steps), "step")
    of = f" of the plan “{clip(spec.plan_title, 200)}”" if spec.plan_title else ""
    first = f"This session carries out {count}{of}:"
    if spec.recovery is not None:
        first = f"An earlier session left {count} undone; this one carries out just these:"
    lines = [first, ""]
    lines += [f"- step {step.number}, {clip(step.title, 200)}" for step in spec.steps]
    if spec.context:
        lines += ["", "From the plan:", ""]
        # Quoted, so that nothing in it is taken for a part of this document.
        lines += [f"> {line}".rstrip() for line in spec.context.splitlines()]
    return "\n".join(lines)


def _dependencies(spec: SessionSpec) -> str:
    depends_on = _sessions(spec.depends_on)
    if not depends_on:
        depends_on = "none" if spec.apart else "none, so it may run beside the others of its wave"
    entry = "a clean tree, and a preflight that passes"
    if spec.recovery is not None and spec.recovery.entry:
        entry = _line(spec.recovery.entry)
    elif spec.depends_on:
        entry = f"a clean tree that has the commits of {_sessions(spec.depends_on)}, whose audit passes"
    lines = [
        f"- Depends on: {depends_on}",
        f"- Blocks: {_sessions(spec.blocks) or 'none'}",
        f"- Entry condition: {entry}",
    ]
    if spec.apart:
        lines.append(f"- Never beside: {_sessions(spec.apart)}, because the fences overlap")
    return "\n".join(lines)


def _bullets(label: str, globs: Sequence[str]) -> list[str]:
    if not globs:
        return [f"- {label}: none"]
    return [f"- {label}:", *(f"  - {code(glob)}" for glob in globs)]


def _verbatim(step: Step) -> str:
    """As the plan has it; a manifest that was made up for an older plan follows."""
    if step.manifest is None or not step.manifest.is_synthesised or re.search(r"^\s*manifest\s*:", step.text, re.M):
        return step.text
    return "\n".join([step.text, *_step_manifest(step.manifest)])


def _verify(step: Step) -> str:
    if not step.verify:
        return "its manifest holds"
    if "\n" in step.verify:
        # Shell text of several lines means something else when it is put on one.
        return "what its Verify says, as it stands there"
    return step.verify


def _metadata(spec: SessionSpec) -> str:
    """The size is by how much there is to keep in mind at once, steps and files; with the model that suits it."""
    size = len(spec.steps) + len(spec.expected_paths)
    level, model = "high", "opus — many steps or files at once"
    if size <= 6:
        level, model = "low", "sonnet — few steps on few files"
    elif size <= 14:
        level, model = "medium", "sonnet — ordinary in size"
    steps, paths = counted(len(spec.steps), "step"), counted(len(spec.expected_paths), "path")
    lines = [f"- Master plan: {code(spec.plan)}"]
    if spec.plan_digest:
        lines.append(f"- Plan digest: {code(spec.plan_digest)}")
    lines.append(f"- Steps from plan: {', '.join(map(str, spec.step_numbers))}")
    lines.append(f"- Estimated complexity: {level} ({steps}, {paths})")
    lines.append(f"- Model recommendation: {model}")
    return "\n".join(lines)


def _sessions(numbers: Sequence[int]) -> str:
    return ", ".join(f"Session {number}" for number in numbers)


def _line(text: str) -> str:
    return " ".join(text.split())


# what the parser must read back exactly: YAML blocks and code spans, whatever is in them


def _session_manifest(spec: SessionSpec) -> str:
    version = _scalar(".".join(map(str, spec.version))) if spec.version else "null"
    lines = [
        "session_manifest:",
        f"  plan_version: {version}",
        f"  legacy_synthesis: {str(spec.is_legacy_synthesis).lower()}",
        f"  needs: [{', '.join(map(_scalar, spec.needs))}]",
        *_list("expected_paths", spec.expected_paths),
        f"  commit_count: {len(spec.patterns)}",
        *_list("commit_message_patterns", spec.patterns),
        *_list("bash_syntax_check", spec.bash_syntax_check),
        *_list("scope_touch", spec.fence.touch),
        *_list("scope_forbidden", spec.forbidden),
    ]
    return "\n".join(lines)


def _step_manifest(manifest: Manifest) -> list[str]:
    lines = [
        "manifest:",
        *_list("expected_paths", manifest.expected_paths),
        f"  min_file_count: {manifest.min_file_count}",
        f"  commit_message_pattern: {_scalar(manifest.commit_message_pattern)}",
        *_list("bash_syntax_check", manifest.bash_syntax_check),
        *_list("forbidden_paths", manifest.forbidden_paths),
    ]
    if not manifest.must_contain:
        lines.append("  must_contain: []")
    else:
        lines.append("  must_contain:")
    for entry in manifest.must_contain:
        lines.append(f"    - {{path: {_scalar(entry.path)}, pattern: {_scalar(entry.pattern)}}}")
    if manifest.absent_paths:
        lines += _list("absent_paths", manifest.absent_paths)
    if manifest.sandbox_preflight:
        lines.append("  sandbox_preflight: true")
    if manifest.skip_commit_check:
        lines.append("  skip_commit_check: true")
    return ["- Manifest:", *(f"  {line}" for line in ("```yaml", *lines, "```"))]


def _list(key: str, items: Sequence[str]) -> list[str]:
    if not items:
        return [f"  {key}: []"]
    return [f"  {key}:", *(f"    - {_scalar(item)}" for item in items)]


def _scalar(text: str) -> str:
    """Quoted on one line, whatever is in it, so that nothing can end the block or begin another key."""
    return str(yaml.safe_dump(text, default_style='"', allow_unicode=True, width=float("inf"))).rstrip("\n")


def code(text: str) -> str:
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
