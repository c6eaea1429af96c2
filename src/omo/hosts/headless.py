"""Hosts where nobody watches: how a round is started, what it left, and what can be seen to be missing before it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from omo import hosts
from omo.json_text import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    # A command, its input and its environment: what it prints.
    Ask = Callable[[Sequence[str], bytes, Mapping[str, str]], str]


TOO_MANY, SERVERS_FAULT = 429, 500  # of HTTP: come back later
NOWHERE = "http://127.0.0.1:9"  # where a model is asked that must not be
INSTALL = "install omo in it; the README says how"


@dataclass(frozen=True)
class Left:
    """What a round left beside the files: its conversation, a limit that ended it, and what it cost."""

    session: str = ""
    limit: str = ""
    error: str = ""
    tokens: int = 0


class Headless:
    """One host, as somebody's arguments start it. What is lacking is said with the line that mends it."""

    def __init__(
        self, host: hosts.Host, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask
    ) -> None:
        self.host = host
        self.root = root
        self.environ = environ
        self.arguments = list(arguments)
        self.ask = ask

    def command(self, session: str) -> list[str]:
        """A conversation of its own, that is told its prompt on stdin."""
        raise NotImplementedError

    def left(self, printed: str, session: str) -> Left:
        raise NotImplementedError

    def lacks_login(self) -> str:
        raise NotImplementedError

    def lacks_hooks(self) -> str:
        """Asked twice: a busy machine may give up on one hook."""
        if self.is_answered() or self.is_answered():
            return ""
        return f"the hooks of omo do not fire in {self.host.program}: {INSTALL}, or omo doctor says what is wrong"

    def is_answered(self) -> bool:
        """Whether a line is that a hook answers; where none does, it is asked of a model that is not there."""
        raise NotImplementedError

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        """For the agent to edit files, and to run these."""
        raise NotImplementedError


def headless(name: str, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask) -> Headless:
    """By hosts/NAME_headless.py, which has a `Headless`."""
    kind: type[Headless] = import_module(f"omo.hosts.{name}_headless").Headless
    return kind(hosts.named(name), root, environ, arguments, ask)


def is_later(status: object) -> bool:
    """Whether this status of HTTP says that the same may well work in a while."""
    return isinstance(status, int) and (status == TOO_MANY or status >= SERVERS_FAULT)


def objects_in(printed: str) -> list[Json]:
    """Those that a host printed, a line each."""
    found = []
    for line in printed.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found
