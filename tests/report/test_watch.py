"""When `omo status --watch` looks again, on a clock and a pause that the test hands in."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from omo.views import watch
from tests.report.states import HERE, Scene, begin
from tests.ultraplan.plans import commit

Change = Callable[[Scene], object]


def signature(scene: Scene) -> object:
    return watch.signature(scene.state, str(scene.root))


CHANGES: dict[str, Change] = {
    "a prompt arms a session": lambda scene: scene.prompt("ulw go on", session="another"),
    "a Stop is sent back": lambda scene: scene.stop(),
    "a gate is pinned": lambda scene: scene.check("gate", "add", "tests", "--", "true"),
    "a plan is made": lambda scene: scene.check("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead the file."),
    "a goal is filed": lambda scene: filed(scene),
    "a setting is changed": lambda scene: (scene.root / ".sisyphus" / "omo.json").write_text("{}"),
    "something is staged": lambda scene: subprocess.run(["git", "add", "value"], cwd=scene.root, check=True),
    "something is committed": lambda scene: committed(scene),
}


def filed(scene: Scene) -> None:
    scene.write("goal.json", json.dumps({"id": "G1", "title": "Parser handles quotes", "routine": True}))
    scene.check("verify", "add", "--file", "goal.json")


def committed(scene: Scene) -> None:
    for name, value in (("user.name", "Test"), ("user.email", "test@example.org")):
        subprocess.run(["git", "config", name, value], cwd=scene.root, check=True)
    commit(scene.root, "chore: begin")


@pytest.mark.parametrize("what", CHANGES)
def test_what_happens_is_seen(tmp_path: Path, what: str) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    before = signature(scene)
    assert signature(scene) == before
    CHANGES[what](scene)
    assert signature(scene) != before


def test_looking_is_no_change(tmp_path: Path) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    scene.check("gate", "add", "tests", "--", "true")
    scene.view()
    before = signature(scene)
    scene.view()
    assert signature(scene) == before


def test_a_linked_working_tree_has_a_head_of_its_own(tmp_path: Path) -> None:
    scene = begin(tmp_path / "p")
    committed(scene)
    linked = tmp_path / "linked"
    subprocess.run(["git", "worktree", "add", "-q", linked, "-b", "other"], cwd=scene.root, check=True)
    before = watch.signature(str(linked / ".sisyphus"), str(linked))
    commit(linked, "chore: more")
    assert watch.signature(str(linked / ".sisyphus"), str(linked)) != before


def test_a_directory_that_is_no_project_has_nothing_to_watch(tmp_path: Path) -> None:
    assert watch.signature(str(tmp_path / "none"), str(tmp_path)) == ()
    (tmp_path / ".git").write_text("not a link")
    assert watch.signature(str(tmp_path / "none"), str(tmp_path)) == ()


def test_what_is_kept_as_evidence_is_not_polled(tmp_path: Path) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    inside = Path(scene.state) / "evidence" / "deep"
    inside.mkdir(parents=True)
    before = signature(scene)
    (inside / "ledger.jsonl").write_text("{}")
    assert signature(scene) == before


def looks(seen: list[object], times: list[float]) -> list[float]:
    """At which times everything is looked at, where each pause leads to the next of what is seen."""
    at = iter(range(len(seen)))
    now = [0]

    def pause() -> None:
        now[0] = next(at)
        if now[0] + 1 == len(seen):
            raise KeyboardInterrupt

    next(at)
    found: list[float] = []
    with contextlib.suppress(KeyboardInterrupt):
        for moment in watch.moments(lambda: seen[now[0]], clock=lambda: times[now[0]], pause=pause):
            found.append(moment)
    return found


def test_only_a_change_or_age_makes_it_look_again() -> None:
    seen: list[object] = ["a", "a", "b", "b", "b", "b", ""]
    assert looks(seen, [0.0, 1.0, 2.0, 3.0, 16.9, 17.0, 18.0]) == [0.0, 2.0, 17.0]


def test_a_clock_that_is_set_back_is_looked_at_again() -> None:
    assert looks(["a", "a", "a", ""], [100.0, 50.0, 51.0, 52.0]) == [100.0, 50.0]


def test_the_first_look_is_at_once() -> None:
    def never() -> None:
        raise AssertionError("it paused before it looked")

    moments: Iterator[float] = watch.moments(lambda: (), clock=lambda: 7.0, pause=never)
    assert list(islice(moments, 1)) == [7.0]


def test_hours_alone_are_no_change(tmp_path: Path) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    first = scene.view().data
    scene.now += 600
    later = scene.view().data
    assert first != later
    assert watch.without_the_clock(first) == watch.without_the_clock(later)
    scene.stop()
    assert watch.without_the_clock(scene.view().data) != watch.without_the_clock(later)


def test_the_runtime_file_is_among_what_is_watched(tmp_path: Path) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    names = {os.path.relpath(mark[0], scene.state) for mark in watch.signature(scene.state, str(scene.root))}
    assert {"runtime.local.json", os.path.join("sessions", HERE, "events.jsonl")} <= names
