"""What a reader has to know before believing the rest: everything that was let through, changed or damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.context import Context
from omo.errors import OmoError
from omo.report import project
from omo.report.document.evidence import Notice
from omo.report.document.verdict import does_count, not_passing
from omo.report.project import SessionView
from omo.report.session import Work
from omo.report.work import WorkView
from omo.shown import clip
from omo.state.journal import Journal
from omo.ultrawork import session as sessions

if TYPE_CHECKING:
    from omo.report.document.whole import Part

# How the resolver begins what was let through. What follows may be an agent's words, so only the beginning counts.
KINDS = (
    ("independence: reduced", "reduced independence"),
    ("judged with reduced independence", "reduced independence"),
    ("the critique has reduced independence", "reduced independence"),
    (sessions.SKIPPED, "skipped verification"),
    ("a failure recorded as pre-existing", "pre-existing failure"),
    ("skipped, as its plan allows", "skipped step"),
    ("reduced scope", "reduced scope"),
    ("left for the user", "left for the user"),
    ("no clean critique", "not reviewed"),
    ("preflight bypassed", "preflight bypassed"),
)
# What takes the ground from everything else comes first, what may be harmless last.
WEIGHTS = {"damaged ledger": 0, "damaged": 0, "unreadable": 0, "changed since": 2}
SHARED = ("evidence", "commands", "verify/pins", "verify/goals", "verify/claims")
CHANGED = ("the tree has changed", "outside the fence", "not committed", "the spec was edited")


def notices(context: Context, seen: SessionView, parts: Sequence[Part], told_work: Sequence[Work]) -> list[Notice]:
    views = [one.view for one in parts]
    found = [notice for one in parts for notice in _of_part(one)]
    found += [notice for one in parts for notice in _of_gates(one, counts=does_count(one.view, views, told_work))]
    told = {one.text for one in found}
    damage = [("session", text) for text in seen.problems] + _shared_problems(context.state)
    found += [Notice("damaged ledger", clip(text, 300), where) for where, text in damage if clip(text, 300) not in told]
    if seen.brief.now.unreadable:
        found.append(Notice("unreadable", clip(seen.brief.now.unreadable, 300), "state"))
    claims, unread = _claims(context)
    found += [Notice("claim let stand", text) for text in claims if not any(text in one.text for one in found)]
    known = {one.text for one in found}
    found += [Notice("unreadable", text, "verify/claims") for text in unread if text not in known]
    return sorted(dict.fromkeys(found), key=lambda one: WEIGHTS.get(one.what, 1))


def _claims(context: Context) -> tuple[list[str], list[str]]:
    """Those that were let stand, and why they cannot be read."""
    try:
        rows = project.overrides(context)
    except OmoError as error:
        return [], [clip(error.message, 300)]
    return [f"{row['claim']}: let stand by the {row['by']}, {row['reason']}" for row in rows], []


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
    dossiers = [(item.id, one.proof.dossier(item.id)) for item in one.view.items]
    if not dossiers or any(dossier.pinned_by != "agent" for _, dossier in dossiers):
        return []
    named = "; ".join(f"{name}: {dossier.command}" for name, dossier in dossiers)
    return [Notice("pinned by the agent", clip(f"every gate was pinned by the agent ({named})", 400), one.view.run)]


def _shared_problems(state: str) -> list[tuple[str, str]]:
    """Of the ledgers that belong to no run: what receipts and replays lean on."""
    found = []
    for name in SHARED:
        directory = os.path.join(state, name)
        if os.path.isdir(directory):
            found += [(name, text) for text in Journal(directory, state).problems()]
    return found


def _of_part(one: Part) -> list[Notice]:
    view, proven = one.view, one.proof.notices
    told = [*view.overrides, *(f"{item.id}: {said}" for item in view.items for said in item.overrides)]
    lets = [_override(text, view) for text in dict.fromkeys(told)]
    in_full = {(notice.what, where) for notice in proven for where in (notice.where, view.run)}
    damage = "damaged" if view.kind == "ultraplan" else "damaged ledger"  # of a plan it may be the spec
    found = [Notice(damage, clip(text, 300), view.run or view.kind) for text in view.problems]
    found += [let for let in lets if (let.what, let.where) not in in_full]
    found += proven
    found += [
        Notice("stale receipt", item.receipt_why or "what it covers has changed", item.id)
        for item in view.items
        if item.receipt == "stale"
    ]
    return found + [Notice("changed since", text, view.run) for text in view.facts if text.startswith(CHANGED)]


def _override(text: str, view: WorkView) -> Notice:
    """Where the ledger tells it in full, that is shown instead: a notice of the same kind, about the same item."""
    item, _, rest = text.partition(": ")
    is_item = any(one.id == item for one in view.items)
    said = rest if is_item else text
    return Notice(_what(said, view.kind), clip(said, 400), item if is_item else view.run)


def _what(said: str, kind: str) -> str:
    known = next((what for begins, what in KINDS if said.startswith(begins)), "")
    if kind == "ultragoal" and said.endswith(" exempted"):
        return "exempted replay"
    return known or ("claim let stand" if kind == "verify" else "override")
