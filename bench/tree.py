"""Is a second fingerprint, after one edit, within 2.5 times `git status`? Builds the tree, measures, exits 1 if not."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from omo.proof.tree import fingerprint

BOUND = 2.5
PER_FOLDER = 50


def build(root: Path, files: int) -> None:
    for number in range(files):
        path = file_path(root, number)
        if number % PER_FOLDER == 0:
            path.parent.mkdir(parents=True)
        path.write_text(f"value = {number}\n" * 40)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "-m", "all")


def file_path(root: Path, number: int) -> Path:
    folder = number // PER_FOLDER
    return root / f"package{folder // 20:02}" / f"module{folder % 20:02}" / f"file{number:05}.py"


def git(root: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=root, env=environment, stdout=subprocess.PIPE, check=True)


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def interleaved(root: Path, cache: Path, files: int, rounds: int) -> dict[str, list[float]]:
    """Each round edits one file anew before each of the measurements, so that all see the same work."""
    edited = file_path(root, files // 2)
    measured: dict[str, Callable[[], object]] = {
        "git status --porcelain": lambda: git(root, "status", "--porcelain"),
        "again, one file edited": lambda: fingerprint(root, cache=cache),
        "again, one file new": lambda: fingerprint(root, cache=cache),
    }
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds):
        for name, work in measured.items():
            edited.write_text(f"round = {number}, {name!r}\n")
            new = root / "new.py"
            if name.endswith("new"):
                new.write_text("new\n")
            times[name].append(seconds(work))
            new.unlink(missing_ok=True)
    return times


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=25)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder, "tree"), Path(folder, "cache")
        build(root, options.files)
        once = {
            "fingerprint, no cache": [seconds(lambda: fingerprint(root))],
            "first, writing the cache": [seconds(lambda: fingerprint(root, cache=cache))],
        }
        times = {**interleaved(root, cache, options.files, options.rounds), **once}
        same = fingerprint(root, cache=cache) == fingerprint(root)
    base = statistics.median(times["git status --porcelain"])
    print(f"{options.files} files, {options.rounds} rounds, {os.cpu_count()} cores, median of")
    for name, values in times.items():
        middle = statistics.median(values)
        print(f"{name:26} {middle * 1000:8.0f} ms {min(values) * 1000:8.0f} ms least {middle / base:6.2f} x")
    ratio = statistics.median(times["again, one file edited"]) / base
    print(f"bound {BOUND} x: {'holds' if ratio <= BOUND else 'MISSED'}; cache {'agrees' if same else 'DISAGREES'}")
    return 0 if ratio <= BOUND and same else 1


if __name__ == "__main__":
    sys.exit(main())
