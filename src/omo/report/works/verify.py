"""Goals with checks and questions: those that the session holds."""

from __future__ import annotations

from omo.report.work import Place
from omo.state.runtime import part
from omo.work.run import Caller
from omo.work.status import Status


def look(place: Place) -> Status | None:
    summary = part(part(place.row, "work"), "verify")
    if not summary:
        return None
    from omo.verify.status import status

    return status(caller_of(place), summary, for_show=not place.reads_all)


def caller_of(place: Place) -> Caller:
    return Caller(**{key: value for key, value in place.given.items() if key != "named"})
