"""The hand-written scanners against the patterns they stand for."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from omo.ultrawork.keyword import scan

SENTENCE_END = re.compile(r"[!?。！？；;\n…]|(?<!e\.g)(?<!i\.e)(?<!\bvs)(?<!z\.B)\.(?=\s|$)|\.{2,}")
CLAUSE_END = re.compile(r"[,:，、：()（）\[\]{}|—–→]|\s--?\s|->")
LIVE_BREAK = re.compile(r"[,!?;，。！？；、…\n—–]|\.(?![^\W_])|(?<=\s)-(?=\s)")
WORD = re.compile(rf"[^\W_]+(?:'[^\W_]+)*'?|{scan.HOLE}+")
KEYWORD = re.compile(r"(?ai:ultrawork|ulw)")

PIECES = ["ulw", "UltraWork", "e.g", "vs", "z.B", ".", "..", "...", " ", "\n", "-", "--", "->", ",", "'", "don't", "_"]
TEXT = (
    st.lists(st.sampled_from([*PIECES, scan.HOLE, "İ", "로", "。", "…", "x", "\t"]), max_size=30).map("".join)
    | st.text()
)


def last(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    found = list(pattern.finditer(text))
    return (text[found[-1].end() :], found[-1][0].strip()) if found else (text, "")


def first(pattern: re.Pattern[str], text: str) -> tuple[str, str]:
    found = pattern.search(text)
    return (text[: found.start()], found[0].strip() or "\n") if found else (text, "")


@given(TEXT)
def test_sentences(text: str) -> None:
    assert scan.after_last_sentence(text) == last(SENTENCE_END, text)[0]
    assert scan.before_first_sentence(text) == first(SENTENCE_END, text)


@given(TEXT)
def test_clauses(text: str) -> None:
    assert scan.after_last_clause(text) == last(CLAUSE_END, text)
    assert scan.before_first_clause(text) == first(CLAUSE_END, text)


@given(TEXT)
def test_words(text: str) -> None:
    assert scan.words_in(text) == [word.lower() for word in WORD.findall(text)]


@given(TEXT)
def test_live_clauses(text: str) -> None:
    breaks = [-1, *(match.start() for match in LIVE_BREAK.finditer(text)), len(text)]
    between = [(before + 1, after) for before, after in pairwise(breaks)]
    assert scan.live_clauses(text) == [(start, end) for start, end in between if end > start]


@given(TEXT)
def test_keywords(text: str) -> None:
    assert scan.keyword_spans(text) == [match.span() for match in KEYWORD.finditer(text)]
