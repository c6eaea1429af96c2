"""What an answer says: "X is Y because Z", where Z can be looked at, and no hedge on what was seen.

Some words about something that is named call for a claim that code looks at.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from omo.work.citations import ABSENCE, LONGEST_TEXT, SENTENCE_END, says, statement
from omo.work.judge import HEDGES

SHORTEST_REASON = 10
# "The value is what it should be" is no hedge: tests/verify/test_statements.py,
# test_a_fact_with_its_evidence_is_accepted.
AS_WANTED = re.compile(r"\b(?:as|what|where|how) (?:it|they|this|that|each) should (?:be|have|do)\b", re.IGNORECASE)
BECAUSE = re.compile(r"\bbecause\b", re.I)
# What stands behind a colon is said of what stands before it, "localhost:9: connection refused":
# test_words_that_call_for_a_claim_about_what_is_named in tests/cli/test_verify_claim.py.
CLAIM_END = re.compile(r"\bbecause\b|[,;](?=\s)|\n", re.I)
FORM = 'write "X is Y because Z", where Z is what you looked at'
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")


class Trigger(NamedTuple):
    """Words that call for a claim where their clause names one of `of`; which claims answer them, how one is filed."""

    words: tuple[str, ...]
    of: frozenset[str]
    settled_by: tuple[str, ...]
    options: str


# Words as they read once "n't" is " not", "%" is " percent" and a hyphen is a blank. Seed 003 has the classes, and that
# they are no-ops on text that claims nothing: "the error rate is down" names no address, "a missing field" no records.
TRIGGERS = {
    "absence": Trigger(
        ABSENCE,
        frozenset({"path", "name"}),
        ("absent", "lacks", "count"),
        "--absent PATH, or --lacks TEXT --in PATH",
    ),
    "service": Trigger(
        ("is down", "are down", "not responding", "not respond", "connection refused", "unreachable"),
        frozenset({"address"}),
        ("service",),
        "--service HOST:PORT --is down",
    ),
    "count": Trigger(
        ("0 records", "no records", "zero records", "percent have", "percent of", "missing field", "zero utilization"),
        frozenset({"records"}),
        ("count", "lacks"),
        "--count N --of GLOB [--field NAME --value V]",
    ),
    "file state": Trigger(
        ("contains", "contain", "reflects", "reflect"),
        frozenset({"path"}),
        ("contains", "lacks", "count", "absent"),
        "--contains TEXT --in PATH",
    ),
}


def check_statement(text: str, root: str) -> list[str]:
    """What is wrong with a verification answer, each with how to restate it; empty when nothing is."""
    if not text.strip():
        return [f"the answer is empty: {FORM}"]
    if len(text) > LONGEST_TEXT:
        return [f"the answer has {len(text)} characters, more than {LONGEST_TEXT}: state one fact"]
    answer = statement(text, root)
    defects = []
    because = BECAUSE.search(answer.plain)
    if because is None:
        defects.append(f'there is no "because": {FORM}')
    else:
        before = SENTENCE_END.split(answer.plain[: because.start()])[-1]
        if len(before.split()) < 2:
            defects.append(f'there is no claim before "because": {FORM}')
        if not answer.citations(answer.plain[because.end() :]):
            example = "name a path, a commit, or a command in `code` that can be run here"
            defects.append(f'nothing after "because" can be looked at: {example}')
    return defects + hedges(text)


def hedges(text: str) -> list[str]:
    words = [match[0] for match in HEDGES.finditer(AS_WANTED.sub(" ", statement(text, "").plain))]
    restate = 'say what was observed in one sentence and what is not known in another, "unknown: …"'
    return [f'"{word}" hedges: {restate}' for word in dict.fromkeys(words)]


def triggers(text: str, root: str) -> dict[str, str]:
    """The first words of each class that call for a claim, by class."""
    said = statement(text, root)
    called: dict[str, str] = {}
    for sentence in said.plain.split("\n"):
        # "0 records have errors because a.jsonl was counted" names them in its other clause:
        # test_words_call_for_a_claim_where_what_they_speak_of_is_named in tests/verify/test_statements.py.
        has_records = any(thing.text.lower().endswith(RECORDS) for thing in said.named_in(sentence))
        for clause in CLAIM_END.split(sentence):
            kinds = {thing.kind for thing in said.named_in(clause)}
            if has_records:
                kinds.add("records")
            for name, trigger in TRIGGERS.items():
                for words in trigger.words:
                    if kinds & trigger.of and says(clause, words):
                        called.setdefault(name, words)
    return called
