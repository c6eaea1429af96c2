"""Claude Code on this machine: its settings, its plugins, its status line, and how it runs a hook.

Its files are written by others. Whatever is in them, reading them is safe.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo import hosts
from omo.errors import BadInput, Refused, Unreadable
from omo.hosts import Answer
from omo.hosts.setups import HostSetup
from omo.safe_open import read_file
from omo.text import clip

Json = dict[str, Any]

LONGEST = 4 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
ROOT_VARIABLE, DATA_VARIABLE = "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA"
NAMED_FILE = re.compile(rf"\$\{{?{ROOT_VARIABLE}\}}?/([\w./-]+)")
STATUS_LINE = "statusLine"
# Sourced in the shell the host has started anyway. It finds the plugin by a pointer that every session renews.
STATUS_LINE_SCRIPT = f"""\
# Written by `omo setup statusline`: one line while omo holds the session.
{DATA_VARIABLE}={{home}}
IFS= read -r {ROOT_VARIABLE} <"${DATA_VARIABLE}/root" || exit 0
[ -r "${ROOT_VARIABLE}/hooks/launch.sh" ] || exit 0
host=claude event=statusline
. "${ROOT_VARIABLE}/hooks/launch.sh"
"""
REFRESH_SECONDS = 5  # the host asks again only then while nobody writes
# The omo on the user's PATH. An update moves the plugin: a plugin that runs where it lies has noted that place, of any
# other the host notes where the newest is.
LAUNCHER = """\
#!/bin/sh
# omo on your PATH, written by `omo setup path`; `omo setup remove` takes it away.
plugins=${CLAUDE_CONFIG_DIR:-$HOME/.claude}/plugins
for data in "$plugins"/data/omo-*; do
    [ -r "$data/root" ] && IFS= read -r root <"$data/root" || continue
    case $root in "$plugins"/cache/*) continue ;; esac
    case $data in *-inline) continue ;; esac
    [ -x "$root/bin/omo" ] && exec "$root/bin/omo" "$@"
done
list=$plugins/installed_plugins.json
newest=$(sed -n '/"omo@/,$s/.*"installPath": *"\\(.*\\)".*/\\1/p' "$list" 2>/dev/null | head -n 1)
for root in "$newest" ROOT; do
    [ -x "$root/bin/omo" ] && exec "$root/bin/omo" "$@"
done
for data in OTHERS; do
    [ -r "$data/root" ] && IFS= read -r root <"$data/root" && [ -x "$root/bin/omo" ] && exec "$root/bin/omo" "$@"
done
echo "omo: the plugin is gone; install it again, or remove $0" >&2
exit 77
"""
LAUNCHER_MARK = LAUNCHER.splitlines()[1].partition(";")[0]
# What was there is kept and runs first, with the same input; its own line ends before ours begins.
BEFORE_THEIRS = "input=$(cat); printf '%s' \"$input\" | {\n"
AFTER_THEIRS = "\n}; printf '%s' \"$input\" | "


def launcher() -> str:
    """The script that puts omo on the user's PATH, with ROOT where it names the plugin. A session's start has written
    into each host's data where the plugin is."""
    others = []
    for host in hosts.every()[1:]:
        others.append(f'"${{{host.home_variable}:-$HOME/{host.home_name}}}"/{host.data_pattern}')
    return LAUNCHER.replace("OTHERS", " ".join(others))


@dataclass(frozen=True)
class SettingsFile:
    """One that exists; `problem` says why its values could not be read."""

    path: Path
    values: Json
    problem: str = ""


class Setup(HostSetup):
    """What a user and a project have set for Claude Code, a later file over an earlier one."""

    name, title = "claude", "Claude Code"
    version_command = ("claude", "--version")
    update_command = "claude update"
    oldest_tested = (2, 1, 197)
    install_command = "claude plugin install omo@omo"
    add_command = "claude plugin marketplace add"
    reinstall_command = "claude plugin uninstall omo@omo && claude plugin install omo@omo"
    uninstall_command = "claude plugin uninstall omo@omo && claude plugin marketplace remove omo"
    disable_command = "claude plugin disable NAME"
    hooks_switch = "disableAllHooks"
    cap_variable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
    default_cap = 8

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        super().__init__(environ, project)
        self.directory = _directory(environ)
        self.files = list(self._read_files())

    def has_plugin(self) -> bool:
        return any(map(is_ours, self.plugins))

    def _read_files(self) -> Iterator[SettingsFile]:
        paths = [Path(self.project, ".claude", name) for name in ("settings.json", "settings.local.json")]
        if self.directory is not None and self.directory / "settings.json" not in paths:
            paths.insert(0, self.directory / "settings.json")
        for path in paths:
            try:
                values = read_object(path)
            except Unreadable as error:
                yield SettingsFile(path, {}, error.message)
                continue
            if values is not None:
                yield SettingsFile(path, values)

    @property
    def problems(self) -> list[str]:
        return [file.problem for file in self.files if file.problem]

    @property
    def plugins(self) -> Json:
        """Switched on or off, by id. The host also takes a list of versions for "on"."""
        merged: Json = {}
        for file in self.files:
            merged.update(_part(file.values, "enabledPlugins"))
        return merged

    def hook_environ(self) -> dict[str, str]:
        """The plugin's options reach hooks as variables, and `env` of a settings file overrides the shell's."""
        environ: dict[str, str] = {}
        for file in self.files:
            for plugin, config in _part(file.values, "pluginConfigs").items():
                if is_ours(plugin) and isinstance(config, dict):
                    for name, value in _texts(_part(config, "options")).items():
                        environ[f"CLAUDE_PLUGIN_OPTION_{name.upper()}"] = value
        environ.update(self.environ)
        for file in self.files:
            environ.update(_texts(_part(file.values, "env")))
        return environ

    def switch_hooks_off(self) -> list[str]:
        """The files that do."""
        return [str(file.path) for file in self.files if file.values.get(self.hooks_switch) is True]

    def enable_command(self, plugin: str) -> str:
        return shlex.join(["claude", "plugin", "enable", clip(plugin, 100)])

    def missing_marketplace(self, plugin: str) -> str:
        """The directory from which the host reads a plugin, where that is gone: it loads nothing then, and says so in
        no session."""
        if self.directory is None:
            return ""
        known = read_object(self.directory / "plugins" / "known_marketplaces.json") or {}
        location = _part(known, plugin.partition("@")[2]).get("installLocation")
        if not isinstance(location, str) or "\0" in location or os.path.exists(location):
            return ""
        return location

    def other_stop_hooks(self) -> tuple[list[str], list[str]]:
        """What else runs at a Stop, with the file or plugin it belongs to; and what could not be read."""
        others, problems = [], []
        for file in self.files:
            others += [f"{file.path}: {hook}" for hook in _can_block(file.values)]
        try:
            for name, directory in self._other_plugins():
                try:
                    values = read_object(directory / "hooks" / "hooks.json") or {}
                except Unreadable as error:
                    problems.append(error.message)
                    continue
                others += [f"{name}: {hook}" for hook in _can_block(values)]
        except Unreadable as error:
            problems.append(error.message)
        return others, problems

    def _other_plugins(self) -> list[tuple[str, Path]]:
        """Name and directory of each that is not ours, not switched off and not another project's."""
        if self.directory is None:
            return []
        values = read_object(self.directory / "plugins" / "installed_plugins.json") or {}
        switches = self.plugins
        plugins: list[tuple[str, Path]] = []
        for name, entries in _part(values, "plugins").items():
            if is_ours(name) or switches.get(name) is False:
                continue
            for entry in _objects(entries if isinstance(entries, list) else [entries]):
                path = entry.get("installPath")
                is_elsewhere = entry.get("projectPath") not in (None, self.project)
                if isinstance(path, str) and not is_elsewhere and (name, Path(path)) not in plugins:
                    plugins.append((name, Path(path)))
        return plugins

    def data_directories(self) -> list[Path]:
        """Where the host lets a plugin of our name keep what it builds."""
        return [] if self.directory is None else sorted(self.directory.glob("plugins/data/omo-*"))

    # The status line

    def status_lines(self) -> list[tuple[Path, str]]:
        """Each file that sets one, with its command; the last one is shown."""
        lines = []
        for file in self.files:
            if line := _part(file.values, STATUS_LINE):
                lines.append((file.path, str(line.get("command", ""))))
        return lines

    def user_settings(self) -> Path:
        if self.directory is None:
            raise BadInput("HOME and CLAUDE_CONFIG_DIR are unset", fix="set HOME to the user's home directory")
        return Path(os.path.realpath(self.directory / "settings.json"))


def with_status_line(values: Json, ours: str) -> Json:
    """Settings that show our line, after another that they have."""
    old = values.get(STATUS_LINE)
    if old is None:
        return {**values, STATUS_LINE: {"type": "command", "command": ours, "refreshInterval": REFRESH_SECONDS}}
    if not isinstance(old, dict) or not isinstance(old.get("command"), str):
        problem = f"{STATUS_LINE} is {clip(repr(old), 80)}, not a command"
        raise Refused(problem, fix=f"take {STATUS_LINE} out of the settings first")
    if ours in old["command"]:
        return values
    return {**values, STATUS_LINE: {**old, "command": BEFORE_THEIRS + old["command"] + AFTER_THEIRS + ours}}


def without_status_line(values: Json, ours: str) -> Json:
    old = _part(values, STATUS_LINE)
    command = str(old.get("command", ""))
    if command == ours:
        return {key: value for key, value in values.items() if key != STATUS_LINE}
    after = AFTER_THEIRS + ours
    if command.startswith(BEFORE_THEIRS) and command.endswith(after):
        return {**values, STATUS_LINE: {**old, "command": command[len(BEFORE_THEIRS) : -len(after)]}}
    if ours in command:
        raise Refused(f"{STATUS_LINE} was changed since omo put itself there", fix=f"edit it by hand: take out {ours}")
    return values


# How it runs a hook, for those who try one: the doctor and the demo.


def registration(plugin: Path) -> Json:
    path = plugin / "hooks" / "hooks.json"
    values = read_object(path)
    if values is None:
        raise Unreadable(f"{path} is missing")
    if not _part(values, "hooks"):
        raise Unreadable(f"{path} registers no hooks")
    return values


def registered_commands(plugin: Path, event: str = "") -> list[str]:
    """The command strings in the registration, all of them or those of one event."""
    values = registration(plugin)
    events = [event] if event else list(_part(values, "hooks"))
    return [str(handler.get("command", "")) for name in events for handler in _handlers(values, name)]


def files_of(command: str) -> list[str]:
    """The plugin's files that a command needs."""
    return NAMED_FILE.findall(command)


def hook_variables(plugin: Path, data: Path, project: Path) -> dict[str, str]:
    return {ROOT_VARIABLE: str(plugin), DATA_VARIABLE: str(data), "CLAUDE_PROJECT_DIR": str(project)}


def agent_shell_variables(session: str) -> dict[str, str]:
    return {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": session}


STOP, PROMPT = "Stop", "UserPromptSubmit"


def stop_event(session: str, directory: Path, *, message: str = "", continues: bool = False) -> bytes:
    return _event(STOP, session, directory, stop_hook_active=continues, last_assistant_message=message)


def prompt_event(session: str, directory: Path, prompt: str) -> bytes:
    return _event(PROMPT, session, directory, prompt=prompt)


def _event(name: str, session: str, directory: Path, **fields: object) -> bytes:
    event = {"session_id": session, "cwd": str(directory), "hook_event_name": name, **fields}
    return json.dumps(event).encode() + b"\n"


def read_answer(stdout: str) -> Answer:
    """What a hook said, as the host takes it."""
    try:
        values = json.loads(stdout)
    except ValueError:
        return Answer(context=stdout.strip())
    if not isinstance(values, dict):
        return Answer()
    if values.get("decision") == "block":
        return Answer(hosts.KEEP_GOING, str(values.get("reason", "")))
    more = values.get("hookSpecificOutput")
    context = more.get("additionalContext", "") if isinstance(more, dict) else ""
    return Answer(message=str(values.get("systemMessage", "")), context=str(context))


# Reading


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


def is_ours(plugin: str) -> bool:
    return plugin.startswith("omo@")


def _directory(environ: Mapping[str, str]) -> Path | None:
    """The host's own; None where nothing says whose home this is."""
    user = environ.get("HOME")
    if named := environ.get("CLAUDE_CONFIG_DIR"):
        return Path(named)
    return Path(user) / ".claude" if user else None


def _part(values: Mapping[str, Any], key: str) -> Json:
    value = values.get(key)
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[Json]:
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]


def _texts(values: Json) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if isinstance(value, (str, int, float))}


def _handlers(values: Json, event: str) -> Iterator[Json]:
    """The handlers of one event, in a hooks.json or a settings file alike."""
    for group in _objects(_part(values, "hooks").get(event)):
        yield from _objects(group.get("hooks"))


def _can_block(values: Json) -> list[str]:
    """What runs at Stop. The answer of an async handler comes too late to hold anything."""
    hooks = []
    for handler in _handlers(values, STOP):
        if handler.get("async") is True and not handler.get("asyncRewake"):
            continue
        text = str(handler.get("type"))
        for key in ("tool", "url", "prompt", "command"):
            if isinstance(handler.get(key), str):
                text = handler[key]
        hooks.append(clip(text, 120))
    return hooks
