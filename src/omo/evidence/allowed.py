"""Commands of this project that the user allowed to be replayed as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omo.errors import Refused
from omo.state import paths
from omo.state.journal import Journal

Row = dict[str, Any]

ANY_ARGUMENTS = "..."
REPAIR = "look at what was changed, then let the user run in their own terminal: omo gate add NAME --repair -- COMMAND"


def allowed(state: str) -> list[tuple[str, ...]]:
    """Argument lists, one for each name the user pinned; a last `...` stands for any further arguments.

    Refused where the ledger is not whole: nothing is run because a file says so.
    """
    journal = _journal(state)
    journal.require_whole("replay commands", REPAIR)
    return list(_fold(journal.rows()).values())


def is_pinned(argv: Sequence[str], pins: Sequence[Sequence[str]]) -> bool:
    return any(_covers(tuple(pin), tuple(argv)) for pin in pins)


def repair(state: str, *, by: str, now: float, wait: float) -> None:
    """Keep a damaged ledger under another name. What it allowed has to be pinned again."""
    if by != "user":
        raise Refused("only the user can repair the ledger of replay commands", fix=REPAIR)
    journal = _journal(state)
    journal.change(lambda rows: (None, journal.seal(now)), actor=by, now=now, wait=wait)


def _journal(state: str) -> Journal:
    return Journal(paths.commands_dir(state), state)


def _fold(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        if row.get("kind") == "command-pinned" and row.get("actor") == "user":
            found[row["name"]] = tuple(row["argv"])
    return {name: argv for name, argv in found.items() if argv}  # none: the user took it back


def _covers(pin: tuple[str, ...], argv: tuple[str, ...]) -> bool:
    if len(pin) > 1 and pin[-1] == ANY_ARGUMENTS:
        return argv[: len(pin) - 1] == pin[:-1]
    return argv == pin
