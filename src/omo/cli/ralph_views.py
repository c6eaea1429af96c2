"""What `omo ralph` shows: a run as it begins and as it stands, its phases, a judgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from omo.cli.result import Result
from omo.evidence.checks import Check
from omo.ralph import brief, judge, replan
from omo.ralph import start as starting
from omo.ralph.standing import criteria_of
from omo.shown import clip, counted
from omo.state.runtime import part

if TYPE_CHECKING:
    from omo.ralph.judge import Judgement
    from omo.ralph.phases import PhaseReport
    from omo.ralph.standing import Standing
    from omo.work.status import NextStep

Row = dict[str, Any]

LONGEST_SHOWN = 400
NO_RUN: Row = {
    "run": None,
    "iteration": 0,
    "max_iterations": 0,
    "verdict": None,
    "decision": None,
    "criteria": [],
}


def begun(run: Standing, step: NextStep) -> Result:
    data = {
        "run": run.run,
        "base": run.base,
        "max_iterations": run.max_iterations,
        "reduced_scope": run.reduced_scope or None,
        "criteria": [criterion.data for criterion in run.criteria],
        "before": run.started["before"],
        "lessons": run.lessons,
        "after": run.after or None,
        "next": step.data,
    }
    most = counted(run.max_iterations, "iteration")
    lines = [f"Ralph run {run.run}: {criteria_of(len(run.criteria))}, at most {most}"]
    for criterion in run.criteria:
        now = f"now: {run.started['before'].get(criterion.id)}"
        if criterion.guard:
            now += ", a guard"
        earlier = part(run.started, "carried").get(criterion.id)
        if earlier:
            now += f"; failed before run {clip(str(earlier), 40)}, which was never judged to a pass"
        lines.append(f"  {criterion.id} {clip(criterion.description, 200)} ({now})")
        lines += [f"     {check.id}: {_method(check)}" for check in criterion.checks]
    blocked = run.lessons.get("blocked") or []
    if blocked:
        lines.append(f"Blocked in run {run.lessons.get('from_run')}:")
    for lesson in blocked:
        lines.append(f"  {lesson['id']} {lesson['description']}: {replan.quoted(lesson['evidence'])}")
    for lesson in run.lessons.get("overlap") or []:
        lines.append(f"  {lesson['id']} is {lesson['was']} of that run again; what was seen then goes with it")
    lines += [*replan.reductions(run), f"Next: show this to the user; then {step.command}"]
    return Result(data, "\n".join(lines))


def _method(check: Check) -> str:
    """How a check is decided, in a line."""
    fields = []
    for name, value in check.model_dump(mode="json", exclude={"id", "type", "guard"}).items():
        if value not in (None, "") and value is not False:
            fields.append(f"{name} {clip(str(value), 120)}")
    return clip(f"{check.type} {', '.join(fields)}", 300)


def facts(run: Standing) -> Row:
    return {
        "run": run.run,
        "state": f"ended: {run.ended.get('how')}" if run.ended else "open",
        "iteration": run.iteration,
        "max_iterations": run.max_iterations,
        "open_iteration": run.open_iteration,
        "judged": run.last_judged is not None,
        "verdict": run.verdict,
        "decision": run.decision,
        "reduced_scope": run.reduced_scope or None,
        "independence": run.independence,
        "after": run.after or None,
    }


def damaged(run: Standing, problems: list[str], step: NextStep) -> Result:
    """What such a ledger counts is nobody's to show: only that it was changed, and what to do about it."""
    empty: Row = dict.fromkeys(facts(run))
    empty |= {"criteria": [], "remaining": [], "phases": [], "receipt": None}
    data = {**empty, "run": run.run, "state": "damaged", "problems": problems, "next": step.data}
    return Result(data, f"Ralph run {run.run}: its ledger is damaged\nNext: {step.text}", notes=problems)


def status(run: Standing, step: NextStep) -> Result:
    edited = starting.edited(run) if run.started else ""
    data = {
        **facts(run),
        "criteria": [_criterion(run, criterion.id) for criterion in run.criteria],
        "remaining": run.remaining,
        "phases": [{"name": row["name"], "skipped": row["skipped"] or None} for row in run.phases],
        "circumventions": run.circumventions,
        "judge_calls": run.judge_calls,
        "receipt": (run.ended or {}).get("receipt"),
        "lessons": run.lessons,
        "edited": edited,
        "problems": [],
        "next": step.data,
    }
    state = "between rounds"
    if run.ended:
        state = f"ended ({run.ended.get('how')})"
    elif run.open_iteration:
        state = "iteration open"
    judged = f"verdict {run.verdict}, decision {run.decision}" if run.last_judged else "not judged yet"
    lines = [f"Ralph run {run.run}: {state}, iteration {run.iteration} of {run.max_iterations}, {judged}"]
    for entry in data["criteria"]:
        lines.append(f"  {entry['id']:4} {entry['status']:9} {_counts(entry)}{clip(entry['description'], 120)}")
    if run.circumventions:
        lines.append(f"  circumvented {counted(run.circumventions, 'time')}; three end the run")
    if edited:
        lines.append(f"  note: {edited}")
    return Result(data, "\n".join([*lines, *replan.reductions(run), f"Next: {step.text}"]))


def _criterion(run: Standing, name: str) -> Row:
    criterion, result = run.criterion(name), run.last_result(name)
    return {
        "id": name,
        **run.states[name].data,
        "description": criterion.description if criterion else "",
        "result": result.get("result"),
        "source": result.get("source"),
        "cached_from": result.get("cached_from"),
        "evidence": clip(str(result.get("evidence") or ""), 500),
    }


def _counts(entry: Row) -> str:
    counts = []
    if entry["fail_count"]:
        counts.append(f"failed {entry['fail_count']}x")
    if entry["regressions"]:
        counts.append(f"regressed {entry['regressions']}x")
    if entry["cached_from"]:
        counts.append(f"cached@{entry['cached_from']}")
    return f"({', '.join(counts)}) " if counts else ""


def phases(report: PhaseReport, run: Standing) -> Result:
    data = report.data
    proven = sum(proof.status == "present" for proof in report.proofs.values())
    lines = [f"Iteration {report.iteration}: {proven} of {len(report.proofs)} phases proven"]
    for phase, proof in report.proofs.items():
        lines.append(f"  {proof.status:14}{phase:8}{proof.text}")
    if run.reduced_scope:
        lines.append(f"Reduced scope: {clip(run.reduced_scope, 200)}")
    if report.remediation:
        lines.append(f"To do: {report.remediation}")
    if run.after:
        lines.append(f"It carries on, {run.after_text}")
    return Result(data, "\n".join(lines), 0 if report.ok else 3)


def judgement(judged: Judgement, run: Standing) -> Result:
    data = {
        "ok": judged.verdict == "pass",
        "run": judged.run,
        "iteration": judged.iteration,
        "max_iterations": judged.max_iterations,
        "verdict": judged.verdict,
        "decision": judged.decision or None,
        "independence": judged.independence,
        "criteria": judged.criteria,
        "remaining": judged.remaining,
        "challenges": judged.challenges,
        "gates": judged.gates,
        "unknown_calls": judged.unknown_calls,
        "notes": judged.notes,
        "next": judged.next or None,
        "after": run.after or None,
    }
    lines = [f"Iteration {judged.iteration} of {judged.max_iterations}: {judged.verdict}"]
    for entry in judged.criteria:
        evidence = clip(entry["evidence"], LONGEST_SHOWN)
        if entry["result"] not in ("pass", "fail"):
            evidence = f"unknown; {evidence}"
        lines.append(f"  {entry['id']:6}{entry['status']:10} {evidence} ({entry['source']})")
    if judged.remaining:
        lines.append("Remaining:")
    for entry in judged.remaining:
        parts = [f"  {entry['id']}: {entry['suggested_action'] or 'find out why'}"]
        if entry["regression"]:
            parts.append(f"passed in iteration {entry['previous_pass_iteration']} and broke since")
        if entry["next_failure_blocks"]:
            parts.append("failed twice in a row: the next failure blocks it")
        lines.append("; ".join(parts))
    for challenge in judged.challenges:
        lines.append(f"Challenge to {challenge['criterion']}: {clip(challenge['text'], LONGEST_SHOWN)}")
    if judged.gates:
        gates = ", ".join(f"{gate['name']} (pinned by the {gate['by']})" for gate in judged.gates)
        lines.append(f"Gates: {clip(gates, LONGEST_SHOWN)}")
    if judged.independence != "full":
        lines.append("Independence: reduced (judge-inline-fallback); tell the user")
    if not judged.is_closed:
        calls = f"call {judged.unknown_calls} of {brief.MOST_CALLS} that could not tell"
        lines.append(f"Not judged: {calls}; {judge.UNCOUNTED}")
    if judged.next:
        lines.append(f"Next: {judged.next}")
    if run.after:
        lines.append(f"It carries on, {run.after_text}")
    return Result(data, "\n".join(lines), judge.EXIT_CODES[judged.verdict], judged.notes)
