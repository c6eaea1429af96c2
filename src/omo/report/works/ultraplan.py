"""A plan session: its steps as git shows them."""

from __future__ import annotations

from omo.report.work import Place
from omo.work.run import Caller
from omo.work.status import Status


def look(place: Place) -> Status | None:
    from omo.ultraplan.status import status

    given = dict(place.given)
    named = given.pop("named", "")
    return status(Caller(**given), named)
