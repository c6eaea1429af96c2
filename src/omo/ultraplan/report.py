"""The session report: what passed, what did not and why, what was tried, and what was let through without proof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from omo.shown import block, clip
from omo.ultraplan.audit import Audit, StepAudit
from omo.ultraplan.record import MOST_RECOVERIES, Record
from omo.ultraplan.standing import Standing

Row = dict[str, Any]

MOST_SHOWN = 50
LONGEST_TEXT = 4000


@dataclass(frozen=True)
class Section:
    """Left out where it has no lines."""

    title: str
    lines: list[str]


def render(at: Standing, end: Row, *, now: str, following: str) -> str:
    """`end` is the row that ends the run, or an empty one where nothing ends yet."""
    record = at.record
    assert record is not None
    head = [f"# Session report: {_title(at, record)}", "", *_facts(at, record, end, now)]
    sections = [
        Section("Steps", _steps(at.audit)),
        Section("Failed", _failed(end.get("failed") or {})),
        Section("Abandoned", [f"by the {end.get('by')}: {clip(str(end['reason']), 400)}"] if "reason" in end else []),
        Section("Skipped", [f"step {step}: {clip(why, 400)}" for step, why in sorted(record.skipped.items())]),
        Section("Let through", [clip(one, 400) for one in record.overrides]),
        Section("Outside the fence", _few(at.violations)),
        Section("Not committed", _few(at.dirty)),
        Section("Commits that no step claims", _few(at.audit.unclaimed if at.audit else [])),
        Section("The recovered steps, from the recovery's own base", _own(at.own)),
        Section("Could not be evaluated", [clip(at.unknown, 400)] if at.unknown else []),
        Section("To note", [at.edited] if at.edited else []),
        Section("Next", [following]),
    ]
    return "\n".join([*head, *(line for one in sections if one.lines for line in _rendered(one))]) + "\n"


def _title(at: Standing, record: Record) -> str:
    return clip(at.document.title, 120) if at.document and at.document.title else record.spec or record.run


def _facts(at: Standing, record: Record, end: Row, now: str) -> list[str]:
    facts = {
        "Run": record.run,
        "Spec": record.spec,
        "Base": record.base[:12],
        "Started": record.at,
        "Reported": now,
        "Legacy": "a plan before 1.7" if record.is_legacy else "",
        "Recovery": f"{record.depth} of {MOST_RECOVERIES}" if record.depth else "",
        "Audit": at.words + (" (of the whole session, from where it began)" if at.own else ""),
        "Ended as": end.get("verdict") or "not ended",
    }
    return [f"- {name}: {value}" for name, value in facts.items() if value]


def _steps(audit: Audit | None) -> list[str]:
    return [str(one) for one in audit.steps] if audit else []


def step_line(one: StepAudit) -> str:
    """A step of an audit, for the report and for every view."""
    commit = f" ({one.commit[:12]})" if one.commit else ""
    findings = f": {clip('; '.join(one.findings), 400)}" if one.findings else ""
    return f"step {one.step}: {one.status}{commit}{findings}"


def _failed(told: Row) -> list[str]:
    if not told:
        return []
    return [
        f"step: {told.get('step')}",
        f"error: {block(str(told.get('error', '')), LONGEST_TEXT)}",
        f"tried: {block(str(told.get('tried', '')), LONGEST_TEXT)}",
    ]


def _own(audit: Audit | None) -> list[str]:
    return [f"verdict: {audit.verdict}", *_steps(audit)] if audit else []


def _few(lines: Iterable[str]) -> list[str]:
    listed = [clip(one, 300) for one in lines]
    more = [f"and {len(listed) - MOST_SHOWN} more"] if len(listed) > MOST_SHOWN else []
    return listed[:MOST_SHOWN] + more


def _rendered(section: Section) -> list[str]:
    return ["", f"## {section.title}", "", *(f"- {line}" for line in section.lines)]
