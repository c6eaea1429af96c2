"""The way a user gets the plugin: from a marketplace, with an environment built in the first session."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from omo.cli.doctor import MODULES
from omo.hooks import messages
from tests.e2e.client import Client, environment
from tests.e2e.conftest import Stage
from tests.e2e.scripted_model import ScriptedModel, call, say
from tests.terminal import terminal

pytestmark = pytest.mark.client

# Where packages come from is the user's own setup, which the home of a test would hide.
USER_CONFIG = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
PACKAGES = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "NO_PROXY", "http", "no_proxy")
BLOCK = messages.INSTRUCTIONS.strip()


def copy_repository(root: Path, to: Path) -> None:
    """What a clone would hold, and what is not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, to / name)


@pytest.fixture
def marketplace(plugin_root: Path, tmp_path: Path) -> Path:
    path = tmp_path / "the märket place" / "omo"
    copy_repository(plugin_root, path)
    return path


def test_a_path_with_an_apostrophe(stage: Stage, tmp_path: Path, plugin_root: Path) -> None:
    stage.plugin = tmp_path / "it's a place"
    copy_repository(plugin_root, stage.plugin)
    stage.model.script(call("Bash", command="omo ulw status"), say("First."), say("First again."))
    run = stage.prompt("ulw fix the flaky tests")
    assert "ultrawork active" in stage.tool_results()[0]
    assert stage.times_told(BLOCK) == [1, 1, 1]
    assert stage.kinds(run.session_id) == ["activated:leading", "blocked:block", "allowed:cap"]


def test_installed_from_a_marketplace_it_just_works(
    client: Client, model: ScriptedModel, project: Path, home: Path, marketplace: Path
) -> None:
    stage = Stage(client, model, project, home, plugin=None)
    packages = {name: value for name, value in os.environ.items() if name.startswith(PACKAGES)}
    packages["XDG_CONFIG_HOME"] = USER_CONFIG

    def plugin(*arguments: str) -> str:
        run = client.plugin(*arguments, home=home, cwd=project)
        assert run.exit_code == 0, run.stdout + run.stderr
        return run.stdout

    plugin("marketplace", "add", str(marketplace))
    plugin("install", "omo@omo")

    model.script(call("Bash", command="omo ulw status"), say("First."), say("First again."))
    first = stage.prompt("ulw fix the flaky tests", env=packages)
    assert stage.times_told(BLOCK) == [1, 1, 1]
    assert "ultrawork active" in stage.tool_results()[0]
    assert stage.kinds(first.session_id) == ["activated:leading", "blocked:block", "allowed:cap"]
    pointer = home / ".cache" / "omo" / "environment"
    interpreter, site, *_ = pointer.read_text("utf-8").splitlines()
    assert list(pointer.parent.glob("env-*")) == [Path(interpreter).parents[1]]
    imports = f"import sys; sys.path.append(sys.argv[1]); import {', '.join(MODULES)}, PIL.Image"
    subprocess.run([interpreter, "-I", "-S", "-c", imports, site], check=True)
    built = pointer.read_bytes(), sorted(path.name for path in pointer.parent.iterdir())

    # Without the packages' index: a second build could not succeed.
    model.script(say("Second."), say("Second again."))
    second = stage.prompt("ulw fix the slow tests", env={"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull})
    assert stage.kinds(second.session_id) == ["activated:leading", "blocked:block", "allowed:cap"]
    assert (pointer.read_bytes(), sorted(path.name for path in pointer.parent.iterdir())) == built

    kept = shutil.copytree(stage.state, home / "kept")
    typed(stage, marketplace / "bin" / "omo", "setup", "path", "--yes")
    omo = home / ".local" / "bin" / "omo"
    assert "ultrawork" in typed(stage, omo, "status")
    assert "Now the plugin in Claude Code: claude plugin uninstall omo@omo" in typed(
        stage, omo, "setup", "remove", "--yes"
    )
    assert (omo.exists(), stage.state.exists(), list(pointer.parent.glob("env*"))) == (False, False, [])
    shutil.copytree(kept, stage.state)

    for command in ("disable", "uninstall"):
        plugin(command, "omo@omo")
        leaves_nothing_behind(stage, first.session_id)


def typed(stage: Stage, omo: Path, *argv: str) -> str:
    """By the user, in a terminal of their own, without the packages' index."""
    environ = environment(stage.home, None, {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull})
    with terminal() as screen:
        done = subprocess.run(
            [str(omo), *argv], cwd=stage.project, env=environ, stdin=screen, capture_output=True, text=True, check=True
        )
    return done.stdout


def leaves_nothing_behind(stage: Stage, session: str) -> None:
    """An armed session of a plugin that is gone ends its turn as any other."""
    rearm(stage, session)
    asked = len(stage.model.turns)
    stage.model.script(say("Free."))
    run = stage.prompt("ulw go on", resume=session)
    assert (run.result, len(stage.model.turns) - asked) == ("Free.", 1)
    assert [event for event in run.hook_events if event["stdout"]] == []


def rearm(stage: Stage, session: str) -> None:
    path = stage.state / "runtime.local.json"
    runtime = json.loads(path.read_text("utf-8"))
    row = runtime["sessions"][session]
    row["ulw"]["enabled"] = True
    row["work"]["ulw"]["state"] = "active"
    path.write_text(json.dumps(runtime), "utf-8")
