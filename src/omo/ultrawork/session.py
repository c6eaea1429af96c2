"""How a session's row changes: arming, cancelling, pausing, ending. Each function returns a new row."""

from __future__ import annotations

from omo.clock import stamp
from omo.shown import clip
from omo.state.runtime import OPEN_STATES, part, unvouched, work_in
from omo.work import outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

KIND = "ulw"
# Of a summary, what goes when its state does.
OF_ITS_STATE = ("why", "question", "told", "own", "at", "outcome", "unvouched", "endedBy", "stoppedByName")
WAITING = ("waiting", "paused", "blocked")
LONGEST_MESSAGE = 200


def arm(row: Json | None, *, by: str, limits: Json, now: float) -> Json:
    """A person asked for it: a full budget, and no earlier cancel or release stands in the way.

    Whatever else a breaker let go, or waits, goes on with it; not what the user stopped by its name or gave up.
    """
    old = row or {}
    on = {"disabled": False, "disabledReason": None}
    work: Json = {}
    for kind, summary in part(old, "work").items():
        work[kind] = _active(summary) if _wakes_when_armed(summary) else summary
    work[KIND] = _work_when_armed(old, now)
    return {**old, "ulw": _full_budget(by, limits, now), "stopContinuation": on, "work": work, "denials": {}}


def _wakes_when_armed(summary: Any) -> bool:
    if not isinstance(summary, dict) or summary.get("cleared") or summary.get("stoppedByName"):
        return False
    return summary.get("state") in (*WAITING, "exhausted")


def woken(before: Json | None, after: Json) -> list[tuple[str, Json]]:
    """The workflows that an arming set going again, ultrawork itself left out."""
    was_held = is_cancelled(before)
    went_on = dict(work_in(before or {}, "active"))
    goes_on_again = []
    for kind, summary in work_in(after, "active"):
        if kind != KIND and (was_held or kind not in went_on):
            goes_on_again.append((kind, summary))
    return goes_on_again


def put_work(row: Json | None, kind: str, summary: Json, *, limits: Json, now: float) -> Json:
    """A workflow's summary. Active work arms the same counter as ulw does, unless the user or a breaker let go."""
    old = row or {}
    after = {**old, "work": {**part(old, "work"), kind: summary}}
    if summary.get("state") == "active" and not part(old, "ulw").get("enabled") and not was_released(old):
        after["ulw"] = _full_budget(kind, limits, now)
    return after


KEPT_OF_A_STATE = ("state", "why", "question", "told", "endedBy", "outcome", "stoppedByName")


def kept_state(row: Json, old: Json, summary: Json) -> Json:
    """What the user paused stays paused, and what a breaker let go stays so until they arm the session again.

    A workflow's `own` pause ends when the workflow no longer says so.
    """
    is_spent = old.get("state") == "exhausted" and not part(row, "ulw").get("enabled")
    is_theirs = old.get("state") == "paused" and not old.get("own") and summary["state"] == "active"
    is_theirs = is_theirs or (bool(old.get("stoppedByName")) and summary["state"] != "done")
    if is_theirs or (is_spent and summary["state"] != "done"):
        kept: Json = {key: old[key] for key in KEPT_OF_A_STATE if key in old}
        return {**summary, **kept}
    if _same_wait(old, summary):
        return {**summary, "told": old.get("told", False)}
    return {**summary, "told": True} if _same_end(old, summary) else summary


def _same_wait(old: Json, summary: Json) -> bool:
    return "told" in summary and old.get("state") == summary["state"] and old.get("why") == summary["why"]


def _same_end(old: Json, summary: Json) -> bool:
    is_told = old.get("state") == "done" and old.get("told") is True and not old.get("unvouched")
    return is_told and summary["state"] == "done" and old.get("run") == summary.get("run")


def _full_budget(by: str, limits: Json, now: float) -> Json:
    return {
        "enabled": True,
        "stopBlocks": 0,
        "lastStopAt": None,
        "totalBlocks": 0,
        "armedAt": stamp(now),
        "by": by,
        "limits": limits,
    }


def _work_when_armed(old: Json, now: float) -> Json:
    """Work that was still open goes on where it was; after an end it is a new run, and every gate is open again."""
    before = part(part(old, "work"), KIND)
    is_open = before.get("state") in OPEN_STATES and not is_cancelled(old)
    run = before.get("run") if is_open else None
    total = _pinned(old)
    return {
        "run": run or f"u{int(now * 1000)}",
        "state": "active",
        "open": before.get("open", 0) if is_open else total,
        "total": total,
        "next": before.get("next") if is_open else None,
    }


def _pinned(row: Json) -> Any:
    """How many gates are pinned: a cancel or a withdrawal takes the summary away, and leaves that beside it."""
    work = part(row, "work")
    return work[KIND].get("total", 0) if part(work, KIND) else part(row, "stopContinuation").get("gates", 0)


def cancel(
    row: Json | None, *, reason: str, now: float, told: bool = False, shown: bool = True, event: str = ""
) -> Json:
    """The user's word: nothing in this session holds a Stop any more, until the next explicit arming.

    `told`: the model knows. `shown`: the user sees it as they say it; else the next Stop shows it, once.
    """
    old = row or {}
    off = {
        "disabled": True,
        "disabledReason": reason,
        "disabledAt": stamp(now),
        "told": told,
        "shown": shown,
        "ended": [kind for kind, _ in work_in(old, *OPEN_STATES)],
        "cancelledFor": event,
        "gates": _pinned(old),
    }
    work = {kind: one for kind, one in part(old, "work").items() if kind != KIND}
    ulw = part(forget_message(old), "ulw")
    return {**old, "ulw": {**ulw, "enabled": False}, "stopContinuation": off, "work": work}


def withdraw(row: Json) -> Json:
    """The prompt that armed this session was taken back before the model said anything: as if never armed."""
    work = {kind: one for kind, one in part(row, "work").items() if kind != KIND}
    beside = {**part(row, "stopContinuation"), "gates": _pinned(row)}
    return {**row, "ulw": {**part(row, "ulw"), "enabled": False}, "stopContinuation": beside, "work": work}


def is_cancelled(row: Json | None) -> bool:
    return bool(part(row or {}, "stopContinuation").get("disabled"))


def cancel_is_unshown(row: Json | None) -> bool:
    return is_cancelled(row) and part(row or {}, "stopContinuation").get("shown") is False


def cancel_shown(row: Json) -> Json:
    return {**row, "stopContinuation": {**part(row, "stopContinuation"), "shown": True}}


def was_released(row: Json | None) -> bool:
    """The user cancelled, or a breaker let go: only a person may arm this session again."""
    return is_cancelled(row) or bool(work_in(row or {}, "exhausted"))


def suspend(row: Json, *, state: str, why: str, question: str = "") -> Json:
    """Active work now waits: `paused` by the user, `blocked` from outside, or `waiting` for an answer."""
    return _with_active(row, {"state": state, "why": why, "question": question, "told": False})


def can_be_paused(row: Json) -> list[tuple[str, Json]]:
    """What is active or waits for anything; where the row has no summaries, ultrawork itself."""
    if part(row, "ulw").get("enabled") and not part(row, "work"):
        return [(KIND, {})]
    return [(kind, summary) for kind, summary in not_given_up(row) if summary.get("state") != "paused"]


def not_given_up(row: Json) -> list[tuple[str, Json]]:
    """What is open in any way and can go on."""
    return [(kind, summary) for kind, summary in work_in(row, *OPEN_STATES) if not summary.get("cleared")]


def pause(row: Json, *, why: str, told: bool) -> Json:
    """The user said stop. What waited for an answer of theirs waits for their "continue" now."""
    paused = {"state": "paused", "why": why, "question": "", "told": told}
    work = dict(part(row, "work"))
    for kind, summary in can_be_paused(row):
        work[kind] = {**_active(summary), **paused}
    return {**row, "work": work}


def stop_by_name(row: Json, kind: str, *, why: str, told: bool) -> Json:
    """One workflow is paused because the user named it; only naming it, or a plain "continue", wakes it."""
    work = part(row, "work")
    paused = {"state": "paused", "why": why, "question": "", "told": told, "stoppedByName": True}
    return {**row, "work": {**work, kind: {**_active(work[kind]), **paused}}}


def resume(row: Json, *, states: tuple[str, ...] = WAITING, own: bool = True, named: str = "") -> Json:
    """Whatever waited is active again, or the one workflow that was named. A plan given up never.

    A workflow's `own` wait only if that is meant. What was stopped by its name stays so while other work goes on.
    """
    work = part(row, "work")
    waiting = []
    for kind, summary in work_in(row, *states):
        if not summary.get("cleared") and (own or not summary.get("own")):
            waiting.append(kind)
    others = [kind for kind in waiting if not work[kind].get("stoppedByName")]
    if named in waiting:
        waiting = [named]
    elif others or work_in(row, "active"):
        waiting = others
    woken = {kind: _active(work[kind]) for kind in waiting}
    return forget_message({**row, "work": {**work, **woken}})


def note_message(row: Json, text: str, *, now: float) -> Json:
    """A person wrote something, of which only its Stop will tell whether the agent did anything about it."""
    return note(row, said={"at": stamp(now), "text": clip(text, LONGEST_MESSAGE)})


def quote_message(row: Json, *, now: float, fingerprint: str) -> Json:
    """Sent back with that message, once: a block that spaces the next one, and is none of those that are capped."""
    quoted = count_block(row, now=now, fingerprint=fingerprint)
    before = part(row, "ulw")
    return note(quoted, stopBlocks=before.get("stopBlocks", 0), said={**part(before, "said"), "quoted": True})


def message_told(row: Json) -> Json:
    """The user was told that the agent did nothing about their message."""
    return note(row, said={**part(part(row, "ulw"), "said"), "told": True})


def forget_message(row: Json) -> Json:
    ulw = {key: value for key, value in part(row, "ulw").items() if key != "said"}
    return {**row, "ulw": ulw}


def close(row: Json) -> Json:
    """All work is over, and each says how: nothing holds the session any more."""
    return {**row, "ulw": {**part(row, "ulw"), "enabled": False}}


def exhaust(row: Json, *, rule: str, why: str) -> Json:
    """A breaker lets go of whatever is active."""
    ended = {"state": "exhausted", "endedBy": rule, "outcome": outcome.outcome(outcome.ENDED, why)}
    return {**_with_active(row, ended), "ulw": {**part(row, "ulw"), "enabled": False}}


def count_block(row: Json, *, now: float, fingerprint: str) -> Json:
    ulw = part(row, "ulw")
    counted = {
        "stopBlocks": ulw.get("stopBlocks", 0) + 1,
        "totalBlocks": ulw.get("totalBlocks", 0) + 1,
        "lastStopAt": stamp(now),
        "lastStop": fingerprint,
        "shellExcuses": 0,
        "unanswered": True,
    }
    return {**row, "ulw": {**ulw, **counted}}


def note(row: Json, **changes: object) -> Json:
    return {**row, "ulw": {**part(row, "ulw"), **changes}}


def progress(row: Json) -> Json:
    """Verified progress gives the budget back; the ceilings of the run stay as they are."""
    return note(row, stopBlocks=0)


def with_gates(row: Json, *, open_gates: list[str], total: int) -> Json:
    """The summary hooks read: how many gates are open, and which is next."""
    work = part(row, "work")
    summary = {
        **work.get(KIND, {}),
        "open": len(open_gates),
        "total": total,
        "next": ", ".join(open_gates[:3]) or None,
    }
    return {**row, "work": {**work, KIND: summary}}


def finish(row: Json, ended: Json, *, at: str) -> Json:
    """The run is over, and `ended` is its outcome. The next Stop is let through and closes it.

    `at` is when the tree was looked at: until that Stop it may change.
    """
    work = part(row, "work")
    return {**row, "work": {**work, KIND: {**_active(part(work, KIND)), "state": "done", "outcome": ended, "at": at}}}


def disowned(row: Json) -> Json:
    """What was called done and the ledger does not vouch for is over, and only a person sets it going again."""
    why = "the state called it done, and the ledger did not"
    given_up = {"state": "exhausted", "endedBy": "repaired", "outcome": outcome.outcome(outcome.ENDED, why)}
    kinds = unvouched(row)
    work = {kind: {**_active(one), **given_up} if kind in kinds else one for kind, one in part(row, "work").items()}
    return {**row, "work": work}


def is_untold(one: Json) -> bool:
    """Work that ended, or came to wait, and the user has not been shown it."""
    return one.get("told") is False or (one.get("state") == "done" and one.get("told") is not True)


def told(row: Json) -> Json:
    """The user has been shown what ended and why the rest waits."""
    work = {kind: {**one, "told": True} if is_untold(one) else one for kind, one in part(row, "work").items()}
    return {**row, "work": work}


def _with_active(row: Json, changes: Json) -> Json:
    work = dict(part(row, "work"))
    for kind, one in work_in(row, "active"):
        work[kind] = {**one, **changes}
    if part(row, "ulw").get("enabled") and not work:
        work[KIND] = changes
    return {**row, "work": work}


def _active(one: Json) -> Json:
    kept = {key: value for key, value in one.items() if key not in OF_ITS_STATE}
    return {**kept, "state": "active"}
