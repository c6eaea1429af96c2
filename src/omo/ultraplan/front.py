"""What stands at the head of a plan: front matter, the version, what the work needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from omo.errors import BadInput
from omo.evidence import documents
from omo.shown import clip
from omo.ultraplan import preflight
from omo.ultraplan.document import Defect
from omo.ultraplan.markdown import Page

_PAIR = re.compile(r"(?:[-+*>]\s+)*[*_`]*(plan_version|needs)[*_`]*\s*[:=]\s*[*_`]*\s*(.*?)[*_`]*", re.IGNORECASE)
_VERSION = re.compile(r"[vV]?(\d{1,4}(?:\.\d{1,4}){0,3})")
_NEED = re.compile(r"[A-Za-z][\w.-]*(?::[\w.+/@-]+)?")


@dataclass(frozen=True)
class Head:
    version: tuple[int, ...] | None
    needs: tuple[str, ...]


def split(text: str, found: list[Defect]) -> tuple[dict[str, tuple[int, Any]], str]:
    """The YAML between two `---` at the very top, each key with its line; and the text with those lines blank."""
    lines = re.split(r"\r\n?|\n", text.removeprefix("\ufeff"))
    end = next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or end is None:
        return {}, "\n".join(lines)
    body = "\n".join([""] * (end + 1) + lines[end + 1 :])
    # Digits and dots only: as a YAML number 1.10 would be read as 1.1.
    inner = [re.sub(r"^(plan_version\s*:\s*)([\d.]+)\s*$", r'\1"\2"', line) for line in lines[1:end]]
    try:
        data = documents.parse("\n".join(inner), "front matter.yaml")
    except BadInput as error:
        found.append(Defect(1, "front-matter", error.message))
        return {}, body
    pairs = data.items() if isinstance(data, dict) else ()
    return {str(key): (_line_of(str(key), inner), value) for key, value in pairs}, body


def _line_of(key: str, lines: list[str]) -> int:
    """Where it stands below the first `---`."""
    return next((at for at, line in enumerate(lines, start=2) if line.strip("\"' ").startswith(key)), 1)


def read(page: Page, matter: Mapping[str, tuple[int, Any]], end: int, found: list[Defect]) -> Head:
    """`end` is the line index where the head ends; a `plan_version` further down is an example, not a statement."""
    said = [(matter[key][0], key, matter[key][1]) for key in ("plan_version", "needs") if key in matter]
    for at, line in page.paragraphs(0, end):
        if pair := _PAIR.fullmatch(line):
            said.append((at + 1, pair[1].lower(), pair[2].strip()))
    versions = [(line, value) for line, key, value in said if key == "plan_version"]
    needs = [need for line, key, value in said if key == "needs" for need in read_needs(value, line, found)]
    return Head(_version(versions, found), tuple(dict.fromkeys(needs)))


def _version(said: list[tuple[int, Any]], found: list[Defect]) -> tuple[int, ...] | None:
    read_all = [(line, read_version(value)) for line, value in said]
    for (line, version), (_, value) in zip(read_all, said, strict=True):
        if version is None:
            message = f"plan_version {clip(str(value), 40)!r} is no version; write `plan_version: 1.7`"
            found.append(Defect(line, "version", message))
    different = [(line, version) for line, version in read_all if version and version != read_all[0][1]]
    for line, version in different:
        shown = ".".join(map(str, version or ()))
        found.append(Defect(line, "version", f"plan_version {shown} is another than that of line {read_all[0][0]}"))
    return next((version for _, version in read_all if version), None)


def read_version(value: object) -> tuple[int, ...] | None:
    number = _VERSION.fullmatch(str(value).strip().strip("\"'"))
    return tuple(int(part) for part in number[1].split(".")) if number else None


def read_needs(value: object, line: int, found: list[Defect]) -> list[str]:
    if isinstance(value, str):
        value = [part.strip().strip("`\"'") for part in value.strip().strip("[]").split(",")]
        value = [part for part in value if part and part.lower() != "none"]
    if value is None:
        return []
    items = value if isinstance(value, list) else [value]
    bad = [one for one in items if not isinstance(one, str) or not _NEED.fullmatch(one)]
    for one in bad:
        message = f"needs: {clip(str(one), 40)!r} is no capability; write such as git_push, network or cmd:docker"
        found.append(Defect(line, "needs", message))
    needs = [one for one in items if isinstance(one, str) and one not in bad]
    found += [Defect(line, "needs", f"needs: {why}") for one in needs if (why := preflight.defect(one))]
    return needs
