"""An iteration: opening it, noting its phases as they end, and which files and lines have changed since a moment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import NotEvaluable, Refused
from omo.evidence import changes, globs, tree
from omo.ralph.rules import PHASES, SMALL_CHANGE, next_phase
from omo.ralph.run import SHORTEST_REASON, THEIRS, RalphRun, Standing
from omo.shown import clip, counted
from omo.state import ledger, paths
from omo.state.runtime import part

Row = dict[str, Any]

UNCOUNTED = 1_000_000  # lines, where nobody can tell: never a small change
MOST_DIRTY = 200
LONGEST_DIRTY = 20_000  # characters of their names: a row of the ledger is bounded
LARGEST_READ = 8_000_000
_NUMBERS = ("--numstat", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv")


def execute(run: RalphRun) -> tuple[Standing, bool]:
    """Open the next iteration, or find one open; whether it is new."""
    status = run.require_open()
    if status.open_iteration:
        return status, False
    root = Path(run.root)
    row = {
        "kind": "exec-delegated",
        "tree": tree.fingerprint(root),
        **snapshot(root),
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
    """Note that a phase is over, or that REFINE is left out; whether that is news.

    With IMPL goes the tree, which shows from when on there was work to verify; noted before any, it is noted again.
    """
    status = run.require_open()
    lines = changed_lines(run, status) if skip and status.open_iteration else 0
    files = {"tree": tree.fingerprint(Path(run.root))} if name == "IMPL" else {}

    def decide(now: Standing) -> tuple[bool, list[Row]]:
        if not now.open_iteration:
            raise Refused(f"no iteration of ralph run {now.run} is open", fix="omo ralph exec opens one")
        if now.phase(name) is None:
            _require_order(now, name)
        else:
            is_work_now = bool(files) and not work_noted_at(now) and files["tree"] != now.exec_row["tree"]
            if not is_work_now:
                return False, []
        _require_skippable(name, skip, lines)
        row = {"kind": "phase", "iteration": now.iteration, "name": name, "skipped": clip(skip.strip(), 500)}
        return True, [{**row, **files}]

    is_new = run.append(decide=decide)
    return run.require(), is_new


def work_noted_at(status: Standing) -> str:
    """When IMPL was first noted on other files than those the iteration began with; empty where it was not."""
    for row in status.phases:
        if row["name"] == "IMPL" and row.get("tree", "") not in ("", status.exec_row["tree"]):
            return str(row["ts"])
    return ""


def changed_lines(run: RalphRun, status: Standing) -> int:
    """Lines added and removed that no judgement saw, committed or not. UNCOUNTED if unknown.

    Since the last judgement, else since the start: what is written between rounds is nobody's small change.
    """
    seen = status.exec_row
    if status.last_judged and "head" in status.last_judged:
        seen = status.last_judged
    elif "dirty" in status.started:
        seen = {"head": status.base, "dirty": status.started["dirty"]}
    try:
        return sum(changed_files(Path(run.root), seen).values())
    except NotEvaluable:
        return UNCOUNTED


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


def snapshot(root: Path) -> Row:
    """The commit, and what differs from it already, so that it is not taken for what is done from here on."""
    head = changes.head(root)
    dirty = None
    if head is not None:
        try:
            differing = _differing(root, head)
            if len(differing) <= MOST_DIRTY and sum(map(len, differing)) <= LONGEST_DIRTY:
                dirty = {path: [_digest(root, path), lines] for path, lines in differing.items()}
        except NotEvaluable:
            pass
    return {"head": head, "dirty": dirty}


def changed_files(root: Path, seen: Row) -> dict[str, int]:
    """Each file that is another than when that snapshot was taken, and by how many lines. Raises NotEvaluable.

    A file that was dirty then and is another now counts with all its difference: too many lines, never too few.
    """
    head = seen.get("head")
    if not isinstance(head, str):
        raise NotEvaluable("outside git nobody can tell which lines changed", fix="git init, and commit what is there")
    changed = _differing(root, head)
    for path, (digest, lines) in part(seen, "dirty").items():
        if path not in changed:
            changed[path] = lines  # put back as it was committed: that is a change too
        elif digest is not None and _digest(root, path) == digest:
            del changed[path]
    return changed


def _differing(root: Path, head: str) -> dict[str, int]:
    """What differs from the commit, new files whole. A binary is no small change."""
    lines: dict[str, int] = {}
    fields = changes.ask(root, "diff", *_NUMBERS, changes.resolve(root, head), "--").split("\0")
    for field in filter(None, fields):
        added, removed, path = field.split("\t", 2)
        if not globs.is_own(path):
            lines[path] = SMALL_CHANGE if added == "-" else int(added) + int(removed)
    for path in changes.changed(root, head):
        if path in lines:
            continue
        content = _content(root, path)
        if content is None:
            lines[path] = SMALL_CHANGE
        else:
            lines[path] = max(1, content.count(b"\n") + (not content.endswith(b"\n")))
    return lines


def _digest(root: Path, path: str) -> str | None:
    """None where nobody can say what it holds, which is never the same as before."""
    if not os.path.lexists(root / path):
        return "gone"
    content = _content(root, path)
    if content is None:
        return None
    return ("link:" if os.path.islink(root / path) else "") + sha256(content)


def _content(root: Path, path: str) -> bytes | None:
    """Of a link, where it leads; None for what is no file of readable size."""
    target = root / path
    try:
        if target.is_symlink():
            return os.fsencode(os.readlink(target))
        if not target.is_file() or target.stat().st_size > LARGEST_READ:
            return None
        return target.read_bytes()
    except OSError:
        return None
