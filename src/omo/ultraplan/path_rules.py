"""Paths of a manifest: inside the fence, not forbidden and expected at once, and not there before the work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from omo.errors import BadInput
from omo.evidence import globs
from omo.shown import clip
from omo.ultraplan import words
from omo.ultraplan.compiling import counts_files, is_already_true
from omo.ultraplan.document import Defect, Document, Fence, Manifest, Step
from omo.ultraplan.manifest import line_of


def check(document: Document, root: Path) -> Iterator[Defect]:
    yield from _fences(document)
    for step in document.steps:
        if step.manifest is None:
            continue
        yield from _preflight(document, step, step.manifest)
        if step.is_preflight:
            continue
        yield from _own(step, step.manifest)
        yield from _inside(step, step.manifest, fence_of(document, step))
        yield from _conflicts(document, step, step.manifest)
        yield from _vacuous(document, step, root)


def fence_of(document: Document, step: Step) -> Fence | None:
    """That of the step's session, else that of the whole document."""
    own = next((group.fence for group in document.groups if step.number in group.steps and group.fence), None)
    return own or document.fence


def manifest_line(step: Step, *names: str) -> int:
    """The line in the plan where these stand in the step's manifest."""
    if step.manifest is None or step.manifest.is_synthesised:
        return step.line
    offset = step.manifest.line - step.line
    return line_of("\n".join(step.text.splitlines()[offset:]), step.manifest.line, *names)


def _fences(document: Document) -> Iterator[Defect]:
    for fence in [document.fence, *(group.fence for group in document.groups)]:
        for glob in fence.touch if fence else ():
            if problem := _unusable(glob):
                yield Defect(_line_with(document, glob), "fence", f"Touch names {clip(glob, 80)!r}: {problem}")
        for glob in fence.never if fence else ():
            if _is_prose(glob) or words.in_path(glob):
                message = f"Never touch names {clip(glob, 80)!r}: that is no path, so it protects nothing"
                yield Defect(_line_with(document, glob), "fence", message)


def _unusable(glob: str) -> str | None:
    if _is_prose(glob) or words.in_path(glob):
        return "that is no path; write globs such as `src/**`"
    try:
        globs.normal(glob)
    except ValueError as error:
        return str(error)
    return None


def _is_prose(glob: str) -> bool:
    return re.search(r"\s", glob) is not None and not re.search(r"[/.*]", glob)


def _line_with(document: Document, text: str) -> int:
    return next((at for at, line in enumerate(document.text.splitlines(), start=1) if text in line), 0)


def _preflight(document: Document, step: Step, manifest: Manifest) -> Iterator[Defect]:
    """Only step 0 of a spec is a preflight: any other step so marked would be left out of every count."""
    is_there = document.kind == "spec" and step.number == 0
    if manifest.sandbox_preflight and not is_there:
        message = f"step {step.number}: sandbox_preflight belongs to step 0 of a session spec; take it out"
        yield Defect(manifest_line(step, "sandbox_preflight"), "preflight", message)
    elif is_there and not manifest.sandbox_preflight:
        message = "step 0: only the preflight has this number; write `sandbox_preflight: true`"
        yield Defect(step.line, "preflight", message)


def _own(step: Step, manifest: Manifest) -> Iterator[Defect]:
    if not (manifest.expected_paths or manifest.must_contain or manifest.absent_paths):
        remedy = "add expected_paths, must_contain or absent_paths"
        message = f"step {step.number}: nothing on disk tells that it is done; {remedy}"
        yield Defect(manifest.line, "predicate", message)
    most = len(manifest.expected_paths)
    if manifest.min_file_count > most and not counts_files(manifest):
        message = f"step {step.number}: min_file_count {manifest.min_file_count} is more than the {most} expected_paths"
        yield Defect(manifest_line(step, "min_file_count"), "count", message)
    for key, path in _paths(manifest):
        if found := words.in_path(path):
            message = f"step {step.number}: {key} {clip(path, 80)!r} still holds {clip(found, 40)!r}; say what it is"
            yield Defect(manifest_line(step, key, path), "placeholder", message)
    for path in manifest.expected_paths:
        if gone := next((glob for glob in manifest.absent_paths if globs.covers(path, glob)), None):
            message = f"step {step.number}: {path} is both in expected_paths and in absent_paths ({gone})"
            yield Defect(manifest_line(step, "absent_paths", gone), "conflict", message)


def _paths(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for key in ("expected_paths", "bash_syntax_check", "forbidden_paths", "absent_paths"):
        yield from ((key, path) for path in getattr(manifest, key))
    yield from (("must_contain", one.path) for one in manifest.must_contain)


def _changed(manifest: Manifest) -> Iterator[tuple[str, str]]:
    yield from (("expected_paths", path) for path in manifest.expected_paths)
    yield from (("absent_paths", path) for path in manifest.absent_paths)


def _inside(step: Step, manifest: Manifest, fence: Fence | None) -> Iterator[Defect]:
    if fence is None:
        return
    for key, path in _changed(manifest):
        closed = next((glob for glob in fence.never if globs.covers(path, glob)), None)
        if closed:
            message = f"step {step.number}: {key} {path} is never to be touched ({closed})"
            yield Defect(manifest_line(step, key, path), "fence", message)
        elif fence.touch and not any(globs.covers(path, glob) for glob in fence.touch):
            message = f"step {step.number}: {key} {path} lies outside the fence ({clip(', '.join(fence.touch), 120)})"
            yield Defect(manifest_line(step, key, path), "fence", message)


def _conflicts(document: Document, step: Step, manifest: Manifest) -> Iterator[Defect]:
    """A forbidden path stays forbidden for every commit of the session, whichever step said so."""
    for other in of_same_session(document, step):
        forbidden = other.manifest.forbidden_paths if other.manifest else ()
        by = "" if other.number == step.number else f" of step {other.number}"
        for key, path in _changed(manifest):
            for glob in [glob for glob in forbidden if globs.covers(path, glob)]:
                message = f"step {step.number}: {key} {path} is also in forbidden_paths{by} ({glob})"
                yield Defect(manifest_line(step, key, path), "conflict", message)
    for later in [one for one in document.steps if one.number > step.number and one.manifest]:
        gone = later.manifest.absent_paths if later.manifest else ()
        for path in [path for path in manifest.expected_paths if any(globs.covers(path, glob) for glob in gone)]:
            message = f"step {step.number}: {path} is expected, and step {later.number} removes it: no audit could pass"
            yield Defect(manifest_line(step, "expected_paths", path), "conflict", message)


def of_same_session(document: Document, step: Step) -> list[Step]:
    numbers = next((group.steps for group in document.groups if step.number in group.steps), (step.number,))
    return [one for one in document.steps if one.number in numbers]


def _vacuous(document: Document, step: Step, root: Path) -> Iterator[Defect]:
    if document.recovery is not None or document.is_legacy:
        return  # part of the work is there already, or the manifest is only made up
    try:
        is_true = is_already_true(document, step, root)
    except BadInput:
        return  # a path or pattern that cannot be used has its own defect
    if is_true:
        remedy = "add must_contain with what it writes, or absent_paths with what it removes"
        message = f"step {step.number}: its manifest already holds before the step, so it proves nothing; {remedy}"
        yield Defect(step.manifest.line if step.manifest else step.line, "vacuous", message)
