"""Claude Code on this machine: its settings, its plugins, its status line, and what the doctor sees of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from omo.errors import BadInput, Refused, Unreadable
from omo.hosts import claude
from omo.hosts.setups import (
    SET_HOME,
    DoctorFinding,
    HostSetup,
    Installed,
    Look,
    fail,
    handlers,
    ok,
    others_hold,
    read_object,
    unknown,
    warn,
)
from omo.json_text import Json, objects, part
from omo.text import clip

INSTALL = "claude plugin install omo@omo"
UNINSTALL = "claude plugin uninstall omo@omo"
OTHERS = "if a session is held though omo let go, switch these off: claude plugin disable NAME, or edit the file"
# How often its own limit lets a turn be sent back in a row.
CAP, DEFAULT_CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8
SET_STATUS_LINE = "omo setup statusline"
STATUS_LINE = "statusLine"
# Sourced in the shell the host has started anyway. It finds the plugin by a pointer that every session renews.
STATUS_LINE_SCRIPT = """\
# Written by `omo setup statusline`: one line while omo holds the session.
OMO_ENV_HOME={home} plugin_project= host=claude event=statusline
IFS= read -r plugin_root <"$OMO_ENV_HOME/root" || exit 0
[ -r "$plugin_root/hooks/launch.sh" ] || exit 0
. "$plugin_root/hooks/launch.sh"
"""
REFRESH_SECONDS = 5  # the host asks again only then while nobody writes
# What was there is kept and runs first, with the same input; its own line ends before ours begins.
BEFORE_THEIRS = "input=$(cat); printf '%s' \"$input\" | {\n"
AFTER_THEIRS = "\n}; printf '%s' \"$input\" | "


@dataclass(frozen=True)
class SettingsFile:
    """One that exists; `problem` says why its values could not be read."""

    path: Path
    values: Json
    problem: str = ""


class Setup(HostSetup):
    """What a user and a project have set for Claude Code, a later file over an earlier one."""

    host = claude.HOST
    name, title = host.name, "Claude Code"
    oldest_tested = (2, 1, 197)
    install_command = "claude plugin install omo --marketplace PLACE"
    reinstall_command = f"{UNINSTALL} && {INSTALL}"
    uninstall_command = f"{UNINSTALL} && claude plugin marketplace remove omo"
    hooks_switch = "disableAllHooks"
    has_status_line = True

    def __init__(self, environ: Mapping[str, str], project: str) -> None:
        super().__init__(environ, project)
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

    def problems(self) -> list[str]:
        return [file.problem for file in self.files if file.problem]

    @property
    def plugins(self) -> Json:
        """Switched on or off, by id. The host also takes a list of versions for "on"."""
        merged: Json = {}
        for file in self.files:
            merged.update(part(file.values, "enabledPlugins"))
        return merged

    def hook_environ(self) -> dict[str, str]:
        """With the plugin's options as variables, and `env` of a settings file over the shell's."""
        environ: dict[str, str] = {}
        for file in self.files:
            for plugin, config in part(file.values, "pluginConfigs").items():
                if is_ours(plugin) and isinstance(config, dict):
                    for name, value in _texts(part(config, "options")).items():
                        environ[claude.HOST.option_prefix + name.upper()] = value
        environ.update(self.environ)
        for file in self.files:
            environ.update(_texts(part(file.values, "env")))
        return environ

    def switch_hooks_off(self) -> list[str]:
        """The files that do."""
        return [str(file.path) for file in self.files if file.values.get(self.hooks_switch) is True]

    def missing_marketplace(self, plugin: str) -> str:
        """The directory from which the host reads a plugin, where that is gone: it loads nothing then, and says so in
        no session."""
        if self.directory is None:
            return ""
        known = read_object(self.directory / "plugins" / "known_marketplaces.json") or {}
        location = part(known, plugin.partition("@")[2]).get("installLocation")
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
        for name, entries in part(values, "plugins").items():
            if is_ours(name) or switches.get(name) is False:
                continue
            for entry in objects(entries if isinstance(entries, list) else [entries]):
                path = entry.get("installPath")
                is_elsewhere = entry.get("projectPath") not in (None, self.project)
                if isinstance(path, str) and not is_elsewhere and (name, Path(path)) not in plugins:
                    plugins.append((name, Path(path)))
        return plugins

    # What the doctor sees

    def looks(self) -> Mapping[str, Look]:
        return {
            "plugin": self.look,
            "host-version": self.look_at_version,
            "block-cap": self.look_at_cap,
            "other-stop-hooks": self.look_at_other_hooks,
            "statusline": self.look_at_status_line,
        }

    def look(self, omo: Installed) -> DoctorFinding:
        ours = {key: value for key, value in self.plugins.items() if is_ours(key)}
        on = [key for key, value in ours.items() if value]
        if ours and not on:
            key = next(iter(ours))
            enable = shlex.join(["claude", "plugin", "enable", clip(key, 100)])
            return fail(f"{key} is disabled", enable, self.problems())
        if problems := self.problems():
            return warn("a settings file of the host cannot be read, so it does not count", "mend its JSON", problems)
        for key in on:
            if directory := self.missing_marketplace(key):
                seen = (
                    f"{self.title} reads {key} from {directory}, which is not there: it does nothing, and says nothing"
                )
                return fail(seen, 'in a clone of omo that you keep: claude plugin marketplace add "$PWD"')
        if on:
            return ok(f"{', '.join(on)} is enabled")
        return unknown(
            "not installed as a plugin, or loaded with --plugin-dir",
            f"{INSTALL}; nothing to do if you start claude with --plugin-dir",
        )

    def look_at_cap(self, omo: Installed) -> DoctorFinding:
        """It has a limit of its own; ours should come first, since it says why."""
        ours = omo.most_blocks
        text = self.hook_environ().get(CAP, "").strip()
        try:
            cap = int(text) if text else DEFAULT_CAP
        except ValueError:
            seen = f"{CAP} is {text!r}, not a whole number; what {self.title} makes of it is not known"
            return warn(seen, f"unset {CAP}")
        if cap <= 0:
            return ok(f"the cap is off in {self.title}; omo lets go after {ours} blocks")
        if cap < ours:
            often = f"after {cap} blocks in a row without a tool call, omo would after {ours}"
            return warn(f"{self.title} ends a turn first: {often}", f"set OMO_MAX_STOP_BLOCKS={cap}, or {CAP}={ours}")
        return ok(f"omo lets go after {ours} blocks, {self.title} after {cap}")

    def look_at_other_hooks(self, omo: Installed) -> DoctorFinding:
        others, problems = self.other_stop_hooks()
        if others:
            return warn(others_hold(others), OTHERS, others + problems)
        if problems:
            return unknown("not every plugin's hooks could be read", "reinstall the plugins named", problems)
        return ok("no other hook runs at Stop")

    def look_at_status_line(self, omo: Installed) -> DoctorFinding:
        lines = self.status_lines()
        if not lines:
            return ok(f"not in use; {SET_STATUS_LINE} shows in {self.title} what holds a session")
        shown, command = lines[-1]
        ours = status_line_command(omo.home)
        if ours not in command:
            overridden = [path for path, other in lines if ours in other]
            if not overridden:
                return ok(f"{shown} shows another; {SET_STATUS_LINE} puts omo's beside it")
            remedy = f"take {STATUS_LINE} out of {shown}, or leave it so"
            return warn(f"{shown} overrides the one in {overridden[0]}", remedy)
        script = omo.home / "statusline.sh"
        try:
            text = script.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return warn(f"{shown} calls {script}, which is gone", SET_STATUS_LINE)
        if text != self.status_line_script(omo.home):
            return warn(f"{script} is not what this omo would write", SET_STATUS_LINE)
        return ok(f"in {shown}")

    # The status line

    def status_lines(self) -> list[tuple[Path, str]]:
        """Each file that sets one, with its command; the last one is shown."""
        lines = []
        for file in self.files:
            if line := part(file.values, STATUS_LINE):
                lines.append((file.path, str(line.get("command", ""))))
        return lines

    def status_line_file(self) -> Path:
        if self.directory is None:
            raise BadInput("HOME and CLAUDE_CONFIG_DIR are unset", fix=SET_HOME)
        return Path(os.path.realpath(self.directory / "settings.json"))

    def status_line_script(self, home: Path) -> str:
        return STATUS_LINE_SCRIPT.format(home=shlex.quote(str(home)))

    def with_status_line(self, values: Json, home: Path) -> Json:
        ours = status_line_command(home)
        old = values.get(STATUS_LINE)
        if old is None:
            return {**values, STATUS_LINE: {"type": "command", "command": ours, "refreshInterval": REFRESH_SECONDS}}
        if not isinstance(old, dict) or not isinstance(old.get("command"), str):
            problem = f"{STATUS_LINE} is {clip(repr(old), 80)}, not a command"
            raise Refused(problem, fix=f"take {STATUS_LINE} out of the settings first")
        if ours in old["command"]:
            return values
        return {**values, STATUS_LINE: {**old, "command": BEFORE_THEIRS + old["command"] + AFTER_THEIRS + ours}}

    def without_status_line(self, values: Json, home: Path) -> Json:
        ours = status_line_command(home)
        old = part(values, STATUS_LINE)
        command = str(old.get("command", ""))
        if command == ours:
            return {key: value for key, value in values.items() if key != STATUS_LINE}
        after = AFTER_THEIRS + ours
        if command.startswith(BEFORE_THEIRS) and command.endswith(after):
            return {**values, STATUS_LINE: {**old, "command": command[len(BEFORE_THEIRS) : -len(after)]}}
        if ours in command:
            fix = f"edit it by hand: take out {ours}"
            raise Refused(f"{STATUS_LINE} was changed since omo put itself there", fix=fix)
        return values


def status_line_command(home: Path) -> str:
    name = shlex.quote(str(home / "statusline.sh"))
    return f"{{ [ ! -r {name} ] || . {name}; }}"


def is_ours(plugin: str) -> bool:
    return plugin.startswith("omo@")


def _texts(values: Json) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if isinstance(value, (str, int, float))}


def _can_block(values: Json) -> list[str]:
    """What runs at Stop. The answer of an async handler comes too late to hold anything."""
    hooks = []
    for handler in handlers(values, "Stop"):
        if handler.get("async") is True and not handler.get("asyncRewake"):
            continue
        text = str(handler.get("type"))
        for key in ("tool", "url", "prompt", "command"):
            if isinstance(handler.get(key), str):
                text = handler[key]
        hooks.append(clip(text, 120))
    return hooks
