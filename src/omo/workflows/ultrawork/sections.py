"""The gates of plain ultrawork: what was pinned, how it ended last, and what it printed."""

from __future__ import annotations

import shlex
from typing import Any

from omo.state import ledger, paths
from omo.text import clip
from omo.work import times
from omo.work.sections import Attachment, Notice, Section, Sections, facts
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ultrawork import gates
from omo.workflows.ultrawork.status import run_of

Row = dict[str, Any]


def sections(viewer: Viewer, view: Status) -> Sections:
    rows = ledger.rows(paths.events_file(viewer.context.state, viewer.session))
    pinned = gates.fold(rows, run_of(viewer, rows))
    of_gates = {name: _section(viewer, gate) for name, gate in pinned.by_name.items()}
    return Sections(of_gates, base=pinned.base, left_out=pinned.left_out)


def _section(viewer: Viewer, gate: gates.Gate) -> Section:
    last = gate.last or {}
    ran = f"{last.get('result')}, exit {last.get('exit')}" if last else ""
    seconds = last.get("seconds")
    return Section(
        took=times.short(seconds) if isinstance(seconds, (int, float)) else "",
        covers=facts(
            ("directory", "" if gate.cwd == "." else gate.cwd),
            ("last run", ran),
            ("why", last.get("why")),
        ),
        attachments=tuple(_output(viewer, gate, last)),
        notices=tuple(_notices(gate)),
        command=clip(shlex.join(gate.argv), 200),
        pinned_by=clip(gate.by, 20),
    )


def _output(viewer: Viewer, gate: gates.Gate, last: Row) -> list[Attachment]:
    tail = str(last.get("tail") or "")
    return [Attachment("Output", "", about="the end of what it printed", text=tail)] if tail else []


def _notices(gate: gates.Gate) -> list[Notice]:
    if gate.status != "pass, unchanged tree":
        return []
    return [Notice("vacuous gate", "it passes on the files as the run began with them, so it shows no work", gate.name)]
