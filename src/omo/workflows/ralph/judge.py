"""The judgement of an iteration: computed from what code and the judge saw of one tree, and recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable, Refused
from omo.proof import base, changes, seals
from omo.proof.checks import parse_checks
from omo.text import clip
from omo.work.agents import FULL, SessionEvents, expect_of, session_events
from omo.work.judge import JUDGE, Answer, JudgeAnswer, Key, answered, failed, in_file, match, read_messages, said_since
from omo.work.status import command
from omo.workflows.ralph import rules
from omo.workflows.ralph.brief import MOST_CALLS, ask
from omo.workflows.ralph.end import end_of, outcome_of, publish
from omo.workflows.ralph.evaluate_criteria import COMMANDS, HEAVY_SECONDS, CriterionResult, Evaluation, heavy_facts
from omo.workflows.ralph.iteration import Files, opening
from omo.workflows.ralph.phases import PhaseReport, check
from omo.workflows.ralph.rules import ASK, MOST_CIRCUMVENTIONS, PROMPT, Row, State
from omo.workflows.ralph.run import RalphRun, RalphState, fix, require_open

EXIT_CODES = {"pass": 0, "partial": 3, "fail": 3, "unknown": 4}
MOST_NAMED = 5
INLINE = (
    f"no hook saw {JUDGE} say this: the answers come from a file (judge-inline-fallback), so independence is reduced; "
    "tell the user"
)
UNCOUNTED = "nothing was counted for what stayed unknown"
STANDS = "{}: a judge found in an earlier brief of this iteration that it does not hold, and that stands until the next"
MOVED = "the files are others than those the judge was asked about, so no answer of then counts"
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
    """What one call found. `decision` is empty where it could not tell, which leaves the iteration open;
    `unknown_calls` counts those of the iteration.
    """

    iteration: int
    verdict: str
    decision: str
    results: Sequence[CriterionResult]
    states: Mapping[str, State]
    unknown_calls: int
    answers: JudgeAnswer
    notes: list[str]
    gates: list[Row] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    next: str = ""

    @property
    def is_closed(self) -> bool:
        return bool(self.decision)

    @property
    def independence(self) -> str:
        return self.answers.independence

    @property
    def challenges(self) -> list[dict[str, str]]:
        return self.answers.challenges

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
        for entry in self.criteria:
            state = self.states[entry["id"]]
            if entry["result"] == "pass" or state.status == "BLOCKED":
                continue
            left.append(
                {
                    "id": entry["id"],
                    "reason": entry["evidence"],
                    "suggested_action": entry["suggested_action"],
                    "fail_count": state.fail_count,
                    "regression": state.status == "REGRESSED",
                    "previous_pass_iteration": state.last_pass_iteration,
                }
            )
        return left


def judge(
    run: RalphRun,
    files: Files,
    *,
    result_text: str | None = None,
    heavy: float = HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Judgement:
    """Evaluate, apply, record. `result_text` is what was handed in instead of the judge's own message."""
    state = require_open(run)
    events = session_events(run)
    report = check(run, files, events)
    if not report.ok:
        raise _not_judged(run, state, report)
    before = files.now
    answers, failures, is_moved = _answers(run, state, files, events, result_text)
    notes = [*answers.notes, *(STANDS.format("/".join(key)) for key in failures)]
    results = _evaluate(Evaluation(run, state, answers.answers, answers.source, failures, heavy, clock))
    after = Files(files.root)
    if after.tree != files.tree:
        notes += [CHANGED, *_left_behind(after, {"files": before})]
        results = [result.as_unknown(CHANGED) for result in results]
    judgement = _conclude(state, results, answers, notes, is_moved=is_moved)
    judgement.gates = report.gate_rows
    if judgement.verdict == "pass":
        sealed = _seals(files, state, report, events)
        judgement.doubts, judgement.allowed = sealed.doubts, sealed.notes
    _record(run, state, judgement, files, after)
    if judgement.is_closed:
        expect_of(run, events, None)
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

    attempts: int = run.change_whole(decide)
    return attempts


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


def _answers(
    run: RalphRun, state: RalphState, files: Files, events: SessionEvents, given: str | None
) -> tuple[JudgeAnswer, dict[Key, Answer], bool]:
    """What was answered to the newest brief, what a judge found to fail in earlier ones, and whether it is about
    other files than these. While the judge may be asked about these it is, and an iteration with a brief that nobody
    answered is not judged.
    """
    if not state.questions:
        ignored = ["--result is ignored: code evaluates every check of this run"] if given is not None else []
        return JudgeAnswer(notes=ignored), {}, False
    reported = events.messages(JUDGE)
    may_ask = len(answered(state.briefs, reported)) < MOST_CALLS
    if not state.briefs:
        raise _asked(run, files, events, f"iteration {state.iteration} has questions that code cannot answer")
    newest = state.brief_about(files.tree) or state.briefs[-1]
    is_moved = newest["tree"] != files.tree
    if is_moved and may_ask:
        raise _asked(run, files, events, "; ".join([MOVED, *_left_behind(files, newest)]))
    if given is None:
        answers = read_messages(said_since(reported, newest), newest["nonce"])
    else:
        answers = in_file(given, newest, state.briefs, reported, ask=PROMPT)
    if answers.unread:
        raise NotEvaluable(
            f"iteration {state.iteration} is not judged while its brief is unanswered: {answers.unread}",
            fix=_ask_first(run),
            defects=[*answers.notes, answers.unread],
        )
    matched, notes = match(answers, state.questions)
    if answers.independence != FULL:
        notes.append(INLINE)
    is_open_still = any(answer.result == "unknown" for answer in matched.values())
    if is_open_still and may_ask and state.is_taken_up(newest):
        raise _asked(run, files, events, f"{JUDGE} could not tell the last time")
    if is_moved:
        notes += [MOVED, *_left_behind(files, newest)]
        matched = dict.fromkeys(state.questions, Answer("unknown", MOVED))
    failures = {}
    for other in state.briefs:
        if other is newest:
            continue
        for key, answer in failed(reported, other).items():
            if key in matched:
                failures[key] = answer
    return replace(answers, answers=matched, notes=notes), failures, is_moved


def _asked(run: RalphRun, files: Files, events: SessionEvents, why: str) -> NotEvaluable:
    """A brief about these files is open now, and nothing is judged before it is answered."""
    ask(run, files, events)
    publish(run)
    return NotEvaluable(f"not judged yet: {why}; {JUDGE} is asked", fix=_ask_first(run))


def _ask_first(run: RalphRun) -> str:
    return f"{ASK}; then {fix(run, command('omo ralph judge'))}"


def _seals(files: Files, state: RalphState, report: PhaseReport, events: SessionEvents) -> seals.Seals:
    """What was done since the start to files that the gates and the commands of the criteria rest on."""
    commands: list[Any] = [*report.gates]
    for criterion in state.criteria:
        commands += parse_checks([each for each in criterion.checks if each["type"] in COMMANDS])
    return seals.examine(files.root, state.started.get("files"), commands, terms=seals.terms_in(events.rows))


def _evaluate(evaluation: Evaluation) -> list[CriterionResult]:
    """A result that was taken over never ends a run: before it would, what was taken over is run."""
    results = evaluation.evaluate(takes_over=True)
    is_cached = any(result.is_cached for result in results)
    if is_cached and _apply(evaluation.state, results)[2] != "replan":
        return evaluation.evaluate(takes_over=False)
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
    state: RalphState, results: Sequence[CriterionResult], answers: JudgeAnswer, notes: list[str], *, is_moved: bool
) -> Judgement:
    """Unknown closes nothing, three times in one iteration; the third time the iteration is spent.

    Where the answers are about other files nothing is known as a whole, whatever code says of the rest.
    """
    states, verdict, decision = _apply(state, results)
    unknown_calls = state.unknown_calls
    if verdict == "unknown" or is_moved:
        unknown_calls += 1
        if unknown_calls < MOST_CALLS:
            verdict, decision, states = "unknown", "", dict(state.states)
        else:
            over = f"iteration {state.iteration} is over: {unknown_calls} calls could not tell; {UNCOUNTED}"
            notes = [*notes, over]
    return Judgement(state.iteration, verdict, decision, results, states, unknown_calls, answers, notes)


def _record(run: RalphRun, state: RalphState, judgement: Judgement, files: Files, after: Files) -> None:
    """All of it or nothing, and only while the run stands where it was looked at. Unless it is over, the next
    iteration is open at once, on the files as they are after it.
    """
    results = {result.criterion.id: result.data for result in judgement.results}
    row = {"iteration": state.iteration, "results": results, "tree": files.tree}
    row["independence"] = judgement.independence
    if judgement.is_closed:
        for name, facts in heavy_facts(judgement.results).items():
            results[name]["heavy"] = facts
        row |= {
            "kind": "judged",
            "files": files.now,
            "states": {name: after.data for name, after in judgement.states.items()},
            "verdict": judgement.verdict,
            "decision": judgement.decision,
            "gates": judgement.gates,
            "doubts": judgement.doubts,
            "allowed": judgement.allowed,
            "challenges": judgement.challenges,
        }
    else:
        row |= {"kind": "judge-unknown", "call": judgement.unknown_calls, "nonce": judgement.answers.nonce}
    scope = [name for name, known in judgement.states.items() if known.status in rules.OPEN]
    opens = opening(run.caller, after, state.iteration + 1, scope)

    def decide(now: RalphState) -> tuple[None, list[Row]]:
        if len(now.rows) != len(state.rows):
            what = "the run went on while it was judged, so this judgement is void"
            raise Refused(what, fix=fix(run, command("omo ralph judge")))
        events = [row]
        digest = judgement.answers.digest
        if digest:
            events.insert(0, {"kind": "judge-inline-fallback", "iteration": now.iteration, "digest": digest})
        if judgement.is_closed:
            events.append(end_of(now, row) or opens)
        return None, events

    run.change_whole(decide)
