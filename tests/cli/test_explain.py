"""`omo explain`: the rule that decides, what it read and what would change it; and nothing is written by asking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.hooks import stop, tool_use
from omo.hooks.main import answer
from omo.state import runtime
from omo.work import session
from tests.cli.conftest import SESSION, Shell

PARTS = ("decision", "rule", "why", "read", "change", "trail")


def facts(told: dict[str, Any]) -> dict[str, Any]:
    return {fact["what"]: (fact["value"], fact["where"]) for fact in told["read"]}


def files(shell: Shell) -> dict[str, bytes]:
    root = Path(shell.state)
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def put(shell: Shell, **changes: Any) -> None:
    def change(row: dict[str, Any] | None) -> runtime.Change:
        return runtime.Change(None, {**(row or {}), **changes}, [{"kind": "test"}])

    runtime.change_session(shell.state, SESSION, change, actor="agent", now=shell.now, wait=5)


def explain(shell: Shell, *argv: str) -> dict[str, Any]:
    """Both ways of asking agree, and neither leaves a byte behind."""
    before = files(shell)
    ran = shell.agent("explain", *argv)
    assert ran.code == 0, ran.err
    shell.now -= 1  # the same moment
    told = shell.agent("explain", argv[0], "--json", *argv[1:]).json
    assert files(shell) == before
    assert set(PARTS) <= set(told)
    assert told["rule"] in ran.out
    for fact in told["read"]:
        assert set(fact) == {"what", "where", "value"}
    for line in told["change"]:
        assert line in ran.out
    return told


# stop


def test_stop_tells_what_it_read_and_where_it_came_from(shell: Shell) -> None:
    shell.agent("ulw", "start")
    told = explain(shell, "stop")
    assert (told["session"], told["decision"], told["rule"]) == (SESSION, "block", "block")
    known = facts(told)
    assert known["ulw.stopBlocks"] == (0, "runtime.local.json")
    assert known["limits.max_stop_blocks"][0] == 8
    assert "armed with" in known["limits.max_stop_blocks"][1]
    assert "assumed" in known["event"][1]
    assert told["limits"]["max_stop_blocks"] == 8
    assert [one["rule"] for one in told["trail"]] == [rule.name for rule in stop.RULES]
    assert any(one.startswith("8 more blocks without verified progress") for one in told["change"])
    assert "/omo:stop-continuation" in told["change"]


def test_what_would_change_a_stop_counts_down(shell: Shell) -> None:
    shell.user("ulw", "start", "--session", SESSION)
    blocked = {**shell.row()["ulw"], "stopBlocks": 3, "totalBlocks": 3, "lastStopAt": stamp(shell.now)}
    put(shell, ulw=blocked)
    told = explain(shell, "stop")
    assert told["rule"] == "block"
    assert "a Stop within 3 s of a block waits for the rest of them, and is then decided anew" in told["change"]
    put(shell, ulw={**blocked, "limits": {**blocked["limits"], "cooldown_seconds": 60}})
    told = explain(shell, "stop")
    assert (told["decision"], told["rule"]) == ("allow", "cooldown")
    assert told["change"][0] == "58.0 s later the cooldown is over"
    put(shell, ulw=blocked)
    shell.now += 10
    told = explain(shell, "stop")
    assert told["change"][1].startswith("5 more blocks")
    assert facts(told)["limits.max_stop_blocks"] == (8, "armed with the run, runtime.local.json")


def test_a_stop_with_an_event_names_the_hosts_field(shell: Shell) -> None:
    shell.agent("ulw", "start")
    tasks = [{"id": "b1", "type": "shell", "status": "running"}]
    shell.write("event.json", json.dumps({"session_id": SESSION, "background_tasks": tasks}))
    told = explain(shell, "stop", "--event", str(shell.project / "event.json"))
    assert told["rule"] == "background-shell"
    assert facts(told)["event.running"] == ("0 agents, 1 shells", "background_tasks")
    assert told["change"][-1].startswith("2 more Stops")


def test_where_a_limit_was_set_is_told(shell: Shell) -> None:
    shell.environ["OMO_MAX_STOP_BLOCKS"] = "2"
    put(shell, ulw={"enabled": True, "stopBlocks": 2})
    told = explain(shell, "stop")
    assert told["rule"] == "cap"
    assert facts(told)["limits.max_stop_blocks"] == (2, "OMO_MAX_STOP_BLOCKS")


# prompt


@pytest.mark.parametrize(
    ("text", "environ", "decision", "rule", "change"),
    [
        ("ulw fix it", {}, "activate", "leading", "leave the word out"),
        ("what is ulw?", {}, "none", "question", "begin the prompt with ulw"),
        ("fix it with ulw", {"OMO_KEYWORD": "explicit"}, "none", "mode-explicit", "make ulw the first word"),
        ("ulw fix it", {"OMO_KEYWORD": "off"}, "none", "mode-off", "type /omo:ulw"),
        ("fix it", {}, "none", "no-keyword", "begin the prompt with ulw"),
        ("/omo:pin tests -- pytest", {}, "pin", "pin-command", "leave the command out"),
    ],
)
def test_prompts(shell: Shell, text: str, environ: dict[str, str], decision: str, rule: str, change: str) -> None:
    shell.environ |= environ
    told = explain(shell, "prompt", text)
    assert (told["decision"], told["action"], told["rule"]) == (decision, decision, rule)
    assert told["change"][0].startswith(change)
    if decision != "pin":
        origin = "OMO_KEYWORD" if environ else "default"
        assert facts(told)["keyword"] == (environ.get("OMO_KEYWORD", "on"), origin)


def test_a_prompt_can_be_explained_without_a_session(shell: Shell) -> None:
    told = shell.user("explain", "prompt", "ulw fix it", "--json").json
    assert facts(told)["session"] == ("assumed to have nothing on", "not named")


@pytest.mark.parametrize("variable", [{"OMO_DISABLE": "1"}, {"OMO_SKIP_HOOKS": "UserPromptSubmit,PreToolUse"}])
def test_a_hook_that_is_switched_off_decides_nothing(shell: Shell, variable: dict[str, str]) -> None:
    shell.environ |= variable
    for argv in (("prompt", "ulw fix it"), ("tool", "--write", ".sisyphus/cc-omo/runtime.local.json")):
        told = explain(shell, *argv)
        assert (told["decision"], told["rule"]) == ("allow", "switched-off")
        assert facts(told) == {name: (value, "the environment") for name, value in variable.items()}


# tool


def test_a_call_that_no_gate_refuses(shell: Shell) -> None:
    told = explain(shell, "tool", "--", "rm", "-rf", "build")
    assert (told["decision"], told["rule"], told["tool"]) == ("allow", "no-gate", "Bash")
    assert facts(told)["call"] == ("rm -rf build", "event.tool_input")
    assert [one["rule"] for one in told["trail"]] == [gate.name for gate in tool_use.GATES]


def test_a_call_that_never_reaches_a_hook(shell: Shell) -> None:
    told = explain(shell, "tool", "--tool", "Read")
    assert (told["decision"], told["rule"]) == ("allow", "not-watched")


def test_our_own_state_is_refused_and_the_user_asked_in_the_end(shell: Shell) -> None:
    shell.agent("ulw", "start")
    target = f"{shell.state}/runtime.local.json"
    told = explain(shell, "tool", "--write", target)
    assert (told["decision"], told["rule"]) == ("deny", "own-state")
    assert told["change"][-1] == "after 3 more identical calls you are asked whether to allow it once"
    event = {"session_id": SESSION, "tool_name": "Write", "tool_input": {"file_path": target}}
    for _ in range(3):
        raw = json.dumps({**event, "cwd": str(shell.project)}).encode()
        assert b'"deny"' in answer("pre-tool-use", tool_use.handle, raw, {}, str(shell.project), shell.now)
    told = explain(shell, "tool", "--write", target)
    assert told["decision"] == "ask"
    assert facts(told)["denials"][0] == "3 of this call"


def ultragoal(shell: Shell, **more: Any) -> None:
    deny = {"ask": "Ultragoal G001 is open.", "pause": "A pause needs a blocker.", "complete": "Not proven."}
    summary = {"run": "g1", "state": "active", "open": 1, "total": 1, "next": "G001", "deny": deny, **more}
    put(shell, **session.put_work({}, "ultragoal", summary, limits={}, now=shell.now))


def test_the_gates_of_a_run_are_asked(shell: Shell) -> None:
    ultragoal(shell)
    told = explain(shell, "tool", "--tool", "AskUserQuestion")
    assert (told["decision"], told["rule"], told["why"]) == ("deny", "ask", "Ultragoal G001 is open.")
    assert [one["rule"] for one in told["trail"]] == ["own-state", "fence"]
    assert facts(told)["attended"] == (False, "as committed where the run began, runtime.local.json")
    assert told["change"][1].startswith("after 2 more identical calls the run waits for you")
    assert explain(shell, "tool", "--", "omo goal pause")["rule"] == "pause"
    assert explain(shell, "tool", "--", "cd x && omo goal complete")["rule"] == "complete"
    shell.environ["OMO_ATTENDED"] = "1"
    told = explain(shell, "tool", "--tool", "AskUserQuestion")
    assert (told["decision"], facts(told)["attended"]) == ("allow", (True, "OMO_ATTENDED"))


def test_a_subagents_call_is_asked_as_such(shell: Shell) -> None:
    ultragoal(shell)
    command = ["--", "omo", "ultragoal", "checkpoint"]
    assert explain(shell, "tool", *command)["decision"] == "allow"
    told = explain(shell, "tool", "--subagent", *command)
    assert (told["rule"], told["subagent"]) == ("subagent", True)
    assert "leads the run" in told["change"][0]


def test_the_fence_says_what_it_is_made_of(shell: Shell) -> None:
    fence = {"touch": ["src/**"], "never": ["src/secret.py"], "root": str(shell.project), "spec": "plan.md"}
    work = {"ultraplan": {"run": "p1", "state": "active", "open": 1, "total": 1, "fence": fence}}
    put(shell, work=work)
    told = explain(shell, "tool", "--write", "README.md")
    assert (told["decision"], told["rule"]) == ("deny", "fence")
    assert facts(told)["fence.touch"] == (["src/**"], "runtime.local.json")
    assert explain(shell, "tool", "--write", "src/a.py")["decision"] == "allow"


def test_a_saved_event_is_asked_as_it_is(shell: Shell) -> None:
    event = {"session_id": SESSION, "cwd": str(shell.project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    shell.write("event.json", json.dumps(event))
    assert explain(shell, "tool", "--event", str(shell.project / "event.json"))["rule"] == "no-gate"


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("--write", "a", "--", "ls"),
        ("--event", "nowhere.json"),
    ],
)
def test_a_call_that_is_not_named_is_refused(shell: Shell, argv: tuple[str, ...]) -> None:
    ran = shell.agent("explain", "tool", *argv)
    assert ran.code == 2
    assert "fix:" in ran.err


# goal


def test_a_gate_is_open_holds_and_goes_stale(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.agent("gate", "add", "check", "--", "grep", "-q", "new", "value")
    told = explain(shell, "goal", "check")
    assert (told["decision"], told["why"], told["kind"]) == ("open", "it was not run in this run", "ulw")
    assert told["change"] == ["open: check: omo gate run"]
    shell.write("value", "new\n")
    shell.agent("gate", "run")
    assert explain(shell, "goal", "gate", "check")["decision"] == "done"
    shell.write("value", "new again\n")
    told = explain(shell, "goal", "check")
    assert (told["decision"], told["why"]) == ("open", "it was proven, but changed since: value")
    assert shell.agent("explain", "goal", "--json").json["kind"] == "ulw"


def test_an_unknown_goal_is_answered_with_the_known_ones(shell: Shell) -> None:
    shell.agent("ulw", "start")
    shell.agent("gate", "add", "check", "--", "true")
    ran = shell.agent("explain", "goal", "G7")
    assert ran.code == 2
    assert "there are: check" in ran.err


# what an agent could have written


def test_nothing_of_the_state_reaches_the_terminal_as_it_is(shell: Shell) -> None:
    hostile = "\x1b[2J\u202e" + "x" * 5000
    ultragoal(shell, next=hostile, deny={"ask": hostile})
    for argv in (("stop",), ("prompt", hostile), ("tool", "--", hostile), ("tool", "--tool", "AskUserQuestion")):
        ran = shell.agent("explain", *argv)
        assert all(letter.isprintable() or letter == "\n" for letter in ran.out)
        assert max(map(len, ran.out.splitlines())) < 800
