"""Where a verification ends: what `omo verify finish` asks beside the engine's judgement, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from omo.engine import concluding, filing
from omo.engine.answers import FOR_JUDGEMENT
from omo.engine.case import Case, CaseRow
from omo.engine.checking import look_at_checks, looked_row, passes, seen_by
from omo.engine.concluding import Findings
from omo.engine.filed import FiledRuns, closed, require_in_round
from omo.engine.hearing import heard
from omo.engine.judging import Looked, Said, look_at_items, record
from omo.engine.runs import CaseRun
from omo.engine.steps import StepReport
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.proof import pins
from omo.proof.evaluate import ChecksVerdict
from omo.result import EXIT_CODES
from omo.text import clip, counted
from omo.work import bound, damage, outcome
from omo.work.citations import require_cited
from omo.work.files import Files
from omo.work.judge import JudgeAnswer
from omo.work.user_pins import Held, hold
from omo.workflows.verify import claims
from omo.workflows.verify.goals import attempts_left, let_stand
from omo.workflows.verify.questions import pinned_commands
from omo.workflows.verify.statements import hedges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome

SHORTEST_SUMMARY, LONGEST_SUMMARY, LONGEST = 10, 200, 160
LEG, EXPIRED, USERS_LEG = "agent-leg-complete", "expired", "the user closed their leg"
OVER = ("pass", LEG, EXPIRED)


@dataclass
class FinishedGoal:
    """What `finish` came to."""

    runs: FiledRuns
    goal: str
    verdict: str
    reason: str
    notes: list[str] = field(default_factory=list)
    unblocked: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)  # goals that ended before, and what of them it broke

    @property
    def case(self) -> Case:
        return self.runs.cases[self.goal]

    @property
    def is_parent_complete(self) -> bool:
        """Whether its parent's last goal was completed with it. Recurring goals never are, so they do not count."""
        parent = self.case.item.form["parent"]
        of_parent = [case for case in self.runs.cases.values() if case.item.form["parent"] == parent]
        ends = {case.how for case in of_parent if not case.item.every}
        return bool(parent) and self.case.how == "pass" and ends == {"pass"}

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    @property
    def data(self) -> Json:
        case, state = self.case, self.runs.state(self.case)
        return {
            "goal": self.goal,
            "goal_completed": state == "completed",
            "parent_complete": self.is_parent_complete,
            "verdict": self.verdict,
            "state": state,
            "unblocked": self.unblocked,
            "reason": self.reason,
            "notes": self.notes,
            "overrides": let_stand(self.runs, self.goal),
            "undone": self.undone,
            "outcome": outcome.of(case.ended) if case.ended is not None and case.how != "safeguard" else None,
            "attempts_left": attempts_left(case),
            "users_leg": case.left_for_user,
        }


def finish(
    runs: FiledRuns, name: str, *, summary: str, learned: str = "", hypothesis: str | None = None
) -> FinishedGoal:
    """Judge a goal, and record how it ended."""
    line, run = _one_line(summary), runs.run(name)
    case = run.require_whole()
    words = {"summary": line, "learned": learned.strip()}
    if case.item.form["hypothesis"] is None and hypothesis is not None:
        raise BadInput(f"goal {name} has no hypothesis", fix="leave --hypothesis-result out")
    if case.how == LEG:
        return _close_users_leg(runs, run, words, hypothesis)
    if case.how in OVER and not case.item.every:
        raise closed(runs, case)
    require_in_round(runs, case)
    if blocked := runs.blocked_by(case):  # filed anew while it was worked on
        raise Refused(f"goal {name} is blocked by {', '.join(blocked)}", fix=f"omo verify status {blocked[0]}")
    files = Files(runs.caller.root)  # before the checks run: what their commands write stales no answer
    seen = look_at_items(run, files, StepReport(case.round, {}), JudgeAnswer(), heard(run, files))
    reason, verdict = seen.evaluation.why, seen.verdict
    if case.item.form["hypothesis"] is not None:
        if _is_open(hypothesis, verdict):
            return _unresolved(runs, run, words, hypothesis, _looked(run, seen))
        reason = f"{_about(case)} {hypothesis or 'is open'}; {reason}"
    if verdict == "pass":
        return _pass(runs, run, seen, words, reason)
    if verdict == "fail":
        words["summary"] = ""  # which says what is not so
    ended = concluding.not_proven(case, reason, Findings(_exceptions(case, runs, line)))
    record(run, seen, Said(reason, words, ended))
    return FinishedGoal(runs, name, verdict, reason)


def _pass(runs: FiledRuns, run: CaseRun, seen: Looked, words: dict[str, str], reason: str) -> FinishedGoal:
    """End a goal that passes. What the agent hands on was looked at, and so are goals that ended before it."""
    case, caller, name = seen.case, runs.caller, run.id
    held = hold(caller, is_last=not runs.has_more(name))
    unseen = _require_summary(run, words["summary"])
    earlier = filing.look_again(runs, name, seen.files)
    known = _findings(runs, seen, words["summary"], held, unseen)
    has_leg = any(step.name == "agent-leg" for step in seen.evaluation.asked)
    is_leg = (has_leg or (bool(case.left_for_user) and caller.by == "agent")) and not case.item.every
    if is_leg:
        left = "; ".join(case.left_for_user) or "their confirmation"
        reason = f"the agent's leg is done; the user's is pending: {left}"
        ended = concluding.not_proven(case, reason, known)
    else:
        ended = concluding.outcome_of(run, seen, known)
    notes = _notes(seen)
    freed = [] if is_leg else runs.freed_by(case)
    record(run, seen, Said(reason, words, ended, notes, LEG if is_leg else "pass"))
    undone = {}
    for other, verdict in earlier.items():
        if broken := _broken_since(runs.cases[other], verdict):
            undone[other] = f"goal {other} is open again: {'; '.join(broken)}"
    filing.reopen_broken(runs, earlier, list(undone))
    return FinishedGoal(runs, name, "pass", reason, notes, freed, list(undone.values()))


def _notes(seen: Looked) -> list[str]:
    own = [check["id"] for check in seen.evaluation.seen if check["result"] != "pass"]
    notes = []
    if own:
        notes.append(f"settled by the agent's own answers, not by an independent one: {', '.join(own)}")
    if any(step.name == "q3" and step.is_open for step in seen.evaluation.asked):
        notes.append("q3, unit or integration: nobody said")
    return notes


def _findings(runs: FiledRuns, seen: Looked, line: str, held: Held, unseen: list[str]) -> Findings:
    exceptions = _exceptions(seen.case, runs, line)
    exceptions += [*concluding.found_broken(seen.case, seen), *held.exceptions]
    doubts = ["how the hypothesis came out is the agent's word"] if seen.case.item.form["hypothesis"] else []
    return Findings(exceptions, doubts, unseen, held.passing, held.not_yet)


def _require_summary(run: CaseRun, line: str) -> list[str]:
    """Require that what a summary cites is so, and that what it claims was filed as a claim that holds."""
    caller, what = run.caller, f"--summary of goal {run.id}"
    if caller.by == "user":
        return []
    unseen = require_cited(caller, what, [line], pinned_commands(run))
    since = str(run.require_state().opened.get("ts"))
    if still_open := claims.unsettled(caller, line, goal=run.id, since=since):
        raise claims.refused(what, run.id, line, still_open)
    return unseen


def _one_line(text: str) -> str:
    """Read the summary, which is what the dependents get to see."""
    line = text.strip()
    defects = hedges(line)
    if len(line.splitlines()) > 1:
        defects.append("it has more than one line")
    if not SHORTEST_SUMMARY <= len(line) <= LONGEST_SUMMARY:
        defects.append(f"it has {len(line)} characters, not {SHORTEST_SUMMARY} to {LONGEST_SUMMARY}")
    if defects:
        raise BadInput(
            f"--summary {clip(line, 60)!r} is not one factual line",
            fix="say in one line what was produced, found or changed, as you saw it",
            defects=[f"--summary: {defect}" for defect in defects],
        )
    return line


# A hypothesis, and the user's part


def _about(case: Case) -> str:
    return f"hypothesis {case.item.form['hypothesis']['id']}"


def _is_open(result: str | None, verdict: str) -> bool:
    """Return whether a hypothesis is not settled. One that is settled is verified like any other goal."""
    return result in (EXPIRED, "pending") or (result is None and verdict != "fail")


def _unresolved(
    runs: FiledRuns, run: CaseRun, words: dict[str, str], result: str | None, looked: CaseRow
) -> FinishedGoal:
    case = run.require_state()
    if result == EXPIRED:
        reason = f"{_about(case)} expired"
        ended = concluding.not_proven(case, reason, Findings(_exceptions(case, runs, words["summary"])))
        run.append(looked, _end(EXPIRED, "unknown", reason, words, ended))
    else:
        reason = f"{_about(case)} has not resolved yet"
        why = f"the hypothesis of goal {run.id} has not resolved yet"
        waits: CaseRow = {"kind": "waits", "why": why, "words": words}
        run.append(looked, waits)
    return FinishedGoal(runs, run.id, "unknown", reason)


def _close_users_leg(runs: FiledRuns, run: CaseRun, words: dict[str, str], hypothesis: str | None) -> FinishedGoal:
    case, caller = run.require_state(), runs.caller
    if caller.by != "user":
        raise Refused(
            f"the agent's leg of goal {run.id} is done; the rest is the user's: {'; '.join(case.left_for_user)}",
            fix=f"the user closes it: omo verify finish {run.id} --summary TEXT in a terminal of their own",
        )
    seen = seen_by(look_at_checks(run, pins.pinned(caller.state)))
    if broken := [f"check {check['id']}: {check['reason']}" for check in seen if check["result"] == "fail"]:
        raise Refused(f"goal {run.id} cannot be closed: {'; '.join(broken)}", fix="mend it, then finish again")
    looked, reason, freed = looked_row(seen, Files(caller.root)), USERS_LEG, runs.freed_by(case)
    if hypothesis in (EXPIRED, "pending"):
        return _unresolved(runs, run, words, hypothesis, looked)
    if hypothesis is not None:  # else it is as it was when the agent's leg was done
        reason = f"{_about(case)} {hypothesis}; {reason}"
    own = concluding.OWN_ANSWERS
    if not case.item.needs_judgement:
        own = f"{counted(len(case.item.form['verification']['outcomes_agent_leg']), 'outcome')} {own}"
    known = Findings(_exceptions(case, runs, words["summary"]))
    facts = [passes(seen)] if passes(seen) else []
    ended = concluding.finished(run, outcome.ATTESTED, facts, [USERS_LEG, own], known)
    row = _end("pass", "pass", reason, words, ended)
    row["files"] = bound.files_of_end(caller.root, caller.events)
    run.append(looked, {**row, "tree": looked.get("tree", "")})
    return FinishedGoal(runs, run.id, "pass", reason, unblocked=freed)


def _looked(run: CaseRun, seen: Looked) -> CaseRow:
    return looked_row(seen.evaluation.seen, Files(run.caller.root))


def _end(how: str, verdict: str, why: str, words: dict[str, str], ended: Outcome) -> CaseRow:
    return {"kind": "ended", "how": how, "verdict": verdict, "why": why, "words": words, "outcome": ended}


# What an end has to name


def _broken_since(case: Case, verdict: ChecksVerdict) -> list[str]:
    """Return why a goal that ended before does not hold on the files as they are now."""
    by_code = [check for check in verdict.checks if check.type not in FOR_JUDGEMENT]
    broken = [f"check {check.id}: {check.reason}" for check in by_code if check.result != "pass"]
    if not broken and case.ended is not None and outcome.of(case.ended)["verdict"] == outcome.JUDGED:
        return ["it was judged on other files"]
    return broken


def _exceptions(case: Case, runs: FiledRuns, line: str) -> list[LetThrough]:
    """Return claims that stand against what code saw. What was restated since is said by nobody any more."""
    goal, exceptions = case.item.id, damage.exceptions(runs.caller, case.started_at)
    filed = claims.recorded(runs.caller.state, goal=goal)
    handed_on = [line]  # and every text of the answers that count
    for given in case.answers.values():
        for said in [given["said"], {"why": given["why"]}, *given["said"].get("outcomes", [])]:
            handed_on += [value for value in said.values() if isinstance(value, str)]
    for claim in filed:
        if claim.override and any(claim.is_about(text) for text in handed_on):
            what = f"goal {goal}: a claim stands against a look by code: {clip(claim.statement, LONGEST)}"
            exceptions.append(outcome.exception(what, claim.by, clip(claim.override, LONGEST)))
    if filed and filed[-1].seen.verdict == "fail" and not filed[-1].override:
        last = filed[-1]
        if not any(given["ts"] >= last.ts for given in case.answers.values()):
            what = f"goal {goal}: the last claim about it does not hold: {clip(last.statement, LONGEST)}"
            exceptions.append(outcome.exception(what, last.by, "it was finished all the same"))
    return exceptions
