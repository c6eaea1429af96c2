"""`omo next`: the next step of whatever is on in a session, whole, with everything that is needed to do it."""

from __future__ import annotations

import argparse
import sys

from omo import options, progress, table
from omo.context import Context
from omo.hooks import messages
from omo.json_text import Json, dumps
from omo.result import Result
from omo.state import ownership, records, runtime
from omo.state.rows import EMPTY
from omo.stop import rules
from omo.table import name_of
from omo.text import block, clip
from omo.views import lines, project
from omo.views.project import SessionView
from omo.views.session import OPEN_WORDS, WAITING, Work
from omo.work import left_open, naming, requests
from omo.work.status import LONGEST_TEXT, Command, Item, NextStep, Status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent


def register(commands: options.Commands) -> None:
    options.top_command(commands, "next", run)


def run(arguments: argparse.Namespace, context: Context) -> Result:
    """Reads only: what `omo status` and Stop read, and of each item all that it says."""
    rows = runtime.sessions(context.state)
    if not rows and not arguments.session:
        return _nothing_is_on(context, context.named_session or "", rows)
    view = project.look_at(context, context.looked_at(arguments.session), for_next=True, rows=rows)
    if view.brief.mode == "off":
        asked = _asked_for(context.state, view)
        return _off(view.name, asked, _in_words(asked)) if asked else _nothing_is_on(context, view.name, rows)
    work = view.leading or Status("", "")
    step = view.next
    # What the step is about: the one item that it names, else every one that is open.
    items = [item for item in work.items if step.item == item.id or (not step.item and item.is_open)]
    waiting = []
    if view.brief.mode != "cancelled":
        waiting = [summary for summary in view.brief.work if summary.state in WAITING and not summary.is_answered]
    asked = None if waiting else _asked_for(context.state, view)
    if asked and (_is_nothing(step) or asked.commands == step.commands):
        step, asked = asked, None
    others = _other_work(view)
    task = _task(context, work, view.name, rows)
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
    leads = view.brief.leading
    is_cancelled = view.brief.mode == "cancelled"
    if is_cancelled or (leads is not None and leads.is_at_rest):
        work, items = work._replace(facts=()), []  # what to do is none of it
    text = [*_situation(view, work, "" if is_cancelled else task), *_items(work, items)]
    if is_cancelled:
        text.append("The user called it off: do no more of it, only what they ask.")
    text += _what_now(waiting, step)
    text += [f"Beside it, {name_of(other.kind)}: {other.next.text}" for other in others]
    if asked:
        text.append(f"Beside it, {asked.text}")
    return Result(data, progress.folded("\n".join(text), sys.stdout))


def _is_nothing(step: NextStep) -> bool:
    return not step.commands and step.action in ("", "done")


def _task(context: Context, work: Status, session: str, rows: Json) -> str:
    """What the user typed for what is open in the session; empty where the facts of the work say so already."""
    if work.tells_task:
        return ""
    row = rows.get(session)
    events = runtime.vouched_rows(context.state, session, row)
    works = runtime.left_open(row or EMPTY)
    going_on = []
    for kind, summary in works:
        if summary.get("state") != "paused":
            going_on.append((kind, summary))
    return requests.task(events, going_on or works, messages.LONGEST_TASK)


def _other_work(view: SessionView) -> list[Status]:
    """Other work of the session that is open as well, and has a step of its own. What is paused is the user's."""
    open_kinds = {work.kind for work in view.brief.work if work.state in OPEN_WORDS and work.state != "paused"}
    others = []
    for other in view.works or []:
        if other is not view.leading and other.kind in open_kinds and other.next.commands:
            others.append(other)
    return others


def _situation(view: SessionView, work: Status, task: str) -> list[str]:
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


def _items(work: Status, items: list[Item]) -> list[str]:
    text = []
    for item in items:
        title = f": {item.title}" if item.title else ""
        text.append(f"{item.id} [{work.state_of(item)}]{title}")
        if item.receipt_why:
            text.append(f"    {item.receipt_why}")
        whole = block(item.text, LONGEST_TEXT) or "\n".join(item.notes)
        text += [f"    {line}" for line in whole.splitlines()]
    return text


def _what_now(waiting: list[Work], step: NextStep) -> list[str]:
    """What the user is asked, and what is done now: the next step, or the end of the turn."""
    text = []
    stopped = [summary for summary in waiting if summary.is_stopped]
    if stopped:
        text.append(f"The user stopped {' and '.join(name_of(summary.kind) for summary in stopped)}: do no more of it.")
    asked: dict[tuple[str, str, str], list[str]] = {}  # one question may be that of all work
    for summary in waiting:
        if summary not in stopped:
            asked.setdefault((summary.state, summary.why, summary.question), []).append(name_of(summary.kind))
    for (state, why, question), names in asked.items():
        verb = "is" if len(names) == 1 else "are"
        text.append(f"It waits for the user ({' and '.join(names)} {verb} {state}): {why}")
        if question:
            text.append(f"  {question}")
    if waiting and step.action in ("", "wait"):
        text.append("End the turn: only they set it going again.")
    elif _is_nothing(step):
        text.append("Nothing is left to do: end the turn.")
    else:
        text += _in_words(step)
    return text


def _in_words(step: NextStep) -> list[str]:
    text = [f"Next, for the user: {step.why}" if step.who == "user" else f"Next: {step.why}"]
    for command in step.commands:
        if not command.line:
            text.append(f"  {command.when}")
        elif command.when:
            text.append(f"  $ {command.line}   ({command.when})")
        else:
            text.append(f"  $ {command.line}")
    return text


def _asked_for(state: str, view: SessionView) -> NextStep | None:
    """How to begin the workflow that the user typed last; None where it was begun, a plan with its critique."""
    begun = {kind for kind, _ in runtime.left_open(view.brief.row)}  # and the kinds of all events after the row
    for row in reversed(runtime.vouched_rows(state, view.name)):
        kind = str(row.get("kind"))
        if kind in ("cancelled", "paused", "withdrawn", *requests.ARMED):  # their newer word
            return None
        asked = requests.asked_of(row)
        workflow = table.BY_TYPED.get(asked)
        if isinstance(workflow, table.EngineWorkflow):
            begins = {workflow.kind}
            if asked in workflow.without_run:
                begins.add("awaits")
            if begun & begins:
                return None
            words = f" {dumps(clip(str(row['text']), LONGEST_TEXT))}" if row.get("text") else ""
            why = f"the user typed /omo:{asked}{words}, and {table.not_begun(asked)}"
            return NextStep("start", why, _beginning(workflow, asked, row))
        begun.add(kind)
    return None


def _beginning(workflow: table.EngineWorkflow, asked: str, row: SessionEvent) -> tuple[Command, ...]:
    """With the file whose name is all that the user typed: what is in it is theirs, and need not be written."""
    commands: tuple[Command, ...] = workflow.beginnings(asked)
    name = requests.files_of(row)[0]["name"] if requests.digest_of_lone_file(row) else ""
    if not name or not name.endswith(workflow.named_files(asked)):
        return commands
    named = []
    for command in commands:
        argv = tuple(name if word in ("FILE", "PLAN") else word for word in command.argv)
        lead = "" if command.lead.startswith("write ") else command.lead
        named.append(Command(argv, lead, command.after))
    return tuple(named)


def _nothing_is_on(context: Context, session: str, rows: Json) -> Result:
    """Where else its work is on; or how one starts, or takes up what another conversation left and nobody works on."""
    for noted in ownership.every():
        there = noted.state.removesuffix(records.IN_PROJECT)
        if noted.session == session and there != noted.state and runtime.is_on_at(noted):
            step = NextStep("there", f"work where it is on ({noted.on})", (Command(("cd", there)),))
            return _off(session, step, _in_words(step), "directory")
    for other, row in left_open.of_others(rows, session).items():
        if left_open.may_be_taken(row, "", context.now):
            works = naming.listed(runtime.left_open(row))
            why = f"left open by session {clip(other, lines.LONGEST_NAME)}: {works}"
            step = NextStep("resume", why, (Command(("omo", "resume", other)),))
            return _off(session, step, [*_in_words(step), lines.HOW_TO_START])
    return _off(session, NextStep("start", rules.NOTHING_IS_ON), [lines.HOW_TO_START])


def _off(session: str, step: NextStep, text: list[str], where: str = "session") -> Result:
    data: Json = {"session": session or None, "mode": "off", "next": step.data, "items": []}
    return Result(data, progress.folded("\n".join([f"Nothing is on in this {where}.", *text]), sys.stdout))
