"""The moves of a transcript, in their order, as the events a host would have sent for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from omo import host
from omo.replay import effects, events
from omo.replay.decision import Decision
from omo.replay.moves import NOTICE, NOTICE_ID, Move, moves_of
from omo.replay.stage import Stage
from omo.replay.transcript import Line
from omo.report import session as resolver
from omo.shown import clip
from omo.state import runtime
from omo.ultrawork import keyword, on_prompt, on_tool_use, texts, tool_gates

Row = dict[str, Any]

WATCHED = (*tool_gates.WRITERS, tool_gates.ASKER, tool_gates.SHELL, tool_gates.POWERSHELL)
MOST_DECISIONS = 20_000
MOST_TASKS = 1000
LONGEST_PATH = 4096
ENDS = ("end_turn", "stop_sequence", "max_tokens", "refusal")
OUR_REASON = texts.reason_to_go_on({}, [], 1).partition(".")[0]
OUR_COMMAND = "hooks/launch.sh"
DENIED = "PreToolUse:"
AGENTS = ("Agent", "Task")
ENDERS = ("TaskStop", "KillShell", "KillBash")


@dataclass
class Turn:
    """What the model said last, and whether it ended there. `is_certain`: the row says so itself."""

    message: str = ""
    text: str = ""
    at: float = 0.0
    line: int = 0
    is_over: bool = False
    is_certain: bool = False


@dataclass
class Call:
    name: str
    given: Row
    decision: Decision | None


@dataclass
class Player:
    stage: Stage
    decisions: list[Decision] = field(default_factory=list)
    is_full: bool = False
    _cwd: str = ""
    _mode: str = "default"
    _turn: Turn = field(default_factory=Turn)
    _continues: bool = False
    _calls: dict[str, Call] = field(default_factory=dict)
    _tasks: dict[str, Row] = field(default_factory=dict)
    _wakeups: int = 0
    _queue: list[str] = field(default_factory=list)
    _taken: str = ""  # from the queue, and not seen as a prompt yet
    _last: dict[str, Decision] = field(default_factory=dict)

    def play(self, line: Line) -> None:
        moves = moves_of(line.fields)
        self._look_around(line, moves)
        for move in moves:
            if line.agent:
                self._of_agent(move, line)
            else:
                MOVES[move.kind](self, move, line)

    def finish(self) -> None:
        self._end_turn()

    def _look_around(self, line: Line, moves: list[Move]) -> None:
        named = line.text("cwd")
        self._cwd = named if 0 < len(named) <= LONGEST_PATH else self._cwd
        self.stage.theirs = self.stage.theirs or self._cwd.rstrip("/")
        name = line.text("sessionId")
        is_begun = bool(line.at) or any(move.kind in ("prompt", "said", "call") for move in moves)
        if name and name != self.stage.session and not line.agent and is_begun:
            source = "resume" if self.stage.sessions else "startup"
            self.stage.sessions.append(name)
            self._start(source, line)

    def _of_agent(self, move: Move, line: Line) -> None:
        """Of a subagent only its tool calls come to a hook, and in the end what it said."""
        if move.kind == "call":
            self._called(move, line)
        elif move.kind == "result":
            self._answered(move, line)

    def _start(self, source: str, line: Line) -> None:
        event = self.stage.event("start", events.start(source), self._cwd)
        self._ask("start", event, line.at, line.number, source, source, "a session begins or comes back")

    def _ask(self, kind: str, event: host.Event, at: float, line: int, what: str, rule: str, why: str) -> Decision:
        decided, text = self.stage.ask(kind, event, at)
        found = Decision(kind, at, line, what, decided, rule, self.stage.theirs_again(why), text)
        self._keep(found)
        self._last[kind] = found
        return found

    def _keep(self, found: Decision) -> None:
        if len(self.decisions) < MOST_DECISIONS:
            self.decisions.append(found)
        else:
            self.is_full = True

    def _changed_mode(self, move: Move, line: Line) -> None:
        self._mode = move.text

    # What the person does.

    def _prompted(self, move: Move, line: Line) -> None:
        self._end_turn()
        self._continues, self._wakeups, self._taken = False, 0, ""
        if move.text.startswith(NOTICE):
            self._task_ended(move.text, line)
        self._prompt(move.text, line)

    def _prompt(self, text: str, line: Line) -> Decision:
        event = self.stage.event("prompt", events.prompt(text), self._cwd)
        if text.split(maxsplit=1)[:1] in on_prompt.PIN:
            return self._ask("prompt", event, line.at, line.number, text, "pin-command", "the prompt pins a gate")
        reading = keyword.read_prompt(text, mode=self.stage.settings.keyword)
        why = keyword.RULES[reading.rule]
        return self._ask("prompt", event, line.at, line.number, text, reading.rule, why)

    def _prompt_was_blocked(self, move: Move, line: Line) -> None:
        """Such a prompt is in the transcript only where it was queued; a cancel of ours is known by its answer."""
        self._end_turn()
        text, self._taken = self._taken, ""
        is_cancel = move.text.startswith((texts.CANCELLED, texts.NOTHING_TO_CANCEL))
        if not text and not is_cancel:
            note = "a prompt was ended by a hook, and its text is not in the transcript"
            self._keep(Decision("prompt", line.at, line.number, "(unknown)", "unknown", notes=[note]))
            return
        found = self._prompt(text or texts.STOP, line)
        found.show("block", move.text)
        if not text:
            found.notes.append("the transcript does not keep the prompt; by the answer it was a cancel")

    def _queued(self, move: Move, line: Line) -> None:
        self._end_turn()
        if move.name == "enqueue":
            self._queue = [*self._queue, move.text][-MOST_TASKS:]
        elif move.name == "popAll":
            self._queue = []
        elif self._queue:
            at = self._queue.index(move.text) if move.text in self._queue else 0
            taken = self._queue.pop(at)
            self._taken = taken if move.name == "dequeue" else self._taken
        self.stage.queued = len(self._queue)

    def _interrupted(self, move: Move, line: Line) -> None:
        """A turn that the person ends comes to no Stop."""
        self._turn, self._continues = Turn(), False

    # What the model does.

    def _spoke(self, move: Move, line: Line) -> None:
        if move.id != self._turn.message:
            self._end_turn(certain_only=True)
            self._turn = Turn(move.id)
        self.stage.spoke(line.at)
        turn = self._turn
        turn.text = "\n".join(filter(None, (turn.text, move.text)))
        turn.at, turn.line = line.at, line.number
        reason = move.data["stop_reason"]
        turn.is_certain = reason in ENDS
        turn.is_over = turn.is_certain or (reason is None and not move.data["calls"] and bool(turn.text))

    def _end_turn(self, *, certain_only: bool = False) -> None:
        turn = self._turn
        if not turn.is_over or (certain_only and not turn.is_certain):
            return
        self._turn = Turn()
        running = list(self._tasks.values())
        fields = events.stop(
            turn.text, continues=self._continues, mode=self._mode, background=running, wakeups=self._wakeups
        )
        event = self.stage.event("stop", fields, self._cwd)
        stage = self.stage
        rule = resolver.look(stage.state, stage.session, stage.settings.limits, turn.at, stage.environ, event).rule
        found = self._ask("stop", event, turn.at, turn.line, turn.text, rule.name, rule.why)
        self._continues = found.decision == "block"

    def _called(self, move: Move, line: Line) -> None:
        self.stage.called(move.name, move.data, line.at)
        decision = self._pre_tool_use(move, line) if move.name in WATCHED else None
        if len(self._calls) >= MOST_TASKS:
            self._calls.pop(next(iter(self._calls)))
        self._calls[move.id] = Call(move.name, move.data, decision)

    def _pre_tool_use(self, move: Move, line: Line) -> Decision:
        fields = events.tool(move.name, move.data, call=move.id, agent=line.agent, agent_type=line.agent_type)
        event = self.stage.event("tool", fields, self._cwd)
        rule, why = "no-gate", "no gate refuses it"
        for gate in on_tool_use.GATES:
            if denial := gate.asks(event, self.stage.world(event, line.at)):
                rule, why = denial.gate, gate.what
                break
        who = f"subagent {clip(line.agent_type or line.agent, 30)}: " if line.agent else ""
        return self._ask("tool", event, line.at, line.number, who + _call_line(move), rule, why)

    def _answered(self, move: Move, line: Line) -> None:
        if not line.agent:
            self._end_turn(certain_only=True)
            self._turn = Turn()
        call = self._calls.pop(move.id, None)
        if call is None:
            return
        _show_call(call, move)
        self._note_task(call, move, line)
        command = call.given.get("command")
        if call.name == tool_gates.SHELL and isinstance(command, str):
            self._take_over(command, move, line)

    def _take_over(self, command: str, move: Move, line: Line) -> None:
        for one in effects.of_result(self.stage, command, move.text, is_error=move.is_error, now=line.at):
            decided = "taken over" if one.is_taken else "not carried out"
            self._keep(Decision("omo", line.at, line.number, one.command, decided, notes=[one.note]))

    # What runs beside it.

    def _note_task(self, call: Call, move: Move, line: Line) -> None:
        details = move.data
        task, agent = details.get("backgroundTaskId"), details.get("agentId")
        if isinstance(task, str) and len(self._tasks) < MOST_TASKS:
            self._tasks[task] = {"id": task, "type": "shell", "status": "running"}
        if call.name in AGENTS and isinstance(agent, str) and len(self._tasks) < MOST_TASKS:
            kind = str(details.get("agentType") or call.given.get("subagent_type") or "")
            if details.get("status") == "async_launched":
                self._tasks[agent] = {"id": agent, "type": "subagent", "status": "running", "agent_type": kind}
            else:
                self._agent_ended(agent, kind, _last_text(details) or move.text, line)
        if call.name in ENDERS and not move.is_error:
            for key in ("task_id", "shell_id", "bash_id"):
                self._tasks.pop(str(call.given.get(key)), None)
        is_wakeup = call.name == "ScheduleWakeup" and not call.given.get("stop")
        is_once = call.name == "CronCreate" and call.given.get("recurring") is False
        self._wakeups = min(self._wakeups + ((is_wakeup or is_once) and not move.is_error), MOST_TASKS)

    def _task_ended(self, notice: str, line: Line) -> None:
        named = NOTICE_ID.search(notice[:2000])
        task = self._tasks.pop(named[1], None) if named else None
        if named and task and task["type"] == "subagent":
            self._agent_ended(named[1], task["agent_type"], notice, line)

    def _agent_ended(self, agent: str, kind: str, message: str, line: Line) -> None:
        event = self.stage.event("subagent", events.subagent(agent, kind, message), self._cwd)
        row = runtime.session(self.stage.state, self.stage.session)
        is_on = row is not None and runtime.is_live(row)
        rule, why = (
            ("recorded", "work is open, so what it said is noted") if is_on else ("not-active", "nothing is open")
        )
        self._ask("subagent", event, line.at, line.number, kind or agent, rule, why)

    def _compacted(self, move: Move, line: Line) -> None:
        self._end_turn()
        self._start("compact", line)

    # What was heard of hooks then.

    def _heard_feedback(self, move: Move, line: Line) -> None:
        self._end_turn()
        self._continues = True
        if move.text.startswith(OUR_REASON) and "stop" in self._last:
            self._last["stop"].show("block", move.text)

    def _heard_summary(self, move: Move, line: Line) -> None:
        self._end_turn()
        infos, errors = move.data.get("hookInfos"), move.data.get("hookErrors")
        commands = (
            [str(one.get("command")) for one in infos if isinstance(one, dict)] if isinstance(infos, list) else []
        )
        if "stop" not in self._last or not any(OUR_COMMAND in one for one in commands):
            return
        ours = [str(one) for one in errors if str(one).startswith(OUR_REASON)] if isinstance(errors, list) else []
        self._last["stop"].show("block" if ours else "allow", ours[0] if ours else "")

    def _heard_hook(self, move: Move, line: Line) -> None:
        content = move.data.get("content")
        said = content.strip() if isinstance(content, str) else ""
        if move.name == "Stop":
            self._end_turn()
            if "stop" in self._last and OUR_COMMAND in str(move.data.get("command")) and move.data.get("stdout"):
                self._last["stop"].show("allow", events.told_user(move.data.get("stdout")))
        elif move.name == "UserPromptSubmit" and said.startswith("[omo]") and "prompt" in self._last:
            self._last["prompt"].show("context", said)
        elif move.name == "SessionStart" and said.startswith("[omo]"):
            self._heard_start(move.text.partition(":")[2], said, line)

    def _heard_start(self, source: str, said: str, line: Line) -> None:
        last = self._last.get("start")
        if last is None or last.rule != source or last.seen:
            self._start(source or "resume", line)
        self._last["start"].show("context", said)


def _call_line(move: Move) -> str:
    told = [move.data.get(key) for key in ("command", "file_path", "notebook_path", "path")]
    target = next((one for one in told if isinstance(one, str) and one), "")
    return f"{clip(move.name, 40)} {target or clip(json.dumps(move.data)[:400], 200)}"


def _show_call(call: Call, move: Move) -> None:
    """A result shows that the call was refused, or that no hook refused it."""
    if call.decision is None:
        return
    prefix = f"{DENIED}{call.name} hook error: "
    if move.text.startswith(prefix):
        call.decision.show("deny", move.text[len(prefix) :])
    elif call.decision.decision != "pass":
        call.decision.show("pass")


def _last_text(details: Row) -> str:
    blocks = details.get("content")
    texts_of = [one.get("text") for one in blocks if isinstance(one, dict)] if isinstance(blocks, list) else []
    found = [one for one in texts_of if isinstance(one, str)]
    return found[-1] if found else ""


MOVES: dict[str, Callable[[Player, Move, Line], None]] = {
    "prompt": Player._prompted,
    "blocked-prompt": Player._prompt_was_blocked,
    "queue": Player._queued,
    "interrupted": Player._interrupted,
    "mode": Player._changed_mode,
    "said": Player._spoke,
    "call": Player._called,
    "result": Player._answered,
    "compacted": Player._compacted,
    "feedback": Player._heard_feedback,
    "summary": Player._heard_summary,
    "hook": Player._heard_hook,
}
