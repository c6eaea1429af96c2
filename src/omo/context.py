"""What a command or a check knows of the world: handed in once, so that nothing below asks for itself."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property

from omo import hosts, settings, variables
from omo.errors import BadInput, NotEvaluable, Refused, Unreadable
from omo.state import ownership, paths, runtime, store
from omo.text import clip, listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from omo.state.ledger import Chain
    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import Limits, SessionRow

MOST_NAMED = 10
LONGEST_NAME = 64
OF_AN_AGENT = hosts.agent_variables()
NO_SUCH_RUN = "no such run is known in this project"
UNCLEAR_SESSION = "which session is meant is not clear"


class Context:
    def __init__(
        self,
        environ: Mapping[str, str],
        cwd: str,
        now: float,
        has_terminal: bool = False,
        *,
        is_under_agent: bool = True,
    ) -> None:
        self.environ = environ
        self.cwd = cwd
        self.now = now
        self.has_terminal = has_terminal
        self.is_under_agent = is_under_agent  # False only where the programs above were looked at
        self.notes: list[str] = []  # what the command chose by itself, for whoever typed it
        self.chains: dict[str, Chain] = {}  # ledgers of sessions, as the command first read them

    @cached_property
    def root(self) -> str:
        return paths.project_root(self.environ, self.cwd)

    @cached_property
    def own(self) -> ownership.Ownership:
        """Whose the state here is. A command in an agent's shell makes none."""
        own = ownership.look(paths.state_dir(self.root, self.environ), self.root, self.named_session or "")
        return own.for_agent() if self.is_agent and self.may_come_from_agent else own

    @property
    def state(self) -> str:
        """Where to read and write; where the state is not this user's, a path at which nothing can be."""
        return self.own.path

    def settle(self) -> None:
        """Bring the record outside the project up to what is on. A command in an agent's shell leaves that to hooks."""
        if self.is_agent and self.may_come_from_agent:
            return
        own = ownership.look(self.own.state, self.root)
        if own.is_ours:
            try:
                stored = runtime.read(own.state)
            except Unreadable:
                return
            ownership.settle(own, runtime.on_by_session(stored), stored["sessions"].keys())

    @property
    def is_agent(self) -> bool:
        """Whether the caller counts as an agent: a host's variable is set, even an empty one, or no terminal is there
        in which a person could have typed."""
        return not self.has_terminal or self._has_agents_variable

    @property
    def may_come_from_agent(self) -> bool:
        """Whether a host's variable is set, here or in a program above. Where not, it is a person or a job of theirs,
        though a job, without a terminal, still counts as an agent elsewhere."""
        return self._has_agents_variable or self.is_under_agent

    @property
    def _has_agents_variable(self) -> bool:
        return any(name in self.environ for name in OF_AN_AGENT)

    @property
    def actor(self) -> str:
        return "agent" if self.is_agent else "user"

    @cached_property
    def users_variables(self) -> set[str]:
        """Those that are the user's own: in a person's shell, or a job of theirs, all of them; in an agent's those that
        the client had too, when the user last asked for work in this session."""
        names = set(filter(variables.may_be_handed_on, self.environ))
        if not names or not self.may_come_from_agent:
            return names
        for row in reversed(self._vouched_rows(self.clear_session())):
            if row.get("actor") == "user" and "variables" in row:
                return variables.marked(self.environ, row["variables"])
        return set()

    def _vouched_rows(self, session: str) -> list[SessionEvent]:
        chain = self.chains.get(session)
        if chain is None:
            return runtime.vouched_rows(self.state, session)
        return chain.rows

    @cached_property
    def settings(self) -> settings.Settings:
        return settings.load(self.environ, self.root)

    @property
    def limits(self) -> Limits:
        """Those in force. An agent's own environment can lower them for its command, and never raise them; Stop asks
        its own environment."""
        limits = self.settings.limits
        if not self.is_agent:
            return limits
        environ = dict(self.environ)
        for knob in settings.LIMITS:
            environ.pop(knob.variable, None)
        without = settings.load(environ, self.root).limits
        return {
            "max_stop_blocks": min(limits["max_stop_blocks"], without["max_stop_blocks"]),
            "cooldown_seconds": min(limits["cooldown_seconds"], without["cooldown_seconds"]),
            "max_total_blocks": min(limits["max_total_blocks"], without["max_total_blocks"]),
            "max_hours": min(limits["max_hours"], without["max_hours"]),
        }

    def note_missing_agents(self) -> None:
        """Notes that the host lacks the plugin's agents, for a command that begins work which needs them."""
        lacking = hosts.around(self.environ).lacks_agents(str(plugin_root()), self.environ)
        if lacking:
            self.notes.append(lacking)

    @property
    def named_session(self) -> str | None:
        return self.environ.get("OMO_SESSION_ID") or hosts.session_of(self.environ) or None

    def session(self, named: str | None, *, looks: bool = False, mends: bool = True) -> str:
        """The session that a command changes: `--session` in full, else that of the host's variables, else the only
        live one. With `looks` it is one to look at, see `looked_at`.

        If its ledger is damaged, that goes on after its last whole row from here on, unless the command `mends` none.
        Raises where none is clear, where `--session` is the beginning of a known id and so was cut off, and for an
        agent that names another session than its host does. Any other unknown id begins a new session.
        """
        if looks:
            return self.looked_at(named)
        field = "OMO_SESSION_ID"
        if named:
            field = "--session"
            matches = self._matches(named)
            if matches and matches != [named]:
                fix = f"did you mean {listed(matches, MOST_NAMED)}? The whole id, please"
                raise BadInput(f"--session {clip(named, LONGEST_NAME)} is the beginning of a session's id", fix=fix)
        session = named or self.clear_session()
        if not session:
            names = listed(self.live_sessions(), MOST_NAMED) or "none is live here"
            raise BadInput(UNCLEAR_SESSION, fix=f"name it with --session ID ({names})")
        own = hosts.session_of(self.environ)
        if self.is_agent and own and session != own:
            other = clip(session, LONGEST_NAME)
            raise Refused(
                f"{field} {other} is another session than this agent's own, {clip(own, LONGEST_NAME)}",
                fix=f"leave {field} away; the user may, in a terminal of their own, with --session {other}",
            )
        if mends:
            self.mend(session)
        return session

    def mend(self, session: str) -> None:
        """Go on after the last whole row of the session's ledger. One that cannot be read is for whoever appends to
        it."""
        with suppress(Unreadable):
            runtime.mend_session(self.state, session, actor=self.actor, now=self.now, wait=store.CLI_WAIT)

    def clear_session(self) -> str:
        """The session of the host's variables, else the only live one, else empty."""
        if self.named_session:
            return self.named_session
        live = self.live_sessions()
        return live[0] if len(live) == 1 else ""

    def looked_at(self, named: str | None) -> str:
        """The session that a command only looks at: `--session`, or as much of its id as is unique, else that of the
        host's variables, else the newest that is live, else the newest. A note says which was chosen. Raises where none
        is known."""
        if named:
            return self._looked_at_by_name(named)
        if self.named_session:
            return self.named_session
        if live := self.live_sessions():
            why = "the only live one" if len(live) == 1 else f"the newest of {len(live)} live ones"
            return self._noted(self._last_used(live), f"{why}; --session ID names another")
        if known := self.known_sessions():
            return self._noted(self._last_used(known), "the newest, none is live; --session ID names another")
        raise BadInput("no session is known in this project", fix="type ulw in a prompt, or omo ulw start --session ID")

    def session_to_judge(self, named: str | None) -> str:
        """The session that an exit code is about: `--session` in full, else the one that worked last; empty where there
        is none. The host's variables do not count: the answer is the same for everybody who asks."""
        try:
            rows = runtime.sessions(self.state)
        except Unreadable:
            return ""  # the view of it says so
        if named:
            return named if named in rows else ""
        with_work = []
        for name, row in rows.items():
            ends = [summary.get("state") for summary in row["work"].values()]
            if any(ends) or row["ulw"].get("armedAt"):
                with_work.append(name)
        return self._last_used(with_work) if with_work else ""

    def judged_session(self, named: str | None) -> str:
        """The same for a command that cannot do without one."""
        name = self.session_to_judge(named)
        if not name:
            raise NotEvaluable(NO_SUCH_RUN, fix="omo status --all shows every session")
        return name

    def _looked_at_by_name(self, named: str) -> str:
        matches = self._matches(named)
        if matches == [named]:
            return named
        if len(matches) == 1:
            return self._noted(matches[0], f"which --session {clip(named, LONGEST_NAME)} begins")
        what = "is the beginning of several sessions" if matches else "is no session of this project"
        fix = f"name one: {listed(matches or self.known_sessions(), MOST_NAMED) or 'none is known here'}"
        raise BadInput(f"--session {clip(named, LONGEST_NAME)} {what}", fix=fix)

    def _matches(self, named: str) -> list[str]:
        """The session of that id, else those whose ids begin so."""
        try:
            known = self.known_sessions()
        except Unreadable:  # whoever needs the file says what is wrong with it
            return [named]
        if named in known or os.path.isdir(paths.session_dir(self.state, named)):
            return [named]
        return [name for name in known if name.startswith(named)]

    def _noted(self, name: str, why: str) -> str:
        self.notes.append(f"session {clip(name, LONGEST_NAME)}, {why}")
        return name

    def _last_used(self, names: list[str]) -> str:
        """The latest by its row. Sessions whose row was forgotten are older, and compared by their directories."""
        rows = runtime.read(self.state)["sessions"]

        def used(name: str) -> tuple[str, float]:
            try:
                changed = os.stat(paths.session_dir(self.state, name)).st_mtime
            except OSError:
                changed = 0.0
            return str(runtime.part(rows, name).get("lastUsedAt") or ""), changed

        return max(names, key=used)

    def known_sessions(self) -> list[str]:
        """Every session with a row, then those that only left a directory whose name is their id."""
        names = [str(name) for name in runtime.read(self.state)["sessions"]]
        with_row = {paths.file_name_of(name) for name in names}
        try:
            left = sorted(entry.name for entry in os.scandir(os.path.join(self.state, "sessions")) if entry.is_dir())
        except (FileNotFoundError, NotADirectoryError):
            return names
        return names + [name for name in left if name not in with_row and paths.file_name_of(name) == name]

    def live_sessions(self) -> list[str]:
        return [name for name, row in runtime.sessions(self.state).items() if runtime.is_held(row)]

    def row(self, session: str) -> SessionRow | None:
        return runtime.session(self.state, session)

    def change(self, session: str, decide: Callable[[SessionRow | None], runtime.Change], actor: str = "") -> Any:
        """Has `decide` change a session's row under its lock, and returns its answer."""
        by = actor or self.actor
        return runtime.change_session(self.state, session, decide, actor=by, now=self.now, wait=store.CLI_WAIT)


def plugin_root() -> Path:
    from pathlib import Path

    return Path(__file__).resolve().parents[2]
