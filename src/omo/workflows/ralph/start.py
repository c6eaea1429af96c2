"""Beginning a run: everything that can be refused is refused before its ledger has a row.

It keeps what the user asked for, and takes over from the runs before it what they could not do, what they began, and
what they were let off.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.proof import base, changes, pins
from omo.proof.checks import dump, parse_checks
from omo.proof.evaluate import ChecksVerdict
from omo.state.rows import read_base
from omo.text import block, clip
from omo.work import proving, requests
from omo.work.files import Files
from omo.work.lifecycle import ASKED_ANEW, called_off, not_shown, put_aside, require_reason
from omo.work.publish import take_up_again
from omo.work.run import Caller, Run, check_sizes, load
from omo.work.status import NextStep, units
from omo.workflows.ralph import criteria, rules
from omo.workflows.ralph.end import abandon, is_over, publish
from omo.workflows.ralph.rules import (
    DEFAULT_ITERATIONS,
    MOST_CRITERIA,
    MOST_ITERATIONS,
    AskedBefore,
    Criterion,
    RalphRow,
    Request,
    RunBefore,
)
from omo.workflows.ralph.run import ABANDON, KIND, RALPH, THE_USERS_TURN, RalphRun, RalphState, opening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base

LONGEST_EVIDENCE = 500
NOTHING_FOUND = "nobody said what is wanted, and the project's files name no check of its own"
NOTHING_FAILS = "the project's own checks pass already, and nobody said what is wanted"
NAME_THEM = "the user types /omo:ralph and what they want; or write criteria: omo ralph start --criteria FILE"


class Asked(NamedTuple):
    """What is wanted of the new run. `files` are those when the user asked for it, `file` the criteria that they named;
    `unfinished` is the run before it that they did not end: the new one is held to what that one was for."""

    typed: list[SessionEvent]
    request: Request | None
    file: Path | None
    files: Base
    unfinished: RalphState | None


def start(
    caller: Caller,
    path: Path | None = None,
    *,
    cwd: str = ".",
    max_iterations: int = DEFAULT_ITERATIONS,
    reduced_scope: str = "",
    request: str = "",
) -> tuple[RalphRun, NextStep]:
    """Begin a run and open its first iteration. Without a `path` the criteria are those of the file whose name the user
    typed, else the project's own checks, seen from `cwd`.

    `request` is what the user asked for, where no hook heard them type it.
    """
    _require_options(caller, max_iterations, reduced_scope)
    with RALPH.start_lock(caller):
        own = load(RALPH, caller)
        user = called_off(caller, KIND)
        _require_over(caller, own, is_called_off=user is not None)
        asked = _asked(caller, own.state if own is not None else None, request, is_called_off=user is not None)
        path = path or asked.file
        head = asked.files["head"] or changes.head(Path(caller.root))
        wanted, source, digest = _criteria(caller, path, head, cwd)
        if asked.request:
            checks: list[Any] = [dump(check) for check in parse_checks([rules.REQUEST_CHECK])]
            wanted = [Criterion(rules.REQUEST, rules.REQUEST_DESCRIPTION, checks, [], False), *wanted]
        if not wanted:
            raise Refused(NOTHING_FOUND, fix=NAME_THEM)
        started: RalphRow = {
            "kind": "started",
            "run": RALPH.new_id(caller),
            "session": caller.session,
            "root": caller.here,
            "request": asked.request,
            "criteria": [criterion.data for criterion in wanted],
            "confirmed": caller.by == "user" or requests.is_named(asked.typed, digest),
            "source": source,
            "base": head,
            "files": asked.files,
            "programs": proving.programs_of(caller.root, criteria.commands_of(wanted)),
            "max_iterations": max_iterations,
            "reduced_scope": clip(reduced_scope.strip(), 1000),
            "lessons": _lessons(caller, own, wanted),
            "after": _after(caller, own, asked.unfinished, wanted),
        }
        check_sizes([started])
        started["before"] = _pin_all(caller, wanted, started, is_found=path is None)
        if started["after"]:
            take_up_again(caller, str(started["after"]["run"]))
        if user is not None:  # they have called it off themselves, and so it ends by their word
            if own is not None and own.state is not None and own.state.is_open:
                abandon(Run(RALPH, user, own.id), ASKED_ANEW)
            put_aside(user, KIND)
            caller.forget()
        run = Run(RALPH, caller, started["run"])
        run.append(started, opening(caller, Files(caller.root), 1))
    return run, publish(run, begins=True)


def _require_options(caller: Caller, max_iterations: int, reduced_scope: str) -> None:
    if not 1 <= max_iterations <= MOST_ITERATIONS:
        what = f"--max-iterations {max_iterations} is not between 1 and {MOST_ITERATIONS}"
        raise BadInput(what, fix=f"leave it out: it is {DEFAULT_ITERATIONS} then")
    if reduced_scope:
        again = f'omo ralph start --session {shlex.quote(caller.session)} … --reduced-scope "why less is enough"'
        if caller.by != "user":
            what = "--reduced-scope lets phases be left out, which only the user can authorise"
            raise Refused(what, fix=f"ask them; they run in their own terminal: {again}")
        require_reason(reduced_scope, "--reduced-scope", again)


def _require_over(caller: Caller, own: RalphRun | None, *, is_called_off: bool) -> None:
    """One run per session at a time, but for one that the user called off. A damaged one is in the way until the user
    has sealed it."""
    if own is not None and own.problems:
        if not is_over(own):
            raise own.damage()
    elif own is not None and own.state is not None and own.state.is_open and not is_called_off:
        raise Refused(
            f"ralph run {own.id} of this session is open: {own.state.headline}",
            fix=f"go on with it: omo ralph status; or {ABANDON}",
        )
    refusal = not_shown(RALPH, caller, NextStep(commands=THE_USERS_TURN).command)
    if refusal is not None and caller.summary(KIND).get("cleared"):
        raise refusal


# What is wanted


def _asked(caller: Caller, previous: RalphState | None, given: str, *, is_called_off: bool) -> Asked:
    """What the user typed since the session's last run; else what was handed in, or what the run was for that this one
    goes on from. "make add return the sum" was handed in once, where mul, div and a CLI were typed as well."""
    unfinished, goes_on_from = None, None
    if previous is not None and (previous.is_open or previous.is_the_users_turn) and not is_called_off:
        unfinished = goes_on_from = previous
    if caller.by == "user" and previous is not None and previous.how != "pass":
        goes_on_from = previous  # in their own terminal the user goes on also with what they have ended
    typed = requests.typed(caller.events, "ralph")
    since = requests.typed(typed, "ralph", str(previous.started.get("ts")) if previous is not None else "")
    said = [row for row in since if row.get("text") and not requests.names_data(row)]
    request: Request | None = None
    if said:
        is_file = requests.digest_of_lone_file(said[-1])
        request = {"text": requests.text_of(said[-1]) if is_file else str(said[-1]["text"]), "by": "user"}
    elif given.strip():
        request = {"text": block(given.strip(), rules.LONGEST_REQUEST), "by": caller.by}
    elif goes_on_from is not None:
        request = goes_on_from.started.get("request")
    file = None
    if since and requests.names_data(since[-1]):
        # "honest: criteria that the user named, begun without their name"
        file = Path(caller.here, requests.files_of(since[-1])[0]["path"])
    return Asked(typed, request, file, _files_when_asked(caller, typed, len(since), goes_on_from), unfinished)


def _files_when_asked(caller: Caller, typed: Sequence[SessionEvent], new: int, goes_on_from: RalphState | None) -> Base:
    """The files when the user asked for this run, of which the last `new` rows tell, or for the one that it goes on
    from: typing it again begins nothing new ("weakened, every iteration used, asked for again"). Where no hook heard
    them, those of now."""
    asked_before = typed[-new - 1].get("text") if goes_on_from is not None and len(typed) > new else None
    for row in reversed(typed[len(typed) - new :]):
        if row.get("text") != asked_before and isinstance(row.get("base"), dict):
            return read_base(row.get("base"))
    if goes_on_from is not None:
        return read_base(goes_on_from.started.get("files"))
    return base.take(caller.root, os.environ, caller.state)


def _criteria(caller: Caller, path: Path | None, head: str | None, cwd: str) -> tuple[list[Criterion], str, str]:
    """The criteria of the file, how the run names that file, and its digest; without one, the project's own checks."""
    if path is None:
        return criteria.proposed(caller.root, head, cwd), "", ""
    wanted, digest = criteria.load(path), sha256(path.read_bytes())
    source = os.path.realpath(path)
    inside = os.path.relpath(source, caller.here)
    if not inside.startswith(".."):
        source = inside
    return wanted, source, digest


def _pin_all(caller: Caller, wanted: list[Criterion], started: RalphRow, *, is_found: bool) -> dict[str, str]:
    """Pin the checks of each criterion, and tell what each says at the start. All that prove nothing are refused, but
    for where files were changed since the user asked ("honest: the work before its run").

    What the project's files name (`is_found`) is started so that it finds the project's modules, and what passes
    without any work is meant to stay so.
    """
    is_worked_on = bool(base.look(caller.root, started["files"]).without([started["source"]]).changed)
    seen = _pin(caller, wanted, started, may_pass=is_worked_on)
    if is_found:
        found = criteria.finding_modules(caller.root, wanted, seen)
        seen |= _pin(caller, list(found.values()), started, may_pass=True)
        wanted = [found.get(each.id, each) for each in wanted]
        if not is_worked_on:
            wanted = [replace(each, guard=seen[each.id].verdict == "pass") for each in wanted]
        if all(each.guard for each in wanted):
            raise Refused(NOTHING_FAILS, fix=NAME_THEM)
        started["programs"] = proving.programs_of(caller.root, criteria.commands_of(wanted))
        started["criteria"] = [criterion.data for criterion in wanted]
    return {name: verdict.verdict for name, verdict in seen.items()}


def _pin(caller: Caller, wanted: Sequence[Criterion], started: RalphRow, *, may_pass: bool) -> dict[str, ChecksVerdict]:
    """A refusal leaves the pins of the others behind, under the name of a run that never began."""
    pins.pinned(caller.state)  # refused where that ledger is damaged; below, a refusal is about the checks
    seen: dict[str, ChecksVerdict] = {}
    defects: list[str] = []
    for criterion in wanted:
        try:
            report = pins.pin(
                caller,
                parse_checks(criterion.checks),
                source=started["source"],
                goal=criterion.goal(started["run"]),
                refuse_vacuous=bool(started["source"]) and not (may_pass or criterion.guard),
            )
            seen[criterion.id] = report.verdict
        except Refused as error:
            reasons = error.details.get("defects")
            why = "; ".join(map(str, reasons)) if isinstance(reasons, list) else error.message
            defects.append(f"{criterion.id}: passes before the work: {clip(why, 300)}")
    if defects:
        raise Refused(
            f"{len(defects)} of {units(len(wanted), 'criterion')} could not show that work was done",
            fix="write first the test that fails without the work, or add a check that fails now, or say guard: true "
            "where it is meant to stay true, then start again; of a file that you edit the user types the name again",
            defects=defects,
        )
    return seen


# The run before it


def _lessons(caller: Caller, own: RalphRun | None, wanted: Sequence[Criterion]) -> list[AskedBefore]:
    """What the session's last run, else the newest in the project, left blocked; `again` names the new criteria that
    ask the same: said with the same words, or proven by the same checks."""
    last = own
    if last is None and (names := RALPH.names(caller.state)):
        last = Run(RALPH, caller, names[-1])
    if last is None or last.problems or last.state is None:
        return []
    lessons: list[AskedBefore] = []
    for criterion in last.state.with_status("BLOCKED"):
        if criterion.id == rules.REQUEST:  # each run has its own
            continue
        again = []
        for each in wanted:
            if each.digests == criterion.digests or _words(each) == _words(criterion):
                again.append(each.id)
        evidence = clip(str(last.state.last_result(criterion.id).get("evidence") or ""), LONGEST_EVIDENCE)
        lessons.append({**_asked_in(criterion), "from_run": last.id, "evidence": evidence, "again": again})
    return lessons


def _words(criterion: Criterion) -> list[str]:
    return re.findall(r"\w+", criterion.description.casefold())


def _asked_in(criterion: Criterion) -> AskedBefore:
    """What of a criterion tells whether another one asks the same."""
    description = clip(criterion.description, 200)
    return {"id": criterion.id, "description": description, "checks": sorted(criterion.digests)}


def _after(
    caller: Caller, own: RalphRun | None, unfinished: RalphState | None, wanted: Sequence[Criterion]
) -> RunBefore:
    """The unfinished run, with the criteria that it or a run before it had and that are not asked any more. Of one that
    the agent has cleared away nobody can compare them."""
    summary = caller.summary(KIND)
    if own is None and summary.get("cleared"):
        return {"run": str(summary.get("run") or ""), "how": "cleared by the agent", "statuses": {}, "dropped": []}
    if unfinished is None:
        return {}
    asked = list(unfinished.after.get("dropped") or [])
    asked += [_asked_in(criterion) for criterion in unfinished.criteria]
    dropped = []
    for old in asked:  # with other checks it is another criterion, whatever its words
        if not any(set(old["checks"]) <= new.digests for new in wanted):
            dropped.append(old)
    return {
        "run": unfinished.run,
        "how": unfinished.how or "ledger damaged",  # else it would have to be ended before another begins
        "statuses": {name: known.status for name, known in unfinished.states.items()},
        "dropped": dropped[:MOST_CRITERIA],
    }
