"""Whether a run is proven, in one sentence that cannot be misread. It only sums up what the resolver says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Ground:
    """What a verdict rests on beside the work itself. `told` is how the session's row sums the same work up."""

    told: Sequence[Work] = ()
    mode: str = ""
    exceptions: int = 0
    damage: Sequence[str] = ()  # of the session's own ledger: whatever it says of any work is then worth nothing
    gates: Mapping[str, str] = field(default_factory=dict)  # of each gate the command, and who pinned it


def verdict(views: Sequence[WorkView], ground: Ground) -> Verdict:
    states = {one.kind: one for one in ground.told}
    counting = [view for view in views if does_count(view, views, ground.told)]
    unbelieved = _unbelieved(ground, counting)
    can_be_read = ground.mode != "unreadable" and not unbelieved
    proven = {view.kind: is_proven(view, states.get(view.kind)) for view in counting}
    if counting and all(proven.values()) and can_be_read:
        return _proven(views, counting, ground)
    was = can_be_read and all(_was_proven(view, states.get(view.kind)) for view in counting)
    parts = [*unbelieved, *(_open(view) for view in counting if not proven[view.kind]), *_beside(views, counting)]
    parts += [MODES[ground.mode]] if ground.mode in MODES else []
    if was and counting:
        return Verdict(GONE, f"{NOT} any more", tuple(parts))
    return Verdict(UNPROVEN, NOT, tuple(parts) or ("there is nothing that could prove it",))


def does_count(view: WorkView, views: Sequence[WorkView], told: Sequence[Work]) -> bool:
    """A gate nobody was held to decides nothing."""
    return view.kind != "ulw" or len(views) == 1 or any(one.kind == "ulw" for one in told)


def _unbelieved(ground: Ground, counting: Sequence[WorkView]) -> list[str]:
    known = {problem for view in counting for problem in view.problems}
    damage = [one for one in ground.damage if one not in known][:1]
    return [f"the ledger of the session cannot be believed ({clip(one, 120)})" for one in damage]


def _proven(views: Sequence[WorkView], counting: Sequence[WorkView], ground: Ground) -> Verdict:
    held = (*(_held(view, ground.gates) for view in counting), *_beside(views, counting))
    if not ground.exceptions:
        return Verdict(PROVEN, "Proven", held)
    return Verdict(EXCEPTIONS, f"Proven with {counted(ground.exceptions, 'exception')}", held)


def _beside(views: Sequence[WorkView], counting: Sequence[WorkView]) -> list[str]:
    """Gates that hold nobody here, and do not pass."""
    left = [item for view in views if view not in counting for item in view.items if not_passing(item)]
    return [f"beside it {'gate' if len(left) == 1 else 'gates'} {_named(left)}"] if left else []


def not_passing(item: Item) -> bool:
    return item.counts and item.mark not in ("done", "stale")


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


def _held(view: WorkView, gates: Mapping[str, str]) -> str:
    is_one = view.total == 1
    every = "the one" if is_one else f"all {view.total}"
    noun = plural(view, view.total).split(" ", 1)[1]
    said = f"{every} {noun} {'is' if is_one else 'are'} {HOLDS.get(view.kind, 'done')}"
    named = [f"{clip(item.id, 30)}: {gates[item.id]}" for item in view.items if view.kind == "ulw" and item.id in gates]
    more = [f"and {len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return f"{said} ({'; '.join([*named[:MOST_NAMED], *more])})" if named else said


def _open(view: WorkView) -> str:
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
