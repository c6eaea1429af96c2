"""The way a user gets the plugin: from a marketplace, with an environment built in the first session."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs import make_release
from omo import __version__
from omo.cli.doctor import MODULES
from omo.hooks import messages
from tests.e2e import releases
from tests.e2e.client import Client, environment
from tests.e2e.conftest import Stage
from tests.e2e.releases import copy_repository
from tests.e2e.scripted_model import ScriptedModel, call, say
from tests.hooks.conftest import ROOT, point_at
from tests.terminal import terminal

pytestmark = pytest.mark.client

# Where packages come from is the user's own setup, which the home of a test would hide.
USER_CONFIG = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
PACKAGES = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "NO_PROXY", "http", "no_proxy")
BLOCK = messages.INSTRUCTIONS.strip()


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


def test_from_a_url_it_is_installed_in_a_line_and_the_next_version_arrives(
    client: Client, model: ScriptedModel, project: Path, home: Path, tmp_path: Path
) -> None:
    stage = Stage(client, model, project, home, plugin=None)
    clone = releases.clone(tmp_path / "clone")
    clone.release(__version__)
    clone.publish()
    following = make_release.next_version(__version__)
    ready = tmp_path / "environments"
    ready.mkdir()
    point_at(ready, sys.executable)

    def plugin(line: str) -> str:
        run = client.plugin(*line.split()[2:], home=home, cwd=project)
        assert run.exit_code == 0, run.stdout + run.stderr
        return run.stdout

    def version_in_a_session() -> str:
        model.script(call("Bash", command="omo --version"), say("That is it."))
        stage.prompt("which omo is this?", env={"OMO_ENV_HOME": str(ready)})
        return stage.tool_results()[0].strip()

    with releases.hosted(clone) as url:
        plugin(f"claude plugin install omo --marketplace {url}#release")
        assert version_in_a_session() == f"omo {__version__}"
        clone.add_section(following)
        clone.release(following)
        clone.publish()
        (update,) = re.findall(r"`(claude plugin marketplace update .*?)`", (ROOT / "README.md").read_text("utf-8"))
        for line in update.split(" && "):
            plugin(line)
        assert version_in_a_session() == f"omo {following}"

    (installed,) = home.glob(f".claude/plugins/cache/omo/omo/{__version__}")
    files = [path for path in installed.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= make_release.LARGEST
    assert not [path for path in files if "tests" in path.parts]


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
