"""zero-count: before a count of nothing is believed, the field is looked for in the records themselves."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from omo.verify.probes import Finding, Limits, Outcome, not_probeable, places
from omo.verify.triggers import CountClaim

_RESTATE = "0 records in events.jsonl have `meta.error`, or pass --file and --field"
SHOWN_LAST = 5
_MISSING = object()


@dataclass(frozen=True)
class Records:
    rows: list[dict[str, Any]]
    bad: int = 0
    is_one_object: bool = False


def probe(claim: CountClaim, root: Path, file: str | None, field: str | None, limits: Limits) -> Finding:
    path, name = claim.file or file, claim.field or field
    if not path or not name:
        missing = " and ".join(what for what, got in (("file", path), ("field", name)) if not got)
        return not_probeable(f"the claim names no {missing} to probe: {_RESTATE}")
    if field and field.rpartition(".")[2] == name:  # the claim says "error", the hint where that is: meta.error
        name = field
    place = places.locate(root, path, file, limits)
    if place.problem:
        return place.problem
    ran = f"probe field {name} in {place.shown}"
    if place.full is None:
        return Finding("insufficient", ran, "no such file", f"{path} is not in the project: nothing could be counted")
    try:
        raw, complete = places.read(place.full, limits.file_bytes)
        records = _parse(raw.decode("utf-8", "replace"), place.shown) if complete else None
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        return Finding("insufficient", ran, str(error)[:200], f"{place.shown} could not be read as records")
    if records is None:
        return Finding(
            "insufficient", ran, f"more than {limits.file_bytes} bytes", f"{place.shown} is too large to count"
        )
    return _judge(claim, name, records, ran)


def _parse(text: str, shown: str) -> Records:
    lowered = shown.lower()
    if lowered.endswith((".csv", ".tsv")):
        delimiter = "\t" if lowered.endswith(".tsv") else ","
        rows = csv.DictReader(io.StringIO(text), delimiter=delimiter)
        return Records([{key: value or None for key, value in row.items() if isinstance(key, str)} for row in rows])
    return _lines(text) if lowered.endswith((".jsonl", ".ndjson")) else _document(json.loads(text))


def _lines(text: str) -> Records:
    rows, bad = [], 0
    for line in text.splitlines():
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            bad += 1
    return Records(rows, bad)


def _document(value: Any) -> Records:
    """A list of objects, an object with one such list in it, or one object."""
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list) and inner and isinstance(inner[0], dict)]
        if len(lists) != 1:
            return Records([value], is_one_object=True)
        value = lists[0]
    if not isinstance(value, list):
        return Records([])
    rows = [row for row in value if isinstance(row, dict)]
    return Records(rows, bad=len(value) - len(rows))


def _at(row: dict[str, Any], name: str) -> Any:
    """The value at a dotted path. An explicit null is absent; a key that itself has dots is found."""
    if name in row:
        return _MISSING if row[name] is None else row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, dict) or value.get(part) is None:
            return _MISSING
        value = value[part]
    return value


def _judge(claim: CountClaim, name: str, records: Records, ran: str) -> Finding:
    rows = records.rows[-claim.last :] if claim.last else records.rows
    values = [_at(row, name) for row in rows]
    present = sum(value is not _MISSING for value in values)
    latest = [value is not _MISSING for value in values[-SHOWN_LAST:]]
    saw = f"{len(rows)} records, the field in {present}, in {sum(latest)} of the last {len(latest)}"
    if records.bad:
        return Finding("insufficient", ran, f"{saw}; {records.bad} are no objects", "not every record could be read")
    if not rows:
        return Finding("insufficient", ran, saw, "there is no record: the count proves nothing")
    if not present:
        return _never_there(claim, name, records, ran, saw)
    matching = sum(_passes(claim, value) for value in values)
    outcome, reason = _compare(claim, matching, len(rows))
    return Finding(outcome, ran, f"{saw}; the claim is true of {matching}", reason)


def _never_there(claim: CountClaim, name: str, records: Records, ran: str, saw: str) -> Finding:
    known = sorted(set(_names(records.rows[-100:])))
    leaf = name.rpartition(".")[2]
    near = [one for one in known if one.rpartition(".")[2] == leaf] or get_close_matches(name, known, 3, 0.6)
    fields = f"; nearest: {', '.join(near[:5])}" if near else f"; fields: {', '.join(known[:12])}"
    if records.is_one_object and claim.test == "absent" and not near:
        return Finding("holds", ran, saw + fields, "one object, and the field is not in it")
    reason = (
        "the field does not occur (an explicit null counts as absent): the count proves nothing. "
        "Check its name and path; for the absence itself, claim that the file does not contain it, quoted"
    )
    return Finding("contradicted", ran, saw + fields, reason)


def _names(rows: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Dotted names, two levels deep: what a reader would have meant."""
    for row in rows:
        for key, value in row.items():
            yield key
            if isinstance(value, dict):
                yield from (f"{key}.{inner}" for inner in value)


def _passes(claim: CountClaim, value: Any) -> bool:
    if claim.test in ("present", "absent"):
        return (value is not _MISSING) == (claim.test == "present")
    if value is _MISSING:
        return False
    if claim.test == "empty":
        return value in ("", [], {})
    return _same(value, claim.value)


def _same(value: Any, said: str) -> bool:
    if isinstance(value, bool):
        return str(value).lower() == said.lower()
    try:
        return float(value) == float(said)
    except (TypeError, ValueError, OverflowError):
        return str(value) == said


def _compare(claim: CountClaim, matching: int, total: int) -> tuple[Outcome, str]:
    if claim.of is not None and claim.of != total:
        return "contradicted", f"there are {total} records, not {claim.of}"
    if claim.unit == "percent":
        real = 100 * matching / total
        rounding = 0.5 * 10 ** -len(claim.amount.partition(".")[2])
        fits, shown = abs(real - float(claim.amount)) <= rounding + 1e-9, f"{real:.4g}% ({matching} of {total})"
    else:
        fits = matching == (total if claim.unit == "all" else int(claim.amount))
        shown = f"{matching} of {total}"
    return ("holds", f"counted now: {shown}") if fits else ("contradicted", f"counted now: {shown}")
