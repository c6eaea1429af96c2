"""An iteration: opening it, what there is to do in it, and what has changed since."""

from __future__ import annotations

import difflib
import json
import os
from functools import cached_property
from pathlib import Path

from omo import safe_open
from omo.proof import base, globs, tree
from omo.state import ledger, paths
from omo.state.runtime import part
from omo.text import clip
from omo.work.run import Caller
from omo.workflows.ralph.rules import SMALL_CHANGE, Criterion, Row
from omo.workflows.ralph.run import RalphState

UNCOUNTED = 1_000_000  # lines, where nobody can tell: never a small change
LARGEST_READ = 1_000_000
MOST_FILES = 20
LONGEST_SHOWN = 400
GROUPS = ("regressed", "to_fix", "to_judge_again", "complete", "blocked")
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"


class Files:
    """The project's files, looked at once for a command, and in what they differ from an earlier moment.

    With a `cache` only to show them: what is decided on them is proof, and anybody could write it.
    """

    def __init__(self, root: str, cache: Path | None = None) -> None:
        self.root = root
        self._cache = cache

    @cached_property
    def tree(self) -> str:
        return tree.fingerprint(Path(self.root), cache=self._cache)

    @cached_property
    def now(self) -> Row:
        """As rows keep it."""
        return base.take(self.root, os.environ)

    def changed_since(self, row: Row) -> list[str] | None:
        """The files that are others than when that row was written; None where nobody can tell."""
        changed = base.look(self.root, row.get("files")).changed
        return None if changed is None else sorted(changed)


def opening(caller: Caller, files: Files, iteration: int, scope: list[str]) -> Row:
    """The row that opens an iteration: what is to be worked on, on which files, and where the session's ledger ends.

    Only what comes after it counts for the iteration.
    """
    head = ledger.head_of(paths.events_file(caller.state, caller.session))
    return {
        "kind": "exec-delegated",
        "iteration": iteration,
        "scope": scope,
        "tree": files.tree,
        "files": files.now,
        "session": caller.session,
        "session_seq": head.seq,
        "session_digest": head.digest,
    }


def changed_lines(files: Files, state: RalphState) -> int:
    """Lines added and removed that no judgement saw, committed or not. UNCOUNTED if unknown.

    Since the last judgement, else since the start: what is written between rounds is nobody's small change.
    """
    began = part(state.last_judged, "files") or part(state.started, "files")
    changed = base.look(files.root, began or None).changed
    if changed is None:
        return UNCOUNTED
    committed = base.committed(files.root, began["head"], list(changed)) if began["head"] else {}
    total = 0
    for path, digest in changed.items():
        before, after = committed.get(path, b""), b""
        try:
            if digest != base.GONE:
                after = safe_open.read_file(Path(files.root, path), LARGEST_READ)
        except OSError:
            return UNCOUNTED
        old, new = before.decode("utf-8", "replace").splitlines(), after.decode("utf-8", "replace").splitlines()
        lines = 0
        for line in list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]:  # its first two lines name the files
            lines += line.startswith(("+", "-"))
        # A binary, and what had not been committed when it began: nobody knows how it was, so it is no small change.
        is_unknown = b"\0" in before + after or (path in began["files"] and not (before and lines))
        total += SMALL_CHANGE if is_unknown else lines
    return total


# What a judgement leaves to do


def groups(files: Files, state: RalphState) -> dict[str, list[Row]]:
    """Complete, blocked, regressed, to fix and to judge again: every criterion in exactly one of them."""
    grouped: dict[str, list[Row]] = {name: [] for name in GROUPS}
    unproven = state.unproven
    for criterion in state.criteria:
        entry = entry_of(files, state, criterion)
        status = entry["status"]
        if status == "REGRESSED":
            grouped["regressed"].append(entry)
        elif status in ("PENDING", "FAIL"):
            grouped["to_fix"].append(entry)
        elif status == "BLOCKED":
            grouped["blocked"].append(entry)
        elif criterion in unproven:
            grouped["to_judge_again"].append(entry)
        else:
            grouped["complete"].append(entry)
    return grouped


def entry_of(files: Files, state: RalphState, criterion: Criterion) -> Row:
    """All that is known of a criterion; of one that broke again, also what has changed since it held."""
    entry = state.entry(criterion)
    if entry["status"] == "REGRESSED":
        entry |= _since_it_passed(files, state, criterion)
    return entry


def findings(entry: Row) -> list[str]:
    """What was seen of a criterion that does not hold, what to try and where to look; quoted, so it reads as data."""
    lines = []
    if entry["result"] != "pass":
        for label, text in (("seen", entry["evidence"]), ("try", entry["suggested_action"])):
            if text:
                lines.append(f"{label}: {quoted(text)}")
    if "files" in entry:
        files = ", ".join(map(quoted, entry["files"])) or "none"
        if entry["more_files"]:
            files += f" and {entry['more_files']} more"
        lines.append(f"changed since {entry['since']}: {files}")
    if entry["before"]:
        was, evidence = clip(str(entry["before"].get("id")), 8), quoted(str(entry["before"].get("evidence")))
        lines.append(f"{was} of an earlier run, which could not: {evidence}")
    return lines


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)


def _since_it_passed(files: Files, state: RalphState, criterion: Criterion) -> Row:
    """The files that are others than right after its last pass, those it declares first."""
    passed = state.states[criterion.id].last_pass_iteration or 0
    changed = None
    for row in state.rows:
        if row.get("kind") == "exec-delegated" and row.get("iteration") == passed + 1:
            changed = files.changed_since(row)
    since = f"its pass in iteration {passed}"
    if changed is None:
        since += " (nobody can tell)"
    own: list[str] = []
    others: list[str] = []
    for path in changed or []:
        is_own = any(globs.covers(path, glob) for glob in criterion.affected_paths)
        (own if is_own else others).append(path)
    listed = [*own, *others]
    entry: Row = {"files": listed[:MOST_FILES], "more_files": len(listed[MOST_FILES:]), "since": since}
    if listed:
        entry["suggested_action"] = DIAGNOSE
    return entry
