"""What only a session spec has: its number, the session manifest, exit conditions, where it comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from omo.ultraplan import front
from omo.ultraplan.document import Defect, Document, Recovery
from omo.ultraplan.manifest import Reader
from omo.ultraplan.markdown import Fenced, Heading, Page, code_spans, is_none, key_of, numbers_of

_TITLE = re.compile(r"Session (\d{1,6})\s*[:—–-]\s*(\S.*)", re.IGNORECASE)


@dataclass(frozen=True)
class SessionPart:
    number: int
    title: str
    version: tuple[int, ...] | None
    needs: tuple[str, ...]
    is_legacy_synthesis: bool
    master_plan: str
    master_digest: str
    exit_conditions: tuple[str, ...]
    recovery: Recovery | None


def read(page: Page, headings: Sequence[Heading], found: list[Defect]) -> SessionPart | None:
    """None where the document is a plan."""
    title = next((named for one in headings if one.level == 1 and (named := _TITLE.fullmatch(one.title))), None)
    blocks = [block for block in page.fences(0, len(page.lines)) if _is_session_manifest(block)]
    if title is None and not blocks:
        return None
    if title is None:
        found.append(Defect(1, "spec-title", "a session spec is headed `# Session N: Title`"))
    data, line = _session_manifest(blocks, found)
    metadata = _fields(page, headings, "metadata")
    return SessionPart(
        number=int(title[1]) if title else 1,
        title=title[2].strip() if title else "",
        version=front.read_version(data["plan_version"]) if data.get("plan_version") is not None else None,
        needs=tuple(front.read_needs(data.get("needs"), line, found)),
        is_legacy_synthesis=data.get("legacy_synthesis") is True,
        master_plan=_plain(metadata.get("master plan", "")),
        master_digest=_plain(metadata.get("plan digest", "")),
        exit_conditions=_exit_conditions(page, headings),
        recovery=_recovery(_fields(page, headings, "recovery metadata")),
    )


def apply(document: Document, session: SessionPart) -> Document:
    return replace(
        document,
        kind="spec",
        title=session.title or document.title,
        session=session.number,
        version=session.version or document.version,
        needs=session.needs or document.needs,
        is_legacy_synthesis=session.is_legacy_synthesis,
        master_plan=session.master_plan,
        master_digest=session.master_digest,
        exit_conditions=session.exit_conditions,
        recovery=session.recovery,
    )


def _is_session_manifest(block: Fenced) -> bool:
    return block.language in ("", "yaml", "yml") and re.match(r"session_manifest\s*:", block.first) is not None


def _session_manifest(blocks: list[Fenced], found: list[Defect]) -> tuple[dict[str, Any], int]:
    if len(blocks) != 1:
        line = blocks[1].line if blocks else 1
        found.append(Defect(line, "session-manifest", f"a session spec has one session_manifest, not {len(blocks)}"))
    if not blocks:
        return {}, 1
    reader = Reader(blocks[0], "the session")
    data = reader.mapping("session_manifest", 'plan_version: "1.7"')
    found += reader.defects
    return data or {}, blocks[0].line


def _section(headings: Sequence[Heading], title: str) -> Heading | None:
    return next((one for one in headings if one.level == 2 and key_of(one.title) == title), None)


def _fields(page: Page, headings: Sequence[Heading], title: str) -> dict[str, str]:
    section = _section(headings, title)
    return {field.key: field.value for field in page.fields(section.start, section.end)} if section else {}


def _exit_conditions(page: Page, headings: Sequence[Heading]) -> tuple[str, ...]:
    section = _section(headings, "exit condition") or _section(headings, "exit conditions")
    return tuple(page.bullets(section.start, section.end)) if section else ()


def _recovery(fields: dict[str, str]) -> Recovery | None:
    of = _plain(fields.get("recovery of", ""))
    if not of:
        return None
    depth = numbers_of(fields.get("recovery depth", ""))
    return Recovery(
        of=of,
        depth=depth[0] if depth else 0,
        missing=numbers_of(fields.get("missing steps", "")),
        entry=fields.get("entry condition override", ""),
    )


def _plain(value: str) -> str:
    spans = code_spans(value)
    return spans[0] if spans else "" if is_none(value) else value.strip()
