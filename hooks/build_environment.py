"""Builds the environment that hooks/environment.sh did not find, with the interpreter that it found.

    python -I -S build_environment.py HOME REQUIREMENTS KEY MODULES UV PATH [--retry | --anew] [--announce]

It needs Python 3.10 and no package. Its output and exit code are those of `environment.sh ensure`. UV is a program or
empty, PATH that of whoever called the shell, without the project's directories. docs/decisions/environment.md says why
it is so.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STALE = 15 * 60  # seconds, longer than any build: what is older and unfinished belongs to nobody
DAY = 24 * 60 * 60
LONGEST_WAIT = 240  # seconds, for another build
ASKED = 60  # seconds, in which a build that a hook has asked for takes the lock
KEPT = 3  # environments, each for other requirements: versions of omo that are in use side by side

MESSAGES = {
    "venv": "{program} cannot make a virtual environment; install the package python3-venv (or uv), then start again",
    "network": "the package index could not be reached; check the connection, proxy or pip settings, then type"
    " omo doctor in a terminal ({log})",
    "hashes": "a downloaded package is not the pinned one (hash mismatch); check the package index or proxy ({log})",
    "packages": "the package index has no wheels of the requirements for {program};"
    " install another Python (3.10 to 3.14) or uv ({log})",
    "import": "the packages installed for {program} do not import; install another Python (3.10 to 3.14) or uv ({log})",
    "disk": "the disk is full; free some space for {home}, then start again",
    "home": "its Python environment is not built, and {home} cannot be written from here; type omo doctor in a terminal"
    " of your own, or name another directory in OMO_ENV_HOME",
    "busy": "another session is still preparing the Python environment; start again in a minute ({lock})",
    "other": "preparing the Python environment failed; the reason is in {log}",
}
# What pip and uv print, by the reason it stands for. The first that is found counts.
SIGNS = {
    "disk": r"No space left on device|Disk quota exceeded|not enough space on the disk",
    "hashes": r"DO NOT MATCH THE HASHES|Hash mismatch",
    "network": r"ConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|Max retries exceeded|timed out"
    r"|dns error|error sending request|[Nn]etwork (connectivity|is unreachable)|[Cc]onnection (refused|reset)",
    "packages": r"No matching distribution|No solution found|is not a supported wheel|has no (usable )?wheels",
}
SAME_FOR_EVERY_PYTHON = ("disk", "hashes", "network")

# What the user set for Python or for another environment must not reach this one; indexes, proxies and caches do.
SETTINGS_OF_OTHERS = """
    PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX
    PYTHONWARNINGS PYTHONOPTIMIZE PYTHONINSPECT PYTHONDEBUG PYTHONSAFEPATH __PYVENV_LAUNCHER__ VIRTUAL_ENV
    CONDA_PREFIX PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_CONSTRAINT PIP_REQUIREMENT PIP_DRY_RUN PIP_QUIET
    UV_PYTHON UV_SYSTEM_PYTHON UV_CONSTRAINT UV_OVERRIDE UV_PROJECT_ENVIRONMENT UV_NO_VERIFY_HASHES
"""
SETTINGS = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
WHEELS_ONLY = ["--require-hashes", "--no-deps", "--only-binary", ":all:"]
RUNNER = "import pip; print(pip.__path__[0] + '/__pip-runner__.py')"
IMPORT = "import sys; open(sys.argv[1]).close(); sys.path.append(sys.argv[2]); list(map(__import__, sys.argv[3:]))"


class Failure(Exception):
    def __init__(self, reason: str, program: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.program = program


def age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def answer_of(command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **variables}
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    return subprocess.run(
        command, cwd="/", env=environ, stdin=null, stdout=pipe, stderr=null, encoding="utf-8", errors="surrogateescape"
    )


class Build:
    def __init__(self, home: str, requirements: str, key: str, modules: str, uv: str, path: str, *options: str) -> None:
        self.home, self.requirements, self.key, self.modules = Path(home), requirements, key, modules.split()
        self.uv, self.path, self.options = uv, path, options
        self.newest, self.keyed = self.home / "environment", self.home / f"environment-{key}"
        self.log, self.lock = self.home / "environment.log", self.home / "environment.building"
        self.asked = self.home / "environment.asked"  # by a hook, or by nobody
        self.aside = self.home / f"environment.{os.getpid()}.tmp"
        self.environment = self.home / f"env-{key}-{int(time.time())}-{os.getpid()}"
        self.scratch = Path(f"{self.environment}.tmp")  # as long as it is there, the environment is not finished
        self.python = str(self.environment / "bin" / "python")
        self.asked_index = False
        self.announced = ""

    def ensure(self) -> int:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            os.chdir(self.home)
            with self.locked() as may_build:
                known = self.ask("known", *self.options, str(self.home))  # whoever had the lock may have built it
                if known.returncode != 2:
                    print(known.stdout, end="")
                    return known.returncode
                if not may_build:
                    raise Failure("home")
                self.build()
            print(self.python, self.site(), sep="\n")
            return 0
        except Failure as failure:
            print(f"omo: {self.message(failure)}")
        except OSError as error:
            reason = "disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "home"
            print(f"omo: {self.message(Failure(reason))}")
        return 1

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Wait until nobody else builds, and say whether this process may. The lock is an economy: two builds at once
        are harmless, as each has a directory of its own."""
        try:
            opened = self.lock.open("a")
        except OSError:
            self.wait_for_another()  # as in a sandbox: outside of it a hook may be building
            yield False
            return
        with opened as lock:
            given = os.environ.get("OMO_ENV_WAIT", "")
            seconds = int(given) if given.isdecimal() else LONGEST_WAIT
            while not self.try_lock(lock.fileno()):
                if seconds <= 0:
                    raise Failure("busy")
                seconds -= 1
                self.announce("another session is preparing its Python environment…")
                time.sleep(1)
            self.asked.unlink(missing_ok=True)  # who waits sees the lock from now on
            yield True

    def wait_for_another(self) -> None:
        latest = time.monotonic() + LONGEST_WAIT
        while self.is_being_built() and time.monotonic() < latest:
            self.announce("another session is preparing its Python environment…")
            time.sleep(0.1)

    def is_being_built(self) -> bool:
        try:
            with self.lock.open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return self.asked.exists() and age(self.asked) < ASKED

    def try_lock(self, lock: int) -> bool:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return age(self.lock) > STALE  # whoever has it hangs, or was suspended
        except OSError:
            return True  # a file system that has no locks
        os.utime(lock)
        return True

    def ask(self, verb: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The shell, which knows what is ready or has failed, and which interpreters there are."""
        command = ["/bin/sh", str(Path(__file__).with_name("environment.sh")), verb, *arguments, self.requirements]
        return answer_of(command, PATH=self.path)

    def announce(self, text: str) -> None:
        if "--announce" in self.options and text != self.announced:
            print(f"omo: {text}", file=sys.stderr, flush=True)
        self.announced = text

    def message(self, failure: Failure) -> str:
        places = {"program": failure.program, "home": self.home, "lock": self.lock, "log": self.log}
        return MESSAGES[failure.reason].format(**places).replace("\n", " ")

    def build(self) -> None:
        for name in SETTINGS_OF_OTHERS.split():
            os.environ.pop(name, None)
        os.environ.update(SETTINGS)
        self.announce("preparing its Python environment (once)…")
        failed = self.home / "environment.failed"
        try:
            self.scratch.mkdir()
            self.log.unlink(missing_ok=True)
            self.remove_leftovers()
            self.install()
            self.point()
            failed.unlink(missing_ok=True)
        except Failure as failure:
            message = self.message(failure)
            self.note(f"omo: {message}")
            # The others are quick, and their remedy should work at once.
            if self.asked_index:
                self.write(failed, self.key, message)
            raise
        finally:
            if self.pointed_to(self.newest) != self.environment:
                self.remove_environment(self.environment)
            remove(self.scratch)

    def note(self, line: str) -> None:
        with self.log.open("a", errors="surrogateescape") as log:
            log.write(f"{line}\n")

    def write(self, path: Path, *lines: object) -> None:
        self.aside.write_text("".join(f"{line}\n" for line in lines), errors="surrogateescape")
        self.aside.replace(path)

    def remove_leftovers(self) -> None:
        """An environment no longer pointed to may still run in a session: it has a day."""
        pointers = sorted(self.home.glob("environment-*"), key=age)
        for pointer in pointers[KEPT - 1 :]:  # with the one that is about to be built
            pointer.unlink(missing_ok=True)
        in_use = [self.pointed_to(pointer) for pointer in (self.newest, *pointers)]
        for path in sorted([*self.home.glob("env-*"), *self.home.glob("environment.*.tmp")]):
            is_unfinished = path.suffix == ".tmp" or Path(f"{path}.tmp").exists()  # which is sorted behind it
            if path not in in_use and age(path) > (STALE if is_unfinished else DAY):
                self.remove_environment(path)

    def remove_environment(self, path: Path) -> None:
        remove(path)
        remove(Path(f"{self.home}/pycache{path}"))

    def pointed_to(self, pointer: Path) -> Path | None:
        try:
            python = Path(pointer.read_text(errors="surrogateescape").split("\n")[0])
        except FileNotFoundError:
            return None
        return python.parent.parent

    def install(self) -> None:
        """Leaves an environment that was tried. Of those who failed, the last that got to the packages tells most."""
        failure = Failure("venv", sys.executable)
        for program in self.installers():
            try:
                if program == self.uv:
                    self.install_with_uv()
                else:
                    self.install_with_pip(program)
                return self.verify(program)
            except Failure as latest:
                if latest.reason != "venv":
                    failure = latest
                # uv does not read pip's settings: pip may reach what uv does not.
                if latest.reason in SAME_FOR_EVERY_PYTHON and program != self.uv:
                    break
        raise failure

    def installers(self) -> Iterator[str]:
        """uv, for this interpreter; its own pip; and that of the others, each once whatever its names are."""
        if self.uv:
            yield self.uv
        yield sys.executable
        tried = {os.path.realpath(sys.executable)}
        for line in self.ask("interpreters").stdout.splitlines():
            identity, python = line.split("\t")
            if identity not in tried:
                tried.add(identity)
                yield python

    def install_with_uv(self) -> None:
        self.start_download()
        venv = [self.uv, "venv", "--no-config", "--no-project", "--python", sys.executable]
        if not self.run([*venv, str(self.environment)]):
            raise Failure("venv", self.uv)
        options = ["--python", self.python, *WHEELS_ONLY, "--no-progress"]
        self.run_install(self.uv, [self.uv, "pip", "install", *options, "-r", self.requirements])

    def install_with_pip(self, python: str) -> None:
        """By the interpreter's own pip: a Debian without python3-venv may have that and no ensurepip, which also takes
        4 seconds. Its runner is what `pip --python` starts (since 22.3), after pip has started for nothing."""
        remove(self.environment)
        if not self.run([python, "-I", "-m", "venv", "--without-pip", str(self.environment)]):
            raise Failure("venv", python)
        runner = answer_of([python, "-I", "-X", "utf8", "-c", RUNNER]).stdout.strip()
        pip = [self.python, "-I", runner]
        if not os.path.exists(runner):
            pip = [self.python, "-I", "-m", "pip"]
            if not self.run([self.python, "-I", "-m", "ensurepip"]):
                raise Failure("venv", python)
        self.start_download()
        options = [*WHEELS_ONLY, "--no-compile", "--no-warn-conflicts", "--progress-bar", "off"]
        install = [*pip, "install", *options, "-r"]
        try:
            self.run_install(python, *([*install, half] for half in self.halves()))
        except Failure as failure:
            if failure.reason != "other":
                raise
            self.run_install(python, [*install, self.requirements])  # in case the two were in each other's way

    def start_download(self) -> None:
        self.asked_index = True
        self.announce("preparing its Python environment (once): installing packages…")

    def halves(self) -> list[str]:
        """Most of pip's time goes into reading the index, on one core. Nothing depends on the order, as each package is
        pinned. It begins at the start of a line, and its hashes follow."""
        text = Path(self.requirements).read_text(encoding="utf-8")
        halves = ["", ""]
        for package in re.split(r"^(?=[^ #\n])", text, flags=re.MULTILINE)[1:]:
            halves[len(halves[1]) < len(halves[0])] += package
        paths = []
        for number, half in enumerate(halves):
            if half:
                paths.append(str(self.scratch / f"{number}.txt"))
                Path(paths[-1]).write_text(half, encoding="utf-8")
        return paths

    def run_install(self, program: str, *commands: list[str]) -> None:
        mark = self.log.stat().st_size
        if not self.run(*commands):
            words = self.log.read_bytes()[mark:].decode(errors="replace")
            raise Failure(next((reason for reason, sign in SIGNS.items() if re.search(sign, words)), "other"), program)

    def run(self, *commands: list[str]) -> bool:
        """Side by side, into the log. Did all of them succeed?"""
        running = []
        with self.log.open("ab") as log:
            try:
                for command in commands:
                    self.note(f"+ {' '.join(command)}")
                    running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                codes = [process.wait() for process in running]
                return not any(codes)
            except OSError as error:
                self.note(str(error))
                return False
            finally:
                for process in running:
                    process.kill()

    def site(self) -> str:
        return str(next(self.environment.glob("lib/python*/site-packages"), ""))

    def verify(self, program: str) -> None:
        """As the hooks start it: without site, so that only what is in the directory counts. Most of the time goes into
        the bytecode, which is kept for them and for bin/omo."""
        self.announce("preparing its Python environment (once): trying it…")
        start = [self.python, "-I", "-S", "-X", "utf8", "-X", f"pycache_prefix={self.home}/pycache", "-c", IMPORT]
        start += [self.requirements, self.site()]
        if not self.run([*start, *self.modules[::2]], [*start, *self.modules[1::2]]):
            raise Failure("import", program)

    def point(self) -> None:
        version = answer_of([self.python, "-V"]).stdout.strip()
        replaced = self.pointed_to(self.keyed) or self.pointed_to(self.newest)
        if replaced and replaced.parent == self.home and replaced.exists():
            os.utime(replaced)  # from now on it has its day
        for pointer in (self.keyed, self.newest):
            self.write(pointer, self.python, self.site(), self.key, version)


if __name__ == "__main__":
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, frame: sys.exit(128 + number))
    sys.exit(Build(*sys.argv[1:]).ensure())
