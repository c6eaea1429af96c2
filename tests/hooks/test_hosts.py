"""What a further host has to bring: the rest of omo asks for it in its own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from omo import hosts
from omo.hooks import main, prompt, stop
from omo.hosts import Answer, Event, Host, claude
from tests import texts

NOW = 1_790_000_000.0


class Dollar(Host):
    """Its commands begin with a dollar, its events have three fields, and its answers are words."""

    name = "dollar"

    def read(self, raw: bytes, environ: Mapping[str, str]) -> Event | None:
        fields = json.loads(raw)
        event = Event(fields["id"])
        event.host = self
        event.project = event.directory = fields["where"]
        event.prompt = fields.get("typed", "").replace("$omo:", "/omo:")
        event.raw = raw
        return event

    def write(self, answer: Answer, event: Event, environ: Mapping[str, str]) -> bytes:
        texts = [answer.decision, answer.reason, answer.context, answer.message]
        return self.spell("|".join(texts)).encode()

    def is_typed_at_work(self, event: Event) -> bool:
        return False

    def spell(self, text: str) -> str:
        return text.replace("/omo:", "$omo:")


def sent(project: Path, name: str, handle: main.Handler, now: float, **fields: str) -> str:
    raw = json.dumps({"id": "s1", "where": str(project), **fields}).encode()
    return main.answer(name, handle, raw, {}, str(project), now, Dollar()).decode()


def test_a_host_of_its_own_arms_holds_and_lets_go(tmp_path: Path) -> None:
    on = sent(tmp_path, "user-prompt-submit", prompt.handle, NOW, typed="$omo:ulw fix it")
    said = on.removeprefix("allow||")
    assert said != on
    assert texts.says(said, "prompt-turned-on")
    assert "$omo:stop-continuation ends it" in on
    held = sent(tmp_path, "stop", stop.handle, NOW + 60)
    assert held.startswith("keep-going|Ultrawork active")
    assert texts.says(held.partition("|")[2].rstrip("|"), "stop-way-out")
    assert "$omo:stop-continuation" in held
    off = sent(tmp_path, "user-prompt-submit", prompt.handle, NOW + 90, typed="$omo:stop-continuation")
    assert texts.says(off.removeprefix("end-prompt|").rstrip("|"), "prompt-cancelled-told", works="ultrawork")
    assert sent(tmp_path, "stop", stop.handle, NOW + 120) == "allow|||"


def test_what_a_host_keeps_is_spelled_for_the_host_that_shows_it(tmp_path: Path) -> None:
    sent(tmp_path, "user-prompt-submit", prompt.handle, NOW, typed="ulw fix it")
    sent(tmp_path, "stop", stop.handle, NOW + 60)
    kept = (tmp_path / ".sisyphus" / "cc-omo" / "sessions" / "s1" / "events.jsonl").read_text(encoding="utf-8")
    assert "/omo:stop-continuation" in kept
    assert "$omo:" not in kept


def test_a_registration_that_names_no_host_of_ours_is_the_first() -> None:
    assert hosts.named("") is hosts.named("nobody") is hosts.named("claude")


OF_CLAUDE, OF_CODEX = {"CLAUDE_CODE_SESSION_ID": "c1"}, {"CODEX_SESSION_ID": "x1"}
OF_COPILOT = {"COPILOT_AGENT_SESSION_ID": "p1"}


@pytest.mark.parametrize(
    ("environ", "session"),
    [
        (OF_CLAUDE, "c1"),
        (OF_CODEX, "x1"),
        ({**OF_CLAUDE, **OF_CODEX}, "x1"),  # Codex, started in a shell of Claude Code's
        ({**OF_CLAUDE, **OF_CODEX, "OMO_OUTER_SESSION": "7 x1"}, "c1"),  # and the other way round
        ({**OF_CLAUDE, **OF_CODEX, "OMO_OUTER_SESSION": "x1 c1"}, "c1"),
        ({**OF_CLAUDE, "CODEX_SESSION_ID": "x2", "OMO_OUTER_SESSION": "x1"}, "x2"),  # one in another in a third
        ({**OF_CLAUDE, "OMO_OUTER_SESSION": ""}, "c1"),
        ({**OF_COPILOT, **OF_CODEX, "OMO_OUTER_SESSION": "p1"}, "x1"),  # as a rewritten command is told
        ({**OF_COPILOT, **OF_CODEX, "OMO_OUTER_SESSION": "x1"}, "p1"),
        ({**OF_COPILOT, **OF_CLAUDE, "OMO_OUTER_SESSION": "p1"}, "c1"),
        ({}, ""),
    ],
)
def test_the_innermost_host_says_whose_shell_it_is(environ: dict[str, str], session: str) -> None:
    assert hosts.session_of(environ) == session


def test_the_host_that_had_a_conversation_comes_first() -> None:
    assert [host.name for host in hosts.every(first="codex")][:2] == ["codex", hosts.NAMES[0]]
    assert [host.name for host in hosts.every(first="nobody")] == list(hosts.NAMES)


def test_who_types_in_a_shell() -> None:
    assert {"CLAUDECODE", "CODEX_SESSION_ID", "COPILOT_CLI", "GEMINI_CLI"} <= set(hosts.agent_variables())


@pytest.mark.parametrize(
    ("name", "variables", "is_agents"),
    [
        ("claude", {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "c1"}, False),  # which its hooks have too
        ("claude", {"COPILOT_CLI": "1"}, True),
        ("codex", OF_CODEX, True),
        ("codex", {"CLAUDECODE": "1"}, True),
        ("copilot", {"COPILOT_CLI": "1"}, False),
        ("copilot", OF_COPILOT, True),
        ("copilot", OF_CODEX, True),
        ("claude", {"OMO_OUTER_SESSION": "x1"}, True),
        ("copilot", {}, False),
    ],
)
def test_whether_an_agent_has_started_the_client(name: str, variables: dict[str, str], is_agents: bool) -> None:
    assert hosts.is_in_an_agents_shell(hosts.named(name), variables) is is_agents


@pytest.mark.parametrize(
    ("variables", "key"),
    [
        ({"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-325_harness"}, "hookSpecificOutput"),
        ({"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-197_agent"}, "hookSpecificOutput"),
        ({"CLAUDECODE": "1", "AI_AGENT": "claude-code_3-0"}, "hookSpecificOutput"),
        ({"CLAUDECODE": "1", "AI_AGENT": "claude-code_2-1-196_harness"}, "decision"),
        ({"CLAUDECODE": "1", "AI_AGENT": "claude-code_next_harness"}, "decision"),
        ({"CLAUDECODE": "1", "AI_AGENT": "other_9-9-9"}, "decision"),
        ({"CLAUDECODE": "1"}, "decision"),
        ({"AI_AGENT": "claude-code_2-1-325_harness"}, "decision"),
    ],
)
def test_a_block_is_no_error_where_the_client_can_tell(variables: dict[str, str], key: str) -> None:
    fields = {"session_id": "s1", "hook_event_name": "Stop"}
    event = claude.HOST.read(json.dumps(fields).encode(), variables)
    assert event is not None
    written = json.loads(claude.HOST.write(Answer(hosts.KEEP_GOING, "go on"), event, variables))
    assert next(iter(written)) == key
    assert "go on" in json.dumps(written)
