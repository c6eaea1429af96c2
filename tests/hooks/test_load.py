"""Twelve callers at once: a busy lock lets no held session go, and where waiting is over the user is told."""

from __future__ import annotations

import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import filelock
import pytest

from omo.state import paths, runtime, store
from tests.hooks.conftest import HOOKS, NO_COOLDOWN, OF_CODEX, OF_COPILOT, ROOT, Host
from tests.project import Answer

CALLERS = 12
ROUNDS = 3
MANY = {"OMO_MAX_STOP_BLOCKS": "1000", "OMO_MAX_TOTAL_BLOCKS": "1000"}
HOST_NEEDS = 2.0  # seconds of a hook's time limit, for its start and its decision
HELD_FOR = 5.0  # seconds, of the ten that hosts give a hook


@pytest.fixture
def busy(host: Host) -> Host:
    host.environ = {**NO_COOLDOWN, **MANY}
    for session in {session for session, _ in callers()}:
        host.prompt("ulw begin", session_id=session)
    return host


def callers() -> list[tuple[str, str]]:
    """Sessions, and what each does: Stops of one session and of several, and commands of agents between them."""
    return [("same", "stop")] * 4 + [(f"own-{number}", "stop") for number in range(4)] + [("same", "gate")] * 4


def call(host: Host, number: int, session: str, what: str) -> tuple[str, str]:
    """The session that was stopped and what its Stop answered; two empty ones for a command."""
    if what == "gate":
        argv = [str(ROOT / "bin" / "omo"), "gate", "add", f"gate-{number}", "--", "true"]
        variables = host.environment(OMO_ENV_HOME=str(host.data), CLAUDECODE="1", CLAUDE_CODE_SESSION_ID=session)
        done = subprocess.run(argv, cwd=host.root, env=variables, capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return "", ""
    answer = host.stop(session_id=session, stop_hook_active=True, prompt_id=f"turn {number}")
    return session, answer.stdout


def test_twelve_callers_at_once_hold_every_session(busy: Host) -> None:
    stopped: Counter[str] = Counter()
    with ThreadPoolExecutor(CALLERS) as pool:
        for turn in range(ROUNDS):
            numbers = range(turn * CALLERS, (turn + 1) * CALLERS)
            for session, said in pool.map(lambda number: call(busy, number, *callers()[number % CALLERS]), numbers):
                if session:
                    assert json.loads(said)["decision"] == "block"
                    stopped[session] += 1
    assert not Path(paths.log_file(busy.state)).exists()
    for session, times in stopped.items():
        kinds = [row["kind"] for row in busy.events(session)]
        assert kinds.count("blocked") == times
        assert runtime.ledger_problems(busy.state, session) == []


class Clock:
    """Time that passes only while somebody waits for a lock; another process lets go of it after some of that."""

    def __init__(self, lock: filelock.BaseFileLock, held_for: float) -> None:
        self.now = 0.0
        self.lock = lock
        self.held_for = held_for

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self.held_for:
            self.lock.release()


def stop_while_held(host: Host, monkeypatch: pytest.MonkeyPatch, path: str, held_for: float) -> Answer:
    host.in_process = True
    host.prompt("ulw begin")
    lock = filelock.FileLock(path)
    lock.acquire()
    clock = Clock(lock, held_for)
    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", clock.monotonic)
        patch.setattr(time, "sleep", clock.sleep)
        answer = host.stop()
    lock.release()
    return answer


@pytest.mark.parametrize("which", ["session", "runtime"])
def test_a_stop_waits_for_a_lock_as_long_as_it_has_time(
    host: Host, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    held = {
        "session": paths.session_lock(host.state, host.session),
        "runtime": paths.runtime_file(host.state) + ".lock",
    }
    assert stop_while_held(host, monkeypatch, held[which], HELD_FOR).blocks
    assert not Path(paths.log_file(host.state)).exists()


def test_a_stop_that_waited_in_vain_tells_the_user(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    path = paths.session_lock(host.state, host.session)
    answer = stop_while_held(host, monkeypatch, path, float("inf"))
    assert answer.says_to_user("stop-state-not-usable")
    assert path in answer.message
    assert f"stop Busy: {path}" in Path(paths.log_file(host.state)).read_text("utf-8")


@pytest.mark.parametrize("first", ["hook", "command"])
def test_whichever_of_a_hook_and_a_command_has_the_lock_the_other_waits(
    host: Host, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """A process of its own is kept inside of the session's lock, as it waits there for that of the runtime file. The
    other one gets on once it has begun to wait."""
    host.prompt("ulw begin")
    runtime_lock = filelock.FileLock(paths.runtime_file(host.state) + ".lock")
    inside: dict[str, Callable[[], object]] = {
        "hook": lambda: host.stop(),
        "command": lambda: call(host, 1, host.session, "gate"),
    }
    waited: list[float] = []
    runtime_lock.acquire()
    with ThreadPoolExecutor(1) as pool:
        process = pool.submit(inside[first])
        while not store.is_locked(paths.session_lock(host.state, host.session)):
            assert not process.done()
            time.sleep(store.POLL)

        def sleep(seconds: float) -> None:
            waited.append(seconds)
            if runtime_lock.is_locked:
                runtime_lock.release()
                process.result(timeout=60)

        with monkeypatch.context() as patch:
            patch.setattr(time, "sleep", sleep)
            if first == "hook":
                host.check("gate", "add", "second", "--", "true")
            else:
                host.in_process = True
                assert host.stop().blocks
    assert waited
    written = [kind.partition(":")[0] for kind in host.kinds()[-2:]]
    assert written == (["blocked", "gate-added"] if first == "hook" else ["gate-added", "blocked"])


@pytest.mark.parametrize("registered", [HOOKS, OF_CODEX, OF_COPILOT], ids=["claude", "codex", "copilot"])
def test_a_hook_gives_up_waiting_before_its_host_gives_it_up(registered: dict[str, list[dict[str, object]]]) -> None:
    limits = []
    for groups in registered.values():
        for group in groups:
            for handler in group.get("hooks", [group]):  # type: ignore[attr-defined]
                limits.append(handler.get("timeout", handler.get("timeoutSec")))
    assert min(limits) >= store.HOOK_WAIT + HOST_NEEDS
