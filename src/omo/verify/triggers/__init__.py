"""Which claims a text makes that code can look into: the gate, the words that called it, and what they are about.

Each gate has a few anchors, phrases of fixed words. What a claim is about is read from the words beside its anchor, so
no pattern runs over more than one sentence, and a phrase with nothing to look at beside it is left alone or answered
"not probeable", never guessed at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from omo.verify.triggers import absence, counts, files, services
from omo.verify.triggers.model import (
    MOST_TRIGGERS,
    AbsenceClaim,
    Address,
    Claim,
    CountClaim,
    FileClaim,
    ServiceClaim,
    Trigger,
)
from omo.verify.wording import Sentence, sentences

__all__ = [
    "MOST_TRIGGERS",
    "AbsenceClaim",
    "Address",
    "Claim",
    "CountClaim",
    "FileClaim",
    "ServiceClaim",
    "Trigger",
    "triggers",
]

# The gate that reads most of a sentence first: where two want the same words, the earlier one has them.
_FINDERS: tuple[Callable[[Sentence, list[Address]], Iterator[Trigger]], ...] = (
    counts.claims,
    files.claims,
    services.claims,
    absence.claims,
)


def triggers(text: str) -> list[Trigger]:
    """The claims of a text, in order; at most one more than MOST_TRIGGERS."""
    found: list[Trigger] = []
    parts = sentences(_unwrapped(text))
    addresses = [address for part in parts for address in services.addresses_in(part)]
    for part in parts:
        if part.end_mark.startswith("?") or part.is_unknown:
            continue
        here: list[Trigger] = []
        for find in _FINDERS:
            here += [one for one in find(part, addresses) if not any(_overlap(one, other) for other in here)]
        found += sorted(here, key=lambda one: one.start)
        if len(found) > MOST_TRIGGERS:
            return found[: MOST_TRIGGERS + 1]
    return found


def _unwrapped(text: str) -> str:
    """A claim handed over inside quotes is the claim, not a quotation."""
    bare = text.strip()
    mark = bare[:1]
    return bare[1:-1] if len(bare) > 2 and mark in "\"'`" and bare.count(mark) == 2 and bare.endswith(mark) else text


def _overlap(one: Trigger, other: Trigger) -> bool:
    return one.gate != other.gate and one.start < other.end and other.start < one.end
