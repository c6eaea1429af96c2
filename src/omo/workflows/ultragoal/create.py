"""A brief becomes a plan, and what was there before is archived."""

from __future__ import annotations

import os
from pathlib import Path

from omo import masking
from omo.digest import sha256
from omo.errors import Refused
from omo.proof import base, changes
from omo.state import paths, store
from omo.state.ledger_rows import SessionEvent
from omo.state.rows import read_base
from omo.text import clip, counted
from omo.work import requests
from omo.work.lifecycle import give_up_for_another, replaces, require_room
from omo.work.publish import note_given_up
from omo.work.run import check_sizes
from omo.work.status import NextStep
from omo.workflows.ultragoal import goal_tool
from omo.workflows.ultragoal.brief import Brief, has_goals, parse, same_words
from omo.workflows.ultragoal.flow import items_of
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import POINTER
from omo.workflows.ultragoal.rows import CREATED, PlanRow
from omo.workflows.ultragoal.run import ULTRAGOAL, PlanRun, begin, load_plan


def create_goals(run: PlanRun, brief: Brief, *, mode: str, force: bool) -> PlanRun:
    """Make the new plan. An unfinished one before it is archived by --force, or if the user asked for another;
    `archived` says where to."""
    caller, before = run.caller, run.plan
    require_room(ULTRAGOAL.name, caller)
    user = replaces(caller, ULTRAGOAL.name)
    force = force or user is not None
    if before is not None and before.is_open and not force:
        raise Refused(
            f"this session has a plan with {counted(len(before.open_goals), 'open goal')}",
            fix="go on with it (omo ultragoal complete-goals), add to it (omo ultragoal steer --kind add_subgoal), or "
            "--force, which archives it unfinished and says so",
        )
    step = _left_to_end(run)
    if step is not None and not force:
        raise Refused(f"the plan of this session is not at its end: {step.why}", fix=f"{step.command}; or --force")
    new = begin(caller)
    created = plan_row(new, brief, mode)
    typed = _typed(run)
    if asked_for := _requests(run, brief, typed):
        created["requests"] = asked_for
    asked = read_base(_first_asked(run, typed).get("base")) if typed else None
    if asked:  # "a test weakened between the request and the plan"
        created["files"] = asked
    if caller.by != "user" and typed and (left_out := _left_out(str(typed[-1].get("text") or ""), brief)):
        created["leftOut"] = left_out
    check_sizes([created])
    with ULTRAGOAL.start_lock(caller):
        if load_plan(caller).id != run.id:
            raise Refused("another plan was made in this session just now", fix="omo ultragoal status")
        is_given_up = caller.by != "user" and user is None
        if is_given_up and before is not None and (before.is_open or step is not None):
            why = f"it was not brought to its end: {step.why}" if step else "another was made in its place"
            note_given_up(run, f"plan {run.id} was given up with {counted(len(before.open_goals), 'open goal')}", why)
        new.append(created)
        goal_tool.operate("create", new)
        # After the new one: were that first, a kill in between would leave neither, and only the user could mend it.
        if (before is None or before.is_open) and os.path.lexists(run.directory):
            new.archived = store.keep_as(run.directory, "archived", caller.now)
        if user is not None:
            give_up_for_another(user, ULTRAGOAL.name)
            caller.forget()
    return new


def _left_to_end(run: PlanRun) -> NextStep | None:
    """Return what a plan lacks whose goals are all closed: until then nobody is told how it ended."""
    if run.plan is None or run.plan.is_open or run.plan.outcome is not None:
        return None
    step = next_step(run)
    return None if step.action == "done" else step


def _typed(run: PlanRun) -> list[SessionEvent]:
    """Return what the user typed after /omo:ultragoal, if no plan was made of it yet."""
    return requests.typed(run.caller.events, "ultragoal", since=_made_at(run))


def _first_asked(run: PlanRun, typed: list[SessionEvent]) -> SessionEvent:
    """Return what they asked first since their last stop: "asked for twice, and a test weakened between"."""
    stops = [str(row.get("ts")) for row in run.caller.events if row.get("kind") in ("cancelled", "paused")]
    wanted = [row for row in typed if str(row.get("ts")) > max(stops, default="")]
    return wanted[0] if wanted else typed[-1]


def _made_at(run: PlanRun) -> str:
    return run.plan.started_at if run.plan is not None else ""


def _left_out(text: str, brief: Brief) -> list[str]:
    """Return the goals that the user typed as such, and that the agent's brief does not have."""
    if not has_goals(text):
        return []
    titles = {same_words(masking.mask(story.title)) for story in brief.stories}  # as what they typed is kept
    return [story.title for story in parse(text).stories if same_words(story.title) not in titles]


def require_as_named(run: PlanRun, path: str, content: bytes) -> None:
    """Refuse a brief that the user named, if it is not as it was when they typed its name."""
    name = os.path.relpath(os.path.realpath(path), run.caller.here).replace(os.sep, "/")
    if run.caller.by != "user" and requests.changed_since_named(_typed(run), name, sha256(content)):
        raise Refused(
            requests.not_as_named(clip(name, 120)),
            fix="put it back as it was; goals of your own go into another file, and the end is judged by theirs; or "
            "they type it again as it is now",
        )


def _requests(run: PlanRun, brief: Brief, typed: list[SessionEvent]) -> list[str]:
    """Return what the plan's end is held against: what the user typed since the last plan, else what armed the session,
    else what an unfinished plan before this one was for. Nothing if no hook heard them ask for anything."""
    if run.caller.by == "user":
        return [brief.text]
    rows = typed or requests.armed(run.caller.events, since=_made_at(run))
    if rows:
        return [requests.text_of(rows[-1])]
    return list(run.plan.requests) if run.plan is not None and run.plan.is_open else []


def plan_row(run: PlanRun, brief: Brief, mode: str) -> PlanRow:
    caller = run.caller
    files = base.take(caller.root, os.environ, caller.state)
    return {
        "kind": CREATED,
        "run": run.id,
        "session": caller.session,
        "root": caller.here,
        "git": paths.repository(caller.root),
        "base": files["head"] or changes.head(Path(caller.root)),
        "files": files,
        "brief": brief.text,
        "constraints": brief.preamble,
        "goalMode": mode,
        "objective": POINTER,
        "items": [item.as_given for item in items_of(brief)],
    }
