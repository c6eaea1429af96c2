"""An iteration: opening it, noting its phases as they end, and which files and lines have changed since a moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable, Refused
from omo.evidence import base, changes, git, tree
from omo.ralph.rules import PHASES, SMALL_CHANGE, next_phase
from omo.ralph.run import SHORTEST_REASON, THEIRS, RalphRun, Standing
from omo.shown import clip, counted
from omo.state import ledger, paths
from omo.state.runtime import part

Row = dict[str, Any]

UNCOUNTED = 1_000_000  # lines, where nobody can tell: never a small change
LARGEST_READ = 8_000_000
NUMBERS = ("--numstat", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv")


def execute(run: RalphRun) -> tuple[Standing, bool]:
    """Open the next iteration, or find one open; whether it is new."""
    status = run.require_open()
    if status.open_iteration:
        return status, False
    row = {
        "kind": "exec-delegated",
        "tree": tree.fingerprint(Path(run.root)),
        "files": base.take(run.root, os.environ),
        "session": run.session,
        "session_seq": ledger.head_of(paths.events_file(run.state, run.session)).seq,
    }

    def decide(now: Standing) -> tuple[bool, list[Row]]:
        if now.open_iteration:
            return False, []
        if now.ended is not None or now.iteration >= now.max_iterations:
            raise Refused(
                f"ralph run {now.run} has used its {counted(now.max_iterations, 'iteration')}",
                fix=f"omo ralph status; or {THEIRS}",
            )
        scope = [criterion.id for criterion in now.to_work_on]
        return True, [{**row, "iteration": now.iteration + 1, "scope": scope}]

    is_new = run.append(decide=decide)
    return run.require(), is_new


def record_phase(run: RalphRun, name: str, skip: str = "") -> tuple[Standing, bool]:
    """Note that a phase is over, or that REFINE is left out; whether that is news."""
    status = run.require_open()
    lines = changed_lines(run, status) if skip and status.open_iteration else 0

    def decide(now: Standing) -> tuple[bool, list[Row]]:
        if not now.open_iteration:
            raise Refused(f"no iteration of ralph run {now.run} is open", fix="omo ralph exec opens one")
        if now.phase(name) is not None:
            return False, []
        _require_order(now, name)
        _require_skippable(name, skip, lines)
        return True, [{"kind": "phase", "iteration": now.iteration, "name": name, "skipped": clip(skip.strip(), 500)}]

    is_new = run.append(decide=decide)
    return run.require(), is_new


def _require_order(status: Standing, name: str) -> None:
    due = next_phase([row["name"] for row in status.phases], status.reduced_scope)
    if name != due and not status.reduced_scope:
        raise Refused(
            f"{name} comes after {due}, which was not recorded in iteration {status.iteration}",
            fix=f"carry out {due}, then omo ralph phase {due}; the order is {', '.join(PHASES)}",
        )


def _require_skippable(name: str, reason: str, lines: int) -> None:
    if not reason:
        return
    if name != "REFINE":
        raise Refused(f"--skip {name}: only REFINE can be left out", fix=f"carry it out, then omo ralph phase {name}")
    if len(reason.strip()) < SHORTEST_REASON:
        raise Refused(
            f"--skip {clip(reason, 40)!r} says too little, {SHORTEST_REASON} characters are needed",
            fix='omo ralph phase REFINE --skip "why this change needs no refinement"',
        )
    if lines >= SMALL_CHANGE:
        what = f"{lines} lines changed" if lines < UNCOUNTED else "the changed lines cannot be counted"
        raise Refused(
            f"--skip REFINE is for changes under {SMALL_CHANGE} lines, and {what} since the last judgement",
            fix="let omo:critic look at the change, then omo ralph phase REFINE",
        )


def changed_files(root: str, row: Row) -> list[str] | None:
    """The files that are others than when that row was written; None where nobody can tell."""
    changed = base.look(root, row.get("files")).changed
    return None if changed is None else sorted(changed)


def changed_lines(run: RalphRun, status: Standing) -> int:
    """Lines added and removed that no judgement saw, committed or not. UNCOUNTED if unknown.

    Since the last judgement, else since the start: what is written between rounds is nobody's small change.
    """
    row = status.started
    if status.last_judged and "files" in status.last_judged:
        row = status.last_judged
    began = part(row, "files")
    look = base.look(run.root, began or None)
    if look.changed is None:
        return UNCOUNTED
    root, in_git = Path(run.root), {}
    if began["head"]:
        try:
            fields = git.ask(root, "diff", *NUMBERS, changes.resolve(root, began["head"]), "--").split("\0")
        except NotEvaluable:
            return UNCOUNTED
        for field in filter(None, fields):
            added, removed, path = field.split("\t", 2)
            in_git[path] = SMALL_CHANGE if added == "-" else int(added) + int(removed)  # a binary is no small change
    total = 0
    for path in look.changed:
        if path in in_git:
            total += in_git[path]
        elif path in look.untracked and path not in began["files"]:
            total += _lines_of(root / path)
        else:  # nobody knows how it was, so it is no small change
            total += SMALL_CHANGE
    return total


def _lines_of(path: Path) -> int:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_READ:
            return SMALL_CHANGE
        content = path.read_bytes()
    except OSError:
        return SMALL_CHANGE
    return max(1, content.count(b"\n") + (not content.endswith(b"\n")))
