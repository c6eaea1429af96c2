"""What looks cost where every file was touched and none changed, as ratios against `git status` of the same moment.

    python3 bench/touched.py [--files 200000] [--rounds 3]        exits 1 when a bound is missed

A look may take as long as git does twice. It may not write the index, so each has all the files read again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.project import Project, git  # noqa: E402

LOOKS = (("next",), ("status",), ("report", "--md"))
MOST = 2.0
BELOW_EACH = 500


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="omo bench ", ignore_cleanup_errors=True) as directory:
        root = Path(directory, "project")
        root.mkdir()
        project = Project(root)
        fill(project, given.files)
        project.prompt("ulw make the value new")
        project.write("value.py", "VALUE = 2\n")
        touch(root)
        return report(measure(project, given.rounds))


def fill(project: Project, files: int) -> None:
    project.write("value.py", "VALUE = 1\n")
    project.write("test_value.py", "from value import VALUE\n\n\ndef test_value():\n    assert VALUE == 2\n")
    for number in range(files):
        project.write(f"src/d{number // BELOW_EACH}/f{number}.py", f"x = {number}\n" * 8)
    git(project.root, "init", "-q")
    git(project.root, "config", "gc.auto", "0")
    project.commit()


def touch(root: Path) -> None:
    for top, _, names in os.walk(root / "src"):
        for name in names:
            os.utime(os.path.join(top, name))


def measure(project: Project, rounds: int) -> list[tuple[str, float]]:
    """Each look's median against that of git, taken in turns."""
    of_git: list[float] = []
    times: dict[tuple[str, ...], list[float]] = {argv: [] for argv in LOOKS}
    for _ in range(rounds):
        began = time.monotonic()
        status = ["git", "status", "--porcelain"]
        environ = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        subprocess.run(status, cwd=project.root, env=environ, check=True, capture_output=True)
        of_git.append(time.monotonic() - began)
        for argv in LOOKS:
            began = time.monotonic()
            project.check(*argv)
            times[argv].append(time.monotonic() - began)
    base = statistics.median(of_git)
    print(f"git status: {base:.2f} s, {rounds} rounds")
    return [(" ".join(argv), statistics.median(taken) / base) for argv, taken in times.items()]


def report(rows: list[tuple[str, float]]) -> int:
    for name, ratio in rows:
        print(f"{name:12} {ratio:5.2f} × git status, bound {MOST:g}{'' if ratio <= MOST else ', over'}")
    return 0 if all(ratio <= MOST for _, ratio in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
