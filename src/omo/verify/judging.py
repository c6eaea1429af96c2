"""How each answer is judged: by code, on what can be read, registered and probed now."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import BadInput, Refused
from omo.evidence import artifacts
from omo.shown import clip
from omo.verify import checklist, claims
from omo.verify.goals import Goal, Place
from omo.verify.lessons import gap
from omo.verify.replies import answer_command
from omo.verify.statements import SHORTEST_REASON, check_statement, hedges

_VAGUE = frozenset(
    """
    none nothing unknown n na no unclear bug bugs error errors issue issues fail fails failure could might may
    something anything wrong go goes break breaks broken not sure idea tests test work works edge case cases
    there some any if i can think
    """.split()  # noqa: SIM905  # a list of words reads better as words
)
_NO_PROBLEM = re.compile(r"(?:none|no problems?\b[^.;\n]*)?[\s.!]*", re.I)
_AND_YET = re.compile(r"\b(?:but|except|however|though|although|apart|besides|unless|until|yet)\b", re.I)


@dataclass
class Judged:
    """What code made of an answer."""

    result: str = "ok"
    why: str = ""
    artifacts: dict[str, str] = field(default_factory=dict)
    overrides: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Asked:
    """One answer on its way: who asks, about which goal, where."""

    place: Place
    goal: Goal
    question: str


def _judge_q1(asked: Asked, reply: Any) -> Judged:
    _require_statement(asked, reply.statement, "statement")
    judged = _gate_claims(asked, [reply.statement], reply.override)
    judged.artifacts = _register(asked, [reply.artifact])
    return judged


def _judge_agent_leg(asked: Asked, reply: Any) -> Judged:
    wanted = asked.goal.spec.verification.outcomes_agent_leg
    given = [leg.outcome for leg in reply.outcomes]
    defects = [f"outcomes: nothing for {one!r}" for one in wanted if one not in given]
    defects += [f"outcomes: {one!r} is no outcome of the agent's leg" for one in given if one not in wanted]
    if defects:
        raise BadInput(
            f"the agent's leg of goal {asked.goal.id} has {len(wanted)} outcomes; each needs its own answer",
            fix=f"omo verify status {asked.goal.id} lists them, word for word",
            defects=defects,
        )
    judged = Judged()
    for at, leg in enumerate(reply.outcomes):
        _require_statement(asked, leg.statement, f"outcomes[{at}].statement")
        gated = _gate_claims(asked, [leg.statement], reply.override)
        judged.overrides += gated.overrides
        judged.gaps += gated.gaps
    judged.artifacts = _register(asked, [leg.artifact for leg in reply.outcomes])
    return judged


def _judge_q15(asked: Asked, reply: Any) -> Judged:
    goal, items = asked.goal, reply.items
    if defects := checklist.defects_in(goal, items):
        raise Refused(
            f"the checklist for goal {goal.id} does not look at it from every side",
            fix=f"mend it and answer again: {answer_command(goal.id, 'q1.5')}",
            defects=defects,
        )
    failed = [item for item in items if item.result == "fail"]
    covered = [item.question for item in failed if item.covered or checklist.is_declared(goal, item.question)]
    missing = [item.question for item in failed if item.question not in covered]
    judged = Judged(missing=missing)
    if covered:
        judged.result, judged.why = "failed", f"the goal's own criteria fail: {'; '.join(covered)}"
        judged.gaps = covered
    return judged


def _judge_q2(asked: Asked, reply: Any) -> Judged:
    if problem := _problem(asked, reply.problem or ""):
        return Judged("failed", ": ".join(filter(None, [reply.failure_mode.strip(), problem])), gaps=[problem])
    if _is_vague(reply.failure_mode):
        return Judged("gap", gaps=[f"no way named in which it could look done and not be: {reply.failure_mode!r}"])
    again = answer_command(asked.goal.id, "q2")
    if not reply.checked:
        said = clip(reply.failure_mode, 120)
        raise Refused(f"failure_mode is named, but checked is false: {said}", fix=f"check it now, then {again}")
    if len(reply.how.strip()) < SHORTEST_REASON:
        raise Refused(f"how {reply.how!r} does not say what was run or read", fix=f"say how it was checked: {again}")
    _require_statement(asked, reply.statement, "statement")
    return _gate_claims(asked, [reply.statement, reply.how], reply.override)


def _problem(asked: Asked, text: str) -> str:
    """The problem that was found; empty for none, however that is said. "No problem, but …" is sent back."""
    said = text.strip()
    if _NO_PROBLEM.fullmatch(said) and not _AND_YET.search(said):
        return ""
    if re.match(r"no problem", said, re.I):
        raise Refused(
            f"problem {clip(said, 120)!r} says both that there is one and that there is none",
            fix=f'give the problem alone, or "none": {answer_command(asked.goal.id, "q2")}',
        )
    return said


def _is_vague(text: str) -> bool:
    return len(checklist.words_of(text) - _VAGUE) < 2


def _judge_q3(asked: Asked, reply: Any) -> Judged:
    hedged = hedges(reply.statement)
    return Judged(gaps=[f"q3: {said}" for said in hedged])


JUDGES: dict[str, Callable[[Asked, Any], Judged]] = {
    "q1": _judge_q1,
    "q1.5": _judge_q15,
    "q2": _judge_q2,
    "q3": _judge_q3,
    "agent-leg": _judge_agent_leg,
}


def _require_statement(asked: Asked, text: str, name: str) -> None:
    if defects := check_statement(text):
        raise Refused(
            f"{asked.question} of goal {asked.goal.id} is sent back: {name} {clip(text, 80)!r}",
            fix=f"{answer_command(asked.goal.id, asked.question)} with it restated",
            defects=[f"{name}: {one}" for one in defects],
        )


def _register(asked: Asked, names: list[str]) -> dict[str, str]:
    """Each artifact is read now and recorded as this goal's; refusals pass through."""
    place, goal = asked.place, asked.goal
    found = {}
    for name in dict.fromkeys(names):
        one = artifacts.register(
            place.state,
            Path(place.root),
            name,
            goal=goal.id,
            started_at=goal.ready_at,
            by=place.by,
            now=place.now,
            wait=place.wait,
        )
        found[one.path] = one.digest
    return found


def _gate_claims(asked: Asked, texts: list[str], override: str) -> Judged:
    """Words that call for a claim need one that holds, filed for this statement, or somebody who lets it stand."""
    reason = claims.checked_override(override or None)
    place, goal = asked.place, asked.goal
    judged = Judged()
    for text in texts:
        still_open = claims.unsettled(place.state, place.root, text, goal=goal.id, since=goal.begun_at)
        if not still_open:
            continue
        if reason is None:
            gaps = [gap(goal, asked.question, words.text) for words in still_open]
            place.change(lambda goals, rows=gaps: (None, rows))
            raise claims.refused(f"{asked.question} of goal {goal.id}", goal.id, text, still_open)
        rows = [claims.overridden_row(words, text, goal=goal.id, override=reason) for words in still_open]
        claims.record(place.state, rows, actor=place.by, now=place.now, wait=place.wait)
        judged.overrides += [f"{asked.question}: {reason} ({words.text})" for words in still_open]
    return judged
