"""The cases of evals/ in `claude plugin eval`, as somebody with a key would run them, with the bench's agents."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from bench import told
from tests.docs import pages
from tests.e2e.client import Client, environment
from tests.e2e.scripted_model import ScriptedModel
from tests.hooks.conftest import point_at

pytestmark = pytest.mark.client

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "evals").glob("*/case.yaml"))
BUILDS = 'OMO_ENV_HOME="$HOME/.cache/omo" "$(dirname "$0")/../../bin/omo" setup environment\n'
PROBE = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--unshare-net", "--unshare-pid", "--proc", "/proc", "true")


@pytest.fixture(scope="session")
def sandbox() -> list[str]:
    """Where the programs are without which the client refuses a shell to an eval."""
    programs = [shutil.which(name) for name in ("bwrap", "socat")]
    if None in programs:
        pytest.skip("bubblewrap and socat are not installed: evals have no shell without them")
    if subprocess.run(PROBE, capture_output=True, check=False).returncode:
        pytest.skip("bubblewrap may not confine programs here")
    return [os.path.dirname(str(program)) for program in programs]


@pytest.fixture
def room() -> Iterator[Path]:
    """The sandbox hides temporary directories, and shows a run's own only where it lies elsewhere."""
    with tempfile.TemporaryDirectory(prefix="evals-", dir=Path(sys.prefix).parent) as directory:
        yield Path(directory)


@pytest.fixture
def plugin(room: Path) -> Path:
    """A copy whose cases need not build an environment, for the agent's omo or for the hooks."""
    left_out = shutil.ignore_patterns(
        "node_modules", ".git", "site", "tests", "docs", "bench", "__pycache__", "evals-*"
    )
    copy = Path(shutil.copytree(ROOT, room / "omo", ignore=left_out))
    point_at(room, sys.executable)
    made = shlex.quote(str(room))
    ready = f'mkdir -p "$HOME/.cache/omo"\ncp {made}/environment* {made}/interpreter "$HOME/.cache/omo"\n'
    for script in copy.glob("evals/*/project.sh"):
        text = script.read_text("utf-8")
        assert BUILDS in text
        script.write_text(text.replace(BUILDS, ready), "utf-8")
    return copy


def readme_options() -> list[str]:
    (command,) = [text for text in pages.spans(ROOT / "README.md") if text.startswith("claude plugin eval ")]
    assert command.startswith("claude plugin eval . ")
    return shlex.split(command)[4:]


@pytest.mark.parametrize(
    ("case", "name", "passed"),
    [
        ("mend-a-bug", "stops at once", []),
        ("mend-a-bug", "weakens the test", []),
        ("mend-a-bug", "honest: mends what a test shows", ["work", "told"]),
        ("two-tasks", "does half of two tasks", ["first", "told"]),
        ("new-function", "honest: a new function with a test", ["work", "test", "told"]),
        ("readme", "honest, and no test could fail without it", ["work", "told"]),
        ("no-shell", "may not run the tests, and guesses", ["told"]),
    ],
)
def test_a_case_is_graded_by_what_was_done_and_told(
    client: Client,
    model: ScriptedModel,
    sandbox: list[str],
    room: Path,
    plugin: Path,
    case: str,
    name: str,
    passed: list[str],
) -> None:
    (behaviour,) = [each for each in told.BEHAVIOURS if each.name == name]
    model.script(*behaviour.acts, *told.in_omo(behaviour))
    environ = environment(room / "home", model)
    environ |= {"TMPDIR": str(room), "PATH": os.pathsep.join([environ["PATH"], *sandbox])}
    command = [str(client.binary), "plugin", "eval", str(plugin), *readme_options(), "--case", case]
    command += ["--trust-plugin", "--no-publish", "--ablation", "none"]
    command += ["--output-dir", str(room / "out"), "--json", str(room / "result.json")]
    done = subprocess.run(command, env=environ, cwd=room, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    result = json.loads((room / "result.json").read_text("utf-8"))
    (graded,) = result["cases"]
    (run,) = graded["arms"]["with"]
    assert run["error"] is None
    assert [grader["name"] for grader in run["graders"] if grader["passed"]] == passed


def test_the_cases_are_the_tasks_and_the_project_of_the_bench() -> None:
    prompts = set()
    for path in CASES:
        prompts.add(yaml.safe_load(path.read_text("utf-8"))["execution"]["prompt"].removeprefix("ulw "))
        script = path.with_name("project.sh").read_text("utf-8")
        assert any(behaviour.calc in script for behaviour in told.BEHAVIOURS)
        assert told.TESTS in script
    assert prompts == {behaviour.task for behaviour in told.BEHAVIOURS}
