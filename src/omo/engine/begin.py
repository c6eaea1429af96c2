"""Beginning a run: everything that can be refused is refused before its ledger has a row.

It keeps what the user asked for. From the runs before it takes what they could not do, what they began, and what they
were let off.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omo.digest import sha256
from omo.engine import ends
from omo.engine.case import Case, CaseItem, CaseRow, Lesson, Request, RunBefore
from omo.engine.checking import commands_of
from omo.engine.flow import Flow
from omo.engine.runs import CaseRun, give_way, kind_of, load_run
from omo.errors import BadInput, Refused
from omo.proof import (
    base,
    changes,
    kept_commands,
    outputs,
    own_commands,
    pins,
    project_checks,
    project_files,
    trying,
)
from omo.proof.checks import dump, parse_checks
from omo.proof.evaluate import ChecksVerdict
from omo.proof.gate_runs import Subject
from omo.proof.typed_commands import resolve
from omo.state.rows import read_base
from omo.state.runtime import has_ended
from omo.text import block, clip
from omo.work import proving, requests
from omo.work.files import Files
from omo.work.gates import Gates
from omo.work.lifecycle import not_shown, replaces, require_reason, require_room
from omo.work.publish import take_up_again
from omo.work.run import Caller, check_sizes
from omo.work.status import NextStep, units

if TYPE_CHECKING:
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Base

LONGEST_EVIDENCE, LONGEST_DESCRIPTION = 500, 500
MOST_PROPOSED, MOST_DROPPED = 3, 50
LONGEST_CHECK = 600.0  # seconds, as for a gate
REQUEST = "all that the user asked for is there"
REQUEST_CHECK = {
    "id": "request",
    "type": "judge",
    "question": "Is all of it there that the user asked for, in the words above, and does it hold when it is tried?",
}


@dataclass(frozen=True)
class StartOptions:
    """What was typed behind the command that begins a run. Without a `file` the items are those of the file that the
    user named, else the project's own checks as seen from `cwd`. `request` is what the user asked for, if no hook heard
    them type it."""

    file: Path | None = None
    cwd: str = "."
    rounds: int | None = None  # as many as the flow says
    reduced_scope: str = ""
    request: str = ""


class Asked(NamedTuple):
    """What is wanted of the new run. `files` are those when the user asked; `file` has the items that they named.

    `unfinished` is the run before it that they did not end. The new run is held to what that one was for.
    """

    typed: list[SessionEvent]
    request: Request | None
    file: Path | None
    files: Base
    unfinished: Case | None


def begin(flow: Flow, caller: Caller, options: StartOptions) -> tuple[CaseRun, NextStep]:
    """Begin a run, and open its first round."""
    _require_options(flow, caller, options)
    kind = kind_of(flow)
    with kind.start_lock(caller):
        own = load_run(flow, caller)
        require_room(flow.name, caller)
        is_replaced = replaces(caller, flow.name) is not None
        ends.require_over(own, is_replaced=is_replaced)
        _require_shown(flow, caller)
        before = own.state if own is not None else None
        asked = _asked(flow, caller, before, options.request, is_replaced=is_replaced)
        path = options.file or asked.file
        head = asked.files["head"] or changes.head(Path(caller.root))
        found = proposed(flow, caller.root, caller.state, head, options.cwd) if path is None else []
        items = _items(flow, asked, path, found)
        source, digest = _named(caller, path)
        run = CaseRun(kind, caller, kind.new_id(caller))
        started: CaseRow = {
            "kind": "started",
            "run": run.id,
            "session": caller.session,
            "root": caller.here,
            "request": asked.request,
            "confirmed": caller.by == "user" or requests.is_named(asked.typed, digest),
            "source": source,
            "base": head,
            "files": asked.files,
            "max_iterations": _rounds(flow, options),
            "reduced_scope": clip(options.reduced_scope.strip(), 1000),
        }
        started["lessons"] = _lessons(flow, caller, own, items)
        started["after"] = _after(flow, caller, own, asked.unfinished, items)
        started["items"] = [item.data for item in items]
        check_sizes([started])
        items, started["before"] = _pin_all(run, items, started, is_found=path is None)
        started["items"] = [item.data for item in items]
        started["programs"] = proving.programs_of(caller.root, commands_of(items))
        if started["after"]:
            take_up_again(caller, str(started["after"]["run"]))
        give_way(flow, caller)
        run.append(started, run.round_row(Files(caller.root), 1))
    return run, run.publish(begins=True)


def _require_options(flow: Flow, caller: Caller, options: StartOptions) -> None:
    rounds = _rounds(flow, options)
    if not 1 <= rounds <= flow.most_rounds:
        what = f"--max-iterations {rounds} is not between 1 and {flow.most_rounds}"
        raise BadInput(what, fix=f"leave it out: it is {flow.rounds} then")
    if options.reduced_scope:
        session = shlex.quote(caller.session)
        again = f'{flow.start} --session {session} … --reduced-scope "why less is enough"'
        if caller.by != "user":
            what = "--reduced-scope lets phases be left out, which only the user can authorise"
            raise Refused(what, fix=f"ask them; they run in their own terminal: {again}")
        require_reason(options.reduced_scope, "--reduced-scope", again)


def _rounds(flow: Flow, options: StartOptions) -> int:
    return flow.rounds if options.rounds is None else options.rounds


def _require_shown(flow: Flow, caller: Caller) -> None:
    """Refuse an agent whose run is over for good until the user has been shown how it ended."""
    refusal = not_shown(kind_of(flow), caller, NextStep(commands=ends.after_the_user(flow)).command)
    if refusal is not None and has_ended(caller.summary(flow.name)):
        raise refusal


def _nothing_wanted(flow: Flow) -> str:
    if not flow.letter:
        return f"nobody named a file of {flow.units}"
    return "nobody said what is wanted, and the project's files name no check of its own"


def _say(flow: Flow) -> str:
    """Return how somebody says what is wanted."""
    typed = f"the user types /omo:{flow.name} and what they want; or " if flow.letter else ""
    return f"{typed}write {flow.units}: {flow.start} --{flow.units} FILE"


# What is wanted


def _asked(flow: Flow, caller: Caller, previous: Case | None, given: str, *, is_replaced: bool) -> Asked:
    """Return what the user typed since the session's last run, else what was handed in, else what the run was for that
    this one goes on from. "make add return the sum" was handed in once, when mul, div and a CLI were typed as well."""
    unfinished, goes_on_from = None, None
    if previous is not None and (previous.is_open or previous.waits_for_user) and not is_replaced:
        unfinished = goes_on_from = previous
    if caller.by == "user" and previous is not None and previous.how != "pass":
        goes_on_from = previous  # in their own terminal the user goes on also with what they have ended
    typed = requests.typed(caller.events, flow.name)
    since = requests.typed(typed, flow.name, previous.started_at if previous is not None else "")
    said = [row for row in since if row.get("text") and not requests.names_data(row)]
    request: Request | None = None
    if said:
        request = {"text": requests.text_of(said[-1]), "by": "user"}
    elif given.strip():
        request = {"text": block(given.strip(), requests.LONGEST), "by": caller.by}
    elif goes_on_from is not None:
        request = goes_on_from.started.get("request")
    file = None
    if since and requests.names_data(since[-1]):
        # "honest: criteria that the user named, begun without their name"
        file = Path(caller.here, requests.files_of(since[-1])[0]["path"])
    return Asked(typed, request, file, _files_when_asked(caller, typed, len(since), goes_on_from), unfinished)


def _files_when_asked(caller: Caller, typed: Sequence[SessionEvent], new: int, goes_on_from: Case | None) -> Base:
    """Return the files when the user asked for this run, or for the one that it goes on from.

    Typing the same again begins nothing new ("weakened, every iteration used, asked for again"). If no hook heard them,
    these are the files of now.
    """
    asked_before = typed[-new - 1].get("text") if goes_on_from is not None and len(typed) > new else None
    for row in reversed(typed[len(typed) - new :]):
        if row.get("text") != asked_before and isinstance(row.get("base"), dict):
            return read_base(row.get("base"))
    if goes_on_from is not None:
        return read_base(goes_on_from.started.get("files"))
    return base.take(caller.root, os.environ, caller.state)


def _items(flow: Flow, asked: Asked, path: Path | None, found: list[CaseItem]) -> list[CaseItem]:
    """Return the items of the file, else those that were `found`; before them the request, if the flow judges it."""
    items = flow.read(path) if path is not None else found
    if asked.request and flow.letter:
        checks: list[Any] = [dump(check) for check in parse_checks([REQUEST_CHECK])]
        items = [CaseItem(flow.request_id, REQUEST, checks), *items]
    if not items:
        raise Refused(_nothing_wanted(flow), fix=_say(flow))
    return items


def _named(caller: Caller, path: Path | None) -> tuple[str, str]:
    """Return how the run names the file of its items, and its digest; empty without one."""
    if path is None:
        return "", ""
    source = os.path.realpath(path)
    inside = os.path.relpath(source, caller.here)
    return (source if inside.startswith("..") else inside), sha256(path.read_bytes())


def proposed(flow: Flow, root: str, state: str, head: str | None, cwd: str) -> list[CaseItem]:
    """Make an item of each check that the project's own files name, the best first; of none, if the flow takes none."""
    if not flow.letter:
        return []
    checks = []
    path = os.environ.get("PATH", "")
    for check in kept_commands.answered(state, project_checks.suggest(project_files.files_at(root, head), cwd)):
        is_there = resolve(check.argv[0], os.path.join(root, check.cwd), path)
        if is_there or check.kind in ("", project_checks.TESTS):  # a checker that is not installed could never pass
            checks.append(check)
    items = []
    for number, check in enumerate(checks[:MOST_PROPOSED], start=1):
        command = {"id": check.name, "type": "command", "argv": check.argv, "cwd": check.cwd, "timeout": LONGEST_CHECK}
        description = clip(f"{shlex.join(check.argv)} passes, as {check.found_in} has it", LONGEST_DESCRIPTION)
        pinned: list[Any] = [dump(each) for each in parse_checks([command])]
        items.append(CaseItem(f"{flow.letter}{number}", description, pinned))
    return items


# Its checks are pinned


def _pin_all(
    run: CaseRun, items: list[CaseItem], started: CaseRow, *, is_found: bool
) -> tuple[list[CaseItem], dict[str, str]]:
    """Pin the checks of each item, and return what each says at the start. Items that prove nothing are refused.

    They are not refused if files were changed since the user asked ("honest: the work before its run"). What the
    project's files name (`is_found`) gives way to the command that gets to the tests, and what passes without any work
    is meant to stay so.
    """
    look = base.look(run.caller.root, started["files"]).without([started["source"]])
    is_worked_on = bool(look.changed)
    seen = _pin(run, items, started, may_pass=is_worked_on)
    if is_found:
        found = _settled(proving.subject_of(run.caller, started["files"], Gates(), look), items, seen)
        seen |= _pin(run, list(found.values()), started, may_pass=True)
        items = [found.get(item.id, item) for item in items]
        if not is_worked_on:
            items = [replace(item, guard=seen[item.id].verdict == "pass") for item in items]
        if all(item.guard for item in items):
            raise Refused("the project's own checks pass already, and nobody said what is wanted", fix=_say(run.flow))
    return items, {name: verdict.verdict for name, verdict in seen.items()}


def _pin(run: CaseRun, items: Sequence[CaseItem], started: CaseRow, *, may_pass: bool) -> dict[str, ChecksVerdict]:
    """Pin, or refuse all at once. The pins of a refused start stay, under the name of a run that never began."""
    caller = run.caller
    seen: dict[str, ChecksVerdict] = {}
    defects: list[str] = []
    for item in items:
        try:
            report = pins.pin(
                caller,
                parse_checks(item.checks),
                source=started["source"],
                goal=run.pinned_for(item.id),
                refuse_vacuous=bool(started["source"]) and not (may_pass or item.guard),
            )
            seen[item.id] = report.verdict
        except Refused as error:
            reasons = error.details.get("defects")
            why = "; ".join(map(str, reasons)) if isinstance(reasons, list) else error.message
            defects.append(f"{item.id}: passes before the work: {clip(why, 300)}")
    if defects:
        raise Refused(
            f"{len(defects)} of {units(len(items), run.flow.unit)} could not show that work was done",
            fix="write first the test that fails without the work, or add a check that fails now, or say guard: true "
            "where it is meant to stay true, then start again; of a file that you edit the user types the name again",
            defects=defects,
        )
    return seen


def _settled(subject: Subject, items: Sequence[CaseItem], seen: Mapping[str, ChecksVerdict]) -> dict[str, CaseItem]:
    """Return by id the items whose command does not get to the project's tests, with the one that does: "tests that
    find the package only where they are started"."""
    found = {}
    for item in items:
        printed = outputs.read_printed("\n".join(check.observed for check in seen[item.id].checks), 1)
        if seen[item.id].verdict == "pass" or (printed.counts is not None and not printed.broke_before_tests):
            continue
        for command in commands_of([item]):
            check = own_commands.test_gate(subject.root, subject.began.get("head"), command.cwd)
            if check is None or check.argv != list(command.argv):
                continue
            answer, _ = trying.find(subject, check)
            argv = answer.check.argv
            if argv != check.argv:
                description = item.description.replace(shlex.join(command.argv), shlex.join(argv), 1)
                checks: list[Any] = [{**each, "argv": argv} for each in item.checks]
                found[item.id] = replace(item, description=description, checks=checks)
    return found


# The runs before it


def _lessons(flow: Flow, caller: Caller, own: CaseRun | None, items: Sequence[CaseItem]) -> list[Lesson]:
    """Return what the session's last run, else the newest in the project, left stuck.

    `again` names the new items that ask for the same: in the same words, or proven by the same checks.
    """
    kind, last = kind_of(flow), own
    if last is None and (names := kind.names(caller.state)):
        last = CaseRun(kind, caller, names[-1])
    if last is None or last.state is None:
        return []
    lessons: list[Lesson] = []
    for old in last.state.items:
        if old.id not in last.state.stuck or old.id == flow.request_id:  # each run has its own request
            continue
        again = [new.id for new in items if new.digests == old.digests or _words(new) == _words(old)]
        evidence = clip(str(last.state.last_result(old.id).get("evidence") or ""), LONGEST_EVIDENCE)
        lessons.append({**_asked_in(old), "from_run": last.id, "evidence": evidence, "again": again})
    return lessons


def _words(item: CaseItem) -> list[str]:
    return re.findall(r"\w+", item.description.casefold())


def _asked_in(item: CaseItem) -> Lesson:
    """Return what tells whether another item asks for the same."""
    return {"id": item.id, "description": clip(item.description, 200), "checks": sorted(item.digests)}


def _after(
    flow: Flow, caller: Caller, own: CaseRun | None, unfinished: Case | None, items: Sequence[CaseItem]
) -> RunBefore:
    """Return the unfinished run, with the items that it or a run before it had and that nobody asks for any more.

    Of a run that the agent has cleared away nobody can compare them.
    """
    summary = caller.summary(flow.name)
    if own is None and has_ended(summary):
        how = "damaged" if summary.get("isLost") else "cleared by the agent"
        return {"run": str(summary.get("run") or ""), "how": how, "statuses": {}, "dropped": []}
    if unfinished is None:
        return {}
    asked = [*(unfinished.after.get("dropped") or []), *map(_asked_in, unfinished.items)]
    dropped = []
    for old in asked:  # with other checks it is another item, whatever its words
        if not any(set(old["checks"]) <= new.digests for new in items):
            dropped.append(old)
    return {
        "run": unfinished.run,
        "how": unfinished.how,
        "statuses": {name: mark.status for name, mark in unfinished.marks.items()},
        "dropped": dropped[:MOST_DROPPED],
    }
