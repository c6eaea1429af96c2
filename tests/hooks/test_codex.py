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
from tests import texts
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
    question = codex.prompt("what is ulw?")
    assert question.says_to_user("prompt-not-turned-on")
    turned_on = codex.prompt("ulw fix it")
    assert turned_on.says_to_agent("prompt-turned-on")
    assert turned_on.says_to_user("prompt-on")
    held = codex.stop()
    assert held.blocks
    assert held.says_to_agent("stop-way-out")
    for answer in (turned_on, held):
        assert "$omo:stop-continuation" in answer.stdout
        assert "/omo:" not in answer.stdout
    assert codex.prompt("never mind").says_to_user("prompt-paused-told", works="ultrawork")
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
    at_work = codex.prompt(line, turn_id="t2", transcript_path=rollout(codex, "t1", "t2"))
    assert "decision" not in at_work.json
    assert at_work.message.startswith("omo")
    is_stop = "stop" in line
    assert at_work.says_to_agent("prompt-answered-by-omo") is not is_stop
    assert at_work.says_to_agent("prompt-cancelled", works="ultrawork") is is_stop
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
    told = codex.prompt("$omo:ultraplan add a thing")
    assert told.says_to_agent("prompt-spelling", path=ROOT)
    assert "$omo:NAME" in told.stdout
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
    assert texts.says(done.stdout, "gate-pinned", gate="tests", by="the agent", command="true")
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
    assert codex.omo(*words, by="user", env=home).says("host-lacks-agents")
    for agent in codex_setup.Setup(home, "").agent_files(ROOT):
        agent.path.parent.mkdir(exist_ok=True)
        agent.path.write_text(agent.text, encoding="utf-8")
    assert not codex.omo(*words, by="user", env=home).says("host-lacks-agents")


def test_nested_in_another_host_it_keeps_to_its_own_session_and_project(codex: Codex, tmp_path: Path) -> None:
    elsewhere = tmp_path / "of the other host"
    elsewhere.mkdir()
    outer = {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "outer", "CLAUDE_PROJECT_DIR": str(elsewhere)}
    codex.environ |= {**outer, "OMO_PROJECT_DIR": str(elsewhere)}
    codex.prompt("ulw fix it")
    assert codex.kinds() == ["activated:leading"]
    assert list(elsewhere.iterdir()) == []
    assert f"OMO_PROJECT_DIR={shlex.quote(str(codex.project))}" in codex.rewritten("omo next")


def test_its_own_goal_is_not_called_complete_before_ours(codex: Codex) -> None:
    def complete(status: str) -> Answer:
        return codex.send("PreToolUse", tool_name="update_goal", tool_input={"status": status})

    complete("complete").assert_silent()
    codex.omo("ultragoal", "create-goals", "--brief", "@goal: One\nDo one thing.")
    codex.omo("ultragoal", "complete-goals")
    refusal = complete("complete")
    assert refusal.json["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert refusal.says_to_agent("tool-goal-not-complete", state="G001 is active")
    complete("blocked").assert_silent()
    questions = [{"id": "q", "question": "Which licence?"}]
    asked = codex.send("PreToolUse", tool_name="request_user_input", tool_input={"questions": questions}).json
    assert asked["hookSpecificOutput"]["permissionDecision"] == "deny"
    titles: list[dict[str, Any]] = [{"title": "Which licence?", "options": ["MIT"]}, {"title": "Which year?"}]
    for _ in range(PATIENCE):
        asked = codex.send("PreToolUse", tool_name="request_user_input_async", tool_input={"questions": titles}).json
        assert asked["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert codex.summary("ultragoal")["question"] == " ".join(title["title"] for title in titles)


def test_a_reviewer_begins_without_the_conversation_also_where_omo_cannot_read_its_prompt(codex: Codex) -> None:
    codex.omo("ultragoal", "create-goals", "--brief", "@goal: One\nDo one thing.")
    codex.omo("ultragoal", "complete-goals")

    def refusal(tool: str, message: str, **more: object) -> str:
        given = {"agent_type": "omo:qa", "message": message, **more}
        answer = codex.send("PreToolUse", tool_name=tool, tool_input=given)
        return answer.json["hookSpecificOutput"]["permissionDecisionReason"] if answer.stdout else ""

    older, newer, brief = "spawn_agent", "collaborationspawn_agent", "omo ultragoal brief qa"
    for message in ("all well", "gAAAAABqL3wFv0Zb1x"):
        assert brief in refusal(older, message)
    assert brief in refusal(newer, "all well", fork_turns="none")
    assert refusal(newer, "gAAAAABqL3wFv0Zb1x", fork_turns="none") == refusal(older, brief) == ""
    for more in ({}, {"fork_turns": "all"}):
        told = refusal(newer, "gAAAAABqL3wFv0Zb1x", **more)
        assert texts.says(told, "tool-begins-without-conversation", option='fork_turns "none"')
    told = refusal(older, brief, fork_context=True)
    assert texts.says(told, "tool-begins-without-conversation", option="fork_context false")
    assert refusal(newer, "gAAAAABqL3wFv0Zb1x", agent_type="omo:explorer") == ""


def test_what_another_conversation_left_open_is_offered_and_taken_up(codex: Codex) -> None:
    codex.prompt("ulw fix it", session_id="before")
    codex.send("SessionStart", session_id="next", source="startup").assert_silent()  # it may be open elsewhere
    refused = codex.prompt("$omo:resume", session_id="next")
    assert refused.says_to_user("prompt-resume-session-at-work", session="before")
    assert refused.says_to_user("resume-session-at-work-way", name="before")
    assert "$omo:resume before" in refused.stdout
    codex.now = time.time() - 20.5 * 60
    codex.change_row(lambda row: row, session="before")
    offer = codex.send("SessionStart", session_id="next", source="startup")
    left = 'ultrawork, for "ulw fix it"'
    assert offer.says_to_user("prompt-left-open", idle="20 min ago", works=left)
    taken = codex.prompt("$omo:resume", session_id="next")
    assert taken.says_to_user("prompt-taken-up", source="before")
    assert taken.says_to_agent("prompt-takes-up")
    assert "$omo:resume" in offer.message
    assert "$omo:stop-continuation" in taken.message
    assert "/omo:" not in offer.message + taken.message
    assert codex.stop(session_id="next").blocks
