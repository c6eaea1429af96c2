"""The gates of plain ultrawork: what was pinned, how it ended last, and what it printed."""

from __future__ import annotations

import shlex
from typing import Any

from omo.report.document.evidence import Dossier, Notice, Proof, Room, facts
from omo.report.document.exhibits import Exhibit, text_exhibit
from omo.report.works.ulw import run_of
from omo.shown import clip
from omo.state import ledger, paths
from omo.ultrawork import gates
from omo.work.status import Status

Row = dict[str, Any]


def lay_out(room: Room, view: Status) -> Proof:
    rows = ledger.rows(paths.events_file(room.state, room.place.session))
    pinned = gates.fold(rows, run_of(room.place, rows))
    return Proof({name: _dossier(room, gate) for name, gate in pinned.by_name.items()})


def _dossier(room: Room, gate: gates.Gate) -> Dossier:
    last = gate.last or {}
    ran = f"{last.get('result')}, exit {last.get('exit')}, {last.get('seconds')} s" if last else ""
    return Dossier(
        ended=str(last.get("ts") or ""),
        covers=facts(
            ("directory", "" if gate.cwd == "." else gate.cwd),
            ("last run", ran),
            ("on tree", last.get("tree")),
            ("why", last.get("why")),
        ),
        exhibits=tuple(_output(room, gate, last)),
        notices=tuple(_notices(gate)),
        command=clip(shlex.join(gate.argv), 200),
        pinned_by=clip(gate.by, 20),
    )


def _output(room: Room, gate: gates.Gate, last: Row) -> list[Exhibit]:
    tail = str(last.get("tail") or "")
    return [text_exhibit(room.budget, "Output", "", tail, about="the end of what it printed")] if tail else []


def _notices(gate: gates.Gate) -> list[Notice]:
    if gate.status != "pass, unchanged tree":
        return []
    return [Notice("vacuous gate", "it passes on the files as the run began with them, so it shows no work", gate.name)]
