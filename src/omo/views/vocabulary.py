"""The names and signs that terminal, Markdown and page share."""

from __future__ import annotations


class Sign:
    """One mark as each view draws it; `tone` is what it means where there are colours."""

    __slots__ = ("emoji", "letter", "tone")

    def __init__(self, letter: str, emoji: str, tone: str) -> None:
        self.letter = letter
        self.emoji = emoji
        self.tone = tone


NAMES = {"ulw": "ultrawork"}
UNITS = {"ultraplan": "step", "ultragoal": "goal", "ralph": "criterion", "verify": "goal", "ulw": "gate"}
TITLES = {"ultraplan": "Steps", "ultragoal": "Goals", "ralph": "Criteria", "verify": "Verified goals", "ulw": "Gates"}
# How a gate, goal, step or criterion stands.
MARKS = {
    "done": Sign("✓", "✅", "good"),
    "active": Sign("▸", "▶️", "info"),
    "open": Sign("○", "⬜", "plain"),
    "failed": Sign("✗", "❌", "bad"),
    "stale": Sign("!", "⚠️", "warn"),
    "waiting": Sign("…", "⏳", "warn"),
    "cut": Sign("–", "➖", "plain"),
}
# How all of it ended: the five verdicts of an outcome; proven and not so any more; open, or nothing to be believed.
VERDICTS = {
    "proven": Sign("✓", "✅", "good"),
    "judged": Sign("✓", "✅", "good"),
    "attested": Sign("✎", "✍️", "info"),
    "waived": Sign("!", "⚠️", "warn"),
    "ended": Sign("■", "⏹️", "bad"),
    "gone": Sign("!", "⚠️", "warn"),
    "unproven": Sign("✗", "❌", "bad"),
}
