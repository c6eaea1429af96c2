"""Tables of what people and agents type and programs print, in files beside the tests. `== KIND: PART` begins a part;
each line after it is one text, and ⏎ a line break in it."""

from __future__ import annotations

from pathlib import Path

HEADING = "== "


def read(module: str, name: str) -> dict[str, dict[str, list[str]]]:
    """The file beside the module: by kind and part, in its order."""
    table: dict[str, dict[str, list[str]]] = {}
    texts: list[str] = []
    for line in Path(module).with_name(name).read_text(encoding="utf-8").splitlines():
        if line.startswith(HEADING):
            kind, _, part = line.removeprefix(HEADING).partition(": ")
            texts = table.setdefault(kind, {}).setdefault(part, [])
        elif line:
            texts.append(line.replace("⏎", "\n"))
    return table


def whole(parts: dict[str, list[str]]) -> list[str]:
    """Of all parts."""
    return [text for texts in parts.values() for text in texts]
