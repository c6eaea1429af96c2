"""What every item of a run says on the files as they are: code decides what it can, a judge's answers the rest.

The result of a heavy command may be reused in a later round. What is known of it stands in the `judged` rows of the
ledger, so that nobody can write a result beside it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.digest import sha256
from omo.engine.answers import FOR_JUDGEMENT, Owed, questions
from omo.engine.case import Case, CaseItem, CaseRow, CheckRow, CheckSeen, ItemResult, digest_of
from omo.engine.hearing import Heard
from omo.engine.runs import CaseRun
from omo.errors import NotEvaluable, OmoError
from omo.proof import globs, pins
from omo.proof.checks import Check, CommandCheck, MetricCheck, parse_checks
from omo.proof.evaluate import ChecksVerdict, Observation, evaluate
from omo.proof.gate_runs import Subject
from omo.text import clip, counted, listed
from omo.work import proving
from omo.work.files import Files
from omo.work.judge import RESULTS, JudgeResult, Key

HEAVY_SECONDS = 30.0
MOST_ROUNDS_KEPT = 3
MOST_FILES = 5_000
MOST_REASONS = 3
LONGEST_EVIDENCE = 400
COMMANDS = ("command", "metric")
CODE, ANSWERED, CACHED, EARLIER_BRIEF = "code", "the agent's answer", "cached", "judge (earlier brief)"
# Which source speaks for an item whose checks were settled in several ways: the least trustworthy comes last.
SOURCES = (CODE, "judge", EARLIER_BRIEF, ANSWERED, "inline", CACHED)
NOT_PINNED = "this check is not pinned for this {} of this run, so it is neither run nor believed"


@dataclass(frozen=True)
class CheckResult:
    """What one check said. By its `key` a later round may reuse a result; `ran_at` is the round that made it."""

    id: str
    result: str
    evidence: str
    source: str = CODE
    suggested_action: str = ""
    key: str = ""
    ran_at: int = 0


@dataclass
class Evaluation:
    """The evaluation of one judgement. A check that took more than `heavy` seconds may be reused later."""

    run: CaseRun
    case: Case
    files: Files
    answers: Mapping[Key, JudgeResult]
    subject: Subject
    heavy: float
    clock: Callable[[], float]
    judged: Heard | None = None  # if the agent may answer in the judge's place
    notes: list[str] = field(default_factory=list)  # what the end has to name, and what lowers nothing
    seen: list[CheckSeen] = field(default_factory=list)  # what each check said, of a filed item
    asked: list[Owed] = field(default_factory=list)  # what the agent answers, and how that stands
    _observed: dict[tuple[str, str | None], tuple[Observation, float]] = field(default_factory=dict)

    def results(self, *, reuses: bool) -> dict[str, ItemResult]:
        """Look at every item, however it stood. A check that ran for an earlier call is not run again."""
        pinned = pins.pinned(self.run.caller.state)
        if self.case.flow.is_filed:
            return {self.case.item.id: self._filed(pinned)}
        results = {}
        answered = [CheckResult(step.name, step.result, step.why, ANSWERED) for step in self._asked()]
        for item in self.case.items:
            results[item.id] = result_of(
                [*(self._check(pinned, item, check, reuses) for check in item.checks), *answered]
            )
        return results

    def _asked(self) -> list[Owed]:
        """Return the answers that decide: those that a pass needs, and any that found something broken."""
        self.asked = questions(self.case, self.judged, self.files)
        flow = self.case.flow
        return [step for step in self.asked if flow.answers[step.name].decides or step.state == "failed"]

    def _filed(self, pinned: pins.CheckPins) -> ItemResult:
        """Look at the only item, whose checks in words are settled by a judge, else by the agent's own answers."""
        judged = self.judged
        self.seen = seen_by(look_at_checks(self.run, pinned), judged)
        checks = []
        for check in self.seen:
            if check["type"] not in FOR_JUDGEMENT:
                checks.append(CheckResult(check["id"], check["result"], check["reason"]))
        if judged is not None and judged.state in ("done", "failed"):
            result = "pass" if judged.state == "done" else "fail"
            checks.append(CheckResult("judge", result, judged.why, "judge"))
        checks += [CheckResult(step.name, step.result, step.why, ANSWERED) for step in self._asked()]
        return result_of(checks)

    @property
    def looked_rows(self) -> list[CaseRow]:
        return [looked_row(self.seen, Files(self.run.caller.root))] if self.case.flow.is_filed else []

    @property
    def why(self) -> str:
        """Say why a filed item does not pass; else what of it was seen to hold."""
        code = [check for check in self.seen if check["type"] not in FOR_JUDGEMENT]
        broken = [f"check {check['id']}: {check['reason']}" for check in code if check["result"] == "fail"]
        if self.judged is not None and self.judged.state == "failed":
            broken.append(f"judge: {self.judged.why}")
        broken += [f"{step.name}: {step.why}" for step in self.asked if step.state == "failed"]
        if broken:
            return "; ".join(broken)
        unclear = []
        for check in code:
            if check["result"] == "unknown":
                unclear.append(f"check {check['id']} could not be evaluated: {check['reason']}")
        for step in self.asked:
            if step.is_open and self.case.flow.answers[step.name].decides:
                unclear.append(step.text)
        answered = [step.name for step in self.asked if not step.is_open]
        facts = [passes(self.seen), f"answered: {', '.join(answered)}" if answered else ""]
        return "; ".join(unclear or filter(None, facts))

    def _check(self, pinned: pins.CheckPins, item: CaseItem, check: CheckRow, reuses: bool) -> CheckResult:
        name, digest, goal = check["id"], digest_of(check), self.run.pinned_for(item.id)
        if not any((pin.digest, pin.goal) == (digest, goal) for pin in pinned.pins):
            return CheckResult(name, "unknown", NOT_PINNED.format(self.case.flow.unit))
        if check in item.questions:
            answer = self.answers[item.id, name]
            return CheckResult(name, answer.result, answer.evidence, answer.source, answer.suggested_action)
        key = cache_key(Path(self.run.caller.root), check, item.affected_paths)
        ran_at = remembered(self.case, item.id, key)
        if reuses and ran_at:
            evidence = f"passed in iteration {ran_at}, and nothing that it depends on is another now"
            return CheckResult(name, "pass", evidence, CACHED, key=key, ran_at=ran_at)
        observation, seconds = self._observe(pinned, goal, check)
        evidence = "; ".join(filter(None, [observation.reason, observation.observed]))
        action = f"make the {check['type']} check {name} hold"
        if check["type"] in COMMANDS:
            action = f"run {clip(' '.join(check['argv']), 160)} and mend what it reports"
        key = key if seconds > self.heavy else ""
        return CheckResult(name, observation.result, evidence, CODE, action, key, self.case.round)

    def _observe(self, pinned: pins.CheckPins, goal: str, check: CheckRow) -> tuple[Observation, float]:
        """Evaluate one check, and say how long it took.

        A check that two items ask for runs once; the same check from another base is another question.
        """
        digest = digest_of(check)
        same = digest, pinned.of(digest, goal).base
        if same not in self._observed:
            tree = pinned.tree(self.run.caller.root, goal=goal, source=self.case.source)
            began = self.clock()
            (parsed,) = parse_checks([check])
            (observation,) = evaluate([parsed], tree).checks
            observation = self._with_allowances(parsed, observation)
            self._observed[same] = observation, self.clock() - began
        return self._observed[same]

    def _with_allowances(self, check: Check | str, observation: Observation) -> Observation:
        """Let one of the project's own checks pass that fails by what the user allowed alone; else say what they type.

        A command in a file of items is what is wanted here, so nothing of it is let through.
        """
        if observation.result != "fail" or self.case.source or not isinstance(check, CommandCheck):
            return observation
        made = proving.proved(self.subject, check)
        if not made.holds:
            return replace(observation, reason=observation.reason + proving.way_to_allow(made))
        self.notes.append(proving.known_failures_in_words(made.known_failures))
        reason = f"it passes, but for what the user allowed: {listed(made.known_failures)}"
        return replace(observation, result="pass", reason=reason, observed="")


def look_at_checks(run: CaseRun, pinned: pins.CheckPins) -> ChecksVerdict:
    """Return what the checks of a filed item say of the files as they are. The file that asks is not the work."""
    case = run.require_state()
    tree = pinned.tree(run.caller.root, goal=run.pinned_for(case.item.id), source=case.source)
    return evaluate(parse_checks(case.item.as_written), tree)


def seen_by(verdict: ChecksVerdict, judged: Heard | None = None) -> list[CheckSeen]:
    """Return what each check said; of one in words what the judge said, if it passed all of them."""
    seen = []
    for check in verdict.checks:
        result, reason = str(check.result), check.reason
        if judged is not None and judged.state == "done" and check.type in FOR_JUDGEMENT:
            result, reason = "pass", f"the judge: {judged.answers[check.id].evidence}"
        said: CheckSeen = {"id": check.id, "type": check.type, "result": result, "reason": reason}  # type: ignore[typeddict-item]
        said["observed"] = check.observed
        seen.append(said)
    return seen


def looked_row(seen: list[CheckSeen], files: Files) -> CaseRow:
    """Return the row that keeps what the checks said, and of which files if those can be seen."""
    row: CaseRow = {"kind": "looked", "checks": seen}
    with contextlib.suppress(NotEvaluable):
        row["tree"] = files.tree
    return row


def passes(seen: Sequence[CheckSeen]) -> str:
    """Say how many checks pass: `1 of 1 check passes`; nothing if none does."""
    passed = sum(check["result"] == "pass" for check in seen)
    verb = "passes" if len(seen) == 1 else "pass"
    return f"{passed} of {counted(len(seen), 'check')} {verb}" if passed else ""


def result_of(checks: Sequence[CheckResult]) -> ItemResult:
    """Return the result of an item: any check that fails fails it, any that is unknown leaves it unknown.

    `cached_from` is the round that ran it, if an earlier one did; `kept` is what a later one may reuse.
    """
    result = max((check.result for check in checks), key=RESULTS.index, default="unknown")
    deciding = [check for check in checks if check.result == result]
    longest = LONGEST_EVIDENCE // min(max(len(deciding), 1), MOST_REASONS)
    reasons = [clip(f"{check.id}: {check.evidence}", longest) for check in deciding]
    least = max(deciding, key=lambda check: SOURCES.index(check.source))
    row: ItemResult = {"result": result, "evidence": listed(reasons, MOST_REASONS, "; "), "source": least.source}
    row |= {"cached_from": None, "suggested_action": ""}
    if least.source == CACHED:
        row |= {"source": f"{CACHED}@{least.ran_at}", "cached_from": least.ran_at}
    if result != "pass":
        row["suggested_action"] = next((check.suggested_action for check in deciding if check.suggested_action), "")
    elif kept := {check.key: check.ran_at for check in deciding if check.key}:
        row["kept"] = kept
    return row


def commands_of(items: Sequence[CaseItem]) -> list[CommandCheck | MetricCheck]:
    commands = []
    for item in items:
        for check in parse_checks(item.checks):
            if isinstance(check, (CommandCheck, MetricCheck)):
                commands.append(check)
    return commands


def named_checks(case: Case) -> list[tuple[str, Check | str, bool]]:
    """Return every check with its name, and whether it is the user's."""
    checks = []
    for item in case.items:
        for number, check in enumerate(parse_checks(item.checks), start=1):
            name = item.id if len(item.checks) == 1 else f"{item.id}.{number}"
            if case.flow.is_filed:
                name = item.checks[number - 1]["id"]
            checks.append((name, check, case.is_confirmed))
    return checks


# When a result is reused


def cache_key(root: Path, check: CheckRow, affected_paths: Sequence[str]) -> str:
    """Return a key that changes with the check and with any file it depends on, whatever git knows of that file.

    Empty if nothing can be kept: no command, no paths, no file there, or one that cannot be seen whole.
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
    """Return the files, a directory with all that is in it; none if they cannot be seen whole."""
    files: set[str] = set()
    for glob in affected_paths:
        for pattern in (glob, f"{glob}/**"):
            matches = globs.find(root, pattern)
            files.update(path for path in matches.paths if not (root / path).is_dir() or (root / path).is_symlink())
            if matches.strays or len(files) > MOST_FILES:
                return set()
    return files


def remembered(case: Case, item: str, key: str) -> int:
    """Return the round that ran a check which passed with this key, by the newest judgement; 0 if it is too old."""
    ran_at = (case.last_result(item).get("kept") or {}).get(key, 0)
    return ran_at if 0 < case.round - ran_at <= MOST_ROUNDS_KEPT else 0
