"""`omo next`: the step of whatever is on, whole, with all that is needed to do it; and who points to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from omo.state import paths
from omo.work import left_open
from omo.work.status import LONGEST_SHORT, NextStep, command
from tests import texts
from tests.project import SESSION, Project, damage
from tests.ultragoal.project import TWO

pytestmark = pytest.mark.usefixtures("laps")


def files_below(directory: str) -> dict[str, bytes]:
    """All that is kept, but for the cache of the tree that every look may write."""
    files = {}
    for path in Path(directory).rglob("*"):
        if path.is_file() and "cache" not in path.name and path.suffix != ".lock":
            files[str(path)] = path.read_bytes()
    return files


def laps_begin(project: Project) -> tuple[str, ...]:
    """What was typed to begin it."""
    project.prompt("/omo:laps write both parts")
    checks = [{"id": "there", "type": "path", "path": "done-1.txt"}]
    described = [{"id": "C1", "description": "part 1 is in place", "checks": checks}]
    file = project.write("criteria.json", json.dumps({"criteria": described}))
    begin = ("laps", "start", "--criteria", str(file))
    project.check(*begin)
    return begin


def test_what_a_gate_printed_is_shown_without_its_colours(project: Project) -> None:
    project.prompt("ulw fix the bug")
    project.check("gate", "add", "tests", "--", "sh", "-c", "printf '\\033[31m1 failed\\033[0m\\n'; exit 1")
    assert "| 1 failed\n" in project.check("gate", "run", code=3).out
    assert "    1 failed\n" in project.agent("next").out


def test_nothing_is_on_and_how_one_starts(project: Project) -> None:
    for looks in (project.agent("next"), project.user("next")):
        assert (looks.code, looks.err) == (0, "")
        assert looks.says("next-nothing-is-on-in-this", where="session")
        assert looks.says("status-type-ulw-in-prompt-or")
    data = project.agent("next", "--json").json
    assert (data["ok"], data["mode"], data["next"]["action"], data["items"]) == (True, "off", "start", [])


def test_what_the_user_asked_for_by_name_is_next_until_it_is_begun(project: Project) -> None:
    for asked, begins in (
        ("laps a file NOTES", "  $ omo laps start   ("),
        ("ultraplan a file NOTES", "  $ omo plan critique PLAN   (write the plan, then)\n"),
        ("ultragoal a file NOTES", "  $ omo ultragoal create-goals --start --brief-file FILE   ("),
    ):
        project.prompt(f"/omo:{asked}")
        assert begins in project.agent("next").out
    assert project.agent("next", "--json").json["next"]["action"] == "start"
    project.check("ultragoal", "create-goals", "--brief", TWO)
    assert "brief-file" not in project.agent("next").out
    project.check("state", "clear", "--mode", "ultragoal", "--force", by="user")
    assert "brief-file" not in project.agent("next").out


def test_what_the_user_asks_for_after_an_end_is_next(project: Project) -> None:
    project.prompt("/omo:ultraplan a file NOTES")
    project.prompt("ulw make it green")
    project.check("ulw", "done", "--because", "it was green before")
    assert project.agent("next").says("next-nothing-is-left-to-do"), "what they typed before is not what they want now"
    project.prompt("/omo:laps a file NOTES")
    out = project.agent("next").out
    assert not texts.says(out, "next-nothing-is-left-to-do")
    assert 'the user typed /omo:laps "a file NOTES", and nothing of it was begun\n  $ omo laps start' in out


def test_a_second_goal_that_the_user_names_is_next_once(project: Project) -> None:
    goal = "id: {0}\ntitle: A note\nverification: {{checks: [{{id: there, type: content, path: {0}, regex: note}}]}}\n"
    project.write("first.yaml", goal.format("G1"))
    project.write("second.yaml", goal.format("G2"))
    project.prompt("/omo:verify first.yaml")
    project.check("verify", "begin", "--file", "first.yaml")
    project.write("G1", "a note\n")
    project.check("verify", "finish", "--summary", "G1 has a note")
    project.prompt("/omo:verify second.yaml")
    assert project.agent("next").out.count("omo verify begin --file second.yaml") == 1


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("verify goal.yaml", "omo verify begin --file goal.yaml\n"),
        ("verify @goal.yaml", "omo verify begin --file goal.yaml\n"),
        ("verify goal.md", "omo verify begin --file FILE   (write the goal down, then)"),
        ("verify all that goal.yaml says", "omo verify begin --file FILE   (write the goal down, then)"),
        ("ultragoal goal.md", "omo ultragoal create-goals --start --brief-file goal.md\n"),
        ("ultraplan goal.md", "omo plan critique PLAN   (write the plan, then)"),
        ("ultraexecute goal.md", "omo plan start goal.md   (once it is committed"),
    ],
)
def test_the_file_that_the_user_named_is_in_the_command_that_begins(project: Project, typed: str, command: str) -> None:
    project.write("goal.yaml", "id: G1\n")
    project.write("goal.md", "@goal: A note\n")
    project.prompt(f"/omo:{typed}")
    assert f"  $ {command}" in project.agent("next").out


def test_a_plan_that_was_read_by_the_critic_is_begun_and_its_execution_is_next(project: Project) -> None:
    project.prompt("/omo:ultraplan a file NOTES")
    project.change_row(lambda row: {**row, "awaits": "omo:critic"}, {"kind": "awaits", "agentType": "omo:critic"})
    assert "omo plan critique" not in project.agent("next").out
    project.prompt("/omo:ultraexecute notes.md")
    out = project.agent("next").out
    assert texts.says(out, "next-typed-and-not-begun", command='/omo:ultraexecute "notes.md"')
    assert "  $ omo plan start PLAN" in out


def test_after_an_end_that_waits_the_users_answer_is_the_next_step(project: Project) -> None:
    begin = laps_begin(project)
    project.check("laps", "abandon", "it is too hard for me today")
    project.prompt("three more rounds, please")
    assert project.agent("next").says("run-end-your-turn-stop-shows"), "they have not been shown how it ended"
    assert project.stop().says_to_user("ultraplan-begin-again-or-leave")
    answered = project.prompt("go on please, three more rounds", env={"CLAUDECODE": "1"})
    assert answered.says_to_user("prompt-is-over-and-holds-nothing-agent")
    for _ in range(2):
        out = project.agent("next").out
        assert "It waits" not in out
        assert not texts.says(out, "ultraplan-end-your-turn-with-what-you")
        assert "  $ omo laps start --max-iterations N   (where they want it again)\n" in out
        project.agent("laps", "status")
        project.stop().assert_silent()
    assert project.prompt("and hurry", env={"CLAUDECODE": "1"}).message == "", "said once"
    project.check(*begin, "--max-iterations", "3")
    assert project.stop().blocks


def test_what_another_conversation_left_open_is_offered(project: Project) -> None:
    assert project.check("next", "--session", "other", code=2).says("command-name-one-none-is-known-here")
    project.check("ultragoal", "create-goals", "--brief", TWO, session="other")
    assert "left open" not in project.agent("next").out  # somebody may be at it, and would not have it taken away
    project.now += left_open.IDLE_FOR
    out = project.agent("next").out
    assert texts.says(
        out, "next-left-open-by-session-of", other="other", function_of="ultragoal", now=2, before="2 open"
    )
    assert "\n  $ omo resume other\n" in out
    project.check("resume", "other")


def test_in_another_worktree_it_says_where_the_work_is_on(project: Project, tmp_path: Path) -> None:
    project.commit()
    project.prompt("ulw mend it")
    project.git("worktree", "add", "-q", str(tmp_path / "other"))
    assert "omo next" in project.check("ulw", "done", cwd=tmp_path / "other", code=3).err
    told = project.check("next", cwd=tmp_path / "other")
    assert told.situations == {"next-nothing-is-on-in-this-directory", "next-work-where-it-is-on"}
    assert told.out.splitlines()[-1] == f'  $ cd "{project.root}"'
    shutil.rmtree(project.state)
    for there in (project.root, tmp_path / "other"):
        assert "  $ cd" not in project.check("next", cwd=there).out, "it is on no more"
    project.environ["OMO_STATE_DIR"] = str(tmp_path / "states")
    project.prompt("ulw mend it")
    assert "  $ cd" not in project.check("next", cwd=tmp_path / "other").out, "nobody knows which directory"


def test_a_red_gate_is_shown_with_its_command_and_what_it_printed(project: Project) -> None:
    project.prompt("ulw make it green")
    assert "  $ omo gate add NAME -- COMMAND\n" in project.agent("next").out
    project.check("gate", "add", "tests", "--", "sh", "-c", "echo 'E  assert 1 == 2'; test -f fixed")
    project.check("gate", "run", code=3)
    out = project.agent("next").out
    assert "tests [fail]" in out
    assert "E  assert 1 == 2" in out
    assert texts.says(out, "next-open-gates", gate="tests")
    assert "  $ omo gate run" in out
    project.write("fixed")
    project.check("gate", "run")
    assert "\n  $ omo ulw done\n" in project.agent("next").out
    project.check("ulw", "done", "--because", "the file is there")
    out = project.agent("next").out
    assert texts.says(out, "next-nothing-is-left-to-do")
    assert out.count("the file is there") == 1, "how it ended is said once"


def test_a_goal_is_shown_with_its_whole_text(project: Project) -> None:
    words = "Rows keep their order. " * 40 + "The last word is marzipan."
    project.check("ultragoal", "create-goals", "--brief", f"@goal: Order | {words}")
    project.check("ultragoal", "complete-goals")
    before = files_below(project.state)
    data = project.agent("next", "--json").json
    assert (data["kind"], data["next"]["item"]) == ("ultragoal", "G001")
    assert [item["id"] for item in data["items"]] == ["G001"]
    assert data["items"][0]["text"].endswith("The last word is marzipan.")
    out = project.agent("next").out
    assert "The last word is marzipan." in out
    assert data["next"]["ways"][0]["command"] in out
    assert files_below(project.state) == before, "it only reads"


def test_open_criteria_come_with_their_checks_and_the_request(project: Project) -> None:
    laps_begin(project)
    out = project.agent("next").out
    assert 'the user asked for, as they typed it: "write both parts"' in out
    assert texts.says(out, "next-part-is-in-place", id="c1", state="PENDING", number=1)
    assert texts.says(out, "next-check-of-criterion", id="there", path="path done-1.txt")


def test_what_waits_for_the_user_says_so(project: Project) -> None:
    project.prompt("ulw do it")
    project.check("ulw", "blocked", "--evidence", "the key is missing here", "--question", "Which key?")
    out = project.agent("next").out
    assert "It waits for the user (ultrawork is waiting): the key is missing here" in out
    assert "  Which key?" in out
    assert texts.says(out, "next-only-they-set-it-going")
    project.prompt("/omo:stop-continuation")
    out = project.agent("next").out
    assert texts.says(out, "next-stays-off")
    assert "$" not in out


def test_one_question_of_all_work_is_asked_once_and_nothing_else_is_next(project: Project) -> None:
    project.prompt("ulw do it")
    laps_begin(project)
    project.check("ulw", "blocked", "--evidence", "the key is missing here", "--question", "Which key?")
    assert project.agent("next").out.splitlines()[1:] == [
        "It waits for the user (laps and ultrawork are waiting): the key is missing here",
        "  Which key?",
        "End the turn: only they set it going again.",
    ]


def test_beside_work_that_is_on_what_the_user_stopped_is_left_alone(project: Project) -> None:
    project.prompt("/omo:ultragoal both goals")
    project.check("ultragoal", "create-goals", "--brief", TWO)
    project.prompt("forget ultragoal, ulw mend it")
    out = project.agent("next").out
    assert out.startswith("ultrawork active, ultragoal paused")
    assert 'The user\'s own words, for ultrawork: "forget ultragoal, ulw mend it".' in out
    assert texts.says(out, "next-user-stopped-do-no-more", list="ultragoal")
    assert texts.says(out, "next-next-no-verification-gate-is")
    assert "both goals" not in out
    project.prompt("stop")
    project.prompt("continue ultragoal")
    out = project.agent("next").out
    assert texts.says(out, "next-one-active-one-paused", work="ultragoal", other="ultrawork")
    assert texts.says(out, "next-user-stopped-do-no-more", list="ultrawork")
    assert texts.says(out, "next-step-of-goal", goal="G001")
    assert "mend it" not in out
    assert project.prompt("ulw", env={"CLAUDECODE": "1"}).message.startswith("omo: ultrawork")


def test_where_all_is_stopped_or_cancelled_no_goal_is_named(project: Project) -> None:
    project.check("ultragoal", "create-goals", "--brief", TWO)
    project.prompt("ulw mend it")
    project.prompt("stop")
    out = project.agent("next").out
    assert texts.says(out, "status-works-paused", works="ultragoal and ultrawork")
    stopped = (
        "The user stopped ultragoal and ultrawork: do no more of it.\nEnd the turn: only they set it going again.\n"
    )
    assert out.endswith(stopped)
    assert "G001" not in out
    project.prompt("/omo:stop-continuation")
    assert project.agent("next").out.splitlines() == [
        "ultragoal and ultrawork cancelled",
        "The user called it off: do no more of it, only what they ask.",
        "Next, for the user: it stays off until you type ulw, or the command of a workflow, in a prompt",
    ]


def test_a_step_for_hooks_has_its_command_whole_or_names_this_one() -> None:
    short = NextStep("run", "open: tests", (command("omo gate run"),))
    assert texts.says(short.short, "next-open-with-command", gate="tests", command="gate run")
    long = NextStep("run", "w" * 90, (command("omo gate run", "a" * 90),))
    assert long.short == "w" * 90 + ": omo next"
    assert len(NextStep("run", "w" * 900, long.commands).short) <= LONGEST_SHORT


def test_stop_refusals_and_a_compaction_point_to_it(project: Project) -> None:
    project.prompt("ulw do it")
    assert project.stop().says_to_agent("stop-next-says-the-rest")
    assert project.hook("session-start", source="compact").says_to_agent("stop-next-says-the-rest")
    refused = project.agent("ulw", "done")
    assert refused.code == 3
    assert refused.err.endswith("  omo next says what comes after\n")
    assert "omo next" not in project.user("ulw", "done", "--session", SESSION).err


def test_without_a_commit_it_names_what_would_count(project: Project) -> None:
    """`omo ulw done` runs nothing by itself there: no file names a command before the work."""
    project.write("Makefile", "test:\n\tgrep -q new value\n")
    project.prompt("ulw make it new")
    assert "omo gate add tests -- make test" in project.agent("next").out
    project.write("value", "new\n")
    project.check("ulw", "done", code=3)
    project.check("gate", "add", "tests", "--", "make", "test")
    assert "omo ulw done" in project.agent("next").out


def test_a_problem_names_the_ledger_that_it_is_of(project: Project) -> None:
    project.prompt("ulw fix it")
    project.check("ultragoal", "create-goals", "--start", "--brief", "@goal: Parse\nRead the file.")
    damage(Path(paths.events_file(project.state, project.session)))
    assert "Problem: the ledger of session abc123 is damaged: it goes on from row 0" in project.agent("next").out
    damage(next(Path(project.state).glob("ultragoal/*/ledger.jsonl")))
    found = project.agent("next").out
    assert "Problem: ultragoal: the ledger of ultragoal plan" in found
