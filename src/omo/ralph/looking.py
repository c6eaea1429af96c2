"""One look at every criterion: code evaluates what it can, and the judge's answers fill in the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omo.evidence import pins
from omo.evidence.checks import Check, CommandCheck, JudgeCheck, MetricCheck, digest_of_check
from omo.evidence.evaluate import Observation, evaluate
from omo.ralph import cache
from omo.ralph.answers import Answer, Key
from omo.ralph.criteria import Criterion
from omo.ralph.run import RalphRun, Standing
from omo.shown import clip

Row = dict[str, Any]

LONGEST_EVIDENCE = 400
LONGEST_KEPT = 100
MOST_REASONS = 3
# Which source speaks for a criterion whose checks were settled in several ways: the one to trust least.
EARLIER = "judge (earlier brief)"
SOURCES = ("code", "judge", EARLIER, "inline", "cached")
NOT_PINNED = "this check is not pinned for this criterion of this run, so it is neither run nor believed"


@dataclass(frozen=True)
class Seen:
    """One check. `key`, `seconds` and `ran_at` are what a later iteration may take the result over by."""

    id: str
    result: str
    evidence: str
    source: str = "code"
    suggested_action: str = ""
    digest: str = ""
    key: str = ""
    seconds: float = 0.0
    ran_at: int = 0

    @property
    def is_cached(self) -> bool:
        return self.source.startswith("cached")

    @property
    def fact(self) -> Row:
        """What a later iteration needs in order to take it over."""
        told = {"id": self.id, "evidence": clip(self.evidence, LONGEST_KEPT), "digest": self.digest}
        return {**told, "key": self.key, "seconds": round(self.seconds, 3), "ran_at": self.ran_at}


@dataclass(frozen=True)
class Finding:
    """One criterion: any check that fails fails it, any that is unknown leaves it unknown."""

    criterion: Criterion
    checks: Sequence[Seen]

    @property
    def result(self) -> str:
        results = {one.result for one in self.checks}
        return next((result for result in ("fail", "unknown") if result in results), "pass" if results else "unknown")

    @property
    def deciding(self) -> list[Seen]:
        return [one for one in self.checks if one.result == self.result]

    @property
    def source(self) -> str:
        """Where the result comes from; `cached@N` names the iteration that ran the check."""
        return max((one.source for one in self.deciding), key=lambda one: SOURCES.index(one.partition("@")[0]))

    @property
    def evidence(self) -> str:
        told = [f"{one.id}: {one.evidence}" for one in self.deciding]
        more = f"; and {len(told) - MOST_REASONS} more" if len(told) > MOST_REASONS else ""
        each = LONGEST_EVIDENCE // min(len(told), MOST_REASONS) - 10
        return "; ".join(clip(one, each) for one in told[:MOST_REASONS]) + more

    @property
    def suggested_action(self) -> str:
        if self.result == "pass":
            return ""
        return next((one.suggested_action for one in self.deciding if one.suggested_action), "")

    @property
    def data(self) -> Row:
        return {
            "result": self.result,
            "evidence": self.evidence,
            "source": self.source,
            "suggested_action": self.suggested_action,
        }

    def heavy_facts(self, heavy: float) -> list[Row]:
        """The checks whose results a later iteration may take over."""
        if self.result != "pass":
            return []
        return [one.fact for one in self.checks if one.key and one.seconds > heavy]

    def as_unknown(self, why: str) -> Finding:
        return replace(self, checks=[Seen(one.id, "unknown", why) for one in self.checks])


@dataclass
class Look:
    """What to look with. `failed` is what an earlier brief of the iteration found, which stands whatever is said now;
    `heavy` is how long a check must have taken for its result to be taken over.
    """

    run: RalphRun
    at: Standing
    answers: Mapping[Key, Answer]
    source: str = "judge"
    failed: Mapping[Key, Answer] = field(default_factory=dict)
    heavy: float = cache.HEAVY_SECONDS
    clock: Callable[[], float] = time.monotonic
    _pinned: pins.Pinned = field(init=False)
    _known: dict[tuple[str, str | None], tuple[Observation, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pinned = pins.pinned(self.run.state)

    def at_all(self) -> list[Finding]:
        """Every criterion, whatever it was before."""
        return [Finding(one, [self._see(one, check) for check in one.checks]) for one in self.at.criteria]

    def again(self, findings: Sequence[Finding]) -> list[Finding]:
        """Run now what was taken over."""
        return [
            replace(one, checks=[self._run(one.criterion, seen) if seen.is_cached else seen for seen in one.checks])
            for one in findings
        ]

    def _see(self, criterion: Criterion, check: Check) -> Seen:
        digest = digest_of_check(check)
        goal = criterion.goal(self.at.run)
        if not any((pin.digest, pin.goal) == (digest, goal) for pin in self._pinned.pins):
            return Seen(check.id, "unknown", NOT_PINNED)
        if isinstance(check, JudgeCheck):
            asked = criterion.id, check.id
            answer = self.failed.get(asked, self.answers[asked])
            source = EARLIER if asked in self.failed else self.source
            return Seen(check.id, answer.result, answer.evidence, source, answer.suggested_action)
        key = cache.key(Path(self.run.root), check, criterion.affected_paths)
        fact = cache.earlier(self.at.last_judged, criterion.id, check.id, digest)
        if fact and cache.holds(fact, key, iteration=self.at.iteration, heavy=self.heavy):
            ran_at, took = int(fact["ran_at"]), float(fact["seconds"])
            return Seen(check.id, "pass", fact["evidence"], f"cached@{ran_at}", "", digest, key, took, ran_at)
        return self._evaluated(criterion, check, digest, key)

    def _run(self, criterion: Criterion, seen: Seen) -> Seen:
        check = next(one for one in criterion.checks if one.id == seen.id)
        return self._evaluated(criterion, check, seen.digest, seen.key)

    def _evaluated(self, criterion: Criterion, check: Check, digest: str, key: str) -> Seen:
        found, seconds = self._observe(criterion, check, digest)
        told = f"{found.reason}; {found.observed}" if found.observed else found.reason
        action = "" if found.result == "pass" else _action(check)
        return Seen(check.id, found.result, told, "code", action, digest, key, seconds, self.at.iteration)

    def _observe(self, criterion: Criterion, check: Check, digest: str) -> tuple[Observation, float]:
        """What two criteria both ask is run once; the same check from another base is another question."""
        goal = criterion.goal(self.at.run)
        same = digest, self._pinned.base(digest, goal)
        if same not in self._known:
            tree = self._pinned.tree(self.run.root, goal=goal, source=self.at.source)
            began = self.clock()
            (found,) = evaluate([check], tree).checks
            self._known[same] = found, self.clock() - began
        return self._known[same]


def _action(check: Check) -> str:
    if isinstance(check, (CommandCheck, MetricCheck)):
        return f"run {clip(' '.join(check.argv), 160)} and mend what it reports"
    return f"make the {check.type} check {check.id} hold"
