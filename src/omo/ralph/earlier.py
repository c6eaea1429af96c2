"""What a run carries on from: a session that begins again after an end without a pass does not begin with nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omo.errors import Refused
from omo.ralph.criteria import MOST_CRITERIA, Criterion
from omo.ralph.lessons import normal
from omo.ralph.run import RalphRun, standings
from omo.ralph.standing import THEIRS, Standing
from omo.shown import clip
from omo.state import ledger, paths

Row = dict[str, Any]

NO_GATE = "no gate is pinned in this session, and SHIP needs one: omo gate add NAME -- COMMAND, or the user's /omo:pin"


def require_told(run: RalphRun) -> None:
    """An agent whose run was ended begins no other before Stop has shown the user how that one ended."""
    told = run.told()
    if run.by == "user" or told.get("state") != "blocked" or not told.get("cleared") or told.get("told") is not False:
        return
    raise Refused(
        f"ralph run {told.get('run')} ended without a pass, and the user has not been shown it: "
        f"{clip(str(told.get('why') or ''), 200)}",
        fix=THEIRS,
    )


def after(run: RalphRun, fresh: Sequence[Criterion]) -> Row:
    """The session's last run, where it did not pass, and what of it is not asked any more; empty where nothing is left.

    What the runs before it had dropped, and how often they were circumvented, goes on with it.
    """
    mine = [one for one in standings(run.state) if one.session == run.session and one.root == run.here]
    last, told = (mine[-1] if mine else Standing()), run.told()
    if told.get("cleared") and told.get("run") not in [one.run for one in mine]:
        last = Standing(run=str(told.get("run")))  # its directory is gone
    if not last.run or (last.ended is not None and not last.is_the_users_turn):
        return {}
    listed = [*_listed(last.after), *(_entry(one) for one in last.criteria)]
    return {
        "run": last.run,
        "how": str((last.ended or {}).get("how") or "abandoned"),
        "attempts": last.circumventions + int(last.after.get("attempts") or 0),
        "dropped": [one for one in listed if _is_gone(one, fresh)][:MOST_CRITERIA],
        "changed": [one for one in listed if _has_other_checks(one, fresh)][:MOST_CRITERIA],
    }


def _entry(one: Criterion) -> Row:
    return {"id": one.id, "description": clip(one.description, 120), "checks": sorted(one.digests)}


def _listed(earlier: Row) -> list[Row]:
    return [*(earlier.get("dropped") or []), *(earlier.get("changed") or [])]


def _is_kept(old: Row, fresh: Sequence[Criterion]) -> bool:
    return any(set(old["checks"]) <= one.digests for one in fresh)


def _is_named(old: Row, fresh: Sequence[Criterion]) -> bool:
    return any(normal(old["description"]) == normal(clip(one.description, 120)) for one in fresh)


def _is_gone(old: Row, fresh: Sequence[Criterion]) -> bool:
    return not _is_kept(old, fresh) and not _is_named(old, fresh)


def _has_other_checks(old: Row, fresh: Sequence[Criterion]) -> bool:
    return not _is_kept(old, fresh) and _is_named(old, fresh)


def has_gates(run: RalphRun) -> bool:
    """Whether SHIP can be proven in this session at all."""
    rows = ledger.rows(paths.events_file(run.state, run.session))
    return any(row.get("kind") == "gate-added" for row in rows)
