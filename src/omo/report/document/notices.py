"""What a reader has to know before believing the rest: everything that was let through, changed or damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.context import Context
from omo.report import project
from omo.report.document.evidence import Notice
from omo.report.project import SessionView
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


def notices(context: Context, seen: SessionView, parts: Sequence[Part]) -> list[Notice]:
    found = [notice for one in parts for notice in _of_part(one)]
    told = {one.text for one in found}
    damage = [("session", text) for text in seen.problems] + _shared_problems(context.state)
    found += [Notice("damaged ledger", clip(text, 300), where) for where, text in damage if clip(text, 300) not in told]
    claims = [f"{row['claim']}: let stand by the {row['by']}, {row['reason']}" for row in project.overrides(context)]
    found += [Notice("claim let stand", text) for text in claims if not any(text in one.text for one in found)]
    return sorted(dict.fromkeys(found), key=lambda one: WEIGHTS.get(one.what, 1))


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
    found = [Notice("damaged ledger", clip(text, 300), view.run or view.kind) for text in view.problems]
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
