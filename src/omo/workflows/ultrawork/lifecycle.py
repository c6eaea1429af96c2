"""A run of ultrawork ends by its proof or the user's word, and in no other way."""

from __future__ import annotations

from omo.errors import Refused
from omo.work.lifecycle import Cleared
from omo.work.run import Caller


def clear(caller: Caller, *, force: bool) -> Cleared | None:
    fix = "omo ulw done; the user ends it with omo stop-continuation"
    raise Refused("a run of ultrawork is not cleared", fix=fix)
