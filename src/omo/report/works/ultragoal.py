"""A plan of goals: each with its receipt, and whether that still covers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.report.work import Place
from omo.work.run import Caller
from omo.work.status import Status

if TYPE_CHECKING:
    from omo.ultragoal.run import PlanRun


def run_at(place: Place) -> PlanRun:
    from omo.ultragoal.run import PlanRun

    caller = Caller(**place.given, control_globs=place.context.settings.computer_control)
    return PlanRun(caller, kept=place.kept)


def look(place: Place) -> Status | None:
    from omo.ultragoal import views

    return views.status(run_at(place), reads_all=place.reads_all)
