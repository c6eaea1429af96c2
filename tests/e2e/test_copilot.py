"""omo in the real Copilot CLI, headless and in its terminal interface."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.codex_client import copy_plugin
from tests.e2e.conftest import begin
from tests.e2e.copilot_client import Copilot, CopilotModel, find_binary
from tests.e2e.scripted_model import Turn, call, say
from tests.kept import copied

pytestmark = [pytest.mark.client, pytest.mark.xdist_group("copilot")]  # installed once


@pytest.fixture(scope="session")
def copilot_binary() -> Path:
    binary = find_binary()
    if binary is None:
        pytest.skip("Copilot CLI is not installed: run npm ci in tests/e2e/copilot")
    return binary


@pytest.fixture(scope="session")
def rooms(copilot_binary: Path, plugin_root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A project, a plugin and a home in which it is installed, and a copy of them: it knows its place."""
    directory = tmp_path_factory.mktemp("copilot")
    room, aside = directory / "room", directory / "aside"
    (room / "home").mkdir(parents=True)
    copied(room / "mein Projékt", begin)
    copy_plugin(plugin_root, room / "of omo's")
    with CopilotModel() as model:
        Copilot(copilot_binary, model, room / "mein Projékt", room / "home", room / "of omo's").install()
    shutil.copytree(room, aside, symlinks=True)
    return room, aside


@pytest.fixture
def copilot(copilot_binary: Path, rooms: tuple[Path, Path]) -> Iterator[Copilot]:
    room, aside = rooms
    shutil.rmtree(room)
    shutil.copytree(aside, room, symlinks=True)
    with CopilotModel() as model:
        copilot = Copilot(copilot_binary, model, room / "mein Projékt", room / "home", room / "of omo's")
        yield copilot
        copilot.close_terminals()
    assert not model.errors, model.errors[0]


def sh(command: str, **more: object) -> Turn:
    return call("bash", command=command, description="a command", **more)


PIN = "/omo:pin readme -- grep -q works main.sh"
WORK = "printf 'echo it works\\n' >> main.sh"


def test_a_premature_stop_is_sent_back_until_the_users_gate_passes(copilot: Copilot) -> None:
    session = copilot.prompt(PIN, ends=1).session
    assert copilot.model.turns == []  # the hook answers it
    copilot.model.script(
        say("It is done."), sh("omo gate run"), sh(WORK), sh("omo gate run && omo ulw done"), say("Yes.")
    )
    run = copilot.prompt("ulw make main.sh say that it works", resume=session)
    assert copilot.model.overruns == 0
    assert "omo: ultrawork is on" in run.stdout
    assert copilot.was_told("The user turned ultrawork on for this session")
    assert copilot.was_told("Ultrawork active: continuing until")
    assert "fail    readme" in copilot.results()[0]
    assert "pass    readme" in copilot.results()[-1]
    assert copilot.kinds(session)[-1] == "allowed:done"
    assert copilot.row(session)["work"]["ulw"]["outcome"]["verdict"] == "proven"
    assert "done, proven" in run.stdout
