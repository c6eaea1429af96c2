"""What shards of `omo proof` found, joined into one verdict; a shard that is missing or another is named."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from omo.errors import BadInput, NotEvaluable, OmoError
from omo.proof.merged import merge
from tests import texts

Data = dict[str, Any]


def hunk(place: str, word: str) -> Data:
    path, _, first = place.partition(":")
    return {"path": path, "first": int(first), "last": int(first), "place": place, "word": word, "why": ""}


def mutant(line: int, word: str) -> Data:
    return {"path": "a.py", "line": line, "kind": "return", "before": "", "after": "", "word": word, "why": ""}


def shard(index: int, count: int, hunks: list[Data], mutants: list[Data], **other: Any) -> Data:
    lines = {"command": "make test", "of": 3, "is_whole": True, "runs": 2, "seconds": 1.5, "notes": [], "hunks": hunks}
    of_mutants = {"of": 2, "why": "", "is_whole": True, "runs": 1, "seconds": 0.5, "notes": [], "mutants": mutants}
    part: Data = {"omo": "1", "base": "b", "head": "h", "tree": "t", "shard": [index, count], "verdict": "proven"}
    part |= {"headline": "proven. All of it.", "exit": 0, "facts": ["one"], "fix": ""}
    part["commands"] = [{"command": "make test", "directory": "."}]
    return part | {"lines": lines, "mutants": of_mutants} | other


ONE = shard(1, 2, [hunk("a.py:1", "held"), hunk("b.py:7", "not held")], [mutant(1, "killed")])
TWO = shard(2, 2, [hunk("a.py:5", "not held")], [mutant(2, "lived")])


def test_two_shards_are_one_verdict_in_any_order() -> None:
    merged = merge([ONE, TWO])
    assert (merged["verdict"], merged["exit"], merged["facts"]) == ("proven", 0, ["one"])
    lines, mutants = merged["lines"], merged["mutants"]
    assert [row["place"] for row in lines["hunks"]] == ["a.py:5", "b.py:7", "a.py:1"]
    assert lines["counts"] == {"held": 1, "not held": 2, "only breaks the build": 0, "not looked at": 0}
    assert (lines["text"], lines["runs"], lines["seconds"]) == ("3 hunks: 1 held, 2 not held.", 4, 3.0)
    assert lines["is_whole"]
    assert (mutants["text"], mutants["made"], mutants["is_sampled"]) == ("2 mutants: 1 killed, 1 lived.", 2, False)
    assert merge([TWO, ONE]) == merged


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        (("proven", "not proven"), "not proven"),
        (("not proven", "cannot tell"), "cannot tell"),
        (("cannot tell", "proven"), "cannot tell"),
        (("nothing to prove", "nothing to prove"), "nothing to prove"),
    ],
)
def test_the_worst_verdict_counts_and_that_they_differ_is_said(verdicts: tuple[str, str], word: str) -> None:
    parts = [{**part, "verdict": verdict} for part, verdict in zip((ONE, TWO), verdicts, strict=True)]
    merged = merge(parts)
    assert merged["verdict"] == word
    disagree = f"the shards disagree: 1/2 {verdicts[0]}, 2/2 {verdicts[1]}"
    assert (disagree in merged["facts"]) == (verdicts[0] != verdicts[1])


REFUSED: list[tuple[type[OmoError], str, list[Any]]] = [
    (NotEvaluable, r"shard 2/2 is missing: 1 of 2 are here", [ONE]),
    (NotEvaluable, r"the shards have 2 of 3 hunks", [ONE, {**TWO, "lines": {**TWO["lines"], "hunks": []}}]),
    (BadInput, r"shard 1/2 is there 2 times", [ONE, ONE]),
    (BadInput, r"no file to merge", []),
    (BadInput, r"base differs between the shards: b and other", [ONE, {**TWO, "base": "other"}]),
    (BadInput, r"tree differs between the shards: t and other", [ONE, {**TWO, "tree": "other"}]),
    (BadInput, r"omo differs between the shards: 1 and 2", [ONE, {**TWO, "omo": "2"}]),
    (BadInput, r"the number of shards differs between the shards: 2 and 3", [ONE, {**TWO, "shard": [2, 3]}]),
    (BadInput, r"shard 3/2: I/N needs I from 1 to N", [ONE, {**TWO, "shard": [3, 2]}]),
    (
        BadInput,
        r"commands differs between the shards: make test in . and tox in here",
        [ONE, {**TWO, "commands": [{"command": "tox", "directory": "here"}]}],
    ),
    (BadInput, r"verdict: fine is none", [ONE, {**TWO, "verdict": "fine"}]),
    (BadInput, r"has no tree", [{key: value for key, value in ONE.items() if key != "tree"}]),
    (BadInput, r"lines: not as omo proof --json prints it", [{**ONE, "lines": {"hunks": [{"word": "great"}]}}]),
    (
        BadInput,
        r"lines: not as omo",
        [{**ONE, "lines": {**ONE["lines"], "hunks": [{**hunk("a:1", "held"), "path": 1}]}}],
    ),
    (BadInput, r"of \(hunks\) differs .* 3 and 4", [ONE, {**TWO, "lines": {**TWO["lines"], "of": 4}}]),
    (
        BadInput,
        r"command \(hunks\) differs .* make test and tox",
        [ONE, {**TWO, "lines": {**TWO["lines"], "command": "tox"}}],
    ),
    (BadInput, r"shard: 1/2 is no pair of numbers", [{**ONE, "shard": "1/2"}]),
    (BadInput, r"holds no object", [["a list"]]),
]


@pytest.mark.parametrize(("error", "message", "parts"), REFUSED, ids=[each[1] for each in REFUSED])
def test_what_is_no_set_of_shards_is_refused_by_name(error: type[OmoError], message: str, parts: list[Data]) -> None:
    with pytest.raises(error, match=message) as raised:
        merge(parts)
    assert raised.value.exit_code == (4 if error is NotEvaluable else 2)
    assert raised.value.fix


def test_a_shard_without_its_second_half_makes_that_half_a_part() -> None:
    merged = merge([ONE, {**TWO, "lines": None, "mutants": None}])
    assert not merged["lines"]["is_whole"]
    assert texts.says(merged["lines"]["text"], "proof-not-all-looked-at")
    assert merge([{**ONE, "lines": None}, {**TWO, "lines": None}])["lines"] is None


def test_whatever_is_broken_in_a_file_it_is_no_bug_of_omo() -> None:
    """Every value of a part is replaced by something else, one at a time."""
    chance = random.Random(7)
    refused = 0
    for _ in range(400):
        part = copy.deepcopy(TWO)
        place: Any = part
        while True:
            key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], (dict, list)) or not place[key] or chance.random() < 0.3:
                break
            place = place[key]
        place[key] = chance.choice([None, 7, "word", [], {}, [1], {"a": 1}, True])
        try:
            merge([ONE, part])
        except OmoError:
            refused += 1
    assert 100 < refused < 400
