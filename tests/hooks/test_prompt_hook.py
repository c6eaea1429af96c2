"""UserPromptSubmit through the registered command: arming, the escape hatch, pausing, pinning."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from omo.clock import stamp
from omo.hooks import messages
from omo.stop import sentences
from tests.hooks.conftest import SESSION, Host
from tests.hooks.test_tool_gates import open_run

pytestmark = pytest.mark.usefixtures("laps")

IN_PROCESS = True
INSTRUCTIONS = messages.instructions([]).strip()


@pytest.mark.usefixtures("through_the_shell")
def test_the_keyword_arms_and_injects_once(host: Host) -> None:
    first = host.prompt("ulw fix the flaky tests")
    assert first.says_to_agent("prompt-turned-on")
    assert len(first.stdout) <= messages.LONGEST_INSTRUCTIONS
    assert sentences.STOP in first.stdout
    host.prompt("and also the slow ones").assert_silent()
    host.prompt("ulw and the docs").assert_silent()
    assert host.kinds() == ["activated:leading", "rearmed:leading"]


def test_the_instructions_are_given_once_to_a_conversation_and_again_where_it_has_lost_them(host: Host) -> None:
    assert INSTRUCTIONS in host.prompt("ulw x").stdout
    host.prompt("stop ulw")
    again = host.prompt("ulw y").stdout.strip()
    assert again == messages.ON_AGAIN
    assert "\n" not in again
    host.send("SessionStart", source="resume")
    host.prompt("stop ulw")
    assert host.prompt("ulw z").stdout.strip() == messages.ON_AGAIN
    host.send("SessionStart", source="compact")
    assert INSTRUCTIONS in host.prompt("ulw docs").stdout  # it is on, and the model has forgotten how
    host.prompt("ulw and the rest").assert_silent()
    assert INSTRUCTIONS in host.prompt("ulw x", session_id="cleared").stdout


def test_a_task_of_many_words_in_one_line_costs_no_time(host: Host) -> None:
    began = time.process_time()
    host.prompt("ulw fix what this says: " + "a word and another " * 600)
    assert time.process_time() - began < 2
    assert host.kinds() == ["activated:leading"]


def test_no_run_is_promised_that_the_end_does_not_make(host: Host) -> None:
    """The end runs by itself what a commit names, and nothing where there is none."""
    host.write("Makefile", "test:\n\tpython3 -m unittest\n")
    host.prompt("ulw fix it")
    assert "omo gate add NAME -- COMMAND, then omo ulw done" in host.stop().json["reason"]
    said = host.agent("next")
    assert said.says("next-no-commit")
    assert "omo gate add tests -- make test" in said.out
    host.prompt("/omo:stop-continuation")
    host.commit()
    host.prompt("ulw fix it")
    assert "omo ulw done, which runs make test" in host.stop().json["reason"]


def test_ulw_beside_other_work_gives_the_instructions(host: Host) -> None:
    open_run(host)
    assert INSTRUCTIONS in host.prompt("ulw x").stdout


@pytest.mark.parametrize(
    ("mode", "prompt", "arms"),
    [
        ("explicit", "ulw fix it", True),
        ("explicit", "please fix it, ulw", False),
        ("off", "ulw fix it", False),
        ("off", "/omo:ulw fix it", True),
    ],
)
def test_the_keyword_setting(host: Host, mode: str, prompt: str, arms: bool) -> None:
    host.environ["OMO_KEYWORD"] = mode
    assert bool(host.prompt(prompt).stdout) is arms


@pytest.mark.parametrize(
    ("prompt", "reason"),
    [
        ("what is ulw?", "the sentence asks about it"),
        ("ulw??", "the sentence asks about it"),
        ("don't use ulw for this", "the clause says not to use it"),
        ("anything but ulw", "the clause says not to use it"),
        ("echo ulw", "the word is an argument of a program"),
        ("tomorrow we'll ulw the rest", "the clause plans it for another time"),
        ("the ulw hook is broken", "the clause speaks about it as a thing"),
    ],
)
def test_the_user_reads_that_the_word_was_heard_and_not_acted_on(host: Host, prompt: str, reason: str) -> None:
    answer = host.prompt(prompt, env={"CLAUDECODE": "1"})
    assert set(answer.json) == {"systemMessage"}
    assert answer.says_to_user("prompt-not-turned-on", why=reason)
    for quoted in ("`ulw`", '"ulw fix it"', "see docs/ulw.md"):
        host.prompt(quoted, env={"CLAUDECODE": "1"}).assert_silent()
    host.prompt("ulw fix it")
    host.prompt(prompt, env={"CLAUDECODE": "1"}).assert_silent()


@pytest.mark.parametrize(
    "prompt", ["/omo:stop-continuation", "/stop-continuation", "stop ulw", "cancel ultrawork", "turn off ulw"]
)
def test_the_escape_hatch_needs_no_model(host: Host, prompt: str) -> None:
    host.prompt("ulw fix it")
    answer = host.prompt(prompt)
    assert answer.json == {"decision": "block", "reason": messages.CANCELLED}
    assert host.row()["stopContinuation"]["disabled"] is True
    for _ in range(5):
        host.stop().assert_silent()
    assert host.events()[-1]["kind"] == "cancelled"


@pytest.mark.usefixtures("through_the_shell")
def test_in_claude_code_the_reason_is_the_line_that_shows(host: Host) -> None:
    host.prompt("ulw fix it")
    answer = host.prompt("stop ulw", env={"CLAUDECODE": "1"})
    assert answer.json["hookSpecificOutput"] == {"hookEventName": "UserPromptSubmit", "suppressOriginalPrompt": True}


@pytest.mark.parametrize("session_id", [None, 7, [], ""])
def test_without_a_session_nothing_is_claimed_to_be_on(host: Host, session_id: Any) -> None:
    answer = host.prompt("ulw fix it", session_id=session_id)
    assert answer.says_to_agent("prompt-not-turned-on-no-session")
    assert answer.stdout.count("\n") == 1


def test_a_link_does_not_lead_the_state_out_of_the_project(host: Host) -> None:
    outside = host.project.parent / "victim"
    outside.mkdir()
    (host.project / ".sisyphus").symlink_to(outside)
    assert host.prompt("ulw x").says_to_agent("prompt-not-turned-on-linked", link=host.project / ".sisyphus")
    assert list(outside.iterdir()) == []


def test_a_row_that_is_no_object_is_replaced(host: Host) -> None:
    host.write_runtime(json.dumps({"sessions": {SESSION: 5}}))
    assert host.prompt("ulw x").says_to_agent("prompt-turned-on")
    assert host.stop().blocks


def test_the_injected_text_is_bounded_whatever_the_settings(host: Host) -> None:
    (host.project / ".sisyphus").mkdir()
    (host.project / ".sisyphus" / "omo.json").write_text(json.dumps({f"unknown-{n}": n for n in range(60)}))
    answer = host.prompt("ulw fix it", env={"CLAUDECODE": "1"})
    assert len(answer.json["hookSpecificOutput"]["additionalContext"]) <= messages.LONGEST_INSTRUCTIONS
    assert len(answer.message) <= sentences.LONGEST_TOLD


def test_a_cancel_that_cannot_be_recorded_says_so(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    import filelock

    from omo.state import paths, store

    monkeypatch.setattr(store, "HOOK_WAIT", 0.05)
    host.prompt("ulw fix it")
    with filelock.FileLock(paths.session_lock(host.state, SESSION)):
        assert host.prompt("stop ulw").says_to_user("hook-cancel-not-recorded")


@pytest.mark.parametrize(
    ("prompt", "line", "told"),
    [
        ("stop ulw", f"{messages.CANCELLED} {messages.ESC}", messages.CANCELLED_AND_MORE),
        ("stop ulw and show me the diff", f"{messages.CANCELLED} {messages.ESC}", messages.CANCELLED_AND_MORE),
        (
            "wait",
            'omo: understood as a stop: ultrawork is paused. It goes on when you say "continue". '
            f"/omo:stop-continuation ends it. {messages.ESC}",
            messages.paused([("ulw", {})]).context,
        ),
    ],
)
def test_a_stop_typed_while_the_agent_works_is_passed_on_and_told_to_both(
    host: Host, prompt: str, line: str, told: str
) -> None:
    """The client puts a prompt that is refused then back into the input line, and it looks unsent."""
    path = transcript(host, {"type": "user", "promptId": "p1"}, SPOKE)
    claude = {"CLAUDECODE": "1"}
    host.prompt("ulw fix it", env=claude, prompt_id="p1")
    answer = host.prompt(prompt, env=claude, prompt_id="p1", transcript_path=path)
    context = {"hookEventName": "UserPromptSubmit", "additionalContext": told}
    assert answer.json == {"systemMessage": line, "hookSpecificOutput": context}
    host.stop().assert_silent()
    host.prompt("what is in the README?", env=claude, prompt_id="p2", transcript_path=path).assert_silent()


def test_a_cancel_typed_between_turns_ends_there(host: Host) -> None:
    path = transcript(host, {"type": "user", "promptId": "p1"}, SPOKE)
    host.prompt("ulw fix it", prompt_id="p1")
    answer = host.prompt("stop ulw", env={"CLAUDECODE": "1"}, prompt_id="p2", transcript_path=path)
    assert (answer.blocks, answer.json["reason"]) == (True, messages.CANCELLED)


@pytest.mark.parametrize("source", ["resume", "compact", "clear", "startup"])
def test_nothing_but_a_new_ulw_brings_a_cancelled_run_back(host: Host, source: str) -> None:
    host.prompt("ulw fix it")
    host.prompt("stop ulw")
    host.send("SessionStart", source=source).assert_silent()
    host.prompt("<task-notification>ulw</task-notification>").assert_silent()
    assert host.prompt("continue").situations == {"prompt-cancelled-before"}
    for prompt in ("go on", "stop", "yes", "continue"):
        host.prompt(prompt).assert_silent()
    host.stop().assert_silent()
    assert host.prompt("ulw again").stdout.startswith("[omo] ")
    assert host.stop().blocks


def transcript(host: Host, *rows: Any) -> str:
    path = host.project.parent / "transcript.jsonl"
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    return str(path)


SPOKE = {"type": "assistant", "message": {"role": "assistant"}, "timestamp": "2999-01-01T00:00:00.000Z"}
SPOKE_BEFORE = {**SPOKE, "timestamp": "2000-01-01T00:00:00.000Z"}
QUEUED = {"type": "queue-operation", "operation": "enqueue", "content": "and also the docs"}


@pytest.mark.parametrize(
    ("rows", "withdrawn"),
    [([], True), ([SPOKE_BEFORE], True), ([SPOKE], False), ([QUEUED], False), ([SPOKE_BEFORE, SPOKE], False)],
    ids=["never spoke", "spoke before", "spoke since", "typed meanwhile", "spoke before and since"],
)
def test_a_prompt_taken_back_before_the_first_word_arms_nothing(
    host: Host, rows: list[dict[str, Any]], withdrawn: bool
) -> None:
    path = transcript(host, *rows)
    host.prompt("ulw fix it", transcript_path=path)
    told = host.prompt("what is in the README?", transcript_path=path, env={"CLAUDECODE": "1"})
    assert told.situations_for("user") == ({"prompt-taken-back"} if withdrawn else set())
    assert host.stop(transcript_path=transcript(host)).blocks is not withdrawn
    assert ("withdrawn" in host.kinds()) is withdrawn


@pytest.mark.parametrize("before", ["what is it?", "ulw fix it"])
def test_a_workflow_taken_back_before_the_first_word_is_not_asked_for(host: Host, before: str) -> None:
    host.prompt(before, transcript_path=transcript(host))
    path = transcript(host, {**SPOKE, "timestamp": stamp(time.time())})
    host.prompt("/omo:laps and document it", transcript_path=path)
    assert "/omo:laps" in host.agent("next").out
    told = host.prompt("what is in the README?", transcript_path=path, env={"CLAUDECODE": "1"})
    told.assert_silent()
    assert "/omo:laps" not in host.agent("next").out
    stop = host.stop(transcript_path=path)
    assert "/omo:laps" not in stop.stdout
    assert stop.blocks is before.startswith("ulw"), "that was on before"


def test_the_same_prompt_delivered_twice_is_one_injection(host: Host) -> None:
    path = transcript(host)
    assert host.prompt("ulw x", transcript_path=path, prompt_id="p1").says_to_agent("prompt-turned-on")
    host.prompt("ulw x", transcript_path=path, prompt_id="p1").assert_silent()
    assert host.kinds() == ["activated:leading"]


def test_a_prompt_taken_back_and_sent_again_tells_the_instructions(host: Host) -> None:
    path = transcript(host)
    host.prompt("ulw fix it", transcript_path=path)
    again = host.prompt("ulw fix it, slowly", transcript_path=path, env={"CLAUDECODE": "1"})
    assert again.says_to_agent("prompt-turned-on")
    assert again.says_to_user("prompt-on", works="ultrawork")


def test_a_cancel_where_nothing_is_on_says_so_and_is_remembered(host: Host) -> None:
    assert host.prompt("/omo:stop-continuation").situations == {"prompt-nothing-to-cancel"}
    assert host.row()["stopContinuation"]["disabled"] is True


def test_a_live_stop_without_a_run_is_an_ordinary_prompt(host: Host) -> None:
    host.prompt("stop").assert_silent()
    host.prompt("continue").assert_silent()


def test_a_block_that_a_person_answers_is_recorded_as_overridden(host: Host) -> None:
    host.prompt("ulw fix it")
    assert host.stop().blocks
    host.prompt("what is going on?").assert_silent()
    assert host.kinds()[-1] == "overridden"
    assert host.row()["ulw"]["stopBlocks"] == 1
    host.prompt("and now?").assert_silent()
    assert host.kinds().count("overridden") == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt": "<task-notification>the agent said ultrawork</task-notification>"},
        {"prompt": "ulw wake up", "source": "loop_wakeup"},
        {"prompt": "ulw", "source": "system"},
        {"prompt": "ulw", "agent_id": "a1"},
    ],
)
def test_what_no_person_wrote_arms_nothing(host: Host, fields: Any) -> None:
    host.send("UserPromptSubmit", **fields).assert_silent()


def test_an_exhausted_run_goes_on_by_the_word_and_by_no_other_talk(host: Host) -> None:
    host.environ["OMO_MAX_STOP_BLOCKS"] = "1"
    host.prompt("ulw fix it")
    host.stop()
    host.stop(stop_hook_active=True)
    host.prompt("what did you change?").assert_silent()
    host.stop().assert_silent()
    assert host.prompt("ulw again").stdout.strip() == messages.ON_AGAIN
    assert host.row()["ulw"]["stopBlocks"] == 0


def test_the_task_is_kept_in_the_sessions_ledger_and_nowhere_else(host: Host) -> None:
    task = "the-task-as-it-was-typed"
    host.prompt(f"ulw {task}\x1b[31m" + "x" * 3000)
    host.prompt(f"what does {task}2 do?", session="another")
    host.stop()
    files = [path for path in (host.project / ".sisyphus").rglob("*") if path.is_file()]
    (kept,) = [path for path in files if task.encode() in path.read_bytes()]
    assert kept.name == "events.jsonl"
    row = json.loads(kept.read_text(encoding="utf-8").splitlines()[0])
    assert (row["text"].startswith(f"ulw {task} [31mxxx"), len(row["text"])) == (True, 2000)
