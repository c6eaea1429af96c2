"""What a prompt asks of ultrawork: start it, stop it, pause it, go on, or nothing.

Three steps: blank what is not the person's prose (prose.py), find the word, and for each place it stands at
take the clause around it through CLAUSE_RULES (clause.py), first match wins. In doubt the answer is "none": a mode
that starts by itself is worse than one that has to be asked for twice.
"""

from __future__ import annotations

from omo.ultrawork.keyword.clause import CLAUSE_NAMES, WINDOW, Place, decide
from omo.ultrawork.keyword.live import has_more, stop_or_go
from omo.ultrawork.keyword.prose import is_machine_text, joins, pattern, split
from omo.ultrawork.keyword.scan import keyword_spans
from omo.ultrawork.keyword.words import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    Trail = list[tuple[tuple[int, int], str]]

RULES = {
    "slash-command": "The prompt is /omo:ulw, /omo:ultrawork, /ulw or /ultrawork.",
    "cancel-command": "The prompt is /omo:stop-continuation or /stop-continuation.",
    "other-slash-command": "The prompt is a slash command of someone else, which is theirs to read.",
    "no-keyword": "Neither ulw nor ultrawork is in the prompt.",
    "mode-off": "The keyword setting is off, so only the slash command starts it.",
    "mode-explicit": "The keyword setting is explicit, so it has to be the first word of the prompt.",
    "live-stop": "The first or the last thing the prompt says is a stop, of the work and of nothing else.",
    "live-wait": "The prompt opens with a wait, and asks for no other work.",
    "go-on": "The prompt says to continue, first or last.",
    "machine-text": "The word stands in text a program wrote into the prompt.",
    "in-code": "The word stands in code.",
    "in-diff": "The word stands in a pasted diff.",
    "in-log": "The word stands in a pasted log, stack trace, shell line or data.",
    "in-block-quote": "The word stands in a block quote.",
    "in-quote": "The word stands in quotation marks.",
    "in-html": "The word stands in an HTML comment, tag or block.",
    "in-table": "The word stands in a table.",
    "in-link": "The word stands in a link or web address.",
    "in-heading": "The word stands in a heading, which titles a document and asks for nothing.",
    "part-of-word": "The letters are part of a longer word.",
    "compound-token": "The word is part of a name: a path, file, flag, variable, mention, tag or hyphenated token.",
    "negated": "The clause says not to use it.",
    "cancel-later": "The clause says to stop it under a condition or at a later time, not now.",
    "cancel": "The clause says to stop it.",
    "hypothetical": "The sentence says what happens when someone types or uses it.",
    "about": "The clause speaks about it as a thing.",
    "asked": "The word follows a request: please, can you, let's, I want.",
    "use-verb": "A verb of using or starting has it as object, and opens the clause.",
    "instrument": "A request is to be done with it.",
    "leading": "The clause begins with the word.",
    "trailing": "A request, or a report of what is wrong, ends with the word.",
    "question": "The clause asks about it.",
    "mention": "The word is mentioned in a statement, and in doubt nothing starts.",
}
# For `omo explain prompt`: what would make the answer another one, under the same names.
CHANGE = {
    "slash-command": "leave the slash command out",
    "cancel-command": "leave the slash command out",
    "other-slash-command": "begin with /omo:ulw, or write a prompt without a command",
    "no-keyword": "begin the prompt with ulw, or type /omo:ulw",
    "mode-off": "type /omo:ulw, or set keyword to on or explicit",
    "mode-explicit": "make ulw the first word, type /omo:ulw, or set keyword to on",
    "live-stop": "say what thing of the project is to be stopped",
    "live-wait": "say what is to be done instead",
    "go-on": "leave the continue out",
    "machine-text": "write the word yourself, outside that text",
    "in-code": "write ulw outside the code",
    "in-diff": "write ulw outside the diff",
    "in-log": "write ulw outside the paste",
    "in-block-quote": "write ulw outside the quote",
    "in-quote": "write ulw without the quotation marks",
    "in-html": "write ulw outside the markup",
    "in-table": "write ulw outside the table",
    "in-link": "write ulw outside the link",
    "in-heading": "write ulw in a line that is no heading",
    "part-of-word": "write ulw as a word of its own",
    "compound-token": "write ulw with blanks around it",
    "negated": "begin the prompt with ulw, without the not",
    "cancel-later": "say stop ulw, without the condition; or /omo:stop-continuation",
    "cancel": "leave the stop out",
    "hypothetical": "begin the prompt with ulw",
    "about": "begin the prompt with ulw",
    "asked": "leave the word out, or put it in quotation marks",
    "use-verb": "leave the word out, or put it in quotation marks",
    "instrument": "leave the word out, or put it in quotation marks",
    "leading": "leave the word out, or put it in quotation marks",
    "trailing": "leave the word out, or put it in quotation marks",
    "question": "begin the prompt with ulw",
    "mention": "begin the prompt with ulw",
}

EXAMINED = 128  # from each end; nobody hides the request between two hundred mentions


class Reading:
    """`names` are the workflows that a stop or a continue names; "omo" is all of them."""

    __slots__ = ("action", "names", "rule", "span", "trail")

    def __init__(
        self,
        action: str,
        rule: str,
        span: tuple[int, int] = (0, 0),
        trail: Trail | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        self.action, self.rule, self.span, self.trail, self.names = action, rule, span, trail or [], names


def read_prompt(prompt: str, *, mode: str = "on") -> Reading:
    """What the person asks for. mode: "on", "explicit" (first word only) or "off" (slash command only)."""
    command = _slash_command(prompt)
    if command:
        return command
    if is_machine_text(prompt):
        return Reading("none", "machine-text")
    low = prompt.lower()
    named = "ulw" in low or "ultrawork" in low
    reading = _read_occurrences(prompt) if named else Reading("none", "no-keyword")
    if reading.action == "activate":
        return _within_mode(prompt, reading, mode)
    return _live(prompt, reading) if reading.action == "none" else reading


def _live(prompt: str, reading: Reading) -> Reading:
    """A "stop" or "continue" said to the agent at work, which needs no keyword."""
    found = stop_or_go(prompt)
    if found is None:
        return reading
    action, rule, span, names = found
    return Reading(action, rule, span, [*reading.trail, (span, rule)], names)


COMMANDS = {
    "ulw": ("activate", "slash-command"),
    "ultrawork": ("activate", "slash-command"),
    "stop-continuation": ("cancel", "cancel-command"),
}


def _slash_command(prompt: str) -> Reading | None:
    head = prompt[:WINDOW].lstrip("\ufeff \t\r\n")
    if not head.startswith("/"):
        return None
    first = head.split(maxsplit=1)[0]
    name = first[1:].lower()
    name = name[4:] if name.startswith("omo:") else name
    start = prompt.index("/")
    span = (start, start + len(first))
    if name in COMMANDS:
        action, rule = COMMANDS[name]
        return Reading(action, rule, span, [(span, rule)])
    if not name[:1].isalpha() or "/" in name or "." in name:
        return None  # a path or a comment, not a command
    return Reading("none", "other-slash-command", span)


def _within_mode(prompt: str, reading: Reading, mode: str) -> Reading:
    if mode == "on":
        return reading
    before = prompt[: reading.span[0]]
    if mode == "explicit" and not any(char.isalnum() for char in before):
        return reading
    rule = "mode-explicit" if mode == "explicit" else "mode-off"
    return Reading("none", rule, reading.span, [*reading.trail[:-1], (reading.span, rule)])


def _read_occurrences(prompt: str) -> Reading:
    text, blanked = split(prompt)
    text = _unwrapped(text)
    spans = keyword_spans(prompt)
    if len(spans) > 2 * EXAMINED:
        spans = spans[:EXAMINED] + spans[-EXAMINED:]
    trail: Trail = []
    cancel: tuple[tuple[int, int], Place] | None = None
    at = 0
    for span in spans:
        while at < len(blanked) and blanked[at][1] <= span[0]:
            at += 1
        rule = _token_rule(text, span) if text[span[0]] == prompt[span[0]] else _blanked_rule(blanked, at, span)
        action = "none"
        if not rule:
            place = Place(text, span)
            rule, action = decide(place)
            cancel = (span, place) if action == "cancel" else cancel
        trail.append((span, rule))
        if action == "activate":
            return Reading("activate", rule, span, trail)
    if cancel:
        more = has_more(prompt, cancel[1])
        return Reading("cancel-and-continue" if more else "cancel", "cancel", cancel[0], trail)
    span, rule = _most_telling(trail)
    return Reading("none", rule, span, trail)


def _blanked_rule(blanked: Sequence[tuple[int, int, str]], at: int, span: tuple[int, int]) -> str:
    return next((rule for start, end, rule in blanked[at : at + 8] if start <= span[0] < end), "in-quote")


def _most_telling(trail: Trail) -> tuple[tuple[int, int], str]:
    """A word the person wrote as prose explains more than one inside a paste or a name."""
    dull = ("part-of-word", "compound-token")
    prose = [seen for seen in trail if seen[1] in CLAUSE_NAMES]
    named = [seen for seen in trail if seen[1] not in dull]
    return (prose or named or trail or [((0, 0), "no-keyword")])[-1]


GLUE = "-.:&~%+#"  # with a letter beyond: ulw-plan, ulw.py, ulw:verify; but "ulw: fix" and "ulw." are prose
GLUE_AFTER = "_=/\\@([{<"
GLUE_BEFORE = "-_/\\.@#$&=~%+{<"


def _token_rule(text: str, span: tuple[int, int]) -> str:
    """Python's \\b counts Hangul and Han as word letters, so the neighbours are looked at by hand."""
    start, end = span
    before, after = text[start - 1 : start], text[end : end + 1]
    if any(char and char != "_" and joins(char) for char in (before, after)):
        return "part-of-word"
    if "`" in (before, after):
        return "in-code"
    return "compound-token" if _glued_before(text, start) or _glued_after(after, text[end + 1 : end + 2]) else ""


def _glued_after(after: str, beyond: str) -> bool:
    return bool(after) and (after in GLUE_AFTER or (after in GLUE and bool(beyond) and joins(beyond)))


def _glued_before(text: str, start: int) -> bool:
    before, ahead = text[start - 1 : start], text[max(0, start - 2) : max(0, start - 1)]
    if before == ".":
        return ahead not in (".", "")  # "...ulw" pauses, "x.ulw" names
    if before == ":":
        return bool(ahead) and joins(ahead)
    return bool(before) and before in GLUE_BEFORE


def _unwrapped(text: str) -> str:
    """Join lines an editor wrapped, so that a sentence is read whole; a line that opens with the keyword and does
    not continue a function word starts anew."""
    if "\n" not in text:
        return text
    soft = pattern(r"(?<=[^\n]{60}[a-z,]) ?\n(?=([a-z]+))")

    def join(m: re.Match[str]) -> str:
        last = text[max(0, m.start() - 20) : m.start()].rsplit(None, 1)[-1]
        fresh = m[1] in ("ulw", "ultrawork") and last not in words_of("link") | words_of("use") | words_of("bridge")
        return m[0] if fresh else " " * len(m[0])

    return soft.sub(join, text)
