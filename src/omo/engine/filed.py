"""Items that are filed: each is a run of its own, which any session may begin.

What they are to each other is read from their runs: who waits for whom, what was handed on, how often one has passed.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import partial

from omo.clock import seconds, stamp
from omo.engine.answers import Owed, owed
from omo.engine.case import Case, CaseRow
from omo.engine.flow import Flow
from omo.engine.runs import CaseRun, kind_of
from omo.errors import BadInput, Refused
from omo.json_text import Json
from omo.state import runtime
from omo.state.rows import EMPTY, read_files
from omo.state.runtime import has_ended, is_untold, part
from omo.text import clip, listed
from omo.work import damage, lifecycle, outcome, requests
from omo.work.files import Files
from omo.work.lifecycle import Cleared
from omo.work.publish import changed
from omo.work.run import Caller
from omo.work.status import Command, NextStep, command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Outcome, SessionRow, Summary, WaitsFor

HOUR = 3600.0
MOST_NOT_BEGUN = 3  # named at an end
PENDING, UNDER_WAY, BLOCKED = "pending", "in-progress", "blocked"
STATES = {"pass": "completed", "safeguard": "exhausted"}  # by how a run ended; else that is its state


@dataclass(frozen=True)
class Streak:
    """How often in a row an item that comes again has passed, and when last."""

    current: int = 0
    longest: int = 0
    count: int = 0
    last: float | None = None

    @property
    def text(self) -> str:
        return f"streak {self.current}, longest {self.longest}"

    def achieved(self, interval: float, now: float) -> Streak:
        """Exactly twice the interval still continues a streak; one moment more starts it anew."""
        # Milliseconds: a clock read twice does not subtract to the last bit.
        is_missed = self.last is not None and round(now - self.last, 3) > round(2 * interval, 3)
        current = 1 if is_missed else self.current + 1
        return Streak(current, max(current, self.longest), self.count + 1, now)

    def due_at(self, interval: float) -> float | None:
        """Return when it may be begun again; None if it has never passed."""
        return None if self.last is None else self.last + interval

    def is_due(self, interval: float, now: float) -> bool:
        due = self.due_at(interval)
        return due is None or round(now - due, 3) >= 0

    def data(self, interval: float, now: float) -> Json:
        due = self.due_at(interval)
        return {
            "current": self.current,
            "longest": self.longest,
            "count": self.count,
            "lastAchievedAt": None if self.last is None else stamp(self.last),
            "intervalHours": interval / HOUR,
            "dueAt": None if due is None else stamp(due),
            "due": self.is_due(interval, now),
        }


class FiledRuns:
    """All filed runs of a project, read once, the oldest first."""

    def __init__(self, flow: Flow, caller: Caller) -> None:
        self.flow, self.caller = flow, caller
        self.runs: dict[str, CaseRun] = {}
        self.lost: list[CaseRun] = []
        self.damage_lines: list[str] = []
        kind = kind_of(flow)
        runs = [CaseRun(kind, caller, name) for name in kind.names(caller.state)]
        for run in sorted(runs, key=_filed_first):
            if run.state is not None:
                run.id = run.state.item.id
            if run.rows and run.is_lost:
                self.lost.append(run)
            elif run.state is not None:
                self.runs[run.id] = run
            if run.rows:
                self.damage_lines += run.damage_lines

    @property
    def cases(self) -> dict[str, Case]:
        return {name: run.state for name, run in self.runs.items() if run.state is not None}

    def require_going_on(self) -> None:
        """End what cannot go on: items of which too little is left, and those that this session is held to."""
        held = self.caller.summary(self.flow.name).get("runs") or []
        for run in [*self.lost, *(self.runs[name] for name in held if name in self.runs)]:
            damage.require_going_on(run)

    def run(self, name: str) -> CaseRun:
        """Return the run of an item. Refused if there is none."""
        if name not in self.runs:
            for run in self.lost:
                if run.id == name:
                    raise run.lost()
            unit, file = self.flow.unit, f"omo {self.flow.name} add --file {self.flow.unit.upper()}"
            near = difflib.get_close_matches(name, self.runs, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(self.runs) or 'none yet'}"
            raise BadInput(f"there is no {unit} {name!r}", fix=f"{hint} ({file})")
        return self.runs[name]

    def case(self, name: str) -> Case:
        return self.run(name).require_whole()

    # What they are to each other

    def is_released(self, name: str) -> bool:
        """Whether nobody waits for it any more. One that comes again never completes; once it has passed is enough."""
        run = self.runs.get(name)
        return run is not None and bool(passes_of(run.require_state()))

    def blocked_by(self, case: Case) -> list[str]:
        return [name for name in case.item.waits_for if not self.is_released(name)]

    def state(self, case: Case) -> str:
        """Return how an item stands, in one word."""
        if case.ended is not None and not (case.how == "pass" and case.item.every):
            return STATES.get(case.how, case.how)
        if case.is_in_round:
            return UNDER_WAY
        return BLOCKED if self.blocked_by(case) else PENDING

    def inputs(self, case: Case) -> list[Json]:
        """Return what the last pass of each item that it wants has left to it."""
        left = []
        for name in case.item.wants:
            if name in self.runs and (passed := passes_of(self.runs[name].require_state())):
                end = passed[-1]
                summary = end.get("words", {}).get("summary", "")
                left.append({"from": name, "summary": summary, "receipt": end["seq"], "at": end["ts"]})
        return left

    def freed_by(self, case: Case) -> list[str]:
        """Return the items that wait for this one alone."""
        names = []
        for name, other in self.cases.items():
            if self.state(other) == BLOCKED and self.blocked_by(other) == [case.item.id]:
                names.append(name)
        return names

    # What the session is held to

    def held(self, summary: Summary) -> list[Case]:
        """Return the items that a session is held to, or was when they ended."""
        names = [*(summary.get("runs") or []), *part(summary, "ended"), str(summary.get("run"))]
        return [self.cases[name] for name in dict.fromkeys(map(str, names)) if name in self.runs]

    def has_more(self, item: str) -> bool:
        """Return whether there is more to come: an item that this session holds, or one that waits for this one."""
        mine = self.caller.summary(self.flow.name).get("runs") or []
        for name, other in self.cases.items():
            is_open = name != item and other.how in ("", "safeguard") and not other.item.every
            if is_open and (name in mine or item in self.blocked_by(other)):
                return True
        return False

    def publish(self, *, began: str = "", passed: str = "") -> None:
        """Bring the rows up to the runs: this session's, and that of every one that holds an item, or did at its end.

        `began` is the item that this session is held to from now on; `passed` the one that passed, which is progress.
        """
        caller, name = self.caller, self.flow.name
        sessions = []
        for session in caller.session_rows:
            summary = caller.summary(name, session)
            if summary.get("runs") or summary.get("state") == "active" or passed in part(summary, "ended"):
                sessions.append(session)
        if began and caller.session and caller.session not in sessions:
            sessions.insert(0, caller.session)
        files = Files(caller.root)
        for session in sessions:
            begins = began if session == caller.session else ""
            caller.change(partial(self._sum_up, files, begins, passed), session)

    def _sum_up(self, files: Files, begins: str, passed: str, row: SessionRow | None) -> runtime.Change:
        name = self.flow.name
        old = (row or EMPTY)["work"].get(name, {})
        # How the items ended that this session was held to. Told to the user, they belong to a run that is over.
        ended: dict[str, Outcome] = part(old, "ended")
        if has_ended(old) and not is_untold(old) and passed not in ended:
            ended = {}
        names = [*(str(each) for each in old.get("runs", [])), *ended, *filter(None, [begins])]
        held = [self.cases[each] for each in dict.fromkeys(names) if each in self.runs]
        if not held:
            return runtime.Change(None)
        summary = self.summarize(files, held, ended)
        if summary["state"] == "ended":
            if following := self.named_and_not_filed():  # it holds the session; those not begun are only named
                summary.pop("outcome", None)
                summary.pop("files", None)
                summary |= {"state": "active", "open": 1, "total": summary["total"] + 1, "next": following.short}
            elif waiting := [case.item.id for case in self.cases.values() if _is_new(case)]:
                summary["outcome"]["why"] += f"; filed and not begun: {listed(waiting, MOST_NOT_BEGUN)}"
        return changed(self.caller, row, name, summary, progressed=passed in old.get("runs", []))

    def named_and_not_filed(self) -> NextStep | None:
        """Return how to begin what the user named since the last item of theirs, or of that file, was filed: "a second
        goal that the user names is never filed", "a harder goal under the same name, the old one finished"."""
        wanted = requests.wanted_last(requests.typed(self.caller.events, self.flow.name))
        if wanted is None:
            return None
        named, since = wanted
        for case in self.cases.values():
            is_theirs = case.is_confirmed or case.source == named["path"]
            if is_theirs and seconds(case.started_at) >= since:
                return None
        why = f"the user named {clip(named['name'], 80)}, and nothing of it as it was then was begun"
        return NextStep("begin", why, (command(f"{self.flow.start} --file", named["name"]),))

    def summarize(self, files: Files, held: list[Case], before: dict[str, Outcome]) -> Summary:
        """Return the session's row of its items: how much is open, the next command, and how each ended that is over.

        The worst of several ends counts: no item hides behind one that passed later.
        """
        working, again, spent, waiting = [], [], [], []
        ended = dict(before)
        for case in held:
            name = case.item.id
            ended.pop(name, None)
            if case.is_in_round:
                working.append(case)
            elif case.how == "safeguard":
                spent.append(case)
            elif case.ended is None and case.waiting is not None:
                waiting.append(case)
            elif case.ended is None and (case.is_begun or case.mark.fail_count):  # it failed, or was filed anew
                again.append(case)
            else:
                unmet = f"{self.flow.unit} {name} is {self.state(case)}, and nothing shows that it is met"
                ended[name] = outcome.of(case.ended) if case.ended is not None else outcome.not_proven(unmet)
        kept = [*working, *again, *spent, *waiting]
        steps = {case.item.id: self.owed(case, files) for case in held}
        all_steps = [step for listed_steps in steps.values() for step in listed_steps]
        summary: Summary = {
            "run": kept[0].item.id if kept else held[-1].item.id,
            "runs": [case.item.id for case in kept],
            "ended": ended,
            "open": sum(step.is_open for step in all_steps) + len(again),
            "total": len(all_steps) + len(again),
            "next": None,
        }
        if working or again:
            following = self.next_step([*working, *again], steps, [case.item.id for case in again])
            return {**summary, "next": following.short, "state": "active"}
        if spent:
            item = spent[0].item.id
            why = f"{self.flow.unit} {item} {failed(spent[0])}: {clip(reason_of(spent[0]), 120)}"
            question = f"Open it again? {self.again(item).line}"
            return {**summary, **_waits("outside", why, question)}
        if waiting:
            why = str((waiting[0].waiting or {}).get("why"))
            return {**summary, **_waits("user", why, "")}
        done: Summary = {**summary, "state": "ended", "outcome": outcome.worst(ended.values())}
        passed = [case.ended for case in held if case.ended is not None and case.ended.get("files")]
        if passed:  # work on one item may change what another was met on: the newest end speaks of all files
            done["files"] = read_files(max(passed, key=lambda end: str(end.get("ts"))).get("files"))
        return done

    def owed(self, case: Case, files: Files) -> list[Owed]:
        return owed(self.runs[case.item.id], files)

    def again(self, item: str) -> Command:
        return command(self.flow.start, item, "--again", "WHY")

    def next_step(self, held: list[Case], steps: dict[str, list[Owed]], kept: list[str]) -> NextStep:
        """Return what moves a session on that is held to these items; `kept` are those that its row names."""
        for case in held:
            item = case.item.id
            for step in steps[item]:
                if step.is_open:
                    return NextStep(step.name, f"{item} {step.name}", (step.way,), item=item)
        for case in held:
            item = case.item.id
            if case.ended is None and not case.is_in_round and (case.mark.fail_count or item in kept):
                # Without a failure the row that began it was lost with its ledger's end, or the user filed it anew.
                why = f"{item} is not begun"
                if case.mark.fail_count:
                    why = f"{item} failed ({clip(reason_of(case), 60)})"
                return NextStep("begin", why, (command(self.flow.start, item),), item=item)
            if case.how == "safeguard":
                return NextStep("again", f"{item} {failed(case)}", (self.again(item),), who="user", item=item)
        for name in kept:
            if name not in steps:
                file = f"omo {self.flow.name} add --file {self.flow.unit.upper()}"
                anew = (command(file), command(self.flow.start, name, lead="then"))
                return NextStep("add", f"the session is held to {name}, which is not filed", anew, item=name)
        return NextStep()


def _waits(whom: WaitsFor, why: str, question: str) -> Summary:
    return {"state": "waiting", "waitsFor": whom, "why": why, "question": question, "told": False, "own": True}


def _filed_first(run: CaseRun) -> str:
    return str(run.rows[0].get("ts")) if run.rows else ""


def _is_new(case: Case) -> bool:
    return case.ended is None and not case.is_begun


def standing_ends(case: Case) -> list[CaseRow]:
    """Return the ends that count for what is asked now: of an item that comes again all, else those since filed."""
    since = 0 if case.item.every else case.started["seq"]
    return [end for end in case.ends if end["seq"] > since]


def streak_of(case: Case) -> Streak:
    """Read the streak from the ends that stand."""
    streak = Streak()
    for end in case.ends:
        if end["how"] == "pass":
            streak = streak.achieved(case.item.every, seconds(end["ts"]))
    return streak


def receipt_of(case: Case) -> CaseRow | None:
    """Return the row of the last end that passed, also of a part that passed."""
    passed = [end for end in standing_ends(case) if end.get("verdict") == "pass"]
    return passed[-1] if passed else None


def passes_of(case: Case) -> list[CaseRow]:
    """Return the ends that stand in which the whole of it passed."""
    return [end for end in standing_ends(case) if end["how"] == "pass"]


def failed(case: Case) -> str:
    return f"failed {case.mark.fail_count} of {case.most_rounds} times" if case.mark.fail_count else ""


def reason_of(case: Case) -> str:
    """Return why it stands as it does. What was asked for before says nothing of it."""
    newest = case.ended or case.waiting or case.last_judged
    is_of_now = newest.get("seq", 0) > case.started["seq"]
    return str(newest.get("why") or "") if is_of_now else ""


def require_in_round(runs: FiledRuns, case: Case) -> None:
    """Refuse to go on with an item that is not under way."""
    flow, item, state = runs.flow, case.item.id, runs.state(case)
    if state == STATES["safeguard"]:
        raise closed(runs, case)
    if not case.is_in_round:
        fix = f"{flow.start} {item}" if state == PENDING else f"omo {flow.name} status {item}"
        raise Refused(f"{flow.unit} {item} is {state}, not in progress", fix=fix)


def closed(runs: FiledRuns, case: Case) -> Refused:
    """It is over, or no attempt is left."""
    what = f"{runs.flow.unit} {case.item.id} is {runs.state(case)}: {reason_of(case)}"
    return Refused(what, fix=f"only the user can open it again: {runs.again(case.item.id).line}")


def release(flow: Flow, caller: Caller, *, force: bool) -> Cleared | None:
    """Give up what a session is held to. The items are the project's, and stay."""
    left = len(caller.summary(flow.name).get("runs") or ())
    return lifecycle.release(caller, flow.name, flow.units, left=left, force=force)
