"""hooks/environment.sh on machines as users have them, and bin/omo on top of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench import install
from tests import texts
from tests.hooks.conftest import point_at
from tests.install.conftest import SCRIPT, SH
from tests.terminal import terminal

if TYPE_CHECKING:
    from tests.install.conftest import Machine

pytestmark = [
    pytest.mark.install,
]

ROOT = Path(__file__).parents[2]
PYTHON = Path(sys.executable).resolve()
HOUR = 3600
DAY = 24 * HOUR
NO_DEBIAN_VENV: dict[str, str] = {
    "pip": "No module named pip",
    "ensurepip": "No module named ensurepip",
    "virtualenv": "No module named virtualenv",
}
UNREACHABLE: dict[str, str] = {"install": "WARNING: Max retries exceeded with url: /simple/stand-in/"}


def age(path: Path, seconds: int) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


# What is built. With pip, the pinned requirements themselves: tests/e2e/test_install.py


def test_uv_installs_the_pinned_requirements(online: Machine, uv: Path) -> None:
    online.shim("python3")
    (online.bin / "uv").symlink_to(uv)
    assert online.ensure() == (0, "")
    assert "uv = " in (online.pointer().interpreter.parents[1] / "pyvenv.cfg").read_text()
    assert (online.pointer().site / "pydantic").is_dir()


def test_an_environment_is_built_once_pointed_to_and_left_alone_until_the_requirements_change(machine: Machine) -> None:
    machine.interpreter("python3")
    assert not machine.find()
    assert machine.ensure() == (0, "")
    assert machine.find()
    pointer = machine.pointer()
    checksum = subprocess.run(["cksum"], input=machine.requirements.read_bytes(), capture_output=True).stdout
    version = subprocess.run([pointer.interpreter, "-V"], capture_output=True, text=True).stdout
    assert (pointer.key, pointer.version) == ("-".join(checksum.decode().split()), version.strip())
    assert (pointer.site / "pydantic.py").is_file()
    written = (machine.home / "environment").stat()
    before = (written.st_ino, written.st_mtime_ns, machine.log(), machine.stages())
    assert machine.ensure() == (0, "")
    found = (machine.home / "environment").stat()
    assert (found.st_ino, found.st_mtime_ns, machine.log(), machine.stages()) == before
    machine.requirements.write_text(machine.requirements.read_text() + "# changed\n")
    assert not machine.find()
    assert machine.ensure() == (0, "")
    assert machine.pointer().key != pointer.key
    assert pointer.site.is_dir(), "what runs goes on with its own"


def test_two_versions_share_a_home_and_neither_builds_again(machine: Machine) -> None:
    machine.interpreter("python3")
    older = machine.requirements.read_text()
    machine.ensure()
    machine.requirements.write_text(older + "# a newer version\n")
    machine.ensure()
    built = machine.stages()
    for text in (older, older + "# a newer version\n", older):
        machine.requirements.write_text(text)
        assert machine.find()
        assert machine.ensure() == (0, "")
    assert (machine.stages(), len(machine.environments())) == (built, 2)


def test_an_environment_that_is_ready_is_built_anew_only_when_asked(machine: Machine) -> None:
    machine.interpreter("python3")
    machine.ensure()
    old = machine.pointer()
    assert machine.ensure("--retry") == (0, "")
    assert machine.pointer() == old
    assert machine.ensure("--anew") == (0, "")
    assert machine.pointer().site != old.site


def test_the_newest_named_interpreter_is_preferred_and_replaced_when_it_is_gone(machine: Machine) -> None:
    second = machine.interpreter("python3", prefix="second")
    first = machine.interpreter("python3.10", prefix="first")
    machine.ensure()
    assert machine.base() == str(first.parent)
    first.unlink()
    assert not machine.find()
    assert machine.ensure() == (0, "")
    assert machine.base() == str(second.parent)


def test_an_upgraded_interpreter_is_a_reason_to_build(machine: Machine) -> None:
    machine.python()
    machine.ensure()
    built = machine.pointer()
    for name in ("environment", f"environment-{built.key}"):
        pointer = machine.home / name
        pointer.write_text(pointer.read_text().replace(built.version, "Python 3.10.0"))
    assert machine.ensure() == (0, "")
    assert machine.pointer().version == f"Python {sys.version.split()[0]}"


@pytest.mark.parametrize("shell", ["dash", "bash --posix", "busybox sh"])
def test_every_posix_shell(machine: Machine, shell: str) -> None:
    words = shell.split()
    program = shutil.which(words[0])
    if not program:
        pytest.skip(f"no {words[0]} here")
    machine.python()
    assert machine.ensure(under=(program, *words[1:])) == (0, "")


def test_settings_for_other_environments_stay_outside_in_any_path(tmp_path: Path, machine: Machine) -> None:
    directory = tmp_path / """it's "Grün" (1) $HOME `x` * \\n"""
    machine = replace(machine, directory=directory, variables={**machine.variables, "HOME": str(directory / "user")})
    machine.shim("python3")
    machine.variables |= {
        "PYTHONPATH": "/nowhere",
        "PYTHONHOME": "/nowhere",
        "PIP_USER": "1",
        "PIP_TARGET": "/nowhere",
        "PIP_REQUIRE_VIRTUALENV": "1",
        "VIRTUAL_ENV": "/nowhere",
    }
    assert machine.ensure() == (0, "")
    assert (machine.pointer().site / "pydantic.py").is_file()
    assert machine.pointer().site.is_relative_to(directory)
    assert machine.find()


# Which interpreter

UNUSABLE = {
    "a stub": "echo 'Python was not found; run without arguments to install'\nexit 49",
    "one that cannot read the plugin": f"cd / && exec '{PYTHON}' -I -c 'open(\"/nowhere/requirements\")'",
}


@pytest.mark.parametrize("script", UNUSABLE.values(), ids=UNUSABLE)
def test_what_cannot_be_used_is_passed_over(machine: Machine, script: str) -> None:
    machine.script("python3", f"#!/bin/sh\n{script}\n")
    machine.interpreter("python")
    assert machine.ensure() == (0, "")


def test_an_old_python_first_on_the_path_is_passed_over(machine: Machine) -> None:
    old = next(Path("~/.pyenv/versions").expanduser().glob("3.9.*/bin/python3"), None)
    if old:
        (machine.bin / "python3").symlink_to(old)
    else:
        machine.script("python3", "#!/bin/sh\nexit 9\n")
    newer = machine.interpreter("python3", prefix="newer")
    machine.variables["PATH"] = f"{machine.bin}:{newer.parent}"
    assert machine.ensure() == (0, "")


def test_a_shim_is_resolved_to_the_real_interpreter(machine: Machine) -> None:
    real = machine.interpreter("python3")
    machine.variables["PATH"] = str(machine.shim("python3", real).parent)
    assert machine.ensure() == (0, "")
    assert machine.base() == str(real.parent)


def test_the_interpreter_of_a_venv_is_traded_for_its_base(machine: Machine) -> None:
    theirs = machine.directory / "project" / ".venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", theirs], check=True)
    machine.variables["PATH"] = str(theirs / "bin")
    assert machine.ensure() == (0, "")
    shutil.rmtree(theirs)
    assert machine.find()


def test_pyenv_versions_are_found_without_a_path(machine: Machine) -> None:
    real = machine.interpreter("python3")
    machine.variables["PATH"] = str(machine.bin)
    machine.shim(str(machine.directory / "user" / ".pyenv" / "versions" / "3.12.1" / "bin" / "python3"), real)
    assert machine.ensure() == (0, "")


def test_relative_path_entries_are_not_run(machine: Machine) -> None:
    machine.shim("python3")
    machine.variables["PATH"] = f".:bin:{os.path.relpath(machine.bin)}"
    assert "no Python 3.10" in machine.refusal()


# How it is built


def test_only_a_python_without_venv(machine: Machine) -> None:
    machine.interpreter("python3", refuses=NO_DEBIAN_VENV)
    assert "python3-venv" in machine.refusal()
    assert not (machine.home / "environment").exists()
    after = machine.interpreter("python", prefix="next")
    assert machine.ensure() == (0, ""), "the remedy works at once"
    assert machine.base() == str(after.parent)


def test_an_interpreter_without_pip_uses_ensurepip(machine: Machine) -> None:
    machine.interpreter("python3", refuses={"pip": "No module named pip"})
    assert machine.ensure() == (0, "")
    assert "ensurepip" in machine.stages()


def test_a_failing_uv_is_replaced_by_pip(machine: Machine) -> None:
    machine.script("uv", "#!/bin/sh\necho 'error: broken' >&2\nexit 2\n")
    machine.interpreter("python3", is_real=True)
    assert machine.ensure() == (0, "")
    assert "install" in machine.stages()


def test_uv_brings_a_python_to_a_machine_without_one(machine: Machine, uv: Path) -> None:
    found = f"#!{PYTHON} -IS\nimport os, sys\nargv = [{str(PYTHON)!r} if a[:2] == '>=' else a for a in sys.argv]\n"
    machine.script("uv", found + f"os.execv({str(uv)!r}, argv)\n")
    assert machine.ensure() == (0, "")
    assert (machine.pointer().site / "pydantic.py").is_file()


def test_a_uv_that_brings_no_python_is_asked_once(machine: Machine) -> None:
    machine.script("uv", f"#!/bin/sh\necho asked >>'{machine.trace}'\necho 'error: offline' >&2\nexit 2\n")
    assert "no Python 3.10" in machine.refusal()
    assert "offline" in machine.log()
    assert "no Python 3.10" in machine.refusal()
    assert machine.stages() == ["asked"]


# When it is impossible


def test_no_python(machine: Machine) -> None:
    assert " Python 3.10 " in machine.refusal()
    machine.python()
    assert machine.ensure() == (0, "")


def offline(machine: Machine) -> None:
    del machine.variables["PIP_NO_INDEX"]
    machine.variables |= {
        "PIP_INDEX_URL": "http://127.0.0.1:9",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "1",
    }


def test_offline_is_said_and_remembered(machine: Machine) -> None:
    machine.interpreter("python3", is_real=True)
    offline(machine)
    line = machine.refusal()
    assert "index could not " in line
    before = machine.stages()
    assert machine.refusal() == line
    assert machine.stages() == before


def test_a_remembered_failure_does_not_stop_a_retry_or_a_later_attempt(machine: Machine) -> None:
    machine.interpreter("python3", refuses=UNREACHABLE)
    machine.refusal()
    machine.refusal("--retry")
    assert machine.stages().count("install") == 2
    as_it_was = machine.requirements.read_text()
    machine.requirements.write_text(as_it_was + "# changed\n")
    machine.refusal()
    assert machine.stages().count("install") == 3, "it is remembered for its requirements only"
    machine.requirements.write_text(as_it_was)
    machine.refusal("--retry")
    machine.interpreter("python3")
    machine.refusal()
    age(machine.home / "environment.failed", HOUR)
    assert machine.ensure() == (0, "")
    assert not (machine.home / "environment.failed").exists()


def test_offline_does_not_try_every_interpreter(machine: Machine) -> None:
    machine.interpreter("python3", prefix="one", refuses=UNREACHABLE)
    machine.interpreter("python", prefix="two", refuses=UNREACHABLE)
    machine.refusal()
    assert machine.stages().count("install") == 1


def test_a_failure_keeps_the_environment_that_works(machine: Machine) -> None:
    machine.interpreter("python3")
    machine.ensure()
    before = machine.pointer()
    machine.requirements.write_text(machine.requirements.read_text() + "# changed\n")
    machine.interpreter("python3", refuses=UNREACHABLE)
    machine.refusal()
    assert machine.pointer() == before
    assert machine.environments() == [before.interpreter.parents[1].name]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE", "hash mismatch"),
        ("ERROR: No matching distribution found for orjson==3.13.0", "no wheels"),
        ("something new", "environment.log"),
    ],
)
def test_a_failing_installation_is_explained(machine: Machine, said: str, expected: str) -> None:
    machine.interpreter("python3", refuses={"install": said})
    assert expected in machine.refusal()
    assert said in machine.log()


def test_a_wrong_hash_is_refused(machine: Machine) -> None:
    machine.shim("python3")
    machine.requirements.write_text(f"stand-in==1.0 --hash=sha256:{'0' * 64}\n")
    assert "hash mismatch" in machine.refusal()


def test_packages_that_do_not_import_are_not_pointed_to(machine: Machine) -> None:
    machine.python()
    assert "do not import" in machine.refusal(modules="pydantic no_such_module")
    assert machine.environments() == []


def test_a_file_where_the_home_should_be(machine: Machine) -> None:
    machine.shim("python3")
    machine.home.parent.mkdir()
    machine.home.write_text("")
    assert str(machine.home) in machine.refusal()


def test_missing_requirements(machine: Machine) -> None:
    machine.requirements.unlink()
    assert "cannot read" in machine.refusal()


# Killed and at once


@pytest.mark.parametrize("stage", ["venv", "install", "verify"])
def test_a_killed_build_leaves_nothing_that_matters(machine: Machine, stage: str) -> None:
    python = machine.interpreter("python3", kill_at=stage)
    code, output = machine.ensure()
    assert (code, output) == (-9, "")
    assert not (machine.home / "environment").exists()
    left = machine.environments()
    for name in left:
        age(machine.home / name, 2 * DAY)
    python.unlink()
    machine.interpreter("python3")
    assert machine.ensure() == (0, "")
    assert machine.find()
    assert not set(left) & set(machine.environments())


def test_two_at_once_build_once(machine: Machine) -> None:
    machine.interpreter("python3")
    processes = [machine.start() for _ in range(3)]
    outputs = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert outputs == {f"{machine.pointer().interpreter}\n{machine.pointer().site}\n"}
    assert machine.stages().count("install") == 1
    assert len(machine.environments()) == 1


@contextmanager
def building(machine: Machine) -> Iterator[Path]:
    """Another process that builds: the lock it has is the kernel's, and goes with it."""
    machine.home.mkdir(parents=True, exist_ok=True)
    lock = machine.home / "environment.building"
    hold = "import fcntl, sys; fcntl.flock(1, fcntl.LOCK_EX); sys.stderr.write('held\\n'); sys.stdin.read()"
    with lock.open("w") as file:
        pipe = subprocess.PIPE
        process = subprocess.Popen([PYTHON, "-c", hold], stdin=pipe, stdout=file, stderr=pipe)
    with process:
        assert process.stderr
        assert process.stderr.readline() == b"held\n"
        yield lock
        process.kill()


def test_the_lock_of_a_dead_process_is_taken_over(machine: Machine) -> None:
    machine.python()
    with building(machine):
        pass
    machine.variables["OMO_ENV_WAIT"] = "0"
    assert machine.ensure() == (0, "")
    assert machine.ensure("--anew") == (0, "")


def test_the_lock_of_a_living_process_is_respected(machine: Machine) -> None:
    machine.shim("python3")
    machine.variables["OMO_ENV_WAIT"] = "0"
    with building(machine):
        assert "another session" in machine.refusal()
    assert machine.environments() == []


def test_whoever_has_the_lock_for_longer_than_a_build_takes_is_not_waited_for(machine: Machine) -> None:
    machine.python()
    machine.variables["OMO_ENV_WAIT"] = "0"
    with building(machine) as lock:
        age(lock, HOUR)
        assert machine.ensure() == (0, "")


def test_environments_nobody_uses_are_removed_after_a_day(machine: Machine) -> None:
    machine.python()
    machine.ensure()
    pointed = machine.pointer().interpreter.parents[1]
    unfinished = {"env-1-1-3": HOUR, "env-1-1-3.tmp": HOUR, "env-1-1-4.tmp": 2 * DAY, "environment.5.tmp": HOUR}
    names = {"env-1-1-1": 2 * DAY, "env-1-1-2": HOUR, **unfinished}
    for name in names:
        (machine.home / name).mkdir()
    for name, seconds in {**names, pointed.name: 2 * DAY}.items():
        age(machine.home / name, seconds)
    assert machine.ensure("--anew") == (0, "")
    current = machine.pointer().interpreter.parents[1]
    assert machine.environments() == sorted(["env-1-1-2", pointed.name, current.name])
    assert not list(machine.home.glob("*.tmp"))
    assert time.time() - pointed.stat().st_mtime < DAY, "its day begins when it is no longer pointed to"


def test_three_versions_find_theirs_and_the_fourth_drives_out_the_oldest(machine: Machine) -> None:
    machine.interpreter("python3")
    first = machine.requirements.read_text()
    texts = [first + f"# version {number}\n" for number in range(4)]
    for number, text in enumerate(texts):
        machine.requirements.write_text(text)
        assert machine.ensure() == (0, "")
        age(machine.home / f"environment-{machine.pointer().key}", (10 - number) * DAY)
        age(machine.pointer().interpreter.parents[1], (10 - number) * DAY)
    found = []
    for text in texts:
        machine.requirements.write_text(text)
        found.append(machine.find())
    assert found == [False, True, True, True]


# bin/omo

CONSOLE = """
import os, sys
import pydantic

def console():
    print(sys.argv, os.environ["PATH"])
    return int(sys.argv[1])
"""


@pytest.fixture
def clone(machine: Machine) -> Path:
    """A clone of the repository, at a path with spaces, with a CLI that returns its argument."""
    machine.python()
    root = machine.directory / "my clone"
    for name in ("bin/omo", "hooks/environment.sh", "hooks/build_environment.py", "hooks/home.sh"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    shutil.copy(machine.requirements, root / "requirements.txt")
    (root / "src" / "omo" / "cli").mkdir(parents=True)
    (root / "src" / "omo" / "cli" / "__init__.py").write_text(CONSOLE)
    return root


def run_omo(machine: Machine, omo: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [omo, *arguments], env=machine.environment, capture_output=True, encoding="utf-8", cwd="/", timeout=120
    )
    return done.returncode, done.stdout, done.stderr


def test_omo_prepares_its_environment_once(machine: Machine, clone: Path) -> None:
    said = f"{['omo', '3', 'b c']} {machine.environment['PATH']}\n"
    code, output, errors = run_omo(machine, clone / "bin" / "omo", "3", "b c")
    assert (code, output) == (3, said)
    assert "omo: preparing its " in errors
    assert (machine.directory / "user" / ".cache" / "omo" / "environment").is_file()
    assert not (clone / ".venv").exists(), "it would be copied along when the plugin is installed from there"
    assert run_omo(machine, clone / "bin" / "omo", "3", "b c") == (3, said, "")
    assert not list(clone.glob("src/**/*.pyc"))


def test_omo_through_links(machine: Machine, clone: Path) -> None:
    links = machine.directory / "links"
    links.mkdir()
    (links / "relative").symlink_to(os.path.relpath(clone / "bin" / "omo", links))
    (links / "omo").symlink_to(links / "relative")
    assert run_omo(machine, links / "omo", "0")[0] == 0


def test_omo_in_the_plugins_home(machine: Machine, clone: Path) -> None:
    machine.variables["OMO_ENV_HOME"] = str(machine.home)
    machine.ensure()
    assert run_omo(machine, clone / "bin" / "omo", "0") == (0, f"{['omo', '0']} {machine.environment['PATH']}\n", "")
    assert not (machine.directory / "user" / ".cache").exists()


def test_one_environment_serves_every_host_and_who_has_none(machine: Machine, clone: Path) -> None:
    plugins = machine.directory / "user" / ".claude" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "installed_plugins.json").write_text('{\n  "plugins": {\n    "omo@a-market": [\n      {}]}}\n')
    assert run_omo(machine, clone / "bin" / "omo", "0")[0] == 0
    assert (machine.directory / "user" / ".cache" / "omo" / "environment").is_file()
    assert not (plugins / "data").exists()


def test_what_earlier_versions_built_is_removed_a_day_after_the_first_session(machine: Machine) -> None:
    old = machine.home
    for name in ("env-1-2-3-4/bin", "pycache/x"):
        (old / name).mkdir(parents=True)
    for name in ("environment", "environment-1-2", "environment.log", "root", "statusline.sh"):
        (old / name).write_text("x\n")
    before = {path.name for path in old.iterdir()}

    def retire() -> set[str]:
        subprocess.run([SH, str(SCRIPT), "retire", str(old)], env=machine.environment, check=True)
        return {path.name for path in old.iterdir()}

    assert retire() == {*before, "environment.retired"}, "a session of before the update may still use it"
    assert retire() == {*before, "environment.retired"}
    age(old / "environment.retired", DAY + HOUR)
    assert retire() == {"root", "statusline.sh"}


@pytest.mark.parametrize("typed", ["", "--help", "status --help", "ulw done -h", "setup environment --help"])
def test_asking_for_help_builds_nothing(machine: Machine, typed: str) -> None:
    machine.interpreter("python3")
    machine.variables["OMO_ENV_HOME"] = str(machine.home)
    code, output, errors = run_omo(machine, ROOT / "bin" / "omo", *typed.split())
    assert (code, output[:10], errors) == (0, "usage: omo", "")
    assert "venv" not in machine.stages()
    assert machine.environments() == []


def test_the_help_of_another_program_is_not_ours(machine: Machine, clone: Path) -> None:
    assert run_omo(machine, clone / "bin" / "omo", "0", "--", "--help")[0] == 0
    assert "venv" in machine.stages()


class Plugin:
    """The plugin, with requirements that this machine can install."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.root = machine.directory / "plugin"
        self.project = machine.directory / "project"
        self.project.mkdir()
        for name in ("hooks", "src", "bin"):
            shutil.copytree(ROOT / name, self.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(machine.requirements, self.root)
        for name in ("head", "timeout"):
            (machine.bin / name).symlink_to(str(shutil.which(name)))
        machine.variables |= {"OMO_ENV_HOME": str(machine.home), "PATH": f"{machine.variables['PATH']}:{machine.bin}"}

    def hears(self, event: str, **fields: object) -> str:
        host = "plugin_project=$PWD plugin_rewrites=yes plugin_shell=Bash host=claude"
        start = f'plugin_root=$1 {host} event=$2; . "$1/hooks/launch.sh"'
        stdin = json.dumps({"session_id": "s", "cwd": str(self.project), **fields}) + "\n"
        done = subprocess.run(
            [SH, "-c", start, "sh", str(self.root), event],
            input=stdin,
            env=self.machine.environment,
            capture_output=True,
            cwd=self.project,
            encoding="utf-8",
            check=True,
        )
        return done.stdout

    def is_building(self) -> bool:
        return (self.machine.home / "environment.asked").exists() or bool(self.machine.environments())

    def is_built(self) -> bool:
        """Waits for whoever builds, and builds if nobody does."""
        code, _ = self.machine.ensure()
        return code == 0


@pytest.mark.parametrize(
    ("event", "fields", "is_heard"),
    [
        ("user-prompt-submit", {"prompt": "ulw fix it"}, True),
        ("user-prompt-submit", {"prompt": "/omo:status"}, True),
        ("pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "omo status"}}, True),
        ("user-prompt-submit", {"prompt": "what is this?"}, False),
        ("pre-tool-use", {"tool_name": "Bash", "tool_input": {"command": "ls omoide"}}, False),
        ("session-start", {"source": "startup"}, False),
        ("stop", {}, False),
    ],
)
def test_the_first_hook_that_hears_of_omo_has_the_environment_built(
    machine: Machine, event: str, fields: dict[str, object], is_heard: bool
) -> None:
    machine.interpreter("python3")
    plugin = Plugin(machine)
    plugin.hears(event, **fields)
    assert plugin.is_building() == is_heard
    assert plugin.is_built()
    assert machine.stages().count("install") == 1
    built = machine.stages().count("venv")
    plugin.hears(event, **fields)
    assert not (machine.home / "environment.asked").exists()
    assert machine.stages().count("venv") == built


@contextmanager
def sandboxed(machine: Machine, omo: Path) -> Iterator[subprocess.Popen[str]]:
    """A command of an agent that cannot write where the environment is."""
    bwrap = shutil.which("bwrap")
    if not bwrap:
        pytest.skip("no bwrap here")
    machine.variables["OMO_ENV_HOME"] = str(machine.home)
    home = str(machine.home)
    command = [bwrap, "--dev-bind", "/", "/", "--ro-bind", home, home, str(omo), "0"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, env=machine.environment, stdout=pipe, stderr=pipe, cwd="/", encoding="utf-8")
    with process:
        yield process
        process.kill()


def test_a_command_that_may_not_build_says_so(machine: Machine, clone: Path) -> None:
    machine.home.mkdir(parents=True)
    with sandboxed(machine, clone / "bin" / "omo") as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (77, "")
    assert "cannot be written from here" in errors
    assert machine.stages() == []


@pytest.mark.parametrize("is_asked_only", [True, False])
def test_a_command_that_may_not_build_waits_for_a_hook_that_does(
    machine: Machine, clone: Path, is_asked_only: bool
) -> None:
    machine.ensure()
    asked = machine.home / "environment.asked"
    pointers = [machine.home / "environment", machine.home / f"environment-{machine.pointer().key}"]
    for pointer in pointers:
        pointer.rename(pointer.with_name(f"aside-{pointer.name}"))
    with building(machine) if not is_asked_only else nullcontext():
        if is_asked_only:
            asked.touch()
        with sandboxed(machine, clone / "bin" / "omo") as process:
            assert process.stderr
            assert "another session " in process.stderr.readline()
            for pointer in pointers:
                pointer.with_name(f"aside-{pointer.name}").rename(pointer)
            asked.unlink(missing_ok=True)
            (machine.home / "environment.building").unlink()
            assert process.wait(timeout=60) == 0


def test_omo_without_python(machine: Machine, clone: Path) -> None:
    machine.variables["PATH"] = str(machine.bin)
    (machine.bin / "python3").unlink(missing_ok=True)
    code, output, errors = run_omo(machine, clone / "bin" / "omo", "0")
    assert (code, output) == (77, "")
    assert "no Python 3.10" in errors.splitlines()[-1]


def test_the_doctor_the_version_and_the_escape_hatch_need_no_packages(machine: Machine) -> None:
    machine.shim("python3")
    machine.variables["OMO_ENV_HOME"] = str(machine.home)
    offline(machine)
    code, output, errors = run_omo(machine, ROOT / "bin" / "omo", "--version")
    assert (code, output.split()[0], errors) == (0, "omo", "")
    code, output, errors = run_omo(machine, ROOT / "bin" / "omo", "stop-continuation")
    assert code == 3
    assert texts.says(errors, "session-escape-hatch-belongs-to-user-and")
    code, output, errors = run_omo(machine, ROOT / "bin" / "omo", "setup", "remove")
    assert (code, errors.startswith("omo: omo setup remove ")) == (3, True)
    assert not (machine.home / "environment.log").exists(), "none of them waited for a build"
    code, output, errors = run_omo(machine, ROOT / "bin" / "omo", "doctor")
    assert "index could not " in errors
    assert output.startswith("unknown  environment: sh ")
    assert run_omo(machine, ROOT / "bin" / "omo", "status")[0] == 77


def test_a_person_does_not_wait_for_what_is_remembered_of_a_failure(machine: Machine, clone: Path) -> None:
    machine.interpreter("python3", refuses=UNREACHABLE)
    assert run_omo(machine, clone / "bin" / "omo", "0")[0] == 77
    machine.interpreter("python3")
    assert run_omo(machine, clone / "bin" / "omo", "0")[0] == 77, "an agent gets what is remembered"
    with terminal() as screen:
        done = subprocess.run([clone / "bin" / "omo", "0"], env=machine.environment, stdin=screen, timeout=120)
    assert done.returncode == 0


def test_a_session_in_a_throw_away_home_uses_the_environment_that_it_is_told_of(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    ready.mkdir()
    point_at(ready, sys.executable)
    before = sorted(path.name for path in ready.iterdir())
    install.started(tmp_path, "named", ready)
    assert set(before) <= {path.name for path in ready.iterdir()} <= {*before, "root", "pycache"}
