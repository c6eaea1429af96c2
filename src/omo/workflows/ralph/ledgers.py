"""The runs of ralph, for those who go over the ledgers of every workflow."""

from __future__ import annotations

from omo.work.run import Caller, adopt
from omo.workflows.ralph.run import RALPH

RUNS = RALPH


def take_up(caller: Caller, source: str, run: str) -> None:
    adopt(RALPH, caller, source, run)


def problems(caller: Caller) -> dict[str, list[str]]:
    return {}
