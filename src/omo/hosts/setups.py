"""The hosts on this machine: whether each has our plugin, what omo put into its directory, and what the doctor sees.

A host's module of this kind is hosts/NAME_setup.py, with a `Setup`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from omo import hosts
from omo.text import counted

OK, WARN, FAIL, UNKNOWN = "ok", "warn", "fail", "unknown"

# A command, its input and what is put over its environment: what it prints.
Ask = Callable[[Sequence[str], bytes, Mapping[str, str]], str]


@dataclass(frozen=True)
class Finding:
    """One line of what was seen, unless all is well what mends it, and more lines where there is more to name."""

    result: str
    seen: str
    fix: str = ""
    details: Sequence[str] = ()


ok = partial(Finding, OK)
warn = partial(Finding, WARN)
fail = partial(Finding, FAIL)
unknown = partial(Finding, UNKNOWN)


@dataclass(frozen=True)
class AgentFile:
    """One of the plugin's agents as a file that a host reads; `is_anothers` if what is there now is not omo's."""

    path: Path
    name: str
    about: str
    text: str
    is_anothers: bool

    @property
    def is_written(self) -> bool:
        try:
            return self.path.read_text(encoding="utf-8") == self.text
        except (OSError, ValueError):
            return False


def in_words(agents: Sequence[AgentFile]) -> str:
    """What writing them changes, for the user to agree to."""
    lines = [f"writes {counted(len(agents), 'agent')} into {agents[0].path.parent}:"]
    for agent in agents:
        lines.append(f"  {agent.name:<13}  {agent.about}")
        if agent.is_anothers:
            lines.append(f"  {'':<13}  REPLACES {agent.path.name}, which is not omo's")
    return "\n".join(lines)


class HostSetup:
    name = ""
    title = ""
    uninstall_command = ""
    needs_agents: ClassVar[bool] = False  # it takes none from a plugin, so `omo setup NAME` writes them for it
    after_agents = ""  # what the user does next

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        self.environ = environ
        self.project = project

    def has_plugin(self) -> bool:
        """Its settings name our plugin."""
        raise NotImplementedError

    def data_directories(self) -> list[Path]:
        """Where it lets a plugin of our name keep what it builds."""
        raise NotImplementedError

    def missing_agents(self, plugin: Path) -> list[AgentFile]:
        """Those of the plugin's that it does not have as they are now."""
        return []

    def agents_made(self) -> list[Path]:
        """Those that omo has written."""
        return []

    def look(self, plugin: Path, ask: Ask) -> Finding:
        """What the doctor says of a host that has our plugin."""
        raise NotImplementedError


def kinds() -> list[type[HostSetup]]:
    """In the order of hosts.NAMES."""
    found = []
    for name in hosts.NAMES:
        kind: type[HostSetup] = import_module(f"omo.hosts.{name}_setup").Setup
        found.append(kind)
    return found


def every(environ: Mapping[str, str], project: str) -> list[HostSetup]:
    return [kind(environ, project) for kind in kinds()]
