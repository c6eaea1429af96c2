"""What a command is handed as text or JSON: checked once, the same everywhere."""

from __future__ import annotations

import os
from pathlib import Path

from omo.errors import BadInput
from omo.shown import clip
from omo.ultragoal.brief import defects_of, is_visible

LONGEST = 20_000


def json_of(given: str, cwd: str | Path, option: str) -> object:
    """The JSON itself where the text begins like it, else what the file of that name holds."""
    from omo.evidence import documents  # a YAML parser is behind it, which a status does not need

    fix = f"{option} takes JSON that begins with {{ or [, or the name of a file that holds it"
    if not given.strip():
        raise BadInput(f"{option} is empty", fix=fix)
    if given.lstrip()[:1] in ("{", "["):
        return documents.parse(given.strip(), option)
    path = Path(cwd, given)
    if "\0" in given or not os.path.lexists(path):
        raise BadInput(f"{option} {clip(given, 200)!r} is neither JSON nor a file", fix=fix)
    return documents.load(path)


def text_defects(option: str, text: object, *, longest: int = LONGEST, shortest: int = 1) -> list[str]:
    """Why this cannot be kept as somebody's words; none for most."""
    if text is None:
        return [f"{option} is missing"]
    if not isinstance(text, str):
        return [f"{option} is {clip(repr(text), 60)}, not a text"]
    if not is_visible(text):
        return [f"{option} is blank"]
    size = len(text.strip())
    if not shortest <= size <= longest:
        return [f"{option} has {size} characters ({clip(text, 40)!r}), of {shortest} to {longest}"]
    return [f"{option}: {why}" for why in defects_of(text)]


def same_words(text: str) -> str:
    """Two texts that differ in case and blanks only are the same."""
    return " ".join(text.split()).casefold()
