"""A plan of goals: which rule says what comes next, and what each receipt is worth."""

from __future__ import annotations

import os
from typing import Any

from omo.explain.answer import Explanation, Fact
from omo.report.work import Place
from omo.report.works import ultragoal as seen
from omo.report.works.ultragoal import run_at
from omo.shown import clip
from omo.ultragoal import receipts, summary
from omo.ultragoal.next_step import CHECKPOINT, RULES, Standing, Step, decide, tool_step
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run
from omo.work.status import DAMAGED

Row = dict[str, Any]

LEDGER = "ultragoal/ledger.jsonl"
GOAL_TOOL = "goal/ledger.jsonl"


def explain_run(place: Place) -> Explanation:
    run = run_at(place)
    at = summary.standing(run)
    rule, step = decide(at)
    before = RULES[: RULES.index(rule)] if rule else RULES
    read = [fact for name in (rule.reads if rule else ("goals", "final")) for fact in _facts(name, run, at)]
    complete = may_complete(at, step)
    return Explanation(
        f"ultragoal in session {clip(run.session, 80)}: {step.action}",
        step.action,
        rule.name if rule else "done",
        step.why,
        [*read, Fact("omo goal complete", "the receipts and the session's goal", complete["why"] or "may be called")],
        [step.command] if step.command else [],
        [{"rule": one.name, "why": one.what} for one in before],
        {
            "session": run.session,
            "kind": "ultragoal",
            "id": step.goal,
            "run": at.plan.run if at.plan else None,
            "may_complete": complete["may"],
            "goals": [_data(run, at, goal) for goal in at.plan.goals] if at.plan else [],
        },
    )


def may_complete(at: Standing, step: Step) -> Row:
    """Whether `omo goal complete` would be let through, and why not: by what the gate in the client is told."""
    if at.plan is None or not at.tool_status:
        return {"may": False, "why": "the session has no goal to complete: omo goal create"}
    if at.tool_status != "active":
        return {"may": False, "why": f"the session's goal is {at.tool_status}"}
    denied = summary.complete_denial(at.plan, at, step)
    return {"may": not denied, "why": denied}


def explain(place: Place, name: str) -> Explanation | None:
    run = run_at(place)
    at = summary.standing(run)
    found = [goal for goal in at.plan.goals if goal.id.lower() == name.lower()] if at.plan else []
    if at.plan is None or not found:
        return None
    goal = found[0]
    facts = _proof(run, at, goal)
    step = _towards(at, goal)
    is_proven = facts["receipt"] == "fresh"
    return Explanation(
        f"goal {goal.id} {clip(goal.title, 80)}: {_state(goal, facts)}",
        "complete" if is_proven else "open" if goal.is_required else "superseded",
        _rule(goal, facts),
        _why(at, goal, facts),
        _goal_facts(run, at, goal, facts),
        [] if is_proven or not goal.is_required else [step.text],
        [],
        {"session": run.session, "kind": "ultragoal", "run": at.plan.run, "id": goal.id, **_data(run, at, goal)},
    )


def _towards(at: Standing, goal: Goal) -> Step:
    """What leads to this goal's receipt. Another goal may be first in the plan."""
    step = decide(at)[1]
    if step.goal in (goal.id, None):
        return step
    if goal.status == "complete":
        return tool_step(at, goal) or Step("verify-again", "verify it again", CHECKPOINT.format(id=goal.id), goal.id)
    return Step(step.action, f"first {step.why}", step.command, step.goal)


def _state(goal: Goal, facts: Row) -> str:
    return f"{goal.status}, receipt {facts['receipt']}" if facts["receipt"] else goal.status


def _rule(goal: Goal, facts: Row) -> str:
    return f"receipt-{facts['receipt']}" if facts["receipt"] else f"status-{goal.status}"


def _why(at: Standing, goal: Goal, facts: Row) -> str:
    if at.problems:
        return f"the plan was changed by hand: {at.problems[0]}"
    if facts["receipt"]:
        return facts["stale_because"] or "its receipt covers it as it is now"
    if facts["open_blockers"]:
        return f"its review is open: {', '.join(facts['open_blockers'])}"
    if goal.human_blocked:
        return f"it waits for a person: {goal.human_blocked}"
    return goal.evidence or f"it is {goal.status}, and no checkpoint has closed it"


def _proof(run: Run, at: Standing, goal: Goal) -> Row:
    """As status has it: in a damaged ledger no receipt counts."""
    assert at.plan is not None
    facts = seen.proof(run, at.plan, goal)
    is_moot = at.problems and facts["receipt"] == "fresh"
    return {**facts, "receipt": "stale", "stale_because": DAMAGED} if is_moot else facts


def _data(run: Run, at: Standing, goal: Goal) -> Row:
    facts = _proof(run, at, goal)
    return {"id": goal.id, "status": goal.status, "receipt": facts["receipt"], "stale_because": facts["stale_because"]}


def _goal_facts(run: Run, at: Standing, goal: Goal, facts: Row) -> list[Fact]:
    assert at.plan is not None
    found = [Fact(f"{goal.id}.status", LEDGER, goal.status)]
    if goal.evidence:
        found.append(Fact(f"{goal.id}.evidence", LEDGER, clip(goal.evidence, 200)))
    found += _receipt_facts(run, at.plan, goal, facts)
    found += [Fact("blockers open", LEDGER, facts["open_blockers"])]
    return [*found, *_tool(at), *_facts("problems", run, at)]


def _receipt_facts(run: Run, plan: Plan, goal: Goal, facts: Row) -> list[Fact]:
    receipt = goal.receipt
    if not isinstance(receipt, dict):
        return [Fact("receipt", LEDGER, "none")]
    kept = receipts.gate_file("ultragoal", str(receipt.get("qualityGateHash")))
    is_kept = os.path.exists(receipts.gate_file(run.directory, str(receipt.get("qualityGateHash"))))
    return [
        Fact(
            "receipt", LEDGER, f"{receipt.get('receiptKind')} {receipt.get('receiptId')} of {receipt.get('verifiedAt')}"
        ),
        Fact("changed since the receipt", LEDGER, _changed(receipt, receipts.basis_of(plan, goal))),
        Fact("quality gate behind it", kept, "kept" if is_kept else "gone"),
        Fact("independence", LEDGER, receipt.get("independence")),
        *_coverage(run, plan, goal),
    ]


def _coverage(run: Run, plan: Plan, goal: Goal) -> list[Fact]:
    if not receipts.is_final(goal):
        return []
    return [Fact("covers the plan", LEDGER, receipts.final_problem(plan, goal, run.directory) or "yes")]


def _changed(receipt: Row, now: Row) -> list[str]:
    """Which part of what the receipt covers is not as it was."""
    then = receipt.get("basis")
    if not isinstance(then, dict):
        return ["the receipt names no basis"]
    old, new = _flat(then), _flat(now)
    return [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]


def _flat(basis: Row) -> Row:
    goal = basis.get("goal")
    rest = {key: value for key, value in basis.items() if key != "goal"}
    return {**rest, **{f"goal.{key}": value for key, value in (goal if isinstance(goal, dict) else {}).items()}}


def _tool(at: Standing) -> list[Fact]:
    return [
        Fact("session's goal", GOAL_TOOL, at.tool_status or "none"),
        Fact("its objective", GOAL_TOOL, clip(at.tool_objective, 160)),
    ]


def _facts(name: str, run: Run, at: Standing) -> list[Fact]:
    """The facts behind a name in `reads` of a rule of next_step."""
    plan = at.plan
    if name == "problems":
        return [Fact("ledger", LEDGER, clip(at.problems[0], 200) if at.problems else "whole")]
    if name == "goals":
        return [Fact(f"{goal.id}.status", LEDGER, goal.status) for goal in plan.goals] if plan else []
    if name == "receipts":
        return [_proof_fact(run, at, goal) for goal in plan.required] if plan else []
    if name == "final":
        carrier = receipts.final(plan, run.directory) if plan else None
        return [Fact("final receipt", LEDGER, f"fresh, with {carrier.id}" if carrier else "none that is fresh")]
    if name == "plan":
        return [Fact("plan", LEDGER, plan.run if plan else "none")]
    if name == "tool_status":
        return _tool(at)
    values = {"tool_mending": at.tool_mending, "moved": at.moved, "handed_off": at.handed_off}
    return [Fact(name, LEDGER, clip(values[name], 200))] if name in values else []


def _proof_fact(run: Run, at: Standing, goal: Goal) -> Fact:
    facts = _proof(run, at, goal)
    why = f", {facts['stale_because']}" if facts["stale_because"] else ""
    return Fact(f"{goal.id}.receipt", LEDGER, f"{facts['receipt'] or 'none'}{why}")
