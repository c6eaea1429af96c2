"""Claude Code's status line: is ours in the settings, and the change that puts it there or takes it out."""

from __future__ import annotations

import difflib
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omo.doctor.finding import Finding, Probe, ok, warn
from omo.doctor.host_files import HostFile, part, read_object
from omo.errors import BadInput, Refused, Unreadable, Unwritable
from omo.shown import block, clip

Json = dict[str, Any]

KEY = "statusLine"
LONGEST_LINE = 1000
INSTALL = "omo doctor --fix statusline"
# Sourced in the shell the host has started anyway. It finds the plugin by a pointer that every session renews.
SCRIPT = """\
# Written by `omo doctor --fix statusline`: one line while omo holds the session.
CLAUDE_PLUGIN_DATA={home}
IFS= read -r CLAUDE_PLUGIN_ROOT <"$CLAUDE_PLUGIN_DATA/root" || exit 0
[ -r "$CLAUDE_PLUGIN_ROOT/hooks/launch.sh" ] || exit 0
host=claude event=statusline
. "$CLAUDE_PLUGIN_ROOT/hooks/launch.sh"
"""
# What was there is kept and runs first, with the same input; its own line ends before ours begins.
BEFORE_THEIRS = "input=$(cat); printf '%s' \"$input\" | {\n"
AFTER_THEIRS = "\n}; printf '%s' \"$input\" | "


@dataclass(frozen=True)
class Change:
    """A settings file as it is, and as it will be."""

    path: Path
    before: bytes | None
    after: str

    @property
    def is_none(self) -> bool:
        return self.before is not None and self.before.decode("utf-8", "replace") == self.after

    @property
    def diff(self) -> list[str]:
        old = "" if self.before is None else self.before.decode("utf-8-sig", "replace")
        lines = difflib.unified_diff(old.splitlines(), self.after.splitlines(), str(self.path), str(self.path), n=1)
        return [block(line.rstrip("\n"), LONGEST_LINE).replace("\n", " ") for line in lines]


def script_of(probe: Probe) -> Path:
    return probe.home / "statusline.sh"


def command_of(probe: Probe) -> str:
    name = shlex.quote(str(script_of(probe)))
    return f"{{ [ ! -r {name} ] || . {name}; }}"


def look(probe: Probe) -> Finding:
    named = [file for file in probe.host_files if part(file.values, KEY)]
    if not named:
        return ok(f"not in use; {INSTALL} shows in Claude Code what holds a session")
    last = named[-1]
    if not _is_ours(probe, last):
        ours = [file.path for file in named if _is_ours(probe, file)]
        if not ours:
            return ok(f"{last.path} shows another; {INSTALL} puts omo's beside it")
        return warn(f"{last.path} overrides the one in {ours[0]}", f"take {KEY} out of {last.path}, or leave it so")
    if not os.access(script_of(probe), os.R_OK):
        return warn(f"{last.path} calls {script_of(probe)}, which is gone", INSTALL)
    return ok(f"in {last.path}")


def _is_ours(probe: Probe, file: HostFile) -> bool:
    return command_of(probe) in str(part(file.values, KEY).get("command", ""))


def plan(probe: Probe, *, remove: bool) -> Change:
    """The user's own settings with the line in them, or without."""
    if probe.claude is None:
        raise BadInput("HOME and CLAUDE_CONFIG_DIR are unset", fix="set HOME to the user's home directory")
    path = Path(os.path.realpath(probe.claude / "settings.json"))
    try:
        before = path.read_bytes() if path.exists() else None
        values = read_object(path) or {}
    except (Unreadable, OSError) as error:
        raise Refused(f"{path} cannot be read ({error}), so it is left alone", fix="mend it, then again") from None
    after = _without(probe, values) if remove else _with(probe, values)
    text = json.dumps(after, indent=2, ensure_ascii=False) + "\n"
    is_same = after == values
    return Change(path, before, before.decode("utf-8", "replace") if before is not None and is_same else text)


def _with(probe: Probe, values: Json) -> Json:
    old, ours = values.get(KEY), command_of(probe)
    if old is None:
        return {**values, KEY: {"type": "command", "command": ours}}
    if not isinstance(old, dict) or not isinstance(old.get("command"), str):
        raise Refused(f"{KEY} is {clip(repr(old), 80)}, not a command", fix=f"take {KEY} out of the settings first")
    if ours in old["command"]:
        return values
    return {**values, KEY: {**old, "command": BEFORE_THEIRS + old["command"] + AFTER_THEIRS + ours}}


def _without(probe: Probe, values: Json) -> Json:
    old, ours = part(values, KEY), command_of(probe)
    command = str(old.get("command", ""))
    if command == ours:
        return {key: value for key, value in values.items() if key != KEY}
    after = AFTER_THEIRS + ours
    if command.startswith(BEFORE_THEIRS) and command.endswith(after):
        return {**values, KEY: {**old, "command": command[len(BEFORE_THEIRS) : -len(after)]}}
    if ours in command:
        raise Refused(f"{KEY} was changed since omo put itself there", fix=f"edit it by hand: take out {ours}")
    return values


def carry_out(probe: Probe, change: Change, *, remove: bool) -> None:
    """The script first, then the settings: what the host calls is there before it is called."""
    try:
        if not remove:
            probe.home.mkdir(parents=True, exist_ok=True)
            _write(probe.home / "root", f"{probe.plugin}\n")
            _write(script_of(probe), SCRIPT.format(home=shlex.quote(str(probe.home))))
        now = change.path.read_bytes() if change.path.exists() else None
        if now != change.before:
            raise Refused(
                f"{change.path} was changed meanwhile, so nothing was written", fix=f"{INSTALL} shows it anew"
            )
        change.path.parent.mkdir(parents=True, exist_ok=True)
        _write(change.path, change.after)
    except OSError as error:
        raise Unwritable(f"{error.filename} cannot be written: {error.strerror}", fix="make it writable") from None


def _write(path: Path, text: str) -> None:
    """Aside, then renamed over it, with the rights it had."""
    aside = path.with_name(f"{path.name}.omo-{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        if path.exists():
            os.chmod(aside, path.stat().st_mode & 0o777)
        os.replace(aside, path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
