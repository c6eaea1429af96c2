"""The judgement of an iteration: computed from what code and the judge saw of one tree, and recorded at once."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omo.errors import Refused
from omo.evidence import base, changes, seals, tree
from omo.evidence.checks import CommandCheck, MetricCheck
from omo.ralph import ending, iteration, judge_answer, phases, rules, summary
from omo.ralph.brief import MOST_CALLS, earlier_failures, expect_judge, judge_messages, require_iteration, rows_of
from omo.ralph.evaluate_criteria import HEAVY_SECONDS, CriterionResult, Evaluation, heavy_facts
from omo.ralph.judge_answer import JUDGE, Answer, JudgeAnswer, Key
from omo.ralph.outcomes import outcome_of
from omo.ralph.rules import MOST_CIRCUMVENTIONS, State
from omo.ralph.run import RalphRun, Standing
from omo.shown import clip
from omo.work.agents import FULL

Row = dict[str, Any]

EXIT_CODES = {"pass": 0, "partial": 3, "fail": 3, "unknown": 4}
MOST_NAMED = 5
INLINE = (
    f"no hook saw {JUDGE} say this: the answers come from a file (judge-inline-fallback), so independence is reduced; "
    "tell the user"
)
UNCOUNTED = "nothing was counted for what stayed unknown"
STANDS = "{}: a judge found in an earlier brief of this iteration that it does not hold, and that stands until the next"
MOVED = "the files are others than those the judge was asked about, so the answers do not count; ask anew"
CHANGED = (
    "the files changed while they were judged, so nothing is known of them: let nothing else write, "
    "have git ignore what the checks write, and judge again"
)
LEFT_BEHIND = (
    "others since: {}; what a judge or a check left behind is removed, or ignored by git (.git/info/exclude changes no "
    "file of the project), then omo gate run, then omo ralph judge"
)


@dataclass
class Judgement:
    """What one call found. `unknown_calls` counts those of this iteration that could not tell; `decision` is empty
    while the iteration is open.
    """

    run: str
    iteration: int
    max_iterations: int
    verdict: str
    decision: str
    results: Sequence[CriterionResult]
    states: Mapping[str, State]
    independence: str = FULL
    unknown_calls: int = 0
    is_closed: bool = True
    challenges: list[Row] = field(default_factory=list)
    gates: list[Row] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    next: str = ""

    @property
    def criteria(self) -> list[Row]:
        table = []
        for result in self.results:
            name = result.criterion.id
            table.append({"id": name, "status": self.states[name].status, **result.data})
        return table

    @property
    def remaining(self) -> list[Row]:
        left = []
        for result in self.results:
            state = self.states[result.criterion.id]
            if result.result == "pass" or state.status == "BLOCKED":
                continue
            entry = {
                "id": result.criterion.id,
                "reason": result.evidence,
                "suggested_action": result.suggested_action,
                "fail_count": state.fail_count,
                "regression": state.status == "REGRESSED",
                "previous_pass_iteration": state.last_pass_iteration,
                "next_failure_blocks": state.next_failure_blocks,
            }
            left.append(entry)
        return left


def judge(
    run: RalphRun,
    *,
    result_text: str | None = None,
    heavy: float = HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Judgement:
    """Evaluate, apply, record. `result_text` is what was handed in instead of the judge's own message."""
    status = run.require_open()
    require_iteration(status)
    gates = _require_phases(run, status)
    root = Path(run.root)
    before = tree.fingerprint(root)  # no cache: recorded here, it is proof later
    files = {"tree": before, "files": base.take(run.root, os.environ)}
    answer, answers, failed = _ask_judge(run, status, result_text, before)
    notes = [*answer.notes, *(STANDS.format("/".join(key)) for key in failed)]
    results = _evaluate(Evaluation(run, status, answers, answer.source, failed, heavy, clock))
    if tree.fingerprint(root) != before:
        notes.append(CHANGED)
        notes += _left_behind(run.root, files)
        results = [result.as_unknown(CHANGED) for result in results]
    judgement = _conclude(status, results, answer, notes)
    judgement.gates = gates
    judgement.doubts = _doubts(run, status)
    _record(run, status, judgement, answer.digest, files, heavy)
    if judgement.is_closed:
        expect_judge(run, status, None)
    judgement.next = summary.tell(run).text
    return judgement


def _require_phases(run: RalphRun, status: Standing) -> list[Row]:
    """The gates that were passed. Only asking over work that was not done is counted; what else is missing is told."""
    report = phases.check(run, status)
    if report.ok:
        return report.gates
    if report.damage:
        raise Refused(report.damage, fix=report.remediation, defects=[report.damage])
    missing = ", ".join(report.missing)
    defects = [f"{phase}: {report.proofs[phase].text}" for phase in report.missing]
    if not report.undone:
        left = _left_behind(run.root, status.briefs[-1]) if status.briefs else []
        raise Refused(
            f"iteration {status.iteration} is not judged yet ({missing} not proven); that is not counted against it",
            fix="; ".join([*left, report.remediation]),
            missing=report.missing,
            defects=defects,
        )
    attempts = record_circumvention(run, status, report.missing)
    summary.tell(run)
    over = "; that ends the run" if attempts >= MOST_CIRCUMVENTIONS else ""
    raise Refused(
        f"iteration {status.iteration} is not judged: {missing} did not happen in it "
        f"(circumvention {attempts} of {MOST_CIRCUMVENTIONS}{over})",
        fix=report.remediation,
        missing=report.missing,
        defects=defects,
    )


def record_circumvention(run: RalphRun, status: Standing, missing: list[str]) -> int:
    """Note that judgement was asked for over phases that did not happen; the third such attempt ends the run.

    The iteration stays open: what is missing can still be done.
    """

    def decide(now: Standing) -> tuple[int, list[Row]]:
        if now.ended is not None or now.iteration != status.iteration:
            raise Refused(f"iteration {status.iteration} is no longer open", fix="omo ralph status")
        attempt = now.circumventions + 1
        row = {"kind": "exec-circumvention", "iteration": now.iteration, "attempt": attempt, "missing": missing}
        if attempt < MOST_CIRCUMVENTIONS:
            return attempt, [row]
        outcome = outcome_of(replace(now, circumventions=attempt), "circumvented")
        end = {"kind": "ended", "how": "circumvented", "verdict": "fail", "receipt": None, "outcome": outcome}
        return attempt, [row, end]

    attempts: int = run.append(decide=decide)
    return attempts


def _left_behind(root: str, row: Row) -> list[str]:
    """What to do about files that are others than when that row was written; nothing where there are none."""
    changed = iteration.changed_files(root, row) or []
    if not changed:  # what tests and servers leave behind is no work, and part of the tree
        changed = [path for path in changes.untracked(Path(root)) if base.is_leftover(path)]
    if not changed:
        return []
    names = ", ".join(clip(path, 100) for path in changed[:MOST_NAMED])
    if len(changed) > MOST_NAMED:
        names += f" and {len(changed) - MOST_NAMED} more"
    return [LEFT_BEHIND.format(names)]


def _ask_judge(
    run: RalphRun, status: Standing, given: str | None, files: str
) -> tuple[JudgeAnswer, dict[Key, Answer], dict[Key, Answer]]:
    """What was said to the brief, what of it answers which question, and what a judge found to fail before.

    An answer is about the files of its brief: `unread` where those are others now.
    """
    asked, by_code = [], []
    for criterion in status.criteria:
        asked += [(criterion.id, check.id) for check in criterion.questions]
        by_code += [(criterion.id, check.id) for check in criterion.mechanical]
    if not asked:
        ignored = ["--result is ignored: code evaluates every check of this run"] if given is not None else []
        return JudgeAnswer(notes=ignored), {}, {}
    reported = judge_messages(run, status)
    answer = judge_answer.answer_to(status, reported, given)
    notes = [] if answer.independence == FULL else [INLINE]
    if not answer.unread and status.briefs[-1].get("tree") != files:
        answer = replace(answer, unread=MOVED)
        notes += _left_behind(run.root, status.briefs[-1])
    if answer.unread:
        notes = [*answer.notes, *notes, answer.unread]
        answers = dict.fromkeys(asked, Answer("unknown", answer.unread))
    else:
        answers, own_notes = judge_answer.match(answer, asked, by_code)
        notes = [*own_notes, *notes]
    failures = {key: each for key, each in earlier_failures(status, reported).items() if key in answers}
    return replace(answer, notes=notes), answers, failures


def _doubts(run: RalphRun, status: Standing) -> list[str]:
    """What was done since the start to files that the commands of the criteria rest on."""
    commands = []
    for criterion in status.criteria:
        commands += [check for check in criterion.checks if isinstance(check, (CommandCheck, MetricCheck))]
    return seals.doubts_of(run.root, status.started.get("files"), commands)


def _evaluate(evaluation: Evaluation) -> list[CriterionResult]:
    """A result that was taken over never ends a run: before it would, what was taken over is run."""
    results = evaluation.evaluate()
    is_cached = any(check.is_cached for result in results for check in result.checks)
    if is_cached and _apply(evaluation.status, results)[2] != "replan":
        return evaluation.run_cached(results)
    return results


def _apply(status: Standing, results: Sequence[CriterionResult]) -> tuple[dict[str, State], str, str]:
    """The states after these results, the verdict, and the decision if the iteration were closed on them."""
    by_name = {result.criterion.id: result.result for result in results}
    states = {}
    has_failed = False
    for name, state in status.states.items():
        states[name] = rules.after(state, by_name[name], status.iteration)
        has_failed |= by_name[name] == "fail" and states[name].status != "BLOCKED"
    verdict = rules.verdict(states, by_name)
    if verdict == "fail" and not has_failed:
        verdict = "unknown"
    return states, verdict, rules.decision(states, status.iteration, status.max_iterations, by_name)


def _conclude(status: Standing, results: Sequence[CriterionResult], answer: JudgeAnswer, notes: list[str]) -> Judgement:
    """Unknown closes nothing, three times in one iteration; the third time the iteration is spent.

    While a judge was asked and its answer is missing nothing is known as a whole, whatever code says of the rest.
    """
    states, verdict, decision = _apply(status, results)
    unknown_calls = len(rows_of(status, "judge-unknown"))
    is_unknown = verdict == "unknown" or bool(answer.unread)
    if is_unknown:
        unknown_calls += 1
    is_closed = not is_unknown or unknown_calls >= MOST_CALLS
    if not is_closed:
        verdict, decision, states = "unknown", "", dict(status.states)
    elif is_unknown:
        over = f"iteration {status.iteration} is over: {unknown_calls} calls could not tell; {UNCOUNTED}"
        notes = [*notes, over]
    return Judgement(
        run=status.run,
        iteration=status.iteration,
        max_iterations=status.max_iterations,
        verdict=verdict,
        decision=decision,
        results=results,
        states=states,
        independence=answer.independence,
        unknown_calls=unknown_calls,
        is_closed=is_closed,
        challenges=answer.challenges,
        notes=notes,
    )


def _record(run: RalphRun, status: Standing, judgement: Judgement, digest: str, files: Row, heavy: float) -> None:
    """All of it or nothing, and only while the run stands where it was looked at."""
    results = {result.criterion.id: result.data for result in judgement.results}
    about = {"iteration": judgement.iteration, "results": results, "independence": judgement.independence}
    if judgement.is_closed:
        for name, facts in heavy_facts(judgement.results, heavy).items():
            results[name]["heavy"] = facts
        row = {
            "kind": "judged",
            **about,
            **files,
            "states": {name: state.data for name, state in judgement.states.items()},
            "verdict": judgement.verdict,
            "decision": judgement.decision,
            "gates": judgement.gates,
            "doubts": judgement.doubts,
            "challenges": judgement.challenges,
            "unknown_calls": judgement.unknown_calls,
        }
    else:
        row = {"kind": "judge-unknown", **about, "tree": files["tree"], "call": judgement.unknown_calls}

    def decide(now: Standing) -> tuple[None, list[Row]]:
        if _position(now) != _position(status):
            raise Refused("the run went on while it was judged, so this judgement is void", fix="omo ralph judge")
        events = [row]
        if digest:
            events.insert(0, {"kind": "judge-inline-fallback", "iteration": now.iteration, "digest": digest})
        end = ending.end_of(now, row) if judgement.is_closed else None
        if end:
            events.append(end)
        return None, events

    run.append(decide=decide)


def _position(status: Standing) -> tuple[object, ...]:
    nonce = status.briefs[-1].get("nonce") if status.briefs else None
    unknown_calls = len(rows_of(status, "judge-unknown"))
    return status.is_open, status.open_iteration, status.iteration, len(status.judged), unknown_calls, nonce
