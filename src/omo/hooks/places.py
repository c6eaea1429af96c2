"""Whether the keyword is used or only spoken of, which the clause and the sentence around it tell.

The first of PLACE_RULES that holds decides. In doubt it is a use: only a negation or exception, a question about it,
talk about it as a thing, a plan for later or an argument of a program is not.
"""

from __future__ import annotations

from omo.hooks import place_words, wordlists
from omo.hooks.prose import is_unspaced
from omo.hooks.stop_words import Clause, is_break, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Span = tuple[int, int]

LONGEST_CLAUSE = 400
SENTENCE_ENDS = "!?。！？；;…"
CLAUSE_ENDS = ",:，、：()（）[]{}|—–"


class Place:
    """One occurrence of the keyword, and the words before and behind it: of its clause, and of its sentence.

    `left`, `right` and `opening` are the same text as it was typed: the clause around it, and the sentence up to it.
    """

    def __init__(self, text: str, span: Span) -> None:
        first = max(0, span[0] - LONGEST_CLAUSE)
        text = text[first : span[1] + LONGEST_CLAUSE]
        start, end = span[0] - first, span[1] - first
        sentence_start, sentence_end = _bounds(text, start, end, _ends_sentence)
        clause_start, clause_end = _bounds(text, start, end, _ends_clause)
        self.left, self.right = text[clause_start:start], text[end:clause_end]
        self.before, self.behind = words_in(self.left), words_in(self.right)
        self.opening = text[sentence_start:start]
        self.sentence_before, self.sentence_behind = words_in(self.opening), words_in(text[end:sentence_end])
        self.asks = clause_end == sentence_end and text[sentence_end : sentence_end + 1] in ("?", "？")
        self.leads = all(word in wordlists.COURTESY for word in self.sentence_before)
        self.clause = Clause(text, *_bounds(text, start, end, is_break))


def _bounds(text: str, start: int, end: int, is_end: Callable[[str, int], bool]) -> Span:
    while start and not is_end(text, start - 1):
        start -= 1
    while end < len(text) and not is_end(text, end):
        end += 1
    return start, end


def _ends_sentence(text: str, place: int) -> bool:
    char, behind = text[place], text[place + 1 : place + 2]
    if char == ".":
        return behind in ("", ".") or behind.isspace()
    if char == "\n":
        # Wrapped by an editor: "…remember that you should not / use ulw for it" in tests/ultrawork/prompts.txt.
        line = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
        is_wrapped = len(line) >= 60 and (line[-1].isalpha() or line[-1] == ",") and behind.islower()
        return not is_wrapped
    return char in SENTENCE_ENDS


def _ends_clause(text: str, place: int) -> bool:
    is_dash = text[place] == "-" and text[place - 1 : place].isspace()
    return is_dash or text[place] in CLAUSE_ENDS or _ends_sentence(text, place)


def rule_of(place: Place) -> tuple[str, str]:
    """The name of the rule that holds here, and what the prompt does by it."""
    if any(is_unspaced(char) for char in place.left + place.right) and not _stops_it(place):
        return _rule_of_letters(place)
    for rule, action, holds in PLACE_RULES:
        if holds(place):
            return rule, action
    return "use", "activate"


def _rule_of_letters(place: Place) -> tuple[str, str]:
    """The same for scripts written without spaces, by the letters right before or behind the keyword, or beside it."""
    from omo.hooks import unspaced_words

    before, behind = "".join(place.left.split()), "".join(place.right.split())
    for rule, action, ends, begins in unspaced_words.LETTER_RULES:
        if before.endswith(ends) or behind.startswith(begins):
            return rule, action
    if place.asks or any(mark in before + behind for mark in unspaced_words.ASKED_BESIDE):
        return "question", "none"
    return "use", "activate"


def _stops_it(place: Place) -> bool:
    # A pause is to go on again, so it cancels nothing: STOPS_BY_NAME in tests/ultrawork/prompts.py.
    is_pause = any(word.startswith("paus") for word in place.clause.words)
    is_later = place.clause.is_later or (place.sentence_before[:1] and place.sentence_before[0] in wordlists.LATER)
    return place.clause.kind == "stop" and not is_pause and not is_later


def _is_argument(place: Place) -> bool:
    """ "echo ulw", "npm run ulw", "git push origin ulw"; but "git hangs, ulw find out why" is prose."""
    # The first in tests/ultrawork/heard.txt under "mentions", the last in prompts.txt.
    words = [word for word in place.opening.split() if not word.startswith("-")]
    if "," in place.opening:
        return False
    if len(words) == 3 and words[2] in ("origin", "upstream"):
        return words[0] == "git"
    if len(words) == 2:
        return words[0] in place_words.PROGRAMS_WITH_COMMANDS
    return len(words) == 1 and words[0] in place_words.PROGRAMS


def _is_later(place: Place) -> bool:
    """ "tomorrow we'll ulw it", "let's ulw this later"; not "we ship tomorrow so ulw", "use ulw to end by friday" """
    # "on Monday we ulw the release", "maybe next week …": mentions in tests/ultrawork/heard.txt.
    opens = [word for word in place.before if word not in ("on", "am", "maybe")]
    ends = [word for word in place.behind if word != "please"]
    for size in (1, 2):
        if " ".join(opens[:size]) in place_words.TIMES:
            return True
        if not place.leads and " ".join(ends[-size:]) in place_words.TIMES:
            return place_words.DUE.isdisjoint(ends[-size - 1 : -size])
    return False


def _is_negated(place: Place) -> bool:
    before = place.before
    if " ".join(before[-2:]) in place_words.EXCEPTIONS:
        return True
    for word in reversed(before):
        if word in place_words.NEGATIONS:
            return True
        if word not in place_words.NEGATED_WITH_IT:
            break
    if place.behind[:1] and place.behind[0] in ("not", "nicht", "pas", "niet", "не"):
        # "ulw not needed"; but "ulw not just the tests but the docs too", in tests/ultrawork/prompts.txt.
        return len(place.behind) <= 2
    is_refusal = before[:1] in (["don't"], ["never"]) or before[:2] == ["do", "not"]  # "don't fix it with ulw"
    return is_refusal and before[-1] in place_words.INSTRUMENTS and wordlists.AND.isdisjoint(before)


def _is_subject(place: Place) -> bool:
    """What follows makes it a thing: "ulw is stuck", "the ulw hook", "ulw = ultrawork"."""
    if place.right.startswith("'s") or place.right.lstrip().startswith(("=", "≠", "≈", "→", "->")):
        return True
    # "ulw only works on mac" in tests/ultrawork/prompts.txt.
    words = [word for word in place.behind if word != "mode" and not word.endswith("ly")]
    if not words or " ".join(words[:2]) in place_words.REQUESTS:  # "ulw can you fix it"
        return False
    if not place.leads:
        return words[0] in place_words.STATES or words[0] in place_words.KINDS
    typed = next(part for part in place.right.lower().split() if words[0] in words_in(part))
    beyond = place.sentence_behind[len(place.behind) :]
    # The work begins with such a word: "ulw is_even is wrong", "ulw makes no sense, fix the docs", in prompts.txt.
    if any(sign in typed.strip("_-.,:;!") for sign in "_-.(") or not place_words.MENDS.isdisjoint(beyond):
        return False
    if words[0] in place_words.ITS_OWN:  # "ulw status page shows 500"
        return not words[1:] or words[1] in place_words.STATES
    return words[0] in place_words.STATES


def _is_object(place: Place) -> bool:
    """What precedes makes it a thing: "fix ulw", "the docs of ulw", "why ulw stopped", "modes such as ulw"."""
    words = place.before
    if not place_words.NAMING.isdisjoint(words) or not place_words.LISTING.isdisjoint(place.sentence_before):
        return True
    if any(wordlists.NAMES.get(word) == "ulw" for word in place.left.lower().split()):  # "change ulw to ultrawork"
        return True
    if not words:
        return False
    last, previous = words[-1], " ".join(words[-2:-1])
    if previous in ("i'd", "would") or place.behind in (["way"], ["treatment"]):  # "I'd like ulw", "do it the ulw way"
        return False
    is_turned_to = previous in place_words.TURNS_TO or previous in place_words.INSTRUMENTS
    if last in place_words.DETERMINERS:
        if last != "the" and " ".join(place.behind) in place_words.CALLS_IT_ONE:
            return False
        return not is_turned_to or place.behind[:1] not in ([], ["mode"])
    if last in place_words.TOPICS:
        return not is_turned_to and (last != "for" or words[0] != "this")  # "this one is for ulw"
    if last == "in" and previous in place_words.FAULTS:  # "fix the bug in ulw"
        return not place_words.DETERMINERS.isdisjoint(words[-3:-2]) and place.behind[:1] != ["mode"]
    content = [word for word in words if word not in wordlists.SMALL and word not in wordlists.COURTESY]
    return last in place_words.HANDLES and (content[:1] in ([last], []) or last.endswith("s"))


def _is_stopped_otherwise(place: Place) -> bool:
    """Not now, or not by this: "stop ulw when the tests pass", "how do I turn ulw off?" """
    last, previous = "".join(place.before[-1:]), "".join(place.before[-2:-1])
    said = [f"{previous} {last}", " ".join([last, *place.behind[:1]])]
    if last != "off":  # "kick off ulw"
        said.append(last)
    return any(wordlists.PHRASES.get(phrase) in ("stop", "off") for phrase in said)


def _leads(place: Place) -> bool:
    is_bare_question = place.asks and all(word in wordlists.SMALL for word in place.sentence_behind)  # "ulw?"
    return place.leads and not is_bare_question


def _is_question(place: Place) -> bool:
    sentence = f" {' '.join(place.sentence_before)} "
    if any(f" {phrase} " in sentence for phrase in place_words.REQUESTS):
        return False
    content = [word for word in place.before if word not in wordlists.COURTESY]
    is_asked_of_oneself = any(f" {phrase} " in sentence for phrase in wordlists.SELF_QUESTIONS)
    return place.asks or is_asked_of_oneself or (bool(content) and content[0] in place_words.QUESTIONS)


PLACE_RULES: tuple[tuple[str, str, Callable[[Place], bool]], ...] = (
    ("cancel", "cancel", _stops_it),
    ("about", "none", _is_stopped_otherwise),
    ("argument", "none", _is_argument),
    ("negated", "none", _is_negated),
    ("later", "none", _is_later),
    ("about", "none", _is_subject),
    ("about", "none", _is_object),
    ("leading", "activate", _leads),
    ("question", "none", _is_question),
)
