"""Codex on this machine: whether it has our plugin and trusts its hooks, and the agents that it cannot take from it."""

from __future__ import annotations

import json
from pathlib import Path

from omo.errors import Unreadable
from omo.hosts import codex
from omo.hosts.headless import objects_in
from omo.hosts.setups import (
    SET_HOME,
    AgentFile,
    Ask,
    DoctorFinding,
    HostSetup,
    Installed,
    fail,
    ok,
    others_hold,
    unknown,
    warn,
)
from omo.json_text import Json, objects, part
from omo.safe_open import read_file, regular_file
from omo.text import clip

LONGEST = 4 * 1024 * 1024
AGENT = """\
# Written by `omo setup codex`; `omo setup remove` takes it away.
name = {name}
description = {description}
developer_instructions = {instructions}
"""
MADE_BY_OMO = AGENT.splitlines()[0]
TRUSTED = "trusted"
TRUST = "open codex in a terminal and choose to trust the hooks of omo; it asks again after every update"
DAEMON = "its daemon keeps the environment of the terminal that started it; codex --no-daemon has this one's"
OTHERS = "if a session is held though omo let go, take these away: codex plugin remove NAME, or edit the file"
# Asks its server which hooks it knows. It leaves when its input ends, so that is kept open for the answer.
ASK_FOR_HOOKS = ("sh", "-c", "{ cat; sleep 2; } | codex app-server")


class Setup(HostSetup):
    host = codex.HOST
    name, title = host.name, "Codex"
    install_command = "codex plugin marketplace add PLACE && codex plugin add omo@omo"
    reinstall_command = "codex plugin remove omo@omo && codex plugin add omo@omo"
    uninstall_command = "codex plugin remove omo@omo && codex plugin marketplace remove omo"
    needs_agents = True
    after_agents = TRUST

    def has_plugin(self) -> bool:
        return b'[plugins."omo@' in self.settings()

    def settings(self) -> bytes:
        """The user's; empty where there are none."""
        if self.directory is None:
            return b""
        try:
            return read_file(self.directory / "config.toml", LONGEST, follow_link=True)
        except OSError:
            return b""

    def hooks(self, ask: Ask) -> list[Json]:
        """Those that Codex knows, ours and others; none where it did not say."""
        variables = {}  # that its programs need to find the same settings
        if self.directory is not None:
            variables[self.host.home_variable] = str(self.directory)
        hooks = []
        for answer in objects_in(ask(ASK_FOR_HOOKS, question(self.project), variables)):
            if answer.get("id") == 2:
                for project in objects(part(answer, "result").get("data")):
                    hooks += objects(project.get("hooks"))
        return hooks

    def agent_files(self, plugin: Path) -> list[AgentFile]:
        if self.directory is None:
            raise Unreadable("HOME is unset", fix=SET_HOME)
        files = []
        for path in sorted((plugin / "agents").glob("*.md")):
            _, head, instructions = path.read_text(encoding="utf-8").split("---\n", 2)
            about = dict(line.split(": ", 1) for line in head.splitlines())["description"]
            name = f"omo:{path.stem}"
            values = {"name": name, "description": about, "instructions": instructions.strip()}
            # What JSON quotes, TOML reads as the same text.
            quoted = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
            file, text = self.directory / "agents" / f"omo-{path.stem}.toml", AGENT.format(**quoted)
            files.append(AgentFile(file, name, about, text, is_anothers=file.exists() and not _is_made(file)))
        return files

    def missing_agents(self, plugin: Path) -> list[AgentFile]:
        return [agent for agent in self.agent_files(plugin) if not agent.is_written]

    def agents_made(self) -> list[Path]:
        if self.directory is None:
            return []
        return [path for path in sorted(self.directory.glob("agents/omo-*.toml")) if _is_made(path)]

    def look(self, omo: Installed) -> DoctorFinding:
        """It skips hooks that it does not trust without a word, also after any update of the plugin."""
        hooks = self.hooks(omo.ask)
        trust = trust_in(hooks)
        if not trust:
            return unknown(f"{self.title} did not say whether it trusts the hooks of omo", TRUST)
        doubted = [f"{event}: {status}" for event, status in trust.items() if status != TRUSTED]
        if doubted:
            return fail(f"{self.title} skips {len(doubted)} of {len(trust)} hooks of omo, silently", TRUST, doubted)
        if self.missing_agents(omo.plugin):
            seen = f"{self.title} trusts the hooks, and lacks the agents that judge, review and criticise"
            return warn(seen, f"omo setup {self.name}")
        seen = f"{self.title} trusts the hooks of omo and has its agents"
        if others := other_stop_hooks(hooks):
            return warn(f"{seen}; {others_hold(others)}", OTHERS, others)
        return ok(seen, details=[DAEMON])


def question(project: str) -> bytes:
    """What ASK_FOR_HOOKS is given."""
    requests = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "omo", "version": "1"}}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}},
    ]
    return "".join(json.dumps(request) + "\n" for request in requests).encode()


def trust_in(hooks: list[Json]) -> dict[str, str]:
    """How much Codex trusts each hook of ours, by its event."""
    return {str(hook.get("eventName")): str(hook.get("trustStatus")) for hook in hooks if _is_ours(hook)}


def other_stop_hooks(hooks: list[Json]) -> list[str]:
    """What else runs at a Stop, with the plugin or file it belongs to."""
    others = []
    for hook in hooks:
        runs = hook.get("enabled") is True and hook.get("trustStatus") == TRUSTED
        if runs and hook.get("eventName") == "stop" and not _is_ours(hook):
            owner = hook.get("pluginId") or hook.get("sourcePath")
            others.append(f"{clip(str(owner), 200)}: {clip(str(hook.get('command')), 120)}")
    return others


def _is_ours(hook: Json) -> bool:
    return str(hook.get("pluginId")).startswith("omo@")


def _is_made(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_file) as file:
            return file.readline(200).strip() == MADE_BY_OMO
    except OSError:
        return False
