"""What a reader has to know before believing the rest: everything that was let through, changed or damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.context import Context
from omo.errors import OmoError
from omo.shown import clip
from omo.state import paths
from omo.state.journal import Journal
from omo.views.project import SessionView
from omo.views.report.verdict import does_count, ended_as, not_passing
from omo.views.session import Work
from omo.work.sections import Notice

if TYPE_CHECKING:
    from omo.views.report.gather import Part

# What takes the ground from everything else comes first, what may be harmless last.
WEIGHTS = {"damaged ledger": 0, "damaged": 0, "unreadable": 0, "changed since": 2}
SHARED = ("evidence", "commands", "verify/pins", "verify/goals", "verify/claims")


def notices(context: Context, seen: SessionView, parts: Sequence[Part], told_work: Sequence[Work]) -> list[Notice]:
    views = [one.view for one in parts]
    found = [notice for one in parts for notice in _of_part(one, told_work)]
    found += [notice for one in parts for notice in _of_gates(one, counts=does_count(one.view, views, told_work))]
    told = {one.text for one in found}
    damage = [("session", text) for text in seen.problems] + _shared_problems(context.state)
    found += [Notice("damaged ledger", clip(text, 300), where) for where, text in damage if clip(text, 300) not in told]
    if seen.brief.now.unreadable:
        found.append(Notice("unreadable", clip(seen.brief.now.unreadable, 300), "state"))
    ended_goals = {item.id for view in views if view.kind == "verify" and view.outcome for item in view.items}
    found += _claims(context, ended_goals)
    return sorted(dict.fromkeys(found), key=lambda one: WEIGHTS.get(one.what, 1))


def _claims(context: Context, ended_goals: set[str]) -> list[Notice]:
    """Claims that were let stand against what code saw, but those that the outcome of their goal names."""
    if not os.path.isdir(paths.verify_dir(context.state)):
        return []
    from omo.verify import claims

    try:
        rows = claims.recorded(context.state, overridden=True)
    except OmoError as error:
        return [Notice("unreadable", clip(error.message, 300), "verify/claims")]
    found = []
    for row in rows:
        if row.get("goal") not in ended_goals:
            text = f"{clip(str(row['claim']), 160)}: let stand by the {row['actor']}, {clip(str(row['override']), 160)}"
            found.append(Notice("claim let stand", text, clip(str(row.get("goal") or ""), 60)))
    return found


def _of_gates(one: Part, *, counts: bool) -> list[Notice]:
    """Who pinned what the proof rests on, and what fails beside it."""
    if one.view.kind != "ulw":
        return []
    if not counts:
        said = "it holds nobody here, and decides nothing"
        return [
            Notice("gate not passing", f"{item.status}; {said}", item.id)
            for item in one.view.items
            if not_passing(item)
        ]
    sections = {item.id: one.evidence(item.id).section for item in one.view.items}
    if not sections or any(section.pinned_by != "agent" for section in sections.values()):
        return []
    named = "; ".join(f"{name}: {section.command}" for name, section in sections.items())
    return [Notice("pinned by the agent", clip(f"every gate was pinned by the agent ({named})", 400), one.view.run)]


def _shared_problems(state: str) -> list[tuple[str, str]]:
    """Of the ledgers that belong to no run: what receipts and replays lean on."""
    found = []
    for name in SHARED:
        directory = os.path.join(state, name)
        if os.path.isdir(directory):
            found += [(name, text) for text in Journal(directory, state).problems()]
    return found


def _of_part(one: Part, told_work: Sequence[Work]) -> list[Notice]:
    """What was let through is told by the outcome once there is one, and by the ledger until then."""
    view = one.view
    ended = ended_as(view, told_work)
    damage = "damaged" if view.kind == "ultraplan" else "damaged ledger"  # of a plan it may be the spec
    found = [Notice(damage, clip(text, 300), view.run or view.kind) for text in view.problems]
    for let_through in (ended or {}).get("exceptions", []):
        by, why = (clip(str(let_through.get(key) or "?"), 200) for key in ("by", "why"))
        found.append(Notice(clip(str(let_through.get("what") or "?"), 200), f"by the {by}: {why}", view.run))
    found += [notice for notice in one.notices if ended is None or not notice.until_end]
    for item in view.items:
        if view.kind == "ulw" and ended is None:  # a failure recorded as pre-existing; nothing else tells of it
            found += [Notice("let through", clip(said, 300), item.id) for said in item.overrides]
        if item.receipt == "stale":
            found.append(Notice("stale receipt", item.receipt_why or "what it covers has changed", item.id))
    return found + [Notice("changed since", text, view.run) for text in view.changed]
