"""One view, one count: what the row knows, what the ledger and the files show, and what is said of the difference."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from omo.state import runtime
from omo.table import BY_KIND
from omo.views import lines, statusline
from omo.views.project import ProjectView, SessionView
from omo.work import outcome
from tests import texts
from tests.engine import project as laps_project
from tests.project import plan_directory
from tests.report.states import HERE, SCENES, Scene, begin, view
from tests.ultraplan import project as ultraplan
from tests.ultraplan.plans import carry_out, plan_text
from tests.ultraplan.plans import project as plan_project
from tests.verify import workshop as verify_desk

CHANGED = "the tree has changed since"


def gates_passed(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix it")
    scene.check("gate", "add", "tests", "--", "true")
    scene.write("value", "new\n")
    scene.check("gate", "run")
    scene.check("ulw", "done", "--because", "the value holds what was asked")
    return scene


def gates_passed_once(root: Path) -> Scene:
    scene = gates_passed(root)
    scene.write("value", "newer\n")
    return scene


def every_gate_stale(root: Path) -> Scene:
    scene = begin(root)
    scene.prompt("ulw fix it")
    scene.check("gate", "add", "tests", "--", "true")
    scene.write("value", "new\n")
    scene.check("gate", "run")
    scene.write("value", "newer\n")
    return scene


def goals_damaged(root: Path) -> Scene:
    scene = SCENES["ultragoal-five-goals"](root)
    path = plan_directory(scene.state, HERE) / "ledger.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"kind"', '"kind" ', 1), encoding="utf-8")
    return scene


def _laps(root: Path, *rounds: dict[str, str], most: int = 5) -> laps_project.Project:
    root.mkdir(parents=True)
    desk = laps_project.make_project(root)
    desk.session = HERE
    desk.start(*[laps_project.criterion(number) for number in (1, 2, 3)], max_iterations=most)
    for one in rounds:
        desk.judged(**one)
    return desk


def _scene(desk: laps_project.Project | ultraplan.Project) -> Scene:
    return Scene(desk.root, now=desk.now + 120)


def laps_spent(root: Path) -> Scene:
    return _scene(_laps(root, {"C1": "pass", "C2": "fail", "C3": "fail"}, most=1))


def laps_with_a_blocked_criterion(root: Path) -> Scene:
    """C2 failed three times and is not worked on any more; C3 is still open."""
    rounds = [{"C1": "pass", "C2": "fail", "C3": "pass"}] * 2 + [{"C1": "pass", "C2": "fail", "C3": "fail"}]
    return _scene(_laps(root, *rounds))


def laps_passed(root: Path) -> Scene:
    return _scene(_laps(root, {"C1": "pass", "C2": "pass", "C3": "pass"}))


def laps_passed_once(root: Path) -> Scene:
    scene = laps_passed(root)
    scene.write("later.txt")
    return scene


def laps_damaged(root: Path) -> Scene:
    desk = _laps(root, {"C1": "pass", "C2": "fail", "C3": "fail"})
    desk.damage()
    return _scene(desk)


def _plan(root: Path, *done: int) -> ultraplan.Project:
    desk = ultraplan.Project(plan_project(root, plan_text(4)))
    desk.start(session=HERE)
    for step in done:
        carry_out(desk.root, step)
    desk.status(session=HERE)
    return desk


def plan_given_up(root: Path) -> Scene:
    desk = _plan(root, 1)
    desk.abandon(session=HERE)
    return _scene(desk)


def plan_ended_by_the_user(root: Path) -> Scene:
    desk = _plan(root, 1)
    desk.abandon(session=HERE, by="user")
    return _scene(desk)


def plan_not_told_of_a_commit(root: Path) -> Scene:
    desk = _plan(root, 1)
    carry_out(desk.root, 2)
    return _scene(desk)


def plan_damaged(root: Path) -> Scene:
    desk = _plan(root, 1, 2)
    path = next(Path(desk.state, "plans").glob("*/ledger.jsonl"))
    path.write_text(path.read_text().replace('"passed"', '"passed" ', 1))
    return _scene(desk)


def goal_proven(root: Path) -> Scene:
    scene = SCENES["verify-goal"](root)
    scene.write("parser.py")
    scene.check("verify", "finish", "G1", "--summary", verify_desk.SUMMARY)
    return scene


def goal_damaged(root: Path) -> Scene:
    scene = goal_proven(root)
    path = Path(BY_KIND["verify"].directory(scene.state), "G1", "ledger.jsonl")
    path.write_text(path.read_text().replace('"kind"', '"kind" ', 1))
    return scene


MORE: dict[str, Callable[[Path], Scene]] = {
    one.__name__: one
    for one in (
        *(gates_passed, gates_passed_once, every_gate_stale, goals_damaged),
        *(laps_spent, laps_with_a_blocked_criterion, laps_passed, laps_passed_once, laps_damaged),
        *(plan_given_up, plan_ended_by_the_user, plan_not_told_of_a_commit, plan_damaged),
        *(goal_proven, goal_damaged),
    )
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ProjectView]:
    @cache
    def look(name: str) -> ProjectView:
        return MORE[name](tmp_path_factory.mktemp("counts") / "p").view() if name in MORE else view(name)

    return look


def focus(found: ProjectView) -> SessionView:
    assert found.focus is not None
    return found.focus


def plain(found: ProjectView) -> str:
    return lines.plain(lines.project_lines(found))


def styles_of_others(found: ProjectView, *, everything: bool = False) -> set[str]:
    (line,) = [line for line in lines.project_lines(found, everything=everything) if line.shape == "other"]
    return {style for _, style in line.cells}


# What holds for every scene


@pytest.mark.parametrize("name", [*SCENES, *MORE])
def test_the_numbers_of_one_view_agree(seen: Callable[[str], ProjectView], name: str) -> None:
    for one in seen(name).sessions:
        for work in one.brief.work:
            if (known := one.view_of(work)) is not None and known.unit == lines.unit_of(work) and known.total:
                assert work.total == known.total
                if work.state == "active":
                    sentence = lines.what_is_open(work, known)
                    begins = re.match(r"(\d+) of \d+ ", sentence)
                    assert int(begins[1] if begins else 0) == known.total - known.done
                elif work.outcome and outcome.is_done(work.outcome) and not one.lapsed:
                    assert work.done == known.done == known.total
                elif work.kind not in runtime.unvouched(one.brief.row):
                    assert 0 <= work.done - known.done <= known.stale, "but for what went stale since"


@pytest.mark.parametrize("name", [*SCENES, *MORE])
def test_the_numbers_of_a_work_are_those_of_its_items(seen: Callable[[str], ProjectView], name: str) -> None:
    for one in seen(name).data["sessions"]:
        for work in one.get("works", []):
            marks = [item["mark"] for item in work["items"]]
            assert (work["done"], work["stale"]) == (marks.count("done"), marks.count("stale"))
            assert work["total"] == len(marks) - marks.count("cut")


@pytest.mark.parametrize("name", [*SCENES, *MORE])
def test_nothing_is_done_whose_proof_is_stale_or_whose_ledger_is_damaged(
    seen: Callable[[str], ProjectView], name: str
) -> None:
    for one in seen(name).sessions:
        for work in one.works or []:
            for item in work.items:
                assert (item.mark, item.receipt) != ("done", "stale")
                assert not (work.problems and (item.mark == "done" or item.receipt == "fresh"))


@pytest.mark.parametrize("name", [*SCENES, *MORE])
def test_green_is_what_was_proven_and_holds(seen: Callable[[str], ProjectView], name: str) -> None:
    for one in seen(name).sessions:
        is_green = lines.mode_style(one) == "green"
        leading = one.leading
        holds = leading is not None and leading.done == leading.total > 0 and not leading.problems
        assert is_green == (one.brief.mode == "done" and one.is_proven is True and holds)


# Each of the lies that was found


@pytest.mark.parametrize(
    ("name", "line", "far"),
    [
        ("laps_spent", "omo laps 1/3 blocked", "1/3 criteria"),
        ("laps_with_a_blocked_criterion", "omo laps 1/3", "1/3 criteria"),
        ("plan_given_up", "omo ultraplan 1/4 blocked", "1/4 steps"),
        ("plan_ended_by_the_user", "omo ultraplan 1/4 ended, not proven", "1/4 steps"),
    ],
)
def test_what_ended_without_passing_has_its_items_counted(
    seen: Callable[[str], ProjectView], name: str, line: str, far: str
) -> None:
    one = focus(seen(name))
    assert statusline.text(one.brief).startswith(line)
    assert lines.progress(one) == far


def test_finished_work_says_that_the_tree_has_changed_since(seen: Callable[[str], ProjectView]) -> None:
    cases = (("gates_passed_once", "ultrawork", "changed since: value"), ("laps_passed_once", "laps", CHANGED))
    for name, kind, changed in cases:
        one = focus(seen(name))
        assert texts.says(lines.headline(one), "end-kind-on-agents-word", kind=kind)
        assert texts.says(lines.why_stop(one), "stop-files-changed-since-done")
        assert (one.data["proven"], one.data["lapsed"]) == (False, changed)
        assert lines.headline(one).endswith(changed)
    before = focus(seen("gates_passed"))
    assert texts.says(lines.headline(before), "end-kind-on-agents-word", kind="ultrawork")
    assert before.data["lapsed"] is None
    assert "value" not in lines.headline(before)


def test_other_sessions_are_held_against_the_tree_too(tmp_path: Path) -> None:
    """In a terminal of the user's, where nothing is on any more."""
    scene = gates_passed(tmp_path / "p")
    assert not scene.stop().blocks
    scene.write("value", "changed\n")
    theirs = replace(scene, here="")
    assert texts.says(plain(theirs.view()), "status-changed-since", files="value, 0/1 gates")
    assert "green" not in styles_of_others(theirs.view())
    theirs.now += 2 * 24 * 3600
    assert "green" not in styles_of_others(theirs.view(), everything=True), "nobody looked"
