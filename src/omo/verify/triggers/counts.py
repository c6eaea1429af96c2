"""zero-count: statistics that come out as nothing, or as all of nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from omo.verify.triggers.absence import ARTICLES, GENERIC, KINDS, NOT_A_THING
from omo.verify.triggers.clauses import anchors, trigger
from omo.verify.triggers.model import ZERO_COUNT, Address, CountClaim, Trigger
from omo.verify.wording import FILL, Sentence, Word, is_name, path_in, word_set

_QUOTED = rf"[`\"']{FILL}+[`\"']"
_FIELD = rf"(?:{_QUOTED}|[A-Za-z_][\w.-]{{0,100}})"
_VALUE = rf"(?:{_QUOTED}|[\w.+-]{{1,60}})"
_UNITS = r"(?:records?|rows?|entries|entry|events?|objects?|documents?|goals?|samples?)"
_STATES = r"(?:missing|null|none|unset|absent|empty|zero|0(?:\.0+)?)"
_PERCENT = r"(?P<percent>\d{1,3}(?:\.\d{1,4})?) ?%"
_COUNT = r"(?P<count>\d{1,9})(?: (?:out )?of (?:the )?(?P<of>\d{1,9}))?"
_LAST = r"(?: last (?P<last>\d{1,7}))?"
_DATA_FILE = re.compile(r"\.(?:jsonl|ndjson|json|csv|tsv)$", re.I)
_HAVE = re.compile(
    rf"(?<![\w.])(?:{_PERCENT}|(?P<none>no(?! longer| more)|zero|0|none)|(?P<all>all|every|each)|{_COUNT})"
    rf"(?: of)?(?: the| these| those| our| its| all)?{_LAST}(?: (?P<total>\d{{1,9}}))?"
    r"(?P<unit>(?: (?!have\b|has\b|with\b|contain)[\w-]{1,30}){0,3})"
    rf"(?: (?:in|of|from) (?:{_QUOTED}|\S{{1,200}}))?"
    r" (?P<verb>have|has|had|contain|contains|carry|with|lack|lacks|are missing|is missing)"
    rf"(?: (?:an?|any|the|its|their|field|key|column|non-null|a value for)){{0,3}} (?P<field>{_FIELD})"
    rf"(?: ?(?:==?|:) ?(?P<value>{_VALUE})| (?:is|are|of|equal to|set to|at|equals) (?P<said>{_VALUE})"
    rf"| (?P<state>{_STATES})\b)?",
    re.I,
)
_IN = "(?:in|from|for|across|on|of|throughout)"
_IS_ZERO = re.compile(
    rf"(?:(?P<field>(?<![\w.`\"'-]){_FIELD})(?: (?:field|key|column))?"
    rf"(?: (?:is|are|was)(?: always| still)? (?P<state>{_STATES})\b| ?==? ?(?P<value>0|null|None|\"\"|'')(?![\w.]))"
    rf"|\bmissing (?:field|key|column) (?P<missing>{_FIELD}))(?= {_IN} )",
    re.I,
)
_HOW_MANY = re.compile(
    rf" {_IN}(?: (?:all|every|each|any))?(?: of)?(?: the)?{_LAST}(?: (?:{_PERCENT}|{_COUNT}))?"
    rf"(?: of)?(?: the)?(?: (?P<unit>{_UNITS})\b)?",
    re.I,
)
_NO_FIELD = word_set("been to not no yet gone")
_ZERO = word_set("0 zero missing null none unset absent empty")


def claims(sentence: Sentence, _: list[Address]) -> Iterator[Trigger]:
    file = next((path for word in sentence.words() if (path := path_in(word)) and _DATA_FILE.search(path)), None)
    for anchor in anchors(_HAVE, sentence):
        claim = _have_claim(sentence, anchor, file)
        if claim:
            yield trigger(ZERO_COUNT, sentence, anchor, claim, [])
    for anchor in anchors(_IS_ZERO, sentence):
        claim = _zero_claim(sentence, anchor, file)
        if claim:
            yield trigger(ZERO_COUNT, sentence, anchor, claim, [])


def _have_claim(sentence: Sentence, anchor: re.Match[str], file: str | None) -> CountClaim | None:
    field = _group_word(sentence, anchor, "field")
    said = _said(sentence, anchor)
    # Only a statistic of nothing needs its field looked at first; "12 records have an id" is not one.
    if field is None or not (anchor["none"] or said.lower() in _ZERO or said.strip("0.") == "" != said):
        return None
    if not _is_statistic(anchor, field, said, file):
        return None
    test, value = _test_of(said)
    if anchor["verb"].lower() in ("lack", "lacks", "are missing", "is missing"):
        test = "absent"
    return CountClaim(file, field.text, test, value, *_quantity(anchor, anchor["total"]), last=_int(anchor["last"]))


def _is_statistic(anchor: re.Match[str], field: Word, said: str, file: str | None) -> bool:
    """ "0 records have X" counts records; "no one has complained" and "no entries have expired" do not."""
    if file:
        return True
    of_records = bool(re.search(rf"\b{_UNITS}$", anchor["unit"], re.I)) or bool(anchor["percent"])
    of_anything = (anchor["none"] or "").lower() == "none"
    exact = is_name(field) or bool(said) or field.text.isupper()
    prose = field.text.lower().endswith("ed") or field.text.lower() in NOT_A_THING | ARTICLES | _NO_FIELD
    return (of_records or of_anything) if exact else of_records and not prose


def _zero_claim(sentence: Sentence, anchor: re.Match[str], file: str | None) -> CountClaim | None:
    field = _group_word(sentence, anchor, "missing" if anchor["missing"] else "field")
    many = _HOW_MANY.match(sentence.plain, anchor.end())
    if field is None or many is None or path_in(field) or not (file or many["unit"]):
        return None
    if not field.quoted and field.text.lower() in NOT_A_THING | ARTICLES:
        return None
    if not field.quoted and field.text.lower() in GENERIC | KINDS:
        return CountClaim(file, None, "absent")
    test, value = _test_of(
        "missing" if anchor["missing"] else anchor["state"] or anchor["value"].strip("\"'") or "empty"
    )
    if many["count"] and not many["of"] and many["unit"] and anchor["value"]:  # "x=0 across 200 records": all of them
        return CountClaim(file, field.text, test, value, "all", "", int(many["count"]), _int(many["last"]))
    return CountClaim(file, field.text, test, value, *_quantity(many, None), last=_int(many["last"]))


def _quantity(match: re.Match[str], total: str | None) -> tuple[Literal["records", "percent", "all"], str, int | None]:
    parts = match.groupdict()
    of = _int(parts.get("of") or total)
    if parts.get("percent"):
        return "percent", match["percent"], of
    if parts.get("none"):
        return "records", "0", of
    return ("records", match["count"], of) if parts.get("count") else ("all", "", of)


def _said(sentence: Sentence, anchor: re.Match[str]) -> str:
    name = next((name for name in ("value", "said", "state") if anchor[name]), None)
    word = _group_word(sentence, anchor, name) if name else None
    return word.text if word else ""


def _group_word(sentence: Sentence, anchor: re.Match[str], name: str) -> Word | None:
    words = sentence.words(*anchor.span(name))
    return words[0] if words and words[0].text else None


def _test_of(said: str) -> tuple[Literal["present", "absent", "empty", "equals"], str]:
    lowered = said.lower()
    if not said:
        return "present", ""
    if lowered in ("missing", "null", "none", "unset", "absent"):
        return "absent", ""
    return ("empty", "") if lowered == "empty" else ("equals", "0" if lowered == "zero" else said)


def _int(text: str | None) -> int | None:
    return int(text) if text else None
