"""The boundary between the host and a decision: read one event, decide, write, exit 0 whatever happens."""

from __future__ import annotations

import gc
import os
import sys
import time

from omo import hosts, settings
from omo.clock import stamp
from omo.deadline import HOOK_SECONDS, Deadline
from omo.errors import Newer, OmoError, Unreadable
from omo.safe_open import own_file
from omo.state import beats, ownership, paths, runtime, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from omo.hosts import Answer, Event, Host
    from omo.state.rows import SessionRow

    Handler = Callable[[Event, "World"], Answer]

LONGEST_LOG = 256 * 1024
PROMPT = "user-prompt-submit"
ANSWERED = ("stop", PROMPT)
ONLY_LOOK = ("statusline",)
TELLS_OF_GAPS = (PROMPT, "session-start")
OF_A_CONVERSATION = ("session-start", "stop", "subagent-start")

HANDLERS = {
    "session-start": ("omo.hooks.session_start", "handle"),
    PROMPT: ("omo.hooks.prompt", "handle"),
    "pre-tool-use": ("omo.hooks.tool_use", "handle"),
    "post-tool-use": ("omo.hooks.tool_done", "handle"),
    "stop": ("omo.hooks.stop", "handle"),
    "subagent-start": ("omo.hooks.subagents", "handle_start"),
    "subagent-stop": ("omo.hooks.subagents", "handle_stop"),
    "statusline": ("omo.views.statusline", "handle"),
}


class World:
    """What a handler may know besides the event: time, environment, where the state is, and the session's row in it."""

    def __init__(self, event: Event, environ: Mapping[str, str], cwd: str, now: float) -> None:
        self.environ = environ
        self.now = now
        self.session = event.session
        self.client = event.client
        self.root = paths.project_root(environ, event.project or cwd)
        self.own = ownership.look(paths.state_dir(self.root, environ), self.root, self.session)
        self.state = self.own.path
        self._version = store.version_of(paths.runtime_file(self.state))
        self._deadline = store.deadline(store.HOOK_WAIT)
        self.unreadable: Unreadable | None = None  # why the row is not known
        self.notices: list[str] = []  # what the user is told beside the answer
        self.left: runtime.Change | None = None  # the last change of this session's row, if this hook knows it
        self.found_tests: str | None = None  # what `own_calls.runs_found_tests` has found, once somebody asked

    @property
    def wait(self) -> float:
        """How many seconds this hook may still wait for locks. A held session is let go only after that, and the user
        is told so."""
        return max(0.0, self._deadline - time.monotonic())

    def row(self) -> SessionRow | None:
        """The session's row; None also where it cannot be read: whoever writes next keeps the bytes aside."""
        try:
            return runtime.session(self.state, self.session)
        except Unreadable as error:
            self.unreadable = error
            return None

    def live_row(self) -> SessionRow | None:
        row = self.row()
        return row if row is not None and runtime.is_live(row) else None

    def is_on(self) -> bool:
        """True also where the row cannot be read, if the record of the state says so, or the state of a newer omo."""
        if self.live_row() is not None:
            return True
        if isinstance(self.unreadable, Newer) and runtime.is_in_newer(self.state, self.session):
            return True
        record = self.own.record
        return record is not None and self.session in record.live

    def take_place(self) -> None:
        """Make the state the user's own, because they turn something on. Raises NotOurs where that cannot be."""
        if self.own.is_ours:
            return
        from omo.work import foreign

        self.notices += filter(None, [foreign.take_place(self.own, self.root, self.now)])
        self._look_again()

    def _look_again(self) -> None:
        self.own = ownership.look(self.own.state, self.root, self.session)
        self.state = self.own.path

    def settle_before(self) -> None:
        """Give the state back what somebody outside has changed: a record that is gone, a directory that was moved
        aside."""
        if self.own.is_lost:
            ownership.take_again(self.own)
            self._look_again()
            self._note_lost_record()
        elif not self.own.is_ours and (aside := ownership.aside_of_ours(self.own.state, self.root)):
            if not ownership.looks_alive(self.own.state, self.now):
                ownership.bring_back(aside, self.own.state, self.now)
                self._look_again()

    def _note_lost_record(self) -> None:
        from omo.work import session

        def decide(row: SessionRow | None) -> runtime.Change:
            if row is None or not runtime.is_live(row):
                return runtime.Change(None)
            return runtime.Change(None, session.note_lost_record(row), [{"kind": "record-lost"}])

        self.change(decide)

    def settle_after(self) -> None:
        """Bring the record outside the project up to what is on, unless this hook has found and left it so."""
        if self.left is not None and self.left.row is not None and self.own.is_ours:
            on = runtime.what_is_on(self.left.row)
            if self.own.record is not None and self.own.record.live.get(self.session, "") == on:
                return
            ownership.settle(self.own, {self.session: on} if on else {}, [self.session])
            return
        if not self.own.is_ours:
            self._look_again()
        elif self._is_settled():
            return
        if self.own.is_ours:
            try:
                stored = runtime.read(self.state)
            except Unreadable:
                return  # the decision has said so
            ownership.settle(self.own, runtime.on_by_session(stored), stored["sessions"].keys())

    def _is_settled(self) -> bool:
        """Return whether this hook wrote nothing, and the record says of this session what its row says."""
        if self.own.record is None or self._version != store.version_of(paths.runtime_file(self.state)):
            return False
        row = self.row()
        on = runtime.what_is_on(row) if row is not None else ""
        return self.own.record.live.get(self.session, "") == on

    def note_beat(self, event: Event) -> None:
        """Write the session's heartbeat, if it is on. An event of a subagent may name the subagent's own transcript, so
        that is not kept."""
        record = self.own.record
        if record is not None and self.session in record.live:
            transcript = "" if event.is_subagent else event.transcript.path
            beats.note(record.file, self.session, self.now, event.host.name, transcript)

    def told_of_removal(self) -> str:
        """What the user is told, once, if the state was removed while this session was on; else empty."""
        if not self.session:
            return ""
        is_earlier = not self.own.is_ours and self._was_of_an_earlier_format()
        has_row = self.left is not None or self.row() is not None or self.unreadable is not None
        for removed in ownership.removed(self.own, self.root, [self.session] if has_row else [], self.session):
            if ownership.tell(removed) and not is_earlier:
                from omo.hooks import messages

                return messages.state_removed(removed.state, removed.on, is_on_again=self.live_row() is not None)
        return ""

    def _was_of_an_earlier_format(self) -> bool:
        from omo.work import foreign

        if not foreign.names_session_of_earlier_format(self.own.state, self.session):
            return False
        contents = foreign.Contents(self.own.state)
        aside = ownership.move_aside(self.own.state, self.now)
        self.notices.append(f"{foreign.moved_aside(aside, contents)}\nNothing holds this session any more.")
        return True

    def change(
        self,
        decide: Callable[[SessionRow | None], runtime.Change],
        *,
        actor: str = "hook",
        wait: float | None = None,
    ) -> Any:
        """Decide on the session's row under its lock, and give what was decided. The row notes in which program the
        conversation is: whoever finds it open later looks whether that still runs."""

        def of_client(row: SessionRow | None) -> runtime.Change:
            change = decide(row)
            if change.row is not None and self.client:
                change.row = {**change.row, "client": self.client}
            return change

        seconds = self.wait if wait is None else wait
        return runtime.change_session(self.state, self.session, of_client, actor=actor, now=self.now, wait=seconds)

    def change_live(self, decide: Callable[[SessionRow], runtime.Change], *, actor: str = "hook") -> Any:
        """The same for a session that has work on. For another the answer is None, and nothing is written."""

        def of_live(row: SessionRow | None) -> runtime.Change:
            return decide(row) if row is not None and runtime.is_live(row) else runtime.Change(None)

        return self.change(of_live, actor=actor) if self.live_row() else None


def run(name: str) -> None:
    """The script's second argument is the host that the registration names."""
    gc.disable()  # a hook ends before it pays to look for garbage
    host = hosts.named("".join(sys.argv[2:3]))

    def handle(event: Event, world: World) -> Answer:
        """Imported only here, where every error is caught: half way through an update a module may be missing."""
        module, function = HANDLERS[name]
        decision: Answer = getattr(__import__(module, fromlist=[function]), function)(event, world)
        return decision

    try:
        data = answer(name, handle, sys.stdin.buffer.read(), os.environ, _cwd(), time.time(), host)
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        pass  # the host closed our stdout or stdin: there is nobody left to answer
    gc.freeze()  # else Python looks for garbage in all there is before it ends


def answer(
    name: str, handle: Handler, raw: bytes, environ: Mapping[str, str], cwd: str, now: float, host: Host | None = None
) -> bytes:
    """Every hook fails open: an error ends in an empty answer and a line in the log."""
    host = host or hosts.named("")
    state = ""
    try:
        event = host.read(raw, environ)
        if event is None or settings.is_disabled(environ) or settings.is_skipped(environ, name):
            return b""
        if name in OF_A_CONVERSATION and event.session in environ.get(hosts.OUTER, "").split():
            return b""  # an agent has started a client on its own conversation, which is held where it is
        world = World(event, environ, cwd, now)
        state = world.state
        with Deadline(HOOK_SECONDS):
            if name not in ONLY_LOOK:
                _settle(world.settle_before, world, name)
            lines = [*_put_back(name, world), *_gaps(name, event, world)]
            decided = _decide(name, handle, event, world)
            if name not in ONLY_LOOK:
                _settle(world.settle_after, world, name)
                world.note_beat(event)
        return host.write(_masked(_with_lines([*lines, *world.notices], decided, event)), event, environ)
    except Exception as error:
        log(state, name, error)
        return b""


def _settle(step: Callable[[], None], world: World, name: str) -> None:
    """The record outside the project is brought in order where it can be; the decision does not wait for it."""
    try:
        step()
    except (OmoError, OSError) as error:
        log(world.state, name, error)


def _decide(name: str, handle: Handler, event: Event, world: World) -> Answer:
    """Where state cannot be read or written nobody is held. The user is told, where they wait for an answer."""
    try:
        decided = handle(event, world)
        problem: Exception | None = world.unreadable
    except (OmoError, OSError) as error:
        log(world.state, name, error)
        decided, problem = hosts.Answer(), error
    is_silent = decided.decision == hosts.ALLOW and not decided.message and not decided.context
    if name in ANSWERED and problem and is_silent and not event.is_subagent and world.is_on():
        from omo.hooks import messages

        decided.message = messages.not_held(problem, is_prompt=name == PROMPT)
    return decided


def _put_back(name: str, world: World) -> list[str]:
    """Put back the files that a killed process had swapped, before anything else. The lines are for the user."""
    if name == "statusline":
        return []
    journal = paths.swap_journal(world.state)
    if not os.path.lexists(journal) and not os.path.lexists(paths.swap_unfinished(world.state)):
        return []
    from omo.proof import swap

    try:
        lines = swap.recover(world.state, world.root)
    except (OmoError, OSError) as error:  # git took too long; the next hook tries again
        log(world.state, name, error)
        lines = [str(error)]
    return [f"omo: {line}" for line in lines]


def _gaps(name: str, event: Event, world: World) -> list[str]:
    """Tell the user of turns that ended without hooks, before this hook is noted as the last one."""
    record = world.own.record
    if name not in TELLS_OF_GAPS or event.is_subagent or not event.shows_messages or record is None or not record.live:
        return []
    from omo.hooks import gaps

    return gaps.tell(event, world)


def _with_lines(lines: list[str], answer: Answer, event: Event) -> Answer:
    """The lines go wherever this answer has room for something that the user reads."""
    if not lines:
        return answer
    text = "\n".join(lines)
    if answer.decision == hosts.END_PROMPT:
        answer.reason = f"{answer.reason}\n{text}"
    elif answer.context and not event.shows_messages:
        answer.context = f"{answer.context}\n{text}"
    else:
        answer.message = f"{text}\n{answer.message}".strip()
    return answer


def _masked(answer: Answer) -> Answer:
    """Return the answer without secrets that somebody's words had in it. Most answers are empty."""
    if not (answer.reason or answer.context or answer.message or answer.line):
        return answer
    from omo import masking

    for name in ("reason", "context", "message", "line"):
        if text := getattr(answer, name):
            setattr(answer, name, masking.mask(text))
    return answer


def log(state: str, name: str, error: BaseException) -> None:
    """Detail for `omo doctor`. Only where there is a state directory already; never a second failure."""
    from omo import masking

    try:
        path = paths.log_file(state)
        if store.link_to_state(path) is not None:
            return
        if os.path.exists(path) and os.path.getsize(path) > LONGEST_LOG:
            os.replace(path, path + ".old")
        with open(path, "a", encoding="utf-8", errors="replace", opener=own_file) as file:
            file.write(f"{stamp(time.time())} {name} {type(error).__name__}: {masking.mask(str(error))}\n")
    except OSError:
        pass


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
