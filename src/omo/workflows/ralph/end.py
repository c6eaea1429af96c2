"""What comes next in a run, what hooks are told of it, and how it ends: its outcome, and the receipt of a pass."""

from __future__ import annotations

from dataclasses import replace

from omo.errors import Refused
from omo.state.rows import read_files
from omo.text import clip, counted
from omo.work import outcome
from omo.work import publish as engine
from omo.work.lifecycle import require_reason
from omo.work.status import Command, NextStep, command, named, units
from omo.workflows.ralph.rules import ASK, CriterionState, RalphRow
from omo.workflows.ralph.run import ABANDON, KIND, START, THE_USERS_TURN, RalphRun, RalphState, fix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome, Summary

LONGEST = 160
ENDS = ("pass", "partial", "safeguard", "circumvented", "abandoned")
BEGIN = command(START)


def next_step(run: RalphRun | None) -> NextStep:
    """What now? The answer that every output, every refusal and Stop give."""
    if run is None:
        return NextStep("start", "there is no ralph run", (BEGIN,))
    state = run.state
    if state is None or run.problems:
        if is_over(run):
            return NextStep("start", "the run is over, and its ledger is not as omo wrote it", (BEGIN,))
        why = f"the ledger is not as omo wrote it ({clip(run.problems[0], 100)}), so nothing can be judged on it"
        return NextStep("repair", why, (run.repair,), who="user")
    if state.ended is not None:
        if state.how == "pass":
            return NextStep("done", f"every criterion passes, iteration {state.iteration} of {state.max_iterations}")
        if not state.is_the_users_turn:
            return NextStep("start", "the run was abandoned", (BEGIN,))
        summary = run.caller.summary(KIND)
        if summary.get("run") == run.id and summary.get("answered"):
            why = f"the user has answered since it ended: {outcome.of(state.ended)['why']}"
            return NextStep("start", why, (command(f"{START} --max-iterations N", lead="where they want it again"),))
        return NextStep("tell-user", outcome.of(state.ended)["why"], THE_USERS_TURN)
    why = f"{named(state.remaining)} open, iteration {state.iteration} of {state.max_iterations}"
    if state.is_asked:
        return NextStep("judge", why, (Command(lead=ASK), command("omo ralph judge", lead="once it has answered")))
    return NextStep("round", why, (command("omo ralph judge", lead="when its phases are over"),))


def is_over(run: RalphRun) -> bool:
    """By what the session was told while the ledger was whole."""
    summary = run.caller.summary(KIND)
    return summary.get("run") == run.id and (bool(summary.get("cleared")) or summary.get("state") == "done")


# What hooks read


def publish(run: RalphRun, *, begins: bool = False) -> NextStep:
    """Bring the session's summary up to the run; what comes next. `begins` takes the place of an earlier run.

    A criterion that passes for the first time gives the budget of blocks back.
    """
    step = next_step(run)
    if run.state is None or run.problems:
        if not is_over(run):
            engine.publish_damage(run)
        return step
    summary = summarize(run.state, step)

    def progressed(old: Summary) -> bool:
        return old.get("run") == run.id and not set(summary["passed"]) <= set(old.get("passed") or [])

    engine.publish(run, summary, session=run.caller.session if begins else "", progressed=progressed)
    return step.with_run(KIND, run.named)


def summarize(state: RalphState, step: NextStep) -> Summary:
    """How much is open, what is next, and whether Stop holds."""
    passing = len(state.with_status("PASS")) - len(state.unproven)
    summary: Summary = {
        "run": state.run,
        # Also those nobody works on any more, and those of a run that ended so.
        "open": 0 if state.how == "pass" else len(state.criteria) - passing,
        "total": len(state.criteria),
        "next": step.short if state.is_open else None,
        "iteration": state.iteration,
        "max_iterations": state.max_iterations,
        "passed": sorted(name for name, known in state.states.items() if known.last_pass_iteration is not None),
        "state": "active",
    }
    if state.ended is None:
        return summary
    ended_as = outcome.of(state.ended)
    if not state.is_the_users_turn:
        summary |= {"state": "done", "outcome": ended_as}
        if state.how == "pass":
            summary |= {"at": str(state.ended.get("ts")), "files": read_files(state.ended.get("files"))}
        return summary
    question = f"Begin it again, or leave it? omo ralph status shows it; {START} --max-iterations N begins it"
    if state.how == "circumvented":
        question = "Run it in full again, or authorise less yourself: omo ralph start … --reduced-scope REASON"
    # `cleared`: the run is over, so no word of the user's wakes it; they begin another.
    waits: Summary = {"state": "blocked", "why": ended_as["why"], "question": question, "told": False, "own": True}
    return {**summary, **waits, "cleared": True, "outcome": ended_as}


# The end


def end_of(state: RalphState, judged: RalphRow) -> RalphRow | None:
    """The `ended` row that goes with a judgement, in the same append; None while the run goes on.

    `state` is the run before that judgement, `judged` the row as it will be written.
    """
    if judged["decision"] == "replan":
        return None
    states = {criterion.id: CriterionState(**judged["states"][criterion.id]) for criterion in state.criteria}
    after = replace(state, states=states, judged=[*state.judged, judged])
    how = "safeguard" if judged["decision"] == "safeguard" else after.verdict
    receipt = None
    if how == "pass":  # what was proven, on which files, and how independently
        receipt = {
            "run": state.run,
            "verdict": judged["verdict"],
            "iteration": judged["iteration"],
            "tree": judged["tree"],
            "criteria": [criterion.id for criterion in state.criteria],
            "independence": str(judged.get("independence") or "reduced"),
            "reduced_scope": state.reduced_scope,
            "after": state.after or None,
            "gates": judged.get("gates", []),
        }
    ended_as = outcome_of(after, how)
    return {"kind": "ended", "how": how, "verdict": after.verdict, "receipt": receipt, "outcome": ended_as}


def outcome_of(state: RalphState, how: str, *, by: str = "", reason: str = "") -> Outcome:
    """`state` is the run with the judgement that ended it; `by` and `reason` are whose end it was, where somebody's."""
    after = [state.after_text] if state.after else []
    if how != "pass":
        return outcome.not_proven("; ".join([_why_ended(state, how, by, reason), *after]), _exceptions(state))
    best, decided = _decided(state)
    if not (state.is_confirmed or state.is_request_heard):
        best = outcome.ATTESTED  # what only the agent says was wanted
    count = len(state.criteria)
    verb = "passes" if count == 1 else "pass"
    passes = f"ralph run {state.run}: {count} of {units(count, 'criterion')} {verb}, iteration {state.iteration}"
    facts = [passes, decided, state.whose_criteria]
    if state.request:
        behind = " with /omo:ralph" if state.is_request_heard else ""  # what they ask later in passing nobody judged
        facts.append(f"judged against what the user asked for{behind}, {state.whose_request}")
    judged = state.last_judged
    notes = [*(judged.get("allowed") or []), *after]
    return outcome.finished(best, facts, judged.get("doubts") or [], _exceptions(state), notes)


def _decided(state: RalphState) -> tuple[str, str]:
    """Who decided that every criterion passes, and what it is called at best."""
    if state.questions and state.independence == "full":
        return outcome.JUDGED, "decided by omo:judge, which a hook saw"
    if state.questions:
        return outcome.ATTESTED, "not judged independently, no hook saw the judge say it"
    if proof := state.last_judged.get("proof"):
        return outcome.PROVEN, str(proof)
    return outcome.ATTESTED, "decided by code alone, no judge was asked"


def _why_ended(state: RalphState, how: str, by: str, reason: str) -> str:
    blocked = [criterion.id for criterion in state.with_status("BLOCKED")]
    passing = f"{len(state.with_status('PASS'))} of {len(state.criteria)} pass"
    if how == "partial":
        return f"ralph run {state.run} is settled, not passed: {passing}, {named(blocked)} blocked"
    if how == "safeguard":
        left = [*state.remaining, *blocked]
        verb = "does" if len(left) == 1 else "do"
        used = f"ralph run {state.run} used its {counted(state.max_iterations, 'iteration')}"
        return f"{used}: {passing}, {named(left)} {verb} not"
    if how == "circumvented":
        times = counted(state.circumventions, "time")
        return f"ralph run {state.run} was ended: {times} a verdict was asked for over missing phases"
    if by == "user":
        return f"ralph run {state.run} was ended by the user: {clip(reason, LONGEST)}"
    return f"the agent gave up ralph run {state.run}: {clip(reason, LONGEST)}"


def _exceptions(state: RalphState) -> list[LetThrough]:
    """What the run was let off: phases, criteria of the run before it, gates that fail."""
    starter = str(state.started.get("actor") or "agent")
    exceptions = [outcome.repaired(row) for row in state.rows if row.get("kind") == "repaired"]
    if state.reduced_scope:
        exceptions.append(outcome.exception("reduced scope", starter, clip(state.reduced_scope, LONGEST)))
    for entry in state.after.get("dropped") or []:
        if not state.is_confirmed:  # what the user asks for is all of it
            what = f"{entry['id']} of ralph run {state.after.get('run')} was dropped: {clip(entry['description'], 80)}"
            exceptions.append(outcome.exception(what, starter, "the run before did not pass"))
    for gate in state.last_judged.get("gates") or []:
        if gate.get("failed"):
            exceptions.append(outcome.exception(f"gate {gate['name']} {gate['failed']}", "user", "/omo:allow"))
    return exceptions


def abandon(run: RalphRun, reason: str) -> NextStep:
    """Give the run up. An agent that does so has the user told."""
    why = clip(require_reason(reason, "the reason", ABANDON), 500)
    state = run.require_whole()
    if state.ended is not None:
        raise Refused(f"ralph run {run.id} ended already ({state.how})", fix=fix(run, command("omo ralph status")))
    ended_as = outcome_of(state, "abandoned", by=run.caller.by, reason=why)
    row = {"kind": "ended", "how": "abandoned", "verdict": "fail", "receipt": None, "why": why, "outcome": ended_as}
    if run.caller.by != "user":  # before its end, behind which a run that was killed would not come back to it
        left = named([*state.remaining, *(criterion.id for criterion in state.with_status("BLOCKED"))])
        engine.note_given_up(run, f"ralph run {run.id} was given up with {left} open", why)
    run.append(row)
    return publish(run)
