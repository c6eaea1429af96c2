"""`omo ultragoal` and `omo ledger verify` through the command line: what they print, for people and for programs."""

from __future__ import annotations

import contextlib
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from omo.state import paths
from omo.state.journal import Journal
from tests import texts
from tests.cli.sessions import use_blocks
from tests.hunt.walk import Died, death
from tests.project import SESSION, Project, Ran, plan_directory
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import ONE, TWO

OBJECTIVE = "ultragoal-objective-of-the-plan"


def directory(project: Project) -> Path:
    return plan_directory(project.state, SESSION)


def plan_bytes(project: Project) -> dict[str, bytes]:
    return {
        str(one): one.read_bytes() for one in directory(project).rglob("*") if one.is_file() and one.suffix != ".lock"
    }


def create(project: Project, text: str = TWO, *more: str) -> Ran:
    return project.agent("ultragoal", "create-goals", "--brief", text, *more)


def gate_file(project: Project, goal: str) -> str:
    project.write(f"{goal}.json", json.dumps(valid_gate(project.root, goal)))
    return f"{goal}.json"


def checkpoint(project: Project, goal: str, status: str = "complete", *more: str) -> Ran:
    gate = ["--quality-gate-json", gate_file(project, goal)] if status == "complete" else []
    return project.agent(
        "ultragoal", "checkpoint", "--goal-id", goal, "--status", status, "--evidence", "it was seen", *gate, *more
    )


def finish(project: Project) -> None:
    for goal in project.agent("ultragoal", "status", "--json").json["goals"]:
        project.agent("ultragoal", "complete-goals")
        assert checkpoint(project, goal["id"]).code == 0


def status(project: Project) -> dict[str, Any]:
    return project.agent("ultragoal", "status", "--json").json


# status


def test_status_without_a_plan_is_no_error(project: Project) -> None:
    ran = project.agent("ultragoal", "status")
    assert (ran.code, ran.says("ultragoal-no-ultragoal-plan-in-this"), "create-goals" in ran.out) == (0, True, True)
    shown = status(project)
    assert (shown["exists"], shown["status"]) == (False, "missing")
    assert not directory(project).exists(), "looking writes nothing"


def test_status_shows_goals_counts_paths_receipts_and_the_next_step(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001")
    before = plan_bytes(project)
    shown = status(project)
    assert shown["exists"] is True
    assert (shown["status"], shown["current_goal"]) == ("active", "G002")
    assert texts.says(shown["objective"], OBJECTIVE)
    assert {name: count for name, count in shown["counts"].items() if count} == {"complete": 1, "active": 1}
    assert len(shown["counts"]) == 7
    assert shown["paths"]["ledger"] == str(directory(project) / "ledger.jsonl")
    assert [(goal["id"], goal["receipt"], goal["overrides"]) for goal in shown["goals"]] == [
        ("G001", "fresh", ["not reviewed independently"]),
        ("G002", None, []),
    ]
    assert (shown["next"]["action"], shown["next"]["item"]) == ("execute-goal", "G002")
    assert (shown["final_receipt"], shown["problems"]) == (None, [])
    text = project.agent("ultragoal", "status").out
    assert texts.says(text, "ultragoal-ultragoal-active-goals-active-complete", number=2, number2=1, number3=1)
    assert texts.says(text, "ultragoal-goal-with-fresh-receipt")
    assert texts.says(text, "ultragoal-not-reviewed-independently-2")
    assert "Next: G002" in text
    assert plan_bytes(project) == before


@pytest.mark.parametrize(
    ("moves", "word"),
    [
        ([], "pending"),
        (["complete-goals"], "active"),
        (["complete-goals", "G001 failed"], "pending"),
        (["complete-goals", "G001 failed", "complete-goals", "G002 failed"], "failed"),
        (["complete-goals", "G001 blocked", "complete-goals", "G002 blocked"], "blocked"),
        (["complete-goals", "G001 complete", "G002 complete"], "complete"),
    ],
)
def test_one_word_says_how_the_whole_plan_stands(project: Project, moves: list[str], word: str) -> None:
    create(project)
    for move in moves:
        goal, _, outcome = move.partition(" ")
        ran = checkpoint(project, goal, outcome) if outcome else project.agent("ultragoal", move)
        assert ran.code == 0, ran.err
    assert status(project)["status"] == word


# create-goals


def test_creating_answers_with_ids_and_paths_and_never_with_the_plan(project: Project) -> None:
    made = create(project, TWO, "--json").json
    assert (made["ok"], made["goals_count"], made["goal_ids"]) == (True, 2, ["G001", "G002"])
    assert made["goals_path"] == str(directory(project) / "goals.json")
    assert (made["goal_mode"], made["archived"], made["next"]) == ("aggregate", None, "omo ultragoal complete-goals")
    assert not texts.says(json.dumps(made), "ultragoal-read-file")


def test_creating_makes_the_sessions_goal_and_arms_the_session(project: Project) -> None:
    without = project.agent("ultragoal", "complete-goals")
    assert (without.code, "create-goals" in without.err) == (3, True)
    said = create(project).out
    assert (texts.says(said, "ultragoal-plan-with-goals", number=2), "G001 Parse" in said) == (True, True)
    assert texts.says(project.agent("goal", "get", "--json").json["goal"]["objective"], OBJECTIVE)
    assert project.row()["work"]["ultragoal"]["open"] == 2
    assert project.agent("explain", "stop", "--json").json["rule"] == "block"


def test_the_brief_comes_from_text_file_or_stdin(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("brief.md", "\ufeff" + TWO.replace("\n", "\r\n"))
    assert project.agent("ultragoal", "create-goals", "--brief-file", "brief.md").code == 0
    assert [goal["title"] for goal in status(project)["goals"]] == ["Parse", "Check"]
    monkeypatch.setattr("sys.stdin", io.StringIO(ONE))
    assert project.agent("ultragoal", "create-goals", "--from-stdin", "--force").code == 0
    assert [goal["title"] for goal in status(project)["goals"]] == ["Parse"]


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["--brief", ""],
        ["--brief", " \n "],
        ["--brief", "@goal: A\n@goal:\n\n@goal: C"],
        ["--brief-file", "nowhere.md"],
        ["--brief-file", "."],
        ["--brief", ONE, "--from-stdin"],
        ["--brief", ONE, "--goal-mode", "stories"],
    ],
)
def test_a_brief_that_cannot_be_used_is_exit_2_and_writes_nothing(project: Project, argv: list[str]) -> None:
    ran = project.agent("ultragoal", "create-goals", *argv)
    assert ran.code == 2
    assert "fix:" in ran.err
    assert not directory(project).exists()
    if "@goal:\n" in "".join(argv):
        assert "block 2" in ran.err, "an empty one is named by its number"


@pytest.mark.parametrize("write", range(10))
def test_a_plan_is_there_also_where_another_by_force_was_killed(project: Project, write: int) -> None:
    create(project, TWO)
    with contextlib.suppress(Died), death(write):
        create(project, ONE, "--force")
    assert "G001" in project.check("ultragoal", "status").out
    assert project.stop().blocks


def test_an_unfinished_plan_is_refused_and_by_force_archived(project: Project) -> None:
    create(project)
    before = plan_bytes(project)
    refused = create(project, ONE)
    assert (refused.code, "2 open goals" in refused.err, "--force" in refused.err) == (3, True, True)
    assert plan_bytes(project) == before
    forced = create(project, ONE, "--force", "--json").json
    assert Path(forced["archived"]).is_dir()
    assert forced["goals_count"] == 1


# complete-goals


def test_a_goal_is_handed_out_with_everything_needed_to_do_it(project: Project) -> None:
    create(project)
    given = project.agent("ultragoal", "complete-goals", "--json").json
    assert (given["goal_id"], given["goal_status"], given["started"]) == ("G001", "active", True)
    assert (given["goal_objective"], given["constraints"]) == ("Read the file.", "Keep the API.")
    assert (given["all_complete"], given["next_action"]) == (False, "execute-goal")
    assert texts.says(given["objective"], OBJECTIVE)
    text = project.agent("ultragoal", "complete-goals").out
    for words in (
        "Go on with G001: Parse",
        "Read the file.",
        "Keep the API.",
        "omo:architect and omo:qa",
        "/omo:pin NAME -- COMMAND",
        "checkpoint --goal-id G001 --evidence TEXT -- COMMAND",
    ):
        assert words in text


def test_what_went_wrong_before_is_told_with_the_goal(project: Project) -> None:
    assert create(project, ONE).says("ultragoal-plan-with-goal", number=1)
    project.agent("ultragoal", "complete-goals")
    assert "omo ultragoal complete-goals --retry-failed" in checkpoint(project, "G001", "failed").out
    assert project.agent("ultragoal", "complete-goals", "--json").json["next_action"] == "retry-failed"
    given = project.agent("ultragoal", "complete-goals", "--retry-failed", "--json").json
    assert given["background"] == ["last time: it was seen"]


def test_when_all_are_blocked_the_answer_names_the_goal_and_the_way(project: Project) -> None:
    create(project)
    for goal in ("G001", "G002"):
        project.agent("ultragoal", "complete-goals")
        ran = checkpoint(project, goal, "blocked")
    assert "--retry-blocked" in ran.out
    given = project.agent("ultragoal", "complete-goals", "--json").json
    assert (given["next_action"], given["goal_id"], given["all_complete"]) == ("resolve-blockers", "G001", False)
    assert "--retry-blocked" in given["next"]
    assert project.agent("ultragoal", "complete-goals").says("ultragoal-no-goal-can-be-handed-out")
    assert project.agent("ultragoal", "complete-goals", "--retry-blocked", "--json").json["goal_id"] == "G001"


def test_handing_out_goes_on_with_a_paused_goal_and_makes_a_missing_one(project: Project) -> None:
    create(project)
    project.agent("goal", "drop")
    assert project.agent("ultragoal", "complete-goals").says("ultragoal-session-goal-was-created")
    waits = ["--classification", "human_blocked", "--evidence", "the key is with the user"]
    assert project.agent("ultragoal", "classify-blocker", *waits).code == 0
    assert project.agent("goal", "pause").code == 0
    assert "active again" in project.agent("ultragoal", "complete-goals").err
    assert project.agent("goal", "get", "--json").json["goal"]["status"] == "active"


def test_a_missing_goal_is_made_for_what_is_handed_out(project: Project) -> None:
    """Story by story: G001 is shown anew before G002 is begun."""
    create(project, TWO, "--goal-mode", "per-story")
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001", "failed")
    found = ["--goal-id", "G001", "--objective", "It must hold.", "--evidence", "it does not"]
    assert project.agent("ultragoal", "record-review-blockers", *found).code == 0
    checkpoint(project, "G003", "blocked")
    why = ["--evidence", "it does hold", "--rationale", "it was seen"]
    project.agent("ultragoal", "steer", "--kind", "mark_blocked_superseded", "--goal-id", "G003", *why)
    project.agent("goal", "drop")
    given = project.agent("ultragoal", "complete-goals", "--json").json
    assert (given["goal_id"], given["next_action"]) == ("G001", "execute-goal")


# checkpoint

ANOTHER_GOAL = '{"goal": {"objective": "another", "status": "active"}}'


def test_a_checkpoint_answers_with_its_receipt_and_what_is_next(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    done = checkpoint(project, "G001", "complete", "--json").json
    assert (done["goal_id"], done["status"], done["changed"]) == ("G001", "complete", True)
    assert (done["completion_receipt_kind"], done["independence"]) == ("per-goal", "reduced")
    assert len(done["quality_gate_hash"]) == 64
    assert (done["all_complete"], done["incomplete_goal_ids"]) == (False, ["G002"])
    assert (done["next_goal_id"], done["started_next"], done["next_action"]) == ("G002", True, "execute-goal")
    last = checkpoint(project, "G002")
    assert "final-aggregate receipt" in last.out
    assert last.says("ultragoal-all-ultragoal-goals-are-complete-of")
    assert "omo goal complete" in last.out
    given = project.agent("ultragoal", "complete-goals", "--json").json
    assert (given["all_complete"], given["next"]) == (True, "omo goal complete")
    assert project.agent("ultragoal", "complete-goals").says("ultragoal-all-ultragoal-goals-are-complete")
    assert project.agent("goal", "complete").code == 0


def test_a_replay_says_that_it_stood_already(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    assert checkpoint(project, "G001").says("ultragoal-next-ultragoal-goal", started="G002", title="Check")
    before = plan_bytes(project)
    again = checkpoint(project, "G001")
    assert (again.code, again.says("ultragoal-complete-it-stood-already")) == (0, True)
    assert plan_bytes(project) == before


def test_a_replay_brings_a_session_up_that_a_crash_left_behind(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    runtime_file = Path(paths.runtime_file(project.state))
    events = Path(paths.events_file(project.state, SESSION))
    behind = [(one, one.read_bytes()) for one in (runtime_file, events, directory(project) / "goals.json")]
    checkpoint(project, "G001")
    for path, raw in behind:
        path.write_bytes(raw)
    assert project.row()["work"]["ultragoal"]["open"] == 2
    assert checkpoint(project, "G001", "complete", "--json").json["changed"] is False
    assert project.row()["work"]["ultragoal"]["open"] == 1
    assert project.agent("ledger", "verify").code == 0


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (["--goal-id", "G001", "--status", "complete", "--evidence", "seen"], 3),
        (["--goal-id", "G001", "--status", "complete", "--evidence", "seen", "--quality-gate-json", "{}"], 3),
        (["--goal-id", "G001", "--status", "complete", "--evidence", "seen", "--quality-gate-json", "no.json"], 2),
        (["--goal-id", "G001", "--status", "complete", "--evidence", "seen", "--quality-gate-json", "{"], 2),
        (["--goal-id", "G001", "--status", "completed", "--evidence", "seen"], 2),
        (["--goal-id", "G001", "--status", "superseded", "--evidence", "seen"], 2),
        (["--goal-id", "G001", "--status", "pending", "--evidence", "seen"], 2),
        (["--goal-id", "G001", "--status", "failed", "--evidence", " "], 2),
        (["--goal-id", "G001", "--status", "failed"], 2),
        (["--goal-id", "G009", "--status", "failed", "--evidence", "seen"], 2),
        (["--goal-id", "G001", "--status", "failed", "--evidence", "seen", "--goal-json", "no.json"], 2),
        (["--goal-id", "G001", "--status", "failed", "--evidence", "seen", "--goal-json", "{}"], 2),
        (["--goal-id", "G001", "--status", "failed", "--evidence", "seen", "--goal-json", '["objective"]'], 2),
        (["--goal-id", "G001", "--evidence", "seen", "--quality-gate-json", "{}", "--", "cat", "a"], 2),
        (["--goal-id", "G001", "--status", "failed", "--evidence", "seen", "--goal-json", ANOTHER_GOAL], 3),
        (["--status", "failed", "--evidence", "seen", "--", "ls"], 2),
    ],
)
def test_a_refused_checkpoint_names_the_remedy_and_writes_nothing(project: Project, argv: list[str], code: int) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    before = plan_bytes(project)
    ran = project.agent("ultragoal", "checkpoint", *argv)
    assert ran.code == code, ran.err
    assert "fix:" in ran.err
    assert "Traceback" not in ran.err
    if "--goal-json" in argv:
        assert ("--goal-json" in ran.err, "quality gate" in ran.err) == (True, False)
        assert ("does not show the session's goal as it is" in ran.err) is (ANOTHER_GOAL in argv)
    assert plan_bytes(project) == before


def test_all_defects_of_a_gate_are_said_at_once_for_people_and_programs(project: Project) -> None:
    create(project, ONE)
    project.agent("ultragoal", "complete-goals")
    gate = valid_gate(project.root)
    gate["executorQa"]["status"] = "ok"
    gate["iteration"]["fullRerun"] = False
    argv = ["ultragoal", "checkpoint", "--goal-id", "G001", "--status", "complete", "--evidence", "seen"]
    ran = project.agent(*argv, "--quality-gate-json", json.dumps(gate), "--json")
    assert ran.code == 3
    defects = ran.json["error"]["details"]
    assert [one.split(":")[0] for one in defects] == ["executorQa.status", "iteration.fullRerun"]
    text = project.agent(*argv, "--quality-gate-json", json.dumps(gate)).err
    assert all(one.split(":")[0] in text for one in defects)


def test_a_new_receipt_renews_the_budget_and_one_issued_again_does_not(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    use_blocks(project, 5)
    checkpoint(project, "G001")
    assert project.row()["ulw"]["stopBlocks"] == 0
    use_blocks(project, 5)
    assert checkpoint(project, "G001", "complete", "--evidence", "other words", "--json").json["changed"] is True
    assert project.row()["ulw"]["stopBlocks"] == 5
    found = ("--objective", "Bad rows are refused.", "--evidence", "it was seen")
    project.check("ultragoal", "record-review-blockers", "--goal-id", "G001", *found)
    for goal in ("G002", "G003"):
        project.agent("ultragoal", "complete-goals")
        assert checkpoint(project, goal).code == 0
    use_blocks(project, 5)
    project.agent("ultragoal", "complete-goals")
    assert checkpoint(project, "G001").code == 0
    assert project.row()["ulw"]["stopBlocks"] == 5, "opened by a review and closed again"


def test_the_older_names_of_options_still_work(project: Project) -> None:
    made = create(project, TWO, "--gjc-goal-mode", "per-story", "--json")
    assert made.json["goal_mode"] == "per-story"
    project.agent("ultragoal", "complete-goals")
    assert (
        checkpoint(project, "G001", "failed", "--gjc-goal-json", project.agent("goal", "get", "--json").out).code == 0
    )


def test_a_copy_of_the_goal_from_before_its_pause_is_not_fresh(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    before = project.agent("goal", "get", "--json").out
    needs_a_person = ("--classification", "human_blocked", "--evidence", "the user enters the production key")
    project.agent("ultragoal", "classify-blocker", *needs_a_person)
    assert [project.agent("goal", operation).code for operation in ("pause", "resume")] == [0, 0]
    refused = checkpoint(project, "G001", "complete", "--goal-json", before)
    assert (refused.code, "updatedAt: " in refused.err, "omo goal get --json" in refused.err) == (3, True, True)
    fresh = project.agent("goal", "get", "--json").out
    assert checkpoint(project, "G001", "complete", "--goal-json", fresh).code == 0


def test_a_per_story_plan_ends_by_following_the_next_step(project: Project) -> None:
    create(project, TWO, "--goal-mode", "per-story")
    for _ in range(20):
        step = status(project)["next"]
        if step["action"] == "done":
            break
        for command in step["command"].split(", then "):
            ran = checkpoint(project, step["item"]) if "checkpoint" in command else project.agent(*command.split()[1:])
            assert ran.code == 0, (step, ran.err)
    assert status(project)["status"] == "complete"
    assert project.row()["work"]["ultragoal"]["state"] == "ended"
    assert project.row()["work"]["ultragoal"]["deny"] == {}


# Stop


def stop(project: Project) -> str:
    rule: str = project.agent("explain", "stop", "--json").json["rule"]
    return rule


def next_goal(project: Project) -> str:
    """What a block says first."""
    said: str = project.row()["work"]["ultragoal"]["next"]
    return said.split()[0]


def test_stop_blocks_while_goals_are_open_and_names_the_next_one(project: Project) -> None:
    create(project)
    assert (stop(project), next_goal(project)) == ("block", "G001")
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001")
    assert (stop(project), next_goal(project)) == ("block", "G002")
    checkpoint(project, "G002", "blocked")
    assert stop(project) == "block", "blocked alone is the agent's to resolve"
    waits = ["--classification", "human_blocked", "--goal-id", "G002", "--evidence", "the key is with the user"]
    project.agent("ultragoal", "classify-blocker", *waits)
    assert stop(project) != "block", "the rest waits for a person"
    project.agent("ultragoal", "complete-goals", "--retry-blocked")
    assert stop(project) == "block"
    checkpoint(project, "G002")
    assert stop(project) == "block", "every goal is closed, and the plan is not at its end"
    assert "omo goal complete" in project.row()["work"]["ultragoal"]["next"]
    project.agent("goal", "complete")
    assert stop(project) != "block"


# ledger verify


PROJECT_LEDGERS = ("evidence", "verify/pins", "verify/goals/G1", "verify/claims", "plans/reviews", "plans/r-1")


@pytest.mark.parametrize("name", PROJECT_LEDGERS)
def test_ledger_verify_looks_at_every_ledger_of_the_project(project: Project, name: str) -> None:
    create(project, ONE)
    journal = Journal(os.path.join(project.state, name), project.state)
    journal.change(lambda rows: (None, [{"kind": "noted"}]), actor="user", now=project.now, wait=5)
    whole = project.agent("ledger", "verify", "--json")
    assert (whole.code, whole.json["ledgers"][journal.path]) == (0, [])
    Path(journal.path).write_text(Path(journal.path).read_text().replace("noted", "edited"))
    ran = project.agent("ledger", "verify", "--json")
    assert (ran.code, [one.split(": ")[0] for one in ran.json["problems"]]) == (3, [journal.path])


def test_notes_of_a_receipt_are_shown_with_its_goal(project: Project) -> None:
    create(project, ONE)
    project.agent("ultragoal", "complete-goals")
    gate = valid_gate(project.root)
    gate["iteration"]["evidence"] = "everything was run again"
    said = ("--status", "complete", "--evidence", "it was seen", "--quality-gate-json", json.dumps(gate))
    assert project.agent("ultragoal", "checkpoint", "--goal-id", "G001", *said).code == 0
    (goal,) = status(project)["goals"]
    assert texts.says(goal["notes"][0], "ultragoal-no-cleaner-looked-at-it-which")
    assert (
        "receipt fresh; not reviewed independently; no cleaner looked at it" in project.agent("ultragoal", "status").out
    )


@pytest.mark.parametrize(
    ("which", "name", "old", "new"),
    [
        ("ledger.jsonl", "goals.json", "complete", "pending"),
        ("ledger.jsonl", "ledger.jsonl", "it was seen", "it was not seen"),
        ("ledger.jsonl", "mark.json", '"seq"', '"Seq"'),
        ("ledger.jsonl", "ledger.jsonl", "goal_created", "goal_dropped"),
        ("events.jsonl", "events.jsonl", "active", "done"),
    ],
)
def test_an_edited_file_of_the_session_is_exit_3(project: Project, which: str, name: str, old: str, new: str) -> None:
    create(project, ONE)
    finish(project)
    home = directory(project) if which == "ledger.jsonl" else Path(paths.session_dir(project.state, SESSION))
    path = home / name
    ledger = str(home / which)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    ran = project.agent("ledger", "verify", "--json")
    assert ran.code == 3
    assert [damaged for damaged, problems in ran.json["ledgers"].items() if problems] == [ledger]
    assert all(one.startswith(f"{ledger}: ") for one in ran.json["problems"])


def test_a_gate_that_was_edited_is_exit_3_and_shown(project: Project) -> None:
    create(project, ONE)
    finish(project)
    whole = project.agent("ledger", "verify", "--json")
    assert (whole.code, whole.json["problems"]) == (0, [])
    evidence = os.path.join(project.state, "evidence")
    ledgers = {os.path.join(home, "ledger.jsonl") for home in (str(directory(project)), evidence)}
    assert ledgers | {paths.events_file(project.state, SESSION)} <= set(whole.json["ledgers"])
    path = directory(project) / "ledger.jsonl"
    path.write_text(path.read_text().replace("the contract was exercised", "the contract was read"))
    ran = project.agent("ledger", "verify")
    assert (ran.code, str(path) in ran.out) == (3, True)
    (goal,) = status(project)["goals"]
    assert (goal["status"], goal["receipt"]) == ("active", None), "what was edited, and all behind it, does not count"
    assert project.agent("goal", "complete").code == 3


def test_an_edited_view_is_never_believed_and_written_anew_by_the_next_command(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001")
    path = directory(project) / "goals.json"
    edited = path.read_text().replace('"active"', '"complete"')
    path.write_text(edited)
    shown = project.agent("ultragoal", "status")
    assert "was edited" in shown.err
    assert "G002 active" in shown.out
    assert stop(project) == "block"
    assert path.read_text() == edited, "looking changes nothing"
    done = checkpoint(project, "G002")
    assert (done.code, done.says("ultragoal-had-been-edited-by-hand-kept")) == (0, True)
    assert [kept.read_text() for kept in path.parent.glob("goals.json.edited-*")] == [edited]
    assert project.agent("ledger", "verify").code == 0
    assert project.agent("goal", "complete").code == 0


def damaged(project: Project) -> bytes:
    """A plan with one receipt whose ledger lost its last row, as a power cut leaves it."""
    create(project)
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001")
    path = directory(project) / "ledger.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    return path.read_bytes()


def test_a_lost_last_row_costs_that_row_and_the_best_word(project: Project) -> None:
    damaged(project)
    before = project.agent("ultragoal", "status")
    told = project.agent("next")
    for said in (before.out + before.err, told.out):
        assert "is damaged: it goes on from row" in said
    assert stop(project) == "block", "it goes on"
    project.check("ultragoal", "complete-goals")
    assert "receipt fresh" in project.agent("ultragoal", "status").out
    assert checkpoint(project, "G002").code == 0
    project.check("goal", "complete")
    ended = project.summary("ultragoal")["outcome"]
    assert texts.says(ended["exceptions"][0]["what"], "end-its-ledger-was-damaged-after")


def test_a_damaged_plan_is_cleared_away_like_any_other_and_all_bytes_are_kept(project: Project) -> None:
    left = damaged(project)
    done = project.user("state", "clear", "--mode", "ultragoal", "--force", "--session", SESSION, "--json")
    assert done.code == 0
    kept = next(Path(path) for path in done.json["kept"] if "/ultragoal/" in path)
    assert (kept / "ledger.jsonl").read_bytes() == left
    assert project.agent("ledger", "verify").code == 0
    create(project)
    assert [goal["receipt"] for goal in status(project)["goals"]] == [None, None]


def test_a_plan_of_another_session_is_taken_up_by_the_user(project: Project) -> None:
    other = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "other"}
    assert project.omo("ultragoal", "create-goals", "--brief", TWO, by="user", env=other).code == 0
    refused = project.agent("resume", "other")
    assert (refused.code, refused.says("resume-session-was-at-work-just-now")) == (3, True)
    done = project.user("resume", "other", "--session", SESSION, "--json")
    assert (done.code, list(done.json["work"])) == (0, ["ultragoal"])
    assert project.row()["work"]["ultragoal"]["open"] == 2
    assert project.row("other")["work"]["ultragoal"]["state"] == "ended"
    unknown = project.user("resume", "nobody", "--session", SESSION)
    assert (unknown.code, "nobody" in unknown.err) == (2, True)


def test_what_a_brief_says_cannot_drive_the_terminal(project: Project) -> None:
    create(project, "@goal: \x1b[31mred\x07\nDo it \x1b]0;pwn\x07now.")
    for argv in (["status"], ["complete-goals"]):
        assert not set("\x1b\x07") & set(project.agent("ultragoal", *argv).out)


# Ways out that are none


def test_ulw_blocked_is_no_way_out_of_a_plan(project: Project) -> None:
    create(project)
    ran = project.agent("ulw", "blocked", "--evidence", "the network seems slow today", "--json")
    assert ran.code == 3
    assert "checkpoint --status blocked" in ran.json["error"]["fix"]
    assert project.row()["work"]["ultragoal"]["state"] == "active"


def test_a_session_whose_plan_was_taken_up_is_held_by_nothing(project: Project) -> None:
    create(project)
    other = {"OMO_SESSION_ID": "other"}
    assert project.omo("resume", SESSION, by="user", env=other).code == 0
    assert project.user("ulw", "status", "--session", SESSION, "--json").json["nextStop"]["rule"] == "done"
    assert project.agent("goal", "get", "--json").json["goal"] is None
    assert project.omo("goal", "get", "--json", by="user", env=other).json["goal"]["status"] == "active"


def test_status_without_a_plan_names_the_plans_that_could_be_taken_up(project: Project) -> None:
    create(project)
    ran = project.omo("ultragoal", "status", "--json", by="user", env={"CLAUDECODE": "1", "OMO_SESSION_ID": "other"})
    assert ran.json["resumable"] == [SESSION]
    assert ran.json["next"]["command"] == f"omo resume {SESSION}"


@pytest.mark.parametrize("before", ["pending", "failed"])
def test_a_goal_that_waits_for_a_person_is_not_begun_before_they_have_acted(project: Project, before: str) -> None:
    create(project)
    if before == "failed":
        project.agent("ultragoal", "complete-goals")
        checkpoint(project, "G001", "failed")
    human = ["--classification", "human_blocked", "--goal-id", "G001", "--evidence", "password missing"]
    assert project.agent("ultragoal", "classify-blocker", *human).code == 0
    assert project.agent("ultragoal", "complete-goals", "--retry-failed", "--json").json["goal_id"] == "G002"
    (goal, _) = status(project)["goals"]
    assert (goal["status"], goal["humanBlocked"]) == ("blocked", "password missing")
    checkpoint(project, "G002")
    assert stop(project) != "block", "the rest waits for a person"


def test_the_goal_that_needs_no_person_is_tried_again_first(project: Project) -> None:
    create(project)
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G001", "blocked")
    human = ["--classification", "human_blocked", "--goal-id", "G001", "--evidence", "password missing"]
    project.agent("ultragoal", "classify-blocker", *human)
    project.agent("ultragoal", "complete-goals")
    checkpoint(project, "G002", "blocked")
    assert status(project)["next"]["item"] == "G002"
    handed = project.agent("ultragoal", "complete-goals", "--retry-blocked", "--json").json
    assert handed["goal_id"] == "G002"
