"""Phases, handing off, and clearing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from omo.errors import Refused
from omo.hosts import claude
from omo.state import paths, runtime
from omo.stop import rules
from omo.stop.situation import Situation
from omo.workflows.ultragoal import goal_tool, lifecycle
from omo.workflows.ultragoal.run import ULTRAGOAL
from tests.ultragoal.project import LIMITS, ONE, TWO, Project


def phase(project: Project) -> str:
    plan = project.run().plan
    return plan.phase if plan is not None else "missing"


def write(project: Project, wanted: str) -> tuple[str, str]:
    return lifecycle.write_phase(project.run("user"), wanted)


def stopping(project: Project) -> tuple[str, str]:
    """What the next Stop does: the rule, and what it says."""
    event = claude.event_of({"session_id": project.session})

    def decide(row: Any) -> runtime.Change:
        decision = rules.decide(Situation(event, row, LIMITS, project.now + 60))
        return runtime.Change(decision, decision.row, decision.events)

    said = runtime.change_session(project.state, project.session, decide, actor="hook", now=project.now, wait=5.0)
    return said.rule.name, said.text


@pytest.fixture
def planned(project: Project) -> Project:
    """G001 is under way, and hooks know."""
    return project.reach("told", lambda: (project.begin(), project.tell()))


PLANS = ("missing", "pending", "active", "blocked", "failed", "complete")


def make(project: Project, wanted: str) -> Project:
    """A plan in this phase: G001 is left in that status."""
    if wanted == "pending":
        project.create(TWO)
    elif wanted == "complete":
        project.create(TWO)
        project.close("G001", "G002")
    elif wanted != "missing":
        project.begin(TWO if wanted == "active" else ONE)
    if wanted in ("blocked", "failed"):
        project.set_back("G001", wanted)
    return project


# Phases follow from the plan


@pytest.mark.parametrize("before", PLANS)
def test_only_the_handoff_mark_can_be_written(project: Project, before: str) -> None:
    make(project, before)
    assert phase(project) == before
    if before == "missing":
        with project.refused("no ultragoal plan"):
            write(project, "handoff")
        return
    assert write(project, "handoff") == (before, "handoff")
    files = project.state_files()
    assert write(project, "handoff") == ("handoff", "handoff")
    assert project.state_files() == files, "twice writes once"
    assert write(project, "active") == ("handoff", before), "the phase follows from the goals again"


# Clearing


def kept_bytes(project: Project) -> list[Path]:
    return sorted(Path(ULTRAGOAL.home(project.state)).glob("*.cleared-*"))


def test_a_finished_run_is_cleared_without_force(planned: Project) -> None:
    planned.close("G001", "G002")
    goal_tool.operate("complete", planned.run())
    planned.tell()
    before = planned.ledger.read_bytes()
    cleared = lifecycle.clear(planned.caller(), force=False)
    assert cleared is not None
    assert cleared.is_shown, "how it ended was not told yet"
    (kept,) = kept_bytes(planned)
    assert (kept / "ledger.jsonl").read_bytes() == before
    assert (planned.tool(), planned.run().plan, planned.told()["state"]) == (None, None, "ended")
    row = planned.events()[-1]
    assert (row["kind"], row["actor"], row["mode"], row["forced"]) == ("cleared", "agent", "ultragoal", False)
    assert row["kept"] == cleared.kept
    assert lifecycle.clear(planned.caller(), force=False) is None


def test_what_the_agent_gives_up_is_shown_to_the_user_and_clearing_again_does_not_hide_it(planned: Project) -> None:
    run = planned.plan().run
    lifecycle.clear(planned.caller(), force=True)
    assert (planned.told()["state"], planned.told()["open"], planned.told()["told"]) == ("ended", 2, False)
    for force in (False, True):
        assert lifecycle.clear(planned.caller(), force=force) is None
    rule, text = stopping(planned)
    assert (rule, f"the agent cleared the ultragoal plan {run} with 2 open" in text) == ("done", True)
    assert lifecycle.clear(planned.caller(), force=False) is not None
    assert planned.told() == {}


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\x00 not ours \n{]\n")


def a_directory(path: Path) -> None:
    path.unlink()
    (path / "in it").mkdir(parents=True)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("corrupt", [garbage, a_directory, empty])
def test_force_recovers_from_a_runtime_file_nobody_can_read(planned: Project, corrupt: Callable[[Path], None]) -> None:
    corrupt(Path(paths.runtime_file(planned.state)))
    with pytest.raises(Refused, match="not finished"):
        lifecycle.clear(planned.caller(), force=False)
    assert lifecycle.clear(planned.caller(), force=True) is not None
    assert planned.told()["why"].endswith("with 2 open")
    assert list(Path(planned.state).glob("runtime.local.json.corrupt-*"))


def test_a_file_or_a_link_where_a_directory_should_be_is_moved_as_it_is(planned: Project) -> None:
    place = planned.directory
    os.rename(place, planned.root / "outside")
    place.symlink_to(planned.root / "outside")
    lifecycle.clear(planned.caller("user"), force=True)
    assert (planned.root / "outside" / "ledger.jsonl").exists()
    assert not os.path.lexists(place)
    place.write_text("a file")
    assert lifecycle.clear(planned.caller("user"), force=True) is not None
    assert "a file" in [path.read_text() for path in kept_bytes(planned) if path.is_file()]


def test_an_agent_cannot_seal_a_plan_that_it_ruined(planned: Project) -> None:
    garbage(planned.ledger)
    Path(paths.runtime_file(planned.state)).write_text(json.dumps({"version": 4, "sessions": {}}))
    with pytest.raises(Refused, match="cannot go on"):
        lifecycle.clear(planned.caller(), force=True)
