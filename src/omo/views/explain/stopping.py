"""What a Stop would do now: the rule of `stop.RULES` that decides, with the facts it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from omo import settings
from omo.hooks import messages, stop
from omo.shown import clip, counted
from omo.state.runtime import part
from omo.views.explain.answer import ENVIRONMENT, RUNTIME, Explanation, Fact
from omo.views.session import View

Row = dict[str, Any]

NO_EVENT = "no event was given"
EVENT_FACTS: dict[str, Callable[[stop.Situation], object]] = {
    "agent_id": lambda now: now.event.agent_id,
    "plan_mode": lambda now: now.event.in_plan_mode,
    "last_message": lambda now: clip(now.event.last_message, 160),
    "running": lambda now: f"{now.event.running_agents} agents, {now.event.running_shells} shells",
    "wakeups": lambda now: now.event.has_wakeup,
    "queued": lambda now: now.event.transcript.queued_prompts(),
    "tools": lambda now: "none but omo since your message" if now.message() else "others, or not known",
    "continues": lambda now: now.event.continues_a_block,
    "fingerprint": lambda now: now.event.fingerprint,
}


def explain(view: View, known: settings.Settings, *, has_event: bool) -> Explanation:
    now, rule = view.now, view.rule
    read = [fact for name in rule.reads for fact in _facts(name, view, known, has_event=has_event)]
    if not has_event:
        assumed = "nothing runs in the background, no plan mode, no prompt is queued"
        read.append(Fact("event", f"{NO_EVENT}: assumed", assumed))
    return Explanation(
        f"Stop in session {clip(view.name, 100)}: {view.decision}",
        view.decision,
        rule.name,
        rule.why,
        read,
        _changes(view),
        _trail(rule),
        {"session": view.name, "limits": now.limits},
    )


def _trail(rule: stop.Rule) -> list[Row]:
    before = stop.RULES[: stop.RULES.index(rule)] if rule in stop.RULES else stop.RULES
    return [{"rule": one.name, "why": one.why} for one in before]


def _facts(name: str, view: View, known: settings.Settings, *, has_event: bool) -> list[Fact]:
    now = view.now
    head, _, key = name.partition(".")
    if name == "ulw.said":
        return [Fact(name, RUNTIME, clip(str(part(now.ulw, "said").get("text") or "none"), 120))]
    if head == "event":
        where = now.event.host.sources[key] if has_event else NO_EVENT
        return [Fact(name, where, EVENT_FACTS[key](now))]
    if head == "limits":
        return [Fact(name, limit_source(now.row, key, known), now.limits[key])]
    if head == "OMO_DISABLE":
        return [Fact(name, ENVIRONMENT, now.disabled)]
    if head == "unreadable":
        return [Fact(RUNTIME, RUNTIME, now.unreadable)]
    if head == "work":
        works = [Fact(f"work.{one.kind}", RUNTIME, _work(one.data)) for one in view.work]
        return works or [Fact(name, RUNTIME, "none")]
    return [Fact(name, RUNTIME, part(now.row, head).get(key))]


def _work(summary: Row) -> str:
    left = summary["total"] - summary["done"]
    opened = f", {left} of {summary['total']} open" if summary["total"] else ""
    return f"{summary['state']}{opened}" + "".join(
        f", {key}: {summary[key]}" for key in ("next", "why", "how") if key in summary
    )


def limit_source(row: Row, name: str, known: settings.Settings) -> str:
    """A run that the user armed keeps its limits; of an agent's, the firmer of those and what is set now."""
    stored = stop.stored_limits(row)
    if name not in stored:
        return known.origins[name]
    if part(row, "ulw").get("by") == "user":
        return f"armed with the run, {RUNTIME}"
    return f"the firmer of what the run was armed with ({stored[name]:g}) and {known.origins[name]}"


def _changes(view: View) -> list[str]:
    numbers = _numbers(view)
    return [one.format(**numbers) for one in view.rule.change]


def _numbers(view: View) -> Row:
    now, left = view.now, {one.name: one.left for one in view.breakers}
    excuses = now.ulw.get("shellExcuses", 0)
    used = excuses if isinstance(excuses, int) else 0
    return {
        "open": messages.what_is_open(now.active()),
        "blocks_left": counted(int(left["blocks"]), "more block"),
        "total_left": counted(int(left["total"]), "more block"),
        "hours_left": left["hours"],
        "cooldown": now.limits["cooldown_seconds"],
        "cooldown_left": max(0.0, now.limits["cooldown_seconds"] - _since_last_stop(now)),
        "excuses_left": counted(max(0, stop.SHELL_EXCUSES - used), "more Stop"),
    }


def _since_last_stop(now: stop.Situation) -> float:
    try:
        return now.since("lastStopAt")
    except (ValueError, TypeError, AttributeError):
        return float("inf")  # written by another hand; the rule invalid-state says so
