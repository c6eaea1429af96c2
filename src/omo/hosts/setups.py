"""The hosts on this machine: whether each has our plugin, what omo put into its directory, and what the doctor sees.

A host's module of this kind is hosts/NAME_setup.py, with a `Setup`. The files of hosts are written by others: whatever
is in them, reading them is safe.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import ClassVar

from omo import hosts
from omo.errors import Unreadable
from omo.json_text import Json, objects, part
from omo.safe_open import read_file
from omo.text import counted

LONGEST = 4 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
SET_HOME = "set HOME to the user's home directory"
OK, WARN, FAIL, UNKNOWN = "ok", "warn", "fail", "unknown"

# A command, its input and what is put over its environment: what it prints.
Ask = Callable[[Sequence[str], bytes, Mapping[str, str]], str]


@dataclass(frozen=True)
class DoctorFinding:
    """One line of what was seen, unless all is well what mends it, and more lines where there is more to name."""

    result: str
    seen: str
    fix: str = ""
    details: Sequence[str] = ()


ok = partial(DoctorFinding, OK)
warn = partial(DoctorFinding, WARN)
fail = partial(DoctorFinding, FAIL)
unknown = partial(DoctorFinding, UNKNOWN)


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


@dataclass(frozen=True)
class Installed:
    """This omo, for those who look at a host: where it is and has its environment, how often it sends a session back,
    and a way to ask programs."""

    plugin: Path
    home: Path
    most_blocks: int
    ask: Ask


Look = Callable[[Installed], DoctorFinding]


class HostSetup:
    host = hosts.Host()
    name = ""
    title = ""
    oldest_tested = (0, 0, 0)
    install_command = ""  # from PLACE, a directory or the address of a repository
    reinstall_command = uninstall_command = ""
    hooks_switch = ""  # the setting that keeps every hook from running
    needs_agents: ClassVar[bool] = False  # it takes none from a plugin, so `omo setup NAME` writes them for it
    after_agents = ""  # what the user does next

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        self.environ = environ
        self.project = project
        place = self.host.directory(environ)
        self.directory = Path(place) if place else None

    def has_plugin(self) -> bool:
        """Its settings name our plugin."""
        raise NotImplementedError

    def data_directories(self) -> list[Path]:
        """Where it lets a plugin of our name keep what it builds."""
        return [] if self.directory is None else sorted(self.directory.glob(self.host.data_pattern))

    def missing_agents(self, plugin: Path) -> list[AgentFile]:
        """Those of the plugin's that it does not have as they are now."""
        return []

    def agents_made(self) -> list[Path]:
        """Those that omo has written."""
        return []

    # What the doctor sees of a host that has our plugin

    def looks(self) -> Mapping[str, Look]:
        """By the names that the doctor gives them."""
        return {self.name: self.look}

    def look(self, omo: Installed) -> DoctorFinding:
        """All there is to say of a host with one line."""
        raise NotImplementedError

    def look_at_version(self, omo: Installed) -> DoctorFinding:
        asked, oldest = f"{self.host.program} --version", ".".join(map(str, self.oldest_tested))
        remedy = f"see that {asked} prints {oldest} or newer"
        told = omo.ask(asked.split(), b"", {}).strip()
        if not told and shutil.which(self.host.program, path=self.environ.get("PATH", "")) is None:
            return unknown(f"{self.host.program} is not on PATH", remedy)
        version = re.search(r"(\d+)\.(\d+)\.(\d+)", told)
        if version is None:
            return unknown(f"{asked} tells no version: {told or 'nothing'}", remedy)
        if tuple(map(int, version.groups())) < self.oldest_tested:
            seen = f"{self.title} {version[0]} is older than {oldest}, the oldest the hooks were tested with"
            return warn(seen, f"{self.host.program} update")
        return ok(f"{self.title} {version[0]}")

    def hook_environ(self) -> dict[str, str]:
        """What its hooks are given: this environment, under what its settings put over it."""
        return dict(self.environ)

    def switch_hooks_off(self) -> list[str]:
        """The files that do."""
        return []

    def problems(self) -> list[str]:
        """Which of its settings cannot be read, and why."""
        return []

    # The status line, of a host that has one

    has_status_line: ClassVar[bool] = False

    def status_line_file(self) -> Path:
        """The user's settings, in which it is set."""
        raise NotImplementedError

    def status_line_script(self, home: Path) -> str:
        """What omo writes into its home, for the line to call."""
        raise NotImplementedError

    def with_status_line(self, values: Json, home: Path) -> Json:
        """Settings that show our line, after another that they have."""
        raise NotImplementedError

    def without_status_line(self, values: Json, home: Path) -> Json:
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


def read_object(path: Path) -> Json | None:
    """The object in a file, None if there is none. Raises Unreadable for anything else, also for a pipe or a giant."""
    try:
        values = json.loads(read_file(path, LONGEST, follow_link=True).removeprefix(BOM))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable(f"{path} is not valid JSON") from None
    except ValueError as error:  # a name that no file can have, such as one with a NUL
        raise Unreadable(f"{str(path)!r} is no usable path: {error}") from None
    if not isinstance(values, dict):
        raise Unreadable(f"{path} is not an object")
    return values


def others_hold(others: Sequence[str]) -> str:
    return f"{counted(len(others), 'other hook')} at Stop can hold a session too"


def handlers(values: Json, event: str) -> list[Json]:
    """Those of one event, in the form in which hosts register hooks."""
    found: list[Json] = []
    for group in objects(part(values, "hooks").get(event)):
        found += objects(group.get("hooks"))
    return found
