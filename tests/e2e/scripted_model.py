"""A model that says what the test wrote down, behind the Messages API of a loopback server."""

from __future__ import annotations

import itertools
import json
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType, TracebackType
from typing import Any, Self

Request = dict[str, Any]
Usage = dict[str, int]
Matcher = Callable[[Request], bool]

ERRAND_ANSWER = "A short title"
# The client states this in the first block of the system prompt.
SUBAGENT_MARK = "cc_is_subagent=true"
SCRIPT_FAILED = {"type": "invalid_request_error", "message": "the script of the test failed"}
POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Turn:
    """One answer of the model. `call(...) + call(...)` is one turn with two tool calls."""

    blocks: tuple[dict[str, Any], ...]
    gate: threading.Event | None = None

    def __add__(self, other: Turn) -> Turn:
        return Turn(self.blocks + other.blocks, self.gate or other.gate)

    def held_by(self, gate: threading.Event) -> Turn:
        """The same turn, answered only once the gate is set: until then the model is "working"."""
        return replace(self, gate=gate)


Step = Turn | Callable[[Request], Turn]


def say(text: str) -> Turn:
    return Turn(({"type": "text", "text": text},))


def call(tool: str, /, **tool_input: object) -> Turn:
    return Turn(({"type": "tool_use", "name": tool, "input": tool_input},))


def bash(command: str) -> Turn:
    return call("Bash", command=command)


class Failure(Exception):
    """What a server answers that answers no request."""

    def __init__(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body
        self.headers = headers


def fail(status: int, kind: str, message: str, **headers: str) -> Callable[[Request], Turn]:
    """No answer: a limit that is reached, a server that is overloaded. Names of headers are written with _ for -."""

    def step(request: Request) -> Turn:
        body = {"type": "error", "error": {"type": kind, "message": message}}
        raise Failure(status, body, {name.replace("_", "-"): value for name, value in headers.items()})

    return step


def texts_of(request: Request) -> list[str]:
    """What the model was shown: system prompt, prompts, reminders, tool results; not its own words."""
    shown = [request.get("system", "")]
    shown += [message["content"] for message in request["messages"] if message["role"] != "assistant"]
    return [text for content in shown for text in _flatten(content)]


def _flatten(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
        return
    for block in content:
        yield from _flatten(block.get("text") or block.get("content") or "")


def text_of(content: Any) -> str:
    """A message's or a tool result's content as one text."""
    return "\n".join(_flatten(content))


def last_result(request: Request) -> str:
    """What the last tool answered."""
    results = []
    for message in request["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else []:
            if block["type"] == "tool_result":
                results.append(text_of(block["content"]))
    return results[-1]


def is_subagent(request: Request) -> bool:
    return any(SUBAGENT_MARK in text for text in _flatten(request.get("system", "")))


def told(substring: str) -> Matcher:
    """Matches agents whose system prompt or first message holds the substring."""
    return lambda request: any(substring in text for text in texts_of(_opening(request)))


def _opening(request: Request) -> Request:
    return {**request, "messages": request["messages"][:1]}


class ScriptedModel:
    """Answers the main loop from one script and agents from theirs; keeps every request it got.

    `requests` holds all of them in order of arrival, `turns` those of the main loop, `agent_turns` those
    of subagents, `errands` those without tools (titles, summaries). A script that ran out answers "Done."
    and counts in `overruns`; so does a subagent that no script matches.
    """

    def __init__(self, *steps: Step) -> None:
        self.requests: list[Request] = []
        self.turns: list[Request] = []
        self.errands: list[Request] = []
        self.agent_turns: list[Request] = []
        self.errors: list[str] = []
        self.overruns = 0
        self.usage: Usage = {"input_tokens": 10, "output_tokens": 5}  # of the next answers
        self.sent = 0  # tokens, in all answers
        self._main = list(steps)
        self._agents: list[tuple[Matcher, list[Step]]] = []
        self._goal_checks: list[Turn] = []
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._ids = itertools.count(1)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *steps: Step) -> None:
        """Append to what the main loop will be answered."""
        with self._changed:
            self._main.extend(steps)

    def agent(self, matches: Matcher, *steps: Step) -> None:
        """Answer the subagents that match from a script of their own."""
        with self._changed:
            self._agents.append((matches, list(steps)))

    def check_goal(self, *verdicts: bool) -> None:
        """What the client is answered when it asks whether its own goal is met."""
        for is_met in verdicts:
            self._goal_checks.append(say(json.dumps({"ok": is_met, "reason": "as the test says"})))

    def times_told(self, substring: str) -> int:
        """How often the substring stands in what the last main-loop request showed the model."""
        return sum(text.count(substring) for text in texts_of(self.turns[-1])) if self.turns else 0

    def wait_for_turns(self, count: int, timeout: float = 600) -> None:
        """Return once the main loop has asked `count` times; the last of them may still be held."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.turns) >= count, timeout):
                raise TimeoutError(f"the model was asked {len(self.turns)} times in {timeout} s, not {count}")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> dict[str, Any]:
        """The whole message for a request, after waiting for the gate of its turn."""
        turn = self._next_turn(request)
        while turn.gate and not self._closing.is_set() and not turn.gate.wait(POLL_SECONDS):
            pass
        return self.reply(request, turn)

    def next_id(self) -> str:
        return f"{next(self._ids):04}"

    # What differs from one API to another.

    def is_errand(self, request: Request) -> bool:
        return not request.get("tools")

    def is_agent(self, request: Request) -> bool:
        return is_subagent(request)

    def reply(self, request: Request, turn: Turn) -> dict[str, Any]:
        blocks = [
            {**block, "id": f"toolu_{self.next_id()}"} if block["type"] == "tool_use" else block
            for block in turn.blocks
        ]
        return {
            "id": f"msg_{self.next_id()}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": blocks,
            "stop_reason": "tool_use" if blocks[-1]["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": self.spend(),
        }

    def spend(self) -> Usage:
        self.sent += sum(self.usage.values())
        return dict(self.usage)

    def stream(self, reply: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The events in which a streamed reply is sent."""
        return _stream_events(reply)

    def _next_turn(self, request: Request) -> Turn:
        with self._changed:
            step = self._next_step(request)
            self._changed.notify_all()
        return step if isinstance(step, Turn) else step(request)

    def _next_step(self, request: Request) -> Step:
        self.requests.append(request)
        if self.is_errand(request):
            self.errands.append(request)
            if self._goal_checks and '"impossible"' in json.dumps(request.get("output_config")):
                return self._goal_checks.pop(0)
            return say(ERRAND_ANSWER)
        is_agent = self.is_agent(request)
        (self.agent_turns if is_agent else self.turns).append(request)
        steps = self._steps_for(request, is_agent)
        if steps:
            return steps.pop(0)
        self.overruns += 1
        return say("Done.")

    def _steps_for(self, request: Request, is_agent: bool) -> list[Step]:
        if not is_agent:
            return self._main
        return next((steps for matches, steps in self._agents if matches(request)), [])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A held answer must not hold up the end of the test.
    block_on_close = False

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.model = model

    def handle_error(self, request: Any, client_address: Any) -> None:
        # An interrupted client hangs up in the middle of an answer.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            self.model.errors.append(traceback.format_exc())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._send_json({})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path = self.path.partition("?")[0]
        if path.endswith("/count_tokens"):
            self._send_json({"input_tokens": 10})
        elif path.endswith(("/v1/messages", "/responses")):
            self._answer(request)
        else:
            self._send_json({})

    def _answer(self, request: Request) -> None:
        try:
            message = self.server.model.answer(request)
        except Failure as failure:
            self._send_json(failure.body, failure.status, failure.headers)
            return
        except Exception:
            # The client retries for minutes on anything but a plain refusal.
            self.server.model.errors.append(traceback.format_exc())
            self._send_json({"type": "error", "error": SCRIPT_FAILED}, status=400)
            return
        if request.get("stream"):
            self._stream(message)
        else:
            self._send_json(message)

    def _send_json(self, body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send("application/json", json.dumps(body).encode(), status, headers or {})

    def _stream(self, message: dict[str, Any]) -> None:
        lines = (
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in self.server.model.stream(message)
        )
        self._send("text/event-stream", "".join(lines).encode())

    def _send(
        self, content_type: str, body: bytes, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def _stream_events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        empty, delta = _opening_and_delta(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def _opening_and_delta(block: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
