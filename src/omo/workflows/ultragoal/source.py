"""What is under review: a pull request, a branch or the working tree, held against the branch it left."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from omo.errors import BadInput, NotEvaluable
from omo.proof import changes
from omo.proof.run import child_environment
from omo.proof.run import run as run_command
from omo.text import clip

SECONDS = 30.0
WITHOUT_GH = "gh auth status; or check its branch out, and review that: --branch REF"
LARGEST_ANSWER = 8_000_000
# gh may use what it was given to sign in; no other command of ours sees these.
SIGN_IN = ("GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_CONFIG_DIR")
QUIET = {"GH_PROMPT_DISABLED": "1", "GH_PAGER": "cat", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Source:
    """`changed` is None outside git. `away` says why the working tree is not what is under review, so that runs in it
    prove nothing; empty where it is."""

    kind: str
    name: str
    tip: str | None = None
    base: str | None = None
    base_commit: str | None = None
    changed: list[str] | None = None
    away: str = ""


def find_source(root: Path, *, pr: int | None, branch: str | None, environ: Mapping[str, str]) -> Source:
    if pr is not None:
        return _pull_request(root, pr, environ)
    return _branch(root, branch) if branch is not None else _worktree(root)


def _worktree(root: Path) -> Source:
    """Return everything since the base branch was left, committed or not."""
    tip = changes.head(root)
    if tip is None:
        return Source("worktree", "worktree")
    own = changes.current_branch(root)
    base, commit = changes.branch_base(root, tip, own=own) or ("HEAD", tip)
    return Source("worktree", own or "worktree", tip, base, commit, changes.changed(root, commit))


def _branch(root: Path, branch: str) -> Source:
    tip = changes.commit_of(root, branch)
    if tip is None:
        what = f"--branch {clip(branch, 80)!r} names no commit of this repository"
        raise BadInput(what, fix="git fetch, or see git branch -a")
    left = changes.branch_base(root, tip, own=branch)
    if left is None:
        raise NotEvaluable(
            f"{clip(branch, 80)} left none of {', '.join(changes.BASES)}",
            fix="git fetch origin main, or check the branch out and review the working tree",
        )
    base, commit = left
    return Source("branch", branch, tip, base, commit, changes.changed_between(root, commit, tip), _away(root, tip))


def _away(root: Path, tip: str) -> str:
    here = changes.commit_of(root, "HEAD")
    nothing = "what runs there proves nothing here"
    if here != tip:
        return f"the working tree is at {(here or 'nothing')[:12]}, not at {tip[:12]}: {nothing}; check it out first"
    edited = sorted({*changes.changed(root, tip)} - {*changes.untracked(root)})
    return f"{clip(edited[0], 80)} is edited and not committed: {nothing}; commit it first" if edited else ""


def _pull_request(root: Path, number: int, environ: Mapping[str, str]) -> Source:
    """Ask gh for a pull request. Raises NotEvaluable if gh is missing, fails, or says something else than asked."""
    try:
        answer = json.loads(_gh(root, environ, "pr", "view", str(number), "--json", "baseRefName,headRefOid"))
        tip, base = answer["headRefOid"], answer["baseRefName"]
        if not isinstance(tip, str) or not isinstance(base, str):
            raise TypeError(answer)
    except (ValueError, RecursionError, KeyError, TypeError):
        raise NotEvaluable("gh pr view did not answer with a pull request", fix=WITHOUT_GH) from None
    listed = _gh(root, environ, "pr", "diff", str(number), "--name-only")
    changed = sorted({line for line in listed.splitlines() if line.strip()})
    commit = changes.commit_of(root, f"origin/{base}") or changes.commit_of(root, base)
    return Source("pr", str(number), tip, base, commit, changed, _away(root, tip))


def _gh(root: Path, environ: Mapping[str, str], *arguments: str) -> str:
    sign_in = {name: environ[name] for name in SIGN_IN if name in environ}
    environment = {**child_environment(os.environ), **sign_in, **QUIET}
    outcome = run_command(("gh", *arguments), cwd=root, timeout=SECONDS, output_limit=LARGEST_ANSWER, env=environment)
    if not outcome.ok or outcome.stdout_truncated:
        why = clip(outcome.stderr, 160) or "no whole answer in time"
        raise NotEvaluable(f"gh {' '.join(arguments[:2])} failed ({why})", fix=WITHOUT_GH)
    return outcome.stdout
