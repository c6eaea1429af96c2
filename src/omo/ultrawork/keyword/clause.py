"""One occurrence of the word, the clause it stands in, and the ordered rules that decide what it means there."""

from __future__ import annotations

from omo.ultrawork.keyword import scan
from omo.ultrawork.keyword.prose import pattern
from omo.ultrawork.keyword.scan import words_in
from omo.ultrawork.keyword.words import COURTESY, LEADS, SCRIPTS, STOP_PHRASES, phrases, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Test = Callable[["Place"], bool]

WINDOW = 400  # no clause a person writes is longer, and a bound keeps every occurrence cheap


class Place:
    """One occurrence and the words around it, in its clause and in its sentence."""

    __slots__ = ("after", "before", "clause", "closed", "end", "left", "opened", "rest", "right", "said", "span")

    def __init__(self, text: str, span: tuple[int, int]):
        low, high = max(0, span[0] - WINDOW), span[1] + WINDOW
        left, right = text[low : span[0]], text[span[1] : high]
        sentence_left = scan.after_last_sentence(left)
        sentence_right, self.end = scan.before_first_sentence(right)
        self.left, self.opened = scan.after_last_clause(sentence_left)
        self.right, self.closed = scan.before_first_clause(sentence_right)
        self.span = span
        self.said = words_in(sentence_left)
        self.rest = words_in(sentence_right)
        self.before = words_in(self.left)
        self.after = words_in(self.right)
        self.clause = f"{self.left.lstrip(' *_')}\1{self.right.rstrip(' *_~')}"

    @property
    def asks(self) -> bool:
        return not self.closed and self.end in ("?", "？")

    @property
    def opens(self) -> bool:
        """Nothing but courtesy stands before it in the sentence."""
        return all(word in words_of("filler") for word in self.said)


def patterns(place: Place) -> dict[str, str]:
    """The patterns of the script the clause is in, if it is one without spaces."""
    if place.clause.isascii():
        return {}
    return next((table for letters, table in SCRIPTS.values() if pattern(letters).search(place.clause)), {})


def _script(place: Place, name: str) -> bool:
    source = patterns(place).get(name)
    return bool(source and pattern(source).search(place.clause))


def all_in(words: Sequence[str], name: str) -> bool:
    return all(word in words_of(name) for word in words)


def lead(words: Sequence[str]) -> tuple[int, bool]:
    """How many words are courtesy or the opening of a request, and whether a request was opened."""
    at, asked = 0, False
    while at < len(words):
        size = next((n for n in (5, 4, 3, 2, 1) if " ".join(words[at : at + n]) in phrases(LEADS)), 0)
        if not size and words[at] not in words_of("filler"):
            break
        asked = asked or bool(size) or words[at] in COURTESY
        at += min(size or 1, len(words) - at)
    return at, asked


def _request(words: Sequence[str]) -> int:
    """Where the verb of a request stands, or -1 if the words are none."""
    at, asked = lead(words)
    if at == len(words):
        return -1
    verb = words[at]
    known = verb in words_of("task") or verb in words_of("use") or verb in ("don't", "never")
    return at if asked or known else -1


def _verb(place: Place) -> tuple[list[str], int]:
    for words in (place.before, place.said):
        at = _request(words)
        if at >= 0:
            return words, at
    return place.said, -1


def _last_clause(place: Place) -> tuple[str, list[str]]:
    """What stands before the keyword after the last conjunction, and that conjunction."""
    for at in range(len(place.before) - 1, -1, -1):
        if place.before[at] in words_of("conj") or (place.before[at] in COURTESY and at):
            return place.before[at], place.before[at + 1 :]
    return "", place.before


def _bare(words: Sequence[str]) -> bool:
    return all_in(words, "tail")


def past_tail(words: list[str]) -> list[str]:
    at = next((i for i, word in enumerate(words) if word not in words_of("tail")), len(words))
    return words[at:]


def _says_stop(words: list[str]) -> bool:
    if words and words[0] in words_of("cancel") and all_in(words[1:], "cancel-bridge"):
        return True
    for at in range(len(words), 0, -1):
        if " ".join(words[:at]) in phrases(STOP_PHRASES):
            return True
        if words[at - 1] not in words_of("cancel-bridge"):
            return False
    return False


def _stops(place: Place) -> bool:
    """Whether the clause says to stop it, whenever that is to be."""
    at, asked = lead(place.before)
    words = place.before[at:]
    after = past_tail(place.after)
    if place.asks and not asked:
        return False
    if after[:1] == ["mehr"] and place.before[-1:] in (["kein"], ["keine"], ["keinen"]):
        return True
    if words and words[0] in words_of("splitter") and all_in(words[1:], "cancel-bridge"):
        return any(word in words_of("off") for word in after[:1])
    if not words and (place.opens or asked):
        end = past_tail(place.after) or past_tail(place.rest)
        return bool(end) and end[0] in words_of("cancel-after") and _bare(end[1:])
    return (_says_stop(words) or _says_stop(place.before)) and _ends_or_goes_on(after)


def _ends_or_goes_on(after: list[str]) -> bool:
    """ "stop ulw and …" is a cancel, "stop ulw hooks from firing" is a task."""
    return not after or any(after[0] in words_of(name) for name in ("later", "conj", "task", "reason"))


def _cancels_later(place: Place) -> bool:
    conj, words = _last_clause(place)
    if conj in words_of("conj") and _says_stop(words) and _request(place.before) >= 0:
        return not all_in(place.before[: -len(words)], "filler")
    if not _stops(place):
        return False
    opening = place.said[: len(place.said) - len(place.before)]
    deferred = "then" in place.before or (bool(opening) and opening[0] in words_of("later"))
    after = past_tail(place.after)
    return bool((opening and not all_in(opening, "filler") and deferred) or (after and after[0] in words_of("later")))


def _cancels(place: Place) -> bool:
    if _script(place, "cancel"):
        return not _script(place, "question")
    return _stops(place)


def _is_negated(place: Place) -> bool:
    if _script(place, "negated"):
        return True
    for word in reversed(place.before):
        if word in words_of("negator"):
            return True
        if word not in words_of("bridge"):
            break
    if not place.before and place.after[:1] in (["not"], ["nicht"], ["pas"], ["niet"]):
        return len(place.after) == 1 or place.after[1] in words_of("not-needed")
    words, at = _verb(place)
    with_it = place.before[-1:] and place.before[-1] in words_of("instrument")
    return bool(with_it and at >= 0 and (words[at] in ("don't", "never") or words[at : at + 2] == ["do", "not"]))


def _is_hypothetical(place: Place) -> bool:
    said = place.said
    if said[:1] == ["whenever"] or said[:2] in (["every", "time"], ["each", "time"]):
        return True
    conditional = bool(said) and said[0] in words_of("if-when")
    return conditional and any(word in words_of("typing") for word in said[1:])


ARROWS = ("→", "->")


def _is_thing(place: Place) -> bool:
    """Part of a noun phrase, owner of something, or one side of a definition."""
    after = place.after[1:] if place.after[:1] == ["mode"] else place.after
    nouns = words_of("own") if all_in(place.before, "filler") else words_of("kind")
    if _script(place, "about") or (after and after[0] in nouns):
        return True
    if place.right.startswith("'s") or place.right.lstrip().startswith(("=", "≈", "≠")) or place.closed in ARROWS:
        return True
    if place.opened in ARROWS and _bare(place.after):
        return True
    return bool(place.before) and place.before[-1] in words_of("cancel") and not place.opens


def _is_subject(place: Place) -> bool:
    """The word opens a clause that states something of it: "ulw keeps looping"."""
    if lead(place.before)[0] < len(place.before):
        return False
    after = place.after
    while after and (after[0] in words_of("adverb") or after[0].endswith("ly")):
        after = after[1:]
    return _states(after) or _explains(place, after)


def _states(after: list[str]) -> bool:
    if not after:
        return False
    first, second = after[0], after[1] if len(after) > 1 else ""
    if first in words_of("offer") and second in words_of("you"):
        return False
    if first in words_of("talk") or (first in words_of("negator") and second in words_of("talk")):
        return True
    if first.endswith("ed") and first not in words_of("not-past"):
        return True
    if first == "a" and second.endswith("é"):
        return True
    third = first.endswith("s") and not first.endswith("ss") and first not in words_of("not-third")
    return third and (second in words_of("determiner") or second in words_of("amount"))


DEFINED_AS = ("mode", "keyword", "plugin", "command", "skill", "word", "way", "trigger")


def _explains(place: Place, after: list[str]) -> bool:
    following = place.rest[len(place.after) :]
    if following[:1] in (["which"], ["who"]):
        return True
    if following[:1] in (["a"], ["an"], ["the"]) and any(word in DEFINED_AS for word in following[1:4]):
        return any(word in ("that", "which", "for", "where", "to") for word in following[2:6])
    opening = after or following
    if opening and opening[0] in words_of("wh") and opening[0] not in words_of("task"):
        return "it" in opening[1:4] and len(opening) <= 6
    finite = any(word in words_of("talk") for word in after[1:6])
    joined = after[:1] in (["and"], ["or"], ["&"]) and len(after) > 1 and after[1] not in words_of("task")
    return finite and (joined or after[0] in ("in", "of", "from", "within", "inside"))


def _is_asked(place: Place) -> bool:
    at, asked = lead(place.before)
    if place.before and at == len(place.before) and asked:
        if place.after[:1] == ["to"] and place.after[1:2] and place.after[1] in words_of("wish"):
            return False
        return place.before[-1] not in words_of("desire") or _object_ends(place)
    conj, words = _last_clause(place)
    if (
        not conj
        or words
        or not (place.after and (place.after[0] in words_of("determiner") or place.after[0] in words_of("task")))
    ):
        return False
    asking, verb = _verb(place)
    return conj not in ("and", "or") or (verb >= 0 and asking[verb] not in words_of("talk-verb"))


def _object_ends(place: Place) -> bool:
    after = place.after
    return not after or any(after[0] in words_of(name) for name in ("goes-on", "task", "tail"))


def _has_use_verb(place: Place) -> bool:
    conj, last = _last_clause(place)
    free = _verb(place)[1] >= 0 or (
        conj not in ("and", "or") and not any(word in words_of("typing") for word in place.said)
    )
    for words in (place.before, last if free else []):
        at, asked = lead(words)
        verb = words[at : at + 1]
        if verb and verb[0] in words_of("use") and all_in(words[at + 1 :], "use-bridge") and _object_ends(place):
            return asked or not place.asks
    return False


def _is_instrument(place: Place) -> bool:
    if _script(place, "use"):
        return _script(place, "request") or not (place.asks or _script(place, "question"))
    words = place.before
    while words and words[-1] in words_of("article"):
        words = words[:-1]
    if not words or not (words[-1] in words_of("instrument") or words[-1] in words_of("inside")):
        return False
    at, asked = lead(words)
    if at == len(words) - 1:
        return _then_asks(place)
    if words[-2] in ("but", "now", "again", "time") and _bare(place.after):
        return words[0] not in words_of("teller")
    if (place.asks and not asked) or not _object_ends(place):
        return False
    return _done_inside(words) if words[-1] in words_of("inside") else _done_with(place, words)


def _then_asks(place: Place) -> bool:
    """ "with ulw, fix it" and "in ulw mode fix it"."""
    after = [word for word in place.after if word not in words_of("adverb")]
    following = after or place.rest[len(place.after) :]
    return _request(following) == 0 or lead(following)[1] or _is_german_task(following)


def _is_german_task(words: list[str]) -> bool:
    """ "die Tests reparieren": an object, and at the end an infinitive."""
    return len(words) > 1 and words[0] in words_of("german-object") and words[-1].endswith(("en", "ern", "eln"))


def _done_inside(words: list[str]) -> bool:
    """ "fix the bug in ulw mode" says where the bug is; "do this in ulw mode" and "finish the port in ulw mode" how."""
    at = _request(words)
    if at >= 0 and words[at] in words_of("undertake"):
        return words[-2] not in words_of("defect") and words[-2] not in words_of("kind")
    return at >= 0 and words[at] in words_of("generic") and all_in(words[at + 1 :], "pronoun")


def _done_with(place: Place, words: list[str]) -> bool:
    asking, at = _verb(place)
    if at < 0 or asking[at] in words_of("not-with") or words[-2] in words_of("no-tool"):
        return False
    # "the bug with ulw" is a bug of it, "the auth bug with ulw" is a bug to fix by it.
    its_own = words[-2] in words_of("defect") and (
        len(words) < 3 or words[-3] in words_of("link") or at == len(words) - 3
    )
    return not its_own and asking[at] not in ("explain", "describe", "document", "help")


def _is_foreign_question(place: Place) -> bool:
    asks = _script(place, "question") or (place.asks and bool(patterns(place)))
    return asks and not _script(place, "request")


def _leads(place: Place) -> bool:
    if not all_in(place.before, "filler"):
        return False
    if place.opens:
        return not _bare(place.rest) or not (place.asks or _is_bullet(place))
    if _bare(place.after) or place.opened in ("(", "[", "（", "{"):
        return False
    return not _lists(place)


def _is_bullet(place: Place) -> bool:
    return place.left.strip() in ("-", "*", "+", "•")


def _lists(place: Place) -> bool:
    """One item of an enumeration, or the value of a label."""
    verb = _request(place.said)
    task = verb >= 0 and place.said[verb] not in words_of("talk-verb")
    if any(word in words_of("enumerates" if task else "listing") for word in place.said):
        return True
    if place.opened in (":", "：") and any(word in words_of("kind") for word in place.said):
        return True
    joined = bool(place.after) and place.after[0] in words_of("conj")
    return joined and verb < 0 and not any(word in words_of("task") for word in place.after[1:2])


def _trails(place: Place) -> bool:
    if _script(place, "trailing"):
        return True
    if not _bare(place.after) or (place.asks and not lead(place.before)[1]):
        return False
    asking, verb = _verb(place)
    if all_in(place.before, "filler") and place.opened:
        if _bare(place.rest):
            return not _lists(place) and not (place.said[0] in words_of("wh") and verb < 0)
        apart = place.opened == place.closed == "," or place.closed == "，"
        return apart and verb >= 0 and asking[verb] not in words_of("talk-verb") and not _lists(place)
    return _bare(place.rest) and asking is place.before and _ends_request(asking, verb)


def _ends_request(words: list[str], verb: int) -> bool:
    """ "fix auth ulw": the request has its object already, and nothing ties the keyword to it."""
    if verb < 0 or verb + 1 >= len(words) or words[verb] in words_of("talk-verb"):
        return False
    if any(word in ("that", "which", "who") for word in words[-3:-1]):
        return False  # "the function that detects ulw"
    if words[-1] in ("this", "that"):
        return (
            words[-2] == "of"
            or words[verb] in words_of("generic")
            or words[verb] in ("fix", "implement", "solve", "resolve")
        )
    return not any(words[-1] in words_of(name) for name in ("link", "kind", "talk-verb", "cancel"))


def _is_question(place: Place) -> bool:
    at, _ = lead(place.said)
    first = place.said[at] if at < len(place.said) else ""
    return place.asks or first in words_of("wh") or _script(place, "question")


def _is_topic(place: Place) -> bool:
    return _verb(place)[1] >= 0 or (bool(place.before) and place.before[-1] in words_of("link"))


def _always(place: Place) -> bool:
    return True


CLAUSE_RULES: tuple[tuple[str, str, Test], ...] = (
    ("cancel-later", "none", _cancels_later),
    ("cancel", "cancel", _cancels),
    ("negated", "none", _is_negated),
    ("hypothetical", "none", _is_hypothetical),
    ("about", "none", _is_thing),
    ("about", "none", _is_subject),
    ("asked", "activate", _is_asked),
    ("use-verb", "activate", _has_use_verb),
    ("instrument", "activate", _is_instrument),
    ("question", "none", _is_foreign_question),
    ("leading", "activate", _leads),
    ("trailing", "activate", _trails),
    ("question", "none", _is_question),
    ("about", "none", _is_topic),
    ("mention", "none", _always),
)
CLAUSE_NAMES = frozenset(name for name, _, _ in CLAUSE_RULES)


def decide(place: Place) -> tuple[str, str]:
    return next((name, action) for name, action, holds in CLAUSE_RULES if holds(place))
