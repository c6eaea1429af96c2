"""Whether a plan was carried out, by git and the files alone. What anybody noted down about it is never read.

A step passes when its checks hold now, a commit since the base is its own (`claims` says how), that commit touches
its paths, and HEAD has them otherwise than the base. A path may also come in a later commit, to mend what was
forgotten. Nothing is said against a step because git could not be asked: that is unknown.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from omo.errors import BadInput, NotEvaluable
from omo.evidence import changes
from omo.shown import clip
from omo.ultraplan import history, parser, scope
from omo.ultraplan.claims import claim
from omo.ultraplan.document import Document
from omo.ultraplan.history import Commit
from omo.ultraplan.step_audit import MOST_FINDINGS, Past, Status, StepAudit, judge

EXIT_CODES = {"pass": 0, "drift": 3, "unknown": 4}


@dataclass(frozen=True)
class Audit:
    """`problems` are why something about the session could not be established. `ways_back` are the commands that take
    back all that is changed against the scope; empty where a commit has some of it."""

    base: str | None
    head: str | None
    steps: list[StepAudit]
    scope_violations: list[str] = field(default_factory=list)
    forbidden_violations: list[str] = field(default_factory=list)
    dirty: list[str] = field(default_factory=list)
    unclaimed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ways_back: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> Literal["pass", "drift", "unknown"]:
        statuses = {one.status for one in self.steps}
        if self.scope_violations or self.forbidden_violations or self.dirty or statuses & {"drift", "missing"}:
            return "drift"
        return "unknown" if self.problems or "unknown" in statuses or not self.steps else "pass"

    @property
    def words(self) -> str:
        """The verdict as people read it: what was skipped is no part of what passed."""
        skipped = sum(one.status == "skipped" for one in self.steps)
        return f"{self.verdict}, {skipped} skipped" if skipped else self.verdict

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def missing(self) -> list[int]:
        """The steps that are neither passed nor skipped."""
        return [one.step for one in self.steps if one.status not in ("pass", "skipped")]

    @property
    def passed(self) -> list[int]:
        return [one.step for one in self.steps if one.status == "pass"]

    @property
    def has_violations(self) -> bool:
        """Something is changed that must not be: for the user to decide, never to be recovered from."""
        return bool(self.scope_violations or self.forbidden_violations)

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.verdict == "pass",
            "verdict": self.verdict,
            "steps": [one.to_json() for one in self.steps],
            "session": {
                "scope_violations": self.scope_violations,
                "forbidden_violations": self.forbidden_violations,
                "dirty": self.dirty,
                "unclaimed_commits": self.unclaimed,
                "problems": self.problems,
                "ways_back": self.ways_back,
            },
            "base": self.base,
            "head": self.head,
        }


def audit(
    document: Document,
    root: Path,
    *,
    base: str,
    skipped: Mapping[int, str] | None = None,
    inputs: Collection[str] = (),
) -> Audit:
    """`skipped` has the reasons by step; they count where the plan lets the step be skipped. `inputs` are paths that
    ask for the work, as the plan itself does: changing those leaves no scope and makes no tree dirty."""
    try:
        since = history.base_of(root, base)
        found = history.commits(root, since)
        net = history.net(root, since)
    except NotEvaluable as error:
        return _unknown(document, error)
    left_out = _left_out(document, skipped or {})
    claims = claim([step for step in document.work_steps if step.number not in left_out], found)
    past = Past(root, since, found, net)
    steps = [
        StepAudit(step.number, "skipped", None, [clip(left_out[step.number], 300)], step.title)
        if step.number in left_out
        else judge(document, step, past, claims.by_step.get(step.number), claims.unclear.get(step.number))
        for step in document.work_steps
    ]
    claimed = {one.commit.sha for one in claims.by_step.values()}
    told = Audit(since, changes.head(root), steps, unclaimed=_unclaimed(found, claimed))
    told = _with_refused_skips(told, document, skipped or {})
    return _with_session(told, document, past, _not_counted(document, root, inputs))


def _unknown(document: Document, error: NotEvaluable) -> Audit:
    reason = _said(error)
    steps = [StepAudit(step.number, "unknown", None, [reason], step.title) for step in document.work_steps]
    return Audit(None, None, steps, problems=[reason])


def _said(error: NotEvaluable) -> str:
    return clip(error.message + (f"; {error.fix}" if error.fix else ""), 500)


def _left_out(document: Document, skipped: Mapping[int, str]) -> dict[int, str]:
    may = [step.number for step in document.work_steps if step.on_failure == "skip"]
    return {number: skipped[number] for number in may if number in skipped}


def _with_refused_skips(told: Audit, document: Document, skipped: Mapping[int, str]) -> Audit:
    """Said where a step was skipped that must not be; it is judged like any other."""
    steps = []
    for one in told.steps:
        step = document.step(one.step)
        if one.step in skipped and one.status not in ("skipped", "pass") and step is not None:
            said = f"was skipped, and its On failure is {step.on_failure or 'not given'}, not skip"
            one = replace(one, findings=[*one.findings, said])
        steps.append(one)
    return replace(told, steps=steps)


def _unclaimed(found: Sequence[Commit], claimed: Collection[str]) -> list[str]:
    """A merge that only merges has nothing that another commit does not have."""
    return [str(one) for one in found if one.sha not in claimed and (one.own_changes or not one.is_merge)]


def _with_session(told: Audit, document: Document, past: Past, not_counted: Collection[str]) -> Audit:
    problems: list[str] = []
    changed: list[str] = []
    dirty: list[str] = []
    try:
        changed = changes.changed(past.root, past.base)
        dirty = history.dirty(past.root)
    except NotEvaluable as error:
        problems.append(_said(error))
    trail = scope.Trail(past.commits, [path for path in changed if path not in not_counted], not_counted)
    forbidden = trail.forbidden(document)
    fence = scope.fence_of(document)
    return replace(
        told,
        steps=[_with_forbidden(one, forbidden.get(one.step, [])) for one in told.steps],
        scope_violations=trail.violations(fence),
        forbidden_violations=[line for lines in forbidden.values() for line in lines],
        dirty=[clip(path, 300) for path in dirty if path not in not_counted and not scope.is_apart(path)],
        problems=problems,
        ways_back=_ways_back(past.root, trail.not_committed(document, fence)),
    )


def _ways_back(root: Path, paths: Sequence[str]) -> list[str]:
    """For each path the command that takes it back, which the fence lets through."""
    if not paths:
        return []
    try:
        untracked = {path.rstrip("/") for path in changes.loose(root)}
    except NotEvaluable:
        return []
    commands = []
    for path in paths:
        undo = "git restore"
        if path in untracked:
            undo = "rm -r" if os.path.isdir(root / path) else "rm"
        commands.append(f"{undo} {shlex.quote(path)}")
    return commands


def _with_forbidden(one: StepAudit, lines: Sequence[str]) -> StepAudit:
    if not lines:
        return one
    status: Status = one.status if one.status in ("missing", "skipped") else "drift"
    return replace(one, status=status, findings=[*one.findings, *lines][:MOST_FINDINGS])


def _not_counted(document: Document, root: Path, inputs: Collection[str]) -> frozenset[str]:
    """The document itself, the plan it was made from, and the other specs made from that, which lie beside it."""
    top = os.path.realpath(root)
    folder = os.path.dirname(os.path.realpath(os.path.join(top, document.path)))
    named = [os.path.join(top, one) for one in (document.path, document.master_plan, *inputs) if one]
    beside = [path for path in _markdown_in(folder) if _is_sibling(Path(path), root, document)]
    found = (os.path.relpath(os.path.realpath(path), top).replace(os.sep, "/") for path in (*named, *beside))
    return frozenset(found)


def _markdown_in(folder: str) -> list[str]:
    try:
        return sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".md"))[:200]
    except OSError:
        return []


def _is_sibling(path: Path, root: Path, document: Document) -> bool:
    try:
        other = parser.load(path, root)
    except BadInput:
        return False
    made_from = {name for name in (document.master_plan, document.path) if name}
    return other.kind == "spec" and other.master_plan in made_from
