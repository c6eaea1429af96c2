"""What comes next in a case, and how it ends: its outcome, and the receipt of a pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from omo.engine.case import NO_ROW, Case, CaseRow, marks_of
from omo.engine.flow import Flow
from omo.errors import Refused
from omo.text import clip, counted
from omo.work import damage, outcome
from omo.work import publish as rows
from omo.work.lifecycle import left_elsewhere, require_reason
from omo.work.status import Command, NextStep, command, named, units

if TYPE_CHECKING:
    from omo.engine.judging import Said
    from omo.engine.runs import CaseRun
    from omo.state.rows import LetThrough, Outcome
    from omo.work.run import Caller

LONGEST = 160
How = Literal["pass", "partial", "safeguard", "circumvented", "abandoned"]
END_YOUR_TURN = Command(lead="end your turn: Stop shows the user how it ended, and they decide")


def ways_on(case: Case) -> tuple[Command, ...]:
    """Return what the agent can do after the end of a run."""
    if case.flow.goes_on:
        return (command(case.flow.status_command),)  # it says how, and tells hooks what a crash kept from them
    return after_the_user(case.flow) if case.waits_for_user else (command(case.flow.start),)


def after_the_user(flow: Flow) -> tuple[Command, ...]:
    """Return what the agent can do if the user has to hear of the end first."""
    return END_YOUR_TURN, command(flow.start, after="comes after that")


def not_begun(flow: Flow, caller: Caller) -> NextStep:
    """Return what a session without a run comes to: the one that another session left, else a start."""
    step = left_elsewhere(flow.name, f"a {flow.what}", caller)
    return step or NextStep("start", f"there is no {flow.what}", (command(flow.start),))


def next_step(run: CaseRun, seen: Case | None = None) -> NextStep:
    """Return what comes next. Every output, every refusal and Stop say this. `seen` is the case as it was looked at."""
    flow, case = run.flow, seen or run.state
    if case is not None and (step := case.next_step(run)) is not None:
        return step
    begin = command(flow.start)
    if case is None or run.is_lost:
        return NextStep("start", f"it cannot go on: {clip(run.why_lost, LONGEST)}", (begin,))
    if case.ended is not None:
        return _after_the_end(run, case)
    why = f"{named(case.remaining)} open, {case.round_of}"
    if case.is_asked:
        return NextStep("judge", why, (Command(lead=flow.ask), command(flow.judge, lead="once it has answered")))
    lead = "when its phases are over" if flow.steps else "when they hold"
    return NextStep("round", why, (command(flow.judge, lead=lead),))


def _after_the_end(run: CaseRun, case: Case) -> NextStep:
    flow = case.flow
    if case.how == "pass":
        return NextStep("done", f"every {flow.unit} passes, {case.round_of}")
    if not case.waits_for_user:
        return NextStep("start", "the run was abandoned", (command(flow.start),))
    why, summary = outcome.of(case.ending)["why"], run.caller.summary(flow.name)
    if summary.get("run") == run.id and summary.get("answered"):
        again = command(f"{flow.start} --max-iterations N", lead="where they want it again")
        return NextStep("start", f"the user has answered since it ended: {why}", (again,))
    return NextStep("tell-user", why, ways_on(case))


def require_over(run: CaseRun | None, *, is_replaced: bool) -> None:
    """Allow one run per session at a time, but in place of one that was let go and that the user asked to replace.

    One that cannot go on is ended.
    """
    if run is None:
        return
    damage.require_going_on(run)
    if run.state is not None and run.state.is_open and not is_replaced:
        case, flow = run.require_whole(), run.flow
        raise Refused(
            f"{run.kind.what} {run.id} of this session is under way: {case.headline}",
            fix=f"go on with it: {flow.status_command}; or {flow.abandon}",
        )


def question(case: Case, step: NextStep) -> str:
    """Return what the user is asked when a run ended without a pass, or waits for something."""
    flow = case.flow
    row = case.waits or case.ending
    if "question" in row:
        return row["question"]
    if asked := row.get("asked"):
        return f"{asked} {step.command}"
    if case.how == "circumvented":
        return f"Run it in full again, or authorise less yourself: {flow.start} … --reduced-scope REASON"
    return f"Begin it again, or leave it? {flow.status_command} shows it; {flow.start} --max-iterations N begins it"


# The row of an end


def ended_by_judgement(case: Case, judged: CaseRow, said: Said | None = None) -> CaseRow | None:
    """Return the `ended` row that is written with a judgement; None if the run goes on."""
    if judged["decision"] == "replan":
        return None
    if said is not None:
        how = said.how if judged["verdict"] == "pass" else "safeguard"
        row: CaseRow = {"kind": "ended", "how": how, "verdict": judged["verdict"], "receipt": None}
        return row | {"outcome": said.outcome, "why": said.why, "words": said.words, "tree": judged["tree"]}
    after = replace(case, marks=marks_of(case.flow, judged, case.items), judged=[*case.judged, judged])
    if judged["decision"] == "safeguard":
        return _ended(after, "safeguard")
    if after.verdict == "pass":
        return _ended(after, "pass", _receipt(after))
    return _ended(after, "partial")


def _receipt(case: Case) -> dict[str, object]:
    """Return what was proven, on which files, and how independently."""
    judged = case.last_judged
    return {
        "run": case.run,
        "verdict": judged["verdict"],
        "iteration": judged["iteration"],
        "tree": judged["tree"],
        case.flow.units: [item.id for item in case.items],
        "independence": case.independence,
        "reduced_scope": case.reduced_scope,
        "after": case.after or None,
        "gates": judged.get("gates", []),
    }


def record_early(run: CaseRun, missing: list[str]) -> int:
    """Record that a verdict was asked for over steps that did not happen, and return how often that was so far.

    The last attempt that the flow allows ends the run. Before it the round stays open, so that they can be made up for.
    """
    flow = run.flow

    def decide(now: Case) -> tuple[int, list[CaseRow]]:
        run.require_open()
        attempt = now.early + 1
        row: CaseRow = {"kind": flow.early_row, "iteration": now.round, "missing": missing}
        if attempt < flow.most_early:
            return attempt, [row]
        return attempt, [row, _ended(replace(now, early=attempt), "circumvented")]

    return run.change_whole(decide)


def abandon(run: CaseRun, reason: str) -> NextStep:
    """Give the run up. If the agent does so, the user is told."""
    case = run.require_whole()
    if case.ended is not None:
        what = f"{run.kind.what} {run.id} ended already ({case.how})"
        raise Refused(what, fix=run.fix(command(run.flow.status_command)))
    give_up(run, case, reason)
    return run.publish()


def give_up(run: CaseRun, case: Case, reason: str, more: CaseRow = NO_ROW) -> None:
    """Record that the run is given up, as it was looked at. The row has `more` beside the reason."""
    why = clip(require_reason(reason, "the reason", run.flow.abandon), 500)
    row: CaseRow = {**_ended(case, "abandoned", by=run.caller.by, reason=why), "why": why, **more}
    left = [*case.remaining, *case.stuck]
    if left and run.caller.by != "user":  # before the end: a killed command would not come back to it
        rows.note_given_up(run, f"{run.kind.what} {run.id} was given up with {named(left)} open", why)
    run.append(row)


def _ended(
    case: Case, how: How, receipt: dict[str, object] | None = None, *, by: str = "", reason: str = ""
) -> CaseRow:
    ended = outcome_of(case, how, by=by, reason=reason)
    verdict = case.verdict if how in ("pass", "partial", "safeguard") else "fail"
    return {"kind": "ended", "how": how, "verdict": verdict, "receipt": receipt, "outcome": ended}


# Its outcome


def outcome_of(case: Case, how: How, *, by: str = "", reason: str = "") -> Outcome:
    """Return how a run ended. `case` includes the judgement that ended it; `by` and `reason` say who gave it up."""
    after = [case.after_text] if case.after else []
    if how != "pass":
        return outcome.not_proven("; ".join([_why_ended(case, how, by, reason), *after]), exceptions(case))
    best, decided = _decided(case)
    if not (case.is_confirmed or case.is_request_typed):
        best = outcome.ATTESTED  # what only the agent says was wanted
    count, flow = len(case.items), case.flow
    verb = "passes" if count == 1 else "pass"
    passes = f"{flow.what} {case.run}: {count} of {units(count, flow.unit)} {verb}, iteration {case.round}"
    facts = [passes, decided, case.whose_items]
    if case.request:
        # What they asked later and in passing nobody has judged.
        typed = f" with /omo:{flow.name}" if case.is_request_typed else ""
        facts.append(f"judged against what the user asked for{typed}, {case.whose_request}")
    judged = case.last_judged
    notes = [*judged.get("allowed", []), *after]
    return outcome.finished(best, facts, judged.get("doubts", []), exceptions(case), notes)


def _decided(case: Case) -> tuple[str, str]:
    """Return the best word for a pass, and who decided that every item passes."""
    if case.questions and case.independence == "full":
        return outcome.JUDGED, "decided by omo:judge, which a hook saw"
    if case.questions:
        return outcome.ATTESTED, "not judged independently, no hook saw the judge say it"
    if proof := case.last_judged.get("proof"):
        return outcome.PROVEN, proof
    return outcome.ATTESTED, "decided by code alone, no judge was asked"


def _why_ended(case: Case, how: How, by: str, reason: str) -> str:
    what = f"{case.flow.what} {case.run}"
    passing = f"{len(case.passing)} of {len(case.items)} pass"
    if how == "partial":
        return f"{what} is settled, not passed: {passing}, {named(case.stuck)} blocked"
    if how == "safeguard":
        left = [*case.remaining, *case.stuck]
        verb = "does" if len(left) == 1 else "do"
        return f"{what} used its {counted(case.most_rounds, 'iteration')}: {passing}, {named(left)} {verb} not"
    if how == "circumvented":
        return f"{what} was ended: {counted(case.early, 'time')} a verdict was asked for over missing phases"
    if by == "user":
        return f"{what} was ended by the user: {clip(reason, LONGEST)}"
    return f"the agent gave up {what}: {clip(reason, LONGEST)}"


def exceptions(case: Case) -> list[LetThrough]:
    """Return what the run was let off: steps, items of the run before it, gates that fail, what its workflow names."""
    starter = case.started_by
    exceptions = [outcome.damaged(outcome.ITS_LEDGER, row) for row in case.rows if row["kind"] == "repaired"]
    exceptions += case.last_judged.get("damaged") or []
    if case.reduced_scope:
        exceptions.append(outcome.exception("reduced scope", starter, clip(case.reduced_scope, LONGEST)))
    for entry in case.after.get("dropped") or []:
        if not case.is_confirmed:  # what the user asks for is all of it
            before = f"{case.flow.what} {case.after.get('run')}"
            what = f"{entry['id']} of {before} was dropped: {clip(entry['description'], 80)}"
            exceptions.append(outcome.exception(what, starter, "the run before did not pass"))
    for gate in case.last_judged.get("gates") or []:
        if gate.get("failed"):
            exceptions.append(outcome.exception(f"gate {gate['name']} {gate['failed']}", "user", "/omo:allow"))
    return [*exceptions, *case.exceptions]
