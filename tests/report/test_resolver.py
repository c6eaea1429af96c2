"""The one reading behind every view, on states that the real commands and hooks left."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from omo.state import runtime
from omo.views import lines, project
from omo.views.project import ProjectView, SessionView
from omo.work.status import Item, Status
from tests.named_commands import parser_of_omo
from tests.report.states import ELSEWHERE, FOURTH, HERE, SCENES, THIRD, Scene, scene, view


def focus(view: ProjectView) -> SessionView:
    assert view.focus is not None
    return view.focus


def work(view: ProjectView, kind: str) -> Status:
    return next(one for one in focus(view).works or [] if one.kind == kind)


def marks(view: Status) -> dict[str, str]:
    return {item.id: item.mark for item in view.items}


def item(view: Status, name: str) -> Item:
    return next(one for one in view.items if one.id == name)


# What snapshots do not show


def test_gates_are_fresh_stale_failed_and_open() -> None:
    gates = work(view("ulw-with-gates"), "ulw")
    assert marks(gates) == {"tests": "done", "lint": "stale", "types": "failed", "docs": "open"}
    assert (item(gates, "tests").receipt, item(gates, "lint").receipt) == ("fresh", "stale")
    assert item(gates, "lint").receipt_why == "changed since: value"
    assert item(gates, "tests").notes[-1] == "pinned by the user"
    assert (gates.done, gates.total, gates.next.command) == (1, 4, "omo gate run")


def test_after_a_breaker_or_a_cancel_only_the_user_moves_it_on() -> None:
    for name in ("exhausted", "cancelled"):
        step = focus(view(name)).next
        assert (step.action, step.commands) == ("arm", ())
        assert "type ulw" in step.why


def test_the_last_block_is_near(tmp_path: Path) -> None:
    scene = SCENES["exhausted"](tmp_path / "p")
    scene.prompt("ulw once more")
    for _ in range(8):
        scene.stop()
    scene.now += 60
    one = focus(scene.view())
    assert (one.brief.breakers["blocks"].left, one.brief.rule.name) == (0, "cap")
    assert "red" in [style for line in lines.session_lines(one) for _, style in line.cells]
    assert "would be let go: it was sent back as often as allowed without progress" in lines.plain(
        lines.session_lines(one)
    )


@pytest.mark.parametrize("name", SCENES)
def test_the_next_stop_is_what_the_hook_then_does(tmp_path: Path, name: str) -> None:
    scene = SCENES[name](tmp_path / "p")
    scene.now += 60
    found = scene.view().focus
    said = found.brief.decision if found else "allow"
    scene.now -= 61
    assert scene.stop().blocks == (said == "block")


# What can be copied


@pytest.mark.parametrize("name", SCENES)
def test_every_command_that_is_shown_is_one(name: str) -> None:
    """With placeholders in it, but of a kind that the parser takes."""
    for one in view(name).sessions:
        for way in one.next.commands:
            if way.argv[:1] == ("omo",):
                parser_of_omo().parse_args(shlex.split(way.line)[1:])


def test_a_session_without_gates_tells_of_its_damaged_ledger_too(tmp_path: Path) -> None:
    scene = SCENES["ultragoal-five-goals"](tmp_path / "p")
    path = next(Path(scene.state).glob("sessions/*/events.jsonl"))
    path.write_text(path.read_text().replace('"kind"', '"kind" ', 1))
    assert focus(scene.view()).problems


# Many sessions


def test_this_session_is_first_then_those_that_are_on_then_the_rest() -> None:
    found = view("several-sessions")
    assert [one.name for one in found.sessions] == [HERE, ELSEWHERE, FOURTH, THIRD]
    assert [one.name for one in found.others] == [ELSEWHERE, FOURTH, THIRD]


def test_only_what_is_live_or_meant_or_done_lately_is_looked_at_closely() -> None:
    found = replace(scene("several-sessions"), here="").view()
    assert {one.name for one in found.sessions if one.works is None} == {THIRD}
    done = replace(scene("ultragoal-done"), here="")
    assert done.view().sessions[0].works is not None, "what is done is held against the files for a day"
    done.now += 2 * 24 * 3600
    (old,) = done.view().sessions
    assert (old.works, old.data["outcome"], old.is_proven) == (None, None, None), "nobody looked, so nobody says"
    assert scene("several-sessions").view(closely=THIRD).sessions[0].works is not None


def test_a_row_that_is_no_object_is_unreadable_and_the_others_are_not(tmp_path: Path) -> None:
    scene = SCENES["several-sessions"](tmp_path / "p")
    path = Path(scene.state) / "runtime.local.json"
    whole = json.loads(path.read_text())
    whole["sessions"][THIRD] = "nonsense"
    path.write_text(json.dumps(whole))
    modes = {one.name: one.brief.mode for one in scene.view().sessions}
    assert modes == {HERE: "active", ELSEWHERE: "waiting", FOURTH: "active", THIRD: "unreadable"}


def test_gates_that_no_run_holds_do_not_make_a_session_active(tmp_path: Path) -> None:
    scene = SCENES["nothing-on"](tmp_path / "p")
    scene.check("gate", "add", "tests", "--", "true")
    one = focus(scene.view())
    assert (one.brief.mode, one.is_on, lines.headline(one)) == ("off", False, "off")
    assert marks(work(scene.view(), "ulw")) == {"tests": "open"}


# What programs read


@pytest.mark.parametrize("name", SCENES)
def test_the_data_is_json_and_keeps_its_keys(name: str) -> None:
    data: dict[str, Any] = json.loads(json.dumps(view(name).data))
    assert set(data) == {"root", "sessions", "overrides", "problems"}
    for one in data["sessions"]:
        keys = {"session", "mode", "fenced", "work", "breakers", "nextStop", "here", "last_used"}
        assert keys <= set(one)
        for seen in one.get("works", []):
            assert {"kind", "run", "unit", "done", "total", "items", "next", "facts", "overrides"} <= set(seen)


def state_digest(scene: Scene) -> dict[str, str]:
    files = sorted(path for path in Path(scene.state).rglob("*") if path.is_file() and path.name != "tree.cache")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("name", SCENES)
def test_looking_writes_nothing(name: str) -> None:
    before = state_digest(scene(name))
    scene(name).view(closely=HERE)
    assert state_digest(scene(name)) == before


def test_where_nothing_ever_was_looking_makes_no_directory(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    assert scene.view() == ProjectView(str(tmp_path), [], [], [], HERE)
    assert list(tmp_path.iterdir()) == []


def test_a_session_looked_at_alone_is_the_one_in_the_list() -> None:
    asked = scene("several-sessions")
    assert project.look_at(asked.context(), HERE).data == asked.view().sessions[0].data
    assert runtime.read(asked.state)["sessions"].keys() == {HERE, ELSEWHERE, THIRD, FOURTH}
