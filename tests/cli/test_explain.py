"""`omo explain`: the rule that decides, what it read and what would change it; and nothing is written by asking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.hooks import tool_use
from omo.hooks.main import answer
from omo.state.rows import read_row
from omo.stop import rules
from omo.work import session
from tests.project import SESSION, Project

PARTS = ("decision", "rule", "why", "read", "change", "trail")


def facts(told: dict[str, Any]) -> dict[str, Any]:
    return {fact["what"]: (fact["value"], fact["where"]) for fact in told["read"]}


def files(project: Project) -> dict[str, bytes]:
    root = Path(project.state)
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def put(project: Project, **changes: Any) -> None:
    project.now -= 1  # at the moment that the test has reached
    project.change_row(lambda row: read_row({**row, **changes}), actor="agent")


def explain(project: Project, *argv: str) -> dict[str, Any]:
    """Both ways of asking agree, and neither leaves a byte behind."""
    before = files(project)
    ran = project.agent("explain", *argv)
    assert ran.code == 0, ran.err
    project.now -= 1  # the same moment
    told = project.agent("explain", argv[0], "--json", *argv[1:]).json
    assert files(project) == before
    assert set(PARTS) <= set(told)
    assert told["rule"] in ran.out
    for fact in told["read"]:
        assert set(fact) == {"what", "where", "value"}
    for line in told["change"]:
        assert line in ran.out
    return told


# stop


def test_stop_tells_what_it_read_and_where_it_came_from(project: Project) -> None:
    project.agent("ulw", "start")
    told = explain(project, "stop")
    assert (told["session"], told["decision"], told["rule"]) == (SESSION, "block", "block")
    known = facts(told)
    assert known["ulw.stopBlocks"] == (0, "runtime.local.json")
    assert known["limits.max_stop_blocks"][0] == 8
    assert "armed with" in known["limits.max_stop_blocks"][1]
    assert "assumed" in known["event"][1]
    assert told["limits"]["max_stop_blocks"] == 8
    assert [one["rule"] for one in told["trail"]] == [rule.name for rule in rules.RULES]
    lines = project.agent("explain", "stop").out.splitlines()
    assert lines[1] == "Asked in this order, until one decides (=>):", "else the next would say that it is so"
    assert lines[2].split(maxsplit=1) == ["switched-off", "OMO_DISABLE is set"]
    assert any(one.startswith("8 more blocks without verified progress") for one in told["change"])
    assert "/omo:stop-continuation" in told["change"]


def test_what_would_change_a_stop_counts_down(project: Project) -> None:
    project.user("ulw", "start", "--session", SESSION)
    blocked = {**project.row()["ulw"], "stopBlocks": 3, "totalBlocks": 3, "lastStopAt": stamp(project.now)}
    put(project, ulw=blocked)
    told = explain(project, "stop")
    assert told["rule"] == "block"
    assert "a Stop within 3 s of a block waits for the rest of them, and is then decided anew" in told["change"]
    put(project, ulw={**blocked, "limits": {**blocked["limits"], "cooldown_seconds": 60}})
    told = explain(project, "stop")
    assert (told["decision"], told["rule"]) == ("allow", "cooldown")
    assert told["change"][0] == "58.0 s later the cooldown is over"
    put(project, ulw=blocked)
    project.now += 10
    told = explain(project, "stop")
    assert told["change"][1].startswith("5 more blocks")
    assert facts(told)["limits.max_stop_blocks"] == (8, "armed with the run, runtime.local.json")


def test_where_a_limit_was_set_is_told(project: Project) -> None:
    project.environ["OMO_MAX_STOP_BLOCKS"] = "2"
    put(project, ulw={"enabled": True, "stopBlocks": 2})
    told = explain(project, "stop")
    assert told["rule"] == "cap"
    assert facts(told)["limits.max_stop_blocks"] == (2, "OMO_MAX_STOP_BLOCKS")


# prompt


@pytest.mark.parametrize(
    ("text", "environ", "decision", "rule", "change"),
    [
        ("ulw fix it", {}, "activate", "leading", "leave the word out"),
        ("what is ulw?", {}, "none", "question", "type ulw and a task"),
        ("use `ulw`", {}, "none", "in-code", "write ulw outside of it"),
        ("fix it with ulw", {"OMO_KEYWORD": "explicit"}, "none", "mode-explicit", "make ulw the first word"),
        ("ulw fix it", {"OMO_KEYWORD": "off"}, "none", "mode-off", "type /omo:ulw"),
        ("fix it", {}, "none", "no-keyword", "type ulw and a task"),
        ("/omo:pin tests -- pytest", {}, "pin", "pin-command", "leave the command out"),
    ],
)
def test_prompts(project: Project, text: str, environ: dict[str, str], decision: str, rule: str, change: str) -> None:
    project.environ |= environ
    told = explain(project, "prompt", text)
    assert (told["decision"], told["action"], told["rule"]) == (decision, decision, rule)
    assert told["change"][0].startswith(change)
    if decision != "pin":
        origin = "OMO_KEYWORD" if environ else "default"
        assert facts(told)["keyword"] == (environ.get("OMO_KEYWORD", "on"), origin)


def test_a_prompt_can_be_explained_without_a_session(project: Project) -> None:
    told = project.user("explain", "prompt", "ulw fix it", "--json").json
    assert set(facts(told)) == {"prompt", "keyword"}


@pytest.mark.parametrize("variable", [{"OMO_DISABLE": "1"}, {"OMO_SKIP_HOOKS": "UserPromptSubmit,PreToolUse"}])
def test_a_hook_that_is_switched_off_decides_nothing(project: Project, variable: dict[str, str]) -> None:
    project.environ |= variable
    for argv in (("prompt", "ulw fix it"), ("tool", "--write", ".sisyphus/cc-omo/runtime.local.json")):
        told = explain(project, *argv)
        assert (told["decision"], told["rule"]) == ("allow", "switched-off")
        assert facts(told) == {name: (value, "the environment") for name, value in variable.items()}


# tool


def test_a_call_that_no_gate_refuses(project: Project) -> None:
    told = explain(project, "tool", "--", "rm", "-rf", "build")
    assert (told["decision"], told["rule"], told["tool"]) == ("allow", "no-gate", "Bash")
    assert facts(told)["call"] == ("rm -rf build", "the host's event")
    assert [one["rule"] for one in told["trail"]] == [gate.name for gate in tool_use.GATES]


def test_a_call_that_never_reaches_a_hook(project: Project) -> None:
    told = explain(project, "tool", "--tool", "Read")
    assert (told["decision"], told["rule"]) == ("allow", "not-watched")


def test_our_own_state_is_refused_and_the_run_waits_in_the_end(project: Project) -> None:
    project.agent("ulw", "start")
    target = f"{project.state}/runtime.local.json"
    told = explain(project, "tool", "--write", target)
    assert (told["decision"], told["rule"]) == ("deny", "own-state")
    assert (
        told["change"][-1]
        == "after 2 more identical calls the run waits for you, and Stop lets go; the gate stays shut"
    )
    event = {"session_id": SESSION, "tool_name": "Write", "tool_input": {"file_path": target}}
    for _ in range(3):
        raw = json.dumps({**event, "cwd": str(project.root)}).encode()
        assert b'"deny"' in answer("pre-tool-use", tool_use.handle, raw, {}, str(project.root), project.now)
    told = explain(project, "tool", "--write", target)
    assert told["decision"] == "deny"
    assert facts(told)["denials"][0] == "3 of this call"


def ultragoal(project: Project, **more: Any) -> None:
    deny = {"ask": "Ultragoal G001 is open.", "pause": "A pause needs a blocker.", "complete": "Not proven."}
    summary: Any = {"run": "g1", "state": "active", "open": 1, "total": 1, "next": "G001", "deny": deny, **more}
    put(project, **session.put_work(None, "ultragoal", summary, limits={}, now=project.now))


def test_the_gates_of_a_run_are_asked(project: Project) -> None:
    ultragoal(project)
    told = explain(project, "tool", "--tool", "AskUserQuestion")
    assert (told["decision"], told["rule"], told["why"]) == ("deny", "ask", "Ultragoal G001 is open.")
    assert [one["rule"] for one in told["trail"]] == ["own-state", "fence", "budget", "brief", "schedule"]
    assert facts(told)["attended"] == (False, "as committed where the run began, runtime.local.json")
    assert told["change"][1].startswith("after 2 more identical calls the run waits for you")
    assert explain(project, "tool", "--", "omo goal pause")["rule"] == "pause"
    assert "nobody is asked about it" in explain(project, "tool", "--", "omo status")["why"]
    assert explain(project, "tool", "--", "cd x && omo goal complete")["rule"] == "complete"
    project.environ["OMO_ATTENDED"] = "1"
    told = explain(project, "tool", "--tool", "AskUserQuestion")
    assert (told["decision"], facts(told)["attended"]) == ("allow", (True, "OMO_ATTENDED"))


def test_the_fence_says_what_it_is_made_of(project: Project) -> None:
    fence = {"touch": ["src/**"], "never": ["src/secret.py"], "root": str(project.root), "spec": "plan.md"}
    work = {"ultraplan": {"run": "p1", "state": "active", "open": 1, "total": 1, "fence": fence}}
    put(project, work=work)
    told = explain(project, "tool", "--write", "README.md")
    assert (told["decision"], told["rule"]) == ("deny", "fence")
    assert facts(told)["fence.touch"] == (["src/**"], "runtime.local.json")
    assert "['src/**']" not in project.agent("explain", "tool", "--write", "README.md").out
    assert explain(project, "tool", "--write", "src/a.py")["decision"] == "allow"


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("--write", "a", "--", "ls"),
        ("--tool", "Read", "--write", "a"),
    ],
)
def test_a_call_that_is_not_named_is_refused(project: Project, argv: tuple[str, ...]) -> None:
    ran = project.agent("explain", "tool", *argv)
    assert ran.code == 2
    assert "fix:" in ran.err


# what an agent could have written


def test_nothing_of_the_state_reaches_the_terminal_as_it_is(project: Project) -> None:
    hostile = "\x1b[2J\u202e" + "x" * 5000
    ultragoal(project, next=hostile, deny={"ask": hostile})
    for argv in (("stop",), ("prompt", hostile), ("tool", "--", hostile), ("tool", "--tool", "AskUserQuestion")):
        ran = project.agent("explain", *argv)
        assert all(letter.isprintable() or letter == "\n" for letter in ran.out)
        assert max(map(len, ran.out.splitlines())) < 800
