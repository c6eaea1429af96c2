"""What omo knows of the program it runs in, in words that hold for any: events in, answers out, who is typing.

Only the modules in this package know a host's own names. To add a host NAME: NAME.py with a `HOST`, NAME_setup.py with
a `Setup`, NAME_headless.py with a `Headless`, a row in `AGENT_VARIABLES`, and a registration, which docs/make_hooks.py
writes.

Inside omo, and in all that it keeps, a command that the user types is written /omo:NAME. A host that spells it
otherwise translates at its edge: what was typed in `read`, what is shown in `spell`.
"""

from __future__ import annotations

import os

from omo.digest import sha256
from omo.json_text import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypedDict

    class OtherLoop(TypedDict, total=False):
        """What else sends a session back: its name, what it is about, and what the user types to end it."""

        name: str
        about: str
        ends: str


# What each host sets in the shells it starts for an agent. All of them, because an agent can unset some. Every prompt
# asks for this, so no host's module is loaded for it.
AGENT_VARIABLES = {
    "claude": (
        *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_PID"),
        *("CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_SESSION_ATTENDED"),
    ),
    "codex": ("CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI"),
    "copilot": ("COPILOT_AGENT_SESSION_ID", "COPILOT_CLI"),
}
NAMES = tuple(AGENT_VARIABLES)
# Those of them that a host sets for its hooks too: in a hook they do not say that an agent started the host.
OF_HOOKS_TOO = {"claude": AGENT_VARIABLES["claude"], "copilot": ("COPILOT_CLI",)}
# What hosts without a module here set: of them it is enough to know that no person types in their shells.
OF_OTHER_AGENTS = ("AI_AGENT", "GEMINI_CLI")
# How the variables begin that hosts set, or read, for themselves.
OWN_PREFIXES = ("CLAUDE", "ANTHROPIC_", "CODEX_", "OPENAI_", "COPILOT_", *OF_OTHER_AGENTS)
# How the variables begin in which a host gives hooks the plugin's options. Every hook asks for this.
OPTION_PREFIXES = ("CLAUDE_PLUGIN_OPTION_",)

OUTER = "OMO_OUTER_SESSION"  # in a host's shells: the sessions in whose shells that host was started
PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")

QUEUE_LAG = 0.2  # seconds until a host's note of a queued prompt is surely in its record
QUEUE_LOOKS = 4
TURN_END = 4 * 1024 * 1024  # bytes of a record behind the end of its last turn, with all that a new one begins with
TRANSCRIPT_LAG = 64 * 1024  # bytes of a record that are read again: its last line may have been half written

# The names that most hosts have for what happens, and ours.
EVENTS = {
    "SessionStart": "session-start",
    "UserPromptSubmit": "user-prompt-submit",
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "Stop": "stop",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
}
# What a tool call does.
SHELL, POWERSHELL, WRITE, ASK, TO_DO, OTHER = "shell", "powershell", "write", "ask", "to-do", "other"
COMPLETE = "complete"  # calls the goal of the host's own done
START_AGENT = "start-agent"
SCHEDULE = "schedule"  # has a timer type a prompt
# What a hook decides: let it happen, send the agent back to work, end a prompt without the model, refuse a tool call,
# or have nobody asked about it.
ALLOW, KEEP_GOING, END_PROMPT, DENY, PERMIT = "allow", "keep-going", "end-prompt", "deny", "permit"


class ToolCall:
    """One tool call of the model: what it does, and for a shell the command."""

    def __init__(self, kind: str, command: str = "") -> None:
        self.kind = kind
        self.command = command


class Refusal:
    """A tool call that the host did not allow: the tool, what it was to do, and the permissions that would allow it.

    `is_denied`: a rule of the user's forbids it, whatever else allows it.
    """

    def __init__(self, tool: str, what: str, rules: list[str], *, is_denied: bool = False) -> None:
        self.tool = tool
        self.what = what
        self.rules = rules
        self.is_denied = is_denied


class Usage:
    """One entry of a host's record about tokens: its `counts`, one for each kind of token, and when it was written.

    Entries with the same `key` are of one call of the model, and the largest count of each kind is right. An entry
    without a key is added. One that `is_sum` has all that the host counted since the record began.
    """

    def __init__(self, key: str, at: str, counts: tuple[int, ...], *, is_sum: bool = False) -> None:
        self.key = key
        self.at = at
        self.counts = counts
        self.is_sum = is_sum


class OtherForm(Exception):
    """The host's record is not in the form that its module knows."""


class Transcript:
    """The host's own record of a session. Each host's module has a subclass that reads it; this one knows nothing."""

    def __init__(self, path: str = "", start: int = 0) -> None:
        self.path = path
        self.start = start  # what is before this byte was looked at already

    def size(self) -> int:
        """In bytes; 0 where there is none."""
        try:
            return os.path.getsize(self.path) if self.path else 0
        except (OSError, ValueError):  # no path at all
            return 0

    def near_end(self) -> int:
        """Return the byte from which the end of the last turn is looked for."""
        return max(self.start, self.size() - TURN_END)

    def usage(self) -> tuple[list[Usage], int]:
        """The entries about tokens after `start`, oldest first, and where the last whole line ends.

        Raises OSError where there is no record or it was cut, OtherForm where nobody can tell what it says.
        """
        raise OtherForm

    def of_agents(self) -> list[str]:
        """The records of the session's agents that lie beside this one."""
        return []

    def queued_prompts(self) -> int:
        """How many prompts of the user's wait for the turn to end."""
        return 0

    def stays_queued(self, wait: Callable[[float], None]) -> bool:
        """Whether a prompt still waits once the host has surely noted those that it handed over meanwhile."""
        for _ in range(QUEUE_LOOKS):
            if not self.queued_prompts():
                return False
            wait(QUEUE_LAG / QUEUE_LOOKS)
        return True

    def has_turn(self, turn: str) -> bool:
        """Whether the model was handed this turn's prompt already."""
        return False

    def typed_since(self, moment: str) -> list[tuple[str, str]]:
        """The moments and texts of what the user typed while the agent worked and no hook was told, oldest first."""
        return []

    def answers(self) -> Iterator[tuple[str, list[ToolCall]]] | None:
        """When the model said anything, and what it called with it, newest first; None where that is not known."""
        return None

    def last_turn_end(self) -> float | None:
        """Return when the model spoke the last word of the newest turn that ended by itself, in seconds.

        None where that is not known. A turn that the user interrupted, or in which the client was killed, did not end
        by itself, nor did one that an error ended; an agent's turn is none of the session's.
        """
        return None

    def last_word_at(self) -> str:
        """When the model last said anything; empty where that is not known."""
        for moment, _ in self.answers() or ():
            return moment
        return ""

    def is_silent_since(self, moment: str) -> bool:
        """Whether there is a record, and the model has not said a word in it since."""
        return self.answers() is not None and os.path.isfile(self.path) and self.last_word_at() <= moment

    def calls_since(self, moment: str) -> list[ToolCall] | None:
        """What the model has called since; None where that is not known."""
        calls: list[ToolCall] = []
        is_known = self.start > 0  # a Stop has read what was before
        answers = self.answers()
        for written, called in answers or ():
            is_known = True
            if written <= moment:
                break
            calls += called
        return calls if answers is not None and is_known else None

    def refused_since(self, moment: str) -> list[Refusal]:
        """What the host's permissions did not let the model do since, without what the user refused when asked."""
        return []

    def active_goal(self) -> str:
        """What the host's own goal asks for, if it has one that is neither met nor given up; else empty."""
        return ""

    def has_said(self, message: str) -> bool:
        """Whether this last message of the model is in the record yet. Some hosts write it only after their Stop."""
        return True


class Event:
    """One thing that happened in a session. A host sets what it tells, each of the type that is declared here."""

    def __init__(self, session: str = "") -> None:
        self.session = session
        self.host = Host()
        self.name = ""  # as the host calls it
        self.client = ""  # names the host's process, in which one session may follow another
        self.directory = ""  # where the session is now
        self.project = ""  # where the session was started, else `directory`
        self.turn = ""  # the turn it belongs to; a prompt typed while the agent works belongs to the running one
        self.prompt = ""
        self.is_machine_prompt = False
        self.start_source = ""  # resume, compact, or what else the host says
        self.agent_id = ""
        self.agent_type = ""
        self.agent_record = ""  # the transcript of an agent that starts, where the host tells
        self.cost: float | None = None  # of the session in dollars, where the host itself gives a figure
        self.is_subagent = False
        self.in_plan_mode = False
        self.continues_a_block = False  # for the rest of a turn that any Stop hook, not only ours, has blocked
        self.last_message = ""
        self.limit_notice = ""  # what the host itself said of a usage limit or a failed request
        self.running_agents = 0
        self.running_shells = 0
        self.has_wakeup = False  # the session will be continued once, by a timer
        self.tool = OTHER
        self.tool_title = ""  # as the host calls it
        self.command = ""
        self.written_paths: list[str] = []
        self.question = ""
        self.started_agent = ""  # the type of the agent that a call wants to start
        self.agent_prompt = ""  # all that it is told, or what a timer is to type
        self.hides_agent_prompt = False  # that is encrypted, for the agent alone
        self.lacks_for_fresh_agent = ""  # the argument without which that agent begins with this whole conversation
        self.arguments: dict[str, Any] = {}  # of the tool, as they came, so that an identical call is known again
        self.raw = b""
        self.transcript = Transcript()
        self.shows_messages = False  # the user can be told a line beside what the model is told
        self.can_permit = False  # a hook may permit this call, as it asks for no more than to be run

    @property
    def fingerprint(self) -> str:
        """The same for the same event delivered twice, as to a hook that is registered twice."""
        return sha256(self.raw)[:16]

    @property
    def is_typed_at_work(self) -> bool:
        """Whether this prompt joins a running turn: the host hands it to the model, or back to the user if refused."""
        return self.host.is_typed_at_work(self)

    @property
    def call_digest(self) -> str:
        """The same for an identical tool call."""
        return sha256((self.tool_title + dumps(self.arguments)).encode("utf-8", "backslashreplace"))[:16]


class Answer:
    """What a hook wants: a decision and its reason, `context` for the model, a message to the user, a status `line`.

    With `alert` the terminal notifies the user of the message. An empty answer lets things happen.
    """

    def __init__(
        self,
        decision: str = ALLOW,
        reason: str = "",
        *,
        context: str = "",
        message: str = "",
        alert: bool = False,
        line: str = "",
    ) -> None:
        self.decision = decision
        self.reason = reason
        self.context = context
        self.message = message
        self.alert = alert
        self.line = line


class Host:
    """What differs from host to host."""

    name = ""
    program = ""  # what the user starts a conversation with
    registration = ""  # the file in which our hooks are registered
    root_variable = data_variable = ""  # tell a hook the plugin's directory, and the one for its data
    session_variable = ""  # tells an agent's shell its session
    project_variable = ""
    home_variable = home_name = ""  # names the host's own directory; what that is called in the user's home by default
    data_pattern = ""  # a glob below it: where a plugin of our name keeps its data
    shell_file_variable = ""  # names a file that its agents' shells read first, and that a session's start writes to
    option_prefix = ""  # how the variables begin in which it gives hooks the plugin's options
    events: Mapping[str, str] = {}  # its own name for each event that a hook is registered for, and ours
    watched_tools: tuple[str, ...] = ()  # whose calls a hook is told of
    shell_tool = ""  # its name for a shell
    other_shell = ""  # a second tool that is a shell, of another kind
    sends_back_by_prompt = False  # what a Stop hook says to send the agent back comes to the prompt hook, as if typed
    rewrites_commands = False  # its agents' shells do not find omo, so a command that calls it is written anew
    only_for_omo: Mapping[str, str] = {}  # how a registration says that a hook is only for commands that call omo
    hook_titles: Mapping[str, str] = {}  # by event, for a host that lists hooks by a title of their own

    def read(self, raw: bytes, environ: Mapping[str, str]) -> Event | None:
        """The event on stdin, None if it is not one."""
        raise NotImplementedError

    def write(self, answer: Answer, event: Event, environ: Mapping[str, str]) -> bytes:
        """The answer as the host reads it on stdout; empty where there is nothing to say."""
        raise NotImplementedError

    def is_typed_at_work(self, event: Event) -> bool:
        """Whether a prompt joins a running turn. To answer it there may end the turn, so no host leaves this open."""
        raise NotImplementedError

    def transcript(self, path: str, start: int = 0) -> Transcript:
        return Transcript(path, start)

    def other_loop(self, event: Event) -> OtherLoop:
        """A loop of the host's own, or of another plugin, that holds this session at a Stop; empty without one."""
        return {}

    def directory(self, environ: Mapping[str, str]) -> str:
        """Where it keeps its settings and records; empty where neither its own variable nor HOME is set."""
        home = environ.get("HOME")
        return environ.get(self.home_variable) or (os.path.join(home, self.home_name) if home else "")

    def finds_plugin(self) -> str:
        """A shell text that prints where the plugin is, the newest first: a session's start notes it in its data."""
        return f'for data in {self.data_directories()}; do\n    [ -r "$data/root" ] && cat "$data/root"\ndone\n'

    def data_directories(self) -> str:
        """A shell pattern: where it lets a plugin of our name keep what it builds."""
        return f'"${{{self.home_variable}:-${{HOME-}}/{self.home_name}}}"/{self.data_pattern}'

    def conversation(self, prompt: str) -> list[str]:
        """The command that begins one in a terminal, with this as what the user says first."""
        return [self.program, self.spell(prompt)]

    def lacks_agents(self, plugin: str, environ: Mapping[str, str]) -> str:
        """Why the plugin's agents cannot be sent, and what mends it; empty where they can."""
        return ""

    def spell(self, text: str) -> str:
        """A text of ours in this host's names: for commands that the user types, and the tool that starts agents."""
        return text


def patched_files(patch: str) -> list[str]:
    """The files that an apply_patch changes."""
    files = []
    for line in patch.splitlines():
        for mark in PATCHED:
            if line.startswith(mark):
                files.append(line[len(mark) :].strip())
    return files


def named(name: str) -> Host:
    """The host that a registration names; the first where it names none of ours."""
    if name not in NAMES:
        name = NAMES[0]
    host: Host = __import__(f"omo.hosts.{name}", fromlist=["HOST"]).HOST
    return host


def every(first: str = "") -> list[Host]:
    """All hosts in the order of NAMES, except that the one called `first` comes first."""
    names = list(NAMES)
    if first in names:
        names.remove(first)
        names.insert(0, first)
    return [named(name) for name in names]


def around(environ: Mapping[str, str]) -> Host:
    """The host in whose shell this runs; the first of ours where none is known.

    A host that was started in another's shell inherits the other's variables. The innermost counts: OUTER has the
    sessions of those around it.
    """
    outer = environ.get(OUTER, "").split()
    for host in reversed(every()):
        session = environ.get(host.session_variable)
        if session and session not in outer:
            return host
    return named(NAMES[0])


def is_in_an_agents_shell(host: Host, environ: Mapping[str, str]) -> bool:
    """Whether the client that runs this hook was started by an agent, so that no person types into it."""
    if environ.get(OUTER):
        return True
    expected = OF_HOOKS_TOO.get(host.name, ())
    for names in AGENT_VARIABLES.values():
        for name in names:
            if environ.get(name) and name not in expected:
                return True
    return False


def with_omo(event: Event, environ: Mapping[str, str], **more: str) -> str:
    """The command of a shell call that calls omo, written anew so that it finds it; empty for any other command.

    It gets omo at the end of the PATH, where its environment is, and the project: the hook knows where the session is,
    the command may run elsewhere.
    """
    from omo import shell

    command = event.command
    if not any(shell.name(shell.program(words)) == "omo" for words in shell.commands(command)):
        return ""
    from shlex import quote

    host = event.host
    outer = [environ[name] for name in session_variables() if environ.get(name)]
    variables = {"OMO_PROJECT_DIR": environ.get("OMO_PROJECT_DIR") or event.project or os.getcwd()}
    variables |= {OUTER: " ".join(outer), **more}
    if home := environ.get("OMO_ENV_HOME"):
        variables["OMO_ENV_HOME"] = home
    values = " ".join(f"{name}={quote(value)}" for name, value in variables.items())
    programs = quote(f"{environ.get(host.root_variable, '')}/bin")
    first_line = command.strip().partition("\n")[0]  # all of a command that the client shows to the user
    return f'# {first_line}\nexport PATH="$PATH":{programs} {values}\n{command}'


def agent_variables() -> tuple[str, ...]:
    """All variables that no person's shell has."""
    variables = list(OF_OTHER_AGENTS)
    for names in AGENT_VARIABLES.values():
        variables += names
    return tuple(variables)


def session_variables() -> list[str]:
    return [host.session_variable for host in every()]


def session_of(environ: Mapping[str, str]) -> str:
    """The session in whose shell this runs, where its host says so."""
    return environ.get(around(environ).session_variable, "")


def project_of(environ: Mapping[str, str]) -> str:
    """Where the session was started, where its host says so."""
    for name in NAMES:  # hooks ask this, so a host is only imported if those before it do not tell
        if directory := environ.get(named(name).project_variable):
            return directory
    return ""
