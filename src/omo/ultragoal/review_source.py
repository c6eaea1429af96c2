"""What is under review: a pull request, a branch or the working tree, held against the branch it left."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, NotEvaluable
from omo.evidence import changes
from omo.evidence.run import Outcome, child_environment, run
from omo.shown import clip

SECONDS = 30.0
LARGEST_ANSWER = 8_000_000
FIELDS = "baseRefName,headRefOid,title"
# gh may use what it was given to sign in; no other command of ours sees these.
SIGN_IN = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_CONFIG_DIR")
QUIET = {"GH_PROMPT_DISABLED": "1", "GH_PAGER": "cat", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Source:
    """`changed` is None outside git. `is_here` says whether the working tree holds what is under review."""

    kind: str
    name: str
    tip: str | None
    base: str | None
    base_commit: str | None
    changed: list[str] | None
    is_here: bool = True
    pr_source: str | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """Evidence is recorded for one source at one commit."""
        return sha256(json.dumps([self.kind, self.name, self.tip]).encode())[:16]

    def render(self) -> dict[str, Any]:
        shown = {"kind": self.kind, "name": self.name, "head": self.tip, "prSource": self.pr_source}
        count = None if self.changed is None else len(self.changed)
        return {**{key: value for key, value in shown.items() if value is not None}, "changedFiles": count}


def find(root: Path, *, pr: int | None, branch: str | None, environ: Mapping[str, str]) -> Source:
    if pr is not None and branch is not None:
        raise BadInput("--pr and --branch name two things to review", fix="leave one out")
    if pr is not None:
        return _pull_request(root, pr, environ)
    return _branch(root, branch) if branch is not None else _worktree(root)


def _worktree(root: Path) -> Source:
    """Everything since the base branch was left, committed or not."""
    tip = changes.head(root)
    if tip is None:
        return Source("worktree", "worktree", None, None, None, None, notes=["this is no git repository"])
    own = changes.current_branch(root)
    is_born = changes.commit_of(root, "HEAD") is not None
    base, at = (changes.branch_base(root, tip, own=own) if is_born else None) or ("HEAD", tip)
    return Source("worktree", own or "worktree", tip, base, at, changes.changed(root, at))


def _branch(root: Path, branch: str) -> Source:
    tip = changes.commit_of(root, branch)
    if tip is None:
        raise BadInput(
            f"--branch {clip(branch, 80)!r} names no commit of this repository", fix="git fetch, or see git branch -a"
        )
    base, at = changes.branch_base(root, tip, own=branch) or (None, None)
    if base is None or at is None:
        raise NotEvaluable(
            f"{clip(branch, 80)} left none of {', '.join(changes.BASES)}",
            fix="git fetch origin main, or check the branch out and review the working tree",
        )
    away = _elsewhere(root, tip)
    changed = changes.changed_between(root, at, tip)
    return Source("branch", branch, tip, base, at, changed, is_here=not away, notes=away)


def _elsewhere(root: Path, tip: str) -> list[str]:
    """Why the working tree is not what is under review, so that runs in it prove nothing; empty where it is."""
    here = changes.commit_of(root, "HEAD")
    if here != tip:
        at = (here or "nothing")[:12]
        return [
            f"the working tree is at {at}, not at {tip[:12]}: what runs there proves nothing here; check it out first"
        ]
    edited = sorted({*changes.changed(root, tip)} - {*changes.untracked(root)})
    if edited:
        return [
            f"{clip(edited[0], 80)} is edited and not committed: what runs there proves nothing here; commit it first"
        ]
    return []


def _pull_request(root: Path, number: int, environ: Mapping[str, str]) -> Source:
    if number < 1:
        raise BadInput(f"--pr {number} is no pull request", fix="--pr takes its number, such as --pr 12")
    try:
        seen, changed = _ask_gh(root, number, environ)
    except NotEvaluable as error:
        local = _worktree(root)
        note = f"{error.message}: this is the working tree, and nobody knows whether it is pull request {number}"
        return Source(
            "pr", str(number), local.tip, local.base, local.base_commit, local.changed,
            is_here=False, pr_source="gh-unavailable", notes=[note, *local.notes],
        )  # fmt: skip
    tip, base = seen["headRefOid"], seen["baseRefName"]
    at = next(filter(None, (changes.commit_of(root, name) for name in (f"origin/{base}", base))), None)
    away = _elsewhere(root, tip)
    return Source("pr", str(number), tip, base, at, changed, is_here=not away, pr_source="gh", notes=away)


def _ask_gh(root: Path, number: int, environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """NotEvaluable where gh is missing, fails, or says something else than asked."""
    told = _gh(root, environ, "pr", "view", str(number), "--json", FIELDS)
    try:
        seen = json.loads(told.stdout)
    except (ValueError, RecursionError):
        seen = None
    if not isinstance(seen, dict) or not all(isinstance(seen.get(name), str) for name in FIELDS.split(",")):
        raise NotEvaluable("gh pr view did not answer with a pull request", fix="gh auth status")
    listed = _gh(root, environ, "pr", "diff", str(number), "--name-only").stdout
    return seen, sorted({line for line in listed.splitlines() if line.strip()})


def _gh(root: Path, environ: Mapping[str, str], *arguments: str) -> Outcome:
    environment = {
        **child_environment(os.environ),
        **{name: environ[name] for name in SIGN_IN if name in environ},
        **QUIET,
    }
    outcome = run(("gh", *arguments), cwd=root, timeout=SECONDS, output_limit=LARGEST_ANSWER, env=environment)
    if not outcome.ok or outcome.stdout_truncated:
        why = clip(outcome.stderr, 160) or ("no answer in time" if outcome.timed_out else "no whole answer")
        raise NotEvaluable(f"gh {' '.join(arguments[:2])} failed ({why})", fix="gh auth status")
    return outcome
