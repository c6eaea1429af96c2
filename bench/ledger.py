"""State that has grown: a session and a plan whose ledgers are long, and a runtime file of many sessions.

python3 bench/ledger.py [--rows 100000] [--sessions 60000] [--rounds 7]        exits 1 when a bound is missed

A host waits ten seconds for a hook: that is what the bounds of the runtime file are for. A person waits two for a look,
and three for `omo ulw done` beside its gates.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
SESSION = "bench"
PIN = "/omo:pin tests -- make test"
NOW = 1_771_780_801.0
PARSE = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'):\n    orjson.loads(line)"
PARSE_WHOLE = "import sys, orjson\norjson.loads(open(sys.argv[1], 'rb').read())"
BRIEF = "Constraints.\n@goal: First\nDo the first thing.\n@goal: Second\nDo the second thing.\n"
NOTE = {"kind": "steering_accepted", "mutation": "annotate_ledger", "evidence": "e" * 160, "rationale": "r" * 120}
FEW = 100
REASON = "r" * 200
LOOK, DONE, HOOK = 2.0, 3.0, 2.0  # seconds
MAKEFILE = "test:\n\tgrep right calc.py\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    home = Path(os.environ.get("OMO_ENV_HOME") or Path.home() / ".cache" / "omo")
    ensure = ["sh", str(ROOT / "hooks" / "environment.sh"), "ensure", str(home), str(ROOT / "requirements.txt")]
    subprocess.run(ensure, check=True, stdout=subprocess.DEVNULL)
    python, site = (home / "environment").read_text(encoding="utf-8").splitlines()[:2]
    sys.path[:0] = [str(ROOT / "src"), site]
    with tempfile.TemporaryDirectory(prefix="omo bench ") as directory:
        missed = report(measure(Path(directory), home, python, given))
        return missed | report_seconds(measure_seconds(Path(directory), home, python, given))


class Bench:
    """A project with a plan and so many notes in its ledger."""

    def __init__(self, root: Path, home: Path, python: str, rows: int) -> None:
        from omo.state import paths

        root.mkdir()
        own = root.with_name(f"{root.name} home")
        own.mkdir()
        self.root, self.python, self.site = root, python, site_of(home)
        self.state = str(root / ".sisyphus" / "cc-omo")
        self.runtime = paths.runtime_file(self.state)
        self.environ = {
            "PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}",
            "HOME": str(own),
            "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "CLAUDE_PROJECT_DIR": str(root),
            "OMO_ENV_HOME": str(home),
            "OMO_SESSION_ID": SESSION,
            "OMO_MAX_STOP_BLOCKS": "1000000",
            "OMO_MAX_TOTAL_BLOCKS": "1000000",
            "OMO_COOLDOWN_SECONDS": "0.000001",
        }
        self.process(["git", "init", "-q"])
        self.begin()
        self.grow(rows)

    def begin(self) -> None:
        source = str(ROOT / "src")
        make = f"import sys; sys.path.append({source!r}); from omo.state.ownership import make_state_dir as make"
        self.process([self.python, "-I", "-c", f"{make}; make(sys.argv[1])", self.state])  # as a hook does
        self.process(["omo", "ultragoal", "create-goals", "--brief", BRIEF])
        self.directory = str(next(Path(self.state, "ultragoal").glob("g*")))
        self.ledger = os.path.join(self.directory, "ledger.jsonl")
        self.process(["omo", "ultragoal", "complete-goals"])

    def as_before(self) -> None:
        """What is measured here ends nothing."""

    def grow(self, rows: int) -> None:
        from omo.state.journal import Journal

        events = [dict(NOTE) for _ in range(rows)]
        Journal(self.directory, self.state).change(lambda _: (None, events), actor="agent", now=NOW, wait=10)

    def add_sessions(self, count: int) -> None:
        """Copies of the session's row, of runs that ended just now: none is old enough to be forgotten."""
        from omo.state import runtime, store

        found = runtime.read(self.state)
        row = found["sessions"][SESSION]
        ended = {**row, "ulw": {**row["ulw"], "enabled": False}, "work": {}}
        found["sessions"].update({f"session-{number}": ended for number in range(count)})
        store.replace(self.runtime, runtime.render(found))

    def parse(self, program: str, path: str) -> None:
        self.process([self.python, "-I", "-c", f"import sys; sys.path.append({self.site!r})\n{program}", path])

    def process(self, argv: list[str], stdin: bytes = b"") -> None:
        quiet = subprocess.DEVNULL
        subprocess.run(
            argv, cwd=self.root, env=self.environ, input=stdin, stdout=quiet, stderr=quiet, check=True, timeout=120
        )

    def append(self) -> None:
        from omo.state import ledger

        ledger.append(self.ledger, [dict(NOTE)], actor="agent", now=NOW)

    def stop(self) -> None:
        self.hook("Stop", stop_hook_active=True)

    def hook(self, name: str, **fields: object) -> None:
        event = {"session_id": SESSION, "cwd": str(self.root), "hook_event_name": name, **fields}
        command = HOOKS[name][0]["hooks"][0]["command"]
        self.process(["sh", "-c", command], json.dumps(event).encode() + b"\n")

    def omo(self, *argv: str) -> None:
        self.process(["omo", *argv])


class SessionBench(Bench):
    """A project in which a session was sent back so many times, and its work is right by now."""

    def __init__(self, root: Path, home: Path, python: str, rows: int) -> None:
        super().__init__(root, home, python, rows)
        self.kept = root.parent / f"{root.name}, kept"
        shutil.copytree(root, self.kept, symlinks=True)

    def begin(self) -> None:
        (self.root / "calc.py").write_text("print('broken')\n")
        (self.root / "Makefile").write_text(MAKEFILE)
        self.process(["git", "add", "-A"])
        self.process(["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "-qm", "base"])
        self.hook("UserPromptSubmit", prompt="ulw make it right")
        (self.root / "calc.py").write_text("print('right')\n")

    def grow(self, rows: int) -> None:
        from omo.state import paths, runtime

        def decide(row: Any) -> runtime.Change:
            # What a Stop writes: each row says what the session's row became.
            events: list[Any] = [
                {"kind": "blocked", "rule": "block", "reason": REASON, "after": row} for _ in range(rows)
            ]
            return runtime.Change(None, row, events)

        runtime.change_session(self.state, SESSION, decide, actor="hook", now=time.time(), wait=10)
        self.ledger = paths.events_file(self.state, SESSION)

    def as_before(self) -> None:
        """What a command has ended is open again."""
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root, symlinks=True)


def measure_seconds(
    directory: Path, home: Path, python: str, given: argparse.Namespace
) -> list[tuple[str, float, float, float]]:
    """The names, seconds with few rows and with many, and the bound of the latter."""
    sessions = [SessionBench(directory / f"{rows} stops", home, python, rows) for rows in (FEW, given.rows)]
    plans = [Bench(directory / f"{rows} notes", home, python, rows) for rows in (FEW, given.rows)]
    long = f"{given.rows} rows ({os.path.getsize(sessions[1].ledger) / 1e6:.0f} MB)"
    long_plan = f"plan of {given.rows} rows ({os.path.getsize(plans[1].ledger) / 1e6:.0f} MB)"
    jobs: list[tuple[str, float, Sequence[Bench], Callable[[Bench], None]]] = [
        (f"omo status, {long}", LOOK, sessions, lambda bench: bench.omo("status")),
        (f"omo next, {long}", LOOK, sessions, lambda bench: bench.omo("next")),
        (f"omo report, {long}", DONE, sessions, lambda bench: bench.omo("report")),
        (f"omo ulw done, {long}", DONE, sessions, lambda bench: bench.omo("ulw", "done")),
        (f"Stop, {long}", HOOK, sessions, Bench.stop),
        (f"/omo:pin, {long}", HOOK, sessions, lambda bench: bench.hook("UserPromptSubmit", prompt=PIN)),
        (f"SessionStart, {long}", HOOK, sessions, lambda bench: bench.hook("SessionStart", source="resume")),
        (f"omo status, {long_plan}", LOOK, plans, lambda bench: bench.omo("status")),
        (f"omo next, {long_plan}", LOOK, plans, lambda bench: bench.omo("next")),
    ]
    found = []
    for name, bound, benches, work in jobs:
        few, many = (undisturbed(tuple(timed(bench, work) for _ in range(given.rounds))) for bench in benches)
        found.append((name, few, many, bound))
    return found


def timed(bench: Bench, work: Callable[[Bench], None]) -> float:
    """Seconds of processor time, which other work on the machine hardly changes."""
    bench.as_before()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work(bench)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(
    directory: Path, home: Path, python: str, given: argparse.Namespace
) -> list[tuple[str, float, float, float]]:
    rows, sessions = given.rows, given.sessions
    short, long = (Bench(directory / name, home, python, count) for name, count in (("few", FEW), ("many", rows)))
    crowded = Bench(directory / "crowded", home, python, FEW)
    crowded.add_sessions(sessions)
    omo = shutil.which("omo", path=short.environ["PATH"]) or "omo"
    size = os.path.getsize(long.ledger) / 1e6
    pairs: list[tuple[str, float, Callable[[], None], Callable[[], None]]] = [
        (
            f"omo ultragoal status, {rows} rows ({size:.0f} MB), against orjson",
            3.0,
            lambda: long.parse(PARSE, long.ledger),
            lambda: long.process([omo, "ultragoal", "status", "--json"]),
        ),
        (f"one append, {rows} rows against {FEW}", 2.0, short.append, long.append),
        (f"Stop, {rows} rows against {FEW}", 1.2, short.stop, long.stop),
        (
            f"Stop, {sessions} sessions, against orjson",
            12.0,
            lambda: crowded.parse(PARSE_WHOLE, crowded.runtime),
            crowded.stop,
        ),
        (
            f"omo status, {sessions} sessions, against orjson",
            16.0,
            lambda: crowded.parse(PARSE_WHOLE, crowded.runtime),
            lambda: crowded.process([omo, "status"]),
        ),
    ]
    found = []
    for name, bound, bare, work in pairs:
        times = [(clock(bare), clock(work)) for _ in range(given.rounds)]
        base, took = (undisturbed(column) for column in zip(*times, strict=True))
        found.append((name, took, took / base, bound))
    return found


def site_of(home: Path) -> str:
    return (home / "environment").read_text(encoding="utf-8").splitlines()[1]


def clock(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def undisturbed(times: tuple[float, ...]) -> float:
    """The mean of the fastest third: other work on the machine only ever adds."""
    return statistics.fmean(sorted(times)[: max(1, len(times) // 3)])


def report(rows: list[tuple[str, float, float, float]]) -> int:
    missed = 0
    for name, took, ratio, bound in rows:
        missed += ratio > bound
        print(f"{name:62}{took * 1000:9.1f} ms{ratio:7.2f} × (bound {bound:g}){'  MISSED' if ratio > bound else ''}")
    return 1 if missed else 0


def report_seconds(rows: list[tuple[str, float, float, float]]) -> int:
    missed = 0
    print(f"\n{'seconds of processor time':62}{f'{FEW} rows':>10}{'all':>10}")
    for name, few, many, bound in rows:
        missed += many > bound
        print(f"{name:62}{few:8.2f} s{many:8.2f} s (bound {bound:g} s){'  MISSED' if many > bound else ''}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
