"""Beginning a run: everything that can be refused is refused before its ledger has a row.

It keeps what the user asked for, and takes over from the runs before it what they could not do, what they began, and
what they were let off.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omo.digest import sha256
from omo.errors import BadInput, Refused
from omo.proof import base, changes, pins
from omo.proof.checks import dump, parse_checks
from omo.proof.evaluate import ChecksVerdict
from omo.state.rows import read_base
from omo.state.runtime import part
from omo.text import block, clip
from omo.work import proving, requests
from omo.work.files import Files
from omo.work.lifecycle import BY_CANCEL, called_off, not_shown, put_aside, require_reason
from omo.work.publish import take_up_again
from omo.work.run import Caller, Run, check_sizes, load
from omo.work.sections import listed
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
    _require_options(caller, path, max_iterations, reduced_scope)
    with RALPH.start_lock(caller):
        own = load(RALPH, caller)
        user = called_off(caller, KIND)
        _require_over(caller, own, is_called_off=user is not None)
        previous = own.state if own is not None else None
        unfinished = None
        if previous is not None and (previous.is_open or previous.is_the_users_turn) and user is None:
            unfinished = previous  # the user did not end it: the new run is held to what that one was for
        typed = requests.typed(caller.events, "ralph")
        typed_since = requests.typed(typed, "ralph", str(previous.started.get("ts")) if previous is not None else "")
        files = _files_when_asked(caller, typed, typed_since, unfinished)
        path = path or _named_file(caller, typed_since)
        head = files["head"] or changes.head(Path(caller.root))
        wanted, source, digest = _criteria(caller, path, head, cwd)
        last = _last_state(caller, own)
        after = _cleared_away(caller) if own is None else _carried_on(unfinished, wanted)
        carried_on = unfinished
        if caller.by == "user" and previous is not None and previous.how != "pass":
            carried_on = previous  # in their own terminal the user goes on also with what they have ended
        asked_for = _request(caller, typed_since, carried_on, request)
        if not asked_for and not wanted:
            raise Refused(NOTHING_FOUND, fix=NAME_THEM)
        if asked_for:
            wanted = [_request_criterion(), *wanted]
        started: RalphRow = {
            "kind": "started",
            "run": RALPH.new_id(caller),
            "session": caller.session,
            "root": caller.here,
            "request": asked_for,
            "criteria": [criterion.data for criterion in wanted],
            "confirmed": caller.by == "user" or requests.is_named(typed, digest),
            "source": source,
            "base": head,
            "files": files,
            "programs": proving.programs_of(caller.root, criteria.commands_of(wanted)),
            "max_iterations": max_iterations,
            "reduced_scope": clip(reduced_scope.strip(), 1000),
            "lessons": _lessons(last, wanted),
            "carried": _seen_failing(last, wanted),
            "after": after,
        }
        check_sizes([started])
        is_worked_on = bool(base.look(caller.root, files).without([source]).changed)
        seen = _pin(caller, wanted, started, may_pass=is_worked_on)
        if path is None:
            seen |= _adjust_found(caller, wanted, seen, started, is_worked_on=is_worked_on)
        if after:
            take_up_again(caller, str(after["run"]))
        if user is not None:
            _put_aside(user, own)
            caller.forget()
        run = Run(RALPH, caller, started["run"])
        before = {name: verdict.verdict for name, verdict in seen.items()}
        run.append({**started, "before": before}, opening(caller, Files(caller.root), 1))
    return run, publish(run, begins=True)


def _files_when_asked(
    caller: Caller, typed: Sequence[SessionEvent], typed_since: Sequence[SessionEvent], unfinished: RalphState | None
) -> Base:
    """The files when the user asked for this run, or for the unfinished one that it carries on: typing it again
    begins nothing new ("weakened, every iteration used, asked for again"). Where no hook heard them, those of now."""
    asked_before = []
    if unfinished is not None:
        asked_before = [row.get("text") for row in typed if row not in typed_since]
    for row in reversed(typed_since):
        is_repeated = row.get("text") in asked_before[-1:]
        if not is_repeated and isinstance(row.get("base"), dict):
            return read_base(row.get("base"))
    if unfinished is not None and (unfinished.is_request_heard or asked_before):
        return read_base(unfinished.started.get("files"))
    return base.take(caller.root, os.environ, caller.state)


def _named_file(caller: Caller, typed_since: Sequence[SessionEvent]) -> Path | None:
    """The file of criteria, where its name is all that the user typed ("honest: criteria that the user named, begun
    without their name")."""
    if not typed_since or not requests.names_data(typed_since[-1]):
        return None
    return Path(caller.here, requests.files_of(typed_since[-1])[0]["path"])


def _require_options(caller: Caller, path: Path | None, max_iterations: int, reduced_scope: str) -> None:
    file = f" --criteria {shlex.quote(str(path))}" if path is not None else ""
    if not 1 <= max_iterations <= MOST_ITERATIONS:
        raise BadInput(
            f"--max-iterations {max_iterations} is not between 1 and {MOST_ITERATIONS}",
            fix=f"omo ralph start{file} --max-iterations {DEFAULT_ITERATIONS}",
        )
    if not reduced_scope:
        return
    again = f'omo ralph start --session {shlex.quote(caller.session)}{file} --reduced-scope "why less is enough"'
    if caller.by != "user":
        raise Refused(
            "--reduced-scope lets phases be left out, which only the user can authorise",
            fix=f"ask them; they run in their own terminal: {again}",
        )
    require_reason(reduced_scope, "--reduced-scope", again)


def _put_aside(user: Caller, own: RalphRun | None) -> None:
    """They have called it off themselves, and so it ends by their word."""
    if own is not None and own.state is not None and own.state.is_open:
        abandon(Run(RALPH, user, own.id), BY_CANCEL)
    put_aside(user, KIND)


def _require_over(caller: Caller, own: RalphRun | None, *, is_called_off: bool) -> None:
    """One run per session at a time, but for one that the user called off. A damaged one is in the way until the user
    has sealed it."""
    if own is not None and own.problems and not is_over(own):
        raise own.damage()
    is_open = own is not None and own.state is not None and own.state.is_open and not own.problems
    if own is not None and own.state is not None and is_open and not is_called_off:
        raise Refused(
            f"ralph run {own.id} of this session is open: {own.state.headline}",
            fix=f"go on with it: omo ralph status; or {ABANDON}",
        )
    refusal = not_shown(RALPH, caller, NextStep(commands=THE_USERS_TURN).command)
    if refusal is not None and caller.summary(KIND).get("cleared"):
        raise refusal


# What is wanted


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


def _request(
    caller: Caller, typed_since: Sequence[SessionEvent], carried_on: RalphState | None, given: str
) -> Request | None:
    """What the user typed since the session's last run; else what was handed in, or what the run was for that this one
    carries on."""
    texts = []
    for row in typed_since:
        if row.get("text") and not requests.names_data(row):
            texts.append(requests.text_of(row) if requests.digest_of_lone_file(row) else str(row["text"]))
    if texts and given.strip() and caller.by != "user":
        # "make add return the sum" was handed on once, where mul, div and a CLI were typed as well.
        raise Refused(
            "the user typed what they ask for, and that is what the judge is asked about: --request puts nothing in "
            f"its place. They typed: {clip(texts[-1], 200)}",
            fix="the same without --request; what is to be left out of it is theirs to say: /omo:ralph TEXT",
        )
    if texts:
        return {"text": texts[-1], "by": "user"}
    if given.strip():
        return {"text": block(given.strip(), rules.LONGEST_REQUEST), "by": caller.by}
    return carried_on.started.get("request") if carried_on is not None else None


def _request_criterion() -> Criterion:
    checks: list[Any] = [dump(check) for check in parse_checks([rules.REQUEST_CHECK])]
    return Criterion(rules.REQUEST, rules.REQUEST_DESCRIPTION, checks, [], False)


def _pin(
    caller: Caller, wanted: Sequence[Criterion], started: RalphRow, *, may_pass: bool = False
) -> dict[str, ChecksVerdict]:
    """Pin the checks of each criterion, and tell what each says at the start. All that prove nothing are refused, but
    for where they `may_pass` because of what was worked since the user asked ("honest: the work before its run").

    A refusal leaves the pins of the others behind, under the name of a run that never began.
    """
    pins.pinned(caller.state)  # refused where that ledger is damaged; below, a refusal is about the checks
    seen: dict[str, ChecksVerdict] = {}
    defects: list[str] = []
    for criterion in wanted:
        is_meant_to_pass = criterion.guard or criterion.id in started["carried"]
        try:
            report = pins.pin(
                caller,
                parse_checks(criterion.checks),
                source=started["source"],
                goal=criterion.goal(started["run"]),
                refuse_vacuous=bool(started["source"]) and not (may_pass or is_meant_to_pass),
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


def _adjust_found(
    caller: Caller,
    wanted: Sequence[Criterion],
    seen: Mapping[str, ChecksVerdict],
    started: RalphRow,
    *,
    is_worked_on: bool,
) -> dict[str, ChecksVerdict]:
    """What the project's files name is started so that it finds the project's modules, and what passes without any work
    is meant to stay so. The answer is what was pinned anew."""
    found = criteria.finding_modules(caller.root, wanted, seen)
    pinned = _pin(caller, list(found.values()), started)
    wanted = [found.get(each.id, each) for each in wanted]
    if not is_worked_on:
        wanted = [replace(each, guard={**seen, **pinned}[each.id].verdict == "pass") for each in wanted]
    if all(each.guard for each in wanted):
        raise Refused(NOTHING_FAILS, fix=NAME_THEM)
    started["programs"] = proving.programs_of(caller.root, criteria.commands_of(wanted))
    started["criteria"] = [criterion.data for criterion in wanted]
    return pinned


# The run before it


def _last_state(caller: Caller, own: RalphRun | None) -> RalphState | None:
    """The state of the session's last run, else of the newest in the project; None where its ledger is damaged."""
    run = own
    if run is None and (names := RALPH.names(caller.state)):
        run = Run(RALPH, caller, names[-1])
    return None if run is None or run.problems else run.state


def _lessons(last: RalphState | None, wanted: Sequence[Criterion]) -> list[AskedBefore]:
    """What the last run left blocked; `again` names the new criteria that ask the same."""
    if last is None:
        return []
    lessons: list[AskedBefore] = []
    for criterion in last.with_status("BLOCKED"):
        if criterion.id == rules.REQUEST:  # each run has its own
            continue
        asked = _asked(criterion)
        again = [each.id for each in wanted if _is_same(asked, _asked(each))]
        evidence = clip(str(last.last_result(criterion.id).get("evidence") or ""), LONGEST_EVIDENCE)
        lessons.append({**asked, "from_run": last.run, "evidence": evidence, "again": again})
    return lessons


def _asked(criterion: Criterion) -> AskedBefore:
    """What of a criterion tells whether another one asks the same."""
    description = clip(criterion.description, 200)
    return {"id": criterion.id, "description": description, "checks": sorted(criterion.digests)}


def _is_same(first: AskedBefore, second: AskedBefore) -> bool:
    """Said with the same words, or proven by the same checks."""
    words = [re.findall(r"\w+", asked["description"].casefold()) for asked in (first, second)]
    return first.get("checks") == second["checks"] or words[0] == words[1]


def _seen_failing(last: RalphState | None, wanted: Sequence[Criterion]) -> list[str]:
    """The criteria that failed before a run which did not pass. Their work may be done by now without having been
    judged, so they are not vacuous if they pass already."""
    if last is None or last.ended is None or last.how == "pass":
        return []
    before = part(last.started, "before")
    failing = []
    for old in last.criteria:
        if before.get(old.id) == "fail" or old.id in listed(last.started.get("carried")):
            failing.append(old.digests)
    return [criterion.id for criterion in wanted if criterion.digests in failing]


def _cleared_away(caller: Caller) -> RunBefore:
    """The session's last run where the agent has cleared it away; nobody can compare any more what it asked for."""
    summary = caller.summary(KIND)
    if not summary.get("cleared"):
        return {}
    return {"run": str(summary.get("run") or ""), "how": "cleared by the agent", "statuses": {}, "dropped": []}


def _carried_on(last: RalphState | None, wanted: Sequence[Criterion]) -> RunBefore:
    """The unfinished run, with the criteria that it or a run before it had and that are not asked any more."""
    if last is None:
        return {}
    asked = list(last.after.get("dropped") or [])
    asked += [_asked(criterion) for criterion in last.criteria if criterion.id != rules.REQUEST]
    dropped = []
    for old in asked:  # with other checks it is another criterion, whatever its words
        if not any(set(old["checks"]) <= new.digests for new in wanted):
            dropped.append(old)
    return {
        "run": last.run,
        "how": last.how or "ledger damaged",  # else it would have to be ended before another begins
        "statuses": {name: known.status for name, known in last.states.items()},
        "dropped": dropped[:MOST_CRITERIA],
    }
