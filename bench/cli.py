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
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.ultragoal.gates import valid_gate  # noqa: E402
from tests.ultraplan.plans import carry_out, plan_text  # noqa: E402

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
    # What is opened by an opener of ours is heard twice, the second time without a mode.
    if event == "open" and isinstance(arguments[0], str) and arguments[1] in ("r", "rb"):
        if "cc-omo" in arguments[0] and os.path.isfile(arguments[0]):
            opened[arguments[0]] += 1
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
        source = str(ROOT / "src")
        make = f"import sys; sys.path.append({source!r}); from omo.state.ownership import make_state_dir as make"
        command = [python, "-I", "-c", f"{make}; make(sys.argv[1])", str(directory / ".sisyphus" / "cc-omo")]
        subprocess.run(command, env=self.environ, check=True)  # as a hook does before an agent's command

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
    home = os.environ.get("OMO_ENV_HOME") or os.path.expanduser("~/.cache/omo")
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
        missed += _opens(Path(place), python, home, arguments.runs)
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


def _opens(place: Path, python: str, home: str, runs: int) -> int:
    """The same commands in a project without a past and in one with earlier runs: the counts stay the same."""
    columns = []
    for earlier in (0, runs):
        project = Project(place / f"with {earlier} runs", python, home)
        earlier_runs(project, earlier)
        columns.append(walk(project))
    print(f"\n{'command':28}{'opens (files)':>15}{'git':>5}{f'with {runs} runs':>18}{'git':>5}")
    missed = 0
    for name in columns[0]:
        row = f"omo {name:24}"
        for counts, width in ((columns[0][name], 15), (columns[1][name], 18)):
            opened, started = counts["opened"], counts["started"]
            assert isinstance(opened, dict)
            assert isinstance(started, list)
            row += f"{f'{sum(opened.values())} ({len(opened)})':>{width}}{started.count('git'):>5}"
            missed += started.count("git") > MOST_GIT
        print(row)
    return missed


def walk(project: Project) -> dict[str, dict[str, object]]:
    """A plan session from its start to its end, then a goal, then a round of ralph, in one session."""
    counts = {}
    project.write("plan.md", plan_text(3, version="1.6"))  # which needs no critic, once it is committed
    project.git("add", "-A")
    project.git("commit", "-qm", "Plan")
    counts["plan start"] = project.counted("plan", "start", "plan.md")
    for number in (1, 2, 3):
        carry_out(project.directory, number)
    counts["plan status"] = project.counted("plan", "status")
    counts["plan finish"] = project.counted("plan", "finish")
    project.omo("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead the file.\n@goal: Check\nCheck each row.")
    project.omo("ultragoal", "complete-goals")
    gate = json.dumps(valid_gate(project.directory, "G001"))
    checkpoint = ("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "complete")
    evidence = ("--evidence", "it was seen to work", "--quality-gate-json", gate)
    counts["ultragoal checkpoint"] = project.counted(*checkpoint, *evidence)
    project.write("criteria.json", json.dumps(CRITERIA))
    project.omo("ralph", "start", "--criteria", "criteria.json")
    counts["ralph status"] = project.counted("ralph", "status")
    counts["next"] = project.counted("next")
    counts["status"] = project.counted("status")
    for name, counted in counts.items():
        assert counted["code"] == 0, name
    return counts


if __name__ == "__main__":
    sys.exit(main())
