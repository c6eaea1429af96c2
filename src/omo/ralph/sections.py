"""The criteria of a ralph run: every round's result, the checks, the briefs and what the judge said to them."""

from __future__ import annotations

from typing import Any

from omo.ralph.brief import method
from omo.ralph.criteria import Criterion
from omo.ralph.judge_answer import JUDGE
from omo.ralph.run import RalphRun
from omo.ralph.standing import Standing
from omo.shown import clip
from omo.state.runtime import part
from omo.work import times
from omo.work.sections import Attachment, Cell, Notice, Section, Sections, Table, facts, listed, table
from omo.work.status import Status
from omo.work.viewer import Viewer

Row = dict[str, Any]

MOST_ROUNDS = 50
MARKS = {"pass": "done", "fail": "failed", "unknown": "waiting"}


def sections(viewer: Viewer, view: Status) -> Sections:
    at, _ = RalphRun(**viewer.given).look()
    if at is None:
        return Sections()
    ended = at.ended or {}
    whole = Section(
        began=str(at.started.get("ts") or ""),
        ended=str(ended.get("ts") or ""),
        said=clip(str(ended.get("why") or ""), 500),
        covers=_covers(at),
        tables=(_matrix(at), _rounds(at)),
        attachments=tuple(_judge(viewer, at)),
        notices=tuple(_notices(at)),
    )
    return Sections({one.id: _section(at, one) for one in at.criteria}, whole)


def _covers(at: Standing) -> tuple[tuple[str, str], ...]:
    receipt = part(at.ended or {}, "receipt")
    criteria = part(receipt, "criteria")
    return facts(
        ("criteria from", at.source),
        ("base", str(at.base or "")[:12]),
        ("receipt of", receipt.get("run")),
        ("issued in", f"iteration {receipt.get('iteration')}" if receipt else ""),
        ("covers", ", ".join(f"{name} {str(one)[:12]}" for name, one in criteria.items())),
        ("tree", receipt.get("tree")),
        ("independence", receipt.get("independence")),
        ("gates", ", ".join(str(one.get("name")) for one in listed(receipt.get("gates")) if isinstance(one, dict))),
    )


def _matrix(at: Standing) -> Table:
    """Criteria down, rounds across; what broke after it had passed is marked as that."""
    judged = at.judged[-MOST_ROUNDS:]
    head = ("criterion", *(f"round {row.get('iteration')}" for row in judged))
    rows = [[one.id, *(_result(row, one.id) for row in judged)] for one in at.criteria]
    return table("Criteria, round by round", head, rows)


def _result(row: Row, name: str) -> Cell:
    found, state = part(part(row, "results"), name), part(part(row, "states"), name)
    result = str(found.get("result") or "–")
    if result == "fail" and state.get("regressed_at_iteration") == row.get("iteration"):
        return Cell("regressed", "regression")
    if state.get("status") == "BLOCKED":
        return Cell("blocked", "waiting")
    source = str(found.get("source") or "")
    return Cell(result + (f" ({source})" if source not in ("", "code") else ""), MARKS.get(result, "open"))


def _rounds(at: Standing) -> Table:
    began = {str(row.get("iteration")): str(row.get("ts")) for row in at.rows if row.get("kind") == "exec-delegated"}
    rows = []
    for row in at.judged[-MOST_ROUNDS:]:
        opened, judged = began.get(str(row.get("iteration")), ""), str(row.get("ts") or "")
        when = (times.moment(judged), times.between(opened, judged))
        independence = Cell(str(row.get("independence")), "" if row.get("independence") == "full" else "stale")
        rows.append((row.get("iteration"), *when, row.get("verdict"), row.get("decision"), independence))
    return table("Rounds", ("round", "judged", "took", "verdict", "decision", "independence"), rows)


def _section(at: Standing, one: Criterion) -> Section:
    found, state = at.last_result(one.id), at.states[one.id]
    checks = [(check.id, "judge" if check in one.questions else "code", _method(check)) for check in one.checks]
    return Section(
        said=clip(str(found.get("evidence") or ""), 1000),
        covers=facts(
            ("last result", f"{found.get('result')}, by {found.get('source')}" if found else "not judged yet"),
            ("last passed in", f"iteration {state.last_pass_iteration}" if state.last_pass_iteration else ""),
            ("suggested", found.get("suggested_action")),
            ("guard", "it passed before the work, and must not break" if one.guard else ""),
        ),
        tables=(table("Its checks", ("check", "by", "what"), checks),),
    )


def _method(check: Any) -> str:
    return str(getattr(check, "question", "")) or method(check)


def _judge(viewer: Viewer, at: Standing) -> list[Attachment]:
    """Each brief of the run with the judge's own message to it, as the host reported it."""
    briefs = {str(row.get("nonce")): row for row in at.rows if row.get("kind") == "brief"}
    found = []
    for row in viewer.agent_messages(JUDGE):
        message = str(row.get("message") or "")
        for nonce, brief in briefs.items():
            if nonce in message:
                about = (
                    f"{times.moment(str(row.get('ts')))}, to call {brief.get('call')} of round {brief.get('iteration')}"
                )
                found.append(Attachment("The judge's answer", "", about=about, text=message))
    asked = [f"round {row.get('iteration')}, call {row.get('call')}: {', '.join(_ids(row))}" for row in briefs.values()]
    briefed = [Attachment("Briefs", "", text="\n".join(asked))] if asked else []
    return [*briefed, *found]


def _ids(row: Row) -> list[str]:
    return [str(one) for one in listed(row.get("criteria"))]


def _notices(at: Standing) -> list[Notice]:
    found = []
    if at.reduced_scope:
        found.append(Notice("reduced scope", clip(at.reduced_scope, 300), at.run, until_end=True))
    found += [
        Notice("reduced independence", f"round {number} was judged without the judge's own message", at.run)
        for number in at.reduced_iterations
    ]
    for one in listed((at.last_judged or {}).get("challenges")):
        if isinstance(one, dict):
            text = f"the judge says how its check could hold for undone work: {one.get('text')}"
            found.append(Notice("challenge", clip(text, 400), clip(str(one.get("criterion")), 60)))
    for row in at.rows:
        if row.get("kind") == "exec-circumvention":
            missing = ", ".join(str(one) for one in listed(row.get("missing")))
            text = f"round {row.get('iteration')}: a verdict was asked for over phases that did not happen: {missing}"
            found.append(Notice("circumvention", clip(text, 300), at.run))
        if row.get("kind") == "phase" and row.get("skipped"):
            text = f"round {row.get('iteration')}: {row.get('name')} was skipped: {row.get('skipped')}"
            found.append(Notice("skipped phase", clip(text, 300), at.run))
    return found
