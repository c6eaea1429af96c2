"""Text that was left to be filled in. A word that is merely about such text, like a TODO list, is not one."""

from __future__ import annotations

import re

from omo.ultraplan.markdown import CODE, code_spans
from omo.ultraplan.shell_text import shell_texts

# What a template leaves open. Other names in brackets are often code: /users/{id}, jq '{name}', List<T>.
_SLOTS = (
    r"paths?|files?|file ?names?|message|commit message|command|cmd|exact command|verification command|output|"
    r"expected output|scope|description|title|test file|exactly what to modify|step|n|m|regex|pattern|reason|"
    r"specific instructions|(?:your|insert|fill)[\w -]*"
)
_SLOT = re.compile(rf"(?<!\$)\{{(?:{_SLOTS})\}}|<(?:{_SLOTS}|\.\.\.|…)>", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:TBD|TBA|TBC)\b|\bto be (?:decided|determined|defined|specified)\b|\blorem ipsum\b|\?\?\?")
# Such a word is a note to the author where it begins a remark or stands alone; "the TODO list" is a thing.
_NOTE = re.compile(r"(?:^|[\s(\[])(?:TODO|FIXME|XXX)\s*(?:[:)\]—–]|-\s|$)", re.MULTILINE)
_DOTS = re.compile(r"[\s.…]*(?:…|\.\.\.)[\s.…]*")
_BARE_DOTS = re.compile(r"…|(?:^|\s)\.\.\.(?:\s|$)")
_ANY_BRACES = re.compile(r"\{[^{}]*\}|<[^<>]*>|…|(?:^|/)\.\.\.(?:/|$)")


def in_prose(text: str) -> str | None:
    """The first placeholder in words. Code is quoted, so it is one only where it holds nothing else."""
    words = CODE.sub(" code ", text)
    if _DOTS.fullmatch(text):
        return text.strip()
    return _first(words, _OPEN, _NOTE, _SLOT) or next(filter(_SLOT.fullmatch, code_spans(text)), None)


def in_commands(value: str) -> str | None:
    """The same for a Verify or Checkpoint: here three dots are an open end, but not those of `go test ./...`."""
    told = in_prose(value)
    texts = [text for text in shell_texts(value) if not told]
    return told or next(filter(None, (_first(text, _SLOT, _BARE_DOTS, _NOTE, _OPEN) for text in texts)), None)


def in_path(text: str) -> str | None:
    """Braces and angle brackets are in no glob of ours, so whatever is in them was not filled in."""
    return _first(text, _ANY_BRACES) or _whole(text)


def in_pattern(text: str) -> str | None:
    return _first(text, _SLOT) or ("…" if "…" in text else None) or _whole(text.strip("^$"))


def _whole(text: str) -> str | None:
    return text if re.fullmatch(r"(?:TBD|TBA|TBC|TODO|FIXME|XXX|\.\.\.|\?+)", text.strip(), re.IGNORECASE) else None


def _first(text: str, *patterns: re.Pattern[str]) -> str | None:
    found = next((hit for pattern in patterns if (hit := pattern.search(text))), None)
    return found[0].strip(" ([:)]-—–") or found[0] if found else None
