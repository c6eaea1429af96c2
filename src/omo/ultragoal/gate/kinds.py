"""What an artifact's kind says it is, read by whole words; and which kinds can prove which surface."""

from __future__ import annotations

import re

SCREENSHOT, AUTOMATION, CAPTURE, REPLAY, REPORT = "screenshot", "automation", "capture", "replay", "report"
STRUCTURAL = (SCREENSHOT, AUTOMATION, CAPTURE)
NAMES = {
    SCREENSHOT: "screenshot",
    AUTOMATION: "automation transcript",
    CAPTURE: "terminal capture",
    REPLAY: "replay record",
    REPORT: "report",
}

SHAPES = {
    "screenshot": SCREENSHOT,
    "image": SCREENSHOT,
    "browser": AUTOMATION,
    "playwright": AUTOMATION,
    "automation": AUTOMATION,
    "pty": CAPTURE,
    "tui": CAPTURE,
    "terminal": CAPTURE,
    "replay": REPLAY,
}


def words(kind: str) -> list[str]:
    """`black-box` is one word, however it is written."""
    joined = re.sub(r"\bblack[-_\s]+box\b", "blackbox", kind.lower().replace("_", "-"))
    return [word for word in re.split(r"[-\s]+", joined) if word]


ANY_REPORT = frozenset(words("test tests report log logs output result results transcript trace coverage check suite"))
REPORTS = {
    "api-package": frozenset(
        words(
            "api package consumer blackbox contract integration http request response library sdk import install schema"
        )
    ),
    "algorithm-math": frozenset(
        words("algorithm math property boundary edge adversarial failure fuzz invariant proof benchmark simulation")
    ),
}
# Not bound to a surface: what red teams and reviewers hand in.
OTHER_REPORTS = frozenset(words("redteam audit analysis review security performance load database migration diff"))
REPORT_WORDS = ANY_REPORT | OTHER_REPORTS | REPORTS["api-package"] | REPORTS["algorithm-math"]
KNOWN = sorted(set(SHAPES) | REPORT_WORDS)


def shape(kind: str) -> str:
    """The last word that names a shape decides (`browser-screenshot` is a screenshot); "" for a kind nobody knows."""
    found = words(kind)
    for word in reversed(found):
        if word in SHAPES:
            return SHAPES[word]
    return REPORT if REPORT_WORDS.intersection(found) else ""


def can_prove(kind: str, family: str) -> bool:
    """Whether a report of this kind is about a surface of that family; a replay is about whatever it runs."""
    if shape(kind) == REPLAY:
        return True
    wanted = ANY_REPORT | REPORTS.get(family, frozenset())
    return shape(kind) == REPORT and bool(wanted.intersection(words(kind)))
