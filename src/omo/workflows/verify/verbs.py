"""`omo verify`: file goals, begin them, answer what their checks cannot say, and finish them by a computed verdict.

What evaluates checks or reads documents brings pydantic along, so it is imported by the commands that need it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omo import options
from omo.context import Context
from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.result import EXIT_CODES, Result
from omo.state import runtime
from omo.text import clip, counted
from omo.work import briefs, session
from omo.work.citations import LONGEST_TEXT
from omo.work.files import Files
from omo.work.judge import JUDGE
from omo.work.lifecycle import called_off, left_elsewhere, put_aside, put_aside_notes
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of
from omo.workflows.verify import claims
from omo.workflows.verify.goals import ANSWERS, HYPOTHESIS_RESULTS, VERIFY, Goal, GoalStore
from omo.workflows.verify.status import found_lines, goal_data, publish_goals
from omo.workflows.verify.steps import GoalStep, ask_judge, steps

if TYPE_CHECKING:
    from omo.proof.pins import PinReport
    from omo.workflows.verify.finish import FinishedGoal

MOST_NAMED = 5
CLAIMS: dict[str, tuple[str, ...]] = {
    "absent": (),
    "contains": ("where",),
    "lacks": ("where",),
    "count": ("of", "field", "value"),
    "service": ("up_or_down",),
}
COMPANIONS = {"where": "--in", "of": "--of", "field": "--field", "value": "--value", "up_or_down": "--is"}


def register(commands: options.Commands) -> None:
    verbs = options.group(commands, "verify")
    parser = options.command(verbs, "add", "file a goal and pin its checks; tells every defect", add)
    parser.add_argument("--file", required=True, metavar="GOAL", help="JSON or YAML; docs/verify.md shows one")

    parser = _of_goal(verbs, "begin", "begin or resume a goal: what went wrong before, and what it owes", begin)
    parser.add_argument("--file", metavar="GOAL", help="file this goal first, as omo verify add does")
    parser.add_argument("--again", default="", metavar="WHY", help="the user's: reopen what is over or exhausted")

    parser = _of_goal(verbs, "answer", "answer one question of a goal", answer)
    parser.add_argument("--question", required=True, choices=ANSWERS, metavar="Q", help=", ".join(ANSWERS))
    about = "the answer as JSON, no file of the project; - reads it from stdin"
    parser.add_argument("--file", required=True, metavar="FILE", help=about)

    about = "what only judgement can answer of a goal, for omo:judge to read; its answers count at finish"
    _of_goal(verbs, "brief", about, brief_judge)

    about = "evaluate again and conclude: exit 0 pass, 3 fail, 4 not decided yet"
    parser = _of_goal(verbs, "finish", about, finish)
    parser.add_argument("--summary", required=True, metavar="TEXT", help="one factual line, 200 characters at most")
    parser.add_argument("--learned", default="", metavar="TEXT", help="if it fails: what was learned")
    how = "for a goal with a hypothesis: how that came out"
    parser.add_argument("--hypothesis-result", type=str.lower, choices=HYPOTHESIS_RESULTS, help=how)

    parser = options.command(verbs, "status", "where a goal stands, or all of them", status)
    parser.add_argument("goal", metavar="GOAL", help="the goal's id", nargs="?")

    _register_claim(verbs)


def _register_claim(verbs: options.Commands) -> None:
    about = "file what a statement claims, looked at now: exit 0 it holds, 3 it does not, 4 code could not tell"
    parser = options.command(verbs, "claim", about, claim, session=False)
    parser.add_argument("statement", nargs="?", default="", metavar="STATEMENT", help="word for word as it is answered")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--absent", metavar="PATH", help="nothing is there (a path or glob)")
    what.add_argument("--contains", metavar="TEXT", help="the file of --in has this text")
    what.add_argument("--lacks", metavar="TEXT", help="no file of --in has this text")
    what.add_argument("--count", type=int, metavar="N", help="so many files match --of, or records with --field")
    what.add_argument("--service", metavar="HOST:PORT", help="is up or down (--is): one TCP connection, 3 seconds")
    parser.add_argument("--in", dest="where", metavar="PATH", help="for --contains and --lacks: a path or glob")
    parser.add_argument("--of", metavar="GLOB", help="for --count")
    parser.add_argument("--field", default="", metavar="NAME", help="for --count: JSON lines with this field")
    parser.add_argument("--value", default="", metavar="V", help="for --field: only those where it has this value")
    parser.add_argument("--is", dest="up_or_down", choices=("up", "down"), help="for --service")
    parser.add_argument("--goal", metavar="ID", help="the goal the statement belongs to")
    about = "let it stand all the same; recorded and shown (10 characters or more)"
    parser.add_argument("--override", default="", metavar="REASON", help=about)


def _of_goal(verbs: options.Commands, name: str, about: str, run: options.Run) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, about, run)
    parser.add_argument("goal", metavar="GOAL", help="its id; not needed where only one is open", nargs="?")
    return parser


def _meant(arguments: argparse.Namespace, store: GoalStore) -> str:
    """The goal that is named, else the only one that this session is held to, that can be begun, or that another one
    has begun: a conversation that is gone may have left it."""
    if arguments.goal:
        return str(arguments.goal)
    names = [str(name) for name in store.caller.summary(VERIFY.name).get("goals") or []]
    for status in ("pending", "in-progress"):
        names = names or [goal.id for goal in store.goals.values() if goal.status == status]
    if len(names) != 1:
        listed = ", ".join(clip(name, 60) for name in names[:MOST_NAMED])
        way = f"name it ({listed})" if names else "none is open; omo verify begin --file FILE files one and begins it"
        raise BadInput("which goal is meant is not clear", fix=f"{way}; omo verify status lists them all")
    return names[0]


def _store(arguments: argparse.Namespace, context: Context) -> GoalStore:
    """The goals, for the session whose Stop holds until they are finished; none outside the host.

    Where the journal is damaged, they wait for the user from now on.
    """
    try:
        name = context.session(getattr(arguments, "session", None))
    except BadInput:
        name = ""
    store = GoalStore(caller_of(context, name))
    if store.problems:
        publish_goals(store)
    return store


def _read(name: str, context: Context) -> object:
    """JSON or YAML, from a file or stdin."""
    from omo.proof import documents

    if name == "-":
        return documents.parse(sys.stdin.read(documents.LARGEST_FILE + 1), "stdin")
    return documents.load(Path(context.cwd, name))


def _in_project(name: str, context: Context) -> str | None:
    """The file as a path of the project; None for stdin and for files elsewhere."""
    full = os.path.realpath(os.path.join(context.cwd, name))
    relative = os.path.relpath(full, os.path.realpath(context.root))
    is_outside = name == "-" or relative.split(os.sep)[0] == ".." or os.path.isabs(relative)
    return None if is_outside else relative


class Filed(NamedTuple):
    """A goal from a file, and what is told of it. `report` is None where exactly this goal is filed already."""

    goal: Goal
    report: PinReport | None
    lines: list[str]
    notes: list[str]


def add(arguments: argparse.Namespace, context: Context) -> Result:
    goal, report, lines, notes = _file(arguments, context, _store(arguments, context))
    following = f"omo verify {'begin' if goal.status == 'pending' else 'status'} {goal.id}"
    data = {"goal": goal.id, "status": goal.status, "pinned": [], "vacuous": [], "by": goal.by, "next": following}
    if report is not None:
        data |= {"pinned": report.added, "vacuous": report.vacuous}
    return Result(data, "\n".join([*lines, f"Next: {following}"]), notes=notes)


def _file(arguments: argparse.Namespace, context: Context, store: GoalStore) -> Filed:
    from omo.workflows.verify.begin import add as file_goal
    from omo.workflows.verify.documents import parse_goal

    spec = parse_goal(_read(arguments.file, context), arguments.file)
    named = getattr(arguments, "goal", None)
    if named not in (None, spec.id):
        raise BadInput(f"{clip(arguments.file, 120)} is goal {spec.id}, and {clip(named, 60)} is named", fix="name one")
    source = _in_project(arguments.file, context) or ""
    digest = "" if arguments.file == "-" else sha256(Path(context.cwd, arguments.file).read_bytes())
    goal, report = file_goal(store, spec, source=source, digest=digest)
    publish_goals(store)
    lines = [f"Exactly this goal {goal.id} is filed already: {goal.status}."]
    if report is not None:
        checks = counted(len(report.verdict.checks), "check")
        lines = [f"Goal {goal.id} filed by the {goal.by}: {goal.status}, {checks}."]
        lines += [f"  passes already, and counts if it fails without the work: {name}" for name in report.vacuous]
    notes = []
    if unknown := [name for name in goal.spec.predecessors if name not in store.goals]:
        notes.append(f"{goal.id} names predecessors that nobody has filed yet: {', '.join(unknown)}")
    return Filed(goal, report, lines, notes)


def begin(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.verify.begin import begin as begin_goal
    from omo.workflows.verify.finish import evaluate_now
    from omo.workflows.verify.lessons import guardrails

    store = _store(arguments, context)
    lines: list[str] = []
    notes: list[str] = []
    seen = None
    if arguments.file:
        filed, report, lines, notes = _file(arguments, context, store)
        if report is not None and len(report.added) == len(report.verdict.checks):  # else with another base
            seen = report.verdict
        arguments.goal = filed.id
    _note_others(context, store)
    name = _meant(arguments, store)
    is_new = begin_goal(store, name, again=arguments.again)
    verdict = evaluate_now(store, name, seen)
    notes += put_aside_notes(store.caller, VERIFY.name)
    if (user := called_off(store.caller, VERIFY.name)) is not None:
        put_aside(user, VERIFY.name)
        store.caller.forget()
    publish_goals(store, began=name)
    goal = store.goal(name)
    files = Files(context.root)
    owed = steps(goal, store.caller, files)
    lessons = guardrails(store, goal)
    if not store.caller.session:
        notes.append("no session is meant, so no Stop is held for this goal; name one with --session ID")
    notes += session.cancelled_notes(context.row(store.caller.session))
    attempt = f"attempt {goal.failures + 1} of {goal.spec.max_retries}"
    lines.append(f"Goal {goal.id} {'begun' if is_new else 'goes on'} ({attempt}): {clip(goal.spec.title, 200)}")
    lines += [f"  {check.result:8}{check.id}: {clip(check.reason, 200)}" for check in goal.checks_seen]
    lines += [f"  {line}" for line in found_lines(goal)]
    if lessons:
        lines += ["Earlier verifications of this category:", *(f"  - {lesson}" for lesson in lessons)]
    data = goal_data(store, goal, owed, files)
    data |= {"resumed": not is_new, "verdict": verdict.verdict, "flags": verdict.flags, "guardrails": lessons}
    return Result(data, "\n".join([*lines, *_owed_lines(owed)]), notes=notes)


def _owed_lines(owed: list[GoalStep]) -> list[str]:
    return ["What it owes:", *(f"  {step.text}" for step in owed)] if owed else []


def answer(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.verify import lessons, questions

    store = _store(arguments, context)
    name = _meant(arguments, store)
    if (file := _in_project(arguments.file, context)) and os.path.lexists(os.path.join(context.root, file)):
        raise Refused(
            f"{clip(file, 120)} is a file of the project, which an answer speaks of and cannot be part of",
            fix="hand it over on stdin with --file -, or keep it outside the project",
        )
    judged = questions.answer(store, name, arguments.question, _read(arguments.file, context))
    goal = store.goal(name)
    problem = lessons.log_missing(store, goal, judged.missing)
    publish_goals(store)
    owed = steps(goal, store.caller, Files(context.root))
    shown = {
        "goal": name,
        "question": arguments.question,
        "result": judged.result,
        "reason": judged.why,
        "gaps": judged.gaps,
        "missing_criteria": judged.missing,
        "cited_not_looked_at": judged.unseen,
        "artifacts": judged.artifacts,
        "owed": [step.data for step in owed],
    }
    has_failed = judged.result == "failed"
    lines = [f"{arguments.question} of goal {name}: {judged.result}"]
    if has_failed:
        lines.append(f"  fails the goal: {clip(judged.why, 400)}")
    else:
        lines += [f"  gap, recorded: {clip(gap, 300)}" for gap in judged.gaps]
    lines += [f"  not asked for by the goal, recorded: {clip(item, 200)}" for item in judged.missing]
    lines += [f"  cited, and looked at by nobody: {clip(cited, 200)}" for cited in judged.unseen]
    code = EXIT_CODES["fail"] if has_failed else 0
    return Result(shown, "\n".join([*lines, *_owed_lines(owed)]), code, [problem] if problem else [])


def brief_judge(arguments: argparse.Namespace, context: Context) -> Result:
    store = _store(arguments, context)
    name = _meant(arguments, store)
    text = ask_judge(store, name)
    publish_goals(store)
    briefs.issue(store.caller, JUDGE, text)
    return Result({"goal": name, "brief": text}, text)


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.verify.finish import finish as finish_goal

    store = _store(arguments, context)
    if reopen_if_changed(store.caller, VERIFY.name):
        store = _store(arguments, context)
    name = _meant(arguments, store)
    given = {"summary": arguments.summary, "learned": arguments.learned, "hypothesis": arguments.hypothesis_result}
    try:
        done = finish_goal(store, name, **given)
    except Refused:
        publish_goals(store)  # a crash may have left the session behind the journal
        raise
    publish_goals(store, passed=name if done.decision.is_pass else "")
    return Result(done.data, "\n".join(_finish_lines(done)), done.exit_code)


def _finish_lines(done: FinishedGoal) -> list[str]:
    goal, decision = done.goal, done.decision
    lines = [f"Goal {goal.id}: {decision.verdict}, now {goal.status}. {clip(decision.reason, 1200)}"]
    if decision.verdict == "fail":
        again = f"omo verify begin {goal.id}"
        if not goal.attempts_left:
            again = f"the user can reopen it: {again} --again WHY"
        lines.append(f"  {goal.attempts_left} of {goal.spec.max_retries} attempts left: {again}")
    lines += [f"  {clip(note, 300)}" for note in decision.notes]
    lines += [f"  overridden: {clip(line, 300)}" for line in done.overrides]
    lines += [f"  {clip(line, 300)}" for line in done.undone]
    if done.unblocked:
        lines.append(f"  unblocked: {', '.join(done.unblocked)}")
    if done.parent_complete:
        lines.append(f"  every goal of {goal.spec.parent} is complete")
    if goal.spec.recurring and decision.is_pass:
        lines.append(f"  {goal.streak.text}")
    return lines


def _note_others(context: Context, store: GoalStore) -> None:
    """The goals are the project's, and who is held to them may be another conversation."""
    other = left_elsewhere("verify", "goals", store.caller)
    if other is not None and not runtime.is_open(store.caller.summary("verify")):
        context.notes.append(other.text)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    store = _store(arguments, context)
    _note_others(context, store)
    if arguments.goal:
        goal = store.goal(arguments.goal)
        files = Files(context.root)
        owed = steps(goal, store.caller, files)
        data = goal_data(store, goal, owed, files)
        lines = [_goal_line(goal), *(f"  {line}" for line in found_lines(goal)), *_owed_lines(owed)]
        lines += [f"  override: {clip(line, 300)}" for line in data["overrides"]]
        if goal.spec.recurring:
            due = "due now" if data["streak"]["due"] else f"due {data['streak']['dueAt']}"
            lines.append(f"  {goal.streak.text}, achieved {counted(goal.streak.count, 'time')}, {due}")
        return Result(data, "\n".join(lines), notes=store.problems)
    lines = [_goal_line(goal) for goal in store.goals.values()]
    if not lines and store.problems:
        raise store.damage()
    if not lines:
        lines.append("No goal is filed. omo verify add --file GOAL")
    overrides = []
    for filed in claims.recorded(context.state, overridden=True):
        overrides.append({"goal": filed.goal or None, "override": filed.let_stand})
        lines.append(f"override of {filed.goal or 'no goal'}: {clip(filed.let_stand, 300)}")
    listed = [{"goal": goal.id, "title": goal.spec.title, "status": goal.status} for goal in store.goals.values()]
    data = {"goals": listed, "overrides": overrides, "problems": store.problems}
    return Result(data, "\n".join(lines), notes=store.problems)


def _goal_line(goal: Goal) -> str:
    line = f"{goal.id:12}{goal.status}"
    if goal.status == "blocked":
        line += f" by {', '.join(goal.blocked_by)}"
    if goal.failures:
        line += f", {goal.failed}"
    if goal.state == "agent-leg-complete":
        line += clip(f" (left for the user: {'; '.join(goal.users_leg)})", 300)
    return f"{line}  {clip(goal.spec.title, 100)}"


def claim(arguments: argparse.Namespace, context: Context) -> Result:
    filed = _claim_of(arguments)
    statement = arguments.statement.strip() or filed.in_words
    if len(statement) > LONGEST_TEXT:
        raise BadInput(f"a statement has at most {LONGEST_TEXT} characters", fix="claim one thing at a time")
    override = arguments.override
    if arguments.goal:
        _store(arguments, context).goal(arguments.goal)
    row = claims.file_claim(caller_of(context, ""), filed, statement, goal=arguments.goal, override=override)
    verdict = row["verdict"]
    lines = [f"{verdict:8}{filed.in_words}: {row['reason']}"]
    if row["saw"]:
        lines.append(f"    saw  {row['saw']}")
    data = {key: value for key, value in row.items() if key != "kind"}
    if row["override"]:
        data["override"] = {"reason": override, "by": context.actor}
        lines.append(f"overridden by the {context.actor}: {override}")
        return Result(data, "\n".join(lines))
    if verdict != "pass":
        lines.append("Next: look again and restate it. If code is wrong: --override REASON, recorded and shown")
    notes = ["there was nothing to override"] if override else []
    return Result(data, "\n".join(lines), EXIT_CODES[verdict], notes)


def _claim_of(arguments: argparse.Namespace) -> claims.Claim:
    """One of five, each with the options that belong to it and no others; the first of them is needed."""
    (kind,) = [name for name in CLAIMS if getattr(arguments, name) is not None]
    given, allowed = getattr(arguments, kind), CLAIMS[kind]
    defects = []
    for name, option in COMPANIONS.items():
        is_given = bool(getattr(arguments, name))
        if is_given and name not in allowed:
            defects.append(f"{option} does not belong to --{kind}")
        if not is_given and name in allowed[:1]:
            defects.append(f"--{kind} needs {option}")
    if arguments.value and not arguments.field:
        defects.append("--value needs --field")
    if kind == "count" and given < 0:
        defects.append("--count needs 0 or more")
    if "where" in allowed and not given:
        defects.append(f"--{kind} needs a text")
    if defects:
        fix = "omo verify claim --help shows which options belong together"
        raise BadInput(f"the claim cannot be used: {defects[0]}", fix=fix, defects=defects)
    if kind == "count":
        return claims.Claim(kind, arguments.of, count=given, field=arguments.field, value=arguments.value)
    if "where" in allowed:
        return claims.Claim(kind, arguments.where, text=given)
    return claims.Claim(kind, given, is_up=arguments.up_or_down == "up")
