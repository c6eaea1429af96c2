"""Claude Code where nobody watches."""

from __future__ import annotations

import json
import shlex
import uuid
from typing import TYPE_CHECKING

from omo.hosts import claude, claude_setup, headless
from omo.hosts.headless import NOWHERE, RoundEnd, is_later
from omo.json_text import Json

if TYPE_CHECKING:
    from collections.abc import Sequence


class Headless(headless.Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "-p", "--output-format", "json", "--session-id", session, *self.arguments]

    def round_end(self, printed: str, session: str) -> RoundEnd:
        result = _last_object(printed)
        said = str(result.get("result") or "")
        error = said if result.get("is_error") else ""
        limit = said if is_later(result.get("api_error_status")) else claude.limit_notice(said.strip())
        return RoundEnd(session, limit, error, claude.sum_of(result))

    def lacks_login(self) -> str:
        told = _last_object(self.ask([self.host.program, "auth", "status"], b"", self.environ))
        return "log in: claude auth login, or set ANTHROPIC_API_KEY" if told.get("loggedIn") is False else ""

    def is_answered(self) -> bool:
        environ = {**self.environ, "ANTHROPIC_BASE_URL": NOWHERE, "CLAUDE_CODE_MAX_RETRIES": "0"}
        for other in ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"):
            environ.pop(other, None)
        command = [*self.command(str(uuid.uuid4())), "--no-session-persistence"]
        told = str(_last_object(self.ask(command, b"/omo:status", environ)).get("result"))
        return "blocked by hook" in told and "omo" in told

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
        mode = ""
        rules: list[str] = []
        for file in claude_setup.Setup(self.environ, self.root).files:
            given = file.values.get("permissions")
            if isinstance(given, dict):
                mode = str(given.get("defaultMode") or mode)
                rules += [rule for rule in given.get("allow") or [] if isinstance(rule, str)]
        for option, value in self.options():
            if option == "--dangerously-skip-permissions":
                mode = "bypassPermissions"
            elif value and option == "--permission-mode":
                mode = value
            elif value and option in ("--allowedTools", "--allowed-tools"):
                rules += [rule.strip() for rule in _split(value)]
        return mode, rules


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
    """The rules in one argument, which stand between commas or blanks outside of parentheses."""
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
        name, _, pattern = rule.partition("(")
        begins, star, _ = pattern.removesuffix(")").partition("*")
        begins = begins.rstrip(" :")
        is_for_it = text == begins or (star and f"{text} ".startswith(f"{begins} ".lstrip()))
        if rule == "Bash" or (name == "Bash" and is_for_it):
            return True
    return False
