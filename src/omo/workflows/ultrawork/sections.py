"""The gates of plain ultrawork: what was pinned, how it ended last, what it printed then and without the work."""

from __future__ import annotations

import shlex

from omo.proof import gate_runs
from omo.text import clip
from omo.work import gates, times
from omo.work.sections import Attachment, Notice, Section, Sections, facts
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ultrawork.status import run_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from omo.state.ledger_rows import GateResult


def sections(viewer: Viewer, status: Status) -> Sections:
    pinned = gates.fold(viewer.events, run_of(viewer))
    of_gates = {}
    for gate in pinned:
        tried: Mapping[str, GateResult] = {}
        if pinned.base and not pinned.base.get("unknown"):
            tried = gate_runs.tried(viewer.context.state, pinned.base, gate.argv, gate.cwd)
        of_gates[gate.name] = _section(gate, tried, gates.whose(viewer.context.root, gate, pinned.base))
    changed = None
    if status.outcome is not None and pinned.ran and pinned.ran[-1].changed is not None:
        changed = sorted(pinned.ran[-1].changed.keys() - set(pinned.left_out))
    let_through = []
    for item in status.items:
        let_through += [Notice("let through", clip(override, 300), item.id) for override in item.overrides]
    whole = Section(began=pinned.began_at, notices=tuple(let_through))
    return Sections(of_gates, whole, base=pinned.base, left_out=pinned.left_out, changed=changed)


def _section(gate: gates.Gate, tried: Mapping[str, GateResult], whose: str) -> Section:
    last = gate.last
    covers: list[tuple[str, object]] = [("directory", "" if gate.cwd == "." else gate.cwd)]
    took = ""
    if last is not None:
        covers += [("last run", f"{last.result}, exit {last.exit}"), ("why", last.why)]
        if last.seconds is not None:
            took = times.short(last.seconds)
    return Section(
        took=took,
        covers=facts(*covers),
        attachments=tuple(_outputs(gate, tried)),
        command=clip(shlex.join(gate.argv), 200),
        whose=whose,
    )


def _outputs(gate: gates.Gate, tried: Mapping[str, GateResult]) -> list[Attachment]:
    """The red beside the green: what the gate printed on other files, or earlier, then what it printed last."""
    outputs: list[tuple[str, GateResult]] = [(f"Run {arrangement}", tried[arrangement]) for arrangement in tried]
    failed = [ran.row for ran in gate.results[:-1] if ran.failed]
    if failed and gate_runs.WITHOUT not in tried:
        outputs.append(("An earlier run", failed[-1]))
    if gate.last:
        outputs.append(("The last run", gate.last.row))
    attachments = []
    for name, row in outputs:
        if row.get("tail"):
            about = f"{row.get('result')}: {clip(str(row.get('quoted') or 'the end of what it printed'), 200)}"
            attachments.append(Attachment(name, about=about, text=str(row["tail"])))
    return attachments
