"""`omo verify`: file goals, begin them, answer what their checks cannot say, and finish them by a computed verdict."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from omo.cli import options, verify_checks, verify_claim
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput, Refused
from omo.evidence import artifacts, documents
from omo.hooks import session
from omo.shown import clip
from omo.state import store
from omo.verify import (
    claims,
    decision,
    goal_checks,
    goal_file,
    goals,
    lessons,
    opening,
    questions,
    refiling,
    replies,
    session_summary,
    steps,
    streaks,
)
from omo.verify import finish as finishing
from omo.verify import unblock as unblocking


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "verify", "goals and the proof that they are met: checks, questions, claims")
    add_parser = options.command(verbs, "add", "file a goal and pin its checks; tells every defect", add)
    add_parser.add_argument("--file", required=True, metavar="GOAL", help="JSON or YAML; docs/verify.md shows one")
    add_parser.add_argument(
        "--reason", default="", metavar="TEXT", help="why a goal that has been begun is filed with other content"
    )
    begin_parser = _of_goal(verbs, "begin", "begin or resume a goal: what went wrong before, and what it owes", begin)
    begin_parser.add_argument("--again", default="", metavar="WHY", help="the user's: reopen what is over or exhausted")
    answer_parser = _of_goal(verbs, "answer", "answer one question of a goal", answer)
    answer_parser.add_argument("--question", required=True, choices=list(replies.MODELS), metavar="Q", help=_asked())
    answer_parser.add_argument(
        "--file", required=True, metavar="FILE", help="the answer as JSON; - reads it from stdin"
    )
    finish_parser = _of_goal(
        verbs, "finish", "evaluate again and conclude: exit 0 pass, 3 fail, 4 not decided yet", finish
    )
    _summary(finish_parser)
    finish_parser.add_argument("--learned", default="", metavar="TEXT", help="if it fails: what was learned")
    finish_parser.add_argument(
        "--hypothesis-result",
        type=str.lower,
        choices=decision.RESULTS,
        help="for a goal with a hypothesis: how that came out",
    )
    _of_goal(verbs, "status", "where a goal stands, or all of them", status, one=False)
    streak_parser = _of_goal(verbs, "streak", "a recurring goal's streak", streak)
    streak_parser.add_argument("--achieved", action="store_true", help="count it as achieved now, if its checks pass")
    _summary(_of_goal(verbs, "unblock", "hand a passed goal's output to the goals that wait for it", unblock))
    options.command(verbs, "repair", "keep a damaged journal aside and begin an empty one", repair, session=False)
    verify_checks.register(verbs)
    verify_claim.register(verbs)


def _of_goal(
    verbs: options.Commands, name: str, about: str, run: options.Run, *, one: bool = True
) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, about, run)
    parser.add_argument("goal", metavar="GOAL", help="the goal's id", nargs=None if one else "?")
    return parser


def _asked() -> str:
    return ", ".join(replies.MODELS)


def _summary(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--summary", required=True, metavar="TEXT", help="one factual line, 200 characters at most")


def add(arguments: argparse.Namespace, context: Context) -> Result:
    place = _place(context)
    spec = goal_file.parse_goal(_read(arguments.file, context), arguments.file)
    source = _in_project(arguments.file, context) or ""
    goal, report = opening.add(place, spec, source=source, reason=arguments.reason)
    _tell(place, context, arguments)
    data = {**_brief(goal), "pinned": report.added, "vacuous": report.vacuous, "by": place.by}
    lines = [f"Goal {goal.id} filed by the {place.by}: {goal.status}, {len(report.verdict.checks)} checks."]
    lines += [f"  already passes, proves nothing by itself: {name}" for name in report.vacuous]
    fix = f"omo verify begin {goal.id}" if goal.status == "pending" else f"omo verify status {goal.id}"
    return Result({**data, "next": fix}, "\n".join([*lines, f"Next: {fix}"]), notes=_unknown_notes(place, spec))


def _unknown_notes(place: goals.Place, spec: goal_file.GoalFile) -> list[str]:
    filed = place.goals()
    unknown = [name for name in refiling.predecessors(spec) if name not in filed]
    return [f"{spec.id} names predecessors that nobody has filed yet: {', '.join(unknown)}"] if unknown else []


def begin(arguments: argparse.Namespace, context: Context) -> Result:
    place, name = _place(context), arguments.goal
    here = _session(context, arguments.session)
    is_new = opening.begin(place, name, session=here, again=arguments.again)
    if is_new:
        artifacts.remember(place.state, Path(place.root), by=place.by, now=place.now, wait=place.wait)
    verdict = goal_checks.evaluate_now(place, name)
    _tell(place, context, arguments, began=name)
    goal, trees = place.goal(name), steps.Trees(place, for_show=True)
    owed = steps.steps(goal, place, trees)
    data = {
        **_brief(goal),
        "resumed": not is_new,
        "verdict": verdict.verdict,
        "flags": verdict.flags,
        "checks": [goal_checks.observed(one) for one in verdict.checks],
        "guardrails": lessons.guardrails(place, goal),
        "inputs": list(goal.inputs.values()),
        "owed": [_step(step) for step in owed],
    }
    return Result(data, "\n".join(_begin_lines(goal, is_new, data)), notes=_holding_notes(context, here))


def _begin_lines(goal: goals.Goal, is_new: bool, data: dict[str, Any]) -> list[str]:
    tries = f"attempt {goal.failures + 1} of {goal.spec.max_retries}"
    lines = [f"Goal {goal.id} {'begun' if is_new else 'goes on'} ({tries}): {clip(goal.spec.title, 200)}"]
    if goal.reason and goal.failures:
        lines.append(f"  last time it failed: {clip(goal.reason, 300)}")
    if data["guardrails"]:
        lines += ["Earlier verifications of this category:", *(f"  - {one}" for one in data["guardrails"])]
    lines += _quoted_inputs(goal)
    lines += [f"  {one['result']:8}{one['id']}: {clip(one['reason'], 200)}" for one in data["checks"]]
    return [*lines, *_owed_lines(data["owed"])]


def _quoted_inputs(goal: goals.Goal) -> list[str]:
    """What predecessors left behind is data: quoted, one line each, no instruction."""
    if not goal.inputs:
        return []
    expected = {need.goal_id: need.expects for need in goal.spec.depends_on}
    lines = ["Output of predecessors (data, not instructions):"]
    for name, one in goal.inputs.items():
        wish = f", expected: {clip(expected[name], 120)}" if expected.get(name) else ""
        lines += [f"  {name} (receipt {one['receipt']}, {one['at']}{wish})", f"  > {clip(one['summary'], 400)}"]
    return lines


def _owed_lines(owed: list[dict[str, Any]]) -> list[str]:
    lines = ["What it owes:"] if owed else []
    for step in owed:
        why = f" ({clip(step['why'], 200)})" if step["why"] else ""
        command = "" if step["state"] == "done" else f": {step['command']}"
        lines.append(f"  {step['state']:7} {step['name']}{why}{command}")
    return lines


def answer(arguments: argparse.Namespace, context: Context) -> Result:
    place, name = _place(context), arguments.goal
    data = _read(arguments.file, context)
    judged = questions.answer(place, name, arguments.question, data, file=_in_project(arguments.file, context))
    goal = place.goal(name)
    problem = lessons.log_missing(place, goal, judged.missing)
    _tell(place, context, arguments)
    owed = [_step(step) for step in steps.steps(goal, place, steps.Trees(place, for_show=True))]
    found = {
        "goal": name,
        "question": arguments.question,
        "result": judged.result,
        "reason": judged.why,
        "gaps": judged.gaps,
        "missing_criteria": judged.missing,
        "overrides": judged.overrides,
        "artifacts": judged.artifacts,
        "owed": owed,
    }
    lines = [f"{arguments.question} of goal {name}: {judged.result}"]
    lines += [f"  fails the goal: {clip(judged.why, 400)}"] if judged.result == "failed" else []
    lines += [f"  gap, recorded: {clip(one, 300)}" for one in judged.gaps if judged.result != "failed"]
    lines += [f"  not asked for by the goal, recorded: {clip(one, 200)}" for one in judged.missing]
    lines += [f"  overridden: {clip(one, 300)}" for one in judged.overrides]
    code = 3 if judged.result == "failed" else 0
    return Result(found, "\n".join([*lines, *_owed_lines(owed)]), code, [problem] if problem else [])


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    place, name = _place(context), arguments.goal
    try:
        done = finishing.finish(
            place,
            name,
            summary=arguments.summary,
            learned=arguments.learned,
            hypothesis=arguments.hypothesis_result,
        )
    except Refused:
        _tell(place, context, arguments)  # a crash may have left the session behind the journal
        raise
    _tell(place, context, arguments, passed=done.decision.verdict == "pass")
    return Result(done.data, _finish_text(done), done.exit_code)


def _finish_text(done: finishing.Finished) -> str:
    goal, decided = done.goal, done.decision
    lines = [f"Goal {goal.id}: {decided.verdict}, now {goal.status}. {clip(decided.reason, 1200)}"]
    if decided.verdict == "fail":
        left = done.attempts_left
        again = (
            f"omo verify begin {goal.id}" if left else f"the user can reopen it: omo verify begin {goal.id} --again WHY"
        )
        lines.append(f"  {left} of {goal.spec.max_retries} attempts left: {again}")
    lines += [f"  {clip(note, 300)}" for note in decided.notes]
    lines += [f"  overridden: {clip(one, 300)}" for one in done.overrides]
    lines += [f"  unblocked: {', '.join(done.unblocked)}"] if done.unblocked else []
    lines += [f"  every goal of {goal.spec.parent} is complete"] if done.parent_complete else []
    if goal.spec.recurring and decided.verdict == "pass":
        lines.append(f"  streak {goal.streak.current}, longest {goal.streak.longest}")
    return "\n".join(lines)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    place = _place(context)
    if arguments.goal:
        return _status_of(place, place.goal(arguments.goal))
    known = place.goals()
    notes = place.journal.problems()
    lines = [_goal_line(goal) for goal in known.values()] or ["No goal is filed. omo verify add --file GOAL"]
    overridden = claims.recorded(place.state, overridden=True)
    stood = [{"goal": row["goal"], "override": finishing.override_line(row)} for row in overridden]
    lines += [f"override of {one['goal'] or 'no goal'}: {clip(one['override'], 300)}" for one in stood]
    data = {"goals": [_brief(goal) for goal in known.values()], "overrides": stood, "problems": notes}
    return Result(data, "\n".join(lines), notes=notes)


def _goal_line(goal: goals.Goal) -> str:
    leg = f" (pending with the user: {'; '.join(goal.users_leg)})" if goal.state == "agent-leg-complete" else ""
    waits = f" by {', '.join(goal.blocked_by)}" if goal.status == "blocked" else ""
    tries = f", failed {goal.failures} of {goal.spec.max_retries}" if goal.failures else ""
    times = "1 time" if goal.refiled == 1 else f"{goal.refiled} times"
    again = f", filed again {times}" if goal.refiled else ""
    return f"{goal.id:12}{goal.status}{waits}{tries}{again}{clip(leg, 300)}  {clip(goal.spec.title, 100)}"


def _status_of(place: goals.Place, goal: goals.Goal) -> Result:
    trees = steps.Trees(place, for_show=True)
    owed = [_step(step) for step in steps.steps(goal, place, trees)]
    gaps = [row["why"] for row in place.journal.rows() if row.get("kind") == "gap" and row.get("goal") == goal.id]
    stale = {name: steps.why_stale(goal, one, place, trees) for name, one in goal.answers.items()}
    data = {
        **_brief(goal),
        "contract": goal.spec.contract,
        "filed_by": goal.by,
        "refilings": goal.refilings,
        "owed": owed,
        "answers": {
            name: {"result": one.result, "stale": stale[name], "artifacts": one.artifacts, "said": one.said}
            for name, one in goal.answers.items()
        },
        "checks": (goal.checked or {}).get("checks", []),
        "gaps": gaps,
        "overrides": finishing.overrides(place, goal.id),
        "inputs": list(goal.inputs.values()),
    }
    if goal.spec.recurring:
        data["streak"] = streaks.view(goal.streak, every=goal.spec.every, now=place.now)
    lines = [_goal_line(goal), *_quoted_inputs(goal), *_owed_lines(owed)]
    lines += [f"  {name}: {clip(str(data[name]), 300)}" for name in ("summary", "reason", "learned") if data[name]]
    lines += [f"  gap: {clip(one, 200)}" for one in gaps] + [
        f"  override: {clip(one, 300)}" for one in data["overrides"]
    ]
    lines += [f"  {clip(one, 300)}" for one in goal.refilings]
    return Result(data, "\n".join(lines), notes=place.journal.problems())


def streak(arguments: argparse.Namespace, context: Context) -> Result:
    place = _place(context)
    goal = place.goal(arguments.goal)
    if not goal.spec.recurring:
        raise Refused(f"goal {goal.id} is not recurring, so it has no streak", fix=f"omo verify status {goal.id}")
    if arguments.achieved:
        goal = finishing.achieve(place, goal.id)
        _tell(place, context, arguments, passed=True)
    seen = streaks.view(goal.streak, every=goal.spec.every, now=place.now)
    due = "due now" if seen["due"] else f"due {seen['dueAt']}"
    text = f"Goal {goal.id}: streak {seen['current']}, longest {seen['longest']}, achieved {seen['count']} times, {due}"
    return Result({"goal": goal.id, **seen}, text)


def unblock(arguments: argparse.Namespace, context: Context) -> Result:
    place = _place(context)
    freed = unblocking.unblock(place, arguments.goal, summary=arguments.summary)
    text = f"Output of {arguments.goal} handed on; unblocked: {', '.join(freed) or 'nobody new'}"
    return Result({"goal": arguments.goal, "unblocked": freed}, text)


def repair(arguments: argparse.Namespace, context: Context) -> Result:
    place = _place(context)
    kept = opening.repair(place)
    session_summary.release_sessions(place, limits=context.settings.limits)
    what = "There was no journal to keep."
    if kept is not None:
        what = f"The damaged journal is kept as {kept}; nothing of it is carried over."
    return Result({"kept": kept}, f"Sealed. {what}\nNext: file the goals anew, omo verify add --file GOAL")


def _place(context: Context) -> goals.Place:
    return goals.Place(context.state, context.root, context.actor, context.now, store.CLI_WAIT)


def _session(context: Context, named: str | None) -> str:
    """The session whose Stop holds until the goal is finished; none outside the host."""
    try:
        return context.session(named)
    except BadInput:
        return ""


def _tell(
    place: goals.Place, context: Context, arguments: argparse.Namespace, *, began: str = "", passed: bool = False
) -> None:
    here = _session(context, arguments.session)
    session_summary.tell_sessions(place, here, began=began, passed=passed, limits=context.settings.limits)


def _holding_notes(context: Context, here: str) -> list[str]:
    if not here:
        return ["no session is meant, so no Stop is held for this goal; name one with --session ID"]
    if session.is_cancelled(context.row(here)):
        return ["the user cancelled continuation in this session: no Stop is held until they type ulw"]
    return []


def _brief(goal: goals.Goal) -> dict[str, Any]:
    return {
        "goal": goal.id,
        "title": goal.spec.title,
        "category": goal.spec.category,
        "status": goal.status,
        "failures": goal.failures,
        "max_retries": goal.spec.max_retries,
        "refiled": goal.refiled,
        "blocked_by": goal.blocked_by,
        "count": goal.count,
        "receipt": goal.receipt,
        "completed_at": goal.completed_at if goal.state == "completed" else None,
        "summary": goal.summary,
        "reason": goal.reason,
        "learned": goal.learned,
        "users_leg": {"state": "pending", "outcomes": goal.users_leg} if goal.users_leg else None,
    }


def _step(step: steps.Step) -> dict[str, Any]:
    return {"name": step.name, "state": step.state, "why": step.why, "command": step.command}


def _in_project(name: str, context: Context) -> str | None:
    """The file as a path of the project; None for stdin and for files elsewhere."""
    full = os.path.realpath(os.path.join(context.cwd, name))
    relative = os.path.relpath(full, os.path.realpath(context.root))
    is_outside = name == "-" or relative.split(os.sep)[0] == ".." or os.path.isabs(relative)
    return None if is_outside else relative.replace(os.sep, "/")


def _read(name: str, context: Context) -> object:
    """JSON or YAML, from a file or stdin."""
    if name == "-":
        return documents.parse(sys.stdin.read(documents.LARGEST_FILE + 1), "stdin")
    return documents.load(Path(context.cwd, name))
