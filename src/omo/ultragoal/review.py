"""Review of work that is already there, by the rules of the gate. What it finds can become goals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.errors import Refused
from omo.shown import clip, counted
from omo.ultragoal import committed
from omo.ultragoal.brief import MOST_GOALS, Brief, title_of
from omo.ultragoal.contract import STRONG, Measure, measure
from omo.ultragoal.creation import plan_row
from omo.ultragoal.gate.models import Defect
from omo.ultragoal.gate.proof import Subject
from omo.ultragoal.gate.rules import inspect_qa
from omo.ultragoal.given import same_words
from omo.ultragoal.plan import MODES, Plan
from omo.ultragoal.review_source import Source
from omo.ultragoal.run import Run

Row = dict[str, Any]

PASS, FAIL = "pass", "fail"
WEAK_CONTRACT, UNSEEN_SOURCE = "inconclusive: weak-contract", "inconclusive: unseen-source"
EXIT_CODES = {PASS: 0, FAIL: 3, WEAK_CONTRACT: 4, UNSEEN_SOURCE: 4}

MOST_BLOCKERS = 10
MOST_TOLD = 50
LONGEST_FINDING = 2_000
MESSAGE_KEYS = ("message", "summary", "description", "objective", "title")


@dataclass(frozen=True)
class Finding:
    path: str
    code: str
    message: str

    def render(self) -> Row:
        return {"severity": "blocker", "path": self.path, "code": self.code, "message": self.message}

    @property
    def objective(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


@dataclass(frozen=True)
class Review:
    source: Source
    contract: Measure
    findings: list[Finding]
    notes: list[str]

    @property
    def strength(self) -> str:
        return self.contract.strength

    @property
    def is_eligible(self) -> bool:
        """Whether a review without findings would pass: there is a contract, and it is this work that was looked at."""
        return self.strength == STRONG and self.source.is_here

    @property
    def verdict(self) -> str:
        if self.findings:
            return FAIL
        if self.strength != STRONG:
            return WEAK_CONTRACT
        return PASS if self.source.is_here else UNSEEN_SOURCE


def review(run: Run, source: Source, *, spec: tuple[str, str] | None, executor_qa: object) -> Review:
    """Reads, decodes and replays; writes nothing. `spec` is its path and text, `executor_qa` None where none came."""
    contract = Measure(derived=True) if spec is None else measure(spec[1])
    notes = list(source.notes)
    if spec is not None and spec[0] in (source.changed or []):
        notes.append(f"{spec[0]} was itself changed in what is under review")
    if source.changed == []:
        notes.append(f"nothing differs from {source.base}")
    if executor_qa is None:
        text = "no executor QA was supplied: let omo:qa write it, then pass it with --executor-qa-json FILE"
        return Review(source, contract, [Finding("executorQa", "MISSING", text)], notes)
    qa = _section(executor_qa)
    found = inspect_qa(qa, _subject(run, source))
    blockers = _blockers(qa)
    defects = [_finding(one) for one in found.defects if not (blockers and one.path == "executorQa.blockers")]
    return Review(source, contract, [*defects, *blockers], notes + found.notes)


def _section(given: object) -> object:
    """The section alone, or the gate it was written into."""
    return given["executorQa"] if isinstance(given, dict) and "executorQa" in given else given


def _subject(run: Run, source: Source) -> Subject:
    return Subject(
        root=Path(run.root),
        state=run.state,
        goal=f"ultragoal/review/{source.key}",
        started_at=0.0,  # the work is older than its review, and its evidence may be as old as the work
        changed=source.changed,
        control_globs=committed.control_globs(run, source.base_commit),
        now=run.now,
    )


def _finding(defect: Defect) -> Finding:
    return Finding(defect.path, defect.code, clip(defect.message, LONGEST_FINDING))


def _blockers(qa: object) -> list[Finding]:
    """What QA itself reports as open, in whatever shape."""
    given = qa.get("blockers") if isinstance(qa, dict) else None
    if not isinstance(given, list):
        return []
    return [
        Finding(f"executorQa.blockers[{at}]", "OPEN_BLOCKER", clip(_told(one), LONGEST_FINDING))
        for at, one in enumerate(given)
    ]


def _told(blocker: object) -> str:
    if isinstance(blocker, dict):
        said = [blocker[key] for key in MESSAGE_KEYS if isinstance(blocker.get(key), str) and blocker[key].strip()]
        return str(said[0]) if said else repr(blocker)
    return blocker if isinstance(blocker, str) and blocker.strip() else f"QA names a blocker without words: {blocker!r}"


def start(run: Run, done: Review) -> list[str]:
    """Make goals of the findings; where the session has no plan, this makes one. The goals, new and known."""
    if not done.findings:
        return []
    ids: list[str]
    if run.plan() is None:
        run.require_whole()
        ids = run.create(lambda plan: _first_goals(run, done, plan))
    else:
        ids = run.change(lambda plan: _record(plan, done))
    return ids


def _first_goals(run: Run, done: Review, plan: Plan | None) -> tuple[list[str], list[Row]]:
    if plan is not None:
        raise Refused("a plan was made in this session just now", fix="omo ultragoal status, then review again")
    text = f"Resolve what the review of {done.source.kind} {clip(done.source.name, 80)} found."
    brief = Brief(text=text, preamble="", stories=[], near_misses=[], cut_titles=[])
    created = plan_row(run, brief, MODES[0], None)
    goals = _goals(done, {}, [f"G{number:03}" for number in range(1, MOST_BLOCKERS + 1)])
    return [one["id"] for one in goals], [created, _row(done, goals)]


def _record(plan: Plan, done: Review) -> tuple[list[str], list[Row]]:
    known = {same_words(goal.objective): goal.id for goal in plan.open_goals}
    goals = _goals(done, known, plan.new_ids(MOST_BLOCKERS))
    if len(plan.goals) + len(goals) > MOST_GOALS:
        raise Refused(
            f"the plan has {counted(len(plan.goals), 'goal')} and cannot take {len(goals)} more",
            fix="finish it first, or review in another session",
        )
    there = [known[same_words(text)] for _, text in _wordings(done.findings) if same_words(text) in known]
    return [*there, *(one["id"] for one in goals)], [_row(done, goals)] if goals else []


def _goals(done: Review, known: Row, ids: list[str]) -> list[Row]:
    """The findings that no open goal is about yet."""
    steering = {"kind": "review_blocker", "source": done.source.kind, "name": clip(done.source.name, 80)}
    new = {same_words(text): (title, text) for title, text in _wordings(done.findings)}
    fresh = [wording for key, wording in new.items() if key not in known]
    return [
        {"id": name, "title": title, "objective": text, "steering": steering}
        for name, (title, text) in zip(ids, fresh, strict=False)
    ]


def _wordings(findings: list[Finding]) -> list[tuple[str, str]]:
    """Title and objective of at most ten goals; the last one takes in what is over."""
    alone = findings if len(findings) <= MOST_BLOCKERS else findings[: MOST_BLOCKERS - 1]
    rest = findings[len(alone) :]
    found = [(title_of(f"Resolve: {one.objective}"), one.objective) for one in alone]
    if rest:
        told = [f"{number}. {clip(one.objective, 300)}" for number, one in enumerate(rest[:MOST_TOLD], start=1)]
        told += [f"and {len(rest) - MOST_TOLD} more: review again"] if len(rest) > MOST_TOLD else []
        heading = f"Resolve {len(rest)} more findings of the review"
        found.append((heading, "\n".join([f"{heading}:", *told])))
    return found


def _row(done: Review, goals: list[Row]) -> Row:
    return {
        "kind": "review_blockers_recorded",
        "goalId": None,
        "blockerGoalIds": [one["id"] for one in goals],
        "goals": goals,
        "evidence": f"review of {done.source.kind} {clip(done.source.name, 80)}: {done.verdict}",
        "findings": [clip(one.objective, 300) for one in done.findings[:MOST_TOLD]],
    }
