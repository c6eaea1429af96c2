"""`omo doctor` on machines with one thing wrong at a time: real files, real hooks, a home of their own."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from omo.cli import doctor
from omo.cli.doctor import MODULES, OF_FILES, OF_HOOKS, Probe, checks_for, examine
from omo.cli.main import main
from omo.clock import stamp
from omo.context import Context
from omo.hosts import copilot_setup, setups
from omo.hosts.setups import FAIL, OK, UNKNOWN, WARN, DoctorFinding
from omo.result import Result
from omo.state import STATE_DIR, ownership, paths, runtime, store
from omo.work import session
from tests import texts

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_790_000_000.0
ANSWERS = (OK, WARN, FAIL, UNKNOWN)
TOOLS = ("sh", "head", "sleep", "git")
DEEP = "[" * 100_000


OF_CLAUDE = ["plugin", "host-version", "block-cap", "other-stop-hooks", "statusline"]
IN_CLAUDE = [*OF_HOOKS, *OF_CLAUDE, *OF_FILES]


@dataclass
class Machine:
    """A user with a home, a project, a plugin and its Python environment."""

    directory: Path
    environment: Path
    plugin: Path = ROOT
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.user = self.directory / "user"
        self.claude = self.user / ".claude"
        self.project = self.directory / "a project"
        self.bin = self.directory / "bin"
        for directory in (self.claude, self.project, self.bin):
            directory.mkdir(parents=True)
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        (self.bin / "omo").symlink_to(ROOT / "bin" / "omo")

    @property
    def state(self) -> str:
        return paths.state_dir(str(self.project), {})

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.user),
            "PATH": str(self.bin),
            "OMO_ENV_HOME": str(self.environment),
            "CLAUDE_PROJECT_DIR": str(self.project),
            **self.variables,
        }

    @property
    def probe(self) -> Probe:
        return Probe(Context(self.environ, str(self.project), NOW, has_terminal=True), self.plugin)

    def look(self, name: str) -> DoctorFinding:
        return examine(checks_for(self.probe)[name], self.probe)

    def all(self) -> Result:
        return doctor.diagnose(self.probe)

    def names(self) -> list[str]:
        return list(checks_for(self.probe))

    def write(self, place: str, content: object) -> Path:
        """`~/…` is in the user's home, anything else in the project."""
        path = self.user / place[2:] if place.startswith("~/") else self.project / place
        if place.startswith(STATE_DIR + "/"):
            ownership.make_state_dir(self.state)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def claude_says(self, script: str) -> None:
        path = self.bin / "claude"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def own_plugin(self) -> Path:
        """A copy to damage."""
        self.plugin = self.directory / "plug in"
        shutil.copytree(ROOT / "hooks", self.plugin / "hooks")
        shutil.copy(ROOT / "requirements.txt", self.plugin)
        (self.plugin / "src").symlink_to(ROOT / "src")
        return self.plugin

    def arm(self, name: str = "s1") -> None:
        def decide(row: Any) -> runtime.Change:
            return runtime.Change(None, session.arm(row, by="user", limits={}, now=NOW), [{"kind": "activated"}])

        runtime.change_session(self.state, name, decide, actor="user", now=NOW, wait=store.CLI_WAIT)


def point(home: Path, requirements: Path) -> None:
    """The environment of the tests themselves, as hooks/environment.sh would point to it."""
    with open(requirements, "rb") as file:
        checksum, size = subprocess.run(
            ["cksum"], stdin=file, capture_output=True, text=True, check=True
        ).stdout.split()
    version = subprocess.run([sys.executable, "-V"], capture_output=True, text=True, check=True).stdout.strip()
    lines = [sys.executable, sysconfig.get_path("purelib"), f"{checksum}-{size}", version]
    home.mkdir(parents=True, exist_ok=True)
    (home / "environment").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("environment")
    point(home, ROOT / "requirements.txt")
    return home


@pytest.fixture
def machine(tmp_path: Path, environment: Path) -> Machine:
    return Machine(tmp_path, environment)


def expect(found: DoctorFinding, result: str, *words: str) -> None:
    shown = "\n".join([found.seen, *found.details, found.fix])
    assert (found.result, [word for word in words if word not in shown]) == (result, []), shown
    assert found.result == OK or found.fix


# The whole


def test_a_healthy_machine_is_ok_in_every_respect(machine: Machine) -> None:
    machine.claude_says("echo '2.1.325 (Claude Code)'")
    machine.write("~/.claude/settings.json", {"enabledPlugins": {"omo@omo": True}})
    result = machine.all()
    assert {row["name"]: row["result"] for row in result.data["checks"]} == dict.fromkeys(IN_CLAUDE, OK)
    assert (result.exit_code, result.data["counts"]) == (0, {OK: len(IN_CLAUDE)})


def test_a_failure_is_exit_3_and_what_is_to_be_typed_stays_whole(machine: Machine) -> None:
    machine.write("~/.claude/settings.json", {"enabledPlugins": {"omo@omo": False}, "env": {"OMO_DISABLE": "1"}})
    result = doctor.diagnose(machine.probe)
    assert (result.exit_code, "claude plugin enable omo@omo" in result.text) == (3, True)


def test_looking_changes_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where live sessions are noted: the Stop that the doctor tries holds a session of its own."""
    monkeypatch.setenv("HOME", str(machine.user))
    machine.arm()
    machine.write(".sisyphus/cc-omo/hooks.log", "1789999990 stop KeyError: 'x'\n")
    machine.write("~/.claude/settings.json", "{ torn")
    before = snapshot(machine)
    machine.all()
    assert snapshot(machine) == before


def snapshot(machine: Machine) -> dict[str, bytes | None]:
    found = [*machine.user.rglob("*"), *machine.project.rglob("*")]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def test_nothing_from_a_file_reaches_the_terminal_raw(machine: Machine) -> None:
    nasty = "\x1b[2J\r\u202e\ud800" + "x" * 5000
    stop = {"hooks": {"Stop": [{"hooks": [{"command": nasty}]}]}}
    machine.write("~/.claude/settings.json", {"enabledPlugins": {f"omo@{nasty}": False}, "env": {"OMO_KEYWORD": nasty}})
    machine.write(".claude/settings.json", stop)
    machine.write(".sisyphus/cc-omo/hooks.log", "1789999990 stop \x1b[2J\u202e boom\n")
    text = machine.all().text
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(map(len, text.split("\n"))) < 2100


def test_a_check_that_breaks_is_unknown(machine: Machine) -> None:
    def breaks(probe: Probe) -> DoctorFinding:
        raise ZeroDivisionError("by design")

    expect(examine(breaks, machine.probe), UNKNOWN, "ZeroDivisionError: by design")


def test_a_clone_that_was_moved(machine: Machine) -> None:
    """The host reads a plugin of a directory in place. Where that is gone it loads nothing, and tells nobody."""
    clone = machine.directory / "clone"
    clone.mkdir()
    machine.write("~/.claude/settings.json", {"enabledPlugins": {"omo@omo": True}})
    entry = {"source": {"source": "directory", "path": str(clone)}, "installLocation": str(clone)}
    machine.write("~/.claude/plugins/known_marketplaces.json", {"omo": entry})
    assert machine.look("plugin").result == OK
    clone.rename(machine.directory / "moved")
    found = machine.look("plugin")
    assert (found.result, texts.says(found.seen, "host-claude-code-reads-from-which", directory=clone)) == (FAIL, True)
    assert texts.says(found.fix, "host-in-clone-of-omo-that")
    strange_ones: list[Any] = [{"omo": {"installLocation": 3}}, {"omo": []}, {"omo": {"installLocation": "a\0b"}}, {}]
    for strange in strange_ones:
        machine.write("~/.claude/plugins/known_marketplaces.json", strange)
        assert machine.look("plugin").result == OK


def test_a_plugin_directory_that_is_gone(machine: Machine) -> None:
    machine.plugin = machine.directory / "gone"
    result = machine.all()
    assert [row["name"] for row in result.data["checks"]] == IN_CLAUDE
    assert "the check itself failed" not in result.text
    assert result.exit_code == 3


def test_the_command(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"], machine.environ, str(machine.project), NOW) == 0
    assert capsys.readouterr().out.startswith("ok       environment")
    assert main(["doctor", "--json"], machine.environ, str(machine.project), NOW) == 0
    printed = capsys.readouterr()
    data = json.loads(printed.out)
    assert data["ok"] is True
    assert {tuple(row) for row in data["checks"]} == {("name", "result", "seen", "fix", "details")}
    for line in printed.err.splitlines():
        assert line.startswith("omo: looking at "), "how far it is, where it is slow"


# Lists that are kept twice


def test_the_modules_are_those_the_installer_verifies() -> None:
    listed = re.search(r"^MODULES='(.*)'$", (ROOT / "hooks" / "environment.sh").read_text(), re.MULTILINE)
    assert listed is not None
    assert tuple(listed[1].split()) == MODULES


# Python


def test_no_environment(machine: Machine) -> None:
    machine.environment = machine.directory / "no such"
    found = machine.look("environment")
    expect(found, FAIL, str(machine.environment))
    assert found.fix == "omo setup environment"
    expect(machine.look("stop"), OK, "is blocked")  # hooks need none


def test_a_failed_build_is_quoted(machine: Machine) -> None:
    machine.environment = machine.directory / "half"
    machine.environment.mkdir()
    (machine.environment / "environment.log").write_text("+ pip install\nomo: the disk is full\n\n")
    expect(machine.look("environment"), FAIL, "omo: the disk is full")


def test_an_environment_for_other_requirements(machine: Machine) -> None:
    machine.own_plugin()
    with open(machine.plugin / "requirements.txt", "a") as file:
        file.write("filelock-x==9.9 \\\n    --hash=sha256:00\norjson==0.0.1\n")
    expect(machine.look("environment"), FAIL, "no Python environment for this requirements.txt")


def test_packages_that_do_not_import(machine: Machine) -> None:
    machine.environment = machine.directory / "other"
    point(machine.environment, ROOT / "requirements.txt")
    pointer = machine.environment / "environment"
    empty = machine.directory / "empty"
    empty.mkdir()
    lines = pointer.read_text().splitlines()
    pointer.write_text("\n".join([lines[0], str(empty), *lines[2:]]) + "\n")
    expect(machine.look("environment"), FAIL, "pydantic does not import: ModuleNotFoundError")


@pytest.mark.parametrize("script", [None, "echo Python 3.9.18", "exit 49"])
def test_an_interpreter_that_is_gone_or_another_than_it_was(machine: Machine, script: str | None) -> None:
    machine.environment = machine.directory / "other"
    point(machine.environment, ROOT / "requirements.txt")
    interpreter = machine.environment / "python"
    if script is not None:
        interpreter.write_text(f"#!/bin/sh\n{script}\n")
        interpreter.chmod(0o755)
    pointer = machine.environment / "environment"
    pointer.write_text("\n".join([str(interpreter), *pointer.read_text().splitlines()[1:]]) + "\n")
    expect(machine.look("environment"), FAIL, "no Python environment", "omo setup environment")


# Hooks


def remove(name: str) -> Callable[[Path], object]:
    return lambda plugin: (plugin / name).unlink()


def put(name: str, text: str) -> Callable[[Path], object]:
    return lambda plugin: (plugin / name).write_text(text)


def crlf(plugin: Path) -> None:
    path = plugin / "hooks" / "launch.sh"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def stop_command(command: str) -> Callable[[Path], object]:
    return put("hooks/hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}}))


BROKEN_HANDLER = (
    "import sys\n"
    f"sys.path[:0] = [{str(ROOT / 'src')!r}, sys.argv[2]]\n"
    "from omo.hooks import main, stop\n"
    "stop.handle = lambda event, world: {}['gone']\n"
    "main.run('stop')\n"
)


@pytest.mark.parametrize(
    ("damage", "check", "result", "words"),
    [
        (remove("hooks/event.py"), "hook-files", FAIL, "hooks/event.py is missing"),
        (remove("hooks/launch.sh"), "hook-files", FAIL, "hooks/launch.sh is missing"),
        (remove("hooks/session-start.sh"), "hook-files", FAIL, "hooks/session-start.sh is missing"),
        (remove("hooks/hooks.json"), "hook-files", FAIL, "hooks.json is missing"),
        (put("hooks/hooks.json", "{"), "hook-files", FAIL, "not valid JSON"),
        (put("hooks/hooks.json", "[]"), "hook-files", FAIL, "not an object"),
        (put("hooks/hooks.json", '{"hooks": {"Stop": 3}}'), "hook-files", FAIL, "nothing for Stop"),
        (put("hooks/hooks.json", '{"Stop": []}'), "hook-files", FAIL, "registers no hooks"),
        (crlf, "stop", FAIL, "an idle Stop"),
        (remove("hooks/hooks.json"), "stop", UNKNOWN, "hooks.json is missing"),
        (stop_command("exit 3"), "stop", FAIL, "an idle Stop did not end well (exit 3"),
        (stop_command("echo hello from a profile"), "stop", FAIL, "said: hello from a profile"),
        (stop_command("kill -9 $$"), "stop", FAIL, "signal 9"),
        (put("hooks/event.py", "raise SystemExit(1)"), "stop", FAIL, "is not blocked"),
        (put("hooks/event.py", BROKEN_HANDLER), "stop", FAIL, "KeyError: 'gone'"),
        (lambda plugin: None, "hook-files", OK, "files present"),
        (lambda plugin: None, "stop", OK, "in silence, one with open work is blocked"),
    ],
)
def test_hooks(machine: Machine, damage: Callable[[Path], object], check: str, result: str, words: str) -> None:
    damage(machine.own_plugin())
    expect(machine.look(check), result, words)


def test_no_sh(machine: Machine) -> None:
    (machine.bin / "sh").unlink()
    for check in ("environment", "stop"):
        expect(machine.look(check), UNKNOWN, "sh is not on PATH")


def test_a_state_directory_above_the_temporary_one_is_not_found(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(machine.project))
    machine.arm("omo-doctor")
    expect(machine.look("stop"), OK)


@pytest.mark.parametrize(
    ("variables", "result", "words"),
    [
        ({}, OK, "nothing switches"),
        ({"OMO_DISABLE": "0"}, OK, "nothing switches"),
        ({"OMO_DISABLE": "yes"}, WARN, "unset OMO_DISABLE"),
        ({"OMO_SKIP_HOOKS": "stop"}, WARN, "stop"),
    ],
)
def test_switches(machine: Machine, variables: dict[str, str], result: str, words: str) -> None:
    machine.variables.update(variables)
    expect(machine.look("switches"), result, words)


def test_a_switch_in_the_hosts_settings_counts(machine: Machine) -> None:
    machine.write(".claude/settings.local.json", {"env": {"OMO_DISABLE": 1, "OMO_X": None}})
    expect(machine.look("switches"), WARN, "OMO_DISABLE")


# The host

USER, PROJECT, LOCAL = "~/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"
ON, OFF = {"enabledPlugins": {"omo@omo": True}}, {"enabledPlugins": {"omo@omo": False}}


@pytest.mark.parametrize(
    ("files", "check", "result", "words"),
    [
        ({}, "plugin", UNKNOWN, "--plugin-dir"),
        ({USER: {"enabledPlugins": {"other@omo": True}}}, "plugin", UNKNOWN, "not installed"),
        ({USER: ON}, "plugin", OK, "omo@omo is enabled"),
        ({PROJECT: ON}, "plugin", OK, "enabled"),
        ({LOCAL: {"enabledPlugins": {"omo@mine": ["1.0"]}}}, "plugin", OK, "omo@mine"),
        ({USER: OFF}, "plugin", FAIL, "claude plugin enable omo@omo"),
        ({USER: ON, LOCAL: OFF}, "plugin", FAIL, "disabled"),
        ({USER: OFF, PROJECT: ON}, "plugin", OK, "enabled"),
        ({USER: OFF, PROJECT: {"enabledPlugins": {"omo@inline": True}}}, "plugin", OK, "omo@inline"),
        ({USER: "\ufeff" + json.dumps(ON)}, "plugin", OK, "enabled"),
        ({USER: ON, PROJECT: "{"}, "plugin", WARN, "not valid JSON"),
        ({USER: OFF, PROJECT: "{"}, "plugin", FAIL, "disabled"),
        ({}, "switches", OK, ""),
        ({USER: "{"}, "switches", UNKNOWN, "not valid JSON"),
        ({USER: {"disableAllHooks": False}}, "switches", OK, ""),
        ({USER: {"disableAllHooks": True}}, "switches", FAIL, "settings.json"),
        ({LOCAL: {"disableAllHooks": True}}, "switches", FAIL, "settings.local.json"),
    ],
)
def test_settings_of_the_host(machine: Machine, files: dict[str, Any], check: str, result: str, words: str) -> None:
    for place, content in files.items():
        machine.write(place, content)
    expect(machine.look(check), result, words)


def test_the_hosts_directory_can_be_elsewhere(machine: Machine) -> None:
    machine.variables["CLAUDE_CONFIG_DIR"] = str(machine.directory / "config")
    (machine.directory / "config").mkdir()
    (machine.directory / "config" / "settings.json").write_text(json.dumps(ON))
    machine.write(USER, OFF)
    expect(machine.look("plugin"), OK, "enabled")


@pytest.mark.parametrize(
    ("script", "result", "words"),
    [
        (None, UNKNOWN, "not on PATH"),
        ("echo '2.1.325 (Claude Code)'", OK, "2.1.325"),
        ("echo 2.1.197", OK, "2.1.197"),
        ("echo 2.1.99", WARN, "older than 2.1.197"),
        ("echo 10.0.0", OK, "10.0.0"),
        ("echo no idea", UNKNOWN, "claude --version tells no version: no idea"),
        ("exit 1", UNKNOWN, "claude --version tells no version"),
    ],
)
def test_version_of_the_host(machine: Machine, script: str | None, result: str, words: str) -> None:
    if script is not None:
        machine.claude_says(script)
    expect(machine.look("host-version"), result, words)


@pytest.mark.long
def test_only_hosts_that_have_omo_are_spoken_of(machine: Machine) -> None:
    assert machine.names() == IN_CLAUDE, "nobody has it yet"
    machine.variables["CODEX_HOME"] = str(machine.user)
    (machine.user / "config.toml").write_text('[plugins."omo@omo"]\nenabled = true\n', "utf-8")
    assert machine.names() == [*OF_HOOKS, "codex", *OF_FILES]
    assert "Claude" not in machine.all().text
    expect(machine.look("codex"), UNKNOWN, "did not say whether it trusts the hooks")
    machine.variables["COPILOT_HOME"] = str(machine.directory / "of copilot")
    settings = machine.directory / "of copilot" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"omo@omo": true}}', "utf-8")
    assert machine.names() == [*OF_HOOKS, "codex", "copilot", *OF_FILES]
    machine.write(USER, OFF)
    assert machine.names() == [*OF_HOOKS, *OF_CLAUDE, "codex", "copilot", *OF_FILES]
    settings.write_text('{"enabledPlugins": {"omo@omo": false}, "extraKnownMarketplaces": {}}', "utf-8")  # taken out
    assert "copilot" not in machine.names()
    settings.write_text('{"enabledPlugins": {"omo@omo": false}, "extraKnownMarketplaces": {"omo": {}}}', "utf-8")
    assert "copilot" in machine.names()


@pytest.mark.parametrize(
    ("version", "plugins", "result", "words"),
    [
        ("GitHub Copilot CLI 1.0.102.", '[{"name": "omo", "enabled": true}]', OK, "Copilot CLI 1.0.102 has omo"),
        ("GitHub Copilot CLI 1.0.99.", '[{"name": "omo", "enabled": true}]', WARN, "older than 1.0.102"),
        ("GitHub Copilot CLI 1.0.102.", '[{"name": "omo", "enabled": false}]', FAIL, "switched off"),
        ("GitHub Copilot CLI 1.0.99.", '[{"name": "omo", "enabled": false}]', FAIL, "switched off"),
        ("GitHub Copilot CLI 1.0.102.", "[]", UNKNOWN, "did not tell which plugins"),
        ("GitHub Copilot CLI 1.0.102.", "no idea", UNKNOWN, "did not tell which plugins"),
        ("no idea", "[]", UNKNOWN, "copilot --version tells no version: no idea"),
    ],
)
def test_what_is_said_of_copilot(machine: Machine, version: str, plugins: str, result: str, words: str) -> None:
    printed = {("copilot", "--version"): version, copilot_setup.LIST: plugins}
    setup = copilot_setup.Setup({"COPILOT_HOME": str(machine.directory)}, str(machine.directory))
    asked = setups.Installed(ROOT, machine.environment, 8, lambda command, stdin, environ: printed[tuple(command)])
    expect(setup.look(asked), result, words)


def test_another_stop_hook_of_copilots_user_is_named(machine: Machine) -> None:
    plugins = '[{"name": "omo", "enabled": true}]'
    printed = {("copilot", "--version"): "GitHub Copilot CLI 1.0.102.", copilot_setup.LIST: plugins}
    (machine.directory / "hooks").mkdir()
    (machine.directory / "hooks" / "a.json").write_text('{"hooks": {"agentStop": [{}]}}', "utf-8")
    setup = copilot_setup.Setup({"COPILOT_HOME": str(machine.directory)}, str(machine.project))
    asked = setups.Installed(ROOT, machine.environment, 8, lambda command, stdin, environ: printed[tuple(command)])
    assert setup.look(asked).details == [str(machine.directory / "hooks" / "a.json")]


def test_the_switch_of_every_host_that_has_omo_is_looked_at(machine: Machine) -> None:
    machine.variables["COPILOT_HOME"] = str(machine.directory / "of copilot")
    settings = machine.directory / "of copilot" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"omo@omo": true}, "disableAllHooks": true}', "utf-8")
    machine.write(USER, OFF)
    expect(machine.look("switches"), FAIL, f"disableAllHooks is true in {settings}")


def test_a_host_that_hangs(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omo.cli.doctor.PATIENCE", 0.2)
    machine.claude_says("exec sleep 60")
    expect(machine.look("host-version"), UNKNOWN, "tells no version")


@pytest.mark.parametrize(
    ("cap", "ours", "result", "words"),
    [
        (None, None, OK, "after 8 blocks, Claude Code after 8"),
        (None, "20", WARN, "after 8 blocks in a row without a tool call, omo would after 20"),
        ("4", None, WARN, "OMO_MAX_STOP_BLOCKS=4"),
        ("30", "20", OK, "Claude Code after 30"),
        ("0", "20", OK, "cap is off"),
        ("-1", "20", OK, "cap is off"),
        ("many", None, WARN, "'many'"),
    ],
)
def test_block_cap(machine: Machine, cap: str | None, ours: str | None, result: str, words: str) -> None:
    given = {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap, "OMO_MAX_STOP_BLOCKS": ours}
    machine.variables.update({name: value for name, value in given.items() if value is not None})
    expect(machine.look("block-cap"), result, words)


def test_the_plugins_options_in_the_hosts_settings_count(machine: Machine) -> None:
    machine.write(USER, {"pluginConfigs": {"omo@mk": {"options": {"max_stop_blocks": 9}}, "x@mk": 3}})
    expect(machine.look("block-cap"), WARN, "omo would after 9")
    expect(machine.look("settings"), OK, "max_stop_blocks = 9 (CLAUDE_PLUGIN_OPTION_MAX_STOP_BLOCKS)")


# Others at Stop

INSTALLED = "~/.claude/plugins/installed_plugins.json"
BLOCKER = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "node stop.js"}]}]}}
QUIET = {"hooks": {"Stop": [{"hooks": [{"command": "ding", "async": True}]}], "SessionStart": [{"hooks": [{}]}]}}


@pytest.mark.parametrize(
    ("plugins", "hooks", "result", "words"),
    [
        ({"x@y": {"installPath": "@"}}, BLOCKER, WARN, "x@y: node stop.js"),
        (
            {"x@y": [{"installPath": "@"}, {"installPath": "@"}]},
            BLOCKER,
            WARN,
            "1 other hook at Stop",
        ),
        ({"x@y": [{"installPath": "@"}]}, QUIET, OK, "no other"),
        ({"x@y": [{"installPath": "@"}]}, {"hooks": {"Stop": [3, {"hooks": 3}, {"hooks": [3]}]}}, OK, "no other"),
        ({"x@y": [{"installPath": "@"}]}, "{", UNKNOWN, "not valid JSON"),
        ({"omo@y": [{"installPath": "@"}]}, BLOCKER, OK, "no other"),
        ({"off@y": [{"installPath": "@"}]}, BLOCKER, OK, "no other"),
        ({"x@y": [{"installPath": "@", "projectPath": "/elsewhere"}]}, BLOCKER, OK, "no other"),
        ({"x@y": [{"installPath": "/no/such"}, {"installPath": 3}, 3, None]}, BLOCKER, OK, "no other"),
        ({"x@y": {"installPath": "a\0b"}}, BLOCKER, UNKNOWN, "no usable path"),
        ({"x@y": {"installPath": "\ud800"}}, BLOCKER, UNKNOWN, "no usable path"),
        ("what", BLOCKER, OK, "no other"),
    ],
)
def test_other_plugins(machine: Machine, plugins: Any, hooks: object, result: str, words: str) -> None:
    other = machine.directory / "other"
    machine.write(USER, {"enabledPlugins": {"off@y": False}})
    machine.write("~/../other/hooks/hooks.json", hooks)
    text = json.dumps({"version": 2, "plugins": plugins}).replace('"@"', json.dumps(str(other)))
    machine.write(INSTALLED, text)
    expect(machine.look("other-stop-hooks"), result, words)


def test_stop_hooks_of_the_user(machine: Machine) -> None:
    machine.write(PROJECT, BLOCKER)
    machine.write(INSTALLED, "{")
    expect(machine.look("other-stop-hooks"), WARN, ".claude/settings.json: node stop.js", "installed_plugins.json")


# State


def test_looking_leaves_the_state_directory_as_it_was(machine: Machine) -> None:
    expect(machine.look("state-directory"), OK, "not there yet", str(machine.project))
    assert list(machine.project.iterdir()) == []
    machine.arm()
    before = os.listdir(machine.state)
    expect(machine.look("state-directory"), OK, "is writable")
    assert os.listdir(machine.state) == before


def test_a_disk_on_which_files_can_be_made_and_not_written(machine: Machine) -> None:
    machine.arm()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        found = machine.look("state-directory")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    expect(found, FAIL, "cannot be written", "OMO_STATE_DIR")


@pytest.mark.parametrize("place", [".sisyphus", ".sisyphus/cc-omo"])
def test_a_file_in_place_of_the_state_directory(machine: Machine, place: str) -> None:
    machine.write(place, "")
    expect(machine.look("state-directory"), FAIL, "OMO_STATE_DIR")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
@pytest.mark.parametrize("place", [".", ".sisyphus/cc-omo"])
def test_a_read_only_directory(machine: Machine, place: str) -> None:
    directory = machine.project / place
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o500)
    expect(machine.look("state-directory"), FAIL, "OMO_STATE_DIR")
    directory.chmod(0o700)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{ torn", "move it away"),
        ("", "move it away"),
        (DEEP, "move it away"),
        ({"sessions": []}, "move it away"),
        ({"sessions": {"s1": 3}}, "session s1 is not an object"),
        ({"version": 99, "sessions": {}}, "update the plugin"),
    ],
)
def test_a_runtime_file_nobody_can_read(machine: Machine, content: object, words: str) -> None:
    machine.write(".sisyphus/cc-omo/runtime.local.json", content)
    expect(machine.look("runtime-file"), FAIL, words)


def test_sessions_are_counted(machine: Machine) -> None:
    expect(machine.look("runtime-file"), OK, "0 sessions, 0 live")
    machine.arm("s1")
    machine.arm("s2")
    expect(machine.look("runtime-file"), OK, "2 sessions, 2 live")


@pytest.mark.parametrize(
    ("text", "result", "words"),
    [
        ("", OK, ["no error"]),
        (f"{stamp(NOW)} stop KeyError: 'x'\n", WARN, ["a hook failed", f"{stamp(NOW)} stop KeyError: 'x'"]),
        (f"{stamp(NOW)} stop Busy: held\nsecond line\n", WARN, ["stop Busy: held", "second line"]),
        ("no time at all\n", WARN, ["no time at all"]),
        (f"{'9' * 5000} stop\n", WARN, ["a hook failed"]),
        ("".join(f"{stamp(NOW + n)} e{n} x\n" for n in range(9)), WARN, ["e6", "e7", "e8"]),
    ],
)
def test_the_log_of_the_hooks(machine: Machine, text: str, result: str, words: list[str]) -> None:
    machine.write(".sisyphus/cc-omo/hooks.log", text)
    found = machine.look("hook-errors")
    expect(found, result, *words)
    assert len(found.details) <= 3


# Settings


def test_refused_settings_are_named_beside_those_in_force(machine: Machine) -> None:
    machine.variables["OMO_MAX_HOURS"] = "never"
    machine.write(".sisyphus/omo.json", {"max_stop_blocks": 5, "colour": "red"})
    expect(
        machine.look("settings"),
        WARN,
        "OMO_MAX_HOURS: 'never' is not a number",
        "'colour' is no setting",
        "max_stop_blocks = 5 (.sisyphus/omo.json: max_stop_blocks)",
        "max_hours = 8.0 (default)",
    )


# Weird files

FILES = (USER, PROJECT, LOCAL, INSTALLED, ".sisyphus/omo.json", ".sisyphus/cc-omo/runtime.local.json")
SLOW = ("stop", "environment")
WEIRD: tuple[object, ...] = (
    "",
    "\0",
    DEEP,
    [],
    3,
    None,
    {"enabledPlugins": [], "hooks": [], "env": 3, "pluginConfigs": {"omo@x": []}, "plugins": 3, "sessions": 3},
    {"enabledPlugins": {"omo@x": None}, "hooks": {"Stop": {"a": 1}}, "env": {"A": [], "B": {}}, "plugins": [[], None]},
    {"hooks": {"Stop": [{"hooks": [{"command": 3}]}]}, "plugins": {"": {"installPath": ""}}, "sessions": {"": {}}},
    {"sessions": {"s": {"ulw": {"enabled": True}, "ledger": [], "work": {"ulw": 3}}}, "max_hours": {}, "keyword": []},
)


@pytest.mark.parametrize("content", WEIRD, ids=lambda content: repr(content)[:40])
def test_no_file_breaks_a_check(machine: Machine, content: object) -> None:
    for place in FILES:
        machine.write(place, content)
    checks = checks_for(machine.probe)
    found = {name: examine(check, machine.probe) for name, check in checks.items() if name not in SLOW}
    assert [name for name, one in found.items() if "the check itself failed" in one.seen] == []


def test_a_pipe_is_not_waited_for(machine: Machine) -> None:
    for place in (USER, INSTALLED, ".sisyphus/cc-omo/hooks.log"):
        path = machine.write(place, "")
        path.unlink()
        os.mkfifo(path)
    started = time.monotonic()
    expect(machine.look("plugin"), WARN, "it is no file")
    expect(machine.look("other-stop-hooks"), UNKNOWN, "it is no file")
    expect(machine.look("hook-errors"), WARN, "it is no file")
    assert time.monotonic() - started < 60


def test_a_giant_is_not_read(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setups, "LONGEST", 100)
    machine.write(USER, {"enabledPlugins": {"x" * 100: True}})
    expect(machine.look("plugin"), WARN, "larger than 100 bytes")


def test_no_home_at_all(machine: Machine) -> None:
    """Then nothing says which state is the user's, and nothing can be turned on."""
    os.environ["HOME"] = ""
    machine.variables |= {"HOME": "", "OMO_DISABLE": "1"}
    expect(machine.look("state-directory"), FAIL, "set XDG_STATE_HOME to a directory outside the project")
    result = machine.all()
    assert (result.exit_code, result.data["counts"][WARN] >= 1) == (3, True)
    assert {row["result"] for row in result.data["checks"]} <= set(ANSWERS)


def test_a_machine_without_git_is_told(machine: Machine) -> None:
    assert machine.look("git").result == OK
    (machine.bin / "git").unlink()
    expect(machine.look("git"), WARN, "not on PATH", "install git")
