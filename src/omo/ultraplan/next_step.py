"""What now? The one answer that every output, every refusal and Stop give for a plan session as it stands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass

from omo.shown import clip
from omo.ultraplan.models import Step
from omo.ultraplan.record import MOST_RECOVERIES, Record
from omo.ultraplan.run import ABANDON, START
from omo.ultraplan.standing import Standing

FINISH = "omo plan finish"
REVISE = "revise the plan, then omo plan critique, decompose and start"
MOST_WAYS = 5
FAILED = "omo plan finish --failed {step} --error TEXT --tried TEXT"


@dataclass(frozen=True)
class Next:
    """`action` is stable, for programs; `command` is the first command that leads on."""

    action: str
    why: str
    command: str = ""
    step: int | None = None

    @property
    def text(self) -> str:
        return f"{self.why}: {self.command}" if self.command else self.why

    @property
    def data(self) -> dict[str, str | int | None]:
        return {"action": self.action, "why": self.why, "command": self.command, "step": self.step}


def next_step(at: Standing) -> Next:
    for rule in RULES:
        if step := rule(at):
            return step
    return Next("finish", "every step passes the audit", FINISH)


def _none(at: Standing) -> Next | None:
    return Next("start", "there is no plan session", START) if at.record is None else None


def _damaged(at: Standing) -> Next | None:
    if not at.problems:
        return None
    why = f"the ledger was changed by hand ({clip(at.problems[0], 120)}), so nothing can be completed on it"
    return Next("abandon", why, f"{ABANDON}, then {_again(at)}")


def _ended(at: Standing) -> Next | None:
    record = _record(at)
    return ENDS[record.end](at) if record.end in ENDS else None


def _passed(at: Standing) -> Next:
    return Next("done", "the session passed its audit and has its report")


def _recovered(at: Standing) -> Next:
    told = _record(at).recovered
    if at.verdict == "pass":
        return Next("finish", "nothing is missing any more", FINISH)
    listed = ", ".join(str(step) for step in told.get("missing", []))
    command = f"omo plan start {shlex.quote(str(told.get('spec')))}"
    return Next("start-recovery", f"recovery {told.get('depth')} carries out step {listed}", command)


def _failed(at: Standing) -> Next:
    told = _record(at).finished
    step = told.get("failed", {}).get("step")
    why = f"the session stopped at step {step} and waits for a person"
    if told.get("violations") or _record(at).depth >= MOST_RECOVERIES:
        return Next("escalate", why, REVISE, step)
    return Next("escalate", why, f"when they say go on: omo plan recover {_spec(at)}; or revise the plan", step)


def _abandoned(at: Standing) -> Next:
    if not _record(at).done and not (at.audit and at.audit.passed):
        return Next("start", "the session was abandoned", _start(at))
    if at.audit and not at.missing:
        return Next("done", f"the session was abandoned, and nothing of it is missing: omo plan audit {_spec(at)}")
    if at.violations or _record(at).depth >= MOST_RECOVERIES:
        return Next("escalate", "the session was abandoned, and what is left needs a person", REVISE)
    return Next("recover", "the session was abandoned with steps done", _again(at))


def _blocked(at: Standing) -> Next | None:
    record = _record(at)
    if record.base:
        return None
    missing = ", ".join(str(one) for one in record.preflight.get("missing", [])) or "something it needs"
    return Next("unblock", f"{missing} is missing, nothing was begun; once it is there", _start(at))


def _broken(at: Standing) -> Next | None:
    return Next("abandon", at.broken, f"{ABANDON}, then {_again(at)}") if at.broken else None


def _unknown(at: Standing) -> Next | None:
    if at.verdict != "unknown":
        return None
    why = f"the audit cannot be evaluated ({clip(at.unknown, 160)}); restore the history it began on (git reflog)"
    return Next("unknown", why, f"or {ABANDON}, then {_again(at)}")


def _violation(at: Standing) -> Next | None:
    if not at.violations:
        return None
    why = f"outside the fence, which is never recovered: {clip(at.violations[0], 160)}; "
    ways = [shlex.join(command) for command in at.audit.take_back] if at.audit else []
    if ways:
        return Next("take-back", f"{why}take it back", " && ".join(ways[:MOST_WAYS]))
    why += _undone(at.violations[0])
    return Next("escalate", why, FAILED.format(step=_first_open(at)))


def _undone(violation: str) -> str:
    """What must never be touched stays told, whatever a later commit does."""
    return "take it back, or report it" if violation.endswith("(outside the scope)") else "a person decides: report it"


def _missing_step(at: Standing) -> Next | None:
    """The first step in order that has no commit, or one that does not hold."""
    for one in at.audit.steps if at.audit else []:
        step = at.document.step(one.step) if at.document else None
        if one.status == "missing" and step is not None:
            return Next("execute", _what(step), _ways(at, step.number), step.number)
        if one.status == "drift":
            why = f"step {one.step} does not hold ({clip('; '.join(one.findings), 120)}); mend and commit it"
            return Next("mend", why, f"or {_ways(at, one.step)}", one.step)
    return None


def _what(step: Step) -> str:
    checked = f"; verify: {clip(step.verify, 80)}" if step.verify else ""
    return f"step {step.number} {clip(step.title, 60)}{checked}; then {clip(step.checkpoint, 80) or 'commit it'}"


def _ways(at: Standing, step: int) -> str:
    """Later steps that are done show that one was left out: that is what a recovery is for."""
    failed = f"if it fails after retry: {FAILED.format(step=step)}"
    is_behind = any(one.status in ("pass", "drift") and one.step > step for one in (at.audit.steps if at.audit else []))
    if is_behind and _record(at).depth < MOST_RECOVERIES:
        return f"left out: do it now, or omo plan recover {_spec(at)}; {failed}"
    return failed


def _dirty(at: Standing) -> Next | None:
    if not at.dirty:
        return None
    return Next("clean", f"not committed: {clip(', '.join(at.dirty), 160)}; commit or remove it, then", FINISH)


def _first_open(at: Standing) -> int | str:
    return next(iter(at.missing), "STEP")


def _record(at: Standing) -> Record:
    assert at.record is not None
    return at.record


def _spec(at: Standing) -> str:
    return shlex.quote(_record(at).spec) if _record(at).spec else "SPEC"


def _start(at: Standing) -> str:
    return f"omo plan start {_spec(at)}"


def _again(at: Standing) -> str:
    """What is done already cannot be started once more: a recovery has the rest."""
    is_begun = _record(at).done or (at.audit and at.audit.passed)
    return f"omo plan recover {_spec(at)}, then start what it writes" if is_begun else _start(at)


ENDS: dict[str, Callable[[Standing], Next]] = {
    "pass": _passed,
    "recovered": _recovered,
    "failed": _failed,
    "abandoned": _abandoned,
}
RULES: tuple[Callable[[Standing], Next | None], ...] = (
    _none,
    _damaged,
    _ended,
    _blocked,
    _broken,
    _unknown,
    _violation,
    _missing_step,
    _dirty,
)
