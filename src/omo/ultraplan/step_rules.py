"""What every step must say in words: its fields, a way out of failure, nothing left to be filled in."""

from __future__ import annotations

from collections.abc import Iterator

from omo.shown import clip
from omo.ultraplan import words
from omo.ultraplan.document import ON_FAILURE, Defect, Document, Step
from omo.ultraplan.markdown import is_none
from omo.ultraplan.steps import field_lines

# Each field with an example; the last says whether it may be `none`.
FIELDS = {
    "files": ("Files", "`src/report.py`", True),
    "changes": ("Changes", "what exactly is different afterwards", False),
    "reuses": ("Reuses", "none", True),
    "test first": ("Test first", "none", True),
    "verify": ("Verify", "`python3 -m pytest tests/test_report.py` → expected: 3 passed", False),
    "on failure": ("On failure", "retry — what to try instead", False),
    "checkpoint": ("Checkpoint", '`git add src/report.py && git commit -m "feat(report): …"`', True),
}
COMMANDS = ("verify", "checkpoint")


def check(document: Document) -> Iterator[Defect]:
    for step in document.steps:
        lines = field_lines(step)
        yield from _missing(step, lines)
        yield from _on_failure(step, lines)
        yield from _placeholders(step, lines)


def value_of(step: Step, key: str) -> str:
    values = {
        "files": ", ".join(step.files),
        "changes": step.changes,
        "reuses": step.reuses,
        "test first": step.test_first,
        "verify": step.verify,
        "on failure": step.on_failure_text,
        "checkpoint": step.checkpoint,
    }
    return values[key]


def _missing(step: Step, lines: dict[str, int]) -> Iterator[Defect]:
    for key, (label, example, may_be_none) in FIELDS.items():
        value = value_of(step, key)
        if key not in lines:
            yield Defect(step.line, "field", f"step {step.number}: {label} is missing; write `- {label}: {example}`")
        elif key in ("files", "on failure") or (value and (may_be_none or step.is_preflight)):
            continue  # an empty list of files was said to be none; the way out of failure has its own rule
        elif not value or is_none(value):
            said = f"is {clip(value, 40)!r}" if value else "is empty"
            yield Defect(lines[key], "field", f"step {step.number}: {label} {said}; write such as `{example}`")


def _on_failure(step: Step, lines: dict[str, int]) -> Iterator[Defect]:
    if "on failure" in lines and not step.on_failure:
        said = clip(step.on_failure_text, 60) or "nothing"
        message = f"step {step.number}: On failure says {said!r}; begin with one of {', '.join(ON_FAILURE)}"
        yield Defect(lines["on failure"], "on-failure", message)


def _placeholders(step: Step, lines: dict[str, int]) -> Iterator[Defect]:
    if found := words.in_prose(step.title):
        yield _placeholder(step.line, f"step {step.number}: the title", found)
    for key, (label, _, _) in FIELDS.items():
        value = value_of(step, key)
        found = words.in_commands(value) if key in COMMANDS else words.in_prose(value)
        if key == "files":
            found = next(filter(None, map(words.in_path, step.files)), None)
        if found:
            yield _placeholder(lines.get(key, step.line), f"step {step.number}: {label}", found)


def _placeholder(line: int, where: str, found: str) -> Defect:
    return Defect(line, "placeholder", f"{where} still holds {clip(found, 40)!r}; say what it is")
