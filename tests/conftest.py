"""Every test lives in its own directory: no test can see or touch the developer's home, git setup or session."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

hypothesis.configuration.set_hypothesis_home_dir(Path(__file__).resolve().parents[1] / ".hypothesis")
hypothesis.settings.register_profile(
    "omo", deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("omo")

LEAKY = ("OMO_", "CLAUDE", "ANTHROPIC", "GIT_")


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(LEAKY) and not name.startswith("OMO_TEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.chdir(home)


@pytest.fixture
def state(tmp_path: Path) -> str:
    """A state directory that does not exist yet."""
    return str(tmp_path / "project" / ".sisyphus" / "cc-omo")
