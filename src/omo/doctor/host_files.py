"""Files that others write: the host's settings, other plugins' hooks. Whatever is in them, reading them is safe."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.errors import Unreadable
from omo.state import store

Json = dict[str, Any]

LONGEST = 4 * 1024 * 1024
LONGEST_TAIL = 16 * 1024
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class HostFile:
    """One settings file that exists; `problem` says why its values could not be read."""

    path: Path
    values: Json
    problem: str = ""


def read_object(path: Path) -> Json | None:
    """The object in a file, None if there is none. Raises Unreadable for anything else, also for a pipe or a giant."""
    raw = _read(path, 0, LONGEST + 1)
    if raw is None:
        return None
    if len(raw) > LONGEST:
        raise Unreadable(f"{path} is larger than {LONGEST} bytes")
    return store.parse(raw.removeprefix(BOM), str(path))


def tail(path: Path, count: int) -> list[str]:
    """The last lines that say something; none if there is no file."""
    raw = _read(path, -LONGEST_TAIL, LONGEST_TAIL) or b""
    lines = raw.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip()][-count:]


def _read(path: Path, start: int, length: int) -> bytes | None:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"{path} is not a regular file")
        with open(path, "rb") as file:
            file.seek(start if start >= 0 else max(0, status.st_size + start))
            return file.read(length)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a name that no file can have, such as one with a NUL
        raise Unreadable(f"{str(path)!r} is no usable path: {error}") from None


def read_all(claude: Path | None, project: Path) -> list[HostFile]:
    """The user's, the project's and the local settings, in this order: a later one overrides."""
    paths = [project / ".claude" / "settings.json", project / ".claude" / "settings.local.json"]
    if claude is not None and claude / "settings.json" not in paths:
        paths.insert(0, claude / "settings.json")
    found = []
    for path in paths:
        try:
            values = read_object(path)
        except Unreadable as error:
            found.append(HostFile(path, {}, error.message))
            continue
        if values is not None:
            found.append(HostFile(path, values))
    return found


def part(values: Mapping[str, Any], key: str) -> Json:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def is_ours(plugin: str) -> bool:
    return plugin.startswith("omo@")


def enabled_plugins(files: Sequence[HostFile]) -> Json:
    """Switched on or off, by id. The host also takes a list of versions for "on"."""
    merged: Json = {}
    for file in files:
        merged.update(part(file.values, "enabledPlugins"))
    return merged


def hook_environ(environ: Mapping[str, str], files: Sequence[HostFile]) -> dict[str, str]:
    """The plugin's options reach hooks as variables, and `env` of a settings file overrides the shell's."""
    found: dict[str, str] = {}
    for file in files:
        for plugin, config in part(file.values, "pluginConfigs").items():
            if is_ours(plugin) and isinstance(config, dict):
                options = _texts(part(config, "options"))
                found.update({f"CLAUDE_PLUGIN_OPTION_{name.upper()}": value for name, value in options.items()})
    found.update(environ)
    for file in files:
        found.update(_texts(part(file.values, "env")))
    return found


def _texts(values: Json) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if isinstance(value, (str, int, float))}


def handlers(values: Mapping[str, Any], event: str) -> Iterator[Json]:
    """The handlers of one event, in a hooks.json or a settings file alike."""
    groups = part(values, "hooks").get(event)
    for group in groups if isinstance(groups, list) else []:
        inner = group.get("hooks") if isinstance(group, dict) else None
        yield from (one for one in inner if isinstance(one, dict)) if isinstance(inner, list) else ()
