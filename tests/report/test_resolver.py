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


# What each workflow shows


def test_gates_are_fresh_stale_failed_and_open() -> None:
    gates = work(view("ulw-with-gates"), "ulw")
    assert marks(gates) == {"tests": "done", "lint": "stale", "types": "failed", "docs": "open"}
    assert (item(gates, "tests").receipt, item(gates, "lint").receipt) == ("fresh", "stale")
    assert item(gates, "lint").receipt_why == "changed since: value"
    assert item(gates, "tests").notes[-1] == "pinned by the user"
    assert (gates.done, gates.total, gates.next.command) == (1, 4, "omo gate run")


def test_goals_have_receipts_and_what_they_rest_on() -> None:
    plan = work(view("ultragoal-five-goals"), "ultragoal")
    assert list(marks(plan).values()) == ["done", "stale", "failed", "active", "open"]
    assert item(plan, "G002").receipt_why == "the quality gate behind the receipt of G002 is gone"
    assert plan.overrides == ("G002: not reviewed independently",)
    assert (plan.done, plan.total) == (1, 5)


def test_a_plan_that_is_done_says_so_after_its_stop() -> None:
    one = focus(view("ultragoal-done"))
    assert (one.brief.mode, one.brief.rule.name, one.is_on) == ("done", "not-active", False)
    assert lines.headline(one) == "ultragoal finished on the agent's word"
    assert one.data["outcome"]["verdict"] == "attested"
    told = lines.outcome(one)
    assert told.startswith("finished on the agent's word: ultragoal g")
    assert ": 3 of 3 goals complete (G001 'Parse', " in told
    assert one.leading is not None
    assert "final receipt: fresh, issued with G003" in one.leading.facts


def test_steps_are_what_git_shows() -> None:
    one = focus(view("ultraplan-missing-step"))
    steps = work(view("ultraplan-missing-step"), "ultraplan")
    assert marks(steps) == {"1": "done", "2": "open", "3": "done", "4": "open"}
    assert one.brief.is_fenced
    assert "fence: touch src/**, tests/**; never infra/**" in steps.facts
    assert any(": notes.txt: changed and not committed" in fact for fact in steps.facts)
    assert steps.overrides == ("no clean critique of the plan: no critic in this test",)


def test_what_broke_is_told_from_what_never_held() -> None:
    run = work(view("ralph-regression"), "ralph")
    assert marks(run) == {"C1": "failed", "C2": "done", "C3": "failed"}
    assert (item(run, "C1").status, item(run, "C3").status) == ("REGRESSED", "FAIL")
    assert "iteration 3 of 5" in run.headline


def test_a_goal_with_checks_shows_what_it_owes() -> None:
    held = work(view("verify-goal"), "verify")
    assert (marks(held), held.next.action) == ({"G1": "active"}, "checks")
    assert item(held, "G1").notes[0].startswith("checks: owed")
    assert lines.why_stop(focus(view("verify-goal"))) == "2 of 2 steps are open"


# How a session stands


@pytest.mark.parametrize(
    ("name", "mode", "rule", "headline"),
    [
        ("ulw-without-gates", "active", "block", "ultrawork active"),
        ("ultragoal-five-goals", "active", "block", "ultragoal active"),
        ("cancelled", "cancelled", "cancelled", "ultrawork cancelled"),
        ("exhausted", "exhausted", "not-active", "ultrawork let go by a limit"),
        ("paused", "paused", "waiting", "ultrawork paused"),
        ("waiting", "waiting", "waiting", "ultrawork waiting"),
        ("skipped-verification", "done", "done", "ultrawork ended with exceptions"),
    ],
)
def test_mode_rule_and_headline(name: str, mode: str, rule: str, headline: str) -> None:
    one = focus(view(name))
    assert (one.brief.mode, one.brief.rule.name, lines.headline(one)) == (mode, rule, headline)


def test_a_question_is_passed_on() -> None:
    assert "  question   Where is the key?" in lines.plain(lines.session_lines(focus(view("waiting"))))


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


def test_a_damaged_ledger_is_mended_first() -> None:
    one = focus(view("damaged-ledger"))
    assert one.problems
    assert one.next.command == f"omo ledger repair --session {HERE}"


def test_a_session_without_gates_tells_of_its_damaged_ledger_too(tmp_path: Path) -> None:
    scene = SCENES["ultragoal-five-goals"](tmp_path / "p")
    path = next(Path(scene.state).glob("sessions/*/events.jsonl"))
    path.write_text(path.read_text().replace('"kind"', '"kind" ', 1))
    assert focus(scene.view()).problems


# Many sessions


def test_this_session_is_first_then_those_that_are_on_then_the_rest() -> None:
    found = view("several-sessions")
    assert [one.name for one in found.sessions] == [HERE, ELSEWHERE, FOURTH, THIRD]
    assert [one.is_orphan for one in found.sessions] == [False, False, True, False]
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
        keys = {"session", "mode", "fenced", "work", "breakers", "nextStop", "here", "orphan", "last_used"}
        assert keys <= set(one)
        for seen in one.get("works", []):
            assert {"kind", "run", "unit", "done", "total", "items", "next", "facts", "overrides"} <= set(seen)


def test_a_claim_that_was_let_stand_stays_in_sight(tmp_path: Path) -> None:
    scene = SCENES["verify-goal"](tmp_path / "p")
    claim = (
        "verify",
        "claim",
        "parser.py contains 'quotes'",
        "--goal",
        "G1",
        "--contains",
        "quotes",
        "--in",
        "parser.py",
    )
    scene.check(*claim, code=3)
    override = ("--override", "it is checked by hand every time")
    scene.check(*claim, *override, by="user")
    (told,) = scene.view().overrides
    assert (told["claim"], told["by"]) == ("parser.py contains 'quotes'", "user")


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
