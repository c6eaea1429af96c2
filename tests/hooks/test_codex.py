"""The hooks as Codex starts them: by its own registration, in the session's directory, without a variable for it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omo.hooks.tool_use import PATIENCE
from omo.hosts import codex_setup
from omo.state import paths
from tests.hooks.conftest import OF_CODEX, ROOT, Answer, Host
from tests.hooks.test_launcher import HARSH_STDIN
from tests.hooks.test_swapped import swapped
from tests.ultraplan.plans import plan_text
from tests.written import SKILLS, frontmatter

# What Codex 0.166 takes; any other key voids the whole answer.
KNOWN = {"decision", "reason", "systemMessage", "hookSpecificOutput"}
KNOWN_INSIDE = {
    *("hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason", "updatedInput"),
}


class Codex(Host):
    def environment(self, **extra: str) -> dict[str, str]:
        known = {name: os.environ[name] for name in ("PATH", "HOME")}
        ours = {"PLUGIN_ROOT": str(ROOT), "PLUGIN_DATA": str(self.data / "plugin"), "OMO_ENV_HOME": str(self.data)}
        return {**known, **ours, **self.environ, **extra}

    def command(self, event: str, stdin: bytes) -> str:
        (group,) = OF_CODEX[event]
        return str(group["hooks"][0]["command"])

    def raw(self, event: str, stdin: bytes, *, cwd: Path | None = None, **extra: str) -> Answer:
        answer = super().raw(event, stdin, cwd=cwd, **extra)
        if answer.stdout:
            assert set(answer.json) <= KNOWN
            assert set(answer.json.get("hookSpecificOutput", {})) <= KNOWN_INSIDE
        return answer

    def shell(self, command: str, **fields: Any) -> Answer:
        return self.send("PreToolUse", tool_name="Bash", tool_input={"command": command}, **fields)

    def rewritten(self, command: str, **fields: Any) -> str:
        output = self.shell(command, **fields).json["hookSpecificOutput"]
        assert output["permissionDecision"] == "allow"
        return str(output["updatedInput"]["command"])


@pytest.fixture
def codex(host: Host) -> Iterator[Codex]:
    yield Codex(host.root, data=host.data)
    assert not Path(paths.log_file(host.state)).exists()


def test_the_model_is_told_in_json_and_the_user_in_its_spelling(codex: Codex) -> None:
    assert "was not turned on" in codex.prompt("what is ulw?").json["systemMessage"]
    answer = codex.prompt("ulw fix it").json
    assert answer["hookSpecificOutput"]["additionalContext"].startswith("[omo] The user turned ultrawork on")
    assert answer["systemMessage"].endswith("$omo:stop-continuation ends it.")
    assert "/omo:" not in json.dumps(answer)
    held = codex.stop().json
    assert held["decision"] == "block"
    assert "The user stops this with $omo:stop-continuation." in held["reason"]
    heard = codex.prompt("never mind").json
    assert "ultrawork is paused" in heard["systemMessage"]
    assert codex.prompt("$omo:stop-continuation").json["decision"] == "block"
    codex.stop().assert_silent()


def rollout(codex: Codex, *turns: str) -> str:
    """As the client writes it: a turn's own rows come before its first prompt is asked about, the prompt's after."""
    rows: list[Any] = [{"type": "session_meta", "payload": {"id": codex.session}}]
    for turn in turns:
        rows.append({"type": "event_msg", "payload": {"type": "task_started", "turn_id": turn}})
        prompt = {"type": "UserMessage", "content": [{"type": "text", "text": "ulw fix it"}]}
        rows.append({"type": "event_msg", "payload": {"type": "item_completed", "turn_id": turn, "item": prompt}})
    rows.append({"type": "turn_context", "payload": {"turn_id": "t2"}})
    path = codex.project.parent / "rollout.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    "line", ["$omo:status", "$omo:pin tests -- true", "$omo:budget 5 agents", "stop ulw", "$omo:stop-continuation"]
)
def test_what_omo_answers_is_no_block_while_the_agent_works(codex: Codex, line: str) -> None:
    """A block ends that turn without a Stop, and the client hands the line in again at the next Esc."""
    codex.prompt("ulw fix it")
    at_work = codex.prompt(line, turn_id="t2", transcript_path=rollout(codex, "t1", "t2")).json
    assert "decision" not in at_work
    assert at_work["systemMessage"].startswith("omo")
    context = at_work["hookSpecificOutput"]["additionalContext"]
    is_stop = "stop" in line
    assert ("omo, which has answered them" in context, "The user cancelled ultrawork" in context) == (
        not is_stop,
        is_stop,
    )
    assert codex.stop(turn_id="t2").blocks is not is_stop


def test_what_omo_answers_between_turns_ends_there(codex: Codex) -> None:
    codex.prompt("ulw fix it")
    for path in (rollout(codex, "t1"), rollout(codex), str(codex.project / "none.jsonl"), ""):
        assert codex.prompt("$omo:budget", turn_id="t2", transcript_path=path).json["decision"] == "block"
    assert codex.prompt("$omo:budget", transcript_path=rollout(codex, "t2")).json["decision"] == "block"


def test_omo_is_found_also_while_files_are_swapped(codex: Codex) -> None:
    codex.prompt("ulw fix it")
    swap = swapped(codex)
    try:
        assert codex.rewritten("omo status").endswith("\nomo status")
    finally:
        swap.__exit__(None, None, None)


@pytest.mark.parametrize("event", OF_CODEX)
def test_any_stdin_is_survived(codex: Codex, event: str) -> None:
    codex.prompt("ulw fix it")
    for name, stdin in HARSH_STDIN.items():
        answer = codex.raw(event, stdin)
        assert (answer.code, answer.stderr) == (0, ""), name


def test_what_a_skill_names_is_told_as_it_is_called_here(codex: Codex) -> None:
    """The client hands the model a skill as the file has it: no variable is put in, no command is spelled anew."""
    told = codex.prompt("$omo:ultraplan add a thing").json["hookSpecificOutput"]["additionalContext"]
    assert f"${{CLAUDE_PLUGIN_ROOT}} is {ROOT}, and for /omo:NAME the user types $omo:NAME" in told
    codex.prompt("hello").assert_silent()
    for path in SKILLS:  # which the client lists for the user
        assert "/omo:" not in frontmatter(path)["description"]


def test_what_is_refused_again_and_again_is_never_asked(codex: Codex) -> None:
    codex.prompt("ulw fix it")
    patch = f"*** Begin Patch\n*** Add File: {codex.state}/evil\n+evil\n*** End Patch\n"
    for _ in range(5):
        output = codex.send("PreToolUse", tool_name="apply_patch", tool_input={"command": patch}).json
        assert output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_the_state_is_guarded_wherever_the_tool_runs(codex: Codex) -> None:
    codex.prompt("ulw fix it")
    by_its_path = f"echo evil > {shlex.quote(codex.state)}/evil"
    for command, directory in ((by_its_path, "/tmp"), ("echo evil > evil", codex.state)):
        answer = codex.shell(command, cwd=directory).json
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    codex.shell("echo fine > fine.txt", cwd="/tmp").assert_silent()


def test_a_command_that_calls_omo_is_given_what_it_needs(codex: Codex) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "CODEX_SESSION_ID": codex.session}
    rewritten = codex.rewritten("omo --version && omo status", cwd="/tmp")  # also before anything is on
    done = subprocess.run(["sh", "-c", rewritten], env=environ, cwd="/tmp", capture_output=True, text=True, check=True)
    assert done.stdout.startswith("omo ")
    codex.prompt("ulw fix it")
    rewritten = codex.rewritten("omo gate add tests -- true", cwd="/tmp")
    done = subprocess.run(["sh", "-c", rewritten], env=environ, cwd="/tmp", capture_output=True, text=True, check=True)
    assert done.stdout == "Gate tests pinned by the agent: true\n"
    assert codex.kinds()[-1] == "gate-added"
    continued = codex.rewritten("omo \\\n  --version", cwd="/tmp")
    assert continued.startswith("# omo \\\n")  # the client shows the user no more than the first line
    done = subprocess.run(["sh", "-c", continued], env=environ, cwd="/tmp", capture_output=True, text=True, check=True)
    assert done.stdout.startswith("omo ")
    for command in ("echo omo", "git commit -m 'use omo here'", "ls"):
        codex.shell(command).assert_silent()


@pytest.mark.usefixtures("laps")
@pytest.mark.parametrize(
    "begins", ["ultragoal create-goals --brief '@goal: One'", "laps start --request 'make it'", "plan critique plan.md"]
)
def test_without_its_agents_whoever_begins_is_told(codex: Codex, tmp_path: Path, begins: str) -> None:
    home = {"CODEX_SESSION_ID": codex.session, "CODEX_HOME": str(tmp_path)}
    codex.prompt("$omo:ultraplan make it work")
    codex.write("plan.md", plan_text(1))
    words = shlex.split(begins)
    assert "Codex lacks omo's agents" in codex.omo(*words, by="user", env=home).err
    for agent in codex_setup.Setup(home, "").agent_files(ROOT):
        agent.path.parent.mkdir(exist_ok=True)
        agent.path.write_text(agent.text, encoding="utf-8")
    assert "Codex lacks omo's agents" not in codex.omo(*words, by="user", env=home).err


def test_nested_in_another_host_it_keeps_to_its_own_session_and_project(codex: Codex, tmp_path: Path) -> None:
    elsewhere = tmp_path / "of the other host"
    elsewhere.mkdir()
    outer = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "outer", "CLAUDE_PROJECT_DIR": str(elsewhere)}
    codex.environ |= {**outer, "OMO_PROJECT_DIR": str(elsewhere)}
    assert "ultrawork is on" in codex.prompt("ulw fix it").json["systemMessage"]
    assert codex.kinds() == ["activated:leading"]
    assert list(elsewhere.iterdir()) == []
    assert f"OMO_PROJECT_DIR={shlex.quote(str(codex.project))}" in codex.rewritten("omo next")


def test_its_own_goal_is_not_called_complete_before_ours(codex: Codex) -> None:
    def complete(status: str) -> Answer:
        return codex.send("PreToolUse", tool_name="update_goal", tool_input={"status": status})

    complete("complete").assert_silent()
    codex.omo("ultragoal", "create-goals", "--brief", "@goal: One\nDo one thing.")
    codex.omo("ultragoal", "complete-goals")
    refusal = complete("complete").json["hookSpecificOutput"]
    assert refusal["permissionDecision"] == "deny"
    assert "not proven complete" in refusal["permissionDecisionReason"]
    complete("blocked").assert_silent()
    questions = [{"id": "q", "question": "Which licence?"}]
    asked = codex.send("PreToolUse", tool_name="request_user_input", tool_input={"questions": questions}).json
    assert asked["hookSpecificOutput"]["permissionDecision"] == "deny"
    titles = [{"title": "Which licence?", "options": ["MIT"]}, {"title": "Which year?"}]
    for _ in range(PATIENCE):
        asked = codex.send("PreToolUse", tool_name="request_user_input_async", tool_input={"questions": titles}).json
        assert asked["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert codex.row()["work"]["ultragoal"]["question"] == "Which licence? Which year?"


def test_a_reviewer_begins_without_the_conversation_also_where_omo_cannot_read_its_prompt(codex: Codex) -> None:
    codex.omo("ultragoal", "create-goals", "--brief", "@goal: One\nDo one thing.")
    codex.omo("ultragoal", "complete-goals")

    def refusal(tool: str, message: str, **more: object) -> str:
        given = {"agent_type": "omo:qa", "message": message, **more}
        answer = codex.send("PreToolUse", tool_name=tool, tool_input=given)
        return answer.json["hookSpecificOutput"]["permissionDecisionReason"] if answer.stdout else ""

    older, newer, brief = "spawn_agent", "collaborationspawn_agent", "omo ultragoal brief qa"
    for message in ("Say that all is well.", "gAAAAABqL3wFv0Zb1x"):
        assert brief in refusal(older, message)
    assert brief in refusal(newer, "Say that all is well.", fork_turns="none")
    assert refusal(newer, "gAAAAABqL3wFv0Zb1x", fork_turns="none") == refusal(older, brief) == ""
    for more in ({}, {"fork_turns": "all"}):
        assert refusal(newer, "gAAAAABqL3wFv0Zb1x", **more).endswith('conversation: start it with fork_turns "none"')
    assert refusal(older, brief, fork_context=True).endswith("start it with fork_context false")
    assert refusal(newer, "gAAAAABqL3wFv0Zb1x", agent_type="omo:explorer") == ""


def test_what_another_conversation_left_open_is_offered_and_taken_up(codex: Codex) -> None:
    codex.prompt("ulw fix it", session_id="before")
    codex.send("SessionStart", session_id="next", source="startup").assert_silent()  # it may be open elsewhere
    refused = codex.prompt("$omo:resume", session_id="next").json["reason"]
    assert "session before was at work" in refused
    assert "you take it up with $omo:resume before" in refused
    codex.now = time.time() - 20.5 * 60
    codex.change_row(lambda row: row, session="before")
    told = codex.send("SessionStart", session_id="next", source="startup").json["systemMessage"]
    left = 'omo: left open in another conversation, 20 min ago: ultrawork, for "ulw fix it"'
    assert told.startswith(f"{left}. $omo:resume takes it up;")
    answer = codex.prompt("$omo:resume", session_id="next").json
    assert answer["systemMessage"].startswith(
        "omo: taken up from session before: ultrawork goes on. $omo:stop-continuation"
    )
    assert "[omo] The user typed $omo:resume" in answer["hookSpecificOutput"]["additionalContext"]
    assert codex.stop(session_id="next").blocks
