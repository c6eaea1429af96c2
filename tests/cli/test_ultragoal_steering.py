"""`omo ultragoal steer`, `classify-blocker`, `record-review-blockers` and `review`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.state import ledger
from tests import texts
from tests.project import SESSION, Project, plan_directory
from tests.ultragoal.gates import valid_gate
from tests.ultragoal.project import commit

BRIEF = "@goal: Parse\nRead the file.\n@goal: Check\nCheck each row."
WHY = ("--evidence", "what was seen", "--rationale", "why this follows")
SPEC = """
- Rows with a wrong date must be refused, and the message names the row and its number.
- An empty file gives an empty report and exit code 0, and nothing is written to disk.
- When two rows share an id, then the later one wins and a warning says which was dropped.
"""


@pytest.fixture
def planned(project: Project) -> Project:
    assert project.agent("ultragoal", "create-goals", "--brief", BRIEF).code == 0
    return project


def rows(project: Project) -> list[dict[str, Any]]:
    return ledger.rows(str(plan_directory(project.state, SESSION) / "ledger.jsonl"))


def denied(project: Project) -> dict[str, str]:
    told: dict[str, str] = project.row()["work"]["ultragoal"]["deny"]
    return told


def files(project: Project) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path(project.state).rglob("*") if path.is_file()}


def test_steer_says_what_it_did_and_what_is_next(planned: Project) -> None:
    ran = planned.agent(
        "ultragoal", "steer", "--kind", "add_subgoal", "--title", "A", "--objective", "B", *WHY, "--json"
    )
    assert ran.code == 0
    assert (ran.json["kind"], ran.json["goal_id"]) == ("add_subgoal", "G003")
    assert ran.json["next"] == "omo ultragoal complete-goals"
    said = planned.agent(
        "ultragoal", "steer", "--kind", "reorder_pending", "--order-json", '["G003","G002","G001"]', *WHY
    )
    assert texts.says(said.out.splitlines()[0], "ultragoal-pending-goals-in-order", order="G003, G002, G001")
    assert texts.says(said.out.splitlines()[-1], "ultragoal-next-is-next-omo-ultragoal-complete-goals-3", id="G003")


def test_a_goal_is_split_and_a_note_changes_none(planned: Project) -> None:
    halves = json.dumps([{"title": "Read", "objective": "Rows become records."}, {"title": "Check", "objective": "B."}])
    split = ("--kind", "split_subgoal", "--goal-id", "G001", "--replacements-json", halves)
    assert planned.agent("ultragoal", "steer", *split, *WHY).code == 0
    assert planned.agent("ultragoal", "steer", "--kind", "annotate_ledger", *WHY).code == 0
    goals = planned.agent("ultragoal", "status", "--json").json["goals"]
    titles = {goal["id"]: goal["title"] for goal in goals}
    assert (titles["G003"], titles["G004"]) == ("Read", "Check")
    assert {goal["id"]: goal["status"] for goal in goals}["G001"] == "superseded"
    assert [row["kind"] for row in rows(planned)][-2:] == ["steering_accepted", "steering_accepted"]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ((), 2),
        (("--kind", "complete_goal", *WHY), 2),
        (("--kind", "annotate_ledger"), 2),
        (("please", "add", "a", "goal"), 2),
        (("--kind", "annotate_ledger", *WHY, "--priority", "high"), 2),
        (("--kind", "split_subgoal", "--goal-id", "G001", *WHY), 2),
        (("--kind", "mark_blocked_superseded", "--goal-id", "G001", *WHY), 3),
    ],
)
def test_a_refused_steering_has_a_row_and_a_remedy(planned: Project, typed: tuple[str, ...], code: int) -> None:
    ran = planned.agent("ultragoal", "steer", *typed)
    assert ran.code == code
    is_unknown = not typed or bool({"please", "--priority", "complete_goal"} & set(typed))
    assert ran.says("ultragoal-is-no-way-to-steer-what") is is_unknown
    assert "fix:" in ran.err
    assert rows(planned)[-1]["kind"] == "steering_rejected"


def test_a_pause_that_was_allowed_is_denied_again_after_a_refused_steering(planned: Project) -> None:
    planned.agent("ultragoal", "complete-goals")
    assert "pause" in denied(planned)
    evidence = ("--evidence", "the user has to enter the key", "--goal-id", "G001")
    said = planned.agent("ultragoal", "classify-blocker", "--classification", "human_blocked", *evidence)
    assert "omo goal pause is allowed" in said.out
    assert "pause" not in denied(planned)
    assert planned.agent("ultragoal", "steer", "--kind", "delete_goal", *WHY).code == 2
    assert "pause" in denied(planned)


def test_a_resolvable_blocker_allows_nothing(planned: Project) -> None:
    planned.agent("ultragoal", "complete-goals")
    evidence = ("--evidence", "the fixture is out of date")
    ran = planned.agent("ultragoal", "classify-blocker", "--classification", "resolvable", *evidence, "--json")
    assert ran.code == 0
    assert ran.json["classification"] == "resolvable"
    assert "allows nothing" in ran.json["allows"]
    assert "pause" in denied(planned)


def test_a_review_blocker_is_named_truthfully(planned: Project) -> None:
    planned.agent("ultragoal", "complete-goals")
    typed = ("ultragoal", "record-review-blockers", "--goal-id", "G001", "--evidence", "it was seen", "--objective")
    first = planned.agent(*typed, "Bad rows are refused.", "--json").json
    planned.agent(*typed, "Another finding.")
    again = planned.agent(*typed, "bad rows are  refused.", "--json").json
    assert (first["goal_id"], first["deduplicated"], first["blocked_goal_status"]) == ("G003", False, "review_blocked")
    assert (again["goal_id"], again["deduplicated"]) == ("G003", True)
    planned.agent(*typed, "A third one.")
    planned.check(*typed, "A fourth one.", code=3)


def review(project: Project, *typed: str, qa: object = None) -> Any:
    if qa is not None:
        project.write("qa.json", json.dumps(qa))
        typed = (*typed, "--executor-qa-json", "qa.json")
    return project.agent("ultragoal", "review", *typed, "--json")


def test_the_exit_code_is_the_verdict(project: Project) -> None:
    project.write("spec.md", SPEC)
    qa = valid_gate(project.root, "review")["executorQa"]
    qa["contractCoverage"][0]["contractRef"] = "spec.md, first point"
    attested = review(project, "--spec", "spec.md", qa=qa)
    assert (attested.code, attested.json["verdict"]) == (4, "attested: own-contract"), "nobody knows who wrote it"
    commit(project.root, "spec.md", SPEC)
    passed = review(project, "--spec", "spec.md", qa=qa)
    assert (passed.code, passed.json["verdict"], passed.json["contractStrength"]) == (0, "pass", "strong")
    weak = review(project, qa=qa)
    assert (weak.code, weak.json["verdict"]) == (4, "inconclusive: weak-contract")
    assert weak.json["contractStrength"] == "thin-derived"
    failed = review(project, "--spec", "spec.md")
    assert (failed.code, failed.json["verdict"], failed.json["defects"][0]["path"]) == (3, "fail", "executorQa")
    assert failed.json["baseCommit"]
    assert [note for note in failed.json["notes"] if texts.says(note, "proof-nothing-differs-from")]
    project.write("spec.md", "")
    empty = review(project, "--spec", "spec.md", qa=qa)
    assert (empty.code, empty.json["contractStrength"]) == (4, "thin"), "an empty one never passes"


def test_review_only_leaves_every_byte_as_it_was(planned: Project) -> None:
    before = files(planned)
    assert review(planned).code == 3
    assert review(planned, qa=valid_gate(planned.root, "review")["executorQa"]).code == 4
    assert files(planned) == before


def test_review_only_needs_no_session_and_tells_its_findings_in_words_too(project: Project) -> None:
    ran = project.user("ultragoal", "review", "--json")
    assert (ran.code, ran.json["verdict"]) == (3, "fail")
    told = project.user("ultragoal", "review")
    assert (told.code, told.out.startswith("fail: worktree ")) == (3, True)
    assert told.says("ultragoal-fail-worktree-main-against-head-contract")
    assert told.says("ultragoal-field-is-missing")
    assert not Path(project.state).exists()


def test_review_start_makes_goals_of_findings(project: Project) -> None:
    qa = {**valid_gate(project.root, "review")["executorQa"], "blockers": ["the date is wrong"]}
    ran = review(project, "--mode", "review-start", qa=qa)
    assert (ran.code, ran.json["blockerGoalIds"]) == (3, ["G001"])
    assert "complete-goals" in ran.json["next"]
    assert project.row()["work"]["ultragoal"]["state"] == "active"
    assert project.agent("ultragoal", "complete-goals", "--json").json["goal_id"] == "G001"


@pytest.mark.parametrize(
    "typed",
    [("--mode", "fix"), ("--pr", "x"), ("--pr", "1", "--branch", "b"), ("--spec", "gone.md"), ("--branch", "b")],
)
def test_what_cannot_be_reviewed_is_refused(project: Project, typed: tuple[str, ...]) -> None:
    assert project.agent("ultragoal", "review", *typed).code == 2
    assert not Path(project.state, "ultragoal").exists()
