"""One project with all kinds of work and one full of traps, made once; and one browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from omo.views.report import gather as whole
from omo.views.report.gather import Changed, Report
from tests.engine import laps
from tests.report import browser, hostile, sample
from tests.report.sample import Sample


@pytest.fixture(scope="package", autouse=True)
def _laps() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        laps.put_in_table(patched)
        yield


@pytest.fixture(scope="package")
def _own_git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """As for every test: no git setup of the developer's."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        patched.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        patched.setenv("GIT_CONFIG_NOSYSTEM", "1")
        yield


@pytest.fixture(scope="package")
def worked(tmp_path_factory: pytest.TempPathFactory, _own_git: None) -> Sample:
    return sample.everything(tmp_path_factory.mktemp("worked"))


@pytest.fixture(scope="package")
def report(worked: Sample) -> Report:
    return whole.gather(worked.context(), worked.session)


@pytest.fixture(scope="package")
def trap(tmp_path_factory: pytest.TempPathFactory, _own_git: None) -> Report:
    made = hostile.project(tmp_path_factory.mktemp("trap"))
    changed = Changed(tuple((f"src/{hostile.NASTY}{number}.py", "new") for number in range(300)))
    return replace(whole.gather(made.context(), made.session), task=hostile.NASTY * 10, changed=changed)


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory, _own_git: None) -> Iterator[browser.Browser]:
    program = browser.program()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(browser.NAMES)} is on PATH")
    started = browser.Browser.start(program, tmp_path_factory.mktemp("profile"))
    yield started
    started.stop()
