"""Recovery: a session of just the missing steps, counted where nobody can change it, twice at most."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from omo.errors import NotEvaluable
from omo.work.lifecycle import require
from omo.workflows.ultraplan import recover
from omo.workflows.ultraplan.run import PLAN
from tests.ultraplan.project import Project, make_project, started
from tests.ultraplan.test_run import refused

FAILURE = (2, "it cannot be written", "twice, in two ways")


def left_out(tmp_path: Path) -> Project:
    """A session of three steps that called itself done without the second."""
    return started(tmp_path, 3, (1, 3))


def test_a_recovery_that_leaves_the_session_broken_does_not_pass(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.recover()
    here.carry_out(2)
    here.commit_file("src/part1.py", "refactor: lose part 1")
    done = here.finish()
    assert (done.exit_code, done.closed, done.status.audit.missing) == (3, False, [1])


def test_starting_over_does_not_reset_the_depth(tmp_path: Path) -> None:
    here = started(tmp_path, 2, (2,))
    here.recover()
    here.abandon()
    here.git("revert", "--no-edit", "HEAD")
    assert here.start().state.depth == 1
    here.carry_out(2)
    assert here.recover().state.depth == 2
    here.commit_file("src/app.py")
    refused(here.recover, "recovered 2 times")


def test_a_recovery_that_failed_is_counted_when_it_goes_on(tmp_path: Path) -> None:
    here = left_out(tmp_path)
    here.recover()
    here.finish(*FAILURE)
    assert here.recover().state.depth == 2


@pytest.mark.parametrize("is_given_up", [False, True])
def test_what_is_never_touched_is_never_recovered_nor_by_giving_up(tmp_path: Path, is_given_up: bool) -> None:
    here = left_out(tmp_path)
    here.commit_file("infra/main.tf")
    if is_given_up:
        here.abandon()
    assert "infra/main.tf" in refused(here.recover, "never recovered")


@pytest.mark.parametrize("is_committed", [False, True])
def test_what_others_changed_outside_the_fence_is_in_nobodys_way(tmp_path: Path, is_committed: bool) -> None:
    here = left_out(tmp_path)
    here.write("README.md", "more\n")
    if is_committed:
        here.commit("docs: more")
    here.recover()
    here.write("src/part2.py", "def part2():\n    return 2\n")
    here.git("add", "src/part2.py")
    here.git("commit", "-q", "-m", "feat(part2): add part 2")
    done = here.finish()
    assert (done.exit_code, done.closed) == (0, True)
    assert "README.md" in done.report
    assert (here.root / "README.md").read_text() == "more\n"


def test_where_nothing_is_missing_there_is_nothing_to_recover(tmp_path: Path) -> None:
    here = started(tmp_path, 2, (1, 2))
    assert "omo plan finish" in refused(here.recover, "no step of plan session .* is missing")
    here.abandon()
    assert "omo plan audit plan.md" in here.status()[1].why
    assert "omo plan audit" in refused(here.recover, "is missing")


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
    assert (begun.depth, begun.recovering) == (1, (1,))


def test_what_a_recovery_lacked_can_be_brought_without_the_user_being_shown_it_again(tmp_path: Path) -> None:
    here = make_project(tmp_path, 2, needs=["env:TOKEN"])
    here.start(TOKEN="x")
    here.finish(2, *FAILURE[1:])
    assert here.recover().missing
    assert (here.told()["state"], here.told()["told"]) == ("blocked", False)
    run = require(PLAN, here.caller())
    begun = recover.recover(run, environ={"TOKEN": "x"}).state
    assert (begun.depth, begun.is_open, here.told()["state"]) == (1, True, "active")


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
