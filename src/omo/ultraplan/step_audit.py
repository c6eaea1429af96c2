"""One step held against git and the files: its own commit, what that touched, and whether its checks hold now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from omo.errors import BadInput
from omo.evidence import globs
from omo.evidence.evaluate import Observation, Tree, evaluate
from omo.shown import clip
from omo.ultraplan import compiling
from omo.ultraplan.claims import Claim, wishes
from omo.ultraplan.document import Document, Manifest, Step
from omo.ultraplan.history import Change, Commit

Status = Literal["pass", "drift", "missing", "unknown", "skipped"]
MOST_FINDINGS = 20

# Settled from the history as a whole, once for all steps.
_NOT_OF_A_STEP = ("forbidden", "commit", "scope")


@dataclass(frozen=True)
class StepAudit:
    """`findings` of a step that passed are remarks."""

    step: int
    status: Status
    commit: str | None = None
    findings: list[str] = field(default_factory=list)
    title: str = ""
    shared_with: tuple[int, ...] = ()
    is_out_of_order: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "status": self.status,
            "commit": self.commit,
            "findings": self.findings,
            "title": self.title,
            "shared_with": list(self.shared_with),
            "out_of_order": self.is_out_of_order,
        }


@dataclass(frozen=True)
class Past:
    root: Path
    base: str
    commits: Sequence[Commit]
    net: Sequence[Change]


def judge(document: Document, step: Step, past: Past, held: Claim | None, unclear: str | None) -> StepAudit:
    manifest = step.manifest
    if manifest is None:
        return StepAudit(
            step.number, "unknown", None, ["it has no manifest, so nothing says when it is done"], step.title
        )
    failed, unsettled = _checked(step, _without(manifest, _deleted_later(document, step)), past)
    if held is not None:
        failed = [*_of_claim(document, step, manifest, held, past), *failed]
    is_missing = held is None and manifest.expects_commit and unclear is None
    if is_missing:
        failed = [_nobody(manifest, past, is_done=not failed), *failed]
    unsettled += [unclear] if unclear else []
    status: Status = "missing" if is_missing else "drift" if failed else "unknown" if unsettled else "pass"
    return StepAudit(
        step.number,
        status,
        held.commit.sha if held else None,
        [clip(one, 500) for one in (*failed, *unsettled, *_remarks(held))][:MOST_FINDINGS],
        step.title,
        held.shared_with if held else (),
        held.is_out_of_order if held else False,
    )


def _checked(step: Step, manifest: Manifest, past: Past) -> tuple[list[str], list[str]]:
    """What does not hold, and what could not be settled."""
    try:
        checks = compiling.checks_of(replace(step, manifest=manifest), base=past.base)
    except BadInput as error:
        return [], [error.message]
    found = evaluate([one for one in checks if one.type not in _NOT_OF_A_STEP], Tree(past.root, past.base)).checks
    return [_line(one) for one in found if one.result == "fail"], [
        _line(one) for one in found if one.result == "unknown"
    ]


def _line(one: Observation) -> str:
    return f"{one.reason} ({one.observed})" if one.observed else one.reason


def _nobody(manifest: Manifest, past: Past, *, is_done: bool) -> str:
    pattern = clip(manifest.commit_message_pattern, 100)
    also = "; its files are as they should be, but nothing says whose work they are" if is_done else ""
    return (
        f"none of {len(past.commits)} commits since {past.base[:12]} is its own, with a subject like /{pattern}/{also}"
    )


def _of_claim(document: Document, step: Step, manifest: Manifest, held: Claim, past: Past) -> list[str]:
    wanted = wishes(manifest)
    if not held.commit.changes:
        return [f"{held.commit} changes nothing at all"]
    if wanted and not any(one.is_met_by(held.commit.changes) for one in wanted):
        return [f"{held.commit} touches none of the expected paths: {_named(one.glob for one in wanted)}"]
    begin = held.at if held.undone_at is None else held.undone_at + 1
    since = [one for commit in past.commits[begin:] for one in commit.changes]
    ever = [one for commit in past.commits for one in commit.changes]
    untouched = [one.glob for one in wanted if not one.is_met_by(ever if one.is_absent else since)]
    gone = _deleted_later(document, step)
    as_before = [
        one.glob
        for one in wanted
        if not one.is_absent and one.glob not in (*untouched, *gone) and not one.is_met_by(past.net)
    ]
    undone = "" if held.undone_at is None else f", and {past.commits[held.undone_at]} reverted it"
    findings = [f"{held.commit}{undone}: no commit from there on touches {_named(untouched)}"] if untouched else []
    return findings + ([f"HEAD has it as the base had it: {_named(as_before)}"] if as_before else [])


def _remarks(held: Claim | None) -> list[str]:
    if held is None:
        return []
    others = f"shared: {held.commit} also carries step {', '.join(map(str, held.shared_with))}"
    order = f"out of order: {held.commit} does not follow the commits of the steps before it"
    return [others] * bool(held.shared_with) + [order] * held.is_out_of_order


def _deleted_later(document: Document, step: Step) -> list[str]:
    """Paths of the step that a later one is to delete: they cannot be there any more, and need not."""
    later = [one.manifest for one in document.work_steps if one.number > step.number and one.manifest]
    absent = [glob for manifest in later for glob in manifest.absent_paths]
    manifest = step.manifest or Manifest()
    named = {*manifest.expected_paths, *manifest.bash_syntax_check, *(one.path for one in manifest.must_contain)}
    return sorted(path for path in named if any(globs.covers(path, glob) for glob in absent))


def _without(manifest: Manifest, paths: Sequence[str]) -> Manifest:
    expected = tuple(path for path in manifest.expected_paths if path not in paths)
    return replace(
        manifest,
        expected_paths=expected,
        min_file_count=min(manifest.min_file_count, len(expected)) if paths else manifest.min_file_count,
        bash_syntax_check=tuple(path for path in manifest.bash_syntax_check if path not in paths),
        must_contain=tuple(one for one in manifest.must_contain if one.path not in paths),
    )


def _named(paths: Iterable[str]) -> str:
    return clip(", ".join(paths), 300)
