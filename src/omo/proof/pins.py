"""Pinned checks: what a person approved to be run and held against the work, and where the repository stood then."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from omo.errors import Refused
from omo.proof import changes
from omo.state import ownership, paths
from omo.state.journal import Journal
from omo.state.ledger_rows import LedgerRow

if TYPE_CHECKING:
    from omo.proof.checks import Check
    from omo.proof.evaluate import CheckedTree, ChecksVerdict


class Recorder(Protocol):
    """Whose command it is that writes something down, where and when."""

    @property
    def state(self) -> str: ...
    @property
    def root(self) -> str: ...
    @property
    def by(self) -> str: ...
    @property
    def now(self) -> float: ...
    @property
    def wait(self) -> float: ...


class PinRow(LedgerRow, total=False):
    digest: str
    check: object
    base: str | None
    goal: str | None
    source: str


@dataclass(frozen=True)
class CheckPin:
    digest: str
    base: str | None = None
    by: str = ""
    goal: str | None = None
    at: str = ""


@dataclass(frozen=True)
class CheckPins:
    """All pins, oldest first."""

    pins: Sequence[CheckPin] = ()

    @property
    def digests(self) -> frozenset[str]:
        return frozenset(pin.digest for pin in self.pins)

    def of(self, digest: str, goal: str | None = None) -> CheckPin:
        """The pin made for that goal; else the one made for none; else the oldest; else one that nobody made."""
        same = {pin.goal: pin for pin in self.pins if pin.digest == digest}
        for wanted in (goal, None, *same):
            if wanted in same:
                return same[wanted]
        return CheckPin(digest)

    def started_at(self, goal: str) -> str | None:
        """When the first check of the goal was pinned."""
        for pin in self.pins:
            if pin.goal == goal:
                return pin.at
        return None

    def tree(self, root: str | Path, *, goal: str | None = None, source: str = "") -> CheckedTree:
        """What to evaluate on: the tree at `root`, with these pins and the base of each."""
        from omo.proof.evaluate import CheckedTree

        bases = {digest: self.of(digest, goal).base for digest in self.digests}
        return CheckedTree(Path(root), bases, _path_of_checks(Path(root), source))


@dataclass(frozen=True)
class PinReport:
    """What each check says of the tree before the work, and the names of those that were pinned anew."""

    verdict: ChecksVerdict
    added: list[str] = field(default_factory=list)

    @property
    def vacuous(self) -> list[str]:
        return [observation.id for observation in self.verdict.checks if observation.is_vacuous]

    @property
    def all_vacuous(self) -> bool:
        """Whether no check can show that work was done: each passes already or is a guard, and none is in words."""
        for observation in self.verdict.checks:
            is_in_words = observation.type in ("string", "judge")
            if is_in_words or not (observation.is_vacuous or observation.guard):
                return False
        return bool(self.verdict.checks)


def pin(
    caller: Recorder, checks: Sequence[Check | str], *, source: str, goal: str | None, refuse_vacuous: bool = False
) -> PinReport:
    """Record the checks as approved, after one look at the tree as it is. Nothing is written if this raises.

    A check that is pinned already keeps its base unless the user pins it anew: an agent could pin again after the work
    to move it.
    """
    from omo.proof.checks import digest_of_check, dump, ids_of
    from omo.proof.evaluate import CheckedTree, evaluate

    root, by = Path(caller.root), caller.by
    journal = journal_of(caller.state)
    digests = [digest_of_check(check) for check in checks]
    base = changes.head(root)
    verdict = evaluate(checks, CheckedTree(root, dict.fromkeys(digests, base), _path_of_checks(root, source)))
    if refuse_vacuous and PinReport(verdict).all_vacuous:
        raise _nothing_to_prove(verdict)

    def decide(rows: list[PinRow]) -> tuple[list[str], list[PinRow]]:
        added: list[str] = []
        events: list[PinRow] = []
        known = {(pin.digest, pin.goal): pin for pin in _fold(ownership.believed(caller.state, rows)).pins}
        for check, digest, name in zip(checks, digests, ids_of(checks), strict=True):
            earlier = known.get((digest, goal))
            is_same = earlier is not None and (earlier.by, earlier.base) == (by, base)
            if is_same or (earlier is not None and by != "user"):
                continue
            added.append(name)
            events.append(
                {"kind": "pinned", "digest": digest, "check": dump(check), "base": base, "goal": goal, "source": source}
            )
        return added, events

    return PinReport(verdict, journal.change(decide, actor=by, now=caller.now, wait=caller.wait))


def pinned(state: str) -> CheckPins:
    """Return all pins that are known here."""
    return _fold(ownership.believed(state, journal_of(state).rows()))


def journal_of(state: str) -> Journal:
    return Journal(paths.pins_dir(state), state)


def _fold(rows: Sequence[PinRow]) -> CheckPins:
    pins: dict[tuple[str, str | None], CheckPin] = {}
    for row in rows:
        if row.get("kind") == "pinned":
            key = (row["digest"], row["goal"])
            pins[key] = CheckPin(row["digest"], row["base"], row["actor"], row["goal"], row["ts"])
    return CheckPins(list(pins.values()))


def _path_of_checks(root: Path, source: str) -> frozenset[str]:
    """The file that the checks come from, as a path of the project; empty where they come from none."""
    if not source:
        return frozenset()
    relative = os.path.relpath(os.path.realpath(os.path.join(root, source)), os.path.realpath(root))
    return frozenset([relative])


def _nothing_to_prove(verdict: ChecksVerdict) -> Refused:
    observations = verdict.checks
    guards = " or is a guard" if any(observation.guard for observation in observations) else ""
    names = ", ".join(observation.id for observation in observations)
    return Refused(
        f"every check passes before the work{guards}, so none can show that it was done: {names}",
        fix="write its failing test first, or add a check that fails now; if all is to stay true, file it guard: true",
        defects=[f"{observation.id}: {observation.reason}" for observation in observations],
    )
