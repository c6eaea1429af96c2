"""The session report: what passed, what did not and why, what was tried, and what was let through without proof."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omo.shown import block, clip
from omo.ultraplan.run import MOST_RECOVERIES, RunStatus

Row = dict[str, Any]

MOST_SHOWN = 50
LONGEST_TEXT = 4000


def render(status: RunStatus, end: Row, *, now: str, following: str) -> str:
    """`end` is the row that ends the run, or an empty one where nothing ends yet."""
    state, audit = status.state, status.audit
    title = state.spec or state.run
    if status.document and status.document.title:
        title = clip(status.document.title, 120)
    whole = " (of the whole session, from where it began)" if status.own else ""
    facts = {
        "Run": state.run,
        "Spec": state.spec,
        "Session": f"{state.number} of {state.sessions} of {state.master}" if state.sessions > 1 else "",
        "Base": state.base[:12],
        "Started": state.started_at,
        "Reported": now,
        "Legacy": "a plan before 1.7" if state.is_legacy else "",
        "Recovery": f"{state.depth} of {MOST_RECOVERIES}" if state.depth else "",
        "Audit": status.words + whole,
        "Ended as": end.get("verdict") or "not ended",
    }
    failed = end.get("failed") or {}
    sections = {
        "Steps": [str(step) for step in audit.steps] if audit else [],
        "Failed": [f"{key}: {block(str(failed[key]), LONGEST_TEXT)}" for key in ("step", "error", "tried") if failed],
        "Abandoned": [f"by the {end.get('by')}: {clip(str(end['reason']), 400)}"] if "reason" in end else [],
        "Skipped": [f"step {step}: {clip(why, 400)}" for step, why in sorted(state.skipped.items())],
        "Let through": [clip(override, 400) for override in state.overrides],
        "Outside the fence": _few(map(str, status.violations)),
        "Not committed": _few(status.dirty),
        "Commits that no step claims": _few(audit.unclaimed if audit else []),
        "The recovered steps, from the recovery's own base": [],
        "Could not be evaluated": [clip(status.unknown, 400)] if status.unknown else [],
        "To note": [status.edited] if status.edited else [],
        "Next": [following],
    }
    if status.own:
        own = [f"verdict: {status.own.verdict}", *map(str, status.own.steps)]
        sections["The recovered steps, from the recovery's own base"] = own
    lines = [f"# Session report: {title}", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items() if value]
    for heading, listed in sections.items():
        if listed:
            lines += ["", f"## {heading}", "", *(f"- {line}" for line in listed)]
    return "\n".join(lines) + "\n"


def _few(lines: Iterable[str]) -> list[str]:
    listed = [clip(line, 300) for line in lines]
    more = [f"and {len(listed) - MOST_SHOWN} more"] if len(listed) > MOST_SHOWN else []
    return listed[:MOST_SHOWN] + more
