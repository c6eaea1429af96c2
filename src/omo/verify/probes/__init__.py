"""What code does about a claim: it reads, searches, connects or counts, within limits, and says what it saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["holds", "contradicted", "insufficient", "not-probeable"]


@dataclass(frozen=True)
class Limits:
    """How much one probe may take."""

    files: int = 200_000
    bytes: int = 256 * 1024 * 1024
    file_bytes: int = 16 * 1024 * 1024
    seconds: float = 20.0
    network_seconds: float = 3.0
    places: int = 10


@dataclass(frozen=True)
class Finding:
    """What was run, what it showed, and what that means for the claim."""

    outcome: Outcome
    ran: str
    saw: str
    reason: str

    @property
    def holds(self) -> bool | None:
        return {"holds": True, "contradicted": False}.get(self.outcome)


def not_probeable(reason: str, ran: str = "", saw: str = "") -> Finding:
    return Finding("not-probeable", ran, saw, reason)
