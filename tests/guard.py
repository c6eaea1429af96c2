"""The machine is the user's: what no test may touch, and how the suite notices one that does.

In the tests' own process an audit hook stops the call. What a program did that a test started is seen at the end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

CLONE = os.path.realpath(Path(__file__).parents[1])
# Where `omo setup path` puts a launcher.
OWN_PROGRAMS = (os.path.join(".local", "bin"), "bin")
TESTS = f"{os.sep}pytest-of-"  # in the path of everything that tests make
# What opens, makes, moves or removes a file, by the name of its audit event: all but `open` change something.
WATCHED = frozenset(
    ("open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.link", "os.chmod", "os.truncate")
)


class User:
    """Whoever runs the suite, with what is theirs."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.is_looking = False  # the guard itself
        self.home = environ.get("HOME") or os.path.expanduser("~")
        self.path = environ.get("PATH", "").split(os.pathsep)
        state = environ.get("XDG_STATE_HOME") or self._in_home(".local", "state")
        self.records = os.path.join(state, "omo", "projects")
        cache = os.path.join(environ.get("XDG_CACHE_HOME") or self._in_home(".cache"), "omo")
        self.environments = [os.path.join(cache, name) for name in ("environment", "root", "statusline.sh")]
        claude = environ.get("CLAUDE_CONFIG_DIR") or self._in_home(".claude")
        codex = environ.get("CODEX_HOME") or self._in_home(".codex")
        copilot = environ.get("COPILOT_HOME") or self._in_home(".copilot")
        self.hosts = [claude, f"{claude}.json", codex, copilot]
        self.settings = [os.path.join(claude, "settings.json"), os.path.join(codex, "config.toml")]
        self.settings.append(os.path.join(copilot, "settings.json"))

    def _in_home(self, *names: str) -> str:
        return os.path.join(self.home, *names)

    @property
    def launchers(self) -> list[str]:
        directories = [*(self._in_home(name) for name in OWN_PROGRAMS), *self.path]
        return [os.path.join(directory, "omo") for directory in dict.fromkeys(directories) if os.path.isabs(directory)]

    @property
    def places(self) -> list[str]:
        return [*self.launchers, os.path.dirname(self.records), *self.environments, *self.hosts]

    def files(self) -> dict[str, object]:
        """What a test could change or leave behind, by path, as it is now. Of the records of
        projects, which the user's own sessions write too, only those about a project of tests."""
        known: dict[str, object] = {}
        self.is_looking = True
        for record in Path(self.records).rglob("*"):
            if record.is_file() and TESTS in f"{record}{record.read_text(errors='replace')}":
                known[str(record)] = None
        for path in [*self.launchers, *self.environments, *self.settings]:
            try:
                status = os.lstat(path)
            except OSError:
                continue
            known[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
        self.is_looking = False
        return known


USER = User(os.environ)  # before any test has an environment of its own


def forbid() -> None:
    """Fails whatever test touches what is the user's, from now on: an audit hook cannot be taken away."""
    places = tuple(f"{os.path.abspath(place)}{os.sep}" for place in USER.places)

    def look(event: str, arguments: tuple[object, ...]) -> None:
        if event not in WATCHED or USER.is_looking:
            return
        # The second of `open` is its mode; of the others it may be where to. Tests are in directories of their own.
        for name in arguments[: 1 if event == "open" else 2]:
            if not isinstance(name, (str, bytes)) or not os.path.isabs(name):
                continue
            path = os.path.normpath(os.fsdecode(name)) + os.sep
            if path.startswith(places) and not path.startswith(CLONE + os.sep):
                # No OSError, which the code under test would take for a file that it cannot read.
                pytest.fail(f"a test touched what is the user's: {event} {path.rstrip(os.sep)}")

    sys.addaudithook(look)


def programs_without_omo(path: str, directory: Path) -> Iterator[str]:
    """The directories of PATH; in place of one that has an omo, the same programs without it."""
    for number, name in enumerate(path.split(os.pathsep)):
        if not os.path.lexists(os.path.join(name, "omo")):
            yield name
            continue
        shadow = directory / str(number)
        shadow.mkdir(parents=True)
        for program in os.scandir(name):
            if program.name != "omo":
                (shadow / program.name).symlink_to(program.path)
        yield str(shadow)


def leave_terminal() -> None:
    """Gives up the terminal that the suite was started in: `omo` asks /dev/tty whether a person types."""
    import fcntl
    import termios

    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return
    # The first program of a terminal takes it from all others by leaving it, which they are told by this signal.
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    fcntl.ioctl(terminal, termios.TIOCNOTTY)
    os.close(terminal)
    signal.signal(signal.SIGHUP, before)
