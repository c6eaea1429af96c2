"""A project's sessions as plain lines: one fact a line, its kind first, nothing that a pipe or a log could not take."""

from __future__ import annotations

from collections.abc import Iterator

from omo.report.project import ProjectView, SessionView
from omo.report.screen import words
from omo.shown import clip
from omo.work.status import Item, Status

LONGEST = 400


def render(view: ProjectView, *, everything: bool = False) -> str:
    return "\n".join(line.rstrip() for line in lines(view, everything=everything))


def lines(view: ProjectView, *, everything: bool = False) -> Iterator[str]:
    for problem in view.problems:
        yield f"problem: {problem.what}" + (f"; fix: {problem.fix}" if problem.fix else "")
    if view.focus is not None:
        yield from _session(view.focus, everything=everything)
    elif not any(one.is_on for one in view.sessions):
        yield words.NOTHING
    elif view.meant:
        yield f"session {clip(view.meant, words.LONGEST_NAME)}: {words.OFF}"
    rest = words.others(view, everything=everything)
    for one in rest.listed:
        yield _brief(one)
    if rest.off:
        yield rest.told_off
    for override in view.overrides:
        yield f"override by the {override['by']}: {override['claim']} ({override['reason']})"


def _session(one: SessionView, *, everything: bool) -> Iterator[str]:
    odd = [*(["this session"] if one.is_here else []), *words.marks(one)]
    told = f" ({', '.join(odd)})" if odd else ""
    ended = words.has_ended(one)
    yield f"session {clip(one.name, words.LONGEST_NAME)}{told}: {words.headline(one)}" + (f", {ended}" if ended else "")
    yield _fact("next stop", words.next_stop(one))
    for question in words.questions(one):
        yield _fact("question", question)
    if one.is_live:
        yield _fact("breakers", ", ".join(words.breakers(one)))
    for said in words.problems(one):
        yield _fact("problem", said)
    for view in words.works(one):
        yield from _work(view, in_full=words.is_shown_in_full(one, view, everything=everything), everything=everything)
    for said in one.overrides:
        yield _fact("override", said)
    yield from _next(one)


def _work(view: Status, *, in_full: bool, everything: bool) -> Iterator[str]:
    name = words.name_of(view.kind)
    yield _fact(name, "; ".join(filter(None, [words.progress(view), view.headline, view.run and f"run {view.run}"])))
    if not in_full:
        return
    chosen = words.selection(view, everything=everything)
    for item in chosen.items:
        yield from _item(view, item, everything=everything)
    if chosen.left_out:
        yield _fact(view.unit, f"and {chosen.left_out}: omo status --all")
    for said in view.facts:
        yield _fact("fact", said)


def _item(view: Status, item: Item, *, everything: bool) -> Iterator[str]:
    why = f": {item.receipt_why}" if item.receipt_why else ""
    name = clip(item.id, 60)
    yield _fact(view.unit, f"{name} {item.mark} [{view.state_of(item)}{why}] {words.title(item)}")
    for note in words.notes(item, everything=everything):
        yield _fact("note", f"{name} {note}")


def _next(one: SessionView) -> Iterator[str]:
    if one.next.commands or one.next.action not in ("", "done"):
        yield _fact("next", one.next.why)
    for way in one.next.commands:
        if way.when:
            yield _fact("when" if way.line else "also", way.when)
        if way.line:
            yield _fact("command", way.line, longest=len(way.line))


def _brief(one: SessionView) -> str:
    told = [
        words.headline(one),
        words.how_far(one),
        f"next stop {one.brief.decision} ({one.brief.rule.name})",
        words.ago(one.unused_for),
        *words.notices(one),
    ]
    return f"session {clip(one.name, words.LONGEST_NAME)}: {', '.join(filter(None, told))}"


def _fact(kind: str, said: str, *, longest: int = LONGEST) -> str:
    return f"  {kind:<10} {clip(said, longest)}"
