"""A ralph run as every view shows it: its criteria, as the newest judgement left them, and what is to be done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from omo.json_text import Json
from omo.proof import globs
from omo.state.runtime import part
from omo.text import clip
from omo.work import outcome
from omo.work.files import Files
from omo.work.run import load
from omo.work.status import Command, Item, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ralph.end import next_step
from omo.workflows.ralph.phases import check
from omo.workflows.ralph.rules import (
    LONGEST_REQUEST,
    MOST_CIRCUMVENTIONS,
    AskedBefore,
    Criterion,
    CriterionResult,
    CriterionState,
    method,
)
from omo.workflows.ralph.run import RALPH, START, RalphState

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}
MOST_FILES = 20
LONGEST_SHOWN, LONGEST_PASS = 400, 100
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"
# What begins it, by what the user typed.
BEGINNINGS = {"ralph": (command(START, after="or with --criteria FILE, once criteria are written"),)}


def status(viewer: Viewer) -> Status | None:
    run = load(RALPH, viewer.caller, viewer.run)
    if run is None:
        return None
    state = run.state or RalphState(run=run.id)
    step = next_step(run)
    if step.action == "round":
        report = check(run, viewer.files)
        step = step._replace(commands=(*(Command(lead=line) for line in report.to_do), *step.commands))
    return Status(
        "ralph",
        "criterion",
        run=state.run,
        headline="its ledger is damaged" if run.problems else state.headline,
        items=tuple(_item(state, criterion, viewer) for criterion in state.criteria),
        next=step,
        facts=tuple(facts(state)) if state.started else (),
        overrides=tuple(overrides(state)),
        problems=tuple(run.problems),
        outcome=outcome.of(state.ended) if state.ended is not None else None,
    )


def facts(state: RalphState) -> list[str]:
    """What was asked for, in the words of whoever said it, which no compaction may lose; whose the criteria are, and
    what happened to the run."""
    listed = []
    if state.request:
        listed.append(f"the user asked for, {state.whose_request}: {quoted(state.request, LONGEST_REQUEST)}")
    listed.append(state.whose_criteria)
    if state.source_edited:
        listed.append(state.source_edited)
    if state.after:
        listed.append(f"it carries on, {state.after_text}")
    if state.circumventions:
        listed.append(f"circumvented {state.circumventions} of {MOST_CIRCUMVENTIONS} times")
    return listed


def overrides(state: RalphState) -> list[str]:
    """What every report has to say."""
    listed = []
    if state.reduced_scope:
        listed.append(f"reduced scope, authorised by the user: {quoted(state.reduced_scope)}")
    if state.reduced_iterations:
        rounds = ", ".join(map(str, state.reduced_iterations))
        listed.append(f"not judged independently: no hook saw the judge of iteration {rounds} say it")
    return listed


def _item(state: RalphState, criterion: Criterion, viewer: Viewer) -> Item:
    shown = criterion_view(state, criterion, viewer.files)
    known = shown.known
    mark, receipt, stale_because = MARKS.get(known.status, "open"), "", ""
    proof = part(state.ended or {}, "receipt")
    if criterion in state.unproven:
        mark, receipt, stale_because = "stale", "stale", "the newest judgement could not tell"
    elif mark == "done" and proof:
        receipt, stale_because = "fresh", viewer.files.why_lapsed(proof.get("tree"))
        if stale_because:
            mark, receipt = "stale", "stale"
    lines = [f"{check['id']}: {method(check)}" for check in criterion.checks]
    if known.status != "PASS" or mark == "stale":
        lines += shown.findings
    return Item(
        criterion.id,
        clip(criterion.description, 200),
        known.status,
        mark,
        tuple(filter(None, [clip(shown.evidence, 200), *known.counts])),
        receipt,
        stale_because,
        text="\n".join(lines),
    )


@dataclass(frozen=True)
class CriterionView:
    """A criterion with all that is known of it. `before` is what an earlier run could not do of it.

    `since` and `changed` are of one that broke again: its last pass, and the files that are others since.
    """

    criterion: Criterion
    known: CriterionState
    result: str
    evidence: str
    suggested_action: str
    source: str
    cached_from: int | None
    before: AskedBefore | None
    since: str = ""
    changed: Sequence[str] = ()

    @property
    def text(self) -> str:
        """`C2 FAIL (failed 2 in a row): part 2 is in place`."""
        notes = self.known.counts
        if self.known.status == "REGRESSED":
            notes.append(f"passed in iteration {self.known.last_pass_iteration}")
        if self.cached_from:
            notes.append(f"cached@{self.cached_from}")
        noted = f" ({', '.join(notes)})" if notes else ""
        return f"{self.criterion.id} {self.known.status}{noted}: {clip(self.criterion.description, 200)}"

    @property
    def findings(self) -> list[str]:
        """What was seen of it, what to try and where to look; quoted, so that it reads as data."""
        lines = []
        if self.evidence:
            longest = LONGEST_PASS if self.result == "pass" else LONGEST_SHOWN
            lines.append(f"seen: {quoted(self.evidence, longest)} ({self.source})")
        if self.suggested_action and self.known.status != "BLOCKED":  # which is not tried again
            lines.append(f"try: {quoted(self.suggested_action)}")
        if self.since:
            files = ", ".join(map(quoted, self.changed[:MOST_FILES])) or "none"
            if self.changed[MOST_FILES:]:
                files += f" and {len(self.changed) - MOST_FILES} more"
            lines.append(f"changed since {self.since}: {files}")
        if self.before:
            was, evidence = clip(str(self.before.get("id")), 8), quoted(str(self.before.get("evidence")))
            lines.append(f"{was} of an earlier run, which could not: {evidence}")
        return lines

    @property
    def data(self) -> Json:
        data = {
            "id": self.criterion.id,
            "description": self.criterion.description,
            **self.known.data,
            "result": self.result or None,
            "evidence": self.evidence,
            "suggested_action": self.suggested_action,
            "source": self.source or None,
            "cached_from": self.cached_from,
            "before": self.before,
        }
        if self.since:
            files, more = list(self.changed[:MOST_FILES]), len(self.changed[MOST_FILES:])
            data |= {"since": self.since, "files": files, "more_files": more}
        return data


def criterion_view(
    state: RalphState, criterion: Criterion, files: Files | None = None, result: CriterionResult | None = None
) -> CriterionView:
    """`result` is that of a judgement which could not tell, and therefore left no other trace in the run."""
    if result is None:
        result = state.last_result(criterion.id)
    before = [lesson for lesson in state.lessons if criterion.id in lesson["again"]]
    view = CriterionView(
        criterion,
        state.states[criterion.id],
        str(result.get("result") or ""),
        clip(str(result.get("evidence") or ""), 500),
        clip(str(result.get("suggested_action") or ""), 500),
        str(result.get("source") or ""),
        result.get("cached_from"),
        before[0] if before else None,
    )
    if files is None or view.known.status != "REGRESSED":
        return view
    return _with_changes(state, view, files)


def _with_changes(state: RalphState, view: CriterionView, files: Files) -> CriterionView:
    """The files that are others than right after its last pass, those it declares first."""
    passed = view.known.last_pass_iteration or 0
    changed = None
    for row in state.rows:
        if row.get("kind") == "exec-delegated" and row.get("iteration") == passed + 1:
            changed = files.changed_since(row.get("files"))
    since = f"its pass in iteration {passed}"
    if changed is None:
        since += " (nobody can tell)"
    own: list[str] = []
    others: list[str] = []
    for path in changed or []:
        is_own = any(globs.covers(path, glob) for glob in view.criterion.affected_paths)
        (own if is_own else others).append(path)
    action = DIAGNOSE if own or others else view.suggested_action
    return replace(view, since=since, changed=[*own, *others], suggested_action=action)


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)
