"""The real Claude Code client, offline: headless runs, plugin commands, and a terminal to type in."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from docs import make_picture
from tests import packages
from tests.e2e.scripted_model import ScriptedModel
from tests.texts import heard

API_KEY = "sk-fake"
PACKAGES = packages.node_modules(packages.CLIENT) / "@anthropic-ai"
POLL_SECONDS = 0.05
PATIENCE = 600.0  # no bound on how long anything takes: it only ends a test that hangs
SIZE = (140, 45)  # columns, lines
PICTURE = (80, 70)
TOOLS = ("Bash", "Agent", "Write", "Read", "Edit")
STILL = json.dumps({"prefersReducedMotion": True})  # else a client that waits draws its spinner all the time

Event = dict[str, Any]


def find_binary() -> Path | None:
    """Return the client that OMO_CLAUDE names, else the one that `./tests/run --clients` has fetched."""
    named = os.environ.get("OMO_CLAUDE")
    binary = Path(named) if named else _native_binary()
    return binary if os.access(binary, os.X_OK) else None


def _native_binary() -> Path:
    # npm may refuse to run install scripts, and the package's own bin is a stub until its script ran.
    machine = "arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x64"
    libc = "" if sys.platform != "linux" or platform.libc_ver()[0] == "glibc" else "-musl"
    return PACKAGES / f"claude-code-{sys.platform}-{machine}{libc}" / "claude"


@dataclass(frozen=True)
class Run:
    """What one headless run left behind."""

    exit_code: int
    stdout: str
    stderr: str

    @cached_property
    def events(self) -> list[Event]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    @property
    def result(self) -> str:
        """The text of the final answer, or what a hook that ended the run had to say."""
        text = self._last("result").get("result")
        return text if isinstance(text, str) else ""

    @property
    def session_id(self) -> str:
        return str(self._last("result")["session_id"])

    @property
    def permission_denials(self) -> list[Event]:
        """The calls about which a person would have been asked: `tool_name`, `tool_input`."""
        denials: list[Event] = self._last("result")["permission_denials"]
        return denials

    @property
    def hook_events(self) -> list[Event]:
        """The hooks that ended, in that order: `hook_event`, `exit_code`, `outcome`, `stdout`, `stderr`."""
        return [event for event in self.events if event.get("subtype") == "hook_response"]

    def _last(self, kind: str) -> Event:
        found = [event for event in self.events if event.get("type") == kind]
        if not found:
            raise LookupError(f"no {kind} event; exit {self.exit_code}\n{self.stdout}\n{self.stderr}")
        return found[-1]


def hear(run: Run, project: Path, prompt: str) -> Run:
    """Hold what hooks said in a run to the rows of tests/texts."""
    for event in run.hook_events:
        heard.RECORDER.hook(project, event["hook_event"], prompt, event["stdout"])
    return run


class Client:
    def __init__(self, binary: Path) -> None:
        self.binary = binary
        self._started: list[Terminal | Conversation] = []

    def run_print(
        self,
        prompt: str,
        *,
        model: ScriptedModel,
        project: Path,
        home: Path,
        plugin_dir: Path | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        allowed_tools: Sequence[str] = TOOLS,
        session_id: str | None = None,
        resume: str | None = None,
        timeout: float = PATIENCE,
    ) -> Run:
        """`claude -p`, with the prompt on stdin so that a large one is no argument too long."""
        command = [*self._headless, *_options(plugin_dir, allowed_tools, session_id, resume), *args]
        return hear(_run(command, environment(home, model, env), project, timeout, stdin=prompt), project, prompt)

    def talk(
        self,
        *,
        model: ScriptedModel,
        project: Path,
        home: Path,
        plugin_dir: Path | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        allowed_tools: Sequence[str] = TOOLS,
        resume: str | None = None,
    ) -> Conversation:
        """`claude -p` that is told one prompt after the other: most of what a run takes is the client's start."""
        options = _options(plugin_dir, allowed_tools, None, resume)
        command = [*self._headless, "--input-format", "stream-json", *options, *args]
        conversation = Conversation(command, environment(home, model, env), project)
        self._started.append(conversation)
        return conversation

    @property
    def _headless(self) -> list[str]:
        return [str(self.binary), "-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"]

    def plugin(
        self,
        *args: str,
        home: Path,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Run:
        """`claude plugin <args>`; needs no model."""
        return _run([str(self.binary), "plugin", *args], environment(home, None, env), cwd or home, timeout)

    def interactive(
        self,
        *,
        model: ScriptedModel,
        project: Path,
        home: Path,
        plugin_dir: Path | None = None,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        allowed_tools: Sequence[str] = TOOLS,
        session_id: str | None = None,
        resume: str | None = None,
        ready: str = "❯",
        size: tuple[int, int] = SIZE,
        timeout: float = PATIENCE,
    ) -> Terminal:
        """A session under tmux, returned once the screen shows `ready`, the sign of the input box."""
        if shutil.which("tmux") is None:
            pytest.skip("tmux is not installed: interactive tests type into it")
        answer_first_run_questions(home, project)
        options = _options(plugin_dir, allowed_tools, session_id, resume)
        command = [str(self.binary), "--settings", STILL, *options, *args]
        terminal = Terminal(command, environment(home, model, env), project, size)
        self._started.append(terminal)
        terminal.wait_for(ready, timeout)
        return terminal

    def close(self) -> None:
        while self._started:
            self._started.pop().close()


def put_back(room: Path, aside: Path, home: Path) -> None:
    """Make a client's room what it was when it was set `aside`, without what the last test's client left running."""
    end_processes(home)
    shutil.rmtree(room)
    shutil.copytree(aside, room, symlinks=True)


def end_processes(home: Path) -> None:
    """Kill whatever has this home, until nothing does: what is alive may still start something."""
    mark = f"\0HOME={home}\0".encode()
    while found := [process for process in Path("/proc").glob("[0-9]*") if mark in b"\0" + environment_of(process)]:
        for process in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def environment_of(process: Path) -> bytes:
    """Return the variables of a process; nothing if it is over, or another user's."""
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def environment(home: Path, model: ScriptedModel | None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the developer's own setup: not the home, not the settings, not the credentials."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": search_path(),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "GIT_CONFIG_NOSYSTEM": "1",
        "ANTHROPIC_API_KEY": API_KEY,
        # Without a model nothing may answer, least of all the real service.
        "ANTHROPIC_BASE_URL": model.url if model else "http://127.0.0.1:9",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "BUN_JSC_useDFGJIT": "0",  # no client of these tests lives long enough for its second compiler to pay
        **(extra or {}),
    }


def search_path() -> str:
    """The programs a user has, without the development environment the tests run in."""
    programs = [found for name in ("git", "sh", "node") if (found := shutil.which(name))]
    directories = [str(Path(sys.base_prefix) / "bin"), *map(os.path.dirname, programs), "/usr/bin", "/bin"]
    return os.pathsep.join(dict.fromkeys(directories))


def answer_first_run_questions(home: Path, project: Path) -> None:
    """Onboarding, the key and the trust in the project, as a user would have answered them before."""
    path = home / ".claude.json"
    answers = json.loads(path.read_text("utf-8")) if path.exists() else {}
    answers |= {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
    }
    answers.setdefault("projects", {})[str(project)] = {"hasTrustDialogAccepted": True}
    path.write_text(json.dumps(answers), "utf-8")


def _options(
    plugin_dir: Path | None, allowed_tools: Iterable[str], session_id: str | None, resume: str | None
) -> list[str]:
    given = {
        "--plugin-dir": plugin_dir and str(plugin_dir),
        "--allowedTools": ",".join(allowed_tools),
        "--session-id": session_id,
        "--resume": resume,
    }
    return [word for option, value in given.items() if value for word in (option, value)]


def _run(command: list[str], env: dict[str, str], cwd: Path, timeout: float, stdin: str = "") -> Run:
    done = subprocess.run(
        command, env=env, cwd=cwd, input=stdin, capture_output=True, encoding="utf-8", timeout=timeout
    )
    return Run(done.returncode, done.stdout, done.stderr)


class Conversation:
    """A headless client that waits for the next prompt; each is a `Run` of its own."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self._process = subprocess.Popen(
            command, env=env, cwd=cwd, stdin=-1, stdout=-1, stderr=subprocess.STDOUT, encoding="utf-8"
        )
        self._project = cwd
        self.session_id = ""

    def prompt(self, text: str) -> Run:
        run = self._tell({"type": "user", "message": {"role": "user", "content": text}}, until="result")
        self.session_id = run.session_id
        return hear(run, self._project, text)

    def set_mode(self, mode: str) -> None:
        request = {"subtype": "set_permission_mode", "mode": mode}
        self._tell({"type": "control_request", "request_id": mode, "request": request}, until="control_response")

    def _tell(self, message: Event, *, until: str) -> Run:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
        printed = []
        hangs = threading.Timer(PATIENCE, self._process.kill)
        hangs.start()
        for line in self._process.stdout:
            printed.append(line)
            if line.startswith("{") and json.loads(line)["type"] == until:
                hangs.cancel()
                return Run(0, "".join(printed), "")
        hangs.cancel()
        raise LookupError(f"the client ended, exit {self._process.wait()}\n{''.join(printed)}")

    def leave(self) -> None:
        """As the user leaves: what is kept can be resumed."""
        self._process.communicate(timeout=PATIENCE)
        assert self._process.returncode == 0

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


class Terminal:
    """The client in a terminal of its own."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, size: tuple[int, int]) -> None:
        # tmux leaves its socket behind; and in a test's own directory its path may grow too long.
        self._sockets = tempfile.mkdtemp(prefix="omo-tmux-")
        columns, lines = size
        # env -i again: tmux adds variables of its own to what it starts.
        clean = ["env", "-i", *(f"{name}={value}" for name, value in env.items())]
        start = ["new-session", "-d", "-x", str(columns), "-y", str(lines), "-c", str(cwd), *clean, *command]
        # What a client that ended at once has to say stays on the screen.
        self._tmux("-f", os.devnull, *start, ";", "set-option", "-g", "remain-on-exit", "on")
        self._pid = int(self._tmux("display-message", "-p", "#{pane_pid}"))
        self.written = Path(self._sockets, "written")  # what the client writes to the terminal, byte by byte
        self.written.touch()
        self._tmux("pipe-pane", f"cat >>'{self.written}'")

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def paste(self, text: str) -> None:
        """Put the text in as a terminal pastes it: bracketed, in one piece."""
        self._tmux("load-buffer", "-", stdin=text)
        self._tmux("paste-buffer", "-p", "-d")

    def key(self, name: str) -> None:
        """Press one key by its tmux name: Enter, Escape, Up, C-c, …"""
        self._tmux("send-keys", name)

    def submit(self, text: str) -> None:
        """Type the text, wait until the input box shows it, press Enter.

        An Enter that arrives in the same read as the text is taken for a pasted line break.
        """
        self.type(text)
        tail = "".join(text.split())[-40:]
        self.wait_for(lambda screen: tail in "".join(input_box(screen).split()))
        self.key("Enter")

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def scrollback(self) -> str:
        """The screen and all that was scrolled off it."""
        return self._tmux("capture-pane", "-p", "-S", "-")

    def draw(self, name: str) -> None:
        """Keeps the conversation as docs/pictures/NAME.svg where `docs/make_picture.py --client` asks for it."""
        if os.environ.get(make_picture.DRAW):
            make_picture.draw_pane(name, self._tmux("capture-pane", "-p", "-e", "-S", "-"))

    def wait_for(self, expected: str | Callable[[str], bool], timeout: float = PATIENCE) -> str:
        """The first screen that holds the text or satisfies the predicate. A client that has ended shows no other."""
        shows = expected if callable(expected) else lambda screen: expected in screen
        deadline = time.monotonic() + timeout
        while True:
            size = self.written.stat().st_size
            both = self._tmux("display-message", "-p", "#{pane_dead}", ";", "capture-pane", "-p")
            is_dead, _, screen = both.partition("\n")
            has_ended = is_dead == "1"
            if shows(screen):
                return screen
            if has_ended or time.monotonic() > deadline:
                why = "the client ended" if has_ended else f"{timeout} s went by"
                raise TimeoutError(f"{why}, and the screen did not show {expected!r}:\n{screen}")
            # Until something is drawn; or a second goes by, for what is expected besides.
            again = time.monotonic() + 1
            while self.written.stat().st_size == size and time.monotonic() < again:
                time.sleep(POLL_SECONDS)

    def kill(self) -> None:
        """The client is gone, without a word to anybody; its last screen stays."""
        os.kill(self._pid, signal.SIGKILL)
        while self._tmux("display-message", "-p", "#{pane_dead}").strip() != "1":
            time.sleep(POLL_SECONDS)

    def close(self) -> None:
        """End the session; closing twice is allowed."""
        if not os.path.isdir(self._sockets):
            return
        # Hung up on, the client takes two seconds to leave.
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._tmux("kill-server", check=False)
        shutil.rmtree(self._sockets)

    def _tmux(self, *args: str, stdin: str | None = None, check: bool = True) -> str:
        return subprocess.run(
            ["tmux", "-u", "-L", "omo", *args],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            check=check,
            env={**os.environ, "TMUX_TMPDIR": self._sockets},
        ).stdout


def input_box(screen: str) -> str:
    """What stands in the input box: the lines between the last two rules of the screen."""
    lines = screen.splitlines()
    rules = [number for number, line in enumerate(lines) if line.startswith("───")]
    return "\n".join(lines[rules[-2] + 1 : rules[-1]]) if len(rules) > 1 else ""
