"""`omo ultragoal steer`, `classify-blocker` and `record-review-blockers`: what is found on the way changes the plan."""

from __future__ import annotations

import argparse
from typing import Any

from omo.cli import options
from omo.cli.result import Result
from omo.context import Context
from omo.ultragoal import blockers, steering, summary
from omo.ultragoal.given import json_of

ALLOWS = {
    "human_blocked": "omo goal pause is allowed while this is the latest row of the ledger",
    "resolvable": "noted for the record; it allows nothing, so the work goes on",
}

TOLD = {
    "add_subgoal": "Added {goalIds}",
    "split_subgoal": "{goalId} is superseded by {replacementGoalIds}",
    "reorder_pending": "Pending goals in order: {pendingGoalIds}",
    "revise_pending_wording": "{goalId} has a new {changed}; the first wording stays on record",
    "annotate_ledger": "Noted in the ledger; no goal changed",
    "mark_blocked_superseded": "{goalId} is superseded without a replacement",
}


def register(verbs: options.Commands) -> None:
    steer_parser = options.command(verbs, "steer", "change the cut into goals; every attempt is recorded", steer)
    # Nothing is required here: an attempt that lacks something is refused and recorded like any other.
    steer_parser.add_argument("--kind", default="", metavar="KIND", help=f"one of {', '.join(steering.OPTIONS)}")
    steer_parser.add_argument("--evidence", metavar="TEXT", help="what was seen")
    steer_parser.add_argument("--rationale", metavar="TEXT", help="why this follows from it")
    steer_parser.add_argument("--goal-id", metavar="G")
    steer_parser.add_argument("--title", metavar="TEXT")
    steer_parser.add_argument("--objective", metavar="TEXT")
    steer_parser.add_argument("--replacements-json", metavar="JSON|FILE", help="[{title, objective}, …], two or more")
    steer_parser.add_argument("--order-json", metavar="JSON|FILE", help="every pending goal once, in the new order")
    classify_parser = options.command(
        verbs, "classify-blocker", "say who can remove what is in the way", classify_blocker
    )
    classify_parser.add_argument("--classification", required=True, choices=blockers.CLASSIFICATIONS)
    classify_parser.add_argument("--evidence", required=True, metavar="TEXT", help="what is missing, and who can do it")
    classify_parser.add_argument("--goal-id", metavar="G")
    record_parser = options.command(
        verbs, "record-review-blockers", "keep what a review found as a goal that resolves it", record_review_blockers
    )
    record_parser.add_argument("--goal-id", required=True, metavar="G", help="the goal that was reviewed")
    record_parser.add_argument("--objective", required=True, metavar="TEXT", help="what has to hold")
    record_parser.add_argument("--evidence", required=True, metavar="TEXT", help="what the review found")
    record_parser.add_argument("--title", metavar="TEXT")
    record_parser.add_argument(
        "--goal-json", "--gjc-goal-json", metavar="JSON|FILE", help="omo goal get --json; compared with the live goal"
    )


def steer(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli.runs import run_of

    run = run_of(arguments, context)
    attempt = steering.Attempt(
        kind=arguments.kind,
        evidence=arguments.evidence,
        rationale=arguments.rationale,
        goal_id=arguments.goal_id,
        title=arguments.title,
        objective=arguments.objective,
        replacements=arguments.replacements_json,
        order=arguments.order_json,
        cwd=context.cwd,
    )
    try:
        row = steering.steer(run, attempt)
    finally:
        step = summary.tell(run)  # also after a refusal, which is a row like any other
    data = {**_shown(row), "goals_path": run.snapshot, "ledger_path": run.journal.path, "next": step.command}
    return Result(data, f"{_told(row)}\nNext: {step.text}")


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    new = row.get("goalIds", row.get("replacementGoalIds", []))
    data: dict[str, Any] = {"kind": row["mutation"], "goal_id": row.get("goalId") or next(iter(new), None)}
    names = {
        "replacementGoalIds": "replacement_goal_ids",
        "pendingGoalIds": "pending_goal_ids",
        "changedFields": "changed_fields",
        "previous": "previous",
        "noReplacementRequired": "no_replacement_required",
    }
    return data | {name: row[key] for key, name in names.items() if key in row}


def _told(row: dict[str, Any]) -> str:
    names = {key: ", ".join(value) for key, value in row.items() if key.endswith("Ids")}
    shown = {**row, **names, "changed": " and ".join(row.get("changedFields", []))}
    return TOLD[row["mutation"]].format(**shown)


def classify_blocker(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli.runs import run_of

    run = run_of(arguments, context)
    row = blockers.classify(run, arguments.classification, evidence=arguments.evidence, goal_id=arguments.goal_id)
    step = summary.tell(run)
    allows = ALLOWS[row["classification"]]
    data = {
        "event": row["kind"],
        "classification": row["classification"],
        "goal_id": row.get("goalId"),
        "allows": allows,
        "next": step.command,
    }
    return Result(data, f"Recorded as {row['classification']}: {allows}.\nNext: {step.text}")


def record_review_blockers(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.cli.runs import run_of

    run = run_of(arguments, context)
    live = arguments.goal_json
    done = blockers.record_review_blockers(
        run,
        arguments.goal_id,
        objective=arguments.objective,
        evidence=arguments.evidence,
        title=arguments.title,
        goal_json=None if live is None else json_of(live, context.cwd, "--goal-json"),
    )
    step = summary.tell(run)
    data = {
        "goal_id": done.goal.id,
        "blocked_goal_id": done.parent.id,
        "blocked_goal_status": done.parent.status,
        "deduplicated": done.deduplicated,
        "goals_path": run.snapshot,
        "next": step.command,
    }
    how = "is there already and resolves" if done.deduplicated else "was added and resolves"
    text = f"{done.goal.id} {how} the review of {done.parent.id}, which is {done.parent.status}"
    return Result(data, f"{text}\nNext: {step.text}")
