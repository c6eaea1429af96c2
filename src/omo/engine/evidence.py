"""What stands behind each item of a run, for the report: the result of every round, the checks, what the judge said."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from omo.engine.answers import COMMIT_ARTIFACT
from omo.engine.case import Case, CaseItem, CaseRow, method
from omo.engine.checking import named_checks
from omo.engine.filed import FiledRuns, failed, receipt_of
from omo.engine.flow import STUCK, Flow
from omo.engine.runs import load_run
from omo.proof import base
from omo.state.rows import read_base, read_files
from omo.state.runtime import part
from omo.text import clip
from omo.work import times
from omo.work.agents import messages_in
from omo.work.judge import JUDGE
from omo.work.proving import NamedCommand, by_exit_code
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, Table, facts, table
from omo.work.status import Status
from omo.work.viewer import Viewer

MoreTables = Callable[[str, str], Sequence[Table]]  # of an item, by the state directory and its id

CELLS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(flow: Flow, viewer: Viewer, status: Status, more: MoreTables | None = None) -> Sections:
    """Return what stands behind the items that a status shows, and behind their run."""
    cases = _cases(flow, viewer, status)
    if not cases:
        return Sections()
    first, changed = cases[0], None
    began = read_base(first.started.get("files")) if flow.is_filed else first.base
    if began and len(cases) == 1:
        changed = base.changed_at_end(viewer.context.root, began, read_files((first.ended or {}).get("files")))
    of_items: dict[str, Section] = {}
    commands: list[NamedCommand] = []
    for case in cases:
        commands += by_exit_code(named_checks(case))
        for item in case.items:
            of_items[item.id] = _section(case, item, more(viewer.context.state, item.id) if more else [])
    whole = Section() if flow.is_filed else _of_the_run(first, viewer)
    return Sections(of_items, whole, base=began, changed=changed, commands=commands)


def _cases(flow: Flow, viewer: Viewer, status: Status) -> list[Case]:
    """Return the runs of what is shown, in the order in which they were asked for."""
    if flow.is_filed:
        known = FiledRuns(flow, viewer.caller).cases
        held = [known[item.id] for item in status.items if item.id in known]
        return sorted(held, key=lambda case: case.started_at)
    run = load_run(flow, viewer.caller, viewer.run)
    return [run.state] if run is not None and run.state is not None else []


def _of_the_run(case: Case, viewer: Viewer) -> Section:
    ended = case.ending
    receipt = part(ended, "receipt")
    # Items down, rounds across. What broke after it had passed is marked as that.
    rows = [[item.id, *(_cell(case, row, item.id) for row in case.judged)] for item in case.items]
    head = [case.flow.unit, *(f"round {row['iteration']}" for row in case.judged)]
    return Section(
        began=case.started_at,
        ended=str(ended.get("ts") or ""),
        said=clip(str(ended.get("why") or ""), 500),
        covers=facts(
            ("asked for", clip(case.request, 500)),
            (f"{case.flow.units} from", "; ".join(filter(None, [case.source, case.whose_items]))),
            ("covers", ", ".join(map(str, receipt.get(case.flow.units) or []))),
            ("independence", receipt.get("independence")),
            ("gates", ", ".join(gate["name"] for gate in receipt.get("gates") or [])),
        ),
        tables=(table(f"{case.flow.units.capitalize()}, round by round", head, rows),),
        attachments=tuple(_judges_answers(viewer, case)),
        notices=tuple(_notices(case)),
    )


def _cell(case: Case, row: CaseRow, name: str) -> Cell:
    result, mark = row["results"][name], row["marks"][name]
    if result["result"] == "fail" and mark["regressed_at_iteration"] == row["iteration"]:
        return Cell("regressed", "regression")
    if case.flow.status(mark["status"]).drawn == STUCK:
        return Cell("blocked", STUCK)
    source = "" if result["source"] == "code" else f" ({result['source']})"
    return Cell(result["result"] + source, CELLS[result["result"]])


def _section(case: Case, item: CaseItem, more: Sequence[Table]) -> Section:
    result = case.last_result(item.id)
    checks = [(check["id"], "code", method(check)) for check in item.mechanical]
    checks += [(check["id"], "judge", str(check.get("question"))) for check in item.questions]
    seen = []
    for check in case.looked.get("checks") or []:
        marked = Cell(check["result"], CELLS.get(check["result"], "open"))
        seen.append((check["id"], check["type"], marked, check["reason"], check["observed"]))
    tables = [
        table("Its checks", ("check", "by", "what"), checks),
        table("Checks, as last evaluated", ("check", "type", "result", "why", "observed"), seen),
    ]
    receipt = receipt_of(case) if case.flow.is_filed else None
    own_answers = f"nobody else answered: {', '.join(case.answers)}"
    return Section(
        began=str(case.opened.get("ts") or "") if case.flow.is_filed else "",
        ended=str(receipt["ts"]) if receipt else "",
        said=clip(case.words.get("summary") or str(result.get("evidence") or ""), 1000),
        covers=facts(
            ("description", item.text),
            ("outcomes", "; ".join(item.outcomes)),
            ("filed by", case.filed_by if case.flow.is_filed else ""),
            ("receipt", f"row {receipt['seq']}, {receipt['ts']}" if receipt else ""),
            ("last result", f"{result.get('result')}, by {result.get('source')}" if result else "not judged yet"),
            ("suggested", result.get("suggested_action")),
            ("guard", "it passed before the work, and must not break" if item.guard else ""),
            ("attempts", failed(case) if case.flow.is_filed else ""),
        ),
        tables=tuple(each for each in [*tables, *more] if each.rows),
        attachments=tuple(_answers(case)),
        notices=(Notice("the agent's own answers", own_answers, item.id),) if case.answers else (),
    )


def _judges_answers(viewer: Viewer, case: Case) -> list[Attachment]:
    """Return the judge's own messages to the briefs of the run, as the host reported them."""
    attachments = []
    for message in messages_in(viewer.events, [JUDGE]):
        for brief in case.briefs:
            if brief["nonce"] in message.text:
                about = f"{times.moment(message.ts)}, to call {brief['call']} of round {brief['iteration']}"
                attachments.append(Attachment("The judge's answer", "", about=about, text=message.text))
    return attachments


def _notices(case: Case) -> list[Notice]:
    notices = []
    if case.reduced_scope:
        notices.append(Notice("reduced scope", clip(case.reduced_scope, 300), case.run, until_end=True))
    for number in case.inline_rounds:
        text = f"round {number} was judged without the judge's own message"
        notices.append(Notice("not judged independently", text, case.run))
    for challenge in case.last_judged.get("challenges") or []:
        text = f"the judge says how its check could hold for undone work: {challenge['text']}"
        notices.append(Notice("challenge", clip(text, 400), challenge["criterion"]))
    for row in case.rows:
        if row["kind"] == case.flow.early_row:
            missing = ", ".join(row["missing"])
            text = f"round {row['iteration']}: a verdict was asked for over phases that did not happen: {missing}"
            notices.append(Notice("circumvention", clip(text, 300), case.run))
        elif row["kind"] == "skipped":
            text = f"round {row['iteration']}: {row['step']} was skipped: {row['why']}"
            notices.append(Notice("skipped phase", clip(text, 300), case.run))
    return notices


def _answers(case: Case) -> list[Attachment]:
    attachments = []
    for name, given in case.answers.items():
        text = json.dumps(given["said"], indent=1, ensure_ascii=False, default=str)
        attachments.append(Attachment(f"Answer to {name}", "", about=str(given["result"]), text=text))
        cited = f"cited by {name}"
        for path, digest in given.get("artifacts", {}).items():
            if digest == COMMIT_ARTIFACT:  # no file that could be gone
                attachments.append(Attachment(path, "commit", cited))
                continue
            kind = "screenshot" if path.lower().endswith((".png", ".jpg", ".jpeg")) else "report"
            attachments.append(Attachment(path, kind, cited, path=path, digest=digest))
    return attachments
