"""The criteria of a ralph run: every round's result, the checks, the briefs and what the judge said to them."""

from __future__ import annotations

from omo.proof import base
from omo.state.rows import read_files
from omo.state.runtime import part
from omo.text import clip
from omo.work import times
from omo.work.agents import messages_in
from omo.work.judge import JUDGE
from omo.work.proving import by_exit_code
from omo.work.run import load
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, facts, table
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ralph.criteria import named_checks
from omo.workflows.ralph.rules import Criterion, RalphRow, method
from omo.workflows.ralph.run import RALPH, RalphRun, RalphState

MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, status: Status) -> Sections:
    run: RalphRun | None = load(RALPH, viewer.caller, viewer.run)
    if run is None or run.state is None:
        return Sections()
    state = run.state
    ended = state.ended or {}
    receipt = part(ended, "receipt")
    # Criteria down, rounds across; what broke after it had passed is marked as that.
    rows = []
    for criterion in state.criteria:
        rows.append([criterion.id, *(_result(row, criterion.id) for row in state.judged)])
    head = ["criterion", *(f"round {row['iteration']}" for row in state.judged)]
    whole = Section(
        began=str(state.started.get("ts") or ""),
        ended=str(ended.get("ts") or ""),
        said=clip(str(ended.get("why") or ""), 500),
        covers=facts(
            ("asked for", clip(state.request, 500)),
            ("criteria from", "; ".join(filter(None, [state.source, state.whose_criteria]))),
            ("covers", ", ".join(map(str, receipt.get("criteria") or []))),
            ("independence", receipt.get("independence")),
            ("gates", ", ".join(gate["name"] for gate in receipt.get("gates") or [])),
        ),
        tables=(table("Criteria, round by round", head, rows),),
        attachments=tuple(_judge(viewer, state)),
        notices=tuple(_notices(state)),
    )
    of_criteria = {criterion.id: _section(state, criterion) for criterion in state.criteria}
    changed = None
    if state.base:
        changed = base.changed_at_end(viewer.context.root, state.base, read_files(ended.get("files")))
    commands = by_exit_code(named_checks(state.criteria, is_users=state.is_confirmed))
    return Sections(of_criteria, whole, base=state.base, changed=changed, commands=commands)


def _result(row: RalphRow, name: str) -> Cell:
    known, state = row["results"][name], row["states"][name]
    result, source = known["result"], known["source"]
    if result == "fail" and state["regressed_at_iteration"] == row["iteration"]:
        return Cell("regressed", "regression")
    if state["status"] == "BLOCKED":
        return Cell("blocked", "waiting")
    return Cell(result if source == "code" else f"{result} ({source})", MARKS[result])


def _section(state: RalphState, criterion: Criterion) -> Section:
    result = state.last_result(criterion.id)
    checks = [(check["id"], "code", method(check)) for check in criterion.mechanical]
    checks += [(check["id"], "judge", str(check.get("question"))) for check in criterion.questions]
    return Section(
        said=clip(str(result.get("evidence") or ""), 1000),
        covers=facts(
            ("last result", f"{result.get('result')}, by {result.get('source')}" if result else "not judged yet"),
            ("suggested", result.get("suggested_action")),
            ("guard", "it passed before the work, and must not break" if criterion.guard else ""),
        ),
        tables=(table("Its checks", ("check", "by", "what"), checks),),
    )


def _judge(viewer: Viewer, state: RalphState) -> list[Attachment]:
    """The judge's own messages to the briefs of the run, as the host reported them."""
    attachments = []
    for message in messages_in(viewer.events, [JUDGE]):
        for brief in state.all_briefs:
            if brief["nonce"] in message.text:
                about = f"{times.moment(message.ts)}, to call {brief['call']} of round {brief['iteration']}"
                attachments.append(Attachment("The judge's answer", "", about=about, text=message.text))
    return attachments


def _notices(state: RalphState) -> list[Notice]:
    notices = []
    if state.reduced_scope:
        notices.append(Notice("reduced scope", clip(state.reduced_scope, 300), state.run, until_end=True))
    for number in state.reduced_iterations:
        text = f"round {number} was judged without the judge's own message"
        notices.append(Notice("not judged independently", text, state.run))
    for challenge in state.last_judged.get("challenges") or []:
        text = f"the judge says how its check could hold for undone work: {challenge['text']}"
        notices.append(Notice("challenge", clip(text, 400), challenge["criterion"]))
    for row in state.rows:
        if row["kind"] == "exec-circumvention":
            missing = ", ".join(row["missing"])
            text = f"round {row['iteration']}: a verdict was asked for over phases that did not happen: {missing}"
            notices.append(Notice("circumvention", clip(text, 300), state.run))
        elif row["kind"] == "phase":
            text = f"round {row['iteration']}: {row['name']} was skipped: {row['skipped']}"
            notices.append(Notice("skipped phase", clip(text, 300), state.run))
    return notices
