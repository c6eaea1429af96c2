"""The smallest set of endings by which every condition of `proof` and `stop` that any ending decides is still decided.

    python3 bench/short_endings.py [--notes FILE] [--check] [--workers NUMBER]

It plays each ending that tests/test_truth.py plays, on a copy of this checkout whose conditions note whether they were
true or false, and writes the set to tests/short_endings.txt: `./tests/run` plays these, and `./tests/run --clients` the
others. With --check it writes nothing and exits 1 if those of the file no longer decide what all of them do. Endings
that need no program come first, then those that need one, then those of packages from npm. What was played stands in
FILE, and is not played again as long as the source is the same.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.conditions import Condition, copy_checkout, watch  # noqa: E402
from tests import packages  # noqa: E402
from tests.stories import play as stories  # noqa: E402

LIST = ROOT / "tests" / "short_endings.txt"
FOLDERS = ("proof", "stop")
IN_THE_ENVIRONMENT = {"pytest", "ruff", "mypy"}  # of the tests
FROM_NPM = {"jest", "vitest", "tsc"}
Seen = frozenset[tuple[int, bool]]  # the number of a condition, and what it was


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", metavar="FILE", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--workers", metavar="NUMBER", type=int, default=2)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--record", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--digest", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker is not None:
        return play_part(arguments.worker, arguments.workers, arguments.record, arguments.digest, arguments.notes)
    with tempfile.TemporaryDirectory(prefix="omo-short-") as directory:
        conditions, seen, seconds = play_all(
            Path(directory), arguments.notes or Path(directory, "notes"), arguments.workers
        )
    left_out = [which.title for which in stories.every_ending() if which.title not in seen and is_played(which)]
    if left_out:
        print(f"{len(left_out)} endings did not end as they should, so nothing is picked: run tests/test_truth.py")
        return 1
    required = decided(frozenset().union(*seen.values()))
    if arguments.check:
        return check(conditions, seen, required)
    levels = {which.title: needs_level(which) for which in stories.every_ending() if which.title in seen}
    chosen = smallest(seen, required, levels, seconds)
    LIST.write_text("".join(f"{name}\n" for name in seen if name in chosen), encoding="utf-8")
    print(f"{len(chosen)} of {len(seen)} endings decide {len(required) // 2} of {len(conditions)} conditions")
    print(f"they took {sum(seconds[name] for name in chosen):.0f} s of {sum(seconds.values()):.0f} s")
    return 0


def check(conditions: list[Condition], seen: dict[str, Seen], required: Seen) -> int:
    names = LIST.read_text(encoding="utf-8").splitlines()
    missing = [name for name in names if name not in seen]
    left = required - frozenset().union(*[seen[name] for name in names if name in seen])
    for name in missing:
        print(f"not an ending that was played: {name}")
    for number, value in sorted(left):
        each = conditions[number]
        print(f"{each.path}:{each.line}: never {str(value).lower()} in those of the list: {each.text}")
    return 1 if missing or left else 0


def decided(seen: Seen) -> Seen:
    """Return those of which both was seen."""
    return frozenset((number, value) for number, value in seen if (number, not value) in seen)


def smallest(seen: dict[str, Seen], required: Seen, levels: dict[str, int], seconds: dict[str, float]) -> list[str]:
    """Take each ending that alone shows something, then again and again the one that shows most of what is left.

    Those of a higher level are taken only for what no lower one shows, and first: they show other things besides. At
    last go those that became needless, the slowest first.
    """
    chosen: list[str] = []
    left = set(required)
    for level in sorted(set(levels.values()), reverse=True):
        those = {name: shown & required for name, shown in seen.items() if levels[name] == level}
        lower = [seen[name] for name in seen if levels[name] < level]
        wanted = (left & frozenset().union(*those.values())) - frozenset().union(*lower)
        times_shown = Counter(each for shown in those.values() for each in shown)
        picked = [name for name in those if any(times_shown[each] == 1 for each in those[name] & wanted)]
        wanted -= frozenset().union(*[seen[name] for name in picked])
        while wanted:
            best = max(those, key=lambda name: (len(those[name] & wanted), -seconds[name]))
            picked.append(best)
            wanted -= those[best]
        chosen += picked
        left -= frozenset().union(*[seen[name] for name in picked])
    for name in sorted(chosen, key=lambda name: seconds[name], reverse=True):
        if required <= frozenset().union(*[seen[other] for other in chosen if other != name]):
            chosen.remove(name)
    return chosen


def needs_level(which: stories.Ending) -> int:
    """Return 0 for an ending that is played everywhere, 1 if it needs a program, 2 if it needs packages from npm."""
    programs = set(which.needs) - IN_THE_ENVIRONMENT
    if programs & FROM_NPM:
        return 2
    return 1 if programs else 0


def play_all(directory: Path, notes: Path, workers: int) -> tuple[list[Condition], dict[str, Seen], dict[str, float]]:
    """Play every ending in one of the workers; return what each saw and how long it took, in their order."""
    environ = {
        "PATH": os.environ["PATH"],
        "TMPDIR": tempfile.gettempdir(),
        "LANG": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        packages.HOME: str(packages.home()),
    }
    running, digest = [], digest_of_source()
    for number in range(workers):
        copy, record, home = (directory / f"{name}{number}" for name in ("omo", "record", "home"))
        copy_checkout(copy)
        home.mkdir()
        conditions = watch(copy, record, FOLDERS)
        given = {"worker": number, "workers": workers, "record": record, "digest": digest, "notes": notes.resolve()}
        options = [f"--{name}={value}" for name, value in given.items()]
        command = [sys.executable, "-m", "bench.short_endings", *options]
        running.append(subprocess.Popen(command, cwd=copy, env={**environ, "HOME": str(home)}))
    for process in running:
        process.wait()
    rows = noted(notes, digest)
    seen, seconds = {}, {}
    for which in stories.every_ending():
        if which.title in rows:
            row = rows[which.title]
            bits = f"{int(row['seen'], 16):0{2 * len(conditions)}b}"
            seen[which.title] = frozenset((at // 2, at % 2 == 1) for at, bit in enumerate(bits) if bit == "1")
            seconds[which.title] = row["seconds"]
    return conditions, seen, seconds


def play_part(worker: int, workers: int, record: Path, digest: str, notes: Path) -> int:
    """Play each ending in a process of its own, forked from one that has loaded everything and played none."""
    rows = noted(notes, digest)
    stories.warm_up()
    for number, which in enumerate(stories.every_ending()):
        is_of_this_worker = number % workers == worker
        if not is_of_this_worker or which.title in rows or not which.has_test:
            continue
        if not is_played(which):
            print(f"not played, {', '.join(which.missing)} is not here: {which.title}", flush=True)
            continue
        with record.open("r+b") as file:
            file.write(bytes(record.stat().st_size))
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            play(which)
        if os.waitpid(child, 0)[1] != 0:
            print(f"left out, it did not end as it should: {which.title}", flush=True)
            continue
        bits = "".join(str(byte) for byte in record.read_bytes())
        seconds = round(time.monotonic() - begun, 2)
        row = {"digest": digest, "ending": which.title, "seconds": seconds, "seen": f"{int(bits, 2):x}"}
        with notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return 0


def is_played(which: stories.Ending) -> bool:
    """Return whether a test plays this ending and every program that it needs is here."""
    return which.has_test and not which.missing


def play(which: stories.Ending) -> NoReturn:
    """Play it with a beginning of its own: one made for another ending would be noted as that one's alone."""
    begin = which.begin

    def whole(run: stories.Play) -> None:
        if begin is not None:
            begin(run)
        which.play(run)

    code = 1
    try:
        with tempfile.TemporaryDirectory(prefix="omo truth ") as directory:
            told = stories.played(dataclasses.replace(which, begin=None, play=whole), Path(directory))
        code = 0 if which.is_right(told.word) else 1
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)  # what was made for all endings is removed by the process that made it


def noted(notes: Path, digest: str) -> dict[str, Any]:
    """Return the row of each ending that was played on this source."""
    if not notes.exists():
        return {}
    rows = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    return {row["ending"]: row for row in rows if row["digest"] == digest}


def digest_of_source() -> str:
    """Of everything that decides what an ending does."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("src/omo/**/*.py"), *ROOT.glob("tests/stories/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(main())
