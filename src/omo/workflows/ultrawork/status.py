"""Plain ultrawork as every view shows it: its pinned gates, whether each still passes on these files, what is next."""

from __future__ import annotations

from omo.proof import base, kinds, project_checks, project_files
from omo.proof.typed_commands import typed
from omo.state import ledger, paths, runtime
from omo.state.rows import read_row
from omo.text import block, clip, counted, listed
from omo.work import gates, naming, outcome, session
from omo.work.files import CHANGED_SINCE
from omo.work.status import Item, NextStep, Status, command
from omo.work.viewer import Viewer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from omo.state.rows import Summary
    from omo.work.files import Files

RUN = command("omo gate run")
WHEN_COMPLETE = "when the work is complete"
LONGEST_TAIL = 1200
LONGEST_REFUSAL = 600


def status(viewer: Viewer) -> Status | None:
    summary = viewer.row["work"].get(session.KIND, {})
    rows = viewer.caller.chain.rows
    run = run_of(viewer)
    if not summary and not run and not len(gates.fold(rows, run)):
        return None
    sessions = viewer.caller.session_rows
    pinned = gates.fold(gates.with_project_pins(viewer.context.state, viewer.session, rows, sessions), run)
    now = viewer.files.look(pinned.base).without(pinned.left_out) if len(pinned) else None
    items = tuple(_item(gate, now, gates.whose(viewer.context.root, gate, pinned.base)) for gate in pinned)
    headline, ended_as = counted(len(items), "gate") + " pinned", None
    if runtime.has_ended(summary):
        ended_as = outcome.of(summary)
        headline = clip(outcome.in_words(ended_as), 300)
        items = tuple(item._replace(overrides=()) for item in items)  # which are exceptions of the end by now
    return Status(
        session.KIND,
        "gate",
        run=clip(run or "", 60),
        headline=headline,
        items=items,
        next=_next(viewer, summary, items, pinned),
        problems=viewer.caller.damage_lines,
        outcome=ended_as,
        is_of_session=True,
    )


def run_of(viewer: Viewer) -> str | None:
    """Whose results count: the run of the row, or the one that the user called off, which only the ledger names."""
    run = session.run_of(viewer.row)
    if run or not session.is_cancelled(viewer.row):
        return run
    for row in ledger.newest_first(paths.events_file(viewer.context.state, viewer.session)):
        if run := session.run_of(read_row(runtime.part(row, "after"))):
            return run
    return None


def _item(gate: gates.Gate, now: base.Look | None, whose: str) -> Item:
    last = gate.last
    mark = _mark(gate)
    overrides = []
    if gate.recorded:
        overrides = [f"a failure recorded as pre-existing: {clip(str(gate.recorded.get('evidence')), 200)}"]
    if gate.allowed:
        overrides = ["let through by the user"]
    command_line = text = gates.in_words(gate)
    if mark == "failed" and last is not None:
        if last.why:  # it could not be judged
            command_line += f"; {clip(last.why, 160)}"
        text = f"{command_line}\n{block(last.tail, LONGEST_TAIL)}"
    item = Item(
        gate.name,
        title="",
        status=gate.status,
        mark=mark,
        notes=(command_line, whose),
        receipt="fresh" if mark == "done" else "",
        overrides=tuple(overrides),
        text=text,
    )
    if mark != "done" or last is None or (now is not None and last.tree == now.tree):
        return item
    return item.no_longer(_what_changed(last, now))


def _mark(gate: gates.Gate) -> str:
    """Say how views draw it. What was let through is neither passing nor open: it does not count, and is named beside
    what does."""
    if gate.last is not None and (gate.last.passed or gate.has_known_failures):
        return "done"
    if gate.recorded or gate.allowed:
        return "cut"
    return "open" if gate.last is None else "failed"


def _what_changed(last: gates.GateRun, now: base.Look | None) -> str:
    if now is None or now.changed is None or last.changed is None:
        return CHANGED_SINCE
    return clip("changed since: " + listed(base.differing(last.changed, now.changed)), 200)


def _next(viewer: Viewer, summary: Summary, items: tuple[Item, ...], pinned: gates.Gates) -> NextStep:
    if not runtime.is_live(viewer.row) or runtime.has_ended(summary):
        return NextStep()
    if summary.get("state") in ("waiting", "paused"):
        why = clip(str(summary.get("why") or "it waits"), 200)
        return NextStep("wait", f"{why}: your answer in the session sets it going")
    # Where it was refused, the same word again is no way on: test_next_has_the_way_on_where_no_test_shows_the_work.
    own_word = command("omo ulw done --because", "why the work is done", lead="or, where no test can show it")
    if said := summary.get("refused"):
        why = naming.done_was_refused(said, LONGEST_REFUSAL)
        named = clip(str(summary.get("waysOn") or ""), LONGEST_REFUSAL)
        return NextStep("done", f"{why}; {named}", (command("omo ulw done"), own_word))
    if not items:
        cwd = paths.session_directory(viewer.context.environ, viewer.context.cwd)
        checks = gates.FoundGates(viewer.context.root, viewer.context.state, cwd, viewer.row, pinned).checks
        found = [check for check in checks if check.kind in ("", project_checks.TESTS)]  # the others are not run
        if not found:  # the changed parts may have tests of their own
            found = pinned.project_tests(viewer.context.root, viewer.context.state, cwd, viewer.files.look(pinned.base))
        if not found:
            now = project_checks.suggest(project_files.DiskFiles(viewer.context.root), cwd)
            pin = command(gates.pin_line(now[0], cwd) if now else "omo gate add NAME -- COMMAND")
            found_none = "no test command was found" + (" in what is committed" if now else "")
            return NextStep("pin", f"no verification gate is pinned, and {found_none}", (pin,))
        if not (pinned.base or {}).get("head"):
            why = "the run began on no commit"
            if (pinned.base or {}).get("unknown"):
                why = base.why_no_commit(pinned.base or {})
            why = f"no gate is pinned; {why}, so that only one of the user's (/omo:pin) can prove it"
            return NextStep("pin", why, (command(gates.pin_line(found[0], cwd)),))
        below = "" if found[0].cwd == "." else f" in {clip(found[0].cwd, 80)}"
        why = f"nothing has shown the work yet; it runs {clip(typed(found[0].argv), 120)}{below}"
        ways = [command("omo ulw done", lead=WHEN_COMPLETE)]
        if not _may_be_shown_by_tests(viewer.files, pinned):
            ways.append(own_word)
        return NextStep("done", why, tuple(ways))
    if all(item.mark in ("done", "cut") for item in items):
        return NextStep("done", "no gate is open on the files as they are", (command("omo ulw done"), own_word))
    why = "; ".join(filter(None, [_named("open", items, "failed", "open"), _named("stale", items, "stale")]))
    if any(item.mark == "failed" for item in items):
        return NextStep("run", why, (RUN,))
    return NextStep("done", why, (command("omo ulw done", lead=WHEN_COMPLETE),))


def _may_be_shown_by_tests(files: Files, pinned: gates.Gates) -> bool:
    """Something other than documents was changed: the tests are run first, and the refusal says what is left."""
    changed = files.look(pinned.base).without(pinned.left_out).changed
    return changed is None or not all(map(kinds.is_text_for_people, changed))


def _named(word: str, items: tuple[Item, ...], *marks: str) -> str:
    names = ", ".join(item.id for item in items if item.mark in marks)
    return f"{word}: {clip(names, 120)}" if names else ""
