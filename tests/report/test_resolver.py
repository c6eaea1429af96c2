"""The one reading behind every view, on states that the real commands and hooks left."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from omo.views import lines
from omo.views.project import ProjectView, SessionView
from omo.work.status import Status
from tests import texts
from tests.named_commands import parser_of_omo
from tests.report.states import ELSEWHERE, FOURTH, HERE, SCENES, THIRD, scene, view


def focus(view: ProjectView) -> SessionView:
    assert view.focus is not None
    return view.focus


def work(view: ProjectView, kind: str) -> Status:
    return next(one for one in focus(view).works or [] if one.kind == kind)


def marks(view: Status) -> dict[str, str]:
    return {item.id: item.mark for item in view.items}


# What snapshots do not show


def test_the_last_block_is_near(tmp_path: Path) -> None:
    scene = SCENES["exhausted"](tmp_path / "p")
    scene.prompt("ulw once more")
    for _ in range(8):
        scene.stop()
    scene.now += 60
    one = focus(scene.view())
    assert (one.brief.breakers["blocks"].left, one.brief.rule.name) == (0, "cap")
    assert "red" in [style for line in lines.session_lines(one) for _, style in line.cells]
    assert texts.says(lines.plain(lines.session_lines(one)), "status-next-stop-let-go-at-cap")


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
