"""Codex where nobody watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.hosts import codex_setup, headless
from omo.hosts.headless import INSTALL, Left, objects_in
from omo.json_text import part

if TYPE_CHECKING:
    from collections.abc import Sequence


class Headless(headless.Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "exec", "--json", *self.arguments, "-"]

    def left(self, printed: str, session: str) -> Left:
        found, error, tokens = "", "", 0
        for row in objects_in(printed):
            found = str(row.get("thread_id") or found)
            if row.get("type") in ("error", "turn.failed"):
                error = str(row.get("message") or part(row, "error").get("message", ""))
            used = map(part(row, "usage").get, ("input_tokens", "output_tokens"))
            tokens += sum(value for value in used if isinstance(value, int))
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
