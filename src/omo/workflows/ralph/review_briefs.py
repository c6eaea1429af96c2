"""What QA and the critic of an iteration are asked: what the user wants, the criteria, and where the work began."""

from __future__ import annotations

from omo.text import block, clip
from omo.work.briefs import quoted
from omo.workflows.ralph.rules import LONGEST_REQUEST, method
from omo.workflows.ralph.run import RalphRun, require_open

TASKS = {
    "qa": "Try to break what was done for the criteria below, from their words first and the code last, and say what "
    "held and what did not.",
    "critic": "Read what was changed for the criteria below, as it is in the files now, and say what is wrong with it "
    "or could be simpler, worst first.",
}


def review_brief(run: RalphRun, role: str) -> str:
    state = require_open(run)
    parts = [f"{TASKS[role]} Take nobody's word for how far it is; you were told nothing else."]
    if state.request:
        parts.append(f"What the user asked for, {state.whose_request}:\n{quoted(state.request, LONGEST_REQUEST)}")
    for criterion in state.criteria:
        lines = [f"{criterion.id}: {clip(criterion.description, 500)}"]
        lines += [f"  - {check['id']}: {block(method(check), 500)}" for check in criterion.checks]
        parts.append("\n".join(lines))
    began = f"commit {state.base}" if state.base else "a directory without a commit"
    parts.append(f"Iteration {state.iteration} of ralph run {state.run}; the run began at {began}.")
    return "\n\n".join(parts)
