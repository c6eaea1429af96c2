"""What a refusal says to do can be done, as it stands; and what is shown tells apart what is different."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from omo.errors import BadInput, OmoError, Refused
from omo.ultragoal.checkpoint import subject_of
from omo.ultragoal.gate import models, rules
from tests.cli.conftest import Shell
from tests.cli.conftest import shell as shell  # the fixture, under its own name
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.workshop import ONE, THREE, TWO, Workshop


def test_the_order_that_a_refusal_prints_can_be_pasted(shop: Workshop) -> None:
    shop.create(THREE)
    with pytest.raises(Refused) as caught:
        shop.steer("reorder_pending", order='["G001"]')
    printed = caught.value.fix[caught.value.fix.index("[") :]
    shop.steer("reorder_pending", order=json.dumps(json.loads(printed)[::-1]))
    assert list(shop.statuses()) == ["G003", "G002", "G001"]


@pytest.mark.parametrize("kind", ["mark_blocked_superseded", "split_subgoal"])
@pytest.mark.parametrize("status", ["pending", "active", "failed"])
def test_a_goal_is_blocked_before_it_is_cut_and_the_refusal_says_so(shop: Workshop, kind: str, status: str) -> None:
    shop.create(TWO)
    if status != "pending":
        shop.hand_out()
    if status == "failed":
        shop.set_back("G001", "failed")
    parts = '[{"title": "A", "objective": "Do A."}, {"title": "B", "objective": "Do B."}]'
    options = {"goal_id": "G001", **({"replacements": parts} if kind == "split_subgoal" else {})}
    if (kind, status) != ("split_subgoal", "pending"):  # which may be split as it is
        with pytest.raises(Refused) as caught:
            shop.steer(kind, **options)
        assert caught.value.fix.startswith("omo ultragoal checkpoint --goal-id G001 --status blocked --evidence TEXT")
        shop.set_back("G001", "blocked")
    shop.steer(kind, **options)
    assert shop.goal("G001").status == "superseded"


def test_a_goal_that_waits_its_turn_names_the_one_to_finish_first(shop: Workshop) -> None:
    shop.create(TWO)
    shop.hand_out()
    for refused in (
        lambda: shop.complete("G002"),
        lambda: shop.set_back("G002", "failed"),
        lambda: shop.review("G002"),
    ):
        with shop.refused("G002 is pending", "checkpoint --goal-id G001 --status", "omo ultragoal complete-goals"):
            refused()
    shop.set_back("G001", "failed")
    shop.hand_out()
    shop.complete("G002")


def test_blockers_without_a_title_can_be_told_apart(shop: Workshop) -> None:
    shop.create(ONE)
    shop.hand_out()
    titles = [shop.review("G001", words).goal.title for words in ("Bad rows are refused.", "x" * 200)]
    assert titles[0] == "Resolve for G001: Bad rows are refused."
    assert titles[1].startswith("Resolve for G001: xxx")
    assert len(titles[1]) <= 80


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff"])
def test_half_a_character_is_called_what_it_is(tmp_path: Path, half: str) -> None:
    (tmp_path / "gate.json").write_text(f'{{"a": ["x{half}y"]}}')
    with pytest.raises(BadInput) as caught:
        models.load("gate.json", tmp_path)
    assert f"half a character ({half})" in caught.value.message
    assert half in caught.value.fix


@pytest.mark.parametrize("option", ["--goal-json", "--executor-qa-json"])
def test_half_a_character_never_ends_in_a_crash(shell: Shell, option: str) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", ONE)
    shell.agent("ultragoal", "complete-goals")
    text = '{"objective": "\\ud800", "blockers": ["\\ud800"]}'
    command = (
        ("ultragoal", "checkpoint", "--goal-id", "G001", "--status", "blocked", "--evidence", "e")
        if option == "--goal-json"
        else ("ultragoal", "review")
    )
    ran = shell.agent(*command, option, text)
    assert ran.code in (2, 3)


@pytest.mark.parametrize("text", [ONE, TWO])
def test_one_is_singular(shell: Shell, text: str) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", text)
    said = [
        shell.agent("ultragoal", "create-goals", "--brief", text),
        shell.agent("ultragoal", "status"),
        shell.agent("goal", "pause"),
        shell.agent("goal", "complete"),
        shell.agent("goal", "drop"),
        shell.agent("goal", "create", "--objective", "something else"),
        shell.agent("state", "clear", "--mode", "ultragoal", "--force"),
    ]
    whole = " ".join(ran.out + ran.err for ran in said)
    assert ("1 goals" in whole, "1 open goals" in whole) == (False, False)
    assert ("1 goal" if text == ONE else "2 goals") in whole


def test_programs_are_told_where_the_brief_is_and_how_the_next_goal_stands(shell: Shell) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", TWO)
    shell.agent("ultragoal", "complete-goals")
    brief = Path(shell.agent("ultragoal", "status", "--json").json["paths"]["brief"])
    assert brief.read_text(encoding="utf-8").strip() == TWO
    for goal, following in (("G001", ("G002", "active")), ("G002", (None, None))):
        shell.write("gate.json", json.dumps(valid_gate(shell.project, goal)))
        ran = shell.agent(
            *("ultragoal", "checkpoint", "--goal-id", goal, "--status", "complete", "--evidence", "seen", "--json"),
            *("--quality-gate-json", "gate.json"),
        )
        assert (ran.json["next_goal_id"], ran.json["next_goal_status"]) == following


def test_a_story_is_handed_out_with_its_own_objective_as_the_sessions_goal(shell: Shell) -> None:
    shell.agent("ultragoal", "create-goals", "--brief", TWO, "--goal-mode", "per-story")
    assert "The session's goal: Read the file." in shell.agent("ultragoal", "complete-goals").out
    given = shell.agent("ultragoal", "complete-goals", "--json").json
    assert given["objective"] == shell.agent("goal", "get", "--json").json["goal"]["objective"] == "Read the file."


@pytest.mark.parametrize("now", [None, "{}", "rubbish", '{"computer_control": ["other"]}'])
def test_what_was_computer_control_when_the_plan_began_stays_so(shop: Workshop, now: str | None) -> None:
    path = shop.root / ".sisyphus" / "omo.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text('{"computer_control": ["native"]}')
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "add", "-f", str(path)], cwd=shop.root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=shop.root, check=True)
    shop.create(ONE)
    shop.hand_out()
    path.unlink()
    if now is not None:
        path.write_text(now)
    (shop.root / "native").mkdir()
    (shop.root / "native" / "mouse.c").write_text("int x;")
    run = shop.run(control_globs=("other",))
    subject = subject_of(run, shop.plan(), shop.goal("G001"))
    assert subject.control_globs == ("other", "native")
    assert rules.suite_triggers(subject) == ["native/mouse.c"]
    with pytest.raises(OmoError, match="does not pass"):
        shop.complete("G001")


def test_a_base_without_settings_adds_nothing(shop: Workshop) -> None:
    shop.create(ONE)
    assert subject_of(shop.run(), shop.plan(), shop.goal("G001")).control_globs == ()
