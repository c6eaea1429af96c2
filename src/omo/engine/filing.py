"""Filing an item, beginning a round of it, and giving up what a session is held to."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from omo.clock import stamp
from omo.engine.case import Case, CaseItem, CaseRow
from omo.engine.checking import commands_of, look_at_checks, looked_row, seen_by
from omo.engine.filed import PENDING, UNDER_WAY, FiledRuns, closed, streak_of
from omo.engine.runs import CaseRun, kind_of
from omo.errors import Refused
from omo.proof import artifacts, base, pins
from omo.proof.checks import parse_checks
from omo.proof.evaluate import ChecksVerdict
from omo.work import proving, requests
from omo.work.files import Files
from omo.work.gates import fold
from omo.work.lifecycle import require_reason
from omo.work.run import Caller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Base

GOES_ON = ("", "safeguard")  # how a run ended that another round takes up


def file_item(
    runs: FiledRuns, item: CaseItem, *, rounds: int, source: str, digest: str = ""
) -> tuple[CaseRun, pins.PinReport | None]:
    """Pin the checks, then file the item. One whose every check passes already could not show any work.

    A file that the user typed behind the workflow's command, as its `digest` tells, is theirs. The report is None if
    exactly this item is filed already.
    """
    caller, flow, run = runs.caller, runs.flow, runs.runs.get(item.id)
    old = run.require_whole() if run is not None else None
    typed = requests.typed(caller.events, flow.name, old.started_at if old is not None else "")
    is_confirmed = (old is None or not _is_same(old, item, rounds)) and requests.is_named(typed, digest)
    by = "user" if is_confirmed else caller.by
    _require_order(runs, item)
    if run is not None and not _is_new(old, item, rounds, by):
        return run, None
    is_under_way = old is not None and old.is_begun and old.how in GOES_ON  # its checks were seen before the work
    asked_on = _files_when_asked(caller, flow.name, source)
    is_worked_on = asked_on is not None and bool(base.look(caller.root, asked_on).changed)
    run = run or CaseRun(kind_of(flow), caller, item.id)
    report = pins.pin(
        replace(caller, by=by),
        parse_checks(item.as_written),
        source=source,
        goal=run.pinned_for(item.id),
        refuse_vacuous=not (item.guard or is_under_way or is_worked_on),
    )
    artifacts.remember(caller)
    row: CaseRow = {"kind": "started", "run": item.id, "session": caller.session, "root": caller.here}
    row |= {"request": None, "confirmed": by == "user", "source": source, "max_iterations": rounds}
    row |= {"items": [item.data], "files": asked_on or base.take(caller.root, os.environ, caller.state)}
    row["programs"] = proving.programs_of(caller.root, commands_of([item]))
    if is_confirmed and is_under_way and old is not None:
        # They ask for something else, and what was done for it stays work.
        row |= {"files": old.started["files"], "programs": {**row["programs"], **old.started["programs"]}}
    row["base"] = row["files"]["head"]

    def decide(now: Case | None) -> tuple[None, list[CaseRow]]:
        return None, [row] if _is_new(now, item, rounds, by) else []

    run.change(decide)
    return run, report


def _is_same(old: Case, item: CaseItem, rounds: int) -> bool:
    return old.item == item and old.most_rounds == rounds


def _is_new(old: Case | None, item: CaseItem, rounds: int, by: str) -> bool:
    """Return whether there is anything to file. Once an item is begun, or the user's, its bar is the user's to move."""
    if old is None or by == "user" or not (old.is_confirmed or old.is_begun):
        return True
    if _is_same(old, item, rounds):
        return False
    why = "was filed by the user" if old.is_confirmed else "has been begun"
    way = f"or the user types /omo:{old.flow.name} FILE, and then the same again"
    raise Refused(
        f"{old.flow.unit} {item.id} {why}; only the user can change it now",
        fix=f"file what is missing under another id; {way}",
    )


def _require_order(runs: FiledRuns, item: CaseItem) -> None:
    """Refuse items that would wait for each other."""
    waits = {}
    for name, case in runs.cases.items():
        if case.how in GOES_ON and name != item.id:
            waits[name] = [*case.item.waits_for, *case.item.wants]
    try:
        TopologicalSorter({item.id: [*item.waits_for, *item.wants]} | waits).prepare()
    except CycleError as error:
        raise Refused(
            f"these {runs.flow.units} would wait for each other: {' → '.join(reversed(error.args[1]))}",
            fix=f"take one of them out of what {item.id} waits for",
        ) from None


def _files_when_asked(caller: Caller, workflow: str, source: str) -> Base | None:
    """Return the files of the user's request, and the file that asks as it is ("its test weakened between the request
    and the goal"). What changed since then is work, and its checks may pass already ("honest: the work before its
    goal")."""
    left = fold(caller.events, None).left
    if not left or caller.by == "user":
        return None
    if left not in [row.get("base") for row in requests.typed(caller.events, workflow)]:
        return None
    now = base.take(caller.root, os.environ, caller.state)["files"]
    return {**left, "files": {**left["files"], **{path: now[path] for path in now if path == source}}}


# A round of it


def open_round(runs: FiledRuns, name: str, *, again: str = "") -> bool:
    """Open the next round. False if one is open: what is answered in it and still holds stays."""
    caller, run = runs.caller, runs.run(name)
    case = run.require_whole()
    if case.is_in_round and not again:
        return False
    _require_free(runs, case, again)
    number = 1 if again else case.mark.fail_count + 1
    row = run.round_row(Files(caller.root), number)
    if again:
        row["again"] = again

    def decide(now: Case) -> tuple[bool, list[CaseRow]]:
        if now.is_in_round and not again:
            return False, []
        return True, [row]

    is_new = run.change_whole(decide)
    if is_new:
        artifacts.remember(caller)
    return is_new


def _require_free(runs: FiledRuns, case: Case, again: str) -> None:
    flow, item, state = runs.flow, case.item, runs.state(case)
    begins = f"{flow.start} {item.id}"
    if again and runs.caller.by != "user":
        raise Refused("--again is the user's to say", fix=f"ask the user to run {begins} --again WHY")
    if blocked := runs.blocked_by(case):
        raise Refused(
            f"{flow.unit} {item.id} is blocked by {', '.join(blocked)}",
            fix=f"finish {blocked[0]} first: omo {flow.name} status {blocked[0]}",
        )
    if again:
        require_reason(again, "--again", "say why it is opened again")
        if state == UNDER_WAY:
            raise Refused(f"{flow.unit} {item.id} is in progress: it is open", fix=begins)
        return
    if state != PENDING:
        raise closed(runs, case)
    streak = streak_of(case)
    if item.every and not streak.is_due(item.every, runs.caller.now):
        raise Refused(
            f"{flow.unit} {item.id} is not due before {stamp(streak.due_at(item.every) or 0)}",
            fix=f"come back then; omo {flow.name} status {item.id} shows where it stands",
        )


def look_now(run: CaseRun, seen: ChecksVerdict | None = None) -> ChecksVerdict:
    """Evaluate the checks and record it, so that views and the session know what is open. `seen` is what they said when
    the item was filed just now, which is not asked again."""
    verdict = seen or look_at_checks(run, pins.pinned(run.caller.state))
    run.append(looked_row(seen_by(verdict), Files(run.caller.root)))
    return verdict


def look_again(runs: FiledRuns, name: str, files: Files) -> dict[str, ChecksVerdict]:
    """Look at the items whose ends are told with the last one of a session, on the files as they are ("the second goal
    undoes the first, and a third waits for it")."""
    summary = runs.caller.summary(runs.flow.name)
    verdicts: dict[str, ChecksVerdict] = {}
    if set(summary.get("runs") or []) - {name}:
        return verdicts
    pinned = pins.pinned(runs.caller.state)
    for other, case in runs.cases.items():
        is_told_with_it = other in (summary.get("ended") or {}) and other != name and not case.item.every
        if is_told_with_it and case.how == "pass" and files.why_lapsed(case.tree_of_end):
            verdicts[other] = look_at_checks(runs.runs[other], pinned)
    return verdicts


def reopen_broken(runs: FiledRuns, verdicts: dict[str, ChecksVerdict], broken: Sequence[str]) -> None:
    """Record what these items say now. Those that are broken are open again."""
    for name, verdict in verdicts.items():
        run = runs.runs[name]
        row = looked_row(seen_by(verdict), Files(runs.caller.root))
        rows: list[CaseRow] = [row]
        if name in broken:
            rows.append({"kind": "reopened"})
        run.append(*rows)
