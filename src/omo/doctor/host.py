"""What the host makes of us: is the plugin on, may hooks run, which version, who else holds a Stop."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omo.doctor.finding import Finding, Probe, fail, ok, unknown, warn, why
from omo.doctor.host_files import Json, enabled_plugins, handlers, is_ours, read_object
from omo.errors import Unreadable
from omo.shown import clip

OLDEST_TESTED = (2, 1, 197)
CAP = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
DEFAULT_CAP = 8


def plugin(probe: Probe) -> Finding:
    unread = [file.problem for file in probe.host_files if file.problem]
    ours = {key: value for key, value in enabled_plugins(probe.host_files).items() if is_ours(key)}
    on = [key for key, value in ours.items() if value]
    if ours and not on:
        key = next(iter(ours))
        return fail(f"{key} is disabled", shlex.join(["claude", "plugin", "enable", clip(key, 100)]), unread)
    if unread:
        return warn("a settings file of the host cannot be read, so it does not count", "mend its JSON", unread)
    if on:
        return ok(f"{', '.join(on)} is enabled")
    return unknown(
        "not installed as a plugin, or loaded with --plugin-dir",
        "claude plugin install omo@omo; nothing to do if you start claude with --plugin-dir",
    )


def hooks_allowed(probe: Probe) -> Finding:
    off = [str(file.path) for file in probe.host_files if file.values.get("disableAllHooks") is True]
    if off:
        return fail(f"disableAllHooks is true in {', '.join(off)}", "remove disableAllHooks there")
    if unread := [file.problem for file in probe.host_files if file.problem]:
        return unknown("whether a settings file switches hooks off is not known", "mend its JSON", unread)
    return ok("no settings file switches hooks off")


def version(probe: Probe) -> Finding:
    oldest = ".".join(map(str, OLDEST_TESTED))
    fix = f"see that claude --version prints {oldest} or newer"
    asked = probe.run("claude", "--version")
    if asked.not_found:
        return unknown("claude is not on PATH", fix)
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", asked.stdout) if asked.ok else None
    if found is None:
        return unknown(f"claude --version did not tell ({why(asked)})", fix)
    if tuple(map(int, found.groups())) < OLDEST_TESTED:
        return warn(
            f"Claude Code {found[0]} is older than {oldest}, the oldest the hooks were tested with", "claude update"
        )
    return ok(f"Claude Code {found[0]}")


def block_cap(probe: Probe) -> Finding:
    """The host has a limit of its own; ours should come first, since it says why."""
    ours = probe.settings.values["max_stop_blocks"]
    text = probe.environ.get(CAP, "").strip()
    try:
        cap = int(text) if text else DEFAULT_CAP
    except ValueError:
        return warn(f"{CAP} is {text!r}, not a whole number; what the host makes of it is not known", f"unset {CAP}")
    if cap <= 0:
        return ok(f"the host's cap is off; omo lets go after {ours} blocks")
    if cap < ours:
        return warn(
            f"the host ends a turn first: after {cap} blocks in a row without a tool call, omo would after {ours}",
            f"set OMO_MAX_STOP_BLOCKS={cap}, or {CAP}={ours}",
        )
    return ok(f"omo lets go after {ours} blocks, the host after {cap}")


def other_stop_hooks(probe: Probe) -> Finding:
    problems: list[str] = []
    found = [f"{file.path}: {what}" for file in probe.host_files for what in _can_block(file.values)]
    for name, directory in _installed(probe, problems):
        try:
            values = read_object(directory / "hooks" / "hooks.json") or {}
        except Unreadable as error:
            problems.append(error.message)
            continue
        found += [f"{name}: {what}" for what in _can_block(values)]
    if found:
        fix = "if a session is held though omo let go, switch these off: claude plugin disable NAME, or edit the file"
        return warn(f"{len(found)} other hooks run at Stop and can hold a session too", fix, found + problems)
    if problems:
        return unknown("not every plugin's hooks could be read", "reinstall the plugins named", problems)
    return ok("no other hook runs at Stop")


def _can_block(values: Json) -> list[str]:
    """What runs at Stop. The answer of an async handler comes too late to hold anything."""
    return [_what(one) for one in handlers(values, "Stop") if one.get("async") is not True or one.get("asyncRewake")]


def _what(handler: Json) -> str:
    parts = [handler.get(key) for key in ("command", "prompt", "url", "tool")]
    return clip(next((part for part in parts if isinstance(part, str)), str(handler.get("type"))), 120)


def _installed(probe: Probe, problems: list[str]) -> Iterator[tuple[str, Path]]:
    """Name and directory of each plugin that is not ours, not switched off and not another project's."""
    if probe.claude is None:
        return
    try:
        values = read_object(probe.claude / "plugins" / "installed_plugins.json") or {}
    except Unreadable as error:
        problems.append(error.message)
        return
    switches = enabled_plugins(probe.host_files)
    seen = set()
    for name, entry in _entries(values.get("plugins")):
        directory = entry.get("installPath")
        elsewhere = entry.get("projectPath") not in (None, probe.context.root)
        if not isinstance(directory, str) or elsewhere or is_ours(name) or switches.get(name) is False:
            continue
        if (name, directory) not in seen:
            seen.add((name, directory))
            yield name, Path(directory)


def _entries(plugins: Any) -> Iterator[tuple[str, Json]]:
    """The host wrote `{id: {…}}`, writes `{id: [{…}]}`, and a plain list is read too."""
    rows = plugins.items() if isinstance(plugins, dict) else [("", plugins)]
    for name, value in rows:
        for entry in value if isinstance(value, list) else [value]:
            if isinstance(entry, dict):
                yield name or str(entry.get("id") or entry.get("name") or "a plugin"), entry
