"""An iteration: opening it, noting its phases as they end, and what has changed since it began."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import NotEvaluable, Refused
from omo.evidence import changes, globs, tree
from omo.ralph.phase_proof import PHASES, REDUCIBLE, SMALL_CHANGE
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


@dataclass(frozen=True)
class Executed:
    """`is_new` is false where the iteration was open already: the same order is given again."""

    standing: Standing
    is_new: bool


def execute(run: RalphRun) -> Executed:
    """Open the next iteration; while one is open, that one."""
    at = run.require_open()
    if at.open_iteration:
        return Executed(at, False)
    row = _exec_row(run, at)

    def decide(now: Standing) -> tuple[bool, list[Row]]:
        if now.open_iteration:
            return False, []
        if now.ended is not None or now.iteration >= now.max_iterations:
            raise Refused(
                f"ralph run {now.run} has used its {counted(now.max_iterations, 'iteration')}",
                fix=f"omo ralph status; or {THEIRS}",
            )
        return True, [{**row, "iteration": now.iteration + 1, "scope": scope(now)}]

    is_new = run.append(decide=decide)
    return Executed(run.require(), is_new)


def scope(at: Standing) -> list[str]:
    """The first time the whole task; then what fails or broke again. What passed and what is blocked is left alone."""
    return [one.id for one in at.to_work_on]


def _exec_row(run: RalphRun, at: Standing) -> Row:
    root = Path(run.root)
    return {
        "kind": "exec-delegated",
        "tree": tree.fingerprint(root),
        **snapshot(root),
        "session": run.session,
        "session_seq": ledger.head_of(paths.events_file(run.state, run.session)).seq,
    }


def snapshot(root: Path) -> Row:
    """What `changed_files` tells a later difference from."""
    head = changes.head(root)
    return {"head": head, "dirty": _dirty(root, head)}


def _dirty(root: Path, head: str | None) -> Row | None:
    """What differs from the commit already, so that it is not taken for what is done from here on."""
    if head is None:
        return None
    try:
        found = _differing(root, head)
    except NotEvaluable:
        return None
    if len(found) > MOST_DIRTY or sum(map(len, found)) > LONGEST_DIRTY:
        return None
    return {path: [_digest(root, path), lines] for path, lines in found.items()}


def phase(run: RalphRun, name: str, skip: str = "") -> tuple[Standing, bool]:
    """Note that a phase is over, or that REFINE is left out; whether that is news.

    With IMPL goes the tree, which shows from when on there was work to verify; noted before any, it is noted again.
    """
    at = run.require_open()
    lines = changed_lines(run, at) if skip and at.open_iteration else 0
    more = {"tree": tree.fingerprint(Path(run.root))} if name == "IMPL" else {}

    def decide(now: Standing) -> tuple[bool, list[Row]]:
        _require_iteration(now)
        if now.phase(name) is not None and not (more and is_too_early(now) and more["tree"] != now.exec_row["tree"]):
            return False, []
        if now.phase(name) is None:
            _require_order(now, name)
        _require_skippable(name, skip, lines)
        row = {"kind": "phase", "iteration": now.iteration, "name": name, "skipped": clip(skip.strip(), 500)}
        return True, [{**row, **more}]

    is_new = run.append(decide=decide)
    return run.require(), is_new


def is_too_early(at: Standing) -> bool:
    """Whether IMPL was noted, and each time on the files of the beginning."""
    return at.phase("IMPL") is not None and not worked_at(at)


def worked_at(at: Standing) -> str:
    """When IMPL was first noted on other files than those the iteration began with; empty where it was not."""
    noted = [row for row in at.phases if row["name"] == "IMPL" and row.get("tree", "") not in ("", at.exec_row["tree"])]
    return str(noted[0]["ts"]) if noted else ""


def next_phase(at: Standing) -> str:
    """The first that was not noted; empty once all were. With a reduced scope only what cannot be done without."""
    needed = [name for name in PHASES if not at.reduced_scope or name not in REDUCIBLE]
    return next((name for name in needed if at.phase(name) is None), "")


def _require_iteration(at: Standing) -> None:
    if not at.open_iteration:
        raise Refused(f"no iteration of ralph run {at.run} is open", fix="omo ralph exec opens one")


def _require_order(at: Standing, name: str) -> None:
    due = next_phase(at)
    if name != due and not at.reduced_scope:
        raise Refused(
            f"{name} comes after {due}, which was not recorded in iteration {at.iteration}",
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


def changed_lines(run: RalphRun, standing: Standing) -> int:
    """Lines added and removed that no judgement saw, committed or not, new files whole. UNCOUNTED if unknown.

    A file that was dirty then and is another now counts with all its difference: too many, never too few.
    """
    try:
        return sum(changed_files(run, _last_seen(standing)).values())
    except NotEvaluable:
        return UNCOUNTED


def _last_seen(at: Standing) -> Row:
    """The last judgement, else the start: what is written between rounds is nobody's small change."""
    first = {"head": at.base, "dirty": at.started["dirty"]} if "dirty" in at.started else at.exec_row
    return at.last_judged if at.last_judged and "head" in at.last_judged else first


def changed_files(run: RalphRun, seen: Row) -> dict[str, int]:
    """Each file that is another than when that snapshot was taken, and by how many lines. Raises NotEvaluable."""
    root, head = Path(run.root), seen.get("head")
    if not isinstance(head, str):
        raise NotEvaluable("outside git nobody can tell which lines changed", fix="git init, and commit what is there")
    found, before = _differing(root, head), part(seen, "dirty")
    for path, (digest, lines) in before.items():
        if path not in found:
            found[path] = lines  # put back as it was committed: that is a change too
        elif digest is not None and _digest(root, path) == digest:
            del found[path]
    return found


def _differing(root: Path, head: str) -> dict[str, int]:
    found: dict[str, int] = {}
    fields = changes.ask(root, "diff", *_NUMBERS, changes.resolve(root, head), "--").split("\0")
    for field in filter(None, fields):
        added, removed, path = field.split("\t", 2)
        if not globs.is_own(path):
            found[path] = SMALL_CHANGE if added == "-" else int(added) + int(removed)  # a binary is no small change
    new = [path for path in changes.changed(root, head) if path not in found]
    return found | {path: _lines(root, path) for path in new}


def _lines(root: Path, path: str) -> int:
    data = b"" if os.path.islink(root / path) else _bytes(root, path)
    return SMALL_CHANGE if data is None else max(1, data.count(b"\n") + (not data.endswith(b"\n")))


def _digest(root: Path, path: str) -> str | None:
    """None where nobody can say what it holds, which is never the same as before."""
    target = root / path
    if os.path.islink(target):
        return "link:" + sha256(os.fsencode(os.readlink(target)))
    if not os.path.lexists(target):
        return "gone"
    data = _bytes(root, path)
    return None if data is None else sha256(data)


def _bytes(root: Path, path: str) -> bytes | None:
    """None for what is no file of readable size."""
    target = root / path
    try:
        if not target.is_file() or target.stat().st_size > LARGEST_READ:
            return None
        return target.read_bytes()
    except OSError:
        return None
