"""Which rule decides, what it read, what would change it. Asks what the hooks ask, and writes nothing."""

from __future__ import annotations

from typing import NamedTuple

from omo.json_text import Json
from omo.text import clip
from omo.work.status import Fact

LONGEST_VALUE = 300
LONGEST_LINE = 600


class Explanation(NamedTuple):
    """`trail`: the rules that were asked before and did not decide, in order, each with why."""

    title: str
    decision: str
    rule: str
    why: str
    read: list[Fact]
    change: list[str]
    trail: list[tuple[str, str]]
    extra: Json

    @property
    def data(self) -> Json:
        read = []
        for fact in self.read:
            read.append({"what": clip(fact.what, 120), "where": clip(fact.where, 200), "value": _plain(fact.value)})
        return {
            **self.extra,
            "decision": self.decision,
            "rule": self.rule,
            "why": clip(self.why, LONGEST_LINE),
            "read": read,
            "change": [clip(change, LONGEST_LINE) for change in self.change],
            "trail": [{"rule": rule, "why": clip(why, LONGEST_LINE)} for rule, why in self.trail],
        }

    @property
    def text(self) -> str:
        lines = [self.title]
        if self.trail:  # each says when it would decide, and not that it is so
            lines.append("Asked in this order, until one decides (=>):")
        for rule, why in self.trail:
            lines.append(f"     {clip(rule, 40):17} {clip(why, LONGEST_LINE)}")
        lines.append(f"  => {clip(self.rule, 40):17} {clip(self.why, LONGEST_LINE)}")
        if self.read:
            lines.append("Read:")
        for fact in self.read:
            lines.append(f"  {clip(fact.what, 120)} = {_in_words(fact.value)} ({clip(fact.where, 200)})")
        if self.change:
            lines.append("What would change it:")
        lines += [f"  {clip(change, LONGEST_LINE)}" for change in self.change]
        return "\n".join(lines)


def _plain(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return clip(str(value), LONGEST_VALUE)


def _in_words(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return clip(", ".join(str(each) for each in value), LONGEST_VALUE) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value in (None, "") else clip(str(value), LONGEST_VALUE)
