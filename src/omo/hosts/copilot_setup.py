"""Copilot CLI on this machine: whether it has our plugin, and who else holds a session there."""

from __future__ import annotations

import json
from pathlib import Path

from omo.errors import Unreadable
from omo.hosts import copilot
from omo.hosts.setups import (
    OK,
    UNKNOWN,
    DoctorFinding,
    HostSetup,
    Installed,
    fail,
    ok,
    others_hold,
    read_object,
    unknown,
    warn,
)
from omo.json_text import Json, objects, part
from omo.text import clip

LIST = ("copilot", "plugin", "list", "--json")
STOP_EVENTS = ("Stop", "agentStop")
OTHERS = "if a session is held though omo let go, take these away: copilot plugin disable NAME, or edit the file"


class Setup(HostSetup):
    host = copilot.HOST
    name, title = host.name, "Copilot CLI"
    oldest_tested = (1, 0, 102)
    install_command = "copilot plugin marketplace add PLACE && copilot plugin install omo@omo"
    reinstall_command = "copilot plugin uninstall omo@omo && copilot plugin install omo@omo"
    uninstall_command = "copilot plugin uninstall omo@omo && copilot plugin marketplace remove omo"
    hooks_switch = "disableAllHooks"

    def settings(self) -> Json:
        """The user's; empty where there are none."""
        if self.directory is None:
            return {}
        return read_object(self.directory / "settings.json") or {}

    def has_plugin(self) -> bool:
        """Also one that is switched off: that is worth a line. Of one that is gone its marketplace is not known."""
        try:
            settings = self.settings()
        except Unreadable:
            return False
        for name, is_on in part(settings, "enabledPlugins").items():
            plugin, _, market = name.partition("@")
            if plugin == "omo" and (is_on or market in part(settings, "extraKnownMarketplaces")):
                return True
        return False

    def switch_hooks_off(self) -> list[str]:
        return [f"{self.directory}/settings.json"] if self.settings().get(self.hooks_switch) is True else []

    def look(self, omo: Installed) -> DoctorFinding:
        settings = self.settings()
        version = self.look_at_version(omo)
        if version.result == UNKNOWN:
            return version
        ours = _ours(omo.ask(LIST, b"", {}))
        if ours is None:
            return unknown(f"{self.title} did not tell which plugins it has", f"see what {' '.join(LIST)} says")
        if not ours.get("enabled"):
            return fail(f"omo is switched off in {self.title}", "copilot plugin enable omo@omo")
        if version.result != OK:
            return version
        seen = f"{version.seen} has omo, from {clip(str(ours.get('installedFrom')), 200)}"
        if others := self._other_stop_hooks(settings):
            return warn(f"{seen}; {others_hold(others)}", OTHERS, others)
        return ok(seen)

    def _other_stop_hooks(self, settings: Json) -> list[str]:
        """Of the user and of the project; of other plugins nothing is known."""
        files: dict[str, Json] = {}
        if self.directory is not None:
            files[str(self.directory / "settings.json")] = settings
            for path in sorted(self.directory.glob("hooks/*.json")):
                files[str(path)] = read_object(path) or {}
        for path in sorted(Path(self.project).glob(".github/hooks/*.json")):
            files[str(path)] = read_object(path) or {}
        others = []
        for name, values in files.items():
            if any(part(values, "hooks").get(event) for event in STOP_EVENTS):
                others.append(name)
        return others


def _ours(printed: str) -> Json | None:
    """What it says of our plugin; None where it does not."""
    try:
        plugins = json.loads(printed)
    except ValueError:
        return None
    for plugin in objects(plugins):
        if plugin.get("name") == "omo":
            return plugin
    return None
