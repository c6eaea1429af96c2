"""Say what a Stop would decide now. The table of the Stop hook is asked, and nothing is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from omo import settings, table
from omo.json_text import Json
from omo.state.runtime import part
from omo.stop import rules, sentences
from omo.stop.situation import stored_limits
from omo.text import clip, counted
from omo.views.session import View
from omo.work import budget
from omo.work.status import Fact

if TYPE_CHECKING:
    from omo.state.rows import SessionRow


RUNTIME = "runtime.local.json"
ENVIRONMENT = "the environment"
ASSUMED = "nothing runs in the background, no plan mode, no prompt is queued; other loops as at the last Stop"
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


def explain_stop(view: View, known: settings.Settings) -> Explanation:
    """The rule of `rules.RULES` that decides, with the facts it names; what only the host's event tells is assumed."""
    rule = view.rule
    read = []
    for name in rule.facts.reads.split():
        read += _stop_facts(name, view, known)
    read.append(Fact("event", "assumed", ASSUMED))
    trail = []
    for asked in rules.RULES:
        if asked is rule:
            break
        trail.append((asked.name, asked.why))
    numbers = stop_numbers(view)
    return Explanation(
        f"Stop in session {clip(view.name, 100)}: {view.decision}",
        view.decision,
        rule.name,
        rule.why,
        read,
        [change.format(**numbers) for change in rule.facts.changes],
        trail,
        {"session": view.name, "limits": view.now.limits, "outcome": view.outcome},
    )


def _stop_facts(name: str, view: View, known: settings.Settings) -> list[Fact]:
    now = view.now
    head, _, key = name.partition(".")
    if head == "limits":
        return [Fact(name, limit_source(now.row, key, known), now.limits.get(key))]
    if head == "work":
        return _work_facts(view)
    loop = now.ulw.get("otherLoop", {})
    elsewhere = {
        "OMO_DISABLE": (ENVIRONMENT, now.disabled),
        "unreadable": (RUNTIME, now.unreadable),
        "budget": (RUNTIME, budget.ceilings_in_words(now.row)),
        "spent": (RUNTIME, view.budget),
        "ulw.otherLoop": ("at the last Stop", f"{loop.get('name')}: {loop.get('about')}"),
    }
    where, value = elsewhere.get(name) or (RUNTIME, part(now.row, head).get(key))
    return [Fact(name, where, value)]


def _work_facts(view: View) -> list[Fact]:
    facts = []
    for work in view.work:
        parts = [work.state]
        if work.total:
            parts.append(f"{work.open} of {work.total} open")
        for field in ("changed", "next", "why", "how"):
            if value := getattr(work, field):
                parts.append(f"{field}: {value}")
        facts.append(Fact(f"work.{work.kind}", RUNTIME, ", ".join(parts)))
    return facts or [Fact("work", RUNTIME, None)]


def limit_source(row: SessionRow, name: str, known: settings.Settings) -> str:
    """A run that the user armed keeps its limits; of an agent's, the firmer of those and what is set now."""
    stored = stored_limits(row)
    if name not in stored:
        return known.origins[name]
    if part(row, "ulw").get("by") == "user":
        return f"armed with the run, {RUNTIME}"
    return f"the firmer of what the run was armed with ({stored.get(name):g}) and {known.origins[name]}"


def stop_numbers(view: View) -> Json:
    """What the sentences of a rule's `change` are filled in with."""
    now = view.now
    left = {kind: breaker.left for kind, breaker in view.breakers.items()}
    open_again = [f"{work.kind}: {work.changed}." for work in view.work if work.changed]
    return {
        "begin": ", ".join(f"omo {next(iter(row.commands))}" for row in table.offered()),
        "open": " ".join(open_again) or sentences.what_is_open(now.active(), sentences.LONGEST_REASON),
        "blocks_left": counted(int(left["blocks"]), "more block"),
        "total_left": counted(int(left["total"]), "more block"),
        "hours_left": left["hours"],
        "raise_budget": budget.way_on(now.row),
        "cooldown": now.limits["cooldown_seconds"],
        "cooldown_left": max(0.0, now.limits["cooldown_seconds"] - now.since(now.ulw.get("lastStopAt"))),
        "ends_the_loop": clip(str(now.other_loop().get("ends")), 60),
    }


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
