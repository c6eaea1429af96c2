"""How a run ended, in the sentence that Stop has for it; and where it is open or stale, that it is not proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from omo.shown import clip, counted
from omo.views.session import Work
from omo.work import outcome
from omo.work.status import Item, Status

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


@dataclass(frozen=True)
class Ground:
    """What a verdict rests on beside the work itself. `told` is how the session's row sums the same work up."""

    told: Sequence[Work] = ()
    mode: str = ""
    damage: Sequence[str] = ()  # of the session's own ledger: whatever it says of any work is then worth nothing


def verdict(views: Sequence[Status], ground: Ground) -> Verdict:
    counting = [view for view in views if does_count(view, views, ground.told)]
    unbelieved = _unbelieved(ground, counting)
    ends = {view.kind: ended_as(view, ground.told) for view in counting}
    known = [ended for ended in ends.values() if ended is not None]
    can_be_read = ground.mode != "unreadable" and not unbelieved and not any(view.problems for view in counting)
    if counting and len(known) == len(counting) and can_be_read:
        whole = outcome.worst([*known, *_gates_beside(views, counting)])
        lapsed = [view for view in counting if not _holds(view, ends[view.kind])]
        if not lapsed:
            return _ended(whole, counting)
        word = f"{NOT} any more" if outcome.is_done(whole) else NOT
        return Verdict(GONE, word, (*(_open(view) for view in lapsed), *_beside(views, counting)))
    parts = unbelieved
    for view in counting:
        parts += _part(view, ends[view.kind])
    parts += _beside(views, counting)
    if ground.mode in MODES:
        parts.append(MODES[ground.mode])
    return Verdict(UNPROVEN, NOT, tuple(parts) or ("there is nothing that could prove it",))


def ended_as(view: Status, told: Sequence[Work]) -> Row | None:
    """How work ended: by the session's row where that speaks of this run, else by its own last row. None while open."""
    for work in told:
        if work.kind == view.kind and work.run in ("", view.run):
            return work.outcome
    return view.outcome


def does_count(view: Status, views: Sequence[Status], told: Sequence[Work]) -> bool:
    """A gate nobody was held to decides nothing."""
    return view.kind != "ulw" or len(views) == 1 or any(one.kind == "ulw" for one in told)


def _unbelieved(ground: Ground, counting: Sequence[Status]) -> list[str]:
    known = {problem for view in counting for problem in view.problems}
    damage = [one for one in ground.damage if one not in known][:1]
    return [f"the ledger of the session cannot be believed ({clip(one, 120)})" for one in damage]


def _holds(view: Status, ended: Row | None) -> bool:
    """Whether what it ended as is still so. What was let through, or not reached, cannot lapse."""
    if ended is None or ended["verdict"] in (outcome.WAIVED, outcome.ENDED):
        return ended is not None
    is_fresh = view.next.action != "verify-again" and not any(_is_stale(item) for item in view.items)
    return is_fresh and not any(not_passing(item) for item in view.items)


def _ended(whole: Row, counting: Sequence[Status]) -> Verdict:
    """The words of the outcome; of what was not reached, also how far it came, and what has changed since."""
    word = outcome.OPENINGS[whole["verdict"]]
    said = outcome.facts_in_words(whole)
    left = []
    if whole["verdict"] in (outcome.WAIVED, outcome.ENDED):
        left = [_open(view) for view in counting if any(_is_left(item) for item in view.items)]
    return Verdict(whole["verdict"], word, (said, *left), whole)


def _part(view: Status, ended: Row | None) -> list[str]:
    """What keeps the whole from being proven: what is open, and what ended beside it without being done."""
    if ended is None or view.problems or not _holds(view, ended):
        return [_open(view)]
    return [] if outcome.is_done(ended) else [outcome.in_words(ended)]


def _beside(views: Sequence[Status], counting: Sequence[Status]) -> list[str]:
    return [f"beside it {gates}" for gates in _left_beside(views, counting)]


def _gates_beside(views: Sequence[Status], counting: Sequence[Status]) -> list[Row]:
    return [outcome.beside(gates) for gates in _left_beside(views, counting)]


def _left_beside(views: Sequence[Status], counting: Sequence[Status]) -> list[str]:
    """Gates that hold nobody here, and do not pass."""
    left = [item for view in views if view not in counting for item in view.items if not_passing(item)]
    return [f"{'gate' if len(left) == 1 else 'gates'} {_named(left)}"] if left else []


def not_passing(item: Item) -> bool:
    return item.counts and item.mark not in ("done", "stale")


def _is_left(item: Item) -> bool:
    return not_passing(item) or _is_stale(item)


def _is_stale(item: Item) -> bool:
    return item.counts and (item.mark == "stale" or item.receipt == "stale")


def plural(view: Status, count: int) -> str:
    if view.unit == "criterion":
        return f"{count} {'criterion' if count == 1 else 'criteria'}"
    return counted(count, view.unit)


def _open(view: Status) -> str:
    if view.problems:
        return f"what {view.kind} says cannot be believed ({clip(view.problems[0], 120)})"
    if not view.total:
        return f"{view.kind} has no {view.unit} that could prove it"
    stale = [item for item in view.items if _is_stale(item)]
    left = [item for item in view.items if item.counts and item.mark != "done" and item not in stale]
    held = view.total - len(left) - len(stale)
    said = f"{held} of {plural(view, view.total)} {'holds' if 1 in (held, view.total) else 'hold'}"
    said += f", open: {_named(left)}" if left else ""
    if stale:
        said += f", no longer proven: {_named(stale)}"
    return said if left or stale else f"{said}, and {clip(view.next.why, 160) or 'it was not finished'}"


def _named(items: Sequence[Item]) -> str:
    told = ", ".join(f"{clip(item.id, 30)} {_word(item)}" for item in items[:MOST_NAMED])
    more = len(items) - MOST_NAMED
    return told + (f" and {more} more" if more > 0 else "")


def _word(item: Item) -> str:
    if _is_stale(item):
        return f"({clip(item.receipt_why, 80) or 'stale'})"
    return clip(item.status.lower().replace("_", " "), 30)
