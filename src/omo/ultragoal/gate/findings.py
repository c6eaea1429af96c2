"""What an inspection is about, and what it found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omo.shown import clip


@dataclass(frozen=True)
class Subject:
    """The goal a gate is to close. `goal` is the name its artifacts are registered under."""

    root: Path
    state: str
    goal: str
    started_at: float
    changed: list[str] | None  # None: not known, the project is in no repository
    control_globs: tuple[str, ...]
    now: float
    used: frozenset[str] = frozenset()  # what proved other goals of the run, named as in `marks`


@dataclass(frozen=True)
class Defect:
    path: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


@dataclass
class Inspection:
    defects: list[Defect] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)  # files that prove, each once
    exemptions: list[dict[str, Any]] = field(default_factory=list)
    replays: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    proofs: list[str] = field(default_factory=list)  # receipts and replays that prove, named as in `marks`

    @property
    def is_clean(self) -> bool:
        return not self.defects


def shown(value: object, longest: int = 80) -> str:
    """A value of the gate, as it was written."""
    return clip(json.dumps(value, ensure_ascii=False, default=str), longest)
