"""A proof as SARIF 2.1.0, for code scanning: a result for each hunk that no test checks and each mutant that lived."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import quote

from omo.digest import sha256
from omo.json_text import Json
from omo.proof.unchecked_lines import NOT_HELD
from omo.text import clip, counted
from omo.views.proof import words

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NOT_PROVEN, LINE_NOT_CHECKED, MUTANT_LIVED = "not-proven", "line-not-checked", "mutant-lived"
MOST_RESULTS = 5000  # more are not shown by GitHub
LONGEST_MESSAGE = 1000
LONGEST_CODE = 160
# In a message these would be a link, or a place for an argument.
MARKUP = re.compile(r"(?<=\])(?=\()|(?<=\{)(?=\d+\})")
BREAK = "\N{WORD JOINER}"

# By its id, each rule's level, what it finds, and what to do about it.
RULES = {
    NOT_PROVEN: (
        "error",
        "The tests do not show that this change works.",
        "Write a test that fails without the change and passes with it, or mend the test that fails.",
    ),
    LINE_NOT_CHECKED: (
        "warning",
        "No test checks this line.",
        "All tests pass when this part of the change is reverted. Write a test that fails then, or remove the line.",
    ),
    MUTANT_LIVED: (
        "note",
        "No test notices a small change of this line.",
        "All tests pass when the code says something else here. Write a test that tells one from the other.",
    ),
}


def sarif(data: Json) -> Json:
    """Return the log as it is to be written. Where no changed file is known, the verdict is a notification."""
    # GitHub refuses the whole file if one result has no location (github/codeql-action#2459).
    results = [*_verdict(data), *_hunks(data), *_mutants(data)]
    _number_fingerprints(results)
    run: Json = {
        "tool": {"driver": {"name": "omo", "version": data["omo"], "rules": [_rule(name) for name in RULES]}},
        "invocations": [_invocation(data, results)],
        "results": results[:MOST_RESULTS],
        "properties": {
            "verdict": data["verdict"],
            "base": data["base"],
            "head": data["head"],
            "isDirty": data["is_dirty"],
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str) -> Json:
    level, found, advice = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": found},
        "fullDescription": {"text": f"{found} {advice}"},
        "help": {"text": advice},
        "defaultConfiguration": {"level": level},
    }


def _invocation(data: Json, results: list[Json]) -> Json:
    notifications = []
    if data["verdict"] == "cannot tell" or (data["verdict"] == "not proven" and not _first_path(data)):
        notifications.append({"level": "error", "message": _message(data["headline"])})
    if (more := len(results) - MOST_RESULTS) > 0:
        text = f"{counted(more, 'result')} left out: omo proof --json has them all"
        notifications.append({"level": "note", "message": _message(text)})
    return {
        "executionSuccessful": data["verdict"] != "cannot tell",
        "exitCode": data["exit"],
        "exitCodeDescription": clip(data["headline"], LONGEST_MESSAGE),
        "toolExecutionNotifications": notifications,
    }


def _verdict(data: Json) -> list[Json]:
    path = _first_path(data)
    if data["verdict"] != "not proven" or path is None:
        return []
    message = f"{data['headline']} {data['fix']}".strip()
    return [_result(NOT_PROVEN, "error", message, _location(path, 1, 1), "")]


def _first_path(data: Json) -> str | None:
    """Return the first changed file that is known."""
    rows = [*words.hunks_of(data), *words.mutants_of(data, words.LIVED)]
    paths: list[str] = list(data.get("files", ())) or [row["path"] for row in rows]
    return min(paths, default=None)


def _hunks(data: Json) -> list[Json]:
    results = []
    for hunk in words.hunks_of(data, NOT_HELD):
        first, last = max(hunk["first"], 1), hunk["last"]
        if last < first:  # lines were only removed; the one above is there for certain
            first = last = max(hunk["first"] - 1, 1)
        message, level = f"No test checks this: {hunk['place']}.", "warning"
        if not hunk["after"]:
            message = f"No test checks that this was removed: {hunk['place']}."
        if note := words.told_by_mutants(data, hunk):
            message, level = f"{message} {note[:1].upper()}{note[1:]}.", "note"
        text = "\n".join(hunk["after"] or hunk["before"])
        results.append(_result(LINE_NOT_CHECKED, level, message, _location(hunk["path"], first, last), text))
    return results


def _mutants(data: Json) -> list[Json]:
    results = []
    for mutant in words.mutants_of(data, words.LIVED):
        line = max(mutant["line"], 1)
        before, after = clip(mutant["before"], LONGEST_CODE), clip(mutant["after"], LONGEST_CODE)
        message = f"No test fails when this says {after} instead of {before}."
        text = f"{mutant['kind']}\n{mutant['before']}\n{mutant['after']}"
        results.append(_result(MUTANT_LIVED, "note", message, _location(mutant["path"], line, line), text))
    return results


def _result(rule: str, level: str, message: str, location: Json, text: str) -> Json:
    path = location["physicalLocation"]["artifactLocation"]["uri"]
    if rule == NOT_PROVEN:
        path = ""  # one verdict, wherever it is shown
    fingerprint = sha256("\0".join((rule, path, text)).encode("utf-8", "surrogatepass"))[:16]
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": level,
        "message": _message(message),
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
    }


def _number_fingerprints(results: list[Json]) -> None:
    """Tell results of one text in one file apart, by their order: their lines may shift."""
    seen: Counter[str] = Counter()
    for result in results:
        fingerprint = result["partialFingerprints"]["primaryLocationLineHash"]
        seen[fingerprint] += 1
        result["partialFingerprints"]["primaryLocationLineHash"] = f"{fingerprint}:{seen[fingerprint]}"


def _location(path: str, first: int, last: int) -> Json:
    uri = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    artifact = {"uri": uri, "uriBaseId": "%SRCROOT%"}
    return {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": first, "endLine": last}}}


def _message(text: str) -> Json:
    return {"text": MARKUP.sub(BREAK, clip(text, LONGEST_MESSAGE))}
