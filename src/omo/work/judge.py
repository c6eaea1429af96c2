"""Questions to omo:judge, an agent that has not seen the work: its brief, and what a hook saw it answer.

A workflow keeps a row for each brief it hands out, with its nonce, the moment and the id of the tree it is about:

    nonce = new_nonce()
    text = brief(listing, [("C1", "clear")], nonce)     the whole prompt of omo:judge
    answers = answers_to(row, messages, tree=tree)      `unanswered` or `moved` where nothing of it counts

An item and a check name a question: the criterion of a round, the outcome of a goal. What is not exactly in the form
is unknown, never a pass.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.text import clip
from omo.work import agents
from omo.work.agents import FULL, REDUCED, Message, NoAnswer

Row = dict[str, Any]
Key = tuple[str, str]  # item and check

JUDGE = "omo:judge"
RESULTS = ("pass", "fail", "unknown")
MOST_ANSWERS = 1000
MOST_CHALLENGES = 20
MOST_NOTES = 20
LONGEST_EVIDENCE = 400
LONGEST_ACTION = 200
LONGEST_CHALLENGE = 300
MOVED = "the files are others than those the judge was asked about, so the answers do not count; ask anew"

# What is only quoted is the work's own words, not those of whoever writes.
QUOTED = re.compile(r'`[^`\n]{1,400}`|"[^"\n]{1,400}"|“[^”\n]{1,400}”|(?<![\w\'])\'[^\'\n]{1,400}\'(?!\w)')
# A pass is something that was seen.
HEDGES = re.compile(
    r"\b(?:probably|presumably|likely|perhaps|maybe|possibly|hopefully|apparently|seemingly|supposedly|might"
    r"|should (?:be|work|pass|hold|do)|seems?|looks like|appears? (?:to|as if)|could be|in theory"
    r"|I (?:think|believe|guess|assume|suppose|expect|hope)|assum(?:e|es|ed|ing)"
    r"|as far as I (?:know|can tell|can see)|not (?:sure|certain|tested|verified|checked)|unverified|untested"
    r"|(?:did not|didn't|could not|couldn't|cannot|can't) (?:run|verify|check|test|confirm|open|read))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Answer:
    """To one question."""

    result: str
    evidence: str
    suggested_action: str = ""


@dataclass(frozen=True)
class Answers:
    """To one brief. `unanswered` says why nobody gave an answer that can be read; empty where somebody did.

    `notes` say what of it does not count, and why. `digest` is that of a file that no hook saw the judge say.
    """

    nonce: str = ""
    answers: Mapping[Key, Answer] = field(default_factory=dict)
    challenges: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unanswered: str = ""
    digest: str = ""

    @property
    def independence(self) -> str:
        return REDUCED if self.digest else FULL

    @property
    def source(self) -> str:
        return "inline" if self.digest else "judge"

    def to(self, asked: Iterable[Key]) -> Answers:
        """An answer to each question that was asked, unknown where there is none, and to no other."""
        missing = Answer("unknown", "the judge did not answer it")
        matched = {key: self.answers.get(key, missing) for key in asked}
        notes = list(self.notes)
        for item, check in self.answers:
            if (item, check) not in matched:
                notes.append(f"the judge's answer to {clip(item, 20)}/{clip(check, 60)} is ignored: nobody asked that")
        return replace(self, answers=matched, notes=_bounded(notes))


# The brief


def new_nonce() -> str:
    return secrets.token_hex(16)


def brief(listing: str, asked: Sequence[Key], nonce: str) -> str:
    """`listing` has the items with their questions and how code checks the rest; nothing of how the work went."""
    answers = []
    for item, check in asked:
        answer = {"criterion": item, "check": check, "result": "pass | fail | unknown"}
        answers.append({**answer, "evidence": "what you saw", "suggested_action": "only with a fail"})
    challenge = {"criterion": asked[0][0], "text": "optional: how its check could hold for undone work"}
    form = {"nonce": nonce, "answers": answers, "challenges": [challenge]}
    return f"""You are the judge. Find out what is true of this project now. You know nothing about how the work was
done, and whoever did it is not in the room. Read and run what you need; change nothing.

Answer every question below, each by itself and from what you saw yourself. Checks marked "code" are evaluated by code:
do not answer those. Where such a check could hold although its criterion is not met, say so under "challenges".

{listing}

Result: "pass" only for what you saw hold; "fail" for what you saw not hold; "unknown" for anything else.
Evidence: what you ran or opened, and what came out, quoted in `backticks`. A pass with "probably" or "should work"
counts as unknown, and so does an answer without evidence. With a fail, "suggested_action" says what to try next.

End your message with exactly one JSON object in this form, the nonce as it is here, one answer for each question:
```json
{json.dumps(form, indent=1, ensure_ascii=False)}
```
"""


# The answers


def answers_to(asked: Row, reported: Sequence[Message]) -> Answers:
    """What a hook saw judges answer to one brief. Of several none is the better one: where they differ, nothing is
    known."""
    nonce = str(asked["nonce"])
    heard = agents.read_each(since(reported, asked), lambda text: read(text, nonce))
    if not heard.read:
        why = heard.unread[-1] if heard.unread else f"no {JUDGE} has answered the brief"
        return Answers(nonce, notes=heard.unread[:-1], unanswered=why)
    (_, whole), *others = heard.read
    for _, other in others:
        merged = {}
        for key in sorted({*whole.answers, *other.answers}):
            first, second = whole.answers.get(key), other.answers.get(key)
            if first is not None and second is not None and first.result == second.result:
                merged[key] = second
            else:
                results = " and ".join(answer.result if answer else "nothing" for answer in (first, second))
                merged[key] = Answer("unknown", f"judged more than once on one brief, and not the same: {results}")
        new = [challenge for challenge in other.challenges if challenge not in whole.challenges]
        whole = replace(whole, answers=merged, challenges=[*whole.challenges, *new])
    return replace(whole, notes=[*heard.unread, *whole.notes])


def answers_in_file(text: str, briefs: Sequence[Row], reported: Sequence[Message], *, ask: str) -> Answers:
    """What was handed in instead of the judge's own message, to the newest of these briefs; `ask` renews it.

    It stands in only where no judge answered any of them.
    """
    newest = briefs[-1]
    try:
        given = read(text)
    except NoAnswer as error:
        raise BadInput(f"--result: {error}", fix=f"{ask} shows the form; one JSON object, beginning a line") from None
    if given.nonce != newest["nonce"]:
        nonce = clip(given.nonce, 40)
        what = f"--result answers the nonce {nonce!r}, which is not that of the newest brief"
        raise Refused(what, fix=f"{ask}, and answer the nonce it shows", nonce=nonce)
    heard = since(reported, newest)
    own_word = f"leave --result out; or ask anew: {ask}"
    if agents.independence_of_text(text, heard, newest["nonce"], option="--result", fix=own_word) == FULL:
        answers = answers_to(newest, reported)
        return given if answers.unanswered else answers  # others may have answered too
    for earlier in briefs:
        if any(earlier["nonce"] in message.text for message in since(reported, earlier)):
            raise Refused(
                f"--result is for where no {JUDGE} can be started, and one answered an earlier brief",
                fix=f"start {JUDGE} with the text of the newest {ask}",
            )
    return replace(given, digest=sha256(text.encode("utf-8", "replace")))


def failures(asked: Row, reported: Sequence[Message]) -> dict[Key, Answer]:
    """What a judge found not to hold when it answered that brief, whatever another said of it."""
    failed = {}
    for message in reported:
        for key, answer in answers_to(asked, [message]).answers.items():
            if answer.result == "fail":
                failed[key] = answer
    return failed


def since(reported: Sequence[Message], asked: Row) -> list[Message]:
    return [message for message in reported if message.ts >= str(asked["ts"])]


def read(text: str, nonce: str | None = None) -> Answers:
    """The one object that carries this nonce; without a nonce, the one that carries any. Raises NoAnswer."""
    given = agents.answer(text, "nonce", nonce)
    listed = given.get("answers")
    if not isinstance(listed, list) or len(listed) > MOST_ANSWERS:
        raise NoAnswer(f"answers must be a list of at most {MOST_ANSWERS}")
    answers: dict[Key, Answer] = {}
    notes: list[str] = []
    for index, item in enumerate(listed):
        fields = item if isinstance(item, dict) else {}
        criterion, check = fields.get("criterion"), fields.get("check")
        if not isinstance(criterion, str) or not isinstance(check, str):
            notes.append(f"answers[{index}] names no criterion and check, so it counts for none")
        elif (criterion, check) in answers:
            answers[criterion, check] = Answer("unknown", "answered more than once, so none of the answers counts")
        else:
            answers[criterion, check] = _answer(fields)
    return Answers(given["nonce"], answers, _challenges(given.get("challenges")), _bounded(notes))


def _answer(fields: Row) -> Answer:
    result, evidence, action = fields.get("result"), fields.get("evidence"), fields.get("suggested_action")
    suggested = clip(action, LONGEST_ACTION) if isinstance(action, str) else ""
    if result not in RESULTS:
        return Answer("unknown", f"result {clip(repr(result), 60)} is none of {', '.join(RESULTS)}", suggested)
    if not isinstance(evidence, str) or not any(letter.isalnum() for letter in evidence):
        return Answer("unknown", f"the judge said {result} and no evidence for it", suggested)
    shown = clip(evidence, LONGEST_EVIDENCE)
    hedge = HEDGES.search(QUOTED.sub(" ", " ".join(evidence.replace("’", "'").split())))
    if result == "pass" and hedge:
        return Answer("unknown", f"the judge said pass and hedged ({hedge[0]!r}): {shown}", suggested)
    return Answer(result, shown, suggested)


def _challenges(given: object) -> list[dict[str, str]]:
    """Whether a check tests what its criterion says: shown to people, and no part of any verdict."""
    challenges = []
    for item in given[:MOST_CHALLENGES] if isinstance(given, list) else []:
        if isinstance(item, dict) and isinstance(item.get("criterion"), str) and isinstance(item.get("text"), str):
            text = clip(item["text"], LONGEST_CHALLENGE)
            challenges.append({"criterion": clip(item["criterion"], 20), "text": text})
    return challenges


def _bounded(notes: list[str]) -> list[str]:
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"and {more} more"]
