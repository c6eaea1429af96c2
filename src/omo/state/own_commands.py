"""Which of the commands that a project's files name gets to its tests: what omo found by trying.

An answer is kept under the id of the candidates. It only ever chooses one of them: who forges one brings no command of
their own.
"""

from __future__ import annotations

from omo.errors import OmoError
from omo.safe_open import read_file
from omo.state import ownership, paths, store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

VERSION = 1
LARGEST = 1 << 20
MOST_KEPT = 50


def read(state: str) -> dict[str, list[str]]:
    """Return the commands by the ids of their candidates, the oldest first. What cannot be read is no answer."""
    path = paths.own_commands_file(state)
    answers: dict[str, list[str]] = {}
    try:
        if store.link_to_state(path) is not None:
            return {}
        stored = store.loads(read_file(path, LARGEST))
        if stored["version"] == VERSION:
            for candidates_id, argv in stored["commands"].items():
                answers[str(candidates_id)] = [str(word) for word in argv]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return answers


def keep(state: str, candidates_id: str, argv: Sequence[str]) -> None:
    """Keep an answer. Where that cannot be, the candidates are only tried again."""
    try:
        ownership.make_state_dir(state)
        path = paths.own_commands_file(state)
        with store.Lock(f"{path}.lock", store.deadline(store.CLI_WAIT)):
            answers = read(state)
            answers.pop(candidates_id, None)
            answers[candidates_id] = list(argv)
            newest = dict(list(answers.items())[-MOST_KEPT:])
            store.replace(path, store.dumps({"version": VERSION, "commands": newest}) + "\n")
    except (OmoError, OSError):
        pass
