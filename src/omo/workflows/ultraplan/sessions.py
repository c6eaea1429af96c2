"""A plan cut into sessions that one executor can carry out: steps, fence, needs, and what has to come before."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import chain

from omo.errors import Refused
from omo.text import counted
from omo.workflows.ultraplan.document import fence_of_session, synthesise, touch_of
from omo.workflows.ultraplan.models import Defect, Document, Fence, Group, Manifest, Recovery, Step, need_defect


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
    def step_numbers(self) -> list[int]:
        return [step.number for step in self.steps]

    @property
    def manifests(self) -> list[Manifest]:
        return [step.manifest for step in self.steps if step.manifest]

    @property
    def expected_paths(self) -> tuple[str, ...]:
        return _union(manifest.expected_paths for manifest in self.manifests)

    @property
    def patterns(self) -> tuple[str, ...]:
        """One for each commit, in the order of the steps; two steps may share one."""
        return tuple(manifest.commit_message_pattern for manifest in self.manifests if manifest.expects_commit)

    @property
    def bash_syntax_check(self) -> tuple[str, ...]:
        return _union(manifest.bash_syntax_check for manifest in self.manifests)

    @property
    def forbidden(self) -> tuple[str, ...]:
        return _union([self.fence.never, *(manifest.forbidden_paths for manifest in self.manifests)])


def decompose(plan: Document, *, has_remote: bool, out: str = ".") -> list[SessionSpec]:
    """The sessions of a plan, in the order it has them. Refused, with every defect, where it cannot be cut.

    `out` is the directory of the spec files, from the project's top.
    """
    document = synthesise(plan)
    defects = list(structure(document))
    for need in document.needs:
        if wrong := need_defect(need):
            defects.append(Defect(0, "needs", f"needs: {wrong}"))
    refuse(document, defects)
    groups = _groups(document)
    fences = {}
    for group in groups:
        fences[group.number] = fence_of_session(document, _steps(document, group))
    needed = dependencies(document)
    needs = document.needs
    if has_remote and (needs or not document.says_needs):  # a plan that declares none has none
        needs = _union([["git_push"], needs])
    specs = []
    for group in groups:
        number = group.number
        fence = fences[number]
        foreign: list[str] = []
        apart, blocks = [], []
        for other, its in fences.items():
            if other == number:
                continue
            if overlap(fence.touch, its.touch):
                apart.append(other)
            if number in needed[other]:
                blocks.append(other)
            foreign += [glob for glob in its.touch if not overlap(fence.touch, [glob])]
        spec = SessionSpec(
            number=number,
            total=len(groups),
            title=group.title or document.title,
            path=os.path.normpath(os.path.join(out, f"session-{number}.md")).replace(os.sep, "/"),
            plan=document.path,
            version=document.version,
            steps=tuple(_steps(document, group)),
            # What other sessions may change, this one may not, unless it may be the same file.
            fence=Fence(fence.touch, _union([fence.never, foreign])),
            needs=needs,
            plan_title=document.title,
            plan_digest=document.digest,
            context="\n\n".join(filter(None, (group.context, document.context))),
            depends_on=tuple(sorted(needed[number])),
            blocks=tuple(sorted(blocks)),
            apart=tuple(apart),
            is_legacy_synthesis=document.is_legacy_synthesis,
        )
        specs.append(spec)
    return specs


def recovered(document: Document, recovery: Recovery, *, path: str, plan_digest: str = "") -> SessionSpec:
    """A spec of just the missing steps of the one that was carried out in part; fence and needs stay as they were."""
    return SessionSpec(
        number=document.session or 1,
        total=0,
        title=document.title,
        path=path,
        plan=document.master_plan or document.path,
        version=document.version,
        steps=tuple(step for step in document.work_steps if step.number in recovery.missing),
        fence=document.fence or Fence(touch=touch_of(document.work_steps)),
        needs=document.needs,
        context=_quoted(document.context),
        plan_digest=plan_digest or document.master_digest,
        is_legacy_synthesis=document.is_legacy_synthesis,
        recovery=recovery,
    )


def _quoted(text: str) -> str:
    """What a spec quotes from its plan."""
    return "\n".join(line.removeprefix(">").strip() for line in text.splitlines() if line.startswith(">"))


def refuse(document: Document, defects: Sequence[Defect]) -> None:
    """Advice refuses nothing; every other defect is named."""
    wrong = [str(defect) for defect in defects if not defect.is_advisory]
    if wrong:
        raise Refused(
            f"{document.path} cannot be cut into sessions: {counted(len(wrong), 'defect')}",
            fix=f"mend the plan, then omo plan validate {document.path}",
            defects=wrong,
        )


def differences(
    spec: Document, steps: Sequence[Step], fence: Fence | None, needs: Sequence[str], *, is_recovery: bool = False
) -> list[str]:
    """In what a spec says something else than was agreed on; only a recovery may leave steps out."""
    agreed = {step.number: step for step in steps}
    defects = []
    for step in spec.work_steps:
        planned = agreed.pop(step.number, None)
        if planned is None or _terms(planned) != _terms(step):
            defects.append(f"step {step.number} is not as the plan has it")
    if not is_recovery:
        for number in agreed:
            defects.append(f"step {number} of the session left out, and omo plan recover did not write this")
    if spec.fence != fence:
        defects.append("the scope fence is not the plan's")
    for need in needs:
        if need not in spec.needs:
            defects.append(f"need {need} left out")
    return defects


def _terms(step: Step) -> Step:
    """What binds of a step, wherever in a file it stands."""
    manifest = step.manifest
    if manifest is not None:
        manifest = manifest.model_copy(update={"line": 0, "lines": {}, "is_synthesised": False})
    return replace(step, line=0, text="", manifest=manifest)


def _groups(document: Document) -> list[Group]:
    """The sessions of a plan, without preflights."""
    worked = [step.number for step in document.work_steps]
    if not document.groups:
        return [Group(number=1, title=document.title, line=0, steps=tuple(worked))]
    groups = []
    for group in document.groups:
        steps = tuple(number for number in group.steps if number in worked)
        groups.append(replace(group, steps=steps))
    return groups


def _steps(document: Document, group: Group) -> list[Step]:
    return [step for step in document.work_steps if step.number in group.steps]


def _union(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """What is in the lists, in their order, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


# what keeps a plan from being cut


def structure(document: Document) -> Iterator[Defect]:
    """What no sessions can be made of: nothing to do, steps without a session, dependencies that lead nowhere."""
    if not document.work_steps:
        yield Defect(1, "no-steps", "invalid plan: no step is headed `### Step 1: Title`, so there is nothing to do")
    for step in document.steps:
        if step.is_preflight and (document.kind == "plan" or step.number != 0):
            # It would be left out of every count and every audit.
            message = f"step {step.number} says sandbox_preflight: true, which only step 0 of a session spec may"
            yield Defect(step.line_of("sandbox_preflight"), "preflight", message)
    yield from _wrong_step_dependencies(document)
    if document.kind == "plan":
        yield from _wrong_sessions(document)


def _wrong_step_dependencies(document: Document) -> Iterator[Defect]:
    numbers = {step.number for step in document.steps}
    for step in document.steps:
        for other in step.depends_on:
            depends = f"step {step.number} depends on step {other}"
            if other not in numbers and document.kind == "plan":  # that of a spec may be in another spec
                yield Defect(step.line, "depends-on", f"{depends}, which is not in the plan")
            elif other >= step.number:
                yield Defect(step.line, "depends-on", f"{depends}, which does not come before it")


def _wrong_sessions(document: Document) -> Iterator[Defect]:
    groups = _groups(document)
    numbers: Counter[int] = Counter()
    homes: Counter[int] = Counter()
    for group in groups:
        numbers[group.number] += 1
        homes.update(group.steps)
    for step in document.work_steps:
        if homes[step.number] != 1:
            message = f"step {step.number} stands in {homes[step.number]} sessions, not in one"
            yield Defect(step.line, "session", message)
    for group in groups:
        if numbers[group.number] > 1:
            yield Defect(group.line, "session", f"session {group.number} is there {numbers[group.number]} times")
        if not group.steps and document.work_steps:
            yield Defect(group.line, "session", f"session {group.number} has no step")
        for other in group.depends_on:
            if other not in numbers:
                message = f"session {group.number} depends on session {other}, which is not in the plan"
                yield Defect(group.line, "session", message)
    try:
        TopologicalSorter(dependencies(document)).prepare()
    except CycleError as error:
        circle = list(reversed(error.args[1]))
        line = min(group.line for group in groups if group.number in circle)
        waiting = " → ".join(f"session {number}" for number in circle)
        yield Defect(line, "session", f"no session can be first: {waiting}, each waits for the next")


# which sessions come first, and which may run beside each other


def dependencies(document: Document) -> dict[int, set[int]]:
    """Which sessions each one waits for: as it says itself, and as its steps do."""
    home: dict[int, int] = {}
    needed: dict[int, set[int]] = {}
    for group in _groups(document):
        home |= dict.fromkeys(group.steps, group.number)
        needed[group.number] = set(group.depends_on)
    for step in document.work_steps:
        own = home.get(step.number)
        for other in step.depends_on:
            session = home.get(other)
            if own is not None and session is not None and session != own:
                needed[own].add(session)
    return needed


def order(specs: Sequence[SessionSpec]) -> list[list[int]]:
    """Sessions in waves: those of one wave may run beside each other."""
    needed, touch = {}, {}
    for spec in specs:
        needed[spec.number] = set(spec.depends_on)
        touch[spec.number] = spec.fence.touch
    return waves(needed, touch)


def waves(needed: Mapping[int, set[int]], touch: Mapping[int, Sequence[str]]) -> list[list[int]]:
    """The sessions of a wave wait for none of each other, and no two of them may change the same file.

    `needed` has no circle; what it names beyond its own keys counts as done.
    """
    left, order_of_waves = sorted(needed), []
    while left:
        wave: list[int] = []
        for number in left:
            is_ready = not needed[number] & set(left)
            if is_ready and not any(overlap(touch[number], touch[other]) for other in wave):
                wave.append(number)
        order_of_waves.append(wave)
        left = [number for number in left if number not in wave]
    return order_of_waves


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
    return re.split(r"[*?\[]", glob, maxsplit=1)[0]
