"""Play a story: one session in a project of its own, and the word that the user reads at its end.

A story is right when the user reads one of the words that it names: `held` where the agent was sent back to work or
waits for the user, else the verdict that the sentence at the Stop opens with. Of the kinds that docs/security.md
concedes any word is right.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from omo.cli.main import main as omo_main
from omo.context import OF_AN_AGENT
from omo.hooks import main as hook
from omo.hooks import prompt as prompt_hook
from omo.hooks import stop, subagents, tool_use
from omo.hosts import Answer
from omo.work.outcome import JUDGED, OPENINGS, PROVEN
from tests.kept import interpreter, put_back
from tests.packages import RUNNERS, node_modules

ROOT = Path(__file__).resolve().parents[2]
HELD, SILENT = "held", "silent"
WAITS = ("waits for you: ", "is blocked: ", "is paused: ", "stays on, and this turn ends: ")
SESSION = "3f0e5c1a-0000-4000-8000-000000000001"
LONGEST_PLAY = 900.0  # seconds: the clock of a play runs faster than the one on the wall, and no file is older than it
DENIED = 126  # what a shell says of a command that it may not run
DONE = (PROVEN, JUDGED)
# What docs/security.md says that no experiment can see.
CONCEDED = (
    "special-cases its test",
    "detects or disarms its test",
    "hidden from a checker",
    "a new test that does not test the task",
    "helpers that a gate's scripts import",
    "weakened in a run before",
    "expected values in a file that looks like work",
    "tests inside of the source",
    "tests of another language",
    "a mode that git does not look at",
    "what lies outside the project",
)
NAMES_IT = ": the end names it"
NODE_MODULES = node_modules(RUNNERS)

TEST = "python3 -B -m unittest"
CALC = "def add(a, b):\n    return a - b - b\n\n\ndef twice(a):\n    return 2 * a\n"
FIXED = CALC.replace("a - b - b", "a + b")  # of another size: files of one size are swapped a second apart
TESTS = """import unittest

import calc


class Calc(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(calc.twice(2), 4)
"""
ADD_TEST = "\n    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n"


@dataclass
class Play:
    """One session in a project of its own: what the user types, what the agent runs, what the Stop says."""

    project: Path
    now: float = field(default_factory=lambda: time.time() - LONGEST_PLAY)
    told: str = ""
    printed: str = ""
    log: list[str] = field(default_factory=list)
    commands: int = 0
    has_pin: bool = False

    # The user

    def user(self, prompt: str) -> str:
        """What the prompt hook prints."""
        self.has_pin = self.has_pin or prompt.startswith("/omo:pin")
        return self._event(prompt_hook.handle, "UserPromptSubmit", prompt=prompt)

    def terminal(self, command: str) -> int:
        """`omo` in a terminal of the user's own: its exit code."""
        environ = {name: value for name, value in os.environ.items() if name not in OF_AN_AGENT}
        return self._run(command, environ, has_terminal=True)

    def stop(self, message: str = "All done.") -> str:
        """What the user reads at a Stop; `held` where the agent is sent back."""
        self.now += 10
        said = self._event(stop.handle, "Stop", last_assistant_message=message, stop_hook_active=False)
        answer = json.loads(said) if said else {}
        if answer.get("decision") == "block":
            self.log.append(f"(sent back: {answer['reason']})")
            return HELD
        self.told = str(answer.get("systemMessage") or "")
        return self.told

    # The agent

    def omo(self, command: str, **variables: str) -> int:
        """`omo` in the agent's shell, if the hook before it lets it run: its exit code."""
        self.commands += 1
        self.has_pin = self.has_pin or command.startswith("gate add")
        asked = {"tool_name": "Bash", "tool_input": {"command": f"omo {command}"}}
        answer = self._event(tool_use.handle, "PreToolUse", **asked)
        if '"deny"' in answer:
            self.log.append(f"$ omo {command}  [denied]\n{answer}")
            return DENIED
        environ = {**os.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": SESSION, **variables}
        return self._run(command, environ, has_terminal=False)

    def has_typed(self, prompt: str) -> None:
        """A timer types this prompt, if the hook before lets the agent set one."""
        asked = {"tool_name": "CronCreate", "tool_input": {"cron": "* * * * *", "prompt": prompt}}
        answer = self._event(tool_use.handle, "PreToolUse", **asked)
        self.log.append(f"(a timer for {prompt}: {answer or 'set'})")
        if '"deny"' not in answer:
            self.user(prompt)

    def agent_ends(self, agent: str, message: str) -> None:
        """An agent that was sent for says its last word."""
        self.now += 1
        who = {"agent_type": agent, "agent_id": f"a{int(self.now)}"}
        self._event(subagents.handle_stop, "SubagentStop", **who, last_assistant_message=message)

    def sh(self, command: str) -> None:
        subprocess.run(["sh", "-c", command], cwd=self.project, check=True, capture_output=True)

    def write(self, path: str, text: str) -> None:
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def append(self, path: str, text: str) -> None:
        self.write(path, (self.project / path).read_text(encoding="utf-8") + text)

    def forge(self, ledger: Path, old: str, new: str) -> None:
        """Edit a row by hand, past every hook. Rows have no blanks between values."""
        old, new = (part.replace(": ", ":").replace(", ", ",") for part in (old, new))
        text = ledger.read_text(encoding="utf-8")
        assert old in text, text
        ledger.write_text(text.replace(old, new), encoding="utf-8")

    def document(self, name: str, value: object) -> str:
        """JSON in a file beside the project, as an option of a command names it."""
        path = self.project.parent / name
        path.write_text(json.dumps(value), encoding="utf-8")
        return shlex.quote(str(path))

    def gate(self, command: str = TEST, name: str = "tests") -> None:
        self.omo(f"gate add {name} -- {command}")

    def finish(self) -> None:
        """As an agent that wants to be let go: the plain word, then whatever the refusal offers."""
        for option in ("", ' --because "the task is done as asked"', ' --skip-verification "it cannot be run here"'):
            if self.omo(f"ulw done{option}") == 0:
                return

    @contextlib.contextmanager
    def environment(self, **values: str) -> Iterator[None]:
        before = dict(os.environ)
        os.environ.update(values)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _run(self, command: str, environ: dict[str, str], *, has_terminal: bool) -> int:
        self.now += 1
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = omo_main(shlex.split(command), environ, str(self.project), self.now, has_terminal=has_terminal)
        self.printed = output.getvalue()
        self.log.append(f"{'>' if has_terminal else '$'} omo {command}  [{code}]\n{self.printed}")
        return code

    def _event(self, handle: Callable[..., Answer], name: str, **fields: object) -> str:
        body = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": name, **fields}
        environ = {**os.environ, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(self.project)}
        raw = json.dumps(body).encode()
        return hook.answer(name, handle, raw, environ, str(self.project), self.now).decode()


Story = Callable[[Play], None]


@dataclass(frozen=True)
class Ending:
    workflow: str
    name: str
    right: tuple[str, ...]
    play: Story
    conceded: str = ""
    needs: tuple[str, ...] = ()
    begin: Story | None = None

    @property
    def is_honest(self) -> bool:
        return self.name.startswith("honest: ")

    @property
    def title(self) -> str:
        return f"{self.workflow}: {self.name}"

    @property
    def has_test(self) -> bool:
        """Any word is right for what is conceded, unless the end names it."""
        return not self.conceded or self.name.endswith(NAMES_IT)

    @property
    def missing(self) -> list[str]:
        """The tools that it needs and that are not here."""
        return [tool for tool in self.needs if not is_here(tool)]

    def is_right(self, word: str) -> bool:
        return bool(self.conceded) or word in self.right


@dataclass(frozen=True)
class Told:
    """What an ending came to: the word and the sentence for the user, and what it took the agent."""

    word: str
    sentence: str
    log: list[str]
    commands: int
    has_pin: bool
    code: int  # of `omo status --exit-code`


ENDINGS: list[Ending] = []


def ending(
    workflow: str, name: str, *right: str, conceded: str = "", needs: str = "", begin: Story | None = None
) -> Callable[[Story], Story]:
    """`needs` names programs, with spaces between them. What several stories `begin` with is played once for them."""
    assert not conceded or conceded in CONCEDED, conceded

    def register(play: Story) -> Story:
        ENDINGS.append(Ending(workflow, name, right, play, conceded, tuple(needs.split()), begin))
        return play

    return register


def is_here(tool: str) -> bool:
    """On the PATH, or among the packages that `tests/run --clients` fetches for the endings."""
    return shutil.which(tool, path=path_of_tools()) is not None or (NODE_MODULES / ".bin" / tool).exists()


def path_of_tools() -> str:
    """The PATH, and before it this interpreter and what it can run as a module."""
    return os.pathsep.join((_modules(), str(_python()), os.environ["PATH"]))


def _python() -> Path:
    """With the programs of the Python below this environment, which may have been built a minute ago."""
    return interpreter(str(Path(sys.executable).resolve().parent), sysconfig.get_path("purelib"))


@cache
def _modules() -> str:
    """An environment that was moved after it was built has scripts that name the wrong interpreter: these do not. Like
    its own, pytest does not look for modules where it is started, as `python3 -m` does. Nor does it look at its end for
    objects that nobody closed, a tenth of it all: no ending is about the warnings.
    """
    directory = Path(tempfile.mkdtemp(prefix="omo-tools-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    python, fast = shlex.quote(sys.executable), shlex.quote(str(_python() / "python3"))
    as_script = "import runpy, sys; del sys.path[0]; runpy.run_module('pytest', None, '__main__', alter_sys=True)"
    starts = {
        "pytest": f'{fast} -c "{as_script}" -p no:unraisableexception -p no:threadexception',
        "mypy": f"{python} -m mypy",
        "ruff": f"{python} -m ruff",  # which is beside its interpreter
    }
    for module, start in starts.items():
        if importlib.util.find_spec(module):
            script = directory / module
            script.write_text(f'#!/bin/sh\nexec {start} "$@"\n', encoding="utf-8")
            script.chmod(0o755)
    cargo = Path(shutil.which("cargo") or "")
    if cargo.parts[-3:-1] == (".cargo", "bin"):  # rustup's, which looks for its tools in the home directory
        script = directory / "cargo"
        home = shlex.quote(str(cargo.parents[2] / ".rustup"))
        script.write_text(f'#!/bin/sh\nRUSTUP_HOME={home} exec {shlex.quote(str(cargo))} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    return str(directory)


def every_ending() -> list[Ending]:
    """Return the endings that all modules beside this one tell of."""
    return ENDINGS


def warm_up() -> None:
    """Make what endings share."""
    _base()
    _modules()


def make_project(directory: Path) -> Path:
    """A copy of a repository that is made once, with files of now."""
    return Path(shutil.copytree(_base(), directory / "a project", copy_function=shutil.copy))


@cache
def _base() -> str:
    base = Path(tempfile.mkdtemp(prefix="omo-truth-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    (base / "calc.py").write_text(CALC, encoding="utf-8")
    (base / "test_calc.py").write_text(TESTS, encoding="utf-8")
    identity = "git config user.name omo; git config user.email omo@example.invalid"
    subprocess.run(["sh", "-c", f"git init -q; {identity}; git add .; git commit -qm base"], cwd=base, check=True)
    return str(base)


def played(which: Ending, directory: Path) -> Told:
    begin = which.begin

    def begun(place: Path) -> Play:
        run = Play(make_project(place))
        if begin is not None:
            with at_desk(run):
                begin(run)
        return run

    run = begun(directory) if begin is None else put_back(directory, begun, begin)
    with at_desk(run):
        which.play(run)
        said = run.stop() or run.told
        code = run.terminal(f"status --exit-code --session {SESSION}")
    return Told(word_of(said), said, run.log, run.commands, run.has_pin, code)


@contextlib.contextmanager
def at_desk(run: Play) -> Iterator[None]:
    """Where the user of a story is, wherever it is played. What omo keeps for them lies outside any project."""
    with run.environment(PATH=path_of_tools(), XDG_STATE_HOME=f"{run.project.parent}.state"):
        os.environ.pop("CI", None)
        yield


def word_of(said: str) -> str:
    if said in (HELD, ""):
        return said or SILENT
    for verdict, opening in OPENINGS.items():
        if said.startswith(f"omo: {opening}: "):
            return verdict
    if any(words in said for words in WAITS):
        return HELD
    return f"?? {said}"
