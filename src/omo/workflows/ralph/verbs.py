"""`omo ralph`: rounds of work against criteria that were pinned before it, each judged by facts.

What evaluates checks or reads documents brings pydantic along, so the two commands that need it import it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from omo import options
from omo.clock import seconds, stamp
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.result import Result
from omo.state import paths
from omo.state.rows import read_base
from omo.state.runtime import part
from omo.text import clip, counted
from omo.work import briefs, session
from omo.work.files import Files
from omo.work.lifecycle import left_elsewhere, put_aside_notes, require
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of, load, require_own
from omo.work.status import NextStep, units
from omo.workflows.ralph import end, phases
from omo.workflows.ralph.phases import PhaseReport
from omo.workflows.ralph.rules import (
    DEFAULT_ITERATIONS,
    MOST_ITERATIONS,
    PROVEN_BY,
    SMALL_CHANGE,
    Criterion,
    CriterionResult,
    method,
)
from omo.workflows.ralph.run import RALPH, RalphRun, RalphState
from omo.workflows.ralph.status import LONGEST_SHOWN, data_of, facts, findings, line_of, overrides, quoted

LARGEST_MESSAGE = 256 * 1024
ALL_PHASES = "Five phases, in this order, none abridged; omo sees each happen:"
FEWER_PHASES = "The user lets all but IMPL be left out:"
HOW_PROVEN = {"IMPL": "omo:executor, or you change the files", "SHIP": "omo ralph judge, which runs the gates"}
# What there is to do about a criterion of each status, in the order in which it is told. What passed and could not be
# told this time is to be judged again.
AGAIN = "to judge again"
STILL_JUDGED = ": no work on it; it is judged again all the same"
TITLES = {
    "REGRESSED": "Regressed: passed before, so look first at what changed since",
    "FAIL": "To fix",
    "PENDING": "Not judged yet",
    AGAIN: "To judge again: passed before, and the last judgement could not tell",
    "BLOCKED": "Blocked: do not retry; the user decides",
    "PASS": "Complete",
}


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ralph")
    starts = options.command(verbs, "start", "pin the criteria and begin a run with its first iteration", start)
    about = "criteria with their checks, JSON or YAML; without it those that the user named, else the project's own"
    starts.add_argument("--criteria", metavar="FILE", help=about)
    about = f"1 to {MOST_ITERATIONS}, {DEFAULT_ITERATIONS} without it"
    starts.add_argument("--max-iterations", type=int, default=DEFAULT_ITERATIONS, metavar="N", help=about)
    starts.add_argument(
        "--reduced-scope", default="", metavar="REASON", help="phases may be left out; the user's only, always shown"
    )
    starts.add_argument(
        "--request", default="", metavar="TEXT", help="what the user asked for, where they did not type /omo:ralph TEXT"
    )
    about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
    looks = _verb(verbs, "artifacts", about, artifacts)
    looks.add_argument("--newer-than", default="", metavar="ISO", help="leave out what was seen before that moment")
    about = "run the gates, have the judge asked, evaluate every criterion: 0 pass, 3 fail or partial, 4 not to be told"
    judges = _verb(verbs, "judge", about, judge)
    judges.add_argument(
        "--no-refine", default="", metavar="REASON", help=f"REFINE was left out, of changes under {SMALL_CHANGE} lines"
    )
    about = "the judge's message where no hook could report it (- reads stdin), which is not judged independently"
    judges.add_argument("--result", metavar="FILE", help=about)
    asks = _verb(verbs, "brief", "what the judge, QA or the critic is asked, for that agent to read", brief)
    asks.add_argument("role", nargs="?", default="judge", choices=("judge", "qa", "critic"), help="default: judge")
    _verb(verbs, "status", "where the run stands, and what comes next", status)
    gives_up = _verb(verbs, "abandon", "give the run up; the user is told if it was the agent", abandon)
    gives_up.add_argument("reason", metavar="REASON")


def _verb(verbs: options.Commands, name: str, about: str, handler: options.Run) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, about, handler)
    parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the session's own")
    return parser


def _run(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> RalphRun:
    """The run that is meant. Unless the command only looks, it has to be the agent's own, whatever --run says."""
    caller = caller_of(context, context.session(arguments.session, looks=looks))
    run = require(RALPH, caller, arguments.named)
    if not looks:
        require_own(run)
    if caller.summary(RALPH.name).get("run") != run.id:  # another session's: what was seen in that one counts
        run.caller = replace(caller, session=run.require_whole().session)
    return run


def start(arguments: argparse.Namespace, context: Context) -> Result:
    context.note_missing_agents()
    from omo.workflows.ralph import start as starting

    caller = caller_of(context, context.session(arguments.session))
    if other := left_elsewhere("ralph", "a ralph run", caller):
        context.notes.append(other.text)
    context.notes += session.cancelled_notes(caller.row())
    notes = put_aside_notes(caller, RALPH.name)
    run, step = starting.start(
        caller,
        Path(context.cwd, arguments.criteria) if arguments.criteria else None,
        cwd=paths.session_directory(context.environ, context.cwd),
        max_iterations=arguments.max_iterations,
        reduced_scope=arguments.reduced_scope,
        request=arguments.request,
    )
    state = run.require_whole()
    data = {**_data(state, step), "criteria": [criterion.data for criterion in state.criteria]}
    data |= {"base": state.base, "before": state.started["before"]}
    result = Result(data, "\n".join([*_started(state), f"Next: {step.text}"]), notes=notes)
    report = phases.check(run, Files(context.root))
    if "SHIP" in report.missing and not report.gates:
        result.notes.append(f"no gate is pinned in this session, and SHIP needs one: {phases.PIN}")
    if pin := _tests_to_pin(context, state, report):
        result.notes.append(f"it is proven only if the project's own tests pass beside the criteria: {pin}")
    return result


def _tests_to_pin(context: Context, state: RalphState, report: PhaseReport) -> str:
    """The command that makes the project's tests a gate, where code alone decides and none of its commands runs them:
    the end does not run what nobody pinned."""
    from omo.proof import own_commands
    from omo.workflows.ralph.criteria import commands_of
    from omo.workflows.ultrawork.gates import pin_line

    head = (read_base(state.started.get("files")) or {}).get("head")
    check = own_commands.test_gate(context.root, head, ".") if head and not state.questions else None
    if check is None:
        return ""
    for each in [*report.gates, *commands_of(state.criteria)]:
        if own_commands.covers(context.root, head, each.argv, each.cwd, check):
            return ""
    return pin_line(check, paths.session_directory(context.environ, context.cwd))


def _started(state: RalphState) -> list[str]:
    """What the user is shown: what the run is held to, what earlier runs left, and the phases of each round."""
    most = counted(state.max_iterations, "iteration")
    lines = [f"Ralph run {state.run}: {units(len(state.criteria), 'criterion')}, at most {most}"]
    for criterion in state.criteria:
        now = f"now: {state.started['before'].get(criterion.id)}"
        if criterion.guard:
            now += ", a guard"
        lines.append(f"  {criterion.id} {clip(criterion.description, 200)} ({now})")
        lines += [f"     {check['id']}: {method(check)}" for check in criterion.checks]
    for lesson in state.lessons:
        what = f"{lesson['id']} of run {lesson['from_run']}, {lesson['description']}"
        lines.append(f"Blocked before: {what}: {quoted(lesson['evidence'])}")
        for again in lesson["again"]:
            lines.append(f"  {again} is that again; what was seen then goes with it")
    statuses = ", ".join(f"{name} {status}" for name, status in part(state.after, "statuses").items())
    if statuses:
        lines.append(f"It left: {clip(statuses, 300)}")
    lines += _sentences([*facts(state), *overrides(state)])
    if state.source and not state.is_confirmed:
        lines.append(f"  Before a start, and not in this run, they confirm them: /omo:ralph {clip(state.source, 120)}")
    lines.append("Show this to the user. Iteration 1 is open.")
    lines.append(FEWER_PHASES if state.reduced_scope else ALL_PHASES)
    lines += [f"  {phase:7} {HOW_PROVEN.get(phase) or agent}" for phase, agent in PROVEN_BY.items()]
    return lines


def artifacts(arguments: argparse.Namespace, context: Context) -> Result:
    run = _run(arguments, context, looks=True)
    report = phases.check(run, Files(context.root), newer_than=_moment(arguments.newer_than))
    proven = sum(proof.status == phases.PRESENT for proof in report.proofs.values())
    lines = [f"Iteration {report.iteration}: {proven} of {len(report.proofs)} phases proven"]
    for phase, proof in report.proofs.items():
        lines.append(f"  {proof.status:14}{phase:8}{proof.text}")
    if report.remediation:
        lines.append(f"To do: {report.remediation}")
    state = run.require_whole()
    lines += _sentences([*facts(state), *overrides(state)])
    return Result(report.data, "\n".join(lines), 0 if report.ok else 3)


def _moment(text: str) -> str:
    """A time as ledgers write it; empty where none is given."""
    try:
        return stamp(seconds(text)) if text else ""
    except ValueError as error:
        raise BadInput(f"--newer-than: {error}", fix="for example 2026-02-22T17:20:01Z") from None


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ralph.asking import judge_brief, review_brief

    run = _run(arguments, context, looks=True)
    nonce = None
    if arguments.role == "judge":
        text, nonce = judge_brief(run)
    else:
        text = review_brief(run, arguments.role)
    briefs.issue(run.caller, f"omo:{arguments.role}", text)
    return Result({"nonce": nonce, "brief": text}, text)


def judge(arguments: argparse.Namespace, context: Context) -> Result:
    """What was found; and what the next iteration is about, where one was opened."""
    from omo.workflows.ralph import judge as judging

    given = None if arguments.result is None else _message(arguments.result, context)
    reopen_if_changed(caller_of(context, context.session(arguments.session)), RALPH.name)
    run = _run(arguments, context)
    if arguments.no_refine:
        phases.leave_out_refine(run, arguments.no_refine)
    try:
        judged = judging.judge(run, run_missing_gates(run, context), result_text=given)
    except Refused:
        end.publish(run)  # a crash may have left the session behind the ledger
        raise
    row, verdict, state, files = judged.row, judged.verdict, run.require_whole(), Files(context.root)
    lines = [f"Iteration {row['iteration']} of {state.max_iterations}: {verdict}", *to_do(state, row["results"], files)]
    for challenge in row.get("challenges", []):
        lines.append(f"Challenge to {challenge['criterion']}: {clip(challenge['text'], LONGEST_SHOWN)}")
    lines += _sentences(overrides(state))
    if not judged.is_closed:
        lines.append("Not judged: nobody could tell, and nothing was counted")
    elif state.is_open:
        lines.append(f"Iteration {state.iteration} is open, with the same phases.")
    lines.append(f"Next: {judged.next.text}")
    data = {
        **_data(state, judged.next),
        "criteria": [data_of(state, criterion, row["results"][criterion.id]) for criterion in state.criteria],
        "ok": verdict == "pass",
        "iteration": row["iteration"],
        "verdict": verdict,
        "decision": row.get("decision"),
        "independence": row["independence"],
        "challenges": row.get("challenges", []),
        "gates": row.get("gates", []),
        "notes": judged.notes,
    }
    return Result(data, "\n".join(lines), judging.EXIT_CODES[verdict], judged.notes)


def run_missing_gates(run: RalphRun, context: Context) -> Files:
    """The files to be judged. Where only the gates of the iteration are missing, they are run first; refused with what
    they print where one fails."""
    from omo.workflows.ultrawork.runs import run_gates

    files = Files(context.root)
    report = phases.check(run, files)
    is_shipped = report.proofs["SHIP"].status == phases.PRESENT
    if is_shipped or report.missing not in ([], ["SHIP"]) or not report.gates:
        return files
    ran = run_gates(context, run.caller.session)
    run.caller.forget()
    files = Files(context.root)
    if not phases.check(run, files).ok:
        what = f"iteration {report.iteration} is not judged yet: its gates do not pass; that is not counted against it"
        ask = "where it is not the work's, omo ulw blocked asks the user, who may type /omo:allow NAME"
        raise Refused(what, fix=f"mend that, then omo ralph judge; {ask}", defects=ran.lines)
    return files


def _message(named: str, context: Context) -> str:
    """The judge's message from stdin or a file. A file inside the tree changes what is judged, and is told."""
    from omo.proof import documents

    if named == "-":
        return sys.stdin.read(LARGEST_MESSAGE)
    path = os.path.join(context.cwd, named)
    fix = "name the file with the judge's message behind --result"
    return documents.read_text(path, LARGEST_MESSAGE, fix, follow_link=True)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    caller = caller_of(context, context.session(arguments.session, looks=True))
    run = load(RALPH, caller, arguments.named)
    if run is None:
        step = left_elsewhere("ralph", "a ralph run", caller) or end.next_step(None)
        return Result(_nothing_to_show(step, state="none"), f"No ralph run. Next: {step.text}")
    step = end.publish(run)
    if run.state is None or run.problems:
        data = _nothing_to_show(step, run=run.id, state="damaged", problems=run.problems)
        text = f"Ralph run {run.id}: its ledger is damaged\nNext: {step.text}"
        return Result(data, text, notes=run.problems)
    state = run.state
    lines = [f"Ralph run {run.id}: {state.headline}"]
    for criterion in state.criteria:
        lines.append(f"  {line_of(state, criterion, state.last_result(criterion.id))}")
    lines += _sentences([*facts(state), *overrides(state)])
    return Result(_data(state, step), "\n".join([*lines, f"Next: {step.text}"]))


def abandon(arguments: argparse.Namespace, context: Context) -> Result:
    run = _run(arguments, context)
    step = end.abandon(run, arguments.reason)
    state = run.require_whole()
    notes = ["the user is shown this at the next Stop"] if context.is_agent else []
    return Result(_data(state, step), f"Ralph run {run.id} is given up.", notes=notes)


# What is shown of a run


def _data(run: RalphState, step: NextStep) -> Json:
    """What every command says of a run."""
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
        "criteria": [data_of(run, criterion, run.last_result(criterion.id)) for criterion in run.criteria],
        "remaining": run.remaining,
        "circumventions": run.circumventions,
        "judge_calls": len(run.briefs),
        "receipt": (run.ended or {}).get("receipt"),
        "lessons": run.lessons,
        "problems": [],
        "next": step.data,
    }


def _nothing_to_show(step: NextStep, **known: object) -> Json:
    """The same where there is no run, or one whose ledger somebody changed: what that counts is nobody's to show."""
    lists: Json = {"criteria": [], "remaining": [], "problems": []}
    return {**dict.fromkeys(_data(RalphState(), step)), **lists, "next": step.data, **known}


def to_do(run: RalphState, results: dict[str, CriterionResult], files: Files) -> list[str]:
    """The criteria under what there is to do about them; what a judge or a tool said is quoted, so it reads as data."""
    grouped: dict[str, list[Criterion]] = {title: [] for title in TITLES.values()}
    for criterion in run.criteria:
        status = run.states[criterion.id].status
        if status == "PASS" and results[criterion.id].get("result") != "pass":
            status = AGAIN
        grouped[TITLES[status]].append(criterion)
    lines = []
    for title, group in grouped.items():
        if group:
            again = STILL_JUDGED if title == TITLES["PASS"] and run.is_open else ""
            lines.append(f"{title}{again} ({len(group)})")
        for criterion in group:
            result = results[criterion.id]
            lines.append(f"  {line_of(run, criterion, result)}")
            lines += [f"     {line}" for line in findings(run, criterion, result, files)]
    return lines


def _sentences(facts: Sequence[str]) -> list[str]:
    return [f"{line[0].upper()}{line[1:]}." for line in facts]
