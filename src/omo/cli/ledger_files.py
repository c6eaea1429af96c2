"""Which ledgers a session and its project have, and where they are."""

from __future__ import annotations

import os
from dataclasses import dataclass

from omo.errors import BadInput
from omo.shown import clip
from omo.state import paths, runtime

SHARED = ("evidence", "verify/pins", "verify/goals", "verify/claims", "commands")
RUNS = ("plans", "ralph")  # each run below these keeps a ledger of its own
OWN = ("session", "goal", "ultragoal")
BY_KIND = {"ultraplan": "plans", "ralph": "ralph"}


@dataclass(frozen=True)
class LedgerFile:
    """A ledger by the name it goes by, `session`, `evidence` or `plans/RUN`, and its path."""

    name: str
    path: str


def own(state: str, session: str) -> list[LedgerFile]:
    """Those of one session, whether they are there or not; none where no session is meant."""
    if not session:
        return []
    journals = {"goal": paths.goal_dir(state, session), "ultragoal": paths.ultragoal_dir(state, session)}
    files = [LedgerFile("session", paths.events_file(state, session))]
    return files + [LedgerFile(name, _ledger_in(directory)) for name, directory in journals.items()]


def shared(state: str) -> list[LedgerFile]:
    """Those that all sessions of the project share, as far as there are any."""
    return [_below(state, name) for name in shared_names(state)]


def shared_names(state: str) -> list[str]:
    names = [*SHARED, *(f"{kind}/{run}" for kind in RUNS for run in _listed(os.path.join(state, kind)))]
    return [name for name in names if os.path.isdir(os.path.join(state, name))]


def chosen(state: str, session: str, of: str) -> list[LedgerFile]:
    """What `--of` names. A name that is none of these is refused: it would be a path of the caller's making."""
    if of in OWN:
        return [file for file in own(state, session) if file.name == of]
    if of in SHARED or (of not in BY_KIND and of in shared_names(state)):
        return [_below(state, of)]
    if of in BY_KIND:
        mine = _runs_of(state, session, of)
        return [_below(state, name) for name in shared_names(state) if name in mine]
    known = ", ".join([*OWN, *BY_KIND, *SHARED])
    raise BadInput(f"--of {clip(of, 60)!r}: there is no such ledger", fix=f"one of {known}; or plans/RUN, ralph/RUN")


def everything(state: str, session: str) -> list[LedgerFile]:
    return [*own(state, session), *shared(state)]


def _runs_of(state: str, session: str, kind: str) -> set[str]:
    """The runs of one kind that are this session's: those that say so, and the one its row names."""
    row = runtime.session(state, session) or {}
    told = runtime.part(runtime.part(row, "work"), kind).get("run")
    names = [told] if isinstance(told, str) and told else []
    if kind == "ralph":
        from omo.ralph.run import standings

        names += [one.run for one in standings(state) if one.session == session]
    else:
        from omo.ultraplan.run import records

        names += [one.run for one in records(state) if one.session == session]
    return {f"{BY_KIND[kind]}/{paths.file_name_of(name)}" for name in names}


def _below(state: str, name: str) -> LedgerFile:
    return LedgerFile(name, _ledger_in(os.path.join(state, name)))


def _ledger_in(directory: str) -> str:
    return os.path.join(directory, "ledger.jsonl")


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except (FileNotFoundError, NotADirectoryError):
        return []
