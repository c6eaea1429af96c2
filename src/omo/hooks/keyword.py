"""What a prompt asks of ultrawork: start it, stop it, pause it, go on, or nothing.

The keyword is `ulw` or `ultrawork` as a word of its own in what the person wrote; prose.py blanks the rest. Each
occurrence is taken through PLACE_RULES, first match wins. In doubt it is a use: only a negation, a question about it,
or talk about it as a thing is not.
"""

from __future__ import annotations

from omo.hooks import wordlists
from omo.hooks.prose import is_machine_text, is_unspaced, joins, split
from omo.hooks.stop_words import clause_at, clauses_of, stop_or_go, words_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Span = tuple[int, int]
    Trail = list[tuple[Span, str]]

KEYWORDS = ("ultrawork", "ulw")
COMMANDS = {
    "ulw": ("activate", "slash-command"),
    "ultrawork": ("activate", "slash-command"),
    "stop-continuation": ("cancel", "cancel-command"),
}
BEGIN_WITH_IT = "begin the prompt with ulw, or type /omo:ulw"
LEAVE_IT_OUT = "leave the word out, or put it in quotation marks"
OUTSIDE = "write ulw outside of it"
# For `omo explain prompt`: why, and what would make the answer another one.
RULES = {
    "slash-command": ("The prompt is /omo:ulw, /omo:ultrawork, /ulw or /ultrawork.", "leave the command out"),
    "cancel-command": ("The prompt is /omo:stop-continuation.", "leave the command out"),
    "other-slash-command": ("The prompt is a slash command of someone else, theirs to read.", "begin with /omo:ulw"),
    "no-keyword": ("Neither ulw nor ultrawork is in the prompt.", BEGIN_WITH_IT),
    "mode-off": ("The keyword setting is off, so only the slash command starts it.", "type /omo:ulw"),
    "mode-explicit": (
        "The keyword setting is explicit, so it has to be the first word of the prompt.",
        "make ulw the first word, type /omo:ulw, or set keyword to on",
    ),
    "live-stop": (
        "The first or the last thing the prompt says is a stop, of the work and of nothing else.",
        "say what thing of the project is to be stopped",
    ),
    "live-wait": ("The prompt opens with a wait, and asks for no other work.", "say what is to be done instead"),
    "go-on": ("The prompt says to continue, first or last.", "leave the continue out"),
    "machine-text": ("The word stands in text a program wrote into the prompt.", OUTSIDE),
    "in-code": ("The word stands in code.", OUTSIDE),
    "in-diff": ("The word stands in a pasted diff.", OUTSIDE),
    "in-log": ("The word stands in a pasted log, stack trace, shell line or data.", OUTSIDE),
    "in-block-quote": ("The word stands in a block quote.", OUTSIDE),
    "in-quote": ("The word stands in quotation marks.", OUTSIDE),
    "in-html": ("The word stands in an HTML comment, tag or block.", OUTSIDE),
    "in-table": ("The word stands in a table.", OUTSIDE),
    "in-link": ("The word stands in a link or web address.", OUTSIDE),
    "in-heading": ("The word stands in a heading, which titles a document.", OUTSIDE),
    "part-of-word": ("The letters are part of a longer word.", "write ulw as a word of its own"),
    "part-of-name": (
        "The word is part of a name: a path, file, flag, variable or tag.",
        "write ulw with blanks around",
    ),
    "cancel": ("The clause says to stop it.", "leave the stop out"),
    "cancel-later": ("The sentence speaks of stopping it, and not of now.", "say stop ulw, and nothing else"),
    "negated": ("The clause says not to use it.", BEGIN_WITH_IT),
    "about": ("The clause speaks about it as a thing.", BEGIN_WITH_IT),
    "leading": ("The sentence begins with the word.", LEAVE_IT_OUT),
    "question": ("The sentence asks about it.", BEGIN_WITH_IT),
    "use": ("Nothing says that it is no use of it.", LEAVE_IT_OUT),
}
# Heard in what the person wrote, and not acted on: they are told.
HEARD = ("cancel-later", "negated", "about", "question")
LONGEST_CLAUSE = 400
LONGEST_BESIDE_CANCEL = 2_000
MOST_EXAMINED = 64  # from each end; nobody hides the request between a hundred mentions
SENTENCE_ENDS = "!?。！？；;…"
CLAUSE_ENDS = ",:，、：()（）[]{}|—–"
NAME_BEFORE = "-_/\\@#$&=~%+{<"
NAME_BEHIND = "_=/\\@([{<"
JOINS_A_NAME = "-.:&~%+#"  # with a letter beyond: ulw-plan, ulw.py; but "ulw: fix" and "ulw." are prose


class Reading:
    """What a prompt asks for. `names` are the workflows that a stop or a continue names; "omo" is all of them."""

    __slots__ = ("action", "names", "rule", "span", "trail")

    def __init__(
        self, action: str, rule: str, span: Span = (0, 0), trail: Trail | None = None, names: tuple[str, ...] = ()
    ) -> None:
        self.action, self.rule, self.span, self.trail, self.names = action, rule, span, trail or [], names


def read_prompt(prompt: str, *, mode: str = "on") -> Reading:
    """mode: "on", "explicit" (first word only) or "off" (slash command only)."""
    command = _command(prompt)
    if command:
        return command
    if is_machine_text(prompt):
        return Reading("none", "machine-text")
    reading = _read_keyword(prompt)
    if reading.action == "activate" and mode != "on":
        is_first = not any(char.isalnum() for char in prompt[: reading.span[0]])
        if mode == "off" or not is_first:
            trail = [*reading.trail[:-1], (reading.span, f"mode-{mode}")]
            return Reading("none", f"mode-{mode}", reading.span, trail)
    if reading.action == "none":
        heard = stop_or_go(prompt)
        if heard:
            action, rule, span, names = heard
            return Reading(action, rule, span, [*reading.trail, (span, rule)], names)
    return reading


def _command(prompt: str) -> Reading | None:
    head = prompt[:LONGEST_CLAUSE].lstrip("\ufeff \t\r\n")
    if not head.startswith("/"):
        return None
    first = head.split(maxsplit=1)[0]
    name = first[1:].lower().removeprefix("omo:")
    start = prompt.index(first)
    span = (start, start + len(first))
    if name in COMMANDS:
        action, rule = COMMANDS[name]
        return Reading(action, rule, span, [(span, rule)])
    if not name[:1].isalpha() or "/" in name or "." in name:
        return None  # a path or a comment
    return Reading("none", "other-slash-command", span)


def _read_keyword(prompt: str) -> Reading:
    spans = _keyword_spans(prompt)
    if not spans:
        return Reading("none", "no-keyword")
    if len(spans) > 2 * MOST_EXAMINED:
        spans = spans[:MOST_EXAMINED] + spans[-MOST_EXAMINED:]
    text, blanked = split(prompt)
    reading = Reading("none", "")
    trail: Trail = []
    passed = 0  # of what is blanked, how much lies before the occurrence
    for span in spans:
        rule, action = _token_rule(text, span), "none"
        while passed < len(blanked) and blanked[passed][1] <= span[0]:
            passed += 1
        if passed < len(blanked) and blanked[passed][0] <= span[0]:
            rule = blanked[passed][2]
        if not rule:
            place = Place(text, span)
            rule, action = next((name, action) for name, action, holds in PLACE_RULES if holds(place))
        trail.append((span, rule))
        if action == "activate":
            return Reading(action, rule, span, trail)
        if action == "cancel":
            reading = Reading(_cancel_action(text, span, bool(blanked)), rule, span)
        elif reading.action == "none" and (rule in HEARD or reading.rule not in HEARD):
            reading = Reading("none", rule, span)  # what the person wrote tells more than what stands in a paste
    reading.trail = trail
    return reading


def _keyword_spans(text: str) -> list[Span]:
    """Where the letters stand, in any case and inside any word."""
    low = text.lower()
    if len(low) != len(text):  # lower() makes two of some letters, and every place behind them would be off
        low = "".join(char.lower() if char.isascii() else char for char in text)
    spans = []
    for word in KEYWORDS:
        start = low.find(word)
        while start >= 0:
            spans.append((start, start + len(word)))
            start = low.find(word, start + len(word))
    return sorted(spans)


def _token_rule(text: str, span: Span) -> str:
    before, behind = text[max(0, span[0] - 1) : span[0]], text[span[1] : span[1] + 1]
    further_before, beyond = text[max(0, span[0] - 2) : span[0]][:-1], text[span[1] + 1 : span[1] + 2]
    for neighbour in (before, behind):
        if neighbour and neighbour != "_" and joins(neighbour):
            return "part-of-word"
        if neighbour == "`":
            return "in-code"
    is_name = bool(before) and before in NAME_BEFORE
    if before in (".", ":") and further_before:
        is_name = is_name or joins(further_before)
    if behind:
        is_name = is_name or behind in NAME_BEHIND or (behind in JOINS_A_NAME and bool(beyond) and joins(beyond))
    return "part-of-name" if is_name else ""


class Place:
    """One occurrence, and the words around it: of its clause `before` and `behind`, of its sentence `said` and `rest`.

    `letters_before` and `letters_behind` are for scripts written without spaces.
    """

    __slots__ = ("asks", "before", "behind", "clause", "is_unspaced", "leads", "left", "letters_before",
                 "letters_behind", "rest", "right", "said")  # fmt: skip

    def __init__(self, text: str, span: Span) -> None:
        first, last = max(0, span[0] - LONGEST_CLAUSE), min(len(text), span[1] + LONGEST_CLAUSE)
        sentence_start = clause_start = span[0]
        while sentence_start > first and not _ends_sentence(text, sentence_start - 1):
            sentence_start -= 1
        while clause_start > sentence_start and not _ends_clause(text, clause_start - 1):
            clause_start -= 1
        sentence_end = clause_end = span[1]
        while sentence_end < last and not _ends_sentence(text, sentence_end):
            sentence_end += 1
        while clause_end < sentence_end and not _ends_clause(text, clause_end):
            clause_end += 1
        self.left, self.right = text[clause_start : span[0]], text[span[1] : clause_end]
        self.before, self.behind = words_in(self.left), words_in(self.right)
        self.said, self.rest = words_in(text[sentence_start : span[0]]), words_in(text[span[1] : sentence_end])
        self.asks = clause_end == sentence_end and text[sentence_end : sentence_end + 1] in ("?", "？")
        self.leads = all(word in wordlists.COURTESY for word in self.said)
        self.clause = clause_at(text[first:last], span[0] - first)
        self.is_unspaced = any(is_unspaced(char) for char in self.left + self.right)
        self.letters_before, self.letters_behind = "".join(self.left.split()), "".join(self.right.split())
        for mode in ("모드", "モード", "模式"):
            self.letters_behind = self.letters_behind.removeprefix(mode)


def _ends_sentence(text: str, place: int) -> bool:
    char, behind = text[place], text[place + 1 : place + 2]
    if char == ".":
        return behind in ("", ".") or behind.isspace()
    if char == "\n":
        line = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
        is_wrapped = len(line) >= 60 and (line[-1].isalpha() or line[-1] == ",") and behind.islower()
        return not is_wrapped
    return char in SENTENCE_ENDS


def _ends_clause(text: str, place: int) -> bool:
    return text[place] in CLAUSE_ENDS or (text[place] == "-" and text[place - 1 : place].isspace())


def _cancel_action(text: str, span: Span, has_paste: bool) -> str:
    """A cancel alone needs no model; whatever else the prompt says, or shows, is for the model to read."""
    first = max(0, span[0] - LONGEST_BESIDE_CANCEL)
    for clause in clauses_of(text[first : span[1] + LONGEST_BESIDE_CANCEL]):
        is_cancel = clause.start <= span[0] - first < clause.end
        says_more = clause.has_more if is_cancel else clause.kind in ("work", "other", "go")
        if has_paste or (clause.words and says_more):
            return "cancel-and-continue"
    return "cancel"


def _stops_it(place: Place) -> bool:
    is_pause = any(word.startswith("paus") for word in place.clause.words)
    is_later = place.clause.is_later or (place.said[:1] and place.said[0] in wordlists.LATER)
    return place.clause.kind == "stop" and "ulw" in place.clause.names and not is_pause and not is_later


def _speaks_of_stopping(place: Place) -> bool:
    """ "stop ulw when the tests pass", "how do I turn ulw off?", "stop ulw hooks from firing" """
    kinds = []
    if place.is_unspaced:
        for size in (1, 2, 3):
            kinds.append(wordlists.UNSPACED.get(place.letters_before[-size:]))
            kinds.append(wordlists.UNSPACED.get(place.letters_behind[:size]))
        return "stop" in kinds or "off" in kinds
    words = place.before
    while words and words[-1] in wordlists.SMALL and words[-1] != "to":
        words = words[:-1]
    for start in range(len(words)):
        is_noun = start > 0 and words[start - 1] in wordlists.DETERMINERS
        if not is_noun and words[start:] != ["off"]:  # "kick off ulw"
            kinds.append(wordlists.PHRASES.get(" ".join(words[start:])))
    is_switched_off = wordlists.PHRASES.get(" ".join([*place.before[-1:], *place.behind[:1]])) == "off"
    return is_switched_off or "stop" in kinds or "off" in kinds


def _is_negated(place: Place) -> bool:
    if place.is_unspaced:
        is_behind = place.letters_behind.startswith(wordlists.NEGATED_BEHIND)
        return is_behind or place.letters_before.endswith(wordlists.NEGATED_BEFORE)
    before = place.before
    for word in reversed(before):
        if word in wordlists.NEGATIONS:
            return True
        if word not in wordlists.NEGATED_WITH_IT:
            break
    if place.behind[:1] and place.behind[0] in ("not", "nicht", "pas", "niet", "не"):
        return len(place.behind) <= 2  # "ulw not needed"
    is_refusal = before[:1] in (["don't"], ["never"]) or before[:2] == ["do", "not"]  # "don't fix it with ulw"
    return is_refusal and before[-1] in wordlists.INSTRUMENTS and wordlists.AND.isdisjoint(before)


def _is_subject(place: Place) -> bool:
    """What follows makes it a thing: "ulw is stuck", "the ulw hook", "ulw = ultrawork"."""
    if place.is_unspaced:
        return place.letters_behind.startswith(wordlists.ABOUT_BEHIND)
    if place.right.startswith("'s") or place.right.lstrip().startswith(("=", "≠", "≈", "→", "->")):
        return True
    words = [word for word in place.behind if word != "mode" and not word.endswith("ly")]
    if not words or " ".join(words[:2]) in wordlists.REQUESTS:  # "ulw can you fix it"
        return False
    kinds = wordlists.ITS_OWN if place.leads else wordlists.KINDS
    return words[0] in wordlists.STATES or words[0] in kinds


def _is_object(place: Place) -> bool:
    """What precedes makes it a thing: "fix ulw", "the docs of ulw", "why ulw stopped", "modes such as ulw"."""
    if place.is_unspaced:
        return place.letters_before.endswith(wordlists.ABOUT_BEFORE)
    words = place.before
    names_it = wordlists.NAMING.union(KEYWORDS)  # "rename ralph to ulw", "change ulw to ultrawork"
    if not names_it.isdisjoint(words) or not wordlists.LISTING.isdisjoint(place.said):
        return True
    for start in range(len(words) - 1, 0, -1):
        if words[start - 1] in wordlists.AND:
            words = words[start:]
            break
    if not words:
        return False
    last, previous = words[-1], " ".join(words[-2:-1])
    is_turned_to = previous in wordlists.TURNS_TO or previous in wordlists.INSTRUMENTS
    if last in wordlists.DETERMINERS:
        return not is_turned_to or place.behind[:1] not in ([], ["mode"])
    if last in wordlists.TOPICS:
        return not is_turned_to
    if previous in wordlists.PROBLEMS and last in wordlists.INSTRUMENTS:
        return len(words) < 3 or words[-3] in wordlists.DETERMINERS  # but "the login bug with ulw"
    if last == "using" and previous in ("when", "while", "if"):
        return True
    content = [word for word in words if word not in wordlists.SMALL and word not in wordlists.COURTESY]
    return last in wordlists.HANDLES and (content[:1] == [last] or last.endswith("s"))


def _leads(place: Place) -> bool:
    is_bare_question = place.asks and all(word in wordlists.SMALL for word in place.rest)  # "ulw?"
    return place.leads and not place.is_unspaced and not is_bare_question


def _is_question(place: Place) -> bool:
    if place.is_unspaced:
        is_used = place.letters_behind.startswith(wordlists.USED_BEHIND)
        is_used = is_used or place.letters_before.endswith(wordlists.USED_BEFORE)
        asks = place.asks or any(mark in place.left + place.right for mark in wordlists.ASKED_BESIDE)
        return asks and not is_used
    sentence = f" {' '.join(place.said)} "
    if any(f" {phrase} " in sentence for phrase in wordlists.REQUESTS):
        return False
    content = [word for word in place.before if word not in wordlists.COURTESY]
    is_asked_of_oneself = any(f" {phrase} " in sentence for phrase in wordlists.SELF_QUESTIONS)
    return place.asks or is_asked_of_oneself or (bool(content) and content[0] in wordlists.QUESTIONS)


def _always(place: Place) -> bool:
    return True


PLACE_RULES: tuple[tuple[str, str, Callable[[Place], bool]], ...] = (
    ("cancel", "cancel", _stops_it),
    ("cancel-later", "none", _speaks_of_stopping),
    ("negated", "none", _is_negated),
    ("about", "none", _is_subject),
    ("about", "none", _is_object),
    ("leading", "activate", _leads),
    ("question", "none", _is_question),
    ("use", "activate", _always),
)
