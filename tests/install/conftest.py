"""Machines to install on: a PATH of chosen interpreters, an empty user home, a wheel built on the spot."""

from __future__ import annotations

import base64
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

from omo.cli.doctor import MODULES

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "hooks" / "environment.sh"
PYTHON = Path(sys.executable).resolve()
SH = shutil.which("sh") or "/bin/sh"
USER_CONFIG = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")

# Stands in an interpreter's place and notes each stage of a build, which it can also refuse or be killed in. Unless its
# tools are to be the real ones, it leaves what venv, ensurepip and pip would leave: they take longer than all the rest.
# Executing the real one under the wrapper's name makes it believe to live here, so the environment's own
# interpreter is a link to the wrapper as well.
WRAPPER = """#!/bin/bash
module= before= stage=
for argument; do
    case $before:$argument in
    -m:*) module=${{module:-$argument}} ;;
    *:'import pip;'*) stage=pip ;;
    *:*/__pip-runner__.py) module=pip ;;
    *:pycache_prefix=*) stage=${{stage:-verify}} ;;
    esac
    before=$argument
done
case $module in pip) stage=install ;; ?*) stage=$module ;; esac
[ -z "$stage" ] || echo "$stage" >>{trace}
[ "$stage" != {kill_at} ] || kill -KILL 0
case $stage in
{refusals}
esac
case {tools}:$stage in
fake:venv)
    mkdir -p "$argument/bin" "$argument/"{site} && ln -s "$0" "$argument/bin/python" &&
        echo "home = ${{0%/*}}" >"$argument/pyvenv.cfg"
    exit
    ;;
fake:ensurepip) exit ;;
fake:install)
    cp -R {packages}/. "${{0%/*/*}}/"{site}
    exit
    ;;
esac
exec -a "$0" {python} "$@"
"""


class Pointer(NamedTuple):
    interpreter: Path
    site: Path
    key: str
    version: str


@dataclass
class Machine:
    directory: Path
    variables: dict[str, str]
    wheel: Path
    home: Path = field(init=False)
    bin: Path = field(init=False)
    requirements: Path = field(init=False)
    trace: Path = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.directory / "data" / "omo"
        self.bin = self.directory / "bin"
        self.requirements = self.directory / "requirements.txt"
        self.trace = self.directory / "trace"
        self.bin.mkdir(parents=True)
        (self.directory / "user").mkdir()
        digest = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        self.requirements.write_text(f"stand-in==1.0 \\\n    --hash=sha256:{digest}\n")
        self.variables = {
            "HOME": str(self.directory / "user"),
            "LC_ALL": "C",
            "OMO_PYTHON_DIRS": "",
            **self.variables,
        }

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": str(self.bin), **self.variables}

    def ensure(self, *options: str, under: tuple[str, ...] = (SH,), modules: str = "") -> tuple[int, str]:
        arguments = [*options, str(self.home), str(self.requirements), *([modules] if modules else [])]
        done = subprocess.run(
            [*under, str(SCRIPT), "ensure", *arguments],
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            start_new_session=True,
        )
        assert done.stderr == ""
        return done.returncode, self.without_the_pointer(done)

    def start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [SH, str(SCRIPT), "ensure", str(self.home), str(self.requirements)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            encoding="utf-8",
        )

    def refusal(self, *options: str, modules: str = "") -> str:
        """The one line of an ensure that must fail."""
        code, output = self.ensure(*options, modules=modules)
        assert code == 1
        assert output.startswith("omo: ")
        assert output.count("\n") == 1
        assert output.endswith("\n")
        return output

    def find(self) -> bool:
        done = subprocess.run(
            [SH, str(SCRIPT), "find", str(self.home), str(self.requirements)],
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
        )
        assert (self.without_the_pointer(done), done.stderr) == ("", "")
        return done.returncode == 0

    @staticmethod
    def without_the_pointer(done: subprocess.CompletedProcess[str]) -> str:
        """What is said besides. Who asks well gets an interpreter and its site-packages, and both are there."""
        if done.returncode != 0:
            return done.stdout
        interpreter, site = done.stdout.splitlines()
        assert os.access(interpreter, os.X_OK)
        assert (Path(site) / "pydantic.py").exists() or (Path(site) / "pydantic").is_dir()
        return ""

    def pointer(self) -> Pointer:
        text = (self.home / "environment").read_text(encoding="utf-8")
        interpreter, site, key, version = text.removesuffix("\n").split("\n")
        return Pointer(Path(interpreter), Path(site), key, version)

    def base(self) -> str:
        """The directory of the interpreter the environment was made with."""
        config = (self.pointer().interpreter.parents[1] / "pyvenv.cfg").read_text(encoding="utf-8")
        return next(line.removeprefix("home = ") for line in config.splitlines() if line.startswith("home = "))

    def environments(self) -> list[str]:
        return sorted(path.name for path in self.home.glob("env-*"))

    def log(self) -> str:
        return (self.home / "environment.log").read_text(encoding="utf-8")

    def stages(self) -> list[str]:
        return self.trace.read_text().split() if self.trace.exists() else []

    def script(self, name: str, text: str) -> Path:
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def shim(self, name: str, python: Path = PYTHON) -> Path:
        """A pyenv shim: a script that hands over to the real interpreter."""
        return self.script(name, f"#!/bin/sh\nexec '{python}' \"$@\"\n")

    def python(self) -> None:
        """Some interpreter that will do, by a quick way to install where the machine allows it."""
        if sys.platform == "darwin":
            self.shim("python3")
        else:
            self.interpreter("python3")

    def interpreter(
        self,
        name: str,
        *,
        kill_at: str = "",
        refuses: dict[str, str] | None = None,
        prefix: str = "prefix",
        is_real: bool = False,
    ) -> Path:
        """An interpreter with a prefix of its own, first on PATH, which is watched and may misbehave."""
        if sys.platform == "darwin":
            pytest.skip("a Mac's interpreter finds out its own name")
        directory = self.directory / prefix
        (directory / "lib").mkdir(parents=True, exist_ok=True)
        library = directory / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        if not library.exists():
            library.symlink_to(sysconfig.get_path("stdlib"))
        refusals = []
        for stage, words in (refuses or {}).items():
            refusals.append(f"{stage}) echo {shlex.quote(words)} >&2; exit 1 ;;")
        text = WRAPPER.format(
            python=shlex.quote(str(PYTHON)),
            trace=shlex.quote(str(self.trace)),
            kill_at=kill_at or "never",
            refusals="\n".join(refusals),
            tools="real" if is_real else "fake",
            packages=shlex.quote(str(self.wheel.with_suffix(""))),
            site=f"lib/{library.name}/site-packages",
        )
        path = self.script(str(directory / "bin" / name), text)
        self.variables["PATH"] = f"{path.parent}:{self.variables.get('PATH', self.bin)}"
        return path


def build_wheel(directory: Path) -> Path:
    """One package with stand-ins for the modules that a build must be able to import."""
    files = {f"{name}.py": "" for name in MODULES}
    files["stand_in-1.0.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: stand-in\nVersion: 1.0\n"
    files["stand_in-1.0.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = [f"{name},{record_of(text)}\n" for name, text in files.items()]
    files["stand_in-1.0.dist-info/RECORD"] = "".join([*record, "stand_in-1.0.dist-info/RECORD,,\n"])
    path = directory / "stand_in-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.extractall(path.with_suffix(""))
    return path


def record_of(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"sha256={digest},{len(text)}"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("caches")
    return {"PIP_CACHE_DIR": str(directory / "pip"), "UV_CACHE_DIR": str(directory / "uv")}


@pytest.fixture
def machine(tmp_path: Path, wheel: Path, caches: dict[str, str]) -> Machine:
    """No Python yet, and the wheel as the only thing there is to install."""
    return make_machine(tmp_path, wheel, caches)


@pytest.fixture
def online(tmp_path: Path, wheel: Path, caches: dict[str, str]) -> Machine:
    """A machine with this one's package indexes and omo's own requirements."""
    kept = ("PIP_", "UV_", "SSL_", "REQUESTS_", "HTTP_", "HTTPS_", "NO_PROXY", "http", "no_proxy")
    variables = {name: value for name, value in os.environ.items() if name.startswith(kept)}
    machine = Machine(tmp_path, {**variables, **caches, "XDG_CONFIG_HOME": USER_CONFIG}, wheel)
    machine.requirements.write_bytes((ROOT / "requirements.txt").read_bytes())
    return machine


def make_machine(directory: Path, wheel: Path, caches: dict[str, str]) -> Machine:
    variables = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "UV_NO_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(wheel.parent),
    }
    return Machine(directory, {**variables, **caches}, wheel)


@pytest.fixture(scope="session")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = os.environ.get("OMO_TEST_UV") or shutil.which("uv")
    if found:
        return Path(found).resolve()
    directory = tmp_path_factory.mktemp("uv")
    subprocess.run([str(PYTHON), "-m", "venv", "--without-pip", str(directory)], check=True)
    pip = [str(PYTHON), "-m", "pip", "--python", str(directory), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", "uv"], check=True, stdout=subprocess.DEVNULL)
    return directory / "bin" / "uv"
