"""Join what the shards of one `omo proof` found, as `--json` printed it, into one verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omo.errors import BadInput, NotEvaluable
from omo.json_text import Json, objects
from omo.proof import mutant_runs, unchecked_lines
from omo.proof.change_verdict import CANNOT_TELL, NOT_PROVEN, NOTHING, PROVEN
from omo.proof.trials import no_shard
from omo.text import clip

SAME = ("omo", "base", "head", "tree")
ORDER = (CANNOT_TELL, NOT_PROVEN, NOTHING, PROVEN)  # the first that a shard says
AGAIN = "run every shard again with the same commit, command and omo version"
LONGEST = 80


def merge(parts: Sequence[Json]) -> Json:
    """Return the data of all shards as that of one run.

    Raises BadInput if a file is no such data or says something else than the others, and NotEvaluable if a shard is
    missing.
    """
    if not parts:
        raise BadInput("no file to merge", fix="omo proof merge shard-1.json shard-2.json")
    for part in parts:
        _require_data(part)
    first = parts[0]
    for part in parts[1:]:
        for name in SAME:
            _require_equal(name, first[name], part[name])
        _require_equal("commands", _commands(first), _commands(part))
    _require_every_shard(parts)
    deciding = min(parts, key=lambda part: ORDER.index(part["verdict"]))
    merged = {**deciding, "shard": [1, 1]}
    verdicts = [part["verdict"] for part in parts]
    if len(set(verdicts)) > 1:
        said = [f"{part['shard'][0]}/{part['shard'][1]} {part['verdict']}" for part in parts]
        merged["facts"] = [*deciding["facts"], f"the shards disagree: {', '.join(said)}"]
    merged["lines"] = _lines([part.get("lines") for part in parts])
    merged["mutants"] = _mutants([part.get("mutants") for part in parts])
    return merged


def _require_data(part: Json) -> None:
    if not isinstance(part, dict):
        raise BadInput("a file to merge holds no object", fix="omo proof --shard 1/2 --json > shard-1.json")
    for name in (*SAME, "shard", "verdict", "facts", "commands"):
        if name not in part:
            raise BadInput(f"a file to merge has no {name}", fix="omo proof --shard 1/2 --json > shard-1.json")
    if part["verdict"] not in ORDER:
        raise BadInput(f"verdict: {_shown(part['verdict'])} is none", fix=f"one of {', '.join(ORDER)}")
    texts = [part.get("headline"), part.get("fix"), *(part["facts"] if isinstance(part["facts"], list) else [None])]
    if not all(isinstance(text, str) for text in texts) or type(part.get("exit")) is not int:
        raise BadInput("a file to merge is not as omo proof --json prints it", fix="run that shard again")
    shard = part["shard"]
    if not (isinstance(shard, list) and len(shard) == 2 and all(type(number) is int for number in shard)):
        raise BadInput(f"shard: {_shown(shard)} is no pair of numbers", fix="[1, 2] for the first of two")
    for name in ("lines", "mutants"):
        half = part.get(name)
        if half is not None and not _is_half(half, name):
            raise BadInput(f"{name}: not as omo proof --json prints it", fix="run that shard again")


def _is_half(half: object, name: str) -> bool:
    if not isinstance(half, dict):
        return False
    items, number, words = ("mutants", "line", mutant_runs.WORDS)
    if name == "lines":
        items, number, words = ("hunks", "first", unchecked_lines.WORDS)
    rows = half.get(items)
    numbers = [half.get("of"), half.get("runs"), half.get("seconds")]
    if not isinstance(rows, list) or len(objects(rows)) != len(rows) or not all(_is_number(each) for each in numbers):
        return False
    if not isinstance(half.get("notes"), list) or not all(isinstance(note, str) for note in half["notes"]):
        return False
    for row in rows:
        if row.get("word") not in words or not isinstance(row.get("path"), str) or not _is_number(row.get(number)):
            return False
    return True


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _commands(part: Json) -> str:
    """Return what was run and where, for comparison and for people."""
    return "; ".join(f"{row.get('command')} in {row.get('directory')}" for row in objects(part["commands"]))


def _require_equal(name: str, one: object, other: object) -> None:
    if one != other:
        raise BadInput(f"{name} differs between the shards: {_shown(one)} and {_shown(other)}", fix=AGAIN)


def _require_every_shard(parts: Sequence[Json]) -> None:
    count = parts[0]["shard"][1]
    for part in parts:
        _require_equal("the number of shards", count, part["shard"][1])
    indexes = sorted(part["shard"][0] for part in parts)
    for index in set(indexes):
        if not 1 <= index <= count:
            raise no_shard(index, count, AGAIN)
        if indexes.count(index) > 1:
            raise BadInput(f"shard {index}/{count} is there {indexes.count(index)} times", fix="name each file once")
    missing = [index for index in range(1, count + 1) if index not in indexes]
    if missing:
        raise NotEvaluable(
            f"shard {missing[0]}/{count} is missing: {len(indexes)} of {count} are here",
            fix=f"omo proof --shard {missing[0]}/{count} --json",
        )


def _lines(halves: Sequence[Json | None]) -> Json | None:
    joined = _joined(halves, "hunks", unchecked_lines.WORDS)
    if joined is None:
        return None
    if len(joined["hunks"]) != joined["of"] and joined["is_whole"]:
        raise NotEvaluable(f"the shards have {len(joined['hunks'])} of {joined['of']} hunks", fix=AGAIN)
    order = unchecked_lines.ORDER
    joined["hunks"].sort(key=lambda row: (order.index(row["word"]), row["path"], row["first"]))
    joined["checks_nothing"] = any(half.get("checks_nothing") for half in halves if half)
    joined["text"] = unchecked_lines.sentence_of(
        joined["counts"], is_whole=joined["is_whole"], checks_nothing=joined["checks_nothing"]
    )
    return joined


def _mutants(halves: Sequence[Json | None]) -> Json | None:
    joined = _joined(halves, "mutants", mutant_runs.WORDS)
    if joined is None:
        return None
    order = mutant_runs.ORDER
    joined["mutants"].sort(key=lambda row: (order.index(row["word"]), row["path"], row["line"]))
    joined["made"] = len(joined["mutants"])
    joined["is_sampled"] = bool(joined["counts"][mutant_runs.NOT_RUN])
    joined["why"] = "; ".join(dict.fromkeys(str(half["why"]) for half in halves if half and half.get("why")))
    joined["text"] = mutant_runs.sentence_of(joined["counts"], joined["why"])
    return joined


def _joined(halves: Sequence[Json | None], items: str, words: Sequence[str]) -> Json | None:
    """Return what both halves have in common: the rows of all shards, the counts, what it cost."""
    found = [half for half in halves if half is not None]
    if not found:
        return None
    for half in found[1:]:
        for name in ("of", "command"):
            _require_equal(f"{name} ({items})", found[0].get(name), half.get(name))
    rows = [row for half in found for row in half[items]]
    joined: Json = dict(found[0])
    joined[items] = rows
    joined["counts"] = _counts(rows, words)
    joined["is_whole"] = len(found) == len(halves) and all(half.get("is_whole") for half in found)
    joined["runs"] = sum(half["runs"] for half in found)
    joined["seconds"] = round(sum(half["seconds"] for half in found), 1)
    joined["notes"] = list(dict.fromkeys(note for half in found for note in half["notes"]))
    return joined


def _counts(rows: Sequence[Mapping[str, Any]], words: Sequence[str]) -> dict[str, int]:
    counts = dict.fromkeys(words, 0)
    for row in rows:
        counts[row["word"]] += 1
    return counts


def _shown(value: object) -> str:
    return clip(str(value), LONGEST)
