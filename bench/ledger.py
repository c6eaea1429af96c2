"""State that has grown: a plan whose ledger is long, and a runtime file of many sessions.

python3 bench/ledger.py [--rows 100000] [--sessions 60000] [--rounds 7]        exits 1 when a bound is missed

A host waits ten seconds for a hook: that is what the bounds of the runtime file are for.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOOKS = json.loads((ROOT / "hooks" / "hooks.json").read_text(encoding="utf-8"))["hooks"]
STOP = HOOKS["Stop"][0]["hooks"][0]["command"]
SESSION = "bench"
NOW = 1_771_780_801.0
PARSE = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'):\n    orjson.loads(line)"
PARSE_WHOLE = "import sys, orjson\norjson.loads(open(sys.argv[1], 'rb').read())"
BRIEF = "Constraints.\n@goal: First\nDo the first thing.\n@goal: Second\nDo the second thing.\n"
NOTE = {"kind": "steering_accepted", "mutation": "annotate_ledger", "evidence": "e" * 160, "rationale": "r" * 120}
FEW = 100


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
        return report(measure(Path(directory), home, python, given))


class Bench:
    """A project with a plan and so many notes in its ledger."""

    def __init__(self, root: Path, home: Path, python: str, rows: int) -> None:
        from omo.state import paths

        root.mkdir()
        self.root, self.python, self.site = root, python, site_of(home)
        self.state = str(root / ".sisyphus" / "cc-omo")
        self.runtime = paths.runtime_file(self.state)
        self.environ = {
            "PATH": f"{ROOT / 'bin'}:{os.environ['PATH']}",
            "HOME": str(root),
            "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "CLAUDE_PROJECT_DIR": str(root),
            "OMO_ENV_HOME": str(home),
            "OMO_SESSION_ID": SESSION,
            "OMO_MAX_STOP_BLOCKS": "1000000",
            "OMO_MAX_TOTAL_BLOCKS": "1000000",
            "OMO_COOLDOWN_SECONDS": "0.000001",
        }
        self.process(["git", "init", "-q"])
        self.process(["omo", "ultragoal", "create-goals", "--brief", BRIEF])
        self.directory = str(next(Path(self.state, "ultragoal").glob("g*")))
        self.ledger = os.path.join(self.directory, "ledger.jsonl")
        self.grow(rows)
        self.process(["omo", "ultragoal", "complete-goals"])

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
        subprocess.run(
            argv, cwd=self.root, env=self.environ, input=stdin, stdout=subprocess.DEVNULL, check=True, timeout=120
        )

    def append(self) -> None:
        from omo.state import ledger

        ledger.append(self.ledger, [dict(NOTE)], actor="agent", now=NOW)

    def stop(self) -> None:
        event = {"session_id": SESSION, "cwd": str(self.root), "hook_event_name": "Stop", "stop_hook_active": True}
        self.process(["sh", "-c", STOP], json.dumps(event).encode() + b"\n")


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


if __name__ == "__main__":
    sys.exit(main())
