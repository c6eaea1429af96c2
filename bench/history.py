"""What `omo proof` says of changes that others have made: each commit of public histories, beside its parent.

    python3 bench/history.py [REPO …] [--histories DIR] [--sdists DIR] [--gate COMMAND] [--commits N] [--since REV]
                            [--path PATH] [--code] [--prepare COMMAND] [--log]

REPO is a clone, a bundle or an address; `--histories` takes each *.bundle in DIR. `--sdists` takes source packages in
DIR: the versions of one package become commits of a repository, in their order. They are had by
`pip download --no-deps --no-binary :all: NAME==VERSION`; not all of them ship their tests.

Each is cloned into a scratch directory and never touched itself. The command for the tests is found as `omo proof`
finds it, or is COMMAND. `--path` takes only commits that change something below it, `--code` only those that change
code. `--prepare` is run once in each scratch clone, by sh with the name of the project in $PROJECT, for what its tests
need (`npm install`, `pip install -e .`): what it leaves stays for all commits.

A row for each commit: its hash, the word, the commit's subject, and the sentence; `--log` adds the facts, the files of
each kind and the runs. At the end the words are counted, by project and by what was changed, and a verdict is timed
beside one run of its command. Nothing here is right or wrong by itself: read the sentences beside the commits.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from omo.proof import kinds  # noqa: E402
from omo.proof.change_verdict import CANNOT_TELL, NOT_PROVEN, NOTHING, PROVEN  # noqa: E402
from omo.text import clip, listed  # noqa: E402

LONGEST = 1800.0  # seconds
WORDS = (PROVEN, NOTHING, NOT_PROVEN, CANNOT_TELL)
CODE_AND_TESTS, CODE_ALONE, NO_CODE, DOCUMENTS = "code and tests", "code alone", "tests, settings, data", "documents"
KINDS = (CODE_AND_TESTS, CODE_ALONE, NO_CODE, DOCUMENTS)
# As a user types it: scratch clones have no session, and an agent's shell begins none.
OMO = f"""
import os, sys, time
sys.path.insert(0, {str(ROOT / "src")!r})
from omo.cli.main import main
sys.exit(main(sys.argv[1:], os.environ, os.getcwd(), time.time(), has_terminal=True))
"""
SDIST = re.compile(r"(?P<name>.+)-(?P<version>\d[^-]*)\.tar\.gz")


@dataclass(frozen=True)
class Commit:
    hash: str
    parent: str
    subject: str
    files: Sequence[str]
    present: Sequence[str]

    @cached_property
    def by_kind(self) -> dict[str, list[str]]:
        which = kinds.Kinds(present=self.present)
        by_kind: dict[str, list[str]] = {}
        for path in self.files:
            kind = "test" if which.is_test(path) else which.of(path)
            by_kind.setdefault(kind, []).append(path)
        return by_kind

    @property
    def kind(self) -> str:
        if kinds.WORK in self.by_kind:
            return CODE_AND_TESTS if "test" in self.by_kind else CODE_ALONE
        return NO_CODE if {"test", kinds.REST} & set(self.by_kind) else DOCUMENTS


@dataclass(frozen=True)
class Row:
    """What `omo proof` said of a commit. `seconds` is how long that took, `once` how long one run of the tests takes
    on the same files; 0.0 where none was made."""

    project: str
    commit: Commit
    data: dict[str, Any]
    seconds: float
    once: float

    @property
    def word(self) -> str:
        return str(self.data["verdict"])


class Scratch:
    """A clone that may be changed at will. What was prepared in it is hidden from git, so that it outlives commits
    which do not ignore it yet: a version file that only a later .gitignore knew was cleaned away, and nothing ran."""

    def __init__(self, directory: Path, name: str, repository: str) -> None:
        self.name = name
        self.root = directory / name
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", repository, str(self.root)], check=True)
        self.checkout("HEAD")

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)
        return ran.stdout.decode("utf-8", "replace")

    def prepare(self, command: str) -> None:
        environ = {**os.environ, "PROJECT": self.name}
        subprocess.run(["sh", "-c", command], cwd=self.root, check=True, stdout=subprocess.DEVNULL, env=environ)
        left = self.git("ls-files", "--others", "--directory", "-z").split("\0")
        with (self.root / ".git" / "info" / "exclude").open("a", encoding="utf-8") as file:
            for path in filter(None, left):
                file.write(f"/{path}\n")

    def checkout(self, commit: str) -> None:
        self.git("checkout", "--quiet", "--force", "--detach", commit)
        self.git("clean", "-d", "--force", "--quiet")

    def commits(self, number: int, since: str, path: str, *, code: bool) -> list[Commit]:
        """Return the newest first, without merges and without the first of all, which has no base."""
        names = f"{since}..HEAD" if since else "HEAD"
        listing = self.git("log", "--no-merges", "--min-parents=1", "--format=%H%x00%P%x00%s", names, "--", path)
        found: list[Commit] = []
        for line in listing.splitlines():
            if len(found) == number:
                break
            commit = self._commit(*line.split("\0"))
            if not code or kinds.WORK in commit.by_kind:
                found.append(commit)
        return found

    def _commit(self, commit: str, parent: str, subject: str) -> Commit:
        changed = self.git("diff", "--no-renames", "--name-only", "-z", parent, commit)
        present = self.git("ls-tree", "-r", "--name-only", "-z", commit)
        return Commit(commit, parent, subject, changed.split("\0")[:-1], present.split("\0")[:-1])

    def judge(self, commit: Commit, gate: Sequence[str]) -> Row:
        self.checkout(commit.hash)
        shutil.rmtree(self.root / ".sisyphus", ignore_errors=True)  # no commit knows what was seen of another
        began = time.monotonic()
        asked = ["proof", "--verdict", "--json", "--since", commit.parent, "--minutes", "60"]
        command = [sys.executable, "-c", OMO, *asked, *(["--", *gate] if gate else [])]
        ran = subprocess.run(
            command, cwd=self.root, stdout=subprocess.PIPE, encoding="utf-8", timeout=LONGEST, check=False
        )
        seconds = time.monotonic() - began
        data = json.loads(ran.stdout)
        return Row(self.name, commit, data, seconds, self._run_once(commit, data))

    def _run_once(self, commit: Commit, data: dict[str, Any]) -> float:
        """Time the same commands on the files of the commit, checked out again so that most builds begin again. Go
        keeps what it built by its contents."""
        if not any(each["runs"] for each in data["commands"]):
            return 0.0
        self.checkout(commit.parent)
        self.checkout(commit.hash)
        environ = {**os.environ, "GOFLAGS": "-count=1"}
        began = time.monotonic()
        for each in data["commands"]:
            words, directory = shlex.split(each["command"]), self.root / each["directory"]
            subprocess.run(words, cwd=directory, env=environ, capture_output=True, timeout=LONGEST, check=False)
        return time.monotonic() - began


def repository_of(directory: Path, name: str, sdists: Iterable[Path]) -> str:
    """Make a repository of the versions of a package, one commit for each."""
    root = directory / "sdists" / name
    root.mkdir(parents=True)
    git = ["git", "-c", "user.name=history", "-c", "user.email=history@example.org", "-C", str(root)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for sdist in sdists:
        for path in root.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        with tempfile.TemporaryDirectory(dir=directory) as unpacked, tarfile.open(sdist) as archive:
            archive.extractall(unpacked, filter="data")
            for top in Path(unpacked).iterdir():
                for path in top.iterdir():
                    shutil.move(path, root / path.name)
        subprocess.run([*git, "add", "--all", "--force"], check=True)
        subprocess.run([*git, "commit", "--quiet", "-m", sdist.name.removesuffix(".tar.gz")], check=True)
    return str(root)


def by_package(directory: Path) -> dict[str, list[Path]]:
    """Return the source packages in a directory by their names, the oldest version first."""
    packages: dict[str, list[tuple[list[int], Path]]] = {}
    for path in directory.glob("*.tar.gz"):
        if match := SDIST.fullmatch(path.name):
            version = [int(number) for number in re.findall(r"\d+", match["version"])]
            packages.setdefault(match["name"], []).append((version, path))
    return {name: [path for _, path in sorted(versions)] for name, versions in sorted(packages.items())}


def repositories(options: argparse.Namespace, directory: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each project, and what can be cloned."""
    for named in options.repo:
        place = os.path.abspath(named) if os.path.exists(named) else named
        yield Path(place).name.removesuffix(".bundle").removesuffix(".git"), place
    for bundle in sorted(Path(options.histories).resolve().glob("*.bundle")) if options.histories else ():
        yield bundle.stem, str(bundle)
    for name, sdists in by_package(Path(options.sdists)).items() if options.sdists else ():
        yield name, repository_of(directory, name, sdists)


def row_of(row: Row) -> str:
    fact = row.data["headline"].partition(". ")[2]
    return f"{row.commit.hash[:8]}  {row.word:17} {clip(row.commit.subject, 70)}\n    {fact}"


def logged(row: Row) -> list[str]:
    lines = [f"{kind}: {listed(paths, 12)}" for kind, paths in sorted(row.commit.by_kind.items())]
    lines += [clip(fact, 400) for fact in row.data["facts"]]
    for command in row.data["commands"]:
        lines.append(f"{command['command']}: {command['verdict']}")
        lines += [f"{name}: {clip(run['said'], 200)}" for name, run in command["runs"].items()]
    if row.data["fix"]:
        lines.append(f"fix: {clip(row.data['fix'], 200)}")
    return [*lines, f"{row.seconds:.1f} s, one run {row.once:.1f} s"]


def print_table(rows: Sequence[Row]) -> None:
    print(f"\n{len(rows)} commits")
    print_counts("project", Counter((row.project, row.word) for row in rows))
    print_counts("what was changed", Counter((row.commit.kind, row.word) for row in rows), KINDS)
    print()
    for project in dict.fromkeys(row.project for row in rows):
        timed = [row for row in rows if row.project == project and row.once]
        if timed:
            ratio = statistics.median(row.seconds / row.once for row in timed)
            seconds = statistics.median(row.seconds for row in timed)
            print(f"{project}: a verdict took {seconds:.0f} s, {ratio:.1f} x one run of the tests (medians)")


def print_counts(heading: str, counts: Counter[tuple[str, str]], order: Sequence[str] = ()) -> None:
    names = order or sorted({name for name, _ in counts})
    print(f"\n{heading:24}" + "".join(f"{word:>18}" for word in WORDS))
    for name in names:
        if any(counts[name, word] for word in WORDS):
            print(f"{name:24}" + "".join(f"{counts[name, word]:18}" for word in WORDS))


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("repo", metavar="REPO", nargs="*", help="a clone, a bundle or an address")
    add("--histories", default="", metavar="DIR", help="each *.bundle in it")
    add("--sdists", default="", metavar="DIR", help="the versions of source packages in it, as commits")
    add("--gate", default="", metavar="COMMAND", help="instead of the project's own test command")
    add("--commits", type=int, default=20, metavar="N", help="how many at most of each project (20)")
    add("--since", default="", metavar="REV", help="only commits after this one")
    add("--path", default=".", metavar="PATH", help="only commits that change something there")
    add("--code", action="store_true", help="only commits that change code")
    add("--prepare", default="", metavar="COMMAND", help="run once in each scratch clone, by sh")
    add("--log", action="store_true", help="show the facts, the kinds of the files and the runs, too")
    return parser


def main(arguments: Any = None) -> int:
    options = parser().parse_args(arguments)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="omo-history-") as made:
        directory = Path(made).resolve()
        os.environ["XDG_STATE_HOME"] = str(directory / "state")  # the user's own names their live sessions
        for name, repository in repositories(options, directory):
            scratch = Scratch(directory, name, repository)
            commits = scratch.commits(options.commits, options.since, options.path, code=options.code)
            if options.prepare:
                scratch.prepare(options.prepare)
            for commit in commits:
                row = scratch.judge(commit, shlex.split(options.gate))
                rows.append(row)
                print(row_of(row), flush=True)
                if options.log:
                    for line in logged(row):
                        print(f"      {line}", flush=True)
    print_table(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
