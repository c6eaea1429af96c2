"""How a session's row changes: arming, cancelling, pausing, ending. Each function returns a new row."""

from __future__ import annotations

from omo import masking
from omo.clock import seconds, stamp
from omo.state.rows import EMPTY, without
from omo.state.runtime import (
    CANCELLED,
    OPEN_STATES,
    has_ended,
    is_asking,
    is_left_open,
    is_live,
    is_open,
    is_paused_by_user,
    is_untold,
    left_open,
    let_go,
    over,
    standing,
    was_cancelled,
    was_let_go,
    work_in,
)
from omo.text import clip
from omo.work import budget, outcome
from omo.work.room import GOING, is_another_on, make_room, paused_for, runs
from omo.work.room import KIND as KIND

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from omo.hosts import Refusal
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import (
        Base,
        Budget,
        FilesAtEnd,
        GivenUp,
        Limits,
        Message,
        Outcome,
        SessionRow,
        StopContinuation,
        Summary,
        Ulw,
        WaitsFor,
    )
    from omo.state.runtime import Works
    from omo.work.room import Work

ANY = "*"  # the run that was on last, of whichever kind
NEW_TASK, SAME_TASK, NO_TASK = "new", "same", "none"
WAITING = ("waiting", "paused")
# Of a summary, what goes when its state does: what the user reads of it, and the rest.
STATE_SHOWN = ("why", "question", "told", "endedBy", "outcome", "madeWayFor")
OTHER_STATE_FIELDS = ("own", "at", "unvouched", "waitsFor", "files", "changed", "stopped", "answered")
IS_CANCELLED = (
    "the user has cancelled what is on in this session: no Stop is held, and no fence is up, until they type ulw"
)
LONGEST_MESSAGE = 200
LONGEST_CALL = 120
MOST_CALLS = 5
LONGEST_GIVEN_UP = 200
LOST_RECORD = "record-lost"  # in place of a run
MOST_GIVEN_UP = 10
# Of a row, what belongs to the conversation and not to the run; and the same of its part `ulw`.
CONVERSATION_FIELDS = ("client", "instructed", "pins", "awaits", "denials", "stopContinuation", "lastUsedAt", "ledger")
TURN_FIELDS = ("armedFor", "lastStop", "said", "unanswered", "otherLoop", "shownOn", "readTo", "refused")
ON: StopContinuation = {"disabled": False, "disabledReason": None}


class Wanted:
    """What a person asks for: a kind of work, with a new task, that of before, or none. `run` is the run that they say
    to go on with: its kind, or ANY. "go on with the plan, ulw fix total" is Wanted("ulw", NEW_TASK, "ultraplan")."""

    def __init__(self, kind: str = KIND, task: str = NEW_TASK, run: str = "") -> None:
        self.kind, self.task = kind, task
        self.run = run or ("" if task == NEW_TASK else ANY)


ULW_TASK = Wanted(KIND, NEW_TASK)


def arm(
    row: SessionRow | None,
    *,
    by: str,
    limits: Limits,
    now: float,
    wanted: Wanted = ULW_TASK,
    ceilings: Budget | None = None,
    pinned: int = 0,
) -> SessionRow:
    """A person asked for it: all blocks again, and no earlier cancel or release stands in the way.

    What is spent is counted from here, unless the run was on: then it goes on with what is left of its `ceilings`.
    `pinned` is how many gates there are.
    """
    old = row or EMPTY
    was_live = is_live(old)
    work = _beside_ultrawork(old, wanted) if wanted.kind == KIND else _in_place_of_others(old, wanted)
    if wanted.kind == KIND and (wanted.task != NO_TASK or _is_for_ultrawork(old, work)):
        work[KIND] = _ultrawork(old, wanted, now, pinned)
    armed: SessionRow = {
        **without_request(old if open_work(old) else without(old, "givenUp")),  # that was told with what has ended
        "work": work,
        "ulw": _all_blocks(by, limits, now),
        "stopContinuation": ON,
        "denials": {},
    }
    if not work_in(armed, "active"):  # the run of a workflow begins with the agent's first command: nothing new is held
        return note(armed, {"enabled": was_live and bool(old["ulw"].get("enabled"))})
    return armed if was_live else budget.begin(armed, ceilings, now=now)


def _beside_ultrawork(old: SessionRow, wanted: Wanted) -> Work:
    """Return the work of a session in which ultrawork is armed. The run that they mean goes on with it; else the one
    that is on or waits, else one that a breaker let go. What they paused or cancelled they have to mean."""
    going = [] if is_cancelled(old) else runs(old, *GOING)
    if wanted.run not in ("", ANY):
        going = [(kind, summary) for kind, summary in standing(old) if kind == wanted.run] or going
    if not going and wanted.run:
        still = standing(old) if is_cancelled(old) else left_open(old)
        going = [(kind, summary) for kind, summary in still if kind != KIND]
    if not going and not is_cancelled(old):
        going = [(kind, summary) for kind, summary in let_go(old) if kind != KIND]
    work = dict(old["work"])
    if is_left_open(work.get(KIND, {})):
        work[KIND] = _active(work[KIND])
    for kind, summary in going[-1:]:
        work[kind] = _active(summary)
        return make_room(work, kind)
    return make_room(work, KIND)


def _in_place_of_others(old: SessionRow, wanted: Wanted) -> Work:
    """Return the work of a session in which a run is begun or goes on. Every other run makes way for it, and so does
    ultrawork that a breaker let go. A run that was cancelled or let go is not woken for another task."""
    work = dict(old["work"])
    before, own = work.get(wanted.kind, {}), work.get(KIND, {})
    if is_open(before) or (was_let_go(before) and wanted.task != NEW_TASK):
        work[wanted.kind] = _active(before)
    elif was_let_go(before):
        work[wanted.kind] = _cancelled(before)
    if own.get("state") == "waiting":
        work[KIND] = _active(own)
    elif was_let_go(own):
        work[KIND] = paused_for(own, wanted.kind)
    return make_room(work, wanted.kind)


def _is_for_ultrawork(old: SessionRow, work: Work) -> bool:
    """A bare word sets going what there is, and begins no run beside it: at the cap of a plan the user is told to type
    it, and owes nothing for that."""
    is_left = is_left_open(old["work"].get(KIND, {}))
    return is_left or not any(summary.get("state") == "active" for kind, summary in work.items() if kind != KIND)


def _ultrawork(old: SessionRow, wanted: Wanted, now: float, pinned: int) -> Summary:
    """A run that is open goes on where it was. After an end every gate is open again, in a new run; in that of before
    where the task is the same, or none, and nothing has proven it: what was done of it is its work. Typed before the
    Stop that would have told an end, that end is told with the next."""
    before = old["work"].get(KIND, {})
    run: Summary = {"run": f"u{int(now * 1000)}", "state": "active", "open": pinned, "total": pinned, "next": None}
    if before.get("state") in OPEN_STATES and not is_cancelled(old):
        run["run"] = before.get("run") or run["run"]
        run["open"], run["total"] = before.get("open", 0), before.get("total", 0)
        run["next"] = before.get("next")
    elif wanted.task != NEW_TASK and not (has_ended(before) and outcome.is_done(outcome.of(before))):
        run["run"] = last_run(old) or run["run"]
    return with_earlier(before, run)


def is_ultrawork_on(row: SessionRow | None) -> bool:
    """Whether plain ultrawork is on: armed again, its run goes on, with the files it began with."""
    run = (row or EMPTY)["work"].get(KIND, {})
    return run.get("state") == "active" and bool(run.get("run")) and not is_cancelled(row)


def last_run(row: SessionRow | None, kind: str = KIND) -> str:
    """The one that there is; of plain ultrawork also the one that the user cancelled."""
    known = row or EMPTY
    run = known["work"].get(kind, {}).get("run")
    if kind == KIND:
        run = run or known["stopContinuation"].get("run")
    return run if isinstance(run, str) else ""


def run_of(row: SessionRow | None) -> str | None:
    """Of plain ultrawork: the one that there is."""
    run = (row or EMPTY)["work"].get(KIND, {}).get("run")
    return run if isinstance(run, str) else None


def run_and_base(before: SessionRow | None, armed: SessionRow, base: Base | None) -> SessionEvent:
    """For the row of an arming: the run, and its base where it is a new one. A run keeps the base it began with."""
    run = run_of(armed)
    return {"run": run, "base": base} if base and run != last_run(before) else {"run": run}


def give_up(row: SessionRow, run: str, what: str, why: str, by: str = "agent") -> SessionRow:
    """The agent gave work up. The next Stop tells it, and so does every end after it: a plan of three steps was given
    up once, one of a single step made in its place, and the last that the user read was "done, proven"."""
    let_through = outcome.exception(clip(what, LONGEST_GIVEN_UP), by, clip(why, LONGEST_GIVEN_UP))
    entry: GivenUp = {"run": run, **let_through}
    others = taken_up_again(row, run)
    return {**others, "givenUp": [*others.get("givenUp", []), entry][-MOST_GIVEN_UP:]}


def note_lost_record(row: SessionRow) -> SessionRow:
    """Somebody removed the record of the project while the session was on. Every later end of the session names it."""
    what = "the record that omo keeps of this project outside it was removed"
    lost = outcome.exception(what, outcome.NOBODY, "what was pinned or allowed before counts no more")
    entry: GivenUp = {"run": LOST_RECORD, **lost}
    others = taken_up_again(row, LOST_RECORD)
    return {**others, "givenUp": [*others.get("givenUp", []), entry][-MOST_GIVEN_UP:]}


def taken_up_again(row: SessionRow, run: str) -> SessionRow:
    """What was given up goes on, or is answered for by the end of what carries it on."""
    after = without(row, "givenUp")
    left = [entry for entry in row.get("givenUp", []) if entry["run"] != run]
    if left:
        after["givenUp"] = left
    return after


def raise_budget(row: SessionRow, ceilings: Budget | None, *, limits: Limits, now: float) -> SessionRow:
    """The user's new ceilings; what the old ones had let go goes on where it was, if there is something left."""
    after = budget.set_by_user(row, ceilings)
    work: Work = {}
    for kind, summary in let_go(after):
        if summary.get("endedBy") == "budget":
            work[kind] = _active(summary)
    if not work or is_cancelled(after) or budget.is_used_up(after):
        return after
    return _with_all_blocks(_with_work(after, work), limits, now)


def woken(before: SessionRow | None, after: SessionRow) -> Works:
    """The workflows that go on and did not before."""
    was_on = {} if is_cancelled(before) else dict(work_in(before or EMPTY, "active"))
    return [(kind, summary) for kind, summary in work_in(after, "active") if kind not in was_on]


def put_work(row: SessionRow | None, kind: str, summary: Summary, *, limits: Limits, now: float) -> SessionRow:
    """A workflow's summary. Active work arms the same counter as ulw does, unless the user or a breaker let go."""
    old = row or EMPTY
    was = old["work"].get(kind, {})
    work: Work = {**old["work"], kind: summary}
    if summary.get("state") == "active" and (was.get("state") != "active" or was.get("run") != summary.get("run")):
        work = make_room(work, kind, by_user=False)
    after: SessionRow = {**without_request(old), "work": work}
    if summary.get("state") == "active" and not old["ulw"].get("enabled") and not was_released(old):
        after["ulw"] = _all_blocks(kind, limits, now)
        after = budget.begin(after, None, now=now)
    return after


def kept_state(row: SessionRow, kind: str, summary: Summary) -> Summary:
    """A workflow's new summary, as far as its state is its own to say: not where the user paused it, nor where a
    breaker or a cancel let go, and it wakes beside no other run. What they were told is not told again."""
    old = row["work"].get(kind, {})
    was, state = old.get("state"), summary["state"]
    if was_let_go(old) and state != "ended":
        return _as_it_stood(summary, old)
    is_same_run = old.get("run") == summary.get("run")
    is_woken = is_same_run and was in ("paused", "waiting") and state == "active"
    if (is_paused_by_user(old) and state != "ended") or (is_woken and is_another_on(row, kind)):
        return _as_it_stood(summary, old)
    if "told" in summary and was == state and old.get("why") == masking.mask(summary["why"]):
        known: Summary = {**summary, "told": old.get("told", False)}
        if old.get("answered"):
            known["answered"] = True
        return known
    is_same_end = was == state == "ended" and old.get("run") == summary.get("run") and not old.get("unvouched")
    return _told(summary) if is_same_end and old.get("told") is True else summary


def _as_it_stood(summary: Summary, old: Summary) -> Summary:
    """With how it stood, and why."""
    stood: Any = {key: value for key, value in old.items() if key in ("state", *STATE_SHOWN)}
    return {**summary, **stood}


def with_earlier(old: Summary, summary: Summary) -> Summary:
    """A run in the place of one whose end the user was not shown yet: that end is told with its own."""
    if old.get("told") is True:
        return summary
    ends = []
    if "earlier" in old:
        ends.append(outcome.of({"outcome": old["earlier"]}))
    if has_ended(old) and old.get("run") != summary.get("run"):
        ends.append(outcome.of(old))
    if not ends:
        return summary
    return {**summary, "earlier": outcome.worst(ends)}


def _with_all_blocks(row: SessionRow, limits: Limits, now: float) -> SessionRow:
    """The same run goes on."""
    return {**row, "ulw": _all_blocks(str(row["ulw"].get("by") or "user"), limits, now)}


def _all_blocks(by: str, limits: Limits, now: float) -> Ulw:
    return {
        "enabled": True,
        "stopBlocks": 0,
        "lastStopAt": None,
        "totalBlocks": 0,
        "armedAt": stamp(now),
        "by": by,
        "limits": limits,
    }


def cancel(
    row: SessionRow | None, *, reason: str, now: float, told: bool = False, shown: bool = True, event: str = ""
) -> SessionRow:
    """The user's word: nothing in this session holds a Stop any more, until the next explicit arming.

    `told`: the model knows. `shown`: the user sees it as they say it; else the next Stop shows it, once. What had ended
    before stays as it ended.
    """
    old = row or EMPTY
    ended = [kind for kind, summary in old["work"].items() if is_left_open(summary) and not was_cancelled(summary)]
    if is_cancelled(old):
        ended = old["stopContinuation"].get("ended", [])
    off: StopContinuation = {
        "disabled": True,
        "disabledReason": reason,
        "disabledAt": stamp(now),
        "told": told,
        "shown": shown,
        "ended": ended,
        "run": last_run(old),
        "cancelledFor": event,
    }
    ulw: Ulw = {**forget_message(old)["ulw"], "enabled": False}
    work: Work = {}
    for kind, summary in old["work"].items():
        if kind != KIND:
            work[kind] = _cancelled(summary)
        elif has_ended(summary):
            work[kind] = summary
    return {**without_request(old), "ulw": ulw, "stopContinuation": off, "work": work}


def _cancelled(summary: Summary) -> Summary:
    """Return a run after the user's cancel: what had ended before stays as it ended."""
    if not is_left_open(summary):
        return summary
    ended = outcome.not_proven("you cancelled it")
    return {**_active(summary), "state": "ended", "endedBy": CANCELLED, "outcome": ended}


def withdraw(row: SessionRow) -> SessionRow:
    """The prompt that armed this session was taken back before the model said anything: as if never armed, or asked."""
    if row.get("asked"):
        return without_request(row)
    return {**close(row), "work": _other_work(row), "instructed": False}


def _other_work(row: SessionRow) -> Work:
    return {kind: summary for kind, summary in row["work"].items() if kind != KIND}


def is_cancelled(row: SessionRow | None) -> bool:
    return bool((row or EMPTY)["stopContinuation"].get("disabled"))


def cancelled_notes(row: SessionRow | None) -> list[str]:
    """For whoever begins something there all the same."""
    return [IS_CANCELLED] if is_cancelled(row) else []


def cancel_is_unshown(row: SessionRow | None) -> bool:
    return is_cancelled(row) and (row or EMPTY)["stopContinuation"].get("shown") is False


def cancel_shown(row: SessionRow) -> SessionRow:
    return {**row, "stopContinuation": {**row["stopContinuation"], "shown": True}}


def was_released(row: SessionRow | None) -> bool:
    """The user cancelled, or a breaker let go: only a person may arm this session again."""
    return is_cancelled(row) or bool(let_go(row or EMPTY))


def suspend(row: SessionRow, *, why: str, question: str = "", whom: WaitsFor = "user") -> SessionRow:
    """Active work now waits for somebody or something."""
    return _with_active(row, {"state": "waiting", "waitsFor": whom, "why": why, "question": question, "told": False})


def note_refusals(row: SessionRow, refusals: list[Refusal], *, now: float) -> SessionRow:
    """What the host did not allow since the last Stop, of which the agent is told. Where it allowed everything, the
    agent has found its way, and what was before does not count any more."""
    ulw = without(row["ulw"], "refused")
    if refusals:
        calls = dict.fromkeys([clip(f"{each.tool} {each.what}".strip(), LONGEST_CALL) for each in refusals])
        rules = dict.fromkeys([rule for each in refusals for rule in each.rules if not each.is_denied])
        ulw["refused"] = {"at": stamp(now), "calls": list(calls)[:MOST_CALLS], "rules": list(rules)[:MOST_CALLS]}
    return {**row, "ulw": ulw}


def wait_for_host(row: SessionRow, why: str) -> SessionRow:
    """A limit or a failed request of the host's: nobody need answer, it ends when the host goes on."""
    return _with_active(row, {"state": "waiting", "waitsFor": "host", "why": why, "question": "", "told": False})


def end_wait_for_host(row: SessionRow) -> SessionRow:
    """The host works again, with or without a word of the user's."""
    waiting = [(kind, summary) for kind, summary in work_in(row, "waiting") if summary.get("waitsFor") == "host"]
    return _with_work(row, {kind: _active(summary) for kind, summary in waiting}) if waiting else row


def take_up(row: SessionRow, theirs: SessionRow) -> SessionRow:
    """The row of a session that takes up all that another one has not ended, as it stands there."""
    ulw = without(theirs["ulw"], *TURN_FIELDS)
    work: Work = dict(row["work"])
    for kind, summary in theirs["work"].items():
        if not has_ended(summary):
            work[kind] = summary
    return end_wait_for_host({**row, **without(theirs, *CONVERSATION_FIELDS), "ulw": ulw, "work": work})


def taken_up(row: SessionRow, by: str) -> SessionRow:
    """The row of the session that had it. It is live no longer, and its next Stop, if there is one, tells the user."""
    after: Any = {key: value for key, value in row.items() if key in CONVERSATION_FIELDS}
    work: Work = {}
    for kind, summary in row["work"].items():
        if has_ended(summary):
            work[kind] = summary
        elif row["ulw"].get("enabled") and summary.get("state") in OPEN_STATES:
            run = "ultrawork" if kind == KIND else f"{kind} {summary.get('run')}"
            ended = outcome.not_proven(f"session {clip(by, 64)} took {run} over")
            gone: Summary = {"state": "ended", "open": 0, "total": 0, "next": None, "told": False, "outcome": ended}
            work[kind] = {**gone, "takenBy": by}
    return {**EMPTY, **after, "ulw": {**row["ulw"], "enabled": False}, "work": work}


def without_request(row: SessionRow) -> SessionRow:
    """Something of what was asked for is begun, or the user was told that nothing is."""
    return without(row, "asked", "reminded")


def open_work(row: SessionRow) -> Works:
    """What is open in any way and can go on."""
    return work_in(row, *OPEN_STATES)


def can_be_paused(row: SessionRow, named: Sequence[str] = ()) -> Works:
    """What is active or waits for anything; also what a breaker let go, if it is `named`."""
    works = []
    for kind, summary in standing(row):
        is_going = is_open(summary) and summary.get("state") != "paused"
        if is_going or (kind in named and was_let_go(summary) and not was_cancelled(summary)):
            works.append((kind, summary))
    return works


def pause(row: SessionRow, *, why: str, told: bool, named: Sequence[str] = ()) -> SessionRow:
    """The user said stop. What waited for an answer of theirs waits for their "continue" now."""
    paused: Summary = {"state": "paused", "why": why, "question": "", "told": told}
    work: Work = {kind: {**_active(summary), **paused} for kind, summary in can_be_paused(row, named)}
    for kind, summary in bound_ends(row):  # the user's word comes before that of the files
        work[kind] = {**summary, "stopped": True}
    return _with_work(without_request(row), work)


def pause_run(row: SessionRow, kind: str, *, why: str) -> SessionRow:
    """The user said in one breath to stop a run and to go on with something else."""
    summary = row["work"].get(kind, {})
    return _with_work(row, {kind: {**_active(summary), "state": "paused", "why": why, "question": "", "told": True}})


def resume(row: SessionRow, *, states: tuple[str, ...] = WAITING, own: bool = True, named: str = "") -> SessionRow:
    """What stood still in one of these states is active again: what is `named`, in place of the run that is on; else
    ultrawork, and of the runs the newest. What is paused goes on beside nothing else. A workflow's `own` wait ends only
    if that is meant, and what was given up is over."""
    if named in dict(standing(row)):
        woken = {**row["work"], named: _active(row["work"][named])}
        after: SessionRow = {**row, "work": woken if named == KIND else make_room(woken, named)}
        return forget_message(after)
    waiting = []
    for kind, summary in standing(row):
        is_meant = summary["state"] in states and not was_cancelled(summary) and (own or not summary.get("own"))
        if is_meant and not (summary["state"] in ("paused", "ended") and work_in(row, "active")):
            waiting.append((kind, summary))
    work = dict(row["work"])
    for kind, summary in waiting:
        if kind == KIND:
            work[kind] = _active(summary)
    others = [each for each in waiting if each[0] != KIND]
    going = [each for each in others if each[1]["state"] in GOING] or others
    if going and not runs(row, "active"):
        kind, summary = going[-1]
        work = make_room({**work, kind: _active(summary)}, kind)
    return forget_message({**row, "work": work})


def resume_with_all_blocks(row: SessionRow, *, limits: Limits, now: float, named: str = "") -> SessionRow:
    """The user says that it goes on: also what a breaker let go, but not what used up its budget, which they raise by
    its own command."""
    states = WAITING if budget.is_used_up(row) else (*WAITING, "ended")
    after: SessionRow = {**resume(row, states=states, named=named), "stopContinuation": ON, "denials": {}}
    if work_in(after, "active"):
        after = _with_all_blocks(after, limits, now)
    return after


def with_hours_left(row: SessionRow, *, limits: Limits, now: float) -> SessionRow:
    """A person has set it going: hours that were over before, say in the night, do not end it at the next Stop."""
    try:
        past = now - seconds(str(row["ulw"].get("armedAt") or stamp(now)))
    except ValueError:
        return row  # which the Stop calls unreadable
    return note(row, {"armedAt": stamp(now)}) if past >= limits["max_hours"] * 3600 else row


def answered(row: SessionRow) -> SessionRow:
    """A person spoke after they had read how work ended, or why it waits, and their word alone does not wake it: the
    agent may begin again by its own command."""
    work: Work = {}
    for kind, summary in row["work"].items():
        is_own = is_asking(summary) or (is_open(summary) and summary.get("own"))
        if summary.get("told") and is_own:
            work[kind] = {**summary, "answered": True}
    return _with_work(row, work) if work else row


def newly_answered(before: SessionRow, after: SessionRow) -> Works:
    """The ends among them, which no word of the user's wakes; not what they answered earlier."""
    ends = []
    for kind, summary in over(after):
        if summary.get("answered") and not before["work"].get(kind, {}).get("answered"):
            ends.append((kind, summary))
    return ends


def note_message(row: SessionRow, text: str, *, now: float) -> SessionRow:
    """A person wrote something, of which only its Stop will tell whether the agent did anything about it."""
    return note(row, {"said": {"at": stamp(now), "text": clip(text, LONGEST_MESSAGE)}})


def quote_message(row: SessionRow, *, now: float, fingerprint: str) -> SessionRow:
    """Sent back with that message, once: a block that spaces the next one, and is none of those that are capped."""
    quoted = count_block(row, now=now, fingerprint=fingerprint)
    said: Message = {**row["ulw"].get("said", {}), "quoted": True}
    return note(quoted, {"stopBlocks": row["ulw"].get("stopBlocks", 0), "said": said})


def message_told(row: SessionRow) -> SessionRow:
    """The user was told that the agent did nothing about their message."""
    return note(row, {"said": {**row["ulw"].get("said", {}), "told": True}})


def forget_message(row: SessionRow) -> SessionRow:
    return {**row, "ulw": without(row["ulw"], "said")}


def close(row: SessionRow) -> SessionRow:
    """All work is over, and each says how: nothing holds the session any more."""
    return note(row, {"enabled": False})


def exhaust(row: SessionRow, *, rule: str, why: str) -> SessionRow:
    """A breaker lets go of whatever is active."""
    ended: Summary = {"state": "ended", "endedBy": rule, "outcome": outcome.not_proven(why)}
    return close(_with_active(row, ended))


def count_block(row: SessionRow, *, now: float, fingerprint: str) -> SessionRow:
    """A Stop is sent back: so no other loop held it."""
    ulw = without(row["ulw"], "otherLoop")
    counted: Ulw = {
        **ulw,
        "stopBlocks": ulw.get("stopBlocks", 0) + 1,
        "totalBlocks": ulw.get("totalBlocks", 0) + 1,
        "lastStopAt": stamp(now),
        "lastStop": fingerprint,
        "shellExcuses": 0,
        "unanswered": True,
    }
    return {**row, "ulw": counted}


def of_client(row: SessionRow, client: str) -> SessionRow:
    """Which program of the host's it runs in."""
    return {**row, "client": client} if client else row


def note(row: SessionRow, changes: Ulw) -> SessionRow:
    return {**row, "ulw": {**row["ulw"], **changes}}


def progress(row: SessionRow) -> SessionRow:
    """Verified progress gives the budget back; the ceilings of the run stay as they are."""
    return note(row, {"stopBlocks": 0})


def with_gates(row: SessionRow, *, failing: list[str], not_run: list[str], total: int) -> SessionRow:
    """The summary hooks read: how many gates are open, which is next, and which of them were not run at all."""
    open_gates = [*failing, *not_run]
    summary: Summary = {**row["work"].get(KIND, {}), "open": len(open_gates), "total": total}
    summary["next"] = ", ".join(open_gates[:3]) or None
    summary["notRun"] = not_run[:3]
    if summary.get("state") == "active":
        summary = without(summary, "changed", "refused", "waysOn")  # what the gates say now is nearer
    return _with_work(row, {KIND: summary})


def refused(row: SessionRow, why: str, ways_on: str) -> SessionRow:
    """`omo ulw done` did not end it, and what that said is open until something else is known."""
    return _with_work(row, {KIND: {**row["work"].get(KIND, {}), "refused": why, "waysOn": ways_on}})


def with_next(row: SessionRow, step: str) -> SessionRow:
    """What Stop names as the next step until gates are pinned or run."""
    summary = row["work"].get(KIND, {})
    if summary.get("next") or not step:
        return row
    return _with_work(row, {KIND: {**summary, "next": step}})


def finish(row: SessionRow, ended: Outcome, *, at: str, files: FilesAtEnd) -> SessionRow:
    """The run is over, and `ended` is its outcome. The next Stop is let through and closes it.

    `at` is when the tree was looked at, and `files` which it was: until that Stop it may change.
    """
    run = without(_active(row["work"].get(KIND, {})), "refused", "waysOn")
    return _with_work(row, {KIND: {**run, "state": "ended", "outcome": ended, "at": at, "files": files}})


def ended_on_word(row: SessionRow, kind: str) -> bool:
    """Whether it is over on the agent's word alone, and nobody called it off."""
    run = row["work"].get(kind, {})
    is_on_word = has_ended(run) and outcome.of(run)["verdict"] == outcome.ATTESTED
    return is_on_word and not is_cancelled(row)


def on_again(row: SessionRow, kind: str = KIND, step: str | None = None) -> SessionRow:
    """The user allowed what stood against an end on the agent's word, or pinned more before they were told of an end:
    the same run is on, to be called done anew, which is its next `step`."""
    run = row["work"].get(kind, {})
    active = _with_work(row, {kind: {**_active(run), "next": run.get("next") if run.get("open") else step}})
    return note(active, {"enabled": True, "stopBlocks": 0})


def bound_ends(row: SessionRow) -> Works:
    """What ended, is bound to the files it speaks of, and was not told yet."""
    return [(kind, summary) for kind, summary in over(row) if is_bound_end(summary)]


def is_bound_end(summary: Summary) -> bool:
    """What the ledger does not vouch for is told as such, whatever its files are."""
    is_to_tell = has_ended(summary) and summary.get("told") is not True and not summary.get("unvouched")
    return is_to_tell and isinstance(summary.get("files"), dict) and bool(summary["files"])


def reopened(row: SessionRow, kind: str, changed: list[str]) -> SessionRow:
    """Return the row in which work is active again that was called done, because files were changed after that."""
    active: Summary = {**_active(row["work"].get(kind, {})), "changed": changed, "next": None}
    return {**row, "work": make_room({**row["work"], kind: active}, kind)}


def in_doubt(row: SessionRow, doubts: dict[str, str]) -> SessionRow:
    """Ends of which nobody can say that they hold on the files as they are: on the agent's word at best."""
    work: Work = {}
    for kind, why in doubts.items():
        summary = row["work"].get(kind, {})
        at_best = outcome.worst([outcome.of(summary), outcome.outcome(outcome.ATTESTED, why)])
        # When the files were looked at says nothing of them any more.
        work[kind] = {**without(summary, "at"), "outcome": at_best}
    return _with_work(row, work)


def not_shown_on(row: SessionRow) -> Works:
    """What is active, and the user has not been shown that it is on."""
    shown = row["ulw"].get("shownOn") or []
    return [(kind, summary) for kind, summary in work_in(row, "active") if kind not in shown]


def shown_on(row: SessionRow) -> SessionRow:
    """The user knows of all that is active now."""
    return note(row, {"shownOn": [kind for kind, _ in work_in(row, "active")]})


def told(row: SessionRow) -> SessionRow:
    """The user has been shown what ended and why the rest waits."""
    work: Work = dict(row["work"])
    for kind, summary in work.items():
        if is_untold(summary):
            work[kind] = _told(summary)
    return {**row, "work": work}


def _told(summary: Summary) -> Summary:
    """An end that was told stays told: files that change later are a new matter."""
    return {**without(summary, "files"), "told": True}


def _with_active(row: SessionRow, changes: Summary) -> SessionRow:
    return _with_work(row, {kind: {**summary, **changes} for kind, summary in work_in(row, "active")})


def _with_work(row: SessionRow, changed: Work) -> SessionRow:
    """The row with new summaries of some kinds of work."""
    return {**row, "work": {**row["work"], **changed}}


def _active(summary: Summary) -> Summary:
    return {**without(summary, *STATE_SHOWN, *OTHER_STATE_FIELDS), "state": "active"}
