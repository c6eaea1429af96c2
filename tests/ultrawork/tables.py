"""Tables of what people and agents type, in files beside this one. `== KIND: PART` begins a part; each line after it is
one text, and ⏎ a line break in it."""

from __future__ import annotations

from pathlib import Path

HEADING = "== "


def read(name: str) -> dict[str, dict[str, list[str]]]:
    """By kind and part, in the order of the file."""
    table: dict[str, dict[str, list[str]]] = {}
    texts: list[str] = []
    for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines():
        if line.startswith(HEADING):
            kind, _, part = line.removeprefix(HEADING).partition(": ")
            texts = table.setdefault(kind, {}).setdefault(part, [])
        elif line:
            texts.append(line.replace("⏎", "\n"))
    return table


def whole(parts: dict[str, list[str]]) -> list[str]:
    """Of all parts."""
    return [text for texts in parts.values() for text in texts]
