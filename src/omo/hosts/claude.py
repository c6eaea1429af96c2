"""Claude Code: the names of its fields, tools and variables, and how it wants to be answered."""

from __future__ import annotations

import os

from omo import hosts
from omo.clock import seconds
from omo.hosts import Event, Host, Refusal, ToolCall, Transcript, Usage
from omo.json_text import Json, dumps, loads, objects, part
from omo.safe_open import regular_file
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from omo.hosts import Answer, OtherLoop


BOM = b"\xef\xbb\xbf"
LONGEST_EVENT = 32 * 1024 * 1024
HALVES = (*range(0xD800, 0xDC80), *range(0xDD00, 0xE000))  # of a letter; between them are bytes that are no UTF-8
LONGEST_TAIL = 64 * 1024 * 1024  # of a transcript: a turn can write megabytes
KNOWN_BY = 40  # letters by which a message is found again
RALPH_LOOP = ".claude/ralph-loop.local.md"  # of the official plugin, and of its twin ralph-wiggum
LONGEST_FRONT_MATTER = 8 * 1024
LONGEST_NUMBERS = 20  # letters of both: tests/hooks/test_other_loops.py, test_a_state_file_that_holds_nothing_here
LONGEST_GOAL = 120
TOOLS = {
    "Bash": hosts.SHELL,
    "PowerShell": hosts.POWERSHELL,
    "AskUserQuestion": hosts.ASK,
    **dict.fromkeys(("Agent", "Task"), hosts.START_AGENT),
    **dict.fromkeys(("CronCreate", "ScheduleWakeup"), hosts.SCHEDULE),
    **dict.fromkeys(("Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"), hosts.WRITE),
    # Its to-do list, and the tool that hands out the others.
    **dict.fromkeys(("TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet"), hosts.TO_DO),
    "ToolSearch": hosts.TO_DO,
}
# The kinds of tokens, in the rows of a call and in the client's own sum.
USED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
SUMMED = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens", "outputTokens")
PERMISSIONS = {hosts.DENY: "deny", hosts.PERMIT: "allow"}
# A further one, such as to leave the sandbox, is the user's to allow: tests/hooks/test_own_calls.py,
# test_a_call_that_asks_for_more_than_to_be_run_is_left_to_the_host.
PLAIN_ARGUMENTS = frozenset(("command", "description", "timeout", "run_in_background"))
FINISHED = ("completed", "failed", "killed", "stopped", "cancelled", "done", "exited")
BACKGROUND_SHELLS = ("shell", "monitor")
TURN_IS_OVER = ("turn_duration", "stop_hook_summary")  # rows behind a turn that ended by itself
TASK_NOTICE = "<task-notification>"
API_ERRORS = ("Connection error", "Request timed out", "Overloaded", "Unable to connect")
LIMITS = ("You've hit your", "You've reached your", "Claude usage limit reached", "Claude AI usage limit reached")
# From here on a Stop that is given context goes on with it: told to the model once, and not painted as an error.
CONTINUES_ON_CONTEXT = (2, 1, 197)
# The host's own notice is one line; a report that quotes one is prose, as in tests/hooks/test_stop_rules.py,
# test_the_rule_that_decides.
LONGEST_NOTICE = 300
FINDS_PLUGIN = """\
plugins=${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}/plugins
for data in "$plugins"/data/omo-*; do
    [ -r "$data/root" ] && IFS= read -r root <"$data/root" || continue
    case $root in "$plugins"/cache/*) continue ;; esac
    case $data in *-inline) continue ;; esac
    printf '%s\\n' "$root"
done
sed -n '/"omo@/,$s/.*"installPath": *"\\(.*\\)".*/\\1/p' "$plugins/installed_plugins.json" 2>/dev/null | head -n 1
"""


class HookLanguage(Host):
    """What hosts share that send their events as Claude Code does."""

    def read(self, raw: bytes, environ: Mapping[str, str]) -> Event | None:
        fields = fields_of(raw)
        return None if fields is None else self.event(fields, raw, environ)

    def event(self, fields: Json, raw: bytes, environ: Mapping[str, str]) -> Event:
        return event_of(fields, raw, environ)

    def is_typed_at_work(self, event: Event) -> bool:
        return bool(event.turn) and event.transcript.has_turn(event.turn)


class ClaudeCode(HookLanguage):
    name = program = "claude"
    registration = "hooks/hooks.json"
    root_variable, data_variable = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"
    session_variable = "CLAUDE_CODE_SESSION_ID"
    project_variable = "CLAUDE_PROJECT_DIR"
    home_variable, home_name = "CLAUDE_CONFIG_DIR", ".claude"
    data_pattern = "plugins/data/omo-*"
    shell_file_variable = "CLAUDE_ENV_FILE"
    option_prefix = hosts.OPTION_PREFIXES[0]
    events = hosts.EVENTS
    watched_tools = tuple(name for name, kind in TOOLS.items() if kind != hosts.TO_DO)
    shell_tool, other_shell = "Bash", "PowerShell"
    only_for_omo: Mapping[str, str] = {"if": "Bash(omo *)"}

    def write(self, answer: Answer, event: Event, environ: Mapping[str, str]) -> bytes:
        reason, context, message = self.spell(answer.reason), self.spell(answer.context), self.spell(answer.message)
        output: Json = {"systemMessage": message} if message else {}
        if answer.decision == hosts.KEEP_GOING:
            if event.shows_messages and _version(environ) >= CONTINUES_ON_CONTEXT:
                return _with_specifics(output, event.name, {"additionalContext": reason})
            return to_json({**output, "decision": "block", "reason": reason})
        if answer.decision == hosts.END_PROMPT:
            block = {"decision": "block", "reason": reason}
            if event.shows_messages:  # the prompt too, unless that is suppressed
                return _with_specifics(block, "UserPromptSubmit", {"suppressOriginalPrompt": True})
            return to_json(block)
        if answer.decision in PERMISSIONS:
            permission = {"permissionDecision": PERMISSIONS[answer.decision], "permissionDecisionReason": reason}
            return _with_specifics(output, "PreToolUse", permission)
        if context and (event.name == "PreToolUse" or (message and event.shows_messages)):
            return _with_specifics(output, event.name, {"additionalContext": context})
        if context:
            return _bytes(context + "\n")
        if message:
            return to_json({**output, **_notification(answer, message, event, environ)})
        return _bytes(answer.line + "\n") if answer.line else b""

    def transcript(self, path: str, start: int = 0) -> Transcript:
        return ClaudeTranscript(path, start)

    def other_loop(self, event: Event) -> OtherLoop:
        if goal := event.transcript.active_goal():
            return {"name": "/goal", "about": clip(goal, LONGEST_GOAL), "ends": "/goal clear"}
        if _has_ralph_loop(event):
            return {"name": "ralph-loop", "about": RALPH_LOOP, "ends": "/cancel-ralph"}
        return {}

    def finds_plugin(self) -> str:
        """One that runs where it lies has noted that place; of any other the client notes where the newest is."""
        return FINDS_PLUGIN


HOST = ClaudeCode()


def fields_of(raw: bytes) -> Json | None:
    """What an event says, None if it is not one."""
    try:
        text = raw[:LONGEST_EVENT].removeprefix(BOM).decode("utf-8", "surrogateescape")
        fields = loads(text)
        if "\\ud" in text or "\\uD" in text:
            # Half a letter is in no name of a file, and hosts write this one for it. As it came, asking where a path
            # leads failed, and the call was let through (tests/hooks/test_tool_gates.py: half_a_letter_in_a_path).
            fields = loads(dumps(fields).translate(dict.fromkeys(HALVES, "\ufffd")))
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


# Texts of an event: what the host calls each, and what we do.
TEXTS = {
    "prompt_id": "turn",
    "prompt": "prompt",
    "source": "start_source",
    "agent_id": "agent_id",
    "agent_type": "agent_type",
    "last_assistant_message": "last_message",
}


def event_of(fields: Json, raw: bytes = b"", environ: Mapping[str, str] | None = None) -> Event:
    event = Event(text_of(fields, "session_id"))
    event.host = HOST
    event.name = text_of(fields, "hook_event_name")
    event.client = (environ or {}).get("CLAUDE_PID", "")
    event.directory = text_of(fields, "cwd")
    # A status line is told where the session was started, and its `cwd` goes along with every cd.
    event.project = text_of(part(fields, "workspace"), "project_dir") or event.directory
    for key, name in TEXTS.items():
        value = fields.get(key)
        if isinstance(value, str):
            setattr(event, name, value)
    event.is_machine_prompt = event.start_source not in ("", "user", "sdk")  # most versions do not say who wrote it
    event.is_subagent = bool(fields.get("agent_id"))
    cost = part(fields, "cost").get("total_cost_usd")
    event.cost = cost if isinstance(cost, float | int) else None
    event.in_plan_mode = text_of(fields, "permission_mode") == "plan"
    event.continues_a_block = fields.get("stop_hook_active") is True
    event.limit_notice = limit_notice(event.last_message.strip())
    for task in objects(fields.get("background_tasks")):
        if task.get("status") in FINISHED:
            continue
        if task.get("type") in BACKGROUND_SHELLS:
            event.running_shells += 1
        else:
            event.running_agents += 1
    event.has_wakeup = any(cron.get("recurring") is False for cron in objects(fields.get("session_crons")))
    if "tool_name" in fields:
        _read_tool(event, text_of(fields, "tool_name"), part(fields, "tool_input"))
    event.raw = raw
    event.transcript = HOST.transcript(text_of(fields, "transcript_path"))
    event.shows_messages = bool(environ and environ.get("CLAUDECODE"))
    event.can_permit = event.tool_title == "Bash" and PLAIN_ARGUMENTS.issuperset(event.arguments)
    return event


def _read_tool(event: Event, name: str, arguments: Json) -> None:
    event.tool = TOOLS.get(name, hosts.OTHER)
    event.tool_title = name
    event.arguments = arguments
    event.command = _command(arguments)
    if event.tool == hosts.WRITE:
        event.written_paths = _written_paths(name, arguments)
    if event.tool in (hosts.START_AGENT, hosts.SCHEDULE):
        event.started_agent = text_of(arguments, "subagent_type")
        event.agent_prompt = text_of(arguments, "prompt")
    event.question = asked_in(arguments, "question")


def asked_in(arguments: Json, key: str) -> str:
    """The texts of all questions that a call asks, each of which has its own under this key."""
    questions = []
    for question in objects(arguments.get("questions")):
        if isinstance(question.get(key), str):
            questions.append(question[key])
    return " ".join(questions)


def text_of(fields: Json, key: str) -> str:
    """Empty where it is missing or no text."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _command(arguments: Json) -> str:
    command = arguments.get("command")
    if isinstance(command, list):  # words
        from shlex import join

        return join(word for word in command if isinstance(word, str))
    return text_of(arguments, "command")


def _written_paths(name: str, arguments: Json) -> list[str]:
    paths = [text_of(arguments, key) for key in ("file_path", "notebook_path", "path")]
    paths = list(filter(None, paths))
    patch = arguments.get("command") or arguments.get("input")
    if isinstance(patch, list):
        patch = "\n".join(word for word in patch if isinstance(word, str))
    if name == "apply_patch" and isinstance(patch, str):
        paths += hosts.patched_files(patch)
    return paths


def limit_notice(text: str) -> str:
    """The host's own words in the host's own form: an error with its status, a limit with its reset."""
    if len(text) > LONGEST_NOTICE or "\n" in text:
        return ""
    if text.startswith("API Error: "):
        error = text.removeprefix("API Error: ")
        return text if error[:3].isdigit() or error.startswith(API_ERRORS) else ""
    # "You've reached your goal: the counter resets at midnight" is no notice: tests/hooks/test_stop_rules.py.
    names_an_end = " resets " in text or "|" in text or text.endswith("limit reached")
    return text if text.startswith(LIMITS) and "limit" in text and names_an_end else ""


def rules_for(tool: str, command: str) -> list[str]:
    """The permission rules that would allow a call, no wider than needed: of a shell's command each program."""
    kind = TOOLS.get(tool, hosts.OTHER)
    if kind == hosts.WRITE:
        return ["Edit"]  # which is all tools that write files
    if kind != hosts.SHELL:
        return [tool]
    from omo import shell

    programs = [shell.name(words) for words in shell.commands(command)]
    return list(dict.fromkeys([f"{tool}({program} *)" for program in programs if program])) or [tool]


class ClaudeTranscript(Transcript):
    """Lines of JSON in a form that is not documented. What is odd in it is passed over, except in a count of tokens."""

    def queued_prompts(self) -> int:
        """A slash command typed while the model works reaches no hook before the turn ends; only this notes it."""
        queue: list[str] = []
        for row in reversed(list(self._rows("queue-operation"))):
            if row.get("type") != "queue-operation":
                continue
            if row.get("operation") == "enqueue":
                queue.append(str(row.get("content")))
            elif row.get("operation") == "popAll":
                queue = []
            else:
                queue = queue[1:]
        # The host's own notice of a task that ended is queued too: tests/hooks/test_transcript.py.
        return len([content for content in queue if not content.startswith(TASK_NOTICE)])

    def has_turn(self, turn: str) -> bool:
        return any(row.get("promptId") == turn for row in self._rows(turn))

    def refused_since(self, moment: str) -> list[Refusal]:
        refusals: list[Refusal] = []
        for row in self._rows("toolDenialKind"):
            if str(row.get("timestamp")) <= moment:
                break
            # A hook or the user refused it: tests/hooks/test_refused.py,
            # test_what_the_permissions_refuse_counts_and_nobody_elses_no.
            if part(row, "permissionDecision").get("source") != "config":
                continue
            is_denied = row.get("toolDenialKind") == "permission-rule"
            for block in objects(part(row, "message").get("content")):
                refusals += self._refused(str(block.get("tool_use_id")), is_denied=is_denied)
        return refusals[::-1]

    def _refused(self, call: str, *, is_denied: bool) -> list[Refusal]:
        for row in self._rows(call):
            for block in objects(part(row, "message").get("content")):
                if block.get("id") == call:
                    name, given = str(block.get("name")), part(block, "input")
                    what = _command(given) or "".join(_written_paths(name, given)[:1])
                    return [Refusal(name, what, rules_for(name, what), is_denied=is_denied)]
        return []

    def active_goal(self) -> str:
        """As the client itself finds it after a resume: the last row of its goal says how that stands."""
        for row in self._rows("goal_status"):
            status = part(row, "attachment")
            if row.get("type") == "attachment" and status.get("type") == "goal_status":
                is_over = bool(status.get("met") or status.get("failed"))
                return "" if is_over else str(status.get("condition") or "")
        return ""

    def has_said(self, message: str) -> bool:
        """Looks at the last two answers: one call of the model is several rows."""
        for count, row in enumerate(self._said()):
            if count == 2:
                break
            for block in objects(part(row, "message").get("content")):
                if message[:KNOWN_BY] in str(block.get("text")):
                    return True
        return False

    def answers(self) -> Iterator[tuple[str, list[ToolCall]]]:
        for row in self._said():
            yield row["timestamp"], _calls_in(row)

    def last_turn_end(self) -> float | None:
        """The client writes one of TURN_IS_OVER once all Stop hooks have ended or timed out, in its terminal also where
        there are none; it writes neither after an Esc."""
        is_over = False
        for row in rows_with(self.path, self.near_end(), *TURN_IS_OVER, "assistant", "user"):
            if row.get("isSidechain"):
                continue
            if row.get("type") == "system" and row.get("subtype") in TURN_IS_OVER:
                is_over = True
            elif row.get("type") == "assistant":
                if is_over and _ends_turn(row):
                    return moment_of(row)
                is_over = False
            elif row.get("type") == "user":
                is_over = False
        return None

    def _said(self) -> Iterator[Json]:
        """What the model said, newest first."""
        for row in self._rows("assistant"):
            if row.get("type") == "assistant" and isinstance(row.get("timestamp"), str):
                yield row

    def usage(self) -> tuple[list[Usage], int]:
        """One call is several rows. What a compaction costs is in none of them: its boundary tells how much was read
        for it, and the sum that the client writes when a turn or the session ends tells it exactly."""
        return usage_in(self.path, self.start, ("assistant", "compact_boundary", "cost-state"), _usage_in)

    def of_agents(self) -> list[str]:
        paths = []
        for directory, _, files in os.walk(os.path.join(self.path.removesuffix(".jsonl"), "subagents")):
            paths += [os.path.join(directory, name) for name in files if name.endswith(".jsonl")]
        return sorted(paths)

    def _rows(self, value: str) -> Iterator[Json]:
        return rows_with(self.path, self.start, value)


def _ends_turn(row: Json) -> bool:
    """Return whether this answer is the model's own last word, not an error that the client puts there."""
    message = part(row, "message")
    is_of_model = not row.get("isApiErrorMessage") and message.get("model") != "<synthetic>"
    return is_of_model and message.get("stop_reason") == "end_turn"


def moment_of(row: Json) -> float | None:
    """Return a row's time in seconds; None where it has none."""
    try:
        return seconds(str(row.get("timestamp")))
    except ValueError:
        return None


def rows_with(path: str, start: int, *values: str) -> Iterator[Json]:
    """The rows of a record in which something has one of these values, newest first, back to the byte `start`. No other
    line is parsed: they can be megabytes."""
    if not path:
        return
    marks = [dumps(value).encode("utf-8", "replace") for value in values]
    try:
        with open(path, "rb", opener=regular_file) as file:
            size = file.seek(0, 2)
            start = start if start <= size else 0
            file.seek(max(start, size - LONGEST_TAIL))
            text = file.read()
    except (OSError, ValueError):
        return
    places = [text.rfind(mark) for mark in marks]
    while (found := max(places)) >= 0:
        start = text.rfind(b"\n", 0, found) + 1
        end = text.find(b"\n", found)
        yield object_in(text[start:end] if end >= 0 else text[start:])
        for number, mark in enumerate(marks):
            if places[number] >= start:
                places[number] = text.rfind(mark, 0, start)


def whole_lines(path: str, start: int) -> tuple[list[bytes], int]:
    """The lines of a record after this byte, without one that is still being written, and where they end."""
    with open(path, "rb", opener=regular_file) as file:
        if file.seek(0, 2) < start:
            raise OSError(0, "it was cut", path)
        file.seek(start)
        text, _, _ = file.read().rpartition(b"\n")
    return text.split(b"\n"), start + len(text) + 1 if text else start


def usage_in(
    path: str, start: int, values: tuple[str, ...], read: Callable[[Json, str], list[Usage]]
) -> tuple[list[Usage], int]:
    """What `Transcript.usage` answers, by `read` of each row in which something has one of these values. A row that
    has no moment of its own is of that of the row before."""
    entries: list[Usage] = []
    moment = ""
    marks = [dumps(value).encode() for value in values]
    lines, end = whole_lines(path, start)
    for line in lines:
        if any(mark in line for mark in marks):
            row = object_in(line)
            moment = str(row.get("timestamp") or moment)
            entries += read(row, moment)
    return entries, end


def _usage_in(row: Json, moment: str) -> list[Usage]:
    if row.get("subtype") == "compact_boundary":
        read = part(row, "compactMetadata").get("preTokens")
        return [Usage("", moment, counts_of({"read": read}, ("read",)))]
    if row.get("type") == "cost-state":
        return [Usage("", moment, _summed(row), is_sum=True)]
    if row.get("type") != "assistant":
        return []
    message = part(row, "message")
    if not isinstance(message.get("id"), str) or not moment:
        raise hosts.OtherForm
    return [Usage(f"{message['id']} {row.get('requestId')}", moment, counts_of(part(message, "usage"), USED))]


def _summed(row: Json) -> tuple[int, ...]:
    """By kind, over the models that were used."""
    total = [0] * len(SUMMED)
    models = part(row, "modelUsage")
    for model in models:
        total = [sum(pair) for pair in zip(total, counts_of(part(models, model), SUMMED), strict=True)]
    return tuple(total)


def sum_of(row: Json) -> int:
    """All tokens that a result of the client's names; 0 where it says that in another form."""
    try:
        return sum(_summed(row))
    except hosts.OtherForm:
        return 0


def counts_of(usage: Json, kinds: tuple[str, ...]) -> tuple[int, ...]:
    counts = []
    for kind in kinds:
        count = usage.get(kind)
        if not isinstance(count, int) or count < 0:
            raise hosts.OtherForm
        counts.append(count)
    return tuple(counts)


def _has_ralph_loop(event: Event) -> bool:
    """Whether its state file is there, is not another session's, and is not one that its own hook would end or discard.

    A file that names no session is taken for this one's, as its hook takes it.
    """
    try:
        with open(os.path.join(event.directory, RALPH_LOOP), "rb", opener=regular_file) as file:
            lines = file.read(LONGEST_FRONT_MATTER).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return False
    fields = {}
    for line in lines[1:]:
        if line == "---":
            break
        name, _, value = line.partition(":")
        fields[name] = value.strip().strip('"')
    iteration, most = fields.get("iteration", ""), fields.get("max_iterations", "")
    if not (iteration.isdecimal() and most.isdecimal()) or len(iteration + most) > LONGEST_NUMBERS:
        return False
    if fields.get("session_id", "") not in ("", event.session):
        return False
    return int(most) == 0 or int(iteration) < int(most)


def _calls_in(row: Json) -> list[ToolCall]:
    calls = []
    for block in objects(part(row, "message").get("content")):
        if block.get("type") == "tool_use":
            command = str(part(block, "input").get("command") or "")
            calls.append(ToolCall(TOOLS.get(str(block.get("name")), hosts.OTHER), command))
    return calls


def object_in(line: bytes) -> Json:
    try:
        row = loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return {}
    return row if isinstance(row, dict) else {}


def _notification(answer: Answer, message: str, event: Event, environ: Mapping[str, str]) -> Json:
    """Claude Code passes on a terminal's titles, notifications and bell, nothing else."""
    if not answer.alert or not event.shows_messages:
        return {}
    from omo.hosts import terminal

    return {"terminalSequence": terminal.notification(message, environ)}


def _version(environ: Mapping[str, str]) -> tuple[int, ...]:
    """Of `claude-code_2-1-325_harness`; nothing where the client does not name it, which is below any."""
    name, _, rest = environ.get("AI_AGENT", "").partition("_")
    numbers = rest.partition("_")[0].split("-")
    if name != "claude-code" or not all(number.isdecimal() for number in numbers):
        return ()
    return tuple(int(number) for number in numbers)


def _with_specifics(output: Json, event: str, specifics: Json) -> bytes:
    return to_json({**output, "hookSpecificOutput": {"hookEventName": event, **specifics}})


def to_json(value: Json) -> bytes:
    return _bytes(dumps(value) + "\n")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
