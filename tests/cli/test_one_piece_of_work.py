"""One piece of work at a time: what the user begins takes the place of what was on, and an agent begins no second.

What they cancel, or a breaker lets go, stays off when they ask for something else, and gives way to it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests import texts
from tests.engine.project import criterion
from tests.project import SESSION, Project
from tests.ultraplan.plans import carry_out, commit, plan_text

pytestmark = pytest.mark.usefixtures("laps")

IN_CLIENT = {"CLAUDECODE": "1"}
# By what is typed: the kind of work, what begins the first and the second of it, and what `omo next` says of those.
WORKFLOWS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...], str]] = {
    "ultragoal": (
        "ultragoal",
        ("ultragoal", "create-goals", "--brief", "Read the file."),
        ("ultragoal", "create-goals", "--brief", "Write the file."),
        "$ omo ultragoal create-goals",
    ),
    "laps": (
        "laps",
        ("laps", "start", "--criteria", "first.json"),
        ("laps", "start", "--criteria", "second.json"),
        "$ omo laps start",
    ),
    "verify": (
        "verify",
        ("verify", "begin", "--file", "goal1.json"),
        ("verify", "begin", "--file", "goal2.json"),
        "$ omo verify begin",
    ),
    "ultraexecute": ("ultraplan", ("plan", "start", "plan.md"), ("plan", "start", "other.md"), "$ omo plan start"),
}
each_workflow = pytest.mark.parametrize("name", WORKFLOWS)


def goal(number: int) -> str:
    checks = [{"type": "path", "path": f"goal-{number}"}]
    return json.dumps({"id": f"G{number}", "title": "It is there", "verification": {"checks": checks}})


@pytest.fixture
def wanted(project: Project) -> Project:
    """With what each workflow is begun with; plans of a form that needs no critic."""
    for number, name in enumerate(("first", "second"), start=1):
        project.write(f"{name}.json", json.dumps({"criteria": [criterion(number)]}))
        project.write(f"goal{number}.json", goal(number))
    project.write("plan.md", plan_text(2, version="1.6"))
    project.write("other.md", plan_text(3, version="1.6"))
    commit(project.root, "docs: what is wanted")
    return project


def begun(project: Project, name: str, task: str = "the first of it") -> str:
    """The run."""
    kind, first, _, _ = WORKFLOWS[name]
    project.prompt(f"/omo:{name} {task}")
    project.check(*first)
    assert project.stop().blocks
    return str(project.summary(kind)["run"])


def typed(project: Project, text: str) -> tuple[str, str]:
    """What the user and what the model read."""
    answer = project.prompt(text, env=IN_CLIENT)
    return answer.message, str(answer.json.get("hookSpecificOutput", {}).get("additionalContext", ""))


@pytest.fixture(params=["cancel", "breaker"])
def let_go(wanted: Project, request: pytest.FixtureRequest) -> Callable[[], object]:
    """How the old work came to stand still."""
    if request.param == "cancel":
        return lambda: wanted.prompt("/omo:stop-continuation")
    wanted.environ["OMO_MAX_STOP_BLOCKS"] = "1"

    def runs_into_the_cap() -> None:
        while wanted.stop(stop_hook_active=True).blocks:
            pass

    return runs_into_the_cap


@each_workflow
def test_another_task_wakes_nothing_and_what_stood_still_gives_way(
    wanted: Project, name: str, let_go: Callable[[], object]
) -> None:
    kind, _, second, begins = WORKFLOWS[name]
    old = begun(wanted, name)
    let_go()
    line, context = typed(wanted, f"/omo:{name} something else")
    assert f"/omo:{name} begins anew. {kind}" in line
    assert f"stays off; until the new one is begun, /omo:{name} without a task goes on with it." in line
    assert texts.says(context, "prompt-stays-off-for-user-types-for")
    assert wanted.stop().says_to_agent("stop-not-begun")
    shown = wanted.agent("next").out
    assert texts.says(shown, "next-nothing-is-on-in-this", where="session")
    assert ("something else" in shown, begins in shown, "the first of it" in shown) == (True, True, False)
    assert wanted.check(*second).says("session-is-over-for-something-else", kind=kind, run=old)
    new = wanted.summary(kind)
    assert (new["state"], new["run"] == old) == ("active", False)
    assert wanted.stop().blocks
    assert "givenUp" not in wanted.row(), "the user called it off, and not the agent"


@each_workflow
@pytest.mark.parametrize("more", ["", " go on", " the first of it"])
def test_the_same_words_or_none_go_on_with_it(
    wanted: Project, name: str, more: str, let_go: Callable[[], object]
) -> None:
    kind, _, second, _ = WORKFLOWS[name]
    old = begun(wanted, name)
    let_go()
    assert f"with /omo:{name}: {kind}" in typed(wanted, f"/omo:{name}{more}")[0]
    assert (wanted.summary(kind)["state"], wanted.summary(kind)["run"]) == ("active", old)
    if kind != "verify":  # its goals stand side by side
        assert wanted.agent(*second).code == 3


@each_workflow
def test_until_something_else_is_begun_it_can_be_taken_up_again(
    wanted: Project, name: str, let_go: Callable[[], object]
) -> None:
    kind = WORKFLOWS[name][0]
    old = begun(wanted, name)
    for back in (f"/omo:{name} the first of it", f"continue {name.replace('ultraexecute', 'ultraplan')}"):
        let_go()
        wanted.prompt(f"/omo:{name} something else")
        assert "goes on" in typed(wanted, back)[0]
        assert (wanted.summary(kind)["state"], wanted.summary(kind)["run"]) == ("active", old)
        assert wanted.stop().blocks


@each_workflow
def test_only_the_command_of_the_workflow_has_it_give_way(wanted: Project, name: str) -> None:
    """An agent that is asked for something else with ulw replaces nothing that the user may come back to."""
    kind, _, second, _ = WORKFLOWS[name]
    old = begun(wanted, name)
    wanted.prompt("/omo:stop-continuation")
    wanted.prompt("ulw something else")
    ran = wanted.agent(*second)
    assert "is over" not in ran.err
    assert (wanted.summary(kind)["run"], wanted.summary(kind)["state"]) == (old, "ended")
    wanted.prompt(f"/omo:{name} a third thing")
    assert wanted.check(*second).says("session-is-over-for-something-else", kind=kind)
    assert wanted.summary(kind)["state"] == "active"


def test_an_agent_that_writes_it_into_the_state_replaces_nothing(wanted: Project) -> None:
    begun(wanted, "ultragoal")

    def forge(row: Any) -> Any:
        summary = {**row["work"]["ultragoal"], "state": "ended", "endedBy": "cancelled"}
        return {**row, "work": {"ultragoal": summary}}

    wanted.change_row(forge)
    refused = wanted.check("ultragoal", "create-goals", "--brief", "Write the file.", code=3)
    assert refused.says("ultragoal-this-session-has-plan-with", open_goals="1 open goal")


def test_the_name_of_the_plan_that_was_under_way_goes_on_with_it(wanted: Project) -> None:
    begun(wanted, "ultraexecute", task="plan.md")
    wanted.prompt("/omo:stop-continuation")
    assert "with /omo:ultraexecute: ultraplan" in typed(wanted, "/omo:ultraexecute @plan.md and be quick")[0]


def test_what_was_done_of_a_plan_that_was_cancelled_stays_done(wanted: Project) -> None:
    begun(wanted, "ultraexecute")
    carry_out(wanted.root, 1)
    wanted.prompt("/omo:stop-continuation")
    wanted.prompt("/omo:ultraexecute other.md")
    wanted.check("plan", "start", "other.md")
    wanted.check("plan", "finish", "--abandon", "the first one is needed after all")
    wanted.stop()
    assert wanted.check("plan", "start", "plan.md", code=3).says(
        "ultraplan-step-of-is-done-by-plan", steps=1, file="plan.md"
    )
    wanted.check("plan", "recover", "plan.md")


def test_a_run_that_is_replaced_ends_by_the_users_word(wanted: Project) -> None:
    old = begun(wanted, "laps")
    wanted.prompt("/omo:stop-continuation")
    wanted.prompt("/omo:laps something else")
    wanted.check("laps", "start", "--criteria", "second.json")
    assert "carries on" not in wanted.agent("laps", "status").out
    ended = wanted.user("report", "--md", "--run", old).out
    assert f"laps run {old} was ended by the user: they asked for something else" in ended.replace("`", "")


def test_a_refused_beginning_leaves_what_was_cancelled_as_it_is(wanted: Project) -> None:
    old = begun(wanted, "laps")
    wanted.prompt("/omo:stop-continuation")
    wanted.prompt("/omo:laps something else")
    wanted.write("second.json", "{}")
    refused = wanted.agent("laps", "start", "--criteria", "second.json")
    assert (refused.code > 0, "is over" in refused.err) == (True, False)
    wanted.prompt("continue laps")
    assert (wanted.summary("laps")["state"], wanted.summary("laps")["run"]) == ("active", old)
    assert "not judged yet" in wanted.agent("laps", "status").out


def test_what_was_cancelled_is_no_part_of_how_the_next_task_ended(wanted: Project) -> None:
    begun(wanted, "ultragoal")
    wanted.prompt("/omo:stop-continuation")
    wanted.prompt("ulw write value")
    wanted.write("value", "new\n")
    wanted.check("ulw", "done", "--because", "the value is written as asked")
    assert wanted.stop().says_to_user("end-on-agents-word")
    status = wanted.user("status", "--session", SESSION).out
    assert texts.says(status.splitlines()[0], "status-session-finished-on-agents-word")
    assert "cancelled by the user; 0/1 goals" in status
    report = wanted.user("report", "--md", "--session", SESSION).out
    assert ("finished on the agent's word" in report, "Read the file" in report) == (True, False)
    assert "left open" not in wanted.agent("next", session="another").out


# A second piece of work

PAIRS = [(first, second) for first in WORKFLOWS for second in WORKFLOWS if first != second]
each_pair = pytest.mark.parametrize(("first", "second"), PAIRS)
COMMANDS = {"ultraplan": "plan"}


@each_pair
def test_an_agent_begins_no_second_piece_of_work(wanted: Project, first: str, second: str) -> None:
    run = begun(wanted, first)
    kind, other = WORKFLOWS[first][0], WORKFLOWS[second][0]
    refused = wanted.check(*WORKFLOWS[second][1], code=3).err
    assert "of this session is open, and a session has one piece of work at a time" in refused
    assert f"omo {COMMANDS.get(kind, kind)} status says what is left" in refused
    assert f"when they type /omo:{second}, it is paused for that" in refused
    assert (wanted.summary(kind)["run"], wanted.summary(kind)["state"]) == (run, "active")
    assert other not in wanted.row()["work"]


@each_pair
def test_what_the_user_types_pauses_what_was_on_until_they_name_it(wanted: Project, first: str, second: str) -> None:
    run = begun(wanted, first)
    kind, argv, _, _ = WORKFLOWS[second]
    old = WORKFLOWS[first][0]
    line, context = typed(wanted, f"/omo:{second} now this")
    name = f"{old} {run}" if old == "verify" else old
    assert f"/omo:{second} begins another piece of work. {name} (" in line
    assert f'It goes on when you say "continue {old}".' in line
    assert f"so this is paused: {name}" in context
    assert wanted.stop().says_to_agent("stop-not-begun")
    wanted.check(*argv)
    assert (wanted.summary(old)["state"], wanted.summary(kind)["state"]) == ("paused", "active")
    reason = wanted.stop(stop_hook_active=True).json["reason"]
    assert reason.startswith(f"{kind.capitalize()} active")
    assert f"{old}:" not in reason
    again = wanted.check("resume", code=3)
    assert "open work" in again.err or "at work" in again.err or "left work open" in again.err
    assert f"{old}" in typed(wanted, f"continue {old}")[0]
    assert (wanted.summary(kind)["state"], wanted.summary(old)["state"]) == ("paused", "active")
    assert wanted.summary(old)["run"] == run


def test_a_command_in_the_users_terminal_begins_another_and_names_both(wanted: Project) -> None:
    begun(wanted, "laps")
    ran = wanted.check("verify", "begin", "--file", "goal1.json", "--session", SESSION, by="user")
    assert 'laps (2 of 2 open) is paused for it; "continue laps" goes on with that' in ran.err
    assert "Goal G1 begun" in ran.out
    assert (wanted.summary("laps")["state"], wanted.summary("verify")["state"]) == ("paused", "active")
    ran = wanted.check("resume", "--session", SESSION, by="agent", code=3)
    wanted.prompt("stop")
    assert "only they can let it go on" in wanted.check("resume", code=3).err
    assert "verify G1" in wanted.check("resume", "--session", SESSION, by="user").out
    assert (wanted.summary("laps")["state"], wanted.summary("verify")["state"]) == ("paused", "active")


def test_what_waits_for_the_user_is_open_too(wanted: Project) -> None:
    begun(wanted, "laps")
    wanted.check("ulw", "blocked", "--evidence", "nobody knows which file", "--question", "Which file?")
    assert "laps (2 of 2 open) of this session is open" in wanted.check(*WORKFLOWS["verify"][1], code=3).err


def test_goals_of_verify_are_one_piece_of_work(wanted: Project) -> None:
    begun(wanted, "verify")
    wanted.check(*WORKFLOWS["verify"][2])
    assert wanted.summary("verify")["runs"] == ["G1", "G2"]


def test_ultrawork_stays_on_beside_the_run_that_the_agent_begins(wanted: Project) -> None:
    wanted.prompt("ulw do it")
    wanted.check(*WORKFLOWS["laps"][1])
    assert {kind: work["state"] for kind, work in wanted.row()["work"].items()} == {"ulw": "active", "laps": "active"}


HANDED = ("state", "ultragoal", "handoff", "--to", "ultraplan")


def test_a_handoff_that_the_user_answers_lets_the_plan_begin_and_holds_until_its_end(wanted: Project) -> None:
    begun(wanted, "ultragoal")
    wanted.check("state", "ultragoal", "write", "--input", '{"current_phase":"handoff"}', by="user", session=SESSION)
    wanted.check(*HANDED)
    refused = wanted.check("plan", "start", "plan.md", code=3)
    assert "ultragoal (1 of 1 open) of this session is open" in refused.err
    assert "ultragoal is paused: handed off to ultraplan" in wanted.stop().message
    wanted.prompt("yes, plan it")
    wanted.check("plan", "start", "plan.md")
    assert (wanted.summary("ultragoal")["state"], wanted.summary("ultraplan")["state"]) == ("paused", "active")
    wanted.check("state", "ultragoal", "write", "--input", '{"current_phase":"active"}')
    assert wanted.summary("ultragoal")["state"] == "paused", "the plan goes on"
    wanted.check("plan", "finish", "--abandon", "it is not needed after all")
    line = wanted.stop().message
    assert "it is not needed after all" in line
    assert 'Paused: ultragoal (1 of 1 open). It goes on when you say "continue ultragoal".' in line
    wanted.prompt("continue ultragoal")
    assert wanted.stop().json["reason"].startswith("Ultragoal active")
