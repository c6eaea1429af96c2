"""Leaving a step out: only where its plan allows it, and never in silence."""

from __future__ import annotations

from omo.errors import BadInput, Refused
from omo.shown import clip
from omo.ultraplan.next_step import FAILED
from omo.ultraplan.run import SHORTEST_REASON, PlanRun
from omo.ultraplan.standing import audited, require_evaluable


def skip(run: PlanRun, number: int, reason: str) -> None:
    record = run.require_open()
    if number not in record.steps:
        known = ", ".join(str(step) for step in record.steps)
        raise BadInput(f"step {number} is none of this session's", fix=f"name one of {known}")
    if len(reason.strip()) < SHORTEST_REASON:
        raise BadInput(f"--reason {reason!r}: at least {SHORTEST_REASON} characters", fix="say why it is left out")
    at = audited(run, record)
    require_evaluable(at)
    step = at.document.step(number) if at.document else None
    if step is None or step.on_failure != "skip":
        says = step.on_failure if step and step.on_failure else "nothing"
        raise Refused(
            f"step {number} may not be skipped: its On failure says {says}, not skip", fix=FAILED.format(step=number)
        )
    if at.audit is not None and number in at.audit.passed:
        raise Refused(f"step {number} passes already", fix="omo plan status")
    if number not in record.skipped:
        run.append(record.run, {"kind": "skipped", "step": number, "reason": clip(reason, 1000)})
