"""Sentences, clauses and words, found by hand: importing re costs a hook more than everything else it does."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Break = Callable[[str, int], int]

HOLE = "\ufffc"  # stands where something inline was blanked
SENTENCE_ENDS = "!?。！？；;\n…"
ABBREVIATIONS = ("e.g", "i.e", "z.B")
CLAUSE_ENDS = ",:，、：()（）[]{}|—–→"
LIVE_ENDS = ",!?;，。！？；、…\n—–"
KEYWORDS = ("ultrawork", "ulw")


def keyword_spans(text: str) -> list[tuple[int, int]]:
    """Where the letters stand, in any case and inside any word."""
    low = _ascii_lower(text)
    found = []
    for word in KEYWORDS:
        at = low.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = low.find(word, at + len(word))
    return sorted(found)


def _ascii_lower(text: str) -> str:
    """str.lower() makes some letters two, and every place after them would be off."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def after_last_sentence(text: str) -> str:
    return text[_last(text, _sentence_break)[1] :]


def before_first_sentence(text: str) -> tuple[str, str]:
    start, end = _first(text, _sentence_break)
    return (text[:start], text[start:end].strip() or "\n") if end else (text, "")


def after_last_clause(text: str) -> tuple[str, str]:
    start, end = _last(text, _clause_break)
    return text[end:], text[start:end].strip()


def before_first_clause(text: str) -> tuple[str, str]:
    start, end = _first(text, _clause_break)
    return (text[:start], text[start:end].strip() or "\n") if end else (text, "")


def live_clauses(text: str) -> list[tuple[int, int]]:
    """The runs between breaks, as spans: how a person who stops somebody speaks. "moment.js" has no break in it."""
    spans, start = [], 0
    for at in range(len(text) + 1):
        if at == len(text) or _is_live_break(text, at):
            if at > start:
                spans.append((start, at))
            start = at + 1
    return spans


def _is_live_break(text: str, at: int) -> bool:
    if text[at] == ".":
        return not text[at + 1 : at + 2].isalnum()
    if text[at] == "-":
        return text[at - 1 : at].isspace() and text[at + 1 : at + 2].isspace()
    return text[at] in LIVE_ENDS


def words_in(text: str) -> list[str]:
    """Runs of letters and digits, with apostrophes inside or at the end; a hole counts as one word."""
    words, at = [], 0
    while at < len(text):
        end = _word_end(text, at)
        if end > at:
            words.append(text[at:end].lower())
        at = max(end, at + 1)
    return words


def _word_end(text: str, at: int) -> int:
    if text[at] == HOLE:
        while at < len(text) and text[at] == HOLE:
            at += 1
        return at
    end = _letters_end(text, at)
    while end > at and text[end : end + 1] == "'":
        beyond = _letters_end(text, end + 1)
        if beyond == end + 1:
            return end + 1
        end = beyond
    return end


def _letters_end(text: str, at: int) -> int:
    while at < len(text) and text[at].isalnum():
        at += 1
    return at


def _sentence_break(text: str, at: int) -> int:
    """Where a break that begins here ends, or 0."""
    if text[at] in SENTENCE_ENDS:
        return at + 1
    if text[at] != ".":
        return 0
    beyond = text[at + 1 : at + 2]
    if (not beyond or beyond.isspace()) and not _is_abbreviation(text, at):
        return at + 1
    return _run_end(text, at) if beyond == "." else 0


def _is_abbreviation(text: str, at: int) -> bool:
    if text[max(0, at - 3) : at] in ABBREVIATIONS:
        return True
    before = text[at - 3 : at - 2] if at >= 3 else ""
    return text[max(0, at - 2) : at] == "vs" and not (before.isalnum() or before == "_")


def _run_end(text: str, at: int) -> int:
    while at < len(text) and text[at] == ".":
        at += 1
    return at


def _clause_break(text: str, at: int) -> int:
    if text[at] in CLAUSE_ENDS:
        return at + 1
    if text[at : at + 2] == "->":
        return at + 2
    if text[at].isspace() and text[at + 1 : at + 2] == "-":
        beyond = at + 3 if text[at + 2 : at + 3] == "-" else at + 2
        return beyond + 1 if text[beyond : beyond + 1].isspace() else 0
    return 0


def _first(text: str, ends: Break) -> tuple[int, int]:
    for at in range(len(text)):
        if end := ends(text, at):
            return at, end
    return len(text), 0


def _last(text: str, ends: Break) -> tuple[int, int]:
    found, at = (0, 0), 0
    while at < len(text):
        end = ends(text, at)
        found = (at, end) if end else found
        at = max(end, at + 1)
    return found
