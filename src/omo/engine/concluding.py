"""How a filed item ends: proven by what commands show, judged by what the judge has answered, else the agent's word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from omo.clock import seconds
from omo.engine.case import Case
from omo.engine.checking import commands_of, named_checks, passes
from omo.engine.judging import Looked
from omo.engine.runs import CaseRun
from omo.text import clip, counted
from omo.work import outcome, proving, requests, task_documents, task_items
from omo.work.citations import not_looked_at
from omo.work.gates import fold
from omo.work.judge import JUDGE

if TYPE_CHECKING:
    from omo.state.rows import LetThrough, Outcome

LONGEST = 160
OWN_ANSWERS = "closed on the agent's own answers"


@dataclass
class Findings:
    """What is known of an end beside its checks: what was let through, and what speaks against it.

    `unseen` is what was cited and nobody looked at. `gates` pass as well, and `not_yet` says why others do not.
    """

    exceptions: list[LetThrough] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    gates: Sequence[Any] = ()
    not_yet: Sequence[str] = ()


def outcome_of(run: CaseRun, seen: Looked, known: Findings) -> Outcome:
    """Return how an item ended that passes. What speaks against proof or judgement makes it the agent's word."""
    case, judged = seen.case, seen.evaluation.judged
    is_judged = judged is not None and judged.state == "done"
    facts = [passes(seen.evaluation.seen)] if passes(seen.evaluation.seen) else []
    if is_judged:
        facts.append(f"{JUDGE} was seen to answer {counted(len(case.item.questions), 'question')} with pass")
    if case.is_changed:  # they may not know who has edited the file that they named again
        facts.append("what it asks for was changed while it was under way")
    doubts = [*known.doubts, *_own_word(case, seen)]
    failing: Sequence[str] = ()
    if case.item.mechanical and not doubts:
        shown = _by_code(run, seen, known, is_judged=is_judged)
        facts += [shown.proof] if shown.proof else []
        doubts += shown.doubts
        failing = shown.failing
    else:
        doubts += known.not_yet
    best = outcome.JUDGED if is_judged else outcome.PROVEN
    return finished(run, best, facts, doubts, known, failing)


def finished(
    run: CaseRun,
    best: str,
    facts: Sequence[str],
    doubts: Sequence[str],
    known: Findings,
    failing: Sequence[str] = (),
) -> Outcome:
    """Return the outcome of an item, with what its answers cite and leave open, and what the user's documents lost."""
    case, caller = run.require_state(), run.caller
    cited = list(known.unseen)
    for given in case.answers.values():
        cited += given.get("unseen", ())
    against = list(doubts)
    if cited:
        against.append(not_looked_at(cited))
    asked = requests.rows_since(caller.events, run.flow.name, case.started_at)
    allowed = fold(caller.events, None).allowed_changes
    against = [*task_documents.doubts(caller.root, asked, allowed, case.started["files"]), *against]
    ended = outcome.finished(best, facts, against, exceptions(case, known))
    return named(case, task_items.told_with(ended, asked, failing))


def not_proven(case: Case, why: str, known: Findings) -> Outcome:
    return named(case, outcome.not_proven(why, exceptions(case, known)))


def named(case: Case, ended: Outcome) -> Outcome:
    """Say which item it is about."""
    return {**ended, "why": f"{case.name}: {ended['why']}"}


def exceptions(case: Case, known: Findings) -> list[LetThrough]:
    """Return what was let through: damage of its ledger, questions that were not answered, the rest as known."""
    listed = []
    for row in case.rows:
        if row["kind"] == "repaired" and seconds(row["ts"]) >= seconds(case.started_at):
            listed.append(outcome.damaged(outcome.ITS_LEDGER, row))
    listed += known.exceptions
    for name, given in case.answers.items():
        if given["result"] == "gap":
            what = f"{case.name}: {name} was let pass without an answer"
            listed.append(outcome.exception(what, "agent", given["why"]))
    return listed


def found_broken(case: Case, seen: Looked) -> list[LetThrough]:
    """Return what a judge found broken on other files, if no judge has passed these."""
    judged = seen.evaluation.judged
    if judged is None or not judged.found_broken:
        return []
    what = f"{case.name}: {JUDGE} found that it does not hold: {clip(judged.found_broken[0], LONGEST)}"
    return [outcome.exception(what, "agent", "the files were changed, and no judge saw them since")]


def _own_word(case: Case, seen: Looked) -> list[str]:
    """Return what neither a check by code nor a judge has shown."""
    judged = seen.evaluation.judged
    if judged is not None and judged.state == "done":
        return [] if case.is_confirmed else ["the agent wrote them itself"]
    doubts = []
    if case.item.needs_judgement:
        doubts.append(OWN_ANSWERS)
    elif case.item.outcomes:
        doubts.append(f"{counted(len(case.item.outcomes), 'outcome')} {OWN_ANSWERS}")
    if judged is not None:
        doubts.append(f"{JUDGE} was asked, and did not settle it ({judged.state})")
    return doubts


def _by_code(run: CaseRun, seen: Looked, known: Findings, *, is_judged: bool) -> proving.ProofOrDoubts:
    """Return what the commands of an item show. Beside a judge's word they only raise doubts."""
    case, subject = seen.case, seen.evaluation.subject
    commands = commands_of(case.items)
    doubts = list(known.not_yet)
    doubts += proving.other_programs(subject, commands, case.started["programs"], seconds(case.started_at))
    if is_judged:
        notes = "; ".join(proving.allowed_notes(subject))
        return proving.ProofOrDoubts(notes, [*doubts, *proving.doubts(subject, commands)])
    if doubts:
        return proving.ProofOrDoubts(doubts=doubts)
    return proving.shown_by_checks(subject, named_checks(case), known.gates)
