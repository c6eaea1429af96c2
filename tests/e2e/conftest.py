from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.client import PATIENCE, POLL_SECONDS, Client, Conversation, Run, Terminal, environment, find_binary
from tests.e2e.records import Records
from tests.e2e.scripted_model import ScriptedModel, text_of, texts_of
from tests.hooks.conftest import point_at
from tests.kept import copied

# No hook waits for a cooldown here. Unless a test says otherwise, an idle model is sent back once, and then let go.
ONE_BLOCK = {"OMO_COOLDOWN_SECONDS": "0.001", "OMO_MAX_STOP_BLOCKS": "1"}
IN_PLAN_MODE = ("--permission-mode", "plan")
EIGHT_BLOCKS = {"OMO_COOLDOWN_SECONDS": "0.001", "OMO_MAX_STOP_BLOCKS": "8"}


@pytest.fixture(scope="session")
def client_binary() -> Path:
    # Of session scope, so that OMO_CLAUDE is read before a test's environment is emptied.
    binary = find_binary()
    if binary is None:
        pytest.skip("the Claude Code client is not installed: ./tests/run --clients fetches it")
    return binary


@pytest.fixture
def client(client_binary: Path) -> Iterator[Client]:
    client = Client(client_binary)
    yield client
    client.close()


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model
    assert not model.errors, model.errors[0]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A git repository with one commit, under a path with a space and a letter outside ASCII."""
    path = tmp_path / "mein Projékt"
    copied(path, begin)
    return path


def begin(root: Path) -> None:
    home = root.with_name("home of the first commit")
    (root / "README.md").write_text("A project.\n", "utf-8")
    git(root, home, "init", "-q", "-b", "main")
    commit_all(root, home, "first")


def git(project: Path, home: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=project,
        env=environment(home, None),
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def commit_all(project: Path, home: Path, message: str) -> None:
    git(project, home, "add", ".")
    author = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    git(project, home, *author, "commit", "-q", "-m", message)


@pytest.fixture(scope="session")
def plugin_root() -> Path:
    return Path(__file__).parents[2]


@dataclass
class Stage(Records):
    """The client with our plugin and a scripted model, in one project: who was told what, and what is recorded."""

    client: Client
    model: ScriptedModel
    project: Path
    home: Path
    plugin: Path | None
    limits: dict[str, str] = field(default_factory=ONE_BLOCK.copy)

    def prompt(self, text: str, *, env: Mapping[str, str] | None = None, **options: Any) -> Run:
        """One headless run, which must end well whatever was said in it."""
        given = {"model": self.model, "project": self.project, "home": self.home, "plugin_dir": self.plugin, **options}
        run = self.client.run_print(text, **given, env={**self.limits, **(env or {})})
        assert run.exit_code == 0, run.stdout + run.stderr
        return run

    def talk(self, *args: str, env: Mapping[str, str] | None = None, **options: Any) -> Conversation:
        """A headless client for several prompts."""
        return self.client.talk(
            model=self.model,
            project=self.project,
            home=self.home,
            plugin_dir=self.plugin,
            args=args,
            env={**self.limits, **(env or {})},
            **options,
        )

    def open(self, *args: str, env: Mapping[str, str] | None = None, **options: Any) -> Terminal:
        # Auto mode, the client's default, has each action checked by a server.
        return self.client.interactive(
            model=self.model,
            project=self.project,
            home=self.home,
            plugin_dir=self.plugin,
            args=["--permission-mode", "default", *args],
            env={**self.limits, **(env or {})},
            **options,
        )

    def omo(self, *arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """As a job calls it, which has no terminal."""
        return subprocess.run(
            [str((self.plugin or Path(__file__).parents[2]) / "bin" / "omo"), *arguments],
            cwd=self.project,
            env={**environment(self.home, self.model), "OMO_ENV_HOME": str(self.data), **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            start_new_session=True,
            check=False,
        )

    def work(self, session: str) -> dict[str, Any]:
        """The session's summary of ultrawork: its state, its gates, what ended it."""
        work: dict[str, Any] = self.row(session)["work"]["ulw"]
        return work

    def blocks(self, session: str) -> int:
        blocks: int = self.row(session)["ulw"]["totalBlocks"]
        return blocks

    def times_told(self, text: str) -> list[int]:
        """How often each request of the main loop showed the model this text."""
        return [sum(shown.count(text) for shown in texts_of(request)) for request in self.model.turns]

    def tool_results(self) -> list[str]:
        """What the tools answered in this conversation, in order."""
        blocks = [
            block
            for message in self.model.turns[-1]["messages"]
            for block in (message["content"] if isinstance(message["content"], list) else [])
        ]
        return [text_of(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def left_active(self, **options: Any) -> Conversation:
        """With a session that was armed and ended its turn unreleased: plan mode ends turns to show the plan."""
        talk = self.talk(*IN_PLAN_MODE, **options)
        session = talk.prompt("ulw fix the flaky tests").session_id
        assert self.kinds(session) == ["activated:leading", "allowed:plan-mode"]
        assert self.work(session)["state"] == "active"
        talk.set_mode("default")
        return talk

    @property
    def data(self) -> Path:
        return self.home / ".cache" / "omo"

    def commit(self, name: str, text: str) -> None:
        (self.project / name).write_text(text, "utf-8")
        commit_all(self.project, self.home, f"add {name}")

    def transcript(self) -> str:
        """What the client has written down of all conversations so far."""
        paths = (self.home / ".claude" / "projects").glob("*/*.jsonl")
        return "".join(path.read_text("utf-8") for path in paths)

    def git_status(self) -> list[str]:
        return git(self.project, self.home, "status", "--porcelain").splitlines()


def wait_until(condition: Callable[[], object], timeout: float = PATIENCE) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {timeout} s")
        time.sleep(POLL_SECONDS)


@pytest.fixture
def stage(client: Client, model: ScriptedModel, project: Path, home: Path, plugin_root: Path) -> Stage:
    """The plugin from this directory, its environment ready: the interpreter that runs the tests."""
    stage = Stage(client, model, project, home, plugin_root)
    make_ready(stage)
    return stage


def make_ready(stage: Stage) -> None:
    stage.data.mkdir(parents=True)
    (stage.home / ".claude").mkdir()
    point_at(stage.data, sys.executable)
