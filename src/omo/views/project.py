"""All sessions of a project, and the work of those that are looked at closely."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from omo import settings, table
from omo.context import Context
from omo.errors import Unreadable, Unwritable
from omo.json_text import Json
from omo.state import ownership, runtime
from omo.stop.sentences import says_so_again, state_was_removed
from omo.text import clip
from omo.views import session
from omo.work import budget, left_open, outcome
from omo.work.files import Files
from omo.work.status import NextStep, Status, command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.state.rows import Outcome, SessionRow


RECENT = 24 * 3600.0  # the last that ended since then has a line of its own, and is held against the files as they are
UNREADABLE = ("unreadable-state", "newer-state")
LET_GO = {
    "exhausted": "it was let go with work open; type ulw in a prompt to set it going again",
    "cancelled": "it stays off until you type ulw, or the command of a workflow, in a prompt",
}


class SessionView(NamedTuple):
    """`brief` is what the hooks see, `works` what the ledgers say; `works` is None where nobody looked."""

    brief: session.View
    works: list[Status] | None = None
    is_here: bool = False
    problems: tuple[str, ...] = ()  # of the session's own ledger

    @property
    def name(self) -> str:
        return self.brief.name

    @property
    def is_live(self) -> bool:
        return runtime.is_live(self.brief.row)

    @property
    def last_used(self) -> str:
        return clip(str(self.brief.row.get("lastUsedAt") or ""), 30)

    @property
    def unused_for(self) -> float:
        """Seconds; for ever where nobody knows."""
        return left_open.idle_for(self.brief.row, self.brief.now.now)

    @property
    def is_on(self) -> bool:
        """Something holds it or its writes, or would where omo is switched off, or is about to be said in it; not only
        that another conversation took its work over, where things go on."""
        is_idle = self.brief.is_idle or runtime.is_taken_over(self.brief.row)
        return self.is_live or not is_idle or self.brief.is_fenced

    @property
    def leading(self) -> Status | None:
        """What the ledger says of the work that speaks for the session."""
        return self.view_of(self.brief.leading)

    def view_of(self, work: session.Work | None) -> Status | None:
        for status in self.works or []:
            if work is not None and status.kind == work.kind:
                return status
        return None

    @property
    def is_proven(self) -> bool | None:
        """Of what is done: whether it ended by its proof. None while it goes on, or where something else ended it."""
        ended = self.brief.outcome
        if self.brief.mode != "done" or ended is None:
            return None
        return outcome.is_done(ended)

    @property
    def lapsed(self) -> str:
        """Why what it ended with does not hold any more; empty while it holds, and where nobody looked."""
        if self.brief.mode != "done" or self.works is None:
            return ""
        for work in self.brief.work:
            if work.outcome is not None and (why := lapsed(work.outcome, self.view_of(work))):
                return why
        return next((work.changed for work in self.brief.work if work.changed), "")

    @property
    def overrides(self) -> list[str]:
        """What was let through without its proof: the exceptions of what ended, else what the works say themselves."""
        sentences = []
        ended = set()
        for work in self.brief.work:
            if work.outcome is not None:
                ended.add(work.kind)
                sentences += [outcome.exception_in_words(exception) for exception in work.outcome["exceptions"]]
        for status in self.works or []:
            if status.kind not in ended:
                sentences += status.overrides
            for item in status.items:
                sentences += [f"{item.id}: {override}" for override in item.overrides]
        return list(dict.fromkeys(clip(sentence, 300) for sentence in sentences))

    @property
    def next(self) -> NextStep:
        """The one thing that moves this session on: its leading work's, as its own ledger says.

        After a breaker, a cancel or a pause it is the user's word alone.
        """
        for work in self.brief.work:
            if work.changed and work.state == "done":
                again = says_so_again(work.kind, work.run)
                return NextStep("again", work.changed, (command(again),))
        why = LET_GO.get(self.brief.mode)
        if self.brief.mode == "exhausted" and budget.is_used_up(self.brief.row):
            why = f"it was let go with work open; {budget.way_on(self.brief.row)}"
        if why:
            return NextStep("arm", why, who="user")
        leads = self.brief.leading
        if leads is not None and leads.is_at_rest and leads.outcome is None and not leads.is_answered:
            word = '"continue"' if leads.state == "paused" else "your answer"
            return NextStep("wait", f"{leads.why or 'it waits'}: {word} in the session sets it going", who="user")
        return self.leading.next if self.leading else NextStep()

    @property
    def data(self) -> Json:
        data: Json = {
            **self.brief.data,
            "here": self.is_here,
            "last_used": self.last_used or None,
            "proven": self.is_proven,
            "lapsed": self.lapsed or None,
            "overrides": self.overrides,
        }
        if self.works is None:
            return data
        data["problems"] = list(self.problems)
        data["works"] = [status.data for status in self.works]
        data["next"] = self.next.data
        return data


def lapsed(ended: Outcome, status: Status | None) -> str:
    """Why what work ended with does not hold any more; empty while it does. What was let through, or not reached, or
    rests on a word alone, cannot lapse."""
    if ended["verdict"] in (outcome.WAIVED, outcome.ENDED):
        return ""
    if status is None:
        return "its ledger is not there"
    if ended["verdict"] == outcome.ATTESTED and not status.total:
        return ""
    if status.next.action == "verify-again":
        return status.next.why
    return status.lapsed


class Problem(NamedTuple):
    """What has to be known before anything else is believed, and what mends it."""

    what: str
    fix: str = ""
    code: str = "problem"


class ProjectView(NamedTuple):
    root: str
    sessions: list[SessionView]
    overrides: list[Json]
    problems: list[Problem]
    meant: str = ""  # the session that was named, or that asks; empty in a terminal of the user's

    @property
    def focus(self) -> SessionView | None:
        """The session that is shown in full: the one that is meant, else the newest that is on."""
        if not self.sessions:
            return None
        first = self.sessions[0]
        is_shown = first.name == self.meant if self.meant else first.is_on
        return first if is_shown else None

    @property
    def others(self) -> list[SessionView]:
        return self.sessions[1:] if self.focus else self.sessions

    @property
    def error(self) -> Json | None:
        """State that cannot be read is shown, and is an error all the same."""
        for problem in self.problems:
            if problem.code in UNREADABLE:
                return {"code": problem.code, "message": problem.what, "fix": problem.fix, "details": []}
        return None

    @property
    def data(self) -> Json:
        data: Json = {
            "root": self.root,
            "sessions": [view.data for view in self.sessions],
            "overrides": self.overrides,
            "problems": [problem._asdict() for problem in self.problems],
        }
        if self.error:
            data["error"] = self.error
        return data


def project_view(context: Context, *, closely: str = "", everything: bool = False) -> ProjectView:
    """Every session that the runtime file knows, newest first; the one that is meant first of all.

    Closely: the named session, else this one, every one that is live or fenced, and what was done lately. Of the
    others the ledgers are opened only where `everything` is asked for. A file that nobody can read is a problem to be
    told, not an error.
    """
    meant = closely or context.named_session or ""
    problems = [Problem(problem, "omo doctor", "setting") for problem in context.settings.problems]
    if settings.is_disabled(context.environ):
        problems.insert(0, Problem("OMO_DISABLE is set here: where it is, no hook does anything", code="disabled"))
    try:
        ownership.require(context.state)
    except Unwritable as error:
        if context.own.standing != ownership.NOT_FOR_AGENTS:
            problems.insert(0, Problem(error.message, error.fix, error.code))
    views = []
    try:
        stored = runtime.read(context.state)
        rows = runtime.rows_of(stored)
    except Unreadable as error:
        problems.insert(0, Problem(error.message, error.fix, error.code))
        if meant:
            views.append(look_at(context, meant, closely=False))
    else:
        for removed in ownership.removed(context.own, context.root, rows.keys()):
            name = clip(removed.session, 64)
            what = f"session {name} ended, not proven: {state_was_removed(removed.state, removed.on)}"
            problems.append(Problem(what, "type ulw in a prompt to begin anew", "removed"))
        files = Files(context.root)
        close = {meant, *_worth_a_look(rows, context.now)}
        for name in stored["sessions"]:
            is_close = name in close
            asks = is_close or everything
            views.append(look_at(context, name, closely=is_close, asks_ledger=asks, rows=rows, files=files))
    views.sort(key=lambda view: view.last_used, reverse=True)
    views.sort(key=lambda view: (view.name != meant, not view.is_on))
    claims: list[Json] = []
    try:
        claims = claims_let_stand(context)
    except Unreadable as error:
        problems.append(Problem(error.message, error.fix, error.code))
    return ProjectView(context.root, views, claims, problems, meant)


def _worth_a_look(rows: Mapping[str, SessionRow], now: float) -> list[str]:
    """Sessions that go on or are fenced, and the last that ended, within a day."""
    names = []
    recent = []
    for name, row in rows.items():
        is_live = runtime.is_live(row)
        has_ended, is_open = False, False
        for summary in row["work"].values():
            if runtime.has_ended(summary):
                has_ended = True
            elif runtime.is_open(summary):
                is_open = True
        if runtime.is_fenced(row) or (is_live and (is_open or not has_ended)):
            names.append(name)
        elif has_ended and left_open.idle_for(row, now) < RECENT:
            recent.append((left_open.idle_for(row, now), name))
    if recent:
        names.append(min(recent)[1])
    return names


def look_at(
    context: Context,
    name: str,
    *,
    closely: bool = True,
    asks_ledger: bool = True,
    for_next: bool = False,
    rows: Mapping[str, SessionRow] | None = None,
    files: Files | None = None,
) -> SessionView:
    """One session; `for_next` with all that its next step needs. `rows`, those of the runtime file, and `files` spare
    reading the same for each of many."""
    known = rows.get(name) if rows else None  # where it is no row, the one place says so that reads the file
    caller, head = None, None
    if closely:
        from omo.work.run import caller_of

        caller = caller_of(context, name, rows)
    if caller is not None and known is not None:
        with suppress(Unreadable):  # whoever leans on it says so
            head = caller.chain.head
    brief = session.session_view(
        context.state,
        name,
        context.settings.limits,
        context.now,
        context.environ,
        known=known,
        head=head,
        asks_ledger=asks_ledger,
        root=context.root if asks_ledger else "",
    )
    is_here = name == context.named_session
    if caller is None:
        return SessionView(brief, None, is_here)
    from omo.views.works import works_of
    from omo.work.viewer import Viewer

    works = works_of(Viewer(context, name, brief.row, caller=caller, files=files, for_next=for_next))
    try:
        problems = [*caller.damage_lines]
    except Unreadable as error:
        problems = [error.message]
    problems += runtime.in_doubt(brief.row)
    return SessionView(brief, works, is_here, tuple(problems))


def claims_let_stand(context: Context) -> list[Json]:
    """Claims that code did not confirm and somebody let stand: shown wherever things are summed up."""
    listed = []
    for workflow in table.ROWS:
        if not workflow.claims or not os.path.isdir(os.path.join(context.state, workflow.claims)):
            continue
        for filed in workflow.module("claims").recorded(context.state, overridden=True):
            fields = {"claim": filed.statement, "reason": filed.override, "by": filed.by, "goal": filed.goal}
            listed.append({key: clip(value, 160) for key, value in fields.items()})
    return listed


def claim_in_words(claim: Json) -> str:
    return f"{claim['claim']}: let stand by the {claim['by']}, {claim['reason']}"
