"""Hosts where nobody watches: how a round is started, what it left, and what can be seen to be missing before it."""

from __future__ import annotations

import json
import shlex
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from omo import hosts
from omo.hosts import claude, claude_setup, codex_setup, copilot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # A command, its input and its environment: what it prints.
    Ask = Callable[[Sequence[str], bytes, Mapping[str, str]], str]

Json = dict[str, Any]

TOO_MANY, SERVERS_FAULT = 429, 500  # of HTTP: come back later
NOWHERE = "http://127.0.0.1:9"  # where a model is asked that must not be
INSTALL = "install omo in it; the README says how"


@dataclass(frozen=True)
class Left:
    """What a round left beside the files: its conversation, a limit that ended it, and what it cost."""

    session: str = ""
    limit: str = ""
    error: str = ""
    tokens: int = 0


class Headless:
    """One host, as somebody's arguments start it. What is lacking is said with the line that mends it."""

    def __init__(
        self, host: hosts.Host, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask
    ) -> None:
        self.host = host
        self.root = root
        self.environ = environ
        self.arguments = list(arguments)
        self.ask = ask

    def command(self, session: str) -> list[str]:
        """A conversation of its own, that is told its prompt on stdin."""
        raise NotImplementedError

    def left(self, printed: str, session: str) -> Left:
        raise NotImplementedError

    def lacks_login(self) -> str:
        raise NotImplementedError

    def lacks_hooks(self) -> str:
        raise NotImplementedError

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        """For the agent to edit files, and to run these."""
        raise NotImplementedError


class ClaudeHeadless(Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "-p", "--output-format", "json", "--session-id", session, *self.arguments]

    def left(self, printed: str, session: str) -> Left:
        result = _last_object(printed)
        said = str(result.get("result") or "")
        error = said if result.get("is_error") else ""
        status = result.get("api_error_status")
        is_later = isinstance(status, int) and (status == TOO_MANY or status >= SERVERS_FAULT)
        return Left(session, said if is_later else claude.limit_notice(said.strip()), error, claude.sum_of(result))

    def lacks_login(self) -> str:
        told = _last_object(self.ask([self.host.program, "auth", "status"], b"", self.environ))
        return "log in: claude auth login, or set ANTHROPIC_API_KEY" if told.get("loggedIn") is False else ""

    def lacks_hooks(self) -> str:
        """A line that the hook answers; where no hook does, it is asked of a model that is not there."""
        environ = {**self.environ, "ANTHROPIC_BASE_URL": NOWHERE, "CLAUDE_CODE_MAX_RETRIES": "0"}
        for other in ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"):
            environ.pop(other, None)
        command = [*self.command(str(uuid.uuid4())), "--no-session-persistence"]
        told = str(_last_object(self.ask(command, b"/omo:status", environ)).get("result"))
        if "blocked by hook" in told and "omo" in told:
            return ""
        return f"the hooks of omo do not fire in Claude Code: {INSTALL}, or omo doctor says what is wrong"

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        mode, rules = self._permissions()
        if mode in ("bypassPermissions", "auto"):
            return ""
        missing = []
        if mode != "acceptEdits" and not any(rule.partition("(")[0] in ("Edit", "Write") for rule in rules):
            missing.append("--permission-mode acceptEdits")
        wanted = dict.fromkeys([f"Bash({command[0]} *)" for command in commands if not _allows(rules, command)])
        if wanted:
            missing.append(f"--allowedTools {' '.join(shlex.quote(rule) for rule in wanted)}")
        if not missing:
            return ""
        return f"Claude Code would refuse what the agent needs; end the command with: -- {' '.join(missing)}"

    def _permissions(self) -> tuple[str, list[str]]:
        """The mode and the rules that the arguments and the settings give."""
        mode, rules, option = "", [], ""
        for file in claude_setup.Setup(self.environ, self.root).files:
            given = file.values.get("permissions")
            if isinstance(given, dict):
                mode = str(given.get("defaultMode") or mode)
                rules += [rule for rule in given.get("allow") or [] if isinstance(rule, str)]
        for word in self.arguments:
            if word.startswith("-"):
                option, _, value = word.partition("=")
                word = value
                if option == "--dangerously-skip-permissions":
                    mode = "bypassPermissions"
            if word and option == "--permission-mode":
                mode = word
            elif word and option in ("--allowedTools", "--allowed-tools"):
                rules += [rule.strip() for rule in _split(word)]
        return mode, rules


class CodexHeadless(Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "exec", "--json", *self.arguments, "-"]

    def left(self, printed: str, session: str) -> Left:
        found, error, tokens = "", "", 0
        for line in printed.splitlines():
            row = claude.fields_of(line.encode()) or {}
            found = str(row.get("thread_id") or found)
            if row.get("type") in ("error", "turn.failed"):
                given = row.get("error")
                error = str(row.get("message") or (given.get("message") if isinstance(given, dict) else ""))
            usage = row.get("usage")
            if isinstance(usage, dict):
                tokens += sum(
                    value for value in map(usage.get, ("input_tokens", "output_tokens")) if isinstance(value, int)
                )
        return Left(found, error if "usage limit" in error else "", error, tokens)

    def lacks_login(self) -> str:
        place = codex_setup.directory(self.environ)
        if self.environ.get("OPENAI_API_KEY") or self.environ.get("CODEX_API_KEY") or place is None:
            return ""
        settings = place / "config.toml"
        own_provider = settings.is_file() and "model_provider" in settings.read_text("utf-8", "replace")
        return "" if own_provider or (place / "auth.json").is_file() else "log in: codex login"

    def lacks_hooks(self) -> str:
        if not codex_setup.has_plugin(self.environ):
            return f"omo is not in Codex: {INSTALL}"
        asked = codex_setup.question(self.root)
        given = {**self.environ, **codex_setup.variables(self.environ)}
        trust = codex_setup.trust_in(codex_setup.hooks_in(self.ask(codex_setup.ASK_FOR_HOOKS, asked, given)))
        if not trust or set(trust.values()) != {codex_setup.TRUSTED}:
            return f"Codex does not trust the hooks of omo: {codex_setup.TRUST}"
        return ""

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        place = codex_setup.directory(self.environ)
        settings = place / "config.toml" if place else None
        text = " ".join(self.arguments)
        if settings is not None and settings.is_file():
            text += settings.read_text("utf-8", "replace")
        can_write = ("workspace-write", "danger-full-access", "--full-auto", "--dangerously-bypass")
        if any(mark in text for mark in can_write):
            return ""
        return "Codex would refuse to write files; end the command with: -- --sandbox workspace-write"


class CopilotHeadless(Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "--output-format", "json", "--session-id", session, *self.arguments]

    def left(self, printed: str, session: str) -> Left:
        """What a round cost stands in the record alone."""
        error, limit = "", ""
        for data in _told(printed, "session.error"):
            error = str(data.get("message"))
            status = data.get("statusCode")
            is_later = isinstance(status, int) and (status == TOO_MANY or status >= SERVERS_FAULT)
            limit = error if is_later else ""
        try:
            entries, _ = copilot.Events(copilot.record_of(session, self.environ)).usage()
        except (OSError, hosts.OtherForm):
            entries = []
        return Left(session, limit, error, sum(sum(usage.counts) for usage in entries))

    def lacks_login(self) -> str:
        """It may be in a keyring, or another program's: only a round tells."""
        return ""

    def lacks_hooks(self) -> str:
        """A line that the hook answers; where no hook does, it is asked of a model that is not there."""
        nowhere = {"COPILOT_PROVIDER_BASE_URL": NOWHERE, "COPILOT_OFFLINE": "true", "COPILOT_MODEL": "none"}
        command = [*self.command(str(uuid.uuid4())), "--allow-all-tools"]
        for data in _told(self.ask(command, b"/omo:status", {**self.environ, **nowhere}), "session.warning"):
            if str(data.get("message")).startswith("omo"):
                return ""
        return f"the hooks of omo do not fire in Copilot CLI: {INSTALL}, or omo doctor says what is wrong"

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        given = " ".join(self.arguments)
        if self.environ.get("COPILOT_ALLOW_ALL") or any(option in given for option in ("--allow-all", "--yolo")):
            return ""
        missing = []
        for tool in ("write", *[f"shell({command[0]}:*)" for command in [*commands, ["omo"]]]):
            if tool not in given and tool not in missing:
                missing.append(tool)
        if not missing:
            return ""
        options = " ".join(f"--allow-tool {shlex.quote(tool)}" for tool in missing)
        return f"Copilot CLI would refuse what the agent needs; end the command with: -- {options}"


KINDS: dict[str, type[Headless]] = {"claude": ClaudeHeadless, "codex": CodexHeadless, "copilot": CopilotHeadless}


def headless(name: str, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask) -> Headless:
    return KINDS[name](hosts.named(name), root, environ, arguments, ask)


def _told(printed: str, kind: str) -> list[Json]:
    """What rows of a kind say, in what a host printed as lines of JSON."""
    found = []
    for line in printed.splitlines():
        row = claude.fields_of(line.encode()) or {}
        data = row.get("data")
        if row.get("type") == kind and isinstance(data, dict):
            found.append(data)
    return found


def _last_object(text: str) -> Json:
    """What a host printed as its result: one object, or the last of several lines."""
    for part in [text, *reversed(text.splitlines())]:
        try:
            found = json.loads(part)
        except ValueError:
            continue
        if isinstance(found, dict):
            return found
    return {}


def _split(word: str) -> list[str]:
    """Rules that one argument names, between commas or blanks outside of parentheses."""
    rules, depth = [""], 0
    for char in word:
        depth += (char == "(") - (char == ")")
        if depth == 0 and char in ", ":
            rules.append("")
        else:
            rules[-1] += char
    return [rule for rule in rules if rule]


def _allows(rules: list[str], command: Sequence[str]) -> bool:
    """Whether a rule is for this command: as it is, or by what it begins with (`make *`, and `make:*` as of old)."""
    text = shlex.join(command)
    for rule in rules:
        if rule == "Bash":
            return True
        name, _, pattern = rule.partition("(")
        begins, star, _ = pattern.removesuffix(")").partition("*")
        begins = begins.rstrip(" :")
        if name == "Bash" and (text == begins or (star and f"{text} ".startswith(f"{begins} ".lstrip()))):
            return True
    return False
