"""What stands still goes on: this session's own work, or all that another conversation left open, taken up whole.

`/omo:resume`, which the prompt hook answers, and `omo resume` in a terminal or in the agent's shell do the same.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omo import hosts, settings, table
from omo.errors import Refused
from omo.hooks import messages
from omo.hosts import Answer
from omo.state import runtime
from omo.state.rows import EMPTY
from omo.text import clip
from omo.work import budget, gates, left_open, naming, requests, session, spending, times
from omo.work.run import Caller, adopt

if TYPE_CHECKING:
    from collections.abc import Collection

    from omo.hooks.main import World
    from omo.hosts import Event
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow
    from omo.state.runtime import Works


OF_A_HANDOVER = ("taken-over", "taken-up", "taken-by")
NOTHING = "no conversation of this project has left work open that could be taken up here"


@dataclass(frozen=True)
class Resumed:
    """`source` is the session that it was taken from, empty where it was this one's own; `row` is that of now."""

    source: str
    row: SessionRow

    @property
    def work(self) -> Works:
        return runtime.left_open(self.row)

    def task(self, events: list[SessionEvent], longest: int) -> str:
        """What the user typed for it; `events` are those of the session that has it now."""
        return requests.task(events, self.work, longest)


def handle(event: Event, world: World, wanted: str) -> Answer:
    """Typed by the user: taken up here, and the prompt goes on to the model, which is told where things stand."""
    caller = Caller(
        state=world.state,
        root=world.root,
        session=event.session,
        by="user",
        now=world.now,
        wait=world.wait,
        limits=settings.load(world.environ, world.root).limits,
    )
    resumed = resume(caller, wanted, event.client)
    if not runtime.work_in(resumed.row, "active"):
        return Answer(hosts.END_PROMPT, messages.needs_budget(resumed.row, resumed.source))
    is_instructed = resumed.row.get("instructed") is True
    needs_instructions = bool(resumed.row["work"].get(session.KIND, {}).get("state")) and not is_instructed
    gate_lines: list[str] | None = None
    if needs_instructions:
        pinned = gates.current(world.state, event.session, resumed.row)
        gate_lines = [f"(pinned: {gate.name}: {gates.in_words(gate)})" for gate in pinned]

    def told(row: SessionRow | None) -> runtime.Change:
        after = spending.follow(session.shown_on(row or EMPTY), event, world.now)
        after = budget.start_clock(after, world.now)
        return runtime.Change(None, {**after, "instructed": True} if needs_instructions else after)

    world.change(told, actor="user")
    task = resumed.task(caller.events, messages.LONGEST_TASK)
    return messages.resumed(resumed.work, resumed.source, gate_lines, task)


def resume(caller: Caller, wanted: str = "", client: str = "") -> Resumed:
    """This session's own work that stands still; else all that another one left open, or the one that is `wanted`."""
    own = caller.row()
    if not wanted and _stands_still(own, caller.by):
        return _wake(caller)
    source = left_open.named(caller.session_rows, caller.session, wanted) if wanted else newest(caller, client)
    row = caller.session_rows[source]
    if caller.by != "user":
        if session.was_released(own):
            what = f"the user cancelled the work of session {caller.session}, or it used up its budget"
            raise Refused(what, fix="they can type /omo:resume")
        if not runtime.can_be_resumed(row):
            name = clip(source, 64)
            raise Refused(f"the user cancelled it in session {name}", fix=f"they can type /omo:resume {name}")
    if not (wanted and caller.by == "user") and not left_open.may_be_taken(row, client, caller.now):
        raise _at_work(source, row, caller)
    return _take_up(caller, source, client, wanted)


def _stands_still(row: SessionRow, by: str) -> bool:
    if runtime.work_in(row, "active") or session.is_cancelled(row):
        return False
    return any(by == "user" or not runtime.was_let_go(summary) for _, summary in runtime.left_open(row))


def _wake(caller: Caller) -> Resumed:
    """The agent may go on by itself where it was blocked, not where the user said stop."""

    def decide(row: SessionRow | None) -> runtime.Change:
        if row is None:
            raise Refused(f"nothing waits in session {caller.session}", fix="omo next")
        if caller.by == "user":
            after = session.resume_with_all_blocks(row, limits=caller.limits, now=caller.now)
            if not runtime.work_in(after, "active"):
                raise Refused(budget.cause(row), fix=budget.way_on(row))
        elif runtime.work_in(row, "paused"):
            raise Refused("the user paused this run; only they can let it go on", fix='ask them to type "continue"')
        else:
            after = session.resume(row)
        return runtime.Change(after, after, [{"kind": "resumed"}])

    return Resumed("", caller.change(decide))


def newest(caller: Caller, client: str) -> str:
    """Of those whose conversation is over the one that was used last; else one that nobody is at."""
    others = left_open.of_others(caller.session_rows, caller.session)
    if not others and session.is_cancelled(caller.row()) and caller.row()["stopContinuation"].get("ended"):
        who = "you" if caller.by == "user" else "the user"
        raise Refused(f"{who} cancelled what was on here", fix="ulw, or the command of a workflow, goes on with it")
    if not others:
        what, fix = NOTHING, "omo status shows every session"
        if aside := left_open.of_others(caller.session_rows, caller.session, runtime.standing):
            name, row = next(iter(aside.items()))
            what += f", but for what was cancelled in session {clip(name, 64)}: "
            what += naming.listed(runtime.standing(row))
            takes = "you take" if caller.by == "user" else "the user takes"
            fix = f"{takes} it up with /omo:resume {clip(name, 64)}"
        raise Refused(what, fix=fix)
    for is_free in (left_open.is_gone, left_open.may_be_taken):
        for name, row in others.items():
            if is_free(row, client, caller.now):
                return name
    last_used = next(iter(others))
    raise _at_work(last_used, others[last_used], caller)


def _at_work(source: str, row: SessionRow, caller: Caller) -> Refused:
    name = clip(source, 64)
    takes = "you take" if caller.by == "user" else "the user takes"
    return Refused(
        f"session {name} was at work {times.ago(left_open.idle_for(row, caller.now))}",
        fix=f"where nobody is at it any more {takes} it up with /omo:resume {name}, or in a terminal with omo resume "
        f"{shlex.quote(name)}",
    )


def _take_up(caller: Caller, source: str, client: str, wanted: str) -> Resumed:
    """Under the locks of both sessions: of two that want it, one gets it."""
    for name in (source, caller.session):
        runtime.mend_session(caller.state, name, actor=caller.by, now=caller.now, wait=caller.wait)

    def decide(theirs: SessionRow, own: SessionRow) -> tuple[runtime.Change, runtime.Change]:
        work = runtime.standing(theirs)
        if not work:
            raise Refused(f"session {clip(source, 64)} has nothing open any more", fix="omo status shows who has it")
        _require_room(own, dict(work))
        seen = runtime.read_chain(caller.state, source, theirs).rows
        runs = {kind: summary.get("run") for kind, summary in work}
        # What a run has beside its session's row and ledger. Gates are in that, the goals of verify are the project's.
        for workflow in table.with_runs():
            if workflow.kind in runs and not workflow.is_shared:
                adopt(workflow.runs, caller, source, str(runs[workflow.kind] or ""))
        after = session.of_client(session.take_up(own, spending.end_unseen_turn(theirs)), client)
        after = budget.taken_up(after, caller.now)
        if caller.by == "user":
            named = _meant(theirs, wanted)
            after = session.resume_with_all_blocks(after, limits=caller.limits, now=caller.now, named=named)
        taken: SessionEvent = {"kind": "taken-up", "from": source, "work": runs}
        given: SessionEvent = {"kind": "taken-by", "session": caller.session, "work": runs}
        return (
            runtime.Change(None, session.taken_up(theirs, caller.session), [given]),
            runtime.Change(after, after, [*_copied(caller, source, seen), taken]),
        )

    row = runtime.hand_over(
        caller.state, source, caller.session, decide, actor=caller.by, now=caller.now, wait=caller.wait
    )
    caller.forget()
    return Resumed(source, row)


def _meant(theirs: SessionRow, wanted: str) -> str:
    """The kind of the run that is named; that of a cancelled one, where there is nothing else."""
    for kind, summary in runtime.standing(theirs):
        is_named = wanted and str(summary.get("run") or "").startswith(wanted)
        if is_named or not runtime.left_open(theirs):
            return kind
    return ""


def _require_room(own: SessionRow, theirs: Collection[str]) -> None:
    """A session holds one run of a kind, and two that were begun apart are not mixed."""
    work = []
    for kind, summary in runtime.standing(own):
        is_let_go = runtime.was_let_go(summary) and (kind == session.KIND or runtime.was_cancelled(summary))
        if not is_let_go or (kind in theirs and kind != session.KIND):
            work.append((kind, summary))
    if work:
        kind = work[-1][0]
        way = naming.gives_up(kind)
        if kind == session.KIND:
            way = "/omo:stop-continuation ends it"
        raise Refused(f"this session has open work of its own: {naming.listed(work)}", fix=f"finish it first; {way}")


def _copied(caller: Caller, source: str, seen: list[SessionEvent]) -> list[SessionEvent]:
    """The other ledger's rows for this one, with who wrote them and when: its gates, its base, every red and green.

    Not those that came from here. A gate that the user pinned here stays as they did.
    """
    own = gates.fold(runtime.vouched_rows(caller.state, caller.session), None)
    copied: list[SessionEvent] = []
    for row in seen:
        kind, gate = row.get("kind"), own.get(str(row.get("name")))
        is_ours = gate is not None and gate.is_users
        is_overruled = kind == "gate-added" or (kind == "gate-removed" and row.get("actor") != "user")
        if row.get("from") == caller.session or kind in OF_A_HANDOVER or (is_ours and is_overruled):
            continue
        kept: SessionEvent = {"from": source, **row}
        del kept["seq"], kept["prev"]
        kept.pop("after", None)
        copied.append(kept)
    return copied
