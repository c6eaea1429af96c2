"""What a command or a check knows of the world: handed in once, so that nothing below asks for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo import settings
from omo.errors import BadInput
from omo.state import paths, runtime


@dataclass(frozen=True)
class Context:
    environ: Mapping[str, str]
    cwd: str
    now: float

    @property
    def root(self) -> str:
        return paths.project_root(self.environ, self.cwd)

    @property
    def state(self) -> str:
        return paths.state_dir(self.root, self.environ)

    @property
    def is_agent(self) -> bool:
        """Inside Claude Code's own shell it is the agent who types."""
        return bool(self.environ.get("CLAUDECODE"))

    @property
    def actor(self) -> str:
        return "agent" if self.is_agent else "user"

    @property
    def settings(self) -> settings.Settings:
        return settings.load(self.environ, self.root)

    @property
    def limits(self) -> dict[str, Any]:
        """Those in force. An agent's own environment never raises them, and what it lowers Stop does not believe."""
        limits = self.settings.limits
        if not self.is_agent:
            return limits
        variables = {knob.variable for knob in settings.LIMITS}
        without = settings.load({k: v for k, v in self.environ.items() if k not in variables}, self.root).limits
        return {name: min(limits[name], without[name]) for name in limits}

    @property
    def named_session(self) -> str | None:
        return self.environ.get("OMO_SESSION_ID") or self.environ.get("CLAUDE_CODE_SESSION_ID")

    def session(self, named: str | None) -> str:
        """`--session`, else the variables of the host, else the only live session of the project."""
        known = named or self.named_session
        if known:
            return known
        live = self.live_sessions()
        if len(live) == 1:
            return live[0]
        names = ", ".join(live) or "none is live here"
        raise BadInput("which session is meant is not clear", fix=f"name it with --session ID ({names})")

    def live_sessions(self) -> list[str]:
        sessions: dict[str, Any] = runtime.read(self.state)["sessions"]
        return [key for key, row in sessions.items() if isinstance(row, dict) and runtime.is_live(row)]

    def row(self, session: str) -> dict[str, Any] | None:
        return runtime.session(self.state, session)


def plugin_root() -> Path:
    return Path(__file__).resolve().parents[2]
