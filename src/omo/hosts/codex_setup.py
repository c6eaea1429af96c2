"""Codex on this machine: whether it has our plugin and trusts its hooks, and the agents that it cannot take from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from omo.errors import Unreadable
from omo.hosts.headless import objects_in
from omo.hosts.setups import AgentFile, DoctorFinding, HostSetup, Installed, fail, ok, unknown, warn
from omo.json_text import Json, objects, part
from omo.safe_open import read_file, regular_file
from omo.text import clip, counted

NAME, TITLE = "codex", "Codex"
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
    name, title = NAME, TITLE
    reinstall_command = "codex plugin remove omo@omo && codex plugin add omo@omo"
    uninstall_command = "codex plugin remove omo@omo && codex plugin marketplace remove omo"
    needs_agents = True
    after_agents = TRUST

    def has_plugin(self) -> bool:
        return has_plugin(self.environ)

    def data_directories(self) -> list[Path]:
        place = directory(self.environ)
        return [] if place is None else sorted(place.glob("plugins/data/omo-*"))

    def missing_agents(self, plugin: Path) -> list[AgentFile]:
        return [agent for agent in agent_files(plugin, self.environ) if not agent.is_written]

    def agents_made(self) -> list[Path]:
        place = directory(self.environ)
        if place is None:
            return []
        return [path for path in sorted(place.glob("agents/omo-*.toml")) if _is_made(path)]

    def look(self, omo: Installed) -> DoctorFinding:
        """It skips hooks that it does not trust without a word, also after any update of the plugin."""
        hooks = hooks_in(omo.ask(ASK_FOR_HOOKS, question(self.project), variables(self.environ)))
        trust = trust_in(hooks)
        if not trust:
            return unknown(f"{TITLE} did not say whether it trusts the hooks of omo", TRUST)
        doubted = [f"{event}: {status}" for event, status in trust.items() if status != TRUSTED]
        if doubted:
            return fail(f"{TITLE} skips {len(doubted)} of {len(trust)} hooks of omo, silently", TRUST, doubted)
        if not agents_are_there(omo.plugin, self.environ):
            seen = f"{TITLE} trusts the hooks, and lacks the agents that judge, review and criticise"
            return warn(seen, f"omo setup {NAME}")
        seen = f"{TITLE} trusts the hooks of omo and has its agents"
        if others := other_stop_hooks(hooks):
            too = f"{counted(len(others), 'other hook')} at Stop can hold a session too"
            return warn(f"{seen}; {too}", OTHERS, others)
        return ok(seen, details=[DAEMON])


def directory(environ: Mapping[str, str]) -> Path | None:
    """Where Codex keeps its settings, None where there is no home."""
    if named := environ.get("CODEX_HOME"):
        return Path(named)
    home = environ.get("HOME")
    return Path(home, ".codex") if home else None


def variables(environ: Mapping[str, str]) -> dict[str, str]:
    """What its programs need to find the same settings."""
    place = directory(environ)
    return {} if place is None else {"CODEX_HOME": str(place)}


def has_plugin(environ: Mapping[str, str]) -> bool:
    """Its settings name our plugin."""
    place = directory(environ)
    if place is None:
        return False
    try:
        text = read_file(place / "config.toml", LONGEST, follow_link=True)
    except OSError:
        return False
    return b'[plugins."omo@' in text


def question(project: str) -> bytes:
    """What ASK_FOR_HOOKS is given."""
    requests = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "omo", "version": "1"}}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}},
    ]
    return "".join(json.dumps(request) + "\n" for request in requests).encode()


def hooks_in(answers: str) -> list[Json]:
    """The hooks that Codex knows, ours and others; none where it did not say."""
    hooks = []
    for answer in objects_in(answers):
        if answer.get("id") == 2:
            for project in objects(part(answer, "result").get("data")):
                hooks += objects(project.get("hooks"))
    return hooks


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


def agent_files(plugin: Path, environ: Mapping[str, str]) -> list[AgentFile]:
    place = directory(environ)
    if place is None:
        raise Unreadable("HOME is unset", fix="set HOME to the user's home directory")
    files = []
    for path in sorted((plugin / "agents").glob("*.md")):
        _, head, instructions = path.read_text(encoding="utf-8").split("---\n", 2)
        about = dict(line.split(": ", 1) for line in head.splitlines())["description"]
        name = f"omo:{path.stem}"
        values = {"name": name, "description": about, "instructions": instructions.strip()}
        # What JSON quotes, TOML reads as the same text.
        quoted = {key: json.dumps(value, ensure_ascii=False) for key, value in values.items()}
        file, text = place / "agents" / f"omo-{path.stem}.toml", AGENT.format(**quoted)
        files.append(AgentFile(file, name, about, text, is_anothers=file.exists() and not _is_made(file)))
    return files


def _is_made(path: Path) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=regular_file) as file:
            return file.readline(200).strip() == MADE_BY_OMO
    except OSError:
        return False


def agents_are_there(plugin: Path, environ: Mapping[str, str]) -> bool:
    return all(agent.is_written for agent in agent_files(plugin, environ))
