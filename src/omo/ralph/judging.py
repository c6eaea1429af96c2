"""The judgement of an iteration: computed from what code and the judge saw of one tree, and recorded at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.errors import NotEvaluable, Refused
from omo.evidence import seals, tree
from omo.evidence.checks import CommandCheck, MetricCheck
from omo.ralph import answers, brief, cache, ending, exec_gate, execution, summary, transitions
from omo.ralph.answers import Answer, Key
from omo.ralph.brief import MOST_CALLS, unknowns
from omo.ralph.criteria import Criterion
from omo.ralph.hearing import FULL, JUDGE, Heard, hear
from omo.ralph.looking import Finding, Look
from omo.ralph.run import RalphRun, Standing
from omo.ralph.transitions import MOST_FAILURES, State
from omo.shown import clip

Row = dict[str, Any]

EXIT_CODES = {"pass": 0, "partial": 3, "fail": 3, "unknown": 4}
MOST_FACTS = 100
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


_LEFT = (
    "others since: {}; what a judge or a check left behind is removed, or ignored by git (.git/info/exclude changes no "
    "file of the project), then omo gate run, then omo ralph judge"
)


@dataclass
class Judged:
    """What one call found. `attempt` counts the calls of this iteration that could not tell; `decision` is empty while
    the iteration is open.
    """

    run: str
    iteration: int
    max_iterations: int
    verdict: str
    decision: str
    findings: Sequence[Finding]
    states: Mapping[str, State]
    independence: str = FULL
    attempt: int = 0
    is_closed: bool = True
    challenges: list[Row] = field(default_factory=list)
    gates: list[Row] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    next: str = ""
    most_calls: int = MOST_CALLS

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def criteria(self) -> list[Row]:
        """The table."""
        return [
            {"id": one.criterion.id, "status": self.states[one.criterion.id].status, **one.data}
            for one in self.findings
        ]

    @property
    def remaining(self) -> list[Row]:
        return [
            remaining(one, self.states[one.criterion.id])
            for one in self.findings
            if one.result != "pass" and self.states[one.criterion.id].status != "BLOCKED"
        ]


def remaining(finding: Finding, state: State) -> Row:
    return {
        "id": finding.criterion.id,
        "reason": finding.evidence,
        "suggested_action": finding.suggested_action,
        "fail_count": state.fail_count,
        "regression": state.status == "REGRESSED",
        "previous_pass_iteration": state.last_pass_iteration,
        "next_failure_blocks": state.fail_count == MOST_FAILURES - 1,
    }


def judge(
    run: RalphRun,
    *,
    result_text: str | None = None,
    heavy: float = cache.HEAVY_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> Judged:
    """Evaluate, apply, record. `result_text` is what was handed in instead of the judge's own message."""
    at = run.require_open()
    brief.require_iteration(at)
    gates = _require_artifacts(run, at)
    asked, by_code = _keys(at.criteria)
    heard = hear(run, at, result_text) if asked else _nobody(result_text)
    before = tree.fingerprint(Path(run.root))  # no cache: what is recorded here is proof later
    snapshot = execution.snapshot(Path(run.root))
    told, notes = _answers(at, heard, asked, by_code, before)
    notes += [moved] if MOVED in notes and (moved := _moved(run, at)) else []
    failed = {key: one for key, one in brief.earlier_failures(run, at).items() if key in asked}
    notes += [STANDS.format("/".join(key)) for key in failed]
    look = Look(run, at, told, heard.source, failed, heavy, clock)
    findings = _look(look, at)
    if tree.fingerprint(Path(run.root)) != before:
        left = _changed(run, snapshot)
        notes = [*notes, CHANGED, *([_LEFT.format(_named(left))] if left else [])]
        findings = [one.as_unknown(CHANGED) for one in findings]
    judged = _conclude(at, findings, heard, notes)
    judged.gates = gates
    judged.doubts = _doubts(run, at)
    _record(run, at, judged, heard, {"tree": before, **snapshot}, heavy)
    if judged.is_closed:
        brief.await_judge(run, at, False)
    judged.next = summary.tell(run).text
    return judged


def _doubts(run: RalphRun, at: Standing) -> list[str]:
    """What was done since the start to files that the commands of the criteria rest on."""
    commands = []
    for criterion in at.criteria:
        commands += [check for check in criterion.checks if isinstance(check, (CommandCheck, MetricCheck))]
    return seals.doubts_of(run.root, at.started.get("files"), commands)


def _require_artifacts(run: RalphRun, at: Standing) -> list[Row]:
    """The gates that were passed. Only asking over work that was not done is counted; what else is missing is told."""
    found = exec_gate.check(run, at)
    if found.ok:
        return found.gates
    if not found.damage and not found.without_work:
        open_ones = ", ".join(found.missing)
        raise Refused(
            f"iteration {at.iteration} is not judged yet ({open_ones} not proven); that is not counted against it",
            fix="; ".join(filter(None, [_moved(run, at), found.remediation])),
            missing=found.missing,
            defects=_unproven(found),
        )
    attempts = exec_gate.record_circumvention(run, at, found)
    summary.tell(run)
    missing = ", ".join(found.missing)
    over = "; that ends the run" if attempts >= exec_gate.MOST_ATTEMPTS else ""
    raise Refused(
        f"iteration {at.iteration} is not judged: {missing} did not happen in it "
        f"(circumvention {attempts} of {exec_gate.MOST_ATTEMPTS}{over})",
        fix=found.remediation,
        missing=found.missing,
        defects=_unproven(found),
    )


def _unproven(found: exec_gate.Found) -> list[str]:
    return [f"{one['phase']}: {one['proof']}" for one in found.checks if one["phase"] in found.missing]


def _moved(run: RalphRun, at: Standing) -> str:
    """What to do about files that are others than those of the newest brief; empty where there are none."""
    files = _changed(run, at.briefs[-1]) if at.briefs else []
    return _LEFT.format(_named(files)) if files else ""


def _changed(run: RalphRun, seen: Row) -> list[str]:
    try:
        return sorted(execution.changed_files(run, seen)) if "head" in seen else []
    except NotEvaluable:
        return []


def _named(files: Sequence[str]) -> str:
    more = f" and {len(files) - MOST_NAMED} more" if len(files) > MOST_NAMED else ""
    return ", ".join(clip(one, 100) for one in files[:MOST_NAMED]) + more


def _keys(criteria: Sequence[Criterion]) -> tuple[list[Key], list[Key]]:
    """The questions for the judge, and what code answers."""
    asked = [(one.id, check.id) for one in criteria for check in one.questions]
    return asked, [(one.id, check.id) for one in criteria for check in one.mechanical]


def _nobody(result_text: str | None) -> Heard:
    ignored = ["--result is ignored: code evaluates every check of this run"] if result_text is not None else []
    return Heard(answers.Said(""), notes=ignored)


def _answers(
    at: Standing, heard: Heard, asked: Sequence[Key], by_code: Sequence[Key], now: str
) -> tuple[dict[Key, Answer], list[str]]:
    """What counts of what was said, and what the user has to be told about it."""
    notes = [*heard.notes, *([INLINE] if heard.independence != FULL else [])]
    if heard.said is None:
        return dict.fromkeys(asked, Answer("unknown", heard.why)), [*notes, heard.why]
    if asked and at.briefs[-1].get("tree") != now:
        return dict.fromkeys(asked, Answer("unknown", MOVED)), [*notes, MOVED]
    told, more = answers.match(heard.said, asked, by_code)
    return told, [*notes, *more]


def _look(look: Look, at: Standing) -> list[Finding]:
    """A result that was taken over never ends a run: before it would, what was taken over is run."""
    findings = look.at_all()
    is_cached = any(seen.is_cached for one in findings for seen in one.checks)
    if is_cached and _follow(at, findings)[2] != "replan":
        return look.again(findings)
    return findings


def _follow(at: Standing, findings: Sequence[Finding]) -> tuple[dict[str, State], str, str]:
    """The states after these results, the verdict, and the decision if the iteration were closed on them."""
    results = {one.criterion.id: one.result for one in findings}
    states = {name: transitions.after(state, results[name], at.iteration) for name, state in at.states.items()}
    verdict = transitions.verdict(states, results)
    has_failed = any(results[name] == "fail" and state.status != "BLOCKED" for name, state in states.items())
    if verdict == "fail" and not has_failed:
        verdict = "unknown"
    return states, verdict, transitions.decision(states, at.iteration, at.max_iterations, results)


def _conclude(at: Standing, findings: Sequence[Finding], heard: Heard, notes: list[str]) -> Judged:
    """Unknown closes nothing, three times in one iteration; the third time the iteration is spent."""
    states, verdict, decision = _follow(at, findings)
    attempt = len(unknowns(at)) + (verdict == "unknown")
    is_closed = verdict != "unknown" or attempt >= MOST_CALLS
    if verdict == "unknown" and is_closed:
        over = f"iteration {at.iteration} is over: {attempt} calls could not tell; {UNCOUNTED}"
        notes = [*notes, over]
    return Judged(
        run=at.run,
        iteration=at.iteration,
        max_iterations=at.max_iterations,
        verdict=verdict,
        decision=decision if is_closed else "",
        findings=findings,
        states=states if is_closed else dict(at.states),
        independence=heard.independence,
        attempt=attempt,
        is_closed=is_closed,
        challenges=list(heard.said.challenges) if heard.said else [],
        notes=notes,
    )


def _record(run: RalphRun, at: Standing, judged: Judged, heard: Heard, seen: Row, heavy: float) -> None:
    """All of it or nothing, and only while the run stands where it was looked at."""
    inline = {"kind": "judge-inline-fallback", "iteration": at.iteration, "digest": heard.digest}
    row = _row(judged, seen, heavy)

    def decide(now: Standing) -> tuple[None, list[Row]]:
        if _place(now) != _place(at):
            raise Refused("the run went on while it was judged, so this judgement is void", fix="omo ralph judge")
        end = ending.end_of(now, row) if judged.is_closed else None
        return None, [*([inline] if heard.digest else []), row, *([end] if end else [])]

    run.append(decide=decide)


def _row(judged: Judged, seen: Row, heavy: float) -> Row:
    results = {one.criterion.id: one.data for one in judged.findings}
    about = {"iteration": judged.iteration, "results": results, "independence": judged.independence}
    if not judged.is_closed:
        return {"kind": "judge-unknown", **about, "tree": seen["tree"], "call": judged.attempt}
    _keep_heavy(results, judged.findings, heavy)
    states = {name: state.data for name, state in judged.states.items()}
    end = {"states": states, "verdict": judged.verdict, "decision": judged.decision}
    told = {
        "gates": judged.gates,
        "doubts": judged.doubts,
        "challenges": judged.challenges,
        "unknown_calls": judged.attempt,
    }
    return {"kind": "judged", **about, **seen, **end, **told}


def _keep_heavy(results: dict[str, Row], findings: Sequence[Finding], heavy: float) -> None:
    left = MOST_FACTS
    for one in findings:
        facts = one.heavy_facts(heavy)[:left]
        left -= len(facts)
        if facts:
            results[one.criterion.id]["heavy"] = facts


def _place(at: Standing) -> tuple[object, ...]:
    nonce = at.briefs[-1].get("nonce") if at.briefs else None
    return at.is_open, at.open_iteration, at.iteration, len(at.judged), len(unknowns(at)), nonce
