"""A case as every view shows it: its status, what is to be done, and what commands print of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from omo.engine.asking import asked_later
from omo.engine.case import Case, CaseItem, ItemResult, method
from omo.engine.ends import next_step
from omo.engine.flow import PASSED, STUCK, Flow
from omo.engine.runs import CaseRun, load_run
from omo.engine.steps import look
from omo.json_text import Json
from omo.state.runtime import part
from omo.text import clip, counted, listed
from omo.work import outcome, requests
from omo.work import status as work
from omo.work.files import Files
from omo.work.status import Command, NextStep, Status, command, units
from omo.work.viewer import Viewer

MOST_FILES = 20
LONGEST_SHOWN, LONGEST_PASS = 400, 100
DIAGNOSE = "find the change in these files that broke it, and mend that without taking back what it was made for"
AGAIN = "To judge again: passed before, and the last judgement could not tell"
STILL_JUDGED = ": no work on it; it is judged again all the same"


def beginnings(flow: Flow, typed: str) -> tuple[Command, ...]:
    """Return the commands that begin a run, by what the user typed."""
    if typed in flow.begun_by:
        return flow.begun_by[typed]
    if flow.is_filed:
        return (command(f"{flow.start} --file FILE", lead=f"write the {flow.unit} down, then"),)
    if flow.given:
        return (command(flow.start, lead=f"write the {flow.units} down, then"),)
    file = f"--{flow.units} FILE"
    if not flow.letter:
        return (command(f"{flow.start} {file}"),)
    return (command(flow.start, after=f"or with {file}, once {flow.units} are written"),)


def named_files(flow: Flow, typed: str) -> tuple[str, ...]:
    """Return the ends of a file that the command which begins a run takes as the user has named it."""
    begins = command(flow.start).argv
    if beginnings(flow, typed)[0].argv[: len(begins)] != begins:
        return ()  # something comes before that
    return requests.DATA_ENDS if flow.is_filed else flow.file_ends


def status(flow: Flow, viewer: Viewer) -> Status | None:
    """Return how the session's run of a workflow stands, if it has one."""
    if flow.is_filed:
        from omo.engine import show_filed

        return show_filed.status(flow, viewer)
    run = load_run(flow, viewer.caller, viewer.run)
    return status_of(run, viewer) if run is not None else None


def status_of(run: CaseRun, viewer: Viewer) -> Status:
    """Return how a run stands."""
    flow = run.flow
    case = (run.state or Case(flow, run.id)).now(run)
    step = next_step(run, case)
    if step.action == "round":
        report = look(run, viewer.files)
        step = step._replace(commands=(*(Command(lead=line) for line in report.to_do), *step.commands))
    return case.shown(drawn(run, case, step, viewer.files), viewer)


def drawn(run: CaseRun, case: Case, step: NextStep, files: Files) -> Status:
    """Return what the engine knows of how a case stands."""
    flow = run.flow
    return Status(
        flow.name,
        flow.unit,
        flow.title,
        run=case.run,
        headline=case.headline if case.started else "its ledger is damaged",
        items=tuple(_item(case, item, files) for item in case.items),
        next=step,
        facts=tuple(facts(case, asked_later(run, case))) if case.started else (),
        overrides=tuple(overrides(case)),
        problems=run.damage_lines,
        outcome=outcome.of(case.ended) if case.ended is not None else None,
        tells_task=bool(flow.letter),
    )


def facts(case: Case, later: Sequence[str] = ()) -> list[str]:
    """Return what was asked for, also `later`, in the words of whoever said it, which no compaction may lose; then
    whose the items are, and what happened to the run."""
    lines = []
    if case.request:
        lines.append(f"the user asked for, {case.whose_request}: {quoted(case.request, requests.LONGEST)}")
    lines += [f"and later, as they typed it: {quoted(text, requests.LONGEST)}" for text in later]
    lines.append(case.whose_items)
    if case.after:
        lines.append(f"it carries on, {case.after_text}")
    if case.early:
        lines.append(f"circumvented {case.early} of {case.flow.most_early} times")
    return lines


def overrides(case: Case) -> list[str]:
    """Return what every report has to say."""
    lines = []
    if case.reduced_scope:
        lines.append(f"reduced scope, authorised by the user: {quoted(case.reduced_scope)}")
    if case.inline_rounds:
        rounds = ", ".join(map(str, case.inline_rounds))
        lines.append(f"not judged independently: no hook saw the judge of iteration {rounds} say it")
    return lines


def _item(case: Case, item: CaseItem, files: Files) -> work.Item:
    mark, result = case.marks[item.id], case.last_result(item.id)
    has_passed = case.flow.has_passed(mark)
    receipt = case.receipt_of(item.id)
    stale_because = ""
    if item.id in case.unproven:
        stale_because = "the newest judgement could not tell"
    elif has_passed and receipt:
        stale_because = _why_stale(receipt, files)
    elif has_passed:
        stale_because = case.unseen
    text = case.text_of(item)
    lines = [text] if text else []
    lines += [f"{check['id']}: {method(check)}" for check in item.checks]
    if not has_passed or stale_because:
        lines += findings(case, item, result, files)
    notes = [clip(result.get("evidence", ""), 200), *_counts(case, item), *result.get("notes", ())]
    shown = work.Item(
        item.id,
        clip(item.description, 200),
        mark.status,
        case.flow.status(mark.status).drawn,
        tuple(filter(None, notes)),
        "fresh" if has_passed and receipt else "",
        overrides=tuple(result.get("overrides", ())),
        text="\n".join(lines),
    )
    return shown.no_longer(stale_because) if stale_because else shown


def _why_stale(receipt: Json, files: Files) -> str:
    """Say why a receipt does not hold any more. One that cites files holds as long as these are as they were."""
    from omo.proof import artifacts

    if "artifacts" not in receipt:
        return files.why_lapsed(receipt.get("tree"))
    for name, digest in part(receipt, "artifacts").items():
        if not artifacts.is_unchanged(files.root, str(name), str(digest)):
            return f"its evidence {clip(str(name), 120)} was changed or is gone"
    return ""


# Of an item, with what a judgement said of it: the run's last, or one that could not tell and left no other trace.


def _counts(case: Case, item: CaseItem) -> list[str]:
    """Say how often it did not hold."""
    mark, counts = case.marks[item.id], []
    if mark.fail_count:
        counts.append(f"failed {mark.fail_count} in a row")
    if mark.regressions:
        counts.append(f"regressed {counted(mark.regressions, 'time')}")
    return counts


def line_of(case: Case, item: CaseItem, result: ItemResult) -> str:
    """Say how an item stands: `C2 FAIL (failed 2 in a row): part 2 is in place`."""
    mark, notes = case.marks[item.id], _counts(case, item)
    if case.flow.status(mark.status).is_regression:
        notes.append(f"passed in iteration {mark.last_pass_iteration}")
    if result.get("cached_from"):
        notes.append(f"cached@{result['cached_from']}")
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"{item.id} {mark.status}{noted}: {clip(item.description, 200)}"


def findings(case: Case, item: CaseItem, result: ItemResult, files: Files) -> list[str]:
    """Return what was seen of it, what to try and where to look. All of it is quoted, so that it reads as data."""
    mark, action = case.marks[item.id], result.get("suggested_action")
    lines, changes = [], []
    if result.get("evidence"):
        longest = LONGEST_PASS if result.get("result") == "pass" else LONGEST_SHOWN
        lines.append(f"seen: {quoted(result['evidence'], longest)} ({result.get('source')})")
    if case.flow.status(mark.status).is_regression:
        changed = changed_since_pass(case, item, files)
        named = "nobody can tell"
        if changed is not None:
            named = listed([quoted(path) for path in changed], MOST_FILES) or "none"
        changes.append(f"changed since its pass in iteration {mark.last_pass_iteration}: {named}")
        action = DIAGNOSE if changed else action
    if action and not case.flow.is_stuck(mark):  # which is not tried again
        lines.append(f"try: {quoted(action)}")
    lines += changes
    if lesson := case.lesson_for(item.id):
        evidence = quoted(str(lesson.get("evidence")))
        lines.append(f"{clip(str(lesson.get('id')), 8)} of an earlier run, which could not: {evidence}")
    return lines


def changed_since_pass(case: Case, item: CaseItem, files: Files) -> list[str] | None:
    """Return the files that differ from those right after its last pass; None if nobody can tell."""
    following = (case.marks[item.id].last_pass_iteration or 0) + 1
    for row in case.rows:
        if row["kind"] == case.flow.round_row and row["iteration"] == following:
            return files.changed_since(row.get("files"))
    return None


def to_do(case: Case, results: Mapping[str, ItemResult], files: Files) -> list[str]:
    """Return the items under what there is to do about them.

    What a judge or a tool said is quoted, so that it reads as data.
    """
    flow = case.flow
    passed = [status.heading for status in flow.statuses if status.drawn == PASSED]
    grouped: dict[str, list[CaseItem]] = {}
    for status in flow.statuses:
        if status.drawn in (STUCK, PASSED):
            grouped.setdefault(AGAIN, [])
        grouped[status.heading] = []
    for item in case.items:
        mark = case.marks[item.id]
        is_unproven = flow.has_passed(mark) and results[item.id].get("result") != "pass"
        grouped[AGAIN if is_unproven else flow.status(mark.status).heading].append(item)
    lines = []
    for heading, items in grouped.items():
        if items:
            again = STILL_JUDGED if heading in passed and case.is_open else ""
            lines.append(f"{heading}{again} ({len(items)})")
        for item in items:
            lines.append(f"  {line_of(case, item, results[item.id])}")
            lines += [f"     {line}" for line in findings(case, item, results[item.id], files)]
    return lines


def started_lines(case: Case) -> list[str]:
    """Return what the user is shown at the start: the items, what earlier runs left, and the steps of each round."""
    flow = case.flow
    most = counted(case.most_rounds, "iteration")
    lines = [f"{flow.name.capitalize()} run {case.run}: {units(len(case.items), flow.unit)}, at most {most}"]
    for item in case.items:
        now = f"now: {case.started['before'].get(item.id)}"
        if item.guard:
            now += ", a guard"
        lines.append(f"  {item.id} {clip(item.description, 200)} ({now})")
        lines += [f"     {check['id']}: {method(check)}" for check in item.checks]
    for lesson in case.lessons:
        what = f"{lesson['id']} of run {lesson['from_run']}, {lesson['description']}"
        lines.append(f"Blocked before: {what}: {quoted(lesson['evidence'])}")
        for again in lesson["again"]:
            lines.append(f"  {again} is that again; what was seen then goes with it")
    statuses = ", ".join(f"{name} {status}" for name, status in part(case.after, "statuses").items())
    if statuses:
        lines.append(f"It left: {clip(statuses, 300)}")
    lines += sentences([*facts(case), *overrides(case)])
    if case.source and not case.is_confirmed:
        confirm = f"/omo:{flow.name} {clip(case.source, 120)}"
        lines.append(f"  Before a start, and not in this run, they confirm them: {confirm}")
    lines.append("Show this to the user. Iteration 1 is open.")
    return [*lines, *_steps(case)]


def _steps(case: Case) -> list[str]:
    steps = case.flow.steps
    if not steps:
        return []
    lines = ["Its phases, in this order, none abridged; omo sees each happen:"]
    if case.reduced_scope:
        required = [step.name for step in steps if step.is_required]
        lines = [f"The user lets all but {listed(required)} be left out:"]
    for step in steps:
        proof = step.agent
        if step.or_work:
            proof = f"{step.agent}, or you change the files"
        if step.gates:
            proof = f"{case.flow.judge}, which runs the gates"
        lines.append(f"  {step.name:7} {proof}")
    return lines


def quoted(text: str, longest: int = LONGEST_SHOWN) -> str:
    return json.dumps(clip(text, longest), ensure_ascii=False)


def sentences(lines: Sequence[str]) -> list[str]:
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


# As data


def data_of(case: Case, step: NextStep, results: Mapping[str, ItemResult] | None = None) -> Json:
    """Return what every command says of a run. `results` are those of a judgement that left no other trace."""
    items = []
    for item in case.items:
        result = case.last_result(item.id) if results is None else results[item.id]
        items.append(_item_data(case, item, result))
    return {
        "run": case.run,
        "state": f"ended: {case.how}" if case.ended else "open",
        "iteration": case.round,
        "max_iterations": case.most_rounds,
        "judged": bool(case.judged),
        "verdict": case.verdict,
        "decision": case.decision,
        "reduced_scope": case.reduced_scope or None,
        "independence": case.independence,
        "request": case.request or None,
        "confirmed": case.is_confirmed,
        "after": case.after or None,
        case.flow.units: items,
        "remaining": case.remaining,
        "circumventions": case.early,
        "judge_calls": len(case.briefs_of_round),
        "receipt": case.ending.get("receipt"),
        "lessons": case.lessons,
        "problems": [],
        "next": step.data,
    }


def _item_data(case: Case, item: CaseItem, result: ItemResult) -> Json:
    return {
        "id": item.id,
        "description": item.description,
        **vars(case.marks[item.id]),
        "result": result.get("result"),
        "evidence": clip(result.get("evidence", ""), 500),
        "suggested_action": clip(result.get("suggested_action", ""), 500),
        "source": result.get("source"),
        "cached_from": result.get("cached_from"),
        "before": case.lesson_for(item.id),
    }


def nothing_to_show(flow: Flow, step: NextStep, **known: object) -> Json:
    """Return the same without a run, or for one whose ledger somebody changed: nobody can say what that counts."""
    lists: Json = {flow.units: [], "remaining": [], "problems": []}
    return {**dict.fromkeys(data_of(Case(flow), step)), **lists, "next": step.data, **known}
