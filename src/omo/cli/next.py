"""`omo next`: the next step of whatever is on in a session, whole, with everything that is needed to do it."""

from __future__ import annotations

import argparse

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.hooks import messages
from omo.state import runtime
from omo.text import block, clip
from omo.views import phrases, project
from omo.views.project import SessionView
from omo.work import left_open
from omo.work.status import LONGEST_TEXT, Command, Item, NextStep, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Row = dict[str, Any]

ABOUT = "the next step of what is on in this session, with all that is needed to do it"
END = "Nothing is left to do: end the turn."
ANSWER = "End the turn: their answer sets it going again."
LEFT_OPEN = "left open by session {}: {}"


def register(commands: options.Commands) -> None:
    options.command(commands, "next", ABOUT, run)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only: what `omo status` and Stop read, and of each item all that it says."""
    rows: Row = runtime.read(context.state)["sessions"]
    if not rows and not arguments.session:
        return _nothing(context.named_session or "", rows)
    view = project.look_at(context, context.looked_at(arguments.session), rows=rows)
    if view.brief.mode == "off":
        return _nothing(view.name, rows)
    work = view.leading
    step = view.next
    items = _items_to_do(work, step)
    others = _beside(view)
    data: Row = {
        "session": view.name,
        "mode": view.brief.mode,
        "kind": work.kind if work else None,
        "run": work.run or None if work else None,
        "headline": phrases.headline(view),
        "next": step.data,
        "items": [item.whole for item in items],
        "facts": list(work.facts) if work else [],
        "questions": phrases.questions(view),
        "problems": phrases.problems(view),
        "beside": {other.kind: other.next.data for other in others},
        "outcome": view.brief.outcome,
    }
    lines = [*_standing(view, work), *_to_do(work, items), *_next(view, step)]
    for other in others:
        lines.append(f"Beside it, {phrases.name_of(other.kind)}: {other.next.text}")
    return Result(data, "\n".join(lines))


def _items_to_do(work: Status | None, step: NextStep) -> list[Item]:
    """What the step is about: the one item that it names, else every one that is open."""
    items = []
    for item in work.items if work else ():
        if step.item == item.id or (not step.item and item.is_open):
            items.append(item)
    return items


def _beside(view: SessionView) -> list[Status]:
    """Other work of the session that is open as well, and has a step of its own."""
    open_kinds = {work.kind for work in view.brief.work if work.state in runtime.OPEN_STATES}
    others = []
    for other in view.works or []:
        if other is not view.leading and other.kind in open_kinds and other.next.commands:
            others.append(other)
    return others


def _standing(view: SessionView, work: Status | None) -> list[str]:
    lines = [phrases.headline(view)]
    if work is not None and work.headline:
        run = f"{work.run}: " if work.run else ""
        lines = [f"{phrases.headline(view)}; {run}{work.headline}"]
    lines += [f"Problem: {problem}" for problem in phrases.problems(view)]
    if ended := phrases.outcome(view):
        lines.append(ended)
    for fact in work.facts if work else ():
        lines.append("  " + fact.replace("\n", "\n  "))
    return lines


def _to_do(work: Status | None, items: list[Item]) -> list[str]:
    lines = []
    for item in items:
        state = work.state_of(item) if work else item.status
        title = f": {item.title}" if item.title else ""
        lines.append(f"{item.id} [{state}]{title}")
        if item.receipt_why:
            lines.append(f"    {item.receipt_why}")
        text = block(item.text, LONGEST_TEXT) or "\n".join(item.notes)
        lines += [f"    {line}" for line in text.splitlines()]
    return lines


def _next(view: SessionView, step: NextStep) -> list[str]:
    lines = []
    for work in view.brief.work:
        if work.state in ("waiting", "paused", "blocked"):
            lines.append(f"It waits for the user ({phrases.name_of(work.kind)} is {work.state}): {work.why}")
            if work.question:
                lines.append(f"  {work.question}")
    if lines and step.action in ("", "wait"):
        return [*lines, ANSWER]
    if not step.commands and step.action in ("", "done"):
        return [*lines, END]
    whose = "Next, for the user" if step.who == "user" else "Next"
    lines.append(f"{whose}: {step.why}")
    lines += [_command(each) for each in step.commands]
    return lines


def _command(each: Command) -> str:
    if not each.line:
        return f"  {each.when}"
    return f"  $ {each.line}" + (f"   ({each.when})" if each.when else "")


def _nothing(name: str, rows: Row) -> Result:
    """How one starts, or takes up what another conversation left open."""
    step = NextStep("start", "nothing is on in this session")
    for other, row in left_open.of_others(rows, name).items():
        why = LEFT_OPEN.format(clip(other, phrases.LONGEST_NAME), messages.listed(runtime.left_open(row)))
        step = NextStep("resume", why, (Command(("omo", "resume", other)),))
        break
    lines = ["Nothing is on in this session."]
    if step.commands:
        lines.append(f"Next: {step.why}")
        lines += [_command(each) for each in step.commands]
    lines.append(phrases.HOW_TO_START)
    data: Row = {"session": name or None, "mode": "off", "next": step.data, "items": []}
    return Result(data, "\n".join(lines))
