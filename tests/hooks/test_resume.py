"""Work that outlives its conversation: offered to the next one, taken up whole, and held by one of them at most."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omo.state import ownership, paths
from omo.workflows.ultrawork.prove import Proof, Prover
from tests import texts
from tests.project import IDENTITY, LIMITS, SESSION, Project
from tests.terminal import terminal
from tests.ultragoal.project import TWO

pytestmark = pytest.mark.usefixtures("laps")

NEXT = "next-conversation"
TAKEN_UP = "prompt-taken-up-goes-on"
ONE_GATE, TWO_GOALS = "ultrawork (1 of 1 open)", "ultragoal (2 of 2 open)"
LIMIT = "You've hit your session limit · resets 3pm"


def ended_process() -> str:
    process = subprocess.Popen(["true"])
    process.wait()
    return str(process.pid)


ALIVE = str(os.getpid())
OF_THE_NEXT = str(os.getppid())
GONE = ended_process()


def begun(project: Project, client: str = GONE) -> str:
    """An ultragoal plan beside ultrawork with a gate of the user's that was seen to fail; what the run is called."""
    environ = {"CLAUDE_PID": client}
    project.prompt("ulw write done.txt", env=environ)
    project.prompt("/omo:pin tests -- sh -c 'test -f done.txt'", env=environ)
    project.check("ultragoal", "create-goals", "--brief", TWO)
    assert project.agent("gate", "run").code == 3
    return str(project.summary("ultragoal")["run"])


def starts(project: Project, source: str = "startup", client: str = "1", session: str = NEXT) -> str:
    """What the user reads when a conversation starts."""
    environ = {"CLAUDECODE": "1", "CLAUDE_PID": client}
    return project.hook("session-start", session=session, source=source, env=environ).message


def types(project: Project, text: str = "/omo:resume", session: str = NEXT) -> tuple[str, str]:
    """What the user and what the model read."""
    answer = project.prompt(text, session=session, env={"CLAUDECODE": "1", "CLAUDE_PID": OF_THE_NEXT})
    if answer.blocks:
        return str(answer.json["reason"]), ""
    return answer.message, str(answer.json["hookSpecificOutput"]["additionalContext"])


def commit_base(project: Project) -> None:
    project.write("README.md", "a project\n")
    project.commit("first")


# The offer


def test_a_conversation_that_is_over_is_offered_in_one_line(project: Project) -> None:
    begun(project)
    project.now += 2 * 3600
    pins, offer = starts(project).splitlines()
    pinned = "tests: sh -c 'test -f done.txt'"
    works = f'{ONE_GATE}, {TWO_GOALS}, for "ulw write done.txt"'
    assert texts.says(pins, "prompt-pins-hold", pins=pinned)
    assert texts.says(offer, "prompt-left-open", idle="2 h ago", works=works)
    assert texts.says(offer, "prompt-way-to-let-go", name=SESSION)
    assert project.user("stop-continuation", "--session", SESSION).code == 0
    assert texts.says(starts(project), "prompt-pins-hold")
    assert "left open" not in starts(project)


@pytest.mark.parametrize(
    ("theirs", "source", "client", "idle", "is_offered"),
    [
        (GONE, "startup", "1", 0, True),  # closed or killed
        (GONE, "resume", "1", 0, True),
        (GONE, "compact", "1", 0, False),
        (ALIVE, "startup", "1", 0, False),  # open in another terminal
        (ALIVE, "startup", "1", 3600, False),
        (ALIVE, "startup", "1", 86400, True),  # nobody says that this process is still the same
        (ALIVE, "clear", ALIVE, 0, True),  # the same program: what was in it before is cleared away
        ("", "startup", "1", 0, False),  # a host that names no program
        ("", "startup", "1", 16 * 60, True),
        (GONE, "startup", "1", 15 * 86400, False),
        ("0", "startup", "1", 0, True),  # which would be all of our own group
        ("99999999999", "startup", "1", 0, True),
    ],
    ids=[f"case-{number}" for number in range(12)],  # a process has another number in each worker
)
def test_only_a_conversation_that_is_over_is_offered(
    project: Project, theirs: str, source: str, client: str, idle: float, is_offered: bool
) -> None:
    begun(project, theirs)
    project.now += idle
    assert ("left open" in starts(project, source, client)) is is_offered
    assert ('"left": true' in Path(paths.runtime_file(project.state)).read_text()) is True


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="needs /proc")
def test_a_client_that_has_ended_and_that_nobody_asked_after_is_gone(project: Project) -> None:
    client = subprocess.Popen(["true"])
    os.waitid(os.P_PID, client.pid, os.WEXITED | os.WNOWAIT)
    begun(project, str(client.pid))
    assert "left open" in starts(project)
    client.wait()


def test_what_is_over_or_given_up_is_not_offered_and_what_a_breaker_let_go_is(project: Project) -> None:
    project.environ["OMO_MAX_STOP_BLOCKS"] = "1"
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    assert project.stop().blocks
    assert project.stop(stop_hook_active=True).says_to_user("end-no-progress-after-one")
    assert texts.says(starts(project), "prompt-left-open")
    assert "ultrawork" in types(project)[0]
    assert project.stop(session=NEXT).blocks
    project.check("ulw", "done", "--because", "done-as-asked", session=NEXT)
    assert starts(project, session="third") == ""
    assert "“done-as-asked”" in project.stop(session=NEXT).message
    project.check("ultragoal", "create-goals", "--brief", TWO)
    project.check("state", "clear", "--mode", "ultragoal", "--force")
    told = starts(project, session="third")
    assert texts.says(told, "end-plan-cleared", open=2)
    assert texts.says(told, "end-elsewhere", ago="just now", session=SESSION)
    assert starts(project, session="third") == ""
    assert '"left"' not in Path(paths.runtime_file(project.state)).read_text()


# An end that no Stop has told


AT_THE_DESK = {"CLAUDECODE": "1", "CLAUDE_PID": GONE}


def ended(project: Project, client: str = GONE) -> None:
    """`omo ulw done` has said so, and no Stop came."""
    commit_base(project)
    environ = {"CLAUDE_PID": client}
    project.prompt("ulw write the program done", env=environ)
    project.prompt("/omo:pin tests -- sh -c 'test -f done'", env=environ)
    project.write("done")
    project.check("ulw", "done")


def tells_end(text: str) -> bool:
    return texts.says(text, "end-proven-by-gate", gate="tests", clock="17:20:04")


def tells_end_here(text: str) -> bool:
    return tells_end(text) and texts.says(text, "end-report-shows-evidence")


def test_an_end_before_the_client_was_killed_is_told_to_the_next_conversation_once(project: Project) -> None:
    ended(project)
    unheard = [starts(project, "compact", session="third")]
    of_an_agent = {**AT_THE_DESK, "CLAUDE_CODE_SESSION_ID": SESSION, "OMO_OUTER_SESSION": SESSION}
    unheard.append(project.hook("session-start", session="inner", source="startup", env=of_an_agent).message)
    heard = starts(project).partition("\n")[0]
    assert tells_end(heard)
    assert texts.says(heard, "end-elsewhere", ago="just now", session=SESSION)
    unheard += [starts(project), starts(project, "resume", session=SESSION)]
    assert not any(tells_end(text) for text in unheard)
    project.stop(env=AT_THE_DESK).assert_silent()
    assert project.events()[-1]["rule"] == "done"


def test_an_end_is_told_to_who_comes_back_to_its_conversation(project: Project) -> None:
    ended(project)
    assert tells_end_here(starts(project, "resume", session=SESSION))
    assert not tells_end(starts(project))
    assert not tells_end(starts(project, "resume", session=SESSION))


@pytest.mark.parametrize("typed", ["and now?", "/omo:status", "/omo:stop-continuation"])
def test_an_end_in_a_turn_that_was_interrupted_is_told_beside_the_next_prompt(project: Project, typed: str) -> None:
    ended(project)
    answer = project.prompt(typed, env=AT_THE_DESK)
    assert tells_end_here(answer.json["reason"] if answer.blocks else answer.message)
    for later in (project.prompt(typed, env=AT_THE_DESK), project.stop(env=AT_THE_DESK)):
        assert not later.says_to_user("end-proven-by-gate")


def test_an_end_is_left_to_the_stop_of_a_turn_that_still_runs(project: Project) -> None:
    ended(project, ALIVE)
    asked = {"type": "user", "promptId": "p1", "message": {"content": "ulw"}}
    said = {"type": "assistant", "timestamp": "2026-02-22T17:20:04.500Z", "message": {"content": []}}
    turn = project.write("t.jsonl", f"{json.dumps(asked)}\n{json.dumps(said)}\n")
    fields = {"env": {**AT_THE_DESK, "CLAUDE_PID": ALIVE}, "prompt_id": "p1", "transcript_path": str(turn)}
    assert not project.prompt("thanks", **fields).says_to_user("end-proven-by-gate")
    assert not tells_end(starts(project))
    turn.unlink()
    assert tells_end_here(project.stop(env=AT_THE_DESK).message)


def test_an_end_is_left_to_the_stop_after_a_notice_of_the_host(project: Project) -> None:
    """`omo ulw done` went to the background, and the turn that its end wakes may change files yet."""
    ended(project)
    project.prompt("<task-notification><status>completed</status></task-notification>", env=AT_THE_DESK).assert_silent()
    project.write("done", "otherwise\n")
    assert project.stop(env=AT_THE_DESK).says_to_agent("stop-files-changed", files="done")


def test_an_end_is_held_against_the_files_wherever_it_is_told(project: Project) -> None:
    ended(project)
    project.write("done", "otherwise\n")
    told = starts(project)
    assert texts.says(told, "end-on-agents-word")
    assert texts.says(told, "end-files-changed", files="done")
    assert texts.says(told, "end-elsewhere", session=SESSION)


def test_an_end_that_the_ledger_does_not_vouch_for_is_told_as_such(project: Project) -> None:
    project.prompt("ulw write the program done", env={"CLAUDE_PID": GONE})
    path = Path(paths.runtime_file(project.state))
    path.write_text(path.read_text().replace('"state":"active"', '"state":"ended"'))
    assert texts.says(starts(project), "end-ledger-says-otherwise")


def test_of_what_ended_beside_open_work_both_are_said(project: Project) -> None:
    ended(project)
    project.check("ultragoal", "create-goals", "--brief", TWO)
    said = ("end-proven-by-gate", "prompt-pins-hold", "prompt-left-open")
    lines = starts(project).splitlines()
    assert [texts.says(line, situation) for line, situation in zip(lines, said, strict=True)] == [True] * 3
    assert texts.says(types(project)[0], TAKEN_UP, source=SESSION, works=TWO_GOALS)


# Taken up


@pytest.mark.parametrize("typed", ["ulw", "/omo:ulw"])
def test_a_ulw_without_a_task_takes_up_what_is_offered_where_nothing_was_on(project: Project, typed: str) -> None:
    commit_base(project)
    project.prompt("ulw write the program done", env={"CLAUDE_PID": ALIVE})
    assert texts.says(types(project, typed, session="beside")[0], "prompt-on"), "somebody is at it"
    assert texts.says(types(project, "ulw x", session="third")[0], "prompt-on")
    for session in ("beside", "third"):
        project.prompt("/omo:stop-continuation", session=session)
    project.prompt("continue", env={"CLAUDE_PID": GONE})
    talked = project.write(
        "t.jsonl", json.dumps({"type": "assistant", "timestamp": "2026", "message": {"content": []}})
    )
    fields = {"session": "fourth", "transcript_path": str(talked), "env": {"CLAUDECODE": "1"}}
    assert project.prompt(typed, **fields).says_to_user("prompt-on"), "they talked of something else"
    project.prompt("/omo:stop-continuation", session="fourth")
    line, context = types(project, typed)
    task = "ulw write the program done"
    assert texts.says(line, TAKEN_UP, source=SESSION, works="ultrawork")
    assert texts.says(context, "resume-own-words", workflow="ultrawork", text=task)
    assert project.stop(session=NEXT).blocks


def test_what_was_seen_there_still_proves_here(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write the program done", env={"CLAUDE_PID": GONE})
    project.prompt("/omo:pin tests -- sh -c 'test -f done'", env={"CLAUDE_PID": GONE})
    assert project.agent("gate", "run").code == 3
    line, context = types(project)
    assert texts.says(line, TAKEN_UP, source=SESSION, works=ONE_GATE)
    assert texts.says(context, "stop-gates-open", left=1, total=1, names="tests")
    assert texts.says(context, "prompt-turned-on")
    assert texts.says(context, "hook-pinned", gate="tests")
    project.write("done")
    project.check("gate", "run", session=NEXT)
    ended = project.check("ulw", "done", "--json", session=NEXT).json["outcome"]
    assert ended["verdict"] == "proven"
    assert "without the" in ended["why"]
    project.stop(session=NEXT)
    shown = project.user("status")
    assert shown.says("status-session-proven", session=NEXT), "and not the conversation that it was taken from"
    assert SESSION not in shown.out
    assert project.user("ledger", "verify", "--session", NEXT).code == 0
    assert project.user("ledger", "verify", "--session", SESSION).code == 0


def test_the_model_is_told_the_task_as_it_was_typed_wherever_it_takes_it_up(project: Project) -> None:
    commit_base(project)
    task = 'ulw fix mean() for empty lists: "no" guesses'
    quoted = 'ulw fix mean() for empty lists: \\"no\\" guesses'
    project.prompt(task, env={"CLAUDE_PID": GONE})
    project.prompt("ulw and for one element too", env={"CLAUDE_PID": GONE})
    shown = [types(project)[1], project.agent("next", session=NEXT).out]
    shown.append(project.hook("session-start", session=NEXT, source="compact").stdout)
    project.now += 16 * 60
    shown.append(project.check("resume", session="third").out)
    both = {"text": quoted, "later": "ulw and for one element too"}
    assert [texts.says(text, "resume-own-words-later", workflow="ultrawork", **both) for text in shown] == [True] * 4
    assert project.check("resume", "--json", session="third", code=3).out
    project.check("ulw", "done", "--because", "it is done as asked", session="third")
    project.prompt("ulw median", session="third")
    shown_next = project.agent("next", session="third")
    assert shown_next.says("resume-own-words", workflow="ultrawork", text="ulw median"), "not what was typed before"


@pytest.mark.parametrize("name", ["ultragoal", "laps"])
def test_a_workflow_is_taken_up_with_what_was_typed_for_it(project: Project, name: str) -> None:
    commit_base(project)
    environ = {"CLAUDE_PID": GONE}
    project.prompt(f"/omo:{name} an-older-matter", env=environ)
    project.prompt(f"/omo:{name} make add right " + "and so on " * 500, env=environ)
    if name == "ultragoal":
        project.check("ultragoal", "create-goals", "--brief", TWO)
    else:
        criteria = {"criteria": [{"id": "C1", "description": "it is there", "checks": ["Is it there?"]}]}
        project.check("laps", "start", "--criteria", str(project.write("criteria.json", json.dumps(criteria))))
    context = types(project)[1]
    assert texts.says(context, "resume-own-words", workflow=name)
    assert '"make add' in context
    assert "an-older-matter" not in context
    assert len(context) < 4000


def test_a_conversation_that_was_handed_over_is_live_nowhere(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write it", env={"CLAUDE_PID": GONE})
    types(project)
    project.check("ulw", "done", "--because", "it is done as asked", session=NEXT)
    project.stop(session=NEXT)
    assert [noted.session for noted in ownership.every()] == []
    shown = project.user("report", "--md")
    assert "took ultrawork" not in shown.out
    assert shown.says("command-newest-session", session=NEXT)
    before = {name: project.row(name) for name in (SESSION, NEXT)}
    assert project.user("stop-continuation", "--all").says("session-none-live", project=project.root)
    assert {name: project.row(name) for name in (SESSION, NEXT)} == before
    assert "left" not in Path(paths.runtime_file(project.state)).read_text().partition("\n")[0]
    assert starts(project, session="third") == ""
    back = starts(project, "resume", session=SESSION)
    assert texts.says(back, "end-taken-over", by=NEXT, run="ultrawork"), "who comes back there is told"
    project.stop().assert_silent()


@pytest.mark.parametrize(
    ("typed", "session"), [("/omo:stop-continuation", SESSION), (f"/omo:resume {SESSION}", NEXT)], ids=["off", "taken"]
)
def test_what_is_over_here_while_its_gates_run_is_not_called_done(
    project: Project, monkeypatch: pytest.MonkeyPatch, typed: str, session: str
) -> None:
    """`omo ulw done` outlives the client that was killed."""
    commit_base(project)
    project.prompt("ulw write the program done", env={"CLAUDE_PID": GONE})
    project.prompt("/omo:pin tests -- sh -c 'test -f done'", env={"CLAUDE_PID": GONE})
    project.write("done")
    make_proof = Prover.proof

    def proof(prover: Prover) -> Proof:
        made = make_proof(prover)
        if "ulw" in project.row()["work"] and "takenBy" not in project.summary("ulw"):
            project.prompt(typed, session=session, env={"CLAUDE_PID": OF_THE_NEXT})
        return made

    monkeypatch.setattr(Prover, "proof", proof)
    ran = project.agent("ulw", "done")
    assert ran.code == 3
    assert ran.says("ulw-not-on", session=SESSION)
    assert "done" not in [row["kind"] for row in project.events()]
    assert project.row()["work"].get("ulw", {}).get("takenBy", NEXT) == NEXT
    monkeypatch.undo()
    if session == NEXT:
        project.check("ulw", "done", session=NEXT)


def test_who_says_continue_where_the_work_is_no_longer_is_told(project: Project) -> None:
    project.prompt("ulw write it", env=AT_THE_DESK)
    project.prompt("stop", env=AT_THE_DESK)
    types(project)
    assert project.prompt("continue", env=AT_THE_DESK).says_to_user("end-taken-over", by=NEXT, run="ultrawork")
    project.stop(env=AT_THE_DESK).assert_silent()


def test_who_was_killed_before_the_end_was_told_is_not_the_live_one(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write it", env={"CLAUDE_PID": GONE})
    project.check("ulw", "done", "--because", "it is done as asked")
    project.prompt("ulw another thing", session=NEXT)
    assert project.user("next").says("command-only-live-session", session=NEXT)
    assert project.user("stop-continuation", "--all").says("session-nothing-holds-any-more", ended=NEXT)
    assert project.stop().says_to_user("end-on-agents-word")


@pytest.mark.parametrize(
    ("begin", "looks", "what"),
    [
        (("laps", "start", "--criteria", "criteria.json"), ("laps", "status"), "a laps run"),
        (("ultragoal", "create-goals", "--brief", TWO), ("ultragoal", "status"), "a plan of goals"),
        (("verify", "begin", "--file", "goal.json"), ("verify", "status"), "goals"),
    ],
)
def test_what_another_conversation_has_open_is_named_before_anything_new_is_begun(
    project: Project, begin: tuple[str, ...], looks: tuple[str, ...], what: str
) -> None:
    commit_base(project)
    criteria = {"criteria": [{"id": "C1", "description": "it is there", "checks": ["Is it there?"]}]}
    project.write("criteria.json", json.dumps(criteria))
    goal = {"id": "G1", "title": "it is there", "verification": {"checks": ["Is it there?"]}}
    project.write("goal.json", json.dumps(goal))
    project.check(*begin)
    for command in (looks, begin):
        ran = project.agent(*command, session=NEXT)
        said = ran.out + ran.err
        assert f"session {SESSION} has {what} open; " in said
        assert f"omo resume {SESSION}" in said


def test_all_of_it_moves_and_the_old_conversation_holds_nothing(project: Project) -> None:
    run = begun(project, ALIVE)
    project.change_row(lambda row: {**row, "budget": {"agents": 5}, "spent": {"agents": 3}, "later": {"x": 1}})
    project.prompt("/omo:allow tests")
    before = project.row()
    line, context = types(project, f"/omo:resume {run[:6]}")
    both = "ultrawork, ultragoal (2 of 2 open)"
    assert texts.says(line, TAKEN_UP, source=SESSION, works=both)
    assert texts.says(context, "prompt-skill-has-the-rules", skill="ultragoal", kind="ultragoal")
    row = project.row(NEXT)
    assert (row["budget"], row["spent"]["agents"], row["later"]) == (before["budget"], 3, {"x": 1})
    assert (row["client"], row["ulw"]["stopBlocks"], row["ulw"]["limits"]) == (OF_THE_NEXT, 0, LIMITS)
    assert {kind: summary["run"] for kind, summary in row["work"].items()} == {
        kind: summary["run"] for kind, summary in before["work"].items()
    }
    (gate,) = project.agent("gate", "list", "--json", session=NEXT).json["gates"]
    assert gate["status"].startswith("allowed")
    assert project.agent("ultragoal", "status", session=NEXT).code == 0
    assert project.agent("goal", "get", "--json", session=NEXT).json["goal"]["status"] == "active"
    old = project.row()
    assert not {"budget", "spent", "later"} & set(old)
    told = project.stop()
    assert set(told.json) == {"systemMessage"}
    taken = {"work": "ultrawork", "second": f"ultragoal {run}"}
    assert told.says_to_user("end-taken-over-two", heir=NEXT, **taken)
    project.stop().assert_silent()
    assert project.agent("ultragoal", "complete-goals").code == 3
    assert project.stop(session=NEXT).blocks
    assert [row["session"] for row in project.events() if row["kind"] == "taken-by"] == [NEXT]
    assert [row["from"] for row in project.events(NEXT) if row["kind"] == "taken-up"] == [SESSION]


def test_back_and_forth_no_row_is_kept_twice_and_the_users_pin_stays(project: Project) -> None:
    commit_base(project)
    begun(project)
    project.change_row(lambda row: {**row, "work": {**row["work"], "laps": {"run": "r1", "state": "ended"}}})
    types(project)
    assert (project.summary("laps", NEXT), project.summary("laps")) == ({}, {"run": "r1", "state": "ended"})
    project.prompt("/omo:pin tests -- sh -c 'test -f other.txt'", session=NEXT)
    project.check("gate", "add", "more", "--", "true", session=NEXT)
    types(project, f"/omo:resume {NEXT}", session=SESSION)
    kinds = [row["kind"] for row in project.events()]
    assert kinds.count("gate-ran") == 1
    assert kinds.count("activated") == 1
    types(project, f"/omo:resume {SESSION}")
    gates = project.agent("gate", "list", "--json", session=NEXT).json["gates"]
    assert {gate["name"]: gate["argv"][-1] for gate in gates} == {"tests": "test -f other.txt", "more": "true"}


def test_with_several_the_newest_or_the_one_that_is_named(project: Project) -> None:
    for session in ("one-1", "two-2", "three-3"):
        project.prompt("ulw do it", session=session, env={"CLAUDE_PID": GONE})
    assert texts.says(starts(project), "prompt-more-left-open", count=2)
    several = types(project, "/omo:resume t")[0]
    assert texts.says(several, "resume-several-begin-so", name="t")
    assert texts.says(several, "work-sessions-that-have", names="two-2, three-3")
    assert texts.says(types(project)[0], TAKEN_UP, source="three-3")
    assert texts.says(types(project, "/omo:resume one", session="fourth")[0], TAKEN_UP, source="one-1")
    told, context = types(project, "/omo:resume nothing", session="fifth")
    assert context == ""
    assert texts.says(told, "resume-nothing-open-there", name="nothing")
    assert texts.says(told, "work-sessions-that-have", names=f"two-2, {NEXT}, fourth")


def test_what_was_cancelled_here_is_not_resumed_and_the_way_on_is_named(project: Project) -> None:
    for prompt in ("ulw mend it", "/omo:stop-continuation"):
        project.prompt(prompt)
    told, _ = types(project, session=SESSION)
    assert texts.situations(told) == {"resume-cancelled-here", "resume-way-on-after-cancel"}


def test_nothing_to_resume_and_no_room_are_said_without_the_model(project: Project) -> None:
    told, context = types(project)
    assert texts.says(told, "resume-nothing-left-open")
    assert context == ""
    begun(project, ALIVE)
    told = types(project)[0]
    assert texts.says(told, "prompt-resume-session-at-work", session=SESSION)
    assert texts.says(told, "resume-session-at-work-way", name=SESSION, name2=SESSION)
    project.prompt("ulw soon over", session="cancelled")
    project.prompt("/omo:stop-continuation", session="cancelled")
    told = types(project, "/omo:resume nope")[0].splitlines()[-1]
    assert texts.says(told, "work-sessions-that-have", names=SESSION)
    project.prompt("ulw something else", session=NEXT)
    told, _ = types(project, f"/omo:resume {SESSION}")
    assert texts.says(told, "resume-own-work-is-open", work=ONE_GATE)
    assert texts.says(told, "resume-finish-first", way="/omo:stop-continuation ends it")
    assert project.stop().blocks


def test_this_conversations_own_work_goes_on_with_it(project: Project) -> None:
    project.prompt("ulw do it")
    project.prompt("stop for now")
    assert project.agent("resume").code == 3, "the user said stop"
    line, context = types(project, session=SESSION)
    assert texts.says(line, "prompt-command-goes-on", command="/omo:resume", works="ultrawork")
    assert texts.says(context, "resume-own-work-goes-on")
    assert project.stop().blocks


def test_a_budget_goes_along_and_is_the_users_to_raise(project: Project) -> None:
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    project.prompt("/omo:budget 20 min")
    project.now += 30 * 60
    assert project.stop().says_to_user("end-budget-spent", spent="30 of 20 min")
    project.now += 3600
    told, context = types(project)
    assert texts.says(told, "prompt-taken-up", source=SESSION, left_open="ultrawork")
    assert texts.says(told, "prompt-budget-nothing-goes-on", spent="30 of 20 min")
    assert (context, project.row(NEXT)["budget"]["minutes"]) == ("", 20)
    project.stop(session=NEXT).assert_silent()
    assert texts.says(types(project)[0], "resume-budget-spent", spent="30 of 20 min"), "and again"
    project.prompt("/omo:budget 60 min", session=NEXT)
    assert project.stop(session=NEXT).blocks
    assert project.row(NEXT)["spent"]["seconds"] < 31 * 60, "the time between the conversations is nobody's"


# Who may


def test_an_agent_renews_no_budget_and_takes_up_nothing_that_the_user_cancelled(project: Project) -> None:
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    assert project.stop().blocks
    project.check("resume", session=NEXT)
    assert project.row(NEXT)["ulw"]["stopBlocks"] == 1
    project.check("ultragoal", "create-goals", "--brief", TWO, session="third")
    project.prompt("/omo:stop-continuation", session="third")
    refused = project.agent("resume", "third", session="fourth")
    assert refused.code == 3
    assert refused.says("resume-user-cancelled-it-in-session", name="third")
    assert "ultragoal" in types(project, "/omo:resume third", session="fourth")[0]
    project.prompt("/omo:stop-continuation", session="fourth")
    refused = project.agent("resume", NEXT, session="fourth")
    assert refused.code == 3
    assert refused.says("resume-they-can-type")


def cancelled(project: Project) -> str:
    """A plan that the user cancelled before they asked for something else, which is on; what its run is called."""
    commit_base(project)
    project.prompt("/omo:ultragoal the brief", env={"CLAUDE_PID": GONE})
    project.check("ultragoal", "create-goals", "--brief", TWO)
    project.prompt("/omo:stop-continuation")
    project.prompt("ulw another task", env={"CLAUDE_PID": GONE})
    return str(project.summary("ultragoal")["run"])


def test_what_was_cancelled_elsewhere_is_named_and_taken_up_by_its_name_alone(project: Project) -> None:
    run = cancelled(project)
    project.check("ulw", "done", "--because", "there was nothing to do")
    project.stop()
    told = types(project)[0]
    assert texts.says(told, "resume-did-nothing-but-cancelled", session=SESSION, work=TWO_GOALS)
    assert texts.says(told, "resume-you-take-it-up-with-resume", name=SESSION)
    refused = project.check("resume", session=NEXT, code=3)
    assert refused.says("resume-user-takes-it-up-with-resume", name=SESSION)
    refused = project.check("resume", SESSION, session=NEXT, code=3)
    assert refused.says("resume-user-cancelled-it-in-session", name=SESSION)
    told = types(project, f"/omo:resume {SESSION}")[0]
    assert texts.says(told, TAKEN_UP, source=SESSION, works=TWO_GOALS)
    assert (project.summary("ultragoal", NEXT)["run"], "ultragoal" in project.row()["work"]) == (run, False)
    assert project.stop(session=NEXT).blocks
    project.check("ultragoal", "complete-goals", session=NEXT)


def test_what_was_cancelled_moves_with_the_rest_and_stays_so_until_it_is_named(project: Project) -> None:
    run = cancelled(project)
    assert texts.says(types(project)[0], TAKEN_UP, source=SESSION, works="ultrawork")
    assert project.summary("ultragoal", NEXT)["endedBy"] == "cancelled"
    told = types(project, f"/omo:resume {run[:12]}", session="third")[0]
    both = "ultrawork, ultragoal (2 of 2 open)"
    assert texts.says(told, TAKEN_UP, source=NEXT, works=both)
    project.check("ultragoal", "complete-goals", session="third")


def test_what_was_cancelled_here_is_not_lost_to_what_is_taken_up(project: Project) -> None:
    cancelled(project)
    for typed in ("/omo:ultragoal the brief", "/omo:stop-continuation", "ulw another task"):
        project.prompt(typed, session=NEXT)
        if "brief" in typed:
            project.check("ultragoal", "create-goals", "--brief", TWO, session=NEXT)
    project.check("ulw", "done", "--because", "there was nothing to do", session=NEXT)
    project.stop(session=NEXT)
    told = types(project, f"/omo:resume {SESSION}")[0]
    assert texts.says(told, "resume-own-work-is-open", work=TWO_GOALS)


def test_of_a_ledger_that_somebody_changed_only_whole_rows_are_built_on(project: Project) -> None:
    begun(project)
    path = Path(paths.events_file(project.state, SESSION))
    path.write_text(path.read_text().replace('"result":"fail"', '"result":"pass"'))
    told, _ = types(project)
    assert texts.says(told, TAKEN_UP, source=SESSION)
    assert not [row for row in project.events(NEXT) if row.get("result") == "pass"]
    assert [row["kind"] for row in project.events(NEXT)].count("repaired") == 1, "the end names it"


RACER = """
import sys, time
from omo.cli.main import main
root, session, start = sys.argv[1:]
while time.time() < float(start):
    pass
sys.exit(main(["resume", "abc123"], {"OMO_SESSION_ID": session, "PATH": ""}, root, time.time(), has_terminal=True))
"""


def test_of_two_who_want_it_at_once_one_gets_it(project: Project) -> None:
    run = begun(project)
    start = str(time.time() + 0.5)
    racers = []
    for session in ("left", "right"):
        argv = [sys.executable, "-c", RACER, str(project.root), session, start]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        racers.append(subprocess.Popen(argv, env=environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE))
    codes = []
    for racer in racers:
        racer.communicate(timeout=60)
        codes.append(racer.returncode)
    assert sorted(codes) in ([0, 2], [0, 3])
    holders = [
        session for session in ("left", "right", SESSION) if project.summary("ultragoal", session).get("run") == run
    ]
    assert len(holders) == 1


# The host's own limits, and a terminal


def test_a_host_that_goes_on_by_itself_after_a_limit_takes_the_run_along(project: Project) -> None:
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    told = project.stop(last_assistant_message=LIMIT)
    assert told.says_to_user("stop-waits-host-limit")
    assert project.summary("ulw")["state"] == "waiting"
    assert texts.says(starts(project), "prompt-left-open")
    assert project.stop(last_assistant_message="Back.").blocks
    assert project.summary("ulw")["state"] == "active"
    project.stop(last_assistant_message=LIMIT)
    project.check("resume", session=NEXT)
    assert project.stop(session=NEXT).blocks


def test_in_a_terminal_it_starts_the_agent_with_the_prompt_that_takes_it_up(project: Project, tmp_path: Path) -> None:
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    project.prompt("ulw do more", env={"CLAUDE_PID": GONE}, session=NEXT)
    programs = tmp_path / "programs"
    programs.mkdir()
    start = "import os, sys; from omo.cli import console; sys.argv[0] = 'omo'; console()"
    environ = {"HOME": os.environ["HOME"], "PATH": str(programs), "PYTHONPATH": os.pathsep.join(sys.path), **IDENTITY}
    typed = []
    for name, wanted in (("", []), ("codex", []), ("claude", [SESSION[:4]])):
        if name:
            (programs / name).write_text(f'#!/bin/sh\necho {name} "$*"\n')
            (programs / name).chmod(0o755)
        with terminal() as screen:
            done = subprocess.run(
                [sys.executable, "-c", start, "resume", *wanted],
                cwd=project.root,
                env=environ,
                stdin=screen,
                capture_output=True,
                check=True,
            )
        typed.append(done.stdout.decode().strip())
    by_hand, *started = typed
    assert texts.says(by_hand, "resume-type-in-this-project", command=f"claude '/omo:resume {NEXT}'")
    assert started == [f"codex $omo:resume {NEXT}", f"claude /omo:resume {SESSION}"]
    assert project.summary("ulw")["state"] == "active"
