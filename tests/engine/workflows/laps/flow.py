"""Laps: work in rounds, with every step that the engine knows and with a judge. No promise of a user's rests on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from omo.engine.case import CaseItem
from omo.engine.flow import Flow, ItemMark, ItemStatus, RoundStep
from omo.errors import BadInput
from omo.proof.checks import JudgeCheck, dump, ids_of, parse_checks

MOST_FAILURES = 3
STEPS = (
    RoundStep("PLAN", "omo:planner", to_do="let omo:planner plan what is open"),
    RoundStep("IMPL", "omo:executor", or_work=True, is_required=True, to_do="let omo:executor carry it out"),
    RoundStep("VERIFY", "omo:qa", after="IMPL", to_do="let omo:qa try it", task="Try to break what was done."),
    RoundStep(
        "REFINE",
        "omo:critic",
        after="VERIFY",
        may_be_skipped=True,
        to_do="let omo:critic look at it",
        task="Say what is wrong with it.",
    ),
    RoundStep("SHIP", gates=True, to_do="mend what its gates say"),
)


def read(path: Path) -> list[CaseItem]:
    """Read `{"criteria": [{"id": "C1", "description": …, "checks": […]}]}`; what else it says is the item's."""
    given = json.loads(path.read_text(encoding="utf-8"))
    if "criteria" not in given:
        raise BadInput("no criteria", fix="add some")
    items = []
    for entry in given["criteria"]:
        listed = parse_checks(entry.pop("checks"))
        checks: list[Any] = []
        for name, check in zip(ids_of(listed), listed, strict=True):
            if isinstance(check, str):
                check = JudgeCheck(id=name, type="judge", question=check)
            checks.append({**dump(check), "id": name})  # type: ignore[dict-item]
        items.append(CaseItem(entry.pop("id"), entry.pop("description"), checks, **entry))
    return items


def turn(mark: ItemMark, result: str, iteration: int) -> ItemMark:
    """Block what failed or broke too often, in a row or in all."""
    if result == "unknown":
        return mark
    known = replace(mark, previous_status=mark.status)
    if result == "pass":
        return replace(known, status="PASS", fail_count=0, regressed_at_iteration=None, last_pass_iteration=iteration)
    if mark.status == "BLOCKED":
        return known
    if mark.status == "PASS":
        regressions = mark.regressions + 1
        status = "BLOCKED" if regressions >= MOST_FAILURES else "REGRESSED"
        return replace(known, status=status, regressed_at_iteration=iteration, regressions=regressions)
    failures = mark.fail_count + 1
    return replace(known, status="BLOCKED" if failures >= MOST_FAILURES else "FAIL", fail_count=failures)


FLOW = Flow(
    name="laps",
    unit="criterion",
    prefix="r",
    read=read,
    turn=turn,
    statuses=(
        ItemStatus("REGRESSED", "failed", "Regressed", is_regression=True),
        ItemStatus("FAIL", "failed", "To fix"),
        ItemStatus("PENDING", "open", "Not judged yet"),
        ItemStatus("BLOCKED", "waiting", "Blocked"),
        ItemStatus("PASS", "done", "Complete"),
    ),
    begins_as="PENDING",
    steps=STEPS,
    letter="C",
)
register = FLOW.register
