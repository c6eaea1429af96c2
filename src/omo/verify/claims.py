"""Claim gates: a text is searched for claims, and each claim for evidence. Nobody hands evidence in."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omo.errors import BadInput, OmoError
from omo.state import paths
from omo.state.journal import Journal
from omo.verify.probes import Finding, Limits, Outcome, files, network, not_probeable, records, search
from omo.verify.triggers import (
    MOST_TRIGGERS,
    AbsenceClaim,
    FileClaim,
    ServiceClaim,
    Trigger,
    triggers,
)
from omo.verify.wording import LONGEST_TEXT, SHORTEST_REASON

__all__ = [
    "ClaimReport",
    "GateResult",
    "Limits",
    "Trigger",
    "checked_override",
    "record",
    "recorded",
    "run_claim",
    "triggers",
]

_IT = re.compile(r"\b(?:it|(?:the|this|that) file)\b", re.I)  # "it contains `x`", where --file says what it is
# One that contradicts outranks one that could not be looked into: an unknown never hides a failure.
_RANK: tuple[Outcome, ...] = ("contradicted", "insufficient", "not-probeable", "holds")
EXIT_CODES = {"contradicted": 3, "insufficient": 3, "not-probeable": 4, "holds": 0, "nothing-to-gate": 0}


@dataclass(frozen=True)
class GateResult:
    """`holds` is None where code could not tell; `outcome` says whether it looked."""

    gate: str
    trigger: str
    ran: str
    saw: str
    holds: bool | None
    reason: str
    outcome: Outcome


@dataclass(frozen=True)
class ClaimReport:
    text: str
    gates: tuple[GateResult, ...]

    @property
    def verdict(self) -> str:
        outcomes = {result.outcome for result in self.gates}
        return next((outcome for outcome in _RANK if outcome in outcomes), "nothing-to-gate")

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def data(self) -> dict[str, Any]:
        return {"claim": self.text, "verdict": self.verdict, "gates": [asdict(result) for result in self.gates]}


def run_claim(
    text: str, *, root: Path, file: str | None = None, field: str | None = None, limits: Limits | None = None
) -> ClaimReport:
    """Look into every claim of a text. `file` and `field` say where, for a claim that does not."""
    text = text.encode("utf-8", "replace").decode()  # what cannot be printed cannot be reported
    if len(text) > LONGEST_TEXT:
        reason = f"the text has {len(text)} characters, more than {LONGEST_TEXT}: make one claim at a time"
        return ClaimReport(text[:200] + "…", (_result("text", "", not_probeable(reason)),))
    found = triggers(text) or (triggers(_IT.sub(lambda _: f"`{file}`", text, count=1)) if file else [])
    bounds = limits or Limits()
    results = [_result(one.gate, one.words, _probe(one, root, file, field, bounds)) for one in found[:MOST_TRIGGERS]]
    if len(found) > MOST_TRIGGERS:
        reason = f"the text makes more than {MOST_TRIGGERS} claims: make fewer at a time"
        results.append(_result("text", found[-1].words, not_probeable(reason)))
    return ClaimReport(text, tuple(results))


def _result(gate: str, words: str, finding: Finding) -> GateResult:
    return GateResult(gate, words, finding.ran, finding.saw, finding.holds, finding.reason, finding.outcome)


def _probe(trigger: Trigger, root: Path, file: str | None, field: str | None, limits: Limits) -> Finding:
    claim = trigger.claim
    try:
        if isinstance(claim, FileClaim):
            return files.probe(claim, root, file, limits)
        if isinstance(claim, AbsenceClaim):
            return search.probe(claim, root, limits)
        if isinstance(claim, ServiceClaim):
            return network.probe(claim, limits)
        return records.probe(claim, root, file, field, limits)
    except (OmoError, OSError, ValueError) as error:
        return not_probeable(f"the probe could not run: {error}"[:300])


def checked_override(reason: str | None) -> str | None:
    if reason is not None and len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(
            f"--override {reason!r} explains nothing", fix=f"give a reason of {SHORTEST_REASON} characters or more"
        )
    return reason.strip() if reason else None


def record(
    state: str,
    report: ClaimReport,
    *,
    actor: str,
    now: float,
    wait: float,
    goal: str | None = None,
    override: str | None = None,
) -> dict[str, Any]:
    """Keep what was claimed, what was seen and what was overridden, for every report that follows."""
    event = {"kind": "claim", "goal": goal, **report.data(), "override": override}
    _journal(state).change(lambda rows: (None, [event]), actor=actor, now=now, wait=wait)
    return event


def recorded(state: str, *, goal: str | None = None, overridden: bool = False) -> list[dict[str, Any]]:
    """The claims of a project or of one goal, oldest first."""
    rows = [row for row in _journal(state).rows() if row.get("kind") == "claim"]
    return [
        row for row in rows if (goal is None or row.get("goal") == goal) and (row.get("override") or not overridden)
    ]


def _journal(state: str) -> Journal:
    return Journal(os.path.join(paths.verify_dir(state), "claims"), state)
