"""What a judge said: one JSON object, known by its nonce. What is not exactly in the form is unknown, never a pass."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omo.ralph.wording import QUOTED
from omo.shown import clip

Key = tuple[str, str]  # criterion and check

RESULTS = ("pass", "fail", "unknown")
MOST_CANDIDATES = 1000
MOST_ANSWERS = 1000
MOST_CHALLENGES = 20
MOST_NOTES = 20
LONGEST_EVIDENCE = 400
LONGEST_ACTION = 200
LONGEST_CHALLENGE = 300

# A pass is something that was seen. What is quoted is the work's own words, not the judge's.
HEDGES = re.compile(
    r"\b(?:probably|presumably|likely|perhaps|maybe|possibly|hopefully|apparently|seemingly|supposedly|might"
    r"|should (?:be|work|pass|hold|do)|seems?|looks like|appears? (?:to|as if)|could be|in theory"
    r"|I (?:think|believe|guess|assume|suppose|expect|hope)|assum(?:e|es|ed|ing)"
    r"|as far as I (?:know|can tell|can see)|not (?:sure|certain|tested|verified|checked)|unverified|untested"
    r"|(?:did not|didn't|could not|couldn't|cannot|can't) (?:run|verify|check|test|confirm|open|read))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answer:
    result: str
    evidence: str
    suggested_action: str = ""


@dataclass(frozen=True)
class Said:
    """The object of a message. `notes` says what of it does not count, and why."""

    nonce: str
    answers: Mapping[Key, Answer] = field(default_factory=dict)
    challenges: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Malformed(Exception):
    """There is no such object, or not exactly one, or it is not in the form."""


def read(message: str, nonce: str | None = None) -> Said:
    """The one object that carries this nonce; without a nonce, the one that carries any. Raises Malformed."""
    found = [one for one in _objects(message) if nonce is None or one["nonce"] == nonce]
    if not found:
        raise Malformed("no JSON object with that nonce is in it" if nonce else "no JSON object with a nonce is in it")
    if len(found) > 1:
        raise Malformed(f"{len(found)} JSON objects with a nonce are in it, and one is asked for")
    return _said(found[0])


def carries(message: str, nonce: str) -> bool:
    """Whether the message is about that nonce at all, however it says so."""
    return nonce in message


def _objects(message: str) -> list[dict[str, Any]]:
    """Objects that begin a line and carry a nonce. Strict: no repeated keys, no NaN."""
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    found, end, tried = [], 0, 0
    for start in [hit.end() - 1 for hit in re.finditer(r"^[ \t]*\{", message, re.MULTILINE)]:
        if start < end or tried >= MOST_CANDIDATES:
            continue
        tried += 1
        try:
            value, end = decoder.raw_decode(message, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value.get("nonce"), str):
            found.append(value)
    return found


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _said(given: dict[str, Any]) -> Said:
    listed = given.get("answers")
    if not isinstance(listed, list) or len(listed) > MOST_ANSWERS:
        raise Malformed(f"answers must be a list of at most {MOST_ANSWERS}")
    found: dict[Key, Answer] = {}
    notes: list[str] = []
    for at, item in enumerate(listed):
        key = _key(item)
        if key is None:
            notes.append(f"answers[{at}] names no criterion and check, so it counts for none")
        elif key in found:
            found[key] = Answer("unknown", "answered more than once, so none of the answers counts")
        else:
            found[key] = _answer(item)
    return Said(given["nonce"], found, _challenges(given.get("challenges")), bounded(notes))


def _key(item: object) -> Key | None:
    if not isinstance(item, dict):
        return None
    criterion, check = item.get("criterion"), item.get("check")
    return (criterion, check) if isinstance(criterion, str) and isinstance(check, str) else None


def _answer(item: dict[str, Any]) -> Answer:
    result, evidence = item.get("result"), item.get("evidence")
    action = item.get("suggested_action")
    shown = clip(action, LONGEST_ACTION) if isinstance(action, str) else ""
    if result not in RESULTS:
        return Answer("unknown", f"result {clip(repr(result), 60)} is none of {', '.join(RESULTS)}", shown)
    if not isinstance(evidence, str) or not any(letter.isalnum() for letter in evidence):
        return Answer("unknown", f"the judge said {result} and no evidence for it", shown)
    told = clip(evidence, LONGEST_EVIDENCE)
    if result == "pass" and (hedge := hedged(evidence)):
        return Answer("unknown", f"the judge said pass and hedged ({hedge!r}): {told}", shown)
    return Answer(result, told, shown)


def hedged(evidence: str) -> str:
    """The first word that shows that something was not seen; empty where there is none."""
    found = HEDGES.search(QUOTED.sub(" ", " ".join(evidence.replace("’", "'").split())))
    return found[0] if found else ""


def _challenges(given: object) -> list[dict[str, str]]:
    """Whether a check tests what its criterion says: shown to people, and no part of any verdict."""
    listed = given if isinstance(given, list) else []
    return [
        {"criterion": clip(item["criterion"], 20), "text": clip(item["text"], LONGEST_CHALLENGE)}
        for item in listed[:MOST_CHALLENGES]
        if isinstance(item, dict) and isinstance(item.get("criterion"), str) and isinstance(item.get("text"), str)
    ]


def match(said: Said, asked: Iterable[Key], by_code: Iterable[Key]) -> tuple[dict[Key, Answer], list[str]]:
    """An answer to each question, unknown where there is none; and what was answered without being asked."""
    wanted, mechanical = list(asked), set(by_code)
    missing = Answer("unknown", "the judge did not answer it")
    notes = list(said.notes)
    for criterion, check in said.answers:
        name = f"{clip(criterion, 20)}/{clip(check, 60)}"
        if (criterion, check) in mechanical:
            notes.append(f"the judge's answer to {name} is ignored: code evaluates that check")
        elif (criterion, check) not in wanted:
            notes.append(f"the judge's answer to {name} is ignored: there is no such question")
    return {key: said.answers.get(key, missing) for key in wanted}, bounded(notes)


def bounded(notes: list[str]) -> list[str]:
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"and {more} more"]
