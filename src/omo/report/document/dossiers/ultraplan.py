"""A plan session: the commit of each step, the spec it was started with, its needs and what was skipped."""

from __future__ import annotations

from typing import Any

from omo.errors import Refused
from omo.report.document.evidence import Dossier, Notice, Proof, Room, Table, facts, listed, table
from omo.report.document.exhibits import Exhibit, text_exhibit
from omo.shown import clip
from omo.ultraplan import critique
from omo.ultraplan.run import PLAN, PlanState, pinned
from omo.work.run import Caller, load
from omo.work.status import Status

Row = dict[str, Any]


def lay_out(room: Room, view: Status) -> Proof:
    given = dict(room.place.given)
    named = given.pop("named", "")
    run = load(PLAN, Caller(**given), named)
    if run is None or run.state is None:
        return Proof()
    record = run.state
    failed = record.finished.get("failed")
    whole = Dossier(
        began=record.started_at,
        ended=str(record.finished.get("ts") or record.recovered.get("ts") or ""),
        said=clip(str(record.finished.get("reason") or (failed or {}).get("error") or ""), 1000),
        covers=_covers(record),
        tables=tuple(_tables(room, record)),
        exhibits=tuple(_spec(room, record)),
        notices=tuple(_notices(record)),
    )
    skipped = {}
    for step in record.steps:
        skipped[str(step)] = Dossier(covers=facts(("skipped because", record.skipped.get(step))))
    return Proof(skipped, whole)


def _notices(record: PlanState) -> list[Notice]:
    found = []
    for let_through in record.exceptions:
        text = clip(f"by the {let_through['by']}: {let_through['why']}", 300)
        found.append(Notice(let_through["what"], text, record.run, until_end=True))
    for step, reason in sorted(record.skipped.items()):
        found.append(Notice("skipped step", clip(f"as its plan allows: {reason}", 300), str(step)))
    return found


def _covers(record: PlanState) -> tuple[tuple[str, str], ...]:
    return facts(
        ("spec digest", record.digest[:12]),
        ("base", record.base[:12]),
        ("recovers", record.recovery_of),
        ("ended as", record.end or "not ended"),
    )


def _tables(room: Room, record: PlanState) -> list[Table]:
    needs = [
        (one.get("name"), one.get("class"), one.get("status"), one.get("detail"))
        for one in listed(record.preflight.get("needs"))
        if isinstance(one, dict)
    ]
    review = critique.latest(room.state, record.plan) if record.plan else None
    findings = [
        (one.get("severity"), one.get("dimension"), one.get("line"), one.get("text"))
        for one in listed((review or {}).get("findings"))
        if isinstance(one, dict)
    ]
    made = [
        table("What the machine had to be able to do", ("need", "class", "status", "detail"), needs),
        table("What the critic found", ("weight", "dimension", "line", "finding"), findings),
    ]
    return [one for one in made if one.rows]


def _spec(room: Room, record: PlanState) -> list[Exhibit]:
    try:
        text = pinned(room.state, record).text if record.base else ""
    except Refused as error:
        return [Exhibit("spec", "spec", state=clip(error.message, 200))]
    about = "the contract as it was started"
    return [text_exhibit(room.budget, clip(record.spec, 120), "spec", text, about=about)] if text else []
