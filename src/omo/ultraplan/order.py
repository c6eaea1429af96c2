"""Sessions of a plan have an order: what one depends on is done before it begins."""

from __future__ import annotations

from omo.errors import Refused
from omo.ultraplan import sessions
from omo.ultraplan.contract import Contract
from omo.ultraplan.run import SHORTEST_REASON, PlanRun, records
from omo.ultraplan.standing import audited

FIX = 'omo plan start SPEC --out-of-order "why"'


def require_in_order(run: PlanRun, given: Contract, reason: str) -> None:
    """A recovery goes on with what has begun, so nothing is asked of it."""
    if reason and len(reason.strip()) < SHORTEST_REASON:
        raise Refused(f"--out-of-order {reason!r}: at least {SHORTEST_REASON} characters that say why", fix=FIX)
    if reason or given.recovers or given.document.kind == "plan":
        return
    waiting = [number for number in _needed(run, given) if not _is_done(run, f"{given.plan.digest}/{number}")]
    if waiting:
        listed = ", ".join(f"session {number}" for number in waiting)
        raise Refused(
            f"{given.spec.path} depends on {listed} of {given.plan.path}, which no audit has passed yet",
            fix=f"carry that out first; or {FIX}, which is reported",
        )


def _needed(run: PlanRun, given: Contract) -> tuple[int, ...]:
    """As the plan has it, whatever the spec says of itself."""
    found = sessions.decompose(given.plan, has_remote=False)
    return next((one.depends_on for one in found if one.number == given.spec.session), ())


def _is_done(run: PlanRun, lineage: str) -> bool:
    begun = [one for one in records(run.state) if one.lineage == lineage and one.base]
    if any(one.end == "pass" for one in begun):
        return True
    return any(audited(run, one).verdict == "pass" for one in reversed(begun) if one.end != "abandoned")
