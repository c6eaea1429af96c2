"""How a run ended: its outcome, decided from what its ledger has of it."""

from __future__ import annotations

from typing import Any

from omo.ralph.standing import Standing, criteria_of
from omo.shown import clip, counted
from omo.work import outcome
from omo.work.status import named

Row = dict[str, Any]

LONGEST = 160


def outcome_of(at: Standing, how: str, *, by: str = "", reason: str = "") -> Row:
    """`at` is the run with the judgement that ended it; `by` and `reason` are whose end it was, where somebody's."""
    exceptions = _exceptions(at)
    if how != "pass":
        return outcome.outcome(outcome.ENDED, _with_earlier(at, _why_ended(at, how, by, reason)), exceptions)
    count = len(at.criteria)
    verb = "passes" if count == 1 else "pass"
    said = f"ralph run {at.run}: {count} of {criteria_of(count)} {verb}, iteration {at.iteration}"
    if not any(one.questions for one in at.criteria):
        verdict, whose = outcome.ATTESTED, "decided by code alone, on criteria that no judge was asked about"
    elif at.independence == "full":
        verdict, whose = outcome.JUDGED, "decided by omo:judge, which a hook saw"
    else:
        verdict, whose = outcome.ATTESTED, "reduced independence, no hook saw the judge say it"
    doubts = [str(doubt) for doubt in (at.last_judged or {}).get("doubts") or []]
    if doubts:
        verdict, whose = outcome.ATTESTED, "; ".join([whose, *doubts])
    return outcome.outcome(verdict, _with_earlier(at, f"{said}; {whose}"), exceptions)


def _with_earlier(at: Standing, said: str) -> str:
    return f"{said}; {at.after_text}" if at.after else said


def _why_ended(at: Standing, how: str, by: str, reason: str) -> str:
    blocked = [one.id for one in at.with_status("BLOCKED")]
    passing = f"{len(at.with_status('PASS'))} of {len(at.criteria)} pass"
    if how == "partial":
        return f"ralph run {at.run} is settled, not passed: {passing}, {named(blocked)} blocked"
    if how == "safeguard":
        left = named([*at.remaining, *blocked])
        return f"ralph run {at.run} used its {counted(at.max_iterations, 'iteration')}: {passing}, {left} do not"
    if how == "circumvented":
        times = counted(at.circumventions, "time")
        return f"ralph run {at.run} was ended: {times} a verdict was asked for over missing phases"
    if by == "user":
        return f"ralph run {at.run} was ended by the user: {clip(reason, LONGEST)}"
    return f"the agent gave up ralph run {at.run}: {clip(reason, LONGEST)}"


def _exceptions(at: Standing) -> list[Row]:
    """What the run was let off: phases, criteria of the run before it, gates that fail."""
    starter = str(at.started.get("actor") or "agent")
    let_through = []
    if at.reduced_scope:
        let_through.append(outcome.exception("reduced scope", starter, clip(at.reduced_scope, LONGEST)))
    for key, became in (("dropped", "dropped"), ("changed", "given other checks")):
        for entry in at.after.get(key) or []:
            what = f"{entry['id']} of ralph run {at.after.get('run')} was {became}: {clip(entry['description'], 80)}"
            let_through.append(outcome.exception(what, starter, "the run before did not pass"))
    for gate in (at.last_judged or {}).get("gates") or []:
        if gate.get("failed"):
            what = f"gate {gate['name']} fails"
            let_through.append(outcome.exception(what, "user", "/omo:allow"))
    return let_through
