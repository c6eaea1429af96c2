"""What a plan command costs: state files opened, git processes started. Neither grows with what was run before."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from omo.work.run import Caller, Run
from omo.workflows.ultraplan.run import PLAN, tags
from tests.project import Project
from tests.ultraplan.plans import begin_repository, carry_out, plan_text

MOST_GIT = 6
GIT_OF_AN_END = 4  # which files it speaks of, and what those hold that were written lately
GIT_OF_A_PROOF = 1  # which files the commit had that it began on
GIT_OF_OTHER_SESSIONS = 6  # the history since the first one of the plan
MOST_READS = 4
MOST_READS_IN_ALL = 12


@dataclass
class Costs:
    """How often each state file was opened for reading, by its path below the state directory."""

    read: Counter[str] = field(default_factory=Counter)
    git: list[str] = field(default_factory=list)


_counting: list[tuple[str, Costs]] = []


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    for state, costs in _counting:
        if event == "open" and arguments[1] in ("r", "rb") and isinstance(arguments[0], str):
            path = os.path.realpath(arguments[0])
            if path.startswith(state + os.sep) and os.path.isfile(path):
                costs.read[os.path.relpath(path, state)] += 1
        elif event in ("subprocess.Popen", "os.posix_spawn"):
            argv = list(arguments[1]) if isinstance(arguments[1], list | tuple) else []
            if argv and os.path.basename(str(argv[0])) == "git":
                costs.git.append(" ".join(map(str, argv)))


sys.addaudithook(_hear)  # once: it cannot be taken away again


@contextmanager
def counted(project: Project) -> Iterator[Costs]:
    costs = Costs()
    _counting.append((os.path.realpath(project.state), costs))
    try:
        yield costs
    finally:
        _counting.pop()


def earlier_runs(project: Project, count: int) -> None:
    """Sessions of other plans that ended long ago."""
    for number in range(count):
        caller = Caller(project.state, str(project.root), f"old-{number}", "agent", 1_700_000_000.0 + number, 5.0)
        run = Run(PLAN, caller, PLAN.new_id(caller, tags(f"digest {number}", f"{number}.md")))
        items = [{"id": "1", "description": "part 1", "checks": []}]
        started = {"kind": "started", "session": caller.session, "root": caller.here, "items": items}
        opened = {"kind": "round", "iteration": 1, "session_seq": 0}
        run.append({**started, "terms": {"base": "0" * 40}}, opened, {"kind": "ended", "how": "pass"})


def walk(project: Project) -> dict[str, Costs]:
    found = {}
    argvs = {
        "start": ("plan", "start", "plan.md", "--unreviewed", "no critic in this test"),
        "status": ("plan", "status"),
        "finish": ("plan", "finish"),
    }
    for name, argv in argvs.items():
        if name == "finish":
            for number in (1, 2, 3):
                carry_out(project.root, number)
        with counted(project) as found[name]:
            ran = project.omo(*argv, by="user" if name == "start" else "agent", session=project.session)
        assert ran.code == 0, ran.err
    return found


@pytest.fixture
def planned(project: Project) -> Project:
    project.write("plan.md", plan_text(3))
    begin_repository(project.root)
    return project


def test_no_command_costs_more_because_of_earlier_runs(planned: Project) -> None:
    earlier_runs(planned, 200)
    for name, costs in walk(planned).items():
        most = MOST_GIT + (GIT_OF_AN_END + GIT_OF_A_PROOF if name == "finish" else 0)
        assert len(costs.git) <= most, (name, costs.git)
        own = planned.row()["work"]["ultraplan"]["run"]
        assert [path for path in costs.read if path.startswith("plans/p") and own not in path] == [], name
        # What was written a moment ago is read once more under the lock: two writes may share a tick of the clock, and
        # on a quick machine each of them does.
        assert {path: count for path, count in costs.read.items() if count > MOST_READS} == {}, name
        assert sum(costs.read.values()) <= MOST_READS_IN_ALL, (name, costs.read)


def test_the_end_of_several_sessions_costs_no_more(project: Project) -> None:
    project.write("plan.md", plan_text(3, sessions=[[1], [2], [3]]))
    begin_repository(project.root)
    for number in (1, 2, 3):
        begin = ("plan", "start", "plan.md", "--unreviewed", "no critic in this test")
        assert project.user(*begin, session=project.session).code == 0
        carry_out(project.root, number)
        with counted(project) as costs:
            ran = project.agent("plan", "finish")
        assert ran.code == 0, ran.err
        most = MOST_GIT + GIT_OF_AN_END + GIT_OF_A_PROOF + GIT_OF_OTHER_SESSIONS
        assert len(costs.git) <= most, (number, costs.git)
    assert ran.says("ultraplan-whole-plan-holds", passed=3, steps=3)
