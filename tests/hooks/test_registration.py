"""hooks.json against the files beside it and against what hosts accept."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from typing import Any

import pytest

from omo import hosts
from omo.hooks import main
from tests.hooks.conftest import HOOKS, OF_CODEX, ROOT, command_of

SCRIPTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
}


def test_every_event_has_its_handler_and_every_handler_its_event() -> None:
    assert set(HOOKS) == set(SCRIPTS)
    asked_by_settings = {"statusline"}  # which the user's own settings name, if they want it
    assert set(main.HANDLERS) == {*SCRIPTS.values(), *asked_by_settings}
    for module, function in main.HANDLERS.values():
        assert callable(getattr(importlib.import_module(module), function))


def test_every_registration_is_what_the_table_says() -> None:
    check = [sys.executable, str(ROOT / "docs" / "make_hooks.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", hosts.NAMES)
def test_a_registration_names_its_own_host_only(name: str) -> None:
    """Users trust a hook by its text: a new host changes none of another's."""
    host = hosts.named(name)
    text = (ROOT / host.registration).read_text(encoding="utf-8")
    named = {variable for variable in re.findall(r"\$\{?(\w+)", text) if variable.startswith(hosts.OWN_PREFIXES)}
    own = (host.root_variable, host.data_variable, host.project_variable, host.shell_file_variable)
    assert named <= set(own)
    for other in hosts.every():
        assert (other.session_variable in text) is False
        assert (f"host={other.name} " in text) is (other is host)


@pytest.mark.parametrize("name", hosts.NAMES)
def test_a_hook_notices_the_host_around_it(name: str) -> None:
    program = 'host=$1 around=; . "$2"; printf %s "$around"'
    host = hosts.named(name)

    def around(variable: str) -> str:
        command = ["sh", "-uc", program, "sh", name, str(ROOT / "hooks" / "around.sh")]
        return subprocess.run(command, env={variable: "s1"}, capture_output=True, text=True, check=True).stdout

    for other in hosts.every():
        assert around(other.session_variable) == (
            "s1" if hosts.is_in_an_agents_shell(host, {other.session_variable: "s1"}) else ""
        )
    assert around("UNRELATED") == ""


def test_what_codex_reads_holds_only_what_it_accepts() -> None:
    assert set(json.loads((ROOT / "hooks" / "codex.json").read_text())) == {"description", "hooks"}
    for groups in OF_CODEX.values():
        for group in groups:
            (handler,) = group["hooks"]
            assert set(handler) <= {"type", "command", "timeout", "statusMessage"}


def test_in_codex_every_hook_has_a_title() -> None:
    """Its review lists those without one as "Unnamed hook"."""
    titles = [groups[0]["hooks"][0].get("statusMessage", "") for groups in OF_CODEX.values()]
    assert len(set(titles)) == len(OF_CODEX)
    for title in titles:
        assert title.startswith("omo: ")


@pytest.mark.parametrize("event", HOOKS)
def test_one_handler_an_event_with_a_timeout_in_quoted_shell_form(event: str) -> None:
    groups = HOOKS[event]
    assert len(groups) == (2 if event == "PreToolUse" else 1)
    for group in groups:
        (handler,) = group["hooks"]
        check_handler(event, handler)


def check_handler(event: str, handler: dict[str, Any]) -> None:
    assert handler["type"] == "command"
    assert "args" not in handler
    assert 0 < handler["timeout"] <= 10
    command = handler["command"]
    assert '"${CLAUDE_PLUGIN_ROOT}/hooks/launch.sh"' in command
    assert "'" not in command  # the shell expands the variable, so single quotes would defeat it
    assert f"event={SCRIPTS[event]};" in command


def test_the_commands_differ_in_the_event_alone() -> None:
    assert len({command_of(event).replace(SCRIPTS[event], "E") for event in HOOKS}) == 1


def test_shells_alone_are_asked_about_where_there_is_no_state() -> None:
    others, shells = (group["hooks"][0]["command"] for group in HOOKS["PreToolUse"])
    assert shells.replace("plugin_shells_alone=yes ", "") == others
    assert HOOKS["PreToolUse"][1]["matcher"] == "Bash"


def test_no_hook_listens_to_every_tool_and_after_one_only_to_omo() -> None:
    (after,) = HOOKS["PostToolUse"]
    assert (after["matcher"], after["hooks"][0]["if"]) == ("Bash", "Bash(omo *)")
    assert not {"", "*"} & {group["matcher"] for group in HOOKS["PreToolUse"]}
    assert "matcher" not in HOOKS["SessionStart"][0]  # startup, resume, clear, compact, fork and what comes next


def test_the_script_is_a_few_lines_because_it_is_never_cached() -> None:
    body = ast.parse((ROOT / "hooks" / "event.py").read_text(encoding="utf-8")).body
    assert len(body) <= 7


@pytest.mark.parametrize("raw", [b"", b"{", b'{"session_id": "a", "cwd": "/"}'])
def test_an_event_that_this_version_does_not_know_is_let_go_without_a_word(raw: bytes) -> None:
    argv = [sys.executable, str(ROOT / "hooks" / "event.py"), "of-another-version", "claude"]
    done = subprocess.run(argv, input=raw, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"omo: answered", b"")
