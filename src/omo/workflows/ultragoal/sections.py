"""The goals of a plan: the gate behind each receipt, what it cites, and who was seen to review it."""

from __future__ import annotations

import shlex
from functools import partial

from omo.errors import BadInput
from omo.json_text import Json
from omo.proof import documents
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
    joined,
    listed,
    name_in,
    table,
)
from omo.work.status import Item, Status
from omo.work.viewer import Viewer
from omo.workflows.ultragoal import receipts
from omo.workflows.ultragoal.gate import media, proof
from omo.workflows.ultragoal.gate.replay import parse_replay
from omo.workflows.ultragoal.plan import Goal, Receipt
from omo.workflows.ultragoal.reviewers import NOT_REVIEWED, exceptions_of, independence_of
from omo.workflows.ultragoal.run import PlanRun, load_plan

MOST_ARTIFACTS = 60
REVIEWS = {"architectReview": "Architect's review", "executorQa": "Tests and attacks", "iteration": "Last full run"}
KINDS = {receipts.FINAL: "final: the whole plan", receipts.PER_GOAL: "this goal"}


def sections(viewer: Viewer, view: Status) -> Sections:
    run = load_plan(viewer.caller, viewer.run)
    plan = run.plan
    if plan is None:
        return Sections()
    brief = Attachment("The brief", "", about="what was asked for", text=plan.brief)
    whole = Section(plan.created_at, plan.updated_at, attachments=(brief,))
    items = {item.id: item for item in view.items}
    of_goals = {goal.id: _section(viewer, run, goal, items.get(goal.id)) for goal in plan.goals}
    return Sections(of_goals, whole, base=plan.base)


def _section(viewer: Viewer, run: PlanRun, goal: Goal, item: Item | None) -> Section:
    receipt = goal.receipt
    gate, problem = receipts.kept_gate(goal, run.directory) if receipt else ({}, "")
    qa = part(gate, "executorQa")
    return Section(
        began=goal.started_at or "",
        ended=goal.completed_at or "",
        said=clip(goal.evidence, 1000),
        covers=_covers(goal, receipt) if receipt else facts(("objective", goal.objective), *_first_wording(goal)),
        tables=tuple(_tables(qa)),
        attachments=(*_reviews(gate), *_artifacts(viewer, qa, receipt), *_last_words(viewer, receipt)),
        notices=tuple(_notices(goal, item, problem)),
    )


def _covers(goal: Goal, receipt: Receipt) -> tuple[tuple[str, str], ...]:
    basis, covered = part(receipt, "basis"), part(receipt, "covers")
    kind = str(receipt.get("receiptKind"))
    return facts(
        ("covers", KINDS.get(kind, kind)),
        ("receipts covered", ", ".join(map(str, covered))),
        ("objective", part(basis, "goal").get("objective")),
        *_first_wording(goal),
        ("blockers", joined(basis.get("blockers")) or "none"),
        ("independence", receipt.get("independence")),
        ("receipt issued", times.moment(str(receipt.get("verifiedAt")))),
    )


def _first_wording(goal: Goal) -> list[tuple[str, object]]:
    """What was promised first stays visible."""
    first = part(goal.steering, "firstWording")
    return [("first worded", first.get("objective") or first.get("title"))] if first else []


def _objects(value: object) -> list[Json]:
    """The rows of a list in a gate or receipt, whatever else somebody put into it."""
    return [row for row in listed(value) if isinstance(row, dict)]


def _tables(qa: Json) -> list[Table]:
    coverage, surfaces, attacks = [], [], []
    for row in _objects(qa.get("contractCoverage")):
        coverage.append((row.get("contractRef"), row.get("obligation") or row.get("reason"), row.get("status")))
    for row in _objects(qa.get("surfaceEvidence")):
        surface, how = row.get("surface") or row.get("contractRef"), row.get("invocation") or row.get("reason")
        surfaces.append((surface, how, row.get("verdict") or row.get("result") or row.get("status")))
    for row in _objects(qa.get("adversarialCases")):
        attacks.append((row.get("scenario"), row.get("expectedBehavior"), row.get("verdict") or row.get("result")))
    tables = []
    if coverage:
        tables.append(table("What the contract asks", ("contract", "obligation", "status"), coverage))
    if surfaces:
        tables.append(table("Surfaces that were used", ("surface", "how", "verdict"), surfaces))
    if attacks:
        tables.append(table("Attempts to break it", ("scenario", "expected", "verdict"), attacks))
    return tables


def _reviews(gate: Json) -> list[Attachment]:
    attachments = []
    for name, title in REVIEWS.items():
        review = part(gate, name)
        if not review:
            continue
        lines = [str(review.get("evidence") or "")]
        commands = []
        for key, value in review.items():
            if key != "evidence" and isinstance(value, (str, bool)):
                lines.append(f"{key}: {value}")
            elif key.lower().endswith("commands"):
                commands += [f"$ {line}" for line in listed(value)]
        attachments.append(Attachment(title, "", text="\n".join([*lines, *commands])))
    return attachments


def _artifacts(viewer: Viewer, qa: Json, receipt: Receipt) -> list[Attachment]:
    recorded = part(receipt, "artifacts")
    replays = {str(replay.get("artifact")): replay for replay in _objects(receipt.get("replays"))}
    rows = _objects(qa.get("artifactRefs"))
    attachments = []
    for row in rows[:MOST_ARTIFACTS]:
        attachments.append(_artifact(viewer, row, recorded, replays.get(str(row.get("id") or ""))))
    if len(rows) > MOST_ARTIFACTS:
        attachments.append(Attachment(f"and {len(rows) - MOST_ARTIFACTS} more", "artifacts", text=""))
    return attachments


def _artifact(viewer: Viewer, row: Json, recorded: dict[str, str], replay: Json | None) -> Attachment:
    name, kind, about = (str(row.get(key) or "") for key in ("id", "kind", "description"))
    path = str(row.get("path") or "")
    if replay is not None:
        about += f" (run by omo: {clip(str(replay.get('command')), 120)})"
    if path:
        digest = recorded.get(path) or recorded.get(name_in(viewer.context.root, path))
        shape = proof.shape_of(kind)
        return Attachment(name, shape, about, path=path, digest=digest, in_words=partial(_in_words, shape, path))
    text = row.get("receipt") or f"gate {row.get('gate')}"
    return Attachment(name, clip(kind, 60), about, str(text))


def _in_words(shape: str, path: str, raw: bytes) -> str:
    """A capture without its escapes; of a replay the command as it would be typed, and what came out."""
    text = decoded(raw)
    if shape == proof.CAPTURE:
        return media.ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if shape != proof.REPLAY:
        return text
    try:
        record = parse_replay(documents.parse(text, path))
    except BadInput:
        return text
    lines = [f"$ {shlex.join(record.command)}", media.plain(record.stdout).rstrip("\n")]
    if record.stderr:
        lines.append(f"stderr: {media.plain(record.stderr)}")
    return "\n".join([*lines, f"exit {record.exit_code}"])


def _last_words(viewer: Viewer, receipt: Receipt) -> list[Attachment]:
    reviews = {str(review.get("digest")): review for review in _objects(receipt.get("agents"))}
    attachments = []
    for message in messages_in(viewer.events, ["omo:architect", "omo:qa"]):
        review = reviews.get(message.digest)
        if review is not None:
            about = f"{times.moment(message.ts)}, verdict {review.get('verdict') or 'not read'}"
            title = f"The last word of {message.agent}"
            attachments.append(Attachment(title, "", about=about, text=message.text))
    return attachments


def _notices(goal: Goal, item: Item | None, problem: str) -> list[Notice]:
    """`problem` is why the gate behind the receipt is not the one that passed."""
    notices = []
    if problem:
        notices.append(Notice("damaged", problem, goal.id))
    if item is not None and NOT_REVIEWED in item.overrides:
        notices.append(Notice(NOT_REVIEWED, independence_of(goal.receipt), goal.id))
    for let_through in exceptions_of(goal):
        what = let_through["what"].removeprefix(f"{goal.id}: ")  # which stands beside it
        text = f"by the {let_through['by']}: {let_through['why']}"
        notices.append(Notice(clip(what, 200), clip(text, 400), goal.id, until_end=True))
    return notices
