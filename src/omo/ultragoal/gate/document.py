"""A gate as it is handed in: JSON itself, or the name of a file that holds it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from omo.digest import sha256
from omo.errors import BadInput
from omo.evidence import documents
from omo.shown import clip

FIX = "omo ultragoal gate init --goal-id ID writes one to fill in; inline JSON begins with {"


def load(given: str, cwd: str | Path, what: str = "the quality gate") -> object:
    """Whatever was handed in, as plain JSON values. BadInput where it cannot be read."""
    if not given.strip():
        raise BadInput(f"{what} is empty", fix=FIX)
    document = documents.parse(given.strip(), what) if given.lstrip()[:1] in ("{", "[") else _read(given, cwd, what)
    try:
        canonical(document)
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start : error.end])[1:-1]
        fix = f"write the character itself, or both halves of it, instead of {half}"
        raise BadInput(f"{what} holds half a character ({half}), which no text can keep", fix=fix) from None
    except (TypeError, ValueError, RecursionError):
        raise BadInput(f"{what} holds values that no JSON file can: {clip(given, 200)}", fix=FIX) from None
    return document


def _read(given: str, cwd: str | Path, what: str) -> object:
    path = Path(cwd, given)
    if "\0" in given or not os.path.lexists(path):
        raise BadInput(f"{what} {clip(given, 200)} is not there", fix=FIX)
    return documents.load(path)


def canonical(document: object) -> bytes:
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8")


def digest(document: object) -> str:
    """The same for the same content, however it was spaced or its keys were ordered."""
    return sha256(canonical(document))
