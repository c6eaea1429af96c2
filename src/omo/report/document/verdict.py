"""Whether a run is proven, in one sentence that cannot be misread. It only sums up what the resolver says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from omo.report.session import Work
from omo.report.work import Item, WorkView
from omo.shown import clip, counted

PROVEN, EXCEPTIONS, GONE, UNPROVEN = "proven", "exceptions", "gone", "unproven"
NOT = "NOT proven"
OVER = ("", "done", "complete-goal", "verify-again")  # what comes next where every item was closed
HOLDS = {
    "ultragoal": "closed by fresh receipts",
    "ultraplan": "in git and as the plan says",
    "ralph": "judged to hold on the files as they are",
    "verify": "verified",
    "ulw": "passing on the files as they are",
}
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
    """`word` is what nobody may misread, `reasons` what it rests on."""

    level: str
    word: str
    reasons: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.word}: {'; '.join(self.reasons)}."

    @property
    def is_proven(self) -> bool:
        return self.level in (PROVEN, EXCEPTIONS)


def verdict(views: Sequence[WorkView], told: Sequence[Work], mode: str, exceptions: int) -> Verdict:
    """`told` is how the session's row sums the same work up; a gate nobody was held to decides nothing."""
    states = {one.kind: one for one in told}
    counting = [view for view in views if view.kind in states or view.kind != "ulw" or len(views) == 1]
    if not counting:
        return Verdict(UNPROVEN, NOT, ("there is nothing that could prove it",))
    if all(is_proven(view, states.get(view.kind)) for view in counting):
        held = tuple(_held(view) for view in counting)
        if not exceptions:
            return Verdict(PROVEN, "Proven", held)
        return Verdict(EXCEPTIONS, f"Proven with {counted(exceptions, 'exception')}", held)
    was = all(_was_proven(view, states.get(view.kind)) for view in counting)
    parts = [_open(view) for view in counting if not is_proven(view, states.get(view.kind))]
    parts += [MODES[mode]] if mode in MODES else []
    return Verdict(GONE, f"{NOT} any more", tuple(parts)) if was else Verdict(UNPROVEN, NOT, tuple(parts))


def is_proven(view: WorkView, told: Work | None) -> bool:
    is_fresh = view.next.action != "verify-again" and not any(_is_stale(item) for item in view.items)
    return is_fresh and _was_proven(view, told)


def _was_proven(view: WorkView, told: Work | None) -> bool:
    """Every item was closed by its own rules, whatever has changed since."""
    is_over = told.state == "done" if told and told.run in ("", view.run) else view.kind != "ulw"
    closed = all(item.mark in ("done", "stale") for item in view.items if item.counts)
    return is_over and view.total > 0 and closed and not view.problems and view.next.action in OVER


def _is_stale(item: Item) -> bool:
    return item.counts and (item.mark == "stale" or item.receipt == "stale")


def plural(view: WorkView, count: int) -> str:
    if view.unit == "criterion":
        return f"{count} {'criterion' if count == 1 else 'criteria'}"
    return counted(count, view.unit)


def _held(view: WorkView) -> str:
    is_one = view.total == 1
    every = "the one" if is_one else f"all {view.total}"
    noun = plural(view, view.total).split(" ", 1)[1]
    return f"{every} {noun} {'is' if is_one else 'are'} {HOLDS.get(view.kind, 'done')}"


def _open(view: WorkView) -> str:
    if view.problems:
        return f"the ledger of {view.kind} cannot be believed ({clip(view.problems[0], 120)})"
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
