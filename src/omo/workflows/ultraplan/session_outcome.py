"""How a plan session ended: its outcome, decided from the row that ends it and what git, files and commands showed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from omo.errors import Refused
from omo.proof import base, seals
from omo.proof.run import child_environment
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import outcome
from omo.work.run import Caller, Row
from omo.workflows.ultraplan import verify
from omo.workflows.ultraplan.audit import OUTSIDE
from omo.workflows.ultraplan.run import RunStatus, audit_plan
from omo.workflows.ultraplan.status import sessions_left
from omo.workflows.ultraplan.verify import Result, Verify
from omo.workflows.ultrawork import gates
from omo.workflows.ultrawork.finish import Finish, WaitsForUser

LONGEST_WHY = 160
MOST_NAMED = 5


def outcome_of(status: RunStatus, finished: Row, results: Sequence[Result]) -> Row:
    state, run = status.state, status.run
    assert run is not None
    name = f"plan session {state.run}"
    if finished["verdict"] == "failed":
        failed = part(finished, "failed")
        why = f"{name} stopped at step {failed.get('step')}: {clip(str(failed.get('error') or ''), LONGEST_WHY)}"
        return outcome.outcome(outcome.ENDED, why, state.exceptions)
    if finished["verdict"] == "abandoned":
        reason = clip(str(finished.get("reason") or ""), LONGEST_WHY)
        why = f"the agent abandoned {name}: {reason}"
        if finished["by"] == "user":
            why = f"{name} was ended by the user: {reason}"
        return outcome.outcome(outcome.ENDED, why, state.exceptions)
    count = len(status.audit.passed)
    parts = [f"{name}: {counted(count, 'step')} {'passes' if count == 1 else 'pass'} the audit"]
    exceptions = list(state.exceptions)
    if state.sessions > 1:
        parts.append(f"session {state.number} of {state.sessions} of {clip(state.path, 100)}")
    left = sessions_left(status)
    if left:
        parts.append(f"next: omo plan start {state.path}")
    if unverified := finished.get("unverified"):
        for command in pinned_commands(status):
            if command.argv:
                what = f"Verify of step {command.step} was not run: {clip(command.text, 80)}"
                exceptions.append(outcome.exception(what, finished["by"], clip(unverified, LONGEST_WHY)))
    shown, weak = _verified(status, results)
    parts += shown
    if state.sessions > 1 and not left:
        whole, against = _whole_plan(status)
        parts.append(whole)
        exceptions += against
    for step in status.audit.steps:
        if step.status == "skipped":  # as the plan allows: that lowers nothing, and is named
            reason = clip(state.skipped[step.step], LONGEST_WHY)
            parts.append(f"step {step.step} was skipped, as its plan allows: {reason}")
    proof = "" if weak or exceptions else _red_to_green(run.caller)
    if proof:
        return outcome.outcome(outcome.PROVEN, "; ".join([proof, *parts]))
    return outcome.outcome(outcome.ATTESTED, "; ".join([*parts, *weak]), exceptions)


def _verified(status: RunStatus, results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """What the Verify commands showed; and which of them omo did not run, or why green ones need not mean much."""
    passing = [result.command for result in results if result.result == verify.PASS]
    not_run = [str(result.command) for result in results if result.result == verify.NOT_RUN]
    shown, weak = [], []
    if passing:
        verb = "passes" if len(passing) == 1 else "pass"
        shown.append(f"{counted(len(passing), 'Verify command')} {verb}, which the plan's author chose")
        examined = _examine(status, passing)
        shown += examined.notes
        weak += examined.doubts
    if not_run:
        more = f" and {len(not_run) - MOST_NAMED} more" if len(not_run) > MOST_NAMED else ""
        weak.append(f"not run by omo: {'; '.join(not_run[:MOST_NAMED])}{more}")
    return shown, weak


def _examine(status: RunStatus, passing: Sequence[Verify]) -> seals.Seals:
    """What was done since the session began to files that the commands rest on."""
    assert status.run is not None
    state, root = status.state, status.state.root
    changed = {path: base.digest_of(root, path) for path in status.audit.changed}
    for path, digest in state.runner.items():  # looked at also where git ignores them
        if base.digest_of(root, path) != digest:
            changed[path] = base.digest_of(root, path)
    commands = [seals.Plain(command.argv) for command in passing]
    look = base.Look("", changed, frozenset())
    began = {"head": state.base, "files": {}}
    return seals.examine(root, began, commands, look=look, terms=seals.terms_in(status.run.caller.events))


def _red_to_green(caller: Caller) -> str:
    """What a gate of the session's own run proves beside the plan; empty where none does."""
    row = caller.session_rows.get(caller.session, {})
    known = gates.fold(list(caller.events), gates.run_of(row))
    if not len(known):
        return ""
    look = base.look(caller.root, known.base).without(known.left_out)
    armed_at = str(part(row, "ulw").get("armedAt") or "")
    environ = child_environment(os.environ)
    try:
        ended = Finish(caller.root, known, look, environ, armed_at, seals.terms_in(caller.events)).outcome()
    except (Refused, WaitsForUser):
        return ""
    return str(ended["why"]) if ended["verdict"] == outcome.PROVEN else ""


def pinned_commands(status: RunStatus) -> list[Verify]:
    """As the start pinned them; a skipped step has none."""
    skipped = [step.step for step in status.audit.steps if step.status == "skipped"]
    return [command for command in status.state.verify if command.step not in skipped]


def _whole_plan(status: RunStatus) -> tuple[str, list[Row]]:
    """The last session answers for the plan: what no longer holds of it, from where its first session began."""
    assert status.run is not None
    state = status.state
    try:
        audit = audit_plan(status.run, status.whole).audit
    except Refused as error:
        return "", [outcome.exception("the whole plan could not be audited", "agent", clip(error.message, 200))]
    exceptions = []
    outside = []
    for violation in audit.violations:
        if violation.rule == OUTSIDE:  # in no session's time: somebody else's work, maybe
            outside.append(violation.path)
        elif not any(violation.path in line for line in state.left_behind):
            what = "changed since the plan's first session began"
            exceptions.append(outcome.exception(what, "agent", clip(str(violation), 200)))
    for step in audit.steps:
        if step.status not in ("pass", "skipped"):
            what = f"step {step.step} of {clip(state.path, 100)} does not hold any more"
            exceptions.append(outcome.exception(what, "agent", clip("; ".join(step.findings), 200)))
    for problem in audit.problems:
        exceptions.append(outcome.exception("the whole plan could not be audited", "agent", clip(problem, 200)))
    words = f"of the whole plan, from its first session on, {len(audit.passed)} of {len(audit.steps)} steps hold"
    if outside:
        words += f"; between its sessions also changed: {clip(', '.join(outside), 160)}"
    return words, exceptions
