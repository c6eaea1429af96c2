"""The judgement of an iteration: computed from what code and the judge saw of one tree, and recorded at once.

The judge gets a brief: what the user asked for, the criteria and how each is checked; nothing of how the work went.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from omo.clock import seconds
from omo.digest import sha256
from omo.errors import BadInput, NotEvaluable, Refused
from omo.proof import base
from omo.proof.gate_runs import Subject
from omo.state.rows import read_base
from omo.text import clip, listed
from omo.work import bound, proving, requests
from omo.work.agents import FULL, AgentMessage, NoAnswer, expect, messages_in
from omo.work.files import Files
from omo.work.judge import JUDGE, JudgeAnswer, failed, match, read_answer, read_messages
from omo.work.status import NextStep, command
from omo.workflows.ralph import rules
from omo.workflows.ralph.asking import ask
from omo.workflows.ralph.criteria import commands_of, named_checks
from omo.workflows.ralph.end import end_of, outcome_of, publish
from omo.workflows.ralph.evaluate_criteria import EARLIER_BRIEF, HEAVY_SECONDS, CheckResult, Evaluation, result_of
from omo.workflows.ralph.phases import PhaseReport, check
from omo.workflows.ralph.rules import ASK, MOST_CIRCUMVENTIONS, PROMPT, CriterionResult, RalphRow
from omo.workflows.ralph.run import RalphRun, RalphState, fix, opening, require_open
from omo.workflows.ultrawork.gates import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base

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
    "file of the project), then omo gate run, then omo ralph judge"
)


class Judgement(NamedTuple):
    """What one call found, as it was recorded: `judged`, or `judge-unknown`, which leaves the iteration open."""

    row: RalphRow
    notes: list[str]
    next: NextStep

    @property
    def is_closed(self) -> bool:
        return bool(self.row["kind"] == "judged")

    @property
    def verdict(self) -> str:
        return str(self.row["verdict"]) if self.is_closed else "unknown"


def judge(
    run: RalphRun,
    files: Files,
    *,
    result_text: str | None = None,
    heavy: float = HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Judgement:
    """Evaluate the criteria, apply the results, record them. `result_text` is what was handed in instead of the judge's
    own message."""
    state = require_open(run)
    report = check(run, files)
    if not report.ok:
        raise _not_judged(run, state, report)
    before = base.take(files.root, os.environ, run.caller.state)  # with what is in no commit
    answers = _answers(run, state, files, result_text)
    notes = answers.notes
    evaluation = Evaluation(run, state, answers.answers, heavy, clock, _subject(run, state))
    results = _results(state, evaluation)
    after = Files(files.root)
    if after.tree != files.tree:
        notes += [CHANGED, *_left_behind(after, before)]
        results = {name: result_of([CheckResult(name, "unknown", CHANGED)]) for name in results}
    applied = _applied(state, results)
    row: RalphRow = {"iteration": state.iteration, "results": results, "tree": files.tree}
    row["independence"] = answers.independence
    if applied.verdict == "unknown":
        row["kind"] = "judge-unknown"
        _record(run, state, [row], answers.digest)
        has_unknown = any(answer.result == "unknown" for answer in answers.answers.values())
        if has_unknown and after.tree == files.tree:  # an answer counts once: a new judge gets a new brief
            ask(run, files)
        return Judgement(row, notes, publish(run))
    row |= {
        "kind": "judged",
        "files": before,
        "states": {name: known.data for name, known in applied.states.items()},
        "verdict": applied.verdict,
        "decision": applied.decision,
        "gates": report.gate_rows,
        "challenges": answers.challenges,
    }
    if applied.verdict == "pass":
        row |= _proof(run, state, report, evaluation)
    # Unless the run is over, the next iteration is open at once, on the files as they are after it.
    opens = opening(run.caller, after, state.iteration + 1)
    ended = end_of(state, row)
    if ended is not None and ended["how"] == "pass":
        ended["files"] = bound.files_of_end(run.caller.root, run.caller.events)
    _record(run, state, [row, ended or opens], answers.digest)
    if run.caller.row().get("awaits"):
        expect(run.caller, None)
    return Judgement(row, notes, publish(run))


def _not_judged(run: RalphRun, state: RalphState, report: PhaseReport) -> Refused:
    """Why nothing is judged. To ask before a phase has happened is recorded as a circumvention; what else is missing is
    only told."""
    if report.damage:
        return Refused(report.damage, fix=report.remediation)
    missing = ", ".join(report.missing)
    defects = [f"{phase}: {report.proofs[phase].text}" for phase in report.missing]
    what = f"iteration {state.iteration} is not judged yet ({missing} not proven); that is not counted against it"
    steps = [report.remediation]
    if report.undone:
        attempts = record_circumvention(run, report.missing)
        following = publish(run)
        count = f"circumvention {attempts} of {MOST_CIRCUMVENTIONS}"
        if attempts >= MOST_CIRCUMVENTIONS:
            count += "; that ends the run"
            steps = [following.text]
        what = f"iteration {state.iteration} is not judged: {missing} did not happen in it ({count})"
    elif state.briefs:
        steps = [*_left_behind(Files(run.caller.root), state.briefs[-1]["files"]), *steps]
    return Refused(what, fix="; ".join(steps), missing=report.missing, defects=defects)


def record_circumvention(run: RalphRun, missing: list[str]) -> int:
    """Note that judgement was asked for over phases that did not happen; the third such attempt ends the run.

    The iteration stays open: what is missing can still be done.
    """

    def decide(now: RalphState) -> tuple[int, list[RalphRow]]:
        require_open(run)
        attempt = now.circumventions + 1
        row: RalphRow = {"kind": "exec-circumvention", "iteration": now.iteration, "missing": missing}
        if attempt < MOST_CIRCUMVENTIONS:
            return attempt, [row]
        outcome = outcome_of(replace(now, circumventions=attempt), "circumvented")
        end: RalphRow = {"kind": "ended", "how": "circumvented", "verdict": "fail", "receipt": None, "outcome": outcome}
        return attempt, [row, end]

    return run.change_whole(decide)


def _left_behind(files: Files, before: Base) -> list[str]:
    """What to do about files that have changed since `before`; empty where none has."""
    changed = files.changed_since(before)
    return [LEFT_BEHIND.format(listed(changed, MOST_NAMED))] if changed else []


def _subject(run: RalphRun, state: RalphState) -> Subject:
    began = read_base(state.started.get("files")) or {"head": None, "files": {}}
    gates = fold(run.caller.events, None)
    return proving.subject_of(run.caller, began, gates.allowed_changes, left=gates.left)


def _proof(run: RalphRun, state: RalphState, report: PhaseReport, evaluation: Evaluation) -> RalphRow:
    """What the commands prove of a run that passed. Beside a judge's word that is only why they need not mean that the
    work was done; where no judge was asked, they prove what the user confirmed or the project names."""
    subject, still = evaluation.subject, evaluation.still_failing
    notes = [proving.FAILED_BEFORE.format(listed(still, MOST_NAMED))] if still else []
    checks = named_checks(state.criteria, is_users=state.is_confirmed)
    commands: list[Any] = [*report.gates, *commands_of(state.criteria)]
    began_at = seconds(str(state.started.get("ts")))
    proof = ""
    doubts = proving.other_programs(subject, commands, state.started.get("programs") or {}, began_at)
    if not doubts and not state.questions:
        # The hook permits `omo ralph judge` unasked, because it runs only what is pinned.
        shown = proving.shown_by_checks(subject, checks, report.gates, runs_tests=False)
        proof, doubts = shown.proof, list(shown.doubts)
    else:
        doubts = doubts or proving.doubts(subject, commands)
        notes += proving.allowed_notes(subject)
    wanted = requests.wanted_last(requests.typed(run.caller.events, "ralph"))
    if wanted is not None and wanted[1] > began_at:
        # "a criterion more in the user's file, named again under way, judged without it"
        named = clip(wanted[0]["path"], 80)
        doubts.append(f"the user named {named} since, and nothing of it as it was then was begun")
    return {"proof": proof, "doubts": doubts, "allowed": notes}


def _results(state: RalphState, evaluation: Evaluation) -> dict[str, CriterionResult]:
    """Results may be taken over from an earlier iteration, but none of those ends a run: before that all are made."""
    results = evaluation.results(takes_over=True)
    is_cached = any(result["cached_from"] for result in results.values())
    if is_cached and _applied(state, results).decision != "replan":
        return evaluation.results(takes_over=False)
    return results


def _applied(state: RalphState, results: Mapping[str, CriterionResult]) -> rules.Applied:
    by_name = {name: result["result"] for name, result in results.items()}
    return rules.apply(state.states, by_name, state.iteration, state.max_iterations)


def _record(run: RalphRun, state: RalphState, rows: list[RalphRow], digest: str) -> None:
    """All of it or nothing, and only while the run stands where it was looked at."""
    if digest:
        rows = [{"kind": "judge-inline-fallback", "iteration": state.iteration, "digest": digest}, *rows]

    def decide(now: RalphState) -> tuple[None, list[RalphRow]]:
        if len(now.rows) != len(state.rows):
            what = "the run went on while it was judged, so this judgement is void"
            raise Refused(what, fix=fix(run, command("omo ralph judge")))
        return None, rows

    run.change_whole(decide)


# The judge


def _answers(run: RalphRun, state: RalphState, files: Files, given: str | None) -> JudgeAnswer:
    """An answer to each question of the run: from the judge of the brief about these files, but for what another judge
    of the iteration found to fail. Refused while nobody was asked about these files, or nobody answered."""
    if not state.questions:
        ignored = ["--result is ignored: code evaluates every check of this run"] if given is not None else []
        return JudgeAnswer(notes=ignored)
    reported = messages_in(run.caller.events, [JUDGE])
    newest = state.brief_about(files.tree)
    if newest is None:  # nobody was asked about these files, before whose answer nothing is judged
        left_behind = _left_behind(files, state.briefs[-1]["files"]) if state.briefs else []
        ask(run, files)
        publish(run)
        why = "; ".join([f"iteration {state.iteration} has questions that code cannot answer", *left_behind])
        raise NotEvaluable(f"not judged yet: {why}; {JUDGE} is asked", fix=_ask_first(run))
    if given is None:
        answers = read_messages(reported, newest["nonce"], newest["ts"])
    else:
        answers = _answers_in_file(given, newest, state.briefs, reported)
    if answers.unread:
        raise NotEvaluable(
            f"iteration {state.iteration} is not judged while its brief is unanswered: {answers.unread}",
            fix=_ask_first(run),
            defects=[*answers.notes, answers.unread],
        )
    matched, notes = match(answers, state.questions)
    if answers.independence != FULL:
        notes.append(INLINE)
    for other in state.all_briefs:
        if other is newest or (other not in state.briefs and other["tree"] != files.tree):
            continue
        for key, answer in failed(reported, other["nonce"], other["ts"]).items():
            if key in matched:
                matched[key] = replace(answer, source=EARLIER_BRIEF)
                notes.append(STANDS.format("/".join(key)))
    return replace(answers, answers=matched, notes=notes)


def _answers_in_file(
    text: str, newest: RalphRow, briefs: Sequence[RalphRow], reported: Sequence[AgentMessage]
) -> JudgeAnswer:
    """What was handed in instead of a judge's own message, to the brief about these files.

    It stands in only where no judge was seen to speak of any of the briefs.
    """
    try:
        given = read_answer(text, newest["nonce"])
    except NoAnswer as error:
        fixed_by = f"{PROMPT} shows the form and the nonce; one JSON object, beginning a line"
        raise BadInput(f"--result: {error}", fix=fixed_by) from None
    for message in reported:
        # Nobody knows what a message answered that was cut.
        speaks = message.is_cut or any(brief["nonce"] in message.text for brief in briefs)
        if speaks and message.ts >= briefs[0]["ts"]:
            raise Refused(
                f"--result is for where no {JUDGE} can be started, and one was seen to answer",
                fix=f"leave --result out; where its answer does not count, start a new {JUDGE}: {PROMPT}",
            )
    answers = {key: replace(answer, source="inline") for key, answer in given.answers.items()}
    return replace(given, answers=answers, digest=sha256(text.encode("utf-8", "replace")))


def _ask_first(run: RalphRun) -> str:
    return f"{ASK}; then {fix(run, command('omo ralph judge'))}"
