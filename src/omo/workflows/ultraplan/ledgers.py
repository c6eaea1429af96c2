"""The runs of ultraplan, for those who go over the ledgers of every workflow."""

from __future__ import annotations

from omo.work.run import Caller, adopt
from omo.workflows.ultraplan.run import PLAN

RUNS = PLAN


def take_up(caller: Caller, source: str, run: str) -> None:
    adopt(PLAN, caller, source, run)


def problems(caller: Caller) -> dict[str, list[str]]:
    return {}
