"""What commands cost: as ratios against a bare interpreter of the same run, and in opens, processes and imports.

    python3 bench/cli.py [--rounds N] [--runs N]        exits 1 when a bound is missed

Commands run as they are typed, through bin/omo, in a project with an ultrawork run, a plan session and goals. Opens and
processes are counted inside the interpreter, with as many earlier runs beside the one at work as `--runs` says.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SESSION = "3f0e5c1a-0000-4000-8000-000000000001"
# Each command with how many times a bare interpreter it may take.
BOUNDS = {
    ("--version",): 5.0,
    ("--help",): 5.0,
    ("status",): 8.0,
    ("ulw", "status"): 8.0,
    ("explain", "stop"): 8.0,
}
# What only a command that reads a document of a person or model, or draws a page, may load.
HEAVY = ("pydantic", "yaml", "jinja2", "PIL", "markdown_it")
READING = (
    ("status",),
    ("ulw", "status"),
    ("explain", "stop"),
    ("gate", "list"),
    ("ledger", "show"),
    ("ralph", "status"),
    ("ultragoal", "status"),
    ("verify", "status"),
)
MOST_GIT = 10
# Counts, in the interpreter that runs a command, what it opens below the state directory and which programs it starts.
COUNTING = """
import collections, json, os, sys, time
opened, started = collections.Counter(), []
def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and "cc-omo" in arguments[0]:
        name = arguments[0]
        if not name.endswith((".lock", ".tmp")) and not arguments[2] & (os.O_WRONLY | os.O_CREAT | os.O_DIRECTORY):
            opened[name] += 1
    elif event in ("subprocess.Popen", "os.posix_spawn"):
        started.append(os.path.basename(os.fsdecode(arguments[0])))
sys.addaudithook(note)
from omo.cli.main import main
code = main(sys.argv[1:], os.environ, os.getcwd(), time.time(), has_terminal=False)
sys.stdout.flush()
loaded = [name for name in sys.modules if "." not in name]
print("\\n" + json.dumps({"code": code, "opened": opened, "started": started, "loaded": loaded}))
"""


class Project:
    """A project of one parser and its test, with a session of an agent's."""

    def __init__(self, directory: Path, python: str, home: str) -> None:
        self.directory = directory
        self.python = python
        self.environ = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "A",
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org",
            "OMO_ENV_HOME": home,
            "CLAUDECODE": "1",
            "CLAUDE_CODE_SESSION_ID": SESSION,
        }
        directory.mkdir(parents=True)
        self.git("init", "-q")
        self.write("parser.py", "def parse(text):\n    return [text]\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")

    def write(self, name: str, text: str) -> None:
        (self.directory / name).write_text(text, encoding="utf-8")

    def git(self, *argv: str) -> None:
        subprocess.run(["git", *argv], cwd=self.directory, env=self.environ, check=True, capture_output=True)

    def omo(self, *argv: str, session: str = SESSION) -> subprocess.CompletedProcess[str]:
        environ = {**self.environ, "CLAUDE_CODE_SESSION_ID": session}
        command = [str(ROOT / "bin" / "omo"), *argv]
        return subprocess.run(command, cwd=self.directory, env=environ, capture_output=True, text=True, check=False)

    def counted(self, *argv: str) -> dict[str, object]:
        """The same in an interpreter that counts."""
        environ = {**self.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [self.python, "-X", "utf8", "-c", COUNTING, *argv]
        done = subprocess.run(command, cwd=self.directory, env=environ, capture_output=True, text=True, check=True)
        counts: dict[str, object] = json.loads(done.stdout.rstrip("\n").rpartition("\n")[2])
        return counts


def speed(project: Project, rounds: int) -> list[tuple[str, float, float]]:
    """Each command's median against that of a bare interpreter, taken in turns."""
    bare: list[float] = []
    times: dict[tuple[str, ...], list[float]] = {argv: [] for argv in BOUNDS}
    for _ in range(rounds):
        bare.append(_seconds([project.python, "-I", "-S", "-c", "pass"], project))
        for argv in BOUNDS:
            times[argv].append(_seconds([str(ROOT / "bin" / "omo"), *argv], project))
    base = statistics.median(bare)
    print(f"a bare interpreter: {base * 1000:.0f} ms, {rounds} rounds")
    return [(" ".join(argv), statistics.median(times[argv]) / base, bound) for argv, bound in BOUNDS.items()]


def _seconds(argv: list[str], project: Project) -> float:
    began = time.perf_counter()
    subprocess.run(argv, cwd=project.directory, env=project.environ, capture_output=True, check=False)
    return time.perf_counter() - began


CRITERIA = {
    "criteria": [
        {"id": "C1", "description": "done.txt is there", "checks": [{"type": "path", "path": "done.txt"}]},
        {"id": "C2", "description": "more.txt is there", "checks": [{"type": "path", "path": "more.txt"}]},
    ]
}


def earlier_runs(project: Project, count: int) -> None:
    """Runs of other sessions that were begun and given up."""
    project.write("criteria.json", json.dumps(CRITERIA))
    for number in range(count):
        session = f"earlier-{number}"
        project.omo("ralph", "start", "--criteria", "criteria.json", session=session)
        project.omo("ralph", "abandon", "only begun to be counted", session=session)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=20, help="earlier runs beside the one that is counted")
    arguments = parser.parse_args()
    home = os.environ.get("OMO_ENV_HOME") or str(ROOT / ".venv")
    python = (Path(home) / "environment").read_text(encoding="utf-8").splitlines()[0]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="omo-bench-") as place:
        project = Project(Path(place) / "project", python, home)
        project.omo("ulw", "start")
        project.omo("gate", "add", "tests", "--", "true")
        print(f"\n{'command':28}{'× bare':>8}{'bound':>8}")
        for name, ratio, bound in speed(project, arguments.rounds):
            missed += ratio > bound
            print(f"{'omo ' + name:28}{ratio:>8.1f}{bound:>8.1f}{'' if ratio <= bound else '  missed'}")
        missed += _loaded(project)
        missed += _opens(project, arguments.runs)
    return 1 if missed else 0


def _loaded(project: Project) -> int:
    print(f"\n{'command':28}loads of what is heavy")
    missed = 0
    for argv in READING:
        loaded = project.counted(*argv)["loaded"]
        assert isinstance(loaded, list)
        heavy = [name for name in HEAVY if name in loaded]
        missed += bool(heavy)
        print(f"{'omo ' + ' '.join(argv):28}{', '.join(heavy) or 'none'}")
    return missed


def _opens(project: Project, runs: int) -> int:
    """Reading and writing commands, first alone, then with earlier runs: the counts stay the same."""
    project.write("criteria.json", json.dumps(CRITERIA))
    project.omo("ralph", "start", "--criteria", "criteria.json")
    commands = [("ralph", "status"), ("ralph", "exec"), ("status",), ("ledger", "verify")]
    alone = {argv: project.counted(*argv) for argv in commands}
    earlier_runs(project, runs)
    print(f"\n{'command':28}{'opens (files)':>16}{'git':>6}{f'  with {runs} runs':>18}{'git':>6}")
    missed = 0
    for argv in commands:
        before, after = alone[argv], project.counted(*argv)
        row = f"{'omo ' + ' '.join(argv):28}"
        for counts in (before, after):
            opened, started = counts["opened"], counts["started"]
            assert isinstance(opened, dict)
            assert isinstance(started, list)
            row += f"{sum(opened.values()):>10} ({len(opened)}){started.count('git'):>8}"
            missed += started.count("git") > MOST_GIT
        print(row)
    return missed


if __name__ == "__main__":
    sys.exit(main())
