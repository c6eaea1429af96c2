"""The judgement of an iteration: computed from what code and the judge saw of one tree, and recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from omo.errors import Refused
from omo.proof import base, changes, seals
from omo.proof.checks import CommandCheck, MetricCheck, parse_checks
from omo.text import clip
from omo.work.agents import FULL, Message
from omo.work.status import command
from omo.workflows.ralph import judge_answer, rules
from omo.workflows.ralph.brief import MOST_CALLS, earlier_failures
from omo.workflows.ralph.end import end_of, outcome_of, publish
from omo.workflows.ralph.evaluate_criteria import COMMANDS, HEAVY_SECONDS, CriterionResult, Evaluation, heavy_facts
from omo.workflows.ralph.iteration import Files
from omo.workflows.ralph.judge_answer import Answer, JudgeAnswer, Key
from omo.workflows.ralph.phases import PhaseReport, check, expect, session_events
from omo.workflows.ralph.rules import JUDGE, MOST_CIRCUMVENTIONS, Row, State
from omo.workflows.ralph.run import RalphRun, RalphState, change, fix, require_iteration

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
    allowed: list[str] = field(default_factory=list)
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
    state = require_iteration(run)
    events = session_events(run)
    files = Files(run.caller.root)
    report = check(run, files, events)
    if not report.ok:
        raise _not_judged(run, state, report)
    answer, answers, failed = _ask_judge(files, state, events.messages(JUDGE), result_text)
    notes = [*answer.notes, *(STANDS.format("/".join(key)) for key in failed)]
    results = _evaluate(Evaluation(run, state, answers, answer.source, failed, heavy, clock))
    after = Files(files.root)
    if after.tree != files.tree:
        notes += [CHANGED, *_left_behind(after, {"files": files.now})]
        results = [result.as_unknown(CHANGED) for result in results]
    judgement = _conclude(state, results, answer, notes)
    judgement.gates = report.gates
    if judgement.verdict == "pass":
        examined = _seals(run, files, state)
        judgement.doubts, judgement.allowed = examined.doubts, examined.notes
    _record(run, state, judgement, answer.digest, files, heavy)
    if judgement.is_closed:
        expect(run, events, None)
    judgement.next = publish(run).text
    return judgement


def _not_judged(run: RalphRun, state: RalphState, report: PhaseReport) -> Refused:
    """Only asking over work that was not done is counted; what else is missing is told."""
    if report.damage:
        return Refused(report.damage, fix=report.remediation, defects=[report.damage])
    missing = ", ".join(report.missing)
    defects = [f"{phase}: {report.proofs[phase].text}" for phase in report.missing]
    what = f"iteration {state.iteration} is not judged yet ({missing} not proven); that is not counted against it"
    steps = [report.remediation]
    if report.undone:
        attempts = record_circumvention(run, state, report.missing)
        publish(run)
        over = "; that ends the run" if attempts >= MOST_CIRCUMVENTIONS else ""
        count = f"circumvention {attempts} of {MOST_CIRCUMVENTIONS}{over}"
        what = f"iteration {state.iteration} is not judged: {missing} did not happen in it ({count})"
    elif state.briefs:
        steps = [*_left_behind(Files(run.caller.root), state.briefs[-1]), *steps]
    return Refused(what, fix="; ".join(steps), missing=report.missing, defects=defects)


def record_circumvention(run: RalphRun, state: RalphState, missing: list[str]) -> int:
    """Note that judgement was asked for over phases that did not happen; the third such attempt ends the run.

    The iteration stays open: what is missing can still be done.
    """

    def decide(now: RalphState) -> tuple[int, list[Row]]:
        if now.ended is not None or now.iteration != state.iteration:
            fixed_by = fix(run, command("omo ralph status"))
            raise Refused(f"iteration {state.iteration} is no longer open", fix=fixed_by)
        attempt = now.circumventions + 1
        row = {"kind": "exec-circumvention", "iteration": now.iteration, "attempt": attempt, "missing": missing}
        if attempt < MOST_CIRCUMVENTIONS:
            return attempt, [row]
        outcome = outcome_of(replace(now, circumventions=attempt), "circumvented")
        end = {"kind": "ended", "how": "circumvented", "verdict": "fail", "receipt": None, "outcome": outcome}
        return attempt, [row, end]

    return change(run, decide)


def _left_behind(files: Files, row: Row) -> list[str]:
    """What to do about files that are others than when that row was written; nothing where there are none."""
    changed = files.changed_since(row) or []
    if not changed:  # what tests and servers leave behind is no work, and part of the tree
        changed = [path for path in changes.untracked(Path(files.root)) if base.is_leftover(path)]
    if not changed:
        return []
    names = ", ".join(clip(path, 100) for path in changed[:MOST_NAMED])
    if len(changed) > MOST_NAMED:
        names += f" and {len(changed) - MOST_NAMED} more"
    return [LEFT_BEHIND.format(names)]


def _ask_judge(
    files: Files, state: RalphState, reported: Sequence[Message], given: str | None
) -> tuple[JudgeAnswer, dict[Key, Answer], dict[Key, Answer]]:
    """What was said to the brief, what of it answers which question, and what a judge found to fail before.

    An answer is about the files of its brief: `unread` where those are others now.
    """
    asked, by_code = [], []
    for criterion in state.criteria:
        asked += [(criterion.id, check["id"]) for check in criterion.questions]
        by_code += [(criterion.id, check["id"]) for check in criterion.mechanical]
    if not asked:
        ignored = ["--result is ignored: code evaluates every check of this run"] if given is not None else []
        return JudgeAnswer(notes=ignored), {}, {}
    answer = judge_answer.answer_to(state, reported, given)
    notes = [] if answer.independence == FULL else [INLINE]
    if not answer.unread and state.briefs[-1].get("tree") != files.tree:
        answer = replace(answer, unread=MOVED)
        notes += _left_behind(files, state.briefs[-1])
    if answer.unread:
        notes = [*answer.notes, *notes, answer.unread]
        answers = dict.fromkeys(asked, Answer("unknown", answer.unread))
    else:
        answers, own_notes = judge_answer.match(answer, asked, by_code)
        notes = [*own_notes, *notes]
    failures = {key: each for key, each in earlier_failures(state, reported).items() if key in answers}
    return replace(answer, notes=notes), answers, failures


def _seals(run: RalphRun, files: Files, state: RalphState) -> seals.Seals:
    """What was done since the start to files that the commands of the criteria rest on."""
    commands: list[CommandCheck | MetricCheck] = []
    for criterion in state.criteria:
        run_by_code = parse_checks([check for check in criterion.checks if check["type"] in COMMANDS])
        commands += [check for check in run_by_code if isinstance(check, (CommandCheck, MetricCheck))]
    began = state.started.get("files")
    terms = seals.terms_of(run.caller.state, run.caller.session)
    return seals.examine(files.root, began, commands, look=files.since(began), terms=terms)


def _evaluate(evaluation: Evaluation) -> list[CriterionResult]:
    """A result that was taken over never ends a run: before it would, what was taken over is run."""
    results = evaluation.evaluate()
    is_cached = any(check.is_cached for result in results for check in result.checks)
    if is_cached and _apply(evaluation.state, results)[2] != "replan":
        return evaluation.run_cached(results)
    return results


def _apply(state: RalphState, results: Sequence[CriterionResult]) -> tuple[dict[str, State], str, str]:
    """The states after these results, the verdict, and the decision if the iteration were closed on them."""
    by_name = {result.criterion.id: result.result for result in results}
    states = {}
    has_failed = False
    for name, before in state.states.items():
        states[name] = rules.after(before, by_name[name], state.iteration)
        has_failed |= by_name[name] == "fail" and states[name].status != "BLOCKED"
    verdict = rules.verdict(states, by_name)
    if verdict == "fail" and not has_failed:
        verdict = "unknown"
    return states, verdict, rules.decision(states, state.iteration, state.max_iterations, by_name)


def _conclude(
    state: RalphState, results: Sequence[CriterionResult], answer: JudgeAnswer, notes: list[str]
) -> Judgement:
    """Unknown closes nothing, three times in one iteration; the third time the iteration is spent.

    While a judge was asked and its answer is missing nothing is known as a whole, whatever code says of the rest.
    """
    states, verdict, decision = _apply(state, results)
    unknown_calls = state.unknown_calls
    is_unknown = verdict == "unknown" or bool(answer.unread)
    if is_unknown:
        unknown_calls += 1
    is_closed = not is_unknown or unknown_calls >= MOST_CALLS
    if not is_closed:
        verdict, decision, states = "unknown", "", dict(state.states)
    elif is_unknown:
        over = f"iteration {state.iteration} is over: {unknown_calls} calls could not tell; {UNCOUNTED}"
        notes = [*notes, over]
    return Judgement(
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


def _record(run: RalphRun, state: RalphState, judgement: Judgement, digest: str, files: Files, heavy: float) -> None:
    """All of it or nothing, and only while the run stands where it was looked at."""
    results = {result.criterion.id: result.data for result in judgement.results}
    about = {"iteration": state.iteration, "results": results, "independence": judgement.independence}
    if judgement.is_closed:
        for name, facts in heavy_facts(judgement.results, heavy).items():
            results[name]["heavy"] = facts
        row = {
            "kind": "judged",
            **about,
            "tree": files.tree,
            "files": files.now,
            "states": {name: after.data for name, after in judgement.states.items()},
            "verdict": judgement.verdict,
            "decision": judgement.decision,
            "gates": judgement.gates,
            "doubts": judgement.doubts,
            "allowed": judgement.allowed,
            "challenges": judgement.challenges,
            "unknown_calls": judgement.unknown_calls,
        }
    else:
        row = {"kind": "judge-unknown", **about, "tree": files.tree, "call": judgement.unknown_calls}

    def decide(now: RalphState) -> tuple[None, list[Row]]:
        if _position(now) != _position(state):
            what = "the run went on while it was judged, so this judgement is void"
            raise Refused(what, fix=fix(run, command("omo ralph judge")))
        events = [row]
        if digest:
            events.insert(0, {"kind": "judge-inline-fallback", "iteration": now.iteration, "digest": digest})
        end = end_of(now, row) if judgement.is_closed else None
        if end:
            events.append(end)
        return None, events

    change(run, decide)


def _position(state: RalphState) -> tuple[object, ...]:
    nonce = state.briefs[-1].get("nonce") if state.briefs else None
    return state.is_open, state.open_iteration, state.iteration, len(state.judged), state.unknown_calls, nonce
