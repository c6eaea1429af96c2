"""`omo ultragoal`: durable plans of several goals, each closed only by a receipt that its quality gate issued."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from omo import options, safe_open
from omo.context import Context
from omo.errors import BadInput
from omo.result import Result
from omo.text import clip, counted
from omo.work import briefs, gates
from omo.work.lifecycle import left_by_others, left_elsewhere, notes_of_start
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import create, evidence_verbs, goal_tool, goals, results
from omo.workflows.ultragoal.brief import parse
from omo.workflows.ultragoal.flow import FLOW
from omo.workflows.ultragoal.next_step import next_step
from omo.workflows.ultragoal.plan import MODES, STEERING, Goal
from omo.workflows.ultragoal.reviewers import review_brief
from omo.workflows.ultragoal.run import PlanRun, run_of, writes
from omo.workflows.ultragoal.session_goal import NONE

if TYPE_CHECKING:
    from omo.workflows.ultragoal.gate.proof import GateSubject

LARGEST_BRIEF = 1_000_000
REVIEW_MODES = ("review-only", "review-start")
PRICE = "Each goal is looked at by three agents (omo:critic, omo:architect, omo:qa) before it is closed: tell the user."
GOAL_JSON = ("--goal-json", "--gjc-goal-json")
CLASSIFICATIONS = ("human_blocked", "resolvable")
ALLOWS = {
    "human_blocked": "omo goal pause is allowed while this is the latest row of the ledger",
    "resolvable": "noted for the record; it allows nothing, so the work goes on",
}


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "ultragoal")
    parser = options.command(verbs, "create-goals", "turn a brief into a plan", writes(create_goals))
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--brief", metavar="TEXT", help="goals begin with @goal: TITLE at the start of a line")
    given.add_argument("--brief-file", metavar="FILE")
    given.add_argument("--from-stdin", action="store_true")
    mode = parser.add_argument("--goal-mode", "--gjc-goal-mode", default=MODES[0], choices=MODES)
    mode.help = "default: aggregate"
    parser.add_argument("--start", action="store_true", help="and hand out its first goal, as complete-goals does")
    parser.add_argument("--force", action="store_true", help="archive an unfinished plan and begin anew")
    parser = options.command(verbs, "complete-goals", "hand out the goal to work on now", writes(complete_goals))
    about = "try a failed goal again where nothing else is left"
    parser.add_argument("--retry-failed", action="store_true", help=about)
    parser.add_argument("--retry-blocked", action="store_true", help="the same for a blocked one")
    about = "what a reviewer of a goal is asked, for that agent to read as its whole prompt"
    parser = options.command(verbs, "brief", about, brief)
    parser.add_argument("role", choices=FLOW.briefed)
    parser.add_argument("--goal-id", metavar="G", help="default: the one under way")
    options.command(verbs, "status", "the plan, its goals and receipts, and the next step", status)
    about = "record how a goal came out; complete runs the gates, fills its quality gate in and names what is missing"
    parser = options.command(verbs, "checkpoint", about, writes(checkpoint))
    parser.add_argument("--goal-id", metavar="G", help="default: the one under way")
    parser.add_argument("--status", default="complete", choices=("complete", "failed", "blocked"))
    parser.add_argument("--evidence", required=True, metavar="TEXT", help="what was seen, in a few sentences")
    parser.add_argument(*GOAL_JSON, metavar="JSON|FILE", help="omo goal get --json; compared with the live goal")
    parser.add_argument("--quality-gate-json", metavar="JSON|FILE", help="a gate of your own; docs/quality-gate.md")
    about = "after --; run and recorded first, as omo evidence replay does"
    parser.add_argument("argv", nargs="*", metavar="COMMAND", help=about)
    _register_steering(verbs)
    _register_gate_and_review(verbs)


def _register_steering(verbs: options.Commands) -> None:
    parser = options.command(verbs, "steer", "change the cut into goals; every attempt is recorded", writes(steer))
    # Nothing is required here, and nothing unknown: an attempt that lacks something, or asks in other words, is refused
    # and recorded like any other.
    parser.set_defaults(unknown="")
    parser.add_argument("--kind", default="", metavar="KIND", help=f"one of {', '.join(STEERING)}")
    parser.add_argument("--evidence", metavar="TEXT", help="what was seen")
    parser.add_argument("--rationale", metavar="TEXT", help="why this follows from it")
    parser.add_argument("--goal-id", metavar="G")
    parser.add_argument("--title", metavar="TEXT")
    parser.add_argument("--objective", metavar="TEXT")
    parser.add_argument("--replacements-json", metavar="JSON|FILE", help="[{title, objective}, …], two or more")
    parser.add_argument("--order-json", metavar="JSON|FILE", help="every pending goal once, in the new order")
    about = "say who can remove what is in the way"
    parser = options.command(verbs, "classify-blocker", about, writes(classify_blocker))
    parser.add_argument("--classification", required=True, choices=CLASSIFICATIONS)
    parser.add_argument("--evidence", required=True, metavar="TEXT", help="what is missing, and who can do it")
    parser.add_argument("--goal-id", metavar="G")
    about = "keep what a review found as a goal that resolves it"
    parser = options.command(verbs, "record-review-blockers", about, writes(record_review_blockers))
    parser.add_argument("--goal-id", required=True, metavar="G", help="the goal that was reviewed")
    parser.add_argument("--objective", required=True, metavar="TEXT", help="what has to hold")
    parser.add_argument("--evidence", required=True, metavar="TEXT", help="what the review found")
    parser.add_argument("--title", metavar="TEXT")
    parser.add_argument(*GOAL_JSON, metavar="JSON|FILE", help="omo goal get --json; compared with the live goal")


def _register_gate_and_review(verbs: options.Commands) -> None:
    gate = options.group(verbs, "gate", "the quality gate of a goal: init")
    about = f"write the gate as far as omo can fill it in: {evidence_verbs.HOME}/ID/gate.json"
    parser = options.command(gate, "init", about, gate_init)
    parser.add_argument("--goal-id", metavar="ID", help="default: the one under way")
    about = "hold a pull request, a branch or the working tree against the gate: 0 pass, 3 fail, 4 inconclusive"
    parser = options.command(verbs, "review", about, review)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--pr", type=int, metavar="N", help="a pull request, asked for with gh")
    source.add_argument("--branch", metavar="REF", help="a branch; without either: the working tree")
    parser.add_argument("--spec", metavar="FILE", help="the contract: 3 acceptance statements and 40 words at least")
    help_text = "review-start makes goals of the findings"
    parser.add_argument("--mode", default=REVIEW_MODES[0], choices=REVIEW_MODES, help=help_text)
    parser.add_argument("--executor-qa-json", metavar="JSON|FILE", help="executorQa as in the gate")


def create_goals(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    notes = notes_of_start(FLOW.name, "a plan of goals", run.caller, context)
    brief = parse(_brief(arguments, context, run))
    run = create.create_goals(run, brief, mode=arguments.goal_mode, force=arguments.force)
    plan = run.require_plan()
    if run.archived:
        notes.append(f"the earlier plan is kept as {run.archived}")
    ids = [goal.id for goal in plan.goals]
    data = {
        "goals_count": len(ids),
        "goal_ids": ids,
        "goals_path": run.snapshot,
        "objective": plan.objective,
        "goal_mode": plan.goal_mode,
        "archived": run.archived or None,
    }
    lines = [f"Plan with {counted(len(ids), 'goal')}: {run.snapshot}"]
    lines += [f"  {goal.id} {clip(goal.title, 100)}" for goal in plan.goals]
    lines.append(PRICE)
    if not arguments.start:
        return results.answer(run, data, "\n".join(lines), notes)
    goals.hand_out(run)
    started = results.handout(run, True, notes)
    return Result({**data, **started.data}, "\n".join([*lines, started.text]), notes=notes)


def _brief(arguments: argparse.Namespace, context: Context, run: PlanRun) -> str:
    if arguments.brief is not None:
        return str(arguments.brief)
    if arguments.from_stdin:
        return sys.stdin.read(LARGEST_BRIEF + 1)
    path = Path(context.cwd, arguments.brief_file)
    try:
        content = safe_open.read_file(path, LARGEST_BRIEF, follow_link=True)
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"--brief-file {arguments.brief_file}: {why}", fix="name a readable UTF-8 text file") from None
    create.require_as_named(run, str(path), content)
    return text


def complete_goals(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    notes = []
    started = goals.hand_out(run, retry_failed=arguments.retry_failed, retry_blocked=arguments.retry_blocked)
    plan, tool = run.require_plan(), run.require_plan().tool
    if plan.is_open and tool.status in (NONE, "complete"):
        goal_tool.operate("create", run)
        notes.append("the session's goal was created")
    elif plan.is_open and tool.status == "paused" and tool.objective in plan.objectives_of(plan.active):
        goal_tool.operate("resume", run)
        notes.append("the session's goal was paused and is active again")
    return results.handout(run, started, notes)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    if run.plan is not None:
        from omo.engine import show

        shown = show.status_of(run, Viewer(context, run.caller.session, caller=run.caller))
        return results.status(run, run.plan, shown.believed)
    others, step = [], next_step(run)
    if not run.problems:
        others = left_by_others("ultragoal", run.caller)
        step = left_elsewhere("ultragoal", "a plan of goals", run.caller) or step
    notes = list(run.damage_lines)
    data = {"exists": False, "status": "missing", "resumable": others, "problems": notes, "next": step.data}
    return Result(data, f"No ultragoal plan in this session. Next: {step.text}", notes=notes)


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    run = run_of(arguments, context, looks=True)
    goal = _goal_to_show(run, arguments)
    text = review_brief(run, goal, arguments.role)
    briefs.issue(run.caller, f"omo:{arguments.role}", text)
    return Result({"goal_id": goal.id, "role": arguments.role, "brief": text}, text)


def _goal_to_show(run: PlanRun, arguments: argparse.Namespace) -> Goal:
    """Return the goal that is named, else the one that comes next: what no receipt covers any more is shown again."""
    return run.named_goal(arguments.goal_id or next_step(run).item)


def checkpoint(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultragoal import checkpoint as checkpoints
    from omo.workflows.ultragoal.gate import models

    goal_json = _goal_json(arguments, context)
    gate, gate_file = None, ""
    if arguments.quality_gate_json is not None:
        gate = models.load(arguments.quality_gate_json, context.cwd)
        # Its path in the project: it tells of the work, and is none of it.
        gate_file = os.path.relpath(os.path.join(context.cwd, arguments.quality_gate_json), context.root)
    is_complete = arguments.status == "complete"
    if arguments.argv and (gate is not None or not is_complete):
        raise BadInput("a COMMAND shows a goal that is complete, in the gate that omo fills in", fix="leave it out")
    if gate is not None and not is_complete:
        raise BadInput("--quality-gate-json belongs to --status complete", fix="leave it out")
    name = run.named_goal(arguments.goal_id).id
    if not is_complete:
        changed = goals.set_back(run, name, arguments.status, arguments.evidence, goal_json)
        return results.checkpointed(run, checkpoints.Done(run.require_plan().goal(name), changed))
    done = checkpoints.complete(
        run,
        name,
        arguments.evidence,
        goal_json=goal_json,
        gate=gate,
        gate_file=gate_file,
        rerun=lambda subject, settled: _rerun(context, run, subject, arguments.argv, settled),
    )
    return results.checkpointed(run, done)


def _rerun(context: Context, run: PlanRun, subject: GateSubject, argv: list[str], settled: Collection[str]) -> str:
    """Run on the files as they are now what is to show the goal: the session's gates, but for those that are `settled`,
    and the given command. Return why that shows nothing, if it does not."""
    from omo.work import gate_runner
    from omo.workflows.ultragoal.gate.proof import gate_problem
    from omo.workflows.ultragoal.gate.replay import no_success

    cwd = os.path.relpath(os.path.realpath(context.cwd), os.path.realpath(context.root))
    for gate in subject.gates or ():
        if gate.name not in settled and gate_problem(subject, gate, ()):
            gate_runner.run_gates(context, run.caller.session, gate.name)
    if not argv:
        return ""
    run.caller.forget()
    for gate in gates.of_caller(run.caller):
        if (gate.argv, gate.cwd) == (argv, cwd) and not gate_problem(subject, gate, ()):
            return ""  # it shows the goal as a gate, and is not run twice
    _, record = evidence_verbs.record_run(context, run, subject.name, argv)
    return no_success(argv, record["expectedExitCode"])


def _goal_json(arguments: argparse.Namespace, context: Context) -> object:
    if arguments.goal_json is None:
        return None
    from omo.proof import documents  # a YAML parser is behind it, which a status does not need

    return documents.of_option(arguments.goal_json, context.cwd, "--goal-json")


def steer(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultragoal import steering

    options = {name: getattr(arguments, name) for name in ("evidence", "rationale", "goal_id", "title", "objective")}
    options |= {"replacements": arguments.replacements_json, "order": arguments.order_json}
    options["unknown"] = arguments.unknown or None
    given = {name: value for name, value in options.items() if value is not None}
    return results.steered(run, steering.steer(run, arguments.kind, given, context.cwd))


def classify_blocker(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    row = goals.classify(run, arguments.classification, evidence=arguments.evidence, goal_id=arguments.goal_id)
    allows = ALLOWS[row["classification"]]
    data = {
        "event": row["kind"],
        "classification": row["classification"],
        "goal_id": row.get("goalId"),
        "allows": allows,
    }
    return results.answer(run, data, f"Recorded as {row['classification']}: {allows}.")


def record_review_blockers(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    done = goals.record_review_blockers(
        run,
        arguments.goal_id,
        objective=arguments.objective,
        evidence=arguments.evidence,
        title=arguments.title,
        goal_json=_goal_json(arguments, context),
    )
    data = {
        "goal_id": done.goal.id,
        "blocked_goal_id": done.parent.id,
        "blocked_goal_status": done.parent.status,
        "deduplicated": done.deduplicated,
        "goals_path": run.snapshot,
    }
    how = "is there already and resolves" if done.deduplicated else "was added and resolves"
    text = f"{done.goal.id} {how} the review of {done.parent.id}, which is {done.parent.status}"
    return results.answer(run, data, text)


def gate_init(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultragoal.checkpoint import filled_gate

    run = run_of(arguments, context, looks=True)
    goal = _goal_to_show(run, arguments)
    filled = filled_gate(run, goal)
    path = evidence_verbs.write(context, goal.id, "gate.json", filled.document)
    then = f"omo ultragoal checkpoint --goal-id {goal.id} --evidence TEXT --quality-gate-json {shlex.quote(path)}"
    missing = [str(defect) for defect in filled.missing]
    lines = [f"The gate of {goal.id}, as far as omo can fill it in: {path}", *(f"  - {part}" for part in missing)]
    data = {"goal": goal.id, "path": path, "missing": missing, "next": then}
    return Result(data, "\n".join([*lines, f"Then: {then}"]))


def review(arguments: argparse.Namespace, context: Context) -> Result:
    is_start = arguments.mode == "review-start"
    if not is_start:  # a verdict alone belongs to no session, so none has to be known
        arguments.session = arguments.session or context.named_session or "review"
        return _review(run_of(arguments, context), arguments, context)
    return writes(_review)(arguments, context)


def _review(run: PlanRun, arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.ultragoal import review as reviews
    from omo.workflows.ultragoal.gate import models
    from omo.workflows.ultragoal.source import find_source

    root = Path(context.root)
    source = find_source(root, pr=arguments.pr, branch=arguments.branch, environ=context.environ)
    spec = executor_qa = None
    if arguments.spec is not None:
        spec = reviews.read_spec(root, arguments.spec, context.cwd)
    if arguments.executor_qa_json is not None:
        executor_qa = models.load(arguments.executor_qa_json, context.cwd, "--executor-qa-json")
    done = reviews.review(run, source, spec=spec, executor_qa=executor_qa)
    ids: list[str] = []
    if arguments.mode == "review-start":
        run, ids = reviews.start(run, done)
    following = run.publish().text if ids else ""
    return results.reviewed(done, arguments.mode, ids, following)
