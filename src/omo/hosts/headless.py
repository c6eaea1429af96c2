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
NOWHERE = "http://127.0.0.1:9"  # the address of a model where none is to be asked
INSTALL = "install omo in it; the README says how"


@dataclass(frozen=True)
class RoundEnd:
    """What a client says at the end of a round: its conversation, the limit or error that ended it, and its cost."""

    session: str = ""
    limit: str = ""
    error: str = ""
    tokens: int = 0


class Headless:
    """One host, started with the user's arguments. What it lacks is said as `WHAT: FIX`, empty where nothing is."""

    def __init__(
        self, host: hosts.Host, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask
    ) -> None:
        self.host = host
        self.root = root
        self.environ = environ
        self.arguments = list(arguments)
        self.ask = ask

    def options(self) -> list[tuple[str, str]]:
        """Each word of the user's arguments, and before it the option that it belongs to; empty where it is that."""
        options, option = [], ""
        for word in self.arguments:
            value = word
            if word.startswith("-"):
                option, _, value = word.partition("=")
            options.append((option, value))
        return options

    def command(self, session: str) -> list[str]:
        """The command of a new conversation, which reads its prompt from stdin."""
        raise NotImplementedError

    def round_end(self, printed: str, session: str) -> RoundEnd:
        raise NotImplementedError

    def lacks_login(self) -> str:
        raise NotImplementedError

    def lacks_hooks(self) -> str:
        # Asked twice: a busy machine may give up on one hook.
        if self.is_answered() or self.is_answered():
            return ""
        return f"the hooks of omo do not fire in {self.host.program}: {INSTALL}, or omo doctor says what is wrong"

    def is_answered(self) -> bool:
        """Whether a hook answers a line of ours. Where none does, the line goes to a model that does not exist."""
        raise NotImplementedError

    def lacks_permission(self, commands: Sequence[Sequence[str]]) -> str:
        """Whether it would let the agent edit files, and run these commands."""
        raise NotImplementedError


def headless(name: str, root: str, environ: Mapping[str, str], arguments: Sequence[str], ask: Ask) -> Headless:
    """The `Headless` of hosts/NAME_headless.py."""
    kind: type[Headless] = import_module(f"omo.hosts.{name}_headless").Headless
    return kind(hosts.named(name), root, environ, arguments, ask)


def is_later(status: object) -> bool:
    """Whether this status of HTTP says that the same may work later."""
    return isinstance(status, int) and (status == TOO_MANY or status >= SERVERS_FAULT)


def objects_in(printed: str) -> list[Json]:
    """The objects that a host printed, one in a line."""
    found = []
    for line in printed.splitlines():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found
