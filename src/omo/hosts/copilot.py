"""Copilot CLI: the events of Claude Code, with answers, a record and a way of calling skills of its own.

Where a hook lets things happen, the user is shown only its line of progress, and the model only `additionalContext` at
the top of its answer. Hooks run in the plugin's directory; agents' shells do not find omo.
"""

from __future__ import annotations

import os
import time

from omo import hosts
from omo.clock import seconds
from omo.hosts import Event, Refusal, ToolCall, Transcript, Usage, claude
from omo.json_text import Json, objects, part
from omo.safe_open import regular_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from omo.hosts import Answer, OtherLoop


# By the names that hooks are told, which are not the model's: its apply_patch is an Edit whose input is the patch.
TOOLS = {
    "Bash": hosts.SHELL,
    "AskUserQuestion": hosts.ASK,
    "Agent": hosts.START_AGENT,
    **dict.fromkeys(("Write", "Edit"), hosts.WRITE),
}
# By the names in the record.
RECORDED_TOOLS = {
    "bash": hosts.SHELL,
    **dict.fromkeys(("create", "edit", "apply_patch"), hosts.WRITE),
    **dict.fromkeys(("sql", "skill"), hosts.TO_DO),
}
# A further one, such as to leave the sandbox, is the user's to allow.
PLAIN_ARGUMENTS = frozenset(("command", "description", "mode", "initial_wait", "shellId"))
PLAN = "[[PLAN]] "  # before a prompt of plan mode
NOTIFICATION = "<system_notification>"
AUTOPILOT = "You have not yet marked the task as complete using the task_complete tool."
# A skill that the user types in the terminal comes as its text, with what follows its name in it or below it.
INVOKED, CONTEXT_ENDS, BELOW = 'The user explicitly invoked the "', "</skill-context>", "\n\nARGUMENTS: "
ARGUMENTS = "$ARGUMENTS"
KNOWN_BY = 80  # letters after them, by which their end is found
LAG, LOOKS = 2.0, 40  # seconds that rows are waited for
USED = {"session.usage_record": "usage", "session.compaction_complete": "compactionTokensUsed"}
STOP_BEGINS, STOP_ENDS = ("hook.start", "agentStop"), ("hook.end", "agentStop")
TURN_IS_OVER = (STOP_ENDS, ("hook.start", "userPromptSubmitted"))
# Those, the model's words, and what says between the two that the turn did not end.
TURN_ROWS = ("assistant.message", "hook.end", "hook.start", "user.message", "abort", "session.start", "session.resume")
REFUSED_BY_ITSELF = "denied-no-approval-rule"
ALLOWS = {"write": "--allow-tool write", "shell": "--allow-tool 'shell({program}:*)'"}
IN_SKILLS = "[omo] In omo's skills ${{CLAUDE_PLUGIN_ROOT}} is {root}."


class Copilot(claude.HookLanguage):
    name = program = "copilot"
    registration = "hooks/copilot.json"
    root_variable, data_variable = "COPILOT_PLUGIN_ROOT", "COPILOT_PLUGIN_DATA"
    session_variable = "COPILOT_AGENT_SESSION_ID"
    project_variable = "COPILOT_PROJECT_DIR"
    home_variable, home_name = "COPILOT_HOME", ".copilot"
    data_pattern = "plugin-data/*/omo"
    events = hosts.EVENTS
    watched_tools = tuple(TOOLS)
    shell_tool = "Bash"
    rewrites_commands = sends_back_by_prompt = True

    def event(self, fields: Json, raw: bytes, environ: Mapping[str, str]) -> Event:
        if "sessionId" in fields:  # the start of an agent is told in another spelling
            fields = {**fields, "session_id": fields["sessionId"], "transcript_path": fields.get("transcriptPath")}
        event = claude.event_of(fields, raw)
        event.host = self
        # What an agent does is told as if it were a session: tests/hooks/test_copilot.py,
        # test_the_state_is_guarded_also_from_a_patch.
        if event.agent_id and event.agent_id == event.session:
            event.session = claude.text_of(fields, "parent_agent_id")
        event.project = environ.get(self.project_variable) or event.directory
        event.tool = TOOLS.get(event.tool_title, hosts.OTHER)
        if event.tool == hosts.START_AGENT:
            event.started_agent = claude.text_of(event.arguments, "agent_type")
            event.agent_prompt = claude.text_of(event.arguments, "prompt")
        patch = fields.get("tool_input")
        if event.tool == hosts.WRITE and isinstance(patch, str):
            event.written_paths = hosts.patched_files(patch)
        record = event.transcript.path or record_of(event.session, environ)
        event.transcript = transcript = Events(record)
        if event.name in ("Stop", "UserPromptSubmit") or event.tool == hosts.START_AGENT:
            transcript.await_moment(claude.text_of(fields, "timestamp"))
        event.in_plan_mode = event.prompt.startswith(PLAN) or (event.name == "Stop" and transcript.mode() == "plan")
        event.prompt = _typed(event.prompt.removeprefix(PLAN), environ.get(self.root_variable, ""))
        is_of_a_hook = bool(event.prompt) and transcript.has_sent_back(event.prompt)
        event.is_machine_prompt = is_of_a_hook or event.prompt.startswith((AUTOPILOT, NOTIFICATION))
        if event.name == "Stop":
            event.running_agents, event.running_shells = transcript.running()
        event.shows_messages = True
        event.can_permit = event.tool == hosts.SHELL and PLAIN_ARGUMENTS.issuperset(event.arguments)
        return event

    def write(self, answer: Answer, event: Event, environ: Mapping[str, str]) -> bytes:
        reason, context, message = self.spell(answer.reason), self.spell(answer.context), self.spell(answer.message)
        output: Json = {}
        more: Json = {}
        if answer.decision in (hosts.KEEP_GOING, hosts.END_PROMPT):
            output = {"decision": "block", "reason": reason}
        elif answer.decision in claude.PERMISSIONS:
            more = {"permissionDecision": claude.PERMISSIONS[answer.decision], "permissionDecisionReason": reason}
        if event.prompt.startswith("/omo:") and not output:
            context = f"{context}\n{IN_SKILLS.format(root=environ.get(self.root_variable, ''))}".strip()
        if context:
            output["additionalContext"] = context
        is_call = event.name == "PreToolUse" and event.tool == hosts.SHELL and answer.decision != hosts.DENY
        # An agent's shell has an id of its own for the session, which no hook is told.
        if is_call and (command := hosts.with_omo(event, environ, **{self.session_variable: event.session})):
            more["updatedInput"] = {**event.arguments, "command": command}
        if more:
            output["hookSpecificOutput"] = {"hookEventName": event.name, **more}
        said = claude.to_json({"type": "progress", "message": message}) if message else b""
        return said + (claude.to_json(output) if output else b"")

    def is_typed_at_work(self, event: Event) -> bool:
        """Never: a prompt that joins a running turn comes to no hook. `Events.typed_since` finds it."""
        return False

    def transcript(self, path: str, start: int = 0) -> Transcript:
        return Events(path, start)

    def other_loop(self, event: Event) -> OtherLoop:
        if Events(event.transcript.path).mode() == "autopilot":
            return {
                "name": "/autopilot",
                "about": "sends the agent on until it calls task_complete",
                "ends": "/autopilot",
            }
        return {}

    def conversation(self, prompt: str) -> list[str]:
        return [self.program, "-i", self.spell(prompt)]

    def spell(self, text: str) -> str:
        return text.replace("with the Agent tool", "with the task tool")


HOST = Copilot()


def record_of(session: str, environ: Mapping[str, str]) -> str:
    """The record of a session, which most events do not name."""
    place = HOST.directory(environ)
    return os.path.join(place, "session-state", session, "events.jsonl") if place and session else ""


def _typed(prompt: str, root: str) -> str:
    """What the user typed, where it was the name of a skill of ours."""
    if not prompt.startswith(f"{INVOKED}/omo:"):
        return prompt
    command = prompt[len(INVOKED) :].partition('"')[0]
    text = prompt.rpartition(CONTEXT_ENDS)[0]
    _, is_below, given = text.rpartition(BELOW)
    if not is_below:
        given = _given_in(text, os.path.join(root, "skills", command.removeprefix("/omo:"), "SKILL.md"))
    return f"{command} {given.strip()}".strip()


def _given_in(text: str, path: str) -> str:
    """What stands in the text of a skill where its file has `$ARGUMENTS`."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            before, has_place, after = file.read().partition(ARGUMENTS)
    except OSError:
        return ""
    label = before.rpartition("\n")[2]
    begins = text.find(f"\n{label}")
    if not has_place or begins < 0:
        return ""
    given = text[begins + 1 + len(label) :]
    ends = given.find(after[:KNOWN_BY]) if after.strip() else -1
    return given[:ends] if ends >= 0 else given


class Events(Transcript):
    """A row for all that happens, also for what agents ask the model. The last rows may be written a moment late."""

    def _rows(self, kind: str) -> Iterator[Json]:
        """The data of the rows of one kind, newest first, each with its moment and its agent."""
        for row in claude.rows_with(self.path, self.start, kind):
            data = row.get("data")
            if row.get("type") == kind and isinstance(data, dict):
                yield {**data, "at": str(row.get("timestamp")), "agent": row.get("agentId")}

    def await_moment(self, moment: str) -> None:
        """Waits until the record has the row that says this hook was started, and with it all that happened before. The
        client writes its rows a moment late, on a busy machine later than the hook asks for them."""
        try:
            marks = (f'"{moment}"'.encode(), f":{round(seconds(moment) * 1000)},".encode())
        except ValueError:
            return
        if not os.path.isdir(os.path.dirname(self.path)):
            return
        for _ in range(LOOKS):
            tail = self._tail()
            if any(mark in tail for mark in marks):
                return
            time.sleep(LAG / LOOKS)

    def _tail(self) -> bytes:
        try:
            with open(self.path, "rb", opener=regular_file) as file:
                file.seek(max(0, file.seek(0, 2) - hosts.TRANSCRIPT_LAG))
                return file.read()
        except OSError:
            return b""

    def mode(self) -> str:
        for data in self._rows("session.mode_changed"):
            return str(data.get("newMode"))
        return ""

    def running(self) -> tuple[int, int]:
        """How many agents and shells work in the background: the client goes on by itself when one has ended."""
        ended = set()
        for kind in ("subagent.completed", "subagent.failed"):
            ended |= {data["agent"] for data in self._rows(kind)}
        for data in self._rows("system.notification"):
            about = part(data, "kind")
            if about.get("type") == "shell_completed":
                ended.add(about.get("shellId"))
        agents = {data["agent"] for data in self._rows("subagent.started") if data.get("executionMode") == "background"}
        shells = set()
        for data in self._rows("tool.execution_start"):
            given = part(data, "arguments")
            if given.get("mode") == "async" and given.get("shellId"):
                shells.add(given["shellId"])
        return len(agents - ended), len(shells - ended)

    def has_sent_back(self, prompt: str) -> bool:
        """Whether a Stop hook, ours or another's, has sent the agent back with this text, which comes as a prompt."""
        for data in self._rows("hook.end"):
            if data.get("hookType") == "agentStop" and part(data, "output").get("reason") == prompt:
                return True
        return False

    def typed_since(self, moment: str) -> list[tuple[str, str]]:
        typed = []
        for data in self._rows("user.message"):
            if data["at"] <= moment:
                break
            if data.get("delivery") == "steering":
                typed.append((data["at"], str(data.get("content"))))
        return typed[::-1]

    def answers(self) -> Iterator[tuple[str, list[ToolCall]]]:
        for data in self._rows("assistant.message"):
            calls = []
            for request in objects(data.get("toolRequests")):
                command = str(part(request, "arguments").get("command") or "")
                calls.append(ToolCall(RECORDED_TOOLS.get(str(request.get("name")), hosts.OTHER), command))
            yield data["at"], [] if data["agent"] else calls

    def last_turn_end(self) -> float | None:
        """The client notes when the Stop hooks have ended. Where none ran, the next prompt that it asks hooks about is
        the sign. An interruption, or a resume after a kill, between the model's word and that is a sign that the turn
        did not end."""
        after: tuple[object, object] = ("", "")
        for row in claude.rows_with(self.path, self.near_end(), *TURN_ROWS):
            data = part(row, "data")
            sign = row.get("type"), data.get("hookType")
            if row.get("agentId") or sign[0] not in TURN_ROWS or (sign == STOP_BEGINS and after == STOP_ENDS):
                continue
            if sign[0] == "assistant.message" and after in TURN_IS_OVER and not data.get("toolRequests"):
                return claude.moment_of(row)
            after = sign
        return None

    def refused_since(self, moment: str) -> list[Refusal]:
        asked: dict[str, Json] = {}
        for data in self._rows("permission.requested"):
            if isinstance(data.get("permissionRequest"), dict):
                asked[str(data.get("requestId"))] = data["permissionRequest"]
        refusals = []
        for data in self._rows("permission.completed"):
            request = asked.get(str(data.get("requestId")))
            kind = str(part(data, "result").get("kind"))
            if data["at"] > moment and request is not None and kind.startswith(REFUSED_BY_ITSELF):
                refusals.append(_refusal(request))
        return refusals[::-1]

    def usage(self) -> tuple[list[Usage], int]:
        """Input tokens include what is read from a cache. A compaction has a row of its own."""
        return claude.usage_in(self.path, self.start, tuple(USED), _usage_in)


def _usage_in(row: Json, moment: str) -> list[Usage]:
    if row.get("type") not in USED:
        return []
    used = part(part(row, "data"), USED[row["type"]])
    if not isinstance(row.get("timestamp"), str):
        raise hosts.OtherForm
    key = str(used.get("apiCallId") or row.get("id"))
    return [Usage(key, moment, claude.counts_of(used, ("inputTokens", "outputTokens")))]


def _refusal(request: Json) -> Refusal:
    kind = str(request.get("kind"))
    what = str(request.get("fullCommandText") or request.get("fileName") or "")
    program = what.partition(" ")[0]
    return Refusal(kind, what.partition("\n")[0], [ALLOWS.get(kind, "--allow-all-tools").format(program=program)])
