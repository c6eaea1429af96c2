"""`omo ralph brief` and `omo ralph judge`: what the judge is asked, and the verdict computed from what was seen."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omo.cli import options
from omo.cli.ralph_run import named as with_named
from omo.cli.ralph_run import naming, own_run_of
from omo.cli.result import Result
from omo.context import Context
from omo.errors import BadInput
from omo.shown import clip

if TYPE_CHECKING:
    from omo.ralph.judging import Judged

LARGEST_MESSAGE = 256 * 1024
LONGEST_SHOWN = 300


def register(verbs: options.Commands) -> None:
    about = "what to ask the agent omo:judge, with the nonce its answer is known by; at most 3 in an iteration"
    asking = options.command(verbs, "brief", about, naming(brief))
    about = "evaluate every criterion and conclude: 0 pass, 3 fail or partial, 4 not to be told"
    judging = options.command(verbs, "judge", about, naming(judge))
    judging.add_argument(
        "--result",
        metavar="FILE",
        help="the judge's message where no hook could report it (- reads stdin): reduced independence",
    )
    for parser in (asking, judging):
        with_named(parser)


def brief(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import brief as briefs
    from omo.ralph import summary

    run = own_run_of(arguments, context)
    asked = briefs.ask(run)
    summary.tell(run)  # what is due now is the judgement, not another brief
    data = {
        "nonce": asked.nonce or None,
        "call": asked.call,
        "calls_left": briefs.MOST_CALLS - asked.call,
        "criteria": list(asked.criteria),
        "brief": asked.text if asked.nonce else None,
    }
    return Result(data, asked.text)


def judge(arguments: argparse.Namespace, context: Context) -> Result:
    from omo.ralph import judging

    given = None if arguments.result is None else _message(arguments.result, context)
    run = own_run_of(arguments, context)
    done = judging.judge(run, result_text=given)
    at = run.standing()
    carried = [f"It carries on, {at.after_text}"] if at.after else []
    data = _data(done) | {"after": at.after or None}
    return Result(data, "\n".join([*_lines(done), *carried]), done.exit_code, done.notes)


def _message(named: str, context: Context) -> str:
    if named == "-":
        raw = sys.stdin.buffer.read(LARGEST_MESSAGE + 1)
    else:
        raw = _read(named, context.cwd)
        _require_apart(named, context)
    if len(raw) > LARGEST_MESSAGE:
        raise BadInput(f"--result {clip(named, 200)} has more than {LARGEST_MESSAGE} bytes", fix="only the message")
    return raw.decode("utf-8-sig", "replace")


def _read(named: str, cwd: str) -> bytes:
    try:
        path = os.path.join(cwd, named)
        if os.path.exists(path) and not os.path.isfile(path):
            raise BadInput(f"--result {clip(named, 200)} is not a file", fix="name the file with the judge's message")
        with open(path, "rb") as file:
            return file.read(LARGEST_MESSAGE + 1)
    except BadInput:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadInput(f"--result {clip(named, 200)}: {why}", fix="name the file with the judge's message") from None


def _require_apart(named: str, context: Context) -> None:
    """A file that is part of the tree changes what is judged: gates and answers would be about other files."""
    from omo.evidence.tree import fingerprint
    from omo.state.paths import STATE_DIR

    root = os.path.realpath(context.root)
    relative = os.path.relpath(os.path.realpath(os.path.join(context.cwd, named)), root)
    if relative.split(os.sep)[0] == ".." or os.path.isabs(relative):
        return
    if fingerprint(Path(root)) != fingerprint(Path(root), exclude=(STATE_DIR, relative)):
        raise BadInput(
            f"--result {clip(named, 200)} is a file of the project, so it changes what is judged",
            fix="move it out of the project, then name it there; or pass it on stdin: omo ralph judge --result -",
        )


def _data(done: Judged) -> dict[str, Any]:
    return {
        "ok": done.verdict == "pass",
        "run": done.run,
        "iteration": done.iteration,
        "max_iterations": done.max_iterations,
        "verdict": done.verdict,
        "decision": done.decision or None,
        "independence": done.independence,
        "criteria": done.criteria,
        "remaining": done.remaining,
        "challenges": done.challenges,
        "gates": done.gates,
        "unknown_calls": done.attempt,
        "notes": done.notes,
        "next": done.next or None,
    }


def _lines(done: Judged) -> list[str]:
    from omo.ralph.judging import UNCOUNTED

    lines = [f"Iteration {done.iteration} of {done.max_iterations}: {done.verdict}"]
    lines += [_row(one) for one in done.criteria]
    if done.remaining:
        lines += ["Remaining:", *(_remaining(one) for one in done.remaining)]
    for one in done.challenges:
        lines.append(f"Challenge to {one['criterion']}: {clip(one['text'], LONGEST_SHOWN)}")
    if done.gates:
        pinned = ", ".join(f"{one['name']} (pinned by the {one['by']})" for one in done.gates)
        lines.append(f"Gates: {clip(pinned, LONGEST_SHOWN)}")
    if done.independence != "full":
        lines.append("Independence: reduced (judge-inline-fallback); tell the user")
    if not done.is_closed:
        lines.append(f"Not judged: call {done.attempt} of {done.most_calls} that could not tell; {UNCOUNTED}")
    return [*lines, f"Next: {done.next}"] if done.next else lines


def _row(one: dict[str, Any]) -> str:
    told = "" if one["result"] in ("pass", "fail") else "unknown; "
    return f"  {one['id']:6}{one['status']:10} {told}{clip(one['evidence'], LONGEST_SHOWN)} ({one['source']})"


def _remaining(one: dict[str, Any]) -> str:
    parts = [f"  {one['id']}: {one['suggested_action'] or 'find out why'}"]
    if one["regression"]:
        parts.append(f"passed in iteration {one['previous_pass_iteration']} and broke since")
    if one["next_failure_blocks"]:
        parts.append("failed twice in a row: the next failure blocks it")
    return "; ".join(parts)
