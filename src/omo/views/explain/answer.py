"""The shape of every explanation, in words and as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from omo import settings
from omo.shown import clip

Row = dict[str, Any]

RUNTIME = "runtime.local.json"
ENVIRONMENT = "the environment"
LONGEST_VALUE = 300
LONGEST_LINE = 600


@dataclass(frozen=True)
class Fact:
    """One thing a rule looked at: its name, the file, field or setting it came from, and what it was."""

    what: str
    where: str
    value: object

    @property
    def data(self) -> Row:
        return {"what": clip(self.what, 120), "where": clip(self.where, 200), "value": _plain(self.value)}

    @property
    def line(self) -> str:
        return f"{clip(self.what, 120)} = {_shown(self.value)} ({clip(self.where, 200)})"


@dataclass
class Explanation:
    """`trail`: what was asked before, in order, each a row with at least `rule` and `why`."""

    title: str
    decision: str
    rule: str
    why: str
    read: list[Fact] = field(default_factory=list)
    change: list[str] = field(default_factory=list)
    trail: list[Row] = field(default_factory=list)
    extra: Row = field(default_factory=dict)

    @property
    def data(self) -> Row:
        return {
            **self.extra,
            "decision": self.decision,
            "rule": self.rule,
            "why": clip(self.why, LONGEST_LINE),
            "read": [fact.data for fact in self.read],
            "change": [clip(one, LONGEST_LINE) for one in self.change],
            "trail": self.trail,
        }

    @property
    def text(self) -> str:
        lines = [self.title, *(f"     {asked_line(one)}" for one in self.trail)]
        lines.append(f"  => {asked_line({'rule': self.rule, 'why': self.why})}")
        return "\n".join([*lines, *self.reasons])

    @property
    def reasons(self) -> list[str]:
        """What was read and what would change it, for the end of any text."""
        lines = ["Read:", *(f"  {fact.line}" for fact in self.read)] if self.read else []
        changes = [f"  {clip(one, LONGEST_LINE)}" for one in self.change]
        return [*lines, *(["What would change it:", *changes] if changes else [])]


def asked_line(one: Mapping[str, Any]) -> str:
    return f"{clip(str(one['rule']), 40):17} {clip(str(one['why']), LONGEST_LINE)}"


def setting(known: settings.Settings, name: str) -> Fact:
    """A setting with where it was set: a variable, the plugin's option, the project's file, or the default."""
    return Fact(name, known.origins[name], known.values[name])


def switches(environ: Mapping[str, str], hook: str) -> list[Fact]:
    """What keeps a hook from deciding at all; nothing where it decides."""
    found = [Fact("OMO_DISABLE", ENVIRONMENT, environ["OMO_DISABLE"])] if settings.is_disabled(environ) else []
    skipped = settings.is_skipped(environ, hook)
    return [*found, *([Fact("OMO_SKIP_HOOKS", ENVIRONMENT, environ["OMO_SKIP_HOOKS"])] if skipped else [])]


def switched_off(title: str, facts: list[Fact], extra: Row) -> Explanation:
    names = ", ".join(fact.what for fact in facts)
    why = f"{names} keeps the hook from deciding anything"
    return Explanation(title, "allow", "switched-off", why, facts, [f"start Claude Code without {names}"], [], extra)


def _plain(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else clip(str(value), LONGEST_VALUE)


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return clip(", ".join(str(one) for one in value), LONGEST_VALUE) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value in (None, "") else clip(str(value), LONGEST_VALUE)
