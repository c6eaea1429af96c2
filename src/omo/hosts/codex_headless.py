"""Codex where nobody watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.hosts import codex_setup, headless
from omo.hosts.headless import INSTALL, RoundEnd, objects_in
from omo.json_text import part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Headless(headless.Headless):
    @property
    def setup(self) -> codex_setup.Setup:
        return codex_setup.Setup(self.environ, self.root)

    def _ask(self, command: Sequence[str], given: bytes, variables: Mapping[str, str]) -> str:
        return self.ask(command, given, {**self.environ, **variables})

    def command(self, session: str) -> list[str]:
        return [self.host.program, "exec", "--json", *self.arguments, "-"]

    def round_end(self, printed: str, session: str) -> RoundEnd:
        found, error, tokens = "", "", 0
        for row in objects_in(printed):
            found = str(row.get("thread_id") or found)
            if row.get("type") in ("error", "turn.failed"):
                error = str(row.get("message") or part(row, "error").get("message", ""))
            used = map(part(row, "usage").get, ("input_tokens", "output_tokens"))
            tokens += sum(value for value in used if isinstance(value, int))
        return RoundEnd(found, error if "usage limit" in error else "", error, tokens)

    def lacks_login(self) -> str:
        place = self.setup.directory
        if self.environ.get("OPENAI_API_KEY") or self.environ.get("CODEX_API_KEY") or place is None:
            return ""
        own_provider = b"model_provider" in self.setup.settings()
        return "" if own_provider or (place / "auth.json").is_file() else "log in: codex login"

    def lacks_hooks(self) -> str:
        if not self.setup.has_plugin():
            return f"omo is not in Codex: {INSTALL}"
        trust = codex_setup.trust_in(self.setup.hooks(self._ask))
        if not trust or set(trust.values()) != {codex_setup.TRUSTED}:
            return f"Codex does not trust the hooks of omo: {codex_setup.TRUST}"
        return ""

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        text = " ".join(self.arguments) + self.setup.settings().decode("utf-8", "replace")
        can_write = ("workspace-write", "danger-full-access", "--full-auto", "--dangerously-bypass")
        if any(mark in text for mark in can_write):
            return ""
        return "Codex would refuse to write files; end the command with: -- --sandbox workspace-write"
