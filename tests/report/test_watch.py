"""When `omo status --watch` looks again, on a clock and a pause that the test hands in."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from omo.views import watch
from tests.report.states import Scene, begin

CHANGES: dict[str, Callable[[Scene], object]] = {
    "a prompt arms a session": lambda scene: scene.prompt("ulw go on", session="another"),
    "a Stop is sent back": lambda scene: scene.stop(),
    "a gate is pinned": lambda scene: scene.check("gate", "add", "tests", "--", "true"),
    "a plan is made": lambda scene: scene.check("ultragoal", "create-goals", "--brief", "@goal: Parse\nRead the file."),
    "a setting is changed": lambda scene: (scene.root / ".sisyphus" / "omo.json").write_text("{}"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_happens_is_seen_and_looking_is_no_change(tmp_path: Path, what: str) -> None:
    scene = begin(tmp_path / "p")
    scene.prompt("ulw fix it")
    scene.view()
    before = watch.signature(scene.state, str(scene.root))
    scene.view()
    assert watch.signature(scene.state, str(scene.root)) == before
    CHANGES[what](scene)
    assert watch.signature(scene.state, str(scene.root)) != before


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
    assert looks(seen, [0.0, 1.0, 2.0, 3.0, 11.9, 12.0, 13.0]) == [0.0, 2.0, 12.0]


def test_a_clock_that_is_set_back_is_looked_at_again() -> None:
    assert looks(["a", "a", "a", ""], [100.0, 50.0, 51.0, 52.0]) == [100.0, 50.0]


def test_the_first_look_is_at_once() -> None:
    def never() -> None:
        raise AssertionError("it paused before it looked")

    moments: Iterator[float] = watch.moments(lambda: (), clock=lambda: 7.0, pause=never)
    assert list(islice(moments, 1)) == [7.0]
