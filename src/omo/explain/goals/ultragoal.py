"""A plan of goals: which rule says what comes next, and what each receipt is worth."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from omo.explain.answer import Explanation, Fact
from omo.report.work import Place
from omo.report.works.ultragoal import run_at
from omo.shown import clip
from omo.ultragoal import receipts, summary
from omo.ultragoal.next_step import RULES, decide, verify_again
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import PlanRun
from omo.ultragoal.views import goal_proof
from omo.work.status import DAMAGED, NextStep

Row = dict[str, Any]

LEDGER = "ultragoal/ledger.jsonl"
GOAL_TOOL = "goal/ledger.jsonl"


def explain_run(place: Place) -> Explanation:
    run = run_at(place)
    plan = run.plan
    rule, step = decide(run)
    read: list[Fact] = []
    for name in rule.reads if rule else ("goals", "final"):
        read += _facts(name, run)
    may, why_not = _may_complete(run, step)
    read.append(Fact("omo goal complete", "the receipts and the session's goal", why_not or "may be called"))
    before = RULES[: RULES.index(rule)] if rule else RULES
    return Explanation(
        f"ultragoal in session {clip(run.caller.session, 80)}: {step.action}",
        step.action,
        rule.name if rule else "done",
        step.why,
        read,
        [step.command] if step.command else [],
        [{"rule": passed.name, "why": passed.what} for passed in before],
        {
            "session": run.caller.session,
            "kind": "ultragoal",
            "id": step.item or None,
            "run": plan.run if plan else None,
            "may_complete": may,
            "goals": [_data(run, plan, goal) for goal in plan.goals] if plan else [],
        },
    )


def _may_complete(run: PlanRun, step: NextStep) -> tuple[bool, str]:
    """Whether `omo goal complete` would be let through, and why not: by what the gate in the client is told."""
    if run.plan is None or not run.tool.status:
        return False, "the session has no goal to complete: omo goal create"
    if run.tool.status != "active":
        return False, f"the session's goal is {run.tool.status}"
    denied = summary.complete_denial(run, run.plan, step)
    return not denied, denied


def explain(place: Place, name: str) -> Explanation | None:
    run = run_at(place)
    plan = run.plan
    for goal in plan.goals if plan else []:
        if plan is not None and goal.id.lower() == name.lower():
            return _explain_goal(run, plan, goal)
    return None


def _explain_goal(run: PlanRun, plan: Plan, goal: Goal) -> Explanation:
    proof = _proof(run, plan, goal)
    state, rule = goal.status, f"status-{goal.status}"
    if proof["receipt"]:
        state, rule = f"{goal.status}, receipt {proof['receipt']}", f"receipt-{proof['receipt']}"
    decision = "open" if goal.is_required else "superseded"
    change = [_towards(run, goal).text] if goal.is_required else []
    if proof["receipt"] == "fresh":
        decision, change = "complete", []
    return Explanation(
        f"goal {goal.id} {clip(goal.title, 80)}: {state}",
        decision,
        rule,
        _why(run, goal, proof),
        _goal_facts(run, plan, goal, proof),
        change,
        [],
        {"session": run.caller.session, "kind": "ultragoal", "run": plan.run, **_data(run, plan, goal)},
    )


def _towards(run: PlanRun, goal: Goal) -> NextStep:
    """What leads to this goal's receipt. Another goal may be first in the plan."""
    step = decide(run)[1]
    if step.item in (goal.id, ""):
        return step
    if goal.status == "complete":
        return verify_again(run, goal, "verify it again")
    return replace(step, why=f"first {step.why}")


def _why(run: PlanRun, goal: Goal, proof: Row) -> str:
    if run.problems:
        return f"the plan was changed by hand: {run.problems[0]}"
    if proof["receipt"]:
        return proof["stale_because"] or "its receipt covers it as it is now"
    if proof["open_blockers"]:
        return f"its review is open: {', '.join(proof['open_blockers'])}"
    if goal.human_blocked:
        return f"it waits for a person: {goal.human_blocked}"
    return goal.evidence or f"it is {goal.status}, and no checkpoint has closed it"


def _proof(run: PlanRun, plan: Plan, goal: Goal) -> Row:
    """As status has it: in a damaged ledger no receipt counts."""
    proof = goal_proof(run, plan, goal)
    if run.problems and proof["receipt"] == "fresh":
        return {**proof, "receipt": "stale", "stale_because": DAMAGED}
    return proof


def _data(run: PlanRun, plan: Plan, goal: Goal) -> Row:
    proof = _proof(run, plan, goal)
    return {"id": goal.id, "status": goal.status, "receipt": proof["receipt"], "stale_because": proof["stale_because"]}


def _goal_facts(run: PlanRun, plan: Plan, goal: Goal, proof: Row) -> list[Fact]:
    facts = [Fact(f"{goal.id}.status", LEDGER, goal.status)]
    if goal.evidence:
        facts.append(Fact(f"{goal.id}.evidence", LEDGER, clip(goal.evidence, 200)))
    facts += _receipt_facts(run, plan, goal)
    facts.append(Fact("blockers open", LEDGER, proof["open_blockers"]))
    return [*facts, *_facts("tool_status", run), *_facts("problems", run)]


def _receipt_facts(run: PlanRun, plan: Plan, goal: Goal) -> list[Fact]:
    receipt = goal.receipt
    if not isinstance(receipt, dict):
        return [Fact("receipt", LEDGER, "none")]
    digest = str(receipt.get("qualityGateHash"))
    is_kept = os.path.exists(receipts.gate_file(run.directory, digest))
    issued = f"{receipt.get('receiptKind')} {receipt.get('receiptId')} of {receipt.get('verifiedAt')}"
    changed = _changed_parts(receipt.get("basis"), receipts.basis_of(plan, goal))
    facts = [
        Fact("receipt", LEDGER, issued),
        Fact("changed since the receipt", LEDGER, changed),
        Fact("quality gate behind it", receipts.gate_file("ultragoal", digest), "kept" if is_kept else "gone"),
        Fact("independence", LEDGER, receipt.get("independence")),
    ]
    if receipts.is_final(goal):
        covers = receipts.final_problem(plan, goal, run.directory) or "yes"
        facts.append(Fact("covers the plan", LEDGER, covers))
    return facts


def _changed_parts(then: object, now: Row) -> list[str]:
    """Which part of what the receipt covers is not as it was."""
    if not isinstance(then, dict):
        return ["the receipt names no basis"]
    old, new = _flat(then), _flat(now)
    return [key for key in sorted(old.keys() | new.keys()) if old.get(key) != new.get(key)]


def _flat(basis: Row) -> Row:
    flat = {key: value for key, value in basis.items() if key != "goal"}
    goal = basis.get("goal")
    if isinstance(goal, dict):
        flat |= {f"goal.{key}": value for key, value in goal.items()}
    return flat


def _facts(name: str, run: PlanRun) -> list[Fact]:
    """The facts behind a name in `reads` of a rule of next_step."""
    plan, tool = run.plan, run.tool
    if name == "problems":
        return [Fact("ledger", LEDGER, clip(run.problems[0], 200) if run.problems else "whole")]
    if name == "plan":
        return [Fact("plan", LEDGER, plan.run if plan else "none")]
    if name == "tool_status":
        status = Fact("session's goal", GOAL_TOOL, tool.status or "none")
        return [status, Fact("its objective", GOAL_TOOL, clip(tool.objective, 160))]
    if name == "tool_problems":
        return [Fact("session's goal", GOAL_TOOL, clip(tool.problems[0], 200) if tool.problems else "whole")]
    if name == "evidence_problems":
        problems = run.evidence_problems
        return [Fact("evidence", "evidence/ledger.jsonl", clip(problems[0], 200) if problems else "whole")]
    if name == "elsewhere":
        return [Fact("belongs elsewhere", LEDGER, clip(run.elsewhere, 200))]
    if name == "handed_off":
        return [Fact("handed off", "runtime.local.json", clip(run.handed_off, 200))]
    if name == "final":
        carrier = receipts.final(plan, run.directory) if plan else None
        return [Fact("final receipt", LEDGER, f"fresh, with {carrier.id}" if carrier else "none that is fresh")]
    facts = []
    if name == "goals":
        for goal in plan.goals if plan else []:
            facts.append(Fact(f"{goal.id}.status", LEDGER, goal.status))
    if name == "receipts" and plan is not None:
        for goal in plan.required:
            proof = _proof(run, plan, goal)
            why = f", {proof['stale_because']}" if proof["stale_because"] else ""
            facts.append(Fact(f"{goal.id}.receipt", LEDGER, f"{proof['receipt'] or 'none'}{why}"))
    return facts
