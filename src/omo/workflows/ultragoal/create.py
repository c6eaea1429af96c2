"""A brief becomes a plan: it is cut into stories at its `@goal` lines, and what was there before is archived.

A story begins where `@goal` stands in the first column and a colon, a blank, a tab or the end of the line follows.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.state import runtime, store
from omo.state.rows import EMPTY
from omo.text import clip, counted
from omo.work import requests
from omo.work.publish import change_row
from omo.work.run import check_sizes
from omo.work.status import NextStep
from omo.workflows.ultragoal import plan as plans
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, begin, load_plan, repository, settings_at

Row = dict[str, Any]

MOST_EARLIER = 5
LONGEST = 20_000
LONGEST_TEXT = 200_000
LONGEST_TITLE = 80
LONGEST_OBJECTIVE = 10_000  # of a goal that is added later
MOST_DEFECTS = 50
CREATE = "omo ultragoal create-goals --brief-file PATH"

# A lone CR ends a line too: a file opened as text has it so, and the three ways to pass a brief must agree.
LINE_END = re.compile(r"\r\n|\n|\r")
DELIMITER = re.compile(r"@goal(?::|(?=[ \t])|\Z)")
MARK = re.compile(r"gate:[ \t]*full[ \t]*", re.IGNORECASE)


@dataclass(frozen=True)
class Story:
    """`gate` is full where a line says so: in a plan with the light gate its reviewers come with it all the same."""

    title: str
    objective: str
    gate: str = ""


@dataclass(frozen=True)
class Brief:
    """`text` lost the blank lines around it, not its first indentation: parsed again it gives the same stories."""

    text: str
    preamble: str
    stories: list[Story]


def parse(text: str) -> Brief:
    """BadInput with every defect at once: a text that cannot be kept, no text at all, empty blocks by number."""
    _require(defects_of(text))
    # Byte order marks are no text, at the beginning as little as where files were joined.
    lines = LINE_END.split(text.replace("\ufeff", ""))
    visible = [line for line in lines if is_visible(line)]
    if not visible:
        raise BadInput("the brief is blank", fix=f'{CREATE}, or --brief "what is to be done"')
    starts = [number for number, line in enumerate(lines) if DELIMITER.match(line)]
    stories, defects = [], []
    for number, (start, end) in enumerate(zip(starts, [*starts, len(lines)][1:], strict=True), start=1):
        title = DELIMITER.sub("", lines[start], count=1).strip()
        unmarked = [line for line in lines[start + 1 : end] if not MARK.fullmatch(line)]
        gate = plans.FULL if len(unmarked) < end - start - 1 else ""
        body = "\n".join(unmarked).strip()
        if not is_visible(title) and not is_visible(body):
            defects.append(f"@goal block {number} (line {start + 1}) has neither a title nor a text")
        elif not is_visible(body):
            stories.append(Story(title_of(title), title, gate))
        else:  # a missing title is borrowed from the text
            borrowed = next(line for line in unmarked if is_visible(line))
            stories.append(Story(title_of(title) or title_of(borrowed), body, gate))
    _require(defects)
    if not starts:
        stories = [Story(title_of(visible[0]), "\n".join(lines).strip())]
    first = starts[0] if starts else 0
    shown = next(number for number, line in enumerate(lines) if line.strip())
    return Brief(
        text="\n".join(lines[shown:]).rstrip(" \t\n"),  # a form feed after @goal makes it text: it has to stay
        preamble="\n".join(lines[:first]).strip(),
        stories=stories,
    )


def _require(defects: list[str]) -> None:
    if defects:
        raise BadInput(
            f"the brief has {counted(len(defects), 'defect')}: {defects[0]}",
            fix=f"mend the brief, then: {CREATE}",
            defects=defects[:MOST_DEFECTS],
        )


def defects_of(text: str) -> list[str]:
    """Why a text cannot be kept as it is; none for most."""
    defects = []
    if len(text) > LONGEST_TEXT:
        defects.append(f"{len(text)} characters, at most {LONGEST_TEXT}; name files instead of copying them")
    if "\0" in text:
        defects.append(f"a NUL at character {text.index(chr(0)) + 1}; remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        defects.append(f"no UTF-8 at character {error.start + 1}; save it as UTF-8")
    return defects


def is_visible(text: str) -> bool:
    return any(letter.isprintable() and not letter.isspace() for letter in text)


def title_of(text: str) -> str:
    line = clip(text, len(text) + 1)  # without control characters, which could redraw a terminal
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3] + "..."


def create_goals(run: PlanRun, brief: Brief, *, mode: str, force: bool) -> PlanRun:
    """The new plan. An unfinished one before it is put aside only by --force, and its notes say where to."""
    caller, before = run.caller, run.plan
    if run.problems and not (force and caller.by == "user"):
        raise run.damage()
    if before is not None and before.is_open and not force:
        raise Refused(
            f"this session has a plan with {counted(len(before.open_goals), 'open goal')}",
            fix="go on with it (omo ultragoal complete-goals), add to it (omo ultragoal steer --kind add_subgoal), or "
            "--force, which archives it unfinished and says so",
        )
    if (step := _left_to_end(run)) and not force:
        raise Refused(f"the plan of this session is not at its end: {step.why}", fix=f"{step.command}; or --force")
    new = begin(caller)
    created = plan_row(new, brief, mode, gate_for(run, brief, mode))
    if replaced := _replaced(run):
        created["replaces"] = replaced
    if asked_for := _requests(run, brief):
        created["requests"] = asked_for
    if left_out := _left_out(run, brief):
        created["leftOut"] = left_out
    check_sizes([created])
    with ULTRAGOAL.start_lock(caller):
        if load_plan(caller).id != run.id:
            raise Refused("another plan was made in this session just now", fix="omo ultragoal status")
        if (before is None or before.is_open) and os.path.lexists(run.directory):
            new.archived = store.keep_as(run.directory, "archived", caller.now)
            left = len(before.open_goals) if before is not None else 0
            event = {"kind": "plan-archived", "run": run.id, "open": left, "kept": new.archived}
            change_row(caller, caller.session, lambda row: runtime.Change(None, row or EMPTY, [event]))
        new.append(created)
    return new


def _left_to_end(run: PlanRun) -> NextStep | None:
    """What a plan lacks whose goals are all closed: until then nobody is told how it ended."""
    if run.plan is None or run.problems or run.plan.is_open or run.plan.outcome is not None:
        return None
    step = next_step(run)
    return None if step.action == "done" else step


def gate_for(run: PlanRun, brief: Brief, mode: str) -> str:
    """Light only where a hook saw the user choose it: the brief and the settings are the agent's to write."""
    asked = _asked(run)
    text = str(asked.get("text") or "")
    if any(DELIMITER.match(line) for line in LINE_END.split(text)):
        marked = {same_words(story.title) for story in brief.stories if story.gate}
        lost = [story.title for story in parse(text).stories if story.gate and same_words(story.title) not in marked]
        if lost:
            raise BadInput(
                f"the user marked {clip(lost[0], 80)!r} with gate: full, and the brief does not",
                fix="take the goal over with that line, as they typed it",
            )
    gate = asked.get("gate") or settings_at(run.caller.root, asked.get("head")).goal_gate
    # Story by story there is no final receipt that reviewers could come with.
    return plans.LIGHT if gate == plans.LIGHT and mode == plans.MODES[0] else plans.FULL


def _left_out(run: PlanRun, brief: Brief) -> list[str]:
    """The goals that the user typed as such, and that the agent's brief does not have."""
    text = str(_asked(run).get("text") or "")
    if run.caller.by == "user" or not any(DELIMITER.match(line) for line in LINE_END.split(text)):
        return []
    titles = {same_words(story.title) for story in brief.stories}
    return [story.title for story in parse(text).stories if same_words(story.title) not in titles]


def _asked(run: PlanRun) -> Row:
    """What the user typed after /omo:ultragoal, where no plan was made of it yet."""
    made = run.plan.created_at if run.plan is not None else ""
    rows = requests.typed(run.caller.events, "ultragoal", since=made)
    return rows[-1] if rows else {}


def require_as_named(run: PlanRun, path: str, content: bytes) -> None:
    """A brief that the user named is taken as it was when they typed its name."""
    made = run.plan.created_at if run.plan is not None else ""
    rows = requests.typed(run.caller.events, "ultragoal", since=made)
    name = os.path.relpath(os.path.realpath(path), run.caller.here).replace(os.sep, "/")
    if run.caller.by != "user" and requests.changed_since_named(rows, name, sha256(content)):
        raise Refused(
            f"{clip(name, 120)} is not as it was when the user named it",
            fix="put it back as it was; goals of your own go into another file, and the end is judged by theirs; or "
            "they type it again as it is now",
        )


def _requests(run: PlanRun, brief: Brief) -> list[str]:
    """What the plan's end is held against: what the user typed since the last plan, else what armed the session, else
    what an unfinished plan before this one was for. None where no hook heard them ask for anything."""
    if run.caller.by == "user":
        return [brief.text]
    made = run.plan.created_at if run.plan is not None else ""
    events = run.caller.events
    rows = requests.typed(events, "ultragoal", since=made) or requests.armed(events, since=made)
    if rows:
        return [requests.text_of(rows[-1])]
    return list(run.plan.requests) if run.plan is not None and run.plan.is_open else []


def _replaced(run: PlanRun) -> Row | None:
    """What the new plan is made in place of: the one that lies there, or one that the agent cleared away and the user
    was not shown yet."""
    if run.plan is not None or run.problems:
        trouble = run.problems[0] if run.problems else ""
        if step := _left_to_end(run):
            trouble = f"it was not brought to its end: {step.why}"
        left = len(run.plan.open_goals) if run.plan is not None else 0
        replaced: Row = {"run": run.id, "open": left, "trouble": trouble, "by": run.caller.by}
        if run.plan is not None and run.plan.replaced:
            replaced["earlier"] = run.plan.replaced[-MOST_EARLIER:]
        return replaced
    summary = run.caller.summary("ultragoal")
    if not summary.get("cleared") or summary.get("told") is not False:
        return None
    named = {"run": str(summary.get("run") or ""), "open": int(summary.get("open") or 0)}
    return {**named, "trouble": str(summary.get("why") or ""), "by": run.caller.by}


def plan_row(run: PlanRun, brief: Brief, mode: str, gate: str = plans.FULL) -> Row:
    goals = []
    for number, story in enumerate(brief.stories, start=1):
        goal = {"id": f"G{number:03}", "title": story.title, "objective": story.objective}
        if story.gate:
            goal["gate"] = story.gate
        goals.append(goal)
    return {
        "kind": "plan_created",
        "run": run.id,
        "session": run.caller.session,
        "brief": brief.text,
        "constraints": brief.preamble,
        "goalMode": mode,
        "gate": gate,
        "objective": plans.POINTER,
        "repository": repository(run.caller.root),
        "goalIds": [goal["id"] for goal in goals],
        "goals": goals,
    }


def text_defects(option: str, text: object, *, longest: int = LONGEST, shortest: int = 1) -> list[str]:
    """Why this cannot be kept as somebody's words; none for most."""
    if text is None:
        return [f"{option} is missing"]
    if not isinstance(text, str):
        return [f"{option} is {clip(repr(text), 60)}, not a text"]
    if not is_visible(text):
        return [f"{option} is blank"]
    size = len(text.strip())
    if not shortest <= size <= longest:
        return [f"{option} has {size} characters ({clip(text, 40)!r}), of {shortest} to {longest}"]
    return [f"{option}: {why}" for why in defects_of(text)]


def same_words(text: str) -> str:
    """Two texts that differ in case and blanks only are the same."""
    return " ".join(text.split()).casefold()
