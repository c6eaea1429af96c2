"""The goals of a plan: the gate behind each receipt, what it cites, and who was seen to review it."""

from __future__ import annotations

from typing import Any

from omo.errors import Unreadable
from omo.report.document import spans
from omo.report.document.evidence import Dossier, Notice, Proof, Room, facts, joined, listed, table
from omo.report.document.exhibits import Exhibit, file_exhibit, name_in, replay_text, text_exhibit
from omo.report.works.ultragoal import run_at
from omo.shown import clip
from omo.state import store
from omo.state.runtime import part
from omo.ultragoal import receipts
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run
from omo.work.status import Status

Row = dict[str, Any]

MOST_ARTIFACTS = 60
KINDS = {receipts.FINAL: "final: the whole plan", receipts.PER_GOAL: "this goal"}


def lay_out(room: Room, view: Status) -> Proof:
    run = run_at(room.place)
    plan = run.plan()
    if plan is None:
        return Proof()
    brief = text_exhibit(room.budget, "The brief", "", plan.brief, about="what was asked for")
    whole = Dossier(plan.created_at, plan.updated_at, exhibits=(brief,))
    return Proof({goal.id: _dossier(room, run, plan, goal) for goal in plan.goals}, whole)


def _dossier(room: Room, run: Run, plan: Plan, goal: Goal) -> Dossier:
    receipt = goal.receipt if isinstance(goal.receipt, dict) else {}
    gate, problem = _gate(run, receipt)
    qa = part(gate, "executorQa")
    return Dossier(
        began=goal.started_at or "",
        ended=goal.completed_at or "",
        said=clip(goal.evidence, 1000),
        covers=_covers(goal, receipt) if receipt else facts(("objective", goal.objective), *_reworded(goal)),
        tables=tuple(_tables(qa)),
        exhibits=(*_reviews(room, gate), *_artifacts(room, qa, receipt), *_agents(room, receipt)),
        notices=tuple(_notices(goal, receipt, problem)),
    )


def _gate(run: Run, receipt: Row) -> tuple[Row, str]:
    """The gate as the receipt names it, by its digest; anything else is not shown as one."""
    digest = str(receipt.get("qualityGateHash") or "")
    if not digest:
        return {}, ""
    try:
        kept = store.read(receipts.gate_file(run.directory, digest))
    except Unreadable as error:
        return {}, error.message
    if kept is None:
        return {}, "the quality gate behind the receipt is gone"
    if receipts.canonical_digest(kept) != digest:
        return {}, "the quality gate behind the receipt was edited, so nothing of it is shown"
    return kept, ""


def _covers(goal: Goal, receipt: Row) -> tuple[tuple[str, str], ...]:
    basis, covered = part(receipt, "basis"), part(receipt, "covers")
    return facts(
        ("covers", KINDS.get(str(receipt.get("receiptKind")), receipt.get("receiptKind"))),
        ("receipts covered", ", ".join(f"{name} {str(one)[:12]}" for name, one in covered.items())),
        ("objective", part(basis, "goal").get("objective")),
        *_reworded(goal),
        ("wording digest", receipts.canonical_digest(basis.get("goal"))[:12] if basis else ""),
        ("blockers", joined(basis.get("blockers")) or "none"),
        ("tree", receipt.get("tree")),
        ("independence", receipt.get("independence")),
        ("gate", str(receipt.get("qualityGateHash") or "")[:12]),
        ("receipt", f"{str(receipt.get('receiptId'))[:12]}, issued {spans.moment(str(receipt.get('verifiedAt')))}"),
    )


def _reworded(goal: Goal) -> list[tuple[str, object]]:
    """What was promised first stays visible."""
    first = part(goal.steering or {}, "firstWording")
    return [("first worded", first.get("objective") or first.get("title"))] if first else []


def _tables(qa: Row) -> list[Any]:
    coverage = [
        (one.get("contractRef"), one.get("obligation") or one.get("reason"), one.get("status"))
        for one in listed(qa.get("contractCoverage"))
        if isinstance(one, dict)
    ]
    attacks = [
        (one.get("scenario"), one.get("expectedBehavior"), one.get("verdict") or one.get("result"))
        for one in listed(qa.get("adversarialCases"))
        if isinstance(one, dict)
    ]
    surfaces = [
        (one.get("surface") or one.get("contractRef"), one.get("invocation") or one.get("reason"), _verdict(one))
        for one in listed(qa.get("surfaceEvidence"))
        if isinstance(one, dict)
    ]
    found = [
        table("What the contract asks", ("contract", "obligation", "status"), coverage),
        table("Surfaces that were used", ("surface", "how", "verdict"), surfaces),
        table("Attempts to break it", ("scenario", "expected", "verdict"), attacks),
    ]
    return [one for one in found if one.rows]


def _verdict(one: Row) -> object:
    return one.get("verdict") or one.get("result") or one.get("status")


def _reviews(room: Room, gate: Row) -> list[Exhibit]:
    titles = {"architectReview": "Architect's review", "executorQa": "Tests and attacks", "iteration": "Last full run"}
    found = []
    for name, title in titles.items():
        one = part(gate, name)
        if one:
            plain = {key: value for key, value in one.items() if isinstance(value, (str, bool))}
            commands = [f"$ {said}" for key, value in one.items() if "ommands" in key for said in listed(value)]
            lines = [str(plain.pop("evidence", "")), *(f"{key}: {value}" for key, value in plain.items()), *commands]
            found.append(text_exhibit(room.budget, title, "", "\n".join(lines)))
    return found


def _artifacts(room: Room, qa: Row, receipt: Row) -> list[Exhibit]:
    recorded, replays = part(receipt, "artifacts"), listed(receipt.get("replays"))
    programs = {str(one.get("artifact")): one for one in replays if isinstance(one, dict)}
    rows = [one for one in listed(qa.get("artifactRefs")) if isinstance(one, dict)]
    found = [_artifact(room, one, recorded, programs) for one in rows[:MOST_ARTIFACTS]]
    left = len(rows) - MOST_ARTIFACTS
    return [*found, *([Exhibit(f"and {left} more", "artifacts")] if left > 0 else [])]


def _artifact(room: Room, one: Row, recorded: Row, programs: Row) -> Exhibit:
    name, kind, about = (str(one.get(key) or "") for key in ("id", "kind", "description"))
    path = str(one.get("path") or "")
    ran = programs.get(name)
    if isinstance(ran, dict):
        about = f"{about} (run again by omo: {clip(str(ran.get('command')), 120)}, {ran.get('executable')})"
    if path:
        digest = recorded.get(path) or recorded.get(name_in(room.root, path))
        return file_exhibit(room.budget, room.root, name, path, digest, kind=kind, about=about)
    inline = one.get("replay") or ({**one} if "command" in one else {})
    if inline:
        return text_exhibit(room.budget, name, "replay record", replay_text({"kind": kind, **inline}), about=about)
    said = one.get("verifiedReceipt") or one.get("receipt") or one.get("inlineEvidence") or ""
    return text_exhibit(room.budget, name, clip(kind, 60), said, about=about)


def _agents(room: Room, receipt: Row) -> list[Exhibit]:
    seen = {str(one.get("digest")): one for one in listed(receipt.get("agents")) if isinstance(one, dict)}
    said = [row for row in room.messages("omo:architect", "omo:qa") if str(row.get("digest")) in seen]
    return [_last_word(room, row, seen[str(row.get("digest"))]) for row in said]


def _last_word(room: Room, row: Row, told: Row) -> Exhibit:
    about = f"{spans.moment(str(row.get('ts')))}, verdict {told.get('verdict') or 'not read'}"
    return text_exhibit(room.budget, f"The last word of {row.get('agentType')}", "", row.get("message"), about=about)


def _notices(goal: Goal, receipt: Row, problem: str) -> list[Notice]:
    found = [Notice("damaged", problem, goal.id)] if problem else []
    for one in listed(receipt.get("exemptions")):
        if isinstance(one, dict):
            said = f"{one.get('artifact')} was not run again ({one.get('reasonCode')}): {one.get('reason')}"
            approved = f"approved by {one.get('approvedBy')}"
            found.append(Notice("exempted replay", clip(f"{said}; {approved}", 400), goal.id, until_end=True))
    if receipt.get("independence") == "reduced":
        roles = ", ".join(sorted({str(one.get("role")) for one in listed(receipt.get("agents"))})) or "nobody"
        text = f"no hook saw both an architect and a tester end with a clean report; seen: {roles}"
        found.append(Notice("reduced independence", clip(text, 300), goal.id))
    if (goal.steering or {}).get("noReplacementRequired"):
        why = str((goal.steering or {}).get("rationale") or "")
        text = clip(f"superseded, and nothing replaced it: {why}", 300)
        found.append(Notice("dropped goal", text, goal.id, until_end=True))
    return found
