"""How a run ended, in the sentence that Stop has for it; where it is open or stale, that it is not proven."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from omo.errors import NotEvaluable, Refused
from omo.json_text import Json
from omo.table import name_of
from omo.text import clip
from omo.views.project import SessionView, lapsed
from omo.work import outcome
from omo.work.status import Item, Status, units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Outcome


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


NO_RUN = Headline(UNPROVEN, NOT, ("no such run is known in this project",), is_known=False)


def unreadable(why: str) -> Headline:
    return Headline(UNPROVEN, NOT, (why.rstrip("."),), is_known=False)


def verdict(session: SessionView, run: str = "") -> Headline:
    """The outcome of all that the session worked on, or of one run alone, which `session.works` then holds."""
    counting = [view for view in session.works or [] if does_count(view, session)]
    if session.brief.rule.name in ("begin", "not-begun") and not run:  # no earlier run is taken for it
        return Headline(UNPROVEN, NOT, (session.brief.rule.why,))
    damage = _damage(session, counting)
    ends = list(filter(None, [ended_as(view, session) for view in counting]))
    reasons = list(filter(None, [damage, *(_not_done(view, session) for view in counting)]))
    mode = session.brief.mode
    is_damaged = bool(damage) or mode == "unreadable" or any(view.problems for view in counting)
    by_stop = session.brief.outcome  # it also knows of gates beside the work, and of what was given up
    if not counting and not is_damaged and by_stop is not None and not outcome.is_done(by_stop):
        return _ended(by_stop, counting)  # its ledger was cleared away since
    if is_damaged or not counting or len(ends) < len(counting):
        if mode in MODES and (mode == "unreadable" or not run):
            reasons.append(MODES[mode])
        reasons = reasons or ["there is nothing that could prove it"]
        return Headline(UNPROVEN, NOT, tuple(reasons), is_known=not is_damaged and bool(counting or mode in MODES))
    whole = outcome.worst(ends)
    if by_stop is not None and not run and not outcome.is_worse(whole, by_stop):
        whole = by_stop
    if any(_gone(view, session) for view in counting):
        return Headline(GONE, f"{NOT} any more" if outcome.is_done(whole) else NOT, tuple(reasons))
    return _ended(whole, counting)


def _damage(session: SessionView, counting: Sequence[Status]) -> str:
    """Where the session's own ledger has problems, whatever it says of any work is worth nothing."""
    of_works = {problem for view in counting for problem in view.problems}
    for problem in session.problems:
        if problem not in of_works:
            return f"the ledger of the session cannot be believed ({clip(problem, 120)})"
    return ""


def _not_done(view: Status, session: SessionView) -> str:
    """Why work cannot be called done; empty where its outcome says that it is, and that holds."""
    ended = ended_as(view, session)
    if ended is None or view.problems:
        return _open(view)
    gone = _gone(view, session)
    return gone if gone or outcome.is_done(ended) else outcome.in_words(ended)


def _gone(view: Status, session: SessionView) -> str:
    """Why an end does not hold any more: by its own ledger, or because files were changed after it, for which the next
    Stop opens it again."""
    ended = ended_as(view, session)
    if ended is not None and lapsed(ended, view):
        return _open(view)
    for work in session.brief.work:
        if work.changed and work.kind == view.kind and work.run in ("", view.run):
            return f"{name_of(work.kind)}: {work.changed}"
    return ""


def _ended(whole: Outcome, counting: Sequence[Status]) -> Headline:
    """The words of the outcome; where not all was reached, also how far the work came, and what has changed since."""
    reasons = [outcome.facts_in_words(whole)]
    if whole["verdict"] in (outcome.WAIVED, outcome.ENDED):
        for view in counting:
            if any(is_not_passing(item) or _is_stale(item) for item in view.items):
                reasons.append(_open(view))
    return Headline(whole["verdict"], outcome.OPENINGS[whole["verdict"]], tuple(reasons), whole)


def ended_as(view: Status, session: SessionView) -> Outcome | None:
    """How work ended: by the session's row where that speaks of this run, else by its own last row. None while open."""
    for work in session.brief.work:
        if work.state and work.kind == view.kind and work.run in ("", view.run):
            return work.outcome
    return view.outcome


def does_count(view: Status, session: SessionView) -> bool:
    """Gates that were pinned for something else have no state of their own, hold nobody, and decide nothing."""
    held = [work.kind for work in session.brief.work if work.state]
    return view.kind != "ulw" or session.works == [view] or "ulw" in held


def is_not_passing(item: Item) -> bool:
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
    left = [item for item in view.items if is_not_passing(item) and item not in stale]
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
