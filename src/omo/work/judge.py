"""The judge: what it is asked in, and what it answered, one JSON object, known by the nonce of its brief.

An item is a criterion or a goal; each question about it is one of its checks. What is not exactly in the form is
unknown, never a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from omo.json_text import Json
from omo.text import clip
from omo.work import agents
from omo.work.agents import FULL, REDUCED, AgentMessage, NoAnswer
from omo.work.citations import without_quotations

Key = tuple[str, str]  # criterion or goal, and check

JUDGE = "omo:judge"
RESULTS = ("pass", "unknown", "fail")  # the best first
MOST_ANSWERS = 1000
MOST_CHALLENGES = 20
MOST_NOTES = 20
LONGEST_EVIDENCE = 400
LONGEST_ACTION = 200
LONGEST_CHALLENGE = 300

HEDGES = re.compile(
    r"""\b(?:
      possibly | perhaps | maybe | probably | presumably | supposedly | apparently | hopefully | likely
    | might | could\ be | could\ have\ been | may\ (?:be|have) | should\ (?:be|have|hold|work|pass|now|do)
    | seems? | seemed | seemingly | appears?\ (?:to|that|as\ if|correct|fine|good|ok|okay|done|complete|right|working)
    | looks\ (?:like|as\ if|correct|fine|good|ok|okay|done|complete|right)
    | I\ (?:think|believe|guess|assume|suppose|suspect|imagine|expect|hope)
    | as\ far\ as\ I\ (?:know|can\ tell|remember|see) | if\ I\ (?:recall|remember) | to\ my\ knowledge | in\ theory
    | not\ (?:entirely\ |quite\ |completely\ )?(?:sure|certain) | unsure | more\ or\ less
    )\b(?!-)""",
    re.VERBOSE | re.IGNORECASE,
)
# Beside a hedge: what the judge says it did not look at.
UNSEEN = re.compile(
    r"\b(?:assum(?:e|es|ed|ing)|not (?:tested|verified|checked)|unverified|untested"
    r"|(?:did not|didn't|could not|couldn't|cannot|can't) (?:run|verify|check|test|confirm|open|read))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class JudgeResult:
    """To one question. `source` is who is believed to have said it."""

    result: str
    evidence: str
    suggested_action: str = ""
    source: str = "judge"


@dataclass(frozen=True)
class JudgeAnswer:
    """To one brief. `unread` says why nobody gave an answer that can be read; empty where somebody did.

    `notes` say what of it does not count, and why. `digest` is that of a file that no hook saw the judge say.
    """

    nonce: str = ""
    answers: Mapping[Key, JudgeResult] = field(default_factory=dict)
    challenges: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: str = ""
    digest: str = ""

    @property
    def independence(self) -> str:
        return REDUCED if self.digest else FULL


def brief_text(asked: str, questions: Sequence[Key], nonce: str) -> str:
    """`asked` are the items with their questions, and nothing about the work or how it went so far."""
    challenge = {"criterion": questions[0][0], "text": "optional: how its check could hold for undone work"}
    answers = []
    for criterion, check in questions:
        answer = {"criterion": criterion, "check": check, "result": "pass | fail | unknown", "evidence": "what you saw"}
        answers.append({**answer, "suggested_action": "only with a fail"})
    form = {"nonce": nonce, "answers": answers, "challenges": [challenge]}
    return f"""You are the judge. Find out what is true of this project now; change nothing.

{asked}

Answer each question from what you saw yourself: "pass" for what you saw hold, "fail" for what you saw not hold, else
"unknown". Evidence: what you ran or opened and what came out, in `backticks`; a guess, or none, makes it unknown. What
is marked "code" is not yours to answer: where it could hold for undone work, say so under "challenges".
End your message with exactly one JSON object in this form, the nonce as it is here:
```json
{json.dumps(form, ensure_ascii=False)}
```
"""


def failed(reported: Sequence[AgentMessage], nonce: str, since: str) -> dict[Key, JudgeResult]:
    """What a judge found not to hold when it answered that brief, whatever another said of it."""
    answers = read_messages(reported, nonce, since).answers
    return {key: answer for key, answer in answers.items() if answer.result == "fail"}


def read_messages(reported: Sequence[AgentMessage], nonce: str, since: str) -> JudgeAnswer:
    """What was answered to a brief of that moment. Of several answers the worst counts, so that nobody asks until the
    answer suits."""
    answers, notes = [], []
    for message in reported:
        if message.ts < since:
            continue
        try:
            if message.is_cut:
                raise NoAnswer("it is longer than is kept, so its end is missing; ask for a shorter one")
            answers.append(read_answer(message.text, nonce))
        except NoAnswer as error:
            notes.append(f"a message of {message.agent} (row {message.seq}) does not count: {error}")
    if not answers:
        why = notes[-1] if notes else f"no {JUDGE} has answered the newest brief"
        return JudgeAnswer(nonce, notes=notes[:-1], unread=why)
    worst: dict[Key, JudgeResult] = {}
    challenges: list[dict[str, str]] = []
    for given in answers:
        for key, answer in given.answers.items():
            if key not in worst or RESULTS.index(answer.result) > RESULTS.index(worst[key].result):
                worst[key] = answer
        challenges += [challenge for challenge in given.challenges if challenge not in challenges]
        notes += given.notes
    return JudgeAnswer(nonce, worst, challenges[:MOST_CHALLENGES], notes)


def read_answer(text: str, nonce: str | None = None) -> JudgeAnswer:
    """The one object that carries this nonce; without a nonce, the one that carries any. Raises NoAnswer."""
    given = agents.answer(text, "nonce", nonce)
    listed = given.get("answers")
    if not isinstance(listed, list) or len(listed) > MOST_ANSWERS:
        raise NoAnswer(f"answers must be a list of at most {MOST_ANSWERS}")
    answers: dict[Key, JudgeResult] = {}
    notes: list[str] = []
    for index, item in enumerate(listed):
        fields = item if isinstance(item, dict) else {}
        criterion, check = fields.get("criterion"), fields.get("check")
        if not isinstance(criterion, str) or not isinstance(check, str):
            notes.append(f"answers[{index}] names no criterion and check, so it counts for none")
        elif (criterion, check) in answers:
            # test_two_answers_to_one_question_are_none in tests/work/test_judge.py.
            answers[criterion, check] = JudgeResult("unknown", "answered more than once, so none of the answers counts")
        else:
            answers[criterion, check] = _answer(fields)
    return JudgeAnswer(given["nonce"], answers, _challenges(given.get("challenges")), _bounded(notes))


def _answer(fields: Json) -> JudgeResult:
    result, evidence, action = fields.get("result"), fields.get("evidence"), fields.get("suggested_action")
    suggested = clip(action, LONGEST_ACTION) if isinstance(action, str) else ""
    if result not in RESULTS:
        return JudgeResult("unknown", f"result {clip(repr(result), 60)} is none of {', '.join(RESULTS)}", suggested)
    if not isinstance(evidence, str) or not any(letter.isalnum() for letter in evidence):
        return JudgeResult("unknown", f"the judge said {result} and no evidence for it", suggested)
    shown = clip(evidence, LONGEST_EVIDENCE)
    own_words = " ".join(without_quotations(evidence).split())
    hedge = HEDGES.search(own_words) or UNSEEN.search(own_words)
    # A fail stands, however it is worded: tests/work/test_judge.py,
    # test_a_hedge_makes_a_pass_unknown_and_leaves_a_fail.
    if result == "pass" and hedge:
        return JudgeResult("unknown", f"the judge said pass and hedged ({hedge[0]!r}): {shown}", suggested)
    return JudgeResult(result, shown, suggested)


def _challenges(given: object) -> list[dict[str, str]]:
    """Whether a check tests what its criterion says: shown to people, and no part of any verdict."""
    challenges = []
    for item in given[:MOST_CHALLENGES] if isinstance(given, list) else []:
        if isinstance(item, dict) and isinstance(item.get("criterion"), str) and isinstance(item.get("text"), str):
            text = clip(item["text"], LONGEST_CHALLENGE)
            challenges.append({"criterion": clip(item["criterion"], 20), "text": text})
    return challenges


def match(given: JudgeAnswer, asked: Iterable[Key]) -> tuple[dict[Key, JudgeResult], list[str]]:
    """An answer to each question, unknown where there is none; and what was answered without being asked."""
    missing = JudgeResult("unknown", "the judge did not answer it")
    matched = {key: given.answers.get(key, missing) for key in asked}
    notes = list(given.notes)
    for criterion, check in given.answers:
        if (criterion, check) not in matched:
            notes.append(f"the judge's answer to {clip(criterion, 20)}/{clip(check, 60)} is ignored: nobody asked it")
    return matched, _bounded(notes)


def _bounded(notes: list[str]) -> list[str]:
    more = len(notes) - MOST_NOTES
    return notes if more <= 0 else [*notes[:MOST_NOTES], f"and {more} more"]
