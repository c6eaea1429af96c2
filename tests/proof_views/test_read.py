"""What `omo proof show` takes: the JSON of `omo proof`, and nothing that only looks like it."""

from __future__ import annotations

import copy
import json
from typing import Any, get_args

import pytest

from omo.errors import BadInput
from omo.proof import change_verdict, unchecked_lines
from omo.views.lines import plain
from omo.views.proof import form, read
from omo.views.proof.markdown import markdown
from omo.views.proof.terminal import lines_of
from tests import texts
from tests.proof_views import samples


@pytest.mark.parametrize("data", [samples.PROVEN, samples.NOT_PROVEN, samples.CANNOT_TELL])
def test_what_was_printed_is_read_as_it_was(data: Any) -> None:
    assert read(json.dumps(data)) == data


def test_a_name_that_is_no_utf8_and_a_field_of_a_newer_omo_are_let_by() -> None:
    data = copy.deepcopy(samples.PROVEN) | {"new": {"er": 1}}
    data["lines"]["hunks"][0]["path"] = "caf\udce9.py"
    assert read(json.dumps(data)) == data


def test_where_there_is_no_commit_there_is_no_base() -> None:
    data = samples.CANNOT_TELL | {"base": "", "head": ""}
    assert read(json.dumps(data)) == data
    assert "since" not in markdown(data)
    assert plain(lines_of(data)) == data["headline"]


WRONG: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("files",), ["a.py", 5], "files[1]: must be a text, got 5"),
    (("verdict",), "fine", "verdict: must be 'proven', 'nothing to prove', 'not proven' or 'cannot tell', got 'fine'"),
    (("exit",), "0", "exit: must be 0, 3 or 4, got '0'"),
    (("exit",), 1, "exit: must be 0, 3 or 4, got 1"),
    (("base",), "main", "base: "),
    (("is_dirty",), 1, "is_dirty: must be true or false, got 1"),
    (("headline",), None, "headline: must be a text, got None"),
    (("facts",), "a fact", "facts: must be a list, got 'a fact'"),
    (("facts", 0), 5, "facts[0]: must be a text, got 5"),
    (("lines", "hunks", 1, "word"), "checked", "lines.hunks[1].word: must be 'held', 'not held'"),
    (("lines", "hunks", 1, "first"), -1, "lines.hunks[1].first: "),
    (("lines", "hunks", 1, "path"), "", "lines.hunks[1].path: must be a path, got ''"),
    (("lines", "hunks", 1, "path"), "\ud800", "lines.hunks[1].path: must be a path"),
    (("lines", "hunks", 1, "after", 0), {}, "lines.hunks[1].after[0]: must be a text, got {}"),
    (("lines", "counts", "held"), "2", "lines.counts.held: must be a whole number, got '2'"),
    (("mutants", "mutants", 0, "line"), 1.5, "mutants.mutants[0].line: must be a whole number, got 1.5"),
    (("commands", 0, "runs", "as it is", "said"), None, "commands[0].runs.as it is.said: must be a text, got None"),
]


@pytest.mark.parametrize(("place", "value", "told"), WRONG, ids=lambda value: str(value)[:40])
def test_an_error_names_the_field_and_its_value(place: tuple[str | int, ...], value: Any, told: str) -> None:
    data = copy.deepcopy(samples.PROVEN)
    at: Any = data
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = value
    with pytest.raises(BadInput) as caught:
        read(json.dumps(data), "proof.json")
    assert texts.says(caught.value.message, "proof-json-not-used", file="proof.json")
    defects = caught.value.details["defects"]
    assert isinstance(defects, list)
    assert [defect[: len(told)] for defect in defects] == [told]


@pytest.mark.parametrize("field", [name for name in samples.PROVEN if name != "ok"])
def test_no_field_may_be_missing(field: str) -> None:
    data = {name: value for name, value in samples.PROVEN.items() if name != field}
    with pytest.raises(BadInput, match=rf"{field}: is missing"):
        read(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[NaN]", '{"omo": 1, "omo": 2}', "[" * 100_000])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"the verdict is not valid JSON: .+"):
        read(text)


@pytest.mark.parametrize("text", ["null", "[]", "5", '"proven"'])
def test_another_value_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="must be an object"):
        read(text)


def test_an_error_of_omo_proof_is_told_as_what_it_is() -> None:
    error = {"code": "missing", "message": "no test command is known here", "fix": "omo proof -- COMMAND"}
    with pytest.raises(BadInput, match="ended with an error: no test command is known here") as caught:
        read(json.dumps({"ok": False, "error": error}))
    assert caught.value.fix == "omo proof -- COMMAND"


def test_the_words_are_those_that_omo_proof_prints() -> None:
    assert set(get_args(form.Verdict)) == set(change_verdict.EXIT_CODES)
    assert set(get_args(form.HunkWord)) == set(unchecked_lines.WORDS)
