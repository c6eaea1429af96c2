"""What a run takes over from those before it: what they could not do, what they began, what they were let off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omo.errors import Refused
from omo.ralph.criteria import MOST_CRITERIA, Criterion
from omo.ralph.run import THEIRS, RalphRun, Standing, standings
from omo.shown import clip
from omo.state import paths
from omo.state.journal import Journal
from omo.state.runtime import part

Row = dict[str, Any]

LONGEST_EVIDENCE = 500


def require_shown(run: RalphRun) -> None:
    """An agent whose run was ended begins no other before Stop has shown the user how that one ended."""
    kept = run.told()
    is_over = kept.get("state") == "blocked" and kept.get("cleared")
    if run.by == "user" or not is_over or kept.get("told") is not False:
        return
    why = clip(str(kept.get("why") or ""), 200)
    what = f"ralph run {kept.get('run')} ended without a pass, and the user has not been shown it: {why}"
    raise Refused(what, fix=THEIRS)


def taken_over(run: RalphRun, criteria: Sequence[Criterion]) -> Row:
    """The fields of a new run's first row that come from earlier runs of the project."""
    runs = standings(run.state)
    ended = []
    for earlier in runs:
        is_whole = not Journal(paths.ralph_run_dir(run.state, earlier.run), run.state).problems()
        if earlier.ended is not None and is_whole:  # a ledger that was changed by hand teaches nothing
            ended.append(earlier)
    return {
        "lessons": _lessons(ended, criteria),
        "carried": _failing_before(ended, criteria),
        "after": _carried_on(run, runs, criteria),
    }


def _lessons(runs: Sequence[Standing], criteria: Sequence[Criterion]) -> Row:
    """The blocked criteria of the newest run that left some, and which of the new ones are the same again.

    What a later run has seen to pass is no lesson any more.
    """
    passed: list[Criterion] = []
    for status in reversed(runs):
        blocked = []
        for old in status.with_status("BLOCKED"):
            if not any(_is_same(old, later) for later in passed):
                blocked.append(old)
        if blocked:
            overlap = []
            for new in criteria:
                same = [old for old in blocked if _is_same(new, old)]
                overlap += [{**_lesson(status, old), "id": new.id, "was": old.id} for old in same]
            return {
                "from_run": status.run,
                "blocked": [_lesson(status, old) for old in blocked],
                "overlap": overlap,
            }
        passed += status.with_status("PASS")
    return {"from_run": "", "blocked": [], "overlap": []}


def _lesson(status: Standing, criterion: Criterion) -> Row:
    result, state = status.last_result(criterion.id), status.states[criterion.id]
    return {
        "id": criterion.id,
        "description": clip(criterion.description, 200),
        "evidence": clip(str(result.get("evidence") or ""), LONGEST_EVIDENCE),
        "suggested_action": clip(str(result.get("suggested_action") or ""), LONGEST_EVIDENCE),
        "fail_count": state.fail_count,
        "regressions": state.regressions,
    }


def _failing_before(runs: Sequence[Standing], criteria: Sequence[Criterion]) -> dict[str, str]:
    """By id, the run that saw a criterion fail when it began, where the newest run with its checks did not pass.

    Its work may be done by now, and was never judged to the end; passing already does not make it vacuous.
    """
    failing = {}
    for criterion in criteria:
        for status in reversed(runs):
            same = next((old for old in status.criteria if old.digests == criterion.digests), None)
            if same is None:
                continue
            first = str(part(status.started, "carried").get(same.id) or "")
            if part(status.started, "before").get(same.id) == "fail":
                first = status.run
            if first and (status.ended or {}).get("how") != "pass":
                failing[criterion.id] = first
            break
    return failing


def _carried_on(run: RalphRun, runs: Sequence[Standing], criteria: Sequence[Criterion]) -> Row:
    """The session's last run, where it did not pass, and what of it is not asked any more; empty where nothing is left.

    What the runs before it had dropped, and how often they were circumvented, goes on with it.
    """
    mine = [status for status in runs if status.session == run.session and status.root == run.here]
    last = mine[-1] if mine else Standing()
    kept = run.told()
    if kept.get("cleared") and kept.get("run") not in [status.run for status in mine]:
        last = Standing(run=str(kept.get("run")))  # its directory is gone
    if not last.run or (last.ended is not None and not last.is_the_users_turn):
        return {}
    asked = [*(last.after.get("dropped") or []), *(last.after.get("changed") or [])]
    for criterion in last.criteria:
        description = clip(criterion.description, 120)
        asked.append({"id": criterion.id, "description": description, "checks": sorted(criterion.digests)})
    dropped: list[Row] = []
    changed: list[Row] = []
    for old in asked:
        if any(set(old["checks"]) <= new.digests for new in criteria):
            continue
        names = [_plain(clip(new.description, 120)) for new in criteria]
        (changed if _plain(old["description"]) in names else dropped).append(old)
    return {
        "run": last.run,
        "how": str((last.ended or {}).get("how") or "abandoned"),
        "attempts": last.circumventions + int(last.after.get("attempts") or 0),
        "dropped": dropped[:MOST_CRITERIA],
        "changed": changed[:MOST_CRITERIA],
    }


def _is_same(first: Criterion, second: Criterion) -> bool:
    """Said with the same words, or proven by the same checks."""
    return _plain(first.description) == _plain(second.description) or first.digests == second.digests


def _plain(description: str) -> str:
    letters = "".join(letter if letter.isalnum() else " " for letter in description.casefold())
    return " ".join(letters.split())
