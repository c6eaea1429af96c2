"""Hearing "stop", "wait" and "continue" in what the user types to an agent at work. The phrases are in wordlists.py.

A prompt is cut into clauses. A clause says something when all of it is phrases and small words: "can you please stop
working on this" does, "stop the server" does not. A stop counts as the first or the last thing that is said, a wait
if nothing about the work is said with it. What is missed here the rule `quote-message` of stop.py catches.
"""

from __future__ import annotations

from omo.hooks import wordlists
from omo.hooks.prose import HOLE, is_unspaced, split, with_plain_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int]

LONGEST_READ = 400  # no one writes a longer clause; behind it a stop at the end is no answer to the agent any more
LONGEST_PHRASE = 7
LONGEST_UNSPACED = 12
BREAKS = ",!?;，。！？；、…\n—–"
# A prompt that begins so is a command, a quotation or a paste: "# stop" in tests/ultrawork/prompts.txt says nothing.
NOT_PROSE = "/#>-`|<$@"
MARKUP = '\n`"“„«「>'  # where one of these is, what was found may stand in code or in quotation marks


class Reading:
    """What a prompt asks for. `names` are the workflows that a stop or a continue names; "omo" is all of them."""

    def __init__(self, action: str, rule: str, span: Span = (0, 0), names: tuple[str, ...] = ()) -> None:
        self.action, self.rule, self.span, self.names = action, rule, span, names


class Clause:
    """`kind` is what it says: stop, wait, go, work, other, or filler. `names` are the workflows it speaks of."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.start, self.end = start, end
        self.words = _as_listed(words_in(text[start:end]))
        self.asks = text[end : end + 1] in ("?", "？")
        self.is_later = bool(self.words) and self.words[0] in wordlists.LATER
        self.has_more = False  # behind the stop: "stop and tell me …"
        if any(is_unspaced(letter) for letter in text[start:end]):
            self.kind, self.names = _meaning_unspaced(text[start:end])
        else:
            self.kind, self.names = self._read()
        if "ulw" in self.names and not self._is_now():
            self.kind = "other"
        if self.kind == "take-over":  # "I'll finish it myself"
            # "should i continue", with or without its mark: "nothing said" in tests/ultrawork/prompts.txt.
            is_question = self.asks or " ".join(self.words[:2]) in wordlists.SELF_QUESTIONS
            self.kind = "other" if is_question else "wait"

    def _is_now(self) -> bool:
        """Not "stop ulw once you are done", "stop ulw from looping", "should I stop ulw?", "don't do this with ulw"."""
        is_asked = " ".join(self.words[:2]) in wordlists.SELF_QUESTIONS
        return self.kind != "wait" and not is_asked and wordlists.NOT_NOW.isdisjoint(self.words)

    def _read(self) -> tuple[str, list[str]]:
        words = self.words
        for place, word in enumerate(words[:-1]):
            if word in wordlists.ORDINALS and words[place + 1] in wordlists.NAMES:
                return "other", []  # one of several: "cancel the second goal" in tests/ultrawork/prompts.txt
        if " ".join([word for word in words if word not in wordlists.COURTESY]) in wordlists.ALONE:
            return "stop", []
        if words[-1:] == ["myself"] and not wordlists.TAKES_OVER.isdisjoint(words):
            return "take-over", []
        kind, names = meaning(words)
        is_condition = self.is_later and len(words) > 1 and words[0] not in wordlists.AND  # "once you are done"
        is_question = self.asks and kind in ("stop", "wait") and wordlists.ASKS.isdisjoint(words)
        if is_condition or is_question:
            return "other", names
        if kind != "other":
            return kind, names
        kind, names = _said_beside_more(words)
        if kind:
            self.has_more = True
            return kind, names
        first = next((word for word in words if word not in wordlists.SMALL), "")
        return ("work" if first in wordlists.TASKS else "other"), []


def _said_beside_more(words: list[str]) -> tuple[str, list[str]]:
    """What the beginning or the end of a clause says where the rest of it is about something else; else nothing."""
    for place in range(1, len(words)):
        kind, names = _opening(words, place)
        if kind:
            return kind, names
    before_stop = wordlists.PLEASE  # "this is all wrong please stop"
    if words[:1] and words[0] in wordlists.BEFORE_AND:
        before_stop = wordlists.PLEASE | wordlists.AND  # "commit what you have and stop"
    for place in range(len(words) - 2, -1, -1):
        if words[place] in before_stop and wordlists.NOT_NOW.isdisjoint(words):
            kind, names = meaning(words[place + 1 :])
            if kind in ("stop", "take-over"):
                return kind, names
    return "", []


def _opening(words: list[str], place: int) -> tuple[str, list[str]]:
    """What is said before this place, if the word there may follow it; else nothing."""
    opening, word, rest = words[:place], words[place], words[place + 1 :]
    start = 0
    while start < place - 1 and opening[start] in wordlists.SMALL:
        start += 1
    core = " ".join(opening[start:])
    if word not in wordlists.MAY_FOLLOW and core not in wordlists.OPEN_ENDED:
        return "", []
    kind, names = meaning(opening)
    if kind in ("stop", "wait") and word in wordlists.UNTIL and rest and rest[0] in wordlists.USER_IS_BACK:
        return kind, names
    if kind in ("stop", "take-over"):
        is_remark = word in wordlists.BECAUSE  # "stop because …"
        if word in wordlists.AND and rest:
            is_remark = rest[0] in wordlists.AFTER_AND or "ulw" in names  # "stop and explain …"
        if "ulw" in names and word in wordlists.TASKS and opening[-1] not in ("the", "a", "an", "my", "this", "that"):
            is_remark = True  # "stop ulw fix the login"; but "ulw turn off the debug flag" in prompts.txt is work
        if is_remark or core in wordlists.OPEN_ENDED:  # "stop working on the login page"
            return kind, names
    if kind in ("go", "take-over") and core in wordlists.OPENERS and word in wordlists.GOES_ON_WITH:
        return kind, names  # "continue with the login page"
    return "", []


def meaning(words: list[str]) -> tuple[str, list[str]]:
    """What words say, all of them together, and the workflows they name; "other" if one of them is no phrase."""
    names = [wordlists.NAMES[word] for word in words if word in wordlists.NAMES]
    words = [word for word in words if word not in wordlists.NAMES]
    kinds: list[str] = []
    torn: list[str] = []  # the words of a phrase that small ones tear apart: "hör bitte auf"
    marks: list[str] = []
    is_known = True
    place = 0
    while place < len(words):
        size, kind = _longest(words, place)
        if size:
            kinds.append(kind)
        elif words[place] not in wordlists.SMALL:
            is_known = False
        if kind in wordlists.MARKS:
            marks.append(kind)
        else:
            torn += [word for word in words[place : place + (size or 1)] if word not in wordlists.SMALL]
        place += size or 1
    if is_known:
        return together(kinds, names), names
    if " ".join(torn) in wordlists.PHRASES:
        return together([*marks, wordlists.PHRASES[" ".join(torn)]], names), names
    return "other", []


def _longest(words: list[str], place: int) -> tuple[int, str]:
    for size in range(min(LONGEST_PHRASE, len(words) - place), 0, -1):
        phrase = words[place : place + size]
        without_object = [word for word in phrase if word not in wordlists.OBJECTS]  # "put it on hold"
        kind = wordlists.PHRASES.get(" ".join(phrase)) or wordlists.PHRASES.get(" ".join(without_object))
        if kind:
            return size, kind
    return 0, ""


def together(kinds: list[str], names: list[str]) -> str:
    """What phrases say in this order. "not" turns the next one round; a "go" of the first person takes over."""
    meanings, subject, is_negated = set(), "", False
    for kind in kinds:
        if kind == "not":
            is_negated = True
        elif kind in ("first person", "second person"):
            subject = kind
        elif kind in ("go", "own work"):
            if is_negated:
                meanings.add("stop")
            elif subject == "first person" or "myself" in kinds:
                meanings.add("take-over")
            else:
                meanings.add(kind)
            is_negated = False
        elif kind == "off" and not is_negated:
            meanings.add("other" if {"ulw", "omo"}.isdisjoint(names) else "stop")
        elif kind in ("stop", "wait", "off"):
            meanings.add("other" if is_negated else kind)
            is_negated = False
    if "statement" in kinds:  # "that should stop it"
        return "other"
    if is_negated:  # "continue pas"; but "arrête pas" goes on, and "that's not it" says nothing
        return "stop" if meanings == {"go"} else "other"
    # "do this and stop" is work, "let's do this later" a wait: tests/ultrawork/prompts.txt.
    is_work_first = "own work" in meanings and "wait" not in meanings
    if "other" in meanings or is_work_first:
        return "other"
    for kind in ("stop", "wait", "take-over", "go"):
        if kind in meanings:
            return kind
    return "filler"


def _meaning_unspaced(clause: str) -> tuple[str, list[str]]:
    """Scripts without spaces, and Korean, whose particles hang on the words, are read letter by letter."""
    from omo.hooks.unspaced_words import UNSPACED

    letters = "".join(clause.lower().split())
    kinds, names, place = [], [], 0
    while place < len(letters):
        for size in range(LONGEST_UNSPACED, 0, -1):
            kind = UNSPACED.get(letters[place : place + size])
            if kind:
                break
        else:
            return "other", []
        kinds.append(kind)
        if kind in wordlists.NAMES.values():
            names.append(kind)
        place += size
    return together(kinds, names), names


def clauses_of(text: str) -> list[Clause]:
    clauses: list[Clause] = []
    start = 0
    for place in range(len(text) + 1):
        if place < len(text) and not is_break(text, place):
            continue
        if place > start:
            clause = Clause(text, start, place)
            if clauses and text[start - 1] == "," and _is_subordinate(clause):
                clause = Clause(text, clauses.pop().start, place)
            clauses.append(clause)
        start = place + 1
    return clauses


def _is_subordinate(clause: Clause) -> bool:
    """Also a German infinitive: "hör auf, Tabs zu benutzen"; but not "hör auf, das ist zu teuer"."""
    words = clause.words
    is_infinitive = words[-2:-1] == ["zu"] and words[-1].endswith("en")
    return is_infinitive or (bool(words) and words[0] in wordlists.SUBORDINATE)


def is_break(text: str, place: int) -> bool:
    if text[place] == ".":  # "moment.js" has no break in it
        return not text[place + 1 : place + 2].isalnum()
    if text[place] == "-":
        return text[place - 1 : place].isspace() and text[place + 1 : place + 2].isspace()
    return text[place] in BREAKS


def words_in(text: str) -> list[str]:
    """Runs of letters and digits, with apostrophes; what was blanked counts as one word. In the form of the lists."""
    words: list[str] = []
    word = ""
    for char in wordlists.unaccented(text.lower()) + " ":
        if char == HOLE and word in ("", HOLE):
            word = HOLE
        elif char.isalnum() or (char == "'" and word):
            word += char
        elif word:
            words.append(word)
            word = ""
    return words


def _as_listed(words: list[str]) -> list[str]:
    """As the lists spell it: "dont" and "do not" are "don't", "stoooop" is "stop"; whatever is tried is left out."""
    listed = [wordlists.APOSTROPHES.get(word, word) for word in map(_not_drawn_out, words)]
    text = f" {' '.join(listed)} "
    for full, short in wordlists.CONTRACTIONS.items():
        text = text.replace(f" {full} ", f" {short} ")
    before, trying, behind = text.partition(" trying to ")
    if not trying:
        return before.split()
    return [*before.split(), "trying", *behind.split()[1:]]  # "stop trying to fix it"


def _not_drawn_out(word: str) -> str:
    for letter in set(word):
        if letter * 3 in word:
            while letter * 2 in word:
                word = word.replace(letter * 2, letter)
    return word


def stop_or_go(prompt: str) -> Reading | None:
    """A stop, a wait or a continue; None where it is none of them."""
    text = with_plain_ends(prompt[:LONGEST_READ])
    if text.lstrip()[:1] in NOT_PROSE:
        return None
    clauses = clauses_of(text)
    decision = _decide(clauses, is_whole=len(prompt) < LONGEST_READ)
    if decision is None:
        return None
    action, rule, clause = decision
    start, end = clause.start, clause.end
    if any(mark in prompt for mark in MARKUP) and split(text)[0][start:end] != text[start:end]:
        return None
    names = list(clause.names)
    for other in clauses:
        if other.kind == "filler":  # "ralph, stop"
            names += other.names
    others = tuple(name for name in dict.fromkeys(names) if name != "ulw")
    return Reading(action, rule, (start, end), names=others)


def _decide(clauses: list[Clause], *, is_whole: bool) -> tuple[str, str, Clause] | None:
    content = [clause for clause in clauses if clause.words and clause.kind != "filler"]
    if not content:
        return None
    first, last = content[0], content[-1]
    is_later = any(clause.is_later for clause in content)
    if last.kind == "go" and is_whole and not (last.asks and wordlists.ASKS.isdisjoint(last.words)):
        return "resume", "go-on", last
    if first.kind == "stop":
        return "pause", "live-stop", first
    if last.kind == "stop" and is_whole and not is_later:
        return "pause", "live-stop", last
    if first.kind == "wait" and not _is_way_of_speaking(content):
        return "pause", "live-wait", first
    # "I have to go, let's do this later"; but "fix the login page, that's all" in tests/ultrawork/prompts.txt.
    is_put_off = {"work", "go"}.isdisjoint(clause.kind for clause in content)
    if last.kind == "wait" and is_whole and not is_later and is_put_off:
        return "pause", "live-wait", last
    if first.kind == "go" and not first.asks:
        return "resume", "go-on", first
    return None


def _is_way_of_speaking(content: list[Clause]) -> bool:
    """ "wait, you forgot the index", "never mind, use the old one"; but not "wait, let me look at it first" """
    for clause in content[1:]:
        is_objection = f"{' '.join(clause.words)} ".startswith(wordlists.OBJECTIONS)
        if clause.kind in ("work", "go", "other") and not is_objection:
            return True
    return False
