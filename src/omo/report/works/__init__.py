"""One module for each kind of work: its ledger, read into the shape that every view draws."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

from omo.errors import OmoError
from omo.report import ways
from omo.report.session import ORDER
from omo.report.work import Place
from omo.shown import clip
from omo.state import paths
from omo.state.runtime import part
from omo.work.status import Status

# Where a workflow keeps its ledgers, in the project or for the session; plain ultrawork has the session's own.
HOMES: dict[str, Callable[[str, str], str]] = {
    "ultraplan": lambda state, session: paths.plans_dir(state),
    "ultragoal": paths.ultragoal_dir,
    "ralph": lambda state, session: paths.ralph_dir(state),
    "verify": lambda state, session: paths.verify_dir(state),
}
UNITS = {"ultraplan": "step", "ultragoal": "goal", "ralph": "criterion", "verify": "goal", "ulw": "gate"}


def look(place: Place) -> list[Status]:
    """All the work of a session that its row or its ledgers know, what leads first."""
    found = [look_at(kind, place) for kind in ORDER if _may_have(kind, place)]
    return [view for view in found if view is not None]


def _may_have(kind: str, place: Place) -> bool:
    """Without a row or a directory there is nothing to read, and the workflow's modules need not be loaded for that."""
    if kind not in HOMES or kind in part(place.row, "work") or place.kept:
        return True
    return os.path.isdir(HOMES[kind](place.context.state, place.session))


def look_at(kind: str, place: Place) -> Status | None:
    """A ledger nobody can read is shown as that, and in a damaged one nothing counts; other work is not touched."""
    try:
        view: Status | None = importlib.import_module(f"omo.report.works.{kind}").look(place)
    except OmoError as error:
        return _unreadable(kind, place, error.message, error.fix)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        # Anybody can write a row that follows the chain and has another shape than ours.
        what = f"the ledger of {kind} holds what omo did not write ({type(error).__name__}: {clip(str(error), 80)})"
        return _unreadable(kind, place, what, "omo ledger verify")
    return view.believed if view else None


def _unreadable(kind: str, place: Place, what: str, fix: str) -> Status | None:
    if kind not in part(place.row, "work"):
        return None
    said = ways.step("repair", what, fix)
    return Status(kind, UNITS[kind], headline="cannot be read", next=said, problems=(what,))
