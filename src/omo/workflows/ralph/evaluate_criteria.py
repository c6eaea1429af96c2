"""Every criterion of a run, evaluated: code decides what it can, and the judge's answers fill in the rest.

The result of a heavy command may be taken over from an earlier iteration, by what the `judged` rows of the ledger
remember of it, so that nobody can write a result beside it.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import OmoError
from omo.proof import globs, pins
from omo.proof.checks import parse_checks
from omo.proof.evaluate import Observation, evaluate
from omo.state.runtime import part
from omo.text import clip
from omo.workflows.ralph.judge_answer import Answer, Key
from omo.workflows.ralph.rules import Criterion, Row, digest_of
from omo.workflows.ralph.run import RalphRun, RalphState

HEAVY_SECONDS = 30.0
MOST_ITERATIONS_CACHED = 3
MOST_FILES = 5_000
MOST_FACTS = 100
MOST_REASONS = 3
LONGEST_EVIDENCE = 400
LONGEST_KEPT = 100
COMMANDS = ("command", "metric")
CODE, CACHED, EARLIER_BRIEF = "code", "cached", "judge (earlier brief)"
# Which source speaks for a criterion whose checks were settled in several ways: the one to trust least comes last.
SOURCES = (CODE, "judge", EARLIER_BRIEF, "inline", CACHED)
NOT_PINNED = "this check is not pinned for this criterion of this run, so it is neither run nor believed"


@dataclass(frozen=True)
class CheckResult:
    """`digest`, `key`, `seconds` and `ran_in` are what a later iteration may take the result over by."""

    id: str
    result: str
    evidence: str
    source: str = CODE
    suggested_action: str = ""
    digest: str = ""
    key: str = ""
    seconds: float = 0.0
    ran_in: int = 0  # iteration

    @property
    def is_cached(self) -> bool:
        return self.source == CACHED


@dataclass(frozen=True)
class CriterionResult:
    """Any check that fails fails it, any that is unknown leaves it unknown."""

    criterion: Criterion
    checks: Sequence[CheckResult]

    @property
    def result(self) -> str:
        results = {check.result for check in self.checks}
        for result in ("fail", "unknown"):
            if result in results:
                return result
        return "pass" if results else "unknown"

    @property
    def deciding(self) -> list[CheckResult]:
        return [check for check in self.checks if check.result == self.result]

    @property
    def evidence(self) -> str:
        deciding = self.deciding
        longest = LONGEST_EVIDENCE // min(len(deciding), MOST_REASONS) - 10
        reasons = [clip_middle(f"{check.id}: {check.evidence}", longest) for check in deciding[:MOST_REASONS]]
        if len(deciding) > MOST_REASONS:
            reasons.append(f"and {len(deciding) - MOST_REASONS} more")
        return "; ".join(reasons)

    @property
    def suggested_action(self) -> str:
        if self.result == "pass":
            return ""
        return next((check.suggested_action for check in self.deciding if check.suggested_action), "")

    @property
    def data(self) -> Row:
        """`source` is shown as it is; `cached_from` is the iteration that ran the check, where another did."""
        least = max(self.deciding, key=lambda check: SOURCES.index(check.source))
        return {
            "result": self.result,
            "evidence": self.evidence,
            "source": f"{CACHED}@{least.ran_in}" if least.is_cached else least.source,
            "cached_from": least.ran_in if least.is_cached else None,
            "suggested_action": self.suggested_action,
        }

    def as_unknown(self, why: str) -> CriterionResult:
        return replace(self, checks=[CheckResult(check.id, "unknown", why) for check in self.checks])


def heavy_facts(results: Sequence[CriterionResult], heavy: float) -> dict[str, list[Row]]:
    """By criterion, what a later iteration needs in order to take a result over; of those that pass."""
    facts: dict[str, list[Row]] = {}
    left = MOST_FACTS
    for result in results:
        if result.result != "pass":
            continue
        for check in result.checks:
            if not left or not check.key or check.seconds <= heavy:
                continue
            left -= 1
            fact = {
                "id": check.id,
                "evidence": clip(check.evidence, LONGEST_KEPT),
                "digest": check.digest,
                "key": check.key,
                "seconds": round(check.seconds, 3),
                "ran_at": check.ran_in,
            }
            facts.setdefault(result.criterion.id, []).append(fact)
    return facts


@dataclass
class Evaluation:
    """`failed` is what an earlier brief of the iteration found, which stands whatever is answered now.

    `heavy` is how long a check must have taken for its result to be taken over.
    """

    run: RalphRun
    state: RalphState
    answers: Mapping[Key, Answer]
    source: str = "judge"
    failed: Mapping[Key, Answer] = field(default_factory=dict)
    heavy: float = HEAVY_SECONDS
    clock: Callable[[], float] = time.monotonic
    _pinned: pins.Pinned = field(init=False)
    _observed: dict[tuple[str, str | None], tuple[Observation, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._pinned = pins.pinned(self.run.caller.state)

    def evaluate(self) -> list[CriterionResult]:
        """Every criterion, whatever it was before."""
        results = []
        for criterion in self.state.criteria:
            results.append(CriterionResult(criterion, [self._check(criterion, check) for check in criterion.checks]))
        return results

    def run_cached(self, results: Sequence[CriterionResult]) -> list[CriterionResult]:
        """The same, with everything run now that was taken over."""
        complete = []
        for result in results:
            checks = list(result.checks)
            for index, check in enumerate(result.criterion.checks):
                if checks[index].is_cached:
                    checks[index] = self._run(result.criterion, check, checks[index].digest, checks[index].key)
            complete.append(replace(result, checks=checks))
        return complete

    def _check(self, criterion: Criterion, check: Row) -> CheckResult:
        name, digest = check["id"], digest_of(check)
        goal = criterion.goal(self.state.run)
        if not any((pin.digest, pin.goal) == (digest, goal) for pin in self._pinned.pins):
            return CheckResult(name, "unknown", NOT_PINNED)
        if check in criterion.questions:
            asked = criterion.id, name
            source = EARLIER_BRIEF if asked in self.failed else self.source
            answer = self.failed.get(asked) or self.answers[asked]
            return CheckResult(name, answer.result, answer.evidence, source, answer.suggested_action)
        key = cache_key(Path(self.run.caller.root), check, criterion.affected_paths)
        fact = remembered(self.state.last_judged, criterion.id, name, digest)
        if fact and still_holds(fact, key, iteration=self.state.iteration, heavy=self.heavy):
            seconds, ran_in = float(fact["seconds"]), int(fact["ran_at"])
            return CheckResult(name, "pass", fact["evidence"], CACHED, "", digest, key, seconds, ran_in)
        return self._run(criterion, check, digest, key)

    def _run(self, criterion: Criterion, check: Row, digest: str, key: str) -> CheckResult:
        """What two criteria both ask is run once; the same check from another base is another question."""
        goal = criterion.goal(self.state.run)
        same = digest, self._pinned.base(digest, goal)
        if same not in self._observed:
            tree = self._pinned.tree(self.run.caller.root, goal=goal, source=self.state.source)
            began = self.clock()
            (observation,) = evaluate(parse_checks([check]), tree).checks
            self._observed[same] = observation, self.clock() - began
        observation, seconds = self._observed[same]
        evidence = observation.reason
        if observation.observed:
            evidence += f"; {observation.observed}"
        action = ""
        if observation.result != "pass" and check["type"] in COMMANDS:
            action = f"run {clip(' '.join(check['argv']), 160)} and mend what it reports"
        elif observation.result != "pass":
            action = f"make the {check['type']} check {check['id']} hold"
        ran_in = self.state.iteration
        return CheckResult(check["id"], observation.result, evidence, CODE, action, digest, key, seconds, ran_in)


def clip_middle(text: str, longest: int) -> str:
    """One line that keeps its end, where a program says what went wrong."""
    line = clip(text, len(text) + 1)
    if len(line) <= longest:
        return line
    begin = longest // 3
    return f"{line[:begin].rstrip()} … {line[begin - longest + 3 :].lstrip()}"


# When a result is taken over


def cache_key(root: Path, check: Row, affected_paths: Sequence[str]) -> str:
    """Changes with the check and with any file it declares to depend on, whatever git knows of that file.

    Empty where nothing can be remembered: no command, no paths, no file there, or one that cannot be seen whole.
    """
    if not affected_paths or check["type"] not in COMMANDS:
        return ""
    try:
        files = _files(root, affected_paths)
        whole = hashlib.sha256(digest_of(check).encode("ascii"))
        for path in files:
            name = os.fsencode(path)
            whole.update(b"%d:%b:%b" % (len(name), name, _file_digest(root / path)))
    except (OSError, OmoError):
        return ""
    return whole.hexdigest() if files else ""


def _files(root: Path, affected_paths: Sequence[str]) -> list[str]:
    """Sorted. Raises OSError where a link hides what is behind it, or where there are too many."""
    files: set[str] = set()
    for glob in affected_paths:
        for pattern in (glob, f"{glob}/**"):  # a directory stands for all that is in it
            matches = globs.find(root, pattern)
            for path in matches.paths:
                full = root / path
                if full.is_file():
                    files.add(path)
                elif full.is_symlink():
                    raise OSError(f"{path} hides what is behind it")
            if matches.strays or len(files) > MOST_FILES:
                raise OSError(f"{glob} names more than can be seen whole")
    return sorted(files)


def _file_digest(path: Path) -> bytes:
    """Of the executable bit and the content."""
    with path.open("rb") as file:
        digest = hashlib.sha256(b"x" if os.fstat(file.fileno()).st_mode & stat.S_IXUSR else b"-")
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.digest()


def remembered(judged: Row, criterion: str, check: str, digest: str) -> Row | None:
    """What the newest judgement keeps of a heavy check of a criterion that passed."""
    result = part(part(judged, "results"), criterion)
    if result.get("result") != "pass":
        return None
    for fact in result.get("heavy", ()):
        if (fact.get("id"), fact.get("digest")) == (check, digest):
            return dict(fact)
    return None


def still_holds(fact: Row, key: str, *, iteration: int, heavy: float = HEAVY_SECONDS) -> bool:
    """Whether the fact stands in for a run: the same key, heavy enough to be worth it, and not too old."""
    if not key or fact.get("key") != key:
        return False
    age = iteration - int(fact["ran_at"])
    return float(fact["seconds"]) > heavy and 0 < age <= MOST_ITERATIONS_CACHED
