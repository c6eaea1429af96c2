"""A plan session for the report: its plan, its needs, what verified it, its critique, what was skipped."""

from __future__ import annotations

from omo.engine import ends
from omo.engine.runs import load_run
from omo.errors import Refused
from omo.proof import base
from omo.proof.gate_runs import Plain
from omo.state.rows import read_files
from omo.state.runtime import part
from omo.text import clip
from omo.work.proving import NamedCommand
from omo.work.sections import Attachment, Notice, Section, Sections, Table, facts, listed, table
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ultraplan import critique
from omo.workflows.ultraplan.flow import FLOW
from omo.workflows.ultraplan.run import pinned_plan, state_of
from omo.workflows.ultraplan.session import PlanState
from omo.workflows.ultraplan.verify import SECONDS


def sections(viewer: Viewer, status: Status) -> Sections:
    run = load_run(FLOW, viewer.caller, viewer.run)
    if run is None or run.state is None:
        return Sections()
    state = state_of(run)
    notices = []
    for exception in ends.exceptions(state):
        text = clip(f"by the {exception['by']}: {exception['why']}", 300)
        notices.append(Notice(exception["what"], text, state.run, until_end=True))
    for step, reason in sorted(state.skipped.items()):
        notices.append(Notice("skipped step", clip(f"as its plan allows: {reason}", 300), str(step)))
    attachments = []
    if state.base:
        try:
            text = pinned_plan(run).text
            attachments.append(Attachment(clip(state.path, 120), "plan", "the contract as it was started", text))
        except Refused as error:
            attachments.append(Attachment("plan", "plan", problem=clip(error.message, 200)))
    whole = Section(
        began=state.started_at,
        ended=str(state.finished.get("ts") or ""),
        said=clip(str(state.finished.get("why") or part(state.finished, "failed").get("error") or ""), 1000),
        covers=facts(("ended as", state.how or "not ended")),
        tables=tuple(_tables(viewer, state)),
        attachments=tuple(attachments),
        notices=tuple(notices),
    )
    of_steps = {}
    for number in state.steps:
        of_steps[str(number)] = Section(covers=facts(("skipped because", state.skipped.get(number))))
    changed = base.changed_at_end(viewer.context.root, state.base, read_files(state.finished.get("files")))
    commands: list[NamedCommand] = []
    for command in state.pinned:
        if command.argv and not command.exit:
            plain = Plain(command.argv, timeout=SECONDS)
            commands.append((f"Verify of step {command.step}", plain, state.terms.is_named))
    return Sections(of_steps, whole, base=state.base, changed=changed, commands=commands)


def _tables(viewer: Viewer, state: PlanState) -> list[Table]:
    review = critique.latest(viewer.context.root, viewer.context.state, state.terms.plan) or {}
    shown = (
        ("What omo ran to verify it", ("step", "text", "result", "why"), state.last("verified").get("commands")),
        ("What the machine had to be able to do", ("name", "status", "detail"), state.last("preflight").get("needs")),
        ("What the critic found", ("severity", "dimension", "line", "text"), review.get("findings")),
    )
    tables = []
    for title, columns, entries in shown:
        rows = [[entry.get(key) for key in columns] for entry in listed(entries) if isinstance(entry, dict)]
        if rows:
            tables.append(table(title, columns, rows))
    return tables
