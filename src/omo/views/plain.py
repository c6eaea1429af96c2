"""A project's sessions as plain lines: one fact a line, its kind first, nothing that a pipe or a log could not take."""

from __future__ import annotations

from collections.abc import Iterator

from omo.text import clip
from omo.views import phrases
from omo.views.project import ProjectView, SessionView
from omo.work.status import Item, Status

LONGEST = 400


def render(project: ProjectView, *, everything: bool = False) -> str:
    return "\n".join(line.rstrip() for line in _lines(project, everything=everything))


def session(view: SessionView) -> str:
    """One session alone, for `omo ulw status`."""
    return "\n".join(line.rstrip() for line in _session(view, everything=False))


def _lines(project: ProjectView, *, everything: bool = False) -> Iterator[str]:
    for problem in project.problems:
        yield f"problem: {problem.what}" + (f"; fix: {problem.fix}" if problem.fix else "")
    if project.focus is not None:
        yield from _session(project.focus, everything=everything)
    elif not any(view.is_on for view in project.sessions):
        yield phrases.NOTHING
    elif project.meant:
        yield f"session {clip(project.meant, phrases.LONGEST_NAME)}: {phrases.OFF}"
    others, off = phrases.others(project, everything=everything)
    for view in others:
        yield _brief(view)
    if off:
        yield off
    for override in project.overrides:
        yield f"override by the {override['by']}: {override['claim']} ({override['reason']})"


def _session(view: SessionView, *, everything: bool) -> Iterator[str]:
    remarks = ["this session"] if view.is_here else []
    remarks += phrases.oddities(view)
    first = f"session {clip(view.name, phrases.LONGEST_NAME)}"
    if remarks:
        first += f" ({', '.join(remarks)})"
    yield f"{first}: {phrases.headline(view)}"
    if ending := phrases.ending(view):
        yield _fact("ended", ending)
    yield _fact("next stop", "".join(phrases.next_stop(view)))
    for question in phrases.questions(view):
        yield _fact("question", question)
    if view.is_live:
        yield _fact("breakers", ", ".join(phrases.breakers(view)))
        if spent := view.brief.budget:
            yield _fact("budget", spent)
    for problem in phrases.problems(view):
        yield _fact("problem", problem)
    for work in phrases.works(view):
        yield from _work(view, work, everything=everything)
    for override in view.overrides:
        yield _fact("override", override)
    yield from _next(view)


def _work(view: SessionView, work: Status, *, everything: bool) -> Iterator[str]:
    run = f"run {work.run}" if work.run else ""
    parts = filter(None, [phrases.progress(work), phrases.about(view, work), run])
    yield _fact(phrases.name_of(work.kind), "; ".join(parts))
    if not phrases.is_shown_in_full(view, work, everything=everything):
        return
    items, left_out = phrases.selection(work, everything=everything)
    for item in items:
        yield from _item(work, item, everything=everything)
    if left_out:
        yield _fact(work.unit, f"and {left_out}: omo status --all")
    for fact in work.facts:
        yield _fact("fact", fact)


def _item(work: Status, item: Item, *, everything: bool) -> Iterator[str]:
    state = work.state_of(item)
    if item.receipt_why:
        state += f": {item.receipt_why}"
    name = clip(item.id, 60)
    yield _fact(work.unit, f"{name} {item.mark} [{state}] {phrases.title(item)}")
    for note in phrases.notes(item, everything=everything):
        yield _fact("note", f"{name} {note}")


def _next(view: SessionView) -> Iterator[str]:
    step = view.next
    if step.commands or step.action not in ("", "done"):
        yield _fact("next", step.why)
    for command in step.commands:
        if command.when:
            yield _fact("when" if command.line else "also", command.when)
        if command.line:
            yield _fact("command", command.line, longest=len(command.line))


def _brief(view: SessionView) -> str:
    parts = [
        phrases.headline(view),
        phrases.session_progress(view),
        f"next stop {view.brief.decision} ({view.brief.rule.name})",
        phrases.ago(view.unused_for),
        *phrases.notices(view),
    ]
    return f"session {clip(view.name, phrases.LONGEST_NAME)}: {', '.join(filter(None, parts))}"


def _fact(kind: str, text: str, *, longest: int = LONGEST) -> str:
    return f"  {kind:<10} {clip(text, longest)}"
