"""A plan of goals: each with its receipt, and whether that still covers it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from omo.shown import clip, counted
from omo.state import runtime
from omo.work import ways
from omo.work.status import Fact, Item, Status
from omo.work.viewer import Viewer

if TYPE_CHECKING:
    from omo.ultragoal.plan import Goal, Plan
    from omo.ultragoal.run import Run

LEDGER = "ultragoal/ledger.jsonl"
MARKS = {
    "complete": "done",
    "active": "active",
    "failed": "failed",
    "blocked": "waiting",
    "review_blocked": "waiting",
    "superseded": "cut",
}


def run_at(viewer: Viewer) -> Run:
    from omo.ultragoal.run import Run

    if viewer.kept:
        from omo.ultragoal.kept_plans import KeptRun  # only a report of an earlier plan needs it

        return KeptRun(**viewer.given, kept=viewer.kept)
    return Run(**viewer.given, control_globs=viewer.context.settings.computer_control)


def status(viewer: Viewer) -> Status | None:
    from omo.ultragoal import summary
    from omo.ultragoal.next_step import next_step
    from omo.ultragoal.tally import tally

    run = run_at(viewer)
    at = summary.standing(run)
    if at.plan is None and not at.problems and "ultragoal" not in runtime.part(viewer.row, "work"):
        return None
    step = next_step(at)
    told = ways.step(step.action, clip(step.why, 300), clip(step.command, 2000))
    if at.plan is None:
        return Status("ultragoal", "goal", headline="no plan", next=told, problems=tuple(at.problems))
    items = tuple(item(run, at.plan, goal) for goal in at.plan.goals)
    changed = tuple(filter(None, [_drift(run, at.plan, viewer)]))
    return Status(
        "ultragoal",
        "goal",
        run=at.plan.run,
        headline=_headline(tally(at.plan), items, is_damaged=bool(at.problems)),
        items=items,
        next=told,
        facts=(*filter(None, [clip(at.plan.objective, 300), *_final(run, at.plan)]), *changed),
        changed=changed,
        overrides=tuple(f"{one.id}: {said}" for one in items for said in one.overrides),
        problems=tuple(at.problems),
        outcome=at.plan.outcome,
    )


def _headline(closed: str, items: tuple[Item, ...], *, is_damaged: bool) -> str:
    """What became of the plan, and how many of the receipts behind that no longer count."""
    if is_damaged:
        return f"{closed}, by the word of a damaged ledger"
    stale = sum(one.mark == "stale" for one in items)
    return f"{closed}, {counted(stale, 'receipt')} stale" if stale else closed


def item(run: Run, plan: Plan, goal: Goal) -> Item:
    facts = proof(run, plan, goal)
    mark = "stale" if facts["receipt"] == "stale" else MARKS.get(goal.status, "open")
    return Item(
        goal.id,
        clip(goal.title, 200),
        goal.status,
        mark,
        tuple(_notes(goal, facts)),
        facts["receipt"] or "",
        clip(facts["stale_because"] or "", 200),
        tuple(_overrides(facts)),
        _why(goal, facts),
        _facts(run, plan, goal, facts),
    )


def _why(goal: Goal, facts: dict[str, Any]) -> str:
    if facts["receipt"]:
        return "its receipt covers it as it is now"
    if facts["open_blockers"]:
        return f"its review is open: {', '.join(facts['open_blockers'])}"
    if goal.human_blocked:
        return f"it waits for a person: {goal.human_blocked}"
    return clip(goal.evidence, 200) or f"it is {goal.status}, and no checkpoint has closed it"


def _facts(run: Run, plan: Plan, goal: Goal, facts: dict[str, Any]) -> tuple[Fact, ...]:
    from omo.ultragoal import receipts

    listed = [Fact("blockers open", LEDGER, facts["open_blockers"])]
    receipt = goal.receipt
    if not isinstance(receipt, dict):
        return (*listed, Fact("receipt", LEDGER, "none"))
    issued = f"{receipt.get('receiptKind')} {receipt.get('receiptId')} of {receipt.get('verifiedAt')}"
    path = receipts.gate_file(run.directory, str(receipt.get("qualityGateHash")))
    listed += [
        Fact("receipt", LEDGER, issued),
        Fact("quality gate behind it", "ultragoal/gates", "kept" if os.path.exists(path) else "gone"),
        Fact("independence", LEDGER, receipt.get("independence")),
    ]
    if receipts.is_final(goal):
        covers = receipts.final_problem(plan, goal, run.directory) or "yes"
        listed.append(Fact("covers the plan", LEDGER, covers))
    return tuple(listed)


def proof(run: Run, plan: Plan, goal: Goal) -> dict[str, Any]:
    """What a goal's receipt is worth now; every view of a plan shows this."""
    from omo.ultragoal import receipts

    receipt = goal.receipt or {}
    stale = (receipts.problem(plan, goal, run.directory) or _spoiled(run, receipt)) if goal.status == "complete" else ""
    return {
        "receipt": None if goal.status != "complete" else "stale" if stale else "fresh",
        "stale_because": stale or None,
        "independence": receipt.get("independence"),
        "exemptions": receipt.get("exemptions", []),
        "notes": receipt.get("notes", []),
        "open_blockers": [one.id for one in plan.open_blockers_of(goal.id)],
    }


def _spoiled(run: Run, receipt: dict[str, Any]) -> str:
    """The evidence that a receipt cites and that is not there any more as it was recorded."""
    from omo.evidence import artifacts

    for name, digest in runtime.part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(run.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""


def _drift(run: Run, plan: Plan, viewer: Viewer) -> str:
    from omo.ultragoal.drift import drift

    return drift(run, plan, is_cached=not viewer.reads_all)


def _notes(goal: Goal, facts: dict[str, Any]) -> list[str]:
    notes = [clip(str(one), 200) for one in facts["notes"]]
    if goal.human_blocked:
        notes.append(f"waits for a person: {clip(goal.human_blocked, 160)}")
    elif goal.status in ("failed", "blocked", "review_blocked") and goal.evidence:
        notes.append(clip(goal.evidence, 160))
    if facts["open_blockers"]:
        notes.append(f"blocked by {', '.join(facts['open_blockers'])}")
    return notes


def _overrides(facts: dict[str, Any]) -> list[str]:
    found = ["independence: reduced"] if facts["independence"] == "reduced" else []
    if facts["exemptions"]:
        found.append(f"{counted(len(facts['exemptions']), 'replay')} exempted")
    return found


def _final(run: Run, plan: Plan) -> list[str]:
    from omo.ultragoal import receipts

    final = receipts.final(plan, run.directory)
    return [f"final receipt: fresh, issued with {final.id}"] if final else []
