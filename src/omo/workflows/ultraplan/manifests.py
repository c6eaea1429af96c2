"""The manifest of a step: read from its YAML, or made up of its other fields for a plan before 1.7."""

from __future__ import annotations

import difflib
import re

from pydantic import ValidationError

from omo.errors import BadInput
from omo.proof import documents
from omo.strict import defects_of
from omo.text import clip
from omo.workflows.ultraplan.markdown import Fenced, commit_subjects
from omo.workflows.ultraplan.models import NO_MANIFEST, Manifest, PlanDefect, Step, normal


def read(block: Fenced, step: int, defects: list[PlanDefect]) -> Manifest:
    """Read strictly, because a misspelt key must not weaken the contract. None at all where it cannot be used."""
    where = f"step {step}: manifest"
    try:
        data = documents.parse(block.content, "manifest.yaml")
    except BadInput as error:
        line = error.details.get("line")
        offset = line - 1 if isinstance(line, int) else 0
        problem = error.details.get("problem") or error.message
        defects.append(PlanDefect(block.line + offset, "manifest-yaml", f"{where} is not usable YAML: {problem}"))
        return NO_MANIFEST
    values = data.get("manifest") if isinstance(data, dict) and len(data) == 1 else None
    if not isinstance(values, dict):
        message = f"{where}: its keys stand below `manifest:`, indented, and nothing stands beside it"
        defects.append(PlanDefect(block.line, "manifest-form", message))
        return NO_MANIFEST
    lines = key_lines(block)
    for key in values:
        if key not in Manifest.model_fields:
            # A misspelt key leaves its check out; one that is nothing like ours may belong to a newer tool.
            plain = re.sub(r"[\s-]+", "_", str(key)[:60].lower())
            near = difflib.get_close_matches(plain, Manifest.model_fields, n=1, cutoff=0.7)
            hint = f"did you mean {near[0]}?" if near else f"it checks nothing ({', '.join(Manifest.model_fields)})"
            message = f"{where}.{clip(str(key), 60)} is no key of ours; {hint}"
            defects.append(PlanDefect(lines.get(key, block.line), "manifest-key", message, is_advisory=not near))
    try:
        return Manifest.model_validate(values)
    except ValidationError as error:
        messages = defects_of(error, Manifest, where=("manifest",))
        for problem, says in zip(error.errors(include_url=False), messages, strict=True):
            line = lines.get(str(problem["loc"][0]), block.line)
            if problem["type"] == "missing":
                says += "; write it even when it is empty"
            defects.append(PlanDefect(line, "manifest-value", f"step {step}: {says}"))
        return NO_MANIFEST


def key_lines(block: Fenced) -> dict[str, int]:
    lines = {"": block.line}
    for number, text in enumerate(block.content.splitlines(), start=block.line):
        if key := re.match(r"\s*[\"']?([\w-]+)[\"']?\s*:", text):
            lines.setdefault(key[1], number)
    return lines


def made_up(step: Step) -> Manifest:
    """Paths from Files, the pattern from the commit message of the Checkpoint."""
    expected, absent = _paths(step)
    values: dict[str, object] = {"expected_paths": tuple(expected), "absent_paths": tuple(absent)}
    values |= {"min_file_count": len(expected), "commit_message_pattern": _pattern(step)}
    return NO_MANIFEST.model_copy(update=values)


def _paths(step: Step) -> tuple[list[str], list[str]]:
    """Files that are there afterwards, and those that are gone."""
    expected: list[str] = []
    absent: list[str] = []
    for text in step.files:
        path = normal(text)
        is_quoted = f"`{text}`" in step.text and "." in text
        if not path or (re.search(r"\s", text) and not is_quoted):  # words about files
            continue
        listed = absent if text in step.removed else expected
        if path not in listed:
            listed.append(path)
    return expected, absent


def _pattern(step: Step) -> str:
    """From the Checkpoint's message, up to a part of it that is still open, such as `{scope}`."""
    subject = next(iter(commit_subjects(step.checkpoint)), "")
    known = re.split(r"[{<]|\.\.\.|…", subject)[0].strip()
    if not known:
        return ""
    ends = r"(?:\s|$)" if known == subject else ""
    return f"^{re.escape(known)}".replace(r"\ ", " ") + ends
