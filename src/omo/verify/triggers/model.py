"""What a text can claim, one shape for each gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

POSITIVE_STATE = "positive-state"
EXHAUSTIVE_SEARCH = "exhaustive-search"
INFRASTRUCTURE = "infrastructure"
ZERO_COUNT = "zero-count"

MOST_TRIGGERS = 12


@dataclass(frozen=True)
class FileClaim:
    """`loose` values were not quoted: finding one proves something, not finding it may be the wording."""

    path: str
    says: Literal["contains", "lacks", "exists", "empty", "lines", "uncommitted"]
    values: tuple[str, ...] = ()
    loose: bool = False


@dataclass(frozen=True)
class AbsenceClaim:
    """`scope` is a path the claim is limited to, "" for the project, None for somewhere code cannot search.

    `of_uses`: the thing may be there, but nothing is said to use it.
    """

    name: str | None
    is_path: bool = False
    scope: str | None = ""
    of_uses: bool = False


@dataclass(frozen=True)
class Address:
    host: str
    port: int
    url: str = ""


@dataclass(frozen=True)
class ServiceClaim:
    says: str
    address: Address | None
    status: int = 0


@dataclass(frozen=True)
class CountClaim:
    """`amount` of the records (`of` that many, when said) pass `test`; `unit` is how the amount was given."""

    file: str | None
    field: str | None
    test: Literal["present", "absent", "empty", "equals"]
    value: str = ""
    unit: Literal["records", "percent", "all"] = "records"
    amount: str = "0"
    of: int | None = None
    last: int | None = None


Claim = FileClaim | AbsenceClaim | ServiceClaim | CountClaim


@dataclass(frozen=True)
class Trigger:
    gate: str
    words: str
    claim: Claim
    start: int
    end: int
