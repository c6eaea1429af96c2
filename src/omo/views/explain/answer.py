"""The shape of every explanation, in words and as data."""

from __future__ import annotations

from typing import NamedTuple

from omo import settings
from omo.text import clip
from omo.work.status import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Row = dict[str, Any]

RUNTIME = "runtime.local.json"
ENVIRONMENT = "the environment"
LONGEST_VALUE = 300
LONGEST_LINE = 600


class Explanation(NamedTuple):
    """`trail`: what was asked before, in order, each a row with at least `rule` and `why`."""

    title: str
    decision: str
    rule: str
    why: str
    read: list[Fact]
    change: list[str]
    trail: list[Row]
    extra: Row

    @property
    def data(self) -> Row:
        read = []
        for fact in self.read:
            row = {"what": clip(fact.what, 120), "where": clip(fact.where, 200), "value": _plain(fact.value)}
            read.append(row)
        return {
            **self.extra,
            "decision": self.decision,
            "rule": self.rule,
            "why": clip(self.why, LONGEST_LINE),
            "read": read,
            "change": [clip(change, LONGEST_LINE) for change in self.change],
            "trail": self.trail,
        }

    @property
    def text(self) -> str:
        lines = [self.title]
        lines += [f"     {_rule_line(asked['rule'], asked['why'])}" for asked in self.trail]
        lines.append(f"  => {_rule_line(self.rule, self.why)}")
        return "\n".join([*lines, *self.reasons])

    @property
    def prompt_text(self) -> str:
        """The trail of a prompt is made of places in it, so it comes after the answer."""
        lines = [f"{self.decision}: {self.rule}, {self.why}"]
        lines += [f"  {use['text']!r} at {use['at']}: {use['rule']}, {use['why']}" for use in self.trail]
        return "\n".join([*lines, *self.reasons])

    @property
    def reasons(self) -> list[str]:
        """What was read and what would change it, for the end of any text."""
        lines = []
        if self.read:
            lines.append("Read:")
        for fact in self.read:
            lines.append(f"  {clip(fact.what, 120)} = {_in_words(fact.value)} ({clip(fact.where, 200)})")
        if self.change:
            lines.append("What would change it:")
        lines += [f"  {clip(change, LONGEST_LINE)}" for change in self.change]
        return lines


def _rule_line(rule: object, why: object) -> str:
    return f"{clip(str(rule), 40):17} {clip(str(why), LONGEST_LINE)}"


def setting(known: settings.Settings, name: str) -> Fact:
    """A setting with where it was set: a variable, the plugin's option, the project's file, or the default."""
    return Fact(name, known.origins[name], known.values[name])


def switched_off(title: str, environ: Mapping[str, str], hook: str, extra: Row) -> Explanation | None:
    """What keeps a hook from deciding at all; None where it decides."""
    facts = []
    if settings.is_disabled(environ):
        facts.append(Fact("OMO_DISABLE", ENVIRONMENT, environ["OMO_DISABLE"]))
    if settings.is_skipped(environ, hook):
        facts.append(Fact("OMO_SKIP_HOOKS", ENVIRONMENT, environ["OMO_SKIP_HOOKS"]))
    if not facts:
        return None
    names = ", ".join(fact.what for fact in facts)
    why = f"{names} keeps the hook from deciding anything"
    return Explanation(title, "allow", "switched-off", why, facts, [f"start the session without {names}"], [], extra)


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
