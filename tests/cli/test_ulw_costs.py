"""What `omo ulw done` costs around its gates: git processes, and reads of the ledger."""

from __future__ import annotations

import pytest

from omo.work.outcome import PROVEN
from tests.cli.test_plan_costs import counted
from tests.project import Project

BROKEN, MENDED = "print('broken')\n", "print('right')\n"
GATE = "test:\n\tgrep right calc.py\n"
GIT_OF_A_LOOK = 4  # what there is, what of it differs, and what those hold, and others that were written lately
GIT_OF_THE_BASE = 3  # which files it had, what those that name commands held, and how git would check them out
GIT_OF_A_SWAP = (
    5  # whose repository it is and where HEAD is, what is new in it, before and after; an index for the gate
)
LOOKS_AT_ITS_END = 1  # by the command that loads it, whose row may be behind


@pytest.fixture
def armed(project: Project) -> Project:
    project.git("init", "-q")
    project.write("calc.py", BROKEN)
    project.write("Makefile", GATE)
    project.commit("base")
    project.prompt("ulw make it right")
    return project


def done(project: Project) -> int:
    """Return how many git processes it took."""
    with counted(project) as costs:
        ran = project.agent("ulw", "done", "--json")
    assert ran.code == 0, ran.out + ran.err
    assert ran.json["outcome"]["verdict"] == PROVEN, ran.out
    return len(costs.git)


def test_the_files_are_looked_at_once_before_the_runs_and_once_after(armed: Project) -> None:
    armed.write("calc.py", MENDED)
    assert done(armed) <= 2 * GIT_OF_A_LOOK + GIT_OF_THE_BASE + GIT_OF_A_SWAP


def test_where_nothing_is_left_to_run_they_are_looked_at_once(armed: Project) -> None:
    armed.agent("gate", "add", "tests", "--", "make", "test")
    assert armed.agent("gate", "run").code == 3
    armed.write("calc.py", MENDED)
    assert armed.agent("gate", "run").code == 0
    assert done(armed) <= GIT_OF_A_LOOK + GIT_OF_THE_BASE


def test_the_ledger_is_read_whole_at_the_beginning_and_before_the_end_is_written(armed: Project) -> None:
    """Beside that each row that is appended looks at the last one: the gate, its run, and the end."""
    armed.write("calc.py", MENDED)
    with counted(armed) as costs:
        armed.check("ulw", "done")
    (reads,) = [number for path, number in costs.read.items() if path.endswith("events.jsonl")]
    appended = ["gate-added", "gate-ran", "done"]
    assert [row["kind"] for row in armed.events()][-len(appended) :] == appended
    assert reads <= 2 + len(appended) + LOOKS_AT_ITS_END
