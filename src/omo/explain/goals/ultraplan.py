"""A step of a plan session: what git and the files show of it."""

from __future__ import annotations

from omo.explain.answer import Explanation, Fact
from omo.report.work import Place
from omo.shown import clip
from omo.ultraplan.audit import StepAudit
from omo.ultraplan.models import Step
from omo.ultraplan.run import RunStatus, load_status
from omo.ultraplan.status import next_step
from omo.work.run import Caller

GIT = "git, and the files as they are"
WHY = {
    "pass": "its commit is there, and its checks hold",
    "skipped": "it was skipped, as its plan allows",
    "missing": "no commit carries it out",
}


def explain(place: Place, name: str) -> Explanation | None:
    number = name.lower().removeprefix("step").strip(" -")
    status = load_status(Caller(**place.given))
    if status.run is None or not (number.isascii() and number.isdigit()) or len(number) > 6:
        return None
    for step in status.audit.steps if status.audit else ():
        if step.step == int(number):
            return _audited(place, status, step)
    return _unaudited(place, status, int(number))


def _audited(place: Place, status: RunStatus, step: StepAudit) -> Explanation:
    document = status.document.step(step.step) if status.document else None
    is_open = step.status not in ("pass", "skipped")
    why = WHY.get(step.status, f"the audit says {step.status}")
    if step.findings and step.status != "pass":
        why = "; ".join(step.findings)
    return Explanation(
        f"step {step.step} {clip(step.title, 80)}: {step.status}",
        "open" if is_open else "done",
        f"audit-{step.status}",
        why,
        _facts(status, step, document),
        _changes(step, document, next_step(status).text) if is_open else [],
        [],
        _extra(place, status, step.step, step.status),
    )


def _unaudited(place: Place, status: RunStatus, number: int) -> Explanation | None:
    """Nothing can be asked of git: what the ledger knows, and why it ends there."""
    state = status.state
    if number not in state.steps:
        return None
    step, is_seen = next_step(status), number in state.done
    where = f"plans/{state.run}/ledger.jsonl"
    ledger = status.problems[0] if status.problems else "whole"
    return Explanation(
        f"step {number}: {'was seen to pass' if is_seen else 'open'}",
        "open",
        "not-audited",
        step.why,
        [Fact("seen to pass", where, is_seen), Fact("ledger", where, ledger)],
        [step.command] if step.command else [],
        [],
        _extra(place, status, number, "seen" if is_seen else "open"),
    )


def _extra(place: Place, status: RunStatus, number: int, word: str) -> dict[str, object]:
    run = status.state.run
    return {"session": place.session, "kind": "ultraplan", "run": run, "id": str(number), "status": word}


def _facts(status: RunStatus, step: StepAudit, document: Step | None) -> list[Fact]:
    state = status.state
    facts = [
        Fact("spec", f"plans/{state.run}/spec.md, pinned at the start", state.spec),
        Fact("audited from", f"plans/{state.run}/ledger.jsonl", state.base),
        Fact("commit", GIT, step.commit),
        Fact("findings", GIT, step.findings),
    ]
    if document is not None:
        facts += [Fact("verify", "the spec", document.verify), Fact("checkpoint", "the spec", document.checkpoint)]
    violations = [str(violation) for violation in status.violations]
    return [*facts, Fact("outside the fence", GIT, violations), Fact("not committed", GIT, status.dirty)]


def _changes(step: StepAudit, document: Step | None, following: str) -> list[str]:
    mend = "a commit of its own"
    if step.status == "drift":
        mend = "mend what the findings name, and commit it"
    elif document and document.checkpoint:
        mend = f"a commit that carries it out ({clip(document.checkpoint, 120)})"
    return [mend, f"next in this session: {following}"]
