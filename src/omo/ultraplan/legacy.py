"""Plans from before manifests: what can be checked is made up from their prose, and marked as made up."""

from __future__ import annotations

import re
from dataclasses import replace

from omo.evidence import globs
from omo.ultraplan.document import Document, Manifest, Step
from omo.ultraplan.shell_text import commit_subjects


def synthesise(document: Document) -> Document:
    """Steps without a manifest get one: paths from Files, the pattern from the commit message of the Checkpoint.

    A plan of 1.7 or later stays as it is: there a missing manifest is a defect.
    """
    if not document.is_legacy:
        return document
    steps = tuple(_with_manifest(step) for step in document.steps)
    is_made_up = any(step.manifest is not None and step.manifest.is_synthesised for step in steps)
    return replace(document, steps=steps, is_legacy_synthesis=document.is_legacy_synthesis or is_made_up)


def _with_manifest(step: Step) -> Step:
    return step if step.manifest is not None else replace(step, manifest=_manifest(step))


def _manifest(step: Step) -> Manifest:
    paths = tuple(dict.fromkeys(filter(None, map(_path, step.files))))
    return Manifest(
        expected_paths=paths,
        min_file_count=len(paths),
        commit_message_pattern=_pattern(step.checkpoint),
        is_synthesised=True,
        line=step.line,
    )


def _path(text: str) -> str:
    """Empty for what is no path, such as words about files."""
    try:
        return globs.normal(text) if not re.search(r"\s", text) else ""
    except ValueError:
        return ""


def _pattern(checkpoint: str) -> str:
    """The whole subject; only what comes before a part that is still open, such as `{scope}`."""
    subject = next(iter(commit_subjects(checkpoint)), "")
    known = re.split(r"[{<]|\.\.\.|…", subject)[0].strip()
    return f"^{re.escape(known)}" if known else ""
