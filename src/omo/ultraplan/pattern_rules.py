"""Patterns of a manifest: usable, and about this step rather than about any commit or any text."""

from __future__ import annotations

from collections.abc import Iterator

from omo.evidence import globs, patterns
from omo.shown import clip
from omo.ultraplan import words
from omo.ultraplan.document import Defect, Document, Manifest, Step
from omo.ultraplan.markdown import is_none
from omo.ultraplan.path_rules import manifest_line, of_same_session
from omo.ultraplan.shell_text import commit_subjects

# Subjects of commits that have nothing to do with each other; a pattern that two of them match names no step.
UNRELATED = (
    "fix typo",
    "WIP",
    "Merge branch 'main' into topic",
    "chore(deps): bump lodash from 4.17.20 to 4.17.21",
    "Update README.md",
    "feat: dark mode",
    'Revert "docs: explain the cache"',
    "2024-05-01 snapshot",
)


def check(document: Document) -> Iterator[Defect]:
    subjects = {step.number: commit_subjects(step.checkpoint) for step in document.steps}
    for step in document.steps:
        if step.manifest is None or step.is_preflight:
            continue
        yield from _contents(step, step.manifest)
        yield from _commit(step, step.manifest, subjects[step.number])
        yield from _others(document, step, step.manifest, subjects)


def _contents(step: Step, manifest: Manifest) -> Iterator[Defect]:
    for one in manifest.must_contain:
        problem = patterns.defect(one.pattern)
        open_part = words.in_pattern(one.pattern)
        if problem or open_part:
            why = problem or f"still holds {clip(open_part or '', 40)!r}"
            message = f"step {step.number}: must_contain pattern {clip(one.pattern, 80)!r} of {one.path}: {why}"
            yield Defect(manifest_line(step, "must_contain", one.pattern), "pattern", message)


def _commit(step: Step, manifest: Manifest, subjects: list[str]) -> Iterator[Defect]:
    pattern = manifest.commit_message_pattern
    where = f"step {step.number}: commit_message_pattern {clip(pattern, 80)!r}"
    line = manifest_line(step, "commit_message_pattern")
    if not pattern:
        if not manifest.skip_commit_check:
            remedy = "name the commit, or write `skip_commit_check: true` for a step without one"
            yield Defect(line, "pattern", f"step {step.number}: commit_message_pattern is empty; {remedy}")
        return
    if problem := _problem(pattern):
        yield Defect(line, "pattern", f"{where} {problem}")
    elif manifest.expects_commit:
        yield from _own_checkpoint(step, pattern, subjects, where)


def _others(document: Document, step: Step, manifest: Manifest, subjects: dict[int, list[str]]) -> Iterator[Defect]:
    """Commits of one session: a shared beginning is told apart by paths, anything else might pass for this step's."""
    pattern = manifest.commit_message_pattern
    if not manifest.expects_commit or _problem(pattern):
        return
    around = [one for one in of_same_session(document, step) if one.number != step.number]
    like = [one for one in around if any(_found(pattern, subject) for subject in subjects[one.number])]
    mistaken = [one.number for one in like if not pattern.startswith("^") or _holds(one.manifest, manifest)]
    told_apart = [one.number for one in like if one.number not in mistaken]
    where = f"step {step.number}: commit_message_pattern {clip(pattern, 80)!r} also matches the commit of"
    line = manifest_line(step, "commit_message_pattern")
    if mistaken:
        remedy = "begin it with ^, and name what only this commit says"
        yield Defect(line, "pattern", f"{where} {_listed(mistaken)}, which could pass for this one's; {remedy}")
    if told_apart:
        message = f"{where} {_listed(told_apart)}; only order and paths tell them apart"
        yield Defect(line, "pattern", message, is_advisory=True)


def _holds(other: Manifest | None, own: Manifest) -> bool:
    """Whether a commit with the other's paths has all of ours."""
    theirs = (*other.expected_paths, *other.absent_paths) if other else ()
    return all(any(globs.covers(path, glob) for glob in theirs) for path in (*own.expected_paths, *own.absent_paths))


def _listed(numbers: list[int]) -> str:
    return "step " + clip(", ".join(map(str, numbers)), 60)


def _problem(pattern: str) -> str | None:
    if problem := patterns.defect(pattern):
        return problem
    if open_part := words.in_pattern(pattern):
        return f"still holds {clip(open_part, 40)!r}; say what it is"
    if _found(pattern, ""):
        return "matches even an empty subject; begin it such as ^feat\\(report\\):"
    hits = [subject for subject in UNRELATED if _found(pattern, subject)]
    if len(hits) > 1:
        return f"matches commits that have nothing to do with it, such as {hits[0]!r}; name the type and the scope"
    return None


def _own_checkpoint(step: Step, pattern: str, subjects: list[str], where: str) -> Iterator[Defect]:
    line = manifest_line(step, "commit_message_pattern")
    if is_none(step.checkpoint):
        message = f"{where} wants a commit and Checkpoint is {clip(step.checkpoint, 40)!r}; write the git commit there"
        yield Defect(line, "checkpoint", message)
    elif subjects and not any(_found(pattern, subject) for subject in subjects):
        message = f"{where} does not match the Checkpoint's own message {clip(subjects[0], 80)!r}; make them agree"
        yield Defect(line, "checkpoint", message)


def _found(pattern: str, subject: str) -> bool:
    try:
        return patterns.found(pattern, subject)
    except patterns.TooSlow:
        return False
