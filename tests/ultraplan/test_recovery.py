"""Recovery: a session of just the missing steps, counted where nobody can change it, twice at most."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from omo.errors import NotEvaluable
from omo.workflows.ultraplan import recover
from tests.ultraplan.project import Project, make_project, started
from tests.ultraplan.test_run import refused


def left_out(tmp_path: Path) -> Project:
    """A session of three steps that called itself done without the second."""
    return started(tmp_path, 3, (1, 3))


def test_a_session_that_preflight_stopped_counts_nothing(tmp_path: Path) -> None:
    here = make_project(tmp_path, 2, needs=["cmd:no-such-program"])
    assert here.start(PATH=os.environ["PATH"]).missing
    refused(here.recover, "never began")
    assert here.start(OMO_SKIP_PREFLIGHT="1", by="user").state.depth == 0
    here.carry_out(2)
    assert here.recover(PATH=os.environ["PATH"]).missing
    assert here.status()[1].command == "omo plan recover plan.md"
    run = recover.chosen(here.caller("user"), here.root / "plan.md")
    begun = recover.recover(run, environ={"OMO_SKIP_PREFLIGHT": "1"}).state
    assert (begun.depth, begun.recovering) == (1, [1])


# after a run was given up


def test_a_history_that_was_rewritten_is_never_recovered_and_needs_a_person(tmp_path: Path) -> None:
    here = started(tmp_path, 3, (1, 2))
    here.status()
    here.rewrite_history()
    refused(here.recover, "no ancestor of HEAD", NotEvaluable)
    here.abandon()
    assert here.status()[1].command == "revise the plan, then, before it is started again: omo plan critique PLAN"
    refused(here.recover, "no ancestor of HEAD", NotEvaluable)


# the project's place


def test_a_copy_never_audits_the_original(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    shutil.copytree(here.root, tmp_path / "copy")
    here.carry_out(2)
    there = Project(tmp_path / "copy", now=here.now)
    status, following = there.status()
    assert status.audit.steps == []
    assert str(here.root) in following.why
    for command in (there.finish, there.start, there.abandon):
        refused(command, "belongs to")
    assert here.finish().exit_code == 0
