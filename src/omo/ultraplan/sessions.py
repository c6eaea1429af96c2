"""A plan cut into sessions that one executor can carry out: steps, fence, needs, and what has to come before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from omo.errors import Refused
from omo.evidence import globs
from omo.ultraplan import git_push, legacy, preflight, session_order
from omo.ultraplan.document import Defect, Document, Fence, Group, Recovery, Step
from omo.ultraplan.markdown import Page, key_of

_SAYS_NEEDS = re.compile(r"^[\s>*+_`-]*needs[*_`]*\s*[:=]", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class SessionSpec:
    """What a spec file says. `apart` are sessions that may come before or after this one, but not run beside it.

    `path` is where the file will be, from the project's top. `total` is 0 where the other sessions are not known.
    """

    number: int
    total: int
    title: str
    path: str
    plan: str
    version: tuple[int, ...] | None
    steps: tuple[Step, ...]
    fence: Fence
    needs: tuple[str, ...] = ()
    plan_title: str = ""
    plan_digest: str = ""
    context: str = ""
    depends_on: tuple[int, ...] = ()
    blocks: tuple[int, ...] = ()
    apart: tuple[int, ...] = ()
    is_legacy_synthesis: bool = False
    recovery: Recovery | None = None

    @property
    def expected_paths(self) -> tuple[str, ...]:
        return _once(path for step in self.steps if step.manifest for path in step.manifest.expected_paths)

    @property
    def patterns(self) -> tuple[str, ...]:
        """One for each commit, in the order of the steps; two steps may share one."""
        manifests = [step.manifest for step in self.steps if step.manifest]
        return tuple(manifest.commit_message_pattern for manifest in manifests if manifest.expects_commit)

    @property
    def bash_syntax_check(self) -> tuple[str, ...]:
        return _once(path for step in self.steps if step.manifest for path in step.manifest.bash_syntax_check)

    @property
    def forbidden(self) -> tuple[str, ...]:
        of_steps = [path for step in self.steps if step.manifest for path in step.manifest.forbidden_paths]
        return _once([*self.fence.never, *of_steps])


def decompose(plan: Document, root: Path, *, has_remote: bool | None = None, out: str = ".") -> list[SessionSpec]:
    """The sessions of a plan, in the order it has them. Refused, with every defect, where it cannot be cut.

    `out` is the directory of the spec files, from the project's top. Without `has_remote` the repository is asked.
    """
    document = legacy.synthesise(plan)
    groups = _groups(document)
    refuse(document, [*_own_defects(document), *session_order.defects(document, groups)])
    fences = {group.number: _fence(document, group) for group in groups}
    needed = session_order.dependencies(document, groups)
    pushes = bool(git_push.remotes(root)) if has_remote is None else has_remote
    needs, background = needs_of(document, has_remote=pushes), background_of(document)
    return [
        SessionSpec(
            number=group.number,
            total=len(groups),
            title=group.title or document.title,
            path=file_of(out, group.number),
            plan=document.path,
            version=document.version,
            steps=_steps(document, group),
            fence=_kept_apart(group.number, fences),
            needs=needs,
            plan_title=document.title,
            plan_digest=document.digest,
            context="\n\n".join(part for part in (group.context, background) if part),
            depends_on=tuple(sorted(needed[group.number])),
            blocks=tuple(sorted(other for other, those in needed.items() if group.number in those)),
            apart=_apart(group.number, fences),
            is_legacy_synthesis=document.is_legacy_synthesis,
        )
        for group in groups
    ]


def has_remote(root: Path) -> bool:
    return bool(git_push.remotes(root))


def order(specs: Sequence[SessionSpec]) -> list[list[int]]:
    """Sessions in waves: those of one wave may run beside each other."""
    needed = {spec.number: set(spec.depends_on) for spec in specs}
    return session_order.waves(needed, {spec.number: spec.fence.touch for spec in specs})


def recovered(document: Document, recovery: Recovery, *, path: str) -> SessionSpec:
    """A spec of just the missing steps of the one that was carried out in part; fence and needs stay as they were."""
    missing = tuple(step for step in document.work_steps if step.number in recovery.missing)
    return SessionSpec(
        number=document.session or 1,
        total=0,
        title=document.title,
        path=path,
        plan=document.master_plan or document.path,
        version=document.version,
        steps=missing,
        fence=document.fence or Fence(touch=touch_of(document.work_steps)),
        needs=document.needs,
        plan_digest=document.master_digest,
        is_legacy_synthesis=document.is_legacy_synthesis,
        recovery=recovery,
    )


def refuse(document: Document, found: Sequence[Defect]) -> None:
    """Advice refuses nothing; every other defect is named."""
    wrong = [str(defect) for defect in found if not defect.is_advisory]
    if wrong:
        raise Refused(
            f"{document.path} cannot be cut into sessions: {len(wrong)} defect{'' if len(wrong) == 1 else 's'}",
            fix=f"mend the plan, then omo plan validate {document.path}",
            defects=wrong,
        )


def needs_of(document: Document, *, has_remote: bool) -> tuple[str, ...]:
    """What the plan declares, and pushing where there is a remote; a plan that declares none has none."""
    head = re.split(r"^##", document.text, maxsplit=1, flags=re.MULTILINE)[0]
    if not document.needs and _SAYS_NEEDS.search(head):
        return ()
    return _once([*(["git_push"] if has_remote else []), *document.needs])


def background_of(document: Document) -> str:
    """What the plan itself says under `## Context`."""
    page = Page(document.text)
    sections = [one for one in page.headings() if one.level == 2 and key_of(one.title) == "context"]
    return page.text(sections[0].start + 1, sections[0].end).strip() if sections else ""


def touch_of(steps: Sequence[Step]) -> tuple[str, ...]:
    """What the steps say they change, for a plan that has no touch list."""
    found: list[str] = []
    for step in steps:
        manifest = step.manifest
        found += step.files
        if manifest is not None:
            found += [*manifest.expected_paths, *manifest.absent_paths, *manifest.bash_syntax_check]
            found += [content.path for content in manifest.must_contain]
    return _once(path for path in map(_normal, found) if path)


def file_of(out: str, number: int) -> str:
    return "/".join(part for part in (out.rstrip("/"), f"session-{number}.md") if part not in ("", "."))


def _groups(document: Document) -> tuple[Group, ...]:
    every = tuple(step.number for step in document.work_steps)
    whole = Group(number=1, title=document.title, line=0, steps=every)
    return tuple(replace(group, steps=_worked(document, group)) for group in document.groups) or (whole,)


def _worked(document: Document, group: Group) -> tuple[int, ...]:
    worked = {step.number for step in document.work_steps}
    return tuple(number for number in group.steps if number in worked)


def _own_defects(document: Document) -> list[Defect]:
    """A preflight is not audited, so no step with work in it may call itself one."""
    posing = [step for step in document.steps if step.is_preflight and step.number != 0]
    found = [
        Defect(step.line, "preflight", f"step {step.number} says sandbox_preflight: true, which only step 0 may")
        for step in posing
    ]
    found += [Defect(0, "needs", f"needs: {wrong}") for need in document.needs if (wrong := preflight.defect(need))]
    if not document.work_steps:
        found.append(Defect(0, "steps", "the plan has no step to carry out"))
    empty = [group for group in _groups(document) if not group.steps and document.work_steps]
    return found + [Defect(group.line, "session", f"session {group.number} has no step") for group in empty]


def _steps(document: Document, group: Group) -> tuple[Step, ...]:
    return tuple(step for number in group.steps if (step := document.step(number)))


def _fence(document: Document, group: Group) -> Fence:
    """The session's own lists, else the plan's; what the plan never touches, no session touches."""
    own, plans = group.fence or Fence(), document.fence or Fence()
    touch = own.touch or plans.touch or touch_of(_steps(document, group))
    return Fence(touch, _once([*plans.never, *own.never]))


def _kept_apart(number: int, fences: dict[int, Fence]) -> Fence:
    """What other sessions may change, this one may not, unless it may be the same file."""
    mine = fences[number]
    foreign = [
        glob
        for other, fence in fences.items()
        for glob in fence.touch
        if other != number and not session_order.overlap(mine.touch, [glob])
    ]
    return Fence(mine.touch, _once([*mine.never, *foreign]))


def _apart(number: int, fences: dict[int, Fence]) -> tuple[int, ...]:
    mine = fences[number].touch
    return tuple(other for other in fences if other != number and session_order.overlap(mine, fences[other].touch))


def _normal(path: str) -> str:
    try:
        return globs.normal(path)
    except ValueError:
        return ""


def _once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
