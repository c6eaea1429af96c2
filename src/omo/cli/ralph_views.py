"""What `omo ralph` shows of a run: the criteria as they begin, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omo.cli.result import Result
from omo.evidence.checks import Check
from omo.ralph import replan
from omo.ralph.standing import criteria_of
from omo.ralph.starting import edited
from omo.shown import clip, counted
from omo.state.runtime import part

if TYPE_CHECKING:
    from omo.ralph.next_step import Next
    from omo.ralph.standing import Standing

Row = dict[str, Any]

NO_RUN: Row = {
    "run": None,
    "iteration": 0,
    "max_iterations": 0,
    "verdict": None,
    "decision": None,
    "criteria": [],
}


def begun(at: Standing) -> list[str]:
    lines = [f"Ralph run {at.run}: {criteria_of(len(at.criteria))}, at most {counted(at.max_iterations, 'iteration')}"]
    for one in at.criteria:
        guard = ", a guard" if one.guard else ""
        if earlier := part(at.started, "carried").get(one.id):
            guard += f"; failed before run {clip(str(earlier), 40)}, which was never judged to a pass"
        lines.append(f"  {one.id} {clip(one.description, 200)} (now: {at.started['before'].get(one.id)}{guard})")
        lines += [f"     {check.id}: {_method(check)}" for check in one.checks]
    blocked = at.lessons.get("blocked") or []
    if blocked:
        lines.append(f"Blocked in run {at.lessons.get('from_run')}:")
    lines += [f"  {one['id']} {one['description']}: {replan.quoted(one['evidence'])}" for one in blocked]
    again = at.lessons.get("overlap") or []
    lines += [f"  {one['id']} is {one['was']} of that run again; what was seen then goes with it" for one in again]
    return [*lines, *replan.reductions(at)]


def _method(check: Check) -> str:
    """How a check is decided, in a line."""
    given = check.model_dump(mode="json", exclude={"id", "type", "guard"})
    told = ", ".join(
        f"{key} {clip(str(value), 120)}"
        for key, value in given.items()
        if value not in (None, "") and value is not False
    )
    return clip(f"{check.type} {told}", 300)


def damaged(at: Standing, problems: list[str], step: Next) -> Result:
    """What such a ledger counts is nobody's to show: only that it was changed, and what to do about it."""
    empty: Row = dict.fromkeys(facts(at))
    empty |= {"criteria": [], "remaining": [], "phases": [], "receipt": None}
    data = {**empty, "run": at.run, "state": "damaged", "problems": problems, "next": step.data}
    return Result(data, f"Ralph run {at.run}: its ledger is damaged\nNext: {step.text}", notes=problems)


def view(at: Standing, problems: list[str], step: Next) -> Result:
    if problems:
        return damaged(at, problems, step)
    changed = edited(at) if at.started else ""
    data = {
        **facts(at),
        "criteria": [_criterion(at, one.id) for one in at.criteria],
        "remaining": at.remaining,
        "phases": [{"name": row["name"], "skipped": row["skipped"] or None} for row in at.phases],
        "circumventions": at.circumventions,
        "judge_calls": at.judge_calls,
        "receipt": (at.ended or {}).get("receipt"),
        "lessons": at.lessons,
        "edited": changed,
        "problems": problems,
        "next": step.data,
    }
    table = [
        f"  {one['id']:4} {one['status']:9} {_counts(one)}{clip(one['description'], 120)}" for one in data["criteria"]
    ]
    notes = [f"  circumvented {counted(at.circumventions, 'time')}; three end the run"] if at.circumventions else []
    notes += [f"  note: {changed}"] if changed else []
    text = [_headline(at), *table, *notes, *replan.reductions(at), f"Next: {step.text}"]
    return Result(data, "\n".join(text), notes=problems)


def facts(at: Standing) -> Row:
    return {
        "run": at.run,
        "state": f"ended: {at.ended.get('how')}" if at.ended else "open",
        "iteration": at.iteration,
        "max_iterations": at.max_iterations,
        "open_iteration": at.open_iteration,
        "judged": at.last_judged is not None,
        "verdict": at.verdict,
        "decision": at.decision,
        "reduced_scope": at.reduced_scope or None,
        "independence": at.independence,
        "after": at.after or None,
    }


def _criterion(at: Standing, name: str) -> Row:
    one, found = at.criterion(name), at.last_result(name)
    return {
        "id": name,
        **at.states[name].data,
        "description": one.description if one else "",
        "result": found.get("result"),
        "source": found.get("source"),
        "evidence": clip(str(found.get("evidence") or ""), 500),
    }


def _counts(one: Row) -> str:
    told = [f"failed {one['fail_count']}x"] if one["fail_count"] else []
    told += [f"regressed {one['regressions']}x"] if one["regressions"] else []
    told += [str(one["source"])] if str(one["source"] or "").startswith("cached") else []
    return f"({', '.join(told)}) " if told else ""


def _headline(at: Standing) -> str:
    state = (
        f"ended ({at.ended.get('how')})" if at.ended else "iteration open" if at.open_iteration else "between rounds"
    )
    judged = f"verdict {at.verdict}, decision {at.decision}" if at.last_judged else "not judged yet"
    return f"Ralph run {at.run}: {state}, iteration {at.iteration} of {at.max_iterations}, {judged}"
