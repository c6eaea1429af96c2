"""What a hook would decide now: of a Stop, of a tool call, of a prompt.

The tables and functions that the hooks decide by are asked, and nothing is counted.
"""

from __future__ import annotations

from omo import settings, table
from omo.errors import Unreadable
from omo.json_text import Json
from omo.state import paths, runtime
from omo.state.rows import EMPTY
from omo.state.runtime import part
from omo.stop import rules, sentences
from omo.stop.situation import stored_limits
from omo.text import clip, counted
from omo.views.explain import Explanation
from omo.views.session import View
from omo.work import budget, session
from omo.work.status import Fact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.hooks.main import World
    from omo.hooks.tool_use import Denial
    from omo.hosts import Event
    from omo.state.rows import SessionRow


RUNTIME = "runtime.local.json"
ENVIRONMENT = "the environment"
EVENT = "the host's event"
ASSUMED = "nothing runs in the background, no plan mode, no prompt is queued; other loops as at the last Stop"


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


def explain_tool(event: Event, world: World) -> Explanation:
    """Which gate of the hook before a tool call would refuse it to the session itself."""
    from omo.hooks import tool_use

    host = event.host
    target = event.command or ", ".join(event.written_paths)
    title = f"{clip(event.tool_title, 60)} {clip(target, 120)}".strip()
    extra = {"session": event.session, "tool": clip(event.tool_title, 60)}
    if off := _switched_off(f"{title}: allow", world.environ, "pre-tool-use", extra):
        return off
    read = [Fact("tool", EVENT, event.tool_title)]
    if event.tool_title not in host.watched_tools:
        why = f"the hook is registered for {', '.join(host.watched_tools)}; no other call reaches omo"
        return Explanation(f"{title}: allow", "allow", "not-watched", why, read, [], [], extra)
    read.append(Fact("call", EVENT, clip(target, 200)))
    row = EMPTY
    try:
        row = runtime.session(world.state, event.session) or EMPTY
    except Unreadable as error:
        read.append(Fact(RUNTIME, "cannot be read, so no gate but own-state looks further", error.message))
    read += _gate_facts(world, row)
    trail: list[tuple[str, str]] = []
    for gate in tool_use.GATES:
        denial = gate.asks(event, world)
        if denial is None:
            trail.append((gate.name, gate.what))
            continue
        times = tool_use.counted(part(row, "denials"), event.call_digest)[1]
        read.append(Fact("denials", RUNTIME, f"{times - 1} of this call"))
        change = [gate.until[denial.gate], *_patience(denial, times)]
        return Explanation(f"{title}: deny", "deny", denial.gate, denial.reason, read, change, trail, extra)
    why = "no gate refuses it in this session as it stands; whether the host allows it is the host's to say"
    if tool_use.permits(event, world):
        why = "no gate refuses it, and nobody is asked about it: it only looks, or runs what is pinned"
    change = [f"{gate.name} refuses {gate.what}" for gate in tool_use.GATES]
    return Explanation(f"{title}: allow", "allow", "no-gate", why, read, change, trail, extra)


def _switched_off(title: str, environ: Mapping[str, str], hook: str, extra: Json) -> Explanation | None:
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


def _patience(denial: Denial, times: int) -> list[str]:
    """What a refusal that is repeated leads to."""
    from omo.hooks import tool_use

    most = tool_use.PATIENCE
    if denial.gate not in tool_use.WAITS:
        return []
    left = (most - times % most) % most
    when = f"after {left} more identical calls" if left else "with this call"
    return [f"{when} the run waits for you, and Stop lets go; the gate stays shut"]


def _gate_facts(world: World, row: SessionRow) -> list[Fact]:
    """What the gates look at beside the call: where our state is, the session's open work, and what that denies."""
    cancelled = "cancelled; " if session.is_cancelled(row) else ""
    open_work = [f"{kind} {summary['state']}" for kind, summary in runtime.work_in(row, *runtime.OPEN_STATES)]
    facts = [
        Fact("omo's own state", "the project", world.state),
        Fact("settings", "the project", paths.settings_file(world.root)),
        Fact("work", RUNTIME, cancelled + (", ".join(open_work) or "nothing is open")),
    ]
    if fence := runtime.fence_of(row):
        facts += [Fact(f"fence.{key}", RUNTIME, fence.get(key)) for key in ("touch", "never", "root", "spec")]
    work = part(row, "work")
    for workflow in table.ROWS:
        summary = part(work, workflow.kind)
        for what in workflow.denies:
            # What the command left for the gate to say; where it left nothing, the gate is open.
            facts.append(Fact(f"work.{workflow.kind}.deny.{what}", RUNTIME, part(summary, "deny").get(what)))
    # By the environment of the hook; else as the project was committed where the run began, which its row keeps.
    known = settings.merged(world.environ, {})
    if known.origins["attended"] != "default":
        facts.append(Fact("attended", known.origins["attended"], known.values["attended"]))
    else:
        where = f"as committed where the run began, {RUNTIME}"
        committed = any(summary.get("attended") is True for summary in row["work"].values())
        facts.append(Fact("attended", where, committed))
    return facts


def explain_prompt(text: str, known: settings.Settings, environ: Mapping[str, str]) -> Explanation:
    """What a prompt asks of ultrawork, by which rule, and which setting had a say in it."""
    from omo.hooks import keyword, user_commands

    extra = {"action": "none", "keyword": known.keyword}
    if off := _switched_off("the hook is off", environ, "user-prompt-submit", extra):
        return off
    trail = []
    command = user_commands.command_of(text)
    if command is not None:
        action, rule, why = command, f"{command}-command", f"The prompt is the command /omo:{command}."
        change = "leave the command out"
        read = [Fact("prompt", "its first word", f"/omo:{command}")]
    else:
        reading = keyword.read_prompt(text, mode=known.keyword)
        action, rule = reading.action, reading.rule
        why, change = keyword.RULES[rule]
        start, end = reading.span
        if end > start:
            read = [Fact("prompt", f"characters {start} to {end}", clip(text[start:end], 120))]
        else:
            read = [Fact("prompt", "the whole of it", clip(text, 120))]
        read.append(Fact("keyword", known.origins["keyword"], known.values["keyword"]))
        for (start, end), asked in reading.trail:
            trail.append((asked, f"{clip(text[start:end], 60)!r} at {start}: {keyword.RULES[asked][0]}"))
    return Explanation(f"prompt: {action}", action, rule, why, read, [change], trail, {**extra, "action": action})
