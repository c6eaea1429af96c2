"""Real shells with omo's completion loaded: what they offer for a line."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import shutil
import subprocess
import termios
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from omo.cli.completion import INSTALL, script
from omo.context import Context

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # never waited for where things work: it ends a test that would hang


def require(shell: str) -> str:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    return program


@dataclass
class World:
    """A home with the scripts in it, and a project."""

    home: Path
    project: Path

    @property
    def told(self) -> Path:
        return self.home / "told"

    @property
    def environ(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "ZDOTDIR": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config")}
        machine = {"PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        return {**own, **machine, "XDG_DATA_HOME": str(self.home / "data")}

    def script(self, shell: str) -> Path:
        return self.home / f"omo.{shell}"


def build_world(home: Path) -> World:
    world = World(home, home / "project")
    for directory in (world.project, home / "config", home / "data"):
        directory.mkdir(parents=True)
    os.mkfifo(world.told)
    for shell in INSTALL:
        made = script(Namespace(shell=shell), Context({}, str(world.project), 0.0, False))
        world.script(shell).write_text(made.text + "\n", encoding="utf-8")
    return world


def offered(world: World, shell: str, lines: Sequence[Sequence[str]]) -> list[list[str]]:
    """For each line, given as the words after `omo` of which the last is not finished."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](world, lines)


BASH = """\
source "$1"
compopt() { :; }
shift
while (($#)); do
    COMP_WORDS=(omo) COMP_LINE=omo
    while [[ $1 != END ]]; do
        COMP_WORDS+=("$1") COMP_LINE+=" $1"
        shift
    done
    shift
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE}
    _shtab_omo omo
    printf '%s\\0' "${COMPREPLY[@]}" END
done
"""


def _printed(world: World, command: Sequence[str]) -> str:
    place, environ = world.project, world.environ
    done = subprocess.run(command, cwd=place, env=environ, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return str(done.stdout)


def _bash(world: World, lines: Sequence[Sequence[str]]) -> list[list[str]]:
    flat = [word for line in lines for word in (*line, "END")]
    return _grouped(_printed(world, [require("bash"), "-c", BASH, "bash", str(world.script("bash")), *flat]))


def _fish(world: World, lines: Sequence[Sequence[str]]) -> list[list[str]]:
    asked = [f"complete -C {shlex.quote(' '.join(['omo', *line]))}; printf 'END\\n'" for line in lines]
    source = f"source {shlex.quote(str(world.script('fish')))}"
    printed = _printed(world, [require("fish"), "--no-config", "-c", "\n".join([source, *asked])])
    return _grouped(printed.replace("\n", "\0"), without_text=True)


ZSH = """\
autoload -U compinit && compinit -u -D
eval "$(<{script})"
zstyle ':completion:*' list-grouped false
setopt no_beep no_list_beep
compadd() {{
    if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then
        builtin compadd "$@"
        return
    fi
    local -a hits
    builtin compadd -A hits "$@"
    (( $#hits )) && printf '%s\\0' "${{hits[@]}}" >>{told}
    builtin compadd "$@"
}}
tell() {{
    zle complete-word
    printf '%s\\0' END >>{told}
    BUFFER=
}}
zle -N tell
bindkey '^I' tell
precmd() {{ printf '%s\\0' READY >>{told} }}
PS1=
"""


def _zsh(world: World, lines: Sequence[Sequence[str]]) -> list[list[str]]:
    require("zsh")
    text = ZSH.format(script=shlex.quote(str(world.script("zsh"))), told=shlex.quote(str(world.told)))
    (world.home / ".zshrc").write_text(text, encoding="utf-8")
    with Terminal(world, ["zsh", "-i"]) as terminal:
        terminal.wait_for("READY")
        found = []
        for line in lines:
            terminal.type(" ".join(["omo", *line]) + "\t")
            found.append(list(dict.fromkeys(terminal.wait_for("END"))))
        return found


def _grouped(text: str, *, without_text: bool = False) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for word in text.split("\0")[:-1]:
        if word == "END":
            groups.append([])
        elif word:
            groups[-1].append(word.partition("\t")[0] if without_text else word)
    return groups[:-1]


class Terminal:
    """A shell on a terminal of its own. It answers through a named pipe, so that what it draws does not matter."""

    def __init__(self, world: World, argv: list[str]) -> None:
        self._world = world
        self._argv = argv
        self._drawn = b""
        self._said = b""

    def __enter__(self) -> Terminal:
        self._told = os.open(self._world.told, os.O_RDWR | os.O_NONBLOCK)
        self._screen, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, b"\x32\0\xff\0\0\0\0\0")
        self._shell = subprocess.Popen(
            self._argv,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=self._world.project,
            env=self._world.environ,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(inner)
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._screen)
        os.close(self._told)

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def wait_for(self, mark: str) -> list[str]:
        """The words told before the mark; what is told after it stays for the next call."""
        end = f"{mark}\0".encode()
        while end not in self._said:
            ready = select.select([self._screen, self._told], [], [], PATIENCE)[0]
            assert ready, f"the shell says nothing more; on its screen: {self._drawn.decode(errors='replace')}"
            if self._screen in ready:
                self._drawn += os.read(self._screen, 65536)
            if self._told in ready:
                self._said += os.read(self._told, 65536)
        before, _, self._said = self._said.partition(end)
        return [word for word in before.decode().split("\0") if word]
