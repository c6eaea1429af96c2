"""What it costs that contents decide, as ratios against the same command when it takes git's word for it.

    python3 bench/contents.py [--files 20000] [--rounds 5]        exits 1 when a bound is missed

`few` is a run in which nothing but its own file was written since it began; in `all` every file may have been written
since, as after a checkout or in a fresh clone, so that each is read.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.touched import fill  # noqa: E402
from omo.proof import differences  # noqa: E402
from tests.project import Project  # noqa: E402

MOST = 1.3
FEW, ALL, BELIEVED = "few", "all", "git believed"
TEST = "import unittest\n\nimport value\n\n\nclass Value(unittest.TestCase):\n    def test_new(self):\n"
read_contents = differences.with_other_content


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="omo bench ", ignore_cleanup_errors=True) as directory:
        root = Path(directory, "project")
        root.mkdir()
        project = Project(root, environ={"XDG_STATE_HOME": str(Path(directory, "state"))})
        fill(project, given.files)
        project.write("test_value.py", f"{TEST}        self.assertGreater(value.VALUE, 1)\n")
        project.write("Makefile", "test:\n\tpython3 -m unittest -q test_value\n")
        project.commit()
        return report(measure(project, given.rounds))


def measure(project: Project, rounds: int) -> dict[str, float]:
    """The fastest of each variant, taken in turns: other work on the machine only ever adds."""
    times: dict[str, list[float]] = {BELIEVED: [], FEW: [], ALL: []}
    for _ in range(rounds):
        for variant, taken in times.items():
            taken.append(done(project, variant))
    return {variant: min(taken) for variant, taken in times.items()}


def done(project: Project, variant: str) -> float:
    """How long `omo ulw done` takes for a run that fixes a value."""
    project.prompt("ulw make the value new")
    project.write("value.py", "VALUE = 2\n")
    moments = {BELIEVED: math.inf, FEW: time.time() + differences.MARGIN, ALL: 0.0}
    moment = moments[variant]

    def read_since(
        root: str | os.PathLike[str],
        commit: str,
        names: Iterable[str],
        as_they_are: Sequence[str] = (),
        since: float = 0.0,
    ) -> list[str]:
        return [] if moment == math.inf else read_contents(root, commit, names, as_they_are, moment)

    began = time.monotonic()
    try:
        differences.with_other_content = read_since
        project.check("ulw", "done")
        return time.monotonic() - began
    finally:
        differences.with_other_content = read_contents
        project.stop()
        project.write("value.py", "VALUE = 1\n")


def report(fastest: dict[str, float]) -> int:
    believed = fastest[BELIEVED]
    print(f"omo ulw done, {BELIEVED}: {believed:.2f} s")
    missed = False
    for variant in (FEW, ALL):
        ratio = fastest[variant] / believed
        is_missed = variant == FEW and ratio > MOST
        missed = missed or is_missed
        bound = f", bound {MOST:g}{', over' if is_missed else ''}" if variant == FEW else ""
        print(f"{variant:4} {ratio:5.2f} × that{bound}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
