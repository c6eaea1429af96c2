"""How a run ended, in the sentence that Stop has for it, and what a reader has to know before believing it.

Where it is open or stale, that it is not proven.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from omo.context import Context
from omo.errors import OmoError
from omo.hooks import messages
from omo.state import paths
from omo.state.journal import Journal
from omo.table import name_of
from omo.text import clip
from omo.views.project import SessionView, claims_let_stand, lapsed
from omo.work import outcome
from omo.work.sections import Notice
from omo.work.status import Item, Status, units

if TYPE_CHECKING:
    from omo.views.report.gather import Part

Row = dict[str, Any]

GONE, UNPROVEN = "gone", "unproven"  # beside the five verdicts of an outcome
NOT = "NOT proven"
MODES = {
    "active": "it is still going on",
    "waiting": "it waits",
    "paused": "it is paused",
    "blocked": "it is blocked",
    "exhausted": "a limit let it go",
    "cancelled": "the user called it off",
    "unreadable": "its state cannot be read",
}
MOST_NAMED = 4
# What takes the ground from everything else comes first, what may be harmless last.
WEIGHTS = {"damaged ledger": 0, "damaged": 0, "unreadable": 0, "changed since": 2}


@dataclass(frozen=True)
class Verdict:
    """`level` is one of the five verdicts, gone or unproven; `word` is what nobody may misread, `reasons` what follows.

    `outcome` is what the sentence says, where everything that counts has ended and still holds.
    """

    level: str
    word: str
    reasons: tuple[str, ...]
    outcome: Row | None = None

    @property
    def text(self) -> str:
        return f"{self.word}: {'; '.join(self.reasons)}."

    @property
    def is_proven(self) -> bool:
        return self.outcome is not None and outcome.is_done(self.outcome)


def verdict(session: SessionView, run: str = "") -> Verdict:
    """Of all that the session worked on, or of one run alone, which `session.works` then holds."""
    views = session.works or []
    counting = [view for view in views if does_count(view, session)]
    gates = _gates_beside(views, counting)
    reasons: list[str] = []
    ends: list[Row] = []
    told: set[str] = set()
    is_held = True
    for view in counting:
        told.update(view.problems)
        ended = ended_as(view, session)
        if ended is not None:
            ends.append(ended)
        changed = _changed_after_end(view, session)
        if ended is None or view.problems or lapsed(ended, view):
            is_held = False
            reasons.append(_open(view))
        elif changed:
            is_held = False
            reasons.append(changed)
        elif not outcome.is_done(ended):
            reasons.append(outcome.in_words(ended))
    if gates is not None:
        reasons.append(outcome.facts_in_words(gates))
    # Where the session's own ledger has problems, whatever it says of any work is worth nothing.
    damage = [problem for problem in session.problems if problem not in told]
    if damage:
        reasons.insert(0, f"the ledger of the session cannot be believed ({clip(damage[0], 120)})")
    mode = session.brief.mode
    if not counting or len(ends) < len(counting) or damage or told or mode == "unreadable":
        if mode in MODES and (mode == "unreadable" or not run):
            reasons.append(MODES[mode])
        return Verdict(UNPROVEN, NOT, tuple(reasons) or ("there is nothing that could prove it",))
    if gates is not None:
        ends.append(gates)
    if not run:
        summaries = [(view.kind, {"run": view.run}) for view in counting]
        ends += messages.given_up(summaries, ends, session.brief.row)
    whole = outcome.worst(ends)
    said = session.brief.outcome  # as Stop has told it
    if said is not None and not run and said["verdict"] == whole["verdict"]:
        whole = said
    if is_held:
        return _ended(whole, counting)
    return Verdict(GONE, f"{NOT} any more" if outcome.is_done(whole) else NOT, tuple(reasons))


def _ended(whole: Row, counting: Sequence[Status]) -> Verdict:
    """The words of the outcome; of what was not reached, also how far it came, and what has changed since."""
    reasons = [outcome.facts_in_words(whole)]
    if whole["verdict"] in (outcome.WAIVED, outcome.ENDED):
        for view in counting:
            if any(_is_not_passing(item) or _is_stale(item) for item in view.items):
                reasons.append(_open(view))
    return Verdict(whole["verdict"], outcome.OPENINGS[whole["verdict"]], tuple(reasons), whole)


def ended_as(view: Status, session: SessionView) -> Row | None:
    """How work ended: by the session's row where that speaks of this run, else by its own last row. None while open."""
    for work in session.brief.work:
        if work.state and work.kind == view.kind and work.run in ("", view.run):
            return work.outcome
    return view.outcome


def _changed_after_end(view: Status, session: SessionView) -> str:
    """By which the next Stop opens it again, though its own ledger finds nothing amiss."""
    for work in session.brief.work:
        if work.changed and work.kind == view.kind and work.run in ("", view.run):
            return f"{name_of(work.kind)}: {work.changed}"
    return ""


def does_count(view: Status, session: SessionView) -> bool:
    """Gates that were pinned for something else have no state of their own, hold nobody, and decide nothing."""
    held = [work.kind for work in session.brief.work if work.state]
    return view.kind != "ulw" or session.works == [view] or "ulw" in held


def _gates_beside(views: Sequence[Status], counting: Sequence[Status]) -> Row | None:
    """The end of gates that were pinned beside the work, and do not pass or were not run."""
    failing: list[str] = []
    not_run: list[str] = []
    for view in views:
        if view in counting:
            continue
        for item in view.items:
            if _is_not_passing(item):
                (not_run if item.mark == "open" else failing).append(item.id)
    return outcome.beside(failing, not_run) if failing or not_run else None


def _is_not_passing(item: Item) -> bool:
    return item.counts and item.mark not in ("done", "stale")


def _is_stale(item: Item) -> bool:
    return item.counts and (item.mark == "stale" or item.receipt == "stale")


def _open(view: Status) -> str:
    """How far it came: `3 of 5 goals hold, open: G004 pending, no longer proven: G002 (the tree has changed since)`."""
    if view.problems:
        return f"what {view.kind} says cannot be believed ({clip(view.problems[0], 120)})"
    if not view.total:
        return f"{view.kind} has no {view.unit} that could prove it"
    stale = [item for item in view.items if _is_stale(item)]
    left = [item for item in view.items if _is_not_passing(item) and item not in stale]
    held = view.total - len(left) - len(stale)
    sentence = f"{held} of {units(view.total, view.unit)} {'holds' if 1 in (held, view.total) else 'hold'}"
    if left:
        sentence += f", open: {_named(left)}"
    if stale:
        sentence += f", no longer proven: {_named(stale)}"
    if not left and not stale:
        sentence += f", and {clip(view.next.why, 160) or 'it was not finished'}"
    return sentence


def _named(items: Sequence[Item]) -> str:
    names = []
    for item in items[:MOST_NAMED]:
        state = clip(item.status.lower().replace("_", " "), 30)
        if _is_stale(item):
            state = f"({clip(item.receipt_why, 80) or 'stale'})"
        names.append(f"{clip(item.id, 30)} {state}")
    listed = ", ".join(names)
    return f"{listed} and {len(items) - MOST_NAMED} more" if len(items) > MOST_NAMED else listed


# What a reader has to know


def notices(context: Context, session: SessionView, parts: Sequence[Part]) -> list[Notice]:
    """Everything that was let through, changed or damaged."""
    listed: list[Notice] = []
    ended_goals: set[str] = set()
    names = {}
    for part in parts:
        view = part.view
        ended = ended_as(view, session)
        listed += _work_notices(part, ended)
        if view.kind == "ulw":
            is_proven = ended is not None and ended["verdict"] == outcome.PROVEN
            listed += _gate_notices(part, counts=does_count(view, session), is_proven=is_proven)
        if view.kind == "verify" and view.outcome:  # which names the claims about them
            ended_goals.update(item.id for item in view.items)
        elif view.kind != "verify":
            names[view.run] = name_of(view.kind)
    texts = {notice.text for notice in listed}
    damage = _shared_damage(context.state)
    for problem in session.problems:
        damage.append(Notice("damaged ledger", clip(problem, 300), "session"))
    for notice in damage:
        if notice.text not in texts:
            listed.append(notice)
    if session.brief.now.unreadable:
        listed.append(Notice("unreadable", clip(session.brief.now.unreadable, 300), "state"))
    try:
        for claim in claims_let_stand(context):
            if claim["goal"] not in ended_goals:
                text = f"{claim['claim']}: let stand by the {claim['by']}, {claim['reason']}"
                listed.append(Notice("claim let stand", text, claim["goal"]))
    except OmoError as error:
        listed.append(Notice("unreadable", clip(error.message, 300), "verify/claims"))
    named = [replace(notice, where=names.get(notice.where, notice.where)) for notice in listed]
    return sorted(dict.fromkeys(named), key=lambda notice: WEIGHTS.get(notice.what, 1))


def _work_notices(part: Part, ended: Row | None) -> list[Notice]:
    """What was let through is told by the outcome once there is one, and by the ledger until then."""
    view = part.view
    damage = "damaged" if view.kind == "ultraplan" else "damaged ledger"  # of a plan it may be the spec
    listed = [Notice(damage, clip(problem, 300), view.run or view.kind) for problem in view.problems]
    for exception in ended["exceptions"] if ended else []:
        what, by, why = (clip(str(exception.get(key) or "?"), 200) for key in ("what", "by", "why"))
        listed.append(Notice(what, f"by the {by}: {why}", view.run))
    for name, section in [("", part.whole), *part.sections.of.items()]:
        for notice in section.notices:
            if ended is None or not notice.until_end:
                listed.append(notice)
        for attachment in section.attachments:
            if name and attachment.problem:
                text = f"{attachment.path or attachment.name} {attachment.problem}"
                listed.append(Notice("evidence changed", text, name))
    for item in view.items:
        if view.kind == "ulw" and ended is None:  # a failure recorded as pre-existing; nothing else tells of it
            listed += [Notice("let through", clip(override, 300), item.id) for override in item.overrides]
        if item.receipt == "stale":
            listed.append(Notice("stale receipt", item.receipt_why or "what it covers has changed", item.id))
    return listed + [Notice("changed since", change, view.run) for change in view.changed]


def _gate_notices(part: Part, *, counts: bool, is_proven: bool) -> list[Notice]:
    """What fails beside the work, and who pinned what it rests on, unless that proves it: then it is the user's or the
    project's own."""
    listed = []
    commands = []
    for item in part.view.items:
        section = part.evidence(item.id)
        if not counts and _is_not_passing(item):
            what = "gate not run" if item.mark == "open" else "gate not passing"
            listed.append(Notice(what, "the work beside it was ended without it", item.id))
        if counts and not is_proven and section.pinned_by == "agent":
            commands.append(f"{item.id}: {section.command}")
    if commands and len(commands) == len(part.view.items):
        what = f"every gate was pinned by the agent ({'; '.join(commands)})"
        listed.append(Notice("pinned by the agent", clip(what, 400), part.view.run))
    return listed


def _shared_damage(state: str) -> list[Notice]:
    """Of the ledgers that belong to no run: what receipts and replays lean on."""
    listed = []
    for name in paths.SHARED_LEDGERS:
        directory = os.path.join(state, name)
        if os.path.isdir(directory):
            for problem in Journal(directory, state).problems():
                listed.append(Notice("damaged ledger", clip(problem, 300), name))
    return listed
