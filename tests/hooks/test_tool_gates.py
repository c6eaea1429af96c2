"""The gates of an open ultragoal run, through the registered command: what is refused, to whom, and for how long."""

from __future__ import annotations

import argparse
import importlib
import json
import time
from typing import Any

import pytest

from omo import options
from omo.cli.main import COMMANDS
from omo.hooks import tool_use
from omo.hosts import claude
from omo.settings import DEFAULT_LIMITS
from omo.state import runtime
from omo.state.rows import read_row
from omo.work import session
from tests.hooks.conftest import HOOKS, SESSION, Answer, Host

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True

ASK = "ask: steer"
PAUSE = "pause: classify"
COMPLETE = "G002 open"
DENY = {"ask": ASK, "pause": PAUSE, "complete": COMPLETE}
QUESTION = "Which database?"
ASKED = {"questions": [{"question": QUESTION, "header": "DB", "options": [{"label": "a"}, {"label": "b"}]}]}
LIMITS = DEFAULT_LIMITS


def open_run(host: Host, *, session_id: str = SESSION, **changes: Any) -> None:
    put_work(host, "ultragoal", session_id, **{"open": 2, "total": 3, "next": "G002", "deny": DENY, **changes})


def put_work(host: Host, kind: str, session_id: str = SESSION, /, **summary: Any) -> None:
    """As a workflow's own command does."""
    host.now = time.time()
    row: Any = {"run": "r1", "state": "active", **summary}
    host.change_row(
        lambda kept: session.put_work(kept, kind, row, limits=LIMITS, now=host.now),
        {"kind": kind},
        session=session_id,
        actor="agent",
    )


def ask(host: Host, question: str = QUESTION, **fields: Any) -> Answer:
    asked = {"questions": [{**ASKED["questions"][0], "question": question}]}
    return host.send("PreToolUse", tool_name="AskUserQuestion", tool_input=asked, **fields)


def bash(host: Host, command: Any, **fields: Any) -> Answer:
    return host.send("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)


def decided(answer: Answer) -> str:
    """deny, ask or allow; empty where it is left to the host."""
    return str(answer.json["hookSpecificOutput"]["permissionDecision"]) if answer.stdout else ""


def denied(answer: Answer) -> str:
    """The reason of a deny; empty for any other call."""
    if decided(answer) != "deny":
        return ""
    return str(answer.json["hookSpecificOutput"]["permissionDecisionReason"])


AS_SUBAGENT = {"agent_id": "a1", "agent_type": "omo:executor"}


# What the leader is refused.


@pytest.mark.parametrize("by", [{}, AS_SUBAGENT], ids=["leader", "subagent"])
@pytest.mark.parametrize("state", runtime.OPEN_STATES)
def test_a_question_is_refused_while_goals_are_open_with_the_command_to_use_instead(
    host: Host, state: str, by: dict[str, str]
) -> None:
    open_run(host, state=state, own=True)
    assert denied(ask(host, **by)) == ASK


@pytest.mark.parametrize("stop", ["stop", "stop the goals"])
def test_while_the_user_has_paused_the_goals_they_may_be_asked(host: Host, stop: str) -> None:
    open_run(host)
    assert denied(ask(host)) == ASK
    host.prompt(stop)
    ask(host).assert_silent()
    assert denied(bash(host, "omo goal complete")) == COMPLETE, "which their stop does not make true"
    host.prompt("continue")
    assert denied(ask(host)) == ASK


def test_pause_and_complete_are_refused_with_the_reason_the_run_gives(host: Host) -> None:
    open_run(host)
    assert denied(bash(host, "omo goal pause --reason 'tired'")) == PAUSE
    assert denied(bash(host, "omo goal complete --json")) == COMPLETE


@pytest.mark.parametrize(
    "command",
    [
        *("cd src && omo goal pause", "/opt/x/bin/omo goal pause", '"$CLAUDE_PLUGIN_ROOT/bin/omo" goal pause'),
        *("OMO=omo; $OMO goal pause", "`which omo` goal pause", "sh ./bin/omo goal pause"),
        *('bash -lc "omo goal pause"', "omo goal --json pause"),
        ["bash", "-lc", "omo goal pause"],
    ],
    ids=str,
)
def test_a_call_is_refused_however_it_is_written(host: Host, command: Any) -> None:
    open_run(host)
    assert denied(bash(host, command)) == PAUSE


@pytest.mark.parametrize(
    "command",
    [
        *('git commit -m "omo goal complete"', "echo omo goal pause", "grep -r 'omo goal pause' docs"),
        *("cat > notes <<'END'\nomo goal pause\nEND", "ls  # omo goal pause", "omo goal get", "omo goal create"),
        *("omo goal resume; omo goal drop", "omo goal pause --help", "omo ultragoal status --json"),
        "omo ultragoal checkpoint --goal-id G001 --status complete --evidence 'omo goal complete comes last'",
        "omo ultragoal classify-blocker --classification human_blocked --evidence e && omo goal pause",
        *("omo ulw done", "omo ledger verify | grep pause", "omo stop-continuation", "omo goal 'pause"),
        "echo )( omo goal pause",
        7,
        None,
    ],
    ids=str,
)
def test_mentions_and_everything_else_pass(host: Host, command: Any) -> None:
    open_run(host)
    assert not denied(bash(host, command))
    assert "denied" not in host.kinds()


def test_what_the_run_does_not_name_is_allowed(host: Host) -> None:
    open_run(host, deny={"complete": COMPLETE})
    ask(host).assert_silent()
    bash(host, "omo goal pause").assert_silent()
    assert denied(bash(host, "omo goal complete")) == COMPLETE


@pytest.mark.parametrize(("name", "instead"), [("goals.json", "omo ultragoal steer"), ("ledger.jsonl", "checkpoint")])
def test_the_files_of_a_plan_are_not_edited_by_hand(host: Host, name: str, instead: str) -> None:
    open_run(host)
    path = f"{host.state}/sessions/{SESSION}/ultragoal/{name}"
    assert instead in denied(host.send("PreToolUse", tool_name="Edit", tool_input={"file_path": path}))


# Whose run, and in which state.


@pytest.mark.parametrize(
    "changes",
    [
        {"state": "ended"},
        {"state": "ended", "endedBy": "cap"},
        {"state": None},
        {"state": ["active"]},
        {"deny": None},
        {"deny": ["ask"]},
        {"deny": {"ask": 7, "pause": [], "complete": ""}},
    ],
    ids=str,
)
def test_a_run_that_is_over_or_makes_no_sense_refuses_nothing(host: Host, changes: Any) -> None:
    host.prompt("ulw x")  # something else is live, so the hook does run
    open_run(host, **changes)
    ask(host).assert_silent()
    bash(host, "omo goal pause").assert_silent()
    bash(host, "omo goal complete").assert_silent()


def test_without_a_run_or_in_another_session_nothing_is_refused(host: Host) -> None:
    ask(host).assert_silent()
    bash(host, "omo ultragoal checkpoint", **AS_SUBAGENT).assert_silent()
    open_run(host, session_id="another")
    bash(host, "omo ultragoal steer", **AS_SUBAGENT).assert_silent()
    host.prompt("ulw x")
    ask(host).assert_silent()
    bash(host, "omo goal pause").assert_silent()
    assert denied(ask(host, session_id="another")) == ASK


def test_a_cancelled_session_is_free(host: Host) -> None:
    open_run(host)
    host.prompt("stop ulw")
    ask(host).assert_silent()
    bash(host, "omo goal pause").assert_silent()
    bash(host, "omo ultragoal checkpoint", **AS_SUBAGENT).assert_silent()


@pytest.mark.parametrize(
    "text",
    [
        *("{", ""),
        '{"version": 9, "sessions": {"abc123": {"work": {"ultragoal": {"state": "active", "deny": {"ask": "no"}}}}}}',
        *('{"sessions": {"abc123": 7}}', '{"sessions": {"abc123": {"work": 7}}}'),
        '{"sessions": {"abc123": {"work": {"ultragoal": []}}}}',
        '{"sessions": {"abc123": {"work": {"ultragoal": {"state": {}, "deny": {"ask": "no"}}}}}}',
    ],
)
def test_state_that_cannot_be_read_refuses_nothing(host: Host, text: str) -> None:
    host.write_runtime(text)
    ask(host).assert_silent()
    bash(host, "omo goal pause").assert_silent()
    bash(host, "omo ultragoal checkpoint", **AS_SUBAGENT).assert_silent()


def test_a_long_reason_in_an_edited_file_is_shown_cut_and_on_one_line(host: Host) -> None:
    open_run(host, deny={"ask": "no\n\x1b[31m" * 2000})
    reason = denied(ask(host))
    assert len(reason) <= tool_use.LONGEST_REASON
    assert reason.isprintable()


# What a subagent is refused.

LEADERS_CALLS = [f"omo {group} {verb}" for group, verbs in tool_use.LEADERS.items() for verb in verbs]


@pytest.mark.parametrize(
    "command",
    [
        *LEADERS_CALLS,
        *("omo resume other", "omo state ultragoal write --input '{}'", "omo state clear --mode ultragoal --force"),
        *("omo ultragoal review --branch x --mode review-start", "omo ultragoal review --mode=review-start"),
        "true && sh -c 'omo ultragoal checkpoint --goal-id G001 --status complete'",
        *("omo ultragoal status; omo ultragoal steer --kind annotate_ledger", "omo goal create -- --help"),
    ],
)
def test_only_the_leader_changes_the_plan(host: Host, command: str) -> None:
    open_run(host, deny={})
    reason = denied(bash(host, command, **AS_SUBAGENT))
    assert "leader" in reason
    assert "evidence" in reason
    assert not denied(bash(host, command))


@pytest.mark.parametrize(
    "command", ["omo ulw done", "omo ulw done --skip-verification 'a mere text'", "omo ulw blocked"]
)
def test_only_the_leader_ends_plain_ultrawork(host: Host, command: str) -> None:
    host.prompt("ulw fix it")
    called = " ".join(command.split()[:3])
    assert bash(host, command, **AS_SUBAGENT).says_to_agent("tool-leaders-command", command=called)
    assert not denied(bash(host, command))


@pytest.mark.parametrize(
    "command",
    [
        *("omo ultragoal status", "omo ultragoal gate init --goal-id G001"),
        *("omo ultragoal review --mode review-only", "omo ultragoal review --spec checkpoint.md"),
        *("omo ultragoal checkpoint --help", "omo goal get", "omo verify status", "omo gate run tests"),
        *("omo evidence add steer.log", "echo 'omo ultragoal checkpoint'"),
    ],
)
def test_a_subagent_may_look_and_check(host: Host, command: str) -> None:
    open_run(host)
    assert not denied(bash(host, command, **AS_SUBAGENT))


# A refusal that is repeated.


def test_the_third_identical_question_makes_the_run_wait_and_the_gate_stays_shut(host: Host) -> None:
    open_run(host)
    ask(host)
    ask(host)
    assert host.row()["work"]["ultragoal"]["state"] == "active"
    assert denied(ask(host)) == ASK
    assert host.row()["work"]["ultragoal"]["state"] == "waiting"
    assert QUESTION in host.stop().message
    host.stop().assert_silent()
    assert [denied(ask(host)) for _ in range(3)] == [ASK] * 3
    host.prompt("use the first one").assert_silent()
    assert host.row()["work"]["ultragoal"]["state"] == "active"
    assert denied(ask(host)) == ASK
    assert host.stop().blocks


def test_only_identical_questions_count(host: Host) -> None:
    open_run(host)
    for number in range(6):
        assert denied(ask(host, f"Question {number}?")) == ASK
    assert host.stop().blocks


@pytest.mark.parametrize("command", ["omo goal pause --reason 'no key'", "omo goal pause --reason='no key'"])
def test_the_third_identical_pause_makes_the_run_wait_and_tells_the_user(host: Host, command: str) -> None:
    open_run(host)
    assert all(denied(bash(host, command)) for _ in range(2))
    assert host.stop().blocks
    assert denied(bash(host, command))
    assert "no key" in host.stop().message
    assert all(denied(bash(host, command)) for _ in range(4))


@pytest.mark.parametrize(
    ("command", "by"), [("omo goal complete", {}), ("omo ultragoal checkpoint --goal-id G001", AS_SUBAGENT)]
)
def test_a_refused_completion_or_subagent_lets_nobody_stop(host: Host, command: str, by: dict[str, str]) -> None:
    open_run(host)
    assert all(denied(bash(host, command, **by)) for _ in range(7))
    assert host.stop().blocks


def test_every_refusal_is_in_the_ledger_with_its_gate(host: Host) -> None:
    open_run(host)
    ask(host)
    bash(host, "omo goal pause")
    bash(host, "omo goal pause")
    bash(host, "omo goal complete")
    bash(host, "omo ultragoal steer", **AS_SUBAGENT)
    host.send("PreToolUse", tool_name="Write", tool_input={"file_path": f"{host.state}/x"})
    rows = [row for row in host.events() if row["kind"] == "denied"]
    assert [(row["gate"], row["tool"], row["times"]) for row in rows] == [
        ("ask", "AskUserQuestion", 1),
        ("pause", "Bash", 1),
        ("pause", "Bash", 2),
        ("complete", "Bash", 1),
        ("subagent", "Bash", 1),
        ("own-state", "Write", 1),
    ]
    assert rows[0]["reason"] == ASK
    assert runtime.ledger_problems(host.state, SESSION) == []


def test_refusals_at_the_same_time_are_all_counted(host: Host) -> None:
    open_run(host)
    event = host.payload("PreToolUse", tool_name="AskUserQuestion", tool_input=ASKED)
    # The next one finds the run waiting for the user.
    running = [host.start("PreToolUse", event) for _ in range(tool_use.PATIENCE)]
    answers = [process.communicate(timeout=60)[0] for process in running]
    assert all(ASK in json.loads(answer)["hookSpecificOutput"]["permissionDecisionReason"] for answer in answers)
    assert sorted(row["times"] for row in host.events() if row["kind"] == "denied") == [1, 2, 3]


def test_the_memory_of_refusals_is_bounded_and_survives_edits(host: Host) -> None:
    open_run(host)

    denials = {f"k{number}": "many" for number in range(500)}
    host.change_row(lambda row: read_row({**row, "denials": denials}))
    assert denied(ask(host)) == ASK
    kept = host.row()["denials"]
    assert len(kept) == 64
    assert list(kept.values())[-1] == 1


# What is listed in two places.


def test_the_gates_look_at_every_tool_the_hook_is_registered_for() -> None:
    watched = [tool for group in HOOKS["PreToolUse"] for tool in group["matcher"].split("|")]
    assert sorted(watched) == sorted(claude.HOST.watched_tools)


def verbs_of(group: str) -> set[str]:
    commands = options.commands_of(argparse.ArgumentParser(), None)
    importlib.import_module(COMMANDS[group][0]).register(commands)
    (verbs,) = [one for one in commands.choices[group]._actions if one.dest == "verb"]
    return set(verbs.choices or ())


@pytest.mark.parametrize(
    ("group", "reading"),
    [
        ("ulw", {"status"}),
        ("ultragoal", {"status", "brief", "gate", "review"}),
        ("goal", {"get"}),
        ("state", {"show"}),
        ("plan", {"validate", "critique", "status", "audit"}),
        ("laps", {"status", "artifacts", "brief"}),
        ("verify", {"status", "claim", "brief"}),
    ],
)
def test_every_command_is_the_leaders_or_only_reads(group: str, reading: set[str]) -> None:
    assert set(tool_use.LEADERS[group]) == verbs_of(group) - reading


@pytest.mark.parametrize(
    ("kind", "command"),
    [
        ("laps", "omo laps judge"),
        ("ultraplan", "omo plan finish"),
        ("verify", "omo verify finish G1"),
        ("laps", "omo ulw done"),
    ],
)
def test_other_work_has_its_leader_too(host: Host, kind: str, command: str) -> None:
    put_work(host, kind, open=1, total=1, next="C1")
    assert bash(host, command, **AS_SUBAGENT).says_to_agent(
        "tool-leaders-command", command=" ".join(command.split()[:3])
    )
    assert not denied(bash(host, command))


def test_a_prompt_does_not_wake_what_waits_for_a_person(host: Host) -> None:
    open_run(
        host,
        state="waiting",
        waitsFor="outside",
        why="G001 waits for a person: a password",
        question="?",
        told=False,
        own=True,
    )
    assert "a password" in host.stop().json["systemMessage"]
    host.prompt("what is the weather?").assert_silent()
    assert host.row()["work"]["ultragoal"]["state"] == "waiting"
    host.stop().assert_silent()
    host.prompt("continue")
    assert host.row()["work"]["ultragoal"]["state"] == "active"


@pytest.mark.parametrize("place", [{}, {"cwd": "/tmp/\udfff"}], ids=["here", "in a directory of such a name"])
def test_half_a_letter_in_a_path_does_not_open_what_is_kept(host: Host, place: dict[str, Any]) -> None:
    open_run(host)
    kept = f"{host.state}/\ud800"
    told = host.send("PreToolUse", tool_name="Write", tool_input={"file_path": kept, "content": "x"}, **place)
    assert told.says_to_agent("tool-own-state")
    patch = (
        f"*** Begin Patch\n*** Add File: \ud800\n+x\n*** Update File: {host.state}/runtime.local.json\n*** End Patch"
    )
    told = host.send("PreToolUse", tool_name="apply_patch", tool_input={"input": patch}, **place)
    assert told.says_to_agent("tool-own-state")


@pytest.mark.parametrize("tool", ["CronCreate", "ScheduleWakeup"])
@pytest.mark.parametrize(
    ("prompt", "is_refused"),
    [
        ("/omo:allow tests/test_calc.py", True),
        (" /allow tests/test_calc.py", True),
        ("/omo:verify goal.yaml", True),
        ("/omo:status", False),
        ("/compact", False),
        ("look whether the build is through", False),
    ],
)
def test_no_timer_types_a_command_for_the_user(host: Host, tool: str, prompt: str, is_refused: bool) -> None:
    asked: dict[str, Any] = {"tool_name": tool, "tool_input": {"cron": "* * * * *", "prompt": prompt}}
    assert not denied(host.send("PreToolUse", **asked))
    open_run(host)
    answer = host.send("PreToolUse", **asked)
    assert (decided(answer) == "deny") == is_refused
    assert answer.says_to_agent("tool-only-the-user-types") == is_refused
