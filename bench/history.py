"""The experiment on work that others have done: each of the last commits of a clone, with its parent as the base.

    python3 bench/history.py REPO [--gate COMMAND] [--commits N] [--since REV] [--path PATH] [--prepare COMMAND]
                            [--log]

REPO is cloned into a scratch directory and never touched itself. The gate is the project's own test gate as the parent
names it, or COMMAND. `--path` takes only commits that change something below it. `--prepare` is run once in the scratch
clone before the first commit, for packages (`npm install`, `pip install -e .`): what it leaves stays for all commits. A
row for each commit: its hash, the verdict, the commit's subject, and the sentence; `--log` adds the files of each kind
and what each run printed. At the end the verdicts are counted. Nothing here is right or wrong by itself: the sentences
are for reading beside the commits.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from omo.proof import arrangements, base, experiment, own_commands  # noqa: E402
from omo.proof.gate_runs import CommandRun, Plain, Subject  # noqa: E402
from omo.proof.run import child_environment  # noqa: E402
from omo.proof.verdicts import Experiment  # noqa: E402
from omo.text import clip, listed  # noqa: E402

LONGEST_RUN = 300.0  # seconds
NO_GATE = "no gate"


@dataclass(frozen=True)
class Commit:
    hash: str
    parent: str
    subject: str


@dataclass(frozen=True)
class Tried:
    """What the experiment said of a commit. `log` has the kinds of its files and what the runs printed."""

    verdict: str
    reason: str
    log: list[str]


class Scratch:
    """A clone that may be changed at will. What was prepared in it is hidden from git, so that it outlives commits
    which do not ignore it yet: a version file that only a later .gitignore knew was cleaned away, and nothing ran."""

    def __init__(self, directory: Path, repository: str) -> None:
        self.root = directory / "clone"
        self.state = directory / "state"
        self.state.mkdir()
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", repository, str(self.root)], check=True)
        self.checkout("HEAD")

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, encoding="utf-8")
        return ran.stdout

    def prepare(self, command: str) -> None:
        subprocess.run(["sh", "-c", command], cwd=self.root, check=True, stdout=subprocess.DEVNULL)
        left = self.git("ls-files", "--others", "--directory", "-z").split("\0")
        with (self.root / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            for path in filter(None, left):
                file.write(f"/{path}\n")

    def checkout(self, commit: str) -> None:
        self.git("checkout", "--quiet", "--force", "--detach", commit)
        self.git("clean", "-d", "--force", "--quiet")

    def commits(self, number: int, since: str, path: str) -> list[Commit]:
        """The newest first, without merges and without the first of all, which has no base."""
        names = f"{since}..HEAD" if since else "HEAD"
        form = "--format=%H%x00%P%x00%s"
        listing = self.git("log", "--no-merges", "--min-parents=1", f"-{number}", form, names, "--", path)
        return [Commit(*line.split("\0")) for line in listing.splitlines()]


def tried(scratch: Scratch, commit: Commit, gate: str) -> Tried:
    scratch.checkout(commit.parent)
    root, state = str(scratch.root), str(scratch.state)
    began = base.take(root, os.environ, state)
    command = command_of(root, commit.parent, gate)
    scratch.checkout(commit.hash)
    if command is None:
        return Tried(NO_GATE, "no file of its parent names a test gate", [])
    subject = Subject(
        root=root,
        state=state,
        began=began,
        look=base.look(root, began),
        environ=child_environment(os.environ),
        now=time.time(),
        minutes=60.0,
    )
    made = experiment.prove(subject, command, (), lambda: experiment.run_now(subject, command))
    return Tried(made.verdict, made.reason, logged(subject, command, made))


def command_of(root: str, parent: str, gate: str) -> Plain | None:
    if gate:
        return Plain(shlex.split(gate), timeout=LONGEST_RUN)
    check = own_commands.test_gate(root, parent, ".")
    return Plain(check.argv, check.cwd, timeout=LONGEST_RUN) if check else None


def logged(subject: Subject, command: Plain, made: Experiment) -> list[str]:
    lines = [f"gate: {shlex.join(command.argv)}"]
    by_kind: dict[str, list[str]] = {}
    which = arrangements.kinds_of(subject, command)
    for path in subject.look.changed or {}:
        by_kind.setdefault(which.of(path), []).append(path)
    for kind, paths in sorted(by_kind.items()):
        lines.append(f"{kind}: {listed(paths, 12)}")
    for name, run in made.runs.items():
        lines.append(f"{name}: {about(run)}")
    return [*lines, *made.notes]


def about(run: CommandRun) -> str:
    result = f"{run.result} (exit {run.exit}, {run.seconds:.1f} s)"
    if run.broke_before_tests:
        result += ", broke before its tests"
    if run.missing:
        result += f", missing {listed(run.missing, 4)}"
    return f"{result}: {run.summary or run.why} | {clip(run.quoted, 160)}"


def print_table(verdicts: Mapping[str, int]) -> None:
    print(f"\n{sum(verdicts.values())} commits")
    for verdict, number in sorted(verdicts.items(), key=lambda item: -item[1]):
        print(f"{number:5}  {verdict}")


def main(arguments: Any = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", metavar="REPO", help="a clone, a bundle or an address")
    parser.add_argument("--gate", default="", metavar="COMMAND", help="instead of the project's own test gate")
    parser.add_argument("--commits", type=int, default=20, metavar="N", help="how many at most (20)")
    parser.add_argument("--since", default="", metavar="REV", help="only commits after this one")
    parser.add_argument("--path", default=".", metavar="PATH", help="only commits that change something there")
    parser.add_argument("--prepare", default="", metavar="COMMAND", help="run once in the scratch clone, by sh")
    parser.add_argument("--log", action="store_true", help="show the kinds of the files and the runs, too")
    options = parser.parse_args(arguments)
    repository = options.repo
    if os.path.exists(repository):
        repository = os.path.abspath(repository)
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="omo-history-") as directory:
        os.environ["XDG_STATE_HOME"] = directory  # the user's own names their live sessions
        scratch = Scratch(Path(directory).resolve(), repository)
        commits = scratch.commits(options.commits, options.since, options.path)
        if options.prepare:
            scratch.prepare(options.prepare)
        for commit in commits:
            result = tried(scratch, commit, options.gate)
            verdicts[result.verdict] += 1
            print(f"{commit.hash[:8]}  {result.verdict:24} {clip(commit.subject, 70)}\n    {result.reason}", flush=True)
            if options.log:
                for line in result.log:
                    print(f"      {line}", flush=True)
    print_table(verdicts)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
