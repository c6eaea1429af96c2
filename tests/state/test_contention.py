"""Many writers and dying writers: no update is lost, no file is ever half there, no hook waits beyond its bound."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest

from omo.errors import Busy
from omo.state import ledger, ownership, paths, runtime, store
from omo.state.rows import read_row

SRC = str(Path(runtime.__file__).parents[2])

COUNT_UP = """
import sys
sys.path.insert(0, sys.argv[1])
from omo.state import runtime
from omo.state.rows import read_row
state, session, times = sys.argv[2], sys.argv[3], int(sys.argv[4])

def count(row):
    n = (row or {}).get("n", 0) + 1
    return runtime.Change(n, read_row({**(row or {}), "n": n, "ulw": {"enabled": True}}), [{"kind": "counted", "n": n}])

for _ in range(times):
    n = runtime.change_session(state, session, count, actor="hook", now=1.0, wait=120)
    print(n, flush=True)
"""


def start(state: str, session: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", "-S", "-c", COUNT_UP, SRC, state, session, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def counted_once(row: object) -> runtime.Change:
    return runtime.Change(0, read_row({"n": 1}), [])


def test_twenty_processes_times_a_hundred_updates_lose_nothing(state: str) -> None:
    writers = [start(state, "same" if number % 2 else f"own-{number}", 100) for number in range(20)]
    for writer in writers:
        _, errors = writer.communicate(timeout=300)
        assert (writer.returncode, errors) == (0, "")
    sessions = runtime.read(state)["sessions"]
    assert {name: row["n"] for name, row in sessions.items()} == {
        "same": 1000,
        **{f"own-{number}": 100 for number in range(0, 20, 2)},
    }
    assert runtime.ledger_problems(state, "same") == []
    assert [row["n"] for row in ledger.rows(paths.events_file(state, "same"))] == list(range(1, 1001))
    assert not list(Path(state).rglob("*.tmp"))


def test_a_writer_killed_at_random_points_leaves_whole_files_and_loses_no_committed_row(state: str) -> None:
    """100 writers are killed, each somewhere in its work. What a writer said it had written must be there."""
    chance = random.Random(20260222)
    committed = 0
    for _ in range(20):
        writers = [start(state, "a", 1_000_000) for _ in range(5)]
        seen = [int(writer.stdout.readline()) for writer in writers[: chance.randint(1, 2)] if writer.stdout]
        for writer in chance.sample(writers, len(writers)):
            writer.send_signal(signal.SIGKILL)
        rests = [writer.communicate()[0] for writer in writers]
        said = [int(line) for rest in rests for line in rest.splitlines()]
        committed = max([committed, *seen, *said])
        json.loads(Path(paths.runtime_file(state)).read_text(encoding="utf-8"))
        row = runtime.change_session(state, "a", lambda row: runtime.Change(row), actor="hook", now=1.0, wait=5)
        assert row["n"] >= committed
    store.make_dir(paths.session_dir(state, "a"), state)
    runtime.change_session(state, "a", lambda row: runtime.Change(0, row, [{"kind": "end"}]), actor="x", now=1, wait=5)
    assert ledger.read_checked(paths.events_file(state, "a")).problems == []
    numbers = [row["n"] for row in ledger.rows(paths.events_file(state, "a")) if "n" in row]
    assert numbers == sorted(numbers)
    assert not list(Path(state).glob("*.tmp"))


@pytest.mark.parametrize("held", ["session", "runtime", "both"])
def test_a_hook_gives_up_within_its_bound_however_many_locks_are_held(
    state: str, held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.change_session(state, "a", counted_once, actor="x", now=1.0, wait=5)
    locks = {
        "session": [paths.session_lock(state, "a")],
        "runtime": [paths.runtime_file(state) + ".lock"],
        "both": [paths.session_lock(state, "a"), paths.runtime_file(state) + ".lock"],
    }[held]
    others = [filelock.FileLock(path) for path in locks]
    for other in others:
        other.acquire()
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock.monotonic)
    monkeypatch.setattr(time, "sleep", clock.sleep)
    try:
        with pytest.raises(Busy):
            runtime.change_session(
                state,
                "a",
                counted_once,
                actor="x",
                now=1.0,
                wait=store.HOOK_WAIT,
            )
    finally:
        for other in others:
            other.release()
    assert clock.now <= store.HOOK_WAIT + store.POLL


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_lock_of_a_dead_process_holds_nobody(state: str) -> None:
    ownership.make_state_dir(state)
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, paths.runtime_file(state) + ".lock"], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    runtime.change_session(state, "a", counted_once, actor="x", now=1.0, wait=1)
    assert runtime.session(state, "a") is not None


_HOLD = "import sys, filelock; l = filelock.FileLock(sys.argv[1]); l.acquire(); print('held', flush=True); input()"


# A hook takes the lock by a system call of its own, on a bare interpreter; a command and other tools with the package.
LOCK_OF = {
    "hook": """
import os, sys
sys.path.insert(0, sys.argv[1])
from omo.state.store import Lock, deadline
def lock(seconds):
    return Lock(sys.argv[2], deadline(seconds))
""",
    "command": """
import os, sys
sys.path.insert(0, sys.argv[1])
from omo.state import packages
from omo.state.store import Lock, deadline
entered = packages.used(only_looks=False)
entered.__enter__()
def lock(seconds):
    return Lock(sys.argv[2], deadline(seconds))
""",
    "filelock": """
import os, sys
from filelock import FileLock
def lock(seconds):
    return FileLock(sys.argv[2], timeout=seconds, poll_interval=0.005)
""",
}
TRY_THEN_HOLD = """
try:
    with lock(0):
        print("free", flush=True)
except TimeoutError:
    print("busy", flush=True)
with lock(120):
    print("held", flush=True)
    input()
"""
NEVER_TWO_INSIDE = """
print("ready", flush=True)
input()
for _ in range(50):
    with lock(120):
        os.mkdir(sys.argv[2] + ".inside")
        sum(range(50_000))  # long enough for another one to come in, if it could
        os.rmdir(sys.argv[2] + ".inside")
"""


def contend(kind: str, program: str, path: Path) -> subprocess.Popen[str]:
    options = ["-I", "-S"] if kind == "hook" else []
    command = [sys.executable, *options, "-c", LOCK_OF[kind] + program, SRC, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize(
    ("first", "second"), [("hook", "command"), ("command", "hook"), ("hook", "filelock"), ("filelock", "command")]
)
def test_a_hook_a_command_and_any_filelock_keep_each_other_out(tmp_path: Path, first: str, second: str) -> None:
    holder = contend(first, TRY_THEN_HOLD, tmp_path / "lock")
    assert (line_of(holder), line_of(holder)) == ("free", "held")
    waiter = contend(second, TRY_THEN_HOLD, tmp_path / "lock")
    assert line_of(waiter) == "busy"
    assert holder.communicate("\n", timeout=300) == ("", "")
    assert line_of(waiter) == "held"
    assert waiter.communicate("\n", timeout=300) == ("", "")
    assert (holder.returncode, waiter.returncode) == (0, 0)


def test_hooks_and_commands_at_once_let_one_in_at_a_time(tmp_path: Path) -> None:
    kinds = ["hook", "command", "hook", "filelock"]
    processes = [contend(kind, NEVER_TWO_INSIDE, tmp_path / "lock") for kind in kinds]
    assert [line_of(process) for process in processes] == ["ready"] * 4
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate(timeout=300)[1] for process in processes] == [""] * 4
    assert [process.returncode for process in processes] == [0] * 4


def test_the_lock_files_are_never_unlinked(state: str) -> None:
    for number in range(3):
        runtime.change_session(state, "a", counted_once, actor="x", now=number, wait=1)
        inode = Path(paths.runtime_file(state) + ".lock").stat().st_ino
    assert Path(paths.runtime_file(state) + ".lock").stat().st_ino == inode
