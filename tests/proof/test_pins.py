"""What is pinned, by whom and at which base; and that the ledger of pins is believed only while it is whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.errors import Refused
from omo.proof import pins
from omo.proof.checks import digest_of_check, parse_checks
from omo.proof.evaluate import evaluate
from omo.proof.pins import PinReport
from omo.work.run import Caller
from tests.project import git
from tests.proof.test_evaluate import commit, write

NOW = 1_771_780_801.0
FORBIDDEN = {"id": "untouched", "type": "forbidden", "paths": ["infra/**"]}
THERE = {"id": "there", "type": "path", "path": "infra/main.tf"}
WANTED = {"id": "wanted", "type": "path", "path": "dist/*.whl"}
TESTS = {"id": "tests", "type": "command", "argv": [sys.executable, "-c", "open('ran', 'a').write('x')"]}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    write(project, "infra/main.tf")
    git(project, "init", "-q")
    commit(project, "start")
    return project


def pin(state: str, root: Path, *items: Any, by: str = "agent", **options: Any) -> PinReport:
    caller = Caller(state, str(root), "s1", by, NOW, wait=1.0)
    return pins.pin(caller, parse_checks(list(items)), **{"source": "checks.yaml", "goal": None, **options})


def digest(item: Any) -> str:
    return digest_of_check(parse_checks([item])[0])


def test_a_pin_says_who_when_and_where(state: str, root: Path) -> None:
    report = pin(state, root, FORBIDDEN, WANTED, goal="G1")
    head = git(root, "rev-parse", "HEAD")
    assert report.added == ["untouched", "wanted"]
    found = pins.pinned(state)
    assert found.digests == {digest(FORBIDDEN), digest(WANTED)}
    assert (found.of(digest(FORBIDDEN)).by, found.of(digest(FORBIDDEN)).base) == ("agent", head)
    assert found.started_at("G1") == "2026-02-22T17:20:01.000Z"
    assert found.started_at("G2") is None
    assert (found.of("unknown").by, found.of("unknown").base) == ("", None)


def test_nothing_is_pinned_at_first(state: str) -> None:
    assert pins.pinned(state).digests == frozenset()
    assert not os.path.exists(state)


def test_pinning_runs_a_command_once_and_lets_it_run_later(state: str, root: Path) -> None:
    pin(state, root, TESTS)
    assert (root / "ran").read_text() == "x"
    tree = pins.pinned(state).tree(root)
    assert evaluate(parse_checks([TESTS]), tree).verdict == "pass"
    edited = {**TESTS, "argv": [*TESTS["argv"], "--more"]}
    assert evaluate(parse_checks([edited]), tree).verdict == "unknown"
    assert (root / "ran").read_text() == "xx"


@pytest.mark.parametrize(
    ("items", "vacuous", "everything"),
    [
        ([THERE], ["there"], True),
        ([THERE, FORBIDDEN], ["there", "untouched"], True),
        ([THERE, WANTED], ["there"], False),
        ([WANTED], [], False),
        ([THERE, {**FORBIDDEN, "guard": True}], ["there"], True),
        ([WANTED, {**FORBIDDEN, "guard": True}], [], False),
        ([{**THERE, "guard": True}], [], True),
        ([THERE, "is it good?"], ["there"], False),
        (["is it good?"], [], False),
        ([], [], False),
    ],
)
def test_what_passes_before_the_work_is_vacuous(
    state: str, root: Path, items: list[Any], vacuous: list[str], everything: bool
) -> None:
    report = pin(state, root, *items)
    assert (report.vacuous, report.all_vacuous) == (vacuous, everything)


def test_a_goal_that_can_prove_nothing_is_refused_and_nothing_is_written(state: str, root: Path) -> None:
    with pytest.raises(Refused, match="there, untouched") as caught:
        pin(state, root, THERE, FORBIDDEN, refuse_vacuous=True)
    assert "guard: true" in caught.value.fix
    assert pins.pinned(state).digests == frozenset()
    with pytest.raises(Refused, match="or is a guard"):
        pin(state, root, THERE, {**FORBIDDEN, "guard": True}, refuse_vacuous=True)


def test_an_agent_cannot_move_the_base_by_pinning_again(state: str, root: Path) -> None:
    first = git(root, "rev-parse", "HEAD")
    pin(state, root, FORBIDDEN, by="user")
    write(root, "infra/main.tf", "changed\n")
    later = commit(root)
    report = pin(state, root, FORBIDDEN, by="agent")
    assert report.added == []
    assert pins.pinned(state).of(digest(FORBIDDEN)).base == first
    pin(state, root, FORBIDDEN, by="user")
    assert pins.pinned(state).of(digest(FORBIDDEN)).base == later


def test_a_user_takes_over_what_an_agent_pinned(state: str, root: Path) -> None:
    pin(state, root, TESTS, by="agent")
    pin(state, root, TESTS, by="user")
    assert pins.pinned(state).of(digest(TESTS)).by == "user"
    pin(state, root, TESTS, by="agent")
    assert pins.pinned(state).of(digest(TESTS)).by == "user"


def test_goals_have_bases_of_their_own(state: str, root: Path) -> None:
    first = git(root, "rev-parse", "HEAD")
    pin(state, root, FORBIDDEN, goal="G1")
    later = commit(root, "more")
    pin(state, root, FORBIDDEN, goal="G2")
    found = pins.pinned(state)
    assert [found.of(digest(FORBIDDEN), goal).base for goal in ("G1", "G2", "G3", None)] == [first, later, first, first]
    assert found.tree(root, goal="G2").pinned == {digest(FORBIDDEN): later}


def test_outside_git_a_pin_has_no_base(state: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    write(bare, "a")
    pin(state, bare, WANTED)
    assert pins.pinned(state).of(digest(WANTED)).base is None
