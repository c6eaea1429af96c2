"""The answers of `trying`, for whoever names the project's tests and runs nothing. Hooks read this too."""

from __future__ import annotations

from omo.proof.typed_commands import typed
from omo.state import own_commands
from omo.text import clip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from omo.proof.project_checks import Check


def answered(state: str, checks: Sequence[Check]) -> list[Check]:
    """Return the checks, each with the command that gets to its tests in place of the candidates, if omo knows it. It
    gives way to no other then."""
    answers: dict[str, list[str]] = {}
    if any(check.candidates_id for check in checks):
        answers = own_commands.read(state)
    return [_answered(check, answers.get(check.candidates_id)) for check in checks]


def _answered(check: Check, argv: list[str] | None) -> Check:
    for candidate in (check, *check.instead):
        if candidate.argv == argv:
            chosen = candidate.respelled(candidate.argv)
            chosen.name, chosen.kind = check.name, check.kind
            return chosen
    return check


def others_in_words(check: Check) -> str:
    """Name the commands that it gives way to; empty where it is the only one."""
    return ", ".join(clip(typed(other.argv), 80) for other in check.instead)
