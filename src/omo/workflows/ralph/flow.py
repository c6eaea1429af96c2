"""Ralph as data: the phases of a round, and what a judgement does to a criterion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus, RoundStep

MOST_FAILURES = 3  # in a row
MOST_REGRESSIONS = 3  # in the whole run: what comes and goes is not mended by another round

PHASES = (
    RoundStep("PLAN", "omo:planner", to_do="let omo:planner plan what is open"),
    RoundStep(
        "IMPL",
        "omo:executor",
        or_work=True,
        is_required=True,
        to_do="let omo:executor carry it out, or change the files yourself",
    ),
    RoundStep(
        "VERIFY",
        "omo:qa",
        after="IMPL",
        to_do="let omo:qa try to break what is there now, its whole prompt: omo ralph brief qa",
        task="Try to break what was done for the criteria below, from their words first and the code last, and say "
        "what held and what did not.",
    ),
    RoundStep(
        "REFINE",
        "omo:critic",
        after="VERIFY",
        may_be_skipped=True,
        to_do="let omo:critic look at what QA left, with what omo ralph brief critic prints as its whole prompt, and "
        'mend what it finds; of a small change: omo ralph judge --no-refine "why it needs none"',
        task="Read what was changed for the criteria below, as it is in the files now, and say what is wrong with it "
        "or could be simpler, worst first.",
    ),
    RoundStep("SHIP", gates=True, to_do="mend what its gates say; omo ralph judge runs them on the files as they are"),
)


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    """Move a criterion by one result. What nobody could tell changes nothing; a pass forgets all but regressions."""
    if result == "unknown":
        return mark
    known = replace(mark, previous_status=mark.status)
    if result == "pass":
        return replace(known, status="PASS", fail_count=0, regressed_at_iteration=None, last_pass_iteration=iteration)
    if mark.status == "BLOCKED":
        return known
    if mark.status == "PASS":
        regressions = mark.regressions + 1
        status = "BLOCKED" if regressions >= MOST_REGRESSIONS else "REGRESSED"
        return replace(known, status=status, regressed_at_iteration=iteration, regressions=regressions)
    failures = mark.fail_count + 1
    return replace(known, status="BLOCKED" if failures >= MOST_FAILURES else "FAIL", fail_count=failures)


def read(path: Path) -> list[CaseItem]:
    """Read a file of criteria."""
    from omo.workflows.ralph import criteria  # which loads pydantic

    return criteria.load(path)


FLOW = Flow(
    name="ralph",
    unit="criterion",
    prefix="r",
    read=read,
    turn=turn,
    statuses=(
        ItemStatus(
            "REGRESSED",
            "failed",
            "Regressed: passed before, so look first at what changed since",
            is_regression=True,
        ),
        ItemStatus("FAIL", "failed", "To fix"),
        ItemStatus("PENDING", "open", "Not judged yet"),
        ItemStatus("BLOCKED", "waiting", "Blocked: do not retry; the user decides"),
        ItemStatus("PASS", "done", "Complete"),
    ),
    begins_as="PENDING",
    steps=PHASES,
    letter="C",
    round_row="exec-delegated",
    early_row="exec-circumvention",
)
register = FLOW.register
