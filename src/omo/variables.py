"""The user's own variables: the commands that omo runs get them beside those that find their tools.

In an agent's shell anybody may have set one. There those count that the client has too: a hook, which the client
starts, keeps a mark of each when the user asks for the work.
"""

from __future__ import annotations

from omo import hosts
from omo.digest import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

SECRET = ("TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY")
# What says which session or repository is meant, or opens an account.
NEVER_HANDED_ON = ("OMO_", "GIT_", "SSH_", "GPG_", *hosts.OWN_PREFIXES)
OF_EACH_SHELL = ("PWD", "OLDPWD", "SHLVL", "_")
MOST_MARKS = 300

_names: Callable[[], Collection[str]] = tuple


class handing_on:
    """`with handing_on(names):`. Whoever runs a command meanwhile hands these on; `names` is asked only then."""

    def __init__(self, names: Callable[[], Collection[str]]) -> None:
        self.names = names

    def __enter__(self) -> None:
        global _names
        self._before, _names = _names, self.names

    def __exit__(self, *problem: object) -> None:
        global _names
        _names = self._before


def handed_on() -> Collection[str]:
    return _names()


def is_secret(name: str) -> bool:
    return any(word in name.upper() for word in SECRET)


def may_be_handed_on(name: str) -> bool:
    return name not in OF_EACH_SHELL and not name.upper().startswith(NEVER_HANDED_ON) and not is_secret(name)


def marks(environ: Mapping[str, str]) -> list[str]:
    """By which a variable is known again, with its value."""
    return sorted(_mark(name, environ[name]) for name in environ if may_be_handed_on(name))[:MOST_MARKS]


def marked(environ: Mapping[str, str], known: Collection[str]) -> set[str]:
    """The names of those that have one of the marks."""
    return {name for name in environ if may_be_handed_on(name) and _mark(name, environ[name]) in known}


def _mark(name: str, value: str) -> str:
    return sha256(f"{name}={value}".encode("utf-8", "surrogateescape"))[:12]
