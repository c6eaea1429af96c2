"""How a run ended, in the sentence that Stop has for it; where it is open or stale, that it is not proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from omo.context import NO_SUCH_RUN
from omo.errors import NotEvaluable, Refused
from omo.json_text import Json
from omo.stop import rules
from omo.table import name_of
from omo.text import clip
from omo.views.project import SessionView, lapsed
from omo.work import outcome
from omo.work.status import Item, Status, units

if TYPE_CHECKING:
    from omo.state.rows import Outcome
    from omo.views.session import Work


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
class Headline:
    """`level` is one of the five verdicts, gone or unproven; `word` is what nobody may misread, `reasons` what follows.

    `outcome` is what the sentence says, where everything that counts has ended and still holds. Not `is_known`: there
    is nothing to judge, or what there is cannot be believed.
    """

    level: str
    word: str
    reasons: tuple[str, ...]
    outcome: Outcome | None = None
    is_known: bool = True

    @property
    def text(self) -> str:
        return f"{self.word}: {'; '.join(self.reasons)}."

    @property
    def is_proven(self) -> bool:
        return self.outcome is not None and outcome.is_done(self.outcome)

    @property
    def data(self) -> Json:
        return {"level": self.level, "text": self.text, "proven": self.is_proven}

    @property
    def exit_code(self) -> int:
        """For whoever does not read: 0 proven or judged, 3 not, 4 nobody knows."""
        if self.is_proven:
            return 0
        return Refused.exit_code if self.is_known else NotEvaluable.exit_code


NO_RUN = Headline(UNPROVEN, NOT, (NO_SUCH_RUN,), is_known=False)


def unreadable(why: str) -> Headline:
    return Headline(UNPROVEN, NOT, (why.rstrip("."),), is_known=False)


class WorkEnd(NamedTuple):
    """How one work of a session ended, and whether it holds."""

    status: Status
    session: SessionView

    @property
    def in_row(self) -> Work | None:
        """What the session's row says of this run."""
        for work in self.session.brief.work:
            if work.kind == self.status.kind and work.run in ("", self.status.run):
                return work
        return None

    @property
    def outcome(self) -> Outcome | None:
        """By the session's row where that speaks of this run, else by its own last row. None while it is open."""
        work = self.in_row
        return work.outcome if work is not None and work.state else self.status.outcome

    @property
    def gone(self) -> str:
        """Why it does not hold any more: by its own ledger, or because files were changed after it, for which the next
        Stop opens it again."""
        if self.outcome is not None and lapsed(self.outcome, self.status):
            return _how_far(self.status)
        work = self.in_row
        return f"{name_of(work.kind)}: {work.changed}" if work is not None and work.changed else ""

    @property
    def not_done(self) -> str:
        """Why it cannot be called done; empty where its outcome says that it is, and that holds."""
        if self.outcome is None or self.status.problems:
            return _how_far(self.status)
        gone = self.gone
        return gone if gone or outcome.is_done(self.outcome) else outcome.in_words(self.outcome)


def verdict(session: SessionView, run: str = "") -> Headline:
    """The outcome of all that the session worked on, or of one run alone, which `session.works` then holds."""
    mode, rule, by_stop = session.brief.mode, session.brief.rule, session.brief.outcome
    if rule.shows == rules.NOT_BEGUN and not run:  # no earlier run is taken for it
        return Headline(UNPROVEN, NOT, (rule.why,))
    works = [WorkEnd(status, session) for status in session.works or [] if does_count(status, session)]
    damage = _damage(session, works)
    is_damaged = bool(damage) or mode == "unreadable" or any(work.status.problems for work in works)
    if not works and not is_damaged and by_stop is not None and not outcome.is_done(by_stop):
        return _ended(by_stop, works)  # its ledger was cleared away since
    reasons = list(filter(None, [damage, *(work.not_done for work in works)]))
    ends = list(filter(None, [work.outcome for work in works]))
    if is_damaged or not works or len(ends) < len(works):
        if mode in MODES and (mode == "unreadable" or not run):
            reasons.append(MODES[mode])
        reasons = reasons or ["there is nothing that could prove it"]
        return Headline(UNPROVEN, NOT, tuple(reasons), is_known=not is_damaged and bool(works or mode in MODES))
    whole = outcome.worst(ends)
    if by_stop is not None and not run and not outcome.is_worse(whole, by_stop):
        whole = by_stop  # it also knows of gates beside the work, and of what was given up
    if any(work.gone for work in works):
        return Headline(GONE, f"{NOT} any more" if outcome.is_done(whole) else NOT, tuple(reasons))
    return _ended(whole, works)


def _ended(whole: Outcome, works: Sequence[WorkEnd]) -> Headline:
    """The words of the outcome; where not all was reached, also how far the work came, and what has changed since."""
    reasons = [outcome.facts_in_words(whole)]
    if whole["verdict"] in (outcome.WAIVED, outcome.ENDED):
        for work in works:
            if any(is_not_passing(item) or _is_stale(item) for item in work.status.items):
                reasons.append(_how_far(work.status))
    return Headline(whole["verdict"], outcome.OPENINGS[whole["verdict"]], tuple(reasons), whole)


def _damage(session: SessionView, works: Sequence[WorkEnd]) -> str:
    """Where the session's own ledger has problems, whatever it says of any work is worth nothing."""
    of_works = {problem for work in works for problem in work.status.problems}
    for problem in session.problems:
        if problem not in of_works:
            return f"the ledger of the session cannot be believed ({clip(problem, 120)})"
    return ""


def does_count(status: Status, session: SessionView) -> bool:
    """Gates that were pinned for something else have no state of their own, hold nobody, and decide nothing."""
    held = [work.kind for work in session.brief.work if work.state]
    return not status.is_of_session or session.works == [status] or status.kind in held


def is_not_passing(item: Item) -> bool:
    return item.counts and item.mark not in ("done", "stale")


def _is_stale(item: Item) -> bool:
    return item.counts and (item.mark == "stale" or item.receipt == "stale")


def _how_far(status: Status) -> str:
    """How far it came: `3 of 5 goals hold, open: G004 pending, no longer proven: G002 (the tree has changed since)`."""
    if status.problems:
        return f"what {status.kind} says cannot be believed ({clip(status.problems[0], 120)})"
    if not status.total:
        return f"{status.kind} has no {status.unit} that could prove it"
    stale = [item for item in status.items if _is_stale(item)]
    left = [item for item in status.items if is_not_passing(item) and item not in stale]
    held = status.total - len(left) - len(stale)
    sentence = f"{held} of {units(status.total, status.unit)} {'holds' if 1 in (held, status.total) else 'hold'}"
    if left:
        sentence += f", open: {_named(left)}"
    if stale:
        sentence += f", no longer proven: {_named(stale)}"
    if not left and not stale:
        sentence += f", and {clip(status.next.why, 160) or 'it was not finished'}"
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
