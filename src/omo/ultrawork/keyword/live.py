"""A live "stop" or "continue", which need no keyword; and whether a cancel says anything more.

While work is on, a stop that is missed costs more than one that was none: the user can say "continue".
"""

from __future__ import annotations

from omo.ultrawork.keyword import stop_words
from omo.ultrawork.keyword.clause import WINDOW, Place, past_tail, patterns
from omo.ultrawork.keyword.prose import joins, pattern, split
from omo.ultrawork.keyword.scan import live_clauses, words_in
from omo.ultrawork.keyword.words import words_of

LONGEST_PHRASE = 7
LONGEST_UNSPACED = 10
NOT_PROSE = "/#>-`|<$@"  # a prompt that begins so is a command, a quotation or a paste
MARKUP = '\n`"“„«「>'  # where one of these is, what was found may stand in code or in quotation marks
PLEASE = ("please", "pls", "plz", "bitte", "favor", "stp", "svp", "пожалуйста")
MARKS = ("not", "first person", "second person", "myself")  # they say nothing alone, and turn what follows
AND = ("and", "und", "et", "y", "e", "и", "then")


class Clause:
    """What one clause says: stop, wait, go, work, other, or filler; and the workflows it names."""

    __slots__ = ("asks", "end", "is_later", "kind", "names", "start", "words")

    def __init__(self, text: str, start: int, end: int) -> None:
        clause = text[start:end]
        self.start, self.end = start, end
        self.asks = text[end : end + 1] in ("?", "？")
        self.words = [_apostrophes().get(word, word) for word in words_in(clause)]
        self.is_later = bool(self.words) and self.words[0] in _words(stop_words.LATER)
        self.names: list[str] = []
        if any(not joins(letter) and letter.isalnum() for letter in clause):
            self.kind = self._unspaced(clause)
        else:
            self.kind = self._spaced()
        if self.kind == "take-over":
            self.kind = "other" if self._is_users_question() else "stop"

    def _spaced(self) -> str:
        if " ".join(self.words) in _phrases(stop_words.ALONE):
            return "stop"
        kind, self.names = says(self.words)
        if kind == "take-over":
            return kind
        is_question = self.asks and not _is_request(self.words)
        if _is_statement(self.words) or self._is_condition() or (kind == "stop" and is_question):
            return "other"
        if kind != "other":
            return kind
        if _continue_with(self.words) == "take-over":
            return "take-over"
        if _opens_with(self.words, stop_words.WAIT_UNTIL):
            return "wait"
        if self._begins_with_stop() or self._ends_with_stop():
            return "stop"
        return "work" if _asks_for_work(self.words) else "other"

    def _is_users_question(self) -> bool:
        """ "should I continue?", of a clause in which the user takes over."""
        return self.asks or self.words[0] in _words(stop_words.MAY_I)

    def _is_condition(self) -> bool:
        """ "once you are done" """
        if not self.is_later or self.words[0] == "then":
            return False
        return any(word in _words(stop_words.SUBJECTS) for word in self.words[1:2])

    def _begins_with_stop(self) -> bool:
        """ "stop working on the login page", "stop and explain", "stop because …" """
        if _opens_with(self.words, stop_words.OPEN_ENDED):
            return True
        for place in range(1, len(self.words)):
            is_and = self.words[place] in AND and self.words[place + 1 : place + 2]
            follows = is_and and self.words[place + 1] in _words(stop_words.AFTER_STOP)
            if follows or self.words[place] in _words(stop_words.BECAUSE):
                kind, self.names = says(self.words[:place])
                return kind in ("stop", "take-over")
        return False

    def _ends_with_stop(self) -> bool:
        """ "this is all wrong please stop", "commit what you have and stop" """
        for place in range(len(self.words) - 2, -1, -1):
            word, tail = self.words[place], self.words[place + 1 :]
            if word not in PLEASE and word not in AND:
                continue
            kind, names = says(tail)
            is_wrap_up = self.words[0] in _words(stop_words.BEFORE_STOP)
            if kind in ("stop", "take-over") and (word in PLEASE or is_wrap_up):
                self.names = names
                return not any(word in _words(stop_words.LATER) - {"then"} for word in self.words)
        return False

    def _unspaced(self, clause: str) -> str:
        letters = "".join(clause.lower().split())
        kinds, place = [], 0
        while place < len(letters):
            token, kind = _unspaced_token(letters, place)
            if not token:
                is_work = any(mark in letters for mark in _phrases(stop_words.UNSPACED_WORK))
                return "work" if is_work else "other"
            if kind in stop_words.NAMES:
                self.names.append(kind)
            kinds.append(kind)
            place += len(token)
        return _together(kinds)


def stop_or_go(prompt: str) -> tuple[str, str, tuple[int, int], tuple[str, ...]] | None:
    """Action, rule, span and named workflows of a live "stop" or "continue".

    A stop counts as the first or the last thing that is said, a wait if no work is asked for with it.
    """
    text = prompt[:WINDOW].replace("’", "'")
    start = len(text) - len(text.lstrip("\ufeff \t\r\n*_"))
    if text[start : start + 1] in NOT_PROSE:
        return None
    clauses: list[Clause] = []
    for begin, end in live_clauses(text):
        clause = Clause(text, begin, end)
        if clauses and clause.words and clause.words[0] in _words(stop_words.SUBORDINATE):
            clause = Clause(text, clauses.pop().start, end)
        clauses.append(clause)
    decision = _decisive(clauses, is_whole=len(prompt) < WINDOW)
    if decision is None:
        return None
    action, rule, clause = decision
    span = slice(clause.start, clause.end)
    if any(mark in prompt for mark in MARKUP) and split(text)[0][span] != text[span]:
        return None
    names = list(clause.names)
    for other in clauses:
        if other.kind == "filler":  # "ralph, stop"
            names += other.names
    return action, rule, (clause.start, clause.end), tuple(dict.fromkeys(names))


def _decisive(clauses: list[Clause], *, is_whole: bool) -> tuple[str, str, Clause] | None:
    content = [clause for clause in clauses if clause.words and clause.kind != "filler"]
    if not content:
        return None
    first, last = content[0], content[-1]
    is_go = last.kind == "go" and is_whole and (not last.asks or _is_request(last.words))
    if is_go:
        return "resume", "go-on", last
    if first.kind == "stop":
        return "pause", "live-stop", first
    later = last.is_later or any(clause.is_later for clause in content[:-1])
    if last.kind == "stop" and is_whole and not later:
        return "pause", "live-stop", last
    if first.kind == "wait" and not _is_way_of_speaking(content):
        return "pause", "live-wait", first
    if last.kind == "wait" and is_whole and len(content) > 1 and not later and _is_put_off(content):
        return "pause", "live-wait", last
    if _opens_with_go(first.words) or (first.kind == "go" and not first.asks):
        return "resume", "go-on", first
    return None


def _is_way_of_speaking(content: list[Clause]) -> bool:
    """ "wait, also add a test"; and "wait, why is the test red?", but not "wait, that's the wrong file" """
    is_interjection = any(word in _words(stop_words.INTERJECTIONS) for word in content[0].words)
    for clause in content[1:]:
        if clause.kind in ("work", "go"):
            return True
        is_objection = clause.words[0] in _words(stop_words.OBJECTS_TO)
        if any(word in _words(stop_words.OBJECTIONS) for word in clause.words):
            is_objection = True
        if clause.kind == "other" and is_interjection and not is_objection:
            return True
    return False


def _is_put_off(content: list[Clause]) -> bool:
    """ "no, not now", "I have to go, let's do this later": nothing else is asked for."""
    return all(clause.kind in ("other", "wait", "stop") for clause in content)


def _opens_with(words: list[str], table: str) -> int:
    """How many words there are up to the end of the phrase with which they open, small words left out; 0 for none."""
    for start, word in enumerate(words):
        for size in range(LONGEST_PHRASE, 0, -1):
            if " ".join(words[start : start + size]) in _phrases(table):
                return min(start + size, len(words))
        if word not in _small():
            break
    return 0


def _opens_with_go(words: list[str]) -> bool:
    """ "continue with the login page", "go on, but skip the docs" """
    return _continue_with(words) == "go"


def _continue_with(words: list[str]) -> str:
    """What the opening of a longer clause says: "go", or "take-over" in "I'll continue with the tests"; else empty."""
    end = _opens_with(words, stop_words.OPENERS)
    if 0 < end < len(words) and words[end] in _words(stop_words.GOES_ON_WITH):
        return says(words[:end])[0]
    return ""


def _is_request(words: list[str]) -> bool:
    return any(word in _words(stop_words.ASKS) for word in words)


def says(words: list[str]) -> tuple[str, list[str]]:
    """What words of a script with spaces say, all of them together; and the workflows they name."""
    table, small, names = _table(), _small(), _names()
    named = [names[word] for word in words if word in names]
    kinds, place = [], 0
    while place < len(words):
        size, kind = _longest(words, place, table)
        if size:
            kinds.append(kind)
        elif words[place] not in small and words[place] not in names:
            break
        place += size or 1
    if place == len(words):
        return _together(kinds), named
    torn = _torn(words)
    if torn:
        return torn, named
    # A "no" before it may be an exclamation.
    return says(words[1:]) if words[0] in _words(stop_words.EXCLAMATIONS) else ("other", [])


def _torn(words: list[str]) -> str:
    """What a phrase says that small words tear apart: "hör bitte auf", "ich mach hier weiter"; empty for none."""
    table, core, marks, place = _table(), [], [], 0
    while place < len(words):
        size, kind = _longest(words, place, table)
        if kind in (*MARKS, "filler"):
            marks.append(kind)
            place += size
            continue
        if words[place] not in _small() and words[place] not in _names():
            core.append(words[place])
        place += 1
    kind = table.get(" ".join(core), "")
    return _together([*marks, kind]) if kind else ""


def _together(kinds: list[str]) -> str:
    """What phrases say in this order. "not" turns the next one round; a "go" of the first person takes over."""
    meanings, subject, is_negated = set(), "", False
    for kind in kinds:
        if kind == "not":
            is_negated = True
        elif kind in ("first person", "second person"):
            subject = kind
        elif kind in ("go", "own work"):
            is_users = subject == "first person" or "myself" in kinds
            if is_negated:
                meanings.add("stop")
            elif is_users:
                meanings.add("take-over")
            else:
                meanings.add(kind)
            is_negated = False
        elif kind in ("stop", "wait"):
            meanings.add("other" if is_negated else kind)
            is_negated = False
    if is_negated:  # "continue pas"; but "arrête pas" goes on, and "that's not it" says nothing
        return "stop" if meanings == {"go"} else "other"
    is_work_first = "own work" in meanings and "wait" not in meanings  # "do this and stop"
    if "other" in meanings or is_work_first:
        return "other"
    return next((kind for kind in ("stop", "wait", "take-over", "go") if kind in meanings), "filler")


def _longest(words: list[str], place: int, table: dict[str, str]) -> tuple[int, str]:
    for size in range(min(LONGEST_PHRASE, len(words) - place), 0, -1):
        kind = table.get(" ".join(words[place : place + size]))
        if kind:
            return size, kind
    return 0, ""


def _is_statement(words: list[str]) -> bool:
    """ "that should stop it", but not "that will do" """
    for place in range(len(words) - 1):
        is_subject = words[place] in _words(stop_words.THINGS) and words[place + 1] in _words(stop_words.ASKS)
        if is_subject and not _longest(words, place, _table())[0]:
            return True
        if words[place] not in _small():
            return False
    return False


def _asks_for_work(words: list[str]) -> bool:
    if any(word in _words(stop_words.ALSO) for word in words):
        return True
    if words[0] in _words(stop_words.SPEAKER) and words[1:3] not in (["want", "you"], ["need", "you"]):
        return False
    for word in words:
        if word in words_of("task") or word in words_of("use"):
            return True
        if word not in _small():
            return False
    return False


def _unspaced_token(letters: str, place: int) -> tuple[str, str]:
    table = _unspaced_table()
    for size in range(min(LONGEST_UNSPACED, len(letters) - place), 0, -1):
        token = letters[place : place + size]
        if token in table:
            return token, table[token]
    return "", ""


_tables: dict[str, dict[str, str]] = {}
_sets: dict[str, frozenset[str]] = {}


def _table() -> dict[str, str]:
    """Every phrase of a script with spaces, and what it says."""
    if "spaced" not in _tables:
        table = dict.fromkeys(_phrases(stop_words.SAYS_NOTHING), "filler")
        marks = (stop_words.NOT, stop_words.FIRST_PERSON, stop_words.SECOND_PERSON, stop_words.MYSELF)
        for kind, phrases in zip(MARKS, marks, strict=True):
            table.update(dict.fromkeys(_phrases(phrases), kind))
        by_language = {
            "own work": stop_words.OWN_WORK,
            "go": stop_words.GO_ON,
            "wait": stop_words.WAIT,
            "stop": stop_words.STOP,
        }
        for kind, languages in by_language.items():
            for phrases in languages.values():
                table.update(dict.fromkeys(_phrases(phrases), kind))
        _tables["spaced"] = table
    return _tables["spaced"]


def _unspaced_table() -> dict[str, str]:
    if "unspaced" not in _tables:
        table = dict(_names())
        for kind, phrases in stop_words.UNSPACED.items():
            table.update(dict.fromkeys(_phrases(phrases), kind))
        _tables["unspaced"] = table
    return _tables["unspaced"]


def _names() -> dict[str, str]:
    if "names" not in _tables:
        _tables["names"] = {word: kind for kind, words in stop_words.NAMES.items() for word in words.split()}
    return _tables["names"]


def _apostrophes() -> dict[str, str]:
    if "apostrophes" not in _tables:
        _tables["apostrophes"] = {word.replace("'", ""): word for word in stop_words.APOSTROPHES.split()}
    return _tables["apostrophes"]


def _small() -> frozenset[str]:
    if "small" not in _sets:
        _sets["small"] = frozenset(word for words in stop_words.SMALL.values() for word in words.split())
    return _sets["small"]


def _words(text: str) -> frozenset[str]:
    if text not in _sets:
        _sets[text] = frozenset(text.split())
    return _sets[text]


def _phrases(text: str) -> frozenset[str]:
    if text not in _sets:
        _sets[text] = frozenset(phrase.strip() for phrase in text.replace("\n", "").split("|"))
    return _sets[text]


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


def _is_content(text: str) -> bool:
    clause = Clause(text.replace("’", "'"), 0, len(text))
    small = ("filler", "tail", "cancel", "cancel-after")
    said = any(not any(word in words_of(name) for name in small) for word in clause.words)
    return said and clause.kind not in ("stop", "wait")
