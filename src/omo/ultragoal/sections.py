"""The goals of a plan: the gate behind each receipt, what it cites, and who was seen to review it."""

from __future__ import annotations

from typing import Any

from omo.errors import Unreadable
from omo.shown import clip
from omo.state import store
from omo.state.runtime import part
from omo.ultragoal import receipts
from omo.ultragoal.plan import Goal, Plan
from omo.ultragoal.run import Run
from omo.ultragoal.status import run_at
from omo.work import times
from omo.work.sections import Attachment, Notice, Section, Sections, facts, joined, listed, name_in, table
from omo.work.status import Status
from omo.work.viewer import Viewer

Row = dict[str, Any]

MOST_ARTIFACTS = 60
KINDS = {receipts.FINAL: "final: the whole plan", receipts.PER_GOAL: "this goal"}


def sections(viewer: Viewer, view: Status) -> Sections:
    run = run_at(viewer)
    plan = run.plan()
    if plan is None:
        return Sections()
    brief = Attachment("The brief", "", about="what was asked for", text=plan.brief)
    whole = Section(plan.created_at, plan.updated_at, attachments=(brief,))
    return Sections({goal.id: _section(viewer, run, plan, goal) for goal in plan.goals}, whole)


def _section(viewer: Viewer, run: Run, plan: Plan, goal: Goal) -> Section:
    receipt = goal.receipt if isinstance(goal.receipt, dict) else {}
    gate, problem = _gate(run, receipt)
    qa = part(gate, "executorQa")
    return Section(
        began=goal.started_at or "",
        ended=goal.completed_at or "",
        said=clip(goal.evidence, 1000),
        covers=_covers(goal, receipt) if receipt else facts(("objective", goal.objective), *_reworded(goal)),
        tables=tuple(_tables(qa)),
        attachments=(*_reviews(viewer, gate), *_artifacts(viewer, qa, receipt), *_agents(viewer, receipt)),
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
        ("receipt", f"{str(receipt.get('receiptId'))[:12]}, issued {times.moment(str(receipt.get('verifiedAt')))}"),
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


def _reviews(viewer: Viewer, gate: Row) -> list[Attachment]:
    titles = {"architectReview": "Architect's review", "executorQa": "Tests and attacks", "iteration": "Last full run"}
    found = []
    for name, title in titles.items():
        one = part(gate, name)
        if one:
            plain = {key: value for key, value in one.items() if isinstance(value, (str, bool))}
            commands = [f"$ {said}" for key, value in one.items() if "ommands" in key for said in listed(value)]
            lines = [str(plain.pop("evidence", "")), *(f"{key}: {value}" for key, value in plain.items()), *commands]
            found.append(Attachment(title, "", text="\n".join(lines)))
    return found


def _artifacts(viewer: Viewer, qa: Row, receipt: Row) -> list[Attachment]:
    recorded, replays = part(receipt, "artifacts"), listed(receipt.get("replays"))
    programs = {str(one.get("artifact")): one for one in replays if isinstance(one, dict)}
    rows = [one for one in listed(qa.get("artifactRefs")) if isinstance(one, dict)]
    found = [_artifact(viewer, one, recorded, programs) for one in rows[:MOST_ARTIFACTS]]
    left = len(rows) - MOST_ARTIFACTS
    return [*found, *([Attachment(f"and {left} more", "artifacts", text="")] if left > 0 else [])]


def _artifact(viewer: Viewer, one: Row, recorded: Row, programs: Row) -> Attachment:
    name, kind, about = (str(one.get(key) or "") for key in ("id", "kind", "description"))
    path = str(one.get("path") or "")
    ran = programs.get(name)
    if isinstance(ran, dict):
        about = f"{about} (run again by omo: {clip(str(ran.get('command')), 120)}, {ran.get('executable')})"
    if path:
        digest = recorded.get(path) or recorded.get(name_in(viewer.context.root, path))
        return Attachment(name, kind, about, path=path, digest=digest)
    inline = one.get("replay") or ({**one} if "command" in one else {})
    if inline:
        return Attachment(name, "replay record", about=about, document={"kind": kind, **inline})
    said = one.get("verifiedReceipt") or one.get("receipt") or one.get("inlineEvidence") or ""
    return Attachment(name, clip(kind, 60), about, str(said))


def _agents(viewer: Viewer, receipt: Row) -> list[Attachment]:
    seen = {str(one.get("digest")): one for one in listed(receipt.get("agents")) if isinstance(one, dict)}
    said = [row for row in viewer.agent_messages("omo:architect", "omo:qa") if str(row.get("digest")) in seen]
    return [_last_word(viewer, row, seen[str(row.get("digest"))]) for row in said]


def _last_word(viewer: Viewer, row: Row, told: Row) -> Attachment:
    about = f"{times.moment(str(row.get('ts')))}, verdict {told.get('verdict') or 'not read'}"
    return Attachment(f"The last word of {row.get('agentType')}", "", about=about, text=str(row.get("message")))


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
