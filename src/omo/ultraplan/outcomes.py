"""How a plan session ended: its outcome, decided from what its ledger has of it."""

from __future__ import annotations

from typing import Any

from omo.shown import clip, counted
from omo.state.runtime import part
from omo.ultraplan.audit import Audit
from omo.ultraplan.record import Record
from omo.work import outcome

Row = dict[str, Any]

LONGEST = 160
NOT_RUN = "its Verify commands were not run by omo"


def outcome_of(record: Record, finished: Row, *, by: str, audit: Audit | None) -> Row:
    """`finished` is the row that ends the session, `by` whose row it is, `audit` what git and the files showed."""
    name = f"plan session {record.run}"
    if finished["verdict"] == "pass" and audit is not None:
        return outcome.outcome(outcome.ATTESTED, _passed(name, record, audit), record.exceptions)
    if finished["verdict"] == "failed":
        failed = part(finished, "failed")
        why = f"{name} stopped at step {failed.get('step')}: {_clipped(failed, 'error')}"
    elif by == "user":
        why = f"{name} was ended by the user: {_clipped(finished, 'reason')}"
    else:
        why = f"the agent abandoned {name}: {_clipped(finished, 'reason')}"
    return outcome.outcome(outcome.ENDED, why, record.exceptions)


def handed_on(run: str) -> Row:
    return outcome.outcome(outcome.ENDED, f"plan session {run} goes on elsewhere")


def _passed(name: str, record: Record, audit: Audit) -> str:
    """What was skipped as the plan allows lowers nothing, and is named."""
    count = len(audit.passed)
    verb = "passes" if count == 1 else "pass"
    parts = [f"{name}: {counted(count, 'step')} {verb} the audit", NOT_RUN]
    for step in audit.steps:
        if step.status == "skipped":
            reason = record.skipped.get(step.step, "in the session that this one recovers")
            parts.append(f"step {step.step} was skipped, as its plan allows: {clip(reason, LONGEST)}")
    return "; ".join(parts)


def _clipped(row: Row, key: str) -> str:
    return clip(str(row.get(key) or ""), LONGEST)
