"""Every criterion of a run, evaluated: code decides what it can, and the judge's answers fill in the rest.

The result of a heavy command may be taken over from an earlier iteration, by what the `judged` rows of the ledger
remember of it, so that nobody can write a result beside it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.digest import sha256
from omo.errors import OmoError
from omo.proof import globs, pins
from omo.proof.checks import CommandCheck, parse_checks
from omo.proof.evaluate import Observation, evaluate
from omo.proof.gate_runs import Subject
from omo.text import clip, listed
from omo.work import proving
from omo.work.judge import RESULTS, JudgeResult, Key
from omo.workflows.ralph.rules import CheckRow, Criterion, CriterionResult, digest_of
from omo.workflows.ralph.run import RalphRun, RalphState

HEAVY_SECONDS = 30.0
MOST_ITERATIONS_CACHED = 3
MOST_FILES = 5_000
MOST_REASONS = 3
LONGEST_EVIDENCE = 400
COMMANDS = ("command", "metric")
CODE, CACHED, EARLIER_BRIEF = "code", "cached", "judge (earlier brief)"
# Which source speaks for a criterion whose checks were settled in several ways: the one to trust least comes last.
SOURCES = (CODE, "judge", EARLIER_BRIEF, "inline", CACHED)
NOT_PINNED = "this check is not pinned for this criterion of this run, so it is neither run nor believed"


@dataclass(frozen=True)
class CheckResult:
    """By `key` a later iteration may take the result over, from the one that it was `ran_at`."""

    id: str
    result: str
    evidence: str
    source: str = CODE
    suggested_action: str = ""
    key: str = ""
    ran_at: int = 0


@dataclass
class Evaluation:
    """`heavy` is how many seconds a check must have taken for its result to be taken over."""

    run: RalphRun
    state: RalphState
    answers: Mapping[Key, JudgeResult]
    heavy: float
    clock: Callable[[], float]
    subject: Subject
    still_failing: list[str] = field(default_factory=list)  # tests that failed before the work, and do not count
    _observed: dict[tuple[str, str | None], tuple[Observation, float]] = field(default_factory=dict)

    def results(self, *, takes_over: bool) -> dict[str, CriterionResult]:
        """Of every criterion, whatever it was before. What was run for an earlier call is not run again."""
        pinned = pins.pinned(self.run.caller.state)
        results = {}
        for criterion in self.state.criteria:
            checks = [self._check(pinned, criterion, check, takes_over) for check in criterion.checks]
            results[criterion.id] = result_of(checks)
        return results

    def _check(self, pinned: pins.CheckPins, criterion: Criterion, check: CheckRow, takes_over: bool) -> CheckResult:
        name, digest = check["id"], digest_of(check)
        goal = criterion.goal(self.state.run)
        if not any((pin.digest, pin.goal) == (digest, goal) for pin in pinned.pins):
            return CheckResult(name, "unknown", NOT_PINNED)
        if check in criterion.questions:
            answer = self.answers[criterion.id, name]
            return CheckResult(name, answer.result, answer.evidence, answer.source, answer.suggested_action)
        key = cache_key(Path(self.run.caller.root), check, criterion.affected_paths)
        ran_at = remembered(self.state, criterion.id, key)
        if takes_over and ran_at:
            evidence = f"passed in iteration {ran_at}, and nothing that it depends on is another now"
            return CheckResult(name, "pass", evidence, CACHED, key=key, ran_at=ran_at)
        observation, seconds = self._observe(pinned, goal, check)
        evidence = "; ".join(filter(None, [observation.reason, observation.observed]))
        action = f"make the {check['type']} check {name} hold"
        if check["type"] in COMMANDS:
            action = f"run {clip(' '.join(check['argv']), 160)} and mend what it reports"
        key = key if seconds > self.heavy else ""
        return CheckResult(name, observation.result, evidence, CODE, action, key, self.state.iteration)

    def _observe(self, pinned: pins.CheckPins, goal: str, check: CheckRow) -> tuple[Observation, float]:
        """What was seen, and in how many seconds. What two criteria both ask is run once; the same check from another
        base is another question."""
        digest = digest_of(check)
        same = digest, pinned.of(digest, goal).base
        if same not in self._observed:
            tree = pinned.tree(self.run.caller.root, goal=goal, source=self.state.source)
            began = self.clock()
            (parsed,) = parse_checks([check])
            (observation,) = evaluate([parsed], tree).checks
            if observation.result == "fail" and not self.state.source and isinstance(parsed, CommandCheck):
                # Of the project's own tests, which nobody has named as what is wanted here, what failed before is none
                # of it: "a test that failed before, beside one of its own".
                if still := proving.still_failing(self.subject, parsed):
                    self.still_failing += still
                    reason = f"it passes, but for what failed before the work: {listed(still)}"
                    observation = replace(observation, result="pass", reason=reason, observed="")
            self._observed[same] = observation, self.clock() - began
        return self._observed[same]


def result_of(checks: Sequence[CheckResult]) -> CriterionResult:
    """Of a criterion, as the ledger keeps it: any check that fails fails it, any that is unknown leaves it unknown.

    `cached_from` is the iteration that ran it, where another did; `kept` is what a later one may take over.
    """
    result = "pass"
    for check in checks:
        if RESULTS.index(check.result) > RESULTS.index(result):
            result = check.result
    deciding = [check for check in checks if check.result == result]
    longest = LONGEST_EVIDENCE // min(len(deciding), MOST_REASONS)
    reasons = [clip(f"{check.id}: {check.evidence}", longest) for check in deciding]
    least = max(deciding, key=lambda check: SOURCES.index(check.source))
    row: CriterionResult = {"result": result, "evidence": listed(reasons, MOST_REASONS, "; "), "source": least.source}
    row |= {"cached_from": None, "suggested_action": ""}
    if least.source == CACHED:
        row |= {"source": f"{CACHED}@{least.ran_at}", "cached_from": least.ran_at}
    if result != "pass":
        row["suggested_action"] = next((check.suggested_action for check in deciding if check.suggested_action), "")
    elif kept := {check.key: check.ran_at for check in deciding if check.key}:
        row["kept"] = kept
    return row


# When a result is taken over


def cache_key(root: Path, check: CheckRow, affected_paths: Sequence[str]) -> str:
    """Changes with the check and with any file it declares to depend on, whatever git knows of that file.

    Empty where nothing can be remembered: no command, no paths, no file there, or one that cannot be seen whole.
    """
    if check["type"] not in COMMANDS:
        return ""
    contents = []
    try:
        for path in sorted(_declared_files(root, affected_paths)):
            content = (root / path).read_bytes()  # a link to a directory, or to nothing, cannot be read
            contents.append([path, os.access(root / path, os.X_OK), sha256(content)])
    except (OSError, OmoError):
        return ""
    return sha256(repr([digest_of(check), contents]).encode("utf-8", "surrogateescape"))[:16] if contents else ""


def _declared_files(root: Path, affected_paths: Sequence[str]) -> set[str]:
    """A directory stands for all that is in it. None where they cannot be seen whole."""
    files: set[str] = set()
    for glob in affected_paths:
        for pattern in (glob, f"{glob}/**"):
            matches = globs.find(root, pattern)
            files.update(path for path in matches.paths if not (root / path).is_dir() or (root / path).is_symlink())
            if matches.strays or len(files) > MOST_FILES:
                return set()
    return files


def remembered(state: RalphState, criterion: str, key: str) -> int:
    """The iteration that ran a check which passed with this key, by the newest judgement; 0 where it is too old."""
    ran_at = (state.last_result(criterion).get("kept") or {}).get(key, 0)
    return ran_at if 0 < state.iteration - ran_at <= MOST_ITERATIONS_CACHED else 0
