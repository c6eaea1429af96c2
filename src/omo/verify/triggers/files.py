"""positive-state: what a file is said to hold, or that it was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from omo.verify.triggers.clauses import ADVERBS, REACH, after, anchors, before, trigger
from omo.verify.triggers.model import POSITIVE_STATE, Address, FileClaim, Trigger
from omo.verify.wording import FILL, Sentence, Word, is_name, path_in, word_set

_CONTAINS = re.compile(
    r"\b(?:(?P<weak>has)|(?P<no>(?:does not|doesn't|did not|no longer|never) (?:contains?|includes?|have|mentions?|"
    r"defines?|lists?|shows?|declares?)|lacks)|contains|includes|reflects|shows|says|reads|states|mentions|defines|"
    r"declares|lists|sets|exports)\b",
    re.I,
)
_EXISTS = re.compile(
    r"\b(?:(?:was|were|has been|have been|got)(?: (?:now|already|successfully|just|also)){0,2} "
    r"(?:written|created|saved|generated|produced|exported)|exists|is (?:present|in place|there))\b",
    re.I,
)
_IS_EMPTY = re.compile(
    r"\b(?:is|was)(?: (?:now|still|currently|completely|entirely)){0,2}(?P<no> not|n't)? empty\b"
    r"(?! (?:of|for|in)\b)",
    re.I,
)
_LINES = re.compile(
    r"\b(?:has|contains|is)(?: (?:now|exactly|only|just)){0,2} (?P<lines>\d{1,9}) lines?\b"
    r"(?! (?:of|that|with|which|changed|added|removed|longer|shorter|more|fewer|too)\b)",
    re.I,
)
_UNCOMMITTED = re.compile(
    r"\b(?:(?:is|was|has)(?: not|n't)(?: yet| been){0,2} (?:committed|checked in)(?! (?:to|by|with)\b)"
    r"|is uncommitted)\b",
    re.I,
)
_UPDATED = re.compile(
    r"\b(?:was|is|has been|got)(?: (?:now|already|successfully|just|also)){0,2} "
    r"(?:updated|changed|modified|edited|configured|adjusted|switched|set) to (?=\S)",
    re.I,
)
_WROTE = re.compile(
    r"\b(?:wrote|created|saved|generated|produced)(?: (?:the|a|an|new|file|report|it|them|everything|results?|"
    rf"output|[`\"']{FILL}+[`\"']|to|in|into|as|out)){{0,5}} (?=\S)",
    re.I,
)
_ACCORDING = re.compile(
    r"\b(?:according to|as (?:shown|stated|recorded|listed|defined) in|per)(?: (?:the|file)){0,2} (?=\S)", re.I
)
_DEFINED_IN = re.compile(
    r"\b(?:exists|is (?:present|defined|declared|listed|set|mentioned)|appears)(?: only)? in"
    r"(?: (?:the|file)){0,2} (?=\S)",
    re.I,
)
_ASSIGNING = re.compile(r"(?<!\bcontains)(?<!\bincludes)(?<!\bshows)(?<!\bsays) ?[:=] ?$", re.I)
_INSTEAD = word_set("instead rather from in on by not without")
_EXACT = re.compile(r"\w[\w.]*(?:_|=|::)\S+")
_NUMBER = re.compile(r"\d[\d.]*")
_LEADING = word_set("the a an this its only just key line string text value entry section word setting field")


def claims(sentence: Sentence, _: list[Address]) -> Iterator[Trigger]:
    for anchor in anchors(_CONTAINS, sentence):
        path = _path_before(sentence, anchor.start())
        if path is not None and (claim := _content_claim(sentence, anchor, path)):
            yield claim
    for anchor in anchors(_EXISTS, sentence):
        path = _path_before(sentence, anchor.start())
        if path is not None and not re.match(r"\s+in\s", sentence.plain[anchor.end() :]):
            yield trigger(POSITIVE_STATE, sentence, anchor, FileClaim(path_in(path) or "", "exists"), [path])
    for pattern, state in (
        (_IS_EMPTY, _emptiness),
        (_LINES, _line_count),
        (_UNCOMMITTED, _commit),
        (_UPDATED, _update),
    ):
        for anchor in anchors(pattern, sentence):
            path = _path_before(sentence, anchor.start())
            if path is not None and (about := state(sentence, anchor, path_in(path) or "")):
                yield trigger(POSITIVE_STATE, sentence, anchor, about, [path])
    for pattern, read in ((_WROTE, _written), (_ACCORDING, _cited), (_DEFINED_IN, _located)):
        for anchor in anchors(pattern, sentence):
            following = sentence.words(anchor.end(), anchor.end() + REACH)[:1]
            if following and path_in(following[0]) and (claim := read(sentence, anchor, following[0])):
                yield claim


def _path_before(sentence: Sentence, place: int) -> Word | None:
    words = before(sentence, place)
    while words and words[-1].text.lower() in ADVERBS:
        words.pop()
    return words[-1] if words and path_in(words[-1]) else None


def _emptiness(_: Sentence, anchor: re.Match[str], path: str) -> FileClaim:
    return FileClaim(path, "exists" if anchor["no"] else "empty")


def _line_count(_: Sentence, anchor: re.Match[str], path: str) -> FileClaim:
    return FileClaim(path, "lines", (anchor["lines"],))


def _commit(_: Sentence, __: re.Match[str], path: str) -> FileClaim:
    return FileClaim(path, "uncommitted")


def _update(sentence: Sentence, anchor: re.Match[str], path: str) -> FileClaim | None:
    """ "was updated to use port 9090": what is quoted, exact, or a number at the end; "3 new flags" is none of it."""
    rest = after(sentence, anchor.end())
    stop = next((n for n, word in enumerate(rest) if not word.quoted and word.text.lower() in _INSTEAD), len(rest))
    rest = rest[:stop]
    if quoted := tuple(word.text for word in rest if word.quoted):
        return FileClaim(path, "contains", quoted)
    exact = [word.text for word in rest if _EXACT.fullmatch(word.text)]
    exact += [word.text for word in rest[-1:] if _NUMBER.fullmatch(word.text)]
    return FileClaim(path, "contains", (exact[0],), loose=True) if exact else None


def _content_claim(sentence: Sentence, anchor: re.Match[str], path: Word) -> Trigger | None:
    if _LINES.match(sentence.plain, anchor.start()):
        return None
    rest = after(sentence, anchor.end())
    quoted = [word for word in (rest[:4] if anchor["weak"] else rest) if word.quoted]
    if anchor["weak"] and not quoted:
        return None
    denied = bool(anchor["no"]) or bool(rest and rest[0].text.lower() in ("no", "neither", "nothing"))
    says: Literal["contains", "lacks"] = "lacks" if denied else "contains"
    exact = bool(quoted) and not _is_assigned(sentence, quoted[0])
    values = tuple(word.text for word in quoted) if exact else _loose_value(sentence, rest)
    claim = FileClaim(path_in(path) or "", says, values, loose=not exact)
    return trigger(POSITIVE_STATE, sentence, anchor, claim, [path, *(quoted or rest[:6])])


def _is_assigned(sentence: Sentence, word: Word) -> bool:
    """In `name = "x"` the quotes belong to the text of the file, and the name to the value."""
    return bool(_ASSIGNING.search(sentence.plain, max(0, word.start - 100), word.start))


def _loose_value(sentence: Sentence, rest: list[Word]) -> tuple[str, ...]:
    """What stands where a quoted value should: at most six words, as written."""
    while rest and rest[0].text.lower() in _LEADING | {"no", "neither", "nothing"}:
        rest = rest[1:]
    comma = next((n for n, word in enumerate(rest) if sentence.plain[word.end : word.end + 1] == ","), len(rest))
    rest = rest[: comma + 1]
    if not rest or len(rest) > 6:
        return ()
    return (sentence.text[rest[0].start : rest[-1].end].strip(),)


def _written(sentence: Sentence, anchor: re.Match[str], path: Word) -> Trigger:
    return trigger(POSITIVE_STATE, sentence, anchor, FileClaim(path_in(path) or "", "exists"), [path])


def _cited(sentence: Sentence, anchor: re.Match[str], path: Word) -> Trigger:
    around = sentence.words(max(0, anchor.start() - REACH), anchor.start()), sentence.words(path.end, path.end + REACH)
    values = [word for words in around for word in words if word.quoted]
    claim = FileClaim(path_in(path) or "", "contains", tuple(word.text for word in values))
    return trigger(POSITIVE_STATE, sentence, anchor, claim, [path])


def _located(sentence: Sentence, anchor: re.Match[str], path: Word) -> Trigger | None:
    words = [word for word in before(sentence, anchor.start()) if is_name(word)]
    if not words:
        return None
    claim = FileClaim(path_in(path) or "", "contains", (words[-1].text,))
    return trigger(POSITIVE_STATE, sentence, anchor, claim, [words[-1], path])
