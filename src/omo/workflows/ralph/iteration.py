"""An iteration: opening it, what there is to do in it, noting its phases as they end, and what has changed since."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from omo.errors import NotEvaluable, Refused
from omo.proof import base, changes, git, globs, tree
from omo.state import ledger, paths
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.lifecycle import require_reason
from omo.work.status import command
from omo.workflows.ralph.rules import PHASES, SMALL_CHANGE, Criterion, Row, next_phase
from omo.workflows.ralph.run import THE_USERS_TURN, RalphRun, RalphState, change, fix, require_iteration, require_open

UNCOUNTED = 1_000_000  # lines, where nobody can tell: never a small change
LARGEST_READ = 8_000_000
NUMBERS = ("--numstat", "-z", "--no-renames", "--relative", "--no-ext-diff", "--no-textconv")
MOST_FILES = 20
GROUPS = ("regressed", "to_fix", "to_judge_again", "complete", "blocked")
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"


class Files:
    """The project's files, looked at once for a command, and in what they differ from an earlier moment."""

    def __init__(self, root: str) -> None:
        self.root = root

    @cached_property
    def tree(self) -> str:
        return tree.fingerprint(Path(self.root))  # no cache on disk: what is decided on it is proof

    @cached_property
    def now(self) -> Row:
        """As rows keep it."""
        return base.take(self.root, os.environ)

    def since(self, began: Row | None) -> base.Look:
        """What differs from a moment that a row kept; git is asked again only where it stands elsewhere by now."""
        if began is None or not self._is_comparable(began):
            return base.look(self.root, began)
        changed = {}
        for path in base.differing(began["files"], self.now["files"]):
            changed[path] = self.now["files"].get(path, "as committed" if began["head"] else base.GONE)
        return base.Look(base.tree_of(changed), changed, frozenset())

    def _is_comparable(self, began: Row) -> bool:
        """The same commit, looked at in the same way, with nothing that could hide a file from it."""
        for field in ("head", "view", "exclude"):
            if began.get(field) != self.now.get(field):
                return False
        if began.get("unknown") or self.now.get("unknown") or (began["head"] and self._has_filter):
            return False
        return not any(os.path.basename(path) == ".gitignore" for path in (*began["files"], *self.now["files"]))

    @cached_property
    def _has_filter(self) -> bool:
        return git.rewriting_filter(self.root) is not None

    def changed_since(self, row: Row) -> list[str] | None:
        """The files that are others than when that row was written; None where nobody can tell."""
        changed = self.since(row.get("files")).changed
        return None if changed is None else sorted(changed)


def execute(run: RalphRun, files: Files) -> bool:
    """Open the next iteration, or find one open; whether it is new."""
    if require_open(run).open_iteration:
        return False
    caller = run.caller
    row = {
        "kind": "exec-delegated",
        "tree": files.tree,
        "files": files.now,
        "session": caller.session,
        "session_seq": ledger.head_of(paths.events_file(caller.state, caller.session)).seq,
    }

    def decide(now: RalphState) -> tuple[bool, list[Row]]:
        if now.open_iteration:
            return False, []
        if now.ended is not None or now.iteration >= now.max_iterations:
            used = counted(now.max_iterations, "iteration")
            raise Refused(f"ralph run {now.run} has used its {used}", fix=fix(run, *THE_USERS_TURN))
        scope = [criterion.id for criterion in now.with_status("PENDING", "FAIL", "REGRESSED")]
        return True, [{**row, "iteration": now.iteration + 1, "scope": scope}]

    return change(run, decide)


def record_phase(run: RalphRun, files: Files, name: str, skip: str = "") -> bool:
    """Note that a phase is over, or that REFINE is left out; whether that is news."""
    lines = 0
    state = require_iteration(run)
    if skip:
        lines = changed_lines(files, state)

    def decide(now: RalphState) -> tuple[bool, list[Row]]:
        require_iteration(run)
        if now.phase(name) is not None:
            return False, []
        due = next_phase([row["name"] for row in now.phases], now.reduced_scope)
        if name != due and not now.reduced_scope:
            raise Refused(
                f"{name} comes after {due}, which was not recorded in iteration {now.iteration}",
                fix=fix(run, command(f"omo ralph phase {due}", lead=f"carry out {due}, then"))
                + f"; the order is {', '.join(PHASES)}",
            )
        if skip:
            _require_skippable(run, name, skip, lines)
        return True, [{"kind": "phase", "iteration": now.iteration, "name": name, "skipped": clip(skip.strip(), 500)}]

    return change(run, decide)


def _require_skippable(run: RalphRun, name: str, reason: str, lines: int) -> None:
    noted = command(f"omo ralph phase {name}", lead="then")
    if name != "REFINE":
        raise Refused(f"--skip {name}: only REFINE can be left out", fix=f"carry it out, {fix(run, noted)}")
    require_reason(reason, "--skip", 'omo ralph phase REFINE --skip "why this change needs no refinement"')
    if lines >= SMALL_CHANGE:
        what = f"{lines} lines changed" if lines < UNCOUNTED else "the changed lines cannot be counted"
        raise Refused(
            f"--skip REFINE is for changes under {SMALL_CHANGE} lines, and {what} since the last judgement",
            fix=f"let omo:critic look at the change, {fix(run, noted)}",
        )


def changed_lines(files: Files, state: RalphState) -> int:
    """Lines added and removed that no judgement saw, committed or not. UNCOUNTED if unknown.

    Since the last judgement, else since the start: what is written between rounds is nobody's small change.
    """
    began = part(state.last_judged, "files") or part(state.started, "files")
    look = files.since(began or None)
    if look.changed is None:
        return UNCOUNTED
    root, in_git = Path(files.root), {}
    untracked = [*look.changed]
    if began["head"]:
        try:
            untracked = changes.untracked(root)
            fields = git.ask(root, "diff", *NUMBERS, began["head"], "--").split("\0")
        except NotEvaluable:
            return UNCOUNTED
        for field in filter(None, fields):
            added, removed, path = field.split("\t", 2)
            in_git[path] = SMALL_CHANGE if added == "-" else int(added) + int(removed)  # a binary is no small change
    total = 0
    for path in look.changed:
        if path in in_git:
            total += in_git[path]
        elif path in untracked and path not in began["files"]:
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


# What a judgement leaves to do


def groups(files: Files, state: RalphState) -> dict[str, list[Row]]:
    """Complete, blocked, regressed, to fix and to judge again: every criterion in exactly one of them."""
    grouped: dict[str, list[Row]] = {name: [] for name in GROUPS}
    unproven = state.unproven
    for criterion in state.criteria:
        status = state.states[criterion.id].status
        entry = _entry(state, criterion)
        if status == "REGRESSED":
            grouped["regressed"].append({**entry, **_since_it_passed(files, state, criterion)})
        elif status in ("PENDING", "FAIL"):
            grouped["to_fix"].append(entry)
        elif status == "BLOCKED":
            grouped["blocked"].append(entry)
        elif criterion in unproven:
            grouped["to_judge_again"].append(entry)
        else:
            grouped["complete"].append(entry)
    return grouped


def _entry(state: RalphState, criterion: Criterion) -> Row:
    """`before` is what an earlier run could not do of the same criterion."""
    known, result = state.states[criterion.id], state.last_result(criterion.id)
    before = [lesson for lesson in state.lessons.get("overlap") or [] if lesson.get("id") == criterion.id]
    return {
        "id": criterion.id,
        "description": criterion.description,
        "status": known.status,
        "result": result.get("result"),
        "reason": clip(str(result.get("evidence") or ""), 500),
        "suggested_action": clip(str(result.get("suggested_action") or ""), 500),
        "source": clip(str(result.get("source") or ""), 40),
        "cached_from": result.get("cached_from"),
        "fail_count": known.fail_count,
        "regressions": known.regressions,
        "previous_pass_iteration": known.last_pass_iteration,
        "flapping": known.is_flapping,
        "next_failure_blocks": known.next_failure_blocks,
        "before": before[0] if before else None,
    }


def _since_it_passed(files: Files, state: RalphState, criterion: Criterion) -> Row:
    """The files that are others than right after its last pass, those it declares first; else since the start."""
    passed = state.states[criterion.id].last_pass_iteration or 0
    changed, since = None, f"its pass in iteration {passed}"
    for row in state.rows:
        if row.get("kind") == "exec-delegated" and row.get("iteration") == passed + 1:
            changed = files.changed_since(row)
    if changed is None:
        try:
            changed, since = changes.changed(Path(files.root), state.base or "HEAD"), "the start of the run"
        except NotEvaluable as error:
            changed, since = [], f"unknown: {clip(error.message, 120)}"
    own: list[str] = []
    others: list[str] = []
    for path in changed:
        is_own = any(globs.covers(path, glob) for glob in criterion.affected_paths)
        (own if is_own else others).append(path)
    listed = [*own, *others]
    entry: Row = {"files": listed[:MOST_FILES], "more_files": len(listed[MOST_FILES:]), "since": since}
    if listed:
        entry["suggested_action"] = DIAGNOSE
    return entry
