"""The verbs that every workflow has: start, artifacts, judge, brief, status, abandon. Parse, call, render.

What evaluates checks or reads documents brings pydantic along, so only the verbs that need it import it.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from omo import options
from omo.clock import seconds, stamp
from omo.context import Context
from omo.engine import ends, show, steps
from omo.engine.asking import judge_brief, step_brief
from omo.engine.case import Case
from omo.engine.flow import Flow
from omo.engine.runs import CaseRun, load_run, require_run
from omo.engine.steps import StepReport
from omo.errors import BadInput, Refused
from omo.result import Result
from omo.state import paths
from omo.state.rows import read_base
from omo.text import clip
from omo.work import briefs
from omo.work.files import Files
from omo.work.judge import JUDGE
from omo.work.lifecycle import notes_of_start
from omo.work.publish import reopen_if_changed
from omo.work.run import caller_of

LARGEST_MESSAGE = 256 * 1024
JUDGE_ROLE = "judge"


def register(flow: Flow, commands: options.Commands) -> None:
    verbs = options.group(commands, flow.verb)
    of_flow = Verbs(flow)
    _add_start(flow, verbs, of_flow)
    if flow.steps:
        about = "did the phases of this iteration really happen: 0 all of them, 3 not all; writes nothing"
        looks = _add(verbs, "artifacts", about, of_flow.artifacts)
        about = "leave out what was seen before that moment"
        looks.add_argument("--newer-than", default="", metavar="ISO", help=about)
    about = f"run the gates, have the judge asked, evaluate every {flow.unit}: 0 pass, 3 fail or partial, 4 undecided"
    judges = _add(verbs, "judge", about, of_flow.judge)
    for step in flow.skippable:
        about = f"{step.name} was left out, of changes under {flow.small_change} lines"
        judges.add_argument(step.option, dest=step.name, default="", metavar="REASON", help=about)
    about = "the judge's message where no hook could report it (- reads stdin), which is not judged independently"
    judges.add_argument("--result", metavar="FILE", help=about)
    roles = (JUDGE_ROLE, *flow.briefed)
    asks = _add(verbs, "brief", f"what {_listed(roles)} is asked, for that agent to read", of_flow.brief)
    asks.add_argument("role", nargs="?", default=JUDGE_ROLE, choices=roles, help=f"default: {JUDGE_ROLE}")
    _add(verbs, "status", "where the run stands, and what comes next", of_flow.status)
    gives_up = _add(verbs, "abandon", "give the run up; the user is told if it was the agent", of_flow.abandon)
    gives_up.add_argument("reason", metavar="REASON")


def _add_start(flow: Flow, verbs: options.Commands, of_flow: Verbs) -> None:
    about = f"pin the {flow.units} and begin a run with its first iteration"
    starts = options.command(verbs, "start", about, of_flow.start)
    about = f"{flow.units} with their checks, JSON or YAML; without it those that the user named"
    if flow.letter:
        about += ", else the project's own"
    starts.add_argument(f"--{flow.units}", dest="file", metavar="FILE", help=about)
    about = f"1 to {flow.most_rounds}, {flow.rounds} without it"
    starts.add_argument("--max-iterations", type=int, default=flow.rounds, metavar="N", help=about)
    about = "phases may be left out; the user's only, always shown"
    starts.add_argument("--reduced-scope", default="", metavar="REASON", help=about)
    about = f"what the user asked for, where they did not type /omo:{flow.name} TEXT"
    starts.add_argument("--request", default="", metavar="TEXT", help=about)


def _add(verbs: options.Commands, name: str, about: str, handler: options.Run) -> argparse.ArgumentParser:
    parser = options.command(verbs, name, about, handler)
    parser.add_argument("--run", dest="named", default="", metavar="ID", help="another run than the session's own")
    return parser


def _listed(roles: tuple[str, ...]) -> str:
    """List the roles in words: `the judge, qa or critic`."""
    *first, last = roles
    return f"the {', '.join(first)} or {last}" if first else f"the {last}"


@dataclass(frozen=True)
class Verbs:
    """The handlers of one workflow's verbs."""

    flow: Flow

    def start(self, arguments: argparse.Namespace, context: Context) -> Result:
        from omo.engine.begin import StartOptions, begin

        flow, caller = self.flow, caller_of(context, context.session(arguments.session))
        notes = notes_of_start(flow.name, f"a {flow.name} run", caller, context)
        given = StartOptions(
            file=Path(context.cwd, arguments.file) if arguments.file else None,
            cwd=paths.session_directory(context.environ, context.cwd),
            rounds=arguments.max_iterations,
            reduced_scope=arguments.reduced_scope,
            request=arguments.request,
        )
        run, step = begin(flow, caller, given)
        case = run.require_whole()
        data = {**show.data_of(case, step), flow.units: [item.data for item in case.items]}
        data |= {"base": case.base, "before": case.started["before"]}
        report = steps.look(run, Files(context.root))
        gates = [each.name for each in flow.steps if each.gates and each.name in report.missing]
        if gates and not report.gates:
            notes.append(f"no gate is pinned in this session, and {gates[0]} needs one: {steps.PIN}")
        if pin := _tests_to_pin(context, case, report):
            notes.append(f"it is proven only if the project's own tests pass beside the {flow.units}: {pin}")
        return Result(data, "\n".join([*show.started_lines(case), f"Next: {step.text}"]), notes=notes)

    def artifacts(self, arguments: argparse.Namespace, context: Context) -> Result:
        run = self._run(arguments, context, looks=True)
        report = steps.look(run, Files(context.root), newer_than=_moment(arguments.newer_than))
        proven = sum(proof.status == steps.PRESENT for proof in report.proofs.values())
        lines = [f"Iteration {report.iteration}: {proven} of {len(report.proofs)} phases proven"]
        for step, proof in report.proofs.items():
            lines.append(f"  {proof.status:14}{step:8}{proof.text}")
        if report.remediation:
            lines.append(f"To do: {report.remediation}")
        case = run.require_whole()
        lines += show.sentences([*show.facts(case), *show.overrides(case)])
        return Result(report.data, "\n".join(lines), 0 if report.ok else 3)

    def brief(self, arguments: argparse.Namespace, context: Context) -> Result:
        run = self._run(arguments, context, looks=True)
        if arguments.role == JUDGE_ROLE:
            agent, (text, nonce) = JUDGE, judge_brief(run)
        else:
            step = self.flow.briefed[arguments.role]
            agent, text, nonce = step.agent, step_brief(run, step), ""
        briefs.issue(run.caller, agent, text)
        return Result({"nonce": nonce or None, "brief": text}, text)

    def judge(self, arguments: argparse.Namespace, context: Context) -> Result:
        """Judge the round. Says what was found, and what the next round is about if one was opened."""
        from omo.engine import judging

        flow = self.flow
        given = None if arguments.result is None else _message(arguments.result, context)
        reopen_if_changed(caller_of(context, context.session(arguments.session)), flow.name)
        run = self._run(arguments, context)
        for step in flow.skippable:
            if reason := getattr(arguments, step.name):
                steps.skip(run, step, reason)
        try:
            judged = judging.judge(run, _with_gates_run(run, context), result_text=given)
        except Refused:
            run.publish()  # a crash may have left the session behind the ledger
            raise
        row, case = judged.row, run.require_whole()
        lines = [f"Iteration {row['iteration']} of {case.most_rounds}: {judged.verdict}"]
        lines += show.to_do(case, row["results"], Files(context.root))
        for challenge in row.get("challenges", []):
            lines.append(f"Challenge to {challenge['criterion']}: {clip(challenge['text'], show.LONGEST_SHOWN)}")
        lines += show.sentences(show.overrides(case))
        if not judged.is_closed:
            lines.append("Not judged: nobody could tell, and nothing was counted")
        elif case.is_open:
            same = ", with the same phases" if flow.steps else ""
            lines.append(f"Iteration {case.round} is open{same}.")
        lines.append(f"Next: {judged.next.text}")
        data = {
            **show.data_of(case, judged.next, row["results"]),
            "ok": judged.verdict == "pass",
            "iteration": row["iteration"],
            "verdict": judged.verdict,
            "decision": row.get("decision"),
            "independence": row["independence"],
            "challenges": row.get("challenges", []),
            "gates": row.get("gates", []),
            "notes": judged.notes,
        }
        return Result(data, "\n".join(lines), judging.EXIT_CODES[judged.verdict], judged.notes)

    def status(self, arguments: argparse.Namespace, context: Context) -> Result:
        flow, caller = self.flow, caller_of(context, context.session(arguments.session, looks=True))
        run = load_run(flow, caller, arguments.named)
        if run is None:
            step = ends.not_begun(flow, caller)
            return Result(show.nothing_to_show(flow, step, state="none"), f"No {flow.what}. Next: {step.text}")
        step, what = run.publish(), f"{flow.name.capitalize()} run {run.id}"
        notes = list(run.damage_lines)
        if run.state is None:
            data = show.nothing_to_show(flow, step, run=run.id, state="damaged", problems=notes)
            return Result(data, f"{what}: its ledger is damaged\nNext: {step.text}", notes=notes)
        case = run.state
        lines = [f"{what}: {case.headline}"]
        for item in case.items:
            lines.append(f"  {show.line_of(case, item, case.last_result(item.id))}")
        lines += show.sentences([*show.facts(case), *show.overrides(case)])
        data = {**show.data_of(case, step), "problems": notes}
        return Result(data, "\n".join([*lines, f"Next: {step.text}"]), notes=notes)

    def abandon(self, arguments: argparse.Namespace, context: Context) -> Result:
        run = self._run(arguments, context)
        step = ends.abandon(run, arguments.reason)
        notes = ["the user is shown this at the next Stop"] if context.is_agent else []
        data = show.data_of(run.require_whole(), step)
        return Result(data, f"{self.flow.name.capitalize()} run {run.id} is given up.", notes=notes)

    def _run(self, arguments: argparse.Namespace, context: Context, *, looks: bool = False) -> CaseRun:
        caller = caller_of(context, context.session(arguments.session, looks=looks))
        return require_run(self.flow, caller, arguments.named, looks=looks)


def _tests_to_pin(context: Context, case: Case, report: StepReport) -> str | None:
    """Return the command that makes the project's tests a gate, if code alone decides and none of its commands runs
    them: the end does not run what nobody pinned."""
    from omo.engine.checking import commands_of
    from omo.proof import kept_commands, own_commands
    from omo.work.gates import pin_line

    head = (read_base(case.started.get("files")) or {}).get("head")
    check = own_commands.test_gate(context.root, head, ".") if head and not case.questions else None
    if check is None:
        return None
    check = kept_commands.answered(context.state, [check])[0]
    for each in [*report.gates, *commands_of(case.items)]:
        if own_commands.covers(context.root, head, each.argv, each.cwd, check):
            return None
    return pin_line(check, paths.session_directory(context.environ, context.cwd))


def _with_gates_run(run: CaseRun, context: Context) -> Files:
    """Run the gates first if only they are missing, and return the files to be judged.

    Refused with what the gates print if one fails.
    """
    from omo.work.gate_runner import run_gates

    files = Files(context.root)
    gate_steps = [step.name for step in run.flow.steps if step.gates]
    report = steps.look(run, files)
    has_run = all(report.proofs[name].status == steps.PRESENT for name in gate_steps)
    if has_run or not report.gates or not set(report.missing) <= set(gate_steps):
        return files
    ran = run_gates(context, run.caller.session)
    run.caller.forget()
    files = Files(context.root)
    if not steps.look(run, files).ok:
        what = f"iteration {report.iteration} is not judged yet: its gates do not pass; that is not counted against it"
        ask = "where it is not the work's, omo ulw blocked asks the user, who may type /omo:allow NAME"
        raise Refused(what, fix=f"mend that, then {run.flow.judge}; {ask}", defects=ran.lines)
    return files


def _moment(text: str) -> str:
    """Return a time as ledgers write it; empty if none is given."""
    try:
        return stamp(seconds(text)) if text else ""
    except ValueError as error:
        raise BadInput(f"--newer-than: {error}", fix="for example 2026-02-22T17:20:01Z") from None


def _message(named: str, context: Context) -> str:
    """Read the judge's message from stdin or a file. A file inside the tree changes what is judged."""
    from omo.proof import documents

    if named == "-":
        return sys.stdin.read(LARGEST_MESSAGE)
    path = os.path.join(context.cwd, named)
    fix = "name the file with the judge's message behind --result"
    return documents.read_text(path, LARGEST_MESSAGE, fix, follow_link=True)
