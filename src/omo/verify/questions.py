"""The questions a goal owes where its checks cannot speak: what an answer must say, and when it still counts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from omo.digest import sha256
from omo.errors import BadInput, OmoError, Refused
from omo.evidence import artifacts, tree
from omo.evidence.checks import Check, parse_checks
from omo.shown import clip
from omo.state import ledger, paths, store
from omo.verify import claims
from omo.verify.goals import SHORTEST_REASON, Answer, Goal, Goals, Place, Row, Strict, defects_of, known
from omo.verify.statements import check_statement

DIMENSIONS = ("presence", "correctness", "integration", "breakage")
FEWEST, ROUTINE_FEWEST, MOST = 5, 3, 10
MOST_GUARDRAILS = 10
OWN = ".sisyphus/cc-omo"
_FILLER = """
    a an the is are was were be been has have had do does did it its this that of to in on for and or with by as at
    goal done complete completed finished succeed succeeds succeeded really now all
"""
_VAGUE = """
    none nothing unknown n na no unclear bug bugs error errors issue issues fail fails failure could might may
    something anything wrong go goes break breaks broken not sure idea tests test work works edge case cases
    there some any if i can think
"""
FILLER, VAGUE = frozenset(_FILLER.split()), frozenset(_VAGUE.split())

Text = Annotated[str, Field(max_length=4000)]
Said = Annotated[str, Field(min_length=1, max_length=4000)]


class Reply(Strict):
    goal: str | None = None


class Q1(Reply):
    artifact: Said
    statement: Said
    override: Text = ""


class Item(Strict):
    question: Said
    dimension: Literal["presence", "correctness", "integration", "breakage"]
    result: Literal["pass", "fail", "na"]
    covered: bool
    evidence: Text = ""


class Q15(Reply):
    items: Annotated[list[Item], Field(max_length=MOST)]


class Q2(Reply):
    failure_mode: Text = ""
    checked: bool = False
    how: Text = ""
    statement: Text = ""
    problem: Text = ""
    override: Text = ""


class Q3(Reply):
    scope: Literal["unit", "integration"]
    statement: Text = ""


class Leg(Strict):
    outcome: Said
    artifact: Said
    statement: Said


class AgentLeg(Reply):
    outcomes: Annotated[list[Leg], Field(max_length=50)]
    override: Text = ""


MODELS: dict[str, type[Reply]] = {"q1": Q1, "q1.5": Q15, "q2": Q2, "q3": Q3, "agent-leg": AgentLeg}
ESCALATION = ("q1", "q1.5", "q2", "q3")


class Trees:
    """The project's fingerprint now. Files that held answers are left out: they speak of the tree, they are not it.

    To show where things stand the cache is good enough; no proof rests on it, since an agent could write it.
    """

    def __init__(self, place: Place, *, reading: str | None = None, for_show: bool = False) -> None:
        self._place = place
        self._for_show = for_show
        self._reading = {reading} if reading else set()
        self._known: dict[tuple[str, ...], str] = {}

    def holds(self, answer: Answer, goal: Goal) -> bool:
        """Is the tree the one the answer was given on, with or without the answers that came later?"""
        return answer.tree in (self.now(answer.without), self.now(self.answer_files(goal)))

    def answer_files(self, goal: Goal) -> tuple[str, ...]:
        """The answer files of the goal, and the one being read now."""
        return tuple(sorted({*goal.answer_files, *self._reading}))

    def now(self, without: Sequence[str] = ()) -> str:
        key = tuple(without)
        if key not in self._known:
            cache = Path(paths.tree_cache(self._place.state)) if self._for_show else None
            if cache:
                store.make_state_dir(self._place.state)
            self._known[key] = tree.fingerprint(Path(self._place.root), cache=cache, exclude=(OWN, *key))
        return self._known[key]


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
    trees: Trees


def checks_of(goal: Goal) -> list[Check | str]:
    return parse_checks(goal.spec.verification.checks, f"checks of {goal.id}")


def is_for_judgement(check: Check | str) -> bool:
    return isinstance(check, str) or check.type == "judge"


def escalates(checks: Sequence[Check | str]) -> bool:
    """Do the checks leave something that only questions can settle?"""
    return not checks or any(is_for_judgement(check) for check in checks)


def why_stale(goal: Goal, answer: Answer, place: Place, trees: Trees) -> str:
    """Why an answer no longer counts; empty while it does."""
    if answer.contract != goal.spec.contract:
        return "the goal's verification was changed since"
    if not trees.holds(answer, goal):
        return "the tree was changed since"
    root = Path(place.root)
    moved = [name for name, digest in answer.artifacts.items() if not artifacts.is_unchanged(root, name, digest)]
    return f"{moved[0]} was changed since" if moved else ""


@dataclass(frozen=True)
class Step:
    """One thing a goal owes: `done`, `owed`, `stale` or `failed`."""

    name: str
    state: str
    why: str
    command: str

    @property
    def is_open(self) -> bool:
        return self.state != "done"


def steps(goal: Goal, place: Place, trees: Trees) -> list[Step]:
    """Everything a goal in progress has to show, in order. `finish` is the last."""
    finish = Step("finish", "owed", "", f"omo verify finish {goal.id} --summary TEXT")
    if goal.state != "in-progress":
        return []
    checks = checks_of(goal)
    listed = [_checks_step(goal)] if any(not is_for_judgement(check) for check in checks) else []
    if escalates(checks) or goal.spec.has_agent_leg:
        listed += _question_steps(goal, place, trees)
    return [*listed, finish]


def _checks_step(goal: Goal) -> Step:
    seen = goal.checked or {}
    bad = [one for one in seen.get("checks", []) if one["result"] != "pass" and one["type"] not in ("judge", "string")]
    if not seen:
        return Step("checks", "owed", "not evaluated yet", f"omo verify begin {goal.id}")
    said = "; ".join(f"{one['id']}: {one['reason']}" for one in bad[:3])
    command = f"mend the work; omo verify begin {goal.id} evaluates again"
    return Step("checks", "owed" if bad else "done", clip(said, 200), command)


def _question_steps(goal: Goal, place: Place, trees: Trees) -> list[Step]:
    if goal.spec.has_agent_leg:
        leg = _step(goal, "agent-leg", place, trees)
        if not leg.is_open or not any(name in goal.answers for name in ESCALATION):
            return [leg]
    return [_step(goal, name, place, trees) for name in ESCALATION]


def _step(goal: Goal, question: str, place: Place, trees: Trees) -> Step:
    command = f"omo verify answer {goal.id} --question {question} --file -"
    answer = goal.answers.get(question)
    if answer is None:
        return Step(question, "owed", "", command)
    if why := why_stale(goal, answer, place, trees):
        return Step(question, "stale", why, command)
    if answer.result == "failed":
        return Step(question, "failed", str(answer.said.get("why", "")), f"mend it, then {command}")
    return Step(question, "done", "", command)


def answer(place: Place, name: str, question: str, data: object, *, file: str | None = None) -> Judged:
    """Judge an answer by code and record it as a checkpoint. What is refused is not recorded."""
    goal = place.goal(name)
    reply = _parse(question, data)
    asked = Asked(place, goal, question, Trees(place, reading=file))
    _check_turn(asked, reply)
    digest = sha256(json.dumps(reply.model_dump(exclude={"goal"}), sort_keys=True).encode())[:32]
    _check_replay(asked, digest)
    without = asked.trees.answer_files(goal)
    fingerprint = asked.trees.now(without)
    judged = _JUDGES[question](asked, reply)
    event = {
        "kind": "answered",
        "goal": name,
        "question": question,
        "attempt": goal.attempt,
        "contract": goal.spec.contract,
        "tree": fingerprint,
        "without": list(without),
        "digest": digest,
        "result": judged.result,
        "said": {**reply.model_dump(exclude={"goal"}), "why": judged.why},
        "artifacts": judged.artifacts,
        "overrides": judged.overrides,
    }
    place.change(_recording(asked, event, judged))
    return judged


def _parse(question: str, data: object) -> Reply:
    model = MODELS[question]
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise BadInput(
            f"the answer to {question} cannot be used",
            fix=f"give an object with {', '.join(_fields(model))}; docs/verify.md shows one",
            defects=defects_of(error, model),
        ) from None


def _fields(model: type[BaseModel]) -> list[str]:
    return [name for name in model.model_fields if name not in ("goal", "override")]


def _check_turn(asked: Asked, reply: Reply) -> None:
    """May this question be answered now?"""
    goal, question = asked.goal, asked.question
    if reply.goal is not None and reply.goal != goal.id:
        raise Refused(f"this is an answer for goal {reply.goal!r}, not {goal.id}", fix=f"answer for {goal.id} itself")
    if goal.state != "in-progress":
        raise Refused(f"goal {goal.id} is {goal.status}, not in progress", fix=f"omo verify begin {goal.id}")
    if question == "agent-leg" and not goal.spec.has_agent_leg:
        raise Refused(
            f"goal {goal.id} has no agent's leg: it needs user in participants, and verification.outcomes_agent_leg",
            fix=f"omo verify answer {goal.id} --question q1 --file -",
        )
    if question in ("q1.5", "q2") and (first := _step(goal, "q1", asked.place, asked.trees)).is_open:
        why = f": {first.why}" if first.why else ""
        raise Refused(f"{question} comes after q1, which is {first.state}{why}", fix=first.command)
    _check_standing_failure(asked)


def _check_standing_failure(asked: Asked) -> None:
    """What was found broken stays found until something changes; saying it differently is no repair."""
    goal, step = asked.goal, _step(asked.goal, asked.question, asked.place, asked.trees)
    if step.state == "failed":
        raise Refused(
            f"{step.name} failed on exactly this tree: {step.why}",
            fix=f"mend the work and answer again, or record the failure: omo verify finish {goal.id} --summary TEXT",
        )


def _check_replay(asked: Asked, digest: str) -> None:
    if asked.question == "q3":
        return
    for row in asked.place.journal.rows():
        if row.get("kind") == "answered" and row.get("digest") == digest and row.get("goal") != asked.goal.id:
            if row.get("result") == "gap":
                continue
            raise Refused(
                f"this is, word for word, the answer to {row.get('question')} of goal {row.get('goal')}",
                fix=f"look at what {asked.goal.id} produced, and say what you see there",
            )


def _recording(asked: Asked, event: Row, judged: Judged) -> Callable[[Goals], tuple[None, list[Row]]]:
    def decide(goals: Goals) -> tuple[None, list[Row]]:
        goal = known(goals, asked.goal.id)
        if (goal.attempt, goal.state) != (asked.goal.attempt, "in-progress"):
            raise Refused(f"goal {goal.id} moved on while this was answered", fix=f"omo verify status {goal.id}")
        return None, [event, *(gap(goal, asked.question, why) for why in judged.gaps)]

    return decide


def gap(goal: Goal, question: str, why: str) -> Row:
    """A soft signal: it never gates, and the next goal of this category is shown it."""
    return {
        "kind": "gap",
        "gap": "verification_gap",
        "goal": goal.id,
        "category": goal.spec.category,
        "question": question,
        "why": clip(why, 400),
    }


def _judge_q1(asked: Asked, reply: Any) -> Judged:
    _require_statement(asked, reply.statement, "statement")
    judged = _gate_claims(asked, reply.statement, reply.override, soft=["not-probeable"])
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
        gated = _gate_claims(asked, leg.statement, reply.override, soft=["not-probeable"])
        judged.overrides += gated.overrides
        judged.gaps += gated.gaps
    judged.artifacts = _register(asked, [leg.artifact for leg in reply.outcomes])
    return judged


def _judge_q15(asked: Asked, reply: Any) -> Judged:
    goal, items = asked.goal, reply.items
    if defects := _checklist_defects(goal, items):
        raise Refused(
            f"the checklist for goal {goal.id} does not look at it from every side",
            fix=f"mend it and answer again: omo verify answer {goal.id} --question q1.5 --file -",
            defects=defects,
        )
    failed = [item for item in items if item.result == "fail"]
    covered = [item.question for item in failed if item.covered or _is_declared(goal, item.question)]
    missing = [item.question for item in failed if item.question not in covered]
    judged = Judged(missing=missing)
    if covered:
        judged.result, judged.why = "failed", f"the goal's own criteria fail: {'; '.join(covered)}"
        judged.gaps = covered
    return judged


def _checklist_defects(goal: Goal, items: list[Item]) -> list[str]:
    fewest = ROUTINE_FEWEST if goal.spec.routine else FEWEST
    defects = [] if fewest <= len(items) <= MOST else [f"items: {len(items)}, not {fewest} to {MOST}"]
    asked = [item.dimension for item in items]
    if not goal.spec.routine:
        defects += [f"items: none about {name}" for name in DIMENSIONS if name not in asked]
    if items and all(item.result == "na" for item in items):
        defects.append("items: every result is na, so nothing was looked at")
    for at, item in enumerate(items):
        defects += [f"items[{at}]: {said}" for said in _item_defects(goal, item)]
        if _words(item.question) in [_words(other.question) for other in items[:at]]:
            defects.append(f"items[{at}].question: {clip(item.question, 60)!r} is asked twice")
    return defects


def _item_defects(goal: Goal, item: Item) -> list[str]:
    defects = [f"evidence: {said}" for said in hedges(item.evidence)]
    if item.result != "na" and len(item.evidence.strip()) < SHORTEST_REASON:
        defects.append(f"evidence: {item.evidence!r} says nothing of what was seen")
    if is_restatement(item.question, goal.spec.title):
        defects.append(f"question: {clip(item.question, 60)!r} only restates the title; ask for one property")
    return defects


def is_restatement(question: str, title: str) -> bool:
    asked, named = ({word[:5] for word in _words(text)} for text in (question, title))  # handle, handles, handled
    return bool(asked) and len(asked & named) >= 0.8 * len(asked | named)


def _is_declared(goal: Goal, question: str) -> bool:
    """An outcome whose every word is in the question covers it, whatever the answer says."""
    declared = [_words(one) for one in goal.spec.verification.outcomes]
    return any(len(words) > 1 and words <= _words(question) for words in declared)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - FILLER


def _judge_q2(asked: Asked, reply: Any) -> Judged:
    if _is_vague(reply.failure_mode):
        return Judged("gap", gaps=[f"no way named in which it could look done and not be: {reply.failure_mode!r}"])
    again = f"omo verify answer {asked.goal.id} --question q2 --file -"
    if not reply.checked:
        said = clip(reply.failure_mode, 120)
        raise Refused(f"failure_mode is named, but checked is false: {said}", fix=f"check it now, then {again}")
    if len(reply.how.strip()) < SHORTEST_REASON:
        raise Refused(f"how {reply.how!r} does not say what was run or read", fix=f"say how it was checked: {again}")
    if reply.problem.strip():
        return Judged("failed", f"{reply.failure_mode}: {reply.problem}", gaps=[reply.problem])
    _require_statement(asked, reply.statement, "statement")
    return _gate_claims(asked, reply.statement, reply.override)


def _is_vague(text: str) -> bool:
    return len(_words(text) - VAGUE) < 2


def _judge_q3(asked: Asked, reply: Any) -> Judged:
    hedged = hedges(reply.statement)
    return Judged(gaps=[f"q3: {said}" for said in hedged])


_JUDGES: dict[str, Callable[[Asked, Any], Judged]] = {
    "q1": _judge_q1,
    "q1.5": _judge_q15,
    "q2": _judge_q2,
    "q3": _judge_q3,
    "agent-leg": _judge_agent_leg,
}


def hedges(text: str) -> list[str]:
    return [said for said in check_statement(text) if " hedges" in said]


def _require_statement(asked: Asked, text: str, name: str) -> None:
    if defects := check_statement(text):
        raise Refused(
            f"{asked.question} of goal {asked.goal.id} is sent back: {name} {clip(text, 80)!r}",
            fix=f"omo verify answer {asked.goal.id} --question {asked.question} --file - with it restated",
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


def _gate_claims(asked: Asked, text: str, override: str, *, soft: Sequence[str] = ()) -> Judged:
    """Every claim in a statement is looked into now. Those that do not hold send it back, or are overridden by name."""
    reason = claims.checked_override(override or None)
    report = claims.run_claim(text, root=Path(asked.place.root))
    open_gates = [one for one in report.gates if one.outcome != "holds"]
    told = [f"{one.gate} ({one.trigger}): {one.outcome}, {one.reason}; saw {clip(one.saw, 120)}" for one in open_gates]
    hard = [said for one, said in zip(open_gates, told, strict=True) if one.outcome not in soft]
    _keep_claim(asked, report, reason if hard else None)
    if not hard:
        return Judged(gaps=told)
    if reason is None:
        raise _claim_refused(asked, hard)
    return Judged(overrides=[f"{asked.question}: {reason} ({one})" for one in hard])


def _keep_claim(asked: Asked, report: claims.ClaimReport, override: str | None) -> None:
    place = asked.place
    if report.gates:
        claims.record(
            place.state,
            report,
            actor=place.by,
            now=place.now,
            wait=place.wait,
            goal=asked.goal.id,
            override=override,
        )


def _claim_refused(asked: Asked, told: list[str]) -> Refused:
    asked.place.change(lambda goals: (None, [gap(asked.goal, asked.question, one) for one in told]))
    return Refused(
        f"{asked.question} of goal {asked.goal.id} claims what code cannot confirm",
        fix='look again and restate it; if the gate is wrong, add "override": "why" (recorded and shown)',
        defects=[f"statement: {one}" for one in told],
    )


def log_missing(place: Place, goal: Goal, items: list[str]) -> str:
    """Properties the goal never asked for. Telemetry for better goals: a failure to write it stops nothing."""
    if not items:
        return ""
    path = _missing_file(place.state)
    event = {"kind": "missing-criteria", "goal": goal.id, "category": goal.spec.category, "items": items}
    try:
        store.make_state_dir(place.state)
        store.make_dir(paths.verify_dir(place.state), place.state)
        with store.Lock(path + ".lock", store.Deadline(place.wait)):
            ledger.append(path, [event], actor=place.by, now=place.now)
    except (OmoError, OSError) as error:
        return f"{path} could not be written: {error}"
    return ""


def _missing_file(state: str) -> str:
    return os.path.join(paths.verify_dir(state), "missing-verification-criteria.jsonl")


def guardrails(place: Place, goal: Goal) -> list[str]:
    """What verifications of this category missed or failed before, newest first. Nothing here can stop a goal."""
    try:
        rows = [*place.journal.rows(), *ledger.rows(_missing_file(place.state))]
    except (OmoError, OSError) as error:
        return [f"(earlier verifications could not be read: {error})"]
    rows = [row for row in rows if row.get("category") == goal.spec.category]
    rows.sort(key=lambda row: str(row.get("ts")), reverse=True)
    told = [line for row in rows for line in _lessons(row)]
    return list(dict.fromkeys(told))[:MOST_GUARDRAILS]


def _lessons(row: Row) -> list[str]:
    name = row.get("goal")
    if row.get("kind") == "gap":
        return [f"{name} left a gap in {row.get('question')}: {clip(str(row.get('why')), 200)}"]
    if row.get("kind") == "finished" and row.get("verdict") == "fail":
        learned = f" (learned: {row['learned']})" if row.get("learned") else ""
        return [f"{name} failed: {clip(str(row.get('reason')) + learned, 240)}"]
    if row.get("kind") == "missing-criteria" and isinstance(row.get("items"), list):
        return [f"{name} never asked: {clip(str(item), 200)}" for item in row["items"]]
    return []
