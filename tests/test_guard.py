"""The suite leaves the machine of whoever runs it alone, in a terminal as without one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from omo.hosts.launcher import script
from tests.guard import USER, programs_without_omo

ROOT = Path(__file__).resolve().parents[1]
# One that takes launchers away, and two that see whether somebody types.
STORIES = (
    "tests/cli/test_setup.py::test_what_it_did_not_put_there_stays_and_is_named",
    "tests/cli/test_console.py::test_help_and_version_load_no_command",
    "tests/install/test_environment.py::test_the_doctor_the_version_and_the_escape_hatch_need_no_packages",
)


@pytest.mark.parametrize("place", USER.places)
def test_what_is_the_users_cannot_be_touched(place: str) -> None:
    touched = Path(place) / "a file of a test"
    with pytest.raises(pytest.fail.Exception, match="the user's"):
        touched.read_bytes()
    with pytest.raises(pytest.fail.Exception, match="the user's"):
        touched.unlink()
    with pytest.raises(pytest.fail.Exception, match="the user's"):
        os.rename(os.devnull, touched)


def test_no_test_has_the_users_home_or_omo() -> None:
    assert Path(os.environ["HOME"]) != Path(USER.home)
    assert shutil.which("omo") is None
    assert not [name for name in os.environ if name.startswith("XDG_")]


def test_no_test_can_fake_a_program(request: pytest.FixtureRequest) -> None:
    """The first fake one of pytest-subprocess has pid 1, and `omo.proof.run` kills the group of what it started."""
    assert not request.config.pluginmanager.hasplugin("pytest-subprocess")
    with pytest.raises(pytest.FixtureLookupError):
        request.getfixturevalue("fp")


def test_the_first_fake_program_has_pid_1_whatever_else_may_run() -> None:
    """Why none is used. Nothing is signalled here: the pid alone is read."""
    fake = (
        "import subprocess\n"
        "from pytest_subprocess import FakeProcess\n"
        "with FakeProcess() as programs:\n"
        "    programs.allow_unregistered(True)\n"
        "    programs.register(['claude', '--version'], stdout='2.1.325 (Claude Code)')\n"
        "    print(subprocess.Popen(['claude', '--version'], stdout=subprocess.PIPE).pid)\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", fake], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_programs_beside_an_omo_are_still_found(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ("omo", "node"):
        (theirs / name).write_text("#!/bin/sh\necho theirs\n")
        (theirs / name).chmod(0o755)
    path = os.pathsep.join(programs_without_omo(f"{theirs}:/nowhere", tmp_path / "shadows"))
    assert (shutil.which("node", path=path) or "").endswith("/node")
    assert shutil.which("omo", path=path) is None


@pytest.fixture
def launcher(tmp_path: Path) -> Path:
    """Of a user who has set omo up."""
    path = tmp_path / "home" / ".local" / "bin" / "omo"
    path.parent.mkdir(parents=True)
    path.write_text(script())
    path.chmod(0o755)
    return path


def run_suite(launcher: Path, *arguments: str, under: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """As that user does."""
    home = launcher.parents[2]
    options = ("-q", "-p", "no:cacheprovider", "--color=no", f"--basetemp={home.parent / 'tests'}")
    return subprocess.run(
        [*under, sys.executable, "-m", "pytest", *options, *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "HOME": str(home),
            "PATH": f"{launcher.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_a_user_with_an_omo_runs_the_suite_in_a_terminal(launcher: Path) -> None:
    home = launcher.parents[2]
    before = files_in(home)
    script = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    done = run_suite(launcher, *STORIES, under=(sys.executable, "-c", script))
    assert (done.returncode, "3 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    assert files_in(home) == before


def test_what_a_program_of_a_test_changed_fails_the_suite(launcher: Path, tmp_path: Path) -> None:
    test = tmp_path / "some" / "test_that_removes.py"
    test.parent.mkdir()
    removes = f"import subprocess\n\n\ndef test_it():\n    subprocess.run(['rm', {str(launcher)!r}], check=True)\n"
    test.write_text(removes)
    done = run_suite(launcher, "-p", "tests.conftest", f"--rootdir={tmp_path}", "-c", os.devnull, str(test))
    assert (done.returncode, "1 passed" in done.stdout) == (1, True), done.stdout + done.stderr
    assert f"none of theirs: {launcher}" in done.stderr


def files_in(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*"))
