"""How a run ends, and the receipt that only a pass makes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from omo.digest import sha256
from omo.errors import Refused
from omo.json_text import dumps
from omo.ralph import summary
from omo.ralph.next_step import Next
from omo.ralph.outcomes import outcome_of
from omo.ralph.rules import State
from omo.ralph.run import ABANDON, RalphRun, Standing
from omo.shown import clip
from omo.state.runtime import part
from omo.work.lifecycle import require_reason

Row = dict[str, Any]


def end_of(at: Standing, judged: Row) -> Row | None:
    """The `ended` row that goes with a judgement, in the same append; None while the run goes on.

    `at` is the run before that judgement, `judged` the row as it will be written.
    """
    if judged["decision"] == "replan":
        return None
    verdict = str(judged["verdict"]) if judged["verdict"] in ("pass", "partial") else "fail"
    how = "safeguard" if judged["decision"] == "safeguard" else verdict
    receipt = receipt_of(at, judged) if how == "pass" else None
    states = {one.id: State(**judged["states"][one.id]) for one in at.criteria}
    after = replace(at, states=states, last_judged=judged)
    return {
        "kind": "ended",
        "how": how,
        "verdict": verdict,
        "receipt": receipt,
        "outcome": outcome_of(after, how),
    }


def receipt_of(at: Standing, judged: Row) -> Row:
    """What was proven, on which files, and how independently."""
    return {
        "run": at.run,
        "verdict": judged["verdict"],
        "iteration": judged["iteration"],
        "tree": judged["tree"],
        "criteria": {one.id: evidence_digest(part(judged["results"], one.id)) for one in at.criteria},
        "independence": str(judged.get("independence") or "reduced"),
        "reduced_scope": at.reduced_scope,
        "after": at.after or None,
        "gates": judged.get("gates", []),
    }


def evidence_digest(result: Row) -> str:
    kept = {key: result[key] for key in sorted(result)}
    return sha256(dumps(kept).encode("utf-8", "replace"))


def abandon(run: RalphRun, reason: str) -> tuple[Standing, Next]:
    """Give the run up. An agent that does so has the user told."""
    why = clip(require_reason(reason, "the reason", ABANDON), 500)
    at = run.require()
    if at.ended is not None:
        raise Refused(f"ralph run {at.run} ended already ({at.ended.get('how')})", fix="omo ralph status")
    ended_as = outcome_of(at, "abandoned", by=run.by, reason=why)
    run.append(
        [{"kind": "ended", "how": "abandoned", "verdict": "fail", "receipt": None, "why": why, "outcome": ended_as}]
    )
    at = run.standing()
    return at, summary.tell(run, at)
