"""Codex: the hook language of Claude Code, with tools, limits and a spelling of its own.

It refuses an answer with any key that it does not know, takes text that begins with a bracket for JSON, and gives its
shells neither the plugin's programs nor a place to set variables: a command that calls omo is rewritten before it runs.
"""

from __future__ import annotations

from omo import hosts
from omo.hosts import Event, Refusal, Usage, claude
from omo.json_text import Json, part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.hosts import Answer


# Models since gpt-6 have other tools for agents; a hook is told the namespace and the name written together. What an
# agent is told with this one is one word of cipher (openai/codex#45092).
SPAWN_HIDDEN = "collaborationspawn_agent"
TOOLS = {
    "Bash": hosts.SHELL,
    "apply_patch": hosts.WRITE,
    **dict.fromkeys(("request_user_input", "request_user_input_async"), hosts.ASK),
    "update_goal": hosts.OTHER,
    **dict.fromkeys(("spawn_agent", SPAWN_HIDDEN), hosts.START_AGENT),
}

# How its answers to calls that it refused begin, each with the option that would allow the call.
REFUSED = {"patch rejected: ": "--sandbox workspace-write", "approval policy is ": "--ask-for-approval on-request"}
NO_AGENTS = (
    "Codex lacks omo's agents, so nobody can judge, review or criticise, and the work ends on your word: "
    "the user runs, in a terminal of their own, omo setup codex"
)
# A skill is handed to the model as it is in the file, which is written for Claude Code.
IN_SKILLS = "[omo] In omo's skills ${{CLAUDE_PLUGIN_ROOT}} is {root}, and for /omo:NAME the user types $omo:NAME here."


class Codex(claude.HookLanguage):
    name = program = "codex"
    registration = "hooks/codex.json"
    root_variable, data_variable = "PLUGIN_ROOT", "PLUGIN_DATA"
    session_variable = "CODEX_SESSION_ID"
    home_variable, home_name = "CODEX_HOME", ".codex"
    data_pattern = "plugins/data/omo-*"
    events = hosts.EVENTS
    watched_tools = tuple(TOOLS)
    shell_tool = "Bash"
    rewrites_commands = True
    # What stands in its review of hooks, and beside its spinner while one runs.
    hook_titles: Mapping[str, str] = {
        "SessionStart": "omo: says where the work stands",
        "UserPromptSubmit": "omo: reads what you type",
        "PreToolUse": "omo: guards its state and your budget",
        "PostToolUse": "omo: notes what the agent turned on",
        "Stop": "omo: looks whether the work is shown",
        "SubagentStart": "omo: counts the agent",
        "SubagentStop": "omo: notes what the agent said",
    }

    def event(self, fields: Json, raw: bytes, environ: Mapping[str, str]) -> Event:
        event = claude.event_of(fields, raw)
        event.host = self
        event.project = ""  # what it sends is where a tool runs; the session is where the hook is started
        event.prompt = event.prompt.replace("$omo:", "/omo:")
        event.turn = claude.text_of(fields, "turn_id")
        event.tool = TOOLS.get(event.tool_title, hosts.OTHER)
        if event.tool == hosts.START_AGENT:
            event.started_agent = claude.text_of(event.arguments, "agent_type")
            event.agent_prompt = claude.text_of(event.arguments, "message")
            # A brief in plain words is compared here as well: tests/hooks/test_codex.py,
            # test_a_reviewer_begins_without_the_conversation_also_where_omo_cannot_read_its_prompt.
            event.hides_agent_prompt = event.tool_title == SPAWN_HIDDEN and len(event.agent_prompt.split()) == 1
            event.lacks_for_fresh_agent = _lacks_for_fresh_agent(event)
        if event.tool == hosts.ASK and not event.question:
            event.question = claude.asked_in(event.arguments, "title")
        if event.tool_title == "update_goal" and event.arguments.get("status") == "complete":
            event.tool = hosts.COMPLETE
        event.transcript = self.transcript(event.transcript.path)
        if event.name == "SubagentStart":  # whose record is the agent's own
            event.agent_record, event.transcript = event.transcript.path, hosts.Transcript()
        event.shows_messages = True
        event.can_permit = False
        return event

    def write(self, answer: Answer, event: Event, environ: Mapping[str, str]) -> bytes:
        reason, context, message = self.spell(answer.reason), self.spell(answer.context), self.spell(answer.message)
        output: Json = {"systemMessage": message} if message else {}
        if answer.decision in (hosts.KEEP_GOING, hosts.END_PROMPT):
            return claude.to_json({**output, "decision": "block", "reason": reason})
        if "/omo:" in event.prompt:
            context = f"{context}\n{IN_SKILLS.format(root=environ.get(self.root_variable, ''))}".strip()
        more: Json = {}
        if answer.decision == hosts.DENY:
            more = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        elif event.name == "PreToolUse" and event.tool == hosts.SHELL and (command := hosts.with_omo(event, environ)):
            more = {"permissionDecision": "allow", "updatedInput": {"command": command}}
        elif context:
            more = {"additionalContext": context}
        if more:
            output["hookSpecificOutput"] = {"hookEventName": event.name, **more}
        return claude.to_json(output) if output else b""

    def transcript(self, path: str, start: int = 0) -> hosts.Transcript:
        return Rollout(path, start)

    def lacks_agents(self, plugin: str, environ: Mapping[str, str]) -> str:
        from pathlib import Path

        from omo.hosts import codex_setup

        return NO_AGENTS if codex_setup.Setup(environ, "").missing_agents(Path(plugin)) else ""

    def spell(self, text: str) -> str:
        return text.replace("/omo:", "$omo:").replace("with the Agent tool", "with spawn_agent")


HOST = Codex()


class Rollout(hosts.Transcript):
    """Codex writes one row for each answer of the model, compaction included; an agent has a record of its own."""

    def has_turn(self, turn: str) -> bool:
        """By its prompts alone: the other rows of a turn are there before a hook is asked about its first prompt, and a
        provider need not say what the model used."""
        for row in claude.rows_with(self.path, self.start, "UserMessage"):
            return bool(part(row, "payload").get("turn_id") == turn)
        return False

    def last_turn_end(self) -> float | None:
        """A turn that was aborted has a row of another type. One that only compacted, or that a hook has answered, has
        no last message."""
        turn = ""
        for row in claude.rows_with(self.path, self.near_end(), "task_complete", "AgentMessage"):
            payload = part(row, "payload")
            if payload.get("type") == "task_complete":
                turn = str(payload.get("turn_id")) if payload.get("last_agent_message") else ""
            elif turn and payload.get("turn_id") == turn and part(payload, "item").get("type") == "AgentMessage":
                return claude.moment_of(row)
        return None

    def usage(self) -> tuple[list[Usage], int]:
        return claude.usage_in(self.path, self.start, ("token_usage_record",), _usage_in)

    def refused_since(self, moment: str) -> list[Refusal]:
        refusals = []
        calls: dict[str, Json] = {}
        try:
            lines, _ = claude.whole_lines(self.path, self.start)
        except (OSError, ValueError):
            return []
        for line in lines:
            row = claude.object_in(line) if b'"function_call' in line else {}
            payload = part(row, "payload")
            call, output = str(payload.get("call_id")), str(payload.get("output"))
            if payload.get("type") == "function_call":
                calls[call] = payload
                continue
            allows = next((option for begins, option in REFUSED.items() if output.startswith(begins)), "")
            if allows and str(row.get("timestamp")) > moment:
                refused = calls.get(call, {})
                given = claude.object_in(str(refused.get("arguments")).encode("utf-8", "replace"))
                what = str(given.get("cmd") or "").partition("\n")[0]
                refusals.append(Refusal(str(refused.get("name") or "a call"), what, [allows]))
        return refusals


def _usage_in(row: Json, moment: str) -> list[Usage]:
    payload = part(row, "payload")
    if row.get("type") != "token_usage_record" or not payload:
        return []
    if not (isinstance(payload.get("response_id"), str) and isinstance(row.get("timestamp"), str)):
        raise hosts.OtherForm
    return [Usage(payload["response_id"], moment, claude.counts_of(part(payload, "usage"), ("total_tokens",)))]


def _lacks_for_fresh_agent(event: Event) -> str:
    """The newer tool hands the whole conversation on unless it is told not to, the older one where it is told to."""
    if event.tool_title == SPAWN_HIDDEN:
        return "" if event.arguments.get("fork_turns") == "none" else 'fork_turns "none"'
    return "fork_context false" if event.arguments.get("fork_context") is True else ""
