"""`omo next`: the next step of whatever is on in a session, whole, with everything that is needed to do it."""

from __future__ import annotations

import argparse
import sys

from omo import options, progress, table
from omo.context import Context
from omo.hooks import messages
from omo.json_text import Json, dumps
from omo.result import Result
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.stop import sentences
from omo.table import name_of
from omo.text import block, clip
from omo.views import lines, project
from omo.views.project import SessionView
from omo.views.session import WAITING, Work
from omo.work import left_open, requests
from omo.work.status import LONGEST_TEXT, Command, Item, NextStep, Status

ABOUT = "the next step of what is on in this session, with all that is needed to do it"


def register(commands: options.Commands) -> None:
    options.command(commands, "next", ABOUT, run)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only: what `omo status` and Stop read, and of each item all that it says."""
    rows = runtime.sessions(context.state)
    if not rows and not arguments.session:
        return _nothing(context, context.named_session or "", rows)
    view = project.look_at(context, context.looked_at(arguments.session), for_next=True, rows=rows)
    if view.brief.mode == "off":
        return _nothing(context, view.name, rows, _asked_for(context.state, view))
    work = view.leading or Status("", "")
    step = view.next
    # What the step is about: the one item that it names, else every one that is open.
    items = [item for item in work.items if step.item == item.id or (not step.item and item.is_open)]
    waiting = []
    if view.brief.mode != "cancelled":
        waiting = [summary for summary in view.brief.work if summary.state in WAITING and not summary.is_answered]
    asked = _asked_for(context.state, view) if not waiting else None
    if asked and not step.commands and step.action in ("", "done"):
        step, asked = asked, None
    others = _beside(view)
    task = ""
    if work.kind not in table.BY_KIND or not table.BY_KIND[work.kind].facts_have_task:
        events = runtime.vouched_rows(context.state, view.name, rows.get(view.name))
        task = requests.task(events, runtime.left_open(rows.get(view.name) or EMPTY), messages.LONGEST_TASK)
    data: Json = {
        "session": view.name,
        "mode": view.brief.mode,
        "kind": work.kind or None,
        "run": work.run or None,
        "headline": lines.headline(view),
        "next": step.data,
        "items": [item.whole for item in items],
        "facts": list(work.facts),
        "task": task or None,
        "questions": [summary.question for summary in waiting if summary.question],
        "problems": lines.problems(view),
        "beside": {other.kind: other.next.data for other in others},
        "asked": asked.data if asked else None,
        "outcome": view.brief.outcome,
    }
    text = [*_standing(view, work, task), *_to_do(work, items), *_going_on(waiting, step)]
    text += [f"Beside it, {name_of(other.kind)}: {other.next.text}" for other in others]
    if asked:
        text.append(f"Beside it, {asked.text}")
    return Result(data, progress.folded("\n".join(text), sys.stdout))


def _beside(view: SessionView) -> list[Status]:
    """Other work of the session that is open as well, and has a step of its own. What is paused is the user's."""
    open_kinds = {work.kind for work in view.brief.work if work.state in runtime.OPEN_STATES and work.state != "paused"}
    others = []
    for other in view.works or []:
        if other is not view.leading and other.kind in open_kinds and other.next.commands:
            others.append(other)
    return others


def _standing(view: SessionView, work: Status, task: str) -> list[str]:
    first = lines.headline(view)
    is_told_below = view.brief.outcome is not None and work.outcome is not None
    if work.headline and not is_told_below:
        first += f"; {work.run}: {work.headline}" if work.run else f"; {work.headline}"
    text = [first, *(f"Problem: {problem}" for problem in lines.problems(view))]
    if ended := lines.outcome(view):
        text.append(ended)
    if task:
        text.append(f"  {task}")
    text += ["  " + fact.replace("\n", "\n  ") for fact in work.facts]
    return text


def _to_do(work: Status, items: list[Item]) -> list[str]:
    text = []
    for item in items:
        title = f": {item.title}" if item.title else ""
        text.append(f"{item.id} [{work.state_of(item)}]{title}")
        if item.receipt_why:
            text.append(f"    {item.receipt_why}")
        whole = block(item.text, LONGEST_TEXT) or "\n".join(item.notes)
        text += [f"    {line}" for line in whole.splitlines()]
    return text


def _going_on(waiting: list[Work], step: NextStep) -> list[str]:
    """Whom the work waits for, and what is done now: the next step, or the end of the turn."""
    text = []
    for summary in waiting:
        text.append(f"It waits for the user ({name_of(summary.kind)} is {summary.state}): {summary.why}")
        if summary.question:
            text.append(f"  {summary.question}")
    if waiting and step.action in ("", "wait"):
        text.append("End the turn: only they set it going again.")
    elif not step.commands and step.action in ("", "done"):
        text.append("Nothing is left to do: end the turn.")
    else:
        text += _in_words(step)
    return text


def _in_words(step: NextStep) -> list[str]:
    text = [f"Next, for the user: {step.why}" if step.who == "user" else f"Next: {step.why}"]
    for each in step.commands:
        if not each.line:
            text.append(f"  {each.when}")
        elif each.when:
            text.append(f"  $ {each.line}   ({each.when})")
        else:
            text.append(f"  $ {each.line}")
    return text


def _asked_for(state: str, view: SessionView) -> NextStep | None:
    """The workflow that the user typed last, where nothing was begun of it. A plan is begun with its critique."""
    begun = {kind for kind, _ in runtime.left_open(view.brief.row)}
    for row in reversed(runtime.vouched_rows(state, view.name)):
        kind = str(row.get("kind"))
        if kind in ("cancelled", "paused", *requests.ARMED):  # their newer word
            break
        asked = requests.asked_of(row)
        if asked in table.BY_TYPED:
            workflow = table.BY_TYPED[asked]
            begins = {workflow.kind}
            if asked in workflow.without_run:
                begins.add("awaits")
            if begun & begins:
                break
            words = f" {dumps(clip(str(row['text']), LONGEST_TEXT))}" if row.get("text") else ""
            why = f"the user typed /omo:{asked}{words}, and nothing of it was begun"
            return NextStep("start", why, workflow.module("status").BEGINNINGS[asked])
        begun.add(kind)
    return None


def _nothing(context: Context, name: str, rows: Json, asked: NextStep | None = None) -> Result:
    """How one starts, or takes up what another conversation left open, and nobody is at."""
    step = NextStep("start", "nothing is on in this session")
    text = ["Nothing is on in this session."]
    if asked is not None:
        data: Json = {"session": name, "mode": "off", "next": asked.data, "items": []}
        return Result(data, progress.folded("\n".join([*text, *_in_words(asked)]), sys.stdout))
    for other, row in left_open.of_others(rows, name).items():
        if not left_open.may_be_taken(row, "", context.now):
            continue
        works = sentences.listed(runtime.left_open(row))
        why = f"left open by session {clip(other, lines.LONGEST_NAME)}: {works}"
        step = NextStep("resume", why, (Command(("omo", "resume", other)),))
        text += _in_words(step)
        break
    data = {"session": name or None, "mode": "off", "next": step.data, "items": []}
    return Result(data, progress.folded("\n".join([*text, lines.HOW_TO_START]), sys.stdout))
