"""The rows of a plan's ledger, and what the receipt of a goal says."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from omo.engine.case import CaseRow
from omo.json_text import Json
from omo.state.ledger_rows import From

if TYPE_CHECKING:
    from omo.state.rows import LetThrough

CREATED, ENDED = "plan_created", "plan_ended"
MARKED, HANDED_OFF, TAKEN_UP = "handoff_marked", "handed_off", "taken_up"


class Wording(TypedDict):
    title: str
    objective: str


class SeenReview(TypedDict, total=False):
    """The word of a reviewer, and what changed since."""

    role: str
    at: str
    row: int  # of the session's ledger
    digest: str
    verdict: str
    clean: bool
    request: str
    changed: list[str] | None


class Receipt(TypedDict, total=False):
    """What closed a goal; `omo.workflows.ultragoal.receipts` tells whether it still holds."""

    schemaVersion: int
    receiptId: str
    receiptKind: str
    goalId: str
    verifiedAt: str
    qualityGateHash: str
    covers: dict[str, str | None]
    independence: str
    agents: list[SeenReview]
    cleaned: bool
    exemptions: list[Json]  # evidence that was not run again: `omo.workflows.ultragoal.gate.models.ReplayExempt`
    artifacts: dict[str, str]  # by path, the digests of what the gate cites
    weakened: list[str]
    allowed: list[str]
    notes: list[str]
    tree: str
    by: str
    letThrough: list[LetThrough]


class Handoff(TypedDict):
    by: str
    to: str | None  # the workflow


class PlanRow(CaseRow, From, total=False):
    """A row of a plan's ledger, of whichever kind, with what only ultragoal keeps in it."""

    # plan_created
    git: str
    brief: str
    constraints: str
    goalMode: str
    objective: str
    requests: list[str]
    leftOut: list[str]  # goals that the user typed, and that are none of these
    # of goals
    goals: list[Json]  # new ones: id, title, objective, and under `steering` where each came from
    goalId: str | None
    status: str
    evidence: str
    rationale: str
    reason: str
    payload: dict[str, str]
    qualityGateJson: Json
    completionVerification: Receipt
    mutation: str
    pendingGoalIds: list[str]
    previousPendingGoalIds: list[str]
    changedFields: list[str]
    previous: Wording
    title: str
    findings: list[str]
    classification: str
    # of the session's goal, and of handoffs
    goal: str
    receipts: list[str | None]
    to: str


NO_ROW: PlanRow = {}
NO_RECEIPT: Receipt = {}
