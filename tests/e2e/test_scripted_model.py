"""The scripted model over plain HTTP: needs no client."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.e2e.scripted_model import SUBAGENT_MARK, Request, ScriptedModel, Turn, call, say, texts_of, told


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def ask(model: ScriptedModel, prompt: str = "hello", *, path: str = "/v1/messages", **fields: Any) -> Any:
    with urllib.request.urlopen(urllib.request.Request(model.url + path, body(prompt, **fields))) as answer:
        return json.loads(answer.read())


def body(prompt: str, **fields: Any) -> bytes:
    request = {"model": "m", "tools": [{}], "messages": [{"role": "user", "content": prompt}], **fields}
    return json.dumps(request).encode()


def test_a_turn_may_hold_several_blocks(model: ScriptedModel) -> None:
    model.script(say("both") + call("Bash", command="a") + call("Bash", command="b"))
    message = ask(model)
    assert [block["type"] for block in message["content"]] == ["text", "tool_use", "tool_use"]
    assert message["stop_reason"] == "tool_use"
    assert message["content"][1]["id"] != message["content"][2]["id"]


def test_requests_without_tools_take_nothing_from_the_script(model: ScriptedModel) -> None:
    model.script(say("for the main loop"))
    ask(model, "name this session", tools=[])
    assert ask(model)["content"][0]["text"] == "for the main loop"
    assert [len(model.requests), len(model.errands), len(model.turns)] == [2, 1, 1]


def test_a_subagent_never_takes_from_the_main_script(model: ScriptedModel) -> None:
    model.script(say("for the main loop"))
    model.agent(told("find the door"), say("for the scout"))
    answers = [
        ask(model, prompt, system=[{"type": "text", "text": SUBAGENT_MARK}])["content"][0]["text"]
        for prompt in ("find the door", "unexpected")
    ]
    assert answers == ["for the scout", "Done."]
    assert [len(model.agent_turns), model.turns, model.overruns] == [2, [], 1]


def test_a_failing_step_is_kept_and_refused(model: ScriptedModel) -> None:
    def fail(request: Request) -> Turn:
        raise AssertionError("not what the test expected")

    model.script(fail)
    with pytest.raises(HTTPError, match="400") as refused:
        ask(model)
    refused.value.close()
    assert "not what the test expected" in model.errors[0]


def test_everything_else_is_answered(model: ScriptedModel) -> None:
    assert ask(model, path="/v1/messages/count_tokens?beta=true") == {"input_tokens": 10}
    assert ask(model, path="/api/event_logging") == {}
    with urllib.request.urlopen(model.url + "/anything") as answer:
        assert answer.status == 200


def test_texts_of_flattens_all_but_the_words_of_the_model() -> None:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "output"}]}
    request = {
        "system": [{"type": "text", "text": "system"}],
        "messages": [
            {"role": "user", "content": "prompt"},
            {"role": "assistant", "content": [{"type": "text", "text": "own words"}]},
            {"role": "user", "content": [result, {"type": "text", "text": "reminder"}]},
            {"role": "system", "content": "notice"},
        ],
    }
    assert [text for text in texts_of(request) if text] == ["system", "prompt", "output", "reminder", "notice"]
