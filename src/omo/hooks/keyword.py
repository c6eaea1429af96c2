"""What a prompt asks of ultrawork: start it, stop it, pause it, go on, or nothing.

The keyword is `ulw` or `ultrawork` as a word of its own in what the person wrote; prose.py blanks the rest. Each
occurrence is taken through PLACE_RULES, first match wins. In doubt it is a use: only a negation or exception, a
question about it, talk about it as a thing, a plan for later or an argument of a program is not.
"""

from __future__ import annotations

from omo import table
from omo.hooks import wordlists
from omo.hooks.prose import is_machine_text, is_unspaced, joins, rule_at, split
from omo.hooks.stop_words import Clause, clauses_of, is_break, stop_or_go, words_in

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
WORKFLOWS = [name for name, row in table.BY_TYPED.items() if row.commands]  # each has a command /omo:NAME
# Those whose names are no words of ordinary talk: "Ralph" may be somebody, and verify is a skill that the model finds.
IN_WORDS = ("ultragoal", "ultraplan", "ultraexecute", "use ralph", "run ralph", "start ralph", "with ralph")
BEGIN_WITH_IT = "type ulw and a task, or /omo:ulw"
LEAVE_IT_OUT = "leave the word out, or put it in quotation marks"
OUTSIDE = "write ulw outside of it"
# For `omo explain prompt`: why, and what would make the answer another one.
RULES = {
    "slash-command": ("The prompt is /omo:ulw, /omo:ultrawork, /ulw or /ultrawork.", "leave the command out"),
    "cancel-command": ("The prompt is /omo:stop-continuation.", "leave the command out"),
    "workflow-command": ("The prompt is the command of a workflow.", "leave the command out"),
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
    "live-wait": (
        "The prompt puts the work off, ends it or takes it over, and asks for no other.",
        "say what is to be done instead",
    ),
    "go-on": ("The prompt says to continue, first or last.", "leave the continue out"),
    "machine-text": ("The word stands in text a program wrote into the prompt.", OUTSIDE),
    "in-code": ("The word stands in code, a diff, a log or other output.", OUTSIDE),
    "in-quote": ("The word stands in a quotation.", OUTSIDE),
    "in-markup": ("The word stands in a heading, a table or a link.", OUTSIDE),
    "part-of-name": (
        "The letters are part of a longer word, a path, a flag or another name.",
        "write ulw with blanks around",
    ),
    "cancel": ("The clause says to stop it.", "leave the stop out"),
    "argument": ("The word is an argument of a program.", BEGIN_WITH_IT),
    "negated": ("The clause says not to use it.", BEGIN_WITH_IT),
    "later": ("The clause plans it for another time.", BEGIN_WITH_IT),
    "about": ("The clause speaks about it as a thing.", BEGIN_WITH_IT),
    "leading": ("The sentence begins with the word.", LEAVE_IT_OUT),
    "question": ("The sentence asks about it.", BEGIN_WITH_IT),
    "use": ("You wrote the word, and nothing around it makes it a mention.", LEAVE_IT_OUT),
}
# In what the person wrote, and not acted on: they are told.
HEARD = ("argument", "negated", "later", "about", "question")
LONGEST_CLAUSE = 400
LONGEST_BESIDE_CANCEL = 2_000
MOST_EXAMINED = 64  # from each end; nobody hides the request between a hundred mentions
SENTENCE_ENDS = "!?。！？；;…"
CLAUSE_ENDS = ",:，、：()（）[]{}|—–"
NAME_BEFORE = "-_/\\@#$&=~%+{<"
NAME_BEHIND = "_=/\\@([{<"
COMPANIES = ("Inc", "Ltd", "LLC", "GmbH", "Corp", "AG")


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
        if action == "cancel" and prompt[span[1] :].strip():
            action = "cancel-and-continue"
        return Reading(action, rule, span, [(span, rule)])
    if name in WORKFLOWS and first.lower().startswith("/omo:"):
        return Reading("workflow", "workflow-command", span, [(span, "workflow-command")], (name,))
    if not name[:1].isalpha() or "/" in name or "." in name:
        return None  # a path or a comment
    return Reading("none", "other-slash-command", span)


def workflow_in_words(prompt: str) -> str:
    """The workflow that a prompt asks for by its name alone, read as the keyword is; empty where there is none."""
    text = prompt.lower()
    for phrase in IN_WORDS:
        name = phrase.split()[-1]
        if phrase in text and _read_keyword(prompt, (name,)).action == "activate":
            return name
    return ""


def _read_keyword(prompt: str, keywords: tuple[str, ...] = KEYWORDS) -> Reading:
    spans = _keyword_spans(prompt, keywords)
    if not spans:
        return Reading("none", "no-keyword")
    text, blanked = split(prompt)
    reading = Reading("none", "")
    trail: Trail = []
    for span in spans:
        action = "none"
        rule = rule_at(blanked, span[0]) or _name_rule(text, span)
        if not rule:
            rule, action = _place_rule(Place(text, span))
        trail.append((span, rule))
        if action == "activate":
            return Reading(action, rule, span, trail)
        if action == "cancel":
            reading = Reading(_cancel_action(text, span, bool(blanked)), rule, span)
        elif reading.action == "none" and (rule in HEARD or reading.rule not in HEARD):
            reading = Reading("none", rule, span)  # what the person wrote tells more than what stands in a paste
    reading.trail = trail
    return reading


def _keyword_spans(text: str, keywords: tuple[str, ...]) -> list[Span]:
    """Where the letters stand, in any case and inside any word: the first and the last that do."""
    low = text.lower()
    if len(low) != len(text):  # lower() makes two of some letters, and every place behind them would be off
        low = "".join(char.lower() if char.isascii() else char for char in text)
    spans = set()
    for word in keywords:
        first, last = low.find(word), low.rfind(word)
        for _ in range(MOST_EXAMINED):
            if first < 0 or first > last:
                break
            spans |= {(first, first + len(word)), (last, last + len(word))}
            first, last = low.find(word, first + len(word)), low.rfind(word, 0, last)
    return sorted(spans)


def _name_rule(text: str, span: Span) -> str:
    """Whether the letters belong to a longer word or a name, or stand beside a backquote that is never closed."""
    before, behind = text[max(0, span[0] - 2) : span[0]], text[span[1] : span[1] + 2]
    if before[-1:] == "`" or behind[:1] == "`":
        return "in-code"
    is_mode = text[span[1] : span[1] + 5].lower() in ("-mode", "-modu")  # "in ulw-mode", "im Ultrawork-Modus"
    is_name = _makes_a_name(before[::-1], NAME_BEFORE) or (_makes_a_name(behind, NAME_BEHIND) and not is_mode)
    company, _, _ = text[span[1] + 1 : span[1] + 8].partition(" ")
    return "part-of-name" if is_name or company.rstrip(".,:") in COMPANIES else ""


def _makes_a_name(beside: str, marks: str) -> bool:
    """By the letter or sign next to it; these with a letter beyond: ulw-plan, ulw.py; but "ulw: fix" is prose."""
    is_joined = beside[:1] in ("-", ".", ":") and joins(beside[1:2] or " ")
    return bool(beside) and (joins(beside[0]) or beside[0] in marks or is_joined)


class Place:
    """One occurrence, and the words of its clause, `before` and `behind` it, and of its sentence, `said` and `rest`.

    `opening` is how the sentence is typed up to it.
    """

    __slots__ = ("asks", "before", "behind", "clause", "leads", "left", "opening", "rest", "right", "said")

    def __init__(self, text: str, span: Span) -> None:
        first = max(0, span[0] - LONGEST_CLAUSE)
        text = text[first : span[1] + LONGEST_CLAUSE]
        start, end = span[0] - first, span[1] - first
        sentence_start, sentence_end = _bounds(text, start, end, _ends_sentence)
        clause_start, clause_end = _bounds(text, start, end, _ends_clause)
        self.left, self.right = text[clause_start:start], text[end:clause_end]
        self.before, self.behind = words_in(self.left), words_in(self.right)
        self.opening = text[sentence_start:start]
        self.said, self.rest = words_in(self.opening), words_in(text[end:sentence_end])
        self.asks = clause_end == sentence_end and text[sentence_end : sentence_end + 1] in ("?", "？")
        self.leads = all(word in wordlists.COURTESY for word in self.said)
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
        line = text[text.rfind("\n", 0, place) + 1 : place].rstrip()
        is_wrapped = len(line) >= 60 and (line[-1].isalpha() or line[-1] == ",") and behind.islower()
        return not is_wrapped
    return char in SENTENCE_ENDS


def _ends_clause(text: str, place: int) -> bool:
    is_dash = text[place] == "-" and text[place - 1 : place].isspace()
    return is_dash or text[place] in CLAUSE_ENDS or _ends_sentence(text, place)


def _cancel_action(text: str, span: Span, has_paste: bool) -> str:
    """A cancel alone needs no model; whatever else the prompt says, or shows, is for the model to read."""
    first = max(0, span[0] - LONGEST_BESIDE_CANCEL)
    for clause in clauses_of(text[first : span[1] + LONGEST_BESIDE_CANCEL]):
        is_cancel = clause.start <= span[0] - first < clause.end
        says_more = clause.has_more if is_cancel else clause.kind in ("work", "other", "go")
        if has_paste or (clause.words and says_more):
            return "cancel-and-continue"
    return "cancel"


def _place_rule(place: Place) -> tuple[str, str]:
    """The rule that holds here, and what it does."""
    if any(is_unspaced(char) for char in place.left + place.right) and not _stops_it(place):
        return _rule_of_letters(place)
    for rule, action, holds in PLACE_RULES:
        if holds(place):
            return rule, action
    return "use", "activate"


def _rule_of_letters(place: Place) -> tuple[str, str]:
    """For scripts written without spaces: by the letters right before it, right behind it, or beside it."""
    before, behind = "".join(place.left.split()), "".join(place.right.split())
    for rule, action, ends, begins in wordlists.LETTER_RULES:
        if before.endswith(ends) or behind.startswith(begins):
            return rule, action
    if place.asks or any(mark in before + behind for mark in wordlists.ASKED_BESIDE):
        return "question", "none"
    return "use", "activate"


def _stops_it(place: Place) -> bool:
    is_pause = any(word.startswith("paus") for word in place.clause.words)
    is_later = place.clause.is_later or (place.said[:1] and place.said[0] in wordlists.LATER)
    return place.clause.kind == "stop" and not is_pause and not is_later


def _is_argument(place: Place) -> bool:
    """ "echo ulw", "npm run ulw", "git push origin ulw"; but "echo server is down, ulw" is prose."""
    words = [word for word in place.opening.split() if not word.startswith("-")]
    if "," in place.opening:
        return False
    if len(words) == 3 and words[2] in ("origin", "upstream"):
        return words[0] == "git"
    if len(words) == 2:
        return words[0] in wordlists.PROGRAMS_WITH_COMMANDS
    return len(words) == 1 and words[0] in wordlists.PROGRAMS


def _is_later(place: Place) -> bool:
    """ "tomorrow we'll ulw it", "let's ulw this later"; not "we ship tomorrow so ulw", "use ulw to end by friday" """
    opens = [word for word in place.before if word not in ("on", "am", "maybe")]
    ends = [word for word in place.behind if word != "please"]
    for size in (1, 2):
        if " ".join(opens[:size]) in wordlists.TIMES:
            return True
        if not place.leads and " ".join(ends[-size:]) in wordlists.TIMES:
            return ends[-size - 1 : -size] == [] or ends[-size - 1] not in wordlists.DUE
    return False


def _is_negated(place: Place) -> bool:
    before = place.before
    if " ".join(before[-2:]) in wordlists.EXCEPTIONS:
        return True
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
    if place.right.startswith("'s") or place.right.lstrip().startswith(("=", "≠", "≈", "→", "->")):
        return True
    words = [word for word in place.behind if word != "mode" and not word.endswith("ly")]
    if not words or " ".join(words[:2]) in wordlists.REQUESTS:  # "ulw can you fix it"
        return False
    kinds = wordlists.ITS_OWN if place.leads else wordlists.KINDS
    return words[0] in wordlists.STATES or words[0] in kinds


def _is_object(place: Place) -> bool:
    """What precedes makes it a thing: "fix ulw", "the docs of ulw", "why ulw stopped", "modes such as ulw"."""
    words = place.before
    if not wordlists.NAMING.isdisjoint(words) or not wordlists.LISTING.isdisjoint(place.said):
        return True
    if any(keyword in place.left.lower().split() for keyword in KEYWORDS):  # "change ulw to ultrawork"
        return True
    if not words:
        return False
    last, previous = words[-1], " ".join(words[-2:-1])
    if previous in ("i'd", "would") or place.behind in (["way"], ["treatment"]):  # "I'd like ulw", "do it the ulw way"
        return False
    is_turned_to = previous in wordlists.TURNS_TO or previous in wordlists.INSTRUMENTS
    if last in wordlists.DETERMINERS:
        if last != "the" and " ".join(place.behind) in wordlists.CALLS_IT_ONE:
            return False
        return not is_turned_to or place.behind[:1] not in ([], ["mode"])
    if last in wordlists.TOPICS:
        return not is_turned_to and (last != "for" or words[0] != "this")  # "this one is for ulw"
    if last == "in" and previous in wordlists.FAULTS:  # "fix the bug in ulw"
        return words[-3:-2] != [] and words[-3] in wordlists.DETERMINERS and place.behind[:1] != ["mode"]
    content = [word for word in words if word not in wordlists.SMALL and word not in wordlists.COURTESY]
    return last in wordlists.HANDLES and (content[:1] in ([last], []) or last.endswith("s"))


def _is_stopped_otherwise(place: Place) -> bool:
    """Not now, or not by this: "stop ulw when the tests pass", "how do I turn ulw off?" """
    last, previous = "".join(place.before[-1:]), "".join(place.before[-2:-1])
    said = [f"{previous} {last}", " ".join([last, *place.behind[:1]])]
    if last != "off":  # "kick off ulw"
        said.append(last)
    return any(wordlists.PHRASES.get(phrase) in ("stop", "off") for phrase in said)


def _leads(place: Place) -> bool:
    is_bare_question = place.asks and all(word in wordlists.SMALL for word in place.rest)  # "ulw?"
    return place.leads and not is_bare_question


def _is_question(place: Place) -> bool:
    sentence = f" {' '.join(place.said)} "
    if any(f" {phrase} " in sentence for phrase in wordlists.REQUESTS):
        return False
    content = [word for word in place.before if word not in wordlists.COURTESY]
    is_asked_of_oneself = any(f" {phrase} " in sentence for phrase in wordlists.SELF_QUESTIONS)
    return place.asks or is_asked_of_oneself or (bool(content) and content[0] in wordlists.QUESTIONS)


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
