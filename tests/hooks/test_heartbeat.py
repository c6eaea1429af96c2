"""Turns that ended while omo's hooks did not run are told to the user, once; a closed laptop is no fault."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from omo.clock import stamp
from omo.hosts import Transcript, named
from omo.state import beats
from tests import texts
from tests.hooks.conftest import SESSION, Answer, Host
from tests.hooks.test_codex import Codex
from tests.hooks.test_copilot import Copilot
from tests.hooks.test_removed_state import records
from tests.kept import copied, git_init
from tests.project import Project

IN_PROCESS = True
SHOWS = {"CLAUDECODE": "1"}
DID_NOT_RUN = "prompt-hooks-did-not-run"
MINUTE, HOUR = 60.0, 3600.0

Row = dict[str, Any]


@dataclass
class Talk:
    """A conversation with its transcript, in the form in which Claude Code writes it."""

    host: Host
    path: Path
    session: str = SESSION
    now: float = field(default_factory=time.time)

    def prompt(self, text: str = "and the docs", env: dict[str, str] = SHOWS, **fields: Any) -> Answer:
        return self.send("UserPromptSubmit", prompt=text, env=env, **fields)

    def send(self, event: str, env: dict[str, str] = SHOWS, **fields: Any) -> Answer:
        return self.host.send(
            event, **{"session_id": self.session, "transcript_path": str(self.path), **fields}, env=env
        )

    def last_hook_was(self, seconds_ago: float) -> None:
        """Move the heartbeat into the past, so that no test waits."""
        beat = beats.read(self.record, self.session)
        assert beat is not None
        beat.at = self.now - seconds_ago
        beats.write(self.record, self.session, beat)

    @property
    def record(self) -> str:
        (record,) = records()
        return str(record)

    def wrote(self, *rows: Row) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)

    def ended_turn(self, seconds_ago: float) -> None:
        """The client writes a turn that the model ended so long ago, and that it is over."""
        self.wrote(asked(self.at(seconds_ago + 1)), said(self.at(seconds_ago)), over(self.at(seconds_ago)))

    def at(self, seconds_ago: float) -> str:
        return stamp(self.now - seconds_ago)


def asked(at: str, content: Any = "and the docs", **more: Any) -> Row:
    return {"type": "user", "promptId": "p", "message": {"role": "user", "content": content}, "timestamp": at, **more}


def said(at: str, stop_reason: str = "end_turn", model: str = "claude-opus-5-5", **more: Any) -> Row:
    block = {"type": "tool_use", "name": "Bash"} if stop_reason == "tool_use" else {"type": "text", "text": "Done."}
    message = {"role": "assistant", "model": model, "content": [block], "stop_reason": stop_reason}
    return {"isSidechain": False, "message": message, "type": "assistant", "timestamp": at, **more}


def over(at: str, subtype: str = "turn_duration") -> Row:
    return {"isSidechain": False, "type": "system", "subtype": subtype, "timestamp": at}


def interrupted(at: str) -> Row:
    return asked(at, [{"type": "text", "text": "[Request interrupted by user]"}], interruptedMessageId="m")


@pytest.fixture
def talk(host: Host, tmp_path: Path) -> Talk:
    talk = Talk(host, tmp_path / "transcript.jsonl")
    talk.prompt("ulw fix it")
    assert host.stop(transcript_path=str(talk.path), env=SHOWS).stdout
    return talk


def test_a_turn_that_ended_without_hooks_is_told_once(talk: Talk) -> None:
    talk.last_hook_was(HOUR)
    talk.ended_turn(30 * MINUTE)
    answer = talk.prompt()
    since = time.strftime("%H:%M", time.localtime(talk.now - HOUR))
    end = time.strftime("%H:%M", time.localtime(talk.now - 30 * MINUTE))
    assert answer.says_to_user(DID_NOT_RUN, since=f"{since} (1 h ago)")
    assert answer.says_to_user("prompt-turn-ended-unseen", ended=end)
    assert "`omo doctor`" in answer.message
    assert not talk.prompt().says_to_user(DID_NOT_RUN)


def test_each_gap_is_told(talk: Talk) -> None:
    for ended in (50 * MINUTE, 10 * MINUTE):
        talk.last_hook_was(ended + HOUR)
        talk.ended_turn(ended)
        assert talk.prompt().says_to_user(DID_NOT_RUN)
        assert not talk.prompt().says_to_user(DID_NOT_RUN)


def test_a_resume_tells_it_too_and_what_omo_answers_by_itself_as_well(talk: Talk) -> None:
    talk.last_hook_was(HOUR)
    talk.ended_turn(MINUTE)
    assert talk.send("SessionStart", source="resume").says_to_user(DID_NOT_RUN)
    assert not talk.prompt().says_to_user(DID_NOT_RUN)
    talk.last_hook_was(HOUR)
    assert talk.prompt("/omo:status").says_to_user(DID_NOT_RUN)


def nothing(talk: Talk) -> None:
    """The client was closed with the last Stop."""


def asleep_in_a_turn(talk: Talk) -> None:
    talk.wrote(asked(talk.at(HOUR)), said(talk.at(HOUR - 1), "tool_use"), asked(talk.at(5), [{"type": "tool_result"}]))


def ended_by_esc(talk: Talk) -> None:
    talk.wrote(asked(talk.at(HOUR)), said(talk.at(HOUR - 1), "tool_use"), interrupted(talk.at(MINUTE)))


def ended_by_esc_in_the_stop_hook(talk: Talk) -> None:
    """The model has said its last word, and no row says that the turn is over. The next turn of the kind is asked."""
    talk.wrote(said(talk.at(HOUR)), interrupted(talk.at(HOUR)), asked(talk.at(1)))


def killed_in_the_stop_hook(talk: Talk) -> None:
    talk.wrote(said(talk.at(HOUR)), {"type": "last-prompt", "lastPrompt": "x"}, asked(talk.at(1)))


def of_a_subagent(talk: Talk) -> None:
    talk.wrote(said(talk.at(HOUR), isSidechain=True), over(talk.at(HOUR)))


def an_error(talk: Talk) -> None:
    failed = said(talk.at(HOUR), model="<synthetic>", isApiErrorMessage=True)
    talk.wrote(said(talk.at(HOUR + 1)), asked(talk.at(HOUR)), failed, over(talk.at(HOUR)))


def a_compaction(talk: Talk) -> None:
    talk.wrote(over(talk.at(HOUR), "compact_boundary"), asked(talk.at(HOUR), "It goes on.", isCompactSummary=True))


def a_slash_command(talk: Talk) -> None:
    talk.wrote(asked(talk.at(HOUR), "<command-name>/context</command-name>"))
    talk.wrote(asked(talk.at(HOUR), "<local-command-stdout>x</local-command-stdout>"), over(talk.at(HOUR)))


def no_rows(talk: Talk) -> None:
    talk.wrote({"type": "system", "subtype": ["turn_duration"]}, {"type": "assistant", "message": "end_turn"})
    talk.wrote(said("no time"), over(""))


def no_transcript(talk: Talk) -> None:
    talk.path.unlink()


def no_file(talk: Talk) -> None:
    talk.path.unlink()
    os.mkfifo(talk.path)


SILENT = (
    *(nothing, asleep_in_a_turn, ended_by_esc, ended_by_esc_in_the_stop_hook, killed_in_the_stop_hook, of_a_subagent),
    *(an_error, a_compaction, a_slash_command, no_rows, no_transcript, no_file),
)


@pytest.mark.parametrize("happened", SILENT)
def test_what_is_no_turn_that_ended_by_itself_is_no_fault(talk: Talk, happened: Callable[[Talk], None]) -> None:
    """Over a weekend: the turn before it was held by its Stop."""
    talk.ended_turn(60 * HOUR)
    talk.last_hook_was(60 * HOUR - 1)
    happened(talk)
    assert not talk.prompt().says_to_user(DID_NOT_RUN)


@pytest.mark.parametrize(("later", "is_told"), [(-2, False), (2, False), (60, True)])
def test_clocks_may_differ_by_seconds(talk: Talk, later: float, is_told: bool) -> None:
    talk.last_hook_was(HOUR)
    talk.ended_turn(HOUR - later)
    assert talk.prompt().says_to_user(DID_NOT_RUN) is is_told


@pytest.mark.parametrize("env", [{}, {**SHOWS, "CODEX_SESSION_ID": "outer"}, {**SHOWS, "OMO_SKIP_HOOKS": "Stop"}])
def test_it_is_told_where_a_person_reads_it_and_did_not_ask_for_it(talk: Talk, env: dict[str, str]) -> None:
    talk.last_hook_was(HOUR)
    talk.ended_turn(MINUTE)
    assert not talk.prompt(env=env).says_to_user(DID_NOT_RUN)


@pytest.mark.usefixtures("through_the_shell")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "timed out"])
def test_a_stop_hook_that_did_not_come_to_its_end_is_told(talk: Talk, number: signal.Signals) -> None:
    """Within the cooldown it waits, so it is surely at work."""
    talk.last_hook_was(HOUR)
    stdin = talk.host.payload("Stop", transcript_path=str(talk.path))
    talk.host.last_block_was(1, time.time())
    stop = talk.host.start("Stop", stdin, **SHOWS, OMO_COOLDOWN_SECONDS="5")
    os.killpg(stop.pid, number)
    stop.communicate()
    talk.wrote(said(talk.at(MINUTE)), over(talk.at(MINUTE), "stop_hook_summary"))
    assert talk.prompt().says_to_user(DID_NOT_RUN)
    assert not talk.prompt().says_to_user(DID_NOT_RUN)


@pytest.mark.usefixtures("through_the_shell")
def test_another_conversation_is_told_and_then_nobody(talk: Talk, tmp_path: Path) -> None:
    second = Talk(talk.host, tmp_path / "second.jsonl", "second")
    talk.last_hook_was(HOUR)
    assert not second.send("SessionStart", source="startup").says_to_user(DID_NOT_RUN)
    talk.ended_turn(MINUTE)
    answer = second.send("SessionStart", source="startup")
    assert answer.says_to_user(DID_NOT_RUN)
    assert answer.says_to_user("prompt-hooks-did-not-run-elsewhere")
    for conversation in (second, talk):
        assert not conversation.prompt("ulw again").says_to_user(DID_NOT_RUN)


def test_another_project_is_not_told(talk: Talk, tmp_path: Path) -> None:
    other = Host(tmp_path / "another", data=talk.host.data, in_process=True)
    copied(other.project, git_init)
    talk.last_hook_was(HOUR)
    talk.ended_turn(MINUTE)
    assert not other.prompt("ulw x", env=SHOWS, session_id="other-1").says_to_user(DID_NOT_RUN)


def test_what_an_agent_does_is_a_sign_of_life_and_keeps_the_session_s_transcript(talk: Talk) -> None:
    talk.last_hook_was(HOUR)
    talk.send(
        "PreToolUse", transcript_path="/of/the/agent", agent_id="a1", tool_name="Write", tool_input={"file_path": "a"}
    )
    beat = beats.read(talk.record, SESSION)
    assert beat is not None
    assert (beat.transcript, beat.at >= talk.now) == (str(talk.path), True)


def of_heartbeats() -> list[str]:
    return [re.sub(r"^\w{32}\.", "", path.name) for path in sorted(records()[0].parent.glob("*.beat"))]


def test_only_sessions_that_are_on_have_one(talk: Talk, tmp_path: Path) -> None:
    odd = Talk(talk.host, tmp_path / "odd.jsonl", "../odd")
    off = Talk(talk.host, tmp_path / "off.jsonl", "off")
    odd.prompt("ulw fix it")
    off.prompt("what is ulw?")
    off.send("SessionStart", source="startup")
    assert len(of_heartbeats()) == 2
    odd.prompt("/omo:stop-continuation")
    assert of_heartbeats() == [f"{SESSION}.beat"]
    shutil.rmtree(talk.host.project / ".sisyphus")
    assert "was removed" in talk.send("Stop").stdout
    assert of_heartbeats() == []


def test_one_of_a_session_that_is_gone_goes_when_a_run_ends(talk: Talk) -> None:
    record = Path(talk.record)
    left = [record.with_name(f"{'0' * 32}.gone.beat"), record.with_name(f"{record.name}.gone.beat")]
    for path in left:
        path.write_text("{}")
    talk.prompt("/omo:stop-continuation")
    assert not any(path.exists() for path in left)


def test_it_is_not_written_through_a_link(talk: Talk, tmp_path: Path) -> None:
    beat, victim = Path(beats.file_of(talk.record, SESSION)), tmp_path / "victim"
    victim.write_text("mine")
    beat.unlink()
    beat.symlink_to(victim)
    talk.ended_turn(MINUTE)
    assert not talk.prompt().says_to_user(DID_NOT_RUN)
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"{}", b'{"at":7,"host":1,"transcript":[]}', b"[" * 9000])
def test_one_of_any_content_is_survived_and_written_anew(talk: Talk, content: bytes) -> None:
    Path(beats.file_of(talk.record, SESSION)).write_bytes(content)
    talk.ended_turn(MINUTE)
    assert not talk.prompt().says_to_user(DID_NOT_RUN)
    assert beats.read(talk.record, SESSION) is not None


def test_a_state_that_cannot_be_read_does_not_stop_it(talk: Talk) -> None:
    talk.last_hook_was(HOUR)
    Path(talk.host.state, "runtime.local.json").chmod(0)
    talk.send("PreToolUse", tool_name="Write", tool_input={"file_path": "a"})
    beat = beats.read(talk.record, SESSION)
    assert beat is not None
    assert beat.at >= talk.now


def test_a_command_in_a_terminal_takes_it_away_with_the_session(talk: Talk) -> None:
    Project(talk.host.project).check("stop-continuation", "--session", SESSION, by="user")
    assert of_heartbeats() == []


# -- the other hosts' records ------------------------------------------------------------------------------------------


def codex_rows(at: str, turn: str, last: str | None) -> list[Row]:
    message = {"type": "item_completed", "turn_id": turn, "item": {"type": "AgentMessage", "content": []}}
    end = {"type": "task_complete", "turn_id": turn, "last_agent_message": last}
    return [{"timestamp": at, "type": "event_msg", "payload": payload} for payload in (message, end)]


def aborted(at: str, turn: str) -> list[Row]:
    rows = codex_rows(at, turn, "half")
    rows[1]["payload"] = {"type": "turn_aborted", "turn_id": turn, "reason": "interrupted"}
    return rows


def test_codex_is_told_from_its_rollout(host: Host, tmp_path: Path) -> None:
    codex = Codex(host.root, data=host.data)
    path = tmp_path / "rollout.jsonl"
    talk = Talk(codex, path)
    talk.prompt("ulw fix it", env={})
    for rows in (aborted(talk.at(60), "t2"), codex_rows(talk.at(50), "t3", None)):
        talk.last_hook_was(HOUR)
        talk.wrote(*rows)
        assert not talk.prompt(env={}).says_to_user(DID_NOT_RUN)
    talk.last_hook_was(HOUR)
    talk.wrote(*codex_rows(talk.at(40), "t4", "Done."), {"type": "turn_context", "payload": {"turn_id": "t5"}})
    assert talk.prompt(env={}).says_to_user(DID_NOT_RUN)
    assert named("codex").transcript(str(path)).last_turn_end() == pytest.approx(talk.now - 40, abs=0.01)


def test_copilot_is_told_from_its_events(host: Host) -> None:
    copilot = Copilot(host.root, data=host.data)
    talk = Talk(copilot, copilot.record)
    copilot.typed("ulw fix it")
    _, held = copilot.ends()
    assert held["decision"] == "block"

    def word(seconds_ago: float, *calls: Row, agent: str = "") -> None:
        copilot.notes("assistant.message", seconds=-seconds_ago, agent=agent, content="x", toolRequests=list(calls))
        copilot.notes("assistant.turn_end", agent=agent, turnId="0")

    def is_told() -> bool:
        talk.last_hook_was(HOUR)
        message, _ = copilot.typed("and the docs")
        return texts.says(message, DID_NOT_RUN)

    word(90)
    copilot.notes("abort", reason="user")
    copilot.notes("hook.start", hookType="userPromptSubmitted")
    assert not is_told()
    word(80)
    copilot.notes("session.resume")  # after a kill
    copilot.notes("hook.start", hookType="userPromptSubmitted")
    assert not is_told()
    word(70, agent="a1")
    copilot.notes("hook.end", agent="a1", hookType="agentStop")
    assert not is_told()
    word(60, {"name": "bash"})
    copilot.notes("hook.start", hookType="agentStop")
    copilot.notes("hook.end", hookType="agentStop")
    assert not is_told()
    word(55)
    copilot.notes("hook.start", hookType="agentStop")  # and its end never came
    copilot.notes("hook.start", hookType="userPromptSubmitted")
    assert not is_told()
    word(50)
    copilot.notes("hook.start", hookType="agentStop")
    copilot.notes("hook.end", hookType="agentStop")
    copilot.notes("session.shutdown")
    copilot.notes("session.resume")
    assert is_told()


def test_a_host_without_a_record_tells_nothing() -> None:
    assert Transcript().last_turn_end() is None
