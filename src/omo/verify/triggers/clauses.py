"""The clause around an anchor: does it assert something, and which words belong to it?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from omo.verify.triggers.model import Claim, Trigger
from omo.verify.wording import Sentence, Word, word_set

ADVERBS = word_set("now already still also currently actually just really simply indeed only successfully file")

# A clause that begins like this says what happens in a case, not what is the case.
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|whether|until|once|in case|assuming|suppose|provided|where|otherwise|so that)\b",
    re.I,
)
# What may be the case, or would be if the work were not done, as an answer to "how could it look done and not be?"
_SUPPOSED = re.compile(r"\b(?:would|could|might|may|failure mode|risk|danger|suppose|imagine|as if|as though)\b", re.I)
_STATEMENT_START = re.compile(r"[;:]\s|\s(?:because|but|however|so|therefore)\s", re.I)
_CLAUSE_START = re.compile(r"[,;(:]\s|\s(?:because|but|while|since|although|whereas|—|–|and|then)\s", re.I)
_CLAUSE_END = re.compile(r"\s(?:because|but|while|since|although|whereas|so|which|as|—|–|-)\s|[()]", re.I)

# How far from its anchor a claim's words may stand: keeps a long sentence of many anchors linear.
REACH = 400


def anchors(pattern: re.Pattern[str], sentence: Sentence) -> Iterator[re.Match[str]]:
    """Where an anchor stands in a clause that asserts something."""
    for match in pattern.finditer(sentence.plain):
        place = match.start()
        conditional = _CONDITION.search(sentence.plain, _start(_CLAUSE_START, sentence, place), place)
        if not conditional and not _SUPPOSED.search(sentence.plain, _start(_STATEMENT_START, sentence, place), place):
            yield match


def _start(border: re.Pattern[str], sentence: Sentence, place: int) -> int:
    window = max(0, place - REACH)
    return max((match.end() for match in border.finditer(sentence.plain, window, place)), default=window)


def after(sentence: Sentence, place: int) -> list[Word]:
    """The words that follow a place, to the end of its clause."""
    far = min(len(sentence.plain), place + REACH)
    match = _CLAUSE_END.search(sentence.plain, place, far)
    return sentence.words(place, match.start() if match else far)


def before(sentence: Sentence, place: int) -> list[Word]:
    """The words of the clause that lead up to a place, nearest last."""
    return sentence.words(_start(_CLAUSE_START, sentence, place), place)


def trigger(gate: str, sentence: Sentence, anchor: re.Match[str], claim: Claim, words: list[Word]) -> Trigger:
    start = min([anchor.start(), *(word.start for word in words)])
    end = max([anchor.end(), *(word.end for word in words)])
    shown = " ".join(sentence.text[start:end].split())
    return Trigger(gate, shown if len(shown) <= 200 else shown[:199] + "…", claim, start, end)
