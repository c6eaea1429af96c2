"""Work that outlives its conversation: offered to the next one, taken up whole, and held by one of them at most."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omo.state import ownership, paths
from omo.workflows.ultrawork.prove import Proof, Prover
from tests.project import IDENTITY, LIMITS, SESSION, Project
from tests.terminal import terminal
from tests.ultragoal.project import TWO

pytestmark = pytest.mark.usefixtures("laps")

NEXT = "next-conversation"
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
    assert starts(project) == (
        "omo: pinned by you in this project: tests: sh -c 'test -f done.txt'. /omo:unpin NAME takes one away.\n"
        "omo: left open in another conversation, 2 h ago: ultrawork (1 of 1 open), ultragoal (2 of 2 open), "
        'for "ulw write done.txt". '
        f"/omo:resume takes it up; to let it go, in a terminal: omo stop-continuation --session {SESSION}"
    )
    assert project.user("stop-continuation", "--session", SESSION).code == 0
    assert starts(project).startswith("omo: pinned by you in this project: ")
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
    assert "1 block without verified progress" in project.stop(stop_hook_active=True).json["systemMessage"]
    assert "left open in another conversation" in starts(project)
    assert "ultrawork" in types(project)[0]
    assert project.stop(session=NEXT).blocks
    project.check("ulw", "done", "--because", "it is done as asked", session=NEXT)
    assert starts(project, session="third") == ""
    assert "“it is done as asked”" in project.stop(session=NEXT).message
    project.check("ultragoal", "create-goals", "--brief", TWO)
    project.check("state", "clear", "--mode", "ultragoal", "--force")
    assert re.fullmatch(
        r"omo: ended, not proven: the agent cleared the ultragoal plan \S+ with 2 open. That was in another "
        rf"conversation, just now; in a terminal omo report --session {SESSION} shows what was seen.",
        starts(project, session="third"),
    )
    assert starts(project, session="third") == ""
    assert '"left"' not in Path(paths.runtime_file(project.state)).read_text()


# An end that no Stop has told


DONE = (
    "omo: done, proven: gate tests (sh -c 'test -f done'), pinned by the user, fails without the work (exit 1) and "
    "passes with it; how many tests ran is unknown, on the files as they were at 17:20:04. "
)
ELSEWHERE = f"just now; in a terminal omo report --session {SESSION} shows what was seen."
HERE = "/omo:report shows the evidence."
AT_THE_DESK = {"CLAUDECODE": "1", "CLAUDE_PID": GONE}


def ended(project: Project, client: str = GONE) -> None:
    """`omo ulw done` has said so, and no Stop came."""
    commit_base(project)
    environ = {"CLAUDE_PID": client}
    project.prompt("ulw write the program done", env=environ)
    project.prompt("/omo:pin tests -- sh -c 'test -f done'", env=environ)
    project.write("done")
    project.check("ulw", "done")


def test_an_end_before_the_client_was_killed_is_told_to_the_next_conversation_once(project: Project) -> None:
    ended(project)
    unheard = starts(project, "compact", session="third")
    of_an_agent = {**AT_THE_DESK, "CLAUDE_CODE_SESSION_ID": SESSION, "OMO_OUTER_SESSION": SESSION}
    unheard += project.hook("session-start", session="inner", source="startup", env=of_an_agent).message
    assert starts(project).partition("\n")[0] == f"{DONE}That was in another conversation, {ELSEWHERE}"
    assert DONE not in starts(project) + starts(project, "resume", session=SESSION) + unheard
    project.stop(env=AT_THE_DESK).assert_silent()
    assert project.events()[-1]["rule"] == "done"


def test_an_end_is_told_to_who_comes_back_to_its_conversation(project: Project) -> None:
    ended(project)
    assert starts(project, "resume", session=SESSION) == DONE + HERE
    assert DONE not in starts(project) + starts(project, "resume", session=SESSION)


@pytest.mark.parametrize("typed", ["and now?", "/omo:status", "/omo:stop-continuation"])
def test_an_end_in_a_turn_that_was_interrupted_is_told_beside_the_next_prompt(project: Project, typed: str) -> None:
    ended(project)
    answer = project.prompt(typed, env=AT_THE_DESK)
    assert (answer.json["reason"] if answer.blocks else answer.message).startswith(DONE + HERE)
    assert DONE not in project.prompt(typed, env=AT_THE_DESK).stdout + project.stop(env=AT_THE_DESK).stdout


def test_an_end_is_left_to_the_stop_of_a_turn_that_still_runs(project: Project) -> None:
    ended(project, ALIVE)
    asked = {"type": "user", "promptId": "p1", "message": {"content": "ulw"}}
    said = {"type": "assistant", "timestamp": "2026-02-22T17:20:04.500Z", "message": {"content": []}}
    turn = project.write("t.jsonl", f"{json.dumps(asked)}\n{json.dumps(said)}\n")
    fields = {"env": {**AT_THE_DESK, "CLAUDE_PID": ALIVE}, "prompt_id": "p1", "transcript_path": str(turn)}
    assert DONE not in project.prompt("thanks", **fields).stdout + starts(project)
    turn.unlink()
    assert project.stop(env=AT_THE_DESK).message == DONE + HERE


def test_an_end_is_left_to_the_stop_after_a_notice_of_the_host(project: Project) -> None:
    """`omo ulw done` went to the background, and the turn that its end wakes may change files yet."""
    ended(project)
    project.prompt("<task-notification><status>completed</status></task-notification>", env=AT_THE_DESK).assert_silent()
    project.write("done", "otherwise\n")
    assert "files changed since it was called done: done" in project.stop(env=AT_THE_DESK).json["reason"]


def test_an_end_is_held_against_the_files_wherever_it_is_told(project: Project) -> None:
    ended(project)
    project.write("done", "otherwise\n")
    told = starts(project)
    assert told.startswith("omo: finished on the agent's word: gate tests ")
    assert "; files changed since it was called done: done. That was in another" in told


def test_an_end_that_the_ledger_does_not_vouch_for_is_told_as_such(project: Project) -> None:
    project.prompt("ulw write the program done", env={"CLAUDE_PID": GONE})
    path = Path(paths.runtime_file(project.state))
    path.write_text(path.read_text().replace('"state":"active"', '"state":"ended"'))
    assert starts(project).startswith("omo: ended, not proven: the state calls it done, and the ledger does not")


def test_of_what_ended_beside_open_work_both_are_said(project: Project) -> None:
    ended(project)
    project.check("ultragoal", "create-goals", "--brief", TWO)
    lines = starts(project).splitlines()
    assert [line.partition(":")[2][:14] for line in lines] == [" done, proven:", " pinned by you", " left open in "]
    assert types(project)[0].startswith(f"omo: taken up from session {SESSION}: ultragoal (2 of 2 open) goes on.")


# Taken up


@pytest.mark.parametrize("typed", ["ulw", "/omo:ulw"])
def test_a_ulw_without_a_task_takes_up_what_is_offered_where_nothing_was_on(project: Project, typed: str) -> None:
    commit_base(project)
    project.prompt("ulw write the program done", env={"CLAUDE_PID": ALIVE})
    assert types(project, typed, session="beside")[0].startswith("omo: ultrawork is on: "), "somebody is at it"
    assert types(project, "ulw another thing", session="third")[0].startswith("omo: ultrawork is on: ")
    for session in ("beside", "third"):
        project.prompt("/omo:stop-continuation", session=session)
    project.prompt("continue", env={"CLAUDE_PID": GONE})
    talked = project.write(
        "t.jsonl", json.dumps({"type": "assistant", "timestamp": "2026", "message": {"content": []}})
    )
    fields = {"session": "fourth", "transcript_path": str(talked), "env": {"CLAUDECODE": "1"}}
    assert project.prompt(typed, **fields).message.startswith("omo: ultrawork is on: "), "they talked of something else"
    project.prompt("/omo:stop-continuation", session="fourth")
    line, context = types(project, typed)
    assert line.startswith(f"omo: taken up from session {SESSION}: ultrawork goes on.")
    assert 'for ultrawork: "ulw write the program done"' in context
    assert project.stop(session=NEXT).blocks


def test_what_was_seen_there_still_proves_here(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write the program done", env={"CLAUDE_PID": GONE})
    project.prompt("/omo:pin tests -- sh -c 'test -f done'", env={"CLAUDE_PID": GONE})
    assert project.agent("gate", "run").code == 3
    line, context = types(project)
    assert (
        line
        == f"omo: taken up from session {SESSION}: ultrawork (1 of 1 open) goes on. /omo:stop-continuation ends it."
    )
    assert "Open gates, 1 of 1: tests." in context
    assert "The user turned ultrawork on" in context
    assert "(pinned: tests: sh -c 'test -f done')" in context
    project.write("done")
    project.check("gate", "run", session=NEXT)
    ended = project.check("ulw", "done", "--json", session=NEXT).json["outcome"]
    assert ended["verdict"] == "proven"
    assert "fails without the work" in ended["why"]
    project.stop(session=NEXT)
    shown = project.user("status").out
    assert f"session {NEXT}: ultrawork done, proven" in shown, "and not the conversation that it was taken from"
    assert SESSION not in shown
    assert project.user("ledger", "verify", "--session", NEXT).code == 0
    assert project.user("ledger", "verify", "--session", SESSION).code == 0


def test_the_model_is_told_the_task_as_it_was_typed_wherever_it_takes_it_up(project: Project) -> None:
    commit_base(project)
    task = 'ulw fix mean() for empty lists: "no" guesses'
    quoted = '"ulw fix mean() for empty lists: \\"no\\" guesses"'
    words = f"The user's own words, for ultrawork: {quoted}."
    project.prompt(task, env={"CLAUDE_PID": GONE})
    project.prompt("ulw and for one element too", env={"CLAUDE_PID": GONE})
    both = words[:-1] + ', later "ulw and for one element too".'
    assert both in types(project)[1]
    assert both in project.agent("next", session=NEXT).out
    compacted = project.hook("session-start", session=NEXT, source="compact").stdout
    assert both in compacted
    project.now += 16 * 60
    assert both in project.check("resume", session="third").out
    assert project.check("resume", "--json", session="third", code=3).out
    project.check("ulw", "done", "--because", "it is done as asked", session="third")
    project.prompt("ulw now the median", session="third")
    out = project.agent("next", session="third").out
    assert 'for ultrawork: "ulw now the median".' in out, "what was typed for the run before is not the task"


@pytest.mark.parametrize("name", ["ultragoal", "laps"])
def test_a_workflow_is_taken_up_with_what_was_typed_for_it(project: Project, name: str) -> None:
    commit_base(project)
    environ = {"CLAUDE_PID": GONE}
    project.prompt(f"/omo:{name} an older matter", env=environ)
    project.prompt(f"/omo:{name} make add right " + "and so on " * 500, env=environ)
    if name == "ultragoal":
        project.check("ultragoal", "create-goals", "--brief", TWO)
    else:
        criteria = {"criteria": [{"id": "C1", "description": "it is there", "checks": ["Is it there?"]}]}
        project.check("laps", "start", "--criteria", str(project.write("criteria.json", json.dumps(criteria))))
    context = types(project)[1]
    assert f"The user's own words, for {name}: \"make add right and so on" in context
    assert "an older matter" not in context
    assert len(context) < 4000


def test_a_conversation_that_was_handed_over_is_live_nowhere(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write it", env={"CLAUDE_PID": GONE})
    types(project)
    project.check("ulw", "done", "--because", "it is done as asked", session=NEXT)
    project.stop(session=NEXT)
    assert [noted.session for noted in ownership.every()] == []
    shown = project.user("report", "--md")
    assert "took ultrawork over" not in shown.out
    assert f"session {NEXT}, the newest, none is live" in shown.err
    before = {name: project.row(name) for name in (SESSION, NEXT)}
    assert project.user("stop-continuation", "--all").out == f"No session of this project is live: {project.root}.\n"
    assert {name: project.row(name) for name in (SESSION, NEXT)} == before
    assert "left" not in Path(paths.runtime_file(project.state)).read_text().partition("\n")[0]
    assert starts(project, session="third") == ""
    assert "took ultrawork over" in starts(project, "resume", session=SESSION), "who comes back there is told"
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
    assert "ultrawork is not on in session" in project.agent("ulw", "done").err
    assert "done" not in [row["kind"] for row in project.events()]
    assert project.row()["work"].get("ulw", {}).get("takenBy", NEXT) == NEXT
    monkeypatch.undo()
    if session == NEXT:
        project.check("ulw", "done", session=NEXT)


def test_who_says_continue_where_the_work_is_no_longer_is_told(project: Project) -> None:
    project.prompt("ulw write it", env=AT_THE_DESK)
    project.prompt("stop", env=AT_THE_DESK)
    types(project)
    assert "took ultrawork over" in project.prompt("continue", env=AT_THE_DESK).message
    project.stop(env=AT_THE_DESK).assert_silent()


def test_who_was_killed_before_the_end_was_told_is_not_the_live_one(project: Project) -> None:
    commit_base(project)
    project.prompt("ulw write it", env={"CLAUDE_PID": GONE})
    project.check("ulw", "done", "--because", "it is done as asked")
    project.prompt("ulw another thing", session=NEXT)
    assert f"session {NEXT}, the only live one" in project.user("next").err
    assert project.user("stop-continuation", "--all").out == f"Nothing holds {NEXT} any more.\n"
    assert "finished on the agent's word" in project.stop().message


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
    line = f"session {SESSION} has {what} open; to take it up: omo resume {SESSION}"
    ran = project.agent(*looks, session=NEXT)
    assert line in ran.out + ran.err
    ran = project.agent(*begin, session=NEXT)
    assert line in ran.out + ran.err


def test_all_of_it_moves_and_the_old_conversation_holds_nothing(project: Project) -> None:
    run = begun(project, ALIVE)
    project.change_row(lambda row: {**row, "budget": {"agents": 5}, "spent": {"agents": 3}, "later": {"x": 1}})
    project.prompt("/omo:allow tests")
    before = project.row()
    line, context = types(project, f"/omo:resume {run[:6]}")
    assert line.startswith(f"omo: taken up from session {SESSION}: ultrawork, ultragoal (2 of 2 open)")
    assert "The skill omo:ultragoal has the rules of ultragoal." in context
    row = project.row(NEXT)
    assert (row["budget"], row["spent"]["agents"], row["later"]) == (before["budget"], 3, {"x": 1})
    assert (row["client"], row["ulw"]["stopBlocks"], row["ulw"]["limits"]) == (OF_THE_NEXT, 0, LIMITS)
    assert {kind: summary["run"] for kind, summary in row["work"].items()} == {
        kind: summary["run"] for kind, summary in before["work"].items()
    }
    assert project.agent("gate", "list", "--json", session=NEXT).json["gates"][0]["status"] == "allowed by the user"
    assert project.agent("ultragoal", "status", session=NEXT).code == 0
    assert project.agent("goal", "get", "--json", session=NEXT).json["goal"]["status"] == "active"
    old = project.row()
    assert not {"budget", "spent", "later"} & set(old)
    assert project.stop().json == {
        "systemMessage": f"omo: ended, not proven: session {NEXT} took ultrawork over; "
        f"session {NEXT} took ultragoal {run} over."
    }
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
    assert "2 more conversations left work open: omo status" in starts(project)
    assert "'t' is the beginning of several; sessions that have: two-2, three-3" in types(project, "/omo:resume t")[0]
    assert "taken up from session three-3:" in types(project)[0]
    assert "taken up from session one-1:" in types(project, "/omo:resume one", session="fourth")[0]
    told, context = types(project, "/omo:resume nothing", session="fifth")
    assert (told, context) == (
        "omo: /omo:resume did nothing: 'nothing' has nothing open that could be taken up; "
        f"sessions that have: two-2, {NEXT}, fourth",
        "",
    )


def test_what_was_cancelled_here_is_not_resumed_and_the_way_on_is_named(project: Project) -> None:
    for prompt in ("ulw mend it", "/omo:stop-continuation"):
        project.prompt(prompt)
    told, _ = types(project, session=SESSION)
    way_on = "ulw, or the command of a workflow, goes on with it"
    assert told == f"omo: /omo:resume did nothing: you cancelled what was on here; {way_on}"


def test_nothing_to_resume_and_no_room_are_said_without_the_model(project: Project) -> None:
    told, context = types(project)
    assert told.startswith("omo: /omo:resume did nothing: no conversation of this project has left work open")
    assert context == ""
    begun(project, ALIVE)
    told = types(project)[0]
    assert told == (
        f"omo: /omo:resume did nothing: session {SESSION} was at work just now; where nobody is at it any more you "
        f"take it up with /omo:resume {SESSION}, or in a terminal with omo resume {SESSION}"
    )
    project.prompt("ulw soon over", session="cancelled")
    project.prompt("/omo:stop-continuation", session="cancelled")
    assert f"sessions that have: {SESSION}" in types(project, "/omo:resume nope")[0].splitlines()[-1]
    project.prompt("ulw something else", session=NEXT)
    told, _ = types(project, f"/omo:resume {SESSION}")
    assert "this session has open work of its own: ultrawork (1 of 1 open); finish it first; " in told
    assert "/omo:stop-continuation ends it" in told
    assert project.stop().blocks


def test_this_conversations_own_work_goes_on_with_it(project: Project) -> None:
    project.prompt("ulw do it")
    project.prompt("stop for now")
    assert project.agent("resume").code == 3, "the user said stop"
    line, context = types(project, session=SESSION)
    assert line == "omo: with /omo:resume: ultrawork goes on. /omo:stop-continuation ends it."
    assert context.startswith("[omo] The user typed /omo:resume: the work of this conversation goes on where it was.")
    assert project.stop().blocks


def test_a_budget_goes_along_and_is_the_users_to_raise(project: Project) -> None:
    project.prompt("ulw do it", env={"CLAUDE_PID": GONE})
    project.prompt("/omo:budget 20 min")
    project.now += 30 * 60
    assert "budget: 30 of 20 min spent" in project.stop().json["systemMessage"]
    project.now += 3600
    told, context = types(project)
    assert told.startswith(
        f"omo: taken up from session {SESSION}: ultrawork. nothing goes on yet: budget: 30 of 20 min spent"
    )
    assert (context, project.row(NEXT)["budget"]["minutes"]) == ("", 20)
    project.stop(session=NEXT).assert_silent()
    assert "did nothing: budget: 30 of 20 min spent" in types(project)[0], "and again"
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
    assert (refused.code, "the user cancelled it in session third" in refused.err) == (3, True)
    assert "ultragoal" in types(project, "/omo:resume third", session="fourth")[0]
    project.prompt("/omo:stop-continuation", session="fourth")
    refused = project.agent("resume", NEXT, session="fourth")
    assert (refused.code, "they can type /omo:resume" in refused.err) == (3, True)


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
    named = f"cancelled in session {SESSION}: ultragoal (2 of 2 open); you take it up with /omo:resume {SESSION}"
    assert named in types(project)[0]
    assert f"the user takes it up with /omo:resume {SESSION}" in project.check("resume", session=NEXT, code=3).err
    assert "the user cancelled it" in project.check("resume", SESSION, session=NEXT, code=3).err
    assert "ultragoal (2 of 2 open) goes on" in types(project, f"/omo:resume {SESSION}")[0]
    assert (project.summary("ultragoal", NEXT)["run"], "ultragoal" in project.row()["work"]) == (run, False)
    assert project.stop(session=NEXT).blocks
    project.check("ultragoal", "complete-goals", session=NEXT)


def test_what_was_cancelled_moves_with_the_rest_and_stays_so_until_it_is_named(project: Project) -> None:
    run = cancelled(project)
    assert types(project)[0].startswith(f"omo: taken up from session {SESSION}: ultrawork goes on.")
    assert project.summary("ultragoal", NEXT)["endedBy"] == "cancelled"
    told = types(project, f"/omo:resume {run[:12]}", session="third")[0]
    assert told.startswith(f"omo: taken up from session {NEXT}: ultrawork, ultragoal (2 of 2 open) goes on.")
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
    assert "this session has open work of its own: ultragoal (2 of 2 open); finish it first" in told


def test_of_a_ledger_that_somebody_changed_only_whole_rows_are_built_on(project: Project) -> None:
    begun(project)
    path = Path(paths.events_file(project.state, SESSION))
    path.write_text(path.read_text().replace('"result":"fail"', '"result":"pass"'))
    told, _ = types(project)
    assert "taken up from session abc123" in told
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
    told = project.stop(last_assistant_message=LIMIT).json["systemMessage"]
    assert "ultrawork waits for you: You've hit your session limit" in told
    assert project.summary("ulw")["state"] == "waiting"
    assert "left open in another conversation" in starts(project)
    assert project.stop(last_assistant_message="I am back.").blocks
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
    assert typed == [
        f"Type in this project: claude '/omo:resume {NEXT}'",
        f"codex $omo:resume {NEXT}",
        f"claude /omo:resume {SESSION}",
    ]
    assert project.summary("ulw")["state"] == "active"
