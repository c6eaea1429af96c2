"""One decision of a replay, and how it compares with what the transcript shows of then."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from omo.clock import stamp
from omo.shown import clip

LONGEST_WHAT = 160
LONGEST_TEXT = 600
MOMENT = re.compile(r"\b\d\d:\d\d:\d\d UTC\b")


@dataclass
class Decision:
    """`kind` is prompt, tool, stop, subagent, start or omo (a command whose effect was taken over, or not)."""

    kind: str
    at: float
    line: int
    what: str
    decision: str
    rule: str = ""
    why: str = ""
    text: str = ""
    seen: str = ""  # the word for what was decided then; empty where the transcript does not show it
    seen_text: str = ""
    notes: list[str] = field(default_factory=list)

    def show(self, decided: str, text: str = "") -> None:
        """What the transcript shows. The first word counts; later rows may add what was said."""
        self.seen = self.seen or decided
        if decided == self.seen:
            self.seen_text = self.seen_text or text

    @property
    def compared(self) -> str:
        """same, same decision in other words, differs; empty where there is nothing to compare."""
        if not self.seen:
            return ""
        if self.seen != self.decision:
            return "differs"
        other = self.seen_text and self.text and _plain(self.seen_text) != _plain(self.text)
        return "same, in other words" if other else "same"

    @property
    def data(self) -> dict[str, Any]:
        return {
            "at": stamp(self.at),
            "line": self.line,
            "event": self.kind,
            "what": clip(self.what, LONGEST_WHAT),
            "decision": self.decision,
            "rule": clip(self.rule, 60),
            "why": clip(self.why, LONGEST_TEXT),
            "text": clip(self.text, LONGEST_TEXT),
            "then": clip(self.seen, 20) or None,
            "then_text": clip(self.seen_text, LONGEST_TEXT) or None,
            "compared": self.compared or None,
            "notes": [clip(one, LONGEST_TEXT) for one in self.notes],
        }


def _plain(text: str) -> str:
    """Without the second at which files were looked at: a transcript has only the time of the answer to that."""
    return MOMENT.sub("", clip(text, LONGEST_TEXT))
