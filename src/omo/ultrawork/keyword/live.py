"""A live "stop" or "continue", which need no keyword; and whether a cancel says anything more."""

from __future__ import annotations

from omo.ultrawork.keyword.clause import WINDOW, Place, all_in, lead, past_tail, patterns
from omo.ultrawork.keyword.prose import pattern
from omo.ultrawork.keyword.scan import live_clauses, words_in
from omo.ultrawork.keyword.words import GO_ON, STOP_NOW, phrases, words_of


def stop_or_go(prompt: str) -> tuple[str, str, tuple[int, int]] | None:
    """Action, rule and span of a live "stop" or "continue". Only how the prompt opens is looked at."""
    head = prompt[:WINDOW].replace("’", "'").lstrip("\ufeff \t\r\n*")
    if not head[:1].isalnum():
        return None
    start = prompt.index(head[0])
    if len(head) < WINDOW and not head.rstrip().endswith(("?", "？")) and _is_phrase(words_in(head), GO_ON):
        return "resume", "go-on", (start, start + len(head.rstrip()))
    for begin, end in live_clauses(head):
        words = words_in(head[begin:end])
        if words and not all_in(words, "filler"):
            said = _says_wait(head[begin:end], words)
            return ("pause", "live-stop", (start + begin, start + end)) if said else None
    return None


def has_more(prompt: str, place: Place) -> bool:
    """Whether the prompt asks for anything besides the cancel."""
    start, end = place.span[0] - len(place.left), place.span[1] + len(place.right)
    if any(_is_content(clause) for clause in (*_clauses(prompt[:start][-2000:]), *_clauses(prompt[end : end + 2000]))):
        return True
    script = patterns(place)
    if script:
        left = pattern(script["cancel"]).sub("", place.clause)
        return bool(words_in(pattern(script["polite"]).sub("", left)))
    after = [word for word in past_tail(place.after) if word not in words_of("off") | words_of("cancel-after")]
    return bool(past_tail(after)) and after[0] != "mehr"


def _clauses(text: str) -> list[str]:
    return [text[start:end] for start, end in live_clauses(text)]


def _is_content(clause: str) -> bool:
    words = words_in(clause.replace("’", "'"))
    small = ("filler", "tail", "cancel", "cancel-after")
    said = any(not any(word in words_of(name) for name in small) for word in words)
    return said and not _says_wait(clause, words)


def _is_phrase(words: list[str], table: str) -> bool:
    low, high = 0, len(words)
    while low < high and " ".join(words[low:high]) not in phrases(table):
        courtesy = lead(words[low:high])[0]
        if not courtesy and not (words[high - 1] in words_of("tail") or words[high - 1] in words_of("filler")):
            return False
        low, high = (low + courtesy, high) if courtesy else (low, high - 1)
    return low < high


def _says_wait(clause: str, words: list[str]) -> bool:
    if clause.rstrip().endswith(("?", "？")) or ":" in clause:
        return False
    for low in range(len(words)):
        if _opens_with_wait(words[low:]):
            return True
        if words[low] not in words_of("filler") and words[low : low + 1] != words[low + 1 : low + 2]:
            return False
    return False


def _opens_with_wait(words: list[str]) -> bool:
    for size in range(min(len(words), 5), 0, -1):
        if " ".join(words[:size]) in phrases(STOP_NOW):
            rest = words[size:]
            return _opens_with_wait(rest) or all(
                word in words_of("wait-tail") or word in words_of("filler") for word in rest
            )
    return False
