"""Plans in the shape of the tool this one descends from: what is taken over, filled in, left behind and refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omo.clock import stamp
from omo.errors import BadInput
from omo.ultragoal import brief, foreign, foreign_files, plan
from omo.ultragoal.foreign import ForeignPlan, is_foreign, read_directory, read_plan

NOW = 1_790_000_000.0
POINTER = plan.POINTER
THEIR_POINTER = "Complete the durable plan in .gjc/ultragoal/goals.json; see .gjc/ultragoal/ledger.jsonl."
ENUMERATED = "Complete G001: Parse the intake CSVs; G002: Normalize records; G003: Export the report"
BRIEF = "Never touch the legacy importer.\n\n@goal: Parse the intake CSVs\nReject bad rows.\n\n@goal: Normalize records"

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes as POSIX has them")


def receipt(goal: str) -> dict[str, Any]:
    return {
        "schemaVersion": 1,
        "receiptId": "0b0f8c5e-6c5e-4f0e-8f86-0c6f0c9f7d11",
        "verifiedAt": "2026-06-20T10:00:00.000Z",
        "goalId": goal,
        "receiptKind": "final-aggregate",
        "qualityGateHash": "a" * 64,
        "planGeneration": "b" * 64,
    }


def goal(number: int, **fields: Any) -> dict[str, Any]:
    moment = "2026-06-20T09:00:00.000Z"
    return {
        "id": f"G{number:03d}",
        "title": f"Title {number}",
        "objective": f"Do thing {number}.\nAll of it.",
        "status": "pending",
        "createdAt": moment,
        "updatedAt": moment,
        **fields,
    }


def document(*goals: Any, **fields: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "brief": BRIEF,
        "gjcGoalMode": "aggregate",
        "gjcObjective": ENUMERATED,
        "goals": list(goals) or [goal(1)],
        "createdAt": "2026-06-20T09:00:00.000Z",
        "updatedAt": "2026-06-20T10:00:00.000Z",
        "state_revision": 7,
        **fields,
    }


def checkpoint(name: str, status: str = "complete", evidence: str = "42 passed") -> dict[str, Any]:
    return {
        "eventId": f"event-{name}-{status}",
        "timestamp": "2026-06-20T10:00:00.000Z",
        "event": "goal_checkpointed",
        "goalId": name,
        "status": status,
        "evidence": evidence,
        "completionVerification": receipt(name),
    }


def read(data: object, rows: list[Any] | None = None) -> ForeignPlan:
    return read_plan(data, rows or [], pointer=POINTER, now=NOW)


def defects(data: object) -> list[str]:
    with pytest.raises(BadInput) as caught:
        read(data)
    assert "omo ultragoal create-goals" in caught.value.fix
    found = caught.value.details["defects"]
    assert isinstance(found, list)
    return found


def put(directory: Path, data: object, rows: str | bytes | None = None, text: str | None = BRIEF) -> str:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "goals.json").write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    if text is not None:
        (directory / "brief.md").write_text(text + "\n", encoding="utf-8")
    if rows is not None:
        (directory / "ledger.jsonl").write_bytes(rows if isinstance(rows, bytes) else rows.encode("utf-8"))
    return str(directory)


def read_at(directory: str, **options: Any) -> ForeignPlan:
    return read_directory(directory, pointer=POINTER, now=NOW, **options)


def refusal(directory: str, **options: Any) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read_at(directory, **options)
    assert caught.value.fix
    return caught.value


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / ".gjc" / "_session-a%2Eb" / "ultragoal"


def our_plan() -> plan.Plan:
    goals = [plan.Goal("G001", "T", "O", stamp(NOW), stamp(NOW))]
    return plan.Plan("r1", "s1", "T", "", "aggregate", POINTER, [], {}, stamp(NOW), stamp(NOW), goals)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (document(), True),
        ({"gjcObjective": "x"}, True),
        ({"gjcGoalMode": "aggregate"}, True),
        ({"version": 1, "goals": []}, True),
        (plan.render(our_plan()), False),
        ({**plan.render(our_plan()), "gjcObjective": "x"}, True),
        ({}, False),
        ([], False),
        (None, False),
    ],
)
def test_which_plans_are_foreign(data: object, answer: bool) -> None:
    assert is_foreign(data) is answer


def test_the_lists_that_are_also_in_the_plan_agree() -> None:
    assert foreign.STATUSES == plan.STATUSES
    assert set(foreign.OUR_KEYS) <= set(plan.render(our_plan()))
    assert not set(foreign.OUR_KEYS) & set(document())


def test_a_plan_with_an_enumerated_objective_gets_the_pointer_and_keeps_the_old_text() -> None:
    found = read(document(goal(1), goal(2), goal(3), gjcObjectiveAliases=["older", " ", 7, ENUMERATED, "older"]))
    assert (found.goal_mode, found.objective, found.migrated_from) == ("aggregate", POINTER, ENUMERATED)
    assert found.aliases == ["older", ENUMERATED]
    assert (found.brief, found.preamble) == (BRIEF, "Never touch the legacy importer.")
    assert [(one.id, one.title, one.objective, one.status) for one in found.goals] == [
        (f"G00{n}", f"Title {n}", f"Do thing {n}.\nAll of it.", "pending") for n in (1, 2, 3)
    ]
    assert found.notes == []
    assert found.created_at == "2026-06-20T09:00:00.000Z"


@pytest.mark.parametrize(
    ("fields", "objective", "aliases", "migrated_from"),
    [
        ({"gjcObjective": THEIR_POINTER}, POINTER, [THEIR_POINTER], THEIR_POINTER),
        ({"gjcObjective": POINTER, "gjcObjectiveAliases": [POINTER, "old"]}, POINTER, ["old"], None),
        ({"gjcObjective": None}, POINTER, [], None),
        ({"gjcObjective": "  "}, POINTER, [], None),
        ({"gjcGoalMode": "all-at-once"}, POINTER, [ENUMERATED], ENUMERATED),
        ({"gjcGoalMode": "per-story", "gjcObjective": "Own words"}, "Own words", [], None),
        ({"gjcGoalMode": "per-story", "gjcObjective": ""}, POINTER, [], None),
    ],
)
def test_the_objective_afterwards(
    fields: dict[str, Any], objective: str, aliases: list[str], migrated_from: str | None
) -> None:
    found = read(document(**fields))
    assert (found.objective, found.aliases, found.migrated_from) == (objective, aliases, migrated_from)
    assert found.goal_mode == ("per-story" if fields.get("gjcGoalMode") == "per-story" else "aggregate")


def test_a_plan_already_taken_over_once_changes_no_more() -> None:
    once = read(document())
    again = read(document(gjcObjective=once.objective, gjcObjectiveAliases=once.aliases))
    assert (again.objective, again.aliases, again.migrated_from) == (once.objective, once.aliases, None)


def test_what_is_missing_is_filled_in() -> None:
    found = read(document({}, {"title": "Only a title"}, {"id": None, "title": " ", "objective": "\u200b"}))
    assert [(one.id, one.title, one.objective, one.status) for one in found.goals] == [
        ("G001", "G001", "G001", "pending"),
        ("G002", "Only a title", "Only a title", "pending"),
        ("G003", "G003", "G003", "pending"),
    ]


@pytest.mark.parametrize("status", plan.STATUSES)
def test_a_known_status_is_kept(status: str) -> None:
    assert read(document(goal(1, status=status), goal(2))).goals[0].status == status


@pytest.mark.parametrize("status", ["completed", "COMPLETE", 3, True, ["complete"], {"status": "complete"}])
def test_an_unknown_status_is_pending_and_told(status: object) -> None:
    found = read(document(goal(1, status=status)))
    assert found.goals[0].status == "pending"
    (note,) = found.notes
    assert note.startswith("G001: the status ")


def test_only_the_first_active_goal_stays_active() -> None:
    goals = [goal(1, status="complete"), *(goal(n, status="active") for n in (2, 3, 4))]
    found = read(document(*goals), [checkpoint("G001")])
    assert [one.status for one in found.goals] == ["complete", "active", "pending", "pending"]
    assert [note[:4] for note in found.notes] == ["G003", "G004"]


def test_a_receipt_of_the_other_tool_is_left_behind() -> None:
    done = goal(1, status="complete", completedAt="2026-06-20T10:00:00.000Z", completionVerification=receipt("G001"))
    found = read(document(done), [checkpoint("G001")])
    assert found.goals[0].status == "complete"
    assert "receipt" not in json.dumps([vars(one) for one in found.goals])


@pytest.mark.parametrize(
    ("rows", "is_told"),
    [
        ([checkpoint("G001")], False),
        ([checkpoint("G001", "failed"), checkpoint("G001")], False),
        ([], True),
        ([checkpoint("G001", "failed")], True),
        ([checkpoint("G002")], True),
        ([{**checkpoint("G001"), "event": "goal_started"}], True),
    ],
)
def test_a_goal_called_complete_without_a_checkpoint_is_told(rows: list[Any], is_told: bool) -> None:
    found = read(document(goal(1, status="complete")), rows)
    assert bool(found.notes) is is_told
    assert found.goals[0].status == "complete"


def test_evidence_is_the_goals_own_or_that_of_its_last_checkpoint() -> None:
    rows = [checkpoint("G002", "failed", "first"), checkpoint("G002", "failed", " second "), checkpoint("G003")]
    rows += [checkpoint("G004", "failed", "a\0b")]
    found = read(document(goal(1, evidence="own"), goal(2), goal(3, evidence="own"), goal(4)), rows)
    assert [one.evidence for one in found.goals] == ["own", "second", "own", ""]


def test_steering_is_kept_as_it_is() -> None:
    blocker = {"kind": "review_blocker", "blockedGoalId": "G001"}
    split = {"kind": "split_subgoal", "evidence": "e", "rationale": "r", "replacementGoalIds": ["G003"]}
    goals = [goal(1, status="review_blocked"), goal(2, status="superseded", steering=split), goal(3, steering=blocker)]
    found = read(document(*goals, goal(4, steering="free text")))
    assert [one.steering for one in found.goals] == [None, split, blocker, None]
    assert found.notes == []


@pytest.mark.parametrize("blocked", ["G009", "G001", 5, ["G002"], ""])
def test_a_blocker_of_no_other_goal_loses_that_tie(blocked: object) -> None:
    found = read(document(goal(1, steering={"kind": "review_blocker", "blockedGoalId": blocked}), goal(2)))
    assert found.goals[0].steering == {"kind": "review_blocker"}
    assert found.notes[0].startswith("G001: blocks ")


def test_titles_become_one_short_line_and_objectives_stay() -> None:
    found = read(document(goal(1, title="\x1b[2JA\nB", objective="x" * 9000), {"title": "y" * 90}))
    assert [one.title for one in found.goals] == ["[2JA B", "y" * 77 + "..."]
    assert [len(one.objective) for one in found.goals] == [9000, 90]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "goals.json: nothing, not an object"),
        ([goal(1)], "goals.json: a list, not an object"),
        ("plan", "goals.json: text, not an object"),
        ({"gjcObjective": "x"}, "goals: nothing, not a list"),
        (document(goals={"G001": goal(1)}), "goals: an object, not a list"),
        (document(goals=[]), "goals: 0, not 1 to 999"),
        (document(goals=[{}] * 1000), "goals: 1000, not 1 to 999"),
        (document("Parse"), "goals[0]: text, not an object"),
        (document(goal(1), goal(1)), "goals: 'G001' is the id of 2 goals"),
        (document({}, goal(1)), "goals: 'G001' is the id of 2 goals"),
        (document(goal(1, id="A1")), "goals[0].id: 'A1' is not G and three digits"),
        (document(goal(1, id="G1")), "goals[0].id: 'G1' is not"),
        (document(goal(1, id="G0001")), "goals[0].id: 'G0001' is not"),
        (document(goal(1, id="G٠٠١")), "goals[0].id: 'G٠٠١' is not"),
        (document(goal(1, id="G001\n../../x")), "goals[0].id: 'G001 ../../x' is not"),
        (document(goal(1, id=1)), "goals[0].id: a number, not text"),
        (document(goal(1, title=["x"])), "goals[0].title: a list, not text"),
        (document(goal(1, objective=True)), "goals[0].objective: true or false, not text"),
        (document(goal(1, objective="a\0b")), "goals[0].objective: a NUL"),
        (document(goal(1, objective="\ud800")), "goals[0].objective: no UTF-8"),
        (document(goal(1, objective="x" * 200_001)), "goals[0].objective: 200001 characters"),
        (document(goal(1, evidence={})), "goals[0].evidence: an object, not text"),
        (document(goal(1, steering={"x": "y" * 20_000})), "goals[0].steering: 20009 bytes"),
        (document(goal(1, steering={"x": "\ud800"})), "goals[0].steering: cannot be kept"),
        (document(goal(1, steering={"x": float("nan")})), "goals[0].steering: cannot be kept"),
        (document(goal(1, status="superseded"), goal(2, status="superseded")), "goals: every one is superseded"),
        (document(brief=5), "brief: a number, not text"),
        (document(brief="x" * 200_001), "brief: 200001 characters"),
        (document(gjcObjective=["x"]), "gjcObjective: a list, not text"),
        (document(gjcObjectiveAliases=["x"] * 101), "gjcObjectiveAliases: 101, at most 100"),
        (document(gjcObjectiveAliases=["ok", "a\0b"]), "gjcObjectiveAliases[1]: a NUL"),
    ],
)
def test_a_damaged_plan_is_refused(data: object, said: str) -> None:
    (found,) = defects(data)
    assert found.startswith(said)


def test_all_defects_are_told_at_once_and_none_can_redraw_the_terminal() -> None:
    found = defects(document(3, goal(2, id="\x1b[2J" * 99), goal(3, title=4), goal(3), brief="\0", gjcObjective=1))
    assert [said.partition(":")[0] for said in found] == [
        "goals[0]",
        "goals[1].id",
        "goals[2].title",
        "goals",
        "brief",
        "gjcObjective",
    ]
    assert all(said.isprintable() and len(said) <= 300 for said in found)


@pytest.mark.parametrize(
    ("rows", "skipped"),
    [
        ([], 0),
        ([checkpoint("G001"), {"eventId": "e", "timestamp": "t", "type": "reconcile_failed", "error": "x"}], 0),
        ([checkpoint("G001"), None, [], "x", {}, {"event": 3}], 5),
    ],
)
def test_rows_that_are_none_are_counted(rows: list[Any], skipped: int) -> None:
    assert read(document(), rows).skipped_rows == skipped


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("2026-06-20T09:00:00.000Z", "2026-06-20T09:00:00.000Z"),
        ("2999-01-01T00:00:00.000Z", stamp(NOW)),
        ("1066-10-14T00:00:00.000Z", stamp(NOW)),
        ("yesterday", stamp(NOW)),
        ("2026-06-20Tnan:00:00Z", stamp(NOW)),
        (17, stamp(NOW)),
        (None, stamp(NOW)),
    ],
)
def test_a_plan_was_made_when_it_says_unless_that_cannot_be(written: object, kept: str) -> None:
    assert read(document(createdAt=written)).created_at == kept


def test_without_a_brief_one_is_written_that_gives_the_same_goals() -> None:
    goals = [goal(1, objective="a\n@goal: inner\nb"), goal(2)]
    found = read(document(*goals, brief=None))
    assert [(one.title, one.objective) for one in brief.parse(found.brief).stories] == [
        ("Title 1", "a\n @goal: inner\nb"),
        ("Title 2", "Do thing 2.\nAll of it."),
    ]
    assert found.notes == ["brief: there is none, so it was written from the goals"]


def test_a_directory_is_read_whole(session: Path) -> None:
    ledger = "\n".join(json.dumps(row) for row in [{"event": "plan_created", "goalIds": ["G001"]}, checkpoint("G001")])
    directory = put(session, document(goal(1, status="complete"), goal(2, status="active")), ledger + "\n\n")
    found = read_at(directory)
    assert [(one.status, one.evidence) for one in found.goals] == [("complete", "42 passed"), ("active", "")]
    assert (found.brief, found.skipped_rows, found.notes) == (BRIEF, 0, [])
    assert read_at(directory + "/") == found
    assert read_at(directory, root=str(session.parents[2])) == found


@pytest.mark.parametrize(
    ("text", "in_plan", "taken", "notes"),
    [
        (None, "From the plan", "From the plan", []),
        ("  \n", "From the plan", "From the plan", []),
        ("From the file", None, "From the file", []),
        ("\ufeffOne\r\nTwo\r\n", "One\nTwo", "One\nTwo", []),
        ("From the file", "Other", "From the file", ["brief: brief.md and goals.json differ; brief.md was taken"]),
    ],
)
def test_which_brief_is_taken(
    session: Path, text: str | None, in_plan: str | None, taken: str, notes: list[str]
) -> None:
    found = read_at(put(session, document(brief=in_plan), text=text))
    assert (found.brief, found.notes) == (taken, notes)


def test_bad_ledger_lines_are_counted_and_the_rest_is_used(session: Path) -> None:
    good = json.dumps(checkpoint("G001")).encode()
    deep = b"[" * 100_000
    directory = put(session, document(goal(1, status="complete")), b"\n".join([b"{", good, b"\xff\xfe", b"[]", deep]))
    found = read_at(directory)
    assert (found.skipped_rows, found.goals[0].evidence, found.notes) == (4, "42 passed", [])


def test_nothing_is_written_where_a_plan_is_read(session: Path) -> None:
    directory = put(session, document(), json.dumps(checkpoint("G001")))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in session.iterdir()}
    read_at(directory)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in session.iterdir()} == before


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "goals.json is not valid JSON"),
        (b'{"goals": [', "goals.json is not valid JSON"),
        (b'{"goals": [], "x": NaN}', "goals.json is not valid JSON: NaN"),
        (b"[" * 100_000, "goals.json is not valid JSON"),
        (b'{"x": ' + b"1" * 5000 + b"}", "goals.json is not valid JSON"),
        (b"\xff\xfe{}", "goals.json is not UTF-8"),
        (b"null", "the plan to take over has 1 defect"),
    ],
)
def test_a_damaged_file_is_refused(session: Path, raw: bytes, said: str) -> None:
    directory = put(session, document())
    (session / "goals.json").write_bytes(raw)
    assert said in refusal(directory).message


@pytest.mark.parametrize("name", ["nowhere", "file", "a\0b", ""])
def test_a_directory_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert "there is no directory" in refusal(f"{tmp_path}/{name}" if name else "").message


def test_a_directory_without_a_plan_is_refused(tmp_path: Path) -> None:
    assert "no goals.json" in refusal(str(tmp_path)).message


@pytest.mark.parametrize("name", ["goals.json", "brief.md", "ledger.jsonl"])
def test_what_is_larger_than_a_plan_can_be_is_refused(session: Path, name: str) -> None:
    directory = put(session, document(), "")
    largest = foreign_files.LARGEST_LEDGER if name == "ledger.jsonl" else foreign_files.LARGEST_PLAN
    os.truncate(session / name, largest + 1)
    assert f"{name} has more than {largest} bytes" in refusal(directory).message


@posix
@pytest.mark.parametrize("name", ["goals.json", "brief.md", "ledger.jsonl"])
def test_links_pipes_and_directories_are_refused(session: Path, tmp_path: Path, name: str) -> None:
    directory = put(session, document(), "")
    elsewhere = tmp_path / "elsewhere"
    (session / name).rename(elsewhere)
    (session / name).symlink_to(elsewhere)
    assert f"{name} is a link" in refusal(directory).message
    (session / name).unlink()
    os.mkfifo(session / name)
    assert f"{name} is not a regular file" in refusal(directory).message
    (session / name).unlink()
    (session / name).mkdir()
    assert name in refusal(directory).message


@posix
def test_a_directory_reached_by_a_link_or_outside_the_project_is_refused(session: Path, tmp_path: Path) -> None:
    put(session, document())
    project = tmp_path / "project"
    (project / ".gjc").mkdir(parents=True)
    (project / "link").symlink_to(session)
    (project / ".gjc" / "_session-x").symlink_to(session.parent)
    assert "is a link" in refusal(str(project / "link")).message
    assert "is a link" in refusal(str(project / "link") + "/").message
    for outside in (session, project / ".gjc" / "_session-x" / "ultragoal", project / ".." / ".gjc"):
        assert "outside the project" in refusal(str(outside), root=str(project)).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ANY = JSON | st.sampled_from(
    ["G001", "G002", "active", "complete", "superseded", "aggregate", "per-story", "@goal", "\0"]
)
GOALS = st.dictionaries(st.sampled_from(sorted({*goal(1), "evidence", "steering"})), ANY) | ANY
PLANS = st.dictionaries(st.sampled_from(sorted(document())), ANY | st.lists(GOALS, max_size=4)) | ANY


@given(PLANS, st.lists(ANY | st.fixed_dictionaries({"event": ANY, "goalId": ANY, "evidence": ANY}), max_size=4))
def test_any_plan_is_either_refused_or_usable(data: object, rows: list[Any]) -> None:
    try:
        found = read(data, rows)
    except BadInput:
        return
    assert found.objective
    assert found.brief
    assert found.goals
    assert len({one.id for one in found.goals}) == len(found.goals)
    assert [one.status for one in found.goals].count("active") <= 1
    assert all(one.title and one.objective and one.status in plan.STATUSES for one in found.goals)
    json.dumps([vars(one) for one in found.goals], ensure_ascii=False, allow_nan=False).encode("utf-8")
