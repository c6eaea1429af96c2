"""The whole gate, every defect at once. Reads, decodes and replays; writes nothing."""

from __future__ import annotations

import re
from typing import Any

from omo.ultragoal.gate import links, marks, suite, uses, wording
from omo.ultragoal.gate.document import digest
from omo.ultragoal.gate.findings import Defect, Inspection, Subject, shown
from omo.ultragoal.gate.models import SECTIONS
from omo.ultragoal.gate.proof import Prover
from omo.ultragoal.gate.rows import matrix, section
from omo.ultragoal.receipts import canonical_digest

__all__ = ["Defect", "Inspection", "Subject", "digest", "inspect", "inspect_qa"]

REPORT = "AI SLOP CLEANUP REPORT"
# With what Markdown puts around it; an unfilled `PASS|BLOCKED` is no result either.
BLOCKED = re.compile(r"gate result\W{0,8}(?:pass\W{0,3}\|\W{0,3})?blocked", re.I)


def inspect(document: object, subject: Subject) -> Inspection:
    found = Inspection()
    if not isinstance(document, dict):
        text = f"must be an object with {', '.join(SECTIONS)}, not {shown(document)}"
        found.defects.append(Defect("gate", "WRONG_TYPE", text))
        return found
    found.defects += _unknown_keys(document) + _reused(document, subject)
    found.defects += section(document, "architectReview")[1]
    _qa(document, subject, found)
    found.defects += section(document, "iteration")[1]
    _cleaner(document, found)
    return found


def inspect_qa(executor_qa: object, subject: Subject) -> Inspection:
    """Only executorQa, by the same rules."""
    found = Inspection()
    _qa({"executorQa": executor_qa}, subject, found)
    return found


def _qa(document: dict[str, Any], subject: Subject, found: Inspection) -> None:
    found.defects += section(document, "executorQa")[1]
    qa = document.get("executorQa")
    if not isinstance(qa, dict):
        return
    rows, defects = matrix(qa)
    prover = Prover(subject, rows, found)
    found.defects += defects + links.defects(rows) + uses.defects(prover) + suite.defects(prover)
    if subject.control_globs and subject.changed is None:
        found.notes.append("which files changed is not known here, so nobody asked for the computer-control suite")


def _reused(document: dict[str, Any], subject: Subject) -> list[Defect]:
    if not subject.used or marks.gate(canonical_digest(document)) not in subject.used:
        return []
    return [Defect("gate", "GATE_REUSED", "closed another goal of this run already: write one about this goal")]


def _unknown_keys(document: dict[str, Any]) -> list[Defect]:
    found = []
    for key in document:
        if key == "codeReview":
            text = "is how gates were written earlier, which is not accepted: put it into architectReview.codeStatus"
            found.append(Defect(key, "LEGACY_SHAPE", text))
        elif key not in SECTIONS:
            text = f"{shown(key)} is no part of a gate, which has only {', '.join(SECTIONS)}: put it inside one of them"
            found.append(Defect(wording.join("", [key])[:80], "UNKNOWN_KEY", text))
    return found


def _cleaner(document: dict[str, Any], found: Inspection) -> None:
    """The cleaner's report travels in iteration.evidence. One that blocks is refused, a missing one only told."""
    iteration = document.get("iteration")
    evidence = iteration.get("evidence") if isinstance(iteration, dict) else None
    if not isinstance(evidence, str):
        return
    if BLOCKED.search(evidence):
        text = (
            "carries a cleaner's report with Gate Result: BLOCKED: mend its blocking findings, run the cleaner again,"
        )
        found.defects.append(
            Defect("iteration.evidence", "CLEANER_BLOCKED", f"{text} and carry the report that says PASS alone")
        )
    elif REPORT not in evidence.upper():
        found.notes.append(
            f"iteration.evidence carries no {REPORT}: the cleaner runs even when there is nothing to mend"
        )
