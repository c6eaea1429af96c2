"""Which mutants to try if there is no time for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from omo.digest import sha256
from omo.mutants.edits import Mutant


def sample(mutants: Sequence[Mutant], most: int, seed: str) -> list[Mutant]:
    """Return at most so many: files take turns, in each file its lines, on each line the kinds that are rare there.

    The same seed picks the same, and a smaller sample is the beginning of a larger one, so whoever stops early has
    tried a fair part.
    """
    ranked = sorted(mutants, key=lambda mutant: sha256(f"{seed}\0{mutant.path}\0{mutant.edit}".encode()))
    # The last decides first: each sort keeps what the ones before it have ordered among those of one turn.
    ranked = _in_turns(ranked, lambda mutant: (mutant.path, mutant.kind))
    ranked = _in_turns(ranked, lambda mutant: (mutant.path, mutant.line))
    ranked = _in_turns(ranked, lambda mutant: mutant.path)
    return ranked[:most]


def _in_turns(mutants: Sequence[Mutant], group: Callable[[Mutant], Hashable]) -> list[Mutant]:
    """Return the first of each group, then the second of each, and so on."""
    taken: Counter[Hashable] = Counter()
    turns: list[tuple[int, Mutant]] = []
    for mutant in mutants:
        turns.append((taken[group(mutant)], mutant))
        taken[group(mutant)] += 1
    return [mutant for _, mutant in sorted(turns, key=lambda turn: turn[0])]
