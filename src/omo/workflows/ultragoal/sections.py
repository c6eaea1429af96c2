"""The goals of a plan: the gate behind each receipt, what it cites, and who was seen to review it."""

from __future__ import annotations

from omo.json_text import Json
from omo.proof import base
from omo.state.rows import read_files
from omo.state.runtime import part
from omo.text import clip
from omo.work import times
from omo.work.agents import messages_in
from omo.work.sections import (
    Attachment,
    Notice,
    Section,
    Sections,
    Table,
    decoded,
    facts,
    listed,
    name_in,
    table,
)
from omo.work.status import Item, Status
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.gate import media, proof
from omo.workflows.ultragoal.plan import NOT_REVIEWED, Goal
from omo.workflows.ultragoal.reviewers import independence_of
from omo.workflows.ultragoal.rows import Receipt
from omo.workflows.ultragoal.run import load_plan

KINDS = {receipts.FINAL: "final: the whole plan", receipts.PER_GOAL: "this goal"}
# By list of executorQa: the title of its table, and its columns with the fields that may fill them.
TABLES = {
    "contractCoverage": (
        "What the contract asks",
        {"contract": ("contractRef",), "obligation": ("obligation", "reason"), "status": ("status",)},
    ),
    "surfaceEvidence": (
        "Surfaces that were used",
        {
            "surface": ("surface", "contractRef"),
            "how": ("invocation", "reason"),
            "verdict": ("verdict", "result", "status"),
        },
    ),
    "adversarialCases": (
        "Attempts to break it",
        {"scenario": ("scenario",), "expected": ("expectedBehavior",), "verdict": ("verdict", "result")},
    ),
}


def sections(viewer: Viewer, status: Status) -> Sections:
    run = load_plan(viewer.caller, viewer.run)
    plan = run.plan
    if plan is None:
        return Sections()
    brief = Attachment("The brief", "", about="what was asked for", text=plan.created["brief"])
    whole = Section(plan.started_at, plan.updated_at, attachments=(brief,))
    items = {item.id: item for item in status.items}
    of_goals = {goal.id: _section(viewer, goal, items.get(goal.id)) for goal in plan.goals}
    began = plan.started.get("files")
    changed = None
    if began and plan.outcome is not None:
        changed = base.changed_at_end(viewer.context.root, began, read_files((plan.ended or {}).get("files")))
    return Sections(of_goals, whole, base=began, changed=changed)


def _section(viewer: Viewer, goal: Goal, item: Item | None) -> Section:
    receipt = goal.receipt
    qa = part(goal.gate, "executorQa") if receipt else {}
    return Section(
        began=goal.started_at or "",
        ended=goal.completed_at or "",
        said=clip(goal.evidence, 1000),
        covers=_covers(goal, receipt) if receipt else facts(("objective", goal.objective), *_first_wording(goal)),
        tables=tuple(_tables(qa)),
        attachments=(*_artifacts(viewer, qa, receipt), *_last_words(viewer, receipt)),
        notices=tuple(_notices(goal, item)),
    )


def _covers(goal: Goal, receipt: Receipt) -> tuple[tuple[str, str], ...]:
    covered = part(receipt, "covers")
    kind = str(receipt.get("receiptKind"))
    return facts(
        ("covers", KINDS.get(kind, kind)),
        ("receipts covered", ", ".join(map(str, covered))),
        ("objective", goal.objective),
        *_first_wording(goal),
        ("independence", receipt.get("independence")),
        ("receipt issued", times.moment(str(receipt.get("verifiedAt")))),
    )


def _first_wording(goal: Goal) -> list[tuple[str, object]]:
    """Return what was promised first, which stays visible."""
    first = part(goal.steering, "firstWording")
    return [("first worded", first.get("objective") or first.get("title"))] if first else []


def _objects(value: object) -> list[Json]:
    """Return the rows of a list in a gate or receipt, whatever else somebody put into it."""
    return [row for row in listed(value) if isinstance(row, dict)]


def _tables(qa: Json) -> list[Table]:
    tables = []
    for name, (title, columns) in TABLES.items():
        rows = []
        for row in _objects(qa.get(name)):
            rows.append([next(filter(None, map(row.get, keys)), None) for keys in columns.values()])
        if rows:
            tables.append(table(title, tuple(columns), rows))
    return tables


def _artifacts(viewer: Viewer, qa: Json, receipt: Receipt) -> list[Attachment]:
    recorded = part(receipt, "artifacts")
    attachments = []
    for row in _objects(qa.get("artifactRefs")):
        name, kind, about, path = (str(row.get(key) or "") for key in ("id", "kind", "description", "path"))
        if path:
            digest = recorded.get(path) or recorded.get(name_in(viewer.context.root, path))
            shape = proof.shape_of(kind)
            attachments.append(Attachment(name, shape, about, path=path, digest=digest, in_words=_without_escapes))
        else:
            text = str(row.get("receipt") or f"gate {row.get('gate')}")
            attachments.append(Attachment(name, clip(kind, 60), about, text))
    return attachments


def _without_escapes(raw: bytes) -> str:
    """Return what a person would read of a terminal's capture."""
    return media.plain(decoded(raw))


def _last_words(viewer: Viewer, receipt: Receipt) -> list[Attachment]:
    reviews = {f"{review.get('row')} {review.get('digest')}": review for review in _objects(receipt.get("agents"))}
    attachments = []
    for message in messages_in(viewer.events, ["omo:architect", "omo:qa"]):
        review = reviews.get(f"{message.seq} {message.digest}")
        if review is not None:
            about = f"{times.moment(message.ts)}, verdict {review.get('verdict') or 'not read'}"
            title = f"The last word of {message.agent}"
            attachments.append(Attachment(title, "", about=about, text=message.text))
    return attachments


def _notices(goal: Goal, item: Item | None) -> list[Notice]:
    notices = []
    if item is not None and NOT_REVIEWED in item.overrides:
        notices.append(Notice(NOT_REVIEWED, independence_of(goal.receipt), goal.id))
    for exception in goal.exceptions:
        what = exception["what"].removeprefix(f"{goal.id}: ")  # which stands beside it
        text = f"by the {exception['by']}: {exception['why']}"
        notices.append(Notice(clip(what, 200), clip(text, 400), goal.id, until_end=True))
    return notices
