"""positive-state: the file is read now, and the value is in it or is not."""

from __future__ import annotations

import os
import re
from pathlib import Path

from omo.verify.probes import Finding, Limits, Outcome, not_probeable, places
from omo.verify.triggers import FileClaim

_RESTATE = 'say which text it holds, in quotes: config.yaml contains "timeout: 30"'
_ASSIGNMENT = re.compile(r"[\w.-]+\s?[:=]\s?\S.*")
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*")


def probe(claim: FileClaim, root: Path, hint: str | None, limits: Limits) -> Finding:
    place = places.locate(root, claim.path, hint, limits)
    if place.problem:
        return place.problem
    if place.full is None:
        ran = f"look for {place.shown}"
        return Finding("contradicted", ran, "no such file", f"{place.shown} does not exist in the project")
    try:
        return _look(claim, place, root, limits)
    except OSError as error:
        ran, saw = f"read {place.shown}", error.strerror or str(error)
        return Finding("insufficient", ran, saw, f"{place.shown} could not be read: {saw}")


def _look(claim: FileClaim, place: places.Place, root: Path, limits: Limits) -> Finding:
    if claim.says == "exists":
        return _exists(place)
    if claim.says == "uncommitted":
        return _is_uncommitted(place, root, limits)
    if os.path.isdir(place.full or ""):
        ran = f"read {place.shown}"
        return not_probeable(f"{place.shown} is a directory: name a file in it", ran, "a directory")
    if claim.says == "empty":
        return _is_empty(place)
    return _has_lines(claim, place, limits) if claim.says == "lines" else _holds_text(claim, place, limits)


def _is_empty(place: places.Place) -> Finding:
    size = os.stat(place.full or "").st_size
    outcome: Outcome = "contradicted" if size else "holds"
    return Finding(outcome, f"look at {place.shown}", f"{size} bytes", f"it holds {size} bytes")


def _has_lines(claim: FileClaim, place: places.Place, limits: Limits) -> Finding:
    raw, complete = places.read(place.full or "", limits.file_bytes)
    ran, count = f"count the lines of {place.shown}", _line_count(raw.decode("utf-8", "replace"))
    if not complete:
        reason = f"only the first {limits.file_bytes} bytes of {place.shown} were read"
        return Finding("insufficient", ran, f"{count} lines and more", reason)
    outcome: Outcome = "holds" if count == int(claim.values[0]) else "contradicted"
    return Finding(outcome, ran, f"{count} lines", f"counted now: {count}")


def _line_count(text: str) -> int:
    """A last line without a line end is one too."""
    return text.count("\n") + (bool(text) and not text.endswith("\n"))


def _is_uncommitted(place: places.Place, root: Path, limits: Limits) -> Finding:
    ran = f"git status {place.shown}"
    status = places.git_status(root, place.shown, limits)
    if status is None:
        return Finding("insufficient", ran, "no answer", "git does not answer here, so what is committed is not known")
    if not status:
        return Finding("contradicted", ran, "tracked and clean", f"{place.shown} is committed as it is now")
    return Finding("holds", ran, status, f"{place.shown} is not committed as it is now")


def _exists(place: places.Place) -> Finding:
    full = place.full or ""
    ran = f"look at {place.shown}"
    if os.path.isdir(full):
        count = len(os.listdir(full))
        outcome: Outcome = "holds" if count else "contradicted"
        return Finding(outcome, ran, f"a directory with {count} entries", "it is there" if count else "it is empty")
    size = os.stat(full).st_size
    if size == 0:
        return Finding("contradicted", ran, "0 bytes", f"{place.shown} is there and empty: nothing was written to it")
    return Finding("holds", ran, f"{size} bytes", f"{place.shown} is there and not empty")


def _holds_text(claim: FileClaim, place: places.Place, limits: Limits) -> Finding:
    ran = f"read {place.shown}"
    raw, complete = places.read(place.full or "", limits.file_bytes)
    text = raw.decode("utf-8", "replace")
    saw = f"{len(raw)} bytes, {_line_count(text)} lines"
    if not any(value.strip() for value in claim.values):
        return not_probeable(f"the claim does not say what exactly {place.shown} holds: {_RESTATE}", ran, saw)
    seen = [_seen(value, text, claim.loose) for value in claim.values]
    saw = f"{saw}; " + "; ".join(
        f'"{_short(value)}": {where}' for value, (_, where) in zip(claim.values, seen, strict=True)
    )
    outcome, reason = _judge(claim, [how for how, _ in seen], place.shown)
    if not complete and ("absent" in [how for how, _ in seen]):
        return Finding("insufficient", ran, saw, f"only the first {limits.file_bytes} bytes of {place.shown} were read")
    return Finding(outcome, ran, saw, reason)


def _seen(value: str, text: str, loose: bool) -> tuple[str, str]:
    """How a value occurs, `whole`, `part` (inside a longer word) or `absent`, and where."""
    for found, searched in ((value, text), (_collapsed(value), _collapsed(text))):
        if match := re.search(_whole(found), searched):
            where = (
                f"line {text.count(chr(10), 0, match.start()) + 1}" if searched is text else "there, spaced differently"
            )
            return "whole", where
    if loose and re.search(_whole(_unquoted(value)), _unquoted(text)):
        return "whole", "there, written differently"
    place = text.find(value)
    return (
        ("part", f"only inside a longer word, line {text.count(chr(10), 0, place) + 1}")
        if place >= 0
        else ("absent", "not there")
    )


def _whole(value: str) -> str:
    start, end = (r"(?<!\w)" if value[:1].isalnum() else ""), (r"(?!\w)" if value[-1:].isalnum() else "")
    return start + re.escape(value) + end


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _unquoted(text: str) -> str:
    """`"timeout": 30`, `timeout = 30` and `timeout: 30` say the same to somebody who did not quote them."""
    return re.sub(r" ?[:=] ?", "=", _collapsed(re.sub(r"[\"'`]", "", text)))


def _judge(claim: FileClaim, seen: list[str], shown: str) -> tuple[Outcome, str]:
    if "part" in seen:
        return "insufficient", f"a value is in {shown} only as part of a longer word: quote the whole of it"
    if claim.says == "lacks":
        if "whole" in seen:
            return "contradicted", f"{shown} does hold it"
        return (
            ("insufficient", f"not found as written: {_RESTATE}") if claim.loose else ("holds", f"it is not in {shown}")
        )
    if "absent" not in seen:
        return "holds", f"read now, and it is in {shown}"
    return _not_found(claim, shown)


def _not_found(claim: FileClaim, shown: str) -> tuple[Outcome, str]:
    if not claim.loose:
        return "contradicted", f"{shown} was read now and does not hold it"
    value = claim.values[0]
    if _ASSIGNMENT.fullmatch(value) or (" " not in value and not _PLAIN_WORD.fullmatch(value)):
        return "contradicted", f"{shown} was read now and does not hold it as written"
    if " " in value:
        return "not-probeable", f"the words of the claim are not in {shown} as they stand: {_RESTATE}"
    return "insufficient", f"the word is not in {shown}: {_RESTATE}"


def _short(value: str) -> str:
    return value if len(value) <= 80 else value[:79] + "…"
