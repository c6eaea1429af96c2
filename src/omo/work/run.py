"""A run of a workflow: found and loaded once by a command, then passed on as a value.

Its ledger is the truth and appending to it the only change. What the workflow makes of the rows is `state`.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from omo.context import Context
from omo.digest import sha256
from omo.errors import BadInput, Refused, Unreadable
from omo.settings import DEFAULT_LIMITS
from omo.state import ownership, runtime, store
from omo.state.journal import Journal
from omo.state.ledger import MOST_DAMAGE
from omo.state.rows import EMPTY, notified, went_on
from omo.text import clip
from omo.work import naming

if TYPE_CHECKING:
    from omo.state.ledger import Chain
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Limits, SessionRow, Summary, Tally

MOST_LISTED = 10
MOST_BYTES_IN_A_ROW = 240 * 1024


class State(Protocol):
    """What every workflow's fold offers the engine."""

    @property
    def is_open(self) -> bool: ...
    @property
    def session(self) -> str: ...
    @property
    def root(self) -> str: ...
    @property
    def counts(self) -> Tally: ...


S = TypeVar("S", bound=State)
A = TypeVar("A")  # what a decision answers


@dataclass(frozen=True)
class Caller:
    """Whose command it is, where and when: handed in once. The runtime file is read at most once for it."""

    state: str
    root: str
    session: str
    by: str
    now: float
    wait: float
    limits: Limits = field(default_factory=DEFAULT_LIMITS.copy)
    control_globs: tuple[str, ...] = ()
    known_rows: Mapping[str, SessionRow] | None = None  # for a look, which writes nothing: the file was read already

    @property
    def here(self) -> str:
        return os.path.realpath(self.root)

    @cached_property
    def session_rows(self) -> Mapping[str, SessionRow]:
        """Every session's row as hooks read it; none where nobody can read the file."""
        if self.known_rows is not None:
            return self.known_rows
        try:
            return runtime.sessions(self.state)
        except Unreadable:
            return {}

    def row(self, session: str = "") -> SessionRow:
        return self.session_rows.get(session or self.session, EMPTY)

    @cached_property
    def chain(self) -> Chain:
        """Return this session's ledger: the rows that are whole, and what is wrong with it. Raises Unreadable."""
        return runtime.read_chain(self.state, self.session, self.row())

    @property
    def damage_lines(self) -> tuple[str, ...]:
        """Return what becomes of a damaged ledger of the session, in a line; none if it is whole."""
        if not self.chain.problems:
            return ()
        return (damage_in_words(f"session {self.session}", len(self.chain.whole)),)

    @property
    def events(self) -> list[SessionEvent]:
        """What hooks and gates saw in this session, as far as its ledger is whole."""
        try:
            return self.chain.rows if self.session else []
        except Unreadable:
            return []

    def summary(self, kind: str, session: str = "") -> Summary:
        """What hooks were told of a session's work of one kind."""
        return self.row(session)["work"].get(kind, {})

    def holder(self, kind: str, run: str) -> str:
        """The session whose row names a run; this one where none does."""
        for session in (self.session, *self.session_rows):
            summary = self.summary(kind, session)
            if summary.get("run") == run or run in summary.get("runs", []):
                return session
        return self.session

    def change(self, decide: Callable[[SessionRow | None], runtime.Change], session: str = "") -> Any:
        """Decide on a session's row under its lock, this one's or another's, and give what was decided."""
        answer = runtime.change_session(
            self.state, session or self.session, decide, actor=self.by, now=self.now, wait=self.wait
        )
        self.forget()
        return answer

    def forget(self) -> None:
        """The runtime file was written: what was read of it does not count any more."""
        self.__dict__.pop("session_rows", None)
        self.__dict__.pop("chain", None)


def caller_of(context: Context, session: str, known_rows: Mapping[str, SessionRow] | None = None) -> Caller:
    return Caller(
        state=context.state,
        root=context.root,
        session=session,
        by=context.actor,
        now=context.now,
        wait=store.CLI_WAIT,
        limits=context.limits,
        control_globs=context.settings.computer_control,
        known_rows=known_rows,
    )


def require_objects(*values: object) -> None:
    """For a fold, which reads rows once: after it they are what their type says."""
    for value in values:
        if value is not None and not isinstance(value, dict):
            raise TypeError(f"{value!r} is no object")


@dataclass(frozen=True)
class Kind(Generic[S]):
    """A workflow as the engine knows it."""

    name: str  # ralph: its key in the session's row, and the first word of its commands
    what: str  # ralph run: what a run of it is called
    prefix: str  # r: what the ids of its runs begin with
    start: str  # the command that begins one
    home: Callable[[str], str]  # the directory that holds its runs, from the state directory
    fold: Callable[[list[Any], str], S | None]  # None where nothing began; Unreadable for rows nobody can read

    def directory(self, state: str, run: str) -> str:
        from omo.state import paths

        return os.path.join(self.home(state), paths.file_name_of(run))

    def names(self, state: str) -> list[str]:
        """Every run there is a directory of, oldest first. Their ids begin with the time they began."""
        try:
            entries = os.listdir(self.home(state))
        except (FileNotFoundError, NotADirectoryError):
            return []
        names = [name for name in entries if _number(name, self.prefix) and "." not in name]
        return sorted(names)

    def names_of(self, state: str, session: str) -> list[str]:
        """Those that a session began, oldest first."""
        return [name for name in self.names(state) if name.split("-")[1:2] == [tag(session)]]

    def new_id(self, caller: Caller, *tags: str) -> str:
        """The time, then whose it is, then what else it should be found by: a listing alone selects runs."""
        number = int(caller.now * 1000)
        ending = "-".join([tag(caller.session), *tags])
        while os.path.lexists(self.directory(caller.state, f"{self.prefix}{number}-{ending}")):
            number += 1
        return f"{self.prefix}{number}-{ending}"

    def start_lock(self, caller: Caller) -> store.Lock:
        """Of two that want to begin in one project, one is first."""
        home = self.home(caller.state)
        ownership.make_state_dir(caller.state)
        store.make_dir(home, caller.state)
        return store.Lock(os.path.join(home, "start.lock"), store.deadline(caller.wait))


def tag(text: str) -> str:
    """A few letters that stand for a session or a document in the id of a run."""
    return sha256(text.encode("utf-8", "replace"))[:8]


def _number(name: str, prefix: str) -> str:
    digits = name.removeprefix(prefix).split("-", 1)[0]
    return digits if name.startswith(prefix) and digits.isdigit() else ""


class Run(Generic[S]):
    """One run, as it was when the command looked, and as the command's own rows have changed it since."""

    def __init__(self, kind: Kind[S], caller: Caller, run_id: str, *, directory: str = "", named: bool = False) -> None:
        self.kind = kind
        self.caller = caller
        self.id = run_id
        self.directory = directory or kind.directory(caller.state, run_id)
        self.named = run_id if named else ""  # by --run: it may be another session's
        self.journal = Journal(self.directory, caller.state, self._counts)
        self.rows: list[Any] = []
        self.problems: list[str] = []
        self.state: S | None = None
        self.is_lost = False  # too much of it is damaged for it to go on
        self.why_lost = ""
        self._load()

    def _load(self) -> None:
        """Read the run. Of a damaged ledger the rows up to the last whole one count, and what its mark has counted."""
        self.is_lost, self.why_lost = False, ""
        self.rows, self.problems = self.journal.read()
        if self.problems:
            repaired = self.journal.repaired(self.caller.by, self.caller.now)
            self.is_lost = repaired["times"] >= MOST_DAMAGE
            self.why_lost = "its ledger was damaged a second time"
            self.rows.append(repaired)
        try:
            self.state = self.kind.fold(self.rows, self.id)
        except Unreadable as error:
            self.state = None
            self.problems.append(error.message)
        if self.state is None and not self.problems:
            self.problems = [f"{self.directory} is gone"]
        if self.state is None:
            self.is_lost, self.why_lost = True, f"not even the beginning of its ledger is whole ({self.problems[0]})"

    def require_whole(self) -> S:
        """Return the run as its whole rows tell it. Refused if it is lost, or if it belongs to another directory."""
        if self.is_lost or self.state is None:
            raise self.lost()
        root = self.state.root
        if root and root != self.caller.here:
            if os.path.isdir(root):
                fix = "work there"
                raise Refused(f"{self.kind.what} {self.id} belongs to {root}, and this is {self.caller.here}", fix=fix)
            self.append({"kind": "moved", "root": self.caller.here})  # the project was moved, and the run goes along
        return self.state

    def lost(self) -> Refused:
        return Refused(f"{self.kind.what} {self.id} cannot go on: {clip(self.why_lost, 300)}", fix=self.kind.start)

    @property
    def damage_lines(self) -> tuple[str, ...]:
        """Return what becomes of its damaged ledger, in a line; none if it is whole."""
        if not self.problems:
            return ()
        row = None if self.is_lost else len(self.rows) - 1
        return (damage_in_words(f"{self.kind.what} {self.id}", row),)

    def append(self, *events: Mapping[str, Any]) -> None:
        self.change(lambda state: (None, list(events)))

    def change(self, decide: Callable[[S | None], tuple[A, Sequence[Mapping[str, Any]]]]) -> A:
        """Under the lock, on the run as it is then: which rows to append, and what to answer."""

        was_damaged = False

        def under_lock(rows: list[Any]) -> tuple[A, Sequence[Mapping[str, Any]]]:
            nonlocal was_damaged
            self._load()
            if self.is_lost and rows:
                raise self.lost()
            was_damaged = bool(self.problems and rows)
            answer, events = decide(self.state)
            check_sizes(events)
            return answer, events

        caller = self.caller
        answer = self.journal.change(under_lock, actor=caller.by, now=caller.now, wait=caller.wait)
        self._load()
        if was_damaged and not self.problems:
            self._tell_damage()
        return answer

    def _tell_damage(self) -> None:
        """Have the user told, at the next Stop of the session that has the run, that its ledger went on."""
        repaired = [row for row in self.rows if row["kind"] == "repaired"][-1]
        text = went_on(f"{self.kind.what} {self.id}", repaired["row"])

        def decide(row: SessionRow | None) -> runtime.Change:
            return runtime.Change(None, notified(row, self.id, text) if row is not None else None)

        self.caller.change(decide, self.caller.holder(self.kind.name, self.id))

    def change_whole(self, decide: Callable[[S], tuple[A, Sequence[Mapping[str, Any]]]]) -> A:
        """The same for a run that has begun and can go on."""

        def on_whole(state: S | None) -> tuple[A, Sequence[Mapping[str, Any]]]:
            if self.is_lost or state is None:
                raise self.lost()
            return decide(state)

        return self.change(on_whole)

    def _counts(self, rows: list[Any]) -> Tally:
        """Return what these rows count against the run."""
        try:
            state = self.kind.fold(rows, self.id)
        except Unreadable:
            return {}
        return state.counts if state is not None else {}


def damage_in_words(what: str, row: int | None) -> str:
    """Say of a damaged ledger what the next command that writes will make of it; `row` is None if nothing goes on."""
    if row is None:
        return f"the ledger of {what} is damaged: nothing goes on from it, and the next command ends it"
    return f"the ledger of {what} is damaged: it goes on from row {row} at the next command"


def load(kind: Kind[S], caller: Caller, named: str = "", make: Callable[..., Run[S]] = Run) -> Run[S] | None:
    """`--run`, else the run that the session's row names, else its newest one, which a crash may have left unnamed.

    `make` is the workflow's own class.
    """
    if named:
        require_known(kind, caller, named)
        return make(kind, caller, named, named=True)
    summary = caller.summary(kind.name)
    known = str(summary.get("run") or "")
    if runtime.has_ended(summary) and not os.path.lexists(kind.directory(caller.state, known)):
        known = ""
    mine = kind.names_of(caller.state, caller.session)
    newest = mine[-1] if mine else ""
    if newest and (not known or _number(newest, kind.prefix) > _number(known, kind.prefix)):
        run = make(kind, caller, newest)
        began = run.state
        if began is None:
            if not known and run.journal.problems():
                return run
        elif began.session == caller.session and began.root == caller.here and (began.is_open or not known):
            return run
    return make(kind, caller, known) if known else None


def require_known(kind: Kind[S], caller: Caller, named: str) -> None:
    """`--run` names a run of this project, be it one whose directory is gone."""
    if os.path.isdir(kind.directory(caller.state, named)):
        return
    if caller.summary(kind.name, caller.holder(kind.name, named)).get("run") == named:
        return
    known = ", ".join(kind.names(caller.state)[-MOST_LISTED:])
    wanted = clip(named, 80)
    fix = f"name one of these: {known}" if known else kind.start
    raise BadInput(f"--run {wanted}: there is no {kind.what} {wanted}", fix=fix)


def require_own(run: Run[S]) -> None:
    """An agent acts only on its own session's run, whatever --run says."""
    caller = run.caller
    if caller.by == "user" or caller.summary(run.kind.name).get("run") == run.id:
        return
    whose = (run.state.session if run.state is not None else "") or caller.holder(run.kind.name, run.id)
    if whose != caller.session:
        raise Refused(
            f"{run.kind.what} {run.id} is that of session {whose}, and an agent acts only on its own",
            fix=f"leave it to them; the user may, in their own terminal, with --session {shlex.quote(whose)}",
        )


def adopt(kind: Kind[S], caller: Caller, source: str, run_id: str) -> None:
    """A run of another session is this one's from now on, and says so."""
    own = load(kind, caller)  # one that a crash left, of which the row says nothing
    if own is not None and own.id != run_id and own.state is not None and own.state.is_open:
        way = naming.gives_up(kind.name)
        raise Refused(f"this session has open work of its own: {kind.what} {own.id}", fix=f"finish it first; {way}")
    run = Run(kind, replace(caller, session=source), run_id)
    if run.require_whole().session != caller.session:
        run.append({"kind": "adopted", "from": source, "session": caller.session})


def check_sizes(events: Sequence[Mapping[str, Any]]) -> None:
    for event in events:
        size = len(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
        if size > MOST_BYTES_IN_A_ROW:
            raise Refused(
                f"this {event['kind']} has {size} bytes, a row of the ledger takes {MOST_BYTES_IN_A_ROW}",
                fix="keep long texts in files of the project and name them",
            )
