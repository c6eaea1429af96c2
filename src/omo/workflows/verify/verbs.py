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
from omo.engine import show_filed
from omo.engine.answers import Owed
from omo.engine.asking import brief_now
from omo.engine.case import Case
from omo.engine.filed import FiledRuns, failed, require_in_round, streak_of
from omo.errors import BadInput, Refused
from omo.result import EXIT_CODES, Result
from omo.state import runtime
from omo.text import clip, counted
from omo.work import briefs, session
from omo.work.citations import LONGEST_TEXT
from omo.work.files import Files
from omo.work.judge import JUDGE
from omo.work.lifecycle import (
    give_up_for_another,
    left_elsewhere,
    make_way_notes,
    replaced_notes,
    replaces,
    require_room,
)
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of
from omo.workflows.verify import claims
from omo.workflows.verify.flow import EXAMPLES, FLOW, QUESTIONS
from omo.workflows.verify.goals import attempts_left, goal_data

if TYPE_CHECKING:
    from omo.proof.pins import PinReport
    from omo.workflows.verify.finish import FinishedGoal

ANSWERS = (*QUESTIONS, *[name for name in EXAMPLES if name not in QUESTIONS])
HYPOTHESIS_RESULTS = ("confirmed", "corrected", "expired", "pending")
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
    _of_goal(verbs, "brief", about, brief)

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


def _meant(arguments: argparse.Namespace, runs: FiledRuns) -> str:
    """Return the goal that is named, else the only one that this session is held to, that can be begun, or that another
    one has begun: a conversation that is gone may have left it."""
    if arguments.goal:
        return str(arguments.goal)
    names = [str(name) for name in runs.caller.summary(FLOW.name).get("runs") or []]
    for state in ("pending", "in-progress"):
        names = names or [name for name, case in runs.cases.items() if runs.state(case) == state]
    if len(names) != 1:
        listed = ", ".join(clip(name, 60) for name in names[:MOST_NAMED])
        way = f"name it ({listed})" if names else "none is open; omo verify begin --file FILE files one and begins it"
        raise BadInput("which goal is meant is not clear", fix=f"{way}; omo verify status lists them all")
    return names[0]


def _goals(arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> FiledRuns:
    """Read the goals, for the session whose Stop holds until they are finished; for none outside the host."""
    try:
        name = context.session(getattr(arguments, "session", None), mends=not looks)
    except BadInput:
        name = ""
    runs = FiledRuns(FLOW, caller_of(context, name))
    if not looks:
        runs.require_going_on()
    return runs


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
    """A goal from a file, and what is told of it. `report` is None if exactly this goal is filed already."""

    case: Case
    report: PinReport | None
    lines: list[str]
    notes: list[str]


def add(arguments: argparse.Namespace, context: Context) -> Result:
    runs = _goals(arguments, context)
    case, report, lines, notes = _file(arguments, context, runs)
    state, name = runs.state(case), case.item.id
    following = f"omo verify {'begin' if state == 'pending' else 'status'} {name}"
    data = {"goal": name, "status": state, "pinned": [], "vacuous": [], "by": case.filed_by, "next": following}
    if report is not None:
        data |= {"pinned": report.added, "vacuous": report.vacuous}
    return Result(data, "\n".join([*lines, f"Next: {following}"]), notes=notes)


def _file(arguments: argparse.Namespace, context: Context, runs: FiledRuns) -> Filed:
    from omo.engine.filing import file_item
    from omo.workflows.verify.forms import parse_goal

    item = parse_goal(_read(arguments.file, context), arguments.file)
    named = getattr(arguments, "goal", None)
    if named not in (None, item.id):
        raise BadInput(f"{clip(arguments.file, 120)} is goal {item.id}, and {clip(named, 60)} is named", fix="name one")
    source = _in_project(arguments.file, context) or ""
    digest = "" if arguments.file == "-" else sha256(Path(context.cwd, arguments.file).read_bytes())
    rounds = item.form["max_retries"]
    run, report = file_item(runs, item, rounds=rounds, source=source, digest=digest)
    runs.runs[item.id] = run
    runs.publish()
    case = run.require_whole()
    state = runs.state(case)
    lines = [f"Exactly this goal {item.id} is filed already: {state}."]
    if report is not None:
        checks = counted(len(report.verdict.checks), "check")
        lines = [f"Goal {item.id} filed by the {case.filed_by}: {state}, {checks}."]
        lines += [f"  passes already, and counts if it fails without the work: {name}" for name in report.vacuous]
    notes = []
    predecessors = dict.fromkeys([*item.waits_for, *item.wants])
    if unknown := [name for name in predecessors if name not in runs.runs]:
        notes.append(f"{item.id} names predecessors that nobody has filed yet: {', '.join(unknown)}")
    return Filed(case, report, lines, notes)


def begin(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.engine.filing import look_now, open_round
    from omo.workflows.verify import lessons

    runs = _goals(arguments, context)
    require_room(FLOW.name, runs.caller)
    lines: list[str] = []
    notes: list[str] = []
    seen = None
    if arguments.file:
        filed, report, lines, notes = _file(arguments, context, runs)
        if report is not None and len(report.added) == len(report.verdict.checks):  # else with another base
            seen = report.verdict
        arguments.goal = filed.item.id
    _note_others(context, runs)
    name = _meant(arguments, runs)
    is_new = open_round(runs, name, again=arguments.again)
    verdict = look_now(runs.run(name), seen)
    notes += [*make_way_notes(runs.caller, FLOW.name), *replaced_notes(runs.caller, FLOW.name)]
    if (user := replaces(runs.caller, FLOW.name)) is not None:
        give_up_for_another(user, FLOW.name)
        runs.caller.forget()
    runs.publish(began=name)
    case, files = runs.case(name), Files(context.root)
    owed = runs.owed(case, files)
    guardrails = lessons.of_category(runs, case.item.form["category"])
    if not runs.caller.session:
        notes.append("no session is meant, so no Stop is held for this goal; name one with --session ID")
    notes += session.cancelled_notes(context.row(runs.caller.session))
    attempt = f"attempt {case.mark.fail_count + 1} of {case.most_rounds}"
    title = clip(case.item.description, 200)
    lines.append(f"Goal {name} {'begun' if is_new else 'goes on'} ({attempt}): {title}")
    lines += [f"  {check.result:8}{check.id}: {clip(check.reason, 200)}" for check in verdict.checks]
    lines += [f"  {line}" for line in show_filed.found_lines(runs, case)]
    if guardrails:
        lines += ["Earlier verifications of this category:", *(f"  - {lesson}" for lesson in guardrails)]
    data = goal_data(runs, case, owed, files)
    data |= {"resumed": not is_new, "verdict": verdict.verdict, "flags": verdict.flags, "guardrails": guardrails}
    return Result(data, "\n".join([*lines, *_owed_lines(owed)]), notes=notes)


def _owed_lines(owed: list[Owed]) -> list[str]:
    return ["What it owes:", *(f"  {step.text}" for step in owed)] if owed else []


def answer(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.engine import answers
    from omo.workflows.verify import lessons

    runs = _goals(arguments, context)
    name, question = _meant(arguments, runs), arguments.question
    if (file := _in_project(arguments.file, context)) and os.path.lexists(os.path.join(context.root, file)):
        raise Refused(
            f"{clip(file, 120)} is a file of the project, which an answer speaks of and cannot be part of",
            fix="hand it over on stdin with --file -, or keep it outside the project",
        )
    require_in_round(runs, runs.case(name))
    judged = answers.answer(runs.run(name), question, _read(arguments.file, context), list(runs.cases.values()))
    case = runs.case(name)
    problem = lessons.log_missing(runs.caller, case, judged.missing)
    runs.publish()
    owed = runs.owed(case, Files(context.root))
    shown = {
        "goal": name,
        "question": question,
        "result": judged.result,
        "reason": judged.why,
        "gaps": judged.gaps,
        "missing_criteria": judged.missing,
        "cited_not_looked_at": judged.unseen,
        "artifacts": judged.artifacts,
        "owed": [step.data for step in owed],
    }
    has_failed = judged.result == "failed"
    lines = [f"{question} of goal {name}: {judged.result}"]
    if has_failed:
        lines.append(f"  fails the goal: {clip(judged.why, 400)}")
    else:
        lines += [f"  gap, recorded: {clip(gap, 300)}" for gap in judged.gaps]
    lines += [f"  not asked for by the goal, recorded: {clip(item, 200)}" for item in judged.missing]
    lines += [f"  cited, and looked at by nobody: {clip(cited, 200)}" for cited in judged.unseen]
    code = EXIT_CODES["fail"] if has_failed else 0
    return Result(shown, "\n".join([*lines, *_owed_lines(owed)]), code, [problem] if problem else [])


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    runs = _goals(arguments, context)
    name = _meant(arguments, runs)
    require_in_round(runs, runs.case(name))
    text = brief_now(runs.run(name), Files(context.root))
    runs.publish()
    briefs.issue(runs.caller, JUDGE, text)
    return Result({"goal": name, "brief": text}, text)


def finish(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.workflows.verify.finish import finish as finish_goal

    runs = _goals(arguments, context)
    if reopen_if_changed(runs.caller, FLOW.name):
        runs = _goals(arguments, context)
    name = _meant(arguments, runs)
    given = {"summary": arguments.summary, "learned": arguments.learned, "hypothesis": arguments.hypothesis_result}
    try:
        done = finish_goal(runs, name, **given)
    except Refused:
        runs.publish()  # a crash may have left the session behind the ledger
        raise
    runs.publish(passed=name if done.verdict == "pass" else "")
    return Result(done.data, "\n".join(_finish_lines(done)), done.exit_code)


def _finish_lines(done: FinishedGoal) -> list[str]:
    case, name, data = done.case, done.goal, done.data
    lines = [f"Goal {name}: {done.verdict}, now {data['state']}. {clip(done.reason, 1200)}"]
    if done.verdict == "fail":
        left, again = attempts_left(case), f"omo verify begin {name}"
        if not left:
            again = f"the user can reopen it: {again} --again WHY"
        lines.append(f"  {left} of {case.most_rounds} attempts left: {again}")
    lines += [f"  {clip(note, 300)}" for note in done.notes]
    lines += [f"  overridden: {clip(line, 300)}" for line in data["overrides"]]
    lines += [f"  {clip(line, 300)}" for line in done.undone]
    if done.unblocked:
        lines.append(f"  unblocked: {', '.join(done.unblocked)}")
    if data["parent_complete"]:
        lines.append(f"  every goal of {case.item.form['parent']} is complete")
    if case.item.every and done.verdict == "pass":
        lines.append(f"  {streak_of(case).text}")
    return lines


def _note_others(context: Context, runs: FiledRuns) -> None:
    """Note that another conversation is held to goals: they are the project's."""
    other = left_elsewhere(FLOW.name, FLOW.units, runs.caller)
    if other is not None and not runtime.is_open(runs.caller.summary(FLOW.name)):
        context.notes.append(other.text)


def status(arguments: argparse.Namespace, context: Context) -> Result:
    runs = _goals(arguments, context, looks=True)
    _note_others(context, runs)
    if arguments.goal:
        return _status_of(runs, runs.case(arguments.goal), Files(context.root))
    lines = [_goal_line(runs, case) for case in runs.cases.values()]
    if not lines and runs.lost:
        raise runs.lost[0].lost()
    if not lines:
        lines.append("No goal is filed. omo verify add --file GOAL")
    overrides = []
    for filed in claims.recorded(context.state, overridden=True):
        overrides.append({"goal": filed.goal or None, "override": filed.let_stand})
        lines.append(f"override of {filed.goal or 'no goal'}: {clip(filed.let_stand, 300)}")
    goals = []
    for name, case in runs.cases.items():
        goals.append({"goal": name, "title": case.item.description, "status": runs.state(case)})
    data = {"goals": goals, "overrides": overrides, "problems": runs.damage_lines}
    return Result(data, "\n".join(lines), notes=runs.damage_lines)


def _status_of(runs: FiledRuns, case: Case, files: Files) -> Result:
    owed = runs.owed(case, files)
    data = goal_data(runs, case, owed, files)
    found = [f"  {line}" for line in show_filed.found_lines(runs, case)]
    lines = [_goal_line(runs, case), *found, *_owed_lines(owed)]
    lines += [f"  override: {clip(line, 300)}" for line in data["overrides"]]
    if case.item.every:
        due = "due now" if data["streak"]["due"] else f"due {data['streak']['dueAt']}"
        streak = streak_of(case)
        lines.append(f"  {streak.text}, achieved {counted(streak.count, 'time')}, {due}")
    return Result(data, "\n".join(lines), notes=runs.damage_lines)


def _goal_line(runs: FiledRuns, case: Case) -> str:
    state = runs.state(case)
    line = f"{case.item.id:12}{state}"
    if state == "blocked":
        line += f" by {', '.join(runs.blocked_by(case))}"
    if case.mark.fail_count:
        line += f", {failed(case)}"
    if state == "agent-leg-complete":
        line += clip(f" (left for the user: {'; '.join(case.left_for_user)})", 300)
    return f"{line}  {clip(case.item.description, 100)}"


def claim(arguments: argparse.Namespace, context: Context) -> Result:
    filed = _claim_of(arguments)
    statement = arguments.statement.strip() or filed.in_words
    if len(statement) > LONGEST_TEXT:
        raise BadInput(f"a statement has at most {LONGEST_TEXT} characters", fix="claim one thing at a time")
    override = arguments.override
    if arguments.goal:
        _goals(arguments, context).run(arguments.goal)
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
