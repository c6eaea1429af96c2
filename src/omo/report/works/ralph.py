"""A ralph run: its criteria, as the newest judgement left them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from omo.report import ways
from omo.report.work import Place
from omo.shown import clip
from omo.state.runtime import part
from omo.work import outcome
from omo.work.status import Item, Status

if TYPE_CHECKING:
    from omo.ralph.criteria import Criterion
    from omo.ralph.standing import Standing

MARKS = {"PASS": "done", "FAIL": "failed", "REGRESSED": "failed", "BLOCKED": "waiting"}


def look(place: Place) -> Status | None:
    from omo.ralph.next_step import next_step
    from omo.ralph.run import RalphRun

    at, problems = RalphRun(**place.given).look()
    if at is None:
        return None
    step = next_step(at, problems)
    told = ways.step(step.action, clip(step.why, 300), clip(step.command, 2000))
    return Status(
        "ralph",
        "criterion",
        run=at.run,
        headline="its ledger is damaged" if problems else _headline(at),
        items=tuple(_item(at, one, place) for one in at.criteria),
        next=told,
        facts=tuple(_facts(at)),
        overrides=tuple(_overrides(at)),
        problems=tuple(problems),
        outcome=outcome.of(at.ended) if at.ended is not None else None,
    )


def _headline(at: Standing) -> str:
    state = f"ended ({at.ended.get('how')})" if at.ended else "open" if at.open_iteration else "between rounds"
    judged = f"verdict {at.verdict}" if at.last_judged else "not judged yet"
    return f"{state}, iteration {at.iteration} of {at.max_iterations}, {judged}"


def _item(at: Standing, one: Criterion, place: Place) -> Item:
    state, found = at.states[one.id], at.last_result(one.id)
    is_unproven = one in at.unproven
    mark = MARKS.get(state.status, "open")
    notes = [clip(str(found.get("evidence")), 200)] if found.get("evidence") else []
    notes += [f"failed {state.fail_count}x"] if state.fail_count else []
    notes += [f"regressed {state.regressions}x"] if state.regressions else []
    receipt, why = ("stale", "the newest judgement could not tell") if is_unproven else _receipt(at, mark, place)
    mark = "stale" if receipt == "stale" else mark
    return Item(one.id, clip(one.description, 200), state.status, mark, tuple(notes), receipt, why)


def _receipt(at: Standing, mark: str, place: Place) -> tuple[str, str]:
    receipt = part(at.ended or {}, "receipt")
    if not receipt or mark != "done":
        return "", ""
    why = place.changed_since(receipt.get("tree"))
    return ("stale", why) if why else ("fresh", "")


def _facts(at: Standing) -> list[str]:
    times = f"circumvented {at.circumventions} of 3 times" if at.circumventions else ""
    return [one for one in (times, at.after_text) if one]


def _overrides(at: Standing) -> list[str]:
    found = [f"reduced scope: {clip(at.reduced_scope, 120)}"] if at.reduced_scope else []
    if at.last_judged is not None and at.independence != "full":
        found.append("judged with reduced independence")
    return found
