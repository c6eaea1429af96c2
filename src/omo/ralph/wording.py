"""Words that nobody can check: which they are, and how to say instead what would be seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from omo.evidence.checks import Check, CommandCheck, JudgeCheck, MetricCheck
from omo.shown import clip

# What is only quoted is no opinion: a button may be labelled "Looks good".
QUOTED = re.compile(r'`[^`\n]{1,400}`|"[^"\n]{1,400}"|“[^”\n]{1,400}”|(?<![\w\'])\'[^\'\n]{1,400}\'(?!\w)')
_MEASURE = re.compile(
    r"\d\s*(?:%|[mµn]?s\b|sec|min|hours?\b|[kmg]i?b\b|bytes|px\b|lines?\b|requests?\b|points?\b)"
    r"|(?:<=?|>=?|≤|≥|\b(?:at most|at least|less than|more than|fewer than|under|over|below|above|within|exactly))"
    r"\s*\d",
    re.I,
)

# Taste: no number makes it a fact.
TASTE: tuple[tuple[str, str], ...] = (
    (r"looks?(?: and feels?)? (?:good|great|nice|right|fine|ok(?:ay)?|professional|modern|polished|clean)|"
     r"(?:beautiful|pretty|elegant|attractive|stylish)(?:ly)?\b|good[- ]looking",
     "say what can be seen, such as: at 390 px width no text is cut off"),
    (r"(?:clean|good|nice|high[- ]quality|beautiful|elegant|idiomatic|readable|maintainable|well[- ]structured) code\b|"
     r"code (?:is|looks) (?:clean|good|nice|readable|maintainable|elegant)|code quality (?:is|improves|must be)",
     "name the command that tells, such as: ruff check src exits 0, or no function is longer than 40 lines"),
    (r"user[- ]friendly|easy to use|intuitive|(?:good|great|nice|pleasant|better) (?:user experience|ux|ui)\b",
     "say what a user does and what then happens, such as: an empty form shows a message beside each field"),
    (r"best practices?|industry standards?|production[- ](?:ready|grade|quality)|state of the art|professional quality",
     "name the practice and the command or file that shows it"),
    (r"(?:is|are|be|works?) (?:good|great|nice|perfect|excellent|satisfactory|acceptable)\b|makes? sense\b|feels? \w+",
     "say what is true then and was not before, such as: omo status prints the session's id"),
    (r"(?:the )?(?:user|customer|client|team|stakeholders?) (?:is|are|will be) (?:happy|satisfied|pleased)",
     "say what they asked for, and the check that shows it"),
)  # fmt: skip
# Claims over everything, which no check can exhaust.
ENDLESS: tuple[tuple[str, str], ...] = (
    (r"(?:completely|fully|100 ?%|totally|perfectly) (?:secure|safe|tested|correct|reliable)",
     "name the attacks or cases that are tried, and the command that tries them"),
    (r"\b(?:and so on|and more|as (?:appropriate|needed|necessary))\b|\betc\b",
     "list what is meant; what is not named cannot be checked"),
)  # fmt: skip
# Absolute, and a fact as far as a command looks for it.
ABSOLUTE: tuple[tuple[str, str], ...] = (
    (r"(?:no|zero|without(?: any)?) (?:more |known )?(?:bugs|defects)\b|"
     r"(?:there (?:is|are)|has|have|with) (?:no|zero) (?:more )?(?:errors|issues|problems)\s*(?:$|[.,;!]|left|at all)|"
     r"(?:bug|error|defect)[- ]free|never (?:fails|crashes|breaks)",
     "name the cases that must hold and the test that shows each"),
)  # fmt: skip
# Vague, and still decided where a command is run for it.
VAGUE: tuple[tuple[str, str], ...] = (
    (r"(?:works?|behaves?|functions?|performs?|runs?) (?:as (?:expected|intended|desired|it should)|"
     r"(?:correctly|properly|well|fine|smoothly|perfectly|flawlessly)\s*(?:$|[.,;!]))|everything works",
     "say what is expected: the input, the command, and the output or exit code"),
)  # fmt: skip
# Degrees: a measure makes them facts.
DEGREES: tuple[tuple[str, str], ...] = (
    (r"(?:fast|quick|responsive|performant|snappy|efficient|scalable|lightweight|small|simple|short|robust|stable|"
     r"reliable|secure|thorough|comprehensive|sufficient|adequate|reasonable)(?:ly)? enough|"
     r"(?:is|are|be|loads?|runs?|responds?|starts?|feels?) (?:very |really |more |much |reasonably )?"
     r"(?:fast(?:er)?|quick(?:ly|er)?|slow|responsive|performant|efficient(?:ly)?|scalable|lightweight|robust|"
     r"reliable|stable|simple|easy|maintainable|readable|flexible|extensible|well[- ]tested|well[- ]documented)\b|"
     r"(?:good|better|improved|acceptable|reasonable|high) (?:performance|coverage|quality|speed|latency|readability)",
     "give the number and how it is measured, such as: the p95 of 100 requests is under 200 ms (a metric check)"),
)  # fmt: skip

# Conclusions: decided where code checks something; as a question they only ask the judge for an opinion.
CONCLUSIONS: tuple[tuple[str, str], ...] = (
    (r"(?:is|are|be) (?:\w+ ){0,2}?"
     r"(?:nice|clear|correct|complete|clean|fine|comprehensive|consistent|well[- ]written|done)"
     r"\s*(?:$|[.,;:!?]|and\b|or\b|enough\b)|"
     r"(?:is|are) (?:the |this |it |its |all )(?:[\w.-]+ ){0,5}?"
     r"(?:nice|clear|correct|complete|clean|fine|comprehensive|consistent|well[- ]written|done)\s*(?:$|[.,;:!?]|and\b)",
     "say what somebody would find there, such as: the section Use says which command to run first"),
    (r"(?:it|the app|app|the feature|feature|everything|all) (?:now )?works?\s*(?:$|[.,;:!?])|"
     r"does (?:it|the app|the feature|everything) work\s*(?:$|[.,;:!?])",
     "say what is done and what then happens: the input, the command, and the output or exit code"),
    (r"all (?:the |possible )?edge[- ]cases|(?:done|handled|implemented) (?:properly|correctly)",
     "list the cases, each with what has to happen"),
)  # fmt: skip

_ALWAYS, _VAGUE, _DEGREES, _CONCLUSIONS = (
    [(re.compile(rf"\b(?:{pattern})", re.I), how) for pattern, how in table]
    for table in ((*TASTE, *ENDLESS), (*ABSOLUTE, *VAGUE), DEGREES, CONCLUSIONS)
)


def defects(description: str, checks: Sequence[Check], where: str) -> list[str]:
    """What of a criterion is a matter of opinion: its description, and the questions it puts to the judge."""
    places = {f"{where}.checks[{at}].question": one for at, one in enumerate(checks) if isinstance(one, JudgeCheck)}
    is_asked = all(isinstance(one, JudgeCheck) for one in checks)
    questions = [_defect(one.question, place, is_asked=is_asked) for place, one in places.items()]
    described = _defect(description, f"{where}.description", checks, is_asked=is_asked)
    return [line for line in (described, *questions) if line]


def _defect(text: str, where: str, checks: Sequence[Check] = (), *, is_asked: bool) -> str:
    is_measured = any(isinstance(check, MetricCheck) for check in checks)
    is_run = is_measured or any(isinstance(check, CommandCheck) for check in checks)
    found = subjective(text, is_measured=is_measured, is_run=is_run, is_asked=is_asked)
    return f"{where}: {clip(found[0], 60)!r} cannot be checked; {found[1]}" if found else ""


def subjective(
    text: str, *, is_measured: bool = False, is_run: bool = False, is_asked: bool = False
) -> tuple[str, str] | None:
    """The words that are a matter of opinion and what to write instead.

    Degrees are facts once something measures; what is vague or absolute is decided once a command is run for it; and
    what only a judge is asked may not be a conclusion.
    """
    plain = QUOTED.sub(" … ", text)
    has_measure = is_measured or bool(_MEASURE.search(plain))
    tables = [
        *_ALWAYS,
        *([] if is_run else _VAGUE),
        *([] if has_measure else _DEGREES),
        *(_CONCLUSIONS if is_asked else []),
    ]
    for pattern, how in tables:
        if found := pattern.search(plain):
            return found[0].strip(" .,;!"), how
    return None
