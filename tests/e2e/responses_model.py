"""The scripted model behind the Responses API, which Codex speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.e2e.scripted_model import Request, ScriptedModel, Turn

# Tools that Codex gives text instead of JSON.
FREE_FORM = ("apply_patch", "exec")
# A model that is given `exec` calls most tools in the code that it hands to that.
IN_CODE = "const done = await tools.{name}({given}); text(done.output ?? done);"


def shown_to(request: Request) -> list[str]:
    """What the model was shown: instructions, prompts, context, tool results; not its own words."""
    texts = [str(request.get("instructions") or "")]
    for item in request["input"]:
        if item.get("role") == "assistant":
            continue
        texts += _texts(item.get("content") or item.get("output") or "")
    return texts


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for part in content:
        yield str(part.get("text") or part.get("encrypted_content") or "")


def offered_in(request: Request) -> dict[str, str]:
    """The tools that the model may call, each with the namespace that it is in."""
    tools = {}
    given = list(request.get("tools") or [])
    for item in request["input"]:
        if item.get("type") == "additional_tools":
            given += item["tools"]
    for tool in given:
        for inner in tool.get("tools") or [{"name": tool.get("name")}]:
            tools[str(inner.get("name"))] = str(tool["name"]) if "tools" in tool else ""
    return tools


def results_of(request: Request) -> list[str]:
    """What the tools answered, in order."""
    outputs = [item["output"] for item in request["input"] if str(item.get("type")).endswith("_call_output")]
    return ["\n".join(_texts(output)) for output in outputs]


class ResponsesModel(ScriptedModel):
    def is_errand(self, request: Request) -> bool:
        """What it asks besides the conversation; the title of one is a turn of a thread of its own."""
        about = request["client_metadata"]["x-codex-turn-metadata"]
        return '"request_kind":"turn"' not in about or '"thread_source":"thread_title"' in about

    def is_agent(self, request: Request) -> bool:
        return "x-openai-subagent" in request["client_metadata"]

    def reply(self, request: Request, turn: Turn) -> dict[str, Any]:
        offered = offered_in(request)
        items = [self._item(block, offered) for block in turn.blocks]
        usage = self.spend()
        usage["total_tokens"] = sum(usage.values())
        return {"id": f"resp_{self.next_id()}", "output": items, "usage": usage}

    def _item(self, block: dict[str, Any], offered: dict[str, str]) -> dict[str, Any]:
        number = self.next_id()
        if block["type"] == "text":
            content = [{"type": "output_text", "text": block["text"]}]
            return {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}
        name, given = block["name"], block["input"]
        if name not in offered and "exec" in offered:
            code = IN_CODE.format(name=name, given=json.dumps(given["input"] if name in FREE_FORM else given))
            name, given = "exec", {"input": code}
        called = {"id": f"call_{number}", "call_id": f"call_{number}", "name": name}
        if offered.get(name):
            called["namespace"] = offered[name]
        if name in FREE_FORM:
            return {"type": "custom_tool_call", **called, "input": given["input"]}
        return {"type": "function_call", **called, "arguments": json.dumps(given)}

    def stream(self, reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": {"id": reply["id"]}}
        for index, item in enumerate(reply["output"]):
            yield {"type": "response.output_item.done", "output_index": index, "item": item}
        yield {"type": "response.completed", "response": {"id": reply["id"], "usage": reply["usage"]}}
