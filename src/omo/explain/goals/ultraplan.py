"""A step of a plan session: what git and the files show of it."""

from __future__ import annotations

from omo.explain.answer import Explanation, Fact
from omo.report.work import Place
from omo.shown import clip
from omo.ultraplan import standing
from omo.ultraplan.audit import StepAudit
from omo.ultraplan.models import Step
from omo.ultraplan.next_step import next_step
from omo.ultraplan.run import PlanRun
from omo.ultraplan.standing import Standing

GIT = "git, and the files as they are"


def explain(place: Place, name: str) -> Explanation | None:
    number = name.lower().removeprefix("step").strip(" -")
    at = standing.look(PlanRun(**place.given, follows=False))
    if at.record is None or not (number.isascii() and number.isdigit()) or len(number) > 6:
        return None
    one = next((one for one in at.audit.steps if one.step == int(number)), None) if at.audit else None
    if one is None:
        return _unaudited(place, at, int(number))
    step = next_step(at)
    document = at.document.step(one.step) if at.document else None
    is_open = one.status not in ("pass", "skipped")
    return Explanation(
        f"step {one.step} {clip(one.title, 80)}: {one.status}",
        "open" if is_open else "done",
        f"audit-{one.status}",
        _why(one),
        _facts(at, one, document),
        _changes(one, document, step.text) if is_open else [],
        [],
        _extra(place, at, one.step, one.status),
    )


def _unaudited(place: Place, at: Standing, number: int) -> Explanation | None:
    """Nothing can be asked of git: what the ledger knows, and why it ends there."""
    record = at.record
    if record is None or number not in record.steps:
        return None
    step, is_seen = next_step(at), number in record.done
    where = f"plans/{record.run}/ledger.jsonl"
    return Explanation(
        f"step {number}: {'was seen to pass' if is_seen else 'open'}",
        "open",
        "not-audited",
        step.why,
        [Fact("seen to pass", where, is_seen), Fact("ledger", where, at.problems[0] if at.problems else "whole")],
        [step.command] if step.command else [],
        [],
        _extra(place, at, number, "seen" if is_seen else "open"),
    )


def _extra(place: Place, at: Standing, number: int, status: str) -> dict[str, object]:
    run = at.record.run if at.record else None
    return {"session": place.session, "kind": "ultraplan", "run": run, "id": str(number), "status": status}


def _why(one: StepAudit) -> str:
    if one.findings and one.status != "pass":
        return "; ".join(one.findings)
    return {
        "pass": "its commit is there, and its checks hold",
        "skipped": "it was skipped, as its plan allows",
        "missing": "no commit carries it out",
    }.get(one.status, f"the audit says {one.status}")


def _facts(at: Standing, one: StepAudit, document: Step | None) -> list[Fact]:
    record = at.record
    assert record is not None
    found = [
        Fact("spec", f"plans/{record.run}/spec.md, pinned at the start", record.spec),
        Fact("audited from", f"plans/{record.run}/ledger.jsonl", record.base),
        Fact("commit", GIT, one.commit),
        Fact("findings", GIT, one.findings),
    ]
    if document is not None:
        found += [Fact("verify", "the spec", document.verify), Fact("checkpoint", "the spec", document.checkpoint)]
    return [*found, Fact("outside the fence", GIT, at.violations), Fact("not committed", GIT, at.dirty)]


def _changes(one: StepAudit, document: Step | None, following: str) -> list[str]:
    own = f"a commit that carries it out ({clip(document.checkpoint, 120)})" if document and document.checkpoint else ""
    mend = "mend what the findings name, and commit it" if one.status == "drift" else own or "a commit of its own"
    return [mend, f"next in this session: {following}"]
