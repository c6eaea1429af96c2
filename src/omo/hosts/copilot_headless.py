"""Copilot CLI where nobody watches."""

from __future__ import annotations

import shlex
import uuid
from typing import TYPE_CHECKING

from omo import hosts
from omo.hosts import copilot, headless
from omo.hosts.headless import NOWHERE, RoundEnd, is_later, objects_in
from omo.json_text import Json

if TYPE_CHECKING:
    from collections.abc import Sequence


class Headless(headless.Headless):
    def command(self, session: str) -> list[str]:
        return [self.host.program, "--output-format", "json", "--session-id", session, *self.arguments]

    def round_end(self, printed: str, session: str) -> RoundEnd:
        """What it cost is read from the record, as the client does not print it."""
        error, limit = "", ""
        for data in _told(printed, "session.error"):
            error = str(data.get("message"))
            limit = error if is_later(data.get("statusCode")) else ""
        try:
            entries, _ = copilot.Events(copilot.record_of(session, self.environ)).usage()
        except (OSError, hosts.OtherForm):
            entries = []
        return RoundEnd(session, limit, error, sum(sum(usage.counts) for usage in entries))

    def lacks_login(self) -> str:
        """Never known: the login may be in a keyring, or another program's, so only a round tells."""
        return ""

    def is_answered(self) -> bool:
        nowhere = {"COPILOT_PROVIDER_BASE_URL": NOWHERE, "COPILOT_OFFLINE": "true", "COPILOT_MODEL": "none"}
        command = [*self.command(str(uuid.uuid4())), "--allow-all-tools"]
        warnings = _told(self.ask(command, b"/omo:status", {**self.environ, **nowhere}), "session.warning")
        return any(str(data.get("message")).startswith("omo") for data in warnings)

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        if self.environ.get("COPILOT_ALLOW_ALL") or {"--allow-all", "--allow-all-tools", "--yolo"} & {*self.arguments}:
            return ""
        allowed = []
        for option, value in self.options():
            if option == "--allow-tool":
                allowed += [tool.strip() for tool in value.split(",")]
        missing: list[str] = []
        for tool in ("write", *[f"shell({command[0]}:*)" for command in [*commands, ["omo"]]]):
            if not {tool, tool.partition("(")[0]} & {*allowed, *missing}:
                missing.append(tool)
        if not missing:
            return ""
        options = " ".join(f"--allow-tool {shlex.quote(tool)}" for tool in missing)
        return f"Copilot CLI would refuse what the agent needs; end the command with: -- {options}"


def _told(printed: str, kind: str) -> list[Json]:
    """The data of the rows of one kind."""
    found = []
    for row in objects_in(printed):
        data = row.get("data")
        if row.get("type") == kind and isinstance(data, dict):
            found.append(data)
    return found
