"""What a prompt asks of ultrawork: start it, stop it, pause it, go on, or nothing.

The keyword is `ulw` or `ultrawork` as a word of its own in what the person wrote; prose.py blanks the rest, and
places.py says whether it is used where it stands. Most prompts have none, so that page is loaded for one that has.
"""

from __future__ import annotations

from omo import table
from omo.hooks.prose import is_machine_text, joins, rule_at, split
from omo.hooks.stop_words import Reading, clauses_of, stop_or_go

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.hooks.stop_words import Span

KEYWORDS = ("ultrawork", "ulw")
COMMANDS = {
    "ulw": ("activate", "slash-command"),
    "ultrawork": ("activate", "slash-command"),
    "stop-continuation": ("cancel", "cancel-command"),
}
WORKFLOWS = [name for name, row in table.BY_TYPED.items() if row.has_own_ledger]  # each has a command /omo:NAME
# Those whose names are no words of ordinary talk; the others are skills that the model finds.
IN_WORDS = [phrase for row in table.offered() for phrase in row.in_words]
# A word that the person wrote and omo does not act on: they are told why.
HEARD = {
    "argument": "The word is an argument of a program.",
    "negated": "The clause says not to use it.",
    "later": "The clause plans it for another time.",
    "about": "The clause speaks about it as a thing.",
    "question": "The sentence asks about it.",
}
BEHIND_COMMAND = ",;:!"  # "/omo:stop-continuation, and say why"
LONGEST_HEAD = 400  # of a prompt, in which its command stands
LONGEST_BESIDE_CANCEL = 2_000
MOST_EXAMINED = 64  # from each end; nobody hides the request between a hundred mentions
NAME_BEFORE = "-_/\\@#$&=~%+{<"
NAME_BEHIND = "_=/\\@([{<"
# "ULW Inc. is our customer": tests/ultrawork/heard.txt has several such mentions.
COMPANIES = ("Inc", "Ltd", "LLC", "GmbH", "Corp", "AG")


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
            return Reading("none", f"mode-{mode}", reading.span)
    if reading.action == "none":
        heard = stop_or_go(prompt)
        if heard:
            return heard
    return reading


def _command(prompt: str) -> Reading | None:
    head = prompt[:LONGEST_HEAD].lstrip("\ufeff \t\r\n")
    if not head.startswith("/"):
        return None
    first = head.split(maxsplit=1)[0].rstrip(BEHIND_COMMAND)
    name = first[1:].lower().removeprefix("omo:")
    start = prompt.index(first)
    span = (start, start + len(first))
    if name in COMMANDS:
        action, rule = COMMANDS[name]
        if action == "cancel" and prompt[span[1] :].strip():
            action = "cancel-and-continue"
        return Reading(action, rule, span)
    if name in WORKFLOWS and first.lower().startswith("/omo:"):
        return Reading("workflow", "workflow-command", span, (name,))
    if not name[:1].isalpha() or "/" in name or "." in name:
        return None  # a path or a comment: "/login.py is broken, ulw fix it" in tests/ultrawork/prompts.txt
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
    from omo.hooks import places

    text, blanked = split(prompt)
    reading = Reading("none", "")
    for span in spans:
        action = "none"
        rule = rule_at(blanked, span[0]) or _name_rule(text, span)
        if not rule:
            rule, action = places.rule_of(places.Place(text, span))
        if action == "activate":
            return Reading(action, rule, span)
        if action == "cancel":
            reading = Reading(_cancel_action(text, span, bool(blanked)), rule, span)
        elif reading.action == "none" and (rule in HEARD or reading.rule not in HEARD):
            # What the person wrote tells more than what stands in a paste: "fix ulw, which prints" and a block of
            # code, in tests/ultrawork/prompts.txt.
            reading = Reading("none", rule, span)
    return reading


def _keyword_spans(text: str, keywords: tuple[str, ...]) -> list[Span]:
    """Where the letters stand, in any case and inside any word: the first and the last that do."""
    low = text.lower()
    # lower() makes two of some letters, and every place behind them would be off: tests/ultrawork/test_keyword.py,
    # test_the_occurrence_that_decides_is_named.
    if len(low) != len(text):
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
    # "do it in ulw-mode", "im Ultrawork-Modus bitte": in tests/ultrawork/prompts.txt and heard.txt.
    mode, beyond = text[span[1] : span[1] + 5].lower(), text[span[1] + 5 : span[1] + 7]
    is_mode = mode in ("-mode", "-modu") and not (beyond[:1] == "." and joins(beyond[1:] or " "))
    is_name = _makes_a_name(before[::-1], NAME_BEFORE) or (_makes_a_name(behind, NAME_BEHIND) and not is_mode)
    company, _, _ = text[span[1] + 1 : span[1] + 8].partition(" ")
    return "part-of-name" if is_name or company.rstrip(".,:") in COMPANIES else ""


def _makes_a_name(beside: str, marks: str) -> bool:
    """By the letter or sign next to it; these with a letter beyond: ulw-plan, ulw.py; but "ulw: fix" is prose."""
    is_joined = beside[:1] in ("-", ".", ":") and joins(beside[1:2] or " ")
    return bool(beside) and (joins(beside[0]) or beside[0] in marks or is_joined)


def _cancel_action(text: str, span: Span, has_paste: bool) -> str:
    """A cancel alone needs no model; whatever else the prompt says, or shows, is for the model to read."""
    if has_paste:  # "stop ulw" and a log behind it, in tests/ultrawork/prompts.txt: the log is for the model
        return "cancel-and-continue"
    first = max(0, span[0] - LONGEST_BESIDE_CANCEL)
    for clause in clauses_of(text[first : span[1] + LONGEST_BESIDE_CANCEL]):
        is_cancel = clause.start <= span[0] - first < clause.end
        says_more = clause.has_more if is_cancel else clause.kind in ("work", "other", "go")
        if clause.words and says_more:
            return "cancel-and-continue"
    return "cancel"
