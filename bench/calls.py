"""What commands and Stops cost in calls of our own functions, which do not depend on how fast the machine is.

    "$python" bench/calls.py      exits 1 when a bound is missed; Python 3.12 or newer

Each story is played in a child process, in a project with one pytest gate and one commit. Only its last step is
counted: how many functions of src/omo are called, in how many modules, and how often one module calls another.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import CodeType

    from tests.project import Project

ROOT = Path(__file__).resolve().parents[1]
SRC = f"{ROOT / 'src' / 'omo'}{os.sep}"
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

WRONG, RIGHT = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
TEST = "import calc\n\ndef test_add():\n    assert calc.add(2, 2) == 4\n"
GATE = ("python3", "-m", "pytest")
IS_A_FUNCTION = 0x1  # CO_OPTIMIZED: the bodies of modules and classes have not got it
MOST_SHOWN = 8


class Counted(NamedTuple):
    calls: int
    modules: int
    changes: int  # of module, from one call to the next
    most: list[tuple[str, int]]  # called functions


def armed(project: Project) -> None:
    """ulw, and a gate that fails until the work is done."""
    project.write("calc.py", WRONG)
    project.write("test_calc.py", TEST)
    project.write("pytest.ini", "[pytest]\n")
    project.commit("base")
    project.prompt("ulw mend add")
    project.check("gate", "add", "tests", "--", *GATE)


def done(project: Project) -> Callable[[], object]:
    """`omo ulw done`, with the runs of the experiment."""
    armed(project)
    project.write("calc.py", RIGHT)
    return lambda: project.check("ulw", "done")


def sent_back(project: Project) -> Callable[[], object]:
    """A Stop while a gate is open."""
    armed(project)
    return project.stop


def let_go(project: Project) -> Callable[[], object]:
    """A Stop after the end, which looks at the files once more."""
    done(project)()
    return project.stop


# Each story with the calls that it may make.
STORIES: dict[str, tuple[Callable[[Project], Callable[[], object]], int]] = {
    "omo ulw done": (done, 3500),
    "a Stop that sends back": (sent_back, 450),
    "a Stop that lets go": (let_go, 650),
}


def count(story: str) -> Counted:
    """Play a story in a child process, and return what its last step called."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
        environ = {"PATH": path, "HOME": directory, "XDG_STATE_HOME": os.path.join(directory, "state")}
        command = [sys.executable, str(Path(__file__).resolve()), story, os.path.join(directory, "project")]
        printed = subprocess.run(command, env=environ, check=True, capture_output=True, text=True).stdout
    calls, modules, changes, most = json.loads(printed.splitlines()[-1])
    return Counted(calls, modules, changes, most)


def play(story: str, directory: str) -> Counted:
    """Play it here, and count the last step."""
    from tests.project import Project, begin_repository

    os.mkdir(directory)
    begin_repository(Path(directory))
    last_step = STORIES[story][0](Project(Path(directory)))
    called: Counter[tuple[str, str]] = Counter()
    changes = 0

    def started(code: CodeType, _: int) -> None:
        nonlocal changes
        if code.co_filename.startswith(SRC) and code.co_flags & IS_A_FUNCTION:
            called[code.co_filename.removeprefix(SRC), code.co_name] += 1
            caller = sys._getframe(2)
            changes += caller.f_code.co_filename != code.co_filename

    watch = sys.monitoring
    watch.use_tool_id(watch.PROFILER_ID, "calls")
    watch.register_callback(watch.PROFILER_ID, watch.events.PY_START, started)
    watch.set_events(watch.PROFILER_ID, watch.events.PY_START)
    last_step()
    watch.set_events(watch.PROFILER_ID, 0)
    modules = {module for module, _ in called}
    most = [(f"{module} {name}", number) for (module, name), number in called.most_common(MOST_SHOWN)]
    return Counted(called.total(), len(modules), changes, most)


def main() -> int:
    print(f"{'':26}{'calls':>8}{'at most':>9}{'modules':>9}{'changes of module':>19}")
    is_missed = False
    for story, (_, bound) in STORIES.items():
        counted = count(story)
        is_missed = is_missed or counted.calls > bound
        mark = "  missed" if counted.calls > bound else ""
        print(f"{story:26}{counted.calls:>8}{bound:>9}{counted.modules:>9}{counted.changes:>19}{mark}")
        print("    " + ", ".join(f"{name} {number}" for name, number in counted.most))
    return 1 if is_missed else 0


if __name__ == "__main__":
    if len(sys.argv) > 2:
        print(json.dumps(play(sys.argv[1], sys.argv[2])))
        raise SystemExit
    raise SystemExit(main())
