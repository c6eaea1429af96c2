"""What `omo ralph` shows: a run as it begins and as it stands, its phases, a judgement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from omo.cli.result import Result
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work.status import units
from omo.workflows.ralph.iteration import LONGEST_SHOWN, findings, quoted
from omo.workflows.ralph.rules import LONGEST_REQUEST, PROVEN_BY, Row, method
from omo.workflows.ralph.run import RalphState

if TYPE_CHECKING:
    from omo.work.status import NextStep
    from omo.workflows.ralph.judge import Judgement
    from omo.workflows.ralph.phases import PhaseReport

LONGEST_PASS = 100
TITLES = {
    "regressed": "Regressed: passed before, so look first at what changed since",
    "to_fix": "To fix",
    "to_judge_again": "To judge again: passed before, and the last judgement could not tell",
    "complete": "Complete: do not work on it; it is judged again all the same",
    "blocked": "Blocked: do not retry; the user decides",
}
ALL_PHASES = "Five phases, in this order, none abridged; omo sees each happen:"
FEWER_PHASES = "The user lets all but IMPL be left out:"
HOW_PROVEN = {
    "IMPL": "omo:executor, or you change the files",
    "SHIP": "omo ralph judge, which runs the gates",
}


def begun(run: RalphState, step: NextStep) -> Result:
    data = {
        **facts(run),
        "base": run.base,
        "criteria": [criterion.data for criterion in run.criteria],
        "before": run.started["before"],
        "lessons": run.lessons,
        "next": step.data,
    }
    most = counted(run.max_iterations, "iteration")
    lines = [f"Ralph run {run.run}: {units(len(run.criteria), 'criterion')}, at most {most}"]
    for criterion in run.criteria:
        now = f"now: {run.started['before'].get(criterion.id)}"
        if criterion.guard:
            now += ", a guard"
        if criterion.id in run.started["carried"]:
            now += "; it failed before the last run, which did not pass"
        lines.append(f"  {criterion.id} {clip(criterion.description, 200)} ({now})")
        lines += [f"     {check['id']}: {method(check)}" for check in criterion.checks]
    for lesson in run.lessons:
        what = f"{lesson['id']} of run {lesson['from_run']}, {lesson['description']}"
        lines.append(f"Blocked before: {what}: {quoted(lesson['evidence'])}")
        for again in lesson["again"]:
            lines.append(f"  {again} is that again; what was seen then goes with it")
    statuses = ", ".join(f"{name} {status}" for name, status in part(run.after, "statuses").items())
    if statuses:
        lines.append(f"It left: {clip(statuses, 300)}")
    lines += [*asked_for(run), whose_criteria(run)]
    if run.source and not run.is_confirmed:
        lines.append(f"  They confirm them by typing, before the start: /omo:ralph {clip(run.source, 120)}")
    lines += [*reductions(run), "Show this to the user. Iteration 1 is open.", *order(run), f"Next: {step.text}"]
    return Result(data, "\n".join(lines))


def asked_for(run: RalphState) -> list[str]:
    """What the user asked for, in their words; never lost to a compaction."""
    return [f"The user asked for, {run.whose_request}: {quoted(run.request, LONGEST_REQUEST)}"] if run.request else []


def whose_criteria(run: RalphState) -> str:
    return f"{run.whose_criteria[0].upper()}{run.whose_criteria[1:]}."


def facts(run: RalphState) -> Row:
    return {
        "run": run.run,
        "state": f"ended: {run.how}" if run.ended else "open",
        "iteration": run.iteration,
        "max_iterations": run.max_iterations,
        "judged": bool(run.judged),
        "verdict": run.verdict,
        "decision": run.decision,
        "reduced_scope": run.reduced_scope or None,
        "independence": run.independence,
        "request": run.request or None,
        "confirmed": run.is_confirmed,
        "after": run.after or None,
    }


def nothing(
    text: str, step: NextStep, *, run: str | None = None, state: str = "none", problems: Sequence[str] = ()
) -> Result:
    """No run, or one whose ledger was changed: what such a ledger counts is nobody's to show."""
    data: Row = {
        **dict.fromkeys(facts(RalphState())),
        "run": run,
        "state": state,
        "criteria": [],
        "remaining": [],
        "receipt": None,
        "problems": list(problems),
        "next": step.data,
    }
    return Result(data, text, notes=list(problems))


def status(run: RalphState, step: NextStep) -> Result:
    edited = run.source_edited
    data = {
        **facts(run),
        "criteria": [run.entry(criterion) for criterion in run.criteria],
        "remaining": run.remaining,
        "circumventions": run.circumventions,
        "judge_calls": len(run.briefs),
        "receipt": (run.ended or {}).get("receipt"),
        "lessons": run.lessons,
        "edited": edited,
        "problems": [],
        "next": step.data,
    }
    lines = [f"Ralph run {run.run}: {run.headline}"]
    for entry in data["criteria"]:
        lines.append(f"  {entry['id']:4} {entry['status']:9}{_noted(run, entry)} {clip(entry['description'], 120)}")
    if run.circumventions:
        lines.append(f"  circumvented {counted(run.circumventions, 'time')}; three end the run")
    if edited:
        lines.append(f"  note: {edited}")
    lines += [*asked_for(run), whose_criteria(run)]
    return Result(data, "\n".join([*lines, *reductions(run), f"Next: {step.text}"]))


def to_do(grouped: dict[str, list[Row]], state: RalphState) -> list[str]:
    """What to do next, for a person and a model; what a judge or a tool said is quoted, so it reads as data."""
    shown = []
    for name, entries in grouped.items():
        if entries:
            shown.append(f"{TITLES[name]} ({len(entries)})")
        for entry in entries:
            shown.append(f"  {entry['id']} {entry['status']}{_noted(state, entry)}: {clip(entry['description'], 200)}")
            shown += [f"     {line}" for line in findings(entry)]
    return [*shown, *reductions(state)]


def _noted(run: RalphState, entry: Row) -> str:
    """` (failed 2 in a row, cached@3)`; empty where there is nothing to note."""
    notes = run.states[entry["id"]].counts
    if entry["status"] == "REGRESSED":
        notes.append(f"passed in iteration {entry['last_pass_iteration']}")
    if entry["cached_from"]:
        notes.append(f"cached@{entry['cached_from']}")
    return f" ({', '.join(notes)})" if notes else ""


def reductions(state: RalphState) -> list[str]:
    """What every report has to say."""
    shown = []
    if state.after:
        shown.append(f"It carries on, {state.after_text}")
    if state.reduced_scope:
        shown.append(f"Reduced scope, authorised by the user: {quoted(state.reduced_scope)}")
    if state.reduced_iterations:
        rounds = ", ".join(map(str, state.reduced_iterations))
        shown.append(f"Reduced independence: no hook saw the judge of iteration {rounds} say it")
    return shown


def order(state: RalphState) -> list[str]:
    """The five phases of an iteration, with what proves each."""
    shown = [FEWER_PHASES if state.reduced_scope else ALL_PHASES]
    for phase, agent in PROVEN_BY.items():
        shown.append(f"  {phase:7} {HOW_PROVEN.get(phase) or agent}")
    return shown


def phases(report: PhaseReport, run: RalphState) -> Result:
    data = report.data
    proven = sum(proof.status == "present" for proof in report.proofs.values())
    lines = [f"Iteration {report.iteration}: {proven} of {len(report.proofs)} phases proven"]
    for phase, proof in report.proofs.items():
        lines.append(f"  {proof.status:14}{phase:8}{proof.text}")
    if report.remediation:
        lines.append(f"To do: {report.remediation}")
    lines += reductions(run)
    return Result(data, "\n".join(lines), 0 if report.ok else 3)


def judgement(judged: Judgement, run: RalphState, grouped: dict[str, list[Row]]) -> Result:
    """What was found, and unless the run is over or nobody could tell, what the iteration is about that it opened."""
    from omo.workflows.ralph.brief import MOST_CALLS
    from omo.workflows.ralph.judge import EXIT_CODES, UNCOUNTED

    data = {
        "ok": judged.verdict == "pass",
        "run": run.run,
        "iteration": judged.iteration,
        "max_iterations": run.max_iterations,
        "verdict": judged.verdict,
        "decision": judged.decision or None,
        "independence": judged.independence,
        "criteria": judged.criteria,
        "remaining": judged.remaining,
        **grouped,
        "challenges": judged.challenges,
        "gates": judged.gates,
        "unknown_calls": judged.unknown_calls,
        "notes": judged.notes,
        "next": judged.next or None,
        "after": run.after or None,
    }
    lines = [f"Iteration {judged.iteration} of {run.max_iterations}: {judged.verdict}"]
    is_next_open = judged.is_closed and run.is_open
    for entry in judged.criteria:
        evidence = clip(entry["evidence"], LONGEST_SHOWN if entry["result"] != "pass" else LONGEST_PASS)
        if entry["result"] not in ("pass", "fail"):
            evidence = f"unknown; {evidence}"
        if is_next_open and entry["result"] != "pass":
            evidence = "see below"
        lines.append(f"  {entry['id']:6}{entry['status']:10} {evidence} ({entry['source']})")
    for challenge in judged.challenges:
        lines.append(f"Challenge to {challenge['criterion']}: {clip(challenge['text'], LONGEST_SHOWN)}")
    if judged.gates:
        gates = ", ".join(f"{gate['name']} (pinned by the {gate['by']})" for gate in judged.gates)
        lines.append(f"Gates: {clip(gates, LONGEST_SHOWN)}")
    if judged.independence != "full":
        lines.append("Independence: reduced (judge-inline-fallback); tell the user")
    if not judged.is_closed:
        calls = f"call {judged.unknown_calls} of {MOST_CALLS} that could not tell"
        lines.append(f"Not judged: {calls}; {UNCOUNTED}")
    if is_next_open:
        lines.append(f"Iteration {run.iteration} is open, with the same phases.")
        lines += to_do({name: entries for name, entries in grouped.items() if name != "complete"}, run)
    elif run.after:
        lines.append(f"It carries on, {run.after_text}")
    if judged.next:
        lines.append(f"Next: {judged.next}")
    return Result(data, "\n".join(lines), EXIT_CODES[judged.verdict], judged.notes)
