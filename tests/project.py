"""A git project in which a person types and an agent works: commands through `main(argv)`, events through the hooks."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli.main import main
from omo.context import OF_AN_AGENT
from omo.errors import Unwritable
from omo.hooks import main as hooks
from omo.hooks import own_calls, prompt, session_start, stop, subagents, tool_done, tool_use
from omo.settings import DEFAULT_LIMITS
from omo.state import ledger, ownership, paths, records, runtime
from omo.state.rows import EMPTY
from omo.work import session as sessions
from omo.work.foreign import Contents
from omo.work.run import Caller
from tests import texts
from tests.kept import copied
from tests.texts import heard, rows

if TYPE_CHECKING:
    from omo.state.rows import Limits

Row = dict[str, Any]

NOW = 1_771_780_801.0  # long before any file of a test was written
SESSION = "abc123"
LIMITS = DEFAULT_LIMITS
AUTHOR = {"GIT_AUTHOR_NAME": "Test", "GIT_AUTHOR_EMAIL": "test@example.org"}
IDENTITY = {**AUTHOR, "GIT_COMMITTER_NAME": "Test", "GIT_COMMITTER_EMAIL": "test@example.org"}
# Each hook by the name of its script, with the event that the host sends it and what decides on it.
HOOKS: dict[str, tuple[str, hooks.Handler]] = {
    "session-start": ("SessionStart", session_start.handle),
    "user-prompt-submit": ("UserPromptSubmit", prompt.handle),
    "pre-tool-use": ("PreToolUse", tool_use.handle),
    "post-tool-use": ("PostToolUse", tool_done.handle),
    "stop": ("Stop", stop.handle),
    "subagent-start": ("SubagentStart", subagents.handle_start),
    "subagent-stop": ("SubagentStop", subagents.handle_stop),
}


def plan_directory(state: str, session: str) -> Path:
    """Where the newest ultragoal plan lies that a session began."""
    from omo.workflows.ultragoal.run import ULTRAGOAL  # tests/hooks/without_a_row.py plays without it

    names = ULTRAGOAL.names_of(state, session)
    return Path(ULTRAGOAL.home(state), names[-1] if names else "none")


@dataclass
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.out)
        return value

    def says(self, situation: str, /, **values: object) -> bool:
        """Return whether this situation of tests/texts is told, with these values in its placeholders."""
        return texts.says(self._said, situation, **values)

    @property
    def situations(self) -> set[str]:
        return texts.situations(self._said)

    @property
    def _said(self) -> str:
        error = heard.lines_of(heard.said_in_error(self.out))
        return f"{error}\n{self.err}" if error else f"{self.out}\n{self.err}"


@dataclass
class Answer:
    """Of a hook; one that is called in the process has no exit code to get wrong."""

    code: int
    stdout: str
    stderr: str
    event: str = ""

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.stdout)
        return value

    @property
    def blocks(self) -> bool:
        return self.stdout.startswith("{") and self.json.get("decision") == "block"

    @property
    def message(self) -> str:
        """What the user reads."""
        return str(self.json.get("systemMessage", "")) if self.stdout.startswith("{") else ""

    def says_to_user(self, situation: str, /, **values: object) -> bool:
        return texts.says(self._said_to(rows.USER), situation, **values)

    def says_to_agent(self, situation: str, /, **values: object) -> bool:
        return texts.says(self._said_to(rows.AGENT), situation, **values)

    @property
    def situations(self) -> set[str]:
        """What the user and the agent are told."""
        return self.situations_for(rows.USER) | self.situations_for(rows.AGENT)

    def situations_for(self, reader: str) -> set[str]:
        return texts.situations(self._said_to(reader))

    def _said_to(self, reader: str) -> str:
        said = heard.said_by_hook(self.event, self.stdout)
        return heard.lines_of(each for each in said if each.reader == reader)

    def assert_silent(self) -> None:
        assert (self.code, self.stdout, self.stderr) == (0, "", "")


@dataclass
class Project:
    """A project and one conversation in it. Its clock goes on by one second for each thing that happens here."""

    root: Path
    session: str = SESSION
    now: float = NOW
    environ: dict[str, str] = field(default_factory=dict)  # of every command and hook
    limits: Limits = field(default_factory=LIMITS.copy)
    has_screen: bool = False  # output is for a person to look at

    @property
    def state(self) -> str:
        return self.environ.get("OMO_STATE_DIR") or str(self.root / ".sisyphus" / "cc-omo")

    # Commands

    def omo(
        self,
        *argv: str,
        by: str = "agent",
        session: str | None = None,
        stdin: str | None = None,
        cwd: Path | None = None,
        has_terminal: bool = True,
        is_under_agent: bool = True,
        is_heard: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Runs a command in the agent's shell, of which a hook has heard, or in the user's terminal, which has only the
        session it is given."""
        self.now += 1
        variables = dict(self.environ)
        if by == "agent":
            variables |= {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session or self.session}
        elif session:
            variables["OMO_SESSION_ID"] = session
        variables |= env or {}
        if is_heard and set(OF_AN_AGENT) & variables.keys() and not own_calls.only_looks(list(argv)):
            self.make_state()
        out, err = Stream(is_screen=self.has_screen), Stream()
        with reading(stdin), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(
                list(argv),
                variables,
                str(cwd or self.root),
                self.now,
                has_terminal=has_terminal,
                is_under_agent=is_under_agent,
            )
        heard.RECORDER.command(self.root, argv, stdin, out.text, err.text)
        return Ran(code, out.text, err.text)

    def make_state(self) -> None:
        """As the hook does that hears of the agent's command: tests/hooks/test_ownership.py."""
        state = paths.state_dir(paths.project_root(self.environ, str(self.root)), self.environ)
        if ownership.look(state, str(self.root)).standing == ownership.ABSENT:
            with contextlib.suppress(Unwritable):  # which the hook writes into its log
                ownership.make_state_dir(state)

    def agent(self, *argv: str, **options: Any) -> Ran:
        return self.omo(*argv, **options)

    def user(self, *argv: str, **options: Any) -> Ran:
        return self.omo(*argv, by="user", **options)

    def check(self, *argv: str, code: int = 0, **options: Any) -> Ran:
        """A command that must end so."""
        ran = self.omo(*argv, **options)
        assert ran.code == code, f"{argv}: {ran.code} {ran.out}{ran.err}"
        return ran

    # The host's events

    def hook(self, name: str, *, session: str = "", env: Mapping[str, str] | None = None, **fields: Any) -> Answer:
        """What the hook prints. One that failed and so let everything go has not passed."""
        self.now += 1
        event, handle = HOOKS[name]
        if handle is stop.handle:
            handle = self._stop_handle
        body = {"session_id": session or self.session, "cwd": str(self.root), "hook_event_name": event, **fields}
        environ = {"PATH": os.environ["PATH"], "CLAUDE_PROJECT_DIR": str(self.root), **self.environ, **(env or {})}
        said = hooks.answer(name, handle, json.dumps(body).encode(), environ, str(self.root), self.now)
        log = Path(paths.log_file(self.state))
        assert not log.exists(), log.read_text("utf-8")
        heard.RECORDER.hook(self.root, event, body, said.decode("utf-8"))
        return Answer(0, said.decode("utf-8"), "", event)

    def _stop_handle(self, event: Any, world: hooks.World) -> Any:
        return stop.handle(event, world, wait=self.wait)

    def wait(self, seconds: float) -> None:
        """The rest of a cooldown, as the Stop hook waits for it."""
        self.now += seconds

    def prompt(self, text: str, **fields: Any) -> Answer:
        return self.hook("user-prompt-submit", prompt=text, **fields)

    def stop(self, **fields: Any) -> Answer:
        return self.hook("stop", **{"stop_hook_active": False, "background_tasks": [], "session_crons": [], **fields})

    def tool_use(self, name: str, *, env: Mapping[str, str] | None = None, **given: Any) -> Answer:
        return self.hook("pre-tool-use", env=env, tool_name=name, tool_input=given)

    def agent_ends(self, agent: str, message: str = "done", **fields: Any) -> Answer:
        """An agent that was sent for says its last word."""
        said = {"agent_type": agent, "agent_id": "a1", "last_assistant_message": message, **fields}
        return self.hook("subagent-stop", **said)

    # Files

    def write(self, name: str, text: str = "here\n") -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def commit(self, message: str = "work") -> str:
        """Everything there is, or nothing: its id."""
        return commit(self.root, message)

    # What is kept

    def row(self, session: str = "") -> Any:
        """What hooks read of a session."""
        return runtime.session(self.state, session or self.session) or EMPTY

    def summary(self, kind: str, session: str = "") -> Row:
        """What hooks read of one kind of work."""
        return dict(self.row(session).get("work", {}).get(kind, {}))

    def events(self, session: str = "") -> list[Row]:
        return ledger.rows(paths.events_file(self.state, session or self.session))

    def change_row(self, change: Callable[[Any], Any], *events: Any, session: str = "", actor: str = "hook") -> None:
        """A session's row, as a hook changes it."""
        self.now += 1

        def decide(row: Any) -> runtime.Change:
            return runtime.Change(None, change(row or EMPTY), list(events) or [{"kind": "test"}])

        runtime.change_session(self.state, session or self.session, decide, actor=actor, now=self.now, wait=5.0)

    def cancel(self) -> None:
        """As the user's word does."""
        self.change_row(lambda row: sessions.cancel(row, reason="user", now=self.now))

    def caller(self, by: str = "agent", session: str = "", **more: Any) -> Caller:
        """What a command hands to the workflow it belongs to."""
        self.now += 1
        given = {"session": session or self.session, "by": by, "now": self.now, "limits": self.limits.copy(), **more}
        return Caller(self.state, str(self.root), wait=5.0, **given)


def believe(state: str) -> None:
    """Have the home of this test know a state that was made in the home of another."""
    if not Path(state).is_dir():
        return
    (place, *_) = records.places(str(Path(state).parents[1]))
    known = {"path": os.path.realpath(state), "name": state, "known": Contents(state).words}
    records.write(records.StateRecord(records.identity_of(state), place, known))


def make_project(tmp_path: Path) -> Project:
    """A repository without a commit, in which one file is not yet as it should be."""
    root = tmp_path / "a b"
    copied(root, begin_repository)
    return Project(root)


def begin_repository(root: Path) -> None:
    git(root, "init", "-q")
    (root / "value").write_text("old\n")


class Stream(io.TextIOWrapper):
    """Where a command in the process writes, and what it reads; a screen, if it is to be taken for one."""

    def __init__(self, text: str = "", *, is_screen: bool = False) -> None:
        self.bytes = io.BytesIO(text.encode())
        self.is_screen = is_screen
        super().__init__(self.bytes, encoding="utf-8", newline="", write_through=True)

    def isatty(self) -> bool:
        return self.is_screen

    @property
    def text(self) -> str:
        return self.bytes.getvalue().decode("utf-8")


@contextlib.contextmanager
def reading(text: str | None) -> Iterator[None]:
    """What is piped into a command; without any, it has the input of the tests."""
    before = sys.stdin
    sys.stdin = before if text is None else Stream(text)
    try:
        yield
    finally:
        sys.stdin = before


def git(root: Path, *arguments: str, stdin: str | None = None, **environ: str) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=root,
        env={**os.environ, **IDENTITY, **environ},
        input=stdin,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(root: Path, message: str) -> str:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return head(root)


def head(root: Path) -> str:
    """The commit that is checked out; where a branch is, its file says so without asking git."""
    name = (root / ".git" / "HEAD").read_text().strip() if (root / ".git").is_dir() else ""
    branch = root / ".git" / name.removeprefix("ref: ")
    if name.startswith("ref: ") and branch.is_file():
        return branch.read_text().strip()
    return git(root, "rev-parse", "HEAD")


def damage(path: Path) -> None:
    """Somebody changes the first row of a ledger by hand."""
    lines = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    path.write_text("\n".join([json.dumps({**row, "extra": 1}), *lines[1:]]) + "\n", encoding="utf-8")
