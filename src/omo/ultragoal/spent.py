"""What closed goals of a run rest on: none of it closes another one, and the ledger of evidence knows all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from omo.errors import Refused

if TYPE_CHECKING:
    from omo.ultragoal.run import Run

Row = dict[str, Any]

GONE = "the ledger is gone or was begun anew: it does not know the files that receipts of this plan name"


def used(rows: Sequence[Row], goal: str) -> frozenset[str]:
    """Every gate, file, typed receipt and replay in a receipt of another goal, also in one that was issued anew."""
    from omo.ultragoal.gate import marks

    found: set[str] = set()
    for receipt in _receipts(rows):
        if receipt.get("goalId") == goal:
            continue
        found.add(marks.gate(str(receipt.get("qualityGateHash"))))
        found.update(marks.file(digest) for digest in _files(receipt))
        found.update(str(one) for one in _list(receipt.get("proofs")))
    return frozenset(found)


def evidence_problem(state: str, rows: Sequence[Row]) -> str:
    """Why the ledger of evidence is not the one the receipts were issued on; empty where it is."""
    from omo.evidence import artifacts

    named = [(digest, str(receipt.get("verifiedAt"))) for receipt in _receipts(rows) for digest in _files(receipt)]
    return "" if artifacts.knows(state, named) else GONE


def require_evidence(run: Run) -> None:
    """Refused where what is remembered of old and used files was thrown away."""
    from omo.evidence import artifacts

    if problem := evidence_problem(run.state, run.journal.rows()):
        raise Refused(f"evidence: {problem}", fix=artifacts.REPAIR)


def _receipts(rows: Sequence[Row]) -> Iterator[Row]:
    for row in rows:
        receipt = row.get("completionVerification") if row.get("kind") == "goal_checkpointed" else None
        if isinstance(receipt, dict):
            yield receipt


def _files(receipt: Row) -> list[str]:
    named = receipt.get("artifacts")
    return [str(digest) for digest in named.values()] if isinstance(named, dict) else []


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
