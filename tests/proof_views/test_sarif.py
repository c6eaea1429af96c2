"""A proof for code scanning: what SARIF 2.1.0 and GitHub ask of a file, and what each result says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_to_bytes

import pytest

from omo.json_text import Json
from omo.views.proof import read
from omo.views.proof.sarif import MOST_RESULTS, sarif
from tests import texts
from tests.proof_views import samples
from tests.proof_views.samples import hunk, mutant
from tests.report.hostile import NASTY

# What the standard's schema says of the objects that omo writes: their properties and of which kind each is. "!" is
# required. A property that is not named here is refused, as the schema allows no other.
OBJECTS: dict[str, dict[str, str]] = {
    "log": {"$schema": "text", "version!": "2.1.0", "runs!": "[run]"},
    "run": {"tool!": "tool", "invocations": "[invocation]", "results": "[result]", "properties": "bag"},
    "tool": {"driver!": "toolComponent"},
    "toolComponent": {"name!": "text", "version": "text", "rules": "{reportingDescriptor}"},
    "reportingDescriptor": {
        "id!": "text",
        "shortDescription": "multiformat",
        "fullDescription": "multiformat",
        "help": "multiformat",
        "defaultConfiguration": "configuration",
    },
    "multiformat": {"text!": "text"},
    "configuration": {"level": "level"},
    "invocation": {
        "executionSuccessful!": "yes or no",
        "exitCode": "number",
        "exitCodeDescription": "text",
        "toolExecutionNotifications": "[notification]",
    },
    "notification": {"level": "level", "message!": "message"},
    "message": {"text!": "text"},
    "result": {
        "ruleId": "text",
        "ruleIndex": "number",
        "level": "level",
        "message!": "message",
        "locations": "[location]",
        "partialFingerprints": "texts",
    },
    "location": {"physicalLocation": "physicalLocation"},
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": "uri", "uriBaseId": "text"},
    "region": {"startLine": "line", "endLine": "line"},
}
PLAIN: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "2.1.0": lambda value: value == "2.1.0",
    "level": lambda value: value in ("none", "note", "warning", "error"),
    "yes or no": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, int),
    "line": lambda value: isinstance(value, int) and value >= 1,
    "uri": lambda value: re.fullmatch(r"(?:[\w.~/-]|%[0-9A-F]{2})+", value, re.ASCII) is not None,
    "bag": lambda value: isinstance(value, dict),
    "texts": lambda value: all(isinstance(each, str) for each in value.values()),
}


def wrong(value: Any, kind: str, place: str = "log") -> list[str]:
    """Return the places at which the value is not as the table says."""
    if kind[0] in "[{":
        if not isinstance(value, list) or (kind[0] == "{" and len({json.dumps(one) for one in value}) < len(value)):
            return [place]
        return [each for at, one in enumerate(value) for each in wrong(one, kind[1:-1], f"{place}[{at}]")]
    if kind in PLAIN:
        return [] if PLAIN[kind](value) else [place]
    fields = {name.rstrip("!"): of for name, of in OBJECTS[kind].items()}
    needed = {name.rstrip("!") for name in OBJECTS[kind] if name.endswith("!")}
    if not isinstance(value, dict) or not needed <= set(value) <= set(fields):
        return [place]
    return [each for name, one in value.items() for each in wrong(one, fields[name], f"{place}.{name}")]


HOSTILE = samples.data("not proven", NASTY, 3, fix=NASTY) | {
    "lines": samples.lines(hunk(f"a {NASTY}.py:3", "not held", NASTY, (NASTY,), (NASTY,))),
    "mutants": samples.mutants(mutant(f"ü{NASTY}", 0, "lived", "[a](http://evil.example) {0}", NASTY)),
}
HOSTILE["lines"]["hunks"][0]["path"] = "a b/c:d\udcff?#%.py"
HOSTILE["mutants"]["mutants"][0]["path"] = "ü.py"
ALL = [samples.PROVEN, samples.NOT_PROVEN, samples.CANNOT_TELL, HOSTILE]


def run_of(data: Json) -> Json:
    (run,) = sarif(data)["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("data", ALL)
def test_it_is_as_the_standard_says(data: Json) -> None:
    assert wrong(sarif(data), "log") == []
    json.dumps(sarif(data)).encode("ascii")


def test_the_table_finds_what_is_wrong() -> None:
    log = sarif(samples.PROVEN)
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    del log["runs"][0]["invocations"][0]["executionSuccessful"]
    log["runs"][0]["results"][1]["more"] = 1
    assert wrong(log, "log") == [
        "log.runs[0].invocations[0]",
        "log.runs[0].results[0].locations[0].physicalLocation.region.startLine",
        "log.runs[0].results[1]",
    ]


@pytest.mark.parametrize("data", ALL)
def test_it_is_as_github_wants_it(data: Json) -> None:
    """It refuses a file in which one result has no location, and shows a rule's texts beside an alert."""
    run = run_of(data)
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
    for result in run["results"]:
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"]
        region = location["physicalLocation"]["region"]
        assert region["startLine"] <= region["endLine"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert re.fullmatch(r"[0-9a-f]{16}:\d+", result["partialFingerprints"]["primaryLocationLineHash"])


def told(data: Json) -> list[tuple[str, str, str, str]]:
    rows = []
    for result in run_of(data)["results"]:
        place = result["locations"][0]["physicalLocation"]
        region = place["region"]
        where = f"{place['artifactLocation']['uri']}:{region['startLine']}-{region['endLine']}"
        rows.append((result["ruleId"], result["level"], where, result["message"]["text"]))
    return rows


def test_a_proven_change_tells_of_lines_that_no_test_checks_and_mutants_that_lived() -> None:
    not_checked, lived = told(samples.PROVEN)
    assert not_checked[:3] == ("line-not-checked", "note", "src/calc.py:1-1")
    assert texts.says(not_checked[3], "sarif-line-not-checked", place="src/calc.py:1")
    assert texts.says(not_checked[3], "proof-no-test-fails-but-mutants-die", killed="1 mutant")
    assert lived[:3] == ("mutant-lived", "note", "src/calc.py:5-5")
    assert texts.says(lived[3], "sarif-mutant-lived", after="-", before="+")
    invocation = run_of(samples.PROVEN)["invocations"][0]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)


def test_a_change_that_is_not_proven_is_an_error_at_its_first_file() -> None:
    headline, fix = samples.NOT_PROVEN["headline"], samples.NOT_PROVEN["fix"]
    not_proven, not_checked = told(samples.NOT_PROVEN)
    assert not_proven == ("not-proven", "error", "src/calc.py:1-1", f"{headline} {fix}")
    assert not_checked[:3] == ("line-not-checked", "warning", "src/calc.py:1-1")
    assert texts.says(not_checked[3], "sarif-line-not-checked", place="src/calc.py:1")
    assert run_of(samples.NOT_PROVEN)["invocations"][0]["exitCode"] == 3


def test_the_changed_files_may_be_named_without_their_lines() -> None:
    data = samples.NOT_PROVEN | {"lines": None, "files": ["src/b.py", "src/a.py"]}
    assert [(rule, where) for rule, _, where, _ in told(data)] == [("not-proven", "src/a.py:1-1")]
    assert read(json.dumps(data))["files"] == ["src/b.py", "src/a.py"]


def test_where_no_file_is_known_the_verdict_is_a_notification() -> None:
    run = run_of(samples.NOT_PROVEN | {"lines": None})
    assert run["results"] == []
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == samples.NOT_PROVEN["headline"]
    run = run_of(samples.CANNOT_TELL)
    assert run["invocations"][0]["executionSuccessful"] is False
    assert run["invocations"][0]["toolExecutionNotifications"][0]["level"] == "error"


def test_a_path_is_a_relative_uri_and_keeps_its_bytes() -> None:
    run = run_of(HOSTILE)
    uris = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert uris == ["a%20b/c%3Ad%FF%3F%23%25.py", "a%20b/c%3Ad%FF%3F%23%25.py", "%C3%BC.py"]
    assert unquote_to_bytes(uris[0]) == b"a b/c:d\xff?#%.py"


def test_what_the_change_says_is_no_link_and_no_placeholder() -> None:
    for _, _, _, message in told(HOSTILE):
        assert message.isprintable() or "\N{WORD JOINER}" in message
        assert "](" not in message
        assert re.search(r"\{\d+\}", message) is None


def test_removed_lines_are_shown_where_they_stood() -> None:
    rows = [hunk("a.py:9-8", "not held", "", ("gone",), ()), hunk("b.py:1-0", "not held", "", ("gone",), ())]
    first, second = told(samples.data("proven", "x", 0, lines=samples.lines(*rows)))
    assert (first[2], second[2]) == ("a.py:8-8", "b.py:1-1")
    assert texts.says(first[3], "sarif-removal-not-checked", place="a.py:9-8")
    assert texts.says(second[3], "sarif-removal-not-checked", place="b.py:1-0")


def fingerprints(data: Json) -> list[str]:
    return [each["partialFingerprints"]["primaryLocationLineHash"] for each in run_of(data)["results"]]


def test_a_result_is_the_same_when_its_lines_shift() -> None:
    def shifted(by: int) -> Json:
        rows = [hunk(f"a.py:{line + by}", "not held", "", (), (text,)) for line, text in ((1, "x"), (5, "x"), (9, "y"))]
        return samples.data("not proven", "No.", 3) | {
            "lines": samples.lines(*rows),
            "mutants": samples.mutants(mutant("a.py", 3 + by, "lived"), mutant("b.py", 3 + by, "lived")),
        }

    assert fingerprints(shifted(0)) == fingerprints(shifted(70))
    assert len(set(fingerprints(shifted(0)))) == 6


def test_at_most_so_many_results_and_the_rest_is_counted() -> None:
    rows = [mutant("a.py", at, "lived") for at in range(1, MOST_RESULTS + 8)]
    run = run_of(samples.data("proven", "x", 0, mutants=samples.mutants(*rows)))
    assert len(run["results"]) == MOST_RESULTS
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert texts.says(notification["message"]["text"], "sarif-results-left-out", count="7 results")
