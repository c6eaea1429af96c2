"""What earlier runs of this project could not do: shown when the next one begins, with the evidence of then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omo.ralph.criteria import Criterion
from omo.ralph.run import standings
from omo.ralph.standing import Standing
from omo.shown import clip
from omo.state import paths
from omo.state.journal import Journal
from omo.state.runtime import part

Row = dict[str, Any]

LONGEST_EVIDENCE = 500


def load(state: str, fresh: Sequence[Criterion]) -> Row:
    """The blocked criteria of the newest run that left some, and which of the new ones are the same again.

    What a later run has seen to pass is no lesson any more. A ledger that was changed by hand teaches nothing.
    """
    runs = [one for one in standings(state) if one.ended is not None and _is_whole(state, one.run)]
    for at in reversed(runs):
        later = runs[runs.index(at) + 1 :]
        blocked = [one for one in at.with_status("BLOCKED") if not _passes_in(later, one)]
        if blocked:
            return {
                "from_run": at.run,
                "blocked": [_lesson(at, one) for one in blocked],
                "overlap": [_overlap(at, new, old) for new in fresh for old in blocked if is_same(new, old)],
            }
    return {"from_run": "", "blocked": [], "overlap": []}


def failing_before(state: str, fresh: Sequence[Criterion]) -> dict[str, str]:
    """Criteria of a run that ended without a pass, and that failed when it began: the run that saw it, by new id.

    Their work may be done by now, and was never judged to the end; passing already does not make them vacuous.
    """
    runs = [one for one in standings(state) if one.ended is not None and _is_whole(state, one.run)]
    found = {one.id: _seen_failing(runs, one) for one in fresh}
    return {name: run for name, run in found.items() if run}


def _seen_failing(runs: Sequence[Standing], wanted: Criterion) -> str:
    """Only the newest run with the very same checks is asked."""
    for at in reversed(runs):
        same = next((one for one in at.criteria if one.digests == wanted.digests), None)
        if same is not None:
            carried = str(part(at.started, "carried").get(same.id) or "")
            failed = at.run if part(at.started, "before").get(same.id) == "fail" else carried
            return failed if (at.ended or {}).get("how") != "pass" else ""
    return ""


def is_same(one: Criterion, other: Criterion) -> bool:
    """Said with the same words, or proven by the same checks."""
    return normal(one.description) == normal(other.description) or one.digests == other.digests


def normal(description: str) -> str:
    letters = "".join(letter if letter.isalnum() else " " for letter in description.casefold())
    return " ".join(letters.split())


def _is_whole(state: str, run: str) -> bool:
    return not Journal(paths.ralph_run_dir(state, run), state).problems()


def _passes_in(runs: Sequence[Standing], wanted: Criterion) -> bool:
    return any(is_same(one, wanted) for at in runs for one in at.with_status("PASS"))


def _lesson(at: Standing, one: Criterion) -> Row:
    found, state = at.last_result(one.id), at.states[one.id]
    return {
        "id": one.id,
        "description": clip(one.description, 200),
        "evidence": clip(str(found.get("evidence") or ""), LONGEST_EVIDENCE),
        "suggested_action": clip(str(found.get("suggested_action") or ""), LONGEST_EVIDENCE),
        "fail_count": state.fail_count,
        "regressions": state.regressions,
    }


def _overlap(at: Standing, new: Criterion, old: Criterion) -> Row:
    return {**_lesson(at, old), "id": new.id, "was": old.id}
