"""`omo setup`: shown before it is done, beside what was there, and taken away without a trace."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from omo.cli import setup
from omo.cli.doctor import Probe, checks_for, on_path
from omo.cli.main import main
from omo.context import OF_AN_AGENT, Context
from omo.errors import Refused
from omo.hosts import claude_setup
from omo.hosts.setups import OK, WARN, DoctorFinding
from tests import texts
from tests.project import Ran
from tests.terminal import terminal

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_790_000_000.0


class Desk:
    """A user with a home in a path with a space and a quote, in a project."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = directory / "it's home"
        self.project = directory / "project"
        self.project.mkdir()
        self.settings = self.home / ".claude" / "settings.json"
        self.settings.parent.mkdir(parents=True)
        self.launcher = self.home / ".local" / "bin" / "omo"
        self.environ = {
            "HOME": str(self.home),
            "OMO_ENV_HOME": str(self.home / "data"),
            "PATH": os.environ["PATH"],  # without an omo: tests/guard.py
            "SHELL": "/bin/zsh",
        }
        self._capsys = capsys

    def omo(self, *argv: str, is_script: bool = False) -> Ran:
        code = main(
            argv, self.environ, str(self.project), NOW, has_terminal=not is_script, is_under_agent=not is_script
        )
        captured = self._capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    @property
    def probe(self) -> Probe:
        return Probe(Context(self.environ, str(self.project), NOW, has_terminal=True), ROOT)

    def write(self, values: Any) -> str:
        text = values if isinstance(values, str) else json.dumps(values, indent=4)
        self.settings.write_text(text, encoding="utf-8")
        return text

    def command(self) -> str:
        return str(json.loads(self.settings.read_text(encoding="utf-8"))["statusLine"]["command"])

    def everything(self) -> set[str]:
        return {str(path.relative_to(self.home)) for path in self.home.rglob("*") if not path.is_dir()}


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path, capsys)
    monkeypatch.setenv("HOME", desk.environ["HOME"])
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    return desk


# The status line


def test_nothing_is_written_that_nobody_agreed_to(desk: Desk) -> None:
    before = desk.write({"model": "opus"})
    ran = desk.omo("setup", "statusline")
    assert (ran.code, '+  "statusLine": {' in ran.out, ran.says("adopt-nothing-was-done")) == (3, True, True)
    assert desk.omo("setup", "path").code == 3
    assert desk.settings.read_text() == before
    assert desk.everything() == {".claude/settings.json"}


def looked(desk: Desk) -> DoctorFinding:
    return checks_for(desk.probe)["statusline"](desk.probe)


def test_it_is_put_into_the_settings_and_taken_out_again(desk: Desk) -> None:
    assert looked(desk).result == OK
    assert desk.omo("setup", "statusline", "--yes").code == 0
    assert looked(desk).seen == f"in {desk.settings}"
    assert json.loads(desk.settings.read_text())["statusLine"]["refreshInterval"] == 5
    assert desk.omo("setup", "statusline", "--yes").says("setup-is-so-already", path=desk.settings)
    desk.omo("setup", "remove", "statusline", "--yes")
    assert json.loads(desk.settings.read_text()) == {}


@pytest.mark.parametrize("theirs", ["echo theirs", "cat >/dev/null; echo theirs # done", "echo 'theirs'"])
def test_another_status_line_stays_and_comes_first(desk: Desk, theirs: str) -> None:
    old = {"model": "opus", "statusLine": {"type": "command", "command": theirs, "padding": 0}}
    desk.write(old)
    desk.omo("setup", "statusline", "--yes")
    ours = desk.home / "data" / "statusline.sh"
    ours.write_text('read -r first; echo "ours saw $first"\n')
    done = subprocess.run(["sh", "-c", desk.command()], input='{"a": 1}\n', capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ('theirs\nours saw {"a": 1}\n', "")
    assert f"writes {ours}" in desk.omo("setup", "statusline").out, "it is not as it should be"
    desk.omo("setup", "remove", "--yes")
    assert json.loads(desk.settings.read_text()) == old


def test_a_line_of_before_the_plugin_was_installed_is_replaced(desk: Desk) -> None:
    del desk.environ["OMO_ENV_HOME"]
    desk.omo("setup", "statusline", "--yes")
    assert ".cache/omo/statusline.sh" in desk.command()
    desk.environ["OMO_ENV_HOME"] = str(desk.home / "data")
    desk.omo("setup", "statusline", "--yes")
    assert desk.command() == claude_setup.status_line_command(desk.probe.home)


def test_after_the_plugin_is_gone_the_line_is_empty_not_an_error(desk: Desk) -> None:
    desk.omo("setup", "statusline", "--yes")
    for gone in (desk.home / "data" / "root", desk.home / "data" / "statusline.sh"):
        gone.unlink()
        done = subprocess.run(["sh", "-c", desk.command()], input="{}", capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "")
    found = looked(desk)
    assert (found.result, found.fix) == (WARN, desk.probe.command("setup", "statusline"))
    assert desk.omo("setup", "statusline", "--yes").code == 0
    assert looked(desk).result == OK


def test_settings_that_cannot_be_read_are_left_alone(desk: Desk) -> None:
    before = desk.write('{"model": // mine\n "opus"}')
    ran = desk.omo("setup", "statusline", "--yes")
    assert (ran.code, "left alone" in ran.err) == (3, True)
    assert desk.settings.read_text() == before


def test_what_changed_between_showing_and_writing_is_not_overwritten(desk: Desk) -> None:
    desk.write({"model": "opus"})
    steps = setup.status_line_steps(desk.probe)
    newer = desk.write({"model": "sonnet"})
    with pytest.raises(Refused, match="changed meanwhile"):
        steps[-1].make()
    assert desk.settings.read_text() == newer


def test_a_linked_settings_file_stays_a_link_with_the_rights_it_had(desk: Desk) -> None:
    real = desk.home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    desk.settings.symlink_to(real)
    desk.omo("setup", "statusline", "--yes")
    assert desk.settings.is_symlink()
    assert "statusLine" in json.loads(real.read_text())
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_line_edited_since_is_not_guessed_at(desk: Desk) -> None:
    desk.omo("setup", "statusline", "--yes")
    desk.write(
        {"statusLine": {"type": "command", "command": f"date; {claude_setup.status_line_command(desk.probe.home)}"}}
    )
    ran = desk.omo("setup", "remove", "--yes")
    assert (ran.code, ran.says("host-statusline-was-changed-since-omo")) == (3, True)


@pytest.mark.parametrize("variable", OF_AN_AGENT)
def test_an_agent_sets_nothing_up_whichever_variable_it_forgot(desk: Desk, variable: str) -> None:
    desk.environ[variable] = "1"
    for verb in ("statusline", "path", "remove"):
        ran = desk.omo("setup", verb, "--yes")
        command = shlex.join([str(ROOT / "bin" / "omo"), "setup", verb])
        assert (ran.code, ran.says("setup-omo-setup-changes-what-is"), command in ran.err) == (3, True, True)
        assert desk.omo("setup", verb, "--yes", is_script=True).code == 3
    assert desk.everything() == set()


def test_a_script_sets_up_what_it_was_told_to_and_takes_nothing_away(desk: Desk) -> None:
    ran = desk.omo("setup", "path", is_script=True)
    assert (ran.code, ran.says("setup-nothing-was-done"), ran.says("setup-with-yes-it-is-done")) == (3, True, True)
    assert desk.omo("setup", "path", "--yes", is_script=True).code == 0
    assert desk.omo("setup", "statusline", "--yes", is_script=True).code == 0
    assert version_of(desk).startswith("omo 0.")
    ran = desk.omo("setup", "remove", "--yes", is_script=True)
    assert (ran.code, ran.says("setup-omo-setup-changes-what-is")) == (3, True)
    assert desk.launcher.exists()


CONSOLE = "import sys; sys.path.insert(0, sys.argv[1]); del sys.argv[:2]; from omo.cli import console; console()"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="what programs above have is looked up in /proc")
@pytest.mark.parametrize(("above", "has_terminal"), [("", False), ("setsid ", False), ("", True)])
def test_an_agents_shell_stays_one_though_it_drops_its_variables(desk: Desk, above: str, has_terminal: bool) -> None:
    argv = [sys.executable, "-c", CONSOLE, str(ROOT / "src"), "omo", "setup", "path", "--yes"]
    script = f"{above}env -u CLAUDECODE {shlex.join(argv)}; exit $?"  # no exec: the shell stays above it
    with terminal() as screen:
        done = subprocess.run(
            ["sh", "-c", script],
            env={**desk.environ, "CLAUDECODE": "1"},
            cwd=desk.project,
            stdin=screen if has_terminal else subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
    assert (done.returncode, texts.says(done.stderr, "setup-omo-setup-changes-what-is")) == (3, True), done.stdout
    assert not desk.launcher.exists()


# omo on the PATH


def version_of(desk: Desk, *, path: str = "") -> str:
    environ = {"HOME": str(desk.home), "PATH": path or os.environ["PATH"], "LC_ALL": "C.UTF-8"}
    done = subprocess.run([desk.launcher, "--version"], env=environ, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip()


def put_program(root: Path, said: str) -> None:
    """A plugin there, whose omo says so."""
    (root / "bin").mkdir(parents=True)
    (root / "bin" / "omo").write_text(f"#!/bin/sh\necho omo {said}\n")
    (root / "bin" / "omo").chmod(0o755)


def install(desk: Desk, version: str) -> Path:
    """As the host does it: into its cache, where the list of installed plugins says."""
    root = desk.home / ".claude" / "plugins" / "cache" / "omo" / "omo" / version
    put_program(root, version)
    other = {"scope": "user", "installPath": "/elsewhere/bin", "version": "1.0"}
    entry = {"scope": "user", "installPath": str(root), "version": version}
    listed = {"version": 2, "plugins": {"a@b": [other], "omo@omo": [entry], "z@b": [other]}}
    (desk.home / ".claude" / "plugins" / "installed_plugins.json").write_text(json.dumps(listed, indent=2))
    return root


def test_the_launcher_runs_the_version_that_is_installed_now(desk: Desk) -> None:
    ran = desk.omo("setup", "path", "--yes")
    assert (ran.code, f"writes {desk.launcher}" in ran.out) == (0, True)
    assert version_of(desk).startswith("omo 0."), "what has set it up, while nothing is installed"
    old = install(desk, "7.1.0")
    data = desk.home / ".claude" / "plugins" / "data" / "omo-omo"
    data.mkdir(parents=True)
    (data / "root").write_text(f"{old}\n")
    assert version_of(desk) == "omo 7.1.0"
    install(desk, "7.10.0")
    assert version_of(desk) == "omo 7.10.0", "an update counts before a session of it has begun"
    clone = desk.home / "clone"
    put_program(clone, "in place")
    (data / "root").write_text(f"{clone}\n")
    assert version_of(desk) == "omo in place", "the host runs a plugin of a directory where it lies"


@pytest.mark.parametrize("data", [".codex/plugins/data/omo-omo", ".copilot/plugin-data/omo/omo"])
def test_where_the_clone_is_gone_the_launcher_finds_what_a_host_has(desk: Desk, data: str) -> None:
    desk.omo("setup", "path", "--yes")
    text = desk.launcher.read_text()
    assert str(ROOT) in text
    desk.launcher.write_text(text.replace(str(ROOT), "/nowhere"))
    assert desk.omo("setup", "path").out.startswith(f"writes {desk.launcher}"), "which is omo's own"
    assert texts.says(version_of(desk), "setup-plugin-is-gone")
    root = desk.home / "kept by the host"
    put_program(root, "of the host")
    (desk.home / data).mkdir(parents=True)
    (desk.home / data / "root").write_text(f"{root}\n")
    assert version_of(desk) == "omo of the host"


def test_where_the_directory_is_not_on_path_the_line_to_type_is_said(desk: Desk) -> None:
    found = on_path(desk.probe)
    assert (found.result, found.seen) == (WARN, "your shell does not find omo")
    assert found.fix == shlex.join([str(ROOT / "bin" / "omo"), "setup", "path"])
    told = desk.omo("setup", "path", "--yes").out
    assert told.splitlines()[-1].strip() == "echo 'export PATH=\"$HOME/.local/bin:$PATH\"' >> ~/.zshrc"
    desk.environ["SHELL"] = "/usr/bin/fish"
    assert "\n  fish_add_path '" in desk.omo("setup", "path").out
    desk.environ["PATH"] = f"{desk.launcher.parent}:{desk.environ['PATH']}"
    assert desk.omo("setup", "path").says("setup-is-so-already", path=desk.launcher)
    assert (on_path(desk.probe).result, on_path(desk.probe).seen) == (OK, str(desk.launcher))
    desk.environ["PATH"] = desk.environ["PATH"].replace("/.local/bin:", "/.local/bin/:")
    assert desk.omo("setup", "path").says("setup-is-so-already", path=desk.launcher)


def test_a_directory_for_programs_that_is_on_path_is_taken(desk: Desk) -> None:
    own = desk.launcher.parents[2] / "bin"
    desk.environ["PATH"] = f"{own}:{desk.environ['PATH']}"
    desk.omo("setup", "path", "--yes")
    assert (own / "omo").is_file()


def test_somebody_elses_omo_is_not_overwritten_unsaid(desk: Desk) -> None:
    desk.launcher.parent.mkdir(parents=True)
    desk.launcher.write_text("#!/bin/sh\necho theirs\n")
    desk.launcher.chmod(0o755)
    desk.environ["PATH"] = f"{desk.launcher.parent}:{desk.environ['PATH']}"
    assert "another program" in on_path(desk.probe).seen
    ran = desk.omo("setup", "path")
    assert (ran.code, ran.says("setup-replaces-which-is-not-omo", path=desk.launcher)) == (3, True)
    assert version_of(desk) == "theirs"
    desk.omo("setup", "remove", "--yes")
    assert desk.launcher.exists()


# Agents, for a host that does not take them from the plugin


def test_the_agents_are_shown_by_name_and_the_next_step_after_them(desk: Desk) -> None:
    agents = desk.home / ".codex" / "agents"
    names = [path.stem for path in sorted((ROOT / "agents").glob("*.md"))]
    shown = desk.omo("setup", "codex", is_script=True)
    assert (shown.code, agents.exists()) == (3, False)
    first, *lines, last = shown.out.splitlines()
    assert first == f"writes {len(names)} agents into {agents}:"
    assert [line.split()[0] for line in lines] == [f"omo:{name}" for name in names]
    assert texts.says(last, "adopt-nothing-was-done")
    assert texts.says(last, "setup-with-yes-it-is")
    done = desk.omo("setup", "codex", "--yes").out
    assert texts.says(done.splitlines()[-1], "setup-choose-to-trust-the-hooks")
    assert [path.name for path in sorted(agents.iterdir())] == [f"omo-{name}.toml" for name in names]
    assert desk.omo("setup", "codex", "--yes").says("setup-has-agents-already", title="codex")


def test_an_agent_of_somebody_elses_is_not_overwritten_unsaid(desk: Desk) -> None:
    agents = desk.home / ".codex" / "agents"
    desk.omo("setup", "codex", "--yes")
    (agents / "omo-judge.toml").write_text('name = "mine"\n', encoding="utf-8")
    with (agents / "omo-qa.toml").open("a", encoding="utf-8") as file:
        file.write("# of an older version\n")
    shown = desk.omo("setup", "codex", is_script=True).out.splitlines()
    assert texts.says(shown[0], "setup-writes-agents", number=2, directory=f"{agents}:")
    assert [line.strip() for line in shown if "REPLACES" in line] == ["REPLACES omo-judge.toml, which is not omo's"]
    desk.omo("setup", "codex", "--yes")
    assert texts.says((agents / "omo-judge.toml").read_text(encoding="utf-8"), "host-written-by-omo-setup-codex")


# Taking it all away


def test_nothing_is_left_of_it(desk: Desk) -> None:
    desk.write({"model": "opus"})
    before = desk.everything()
    desk.omo("setup", "path", "--yes")
    desk.omo("setup", "statusline", "--yes")
    desk.omo("setup", "codex", "--yes")
    for home in (desk.home / "data", desk.home / ".claude" / "plugins" / "data" / "omo-omo"):
        (home / "env-1-1-1" / "bin").mkdir(parents=True)
        for name in ("environment", "environment-1-2", "environment.log", "root", "env-1-1-1/bin/python"):
            (home / name).touch()
    (desk.home / "data" / "mine.txt").touch()
    assert desk.omo("ulw", "start", "--session", "s1").code == 0
    assert (desk.project / ".sisyphus" / "cc-omo").is_dir()
    asked = desk.omo("setup", "remove")
    assert asked.code == 3
    lines = asked.out.splitlines()
    assert texts.says(lines[0], "setup-nothing-will-hold-them")
    assert lines[1] == f"  s1 in {desk.project}"
    assert asked.says("setup-removes-this-project-sessions-with")
    ran = desk.omo("setup", "remove", "--yes")
    assert ran.says("setup-now-plugin-in-claude-code")
    assert desk.everything() == {*before, "data/mine.txt"}
    assert json.loads(desk.settings.read_text()) == {"model": "opus"}
    assert os.listdir(desk.project) == []
    assert texts.says(desk.omo("setup", "remove").out.splitlines()[0], "setup-there-is-nothing-to-remove")


def test_what_it_did_not_put_there_stays_and_is_named(desk: Desk) -> None:
    evidence = desk.project / ".sisyphus" / "evidence"
    evidence.mkdir(parents=True)
    elsewhere = desk.home / "elsewhere" / "omo"
    elsewhere.parent.mkdir()
    desk.omo("setup", "path", "--yes")
    elsewhere.write_bytes(desk.launcher.read_bytes())
    elsewhere.chmod(0o755)
    desk.environ["PATH"] = f"{elsewhere.parent}:{desk.environ['PATH']}"
    told = desk.omo("setup", "remove", "--yes").out
    assert (desk.launcher.exists(), elsewhere.exists(), evidence.exists()) == (False, True, True)
    for path in (elsewhere, evidence):
        assert f"\n{path} stays: " in told


def test_a_link_to_a_clone_goes_and_the_clone_stays(desk: Desk) -> None:
    desk.launcher.parent.mkdir(parents=True)
    desk.launcher.symlink_to(ROOT / "bin" / "omo")
    desk.environ["PATH"] = f"{desk.launcher.parent}:{ROOT / 'bin'}:{desk.environ['PATH']}"
    desk.omo("setup", "statusline", "--yes")
    desk.omo("setup", "remove", "path", "--yes")
    assert not os.path.lexists(desk.launcher)
    assert (on_path(desk.probe).result, on_path(desk.probe).seen) == (OK, str(ROOT / "bin" / "omo"))
    assert "statusLine" in json.loads(desk.settings.read_text()), "only what was named"
    assert (ROOT / "bin" / "omo").is_file()


def test_somebody_at_a_terminal_is_asked(desk: Desk) -> None:
    argv = [sys.executable, "-c", CONSOLE, str(ROOT / "src"), "omo", "setup", "path"]
    for typed, code, said in ((b"\n", 3, "Nothing was done."), (b"y\n", 0, "Done.")):
        assert not desk.launcher.exists()
        keyboard, screen = os.openpty()
        os.write(keyboard, typed)
        done = subprocess.run(argv, env=desk.environ, cwd=desk.project, stdin=screen, capture_output=True, text=True)
        os.close(screen)
        os.close(keyboard)
        assert (done.returncode, done.stdout.splitlines()[0]) == (code, said)
        assert done.stderr.endswith("Do this? [y/N] ")
    assert desk.launcher.is_file()
