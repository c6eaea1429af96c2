"""The gates of plain ultrawork: what was pinned, how it ended last, and what it printed."""

from __future__ import annotations

import shlex

from omo.state import ledger, paths
from omo.text import clip
from omo.work import times
from omo.work.sections import Attachment, Notice, Section, Sections, facts
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ultrawork import gates
from omo.workflows.ultrawork.status import run_of


def sections(viewer: Viewer, view: Status) -> Sections:
    rows = ledger.rows(paths.events_file(viewer.context.state, viewer.session))
    pinned = gates.fold(rows, run_of(viewer, rows))
    of_gates = {gate.name: _section(gate) for gate in pinned}
    return Sections(of_gates, base=pinned.base, left_out=pinned.left_out)


def _section(gate: gates.Gate) -> Section:
    last = gate.last or {}
    covers: list[tuple[str, object]] = [("directory", "" if gate.cwd == "." else gate.cwd)]
    attachments, notices, took = [], [], ""
    if isinstance(last.get("seconds"), (int, float)):
        took = times.short(last["seconds"])
    if last:
        covers += [("last run", f"{last.get('result')}, exit {last.get('exit')}"), ("why", last.get("why"))]
    if last.get("tail"):
        attachments.append(Attachment("Output", "", about="the end of what it printed", text=str(last["tail"])))
    if gate.status == "pass, unchanged tree":
        text = "it passes on the files as the run began with them, so it shows no work"
        notices.append(Notice("vacuous gate", text, gate.name))
    return Section(
        took=took,
        covers=facts(*covers),
        attachments=tuple(attachments),
        notices=tuple(notices),
        command=clip(shlex.join(gate.argv), 200),
        pinned_by=clip(gate.by, 20),
    )
