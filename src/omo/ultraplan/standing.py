"""How a plan session stands: what its ledger says, and what git and the files show. Nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from omo.errors import NotEvaluable, OmoError, Refused
from omo.ultraplan.audit import Audit, audit
from omo.ultraplan.models import Document
from omo.ultraplan.record import Record
from omo.ultraplan.run import PlanRun, edited, pinned, record_of


@dataclass(frozen=True)
class Standing:
    """`audit` decides, and `document` is what it was held to: for a recovery the whole session, from where that one
    began. `own` is then the audit of the recovered steps alone, for the report."""

    record: Record | None
    document: Document | None = None
    audit: Audit | None = None
    own: Audit | None = None
    broken: str = ""  # why the spec cannot be believed any more
    edited: str = ""
    problems: tuple[str, ...] = ()

    @property
    def verdict(self) -> str:
        return self.audit.verdict if self.audit else "unknown"

    @property
    def words(self) -> str:
        return self.audit.words if self.audit else "unknown"

    @property
    def unknown(self) -> str:
        """Why nothing can be said; empty where something can."""
        if self.verdict != "unknown" or self.audit is None:
            return self.broken
        found = [finding for one in self.audit.steps if one.status == "unknown" for finding in one.findings]
        return next(iter([*self.audit.problems, *found]), "nothing could be established")

    @property
    def violations(self) -> list[str]:
        return [str(violation) for violation in self.audit.violations] if self.audit else []

    @property
    def missing(self) -> list[int]:
        """The steps that neither pass nor were skipped."""
        return self.audit.missing if self.audit else []

    @property
    def dirty(self) -> list[str]:
        return self.audit.dirty if self.audit else []


def look(run: PlanRun) -> Standing:
    record, problems = run.look()
    if record is None or problems or not record.base:
        return Standing(record, problems=tuple(problems))
    return audited(run, record)


def audited(run: PlanRun, record: Record) -> Standing:
    """What git and the files show of one run, by the specs that were pinned. A recovery answers for its session."""
    if record.root != run.here:  # a copy of the project, or another worktree: that is never audited from here
        broken = f"plan session {record.run} belongs to {record.root}, and this is {run.here}"
        return Standing(record, broken=broken)
    changed = edited(record)
    try:
        line = line_of(run.state, record)
        documents = [pinned(run.state, one) for one in (line[0], record)]
    except Refused as error:
        return Standing(record, broken=error.message, edited=changed)
    first, own = documents
    root, inputs = Path(record.root), [one.spec for one in line]
    skipped = {step: why for one in line for step, why in one.skipped.items()}
    whole = audit(first, root, base=line[0].base, skipped=skipped, inputs=inputs)
    if len(line) == 1:
        return Standing(record, first, whole, edited=changed)
    # As if it lay where the first spec does: the files beside that are no part of the work.
    of_own = audit(replace(own, path=first.path), root, base=record.base, skipped=skipped, inputs=inputs)
    return Standing(record, first, whole, of_own, edited=changed)


def line_of(state: str, record: Record) -> list[Record]:
    """A run and those it recovers, the first of them first; what cannot be audited any more is left out."""
    line = [record]
    while line[0].recovery_of and not line[0].anew and line[0].recovery_of not in [one.run for one in line]:
        parent = record_of(state, line[0].recovery_of)
        if parent is None or not parent.base:
            raise Refused(f"plan session {line[0].recovery_of}, which this one recovers, is gone")
        line.insert(0, parent)
    return line


def require_evaluable(at: Standing) -> None:
    """Raises for a session of which nothing can be said."""
    if at.unknown:
        error: type[OmoError] = Refused if at.broken else NotEvaluable
        raise error(at.unknown, fix="omo plan status names the way on")
