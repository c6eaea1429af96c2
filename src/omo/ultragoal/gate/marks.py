"""Names for what can prove a goal, so that it proves no second one: a word for what it is, and a digest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omo.ultragoal.receipts import canonical_digest

FILE = "file:"
TYPE_KEYS, ID_KEYS = ("type", "kind", "receiptType"), ("id", "receiptId", "ref")


def gate(digest: str) -> str:
    return f"gate:{digest}"


def file(digest: str) -> str:
    return f"{FILE}{digest}"


def replay(command: Sequence[str], stdout: str) -> str:
    return f"replay:{canonical_digest([list(command), stdout])}"


def receipts(receipt: dict[str, Any]) -> list[str]:
    """One for each way to read its type and id: a second id under another key makes no second receipt."""
    return [
        f"receipt:{canonical_digest([kind, name])}"
        for kind in _texts(receipt, TYPE_KEYS)
        for name in _texts(receipt, ID_KEYS)
    ]


def _texts(receipt: dict[str, Any], keys: Sequence[str]) -> list[str]:
    found = [receipt.get(key) for key in keys]
    return ["".join(text.split()).lower() for text in found if isinstance(text, str)]


def files(used: frozenset[str]) -> frozenset[str]:
    """The digests of the files among them."""
    return frozenset(one.removeprefix(FILE) for one in used if one.startswith(FILE))
