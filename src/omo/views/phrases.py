"""What a session's views say in words, shared by the terminal and the plain view. Nothing is looked up here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from omo.state.runtime import OPEN_STATES
from omo.text import clip
from omo.views.project import RECENT, ProjectView, SessionView
from omo.views.session import WAITING, Work
from omo.views.vocabulary import NAMES, UNITS
from omo.work.outcome import OPENINGS, in_words
from omo.work.status import Item, Status, plural, units

MOST_ITEMS = 10  # more than that, and what is done is counted instead of listed
MOST_NOTES = 2
LONGEST_NAME = 64
SHORT_ID = 12  # characters of a session's id that tell it from others; --session takes as many
FENCE = "the plan's fence is up"
OFF = "nothing is on in this session"
NOTHING = "Nothing is on in this project."
HOW_TO_START = "Type ulw in a prompt, or /omo:ultragoal, /omo:ultraplan, /omo:ralph."


def name_of(kind: str) -> str:
    return NAMES.get(kind, clip(kind, 20))


def unit_of(work: Work) -> str:
    """What a summary counts: of a goal with questions the answers that are owed, else what the work consists of."""
    return "step" if work.kind == "verify" else UNITS.get(work.kind, "part")


def progress(work: Work | Status) -> str:
    """3/5 goals; empty where there is nothing to count."""
    if not work.total:
        return ""
    unit = work.unit if isinstance(work, Status) else unit_of(work)
    return f"{work.done}/{work.total} {plural(unit)}"


def session_progress(view: SessionView) -> str:
    """Of the leading work: what holds now where somebody looked, else what was closed when its row was written."""
    if view.leading is not None and view.leading.total:
        return progress(view.leading)
    return progress(view.brief.leading) if view.brief.leading else ""


def headline(view: SessionView) -> str:
    """How it is, and what else has to be known with that: what was proven is not any more, a fence is up."""
    since = view.lapsed
    if not since and view.brief.is_fenced and not view.is_live:
        since = FENCE
    words = _mode_in_words(view, OPENINGS)
    return f"{words}; {since}" if since else words


def short_headline(view: SessionView) -> str:
    """The same for a column of a table, which has the fence among its notices: ultrawork attested, stale."""
    words = _mode_in_words(view, {})
    return f"{words}, stale" if view.lapsed else words


def _mode_in_words(view: SessionView, openings: Mapping[str, str]) -> str:
    """ultragoal active; ultragoal and ultrawork active; ultrawork finished on the agent's word; off."""
    brief = view.brief
    if brief.mode in ("off", "unreadable"):
        return brief.mode
    works = [work for work in brief.work if work.state in OPEN_STATES]
    if not works and brief.leading is not None:
        works = [brief.leading]
    names = " and ".join(name_of(work.kind) for work in works) or name_of("ulw")
    if brief.mode == "done" and brief.outcome is not None:
        verdict = brief.outcome["verdict"]
        return f"{names} {openings.get(verdict, verdict)}"
    return f"{names} {brief.mode}"


def outcome(view: SessionView) -> str:
    """How it ended, in the words of Stop; and how far it came, where a limit ended it."""
    ended = view.brief.outcome
    if ended is None:
        return ""
    parts = [in_words(ended)]
    if view.brief.mode == "exhausted":
        parts.append(session_progress(view))
    return "; ".join(filter(None, parts))


def next_stop(view: SessionView) -> tuple[str, str]:
    """What the next Stop would do, and why, which follows it in the same sentence."""
    if view.brief.decision == "block":
        return "would be sent back (block)", f", because {_why_stop(view)}"
    return f"would be let go ({view.brief.rule.name})", f": {_why_stop(view)}"


def _why_stop(view: SessionView) -> str:
    brief = view.brief
    if brief.decision == "block":
        parts = [_what_is_open(work, view.view_of(work)) for work in brief.work if work.state == "active"]
    elif brief.rule.name == "waiting":
        waiting = [work for work in brief.work if work.state in WAITING]
        parts = [f"{name_of(work.kind)} is {work.state}: {work.why}" for work in waiting]
    elif brief.rule.name == "unreadable-state":
        parts = [f"{brief.rule.why} ({clip(brief.now.unreadable, 160)})"]
    elif brief.rule.name == "done":
        parts = [outcome(view), view.lapsed]
    else:
        parts = []
    return "; ".join(filter(None, parts)) or brief.rule.why


def _what_is_open(work: Work, view: Status | None) -> str:
    """As its ledger and the files show it, where somebody looked; else as its row was last told."""
    total, left, stale = work.total, work.open, 0
    if view is not None and view.total and view.unit == unit_of(work):
        total, left, stale = view.total, view.total - view.done, view.stale
    if left:
        sentence = f"{left} of {units(total, unit_of(work))} {'is' if left == 1 else 'are'} open"
        return f"{sentence}, {stale} of them stale" if stale else sentence
    if work.kind != "ulw":
        return f"{name_of(work.kind)} is not finished"
    if not total:
        return "no verification gate is pinned yet"
    return "every gate passes, and omo ulw done has not looked at the tree"


def ending(view: SessionView) -> str:
    """How it ended, where the next Stop does not say the same."""
    return "" if view.brief.rule.name == "done" else outcome(view)


def questions(view: SessionView) -> list[str]:
    return [work.question for work in view.brief.work if work.state in WAITING and work.question]


def breakers(view: SessionView) -> list[str]:
    """What is used of each limit, while there is a run that uses them."""
    blocks, total, hours = view.brief.breakers
    return [
        f"{blocks.used:g} of {blocks.most:g} blocks without progress",
        f"{total.used:g} of {total.most:g} in all",
        f"{hours.used:.1f} of {hours.most:g} h",
    ]


def oddities(view: SessionView) -> list[str]:
    """What is odd about a session: it is on and nobody has used it for a day; a plan's fence is up."""
    listed = []
    if view.is_orphan:
        listed.append("orphan")
    if view.brief.is_fenced:
        listed.append("fenced")
    return listed


def notices(view: SessionView) -> list[str]:
    """The same in a line of its own, where what must not be overlooked is a number."""
    listed = oddities(view)
    for count, unit in ((len(problems(view)), "problem"), (len(view.overrides), "override")):
        if count:
            listed.append(units(count, unit))
    return listed


def ago(seconds: float) -> str:
    """An age that does not change with every second; empty where nobody knows."""
    if seconds == float("inf"):
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


def selection(view: Status, *, everything: bool) -> tuple[Sequence[Item], str]:
    """The items that are worth their lines, and what was left out of them.

    All of them where they are few. Else what is done, and what no longer counts, is a number.
    """
    if everything:
        return view.items, ""
    is_long = len(view.items) > MOST_ITEMS
    kept, done, cut = [], 0, 0
    for item in view.items:
        if item.mark == "cut" and not item.overrides:
            cut += 1
        elif item.mark == "done" and not item.overrides and is_long:
            done += 1
        else:
            kept.append(item)
    left_out = []
    if done:
        left_out.append(f"{done} done")
    if cut:
        left_out.append(f"{cut} cut, no longer counted")
    if len(kept) > 2 * MOST_ITEMS:
        left_out.append(f"{len(kept) - 2 * MOST_ITEMS} more")
    return kept[: 2 * MOST_ITEMS], ", ".join(left_out)


def title(item: Item) -> str:
    """What it is called. A gate has no title but its command, which is its first note."""
    return item.title or next(iter(item.notes), "")


def notes(item: Item, *, everything: bool) -> list[str]:
    """Of what is done a person wants to know nothing more, unless they ask."""
    if everything:
        return list(item.notes if item.title else item.notes[1:])
    if not item.is_open:
        return []
    shown = item.notes if item.title else item.notes[1:-1]  # who pinned a gate is its last note
    return list(shown[:MOST_NOTES])


def problems(view: SessionView) -> list[str]:
    listed = list(view.problems)
    for work in view.works or []:
        listed += work.problems
    return list(dict.fromkeys(clip(problem, 300) for problem in listed))


def works(view: SessionView) -> list[Status]:
    """Plain ultrawork without gates has nothing to show that the next Stop does not say."""
    return [work for work in view.works or [] if work.items or work.kind != "ulw"]


def about(view: SessionView, work: Status) -> str:
    """What a work says of itself; how it ended only where the session does not say the same."""
    is_told = view.brief.outcome is not None and work.outcome is not None
    return "" if is_told else work.headline


def is_shown_in_full(view: SessionView, work: Status, *, everything: bool) -> bool:
    """Work that is over, beside work that is not, is one line."""
    states = {summary.kind: summary.state for summary in view.brief.work}
    is_over = states.get(work.kind, "") not in ("", *OPEN_STATES)
    return everything or work is view.leading or (view.is_live and not is_over)


def others(project: ProjectView, *, everything: bool) -> tuple[list[SessionView], str]:
    """The other sessions with a line of their own, and how many have none, in words.

    Those that are off, or ended more than a day ago, or are done and nobody looked at them, are counted.
    """
    listed = []
    for view in project.others:
        is_known = view.works is not None or view.brief.mode not in ("off", "done")
        ended_lately = is_known and view.unused_for < RECENT
        if everything or view.is_on or ended_lately:
            listed.append(view)
    off = len(project.others) - len(listed)
    if not off:
        return listed, ""
    more = " more" if listed else ""
    return listed, f"{off}{more} {'session is' if off == 1 else 'sessions are'} off: omo status --all"
