"""One module for each kind of work: its ledger, read into the shape that every view draws."""

from __future__ import annotations

import importlib

from omo.errors import OmoError
from omo.report.session import ORDER
from omo.report.work import NextStep, Place, WorkView
from omo.state.runtime import part

UNITS = {"ultraplan": "step", "ultragoal": "goal", "ralph": "criterion", "verify": "goal", "ulw": "gate"}


def look(place: Place) -> list[WorkView]:
    """All the work of a session that its row or its ledgers know, what leads first."""
    found = [_look_at(kind, place) for kind in ORDER]
    return [view for view in found if view is not None]


def _look_at(kind: str, place: Place) -> WorkView | None:
    """A ledger nobody can read is shown as that; the other work is shown all the same."""
    try:
        view: WorkView | None = importlib.import_module(f"omo.report.works.{kind}").look(place)
    except OmoError as error:
        if kind not in part(place.row, "work"):
            return None
        said = NextStep("repair", error.message, error.fix)
        return WorkView(kind, UNITS[kind], headline="cannot be read", next=said, problems=(error.message,))
    return view
