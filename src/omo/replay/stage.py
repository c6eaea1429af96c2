"""A scratch project in which the real handlers decide: their state is there and nowhere else, and goes with it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from omo import host, settings
from omo.clock import stamp
from omo.replay import events
from omo.state import paths, store
from omo.ultrawork import on_prompt, on_session_start, on_stop, on_subagent_stop, on_tool_use
from omo.ultrawork.hook import World, answer

Row = dict[str, Any]

MOST_CALLS = 200  # of the latest: a Stop looks for those since the user's last message
READS_TRANSCRIPT = ("prompt", "stop", "start")
DEEPEST = 50  # levels of a tool's input in which the project's path is looked for


def _stop(event: host.Event, world: World) -> bytes:
    """A cooldown is over at once: nobody waits for what is long past."""
    return on_stop.handle(event, world, wait=lambda seconds: None)


HANDLERS: dict[str, tuple[str, Callable[[host.Event, World], bytes]]] = {
    "prompt": ("user-prompt-submit", on_prompt.handle),
    "tool": ("pre-tool-use", on_tool_use.handle),
    "stop": ("stop", _stop),
    "subagent": ("subagent-stop", on_subagent_stop.handle),
    "start": ("session-start", on_session_start.handle),
}


@dataclass
class Stage:
    """`root` is the scratch project; `theirs` the project's path in the transcript, which stands for it."""

    root: str
    environ: dict[str, str]
    theirs: str = ""
    sessions: list[str] = field(default_factory=list)
    queued: int = 0
    last_words: str = ""  # when the model last spoke
    calls: list[Row] = field(default_factory=list)  # what it called, as a transcript has it

    @property
    def state(self) -> str:
        return paths.state_dir(self.root, self.environ)

    @property
    def session(self) -> str:
        return self.sessions[-1] if self.sessions else ""

    @property
    def settings(self) -> settings.Settings:
        return settings.load(self.environ, self.root)

    def event(self, kind: str, fields: Row, cwd: str) -> host.Event:
        if kind in READS_TRANSCRIPT:
            self._write_transcript()
        raw = events.payload(
            kind,
            self.here(fields),
            session=self.session,
            cwd=self.here(cwd or self.theirs),
            transcript=self._transcript,
        )
        return host.parse(raw) or host.Event({}, raw)  # longer than a host would send: it means nothing to a hook

    def world(self, event: host.Event, now: float) -> World:
        return World(event, self.environ, self.root, now)

    def ask(self, kind: str, event: host.Event, now: float) -> tuple[str, str]:
        """The real handler, through the boundary every hook has. A word for its decision, and what it said."""
        name, handle = HANDLERS[kind]
        decided, text = events.verdict(kind, answer(name, handle, event.raw, self.environ, self.root, now))
        return decided, self.theirs_again(text)

    def failures(self) -> list[str]:
        """Hooks that failed, which they do open: the line each left in the log."""
        try:
            with open(paths.log_file(self.state), encoding="utf-8", errors="replace") as file:
                return [self.theirs_again(line.partition(" ")[2]) for line in file]
        except OSError:
            return []

    def spoke(self, at: float) -> None:
        self.last_words = stamp(at)

    def called(self, name: str, given: Row, at: float) -> None:
        block = {"type": "tool_use", "name": name, "input": given}
        self.calls.append(_assistant([block], stamp(at)))
        del self.calls[:-MOST_CALLS]

    @property
    def _transcript(self) -> str:
        return os.path.join(self.root, "transcript.jsonl")

    def _write_transcript(self) -> None:
        """Of the transcript as it was then, what the hooks look for in it."""
        rows: list[Row] = [{"sessionId": name} for name in self.sessions[-20:]]
        rows += self.calls
        rows += [_assistant([], self.last_words)] if self.last_words else []
        rows += [{"type": "queue-operation", "operation": "enqueue"}] * self.queued
        store.replace(self._transcript, "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))

    def here(self, value: Any, depth: int = 0) -> Any:
        """With the project's own path where the transcript has theirs."""
        if len(self.theirs) < 2 or depth > DEEPEST:
            return value
        if isinstance(value, str):
            return self._their_path.sub(lambda found: self.root, value) if self.theirs in value else value
        if isinstance(value, list):
            return [self.here(one, depth + 1) for one in value]
        if isinstance(value, dict):
            return {key: self.here(one, depth + 1) for key, one in value.items()}
        return value

    @property
    def _their_path(self) -> re.Pattern[str]:
        return re.compile(re.escape(self.theirs) + r"(?![\w.-])")

    def theirs_again(self, text: str) -> str:
        return text.replace(self.root, self.theirs or "PROJECT")


def _assistant(content: list[Row], at: str) -> Row:
    return {"type": "assistant", "message": {"role": "assistant", "content": content}, "timestamp": at}


def build(root: str, known: settings.Settings, given: Mapping[str, Any], environ: Mapping[str, str]) -> Stage:
    """The settings in force here, or those that were given, as the hook's environment; nothing else of this one."""
    values = {**known.values, **given}
    knobs = {knob.variable: _written(values[knob.name]) for knob in settings.KNOBS}
    home = {"HOME": environ["HOME"]} if environ.get("HOME") else {}
    stage = Stage(root, {**home, **knobs, "OMO_PROJECT_DIR": root, "CLAUDECODE": "1"})
    store.make_state_dir(os.path.join(root, paths.STATE_DIR))  # the nearest: no state further up is found
    return stage


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
