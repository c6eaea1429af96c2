"""What the experiment costs honest work: runs of the gate beyond the agent's own, and the time around them.

    python3 bench/experiment.py [--only WORD] [--log]      exits 1 when a story took more runs than its bound

Each story is played through the hooks and the CLI in a project whose gate writes a line into a file outside of it, so
that every run is counted, whoever made it. Extra are those that `omo ulw done` makes. Of its time the gate's own is
taken off, and the waits for the clock's next second, which are shown apart; what is left is `around`, on the wall and
as processor time, of omo and of git. More on the wall than 50 ms and 1 ms for each file and swap is marked `over`, and
is no failure: machines are noisy.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from omo.proof import run as runner  # noqa: E402
from omo.proof import swap, swap_files  # noqa: E402
from omo.work.outcome import PROVEN  # noqa: E402
from omo.workflows.ultrawork import gate_verbs, judging, verbs  # noqa: E402, F401, loaded before anything is timed
from tests.stories.play import (  # noqa: E402
    ADD_TEST,
    CALC,
    FIXED,
    TEST,
    TESTS,
    Play,
    is_here,
    make_project,
    path_of_tools,
    word_of,
)

RUNS = "../runs"  # beside the project
MOST_AROUND = 0.050  # seconds
MOST_A_FILE = 0.001  # seconds for each file and swap
MANY = 200

RUST = """pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    #[test]
    fn adds_nothing() {
        assert_eq!(super::add(2, 0), 2);
    }
}
"""
RUST_TEST = "    #[test]\n    fn adds() {\n        assert_eq!(super::add(2, 3), 5);\n    }\n}\n"
CARGO = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'


@dataclass
class Spent:
    """What went on inside of `omo ulw done`."""

    total: float = 0.0
    gate: float = 0.0
    waiting: float = 0.0
    processor: float = 0.0  # without the gate's
    swapping: float = 0.0  # with the waits
    swaps: int = 0
    files: int = 0  # of the largest arrangement

    @property
    def around(self) -> float:
        return self.total - self.gate - self.waiting

    @property
    def a_file(self) -> float:
        """For each file and swap."""
        return (self.swapping - self.waiting) / max(1, self.files * self.swaps)

    @property
    def is_over(self) -> bool:
        return self.around > MOST_AROUND + MOST_A_FILE * self.files * self.swaps


@dataclass
class Measured(Play):
    """A session in which `ulw done` is timed, and its runs of the gate are told from the agent's own."""

    spent: Spent = field(default_factory=Spent)
    extra: int = 0

    @property
    def runs(self) -> int:
        counted = self.project / RUNS
        return len(counted.read_text(encoding="ascii").splitlines()) if counted.exists() else 0

    def begin(self, test: str = TEST, prompt: str = "ulw mend add in calc") -> None:
        """The project's own gate, in a commit; then the user asks."""
        self.write("Makefile", f"test:\n\t@echo run >> {RUNS}\n\t@{test}\n")
        self.sh("git add .; git commit -qm 'a gate'")
        self.user(prompt)

    def done(self) -> None:
        before = self.runs
        with measuring(self.spent):
            began, worked = time.perf_counter(), processor_time()
            self.omo("ulw done")
            self.spent.total += time.perf_counter() - began
            self.spent.processor += processor_time() - worked
        self.extra += self.runs - before


Story = Callable[[Measured], None]


@dataclass(frozen=True)
class Honest:
    name: str
    most_extra: int
    play: Story
    needs: tuple[str, ...] = ("make",)


STORIES: list[Honest] = []


def story(name: str, most_extra: int, *needs: str) -> Callable[[Story], Story]:
    def register(play: Story) -> Story:
        STORIES.append(Honest(name, most_extra, play, ("make", *needs)))
        return play

    return register


@story("red and green seen", 0)
def _(run: Measured) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.begin()
    run.gate("make test")
    run.omo("gate run")
    run.write("calc.py", FIXED)
    run.omo("gate run")
    run.done()


@story("red seen, the green left to omo", 1)
def _(run: Measured) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.begin()
    run.gate("make test")
    run.omo("gate run")
    run.write("calc.py", FIXED)
    run.done()


@story("edited first", 2)
def _(run: Measured) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.begin()
    run.write("calc.py", FIXED)
    run.done()


@story("edited first, green seen", 2)
def _(run: Measured) -> None:
    run.append("test_calc.py", ADD_TEST)
    run.begin()
    run.gate("make test")
    run.write("calc.py", FIXED)
    run.omo("gate run")
    run.done()


@story("a test added", 3)
def _(run: Measured) -> None:
    run.begin()
    run.write("test_add.py", TESTS.replace("twice(2), 4", "add(2, 3), 5").replace("test_twice", "test_add"))
    run.write("calc.py", FIXED)
    run.done()


@story("a test added, its red and green seen", 3)
def _(run: Measured) -> None:
    run.begin()
    run.gate("make test")
    run.append("test_calc.py", ADD_TEST)
    run.omo("gate run")
    run.write("calc.py", FIXED)
    run.omo("gate run")
    run.done()


@story("a test changed", 3)
def _(run: Measured) -> None:
    run.append("test_calc.py", ADD_TEST.replace("2, 3), 5", "2, 0), 2"))
    run.begin()
    run.write("test_calc.py", TESTS + ADD_TEST)
    run.write("calc.py", FIXED)
    run.done()


@story("several files", 3)
def _(run: Measured) -> None:
    work_on_files(run, 8)


@story(f"{MANY} files", 3)
def _(run: Measured) -> None:
    work_on_files(run, MANY)


@story("tests inline in Rust", 3, "cargo")
def _(run: Measured) -> None:
    run.sh("git rm -q calc.py test_calc.py")
    run.write("Cargo.toml", CARGO)
    run.write(".gitignore", "target\n")
    run.write("src/lib.rs", RUST)
    run.begin("cargo test --offline --quiet")
    run.write("src/lib.rs", RUST.replace("a - b", "a + b").removesuffix("}\n") + RUST_TEST)
    run.done()


def work_on_files(run: Measured, number: int) -> None:
    """A package in which every module is wrong, mended, and tested by a new test."""
    for each in range(number):
        run.write(f"parts/part{each}.py", CALC)
    run.write("parts/__init__.py", "")
    run.begin(prompt="ulw mend add in every part")
    for each in range(number):
        run.write(f"parts/part{each}.py", FIXED)
    lines = [
        "import importlib",
        "import unittest",
        "",
        "",
        "class Parts(unittest.TestCase):",
        "    def test_add(self):",
    ]
    lines += [f"        for number in range({number}):"]
    lines += ['            part = importlib.import_module(f"parts.part{number}")']
    lines += ["            self.assertEqual(part.add(2, 3), 5)"]
    run.write("test_parts.py", "\n".join(lines) + "\n")
    run.done()


@contextlib.contextmanager
def measuring(spent: Spent) -> Iterator[None]:
    """Watches the doors that every run, wait and swap goes through."""

    def ran(seconds: float, worked: float, *_: object) -> None:
        spent.gate += seconds
        spent.processor -= worked

    def waited(seconds: float, worked: float) -> None:
        spent.waiting += seconds

    def prepared(seconds: float, worked: float, swapped: swap.Swap) -> None:
        spent.swapping += seconds
        paths: set[str] = set()
        for arrangement in swapped._arrangements.values():
            paths.update(arrangement)
        spent.files = max(spent.files, len(paths))

    def put(seconds: float, worked: float, *_: object) -> None:
        spent.swapping += seconds
        spent.swaps += 1

    with contextlib.ExitStack() as stack:
        stack.enter_context(watched(runner, "run", ran))
        stack.enter_context(watched(swap_files, "_sleep_to_next_second", waited))
        stack.enter_context(watched(swap.Swap, "__enter__", prepared))
        stack.enter_context(watched(swap.Swap, "put", put))
        stack.enter_context(watched(swap.Swap, "__exit__", put))  # puts back
        yield


@contextlib.contextmanager
def watched(owner: Any, name: str, note: Callable[..., None]) -> Iterator[None]:
    """`note` is told how long each call took, on the wall and of the processor, and what it was given."""
    original = getattr(owner, name)

    def call(*values: Any, **named: Any) -> Any:
        began, worked = time.perf_counter(), processor_time()
        try:
            return original(*values, **named)
        finally:
            note(time.perf_counter() - began, processor_time() - worked, *values)

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, original)


def processor_time() -> float:
    """Of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


@dataclass(frozen=True)
class Cost:
    word: str
    runs: int
    extra: int
    spent: Spent
    log: list[str]


def played(which: Honest, directory: Path) -> Cost:
    run = Measured(make_project(directory))
    with run.environment(PATH=path_of_tools()):
        which.play(run)
        said = run.stop() or run.told
    return Cost(word_of(said), run.runs, run.extra, run.spent, [*run.log, said])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="only stories with this word in their name")
    parser.add_argument("--log", action="store_true", help="show what the agent saw, too")
    arguments = parser.parse_args()
    is_right = True
    print(
        f"{'story':38} {'word':8} {'runs':>4} {'extra':>5} {'most':>4}  {'gate s':>6} {'waits s':>7} {'around ms':>9}"
        f"      {'cpu ms':>6} {'files':>5} {'swaps':>5} {'ms a file and swap':>18}"
    )
    for which in STORIES:
        if arguments.only not in which.name:
            continue
        missing = [tool for tool in which.needs if not is_here(tool)]
        if missing:
            print(f"{which.name:38} not played, {', '.join(missing)} is not here")
            continue
        with tempfile.TemporaryDirectory(prefix="omo experiment ") as directory:
            os.environ["XDG_STATE_HOME"] = directory  # the user's own names their live sessions
            cost = played(which, Path(directory))
        is_good = cost.word == PROVEN and cost.extra <= which.most_extra
        is_right = is_right and is_good
        spent = cost.spent
        print(
            f"{which.name:38} {cost.word:8} {cost.runs:4} {cost.extra:5} {which.most_extra:4}  {spent.gate:6.2f}"
            f" {spent.waiting:7.2f} {spent.around * 1000:9.0f} {'over' if spent.is_over else '':4}"
            f" {spent.processor * 1000:6.0f} {spent.files:5} {spent.swaps:5} {spent.a_file * 1000:18.2f}"
            f"{'' if is_good else '  NO'}",
            flush=True,
        )
        if arguments.log:
            print("\n".join(cost.log))
    return 0 if is_right else 1


if __name__ == "__main__":
    raise SystemExit(main())
