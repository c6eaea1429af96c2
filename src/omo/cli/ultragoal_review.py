"""`omo ultragoal review`: a verdict on work that is already there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ultragoal.review import Review

MODES = ("review-only", "review-start")
MOST_SHOWN = 50


def register(verbs: options.Commands) -> None:
    about = "hold a pull request, a branch or the working tree against the gate: 0 pass, 3 fail, 4 inconclusive"
    parser = options.command(verbs, "review", about, review)
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--pr", type=int, metavar="N", help="a pull request, asked for with gh")
    source.add_argument("--branch", metavar="REF", help="a branch; without either: the working tree")
    parser.add_argument("--spec", metavar="FILE", help="the contract: 3 acceptance statements and 40 words at least")
    parser.add_argument("--mode", default=MODES[0], choices=MODES, help="review-start makes goals of the findings")
    parser.add_argument("--executor-qa-json", metavar="JSON|FILE", help="executorQa as in the gate")


def review(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli.runs import run_of
    from omo.ultragoal import contract, review_source, summary
    from omo.ultragoal import review as reviews
    from omo.ultragoal.given import json_of

    is_start = arguments.mode == "review-start"
    if not is_start:  # a verdict alone belongs to no session, so none has to be known
        arguments.session = arguments.session or context.named_session or "review"
    run = run_of(arguments, context)
    root, given = Path(context.root), arguments.executor_qa_json
    done = reviews.review(
        run,
        review_source.find(root, pr=arguments.pr, branch=arguments.branch, environ=context.environ),
        spec=None if arguments.spec is None else contract.read(root, arguments.spec, context.cwd),
        executor_qa=None if given is None else json_of(given, context.cwd, "--executor-qa-json"),
    )
    ids = reviews.start(run, done) if is_start else []
    step = summary.tell(run) if ids else None
    return _shown(done, arguments.mode, ids, step.text if step else "")


def _shown(done: Review, mode: str, ids: list[str], following: str) -> Result:
    from omo.ultragoal.review import EXIT_CODES, WEAK_CONTRACT

    data = {
        "verdict": done.verdict,
        "contractStrength": done.strength,
        "contract": done.contract.render(),
        "cleanPassEligible": done.is_eligible,
        "weakContractCapApplied": done.verdict == WEAK_CONTRACT,
        "mode": mode,
        "source": done.source.render(),
        "base": done.source.base,
        "baseCommit": done.source.base_commit,
        "findings": [one.render() for one in done.findings],
        "blockerGoalIds": ids,
        "notes": done.notes,
        "next": following or None,
    }
    return Result(data, "\n".join(_lines(done, ids, following)), EXIT_CODES[done.verdict], done.notes)


def _lines(done: Review, ids: list[str], following: str) -> list[str]:
    base = f" against {done.source.base}" if done.source.base else ""
    thin = "" if done.strength == "strong" else f" ({done.contract.why})"
    lines = [
        f"{done.verdict}: {done.source.kind} {clip(done.source.name, 80)}{base}, contract {done.strength}{thin}",
        *(f"  - {clip(one.objective, 300)}" for one in done.findings[:MOST_SHOWN]),
    ]
    if len(done.findings) > MOST_SHOWN:
        lines.append(f"  and {len(done.findings) - MOST_SHOWN} more (--json shows them)")
    if ids:
        lines.append(f"Goals for them: {', '.join(ids)}")
    return [*lines, f"Next: {following}"] if following else lines
