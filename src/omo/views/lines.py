"""What is said of a project's sessions, line by line: a pipe gets these lines as text, a terminal draws them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from omo import table
from omo.progress import columns
from omo.state.runtime import CANCELLED
from omo.stop import rules
from omo.table import name_of
from omo.text import clip
from omo.views.project import RECENT, ProjectView, SessionView, claim_in_words
from omo.views.session import OPEN_WORDS, WAITING, View, Work
from omo.views.works import MARKS
from omo.work import session, times
from omo.work.outcome import OPENINGS, in_words, items_in_words
from omo.work.status import Item, NextStep, Status, plural, units

MOST_ITEMS = 10  # more than that, and what is done is counted instead of listed
MOST_NOTES = 2
MOST_LISTED = 8
LONGEST = 400
LONGEST_NAME = 64
SHORT_ID = 12  # characters of a session's id that tell it from others; --session takes as many
FENCE = "the plan's fence is up"
NOTHING = "Nothing is on in this project."
HOW_TO_START = f"Type ulw in a prompt, or {', '.join([f'/omo:{row.name}' for row in table.offered()])}."
WORDS = {"exhausted": "let go by a limit"}  # where the word of the state is not one of everybody's
MODE_STYLES = {"active": "cyan", "exhausted": "red", "unreadable": "red", "cancelled": "dim", "off": "dim"}
TONE_STYLES = {"good": "green", "info": "cyan", "plain": "dim", "bad": "red", "warn": "yellow"}

INDENTED = {"detail": 2, "code": 6}  # lines without a label; code keeps its blanks

Cell = tuple[str, str]  # text and style


class Line(NamedTuple):
    """One fact. As text it is `label` and `text`. A terminal draws `cells`, by `shape`: one after the other in a line
    of its own, or in columns with the neighbours of the same shape."""

    shape: str
    label: str
    text: str
    cells: tuple[Cell, ...] = ()


def shown(lines: Iterator[Line], environ: Mapping[str, str]) -> str:
    """Drawn where somebody looks, and at something that can show it; else plain."""
    # What a hook prints is shown in the client, and so it says.
    is_screen = sys.stdout.isatty() or environ.get("TTY_COMPATIBLE") == "1"
    if not is_screen or environ.get("TERM") in ("dumb", "unknown"):
        return plain(lines)
    from omo.views import terminal

    return terminal.render(lines, columns(), color=not environ.get("NO_COLOR"))


def plain(lines: Iterator[Line]) -> str:
    """One fact a line, its kind first, nothing that a pipe or a log could not take."""
    printed = []
    for line in lines:
        text = line.text if line.shape in ("command", "code") else clip(line.text, LONGEST)
        if line.shape in ("session", "other", "remark"):
            printed.append(text)
        elif line.shape in INDENTED:
            printed.append(f"{' ' * INDENTED[line.shape]}{text}")
        elif line.shape == "problem":
            printed.append(f"{line.label}: {text}")
        else:
            printed.append(f"  {line.label:<10} {text}".rstrip())
    return "\n".join(printed)


def project_lines(project: ProjectView, *, everything: bool = False) -> Iterator[Line]:
    for problem in project.problems:
        what = problem.what
        if problem.fix:
            what += f"; fix: {problem.fix}"
        yield _fact("problem", what, "red", shape="problem")
    if project.focus is not None:
        yield from session_lines(project.focus, everything=everything)
    elif not any(view.is_on for view in project.sessions):
        yield Line("remark", "", NOTHING, ((f"{NOTHING} ", "bold"), (HOW_TO_START, "dim")))
    elif project.meant:
        name = clip(project.meant, LONGEST_NAME)
        yield _fact("", f"session {name}: nothing is on in this session", "bold", shape="remark")
    others = _others(project, everything=everything)
    for view in others:
        yield _other(view)
    off = len(project.others) - len(others)
    if off:
        count = f"{off} more" if others else str(off)
        sessions = "session is" if off == 1 else "sessions are"
        yield _fact("", f"{count} {sessions} over: omo status --all", "dim", shape="remark")
    newest = [claim_in_words(claim) for claim in project.overrides[::-1]]
    yield from _listed("override", newest, "yellow", shape="problem")


def session_lines(view: SessionView, *, everything: bool = False) -> Iterator[Line]:
    brief = view.brief
    yield _title(view)
    if brief.rule.shows != rules.ENDED and (ended := outcome(view)):  # else the next Stop says the same
        yield _fact("outcome", ended, mode_style(view))
    if brief.outcome is not None:
        yield from _listed("item", items_in_words(brief.outcome), "")
    yield _next_stop(view)
    for work in brief.work:
        if work.state in WAITING and work.question:
            yield _fact("question", work.question, "bold")
    if view.is_live:
        yield _breakers(view)
        if brief.budget:
            yield _fact("budget", brief.budget)
    yield from _listed("problem", problems(view), "red")
    yield from _listed("override", view.overrides, "yellow")
    for status in view.works or []:
        # Plain ultrawork without gates has nothing to show that the next Stop does not say.
        if status.items or not status.is_of_session:
            yield from _work(view, status, everything=everything)
    yield from _next_step(view.next)


def _fact(label: str, text: str, style: str = "", *, shape: str = "fact") -> Line:
    return Line(shape, label, text, ((text, style),))


def _listed(label: str, sentences: Sequence[str], style: str, *, shape: str = "fact") -> Iterator[Line]:
    for sentence in sentences[:MOST_LISTED]:
        yield _fact(label, sentence, style, shape=shape)
    if len(sentences) > MOST_LISTED:
        yield _fact(label, f"and {len(sentences) - MOST_LISTED} more: omo status --json", style, shape=shape)


# How a session stands


def _title(view: SessionView) -> Line:
    remarks = []
    if view.is_here:
        remarks.append("this session")
    if view.brief.is_fenced:
        remarks.append("fenced")
    about = f"session {clip(view.name, LONGEST_NAME)}"
    if remarks:
        about += f" ({', '.join(remarks)})"
    words, used = headline(view), times.ago(view.unused_for)
    cells = ((words, f"bold {mode_style(view)}"), (f"{about}, last used {used or 'never'}", "dim"))
    return Line("session", "", f"{about}: {words}", cells)


def headline(view: SessionView) -> str:
    """ultragoal and ultrawork active; ultrawork active, ralph paused; ultrawork finished on the agent's word; off. And
    what else has to be known with that: what was proven is not any more, a fence is up."""
    words, since = _mode_in_words(view.brief), view.lapsed
    if not since and view.brief.is_fenced and not view.is_live:
        since = FENCE
    return f"{words}; {since}" if since else words


def _mode_in_words(brief: View) -> str:
    if brief.mode in ("off", "unreadable"):
        return brief.mode
    works = [work for work in brief.work if work.state in OPEN_WORDS]
    apart = [work for work in works if brief.mode in OPEN_WORDS and work.state != brief.mode]
    together = [work for work in works if work not in apart]
    if brief.mode == "exhausted":
        together = [work for work in brief.work if work.state == brief.mode]
    if not together and brief.leading is not None:
        together = [brief.leading]
    kinds = [work.kind for work in together]
    if brief.mode == "cancelled":  # of ultrawork nothing else is left
        kinds = list(map(str, brief.row["stopContinuation"].get("ended") or ())) or kinds
    names = " and ".join(map(name_of, kinds)) or name_of(session.KIND)
    word = WORDS.get(brief.mode, brief.mode)
    if brief.mode == "done" and brief.outcome is not None:
        word = OPENINGS[brief.outcome["verdict"]]
    return ", ".join([f"{names} {word}", *(f"{name_of(work.kind)} {work.state}" for work in apart)])


def mode_style(view: SessionView) -> str:
    """Green is what was proven and holds; what was proven and nobody looked at since has no colour of its own."""
    if view.brief.mode != "done":
        return MODE_STYLES.get(view.brief.mode, "yellow")
    if not view.is_proven or view.lapsed:
        return "yellow"
    return "dim" if view.works is None else "green"


def outcome(view: SessionView) -> str:
    """How it ended, in the words of Stop; and how far it came, where a limit ended it."""
    if view.brief.outcome is None:
        return ""
    words = in_words(view.brief.outcome)
    far = progress(view)
    return f"{words}; {far}" if far and view.brief.mode == "exhausted" else words


def progress(view: SessionView) -> str:
    """3/5 goals of the leading work: what holds now where somebody looked, else what its row was last told."""
    work: Status | Work | None = view.leading
    if work is None or not work.total:
        work = view.brief.leading
    if work is None or not work.total:
        return ""
    return _share(work)


def _share(work: Status | Work) -> str:
    unit = work.unit if isinstance(work, Status) else unit_of(work)
    return f"{work.done}/{work.total} {plural(unit)}"


def unit_of(work: Work) -> str:
    """What a summary counts."""
    return table.BY_KIND[work.kind].counts if work.kind in table.BY_KIND else "part"


def problems(view: SessionView) -> list[str]:
    """Each with the ledger that it is of; that of ultrawork is the session's."""
    listed = list(view.problems)
    for work in view.works or []:
        if not work.is_of_session:
            listed += [f"{name_of(work.kind)}: {problem}" for problem in work.problems]
    return list(dict.fromkeys(clip(problem, 300) for problem in listed))


# What the next Stop would do


def _next_stop(view: SessionView) -> Line:
    rule = view.brief.rule
    style = "red" if rule.ends_run else ""
    decision, why = "would be let go", f": {why_stop(view)}"
    if view.brief.decision == "block":
        style = "yellow"
        decision, why = "would be sent back", f", because {why_stop(view)}"
    return Line("fact", "next stop", decision + why, ((decision, f"bold {style}"), (why, "")))


def why_stop(view: SessionView) -> str:
    brief = view.brief
    parts = []
    if brief.decision == "block":
        parts = [
            what_is_open(work, view.view_of(work)) for work in brief.work if work.state == "active" or work.changed
        ]
    elif brief.rule.shows == rules.WAITS:
        waiting = [work for work in brief.work if work.state in WAITING]
        parts = [f"{name_of(work.kind)} is {work.state}: {work.why}" for work in waiting]
    elif brief.rule.shows == rules.UNREADABLE:
        parts = [f"{brief.rule.why} ({clip(brief.now.unreadable, 160)})"]
    elif brief.rule.shows == rules.ENDED:
        parts = [outcome(view), view.lapsed]
    return "; ".join(filter(None, parts)) or brief.rule.why


def what_is_open(work: Work, status: Status | None) -> str:
    """As its ledger and the files show it, where somebody looked; else as its row was last told."""
    if work.changed:
        return work.changed
    total, left, stale = work.total, work.open, 0
    if status is not None and status.total and status.unit == unit_of(work):
        total, left, stale = status.total, status.total - status.done, status.stale
    if left:
        sentence = f"{left} of {units(total, unit_of(work))} {'is' if left == 1 else 'are'} open"
        return f"{sentence}, {stale} of them stale" if stale else sentence
    if work.kind != session.KIND:
        return f"{name_of(work.kind)} is not finished"
    if not total:
        return "no verification gate is pinned yet"
    return "no gate is open, and omo ulw done has not ended it"


def _breakers(view: SessionView) -> Line:
    """What is used of each limit: yellow from half of it, red from three quarters."""
    texts = {
        "blocks": "{used:g} of {of:g} blocks without progress",
        "total": ", {used:g} of {of:g} in all",
        "hours": ", {used:.1f} of {of:g} h",
    }
    cells = []
    for name, breaker in view.brief.breakers.items():
        style = ""
        if breaker.used >= 0.75 * breaker.most:
            style = "red"
        elif breaker.used >= 0.5 * breaker.most:
            style = "yellow"
        cells.append((texts[name].format(**breaker.data), style))
    return Line("fact", "limits", "".join(text for text, _ in cells), tuple(cells))


# One kind of work, and what comes next


def _work(view: SessionView, work: Status, *, everything: bool) -> Iterator[Line]:
    parts = []
    cells: tuple[Cell, ...] = ()
    if work.total:
        parts.append(_share(work))
        cells = ((f"{_bar(work.done, work.total)} ", "green"),)
    if view.brief.outcome is None or work.outcome is None:  # else the session says the same
        parts.append(work.headline)
    if work.run:
        parts.append(f"run {work.run}")
    states = {summary.kind: summary.state for summary in view.brief.work}
    if states.get(work.kind) == CANCELLED and view.brief.mode != CANCELLED:
        parts.insert(0, "cancelled by the user")
    text = "; ".join(filter(None, parts))
    yield Line("work", name_of(work.kind), text, (*cells, (text, "")))
    # Work that is over, beside work that is not, is one line.
    is_over = states.get(work.kind, "") not in ("", *OPEN_WORDS)
    if not everything and work is not view.leading and (is_over or not view.is_live):
        return
    items = selection(work.items, everything=everything)
    for item in items:
        yield from _item(work, item, everything=everything)
    if left_out := len(work.items) - len(items):
        yield _fact(work.unit, f"and {left_out} done, or no longer counted: omo status --all", "dim", shape="aside")
    for fact in work.facts:
        yield _fact("fact", fact, "dim", shape="aside")


def _bar(done: int, total: int) -> str:
    """Full only when everything is done, empty only when nothing is."""
    cells = 14
    full = cells * done // total
    if done:
        full = max(full, 1)
    if done < total:
        full = min(full, cells - 1)
    return "█" * full + "░" * (cells - full)


def selection(every_item: Sequence[Item], *, everything: bool) -> list[Item]:
    """The items that are worth their lines: of many, not what is done, and not what no longer counts."""
    kept = []
    for item in every_item:
        is_quiet = item.mark == "cut" or (item.mark == "done" and len(every_item) > MOST_ITEMS)
        if everything or item.overrides or not is_quiet:
            kept.append(item)
    return kept


def _item(work: Status, item: Item, *, everything: bool) -> Iterator[Line]:
    sign = MARKS.get(item.mark, MARKS["open"])
    style = TONE_STYLES[sign.tone]
    name, state = clip(item.id, 24), work.state_of(item)
    title, notes = item.title, item.notes
    if not title and notes:  # a gate has no title but its command, which is its first note; its last is who pinned it
        title = notes[0]
        notes = notes[1:] if everything else notes[1:-1]
    cells = ((sign.letter, style), (name, "bold"), (state, style), (title, "" if item.is_open else "dim"))
    yield Line("item", work.unit, f"{name} {item.mark} [{state}] {title}", cells)
    if not everything:
        notes = notes[:MOST_NOTES] if item.is_open else ()
    for note in (item.receipt_why, *notes):
        if note:
            style = "yellow" if note == item.receipt_why else "dim"
            yield Line("item", "note", f"{name} {note}", (("", ""), ("", ""), ("", ""), (note, style)))


def _next_step(step: NextStep) -> Iterator[Line]:
    if step.commands or step.action not in ("", "done"):
        yield _fact("next", step.why, shape="next")
    for command in step.commands:
        if command.when:
            yield _fact("when" if command.line else "also", command.when, "dim", shape="aside")
        if command.line:
            yield _fact("command", command.line, "bold cyan", shape="command")


# Other sessions


def _others(project: ProjectView, *, everything: bool) -> list[SessionView]:
    """Those with a line of their own: what is on; where nothing is, the one that ended last, within a day."""
    if everything:
        return project.others
    listed = [view for view in project.others if view.is_on]
    if listed or project.focus is not None:
        return listed
    for view in project.others:
        is_known = view.works is not None or view.brief.mode not in ("off", "done")
        if is_known and view.unused_for < RECENT:
            return [view]
    return []


def _other(view: SessionView) -> Line:
    notices = ["fenced"] if view.brief.is_fenced else []
    for count, unit in ((len(problems(view)), "problem"), (len(view.overrides), "override")):
        if count:
            notices.append(units(count, unit))
    stop = "next stop sent back" if view.brief.decision == "block" else "next stop let go"
    parts = [headline(view), progress(view), stop, times.ago(view.unused_for), *notices]
    cells = (
        (view.name[:SHORT_ID], ""),
        (headline(view), mode_style(view)),
        (progress(view), ""),
        (stop, "yellow" if view.brief.decision == "block" else "dim"),
        (times.ago(view.unused_for), "dim"),
        (", ".join(notices), "yellow"),
    )
    return Line("other", "", f"session {clip(view.name, LONGEST_NAME)}: {', '.join(filter(None, parts))}", cells)
