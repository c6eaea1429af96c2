"""What the judge is asked: the criteria and how each is checked, and nothing about the work or how it went so far."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omo.errors import Refused
from omo.evidence import tree
from omo.evidence.checks import Check, JudgeCheck
from omo.ralph import execution, hearing
from omo.ralph.answers import Answer, Key
from omo.ralph.criteria import Criterion
from omo.ralph.exec_gate import session_of
from omo.ralph.hearing import JUDGE
from omo.ralph.run import RalphRun, Standing
from omo.shown import block, clip
from omo.state import runtime

Row = dict[str, Any]

MOST_CALLS = 3
LONGEST_QUESTION = 2000
LONGEST_METHOD = 400
NOTHING_TO_ASK = "code evaluates every check of this run, so no judge has to be asked; next: omo ralph judge"
AWAITS = "awaits"
SUPERSEDED = "brief-superseded"
MOST_KEPT = 100  # of 700 characters each: a row of the ledger is bounded


@dataclass(frozen=True)
class Brief:
    """`nonce` is empty where there is nothing to ask."""

    text: str
    nonce: str = ""
    call: int = 0
    criteria: tuple[str, ...] = ()


def ask(run: RalphRun, *, make_nonce: Callable[[], str] = lambda: secrets.token_hex(16)) -> Brief:
    """Render the brief and record its nonce. Refused while the last one is answered and not judged."""
    at = run.require_open()
    require_iteration(at)
    asked = tuple(one.id for one in at.criteria if one.questions)
    if not asked:
        return Brief(NOTHING_TO_ASK)
    now = tree.fingerprint(Path(run.root))
    _require_unanswered(run, at, now)
    snapshot = execution.snapshot(Path(run.root))
    superseded = _superseded(run, at)
    nonce = make_nonce()

    def decide(standing: Standing) -> tuple[int, list[Row]]:
        require_iteration(standing)
        calls = len(hearing.briefs(standing))
        if calls >= MOST_CALLS:
            raise Refused(
                f"the judge was asked {MOST_CALLS} times in iteration {at.iteration}, which is as often as it may be",
                fix="omo ralph judge takes what there is and closes the iteration",
            )
        row = {"iteration": standing.iteration, "nonce": nonce, "criteria": list(asked), "call": calls + 1}
        return calls + 1, [*superseded, {"kind": "brief", **row, "tree": now, **snapshot}]

    call = run.append(decide=decide)
    await_judge(run, at, True)
    return Brief(render(at.criteria, nonce), nonce, call, asked)


def require_iteration(at: Standing) -> None:
    if not at.is_open or not at.open_iteration:
        raise Refused("no iteration is open, so there is nothing to judge", fix="omo ralph exec opens one")


def earlier_failures(run: RalphRun, at: Standing) -> dict[Key, Answer]:
    """What a judge found not to hold in an earlier brief of this iteration: asking again does not unsay it."""
    newest = at.briefs[-1]["nonce"] if at.briefs else ""
    found = {
        (one["criterion"], one["check"]): Answer("fail", one["evidence"], one["suggested_action"])
        for row in _rows(at, SUPERSEDED)
        for one in row["answers"]
    }
    for brief in hearing.briefs(at):  # also what was said only after the next brief was asked for
        if brief["nonce"] != newest:
            found |= hearing.failed(run, at, brief)
    return found


def _superseded(run: RalphRun, at: Standing) -> list[Row]:
    """A row for each brief of this iteration that a judge failed and that no judgement took up."""
    known = {row["nonce"] for row in _rows(at, SUPERSEDED)}
    told = {one["nonce"]: hearing.failed(run, at, one) for one in hearing.briefs(at) if one["nonce"] not in known}
    return [
        {"kind": SUPERSEDED, "iteration": at.iteration, "nonce": nonce, "answers": _kept(failed)}
        for nonce, failed in told.items()
        if failed
    ]


def _kept(failed: Mapping[Key, Answer]) -> list[Row]:
    return [
        {"criterion": clip(name, 20), "check": clip(check, 120), **asdict(one)}
        for (name, check), one in list(failed.items())[:MOST_KEPT]
    ]


def unknowns(at: Standing) -> list[Row]:
    """The calls of this iteration that could not tell."""
    return _rows(at, "judge-unknown")


def _rows(at: Standing, kind: str) -> list[Row]:
    return [row for row in at.rows if row.get("kind") == kind and row.get("iteration") == at.iteration]


def _require_unanswered(run: RalphRun, at: Standing, now: str) -> None:
    """Nobody asks again until the answer suits: what was said of these files is judged first."""
    newest = at.briefs[-1] if at.briefs else None
    if newest is None or newest.get("tree") != now:
        return
    if hearing.answered_at(run, at, newest) > max((str(row["ts"]) for row in unknowns(at)), default=""):
        raise Refused(f"{JUDGE} has answered the last brief, and that was not judged yet", fix="omo ralph judge")


def await_judge(run: RalphRun, at: Standing, is_awaited: bool) -> None:
    """From now on, or no longer, the host's word about the judge is kept also in a session that holds no Stop."""

    def decide(row: Row | None) -> runtime.Change:
        old = row or {}
        is_known = old.get(AWAITS) == JUDGE
        if is_known == is_awaited or (is_awaited and runtime.is_live(old)):
            return runtime.Change(None)
        wanted = JUDGE if is_awaited else None
        return runtime.Change(None, {**old, AWAITS: wanted}, [{"kind": "awaits", "agentType": wanted}])

    runtime.change_session(run.state, session_of(run, at), decide, actor=run.by, now=run.now, wait=run.wait)


def render(criteria: list[Criterion], nonce: str) -> str:
    listed = "\n\n".join(_criterion(one) for one in criteria)
    form = json.dumps(_form(criteria, nonce), indent=1, ensure_ascii=False)
    return f"""You are the judge. Find out what is true of this project now. You know nothing about how the work was
done, and whoever did it is not in the room. Read and run what you need; change nothing.

Answer every question below, each by itself and from what you saw yourself. Checks marked "code" are evaluated by code:
do not answer those. Where such a check could hold although its criterion is not met, say so under "challenges".

{listed}

Result: "pass" only for what you saw hold; "fail" for what you saw not hold; "unknown" for anything else.
Evidence: what you ran or opened, and what came out, quoted in `backticks`. A pass with "probably" or "should work"
counts as unknown, and so does an answer without evidence. With a fail, "suggested_action" says what to try next.

End your message with exactly one JSON object in this form, the nonce as it is here, one answer for each question:
```json
{form}
```
"""


def _criterion(one: Criterion) -> str:
    lines = [f"{one.id}: {clip(one.description, 500)}"]
    for check in one.checks:
        if isinstance(check, JudgeCheck):
            asked = block(check.question, LONGEST_QUESTION).replace("\n", "\n    ")
            lines.append(f"  - question {check.id}: {asked}")
        else:
            lines.append(f"  - code {check.id}: {method(check)}")
    return "\n".join(lines)


def method(check: Check) -> str:
    """How code checks it: its fields, without those that say nothing."""
    fields = check.model_dump(mode="json", exclude={"id", "guard", "type"}, exclude_defaults=True)
    return clip(f"{check.type} {json.dumps(fields, ensure_ascii=False)}", LONGEST_METHOD)


def _form(criteria: list[Criterion], nonce: str) -> Row:
    asked = [(one.id, check.id) for one in criteria for check in one.questions]
    answers = [
        {"criterion": name, "check": check, "result": "pass | fail | unknown", "evidence": "what you saw"}
        for name, check in asked
    ]
    return {
        "nonce": nonce,
        "answers": [{**one, "suggested_action": "only with a fail"} for one in answers],
        "challenges": [{"criterion": asked[0][0], "text": "optional: how its check could hold for undone work"}],
    }
