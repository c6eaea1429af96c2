"""Gates at work: each is run on the files as they are, which are looked at before and after, and what came is kept."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from omo import table
from omo.context import Context
from omo.proof import arrangements, base, gate_runs, kinds, typed_commands
from omo.proof import run as runner
from omo.proof.kinds import CODE
from omo.state import runtime, store
from omo.state.rows import EMPTY
from omo.text import block, clip, listed
from omo.work import gates
from omo.work.status import BY_AGENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from omo.state.ledger_rows import SessionEvent
    from omo.state.rows import SessionRow


def session_gates(context: Context, name: str) -> gates.SessionGates:
    return gates.SessionGates(context.state, name, context.actor, context.now, store.CLI_WAIT)


def load(context: Context, name: str) -> gates.SessionGates:
    """Read the gates of a session, once. If its ledger is damaged, that goes on after its last whole row."""
    pinned = session_gates(context, name)
    chain = pinned.load()
    if chain.problems:
        context.mend(name)
        chain = pinned.load()
    context.chains.setdefault(name, chain)
    return pinned


def known_gates(context: Context, name: str) -> gates.Gates:
    rows = runtime.sessions(context.state)
    return gates.current(context.state, name, rows.get(name), rows)


def subject_of(
    context: Context, known: gates.Gates, whole: base.Look, environ: Mapping[str, str], *, makes: bool = True
) -> gate_runs.Subject:
    """The files of a run, for the experiment. What gates' runs have written is no work, but where it was there before
    it counts: the work itself may have a run write what is expected of it ("the expected output, written anew"). So
    does what runners read, and what a command that the agent chose has written: "a gate of the agent's writes a
    makefile", "half, the other test put off by a file that a gate of the agent's writes"."""
    subject = gate_runs.Subject(
        root=context.root,
        state=context.state,
        began=known.base or {"head": None, "files": {}},
        look=whole,
        environ=environ,
        now=context.now,
        minutes=context.settings.proof_minutes,
        makes=makes,
        allowed=known.allowed_changes,
        allowed_tests=frozenset(known.allowed_tests),
        by=context.actor,
        left=known.left,
    )
    written = []
    for path in known.written_by_owned:
        is_new = path in whole.untracked and path not in subject.present
        if is_new and not kinds.is_configuration(path) and not kinds.is_test(path):
            written.append(path)
    return replace(subject, look=whole.without(written))


@dataclass(frozen=True)
class Ran:
    """What gates said, and the files after the last of them, with what gates' own runs have written."""

    results: list[SessionEvent]
    known: gates.Gates
    whole: base.Look

    @property
    def verdict(self) -> str:
        """fail, unknown or pass: the worst that one of them said."""
        verdicts = {result["result"] for result in self.results}
        return next((verdict for verdict in ("fail", "unknown") if verdict in verdicts), "pass")

    @property
    def lines(self) -> list[str]:
        """A line for each, and what it printed where it does not pass."""
        lines = []
        for result in self.results:
            why = f" ({result['why']})" if result["why"] else f" (exit {result['exit']}, {result['seconds']:.1f} s)"
            gate = self.known.get(result["name"])
            where = f" in {clip(gate.cwd, 80)}" if gate is not None and gate.cwd != "." else ""
            lines.append(f"{result['result']:8}{result['name']}{where}{why}")
            if result["left_out"]:
                lines.append(f"        written by the run itself, and left out: {listed(result['left_out'])}")
            if result["result"] != "pass":
                lines += [f"        | {block(line, 400)}" for line in result["tail"].rstrip().splitlines()[-20:]]
            if lacks := gate_runs.run_of(result).not_handed_on:
                lines.append(f"        {lacks}")
            if result["timed_out"] and gate is not None:
                lines.append(f"        more time: {gates.more_time(gate)}")
        return lines


def run_gates(context: Context, name: str, wanted: str | None = None) -> Ran:
    """Run the gates of a session, or the one that is `wanted`."""
    pinned = load(context, name)
    return run_loaded(context, pinned, pinned.known.select(wanted))


def run_loaded(
    context: Context,
    pinned: gates.SessionGates,
    wanted: list[gates.Gate],
    *,
    before: tuple[base.Look, gate_runs.Subject] | None = None,
    owner: Callable[[gates.Gate], str] | None = None,
) -> Ran:
    """Run some of the gates. What the caller knows is handed in: `before` are the files if it has just looked, all of
    them and for the experiment; `owner` says whose a gate is, empty if the agent chose it."""
    known = pinned.known
    left_out = known.left_out
    environ = runner.child_environment(os.environ)
    if before is None:
        whole = base.look(context.root, known.base)
        subject = subject_of(context, known, whole, environ)
    else:
        whole, subject = before
    results = []
    for gate in wanted:
        tree, looked_at = whole.tree, whole.without(left_out)
        result = _run_one(gate, subject)
        whose = gates.whose(context.root, gate, known.base) if owner is None else owner(gate) or BY_AGENT
        result["is_agents"] = whose == BY_AGENT
        whole = base.look(context.root, known.base)
        own, moved = _changed_meanwhile(looked_at, whole.without(left_out), gate)
        left_out = [*left_out, *own]
        ran_on = subject
        if whole.tree != tree:
            subject = subject_of(context, known, whole, environ)
            counting = whole.without([path for path in own if path in whole.untracked])
            ran_on = subject_of(context, known, counting, environ)
        results.append(_judged(result, whole.without(left_out), own, moved, _files_id(ran_on, gate)))
    kept = _kept_for_work(context, pinned.row or EMPTY)
    results = [{**result, **kept} for result in results]
    pinned.record_results(results)
    return Ran(results, known, whole)


def _kept_for_work(context: Context, row: SessionRow) -> SessionEvent:
    """What the other work of the session wants to know of the files."""
    keeps: set[str] = set()
    for kind in row["work"]:
        if kind in table.BY_KIND:
            keeps.update(table.BY_KIND[kind].keeps)
    kept: SessionEvent = {}
    if "files" in keeps:
        kept["files"] = base.take(context.root, context.environ)
    if "fingerprint" in keeps:
        kept["fingerprint"] = base.fingerprint(context.root)
    return kept


def _files_id(subject: gate_runs.Subject, gate: gates.Gate) -> str:
    if subject.look.changed is None:
        return ""
    return arrangements.files_key(subject.look.changed, arrangements.kinds_of(subject, gate))


def _run_one(gate: gates.Gate, subject: gate_runs.Subject) -> SessionEvent:
    row: SessionEvent = gate_runs.as_row(gate_runs.run_gate(subject, gate, looks_for_shadows=True))
    directory = os.path.join(subject.root, gate.cwd)
    program = typed_commands.resolve(gate.argv[0], directory, subject.environ.get("PATH", ""))
    row |= {"name": gate.name, "command": gate.command, "argv": gate.argv}
    row |= {"program": program, "env": gate_runs.environment_id(subject.environ)}
    return row


def _changed_meanwhile(before: base.Look, after: base.Look, gate: gates.Gate) -> tuple[list[str], list[str]]:
    """While a gate ran: the files that its own run wrote, and those that somebody else changed.

    Its own are no code, and new and unknown to git, or changed by each of its runs: a report or a cache.
    """
    changed_before = {path for ran in gate.results for path in ran.moved}
    if before.changed is None or after.changed is None:
        return [], []
    own: list[str] = []
    moved: list[str] = []
    for path in base.differing(before.changed, after.changed):
        is_new = path in after.untracked and path not in before.changed
        is_code = path.endswith(CODE)  # a new file that is code is work, whenever it appears
        if (is_new or path in changed_before) and not is_code:
            own.append(path)
        else:
            moved.append(path)
    return own, moved


def _judged(result: SessionEvent, look: base.Look, own: list[str], moved: list[str], on_files: str) -> SessionEvent:
    """A pass on files that changed under it counts for none of them."""
    changed = look.changed
    if changed is not None and len(changed) > base.MOST_FILES:
        changed = None
    where: SessionEvent = {"tree": look.tree, "on_files": on_files, "changed": changed, "left_out": own, "moved": moved}
    if moved and result["result"] == "pass":
        return {**result, **where, "result": "unknown", "why": f"these changed while it ran: {listed(moved)}"}
    return {**result, **where}
