"""Which ledgers a session and its project have, and where they are."""

from __future__ import annotations

import os
from dataclasses import dataclass

from omo.errors import BadInput
from omo.shown import clip
from omo.state import paths

SHARED = ("evidence", "verify/pins", "verify/goals", "verify/claims", "commands")
RUNS = ("plans", "ralph")  # each run below these keeps a ledger of its own


@dataclass(frozen=True)
class LedgerFile:
    """A ledger by the name it goes by, `session`, `evidence` or `plans/RUN`, and its path."""

    name: str
    path: str


def own(state: str, session: str) -> list[LedgerFile]:
    """Those of one session, whether they are there or not."""
    return [
        LedgerFile("session", paths.events_file(state, session)),
        LedgerFile("goal", _ledger_in(paths.goal_dir(state, session))),
        LedgerFile("ultragoal", _ledger_in(paths.ultragoal_dir(state, session))),
    ]


def shared(state: str, name: str) -> LedgerFile:
    return LedgerFile(name, _ledger_in(os.path.join(state, name)))


def shared_names(state: str) -> list[str]:
    """Those that all sessions of the project share, as far as there are any."""
    names = [*SHARED]
    for kind in RUNS:
        names += [f"{kind}/{run}" for run in _listed(os.path.join(state, kind))]
    return [name for name in names if os.path.isdir(os.path.join(state, name))]


def chosen(state: str, session: str, of: str) -> LedgerFile:
    """What `--of` names. A name that is none of these is refused: it would be a path of the caller's making."""
    mine = own(state, session)
    for file in mine:
        if file.name == of:
            return file
    if of in SHARED or of in shared_names(state):
        return shared(state, of)
    known = ", ".join([*(file.name for file in mine), *SHARED])
    raise BadInput(f"--of {clip(of, 60)!r}: there is no such ledger", fix=f"one of {known}; or plans/RUN, ralph/RUN")


def _ledger_in(directory: str) -> str:
    return os.path.join(directory, "ledger.jsonl")


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
