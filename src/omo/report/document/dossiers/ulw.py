"""The gates of plain ultrawork: what was pinned, how it ended last, and what it printed."""

from __future__ import annotations

from typing import Any

from omo.report.document.evidence import Dossier, Notice, Proof, Room, facts
from omo.report.document.exhibits import Exhibit, text_exhibit
from omo.report.work import WorkView
from omo.ultrawork import gates

Row = dict[str, Any]


def lay_out(room: Room, view: WorkView) -> Proof:
    pinned = gates.current(room.state, room.place.session, room.place.row)
    return Proof({name: _dossier(room, gate) for name, gate in pinned.items()})


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
    )


def _output(room: Room, gate: gates.Gate, last: Row) -> list[Exhibit]:
    tail = str(last.get("tail") or "")
    return [text_exhibit(room.budget, "Output", "", tail, about="the end of what it printed")] if tail else []


def _notices(gate: gates.Gate) -> list[Notice]:
    if not gate.is_vacuous:
        return []
    return [Notice("vacuous gate", "it passes on the very tree it was pinned on, so it shows no work", gate.name)]
