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
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, Table, facts, listed, table
from omo.work.status import Status
from omo.work.viewer import Viewer
from omo.workflows.ralph.criteria import named_checks
from omo.workflows.ralph.rules import Criterion, RalphRow, method
from omo.workflows.ralph.run import RALPH, RalphRun, RalphState

MOST_ROUNDS = 50
MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, view: Status) -> Sections:
    run: RalphRun | None = load(RALPH, viewer.caller, viewer.run)
    if run is None or run.state is None:
        return Sections()
    state = run.state
    ended = state.ended or {}
    whole = Section(
        began=str(state.started.get("ts") or ""),
        ended=str(ended.get("ts") or ""),
        said=clip(str(ended.get("why") or ""), 500),
        covers=_covers(state),
        tables=(_matrix(state), _rounds(state)),
        attachments=tuple(_judge(viewer, state)),
        notices=tuple(_notices(state)),
    )
    of_criteria = {criterion.id: _section(state, criterion) for criterion in state.criteria}
    changed = None
    if state.base:
        changed = base.changed_at_end(viewer.context.root, state.base, read_files(ended.get("files")))
    commands = by_exit_code(named_checks(state.criteria, is_users=state.is_confirmed))
    return Sections(of_criteria, whole, base=state.base, changed=changed, commands=commands)


def _covers(state: RalphState) -> tuple[tuple[str, str], ...]:
    receipt = part(state.ended or {}, "receipt")
    gates = [str(gate.get("name")) for gate in listed(receipt.get("gates")) if isinstance(gate, dict)]
    return facts(
        ("asked for", clip(state.request, 500)),
        ("criteria from", f"{state.source}; {state.whose_criteria}"),
        ("receipt of", receipt.get("run")),
        ("issued in", f"iteration {receipt.get('iteration')}" if receipt else ""),
        ("covers", ", ".join(map(str, receipt.get("criteria") or []))),
        ("independence", receipt.get("independence")),
        ("gates", ", ".join(gates)),
    )


def _matrix(state: RalphState) -> Table:
    """Criteria down, rounds across; what broke after it had passed is marked as that."""
    judged = state.judged[-MOST_ROUNDS:]
    head = ("criterion", *(f"round {row.get('iteration')}" for row in judged))
    rows = [[criterion.id, *(_result(row, criterion.id) for row in judged)] for criterion in state.criteria]
    return table("Criteria, round by round", head, rows)


def _result(row: RalphRow, name: str) -> Cell:
    known, state = part(part(row, "results"), name), part(part(row, "states"), name)
    result = str(known.get("result") or "–")
    if result == "fail" and state.get("regressed_at_iteration") == row.get("iteration"):
        return Cell("regressed", "regression")
    if state.get("status") == "BLOCKED":
        return Cell("blocked", "waiting")
    source = str(known.get("source") or "")
    text = result if source in ("", "code") else f"{result} ({source})"
    return Cell(text, MARKS.get(result, "open"))


def _rounds(state: RalphState) -> Table:
    began = {str(row.get("iteration")): str(row.get("ts")) for row in _rows(state, "exec-delegated")}
    rows = []
    for row in state.judged[-MOST_ROUNDS:]:
        opened, judged = began.get(str(row.get("iteration")), ""), str(row.get("ts") or "")
        when = (times.moment(judged), times.between(opened, judged))
        independence = Cell(str(row.get("independence")), "" if row.get("independence") == "full" else "stale")
        rows.append((row.get("iteration"), *when, row.get("verdict"), row.get("decision"), independence))
    return table("Rounds", ("round", "judged", "took", "verdict", "decision", "independence"), rows)


def _rows(state: RalphState, kind: str) -> list[RalphRow]:
    return [row for row in state.rows if row.get("kind") == kind]


def _section(state: RalphState, criterion: Criterion) -> Section:
    result, known = state.last_result(criterion.id), state.states[criterion.id]
    checks = [(check["id"], "code", method(check)) for check in criterion.mechanical]
    checks += [(check["id"], "judge", str(check.get("question"))) for check in criterion.questions]
    last_pass = f"iteration {known.last_pass_iteration}" if known.last_pass_iteration else ""
    return Section(
        said=clip(str(result.get("evidence") or ""), 1000),
        covers=facts(
            ("last result", f"{result.get('result')}, by {result.get('source')}" if result else "not judged yet"),
            ("last passed in", last_pass),
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
            if brief.nonce in message.text:
                about = f"{times.moment(message.ts)}, to call {brief.call} of round {brief.iteration}"
                attachments.append(Attachment("The judge's answer", "", about=about, text=message.text))
    return attachments


def _notices(state: RalphState) -> list[Notice]:
    notices = []
    if state.reduced_scope:
        notices.append(Notice("reduced scope", clip(state.reduced_scope, 300), state.run, until_end=True))
    for number in state.reduced_iterations:
        text = f"round {number} was judged without the judge's own message"
        notices.append(Notice("not judged independently", text, state.run))
    for challenge in listed(state.last_judged.get("challenges")):
        if isinstance(challenge, dict):
            text = f"the judge says how its check could hold for undone work: {challenge.get('text')}"
            notices.append(Notice("challenge", clip(text, 400), clip(str(challenge.get("criterion")), 60)))
    for row in _rows(state, "exec-circumvention"):
        missing = ", ".join(map(str, listed(row.get("missing"))))
        text = f"round {row.get('iteration')}: a verdict was asked for over phases that did not happen: {missing}"
        notices.append(Notice("circumvention", clip(text, 300), state.run))
    for row in _rows(state, "phase"):
        if row.get("skipped"):
            text = f"round {row.get('iteration')}: {row.get('name')} was skipped: {row.get('skipped')}"
            notices.append(Notice("skipped phase", clip(text, 300), state.run))
    return notices
