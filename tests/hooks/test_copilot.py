"""The hooks as Copilot CLI starts them: by its own registration, in the plugin's directory, beside its record."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from omo import hosts
from omo.hosts import Answer as Said
from omo.hosts import copilot as host_module
from omo.state import paths
from tests import texts
from tests.hooks.conftest import OF_COPILOT, ROOT, SESSION, Answer, Host
from tests.hooks.test_launcher import HARSH_STDIN, without_python

# What 1.0.102 reads of an answer; it drops a systemMessage, and context in any other place.
KNOWN = {"decision", "reason", "additionalContext", "hookSpecificOutput"}
KNOWN_INSIDE = {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput"}
AGENT = "8642bf8c-6b1d-4d76-af21-2c31cef1e9fd"


class Copilot(Host):
    def environment(self, **extra: str) -> dict[str, str]:
        known = {name: os.environ[name] for name in ("PATH", "HOME")}
        ours = {"COPILOT_PLUGIN_ROOT": str(ROOT), "COPILOT_PLUGIN_DATA": str(self.data / "plugin"), "COPILOT_CLI": "1"}
        ours["OMO_ENV_HOME"] = str(self.data)
        project = {"COPILOT_PROJECT_DIR": str(self.project), "CLAUDE_PROJECT_DIR": str(self.project)}
        return {**known, **ours, **project, "COPILOT_HOME": str(self.data), **self.environ, **extra}

    def command(self, event: str, stdin: bytes) -> str:
        (group,) = OF_COPILOT[event]
        return str(group["hooks"][0]["command"])

    def raw(self, event: str, stdin: bytes, *, cwd: Path | None = None, **extra: str) -> Answer:
        return super().raw(event, stdin, cwd=ROOT, **extra)

    def told(self, event: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        """The line that the user is shown, and the answer."""
        answer = self.send(event, **fields)
        message = ""
        output: dict[str, Any] = {}
        for line in answer.stdout.splitlines():
            values = json.loads(line)
            if values.get("type") == "progress":
                assert not output  # which would end the answer
                message = values["message"]
                continue
            output = values
        assert set(output) <= KNOWN
        assert set(output.get("hookSpecificOutput", {})) <= KNOWN_INSIDE
        return message, output

    def typed(self, text: str, **fields: Any) -> tuple[str, dict[str, Any]]:
        return self.told("UserPromptSubmit", prompt=text, **fields)

    def ends(self, **fields: Any) -> tuple[str, dict[str, Any]]:
        return self.told("Stop", transcript_path=str(self.record), **fields)

    def rewritten(self, command: str, **fields: Any) -> str:
        _, output = self.told("PreToolUse", tool_name="Bash", tool_input={"command": command, "mode": "sync"}, **fields)
        assert output["hookSpecificOutput"]["updatedInput"]["mode"] == "sync"
        return str(output["hookSpecificOutput"]["updatedInput"]["command"])

    @property
    def record(self) -> Path:
        path = self.data / "session-state" / self.session / "events.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def notes(self, kind: str, /, *, seconds: float = 0, agent: str = "", **data: Any) -> None:
        """The client writes a row, so long after now."""
        moment = (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec="milliseconds")
        row = {"type": kind, "data": data, "agentId": agent, "id": "1", "timestamp": moment.replace("+00:00", "Z")}
        with self.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=(",", ":")) + "\n")


@pytest.fixture
def copilot(host: Host) -> Iterator[Copilot]:
    yield Copilot(host.root, data=host.data)
    assert not Path(paths.log_file(host.state)).exists()


def test_the_model_is_told_at_the_top_and_the_user_in_a_line_of_progress(copilot: Copilot) -> None:
    message, output = copilot.typed("ulw fix it")
    assert texts.says(message, "prompt-on", works="ultrawork")
    assert texts.says(output["additionalContext"], "prompt-turned-on")
    assert "task tool" in output["additionalContext"]
    _, output = copilot.ends()
    assert output["decision"] == "block"
    message, _ = copilot.typed("never mind")
    assert texts.says(message, "prompt-paused-told", works="ultrawork")
    _, output = copilot.typed("/omo:stop-continuation")
    assert output["decision"] == "block"
    assert copilot.ends() == ("", {})


@pytest.mark.parametrize("event", OF_COPILOT)
def test_any_stdin_is_survived(copilot: Copilot, event: str) -> None:
    copilot.typed("ulw fix it")
    for name, stdin in HARSH_STDIN.items():
        answer = copilot.raw(event, stdin)
        assert (answer.code, answer.stderr) == (0, ""), name


def test_what_a_stop_sent_back_with_comes_as_a_prompt_and_is_not_the_users(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    _, output = copilot.ends()  # which the record need not have yet
    assert copilot.typed(output["reason"]) == ("", {})
    assert copilot.kinds() == ["activated:leading", "blocked:block"]
    for stop in ("never mind", "stop ulw"):
        copilot.typed(stop)
        _, answer = copilot.typed(output["reason"])  # it was in the queue before that
        assert answer["decision"] == "block"
        assert texts.situations(answer["reason"]) == {"prompt-not-sent-back"}


def test_what_another_hook_sends_back_with_is_left_alone(copilot: Copilot) -> None:
    linted = "ulw, says the linter"
    copilot.notes("hook.end", hookType="agentStop", output={"decision": "block", "reason": linted})
    for sent in (linted, f"{host_module.AUTOPILOT} Go on with the ulw."):
        assert copilot.typed(sent) == ("", {})


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("omo's prompt hook does this.\n\n\nARGUMENTS: tests -- make test\n", "/omo:pin tests -- make test"),
        ("omo's prompt hook does this.\n\n", "/omo:pin"),
    ],
)
def test_a_skill_typed_in_the_terminal_comes_as_its_text(text: str, typed: str) -> None:
    around = f'{host_module.INVOKED}/omo:pin" skill. Follow its instructions now.\n\n<skill-context name="pin">\n'
    prompt = f"{around}Base directory for this skill: /a\n\n{text}</skill-context>"
    assert read(prompt).prompt == typed


@pytest.mark.parametrize("given", ["fix it", "fix it\n\nand more, in\nlines", ""])
def test_what_follows_its_name_stands_where_the_file_has_a_place(given: str) -> None:
    for path in sorted(ROOT.glob("skills/*/SKILL.md")):
        _, _, body = path.read_text(encoding="utf-8").split("---\n", 2)
        if "$ARGUMENTS" not in body:
            continue
        name = path.parent.name
        around = f'{host_module.INVOKED}/omo:{name}" skill. Follow its instructions now.\n\n<skill-context name="x">\n'
        text = f"{around}Base directory for this skill: /a\n{body.replace('$ARGUMENTS', given)}\n</skill-context>"
        assert read(text).prompt == f"/omo:{name} {given}".strip()


def read(prompt: str) -> hosts.Event:
    raw = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt}).encode()
    event = host_module.HOST.read(raw, {"COPILOT_PLUGIN_ROOT": str(ROOT)})
    assert event is not None
    return event


def test_what_no_hook_was_told_is_heard_when_the_turn_ends(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    copilot.notes("assistant.message", content="", toolRequests=[{"name": "bash", "arguments": {"command": "ls"}}])
    copilot.notes("user.message", seconds=1, content="stop ulw", delivery="steering")
    message, output = copilot.ends()
    assert texts.says(message, "prompt-cancelled-told", works="ultrawork")
    assert output == {}
    assert copilot.kinds() == ["activated:leading", "cancelled:cancel"]


def test_it_is_heard_once(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    copilot.notes("assistant.message", content="", toolRequests=[{"name": "bash", "arguments": {"command": "ls"}}])
    copilot.notes("user.message", seconds=1, content="stop ulw", delivery="steering")
    copilot.notes("user.message", seconds=2, content="ulw fix that instead", delivery="steering")
    copilot.notes("user.message", seconds=3, content="stop ulw", delivery="queued")  # of which a hook is told
    message, output = copilot.ends()
    assert texts.says(message, "prompt-on", works="ultrawork")
    assert output["decision"] == "block"
    assert copilot.kinds()[1:3] == ["cancelled:cancel", "activated:leading"]
    assert copilot.ends()[1]["decision"] == "block"
    assert copilot.kinds().count("cancelled:cancel") == 1


def test_the_state_is_guarded_also_from_a_patch(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    patch = f"*** Begin Patch\n*** Add File: {copilot.state}/evil\n+evil\n*** End Patch\n"
    calls: list[tuple[str, Any]] = [
        ("Edit", patch),  # apply_patch
        ("Edit", {"path": f"{copilot.state}/evil", "old_str": "a", "new_str": "b"}),
        ("Write", {"path": f"{copilot.state}/evil", "file_text": "evil"}),
        ("Bash", {"command": f"echo evil > {shlex.quote(copilot.state)}/evil"}),
    ]
    of_an_agent = {"session_id": AGENT, "agent_id": AGENT, "agent_type": "x", "parent_agent_id": SESSION}
    for fields in ({}, of_an_agent):
        for tool, given in calls:
            _, output = copilot.told("PreToolUse", tool_name=tool, tool_input=given, **fields)
            assert output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_command_that_calls_omo_is_given_what_it_needs(copilot: Copilot) -> None:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "COPILOT_AGENT_SESSION_ID": "of an agent's shell",
    }
    copilot.typed("ulw fix it")
    rewritten = copilot.rewritten("omo gate add tests -- true")
    done = subprocess.run(["sh", "-c", rewritten], env=environ, cwd="/tmp", capture_output=True, text=True, check=True)
    assert texts.says(done.stdout, "gate-pinned", gate="tests", by="the agent", command="true")
    assert copilot.kinds()[-1] == "gate-added"
    fields = {"session_id": AGENT, "agent_id": AGENT, "agent_type": "omo:qa", "parent_agent_id": SESSION}
    assert f"COPILOT_AGENT_SESSION_ID={SESSION}" in copilot.rewritten("omo next", **fields)
    call = {"tool_name": "Bash", "tool_input": {"command": "git commit -m 'use omo here'"}}
    assert copilot.told("PreToolUse", **call) == ("", {})


def test_only_what_looks_is_permitted(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")

    def permission(command: str, **more: Any) -> str | None:
        _, output = copilot.told("PreToolUse", tool_name="Bash", tool_input={"command": command, **more})
        decision: str | None = output["hookSpecificOutput"].get("permissionDecision")
        return decision

    assert permission("omo next") == "allow"
    assert permission("omo next; rm -rf /tmp/x") is None  # the user's own permissions decide
    assert permission("omo next", requestSandboxBypass=True) is None


def test_plan_mode_and_autopilot_are_left_alone(copilot: Copilot) -> None:
    copilot.typed("[[PLAN]] ulw fix it")
    copilot.notes("session.mode_changed", previousMode="interactive", newMode="plan")
    assert copilot.ends()[1] == {}
    copilot.notes("session.mode_changed", previousMode="plan", newMode="autopilot")
    message, output = copilot.ends()
    assert "/autopilot" in message
    assert output == {}
    copilot.notes("session.mode_changed", previousMode="autopilot", newMode="interactive")
    assert copilot.ends()[1]["decision"] == "block"
    assert copilot.kinds() == ["activated:leading", "allowed:plan-mode", "allowed:other-loop", "blocked:block"]


def test_in_an_agents_shell_it_is_no_person_who_types(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    _, output = copilot.typed("stop ulw", env={"COPILOT_AGENT_SESSION_ID": "outer"})
    assert texts.says(output["reason"], "prompt-in-an-agents-shell")
    assert copilot.kinds() == ["activated:leading"]


def test_nested_in_another_host_it_keeps_to_its_own_session_and_project(copilot: Copilot, tmp_path: Path) -> None:
    elsewhere = tmp_path / "of the other host"
    elsewhere.mkdir()
    copilot.environ |= {"CODEX_SESSION_ID": "outer", "OMO_PROJECT_DIR": str(elsewhere)}
    copilot.typed("ulw fix it")
    assert copilot.kinds() == ["activated:leading"]
    assert list(elsewhere.iterdir()) == []
    rewritten = copilot.rewritten("omo next")
    assert f"OMO_PROJECT_DIR={shlex.quote(str(copilot.project))}" in rewritten
    assert f"{hosts.OUTER}=outer" in rewritten


def test_without_a_python_it_says_so_in_its_form(copilot: Copilot) -> None:
    for name in ("environment", "interpreter"):
        (copilot.data / name).unlink()
    copilot.environ |= {"PATH": without_python(copilot), "OMO_PYTHON_DIRS": ""}
    message, output = copilot.typed("ulw fix it")
    assert texts.says(message, "prompt-could-not-be-turned-on")
    assert texts.says(output["additionalContext"], "prompt-could-not-be-turned-on")
    assert copilot.typed("stop ulw")[1]["decision"] == "block"


def test_tokens_of_calls_agents_and_a_compaction(copilot: Copilot) -> None:
    used = {"inputTokens": 127, "cacheReadTokens": 100, "outputTokens": 5}
    copilot.notes("session.usage_record", usage={**used, "apiCallId": "msg_1"})
    copilot.notes("session.compaction_complete", compactionTokensUsed={"inputTokens": 10, "outputTokens": 5})
    entries, end = host_module.Events(str(copilot.record)).usage()
    assert [sum(usage.counts) for usage in entries] == [132, 15]
    assert end == copilot.record.stat().st_size
    copilot.notes("session.usage_record", usage={"inputTokens": "many"})
    with pytest.raises(hosts.OtherForm):
        host_module.Events(str(copilot.record)).usage()


def test_what_it_refused_by_itself_is_told_with_what_would_allow_it(copilot: Copilot) -> None:
    request = {"kind": "shell", "fullCommandText": "make test\nmake lint"}
    copilot.notes("permission.requested", requestId="1", permissionRequest=request)
    copilot.notes("permission.requested", requestId="2", permissionRequest={"kind": "write", "fileName": "/a"})
    kind = "denied-no-approval-rule-and-could-not-request-from-user"
    copilot.notes("permission.completed", requestId="1", result={"kind": kind})
    copilot.notes("permission.completed", requestId="2", result={"kind": "denied-interactively-by-user"})
    (refusal,) = host_module.Events(str(copilot.record)).refused_since("")
    assert (refusal.what, refusal.rules) == ("make test", ["--allow-tool 'shell(make:*)'"])


def test_a_conversation_begins_with_what_the_user_says() -> None:
    assert host_module.HOST.conversation("/omo:resume x") == ["copilot", "-i", "/omo:resume x"]


def test_an_answer_without_anything_says_nothing() -> None:
    assert host_module.HOST.write(Said(), hosts.Event("s"), {}) == b""


@pytest.mark.parametrize("is_new", [False, True], ids=["a record", "none yet"])
def test_what_the_client_writes_a_moment_late_is_waited_for(copilot: Copilot, is_new: bool) -> None:
    copilot.record.parent.mkdir(parents=True, exist_ok=True)
    if not is_new:
        copilot.notes("session.start")
    moment = "2026-11-17T02:15:40.961Z"

    def write_late() -> None:
        copilot.notes("session.mode_changed", newMode="plan")
        copilot.notes("hook.start", hookType="agentStop", input={"timestamp": 1794881740961, "cwd": "/"})

    writer = threading.Timer(0.2, write_late)
    writer.start()
    fields = {"hook_event_name": "Stop", "session_id": SESSION, "timestamp": moment}
    event = host_module.HOST.read(json.dumps(fields).encode(), copilot.environment())
    writer.join()
    assert event is not None
    assert event.in_plan_mode


def test_what_works_in_the_background_is_waited_for(copilot: Copilot) -> None:
    copilot.typed("ulw fix it")
    copilot.notes("assistant.message", content="I wait.")
    copilot.notes("subagent.started", agent="a1", executionMode="background")
    copilot.notes("subagent.started", agent="a2", executionMode="sync")
    assert copilot.ends() == ("", {})
    assert copilot.kinds()[-1] == "allowed:background-agent"
    copilot.notes("subagent.completed", agent="a1")
    copilot.notes("tool.execution_start", toolName="bash", arguments={"mode": "async", "shellId": "s1"})
    notified = '<system_notification>\nAgent "stop ulw" is now idle.\n</system_notification>'
    assert copilot.typed(notified) == ("", {})
    assert copilot.ends() == ("", {})
    assert copilot.kinds()[-1] == "allowed:background-shell"
    copilot.notes("system.notification", kind={"type": "shell_completed", "shellId": "s1"})
    assert copilot.ends()[1]["decision"] == "block"
