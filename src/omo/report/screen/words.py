"""What the resolver found, in the words that the terminal and the plain view share. Nothing is looked up here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from omo.report.project import RECENT, ProjectView, SessionView
from omo.report.session import WAITING, Work
from omo.report.works import UNITS
from omo.shown import clip
from omo.state.runtime import OPEN_STATES
from omo.ultrawork import stop
from omo.work.status import Item, Status, plural, units

NAMES = {"ulw": "ultrawork"}
MOST_ITEMS = 10  # more than that, and what is done is counted instead of listed
MOST_NOTES = 2
LONGEST_NAME = 64
WHEN = " when it was last looked at"
SHORTEST_ID = 8
FENCE = "the plan's fence is up"
OFF = "nothing is on in this session"
NOTHING = "Nothing is on in this project."
HOW_TO_START = "Type ulw in a prompt of Claude Code, or /omo:ultragoal, /omo:ultraplan, /omo:ralph."


def name_of(kind: str) -> str:
    return NAMES.get(kind, clip(kind, 20))


def progress(one: Work | Status) -> str:
    """3/5 goals; empty where there is nothing to count."""
    unit = one.unit if isinstance(one, Status) else _unit(one)
    return f"{one.done}/{one.total} {plural(unit)}" if one.total else ""


def how_far(one: SessionView) -> str:
    """Of the leading work: what holds now where somebody looked, else what was closed when its row was written."""
    leading = one.brief.leading
    known = one.leading if one.leading and one.leading.total else leading
    return progress(known) if known else ""


def _unit(work: Work) -> str:
    """What a summary counts: of a goal with questions the answers that are owed, else what the work consists of."""
    return "step" if work.kind == "verify" else UNITS.get(work.kind, "part")


def headline(one: SessionView) -> str:
    """How it is, and what else has to be known with that: what was proven is not any more, a fence is up."""
    since = one.lapsed or (FENCE if one.brief.is_fenced and not one.is_live else "")
    return f"{_how_it_is(one)}; {since}" if since else _how_it_is(one)


def short_headline(one: SessionView) -> str:
    """The same for a column of a table, which has the fence among its notices."""
    return _how_it_is(one) + (", stale" if one.lapsed else "")


def _how_it_is(one: SessionView) -> str:
    """ultragoal active; ultragoal and ultrawork active; ultrawork done, not proven; off."""
    brief = one.brief
    if brief.mode in ("off", "unreadable"):
        return brief.mode
    leading = [brief.leading] if brief.leading else []
    listed = [work for work in brief.work if work.state in OPEN_STATES] or leading
    names = " and ".join(name_of(work.kind) for work in listed) or name_of("ulw")
    return f"{names} {brief.mode}" + (", not proven" if one.is_proven is False else "")


def outcome(one: SessionView) -> str:
    """How it ended, where it did: what was proven, or which rule let go."""
    leading = one.brief.leading
    if leading is None or leading.state not in ("done", "exhausted"):
        return ""
    if leading.state == "done":
        return one.end_of(leading)
    causes = {rule.name: rule.why for rule in stop.RULES}
    let_go = causes.get(leading.ended_by, leading.ended_by)
    return "; ".join(filter(None, [let_go and f"let go ({leading.ended_by}): {let_go}", how_far(one)]))


def next_stop(one: SessionView) -> str:
    """Would be sent back (block), because …; would be let go (RULE): …"""
    if one.brief.decision == "block":
        return f"would be sent back (block), because {because(one)}"
    return f"would be let go ({one.brief.rule.name}): {because(one)}"


def because(one: SessionView) -> str:
    brief = one.brief
    if brief.decision == "block":
        told = (_what_is_open(work, one.view_of(work)) for work in brief.work if work.state == "active")
        return "; ".join(told) or brief.rule.why
    if brief.rule.name == "waiting":
        return "; ".join(f"{name_of(w.kind)} is {w.state}: {w.why}" for w in brief.work if w.state in WAITING)
    if brief.rule.name == "unreadable-state":
        return f"{brief.rule.why} ({clip(brief.now.unreadable, 160)})"
    ended = [outcome(one), one.lapsed] if brief.rule.name == "done" else []
    return "; ".join(filter(None, ended)) or brief.rule.why


def has_ended(one: SessionView) -> str:
    """How it ended, where the next Stop does not say the same."""
    return "" if one.brief.rule.name == "done" else outcome(one)


def _what_is_open(work: Work, view: Status | None) -> str:
    """What Stop counts, and where the work stands otherwise by now, that as well."""
    opened, now = work.open, _open_now(work, view)
    if view is not None and now is not None and view.total != work.total:
        opened = now  # its row has not heard of all of them
    total = view.total if view is not None and now is not None else work.total
    changed = _changed_since(opened, now, view)
    if opened:
        tense = "was" if changed.startswith(WHEN) else "is"
        return f"{opened} of {units(total, _unit(work))} {_verb(opened, tense)} open{changed}"
    if work.kind != "ulw":
        return f"{name_of(work.kind)} is not finished{changed}"
    if not total:
        return "no verification gate is pinned yet"
    return f"every gate passed when it last ran{changed}, and omo ulw done has not looked at the tree"


def _open_now(work: Work, view: Status | None) -> int | None:
    """As its own ledger and the files show it; None where that counts something else, or nobody looked."""
    if view is None or view.unit != _unit(work) or not view.total:
        return None
    return view.total - view.done


def _changed_since(opened: int, now: int | None, view: Status | None) -> str:
    if now is None or view is None or now == opened:
        return ""
    if now < opened:
        return f"{WHEN}, {now} {_verb(now, 'is')} now"
    more = now - opened
    word = "stale" if view.stale >= more else "open by now"
    return f", {more}{' more' if opened else ''} {_verb(more, 'is')} {word}"


def _verb(count: int, word: str) -> str:
    return word if count == 1 else {"is": "are", "was": "were"}[word]


def questions(one: SessionView) -> list[str]:
    return [work.question for work in one.brief.work if work.state in WAITING and work.question]


def breakers(one: SessionView) -> list[str]:
    """What is used of each limit, while there is a run that uses them."""
    blocks, total, hours = one.brief.breakers
    return [
        f"{blocks.used:g} of {blocks.most:g} blocks without progress",
        f"{total.used:g} of {total.most:g} in all",
        f"{hours.used:.1f} of {hours.most:g} h",
    ]


def marks(one: SessionView) -> list[str]:
    """What is odd about a session: it is on and nobody has used it for a day; a plan's fence is up."""
    return [*(["orphan"] if one.is_orphan else []), *(["fenced"] if one.brief.is_fenced else [])]


def notices(one: SessionView) -> list[str]:
    """The same in a line of its own, where what must not be overlooked is a number."""
    told = [(len(problems(one)), "problem"), (len(one.overrides), "override")]
    return [*marks(one), *(units(count, unit) for count, unit in told if count)]


def ago(seconds: float) -> str:
    """An age that does not change with every second; empty where nobody knows."""
    if seconds == float("inf"):
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


@dataclass(frozen=True)
class Selection:
    """The items of a work that are worth their lines, and what was left out of them."""

    items: Sequence[Item]
    left_out: str = ""


def selection(view: Status, *, everything: bool) -> Selection:
    """All of them where they are few. Else what is done, and what no longer counts, is a number."""
    plain = [item for item in view.items if item.mark in ("done", "cut") and not item.overrides]
    if everything or (len(view.items) <= MOST_ITEMS and not any(item.mark == "cut" for item in plain)):
        return Selection(view.items)
    dropped = plain if len(view.items) > MOST_ITEMS else [item for item in plain if item.mark == "cut"]
    kept = [item for item in view.items if item not in dropped]
    rest = kept[2 * MOST_ITEMS :]
    told = [_counted_as(dropped, "done"), _counted_as(dropped, "cut"), f"{len(rest)} more" if rest else ""]
    return Selection(kept[: 2 * MOST_ITEMS], ", ".join(filter(None, told)))


def _counted_as(items: Iterable[Item], mark: str) -> str:
    count = sum(item.mark == mark for item in items)
    return f"{count} {'cut, no longer counted' if mark == 'cut' else mark}" if count else ""


def title(item: Item) -> str:
    """What it is called. A gate has no title but its command, which is its first note."""
    return item.title or next(iter(item.notes), "")


def notes(item: Item, *, everything: bool) -> list[str]:
    """Of what is done a person wants to know nothing more, unless they ask."""
    if everything:
        return list(item.notes if item.title else item.notes[1:])
    if item.mark in ("done", "cut"):
        return []
    found = item.notes if item.title else item.notes[1:-1]  # who pinned a gate is its last note
    return list(found[:MOST_NOTES])


def problems(one: SessionView) -> list[str]:
    found = [*one.problems, *(said for view in one.works or [] for said in view.problems)]
    return list(dict.fromkeys(clip(said, 300) for said in found))


def works(one: SessionView) -> list[Status]:
    """Plain ultrawork without gates has nothing to show that the next Stop does not say."""
    return [view for view in one.works or [] if view.items or view.kind != "ulw"]


def is_shown_in_full(one: SessionView, view: Status, *, everything: bool) -> bool:
    """Work that is over, beside work that is not, is one line."""
    states = {work.kind: work.state for work in one.brief.work}
    is_over = states.get(view.kind, "") not in ("", *OPEN_STATES)
    return everything or view is one.leading or (one.is_live and not is_over)


@dataclass(frozen=True)
class Others:
    """The other sessions: those with a line of their own, and how many are off."""

    listed: Sequence[SessionView]
    off: int

    @property
    def told_off(self) -> str:
        if not self.off:
            return ""
        more = " more" if self.listed else ""
        return f"{self.off}{more} {'session is' if self.off == 1 else 'sessions are'} off: omo status --all"


def others(view: ProjectView, *, everything: bool) -> Others:
    """Sessions that are off, or ended more than a day ago, are counted."""
    listed = [one for one in view.others if everything or one.is_on or _ended_lately(one)]
    return Others(listed, len(view.others) - len(listed))


def _ended_lately(one: SessionView) -> bool:
    return one.brief.mode != "off" and one.unused_for < RECENT


def short_names(view: ProjectView) -> dict[str, str]:
    """As much of each id as tells it from the others; `omo status --session` takes that much."""
    names = [one.name for one in view.sessions]
    return {name: _short(name, names) for name in names}


def _short(name: str, names: Sequence[str]) -> str:
    for length in range(SHORTEST_ID, LONGEST_NAME):
        if sum(other.startswith(name[:length]) for other in names) == 1:
            return clip(name, LONGEST_NAME) if length >= len(name) else clip(name[:length], LONGEST_NAME)
    return clip(name, LONGEST_NAME)
