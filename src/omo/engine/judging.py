"""One judgement: what code and a judge saw of every item on the same files, applied and recorded at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from omo.clock import seconds
from omo.digest import sha256
from omo.engine import ends
from omo.engine.asking import ask
from omo.engine.case import Case, CaseRow, ItemResult
from omo.engine.checking import (
    EARLIER_BRIEF,
    HEAVY_SECONDS,
    CheckResult,
    Evaluation,
    commands_of,
    named_checks,
    result_of,
)
from omo.engine.flow import ItemMark
from omo.engine.runs import CaseRun
from omo.engine.steps import StepReport, look
from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base
from omo.proof.gate_runs import Subject
from omo.state.rows import read_base
from omo.text import clip, listed
from omo.work import bound, damage, proving, requests, task_documents
from omo.work.agents import FULL, AgentMessage, NoAnswer, expect, messages_in
from omo.work.files import Files
from omo.work.gates import fold as fold_gates
from omo.work.judge import JUDGE, JudgeAnswer, failed, match, read_answer, read_messages
from omo.work.status import NextStep, command

if TYPE_CHECKING:
    from omo.engine.hearing import Heard
    from omo.state.rows import Base, Outcome

EXIT_CODES = {"pass": 0, "partial": 3, "fail": 3, "unknown": 4}
MOST_NAMED = 5
INLINE = (
    f"no hook saw {JUDGE} say this: the answers come from a file (judge-inline-fallback), so independence is reduced; "
    "tell the user"
)
STANDS = "{}: a judge found in this iteration, or on these very files, that it does not hold, and that stands"
CHANGED = (
    "the files changed while they were judged, so nothing is known of them: let nothing else write, "
    "have git ignore what the checks write, and judge again"
)
LEFT_BEHIND = (
    "others since: {}; what a judge or a check left behind is removed, or ignored by git (.git/info/exclude changes no "
    "file of the project), then omo gate run, then {}"
)


class Judgement(NamedTuple):
    """What one call found, as it was recorded: `judged`, or `judge-unknown`, which leaves the round open."""

    row: CaseRow
    notes: list[str]
    next: NextStep

    @property
    def is_closed(self) -> bool:
        return bool(self.row["kind"] == "judged")

    @property
    def verdict(self) -> str:
        return str(self.row["verdict"]) if self.is_closed else "unknown"


@dataclass(frozen=True)
class Said:
    """What a verb of the workflow adds to a judgement: why, the agent's words, and how the run ends if it does."""

    why: str
    words: dict[str, str]
    outcome: Outcome
    notes: Sequence[str] = ()
    how: str = "pass"  # how a pass ends it


class Applied(NamedTuple):
    """What a round comes to if it is closed on its results.

    `decision`: `done` ends the run, and so does `safeguard`, as no round is left; `replan` opens the next one.
    """

    marks: dict[str, ItemMark]
    verdict: str
    decision: str


@dataclass(frozen=True)
class Looked:
    """What one look saw of every item. Nothing of it is written yet."""

    case: Case
    files: Files
    before: Base
    after: Files
    results: dict[str, ItemResult]
    applied: Applied
    answers: JudgeAnswer
    evaluation: Evaluation
    report: StepReport
    notes: list[str]

    @property
    def verdict(self) -> str:
        return self.applied.verdict

    @property
    def tree(self) -> str:
        """The files that the results are about."""
        return self.after.tree if self.case.flow.checks_may_write else self.files.tree


def judge(
    run: CaseRun,
    files: Files,
    *,
    result_text: str | None = None,
    heavy: float = HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Judgement:
    """Look at every item, apply the results, record them. `result_text` stands in for the judge's own message."""
    case = run.require_open()
    report = look(run, files)
    if not report.ok:
        raise _too_early(run, case, report)
    seen = look_at_items(run, files, report, _answers(run, case, files, result_text), heavy=heavy, clock=clock)
    row = record(run, seen)
    has_unknown = any(answer.result == "unknown" for answer in seen.answers.answers.values())
    if seen.verdict == "unknown" and has_unknown and seen.after.tree == files.tree:
        ask(run, files)  # an answer counts once: a new judge gets a new brief
    if seen.verdict != "unknown" and run.caller.row().get("awaits"):
        expect(run.caller, None)
    return Judgement(row, seen.notes, run.publish())


def look_at_items(
    run: CaseRun,
    files: Files,
    report: StepReport,
    answers: JudgeAnswer,
    judged: Heard | None = None,
    *,
    heavy: float = HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Looked:
    """Look at every item, and say what a judgement would come to."""
    case = run.require_state()
    before = base.take(files.root, os.environ, run.caller.state)  # with what is in no commit
    notes = answers.notes
    evaluation = Evaluation(run, case, files, answers.answers, _subject(run, case), heavy, clock, judged)
    results = _results(case, evaluation)
    after = Files(files.root)
    if after.tree != files.tree and not case.flow.checks_may_write:
        notes += [CHANGED, *_left_behind(run, after, before)]
        results = {name: result_of([CheckResult(name, "unknown", CHANGED)]) for name in results}
    applied = apply(case, {name: result["result"] for name, result in results.items()})
    return Looked(case, files, before, after, results, applied, answers, evaluation, report, notes)


def record(run: CaseRun, seen: Looked, said: Said | None = None) -> CaseRow:
    """Record what was seen, with what a verb of the workflow adds to it. Returns the row of the judgement."""
    case, applied = seen.case, seen.applied
    row: CaseRow = {"iteration": case.round, "results": seen.results, "tree": seen.tree}
    row["independence"] = seen.answers.independence
    if applied.verdict == "unknown":
        row["kind"] = "judge-unknown"
        _record(run, case, [*seen.evaluation.looked_rows, row], seen.answers.digest)
        return row
    row |= {
        "kind": "judged",
        "files": seen.before,
        "marks": {name: asdict(mark) for name, mark in applied.marks.items()},
        "verdict": applied.verdict,
        "decision": applied.decision,
        "gates": seen.report.gate_rows,
        "challenges": seen.answers.challenges,
    }
    if said is not None:
        row |= {"why": said.why, "words": said.words, "notes": list(said.notes)}
    elif applied.verdict == "pass":
        row |= _proof(run, case, seen.report, seen.evaluation)
    ended = ends.ended_by_judgement(case, row, said)
    if ended is not None and applied.verdict == "pass":
        ended["files"] = bound.files_of_end(run.caller.root, run.caller.events)
    rows: list[CaseRow] = [*seen.evaluation.looked_rows, row]
    if ended is not None:
        rows.append(ended)
    elif not case.flow.is_filed:  # the next round is open at once, on the files as they are after it
        rows.append(run.round_row(seen.after, case.round + 1))
    _record(run, case, rows, seen.answers.digest)
    return row


def apply(case: Case, results: Mapping[str, str]) -> Applied:
    """Move every item by its result, and decide what becomes of the run.

    `pass`: every item was seen to pass this time. `partial`: settled, and something is stuck. `unknown`: nobody could
    tell, and nothing failed. What passes in the last round is done, not cut short.
    """
    flow = case.flow
    marks = {name: flow.turn(mark, results[name], case.round) for name, mark in case.marks.items()}
    in_play = [name for name, mark in marks.items() if not flow.is_stuck(mark)]
    if marks and all(results[name] == "pass" for name in in_play):
        return Applied(marks, "pass" if len(in_play) == len(marks) else "partial", "done")
    verdict = "fail" if any(results[name] == "fail" for name in in_play) else "unknown"
    return Applied(marks, verdict, "safeguard" if case.round >= case.most_rounds else "replan")


def _too_early(run: CaseRun, case: Case, report: StepReport) -> Refused:
    """Return why nothing is judged. Asking before a step has happened is recorded; all else is only told."""
    missing, most = ", ".join(report.missing), run.flow.most_early
    defects = [f"{step}: {report.proofs[step].text}" for step in report.missing]
    what = f"iteration {case.round} is not judged yet ({missing} not proven); that is not counted against it"
    to_do = [report.remediation]
    if report.undone and not report.was_damaged:
        attempts = ends.record_early(run, report.missing)
        following = run.publish()
        count = f"circumvention {attempts} of {most}"
        if attempts >= most:
            count += "; that ends the run"
            to_do = [following.text]
        what = f"iteration {case.round} is not judged: {missing} did not happen in it ({count})"
    elif case.briefs_of_round:
        to_do = [*_left_behind(run, Files(run.caller.root), case.briefs_of_round[-1]["files"]), *to_do]
    return Refused(what, fix="; ".join(to_do), missing=report.missing, defects=defects)


def _left_behind(run: CaseRun, files: Files, before: Base) -> list[str]:
    """Say what to do about files that have changed since `before`, if any have."""
    changed = files.changed_since(before)
    return [LEFT_BEHIND.format(listed(changed, MOST_NAMED), run.flow.judge)] if changed else []


def _results(case: Case, evaluation: Evaluation) -> dict[str, ItemResult]:
    """Reuse results of earlier rounds, but end no run on them: before that every check runs."""
    results = evaluation.results(reuses=True)
    is_cached = any(result["cached_from"] for result in results.values())
    by_name = {name: result["result"] for name, result in results.items()}
    if is_cached and apply(case, by_name).decision != "replan":
        return evaluation.results(reuses=False)
    return results


def _subject(run: CaseRun, case: Case) -> Subject:
    began = read_base(case.started.get("files")) or {"head": None, "files": {}}
    gates = fold_gates(run.caller.events, None)
    left = gates.left
    if left and case.source in began["files"]:  # the file that asks is no work
        left = {**left, "files": {**left["files"], case.source: began["files"][case.source]}}
    return proving.subject_of(run.caller, began, gates, left=left)


def _proof(run: CaseRun, case: Case, report: StepReport, evaluation: Evaluation) -> CaseRow:
    """Say what the commands prove of a run that passed.

    If no judge was asked, they prove what the user confirmed or the project names. Beside a judge's word they only
    raise doubts whether the work was done.
    """
    subject, notes = evaluation.subject, [*evaluation.notes]
    commands: list[Any] = [*report.gates, *commands_of(case.items)]
    began_at = seconds(case.started_at)
    proof = ""
    doubts = proving.other_programs(subject, commands, case.started.get("programs") or {}, began_at)
    if not doubts and not case.questions:
        # The hook permits this command unasked, because it runs only what is pinned.
        shown = proving.shown_by_checks(subject, named_checks(case), report.gates, runs_tests=False)
        proof, doubts = shown.proof, list(shown.doubts)
    else:
        doubts = doubts or proving.doubts(subject, commands)
        notes += proving.allowed_notes(subject)
    asked = requests.rows_since(run.caller.events, run.flow.name, case.started_at)
    doubts = [*task_documents.doubts(subject.root, asked, subject.allowed, subject.began), *doubts]
    wanted = requests.wanted_last(requests.typed(run.caller.events, run.flow.name))
    if wanted is not None and wanted[1] > began_at:
        # "a criterion more in the user's file, named again under way, judged without it"
        named = clip(wanted[0]["path"], 80)
        doubts.append(f"the user named {named} since, and nothing of it as it was then was begun")
    damaged = damage.exceptions(run.caller, str(case.started.get("ts")))
    return {"proof": proof, "doubts": doubts, "allowed": notes, "damaged": damaged}


def _record(run: CaseRun, case: Case, rows: list[CaseRow], digest: str) -> None:
    """Write all rows or none, and only if the run is as it was when it was looked at."""
    if digest:
        rows = [{"kind": "judge-inline-fallback", "iteration": case.round, "digest": digest}, *rows]

    def decide(now: Case) -> tuple[None, list[CaseRow]]:
        if len(now.rows) != len(case.rows):
            what = "the run went on while it was judged, so this judgement is void"
            raise Refused(what, fix=run.fix(command(run.flow.judge)))
        return None, rows

    run.change_whole(decide)


# The judge's answers


def _answers(run: CaseRun, case: Case, files: Files, given: str | None) -> JudgeAnswer:
    """Return an answer to each question, by the judge of the brief about these files.

    What another judge of the round, or of the very same files, found to fail stands. Refused while nobody was asked
    about these files, or nobody has answered.
    """
    if not case.questions:
        ignored = ["--result is ignored: code evaluates every check of this run"] if given is not None else []
        return JudgeAnswer(notes=ignored)
    reported = messages_in(run.caller.events, [JUDGE])
    newest = case.brief_about(files.tree)
    if newest is None:
        briefs = case.briefs_of_round
        left_behind = _left_behind(run, files, briefs[-1]["files"]) if briefs else []
        ask(run, files)
        run.publish()
        why = "; ".join([f"iteration {case.round} has questions that code cannot answer", *left_behind])
        raise NotEvaluable(f"not judged yet: {why}; {JUDGE} is asked", fix=_ask_first(run))
    if given is None:
        answers = read_messages(reported, newest["nonce"], newest["ts"])
    else:
        answers = _answers_in_file(run, given, newest, case.briefs_of_round, reported)
    if answers.unread:
        raise NotEvaluable(
            f"iteration {case.round} is not judged while its brief is unanswered: {answers.unread}",
            fix=_ask_first(run),
            defects=[*answers.notes, answers.unread],
        )
    matched, notes = match(answers, case.questions)
    if answers.independence != FULL:
        notes.append(INLINE)
    for other in case.briefs:
        is_of_now = other["iteration"] == case.round or other["tree"] == files.tree
        if other is newest or not is_of_now:
            continue
        for key, answer in failed(reported, other["nonce"], other["ts"]).items():
            if key in matched:
                matched[key] = replace(answer, source=EARLIER_BRIEF)
                notes.append(STANDS.format("/".join(key)))
    return replace(answers, answers=matched, notes=notes)


def _answers_in_file(
    run: CaseRun, text: str, newest: CaseRow, briefs: Sequence[CaseRow], reported: Sequence[AgentMessage]
) -> JudgeAnswer:
    """Read answers that were handed in. They count only if no judge was seen to speak of any brief of the round."""
    shows_form = run.flow.brief
    try:
        given = read_answer(text, newest["nonce"])
    except NoAnswer as error:
        fix = f"{shows_form} shows the form and the nonce; one JSON object, beginning a line"
        raise BadInput(f"--result: {error}", fix=fix) from None
    for message in reported:
        # Nobody knows what a message answered that was cut.
        speaks = message.is_cut or any(brief["nonce"] in message.text for brief in briefs)
        if speaks and message.ts >= briefs[0]["ts"]:
            raise Refused(
                f"--result is for where no {JUDGE} can be started, and one was seen to answer",
                fix=f"leave --result out; where its answer does not count, start a new {JUDGE}: {shows_form}",
            )
    answers = {key: replace(answer, source="inline") for key, answer in given.answers.items()}
    return replace(given, answers=answers, digest=sha256(text.encode("utf-8", "replace")))


def _ask_first(run: CaseRun) -> str:
    return f"{run.flow.ask}; then {run.fix(command(run.flow.judge))}"
