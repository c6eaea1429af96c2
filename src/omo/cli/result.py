"""What a command hands to the one place that renders."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass
class Result:
    """What a command found: data for --json, the same in words for a person, and the exit code."""

    data: dict[str, Any]
    text: str
    exit_code: int = 0
    notes: list[str] = field(default_factory=list)
