"""Every rule a plan has to keep, in one run; each defect on its line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from omo import fence as fences
from omo.errors import BadInput
from omo.fence.commands import refusals
from omo.proof import patterns
from omo.proof.checks import digest_of_check
from omo.proof.evaluate import CheckedTree, evaluate
from omo.text import clip
from omo.workflows.ultraplan.audit import checks_of
from omo.workflows.ultraplan.document import fence_of_session
from omo.workflows.ultraplan.markdown import CODE, code_texts, commit_subjects, is_none, shell_texts
from omo.workflows.ultraplan.models import ON_FAILURE, STRICT_SINCE, Document, PlanDefect, Step, covering, normal
from omo.workflows.ultraplan.sessions import structure
from omo.workflows.ultraplan.verify import commands_of

# What no plan of any age may have: it cannot be carried out at all, or must not be.
ALWAYS = frozenset({"no-steps", "step-repeated", "version", "needs", "command", "length"})

# Each field of a step with an example; whether it may be `none`, and whether it may be left out.
FIELDS = {
    "Files": ("`src/report.py`", True, False),
    "Changes": ("what exactly is different afterwards", False, False),
    "Reuses": ("none", True, True),
    "Test first": ("none", True, True),
    "Verify": ("`python3 -m pytest tests/test_report.py` → expected: 3 passed", False, False),
    "On failure": ("retry — what to try instead", False, False),
    "Checkpoint": ('`git add src/report.py && git commit -m "feat(report): …"`', True, False),
}

ALWAYS_PASSES = (("true",), (":",), ("echo",), ("printf",))

# Subjects of commits that have nothing to do with each other; a pattern that two of them match names no step.
UNRELATED = (
    "",
    "fix typo",
    "WIP",
    "Merge branch 'main' into topic",
    "chore(deps): bump lodash from 4.17.20 to 4.17.21",
    "Update README.md",
    "feat: dark mode",
    'Revert "docs: explain the cache"',
    "2024-05-01 snapshot",
)


def validate(document: Document, root: Path, begun: Collection[int] = ()) -> list[PlanDefect]:
    """By line. What refuses a plan of 1.7 only advises on an older one. `begun` are steps whose work may be there."""
    defects = [*document.defects, *_version(document), *structure(document), *_numbers(document), *_fences(document)]
    subjects = {step.number: commit_subjects(step.checkpoint) for step in document.steps}
    for step in document.steps:
        defects += _fields(step)
        defects += _harmless(document, step)
        defects += _commands(document, step, root)
        if not step.has_manifest:
            continue
        defects += _commit_pattern(document, step, subjects)
        defects += _files(step)
        defects += _conflicts(document, step)
        if step.number not in begun and not document.is_legacy:  # of an older plan the manifest is only made up
            defects += _vacuous(document, step, root)
    if document.is_legacy:
        defects = [replace(defect, is_advisory=defect.code not in ALWAYS) for defect in defects]
    return sorted(dict.fromkeys(defects), key=lambda defect: (defect.is_advisory, defect.line))


def refusing(defects: Sequence[PlanDefect]) -> list[PlanDefect]:
    return [defect for defect in defects if not defect.is_advisory]


def _version(document: Document) -> Iterator[PlanDefect]:
    ours = ".".join(map(str, STRICT_SINCE))
    version = document.version
    shown = ".".join(map(str, version or ()))
    if version is None and any(step.manifest_lines for step in document.steps):
        message = f"there are manifests but no version; write `plan_version: {ours}` below the title"
        yield PlanDefect(1, "version", message)
    elif document.is_legacy:
        named = f"plan_version {shown}" if version else "no plan_version"
        message = f"{named}: an older plan, so manifests are made up from Files and Checkpoint, and prove less"
        yield PlanDefect(0, "legacy", message, is_advisory=True)
    elif version and version[0] > STRICT_SINCE[0]:
        yield PlanDefect(1, "version", f"plan_version {shown} is newer than this omo knows ({ours}); update omo")


def _numbers(document: Document) -> Iterator[PlanDefect]:
    lines: dict[int, int] = {}
    is_in_order = True
    for wanted, step in enumerate(document.steps, start=1):
        if step.number in lines:
            first = lines[step.number]
            message = f"step {step.number} is there twice (line {first} is the first); number them 1, 2, 3, …"
            yield PlanDefect(step.line, "step-repeated", message)
        elif step.number != wanted and is_in_order:  # told once: what follows is off by as much
            is_in_order = False
            message = f"step {step.number} stands where step {wanted} belongs"
            if step.number == 0:
                message += "; the preflight is not written down, omo plan start makes it"
            yield PlanDefect(step.line, "numbering", message)
        lines.setdefault(step.number, step.line)
        if not step.has_manifest:
            message = f"step {step.number} has no usable manifest; omo plan critique PLAN proposes one where none is"
            yield PlanDefect(step.line, "manifest-count", message)


# what every step must say in words


def _fields(step: Step) -> Iterator[PlanDefect]:
    if open_part := _open_part("title", step.title):
        yield PlanDefect(step.line, "placeholder", f"step {step.number}: the title{_left_open(open_part)}")
    for label, (example, may_be_none, is_optional) in FIELDS.items():
        value = step.fields[label]
        if label.lower() not in step.field_lines:
            if not is_optional:
                yield step.defect(label, "field", f"{label} is missing; write `- {label}: {example}`")
            continue
        if label == "On failure":
            if not step.on_failure:
                shown = clip(value, 60) or "nothing"
                yield step.defect(label, "on-failure", f"{label} says {shown!r}; begin with {', '.join(ON_FAILURE)}")
        elif label != "Files" and (not value or (is_none(value) and not may_be_none)):
            yield step.defect(label, "field", f"{label} is {clip(value, 40)!r}; write such as `{example}`")
        if open_part := _open_part(label, value):
            yield step.defect(label, "placeholder", f"{label}{_left_open(open_part)}")


def _harmless(document: Document, step: Step) -> Iterator[PlanDefect]:
    """What would make a failure go unseen: a Verify that cannot fail, a skip of what others build on."""
    commands = commands_of([step])
    if commands and all(command.argv[:1] in ALWAYS_PASSES for command in commands):
        message = f"Verify {clip(step.verify, 60)!r} passes whatever the step did; run what shows it"
        yield step.defect("Verify", "verify", message)
    for other in document.steps:
        if step.on_failure == "skip" and step.number in other.depends_on:
            message = f"On failure says skip, and step {other.number} depends on it; retry or escalate"
            yield step.defect("On failure", "on-failure", message)


def _left_open(open_part: str) -> str:
    return f" still holds {clip(open_part, 40)!r}; say what it is"


# Text that was left to be filled in: what a template leaves open, and notes to oneself. Other names in brackets are
# often code (/users/{id}, List<T>), and "the TODO list" is a thing: test_words_about_such_text_are_fine in
# tests/ultraplan/test_validate.py, which also has `${path}` and `go test ./...`.
_SLOTS = (
    r"paths?|files?|(?:commit )?message|(?:exact |verification )?command|(?:expected )?output|scope|description|title|"
    r"step|test file|exactly what to modify|regex|pattern|reason|specific instructions|[nm]"
)
_OPEN = re.compile(
    rf"(?<!\$)\{{(?:{_SLOTS})\}}|<(?:{_SLOTS})>|\bTB[DAC]\b|(?:^|[\s(])(?:TODO|FIXME|XXX)(?=[:)]|\s*$)|^\s*(?:…|\.{{3}})\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_OPEN_END = re.compile(r"…|(?:^|\s)\.{3}(?:\s|$)")  # of a command; those of `go test ./...` are none
_NO_GLOB = re.compile(r"\{[^{}]*\}|<[^<>]*>|…")


def _open_part(label: str, value: str) -> str:
    """What is left open in a field; empty where nothing is."""
    if label == "Files":
        return _first(value, _OPEN, _NO_GLOB)
    # Code is quoted, so it is open only where it holds nothing else.
    words = CODE.sub(lambda span: span[2] if re.fullmatch(rf"[{{<](?:{_SLOTS})[}}>]", span[2]) else " code ", value)
    open_part = _first(words, _OPEN)
    if label in ("Verify", "Checkpoint"):
        for text in shell_texts(value):
            open_part = open_part or _first(text, _OPEN, _OPEN_END)
    return open_part


def _first(text: str, *expressions: re.Pattern[str]) -> str:
    for expression in expressions:
        if match := expression.search(text):
            return match[0].strip()
    return ""


def _commands(document: Document, step: Step, root: Path) -> Iterator[PlanDefect]:
    """What the fence would deny then is told before the work."""
    limits = fence_of_session(document, document.session_of(step))
    fence = fences.fence_for(limits.touch, limits.never, str(root))
    for label in ("Verify", "Checkpoint"):
        value = step.fields[label]
        is_talk = is_none(value) or not code_texts(value)
        for text in shell_texts(value):
            reasons = refusals(text, fence, str(root))
            never = [reason for reason in reasons if isinstance(reason, fences.Never)]
            for forbidden in never:
                yield step.defect(label, "command", f"{label} must not be run, and would be escalated: {forbidden}")
            if never or is_talk:
                continue
            for reason in reasons:
                denied = reason.removesuffix(fences.REMEDY).strip()
                yield step.defect(label, "fence", f"{label} would be denied: {denied} Mend the command or Touch")


# the pattern of a commit: usable, and about this step rather than about any commit


def _commit_pattern(document: Document, step: Step, subjects: dict[int, list[str]]) -> Iterator[PlanDefect]:
    key = "commit_message_pattern"
    pattern, own = step.manifest.commit_message_pattern, subjects[step.number]
    shown = f"{key} {clip(pattern, 80)!r}"
    if not pattern and not step.manifest.skip_commit_check:
        remedy = "name the commit, or write `skip_commit_check: true` for a step without one"
        yield step.defect(key, "pattern", f"{key} is empty; {remedy}")
    elif pattern and (problem := _pattern_problem(pattern)):
        yield step.defect(key, "pattern", f"{shown} {problem}")
    elif step.manifest.expects_commit:
        if is_none(step.checkpoint):
            remedy = f"wants a commit and Checkpoint is {clip(step.checkpoint, 40)!r}; write the git commit there"
            yield step.defect(key, "checkpoint", f"{shown} {remedy}")
        elif own and not _matches(pattern, own):
            remedy = f"does not match the Checkpoint's own message {clip(own[0], 80)!r}; make them agree"
            yield step.defect(key, "checkpoint", f"{shown} {remedy}")
        if rivals := _rivals(document, step, subjects):
            remedy = "which could pass for this one's; begin it with ^, and name what only this commit says"
            yield step.defect(key, "pattern", f"{shown} also matches the commit of step {clip(rivals, 60)}, {remedy}")


def _pattern_problem(pattern: str) -> str:
    if problem := patterns.defect(pattern):
        return problem
    if open_part := _first(pattern.removeprefix("^"), _OPEN):
        return f"still holds {clip(open_part, 40)!r}; say what it is"
    unrelated = [subject for subject in UNRELATED if _matches(pattern, [subject])]
    # One may be: test_a_commit_pattern_that_names_the_step_is_fine in tests/ultraplan/test_validate.py.
    if "" in unrelated or len(unrelated) > 1:
        return f"matches commits that have nothing to do with it, such as {unrelated[0]!r}; name the type and the scope"
    return ""


def _rivals(document: Document, step: Step, subjects: dict[int, list[str]]) -> str:
    """Commits of one session: a shared beginning is told apart by paths, anything else might pass for this step's."""
    pattern = step.manifest.commit_message_pattern
    mistaken = []
    for other in document.steps_of(document.session_of(step)):
        theirs = other.manifest.changed_paths
        has_ours = all(covering(path, theirs) for path in step.manifest.changed_paths)
        is_told_apart = pattern.startswith("^") and not has_ours
        if other.number != step.number and not is_told_apart and _matches(pattern, subjects[other.number]):
            mistaken.append(str(other.number))
    return ", ".join(mistaken)


def _matches(pattern: str, subjects: Sequence[str]) -> bool:
    """Whether it is found in one of them."""
    try:
        return any(patterns.found(pattern, subject) for subject in subjects)
    except patterns.TooSlow:
        return False


# files: inside the fence, not forbidden and expected at once, and not there before the work


def _fences(document: Document) -> Iterator[PlanDefect]:
    lines = document.text.splitlines()
    for fence in filter(None, [document.fence, *(session.fence for session in document.sessions)]):
        named = [("Touch", glob) for glob in fence.touch] + [("Never touch", glob) for glob in fence.never]
        for label, glob in named:
            is_prose = re.search(r"\s", glob) is not None and not re.search(r"[/.*]", glob)
            is_outside = label == "Touch" and not normal(glob)  # what is never to be touched may lie elsewhere
            if is_prose or is_outside or _first(glob, _OPEN, _NO_GLOB):
                line = next((number for number, text in enumerate(lines, start=1) if glob in text), 0)
                why = "no path of the project, so it has no effect; write globs such as `src/**`"
                yield PlanDefect(line, "fence", f"{label} names {clip(glob, 80)!r}: {why}")


def _files(step: Step) -> Iterator[PlanDefect]:
    manifest = step.manifest
    if not (manifest.changed_paths or manifest.must_contain):
        remedy = "name the files it writes in Files, or add must_contain or absent_paths"
        yield step.defect("", "predicate", f"nothing on disk tells that it is done; {remedy}")
    most = len(manifest.expected_paths)
    if manifest.min_file_count > most and not manifest.counts_files:
        message = f"min_file_count {manifest.min_file_count} is more than the {most} expected_paths"
        yield step.defect("min_file_count", "count", message)
    for key, path in manifest.named_paths:
        if open_part := _first(path, _OPEN, _NO_GLOB):
            yield step.defect(key, "placeholder", f"{key} {clip(path, 80)!r}{_left_open(open_part)}")
    for entry in manifest.must_contain:
        problem = patterns.defect(entry.pattern)
        if open_part := _first(entry.pattern, _OPEN):
            problem = problem or f"still holds {clip(open_part, 40)!r}"
        if problem:
            message = f"must_contain pattern {clip(entry.pattern, 80)!r} of {entry.path}: {problem}"
            yield step.defect("must_contain", "pattern", message)


def _conflicts(document: Document, step: Step) -> Iterator[PlanDefect]:
    fence = fence_of_session(document, document.session_of(step))
    for key, path in step.manifest.named_paths:
        what = f"{key} {path}"
        if path in step.manifest.changed_paths:
            if closed := covering(path, fence.never):
                yield step.defect(key, "fence", f"{what} is under Never touch, or forbidden_paths ({closed})")
            elif fence.touch and not covering(path, fence.touch):
                limits = clip(", ".join(fence.touch), 120)
                yield step.defect(key, "fence", f"{what} lies outside the fence ({limits})")
        if key in ("expected_paths", "must_contain"):
            for other in document.steps:
                if other.number >= step.number and covering(path, other.manifest.absent_paths):
                    message = f"{what} is in absent_paths of step {other.number}: no audit could pass"
                    yield step.defect(key, "conflict", message)


def _vacuous(document: Document, step: Step, root: Path) -> Iterator[PlanDefect]:
    """Whether the tree as it is now, or as earlier steps leave it, meets the step before it begins."""
    before: set[str] = set()
    try:
        checks = checks_of(step)
        for other in document.steps:
            if other.number < step.number:
                before.update(map(digest_of_check, checks_of(other)))
    except BadInput:
        return  # a path or pattern that cannot be used has its own defect
    left = [check for check in checks if digest_of_check(check) not in before]
    if not checks or (left and evaluate(left, CheckedTree(root)).verdict != "pass"):
        return
    holds = "its manifest already holds before the step"
    remedy = "say in Changes, in backticks, which name is new in its files, or in must_contain what is"
    manifest = step.manifest
    if manifest.expects_commit and manifest.expected_paths and not (manifest.must_contain or manifest.absent_paths):
        # A bug fix brings no new name: the audit wants a commit that changes its files, and Verify tells the rest.
        message = f"{holds}, but for a commit that changes its files; let its Verify fail before the step, or {remedy}"
        yield step.defect("", "weak", message, is_advisory=True)
    else:
        done = "where it was done and edited since, put its text back"
        yield step.defect("", "vacuous", f"{holds}, so it proves nothing; {remedy}; {done}")
