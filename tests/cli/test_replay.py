"""`omo replay`: each decision the hooks would make over a saved transcript, and how it compares with then."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from omo.replay import player, scratch, transcript
from omo.state import runtime
from omo.ultrawork import texts
from tests.cli.conftest import SESSION as OURS
from tests.cli.conftest import Ran, Shell
from tests.replay.scripts import PROJECT, SESSION, Script

LEAD = player.OUR_REASON
LET_GO = "omo: ultrawork let go"


def replay(shell: Shell, script: Script, *options: str) -> dict[str, Any]:
    return shell.user("replay", str(script.save(shell.project)), "--json", *options).json


def decided(told: dict[str, Any], *kinds: str) -> list[tuple[str, str, str]]:
    rows = [one for one in told["decisions"] if not kinds or one["event"] in kinds]
    return [(one["event"], one["decision"], one["rule"]) for one in rows]


def test_a_run_from_its_first_word_to_its_end(shell: Shell) -> None:
    script = (
        Script()
        .prompt("what is in the README?")
        .says("A project.")
        .prompt("ulw fix the check")
        .bash("omo gate add check -- sh check.sh", "Gate check pinned by the agent: sh check.sh")
        .bash("omo gate run", "Exit code 3\nfail    check (exit 1, 0.0 s)", is_error=True)
        .says("I fixed it, trust me.")
        .bash("echo mended >> README.md; omo gate run", "pass    check (exit 0, 0.0 s)")
        .bash("omo ulw done", "Done: gates passed: check. The session may stop.")
        .says("Proven.")
    )
    told = replay(shell, script)
    assert decided(told) == [
        ("start", "pass", "startup"),
        ("prompt", "pass", "no-keyword"),
        ("stop", "allow", "not-active"),
        ("prompt", "context", "leading"),
        ("tool", "pass", "no-gate"),
        ("omo", "taken over", ""),
        ("tool", "pass", "no-gate"),
        ("omo", "taken over", ""),
        ("stop", "block", "block"),
        ("tool", "pass", "no-gate"),
        ("omo", "taken over", ""),
        ("tool", "pass", "no-gate"),
        ("omo", "taken over", ""),
        ("stop", "allow", "done"),
    ]
    assert "Open gates, 1 of 1: check" in told["decisions"][8]["text"]
    assert "by the transcript's word: check pass" in told["decisions"][10]["notes"][0]
    assert "gates passed: check" in told["decisions"][-1]["text"]
    assert (told["session"], told["unread"], told["failures"]) == (SESSION, {"count": 0, "first": []}, [])


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"\x00\xff\xfe" * 99, b"root:x:0:0::/root:/bin/sh\n", b'{"seq": 1, "kind": "activated"}\n'],
)
def test_a_file_without_a_row_of_a_transcript_is_an_error(shell: Shell, content: bytes) -> None:
    path = shell.project / "other"
    path.write_bytes(content)
    ran = shell.user("replay", str(path))
    assert (ran.code, ran.out, "is no transcript" in ran.err) == (2, "", True)
    assert ":x:0" not in ran.err, "what is in it is nobody's business"


def test_what_a_killed_replay_left_is_swept_a_day_later(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = tmp_path / "scratch"
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name, age in (("omo-replay-old", 2), ("omo-replay-new", 0.5), ("another-old", 2)):
        (place / name / "deep").mkdir(parents=True)
        os.utime(place / name, (shell.now - age * 86400,) * 2)
    (tmp_path / "theirs").mkdir()
    (place / "omo-replay-link").symlink_to(tmp_path / "theirs")
    os.utime(place / "omo-replay-link", (1, 1), follow_symlinks=False)
    replay(shell, Script().prompt("hello"))
    assert sorted(os.listdir(place)) == ["another-old", "omo-replay-link", "omo-replay-new"]


@pytest.mark.skipif(os.name != "posix", reason="signals are needed")
def test_a_replay_that_is_ended_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = signal.getsignal(signal.SIGTERM)

    def ended() -> None:
        with scratch.scratch(0.0) as directory:
            assert os.listdir(tmp_path) == [os.path.basename(directory)]
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(SystemExit) as end:
        ended()
    assert (end.value.code, os.listdir(tmp_path)) == (143, [])
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_users_own_state_is_never_touched_and_nothing_is_left(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    shell.agent("ulw", "start")
    before = {path: path.read_bytes() for path in Path(shell.state).rglob("*") if path.is_file()}
    mark = tmp_path / "executed"
    script = Script().prompt("ulw go").bash(f"touch {mark}; omo ulw done", "Done: x. The session may stop.")
    shell.environ["OMO_STATE_DIR"] = str(tmp_path / "elsewhere")
    replay(shell, script.prompt("/omo:pin run -- touch executed").prompt("/omo:stop-continuation"))
    after = {path: path.read_bytes() for path in Path(shell.state).rglob("*") if path.is_file()}
    assert after == before
    assert runtime.session(shell.state, OURS) is not None
    assert (list(scratch.iterdir()), mark.exists(), (tmp_path / "elsewhere").exists()) == ([], False, False)


def test_time_is_the_transcripts(shell: Shell) -> None:
    shell.environ["OMO_COOLDOWN_SECONDS"] = "30"
    script = Script(step=0.5).prompt("ulw go").says("One.").says("Two.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block"), ("stop", "allow", "cooldown")]
    script = Script(step=60).prompt("ulw go").says("One.").says("Two.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block"), ("stop", "block", "block")]


def test_a_cooldown_is_not_waited_for_in_a_replay(shell: Shell) -> None:
    script = Script(step=0.5).prompt("ulw go").says("One.").says("Two.").says("Three.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block")] * 3


def test_what_the_agent_called_since_a_message_is_known_in_a_replay(shell: Shell) -> None:
    script = Script().prompt("ulw go").bash("pytest -q").prompt("lopeta se homma nyt").says("One.").says("Two.")
    told = [("stop", "block", "quote-message"), ("stop", "allow", "message-quoted")]
    assert decided(replay(shell, script), "stop") == told
    script = Script().prompt("ulw go").bash("pytest -q").prompt("lopeta se homma nyt").bash("pytest -q").says("One.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block")]


def test_what_was_decided_then_is_compared(shell: Shell) -> None:
    script = Script(step=60).prompt("ulw go").hook("UserPromptSubmit", "[omo] The user turned ultrawork on.")
    script.says("One.").feedback(f"{LEAD}. Block 1 of 8.").says("Two.").summary()
    script.says("Three.").summary("not ours at all", command="another hook")
    told = replay(shell, script)
    compared = [(one["event"], one["then"], one["compared"]) for one in told["decisions"] if one["event"] != "start"]
    assert compared == [
        ("prompt", "context", "same, in other words"),
        ("stop", "block", "same, in other words"),
        ("stop", "allow", "differs"),
        ("stop", None, None),
    ]
    assert (told["same"], told["differs"]) == (2, 1)
    text = shell.user("replay", str(script.save(shell.project))).out
    assert "[differs: then allow]" in text
    assert text.splitlines()[-1] == "5 decisions: 2 as then, 1 otherwise, 3 Stops blocked, 0 calls denied"


def test_the_same_words_are_the_same(shell: Shell) -> None:
    first = replay(shell, Script().prompt("ulw go").says("One."))["decisions"][-1]["text"]
    told = replay(shell, Script().prompt("ulw go").says("One.").feedback(first))
    assert told["decisions"][-1]["compared"] == "same"


def test_tool_calls_are_asked_as_if_in_the_project(shell: Shell) -> None:
    target = f"{PROJECT}/.sisyphus/cc-omo/runtime.local.json"
    instead = "omo ulw status shows it, omo ulw done finishes the run."
    said = f"{target} is omo's own state and is not edited by hand: {instead}"
    script = (
        Script()
        .prompt("ulw go")
        .calls("Read", "1", file_path=target)
        .calls("Write", f"PreToolUse:Write hook error: {said}", is_error=True, file_path=target, content="{}")
        .bash(f"rm -rf '{PROJECT}/.sisyphus'")
        .calls("Write", "written", file_path=f"{PROJECT}2/.sisyphus/cc-omo/x")
    )
    told = replay(shell, script, "--only", "tool")
    assert decided(told) == [("tool", "deny", "own-state"), ("tool", "deny", "own-state"), ("tool", "pass", "no-gate")]
    assert [one["compared"] for one in told["decisions"]] == ["same", "differs", None]
    assert told["decisions"][0]["text"] == said


def test_subagents_have_their_own_rows_and_files(shell: Shell) -> None:
    script = Script().prompt("ulw go").agent("omo:explorer", "a1", "async_launched").says("It runs.")
    path = script.notified("a1").says("It has ended.").save(shell.project)
    target = f"{PROJECT}/.sisyphus/cc-omo/x"
    beside = shell.project / "session" / "subagents"
    beside.mkdir(parents=True)
    Script(now=script.now - 190).calls("Write", file_path=target).save(beside, "agent-a1.jsonl")
    (beside / "agent-a1.meta.json").write_text(json.dumps({"agentType": "omo:explorer"}))
    told = shell.user("replay", str(path), "--json").json
    assert decided(told)[2:] == [
        ("tool", "deny", "own-state"),
        ("stop", "allow", "background-agent"),
        ("subagent", "pass", "recorded"),
        ("prompt", "pass", "machine-text"),
        ("stop", "block", "block"),
    ]
    assert told["decisions"][2]["what"].startswith("subagent omo:explorer: Write ")


def test_an_agent_that_was_waited_for_and_old_inline_rows(shell: Shell) -> None:
    script = Script().prompt("look").agent("general-purpose", "a2", "completed", said="Found it.")
    script.assistant(
        {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}, stop_reason=None, isSidechain=True
    )
    told = replay(shell, script.says("Done.", stop_reason=None))
    assert decided(told)[2:] == [
        ("subagent", "pass", "not-active"),
        ("tool", "pass", "no-gate"),
        ("stop", "allow", "not-active"),
    ]


def test_what_runs_in_the_background_excuses_a_stop_as_it_did(shell: Shell) -> None:
    script = Script().prompt("ulw go").in_background("npm start", "b1").says("It runs.").notified("b1").says("Over.")
    assert decided(replay(shell, script), "stop") == [("stop", "allow", "background-shell"), ("stop", "block", "block")]
    script = Script().prompt("ulw go").calls("ScheduleWakeup", "ok", delaySeconds=60).says("Later.")
    assert decided(replay(shell, script), "stop") == [("stop", "allow", "wake-up")]


def test_plan_mode_interrupts_and_null_stop_reasons(shell: Shell) -> None:
    script = Script().prompt("ulw plan it", mode="plan").says("A plan.").prompt("go on", mode="default")
    script.assistant({"type": "text", "text": "I look"}, stop_reason=None)
    script.bash("ls").user([{"type": "text", "text": "[Request interrupted by user]"}])
    script.says("Cut off.").user("[Request interrupted by user for tool use]")
    assert decided(replay(shell, script), "stop") == [("stop", "allow", "plan-mode")]


def test_prompts_that_a_hook_ended(shell: Shell) -> None:
    """The client keeps such a prompt only where it went through the queue."""
    blocked = "UserPromptSubmit operation blocked by hook:\n"

    def info(script: Script, text: str) -> Script:
        return script.add("system", subtype="informational", content=blocked + text)

    script = Script().prompt("ulw go").queue("enqueue", "/omo:stop-continuation").says("Working.").queue("dequeue")
    told = replay(shell, info(script, texts.CANCELLED))
    assert decided(told)[2:] == [("stop", "allow", "prompt-queued"), ("prompt", "block", "cancel-command")]
    assert told["decisions"][-1]["compared"] == "same"

    told = replay(shell, info(Script().prompt("ulw go"), texts.CANCELLED))
    assert decided(told)[2:] == [("prompt", "block", "cancel-command")]
    assert "does not keep the prompt" in told["decisions"][-1]["notes"][0]

    told = replay(shell, info(Script().prompt("ulw go"), "another hook's words"))
    assert decided(told)[2:] == [("prompt", "unknown", "")]


def test_a_prompt_taken_back_from_the_queue_excuses_nothing(shell: Shell) -> None:
    script = Script().prompt("ulw go").queue("enqueue", "and more").queue("popAll").says("One.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block")]


def test_commands_metadata_and_compaction(shell: Shell) -> None:
    script = (
        Script()
        .command("/omo:ulw", "build it")
        .user([{"type": "text", "text": "Base directory for this skill: …ulw…"}], isMeta=True)
        .bash("ls")
        .command("/compact")
        .user("<local-command-stdout>Compacted</local-command-stdout>")
        .add("system", subtype="compact_boundary", content="Conversation compacted")
        .user("This session is being continued from a previous conversation.", isCompactSummary=True)
        .add("attachment", attachment={"type": "queued_command", "prompt": "stop"})
        .says("Paused.")
    )
    told = replay(shell, script)
    assert decided(told, "prompt", "start", "stop")[1:] == [
        ("prompt", "context", "slash-command"),
        ("start", "context", "compact"),
        ("prompt", "context", "live-stop"),
        ("stop", "allow", "waiting"),
    ]
    assert told["decisions"][1]["what"] == "/omo:ulw build it"


@pytest.mark.parametrize(
    ("command", "answer", "decision", "note", "rule"),
    [
        ("omo ulw done", "omo: no verification gate is pinned", "", "", "block"),
        ("omo ulw blocked --evidence 'no key for it'", "Recorded as blocked.", "taken over", "is blocked", "waiting"),
        ("omo ultragoal create-goals --brief x", "2 goals", "not carried out", "not known to this replay", "block"),
        ("omo gate run", "pass    unknown (exit 0, 0.0 s)", "", "", "block"),
        ("git commit -m 'omo ulw done'", "Done: it. The session may stop.", "", "", "block"),
        ("omo ulw status", "session x", "", "", "block"),
        (
            "omo gate record check --pre-existing --evidence 'it was so before'",
            "Gate check: its failure is recorded as pre-existing.",
            "not carried out",
            "there is no gate",
            "block",
        ),
    ],
)
def test_effects_of_omo_commands(shell: Shell, command: str, answer: str, decision: str, note: str, rule: str) -> None:
    told = replay(shell, Script().prompt("ulw go").bash(command, answer).says("Well."))
    effects = [(one["decision"], one["notes"][0]) for one in told["decisions"] if one["event"] == "omo"]
    assert [one for one, _ in effects] == ([decision] if decision else [])
    assert all(note in said for _, said in effects)
    assert told["decisions"][-1]["rule"] == rule


def test_settings_are_those_in_force_or_those_given(shell: Shell) -> None:
    script = Script().prompt("please do it with ulw").says("One.").says("Two.").says("Three.")
    assert decided(replay(shell, script), "stop") == [("stop", "block", "block")] * 3
    shell.environ["OMO_MAX_STOP_BLOCKS"] = "1"
    assert decided(replay(shell, script), "stop")[1:] == [("stop", "allow", "cap"), ("stop", "allow", "not-active")]
    told = replay(shell, script, "--settings", "max_stop_blocks=2", "--settings", "keyword=explicit")
    assert decided(told, "prompt") == [("prompt", "pass", "mode-explicit")]
    assert told["settings"]["max_stop_blocks"] == 2
    shell.environ["OMO_DISABLE"] = "1"  # of this shell, not of the session that is replayed
    assert decided(replay(shell, script), "prompt")[0][1] == "context"


@pytest.mark.parametrize(
    "options",
    [("--only", "stops"), ("--settings", "nothing=1"), ("--settings", "max_stop_blocks=many"), ("--settings", "x")],
)
def test_options_that_mean_nothing(shell: Shell, options: tuple[str, ...]) -> None:
    ran = shell.user("replay", str(Script().prompt("hi").save(shell.project)), *options)
    assert ran.code == 2
    assert "fix:" in ran.err


def test_files_that_are_no_transcript(shell: Shell) -> None:
    assert shell.user("replay", "nowhere.jsonl").code == 2
    assert shell.user("replay", str(shell.project)).code == 2
    shell.write("empty.jsonl", "")
    told = shell.user("replay", str(shell.project / "empty.jsonl"), "--json").json
    assert (told["ok"], told["error"]["code"]) == (False, "bad-input")


def test_lines_that_cannot_be_read_are_counted_and_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "LONGEST_LINE", 4096)
    script = Script().prompt("ulw go").raw("{broken").raw("[1]").raw("[" * 3000).raw('{"a":"' + "x" * 9000 + '"}')
    script.raw("").says("One.")
    path = script.save(shell.project)
    told = shell.user("replay", str(path), "--json").json
    assert told["unread"]["count"] == 4
    assert [one.partition(": ")[2] for one in told["unread"]["first"][:2]] == ["not JSON", "not an object"]
    assert "line 5: longer than" in told["unread"]["first"][3]
    assert decided(told, "stop") == [("stop", "block", "block")]
    ran = shell.user("replay", str(path))
    assert "4 lines could not be read" in ran.out
    assert "line 2: not JSON" in ran.err


HOSTILE = "\x1b[2J\x07\u202e\ud800\x00" + "x" * 2000


def is_safe(ran: Ran) -> bool:
    text = ran.out + ran.err
    return ran.code == 0 and all(letter.isprintable() or letter == "\n" for letter in text)


def test_nothing_of_a_hostile_transcript_reaches_the_terminal(shell: Shell) -> None:
    script = (
        Script().prompt(f"ulw {HOSTILE}").bash(f"omo {HOSTILE}", HOSTILE).calls("Write", HOSTILE, file_path=HOSTILE)
    )
    script.agent(HOSTILE, HOSTILE, "completed", HOSTILE).says(HOSTILE).feedback(f"{LEAD} {HOSTILE}")
    script.hook("UserPromptSubmit", f"[omo] {HOSTILE}").raw('{"type": {"a": 1}, "message": [], "cwd": 3}')
    script.add("user", message={"content": [1, None, {"type": "tool_result", "content": {"deep": []}}]})
    script.add("assistant", message={"id": [], "content": [{"type": "tool_use", "name": None, "input": [HOSTILE]}]})
    script.add("system", subtype="stop_hook_summary", hookInfos=HOSTILE, hookErrors={"a": 1})
    script.add("attachment", attachment=[HOSTILE]).queue(HOSTILE, HOSTILE)
    path = str(script.save(shell.project))
    assert is_safe(shell.user("replay", path))
    assert is_safe(shell.user("replay", path, "--json"))


def test_a_transcript_without_end_is_cut(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "MOST_DECISIONS", 3)
    script = Script()
    for number in range(6):
        script.bash(f"ls {number}")
    told = replay(shell, script)
    assert (len(told["decisions"]), told["cut"]) == (3, True)


def test_state_above_the_scratch_project_is_not_found(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A temporary directory inside a project that has work open."""
    shell.agent("ulw", "start")
    scratch = shell.project / "tmp"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = Path(shell.state, "runtime.local.json").read_bytes()
    assert decided(replay(shell, Script().prompt("ulw go").says("One.")), "stop") == [("stop", "block", "block")]
    assert Path(shell.state, "runtime.local.json").read_bytes() == before
    assert os.listdir(scratch) == []
