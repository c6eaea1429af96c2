"""Views kept as text files and compared exactly. `OMO_UPDATE_SNAPSHOTS=1 pytest tests/report` writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

KEPT = Path(__file__).parent / "snapshots"
UPDATE = "OMO_UPDATE_SNAPSHOTS"
IS_UPDATING = bool(os.environ.get(UPDATE))  # read before a test's own world takes every OMO_ variable away
# Names that depend on where the project is and when its commits were made, with others of the same length in their
# place; and the workflows that people are told of.
VARIES = (
    (re.compile(r"\b(r\d{13})-[0-9a-f]{8}\b"), r"\1-xxxxxxxx"),
    (re.compile(r"(?<![\w-])[0-9a-f]{12}\b"), "c0ffeec0ffee"),
    (re.compile(r"/omo:\w+(?:,\s+/omo:\w+)+"), "/omo:WORKFLOW"),
)


def steady(text: str) -> str:
    for pattern, instead in VARIES:
        text = pattern.sub(instead, text)
    return text


def agree(name: str, text: str) -> None:
    path = KEPT / f"{name}.txt"
    if IS_UPDATING:
        KEPT.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text + "\n", (
        f"{path.name}: look at it, then {UPDATE}=1 pytest tests/report"
    )
