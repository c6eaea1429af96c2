"""Plain ultrawork: its pinned gates."""

from __future__ import annotations

from omo.proof import base
from omo.state import paths, runtime
from omo.text import block, clip, counted
from omo.work import outcome, session
from omo.work.status import Fact, Item, NextStep, Status, command
from omo.work.viewer import Viewer
from omo.workflows.ultrawork import gates

# What was let through is neither passing nor open: it does not count, and is named beside what does.
MARKS = {"pass": "done", "pass, unchanged tree": "done", "not run": "open"}
RUN = command("omo gate run")
LEDGER = "events.jsonl"
LONGEST_TAIL = 1200


def status(viewer: Viewer) -> Status | None:
    summary = runtime.part(runtime.part(viewer.row, "work"), session.KIND)
    is_on = bool(runtime.part(viewer.row, "ulw").get("enabled")) and not runtime.part(viewer.row, "work")
    chain = viewer.own_ledger
    rows = chain.rows
    run = run_of(viewer, rows)
    pinned = gates.fold(rows, run)
    if not summary and not is_on and not len(pinned):
        return None
    now = base.look(viewer.context.root, pinned.base).without(pinned.left_out) if len(pinned) else None
    called_off = bool(run) and not gates.run_of(viewer.row)
    items = tuple(_item(gate, now, run, called_off=called_off) for gate in pinned)
    ended_as = outcome.of(summary) if summary.get("state") == "done" else None
    problems = tuple(chain.problems)
    return Status(
        session.KIND,
        "gate",
        run=clip(run or "", 60),
        headline=_headline(ended_as, items),
        items=items,
        next=_repair(viewer) if problems and runtime.is_live(viewer.row) else _next(viewer, summary, items, pinned),
        problems=problems,
        outcome=ended_as,
    )


def _headline(ended: runtime.Json | None, items: tuple[Item, ...]) -> str:
    if ended is None:
        return counted(len(items), "gate") + " pinned"
    return clip(outcome.in_words(ended), 300)


def run_of(viewer: Viewer, rows: list[runtime.Json]) -> str | None:
    """Whose results count: the run of the row, or the one that the user called off, which only the ledger names."""
    run = gates.run_of(viewer.row)
    if run or not session.is_cancelled(viewer.row):
        return run
    return next(filter(None, (gates.run_of(runtime.part(row, "after")) for row in reversed(rows))), None)


def _item(gate: gates.Gate, now: base.Look | None, run: str | None, *, called_off: bool) -> Item:
    last = gate.last or {}
    mark, receipt, why = MARKS.get(gate.status, "failed"), "", ""
    if last.get("result") == "pass":
        is_same = now is not None and last.get("tree") == now.tree
        mark, receipt, why = ("done", "fresh", "") if is_same else ("stale", "stale", _what_changed(last, now))
    elif gate.recorded or gate.allowed:
        mark = "cut"
    notes = [gates.in_words(gate), f"pinned by the {gate.by}"]
    if gate.status == "pass, unchanged tree":
        notes.append("it passes on the files as the run began with them")
    results_of = f"{run}, which the user called off; the next begins with every gate open" if called_off else run
    facts = (
        Fact("command", LEDGER, gate.argv),
        Fact("pinned by", LEDGER, gate.by),
        Fact("run", LEDGER, results_of),
        Fact("last result", LEDGER, last.get("result")),
        Fact("tree it ran on", LEDGER, str(last.get("tree") or "")[:16]),
    )
    overrides = tuple(_overrides(gate))
    text = gates.in_words(gate)
    if mark == "failed":
        text += "\n" + block(str(last.get("tail") or ""), LONGEST_TAIL)
    return Item(gate.name, "", gate.status, mark, tuple(notes), receipt, why, overrides, _why(gate), facts, text)


def _why(gate: gates.Gate) -> str:
    if gate.recorded:
        return f"its failure is recorded as pre-existing: {gate.recorded.get('evidence')}"
    if gate.last is None:
        return "it was not run in this run"
    return f"it ended with exit {gate.last.get('exit')}"


def _what_changed(last: runtime.Json, now: base.Look | None) -> str:
    if now is None or now.changed is None or not isinstance(last.get("changed"), dict):
        return "the tree has changed since"
    paths_changed = sorted(base.differing(last["changed"], now.changed))
    return clip("changed since: " + ", ".join(paths_changed), 200)


def _overrides(gate: gates.Gate) -> list[str]:
    if gate.allowed:
        return ["let through by the user"]
    if gate.recorded:
        return [f"a failure recorded as pre-existing: {clip(str(gate.recorded.get('evidence')), 200)}"]
    return []


def _repair(viewer: Viewer) -> NextStep:
    why = "the session's ledger is not as omo wrote it, and no gate counts before you seal it"
    return NextStep("repair", why, (command("omo ledger repair --session", viewer.session),), who="user")


def _next(viewer: Viewer, summary: runtime.Json, items: tuple[Item, ...], pinned: gates.Gates) -> NextStep:
    if not runtime.is_live(viewer.row) or summary.get("state") == "done":
        return NextStep()
    if summary.get("state") in ("waiting", "paused", "blocked"):
        why = clip(str(summary.get("why") or "it waits"), 200)
        goes_on = 'your answer, or "continue" in the session, sets it going'
        return NextStep("wait", f"{why}: {goes_on}", (command("omo resume"),))
    if not items:
        cwd = paths.session_directory(viewer.context.environ, viewer.context.cwd)
        found = gates.Found(viewer.context.root, cwd, viewer.row, pinned).checks
        pin = command(*gates.pin_words(found[0], cwd)) if found else command("omo gate add NAME -- COMMAND")
        return NextStep("pin", "no verification gate is pinned yet", (pin,))
    if all(item.mark in ("done", "cut") for item in items):
        return NextStep("done", "no gate is open on the files as they are", (command("omo ulw done"),))
    told = [_named("open", items, "failed", "open"), _named("stale", items, "stale")]
    return NextStep("run", "; ".join(filter(None, told)), (RUN,))


def _named(word: str, items: tuple[Item, ...], *marks: str) -> str:
    names = ", ".join(item.id for item in items if item.mark in marks)
    return f"{word}: {clip(names, 120)}" if names else ""
