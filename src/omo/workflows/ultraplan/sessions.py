"""A plan cut into sessions that one executor can carry out, and each as its executor reads it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from omo.text import clip, counted
from omo.workflows.ultraplan.document import fence_of_session
from omo.workflows.ultraplan.markdown import code, manifest_bullet, yaml_lines
from omo.workflows.ultraplan.models import Document, FenceGlobs, PlanDefect, Session, Step, refusal


def cut(document: Document, *, has_remote: bool = False) -> list[Document]:
    """The plan in parts, in its order: each with one session, and its steps, fence, needs and context alone.

    Refused, with every defect, where it cannot be cut.
    """
    if wrong := list(structure(document)):
        raise refusal(document, wrong)
    needs = document.needs
    if has_remote and (needs or not document.says_needs):  # a plan that declares none has none
        needs = tuple(dict.fromkeys(["git_push", *needs]))
    needed = dependencies(document)
    fences = {session.number: fence_of_session(document, session) for session in document.sessions}
    parts = []
    for session in document.sessions:
        number, own = session.number, fences[session.number]
        others = {other: fence for other, fence in fences.items() if other != number}
        # What other sessions may change, this one may not, unless it may be the same file.
        never = list(own.never)
        for fence in others.values():
            never += [glob for glob in fence.touch if not overlap(own.touch, [glob])]
        among_others = replace(
            session,
            fence=None,
            depends_on=tuple(sorted(needed[number])),
            blocks=tuple(other for other in others if number in needed[other]),
            apart=tuple(other for other, fence in others.items() if overlap(own.touch, fence.touch)),
        )
        part = replace(
            document,
            title=session.title or document.title,
            steps=document.steps_of(session),
            sessions=(among_others,),
            fence=FenceGlobs(own.touch, tuple(dict.fromkeys(never))),
            needs=needs,
            context="\n\n".join(filter(None, (session.context, document.context))),
        )
        parts.append(part)
    return parts


# what keeps a plan from being cut


def structure(document: Document) -> Iterator[PlanDefect]:
    """What no sessions can be made of: nothing to do, steps without a session, dependencies that lead nowhere."""
    if not document.steps:
        message = "invalid plan: no step is headed `### Step 1: Title`, so there is nothing to do"
        yield PlanDefect(1, "no-steps", message)
    numbers = {step.number for step in document.steps}
    for step in document.steps:
        for other in step.depends_on:
            depends = f"step {step.number} depends on step {other}"
            if other not in numbers:
                yield PlanDefect(step.line, "depends-on", f"{depends}, which is not in the plan")
            elif other >= step.number:
                yield PlanDefect(step.line, "depends-on", f"{depends}, which does not come before it")
        if not any(step.number in session.steps for session in document.sessions):
            message = f"step {step.number} stands in no session; move it below a `## Session N: …` heading"
            yield PlanDefect(step.line, "session", message)
    earlier: set[int] = set()
    needed = dependencies(document)
    for session in document.sessions:
        if session.number in earlier:
            yield PlanDefect(session.line, "session", f"session {session.number} is there twice")
        if not session.steps:
            yield PlanDefect(session.line, "session", f"session {session.number} has no step")
        for other in sorted(needed[session.number] - earlier):
            message = f"session {session.number} depends on session {other}, which does not come before it"
            yield PlanDefect(session.line, "session", message)
        for other in sorted({*session.blocks} - {*needed}):
            message = f"session {session.number} blocks session {other}, which is not in the plan"
            yield PlanDefect(session.line, "session", message)
        earlier.add(session.number)


def dependencies(document: Document) -> dict[int, set[int]]:
    """Which sessions each one waits for: as it says itself, as they do that block it, and as its steps do."""
    home: dict[int, int] = {}
    for session in document.sessions:
        home |= dict.fromkeys(session.steps, session.number)
    needed = {session.number: set(session.depends_on) for session in document.sessions}
    for session in document.sessions:
        for other in needed.keys() & session.blocks:
            needed[other].add(session.number)
    for step in document.steps:
        for other in step.depends_on:
            if step.number in home and other in home and home[other] != home[step.number]:
                needed[home[step.number]].add(home[other])
    return needed


def overlap(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a path may be covered by both; in doubt it may. A fence without a touch list keeps nothing out."""
    if not some or not others:
        return True
    return any(may_meet(glob, other) for glob in some for other in others)


def may_meet(glob: str, other: str) -> bool:
    """By what stands before the first wildcard of each; a glob also covers what lies below what it names.

    Upper and lower case are the same here: on some file systems they are the same file.
    """
    shorter, longer = sorted((glob.casefold(), other.casefold()), key=lambda text: len(_stem(text)))
    if _stem(shorter) == shorter:
        return f"{_stem(longer)}/".startswith(f"{shorter}/") or _stem(longer) == shorter
    return _stem(longer).startswith(_stem(shorter))


def _stem(glob: str) -> str:
    return re.split(r"[*?]", glob, maxsplit=1)[0]


# the spec of a session: what its executor reads, and nothing that code reads back

SPEC = """\
# Session {number}: {title}

Session {number} of {total} from {plan}

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
- Verify: `omo plan start` asks it → expected: an exit code other than 77
- On failure: escalate — exit 77 says that something is missing here: attempt nothing, leave the session blocked, and \
have it started again where everything is there
- Checkpoint: none (nothing changes)
- Manifest:
  ```yaml
  manifest:
    expected_paths: []
    min_file_count: 0
    commit_message_pattern: ""
    bash_syntax_check: []
    forbidden_paths: []
    must_contain: []
    sandbox_preflight: true
  ```

This step was generated. It runs where the work will run. `OMO_SKIP_PREFLIGHT=1` in a terminal of the user's skips it, \
for work without a network, and the report says so.

{steps}

## Exit Condition

The session is done when all of this holds. `omo plan finish` looks, and runs what is one plain command:

{verified}
- Every change is committed, under the subject its step asks for
- Nothing uncommitted is left: `git status --porcelain` → expected: no output
- `omo plan finish` → expected: exit 0

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


@dataclass(frozen=True)
class Recovery:
    """Why a session is carried out once more: the steps that are missing, and what the audit said of each."""

    depth: int
    missing: Sequence[int]
    reasons: Sequence[str]
    entry: str
    ledger: str


def render(plan: Document, document: Document, recovery: Recovery | None = None, *, done: Collection[int] = ()) -> str:
    """The part of a plan that one session carries out, without what is done; or of that what is missing."""
    (session,) = document.sessions
    fence = document.fence or FenceGlobs()
    steps = [step for step in document.steps if step.number not in done]
    if recovery is not None:
        steps = [step for step in steps if step.number in recovery.missing]
    verbatim, verified = [], []
    for step in steps:
        text = [step.text]
        if step.is_synthesised:  # what was made up for an older plan follows
            text += manifest_bullet(step.manifest, "Manifest")
        verbatim.append("\n".join(text))
        says = step.verify or "its manifest holds"
        if "\n" in step.verify:  # shell text of several lines means something else when it is put on one
            says = "what its Verify says, as it stands there"
        verified.append(f"- Step {step.number}: {says}")
    spec = SPEC.format(
        number=session.number,
        total=len(plan.sessions),
        title=document.title,
        plan=code(document.path),
        context=_context(plan, document, steps),
        dependencies=_dependencies(session, recovery),
        fence="\n".join(_bullets("Touch", fence.touch) + _bullets("Never touch", fence.never)),
        manifest=_session_manifest(document, steps),
        needs=", ".join(map(code, document.needs)) or "nothing beyond the project itself",
        steps="\n\n".join(verbatim),
        verified="\n".join(verified),
        whoever_waits=_sessions(session.blocks) or "Whoever comes next",
        metadata=_metadata(document, steps),
    )
    if recovery is None:
        return spec
    return spec + RECOVERY.format(
        of=f"session {session.number} of {code(document.path)}",
        depth=recovery.depth,
        missing=", ".join(map(str, recovery.missing)),
        reasons="".join(f"  - {' '.join(reason.split())}\n" for reason in recovery.reasons),
        entry=recovery.entry,
        ledger=code(recovery.ledger),
    )


def _context(plan: Document, document: Document, steps: Sequence[Step]) -> str:
    count = counted(len(steps), "step")
    first = f"This session carries out {count} of the plan “{clip(plan.title, 200)}”:"
    lines = [first, "", *(f"- step {step.number}, {clip(step.title, 200)}" for step in steps)]
    if document.context:
        lines += ["", "From the plan:", ""]
        lines += [f"> {line}".rstrip() for line in document.context.splitlines()]
    return "\n".join(lines)


def _dependencies(session: Session, recovery: Recovery | None) -> str:
    depends_on = _sessions(session.depends_on)
    entry = "a clean tree, and a preflight that passes"
    if depends_on:
        entry = f"a clean tree that has the commits of {depends_on}, whose audit passes"
    if session.entry:
        entry += f"; {' '.join(session.entry.split())}"
    if recovery is not None:
        entry = recovery.entry
    if not depends_on:
        depends_on = "none" if session.apart else "none; it may run beside the others, in a worktree of its own"
    lines = [
        f"- Depends on: {depends_on}",
        f"- Blocks: {_sessions(session.blocks) or 'none'}",
        f"- Entry condition: {entry}",
    ]
    if session.apart:
        lines.append(f"- Never beside: {_sessions(session.apart)}, because the fences overlap")
    return "\n".join(lines)


def _bullets(label: str, globs: Sequence[str]) -> list[str]:
    if not globs:
        return [f"- {label}: none"]
    return [f"- {label}:", *(f"  - {code(glob)}" for glob in globs)]


def _metadata(document: Document, steps: Sequence[Step]) -> str:
    """The size is by how much there is to keep in mind at once, steps and files; with the model that suits it."""
    paths = {path for step in steps for path in step.manifest.expected_paths}
    size = len(steps) + len(paths)
    level, model = "high", "opus — many steps or files at once"
    if size <= 6:
        level, model = "low", "sonnet — few steps on few files"
    elif size <= 14:
        level, model = "medium", "sonnet — ordinary in size"
    lines = [
        f"- Master plan: {code(document.path)}",
        f"- Plan digest: {code(document.digest)}",
        f"- Steps from plan: {', '.join(str(step.number) for step in steps)}",
        f"- Estimated complexity: {level} ({counted(len(steps), 'step')}, {counted(len(paths), 'path')})",
        f"- Model recommendation: {model}",
    ]
    return "\n".join(lines)


def _session_manifest(document: Document, steps: Sequence[Step]) -> str:
    fence = document.fence or FenceGlobs()
    expected: list[str] = []
    patterns: list[str] = []
    scripts: list[str] = []
    for step in steps:
        expected += step.manifest.expected_paths
        scripts += step.manifest.bash_syntax_check
        if step.manifest.expects_commit:
            patterns.append(step.manifest.commit_message_pattern)
    manifest = {
        "plan_version": ".".join(map(str, document.version)) if document.version else None,
        "legacy_synthesis": document.is_legacy_synthesis,
        "needs": document.needs,
        "expected_paths": list(dict.fromkeys(expected)),
        "commit_count": len(patterns),
        "commit_message_patterns": patterns,
        "bash_syntax_check": list(dict.fromkeys(scripts)),
        "scope_touch": fence.touch,
        "scope_forbidden": fence.never,
    }
    lines = ["session_manifest:"]
    for key, value in manifest.items():
        lines += yaml_lines(key, value)
    return "\n".join(lines)


def _sessions(numbers: Sequence[int]) -> str:
    return ", ".join(f"Session {number}" for number in numbers)
