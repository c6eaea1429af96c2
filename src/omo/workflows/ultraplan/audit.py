"""Whether a plan was carried out, by git and the files alone. What anybody noted down about it is never read.

A step passes when its checks hold now, a commit since the base is its own (`claims` says how), that commit touches
its paths, and HEAD has them otherwise than the base. A path may also come in a later commit, to mend what was
forgotten. Nothing is said against a step because git could not be asked: that is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import globs
from omo.proof.base import is_leftover
from omo.proof.checks import Check, parse_checks
from omo.proof.evaluate import CheckedTree, evaluate
from omo.text import clip
from omo.workflows.ultraplan.claims import CommitClaim, claim, wishes
from omo.workflows.ultraplan.document import fence_of_plan
from omo.workflows.ultraplan.history import Commit, History, PathChange
from omo.workflows.ultraplan.models import Document, Manifest, Step, covering

MOST_FINDINGS = 20
MOST_SHOWN = 20
EXIT_CODES = {"pass": 0, "drift": 3, "unknown": 4}

# Evidence is about the work and no part of it; so is our state.
APART = (globs.OWN, ".sisyphus/evidence")

StepStatus = Literal["pass", "drift", "missing", "unknown", "skipped"]
NEVER, OUTSIDE = "never to be touched", "outside the scope"


@dataclass(frozen=True)
class StepAudit:
    """`findings` of a step that passed are notes."""

    step: int
    status: StepStatus
    commit: str | None = None
    findings: list[str] = field(default_factory=list)
    title: str = ""


@dataclass(frozen=True)
class Violation:
    """A path that is changed and must not be. `commit` is the first that changed it; None where it is only not
    committed. `step` is the one whose own commit changed it; 0 where none did."""

    path: str
    rule: str
    commit: Commit | None = None
    step: int = 0

    def __str__(self) -> str:
        by = f"changed by {self.commit}" if self.commit else "changed and not committed"
        return f"{clip(self.path, 300)}: {by} ({self.rule})"


@dataclass(frozen=True)
class Audit:
    """`violations` keep the session from passing. `left_alone` does not: what is changed outside of touch, and in no
    step's commit. The fence lets no call through that writes there, so it may be the user's. `allowed` are the paths
    among both that the user has let through. `problems` are why something about the session could not be established.
    `changed` is every path that is not as the base had it."""

    base: str | None
    head: str | None
    steps: list[StepAudit]
    violations: list[Violation] = field(default_factory=list)
    left_alone: list[Violation] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    dirty: list[str] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Literal["pass", "drift", "unknown"]:
        statuses = {step.status for step in self.steps}
        if self.violations or self.dirty or statuses & {"drift", "missing"}:
            return "drift"
        return "unknown" if self.problems or "unknown" in statuses or not self.steps else "pass"

    @property
    def words(self) -> str:
        """The verdict as people read it: what was skipped is no part of what passed."""
        skipped = sum(step.status == "skipped" for step in self.steps)
        return f"{self.verdict}, {skipped} skipped" if skipped else self.verdict

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def missing(self) -> list[int]:
        """The steps that are neither passed nor skipped."""
        return [step.step for step in self.steps if step.status not in ("pass", "skipped")]

    @property
    def passed(self) -> list[int]:
        return [step.step for step in self.steps if step.status == "pass"]

    def notes(self, *, is_ended: bool) -> list[str]:
        """What there is to say beside the steps, bounded. What was let through the end itself names."""
        every: dict[str, Sequence[object]] = {"changed against the scope": self.violations}
        if not is_ended:
            every["outside the fence, in no step's commit, left alone"] = self.left_alone
            every["let through by the user"] = self.allowed
        every["not committed"] = self.dirty
        every["commits of no step"] = self.unclaimed
        every["not established"] = self.problems
        lines = []
        for about, listed in every.items():
            lines += [clip(f"{about}: {entry}", 400) for entry in listed[:MOST_SHOWN]]
            if len(listed) > MOST_SHOWN:
                lines.append(f"{about}: {len(listed) - MOST_SHOWN} more")
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.verdict == "pass",
            "verdict": self.verdict,
            "steps": [asdict(step) for step in self.steps],
            "session": {
                "scope_violations": list(map(str, self.violations)),
                "left_alone": list(map(str, self.left_alone)),
                "allowed": self.allowed,
                "dirty": self.dirty,
                "unclaimed_commits": self.unclaimed,
                "problems": self.problems,
            },
            "base": self.base,
            "head": self.head,
        }


def unknown(document: Document, error: NotEvaluable | Refused) -> Audit:
    """What is left where git cannot be asked, or what the plan was cannot be told."""
    reason = clip("; ".join(filter(None, (error.message, error.fix))), 500)
    steps = [_audited(step, "unknown", None, [reason]) for step in document.steps]
    return Audit(None, None, steps, problems=[reason])


def audit_history(
    document: Document,
    history: History,
    skipped: Mapping[int, str],
    allowed: Collection[str] = (),
    done: Mapping[int, str] | None = None,
) -> Audit:
    """`skipped` has the reasons by step; they count where the plan lets the step be skipped. `allowed` are paths that
    the user lets through. Steps that were `done` before the base have their commits there: their checks have to hold
    still. Changing the plan itself leaves no scope and makes no tree dirty."""
    before = done or {}
    to_do = []
    for step in document.steps:
        is_skipped = step.on_failure == "skip" and step.number in skipped
        if not is_skipped and step.number not in before:
            to_do.append(step)
    claims, unclear = claim(to_do, history.commits)
    every = _violations(document, history, claims)
    not_allowed = [violation for violation in every if violation.path not in allowed]
    violations = [violation for violation in not_allowed if violation.rule == NEVER or violation.step]
    steps = []
    for step in document.steps:
        number = step.number
        if step in to_do:
            outside = [violation.path for violation in violations if violation.step == number]
            steps.append(_judge(step, history, claims.get(number), unclear.get(number), outside))
        elif number in before:
            failed, unsettled = _checked(step, history)
            remark = "done before the session began"
            steps.append(_audited(step, _status(failed, unsettled), before[number], [*failed, *unsettled, remark]))
        else:
            steps.append(_audited(step, "skipped", None, [skipped[number]]))
    paths = {violation.path for violation in every}
    dirty = [path for path in history.tree.dirty if _counts(path, document, history) and path not in paths]
    return Audit(
        history.base,
        history.head,
        steps,
        violations,
        left_alone=[violation for violation in not_allowed if violation not in violations],
        allowed=[clip(path, 300) for path in sorted({*paths, *dirty}) if path in allowed],
        dirty=[clip(path, 300) for path in dirty if path not in allowed],
        unclaimed=_unclaimed(document, history, claims),
        changed=[change.path for change in history.changed],
    )


def _unclaimed(document: Document, history: History, claims: Mapping[int, CommitClaim]) -> list[str]:
    """The commits of no step, but for those of the plan itself, and merges that only merge."""
    claimed = {own.commit.sha for own in claims.values()}
    unclaimed = []
    for commit in history.commits:
        is_about_plan = bool(commit.own_changes) and all(path == document.path for path in commit.paths)
        if commit.sha not in claimed and not is_about_plan and (commit.own_changes or not commit.is_merge):
            unclaimed.append(str(commit))
    return unclaimed


# one step held against git and the files


def checks_of(step: Step) -> list[Check]:
    """What the step's manifest asks of the files, for the one evaluator of the evidence layer.

    Raises BadInput where a path or a pattern cannot be used.
    """
    manifest = step.manifest
    count = max(1, manifest.min_file_count) if manifest.counts_files else 1
    rows: list[dict[str, Any]] = []
    for path in manifest.expected_paths:
        rows.append({"type": "path", "path": path, "min_count": count})
    for path in manifest.absent_paths:
        rows.append({"type": "path", "path": path, "absent": True})
    for entry in manifest.must_contain:
        rows.append({"type": "content", "path": entry.path, "regex": entry.pattern})
    for path in manifest.bash_syntax_check:
        rows.append({"type": "syntax", "path": path, "language": "bash"})
    for index, row in enumerate(rows, start=1):
        row["id"] = f"step-{step.number}-{index}"
    return [check for check in parse_checks(rows, f"step {step.number}") if not isinstance(check, str)]


def _judge(
    step: Step, history: History, own: CommitClaim | None, unclear: str | None, outside: Sequence[str]
) -> StepAudit:
    """`outside` is what its own commit must not have changed: one that leaves the fence carries no step out."""
    manifest = step.manifest
    if not step.has_manifest:
        return _audited(step, "unknown", None, ["it has no manifest, so nothing says when it is done"])
    failed, unsettled = _checked(step, history)
    is_missing = own is None and manifest.expects_commit and not unclear
    if is_missing:
        pattern = clip(manifest.commit_message_pattern, 100)
        count, since = len(history.commits), history.base[:12]
        none = f"none of {count} commits since {since} is its own, with a subject like /{pattern}/"
        if not failed:
            none += "; its files are as they should be, but nothing says whose work they are"
        failed.insert(0, none)
    if unclear:
        unsettled.append(unclear)
    if own is None:
        status = "missing" if is_missing else _status(failed, unsettled)
        return _audited(step, status, None, [*failed, *unsettled])
    failed = [*_wrong_with_commit(manifest, own, history), *failed]
    if outside:
        failed.insert(0, f"its commit changes what it must not: {_named(outside)}")
    findings = [*failed, *unsettled]
    if own.shared_with:
        findings.append(f"shared: {own.commit} also carries step {', '.join(map(str, own.shared_with))}")
    return _audited(step, _status(failed, unsettled), own.commit.sha, findings)


def _audited(step: Step, status: StepStatus, commit: str | None, findings: Sequence[str]) -> StepAudit:
    shown = [clip(finding, 500) for finding in findings[:MOST_FINDINGS]]
    return StepAudit(step.number, status, commit or None, shown, step.title)


def _status(failed: Sequence[str], unsettled: Sequence[str]) -> StepStatus:
    if failed:
        return "drift"
    return "unknown" if unsettled else "pass"


def _checked(step: Step, history: History) -> tuple[list[str], list[str]]:
    """What does not hold, and what could not be settled."""
    failed: list[str] = []
    unsettled: list[str] = []
    try:
        checks = checks_of(step)
    except BadInput as error:
        return failed, [error.message]
    if history.is_past or not checks:
        return failed, unsettled
    for check in evaluate(checks, CheckedTree(history.root)).checks:
        line = f"{check.reason} ({check.observed})" if check.observed else check.reason
        if check.result == "fail":
            failed.append(line)
        elif check.result == "unknown":
            unsettled.append(line)
    return failed, unsettled


def _wrong_with_commit(manifest: Manifest, own: CommitClaim, history: History) -> list[str]:
    wanted = wishes(manifest)
    if not own.commit.changes:
        return [f"{own.commit} changes nothing at all"]
    if wanted and not any(wish.is_met_by(own.commit.changes) for wish in wanted):
        return [f"{own.commit} touches none of the expected paths: {_named([wish.glob for wish in wanted])}"]
    first = own.index if own.undone_at is None else own.undone_at + 1
    since: list[PathChange] = []
    ever: list[PathChange] = []
    for index, commit in enumerate(history.commits):
        ever += commit.changes
        if index >= first:
            since += commit.changes
    untouched, unchanged = [], []
    for wish in wanted:
        if not wish.is_met_by(ever if wish.is_absent else since):
            untouched.append(wish.glob)
        elif not wish.is_absent and not wish.is_met_by(history.net):
            unchanged.append(wish.glob)
    findings = []
    if untouched:
        reverted = f", and {history.commits[own.undone_at]} reverted it" if own.undone_at is not None else ""
        findings.append(f"{own.commit}{reverted}: no commit from there on touches {_named(untouched)}")
    if unchanged:
        findings.append(f"HEAD has it as the base had it: {_named(unchanged)}")
    return findings


def _named(paths: Sequence[str]) -> str:
    return clip(", ".join(paths), 300)


# what was changed that must not be


def _counts(path: str, document: Document, history: History) -> bool:
    """Our state and evidence, the plan itself, and what tests leave behind are no part of the work."""
    is_left_behind = is_leftover(path) and history.tree.is_untracked(path)
    return path != document.path and not covering(path, APART) and not is_left_behind


def _violations(document: Document, history: History, claims: Mapping[int, CommitClaim]) -> list[Violation]:
    """One for each path. Outside of touch is told where it is left changed: a slip that was taken back does no harm.
    What is never to be touched is told whatever became of it, even where a later commit took it back."""
    step_of = {own.commit.sha: number for number, own in claims.items()}
    first: dict[str, Commit] = {}
    steps: dict[str, int] = {}  # by path, the step whose commit changed it
    ever: list[PathChange] = []
    for commit in history.commits:
        for change in commit.own_changes:
            if _counts(change.path, document, history):
                ever.append(change)
                first.setdefault(change.path, commit)
                if commit.sha in step_of:
                    steps.setdefault(change.path, step_of[commit.sha])
    now = [change for change in history.changed if _counts(change.path, document, history)]
    fence = fence_of_plan(document)
    rules: dict[str, str] = {}
    for change in (*ever, *now):
        if change.is_about(fence.never):
            rules[change.path] = NEVER
    for change in now:
        if fence.touch and not change.is_about(fence.touch):
            rules.setdefault(change.path, OUTSIDE)
    return [Violation(path, rule, first.get(path), steps.get(path, 0)) for path, rule in rules.items()]
