"""What a command hands to the one place that renders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

EXIT_CODES = {"pass": 0, "fail": 3, "unknown": 4}  # of what checks or gates say


class Result:
    """What a command found: data for --json, the same in words for a person, and the exit code. `told` are problems of
    the settings that it says itself."""

    def __init__(
        self,
        data: dict[str, Any],
        text: str,
        exit_code: int = 0,
        notes: list[str] | None = None,
        told: Collection[str] = (),
    ) -> None:
        self.data = data
        self.text = text
        self.exit_code = exit_code
        self.notes = notes or []
        self.told = told
